"""Each state of a cell from values chosen by hand."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.registry import BY_NAME
from analysis.verdicts import STATES, Cell, Outcome, Verdict, decide

P50, COST, RATE = (BY_NAME[name] for name in ("latency_millis_p50",
                   "service_cpu_micros_per_request", "requests_per_second_p50"))
ERRORS, SOCKETS, RSS = (BY_NAME[name] for name in ("requests_error", "sockets_avg",
                        "service_rss_mib_max"))


def cell(metric: object, values: dict[str, list[float | None]], offered: float | None = None,
         ok: float = 10_000, errors: float = 0) -> Cell:
    return Cell("s", metric, {  # type: ignore[arg-type]
        name: {r: Outcome("ok", value, ok, errors) for r, value in enumerate(series, start=1)}
        for name, series in values.items()}, offered)


def change(source: Cell, name: str, round_: int, **fields: object) -> Cell:
    outcomes = {key: dict(rounds) for key, rounds in source.outcomes.items()}
    outcomes[name][round_] = replace(outcomes[name][round_], **fields)  # type: ignore[arg-type]
    return replace(source, outcomes=outcomes)


CLEAR: dict[str, list[float | None]] = {
    "fast": [10.0, 10.1, 9.9], "slow": [20.0, 20.1, 19.9], "slower": [30.0, 30.2, 29.9]}


def test_winner_with_ratio_and_interval() -> None:
    verdict = decide(cell(P50, CLEAR))
    assert (verdict.state, verdict.leaders, verdict.runner_up) == ("winner", ("fast",), "slow")
    assert verdict.ratio == pytest.approx(2.0, rel=1e-3)
    assert verdict.low is not None and verdict.high is not None
    assert 1.03 < verdict.low < 2.0 < verdict.high
    assert verdict.p is not None and verdict.p < 0.05
    assert verdict.rounds == 3 and verdict.q is None


def test_higher_is_better_turns_the_order() -> None:
    verdict = decide(cell(RATE, CLEAR))
    assert verdict.state == "winner" and verdict.leaders == ("slower",)
    assert verdict.ratio == pytest.approx(1.5, rel=1e-2)


def test_one_round_decides_nothing() -> None:
    verdict = decide(cell(P50, {"a": [1.0], "b": [1000.0]}))
    assert (verdict.state, verdict.reason) == ("undecided", "one round decides nothing")
    assert verdict.leaders == () and verdict.ratio is None
    assert decide(cell(P50, {"a": [5.0], "b": [5.0]})).state == "undecided"


def test_noise_is_undecided_with_a_detectable_difference() -> None:
    verdict = decide(cell(P50, {"a": [10, 14, 9], "b": [12, 10, 15]}))
    assert verdict.state == "undecided"
    assert verdict.minimum_detectable_percent is not None
    assert verdict.minimum_detectable_percent > 30


def test_a_lead_below_the_margin_is_no_win() -> None:
    verdict = decide(cell(P50, {"a": [100.0, 100.0, 100.1], "b": [102.0, 102.0, 102.1]}))
    assert verdict.state == "tie"
    assert verdict.p is not None and verdict.p < 0.05  # significant, yet too small to matter


def test_equal_after_rounding_is_a_tie() -> None:
    # two rounds alone could never show equality by their interval
    verdict = decide(cell(P50, {"a": [101.21, 101.24], "b": [101.23, 101.19]}))
    assert (verdict.state, verdict.reason) == ("tie", "equal after rounding")


def test_equal_middles_of_wide_noise_are_not_a_tie() -> None:
    verdict = decide(cell(P50, {"a": [50.0, 100.0, 200.0], "b": [200.0, 100.0, 50.0]}))
    assert verdict.state == "undecided"


def test_tie_group_ahead_of_the_rest() -> None:
    verdict = decide(cell(P50, CLEAR | {"twin": [10.05, 10.1, 9.95]}))
    assert verdict.state == "tie"
    assert set(verdict.leaders) == {"fast", "twin"} and verdict.runner_up == "slow"


def test_zero_errors_everywhere_is_an_exact_tie() -> None:
    verdict = decide(cell(ERRORS, {"a": [0, 0, 0], "b": [0, 0, 0]}))
    assert (verdict.state, verdict.reason) == ("tie", "zero everywhere (exact)")
    assert verdict.leaders == ("a", "b")


def test_counts_compare_by_difference_and_have_no_ratio() -> None:
    verdict = decide(cell(ERRORS, {"a": [0, 0, 0], "b": [50, 52, 51]}))
    assert verdict.state == "winner" and verdict.leaders == ("a",)
    assert verdict.ratio is None and verdict.low is None
    assert decide(cell(ERRORS, {"a": [0, 0, 0], "b": [0, 900, 3]})).state == "undecided"


def test_load_set_metrics_are_bound_where_everyone_met_the_rate() -> None:
    assert decide(cell(RATE, CLEAR, offered=10_000)).state == "bound"
    assert decide(cell(RATE, CLEAR, offered=10_000, ok=9_951)).state == "bound"
    assert decide(cell(RATE, CLEAR, offered=10_000, ok=9_949)).state == "winner"
    missed = change(cell(RATE, CLEAR, offered=10_000), "slow", 2, requests_ok=9_000)
    assert decide(missed).state == "winner"


def test_costs_compare_at_equal_rates_only() -> None:
    assert decide(cell(COST, CLEAR, offered=10_000)).state == "winner"
    paced = decide(cell(COST, CLEAR))
    assert paced.state == "not-applicable" and "fixes no rate" in paced.reason
    missed = decide(change(cell(COST, CLEAR, offered=10_000), "slow", 2, requests_ok=9_000))
    assert missed.state == "not-applicable" and "not every trial met" in missed.reason


def test_metrics_that_rank_nobody() -> None:
    assert decide(cell(SOCKETS, CLEAR)).state == "not-applicable"
    assert decide(cell(BY_NAME["latency_millis_max"], CLEAR)).state == "not-applicable"
    assert decide(cell(P50, {"alone": [1.0, 2.0]})).state == "not-applicable"
    nothing = decide(cell(P50, {"a": [None, None], "b": [None, None]}))
    assert (nothing.state, nothing.reason) == ("not-applicable", "every approach: not measured")


@pytest.mark.parametrize("status", ["failed", "invalid"])
def test_a_trial_that_does_not_count_never_wins(status: str) -> None:
    verdict = decide(change(cell(P50, CLEAR | {"fast": [10.0, 10.1, 9.9, 10.0], "slow":
                     [20.0, 20.1, 19.9, 20.0], "slower": [30.0, 30.2, 29.9, 30.1]}),
                     "fast", 2, status=status))
    assert verdict.state == "undecided" and verdict.rounds == 3
    assert verdict.reason == f"fast leads, but its trial of round 2 is {status}"


def test_a_failed_trial_of_a_loser_takes_its_round_only() -> None:
    verdict = decide(change(cell(P50, CLEAR), "slower", 2, status="failed"))
    assert verdict.state == "winner" and verdict.rounds == 2


def test_a_value_that_could_not_be_measured_never_wins() -> None:
    source = cell(P50, {"a": [10, 10, 10, None], "b": [20, 20.1, 19.9, 20]})
    verdict = decide(change(source, "a", 4, reason="only known to be >=60000 ms"))
    assert verdict.state == "undecided" and ">=60000" in verdict.reason


def test_an_approach_without_a_valid_trial_is_left_out_with_its_reason() -> None:
    source = cell(P50, CLEAR)
    for round_ in (1, 2, 3):
        source = change(source, "slow", round_, status="failed", reason="ended with signal 9")
    verdict = decide(source)
    assert verdict.state == "winner" and verdict.runner_up == "slower"
    assert verdict.left_out == {"slow": "failed: ended with signal 9"}
    assert verdict.compared == ("fast", "slower")


@pytest.mark.parametrize(("status", "state"), [("failed", "failed"), ("invalid", "invalid"),
                                               ("skipped", "not-run")])
def test_nothing_left_to_compare(status: str, state: str) -> None:
    source = cell(P50, {"a": [1.0, 1.0], "b": [2.0, 2.0]})
    for round_ in (1, 2):
        source = change(source, "b", round_, status=status, reason="why")
    verdict = decide(source)
    assert verdict.state == state and "why" in verdict.reason


def test_cells_without_trials() -> None:
    assert decide(Cell("s", P50, {})).state == "not-run"
    assert decide(Cell("s", P50, {"a": {}, "b": {}})).state == "not-run"
    assert decide(cell(P50, {"a": [1.0, 1.0], "b": []})).state == "not-run"


def test_failing_fast_wins_nothing() -> None:
    source = cell(P50, CLEAR)
    for round_ in (1, 2, 3):
        source = change(source, "fast", round_, requests_ok=9_000, requests_error=1_000)
    verdict = decide(source)
    assert verdict.leaders == ("slow",)
    assert "requests failed or were never answered" in verdict.left_out["fast"]
    # its errors themselves still compare
    assert "fast" in decide(replace(source, metric=ERRORS)).compared


def test_few_errors_are_within_the_budget() -> None:
    verdict = decide(cell(P50, CLEAR, ok=9_990, errors=10))
    assert verdict.leaders == ("fast",)


def test_disjoint_rounds() -> None:
    source = cell(P50, {"a": [1.0, None], "b": [None, 2.0]})
    assert decide(source).state == "undecided"


values = st.one_of(st.none(), st.floats(-1e9, 1e9), st.just(0.0), st.floats(1e-12, 1e12))
outcomes = st.builds(Outcome, st.sampled_from(["ok", "ok", "ok", "failed", "invalid", "skipped"]),
                     values, st.one_of(st.none(), st.floats(0, 1e6)),
                     st.one_of(st.none(), st.floats(0, 1e3)))
cells = st.builds(
    Cell, st.just("s"), st.sampled_from(list(BY_NAME.values())),
    st.dictionaries(st.sampled_from("abcde"), st.dictionaries(st.integers(1, 5), outcomes)),
    st.one_of(st.none(), st.floats(0, 1e6)))


def is_sound(verdict: Verdict) -> None:
    assert verdict.state in STATES
    numbers = (verdict.ratio, verdict.low, verdict.high, verdict.p,
               verdict.minimum_detectable_percent)
    assert not any(number is not None and math.isnan(number) for number in numbers)
    if verdict.state == "winner":
        assert len(verdict.leaders) == 1 and verdict.rounds >= 2 and verdict.runner_up
    if verdict.state not in ("winner", "tie", "undecided"):
        assert verdict.leaders == () and verdict.reason


@given(cells)
def test_any_cell_gets_a_sound_verdict(source: Cell) -> None:
    verdict = decide(source)
    is_sound(verdict)
    for leader in verdict.leaders if verdict.state == "winner" else ():
        assert all(outcome.status in ("ok", "skipped")
                   for outcome in source.outcomes[leader].values())


tables = st.lists(st.lists(st.floats(1, 100), min_size=3, max_size=3), min_size=2, max_size=5)


@given(tables, st.floats(1e-3, 1e3))
def test_the_unit_does_not_matter(rows: list[list[float]], factor: float) -> None:
    table = np.array(rows)
    named = {name: list(table[:, i]) for i, name in enumerate("abc")}
    scaled = {name: [value * factor for value in series] for name, series in named.items()}
    one, two = decide(cell(P50, named)), decide(cell(P50, scaled))
    if "rounding" not in one.reason + two.reason:
        assert (one.state, set(one.leaders)) == (two.state, set(two.leaders))


@given(tables)
def test_names_do_not_matter(rows: list[list[float]]) -> None:
    table = np.array(rows)
    named = {name: list(table[:, i]) for i, name in enumerate("abc")}
    swapped = {{"a": "z", "b": "y", "c": "x"}[name]: series for name, series in named.items()}
    one, two = decide(cell(P50, named)), decide(cell(P50, dict(reversed(swapped.items()))))
    assert one.state == two.state
    assert one.minimum_detectable_percent == pytest.approx(two.minimum_detectable_percent)
