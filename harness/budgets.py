"""What a scenario needs of a host - descriptors, threads - against what the host gives. Pure."""

from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import ceil, sqrt

from harness.effective import Prepared

# Listener, epoll, timers, logs, metrics and libraries of a process, with room; the service keeps
# as many aside before it shares out the rest between accepted and upstream connections.
SPARE_DESCRIPTORS = 128
# What the harness itself opens beside the load: /health until it answers, /metrics twice at most.
HARNESS_CONNECTIONS = 8
# The service divides its limit by its I/O threads, but SO_REUSEPORT hashes connections onto them:
# a thread's share is binomial, and this many standard deviations above its mean practically never
# happen (1e-9 per thread).
SPREAD_SIGMAS = 6
# Requests in flight vary around their mean (Little's law), and a slow moment adds to them.
IN_FLIGHT_SLACK = 1.5
# A pool thread's stack and its guard page are one mapping each.
MAPPINGS_PER_THREAD = 2
# Threads and mappings that everything else on the host may use.
SPARE_THREADS = 1_000
POOL_MODEL = "threadpool-"


@dataclass(frozen=True)
class HostLimits:
    """None: the limit could not be read or does not exist."""

    nofile_hard: int | None
    pid_max: int | None
    threads_max: int | None
    max_map_count: int | None
    user_processes: int | None = None


@dataclass(frozen=True)
class Need:
    """`self_calls`: upstream connections, each of which is an accepted one, too.

    `accepted`: the limit of accepted connections with which every I/O thread holds its share.
    `client`: the limit of upstream connections; the service wants one at least.
    """

    in_flight: int
    self_calls: int
    accepted: int
    client: int
    service_descriptors: int
    loadgen_descriptors: int
    pool_threads: int


@dataclass(frozen=True)
class Fit:
    """`skip`: why the trial cannot run here, with the numbers and the remedy. None: it can.

    `service_options`: what the service must be told so that its own limits hold the scenario.
    """

    need: Need
    skip: str | None = None
    flags: tuple[str, ...] = ()
    warning: str | None = None
    service_options: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class ServiceLimits:
    """The service's own limits when nothing else is asked for, as it tells them."""

    pool_threads: int
    max_connections: int
    client_connections: int
    io_threads: int = 1


def mean_in_flight(prepared: Prepared) -> float:
    """Requests waiting at once by Little's law, at the profile's peak; at most the connections."""
    scenario, profile = prepared.scenario, prepared.profile
    delay = scenario.delay_millis / 1000.0
    peak = profile.peak_fraction()
    if profile.shape == "rate":
        waiting = (scenario.requests_per_second or 0) * peak * delay
    elif profile.think.mean_seconds() == 0:
        waiting = scenario.connections * peak
    else:
        cycle = profile.think.mean_seconds() + delay
        waiting = scenario.connections * peak * delay / cycle
    return min(waiting, float(scenario.connections))


def accepted_limit(connections: int, io_threads: int) -> int:
    """The smallest --max-connections with which `connections` all find room, however they hash."""
    mean = connections / io_threads
    spread = sqrt(mean * (1 - 1 / io_threads))
    return io_threads * min(connections, ceil(mean + SPREAD_SIGMAS * spread))


def compute_need(prepared: Prepared, approach: str, io_threads: int = 1) -> Need:
    """Descriptors and pool threads of one trial.

    A request at depth d holds d self-calls, each a client and a server descriptor of the service,
    and in a thread pool d + 1 threads.
    """
    scenario = prepared.scenario
    in_flight = mean_in_flight(prepared)
    most = scenario.connections * scenario.delay_call_depth
    self_calls = min(ceil(in_flight * IN_FLIGHT_SLACK * scenario.delay_call_depth), most)
    pool = ceil(in_flight) * (scenario.delay_call_depth + 1)
    connections = scenario.connections + self_calls + HARNESS_CONNECTIONS
    accepted, client = accepted_limit(connections, io_threads), max(1, self_calls)
    return Need(
        in_flight=ceil(in_flight),
        self_calls=self_calls,
        accepted=accepted,
        client=client,
        service_descriptors=accepted + client + SPARE_DESCRIPTORS,
        loadgen_descriptors=scenario.connections + SPARE_DESCRIPTORS,
        pool_threads=pool if approach.startswith(POOL_MODEL) else 0,
    )


def check_fit(
    prepared: Prepared, approach: str, limits: HostLimits, service: ServiceLimits
) -> Fit:
    """Whether the trial fits this host; nothing is ever shrunk to make it fit."""
    need, pool_size = compute_need(prepared, approach, service.io_threads), service.pool_threads
    skip = _descriptor_fault(need, limits) or _connection_fault(need, service)
    if need.pool_threads and skip is None:
        skip = _thread_fault(pool_size, limits) or _pool_fault(need, pool_size)
    if skip is not None:
        return Fit(need, skip)
    options = _connection_options(prepared, need, service)
    if need.pool_threads <= pool_size:
        return Fit(need, service_options=options)
    warning = (
        f"{need.pool_threads} pool threads wanted ({need.in_flight} in flight x "
        f"{prepared.scenario.delay_call_depth + 1}), --pool-threads is {pool_size}: "
        "requests will queue"
    )
    return Fit(need, None, ("pool-too-small",), warning, options)


def _connection_options(prepared: Prepared, need: Need, service: ServiceLimits) -> dict[str, str]:
    """Shares of the descriptors that hold the scenario where the service's own split does not.

    By itself it keeps a quarter of its descriptors for upstream calls. Without call depth that is
    too many, and with it the accepted side of the self-calls may find no room: then an overload
    would end in calls that nobody accepts instead of in the queue of the upstream pool.
    """
    own = prepared.scenario.connections + HARNESS_CONNECTIONS
    deep = prepared.scenario.delay_call_depth > 0

    def accepted(client: int) -> int:
        return accepted_limit(own + (client if deep else 0), service.io_threads)

    roomy = accepted(service.client_connections) <= service.max_connections
    if roomy and service.client_connections >= need.client:
        return {}
    both = service.max_connections + service.client_connections
    client = need.client
    if deep:
        # As many as leave the accepted side room for all of them; need.client do, as they fit.
        choices = range(need.client, service.client_connections + 1)
        fitting = bisect_right(choices, both, key=lambda count: accepted(count) + count)
        client = choices[max(0, fitting - 1)] if choices else need.client
    return {"max-connections": str(both - client), "client-connections": str(client)}


def _connection_fault(need: Need, service: ServiceLimits) -> str | None:
    both = service.max_connections + service.client_connections
    if need.accepted + need.client <= both:
        return None
    return (
        f"needs {need.accepted} accepted and {need.client} upstream connections over "
        f"{service.io_threads} I/O threads, the service has room for {both}; raise its "
        "max-connections or client-connections or the hard limit of descriptors"
    )


def _descriptor_fault(need: Need, limits: HostLimits) -> str | None:
    most = max(need.service_descriptors, need.loadgen_descriptors)
    if limits.nofile_hard is None or most <= limits.nofile_hard:
        return None
    return (
        f"needs {need.service_descriptors} descriptors in the service and "
        f"{need.loadgen_descriptors} in the load generator, the hard limit is "
        f"{limits.nofile_hard}; raise it to {most} or more (ulimit -Hn, "
        "/etc/security/limits.conf: nofile)"
    )


def _thread_fault(pool_size: int, limits: HostLimits) -> str | None:
    wanted = pool_size + SPARE_THREADS
    for name, limit, each in (
        ("kernel.pid_max", limits.pid_max, 1),
        ("kernel.threads-max", limits.threads_max, 1),
        ("vm.max_map_count", limits.max_map_count, MAPPINGS_PER_THREAD),
        ("ulimit -u", limits.user_processes, 1),
    ):
        if limit is not None and wanted * each > limit:
            return (
                f"a pool of {pool_size} threads needs {wanted * each} of {name}, which is "
                f"{limit}; raise {name} or lower pool-threads in a service profile"
            )
    return None


def _pool_fault(need: Need, pool_size: int) -> str | None:
    if need.pool_threads <= 2 * pool_size:
        return None
    return (
        f"needs {need.pool_threads} pool threads, --pool-threads is {pool_size}; "
        "raise pool-threads in a service profile"
    )
