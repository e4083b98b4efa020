"""Each approach waits in the way its name says, and idles when there is nothing to do."""

from __future__ import annotations

import statistics
import time

import pytest

from tests.e2e.many_requests import close_all, collect, connect_all, send_all
from tests.e2e.service_process import KINDS, approaches, kind_of, running_service

@pytest.mark.parametrize("approach", approaches())
def test_a_thousand_requests_wait_at_once_in_the_right_kind_of_task(approach: str) -> None:
    with running_service(approach, "--threads", "1") as service:
        sockets = connect_all(service.port, 1000)
        # 2 s, so that a slow host still sees all of them in flight before the first is done.
        started = send_all(sockets, f"/{approach}/epoch-millis?delayInMillis=2000")
        in_flight = f'heddle_tasks_in_flight{{kind="{kind_of(approach)}"}}'
        seen = service.wait_for_metric(in_flight, 1000)
        burst = collect(sockets, started, 30)
        close_all(sockets)
        assert burst.statuses == {200: 1000}
        # One after the other they would take 2,000 s; ten threads would take 200 s.
        assert burst.seconds < 15
        for other in KINDS.values():
            count = seen[f'heddle_tasks_started_total{{kind="{other}"}}']
            assert count == (1000 if other == kind_of(approach) else 0)
        on_pool = 1000 if approach.startswith("threadpool") else 0
        assert seen["heddle_tasks_on_pool_threads_total"] == on_pool
        assert seen["heddle_tasks_on_io_threads_total"] == 1000 - on_pool
        in_fibers = 1000 if approach.startswith("fibers") else 0
        assert seen["heddle_tasks_in_fiber_context_total"] == in_fibers
        assert seen["heddle_io_threads"] == 1


def test_a_small_pool_waits_in_turns() -> None:
    """The negative control: what the other test calls "at once" can be seen to fail."""
    options = ("--threads", "1", "--pool-threads", "10")
    with running_service("threadpool-restinio", *options) as service:
        sockets = connect_all(service.port, 40)
        started = send_all(sockets, "/threadpool-restinio/epoch-millis?delayInMillis=300")
        seen = service.wait_for_metric("heddle_pool_waiting", 30)
        assert seen["heddle_pool_threads"] == 10
        burst = collect(sockets, started, 30)
        close_all(sockets)
        assert burst.statuses == {200: 40}
        assert burst.seconds >= 4 * 0.3


@pytest.mark.parametrize("approach", approaches())
def test_ten_thousand_parked_requests_cost_next_to_nothing(approach: str) -> None:
    with running_service(approach, "--threads", "1", "--pool-threads", "10000") as service:
        sockets = connect_all(service.port, 10000)
        started = send_all(sockets, f"/{approach}/epoch-millis?delayInMillis=12000")
        in_flight = f'heddle_tasks_in_flight{{kind="{kind_of(approach)}"}}'
        service.wait_for_metric(in_flight, 10000)
        time.sleep(0.5)
        before = service.cpu_seconds()
        time.sleep(5)
        used = service.cpu_seconds() - before
        burst = collect(sockets, started, 60)
        close_all(sockets)
        assert burst.statuses == {200: 10000}
        assert used < 0.5, f"{used:.2f} s of CPU in 5 s of waiting: a tenth of a core is 0.5 s"


@pytest.mark.parametrize("approach", approaches())
def test_a_wait_is_never_short(approach: str) -> None:
    with running_service(approach, "--threads", "1") as service:
        waits = []
        for _ in range(15):
            before = time.monotonic()
            assert service.get(f"/{approach}/epoch-millis?delayInMillis=100").status == 200
            waits.append(time.monotonic() - before)
        assert min(waits) >= 0.1
        # Loose: against rounding up by whole ticks. The benchmark script reports the figure.
        assert statistics.median(waits) < 0.2
