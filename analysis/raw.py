"""The raw files kept with -C: one latency, system and runtime file per scenario and approach."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from pathlib import Path

from analysis import hlog
from analysis.atomic import csv_text, write_text
from analysis.trial import Kept
from analysis.trial_files import LATENCY_TAG, latency_intervals

LATENCY_HEADER = ("round", "epoch_millis", "monotonic_nanos", "request", "lower_micros",
                  "upper_micros", "count")


def _latency_rows(trials: Sequence[Kept]) -> Iterator[Sequence[object]]:
    for kept in trials:
        trial = kept.trial
        log = hlog.read(kept.folder / "load.hlog", LATENCY_TAG)
        for item in latency_intervals(log, trial.load):
            histogram = item.interval.histogram
            lower = histogram.layout.lower(histogram.slots)
            upper = histogram.layout.upper(histogram.slots)
            for low, high, count in zip(lower, upper, histogram.counts):
                yield (trial.round, item.epoch_millis, item.monotonic_nanos, item.request,
                       int(low), int(high), int(count))


def _with_round(trials: Sequence[Kept], name: str) -> str | None:
    """A file of every trial below one header, with the round in front; None without any rows."""
    header: list[str] = []
    rows: list[list[str]] = []
    for kept in trials:
        try:
            text = (kept.folder / name).read_text(encoding="utf-8", errors="replace")
        except OSError:
            continue
        lines = list(csv.reader(io.StringIO(text)))
        if not lines:
            continue
        header = header or lines[0]
        rows += [[str(kept.trial.round), *line] for line in lines[1:]
                 if lines[0] == header and len(line) == len(header)]
    return csv_text(["round", *header], rows) if rows else None


def write_raw(target: Path, approach: str, trials: Sequence[Kept]) -> None:
    """Blocks on the trials' files; a kind of which no trial has rows gets no file."""
    latency = csv_text(LATENCY_HEADER, _latency_rows(trials))
    if latency.count("\n") > 1:
        write_text(target / f"{approach}-latency.csv", latency)
    for kind, name in (("system", "system.csv"), ("runtime", "service.csv")):
        text = _with_round(trials, name)
        if text is not None:
            write_text(target / f"{approach}-{kind}.csv", text)
