"""Reads HdrHistogram interval logs: one line a second and tag, `Tag=T,start,length,max,BASE64`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from analysis.hdr import Histogram, HistogramError, decode

_BASE = re.compile(r"#\[(StartTime|BaseTime): *([0-9.]+)")
# The reference reader's rule: stamps more than a year before StartTime are relative to it.
_YEAR_SECONDS = 365 * 24 * 3600.0


@dataclass(frozen=True)
class Interval:
    """One histogram: values in microseconds, recorded from `start` (UNIX seconds) on."""

    tag: str
    start_seconds: float
    length_seconds: float
    histogram: Histogram


@dataclass(frozen=True)
class IntervalLog:
    intervals: tuple[Interval, ...]
    problems: tuple[str, ...]  # one per line that could not be read


def _parse_line(line: str) -> Interval:
    tag = ""
    if line.startswith("Tag="):
        tag, _, line = line[4:].partition(",")
    fields = line.split(",")
    if len(fields) != 4:
        raise HistogramError(f"{len(fields)} fields, expected 4")
    return Interval(tag, float(fields[0]), float(fields[1]), decode(fields[3].strip()))


def parse(text: str, prefix: str = "") -> IntervalLog:
    """Every readable line whose tag begins with `prefix`; others are not decoded.

    A broken or cut-off line becomes a problem, not an exception.
    """
    intervals: list[Interval] = []
    problems: list[str] = []
    start_time = 0.0
    base_time: float | None = None
    for number, line in enumerate(text.splitlines(), start=1):
        if match := _BASE.match(line):
            if match[1] == "BaseTime":
                base_time = float(match[2])
            else:
                start_time = float(match[2])
            continue
        if not line or line.startswith(("#", '"')):
            continue
        if prefix and not line.startswith(f"Tag={prefix}"):
            continue
        try:
            item = _parse_line(line)
        except ValueError as error:
            problems.append(f"line {number}: {error}")
            continue
        base = base_time
        if base is None:
            base = start_time if item.start_seconds < start_time - _YEAR_SECONDS else 0.0
        start = item.start_seconds + base
        intervals.append(Interval(item.tag, start, item.length_seconds, item.histogram))
    return IntervalLog(tuple(intervals), tuple(problems))


def read(path: Path, prefix: str = "") -> IntervalLog:
    """Blocks on the file. A missing file is an empty log with the reason as its problem."""
    try:
        return parse(path.read_text(encoding="utf-8", errors="replace"), prefix)
    except OSError as error:
        return IntervalLog((), (f"{path.name}: {error.strerror or error}",))
