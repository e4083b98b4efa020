"""verdicts.csv: one row per scenario and metric."""

from __future__ import annotations

from collections.abc import Iterable

from analysis.atomic import csv_text
from analysis.verdicts import Verdict

HEADER = ("scenario", "metric", "state", "leader", "runner_up", "ratio", "low", "high", "p", "q",
          "minimum_detectable_percent", "rounds", "reason", "compared", "left_out")


def verdicts_csv(verdicts: Iterable[Verdict]) -> str:
    """Names of several leaders are joined by `|`; an empty field was not computed."""
    return csv_text(HEADER, (
        (v.scenario, v.metric, v.state, "|".join(v.leaders), v.runner_up, v.ratio, v.low, v.high,
         v.p, v.q, v.minimum_detectable_percent, v.rounds, v.reason, "|".join(v.compared),
         "; ".join(f"{name}: {why}" for name, why in v.left_out.items())) for v in verdicts))
