"""Descriptors, threads and CPUs: what fits, with the numbers."""

from dataclasses import replace

import pytest
from harness.budgets import HostLimits, ServiceLimits, check_fit, compute_need, mean_in_flight
from harness.cpus import parse_cpu_list, split_cpus
from harness.effective import Prepared
from harness.load_profile import Stage
from hypothesis import given
from hypothesis import strategies as st
from tests.harness.prepared_loads import NONE, prepared

ROOMY = HostLimits(1_048_576, 4_194_304, 1_000_000, 1_000_000)
SERVICE = ServiceLimits(5000, 65_000, 65_000)


def test_in_flight_is_rate_times_delay_at_the_peak_but_at_most_the_connections() -> None:
    assert mean_in_flight(prepared(connections=10_000, rate=10_000)) == 1000
    assert mean_in_flight(prepared(connections=500, rate=10_000)) == 500
    assert mean_in_flight(prepared(rate=1000, stages=(Stage(1.0, 0.5, 2.0),))) == 200
    assert mean_in_flight(prepared(rate=1000, delay=0)) == 0


def test_paced_users_are_about_five_percent_in_flight() -> None:
    assert mean_in_flight(prepared("users", connections=20_000)) == pytest.approx(20_000 / 21)
    assert mean_in_flight(prepared("users", connections=50, think=NONE)) == 50


def test_descriptors_by_call_depth() -> None:
    def needs(depth: int) -> tuple[int, int, int]:
        need = compute_need(prepared(connections=10_000, rate=10_000, depth=depth), "reactor-x")
        return need.service_descriptors, need.loadgen_descriptors, need.self_calls

    assert needs(0) == (10_128, 10_128, 0)
    assert needs(1) == (10_000 + 2 * 1500 + 128, 10_128, 1500)
    assert needs(2) == (10_000 + 2 * 3000 + 128, 10_128, 3000)


def test_self_calls_are_no_more_than_connections_times_depth() -> None:
    load = prepared(connections=10, rate=10_000, depth=2)
    assert compute_need(load, "reactor-x").self_calls == 20


def test_too_few_descriptors_skip_with_both_numbers_and_the_remedy() -> None:
    load = prepared("users", connections=20_000, depth=1)
    fit = check_fit(load, "fibers-x", replace(ROOMY, nofile_hard=20_000), SERVICE)
    assert fit.skip is not None
    for part in ("needs 22986 descriptors in the service", "20128 in the load generator",
                 "limit is 20000", "raise it to 22986"):
        assert part in fit.skip
    assert check_fit(load, "fibers-x", replace(ROOMY, nofile_hard=22_986), SERVICE).skip is None
    assert check_fit(load, "fibers-x", replace(ROOMY, nofile_hard=None), SERVICE).skip is None


@pytest.mark.parametrize(
    ("rate", "flags", "skipped"),
    [(25_000, (), False), (25_010, ("pool-too-small",), False),
     (50_000, ("pool-too-small",), False), (50_010, (), True)],
)
def test_a_small_pool_is_flagged_and_one_twice_too_small_is_skipped(
    rate: int, flags: tuple[str, ...], skipped: bool
) -> None:
    load = prepared(connections=60_000, rate=rate, depth=1)
    fit = check_fit(load, "threadpool-restinio", ROOMY, SERVICE)
    assert (fit.flags, fit.skip is not None) == (flags, skipped)
    assert (fit.warning is not None) == bool(flags)
    other = check_fit(load, "fibers-restinio", ROOMY, SERVICE)
    assert (other.flags, other.skip, other.need.pool_threads) == ((), None, 0)


@pytest.mark.parametrize(
    ("limits", "name"),
    [(replace(ROOMY, pid_max=5999), "kernel.pid_max, which is 5999"),
     (replace(ROOMY, threads_max=5999), "kernel.threads-max"),
     (replace(ROOMY, max_map_count=11_999), "needs 12000 of vm.max_map_count"),
     (replace(ROOMY, user_processes=5999), "ulimit -u")],
)
def test_a_pool_beyond_the_kernels_limits_is_skipped(limits: HostLimits, name: str) -> None:
    fit = check_fit(prepared(), "threadpool-restinio", limits, SERVICE)
    assert fit.skip is not None and name in fit.skip
    assert check_fit(prepared(), "reactor-restinio", limits, SERVICE).skip is None


def test_the_service_is_told_its_shares_only_where_its_own_split_is_too_small() -> None:
    flat, deep = (prepared(connections=16_000, rate=10_000, depth=depth) for depth in (0, 1))
    roomy, small = ServiceLimits(5000, 900_000, 65_000), ServiceLimits(5000, 15_000, 5000)

    def told(load: Prepared, service: ServiceLimits) -> dict[str, str]:
        return dict(check_fit(load, "reactor-x", ROOMY, service).service_options)

    assert told(flat, roomy) == told(deep, roomy) == {}
    assert told(flat, small) == {"max-connections": "19999", "client-connections": "1"}
    assert told(deep, small) == {"max-connections": "18000", "client-connections": "2000"}
    assert told(prepared(connections=12_000, rate=10_000, depth=1), small) == {
        "max-connections": "16000", "client-connections": "4000"}
    assert told(prepared(connections=12_000, rate=10_000), small) == {}


def test_cpus_are_halved_and_siblings_stay_together() -> None:
    assert split_cpus([[0]]) == ((0,), (0,))
    assert split_cpus([[0], [1]]) == ((0,), (1,))
    assert split_cpus([[0, 4]]) == ((0,), (4,))
    assert split_cpus([[0, 4], [1, 5]]) == ((0, 4), (1, 5))
    assert split_cpus([[0], [1], [2]]) == ((0, 1), (2,))


@given(st.lists(st.integers(1, 4), min_size=2, max_size=20))
def test_halves_are_disjoint_and_complete(sizes: list[int]) -> None:
    cores, first = [], 0
    for size in sizes:
        cores.append(list(range(first, first + size)))
        first += size
    service, loadgen = split_cpus(cores)
    assert sorted(service + loadgen) == list(range(first))
    assert service and loadgen


def test_the_kernels_cpu_lists() -> None:
    assert parse_cpu_list("0-2,5\n") == [0, 1, 2, 5]
    assert parse_cpu_list("") == []
