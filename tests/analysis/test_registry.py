from __future__ import annotations

from analysis.registry import BY_NAME, GROUPS, HEADLINES, METRICS

# The order in which results.csv has carried them from the start.
NAMES = """requests_ok requests_error requests_per_second_p50 requests_per_second_p90
requests_per_second_max latency_millis_min latency_millis_p50 latency_millis_p90 latency_millis_p99
latency_millis_p999 latency_millis_max service_millis_p50 service_millis_p99 connect_millis_p99
cpu_use_percent_avg cpu_use_percent_max service_cpu_percent_avg service_cpu_percent_max
service_cpu_micros_per_request loadgen_cpu_percent_avg loadgen_lag_micros_p99 ram_use_percent_avg
ram_use_percent_max service_rss_mib_avg service_rss_mib_max platform_threads_avg
platform_threads_max context_switches_per_request page_faults_per_request sockets_avg sockets_max
network_kib_per_req_avg network_kib_per_req_max network_packets_per_req_avg
network_packets_per_req_max""".split()


def test_names_and_order() -> None:
    assert [metric.name for metric in METRICS] == NAMES
    assert list(BY_NAME) == NAMES


def test_every_metric_is_described() -> None:
    for metric in METRICS:
        assert metric.unit and metric.description and metric.group in GROUPS
        assert 0.01 <= metric.margin <= 0.10


def test_directions() -> None:
    higher = {metric.name for metric in METRICS if metric.direction == "higher"}
    assert higher == {name for name in NAMES if name.startswith("requests_per")} | {"requests_ok"}
    unranked = {metric.name for metric in METRICS if metric.direction == "none"}
    assert unranked == {"sockets_avg", "sockets_max", "loadgen_cpu_percent_avg",
                        "loadgen_lag_micros_p99"}
    assert all(BY_NAME[name].rule == "never" for name in unranked)


def test_extremes_and_connect_times_never_rank() -> None:
    for name in ("latency_millis_min", "latency_millis_max", "connect_millis_p99",
                 "network_kib_per_req_max", "network_packets_per_req_max"):
        assert BY_NAME[name].rule == "never", name
    for name in ("latency_millis_p50", "network_kib_per_req_avg", "network_packets_per_req_avg"):
        assert BY_NAME[name].rule == "always", name


def test_one_headline_per_fact() -> None:
    assert [metric.name for metric in HEADLINES] == [
        "requests_error", "latency_millis_p50", "latency_millis_p99",
        "service_cpu_micros_per_request", "service_rss_mib_max"]


def test_groups_are_contiguous() -> None:
    seen = [metric.group for metric in METRICS]
    assert [g for i, g in enumerate(seen) if i == 0 or seen[i - 1] != g] == list(GROUPS)
