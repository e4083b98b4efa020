"""Which approach wins a cell (scenario x metric), or why nobody does. Pure; no files, no text.

The rule: rounds are blocks, values are compared as logarithms, and a winner must beat every other
approach with a 95 % interval (adjusted for all pairs of the cell) that excludes equality and by
more than the metric's margin. Equal within the margin is a tie, anything else is undecided.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
import numpy.typing as npt

from analysis.blocks import POWER, Fit, fit
from analysis.formatting import round3
from analysis.registry import Metric
from analysis.student import quantile

State = Literal["winner", "tie", "undecided", "bound", "not-applicable", "failed", "not-run",
                "invalid"]
STATES: tuple[State, ...] = ("winner", "tie", "undecided", "bound", "not-applicable", "failed",
                             "not-run", "invalid")

# A fixed rate is met when every trial completed it to within half a percent.
RATE_TOLERANCE = 0.005
# More failed requests than this and the other figures of a trial describe failing, not serving.
ERROR_BUDGET = 0.001


RULE = (
    "Winner: ahead of every other approach by more than the metric's margin (3 % for times and "
    "rates, 5 % for memory and other resources), and the 95 % interval of each lead excludes "
    "equality (Student's t on logarithms, paired by round, adjusted for all pairs of the cell).")

# Rounds as rows, approaches as columns.
Table = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Outcome:
    """One approach in one round: `status` as in results.csv, `value` None = not measured."""

    status: str
    value: float | None
    requests_ok: float | None = None
    requests_error: float | None = None
    reason: str = ""


@dataclass(frozen=True)
class Cell:
    """`outcomes[approach][round]`; `offered` = requests the scenario fixes for the window."""

    scenario: str
    metric: Metric
    outcomes: Mapping[str, Mapping[int, Outcome]]
    offered: float | None = None


@dataclass(frozen=True)
class Verdict:
    """`ratio` >= 1: how much better the leader is than the runner-up, with its interval.

    `leaders` has several names for a tie. Numbers are None where they were not computed.
    """

    scenario: str
    metric: str
    state: State
    reason: str
    leaders: tuple[str, ...] = ()
    runner_up: str = ""
    ratio: float | None = None
    low: float | None = None
    high: float | None = None
    p: float | None = None
    q: float | None = None
    minimum_detectable_percent: float | None = None
    rounds: int = 0
    compared: tuple[str, ...] = ()
    left_out: Mapping[str, str] = field(default_factory=dict)  # approach -> reason


def over_budget(outcome: Outcome) -> bool:
    ok, errors = outcome.requests_ok or 0.0, outcome.requests_error or 0.0
    return errors > ERROR_BUDGET * (ok + errors)


def rate_met(cell: Cell, names: tuple[str, ...]) -> bool | None:
    """Whether every trial of these approaches met the fixed rate; None when there is none."""
    if cell.offered is None or cell.offered <= 0:
        return None
    done = [o.requests_ok for name in names for o in cell.outcomes[name].values()
            if o.status == "ok"]
    return bool(done) and all(
        ok is not None and abs(ok / cell.offered - 1) < RATE_TOLERANCE for ok in done)


def _exclusion(metric: Metric, rounds: Mapping[int, Outcome]) -> str:
    """Why an approach takes no part in the comparison; empty when it does."""
    if not rounds:
        return "not run"
    good = [o for o in rounds.values() if o.status == "ok"]
    if not good:
        first = next(iter(rounds.values()))
        return f"{first.status}: {first.reason}" if first.reason else first.status
    if all(o.value is None for o in good):
        return next((o.reason for o in good if o.reason), "not measured")
    if metric.group != "requests" and any(over_budget(o) for o in good):
        return f"over {ERROR_BUDGET:.1%} of its requests failed or were never answered"
    return ""


def _too_few(cell: Cell, left_out: Mapping[str, str]) -> Verdict:
    """Fewer than two approaches have values: the most telling state, with every reason."""
    statuses = {o.status for rounds in cell.outcomes.values() for o in rounds.values()}
    over = any("requests failed or were" in why for why in left_out.values())
    reason = "; ".join(f"{name}: {why}" for name, why in left_out.items())
    if len(left_out) == len(cell.outcomes) > 1 and len(set(left_out.values())) == 1:
        reason = f"every approach: {next(iter(left_out.values()))}"
    state: State = "not-applicable"
    if statuses <= {"skipped"}:
        state, reason = "not-run", reason or "no trial"
    elif not left_out:
        reason = "one approach only: nothing to compare"
    elif "failed" in statuses:
        state = "failed"
    elif "invalid" in statuses or over:
        state = "invalid"
    elif any(not rounds or {o.status for o in rounds.values()} == {"skipped"}
             for rounds in cell.outcomes.values()):
        state = "not-run"
    return Verdict(cell.scenario, cell.metric.name, state, reason, left_out=left_out)


def _by_rule(cell: Cell, names: tuple[str, ...]) -> tuple[State, str] | None:
    """States that follow from the metric and the load, before any statistics."""
    met = rate_met(cell, names)
    if cell.metric.rule == "never" or cell.metric.direction == "none":
        return "not-applicable", "shown, never ranked"
    if cell.metric.rule == "load-set" and met:
        return "bound", "the fixed rate sets it and every approach met that rate"
    if cell.metric.rule == "equal-rate" and not met:
        return "not-applicable", ("not every trial met the fixed rate" if met is False else
                                  "the scenario fixes no rate") + ": costs compare at equal rates"
    return None


@dataclass(frozen=True)
class _Scale:
    """Values as they enter the fit: smaller is better, `margin` on the same scale."""

    values: Table
    margin: float
    logarithmic: bool


def _scale(metric: Metric, table: Table) -> _Scale:
    sign = -1.0 if metric.direction == "higher" else 1.0
    if metric.rule == "count" or (table <= 0).any():
        return _Scale(sign * table, metric.margin * float(np.abs(table).mean()), False)
    return _Scale(sign * np.log(table), math.log1p(metric.margin), True)


def _displayed_equal(metric: Metric, table: Table) -> bool:
    """Centres read the same at three digits and no trial strays beyond the margin."""
    low, high = float(table.min()), float(table.max())
    if low == high:
        return True
    centres = {round3(float(c)) for c in np.median(table, axis=0)}
    return len(centres) == 1 and low > 0 and high <= low * (1 + metric.margin)


def _detectable_percent(result: Fit, scale: _Scale) -> float | None:
    """The smallest true advantage that would become a win with 80 % power."""
    if not scale.logarithmic:
        return None
    worst = max(pair.error for pair in result.pairs.values())
    beyond_margin = scale.margin + quantile(POWER, result.df) * worst
    return math.expm1(max(result.detectable(), beyond_margin)) * 100


def _judge(names: tuple[str, ...], result: Fit, scale: _Scale) -> tuple[State, list[int]]:
    """The state and the leaders, best first."""
    order = sorted(range(len(names)), key=lambda i: (result.centres[i], names[i]))
    leader, equal, unclear = order[0], [order[0]], False
    for other in order[1:]:
        pair = result.pairs[other, leader]
        if pair.low > 0 and pair.difference > scale.margin:
            continue
        if max(abs(pair.low), abs(pair.high)) <= scale.margin:
            equal.append(other)
        else:
            unclear = True
    if unclear:
        return "undecided", [leader]
    return ("winner" if len(equal) == 1 else "tie"), equal


_REASONS: dict[State, str] = {
    "winner": "ahead of every other approach, beyond the margin",
    "tie": "equal within the margin",
    "undecided": "the intervals do not separate the approaches, nor show them equal",
}


def _compare(cell: Cell, names: tuple[str, ...], rounds: tuple[int, ...]) -> Verdict:
    table = np.array([[cell.outcomes[name][r].value for name in names] for r in rounds],
                     dtype=np.float64)
    base = Verdict(cell.scenario, cell.metric.name, "undecided", "", rounds=len(rounds),
                   compared=names)
    if len(rounds) < 2:
        return replace(base, reason="one round decides nothing" if rounds
                       else "no round in which all compared approaches have a value")
    if cell.metric.rule == "count" and not table.any():
        return replace(base, state="tie", leaders=names, reason="zero everywhere (exact)")
    scale = _scale(cell.metric, table)
    result = fit(scale.values)
    state, equal = _judge(names, result, scale)
    reason = _REASONS[state]
    if _displayed_equal(cell.metric, table):
        state, equal, reason = "tie", list(range(len(names))), "equal after rounding"
    rest = sorted((i for i in range(len(names)) if i not in equal),
                  key=lambda i: (result.centres[i], names[i]))
    runner_up = rest[0] if rest else equal[1]
    pair = result.pairs[runner_up, equal[0]]
    logs = scale.logarithmic
    return replace(
        base, state=state, reason=reason, leaders=tuple(names[i] for i in equal),
        runner_up=names[runner_up],
        ratio=math.exp(pair.difference) if logs else None,
        low=math.exp(pair.low) if logs else None, high=math.exp(pair.high) if logs else None,
        p=max(result.pairs[other, equal[0]].p for other in rest) if rest else pair.p,
        minimum_detectable_percent=_detectable_percent(result, scale))


def _blemish(cell: Cell, names: tuple[str, ...]) -> str:
    """A leader's trial that failed, does not count or has no value: it wins nothing then.

    A value may be missing because it was worse than could be measured ("at least 60 s").
    """
    for name in names:
        for number, outcome in sorted(cell.outcomes[name].items()):
            if outcome.status in ("failed", "invalid"):
                return f"{name} leads, but its trial of round {number} is {outcome.status}"
            if outcome.status == "ok" and outcome.value is None:
                why = f": {outcome.reason}" if outcome.reason else ""
                return f"{name} leads, but has no value in round {number}{why}"
    return ""


def decide(cell: Cell) -> Verdict:
    """The verdict of one cell. Never raises for missing, failed or null values."""
    left_out = {name: why for name, rounds in cell.outcomes.items()
                if (why := _exclusion(cell.metric, rounds))}
    names = tuple(name for name in cell.outcomes if name not in left_out)
    if len(names) < 2:
        return _too_few(cell, left_out)
    ruled = _by_rule(cell, names)
    if ruled is not None:
        return Verdict(cell.scenario, cell.metric.name, *ruled, left_out=left_out)
    usable = [{r for r, o in cell.outcomes[name].items()
               if o.status == "ok" and o.value is not None and math.isfinite(o.value)}
              for name in names]
    verdict = _compare(cell, names, tuple(sorted(set.intersection(*usable))))
    if verdict.state in ("winner", "tie") and (blemish := _blemish(cell, verdict.leaders)):
        verdict = replace(verdict, state="undecided", reason=blemish)
    return replace(verdict, left_out=left_out)
