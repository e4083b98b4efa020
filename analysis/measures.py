"""Metrics of one trial: pure functions from a Trial to a number or the reason there is none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from analysis.load import Times
from analysis.series import (Floats, Samples, Span, Window, change_in, gauge, steps, total,
                             value_at)
from analysis.trial_files import Trial

MIB = 1024.0 * 1024.0
# A second with fewer responses says nothing about a cost per request.
MIN_RESPONSES_PER_STEP = 10
# Responses of the whole window stand in for those between two readings this close to its ends.
MAX_WINDOW_MISMATCH = 0.02

# Interrupts are work that the load causes; stolen time is other guests' work. A CPU in iowait has
# nothing to do: it is idle, and only its last task happens to wait for a disk.
HOST_BUSY = ("host_user_micros", "host_system_micros", "host_irq_micros", "host_softirq_micros")
HOST_ALL = (*HOST_BUSY, "host_iowait_micros", "host_steal_micros", "host_idle_micros")
SERVICE_CPU = ("service_cpu_user_micros", "service_cpu_system_micros")
LOADGEN_CPU = ("loadgen_cpu_user_micros", "loadgen_cpu_system_micros")
# What the service reads of itself once a second (getrusage): ended threads are in it.
SWITCHES = ("voluntary_switches", "involuntary_switches")
FAULTS = ("minor_faults", "major_faults")
LOOPBACK_BYTES = ("lo_rx_bytes", "lo_tx_bytes")
LOOPBACK_PACKETS = ("lo_rx_packets", "lo_tx_packets")


@dataclass(frozen=True)
class Value:
    """A measured number, or None and why."""

    value: float | int | None
    reason: str = ""


def _missing(reason: str) -> Value:
    return Value(None, reason)


NO_WINDOW = _missing("no load window")
NO_LOAD = _missing("no result of the load generator")


def requests(trial: Trial) -> dict[str, Value]:
    totals = trial.load.totals
    if totals is None or totals.ok is None:
        return dict.fromkeys(("requests_ok", "requests_error"), NO_LOAD)
    failed = totals.errors + totals.not_served
    return {"requests_ok": Value(totals.ok), "requests_error": Value(failed)}


def ok_rates(trial: Trial) -> list[float]:
    """Successful responses per second, one figure per whole second of the window."""
    if trial.window is None:
        return []
    return [span.change / span.seconds for span in steps(trial.seconds, "ok", trial.window)]


def rates(trial: Trial) -> dict[str, Value]:
    found = ok_rates(trial)
    if not found:
        none = _missing("no whole second in load-seconds.csv")
        return {f"requests_per_second_{name}": none for name in ("p50", "p90", "max")}
    return {
        "requests_per_second_p50": Value(float(np.percentile(found, 50))),
        "requests_per_second_p90": Value(float(np.percentile(found, 90))),
        "requests_per_second_max": Value(max(found)),
    }


def _percentile(times: Times, key: str) -> Value:
    if key in times.at_least:
        return _missing(f"only known to be {times.at_least[key]} ms")
    if key not in times.values:
        return _missing("too few requests for this percentile")
    return Value(times.values[key])


def latencies(trial: Trial) -> dict[str, Value]:
    totals = trial.load.totals
    names = {f"latency_millis_{key}": key for key in ("min", "p50", "p90", "p99", "p999", "max")}
    service = {f"service_millis_{key}": key for key in ("p50", "p99")}
    connect = trial.load.connect_millis_p99
    result = {"connect_millis_p99": _missing("not reported by the load generator")
              if connect is None else Value(connect)}
    if totals is None:
        return result | dict.fromkeys([*names, *service], NO_LOAD)
    result |= {name: _percentile(totals.latency, key) for name, key in names.items()}
    return result | {name: _percentile(totals.service, key) for name, key in service.items()}


def _share(part: Span | None, whole: Span | None) -> float | None:
    if part is None or whole is None or whole.change <= 0:
        return None
    return 100.0 * part.change / whole.change


def _without_spin(trial: Trial, busy: Span | None) -> Span | None:
    """Without the time in which the generator polled for the next due time: that is no load."""
    stamps, values = trial.seconds.known("spin_micros")
    if busy is None or len(stamps) == 0:
        return busy
    before, after = np.interp([busy.start, busy.end], stamps, values)
    return replace(busy, change=max(0.0, busy.change - float(after - before)))


def host_cpu(trial: Trial, window: Window) -> dict[str, Value]:
    """Busy share of all CPUs; both counters are read in one sample, so their times agree."""
    busy, every = total(trial.system, HOST_BUSY), total(trial.system, HOST_ALL)
    average = _share(_without_spin(trial, change_in(busy, "sum", window)),
                     change_in(every, "sum", window))
    pairs = zip(steps(busy, "sum", window), steps(every, "sum", window))
    seconds = [share for part, whole in pairs if part.start == whole.start
               and (share := _share(_without_spin(trial, part), whole)) is not None]
    return _average_and_max("cpu_use_percent", average, seconds)


def _average_and_max(name: str, average: float | None, values: Sequence[float]) -> dict[str, Value]:
    """The whole seconds need not cover the window: the busiest is at least the average."""
    none = _missing("too few samples in the load window")
    known = [*values, *([] if average is None else [average])]
    return {
        f"{name}_avg": none if average is None else Value(average),
        f"{name}_max": Value(max(known)) if len(values) else none,
    }


def process_cpu(trial: Trial, window: Window, columns: Sequence[str], name: str
                ) -> dict[str, Value]:
    """CPU time of a process in percent of one core."""
    used = total(trial.system, columns)
    span = change_in(used, "sum", window)
    average = None if span is None else span.change / 1e4 / span.seconds
    seconds = [s.change / 1e4 / s.seconds for s in steps(used, "sum", window)]
    return _average_and_max(name, average, seconds)


def _gauge(name: str, values: Floats, scale: float = 1.0) -> dict[str, Value]:
    scaled = [float(v) / scale for v in values]
    return _average_and_max(name, float(np.mean(scaled)) if scaled else None, scaled)


def ram_percent(system: Samples) -> Samples:
    """A column `ram`: memory in use in percent of all memory."""
    whole = system.column("mem_total_bytes")
    with np.errstate(divide="ignore", invalid="ignore"):
        used = 100.0 * (whole - system.column("mem_available_bytes")) / whole
    return Samples(system.stamps, {"ram": used})


def sockets(trial: Trial, window: Window) -> Floats:
    """Open connections of the service: as the host counts them, else as the service does."""
    counted = gauge(trial.system, "server_sockets", window)
    return counted if len(counted) else gauge(trial.service, "connections_open", window)


def gauges(trial: Trial, window: Window) -> dict[str, Value]:
    system = trial.system
    return {
        **_gauge("ram_use_percent", gauge(ram_percent(system), "ram", window)),
        **_gauge("service_rss_mib", gauge(system, "service_rss_bytes", window), MIB),
        **_gauge("platform_threads", gauge(system, "service_threads", window)),
        **_gauge("sockets", sockets(trial, window)),
    }


def responses_between(trial: Trial, start: int, end: int) -> float | None:
    """Responses (good and HTTP errors) that arrived between two moments; None when unknown."""
    stamps, values = total(trial.seconds, ("ok", "http_errors")).known("sum")
    before, after = value_at(stamps, values, start), value_at(stamps, values, end)
    return None if before is None or after is None else after - before


def _responses_near(trial: Trial, start: int, end: int) -> float | None:
    """As above, else the window's total when the two moments are close to the window's ends."""
    found = responses_between(trial, start, end)
    totals, window = trial.load.totals, trial.window
    if found is not None or totals is None or window is None or totals.responses is None:
        return found
    allowed = MAX_WINDOW_MISMATCH * (window.end - window.start)
    near = abs(start - window.start) <= allowed and abs(end - window.end) <= allowed
    return float(totals.responses) if near else None


def cpu_per_request(trial: Trial) -> Value:
    """CPU time of the service per response, between the readings at both ends, in microseconds."""
    before, after = trial.at_start.cpu_nanos, trial.at_end.cpu_nanos
    start, end = trial.at_start.monotonic_nanos, trial.at_end.monotonic_nanos
    if before is None or after is None or start is None or end is None or end <= start:
        return _missing("the service's CPU time was not read at both ends of the window")
    if after < before:
        return _missing("the service's CPU time went backwards")
    responses = _responses_near(trial, start, end)
    if not responses or responses <= 0:
        return _missing("no responses between the two readings")
    return Value((after - before) / 1000.0 / responses)


def counted_per_request(trial: Trial, window: Window, columns: Sequence[str]) -> Value:
    """Counters of service.csv per response, interpolated at the window's ends."""
    span = change_in(total(trial.service, columns), "sum", window)
    if span is None:
        return _missing("too few samples of the service in the load window")
    responses = _responses_near(trial, span.start, span.end)
    if not responses or responses <= 0:
        return _missing("no responses between the two readings")
    return Value(span.change / responses)


def network(trial: Trial, window: Window, columns: Sequence[str], name: str, scale: float
            ) -> dict[str, Value]:
    """Loopback traffic per response as a ratio of sums, and the worst second."""
    traffic = total(trial.system, columns)
    span = change_in(traffic, "sum", window)
    average = None
    if span is not None:
        responses = _responses_near(trial, span.start, span.end)
        average = span.change / scale / responses if responses else None
    seconds = []
    for step in steps(traffic, "sum", window):
        count = responses_between(trial, step.start, step.end)
        if count is not None and count >= MIN_RESPONSES_PER_STEP:
            seconds.append(step.change / scale / count)
    return _average_and_max(name, average, seconds)


def windowed(trial: Trial, window: Window) -> dict[str, Value]:
    """Everything that is sampled beside the load generator's own report."""
    loadgen = process_cpu(trial, window, LOADGEN_CPU, "loadgen_cpu_percent")
    return {
        **host_cpu(trial, window),
        **process_cpu(trial, window, SERVICE_CPU, "service_cpu_percent"),
        "loadgen_cpu_percent_avg": loadgen["loadgen_cpu_percent_avg"],
        **gauges(trial, window),
        "context_switches_per_request": counted_per_request(trial, window, SWITCHES),
        "page_faults_per_request": counted_per_request(trial, window, FAULTS),
        **network(trial, window, LOOPBACK_BYTES, "network_kib_per_req", 1024.0),
        **network(trial, window, LOOPBACK_PACKETS, "network_packets_per_req", 1.0),
    }


def all_values(trial: Trial) -> dict[str, Value]:
    """Every metric that the trial's files yield; the registry says which ones there are."""
    lag = trial.load.lag_micros_p99
    values = {
        **requests(trial), **rates(trial), **latencies(trial),
        "service_cpu_micros_per_request": cpu_per_request(trial),
        "loadgen_lag_micros_p99": NO_LOAD if lag is None else Value(lag),
    }
    return values if trial.window is None else values | windowed(trial, trial.window)
