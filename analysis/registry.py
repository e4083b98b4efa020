"""The one list of metrics: order, unit, direction, group, and when a metric may rank anyone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Direction = Literal["lower", "higher", "none"]
# always      ranked whenever there are values
# load-set    the offered load sets it: at a fixed rate that everyone meets it ranks nobody
# equal-rate  depends on the rate (46-50 us per request at 10k/s, 8-10 at 80k/s, measured): ranked
#             only at a fixed rate that every approach met
# count       may be zero: compared by differences, never by ratios
# never       shown only
Rule = Literal["always", "load-set", "equal-rate", "count", "never"]


@dataclass(frozen=True)
class Metric:
    """`margin` is the smallest relative difference that counts as one (0.03 = 3 %)."""

    name: str
    unit: str
    direction: Direction
    group: str
    headline: bool
    margin: float
    description: str
    rule: Rule = "always"


# Margins: 3 % for times and rates, 5 % for memory and counts of resources; with one build per
# approach, memory layout alone moves results by a few percent.
_TIME = 0.03
_RESOURCE = 0.05


def _rate(name: str, text: str) -> Metric:
    return Metric(f"requests_per_second_{name}", "1/s", "higher", "requests", False, _TIME,
                  f"{text} of the successful responses per second, over the whole seconds of the "
                  "load window", "load-set")


def _latency(name: str, text: str, headline: bool = False, rule: Rule = "always") -> Metric:
    return Metric(f"latency_millis_{name}", "ms", "lower", "latency", headline, _TIME,
                  f"{text} of the time from when a request was due to its last byte", rule)


def _cpu(name: str, unit: str, text: str, headline: bool = False) -> Metric:
    return Metric(name, unit, "lower", "cpu", headline, _TIME, text, "equal-rate")


def _memory(name: str, unit: str, text: str, headline: bool = False) -> Metric:
    return Metric(name, unit, "lower", "memory", headline, _RESOURCE, text)


def _network(name: str, unit: str, text: str, rule: Rule = "always") -> Metric:
    return Metric(name, unit, "lower", "network", False, _RESOURCE, text, rule)


# Extremes of a sample move with its size: whoever answers more finds a smaller minimum and a
# larger maximum without being any faster or slower.
_EXTREME = "moves with the number of requests: shown, never ranked"


METRICS: tuple[Metric, ...] = (
    Metric("requests_ok", "requests", "higher", "requests", False, _TIME,
           "requests of the load window answered as expected", "load-set"),
    Metric("requests_error", "requests", "lower", "requests", True, _TIME,
           "requests of the load window that failed (HTTP status, transport, timeout) or that were "
           "due and never answered", "count"),
    _rate("p50", "median"),
    _rate("p90", "90th percentile"),
    _rate("max", "largest"),
    _latency("min", f"smallest ({_EXTREME})", rule="never"),
    _latency("p50", "median", headline=True),
    _latency("p90", "90th percentile"),
    _latency("p99", "99th percentile", headline=True),
    _latency("p999", "99.9th percentile"),
    _latency("max", f"largest ({_EXTREME})", rule="never"),
    Metric("service_millis_p50", "ms", "lower", "latency", False, _TIME,
           "median of the time from when a request was sent to its last byte"),
    Metric("service_millis_p99", "ms", "lower", "latency", False, _TIME,
           "99th percentile of the time from when a request was sent to its last byte"),
    Metric("connect_millis_p99", "ms", "lower", "latency", False, _TIME,
           "99th percentile of the time to open a connection; the kernel completes handshakes "
           "before the service accepts, so this tells of the load generator's burst: shown, never "
           "ranked", "never"),
    _cpu("cpu_use_percent_avg", "% of host",
         "user, system and interrupts of all CPUs, over the load window; not in it: iowait, which "
         "is idle time, and the load generator's polling for the next due time"),
    _cpu("cpu_use_percent_max", "% of host", "the busiest second of the load window"),
    _cpu("service_cpu_percent_avg", "% of a core",
         "CPU time of the service over the load window; 100 = one core"),
    _cpu("service_cpu_percent_max", "% of a core", "the service's busiest second"),
    _cpu("service_cpu_micros_per_request", "us/request",
         "CPU time of all threads of the service over the load window per response",
         headline=True),
    Metric("loadgen_cpu_percent_avg", "% of a core", "none", "cpu", False, _TIME,
           "CPU time of the load generator over the load window", "never"),
    Metric("loadgen_lag_micros_p99", "us", "none", "cpu", False, _TIME,
           "99th percentile of how late the load generator sent", "never"),
    _memory("ram_use_percent_avg", "% of RAM", "memory in use on the host"),
    _memory("ram_use_percent_max", "% of RAM", "most memory in use on the host"),
    _memory("service_rss_mib_avg", "MiB", "resident memory of the service"),
    _memory("service_rss_mib_max", "MiB", "most resident memory of the service", headline=True),
    Metric("platform_threads_avg", "threads", "lower", "threads", False, _RESOURCE,
           "operating system threads of the service"),
    Metric("platform_threads_max", "threads", "lower", "threads", False, _RESOURCE,
           "most operating system threads of the service"),
    Metric("context_switches_per_request", "1/request", "lower", "threads", False, _RESOURCE,
           "voluntary and involuntary context switches of the service's threads, ended ones "
           "too, per response",
           "equal-rate"),
    Metric("page_faults_per_request", "1/request", "lower", "threads", False, _RESOURCE,
           "minor and major page faults of the service per response", "equal-rate"),
    Metric("sockets_avg", "sockets", "none", "network", False, _RESOURCE,
           "open connections of the service; the load sets it", "never"),
    Metric("sockets_max", "sockets", "none", "network", False, _RESOURCE,
           "most open connections of the service; the load sets it", "never"),
    _network("network_kib_per_req_avg", "KiB/request",
             "loopback bytes (each counted as received and as sent) per response, ratio of sums"),
    _network("network_kib_per_req_max", "KiB/request",
             f"the worst second of the same ({_EXTREME})", "never"),
    _network("network_packets_per_req_avg", "packets/request",
             "loopback packets (received and sent) per response, ratio of sums"),
    _network("network_packets_per_req_max", "packets/request",
             f"the worst second of the same ({_EXTREME})", "never"),
)

BY_NAME: dict[str, Metric] = {metric.name: metric for metric in METRICS}
HEADLINES: tuple[Metric, ...] = tuple(metric for metric in METRICS if metric.headline)
GROUPS: tuple[str, ...] = tuple(dict.fromkeys(metric.group for metric in METRICS))
