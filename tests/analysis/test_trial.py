"""One trial of four seconds whose every metric was computed by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from analysis.registry import METRICS
from analysis.trial import trial_metrics, trial_summary
from tests.analysis.hdr_writer import encode

S = 1_000_000_000
START, END = 100 * S, 104 * S
MIB = 1024 * 1024

SECONDS_HEADER = ("epoch_millis,monotonic_nanos,stage,request,offered,sent,ok,http_errors,"
                  "transport_errors,timeouts,in_flight,bytes_sent,bytes_received,lag_micros_p99,"
                  "interval_millis,spin_micros")
# second: offered, ok, http errors, transport errors
SECONDS = [(100, 100, 0, 0), (100, 90, 10, 0), (100, 80, 0, 20), (100, 110, 0, 0)]

SYSTEM_HEADER = (
    "epoch_millis,monotonic_nanos,host_user_micros,host_system_micros,host_iowait_micros,"
    "host_softirq_micros,host_irq_micros,host_steal_micros,host_idle_micros,"
    "service_cpu_user_micros,service_cpu_system_micros,loadgen_cpu_user_micros,"
    "loadgen_cpu_system_micros,mem_total_bytes,mem_available_bytes,service_rss_bytes,"
    "service_threads,server_sockets,lo_rx_bytes,lo_tx_bytes,lo_rx_packets,lo_tx_packets")


def system_rows() -> str:
    """Samples at 99..105 s. In each second of the window the host (2 CPUs) works 500 ms user, 200
    system, 100 softirq, 50 irq, 50 iowait, 100 stolen, 1000 idle; outside it is idle."""
    rows = [SYSTEM_HEADER]
    for second in range(99, 106):
        inside = min(max(second - 100, 0), 4)
        idle = 1_000_000 * inside + 2_000_000 * (second - 99 - inside)
        threads, sockets = (9, 70) if second == 102 else (5, 50)
        rss = (40 if second < 102 else 60) * MIB
        available = 6 * 1024 * MIB if second != 103 else 4 * 1024 * MIB
        values = [0, second * S, 500_000 * inside, 200_000 * inside, 50_000 * inside,
                  100_000 * inside, 50_000 * inside, 100_000 * inside, idle,
                  300_000 * inside, 100_000 * inside, 150_000 * inside, 50_000 * inside,
                  8 * 1024 * MIB, available, rss, threads, sockets,
                  102_400 * inside, 102_400 * inside, 500 * inside, 300 * inside]
        rows.append(",".join(map(str, values)))
    return "\n".join(rows) + "\n"


def service_rows() -> str:
    """Samples at 99.5, 100.5 .. 104.5 s: 195 switches and 10 faults a second; both ends
    of the window lie between two samples."""
    rows = ["epoch_millis,monotonic_nanos,connections_open,voluntary_switches,"
            "involuntary_switches,minor_faults,major_faults"]
    for index in range(6):
        moment = 99 * S + S // 2 + index * S
        rows.append(f"0,{moment},,{1000 + 195 * index},5,{300 + 9 * index},{index}")
    return "\n".join(rows) + "\n"


def stage() -> dict[str, Any]:
    return {"name": "main", "kind": "measure", "durationMillis": 4000, "planned": 410,
            "sent": 410, "shed": 0, "unsent": 0, "ok": 380, "httpErrors": {"5xx": 10},
            "transportErrors": {"reset": 20}, "timeouts": 0, "inFlight": 0,
            "startMonotonicNanos": START, "endMonotonicNanos": END,
            "latencyMillis": {"min": 100.1, "p50": 101.0, "p90": 103.5, "p99": None, "p999": None,
                              "max": 140.0, "mean": 101.5, "count": 380},
            "serviceMillis": {"p50": 100.5, "p99": None}}


def write(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    rows = [SECONDS_HEADER, f"0,{START},warmup,get,7,7,7,0,0,0,1,1,1,1"]
    for index, (offered, ok, http, transport) in enumerate(SECONDS, start=1):
        rows.append(f"0,{START + index * S},main,get,{offered},{offered},{ok},{http},{transport},"
                    "0,10,1000,2000,80,1000,120000")
    rows.append(f"0,{END + S},main,get,0,0,0,0,0,0,0,0,0,80")  # the drain
    (folder / "load-seconds.csv").write_text("\n".join(rows) + "\n")
    (folder / "system.csv").write_text(system_rows())
    (folder / "service.csv").write_text(service_rows())
    (folder / "load.json").write_text(json.dumps({
        "status": "complete", "anchor": {"epochMillis": 1_800_000_000_000, "monotonicNanos": START},
        "generator": {"verdict": "ok", "lagMicros": {"p99": 85}},
        "connections": {"connectMillis": {"p99": 2.5}}, "stages": [stage()], "window": stage()}))
    (folder / "load.hlog").write_text(
        f"Tag=latency:get,1800000000.000,1.000,0.1,{encode({100_500: 380})}\n")
    (folder / "trial.json").write_text(json.dumps({
        "round": 1, "scenario": "s", "approach": "a-b", "status": "ok",
        "row": {"requestsPerSecond": 100}, "window": {},
        "serviceThreads": {
            "atStart": {"cpuNanos": 5_000_000, "monotonicNanos": START},
            "atEnd": {"cpuNanos": 20_600_000, "monotonicNanos": END}}}))
    return folder


EXPECTED: dict[str, float | None] = {
    "requests_ok": 380, "requests_error": 30,
    # per second 100, 90, 80, 110; sorted 80 90 100 110
    "requests_per_second_p50": 95, "requests_per_second_p90": 107, "requests_per_second_max": 110,
    "latency_millis_min": 100.1, "latency_millis_p50": 101, "latency_millis_p90": 103.5,
    "latency_millis_p99": None, "latency_millis_p999": None, "latency_millis_max": 140,
    "service_millis_p50": 100.5, "service_millis_p99": None, "connect_millis_p99": 2.5,
    # 500 + 200 + 100 + 50 - 120 (the generator's polling) = 730 ms of 2000 ms; 50 ms of iowait are
    # idle time
    "cpu_use_percent_avg": 36.5, "cpu_use_percent_max": 36.5,
    "service_cpu_percent_avg": 40, "service_cpu_percent_max": 40,
    # 15.6 ms for 390 responses
    "service_cpu_micros_per_request": 40,
    "loadgen_cpu_percent_avg": 20, "loadgen_lag_micros_p99": 85,
    # samples at 100..104: 25 % in use four times, 50 % once
    "ram_use_percent_avg": 30, "ram_use_percent_max": 50,
    "service_rss_mib_avg": 52, "service_rss_mib_max": 60,
    "platform_threads_avg": 5.8, "platform_threads_max": 9,
    # 4 s at 195 and at 10 a second, for 390 responses
    "context_switches_per_request": 2, "page_faults_per_request": 40 / 390,
    "sockets_avg": 54, "sockets_max": 70,
    # 200 KiB a second: 800 KiB for 390 responses; the worst second had 80 responses
    "network_kib_per_req_avg": 800 / 390, "network_kib_per_req_max": 2.5,
    "network_packets_per_req_avg": 3200 / 390, "network_packets_per_req_max": 10,
}


def test_every_metric_by_hand(tmp_path: Path) -> None:
    found = trial_metrics(write(tmp_path / "t"))
    assert list(found) == [metric.name for metric in METRICS]
    assert set(EXPECTED) == set(found)
    for name, expected in EXPECTED.items():
        assert found[name] == (None if expected is None else pytest.approx(expected)), name


def test_gaps_have_reasons(tmp_path: Path) -> None:
    summary = trial_summary(write(tmp_path / "t"))
    assert set(summary.reasons) == {name for name, value in EXPECTED.items() if value is None}
    assert summary.reasons["latency_millis_p99"] == "too few requests for this percentile"
    # resident memory grows from 40 to 60 MiB in the middle of the window
    assert summary.flags == ("drift",) and "resident memory" in summary.notes[0]


def test_an_empty_folder_gives_only_gaps(tmp_path: Path) -> None:
    summary = trial_summary(tmp_path)
    assert set(summary.metrics.values()) == {None}
    assert all(summary.reasons.values())


@pytest.mark.parametrize("name", ["load.json", "load-seconds.csv", "load.hlog", "system.csv",
                                  "service.csv", "trial.json"])
@pytest.mark.parametrize("content", [None, b"", b"{", b"\xff\xfe\x00", b"[1, 2]", b"a,b\n1\n"])
def test_no_damaged_file_raises(tmp_path: Path, name: str, content: bytes | None) -> None:
    folder = write(tmp_path / "t")
    if content is None:
        (folder / name).unlink()
    else:
        (folder / name).write_bytes(content)
    values = trial_metrics(folder).values()
    assert all(value is None or value == value for value in values)


@pytest.mark.parametrize("name", ["load.json", "load-seconds.csv", "load.hlog", "system.csv",
                                  "trial.json"])
def test_no_cut_off_file_raises(tmp_path: Path, name: str) -> None:
    folder = write(tmp_path / "t")
    whole = (folder / name).read_bytes()
    for length in range(0, len(whole), max(1, len(whole) // 23)):
        (folder / name).write_bytes(whole[:length])
        assert len(trial_metrics(folder)) == len(METRICS)


def edit(folder: Path, name: str, change: dict[str, Any]) -> None:
    source = json.loads((folder / name).read_text())
    source["window" if name == "load.json" else "serviceThreads"] |= change
    (folder / name).write_text(json.dumps(source))


def test_readings_late_after_the_window_count_their_own_responses(tmp_path: Path) -> None:
    folder = write(tmp_path / "t")
    threads = json.loads((folder / "trial.json").read_text())["serviceThreads"]
    # read half a second after the window's start: 50 of the first second's responses are before
    edit(folder, "trial.json", {"atStart": threads["atStart"] | {
        "monotonicNanos": START + S // 2}})
    assert trial_metrics(folder)["service_cpu_micros_per_request"] == pytest.approx(15_600 / 340)


def test_counters_that_shrink_are_a_gap(tmp_path: Path) -> None:
    folder = write(tmp_path / "t")
    edit(folder, "trial.json", {"atEnd": {"cpuNanos": 1, "monotonicNanos": END}})
    summary = trial_summary(folder)
    assert summary.metrics["service_cpu_micros_per_request"] is None
    assert "backwards" in summary.reasons["service_cpu_micros_per_request"]
    text = (folder / "service.csv").read_text().replace(",1780,", ",17,")
    (folder / "service.csv").write_text(text)
    summary = trial_summary(folder)
    assert summary.metrics["context_switches_per_request"] is None
    assert summary.reasons["context_switches_per_request"].startswith("too few samples")
    assert summary.metrics["page_faults_per_request"] is not None


def test_sockets_fall_back_on_the_services_own_count(tmp_path: Path) -> None:
    folder = write(tmp_path / "t")
    text = (folder / "system.csv").read_text().replace("server_sockets", "unknown")
    (folder / "system.csv").write_text(text)
    (folder / "service.csv").write_text(
        f"epoch_millis,monotonic_nanos,connections_open\n0,{START + 1},30\n0,{END - 1},34\n"
        f"0,{END + S},99\n")
    assert trial_metrics(folder)["sockets_avg"] == 32


def test_flags_name_what_is_wrong(tmp_path: Path) -> None:
    folder = write(tmp_path / "t")
    edit(folder, "load.json", {"sent": 409, "unsent": 1, "inFlight": 4,
                               "latencyMillis": {"p50": 101.0, "p99": ">=60000"}})
    summary = trial_summary(folder)
    assert summary.flags == ("drift", "count-mismatch", "unanswered", "not-all-sent",
                             "latency-censored")
    assert summary.metrics["latency_millis_p99"] is None
    assert summary.reasons["latency_millis_p99"] == "only known to be >=60000 ms"
    # 30 that ended badly, 4 without an answer, 1 never sent
    assert summary.metrics["requests_error"] == 35
