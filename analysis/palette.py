"""One colour, dash, marker and letter per approach, the same in every picture.

Colours stay apart for protan, deutan and tritan vision (CIEDE2000 at least 12 between any two of
the four and grey, computed under the Machado 2009 simulation) and keep 3:1 on white, so they work
for lines. Colour never stands alone: letters, dashes and markers differ too.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

BLUE, VERMILLION, GREEN, BLACK = "#0072B2", "#D55E00", "#009E73", "#000000"
ORANGE, RED, GREY, PURPLE, WHITE = "#E69F00", "#C00000", "#E6E6E6", "#9E4F88", "#FFFFFF"

_MODEL_COLOURS = {"threadpool": BLACK, "threads": BLACK, "fibers": VERMILLION, "reactor": BLUE,
                  "coroutines": GREEN}
# How strongly a cell is filled: under 10 % ahead, 10 to 30 %, more.
STRENGTHS = ((1.10, 0.35), (1.30, 0.65), (float("inf"), 1.0))


def split(approach: str) -> tuple[str, str]:
    """`fibers-restinio` -> model `fibers`, server `restinio`."""
    model, _, server = approach.partition("-")
    return model, server


def colour(approach: str) -> str:
    return _MODEL_COLOURS.get(split(approach)[0], PURPLE)


def letters(approaches: Sequence[str]) -> dict[str, str]:
    """The shortest distinct labels: F, or Fr and Fb when two servers run the same model."""
    result: dict[str, str] = {}
    initials = [name[:1].upper() for name in approaches]
    for name, initial in zip(approaches, initials):
        label = initial
        if initials.count(initial) > 1:
            label = initial + split(name)[1][:1].lower()
        while label in result.values() or not label:
            label += str(len(result) + 1)
        result[name] = label
    return result


def _channels(colour_text: str) -> tuple[float, float, float]:
    red, green, blue = (int(colour_text[i:i + 2], 16) / 255 for i in (1, 3, 5))
    return red, green, blue


def luminance(colour_text: str) -> float:
    """Relative luminance as WCAG 2 defines it, 0 to 1."""
    linear = [c / 12.92 if c <= 0.04045 else math.pow((c + 0.055) / 1.055, 2.4)
              for c in _channels(colour_text)]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    """WCAG 2 contrast ratio, 1 to 21."""
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def text_on(background: str) -> str:
    """Black or white, whichever reads better."""
    return max((BLACK, WHITE), key=lambda text: contrast(text, background))


def fade(colour_text: str, strength: float) -> str:
    """The colour mixed with white; 1 leaves it as it is."""
    mixed = (round(255 * (1 - strength * (1 - channel))) for channel in _channels(colour_text))
    return "#" + "".join(f"{value:02X}" for value in mixed)


def strength(ratio: float | None) -> float:
    """Fill strength for a lead of `ratio`; the full one when no ratio exists."""
    if ratio is None:
        return STRENGTHS[-1][1]
    return next(value for limit, value in STRENGTHS if ratio <= limit)
