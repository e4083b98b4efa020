"""Reads a result folder: the manifest and one record per trial of results.csv."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from analysis import jsonfile
from analysis.registry import METRICS
from analysis.trial_files import offered_rate
from analysis.verdicts import Cell, Outcome


@dataclass(frozen=True)
class Row:
    """One trial of results.csv. `values` has every metric of the registry."""

    round: int
    scenario: str
    approach: str
    status: str
    reason: str
    flags: tuple[str, ...]
    values: dict[str, float | None]


@dataclass(frozen=True)
class Scenario:
    """A row of the scenario file; `columns` are its nine columns with effective values."""

    name: str
    columns: dict[str, str]
    requests_per_second: float | None
    test_seconds: float | None

    @property
    def offered(self) -> float | None:
        """Requests that the scenario fixes for the load window."""
        if self.requests_per_second is None or self.test_seconds is None:
            return None
        return self.requests_per_second * self.test_seconds


@dataclass(frozen=True)
class Run:
    folder: Path
    manifest: jsonfile.Object
    scenarios: tuple[Scenario, ...]
    approaches: tuple[str, ...]
    rows: tuple[Row, ...]
    problems: tuple[str, ...]

    def rows_of(self, scenario: str, approach: str) -> tuple[Row, ...]:
        """The trials of one scenario and approach by round."""
        found = [r for r in self.rows if r.scenario == scenario and r.approach == approach]
        return tuple(sorted(found, key=lambda row: row.round))

    def folder_of(self, row: Row) -> Path:
        """Where the raw files of a trial are, as long as they are kept."""
        return self.folder / "trials" / f"r{row.round:02d}-{row.scenario}-{row.approach}"

    def skipped_reason(self, scenario: str, approach: str) -> str:
        """Why the plan left a scenario out for this approach; empty when it did not."""
        for item in jsonfile.objects(self.manifest, "skipped"):
            if item.get("scenario") == scenario and item.get("approach") in (None, approach):
                return jsonfile.text(item, "reason") or "skipped"
        return ""

    @property
    def rounds_done(self) -> int:
        return len({row.round for row in self.rows})

    @property
    def rounds_planned(self) -> int | None:
        return jsonfile.integer(jsonfile.child(self.manifest, "rounds"), "planned")


def _number(field: str) -> float | None:
    try:
        value = float(field)
    except ValueError:
        return None
    return value if abs(value) < float("inf") else None  # also refuses NaN


def _parse_row(record: dict[str, str]) -> Row | None:
    if not record.get("round", "").isdigit() or not record.get("scenario"):
        return None
    return Row(
        round=int(record["round"]), scenario=record["scenario"],
        approach=record.get("approach", ""), status=record.get("status", ""),
        reason=record.get("reason", ""),
        flags=tuple(flag for flag in record.get("flags", "").split("|") if flag),
        values={metric.name: _number(record.get(metric.name, "")) for metric in METRICS})


def parse_results(text: str) -> tuple[tuple[Row, ...], tuple[str, ...]]:
    """Rows and problems. Of two rows for the same trial the later one counts, and it is said."""
    rows: dict[tuple[int, str, str], Row] = {}
    problems: list[str] = []
    lines = list(csv.reader(io.StringIO(text)))
    header = lines[0] if lines else []
    for number, fields in enumerate(lines[1:], start=2):
        row = _parse_row(dict(zip(header, fields))) if len(fields) == len(header) else None
        if row is None:
            problems.append(f"results.csv line {number} is not a whole row: left out")
            continue
        key = (row.round, row.scenario, row.approach)
        if key in rows:
            problems.append(f"results.csv line {number} repeats round {row.round} of "
                            f"{row.scenario} {row.approach}: the later line counts")
        rows[key] = row
    return tuple(rows.values()), tuple(problems)


def _scenario(source: jsonfile.Object) -> Scenario | None:
    """A manifest entry: the nine columns (at the top or under `row`), then `effective`."""
    columns: dict[str, str] = {}
    for part in (source, jsonfile.child(source, "row"), jsonfile.child(source, "effective")):
        for key, value in part.items():
            if isinstance(value, (str, int, float)) or value is None:
                columns[key] = "" if value is None else str(value)
    if not columns.get("scenario"):
        return None
    return Scenario(columns["scenario"], columns, offered_rate(dict(columns)),
                    _number(columns.get("testDurationInSeconds", "")))


def _scenarios(manifest: jsonfile.Object, rows: tuple[Row, ...]) -> tuple[Scenario, ...]:
    known = [s for s in map(_scenario, jsonfile.objects(manifest, "scenarios")) if s is not None]
    names = {scenario.name for scenario in known}
    extra = dict.fromkeys(row.scenario for row in rows if row.scenario not in names)
    return (*known, *(Scenario(name, {"scenario": name}, None, None) for name in extra))


def read_run(folder: Path) -> Run:
    """Blocks on the files. Missing ones leave gaps, listed in `problems`."""
    problems: list[str] = []
    manifest = jsonfile.read_object(folder / "manifest.json")
    if not manifest:
        problems.append("manifest.json is missing or unreadable")
    try:
        text = (folder / "results.csv").read_text(encoding="utf-8", errors="replace")
    except OSError:
        text = ""
        problems.append("results.csv is missing or unreadable")
    rows, faults = parse_results(text)
    scenarios = _scenarios(manifest, rows)
    planned = jsonfile.texts(manifest, "approaches")
    approaches = tuple(dict.fromkeys((*planned, *(row.approach for row in rows))))
    return Run(folder, manifest, scenarios, approaches, rows, (*problems, *faults))


# (scenario, approach, round) -> metric -> why it has no value
Reasons = Mapping[tuple[str, str, int], Mapping[str, str]]


def _outcome(row: Row, metric: str, reasons: Reasons) -> Outcome:
    why = reasons.get((row.scenario, row.approach, row.round), {}).get(metric, "")
    return Outcome(row.status, row.values[metric], row.values["requests_ok"],
                   row.values["requests_error"], row.reason or why)


def cells(run: Run, reasons: Reasons) -> tuple[Cell, ...]:
    """Every scenario x metric, in file and registry order."""
    found = []
    for scenario in run.scenarios:
        trials = {a: run.rows_of(scenario.name, a) for a in run.approaches}
        for metric in METRICS:
            outcomes = {}
            for approach, rows in trials.items():
                outcomes[approach] = {row.round: _outcome(row, metric.name, reasons)
                                      for row in rows}
                reason = run.skipped_reason(scenario.name, approach)
                if not rows and reason:
                    outcomes[approach] = {0: Outcome("skipped", None, reason=reason)}
            found.append(Cell(scenario.name, metric, outcomes, scenario.offered))
    return tuple(found)
