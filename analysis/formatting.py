"""Numbers and names for people. Machine files never pass through here."""

from __future__ import annotations

import math

GAP = "n/a"


def round3(value: float) -> float:
    """Rounded to three significant digits."""
    if value == 0 or not math.isfinite(value):
        return value
    return round(value, 2 - math.floor(math.log10(abs(value))))


def number(value: float | int | None) -> str:
    """Three significant digits, no exponent up to a million, thousands set apart; gaps `n/a`."""
    if value is None or not math.isfinite(value):
        return GAP
    rounded = round3(float(value))
    if rounded == 0:
        return "0"
    if abs(rounded) < 1e-4:
        return f"{rounded:.2e}"
    decimals = max(0, 2 - math.floor(math.log10(abs(rounded))))
    return f"{rounded:,.{decimals}f}"


def count(value: float | int | None) -> str:
    """A whole number with all its digits."""
    return GAP if value is None or not math.isfinite(value) else f"{round(value):,}"


def percent_over(ratio: float) -> str:
    """How much larger than 1 a ratio is: 1.08 -> `8 %`, 2 and more -> `2.4x`."""
    if ratio >= 2:
        return f"{ratio:.3g}x" if ratio < 100 else f"{ratio:,.0f}x"
    percent = (ratio - 1) * 100
    return f"{percent:.1f}%" if percent < 9.95 else f"{percent:.0f}%"


def byte_size(value: float | int | None) -> str:
    """GiB, or MiB below one GiB."""
    if value is None:
        return GAP
    gib = value / 2**30
    return f"{gib:,.1f} GiB" if gib >= 1 else f"{value / 2**20:,.0f} MiB"


def duration(seconds: float | None) -> str:
    if seconds is None:
        return GAP
    whole = round(seconds)
    return f"{whole // 3600:02d}:{whole % 3600 // 60:02d}:{whole % 60:02d}"


def escape(text: object) -> str:
    """Text inside a Markdown table cell: one line, no cell ends, no markup."""
    flat = " ".join(str(text).split())
    for character in "\\|`*<>[]":
        flat = flat.replace(character, "\\" + character)
    return flat


def anchor(name: str) -> str:
    """The id of a section, safe in a link."""
    return "".join(c if c.isalnum() or c in "-_" else "-" for c in name.lower())
