"""plan.json, by golden values; schedule and warm-up rules."""

import json
from pathlib import Path

import pytest
from harness.effective import Warmup, check_rate, choose_warmup
from harness.errors import UsageError
from harness.load_plan import Target, build_plan, load_seed
from harness.load_profile import Request, Stage
from harness.schedule import Slot, clock_text, plan_rounds, remaining_seconds
from hypothesis import given
from hypothesis import strategies as st
from tests.harness.prepared_loads import GET, prepared

TARGET = Target("fibers-restinio", 8081, (1, 3), "cubic", 42)


def stages_of(**row: object) -> list[object]:
    plan = build_plan(prepared(**row), TARGET)  # type: ignore[arg-type]
    stages = plan["stages"]
    assert isinstance(stages, list)
    return stages


def test_the_whole_plan_of_a_fixed_rate() -> None:
    assert build_plan(prepared(depth=1, warmup=10, test=20), TARGET) == {
        "schema": 1,
        "name": "s/fibers-restinio",
        "seed": 42,
        "targets": ["http://127.0.0.1:8081"],
        "connections": 1000,
        "threads": 2,
        "cpus": [1, 3],
        "sourceAddresses": "auto",
        "keepAlive": True,
        "requestsPerConnection": None,
        "requestTimeoutMillis": 60000,
        "connectTimeoutMillis": 20000,
        "connect": {"mode": "burst"},
        "congestionControl": "cubic",
        "mix": "per-user",
        "think": {"kind": "none"},
        "stages": [
            {"name": "warmup", "kind": "warmup", "durationMillis": 10000,
             "arrivals": {"kind": "constant-rate", "perSecond": 500.0}},
            {"name": "measure", "kind": "measure", "durationMillis": 20000,
             "arrivals": {"kind": "constant-rate", "perSecond": 500.0}},
        ],
        "whenBusy": "queue",
        "requests": [
            {"name": "get-allen", "weight": 3, "method": "GET",
             "path": "/fibers-restinio/movies?directorLastName=Allen"
                     "&delayCallDepth=1&delayInMillis=100",
             "headers": {"accept": "application/json"}, "bodyFile": None,
             "expect": {"status": 200, "bodyBytes": None}},
            {"name": "get-time", "weight": 1, "method": "GET",
             "path": "/fibers-restinio/epoch-millis?delayCallDepth=1&delayInMillis=100",
             "headers": {"accept": "application/json"}, "bodyFile": None,
             "expect": {"status": 200, "bodyBytes": 13}},
        ],
    }


def test_a_spike_of_users_and_its_warmup_at_a_tenth() -> None:
    assert stages_of(shape="users", connections=15, warmup=0, test=3) == [
        {"name": "warmup", "kind": "warmup", "durationMillis": 5000,
         "arrivals": {"kind": "users", "count": 1}},
        {"name": "measure-1", "kind": "measure", "durationMillis": 2400,
         "arrivals": {"kind": "users-ramp", "from": 0, "to": 15}},
        {"name": "measure-2", "kind": "measure", "durationMillis": 600,
         "arrivals": {"kind": "users-ramp", "from": 15, "to": 0}},
    ]


def test_a_given_warmup_repeats_the_shape_and_zero_by_option_means_none() -> None:
    kinds = [stage["kind"] for stage in stages_of(shape="users", warmup=5)]  # type: ignore[index]
    assert kinds == ["warmup", "warmup", "measure", "measure"]
    assert len(stages_of(warmup=5, override=0)) == 1


def test_a_changing_rate_is_a_ramp() -> None:
    stages = stages_of(stages=(Stage(1.0, 0.5, 2.0),), override=0)
    assert stages[0]["arrivals"] == {  # type: ignore[index]
        "kind": "rate-ramp", "from": 250.0, "to": 1000.0}


def test_think_time_is_in_millis() -> None:
    assert build_plan(prepared("users"), TARGET)["think"] == {
        "kind": "uniform", "millis": [1000, 3000]}


@given(st.integers(1, 1000), st.lists(st.integers(1, 50), min_size=1, max_size=9))
def test_stages_fill_the_duration_exactly(seconds: int, weights: list[int]) -> None:
    total = sum(weights)
    stages = tuple(Stage(weight / total, 1.0, 1.0) for weight in weights)
    found = stages_of(stages=stages, test=seconds, override=0)
    assert sum(stage["durationMillis"] for stage in found) == seconds * 1000  # type: ignore[index]


@given(st.integers(1, 10**6))
def test_users_are_never_rounded_up_and_never_lost(connections: int) -> None:
    stages = tuple(Stage(0.25, part, part) for part in (0.29, 0.5, 0.07, 1.0))
    found = stages_of(shape="users", connections=connections, stages=stages, override=0)
    counts = [stage["arrivals"]["count"] for stage in found]  # type: ignore[index]
    assert counts == [max(1, connections * percent // 100) for percent in (29, 50, 7, 100)]


def test_bodies_are_named_by_absolute_path_and_posted_as_json() -> None:
    post = Request("post", 1, "POST", "/movies", Path("scenarios/movies.json"), 200, None)
    load = prepared(requests=(GET, post))
    request = build_plan(load, TARGET)["requests"][1]  # type: ignore[index]
    assert request["bodyFile"] == str(Path.cwd() / "scenarios" / "movies.json")
    assert request["headers"]["content-type"] == "application/json"
    assert request["path"] == "/fibers-restinio/movies?delayCallDepth=0&delayInMillis=100"


def test_the_plan_is_json() -> None:
    assert json.loads(json.dumps(build_plan(prepared(), TARGET)))["seed"] == 42


def test_the_load_seed_depends_on_round_and_scenario_only() -> None:
    assert load_seed(1, 1, "a") == load_seed(1, 1, "a")
    assert len({load_seed(1, 1, "a"), load_seed(1, 2, "a"), load_seed(1, 1, "b"),
                load_seed(2, 1, "a")}) == 4
    assert 0 <= load_seed(7, 3, "x") < 2**53


def test_warmup_rules() -> None:
    scenario = prepared(warmup=0).scenario
    assert choose_warmup(scenario, None).seconds == 5
    assert choose_warmup(scenario, None).fraction == 0.1
    assert choose_warmup(scenario, 0) == Warmup(0, 1.0, "none, as asked with -w 0")
    assert choose_warmup(scenario, 7).seconds == 7
    assert choose_warmup(prepared(warmup=10).scenario, None) == Warmup(10, 1.0, None)


def test_a_rate_must_fit_the_profile() -> None:
    load = prepared(rate=None)
    with pytest.raises(UsageError, match="requestsPerSecond: found nothing, accepted: a whole"):
        check_rate(load.scenario, load.profile, "x.csv")
    users = prepared("users")
    with pytest.raises(UsageError, match="requestsPerSecond: found 500, accepted: nothing"):
        check_rate(prepared().scenario, users.profile, "x.csv")
    check_rate(users.scenario, users.profile, "x.csv")


names = st.lists(st.text("abc-", min_size=1, max_size=5), min_size=1, max_size=5, unique=True)


@given(st.integers(0, 2**32), st.integers(1, 5), names, names)
def test_each_round_has_every_pair_once(
    seed: int, rounds: int, scenarios: list[str], approaches: list[str]
) -> None:
    slots = plan_rounds(seed, rounds, scenarios, approaches)
    assert slots == plan_rounds(seed, rounds, scenarios, approaches)
    pairs = {(s, a) for s in scenarios for a in approaches}
    for number in range(1, rounds + 1):
        of_round = [slot for slot in slots if slot.round == number]
        assert {(slot.scenario, slot.approach) for slot in of_round} == pairs
        assert [slot.position for slot in of_round] == list(range(1, len(pairs) + 1))


def test_the_order_is_pinned_and_differs_between_rounds_and_seeds() -> None:
    def order(seed: int, number: int) -> str:
        slots = plan_rounds(seed, 2, ["s"], list("abcd"))
        return "".join(slot.approach for slot in slots if slot.round == number)

    assert [order(1, 1), order(1, 2), order(2, 1)] == ["adbc", "abdc", "bacd"]


def test_every_order_is_about_equally_likely() -> None:
    first = [plan_rounds(seed, 1, ["s"], ["a", "b", "c"])[0].approach for seed in range(3000)]
    # 3 standard deviations of a binomial with p = 1/3 are 77.
    assert all(abs(first.count(name) - 1000) < 100 for name in "abc")


def test_names_and_times() -> None:
    assert Slot(2, 1, "5k", "fibers-restinio").folder == "r02-5k-fibers-restinio"
    assert remaining_seconds([prepared(warmup=10, test=20)] * 2, 3.0) == 66.0
    assert [clock_text(s) for s in (0, 59.6, 3599, 3600)] == ["0:00", "1:00", "59:59", "1:00:00"]
