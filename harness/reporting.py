"""The one place where the harness uses `analysis`: metrics of a trial, and the report of a run."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

Metrics = dict[str, float | int | None]
Flags = tuple[str, ...]

# analysis.render tells a part that raised an exception as `PART: TYPE: TEXT (FILE.py:LINE)`; its
# other warnings are about the data.
FAILED_PART = re.compile(r".+: \w+: .*\(\w+\.py:\d+\)", re.DOTALL)


@dataclass(frozen=True)
class Analysis:
    """What the harness needs of the analysis; tests put in their own."""

    metric_names: tuple[str, ...]
    read_trial: Callable[[Path], tuple[Metrics, Flags]]
    render_run: Callable[[Path, bool], list[str]]


def failed_parts(warnings: Sequence[str]) -> list[str]:
    """Those of render_run's warnings that tell of a part that is missing from the report."""
    return [warning for warning in warnings if FAILED_PART.fullmatch(warning)]


def load_analysis() -> Analysis:
    """Imports the real one; late, because it needs packages that --help does not."""
    from analysis.registry import METRICS
    from analysis.render import render_run
    from analysis.trial import trial_summary

    def read_trial(trial: Path) -> tuple[Metrics, Flags]:
        summary = trial_summary(trial)
        return summary.metrics, summary.flags

    return Analysis(tuple(metric.name for metric in METRICS), read_trial, render_run)
