"""Trial folder -> the metrics of one trial, with a reason for each that is missing, and flags."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from analysis import hlog
from analysis.drift import find_drifts
from analysis.measures import NO_WINDOW, Value, all_values
from analysis.registry import METRICS
from analysis.trial_files import LATENCY_TAG, Trial, latency_intervals, read_trial


@dataclass(frozen=True)
class Summary:
    """`values` holds every metric of the registry, in its order."""

    values: dict[str, Value]
    flags: tuple[str, ...]
    notes: tuple[str, ...]  # what stands behind a flag, one sentence each

    @property
    def metrics(self) -> dict[str, float | int | None]:
        return {name: value.value for name, value in self.values.items()}

    @property
    def reasons(self) -> dict[str, str]:
        return {name: v.reason for name, v in self.values.items() if v.value is None}


def _notes(trial: Trial, log: hlog.IntervalLog) -> dict[str, str]:
    """Flag -> sentence."""
    notes: dict[str, str] = {}
    drifts = find_drifts(trial, latency_intervals(log, trial.load))
    if drifts:
        notes["drift"] = "; ".join(
            f"{drift.what}: {drift.first:.4g} in the first half of the window, "
            f"{drift.second:.4g} in the second" for drift in drifts)
    load = trial.load
    if load.verdict in ("late", "saturated"):
        notes[f"generator-{load.verdict}"] = load.verdict_reason or "no reason given"
    totals = load.totals
    if totals is not None:
        if not totals.adds_up():
            notes["count-mismatch"] = "the generator's counts do not add up"
        if totals.in_flight:
            notes["unanswered"] = f"{totals.in_flight} requests without an answer at the end"
        if totals.shed or totals.unsent:
            notes["not-all-sent"] = f"{totals.shed} shed, {totals.unsent} never sent"
        if totals.latency.at_least:
            notes["latency-censored"] = ", ".join(
                f"{key} {value} ms" for key, value in totals.latency.at_least.items())
    if log.problems and log.intervals:
        notes["log-damaged"] = log.problems[0]
    return notes


def summarise(trial: Trial, log: hlog.IntervalLog) -> Summary:
    """Pure: the same files give the same summary."""
    found = all_values(trial)
    values = {metric.name: found.get(metric.name, NO_WINDOW) for metric in METRICS}
    notes = _notes(trial, log)
    return Summary(values, tuple(notes), tuple(f"{flag}: {text}" for flag, text in notes.items()))


@dataclass(frozen=True)
class Kept:
    """A trial whose raw files are there, and what follows from them."""

    folder: Path
    trial: Trial
    summary: Summary


def read_kept(folder: Path) -> Kept:
    """Blocks on the trial's files. Missing or damaged files give gaps with reasons, no error."""
    trial = read_trial(folder)
    log = hlog.read(folder / "load.hlog", LATENCY_TAG)
    return Kept(folder, trial, summarise(trial, log))


def trial_summary(folder: Path) -> Summary:
    """As read_kept."""
    return read_kept(folder).summary


def trial_metrics(trial_dir: Path) -> dict[str, float | int | None]:
    """The metrics of the registry by name; None = not measured."""
    return trial_summary(trial_dir).metrics
