"""How often the rule is wrong and how much it finds, on simulated cells with known truth.

Limits are loose around what the method gives; seeds are fixed, so the outcome is too.
"""

from __future__ import annotations

import numpy as np
import pytest

from analysis.registry import BY_NAME
from analysis.verdicts import Cell, Outcome, Verdict, decide

METRIC = BY_NAME["latency_millis_p50"]
NAMES = "TFRC"
CELLS = 400


def judge(logs: np.ndarray) -> Verdict:
    """`logs[round, approach]`."""
    return decide(Cell("s", METRIC, {
        name: {r: Outcome("ok", float(np.exp(value)), 1000, 0) for r, value in enumerate(column)}
        for name, column in zip(NAMES, logs.T)}))


def verdicts(rounds: int, effects: tuple[float, ...], noise: tuple[float, ...],
             drift: float = 0.0, seed: int = 1) -> list[Verdict]:
    rng = np.random.default_rng(seed)
    lines = np.linspace(0, drift, rounds)[:, None]
    return [judge(4 + lines + np.array(effects) + rng.normal(size=(rounds, 4)) * np.array(noise))
            for _ in range(CELLS)]


def share(found: list[Verdict], state: str) -> float:
    return sum(verdict.state == state for verdict in found) / len(found)


SAME = (0.0, 0.0, 0.0, 0.0)


@pytest.mark.parametrize("rounds", [3, 5, 10])
@pytest.mark.parametrize("noise", [0.005, 0.03, 0.1])
def test_identical_approaches_have_no_winner(rounds: int, noise: float) -> None:
    assert share(verdicts(rounds, SAME, (noise,) * 4), "winner") <= 0.01


@pytest.mark.parametrize(("rounds", "most"), [(3, 0.04), (5, 0.02), (10, 0.01)])
def test_one_noisy_approach_makes_few_winners(rounds: int, most: float) -> None:
    # ten times noisier than the others: the pooled error is too small for its pairs, the pair's
    # own one has few degrees of freedom; still below the nominal 5 %
    assert share(verdicts(rounds, SAME, (0.01, 0.01, 0.01, 0.1)), "winner") <= most


@pytest.mark.parametrize("rounds", [3, 5])
def test_a_drift_over_the_rounds_makes_no_winner_and_hides_none(rounds: int) -> None:
    assert share(verdicts(rounds, SAME, (0.01,) * 4, drift=0.3), "winner") <= 0.01
    better = verdicts(rounds, (0.0, -0.2, 0.0, 0.0), (0.01,) * 4, drift=0.3)
    assert share(better, "winner") >= 0.99


@pytest.mark.parametrize(("rounds", "effect", "least"), [
    (3, 0.30, 0.90), (5, 0.10, 0.70), (5, 0.20, 0.99), (10, 0.10, 0.98)])
def test_power_at_three_percent_noise(rounds: int, effect: float, least: float) -> None:
    found = verdicts(rounds, (0.0, -effect, 0.0, 0.0), (0.03,) * 4)
    assert share(found, "winner") >= least
    assert all(v.leaders == ("F",) for v in found if v.state == "winner")


def test_quiet_equals_are_ties() -> None:
    assert share(verdicts(5, SAME, (0.003,) * 4), "tie") >= 0.95


def test_a_truth_beyond_the_margin_is_hardly_ever_called_a_tie() -> None:
    found = verdicts(5, (0.0, 0.06, 0.06, 0.06), (0.01,) * 4)
    assert sum("F" in v.leaders for v in found if v.state == "tie") <= 0.01 * CELLS


def test_intervals_cover_the_true_ratio() -> None:
    found = verdicts(5, (0.0, -0.25, 0.0, 0.25), (0.03,) * 4)
    held = [v.low <= np.exp(0.25) <= v.high for v in found
            if v.low is not None and v.high is not None and v.leaders == ("F",)]
    assert len(held) > 0.95 * CELLS
    assert np.mean(held) >= 0.95


def test_the_detectable_difference_is_what_power_shows() -> None:
    noise = (0.03,) * 4
    percent = float(np.median([v.minimum_detectable_percent or 0.0
                               for v in verdicts(5, SAME, noise)]))
    found = verdicts(5, (0.0, -float(np.log1p(percent / 100)), 0.0, 0.0), noise, seed=2)
    assert 0.5 <= share(found, "winner") <= 0.97
