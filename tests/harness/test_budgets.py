"""Descriptors, threads and CPUs: what fits, with the numbers."""

import math
from dataclasses import replace

import pytest
from harness.budgets import (
    HARNESS_CONNECTIONS,
    HostLimits,
    ServiceLimits,
    accepted_limit,
    check_fit,
    compute_need,
    mean_in_flight,
)
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

    # 8 for the harness; one upstream connection is the least that the service can be told.
    assert needs(0) == (10_000 + 8 + 1 + 128, 10_128, 0)
    assert needs(1) == (10_000 + 8 + 2 * 1500 + 128, 10_128, 1500)
    assert needs(2) == (10_000 + 8 + 2 * 3000 + 128, 10_128, 3000)


def test_self_calls_are_no_more_than_connections_times_depth() -> None:
    load = prepared(connections=10, rate=10_000, depth=2)
    assert compute_need(load, "reactor-x").self_calls == 20


def test_too_few_descriptors_skip_with_both_numbers_and_the_remedy() -> None:
    load = prepared("users", connections=20_000, depth=1)
    fit = check_fit(load, "fibers-x", replace(ROOMY, nofile_hard=20_000), SERVICE)
    assert fit.skip is not None
    for part in ("needs 22994 descriptors in the service", "20128 in the load generator",
                 "limit is 20000", "raise it to 22994"):
        assert part in fit.skip
    assert check_fit(load, "fibers-x", replace(ROOMY, nofile_hard=22_994), SERVICE).skip is None
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
    assert told(deep, small) == {"max-connections": "18004", "client-connections": "1996"}
    assert told(prepared(connections=12_000, rate=10_000, depth=1), small) == {
        "max-connections": "16004", "client-connections": "3996"}
    assert told(prepared(connections=12_000, rate=10_000), small) == {}
    # Enough room for accepted connections, too little for the calls that are expected.
    few = ServiceLimits(5000, 19_000, 1000)
    assert told(prepared(connections=12_000, rate=10_000, depth=1), few) == {
        "max-connections": "18500", "client-connections": "1500"}


def service_of(limit: int, io_threads: int) -> ServiceLimits:
    """The service's own split of a descriptor limit, as share_descriptors makes it."""
    usable = limit - 128
    client = min(65_000, usable // 4)
    return ServiceLimits(5000, usable - client, client, io_threads)


@given(st.integers(1, 30_000), st.integers(0, 3), st.integers(1, 16), st.integers(140, 100_000))
def test_what_is_told_holds_every_connection_or_the_trial_is_skipped(
    connections: int, depth: int, io_threads: int, limit: int
) -> None:
    load = prepared(connections=connections, rate=connections, depth=depth)
    service = service_of(limit, io_threads)
    fit = check_fit(load, "reactor-x", replace(ROOMY, nofile_hard=limit), service)
    if fit.skip is not None:
        return
    accepted = int(fit.service_options.get("max-connections", service.max_connections))
    client = int(fit.service_options.get("client-connections", service.client_connections))
    assert accepted + client <= limit - 128
    assert client >= max(1, fit.need.self_calls)
    all_of_them = connections + fit.need.self_calls + HARNESS_CONNECTIONS
    mean = all_of_them / io_threads
    spread = 6 * math.sqrt(mean * (1 - 1 / io_threads))
    assert accepted // io_threads >= min(all_of_them, mean + spread)


def test_a_limit_that_held_the_connections_but_not_the_rest_is_too_small() -> None:
    load = prepared("users", connections=4000)
    fit = check_fit(load, "fibers-x", replace(ROOMY, nofile_hard=4128), service_of(4128, 1))
    assert fit.skip is not None and "needs 4137 descriptors in the service" in fit.skip
    enough = check_fit(load, "fibers-x", replace(ROOMY, nofile_hard=4137), service_of(4137, 1))
    assert enough.skip is None
    assert enough.service_options == {"max-connections": "4008", "client-connections": "1"}


def test_a_service_that_was_given_too_little_is_skipped() -> None:
    fit = check_fit(prepared(), "fibers-x", ROOMY, ServiceLimits(5000, 900, 100))
    assert fit.skip is not None
    assert "needs 1008 accepted and 1 upstream connections" in fit.skip
    assert "room for 1000" in fit.skip


def test_io_threads_get_room_for_an_uneven_spread() -> None:
    assert accepted_limit(4008, 1) == 4008
    # Half of 10,000 and six standard deviations of 50 each.
    assert accepted_limit(10_000, 2) == 2 * 5300
    # Never more than all of them on one thread.
    assert accepted_limit(10, 4) == 4 * 10
    need = compute_need(prepared(connections=9992, rate=100), "reactor-x", 2)
    assert need.service_descriptors == 2 * 5300 + 1 + 128


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
