"""Series sampled once a second: counters and gauges on the monotonic clock.

Rules that keep the numbers honest: a counter is reported as last minus first inside the load
window, a rate uses the real time between its samples, a missing sample is a gap and never a zero.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Stamps = npt.NDArray[np.int64]

NANOS = 1_000_000_000
# Two samples further apart do not bracket a moment: between them nothing is known.
MAX_BRACKET_NANOS = 3 * NANOS
# A shorter interval says little: the kernel counts CPU time in ticks of 4 to 10 ms.
MIN_INTERVAL_NANOS = NANOS // 2


@dataclass(frozen=True)
class Window:
    """The load window on CLOCK_MONOTONIC."""

    start: int
    end: int

    @property
    def seconds(self) -> float:
        return (self.end - self.start) / NANOS


@dataclass(frozen=True)
class Samples:
    """Columns of equal length over ascending stamps; NaN inside this class means a gap."""

    stamps: Stamps
    columns: dict[str, Floats]

    def column(self, name: str) -> Floats:
        """A column, all gaps when it was not recorded."""
        values = self.columns.get(name)
        return np.full(len(self.stamps), np.nan) if values is None else values

    def known(self, name: str) -> tuple[Stamps, Floats]:
        """Stamps and values of the samples that have a value."""
        values = self.column(name)
        good = np.isfinite(values)
        return self.stamps[good], values[good]


EMPTY = Samples(np.array([], dtype=np.int64), {})


@dataclass(frozen=True)
class Span:
    """What a counter did between two moments inside the window."""

    change: float
    start: int
    end: int

    @property
    def seconds(self) -> float:
        return (self.end - self.start) / NANOS


def _number(text: str | None) -> float:
    try:
        value = float(text) if text else np.nan
    except ValueError:
        return np.nan
    return value if np.isfinite(value) else np.nan


def parse_csv(text: str) -> Samples:
    """Rows without a usable stamp (a cut-off last line) are dropped, other bad fields are gaps."""
    rows = list(csv.reader(io.StringIO(text)))
    if not rows or "monotonic_nanos" not in rows[0]:
        return EMPTY
    header = rows[0]
    at = header.index("monotonic_nanos")
    kept = [row for row in rows[1:] if len(row) == len(header) and row[at].isdigit()]
    stamps = np.array([int(row[at]) for row in kept], dtype=np.int64)
    order = np.argsort(stamps, kind="stable")
    columns = {
        name: np.array([_number(row[i]) for row in kept], dtype=np.float64)[order]
        for i, name in enumerate(header)
        if i != at
    }
    return Samples(stamps[order], columns)


def read_csv(path: Path) -> Samples:
    """Blocks on the file; a missing file is an empty series."""
    try:
        return parse_csv(path.read_text(encoding="utf-8", errors="replace"))
    except OSError:
        return EMPTY


def value_at(stamps: Stamps, values: Floats, moment: int) -> float | None:
    """A counter at `moment`, on the line between the two samples around it; else None."""
    right = int(np.searchsorted(stamps, moment))
    if right < len(stamps) and stamps[right] == moment:
        return float(values[right])
    if right == 0 or right == len(stamps):
        return None
    before, after = int(stamps[right - 1]), int(stamps[right])
    if after - before > MAX_BRACKET_NANOS:
        return None
    share = (moment - before) / (after - before)
    return float(values[right - 1] + share * (values[right] - values[right - 1]))


def total(samples: Samples, names: Sequence[str]) -> Samples:
    """One column `sum`, the sum of several; a gap in one is a gap in the sum."""
    values = np.sum([samples.column(name) for name in names], axis=0)
    return Samples(samples.stamps, {"sum": values})


def change_in(samples: Samples, name: str, window: Window) -> Span | None:
    """Last minus first of a counter inside the window.

    The window's ends are interpolated where two samples bracket them, else the nearest samples
    inside count. None when less than half the window is covered or the counter went backwards.
    """
    stamps, values = samples.known(name)
    inside = (stamps >= window.start) & (stamps <= window.end)
    moments = [int(s) for s in stamps[inside]]
    readings = [float(v) for v in values[inside]]
    for moment, position in ((window.start, 0), (window.end, len(moments) + 1)):
        if moment not in moments:
            reading = value_at(stamps, values, moment)
            if reading is not None:
                moments.insert(position, moment)
                readings.insert(position, reading)
    if len(moments) < 2 or any(b < a for a, b in zip(readings, readings[1:])):
        return None
    if moments[-1] - moments[0] < (window.end - window.start) / 2:
        return None
    return Span(readings[-1] - readings[0], moments[0], moments[-1])


def steps(samples: Samples, name: str, window: Window) -> Iterator[Span]:
    """A counter's changes between neighbouring samples that both lie in the window."""
    stamps, values = samples.known(name)
    inside = (stamps >= window.start) & (stamps <= window.end)
    stamps, values = stamps[inside], values[inside]
    for i in range(1, len(stamps)):
        start, end = int(stamps[i - 1]), int(stamps[i])
        change = float(values[i] - values[i - 1])
        if MIN_INTERVAL_NANOS <= end - start <= MAX_BRACKET_NANOS and change >= 0:
            yield Span(change, start, end)


def gauge(samples: Samples, name: str, window: Window) -> Floats:
    """The known values of a gauge inside the window."""
    stamps, values = samples.known(name)
    return values[(stamps >= window.start) & (stamps <= window.end)]
