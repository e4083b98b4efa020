"""Turns a result folder into verdicts, pictures and results.md. Works on a run that is not over."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from analysis import grid, palette
from analysis.atomic import write_bytes, write_text
from analysis.gallery import Chart, Trials, draw_scenario, file_name
from analysis.raw import write_raw
from analysis.results_md import Report, results_md
from analysis.run import Run, cells, read_run
from analysis.trial import Kept, read_kept
from analysis.verdicts import Verdict, decide
from analysis.verdicts_file import verdicts_csv

T = TypeVar("T")


def _guarded(what: str, step: Callable[[], T], fallback: T, warnings: list[str]) -> T:
    """One picture that cannot be drawn must not cost the report of a run of an hour."""
    try:
        return step()
    except Exception as error:  # whatever it is, it becomes a warning with its place
        place = traceback.extract_tb(error.__traceback__)[-1]
        warnings.append(f"{what}: {type(error).__name__}: {error} "
                        f"({Path(place.filename).name}:{place.lineno})")
        return fallback


def _draw_charts(run: Run, trials: Trials, warnings: list[str]) -> list[Chart]:
    found: list[Chart] = []
    for scenario in run.scenarios:
        lost = [Chart(scenario.name, approach, "", None, "it could not be drawn, see the warnings")
                for approach in run.approaches]
        found += _guarded(f"charts of {scenario.name}",
                          lambda s=scenario: draw_scenario(run, s, trials),  # type: ignore[misc]
                          lost, warnings)
    return found


def _draw_grid(run: Run, verdicts: dict[tuple[str, str], Verdict], letters: dict[str, str]
               ) -> None:
    planned = run.rounds_planned
    rounds = f"Rounds: {run.rounds_done}" + (f" of {planned} planned." if planned else ".")
    title = f"Best approach by metric and scenario: {run.manifest.get('name', run.folder.name)}"
    subtitle = ("Letter of the winner and its lead over the next. Bold metrics are the headlines. "
                "Darker = larger lead.")
    names = [scenario.name for scenario in run.scenarios]
    for kind, data in grid.draw(title, subtitle, names, verdicts, letters, rounds).items():
        write_bytes(run.folder / f"results.{kind}", data)


def _read_trials(run: Run) -> dict[tuple[str, str, int], Kept]:
    return {(row.scenario, row.approach, row.round): read_kept(run.folder_of(row))
            for row in run.rows if run.folder_of(row).is_dir()}


def _write_raw_files(run: Run, kept: Trials, warnings: list[str]) -> None:
    for scenario in run.scenarios:
        for approach in run.approaches:
            rows = run.rows_of(scenario.name, approach)
            keys = [(row.scenario, row.approach, row.round) for row in rows]
            trials = [kept[key] for key in keys if key in kept]
            target = run.folder / file_name(scenario.name)
            _guarded(f"raw files of {scenario.name} {approach}",
                     lambda: write_raw(target, file_name(approach), trials), None, warnings)


def _raw_files(run: Run) -> list[str]:
    """Raw files that exist, also from an earlier rendering."""
    return [str(path.relative_to(run.folder)) for scenario in run.scenarios
            for path in sorted((run.folder / file_name(scenario.name)).glob("*.csv"))]


def render_run(run_dir: Path, keep_raw: bool) -> list[str]:
    """Writes verdicts.csv, SCENARIO/APPROACH.png, results.png/.svg, results.md; returns warnings.

    With `keep_raw` also SCENARIO/APPROACH-{latency,system,runtime}.csv from the trials' files.
    Deletes nothing. Blocks on files; raises OSError when the folder cannot be written.
    """
    run = read_run(run_dir)
    warnings: list[str] = []
    trials = _read_trials(run)
    reasons = {key: kept.summary.reasons for key, kept in trials.items()}
    verdicts = {(cell.scenario, cell.metric.name): decide(cell) for cell in cells(run, reasons)}
    write_text(run_dir / "verdicts.csv", verdicts_csv(verdicts.values()))
    letters = palette.letters(run.approaches)
    charts = _draw_charts(run, trials, warnings)
    _guarded("results.png", lambda: _draw_grid(run, verdicts, letters), None, warnings)
    if keep_raw:
        _write_raw_files(run, trials, warnings)
    report = Report(run, verdicts, letters, charts, trials, _raw_files(run), tuple(warnings))
    write_text(run_dir / "results.md", results_md(report))
    return [*run.problems, *warnings]
