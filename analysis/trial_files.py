"""Reads one trial's folder into frozen records. Any file may be missing or cut off."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from analysis import hlog, jsonfile
from analysis.load import Load, measure_stages, parse_load, parse_seconds
from analysis.series import EMPTY, NANOS, Samples, Window, read_csv

LATENCY_TAG = "latency:"


@dataclass(frozen=True)
class CpuReading:
    """CPU time of all threads of the service until one moment."""

    cpu_nanos: int | None
    monotonic_nanos: int | None


@dataclass(frozen=True)
class Trial:
    """One trial as its files tell it. `seconds` holds cumulative counts, see load.parse_seconds."""

    scenario: str
    approach: str
    round: int | None
    status: str
    reason: str
    flags: tuple[str, ...]
    requests_per_second: float | None  # offered, where the scenario fixes it
    window: Window | None
    at_start: CpuReading
    at_end: CpuReading
    load: Load
    seconds: Samples
    service: Samples
    system: Samples


def _cpu_reading(source: jsonfile.Object) -> CpuReading:
    return CpuReading(
        cpu_nanos=jsonfile.integer(source, "cpuNanos"),
        monotonic_nanos=jsonfile.integer(source, "monotonicNanos"),
    )


def _window(trial: jsonfile.Object, load: Load) -> Window | None:
    """The generator's own window, else what the harness saw."""
    if load.totals is not None and load.totals.window is not None:
        return load.totals.window
    source = jsonfile.child(trial, "window")
    start = jsonfile.integer(source, "startMonotonicNanos")
    end = jsonfile.integer(source, "endMonotonicNanos")
    return Window(start, end) if start is not None and end is not None and end > start else None


def offered_rate(row: jsonfile.Object) -> float | None:
    """requestsPerSecond of a scenario row, whose fields may be text or numbers; None = no rate."""
    value = row.get("requestsPerSecond")
    try:
        rate = float(value) if value else 0.0
    except (TypeError, ValueError):
        return None
    return rate if rate > 0 else None


def read_trial(folder: Path) -> Trial:
    """Blocks on the files of one trial; raises nothing for what is missing."""
    source = jsonfile.read_object(folder / "trial.json")
    load_json = jsonfile.read_object(folder / "load.json")
    load = parse_load(load_json)
    window = _window(source, load)
    stages = measure_stages(load_json) or measure_stages(
        jsonfile.read_object(folder / "plan.json"))
    try:
        seconds_text = (folder / "load-seconds.csv").read_text(encoding="utf-8", errors="replace")
    except OSError:
        seconds_text = ""
    threads = jsonfile.child(source, "serviceThreads")
    return Trial(
        scenario=jsonfile.text(source, "scenario"),
        approach=jsonfile.text(source, "approach"),
        round=jsonfile.integer(source, "round"),
        status=jsonfile.text(source, "status"),
        reason=jsonfile.text(source, "reason"),
        flags=jsonfile.texts(source, "flags"),
        requests_per_second=offered_rate(jsonfile.child(source, "row")),
        window=window,
        at_start=_cpu_reading(jsonfile.child(threads, "atStart")),
        at_end=_cpu_reading(jsonfile.child(threads, "atEnd")),
        load=load,
        seconds=parse_seconds(seconds_text, stages, window) if seconds_text else EMPTY,
        service=read_csv(folder / "service.csv"),
        system=read_csv(folder / "system.csv"),
    )


@dataclass(frozen=True)
class TimedHistogram:
    """A second's latencies; `monotonic_nanos` is the moment its recording began."""

    request: str
    epoch_millis: int
    monotonic_nanos: int | None
    interval: hlog.Interval


def latency_intervals(log: hlog.IntervalLog, load: Load) -> tuple[TimedHistogram, ...]:
    """The latency histograms of the measure stages, moved onto the monotonic clock.

    The log stamps wall-clock seconds; load.json's anchor ties both clocks.
    """
    found = []
    for item in log.intervals:
        if not item.tag.startswith(LATENCY_TAG):
            continue
        millis = item.start_seconds * 1000
        moment = None
        if load.epoch_millis is not None and load.monotonic_nanos is not None:
            moment = load.monotonic_nanos + round((millis - load.epoch_millis) * (NANOS // 1000))
        found.append(TimedHistogram(item.tag[len(LATENCY_TAG):], round(millis), moment, item))
    return tuple(found)
