"""Chooses the trial each picture shows, draws them by scenario, says which are missing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from analysis import charts, hlog, jsonfile
from analysis.atomic import write_bytes
from analysis.chart_data import ChartData, chart_data
from analysis.formatting import number
from analysis.run import Row, Run, Scenario
from analysis.trial import Kept
from analysis.trial_files import LATENCY_TAG, Trial, latency_intervals

HEADLINE_LATENCIES = ("latency_millis_p99", "latency_millis_p50")
# (scenario, approach, round) -> the trial's files, where they were kept
Trials = Mapping[tuple[str, str, int], Kept]


@dataclass(frozen=True)
class Chart:
    """One picture or the reason why there is none; `path` is relative to the run's folder."""

    scenario: str
    approach: str
    path: str
    round: int | None
    missing: str = ""


@dataclass(frozen=True)
class Choice:
    row: Row
    by: str  # how it was chosen


def file_name(name: str) -> str:
    """A scenario or approach as a part of a path."""
    return name.replace("/", "_").lstrip(".") or "_"


def choose(rows: Sequence[Row]) -> Choice | None:
    """The trial whose headline latency is the median; trials that do not count only if all are so.

    With an even number of trials the better of the two in the middle.
    """
    good = [row for row in rows if row.status == "ok"]
    if not good:
        return Choice(rows[0], f"no valid trial: {rows[0].status}") if rows else None
    if len(good) == 1:
        return Choice(good[0], "its only valid trial")
    for name in HEADLINE_LATENCIES:
        valued = [(value, row.round, row) for row in good
                  if (value := row.values.get(name)) is not None]
        if len(valued) == len(good):
            middle = sorted(valued, key=lambda item: item[:2])[(len(valued) - 1) // 2]
            return Choice(middle[2], f"the median trial by {name.rsplit('_', 1)[1]}")
    return Choice(good[0], "the first valid trial: not all have a latency")


def generator_text(row: Row, trial: Trial | None) -> str:
    """The load generator's verdict on its own work: from its report, else from the flags."""
    lag = row.values.get("loadgen_lag_micros_p99")
    late = "" if lag is None else f", lag p99 {number(lag)} us"
    if trial is not None and trial.load.verdict:
        return trial.load.verdict + late
    flagged = [flag.removeprefix("generator-") for flag in row.flags
               if flag.startswith("generator-")]
    if flagged:
        return flagged[0] + late
    if row.status == "ok" and late:
        return f"ok{late}"
    return "see the reason" if row.reason.startswith("load generator") else "not known"


def flags(row: Row, kept: Kept | None) -> tuple[str, ...]:
    """Flags of the harness, then those that follow from the trial's files."""
    return tuple(dict.fromkeys((*row.flags, *(kept.summary.flags if kept else ()))))


def subtitle(run: Run, scenario: Scenario, choice: Choice, kept: Kept) -> tuple[str, str]:
    """Which trial the picture shows, and what to think of it."""
    rate = scenario.requests_per_second
    load = f"offered {number(rate)}/s" if rate is not None else (
        f"paced users, {scenario.columns.get('connections') or '?'} at the peak")
    rounds = len(run.rows_of(scenario.name, choice.row.approach))
    commit = jsonfile.text(run.manifest, "commit")[:10] or "unknown"
    if run.manifest.get("dirty") is True:
        commit += " + changes"
    first = (f"round {choice.row.round} of {rounds} ({choice.by}) · {load} · "
             f"seed {run.manifest.get('seed', 'unknown')} · commit {commit}")
    state = choice.row.status + (f" ({choice.row.reason})" if choice.row.reason else "")
    flagged = ", ".join(flags(choice.row, kept)) or "none"
    second = (f"generator: {generator_text(choice.row, kept.trial)} · trial: {state} · "
              f"flags: {flagged}")
    return _clip(first), _clip(second)


def _clip(text: str, limit: int = 150) -> str:
    return text if len(text) <= limit else text[:limit - 1] + "…"


def _load(row: Row, trials: Trials) -> tuple[Kept, ChartData] | str:
    """What the picture shows, or why there is nothing to show."""
    if row.status == "skipped":
        return row.reason or "skipped"
    kept = trials.get((row.scenario, row.approach, row.round))
    if kept is None:
        return "the raw files of the trial were not kept"
    log = hlog.read(kept.folder / "load.hlog", LATENCY_TAG)
    data = chart_data(kept.trial, latency_intervals(log, kept.trial.load))
    if data is None:
        return row.reason or f"trial {row.status}: it never reached its load window"
    return kept, data


def draw_scenario(run: Run, scenario: Scenario, trials: Trials) -> list[Chart]:
    """Blocks: reads the chosen trials, writes SCENARIO/APPROACH.png for each.

    Pictures of an earlier rendering stay where the raw files are gone.
    """
    found: list[Chart] = []
    drawable: list[tuple[int, Choice, Kept, ChartData]] = []
    for approach in run.approaches:
        path = f"{file_name(scenario.name)}/{file_name(approach)}.png"
        choice = choose(run.rows_of(scenario.name, approach))
        if choice is None:
            reason = run.skipped_reason(scenario.name, approach) or "no trial was run"
            found.append(Chart(scenario.name, approach, path, None, reason))
            continue
        loaded = _load(choice.row, trials)
        missing = loaded if isinstance(loaded, str) else ""
        if missing and (run.folder / path).is_file():
            missing = ""
        if not isinstance(loaded, str):
            drawable.append((len(found), choice, *loaded))
        found.append(Chart(scenario.name, approach, path, choice.row.round, missing))
    if drawable:
        ranges = charts.common_ranges([data for *_, data in drawable])
        for index, choice, kept, data in drawable:
            chart = found[index]
            picture = charts.draw(f"{chart.approach}: {scenario.name}",
                                  subtitle(run, scenario, choice, kept), data, ranges)
            write_bytes(run.folder / chart.path, picture)
    return found
