"""Parsers for /proc on fixed text, the sampler's rows, CPU time of a real process."""

import csv
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from harness import procfs, sampler
from harness.cpu_reading import process_cpu_clock, read_cpu
from harness.cpus import CpuSets

STAT = """\
cpu  100 20 30 4000 50 6 7 8 9 0
cpu0 60 20 10 2000 50 1 2 3 0 0
cpu1 40 0 20 2000 0 5 5 5 9 0
intr 1 2 3
"""
SNMP = """\
Ip: Forwarding DefaultTTL
Ip: 2 64
Tcp: RtoAlgorithm ActiveOpens PassiveOpens MaxConn RetransSegs
Tcp: 1 14 2 -1 5
"""
NETSTAT = """\
TcpExt: SyncookiesSent ListenOverflows ListenDrops
TcpExt: 0 3 4
IpExt: InNoRoutes
IpExt: 0
"""
DEVICE = """\
Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs
    lo:  1000      10    0    0    0     0          0         0     2000      20    0    0
  eth0: 5 6 0 0 0 0 0 0 7 8 0 0
"""
PROCESS = (
    "77 (a) b (c) S 1 77 77 0 -1 4194560 11 12 13 14 150 160 17 18 20 0 7 0 12345 99999 250 "
    "18446744073709551615 1 1 0 0 0 0 0 0 0 0 0 0 17 1 0 0 0 0 0\n"
)


def test_cpu_times_are_micros_and_user_includes_nice() -> None:
    host = procfs.parse_stat(STAT)["cpu"]
    assert (host.user, host.system, host.idle, host.iowait) == (1_200_000, 300_000, 40_000_000,
                                                                500_000)
    assert (host.irq, host.softirq, host.steal) == (60_000, 70_000, 80_000)
    assert host.busy == (120 + 30 + 6 + 7 + 8) * 10_000


def test_each_cpu_set_is_summed_apart() -> None:
    cells = sampler.host_cells(STAT, CpuSets((0,), (1,), 2))
    assert cells["service_set_busy_micros"] == (80 + 10 + 1 + 2 + 3) * 10_000
    assert cells["loadgen_set_busy_micros"] == (40 + 20 + 5 + 5 + 5) * 10_000


def test_a_process_name_may_hold_brackets() -> None:
    process = procfs.parse_process_stat(PROCESS)
    assert (process.user_micros, process.system_micros) == (1_500_000, 1_600_000)
    assert (process.threads, process.rss_pages) == (7, 250)


def test_process_columns() -> None:
    cells = sampler.process_cells(PROCESS, "service")
    assert cells == {"service_cpu_user_micros": 1_500_000, "service_cpu_system_micros": 1_600_000,
                     "service_rss_bytes": 250 * sampler.PAGE_BYTES, "service_threads": 7}
    assert "loadgen_threads" not in sampler.process_cells(PROCESS, "loadgen")


def test_network_columns() -> None:
    assert sampler.snmp_cells(SNMP) == {
        "tcp_active_opens": 14, "tcp_passive_opens": 2, "tcp_retrans_segs": 5}
    assert sampler.netstat_cells(NETSTAT) == {"listen_overflows": 3, "listen_drops": 4}
    assert sampler.loopback_cells(DEVICE) == {"lo_rx_bytes": 1000, "lo_tx_bytes": 2000,
                                              "lo_rx_packets": 10, "lo_tx_packets": 20}
    assert procfs.parse_sockstat("sockets: used 14\nTCP: inuse 9 orphan 0 tw 0\n") == 9


def test_memory_is_in_bytes() -> None:
    text = "MemTotal:  2048 kB\nMemFree: 1 kB\nMemAvailable:   1024 kB\n"
    assert procfs.parse_meminfo(text) == (2 << 20, 1 << 20)


def test_what_is_not_measured_is_empty_never_zero() -> None:
    row = next(csv.reader([sampler.format_row({"epoch_millis": 5, "mem_total_bytes": 0}).decode()]))
    cells = dict(zip(sampler.COLUMNS, row, strict=True))
    assert (cells["epoch_millis"], cells["mem_total_bytes"], cells["lo_rx_bytes"]) == ("5", "0", "")


@pytest.mark.parametrize(
    ("due", "now", "expected"), [(10.0, 10.001, 11.0), (10.0, 11.5, 12.0), (10.0, 13.2, 14.0)]
)
def test_samples_stay_on_the_second_and_missed_ones_are_left_out(
    due: float, now: float, expected: float
) -> None:
    assert sampler.next_due(due, now) == expected


def test_a_vanished_process_leaves_its_columns_empty(tmp_path: Path) -> None:
    child = subprocess.Popen([sys.executable, "-c", ""])
    cpus = tuple(sorted(os.sched_getaffinity(0)))
    sources = sampler.trial_sources(child.pid, os.getpid(), CpuSets(cpus, cpus, len(cpus)))
    child.wait()
    running = sampler.Sampler(tmp_path / "system.csv", sources, cpus)
    running.stop()
    with (tmp_path / "system.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) >= 2
    for row in rows:
        assert row["service_rss_bytes"] == row["service_threads"] == ""
        assert int(row["loadgen_rss_bytes"]) > 1 << 20
        for name in ("host_idle_micros", "mem_total_bytes", "sockets_in_use", "tcp_active_opens",
                     "lo_rx_bytes", "listen_drops"):
            assert int(row[name]) >= 0
    first, last = rows[0], rows[-1]
    assert int(last["monotonic_nanos"]) > int(first["monotonic_nanos"])
    assert int(last["host_idle_micros"]) >= int(first["host_idle_micros"])


def test_a_sample_costs_less_than_two_millis_of_cpu(tmp_path: Path) -> None:
    cpus = tuple(sorted(os.sched_getaffinity(0)))
    pid = os.getpid()
    sources = sampler.trial_sources(pid, pid, CpuSets(cpus, cpus, len(cpus)))
    samples = 200
    before = time.process_time()
    for _ in range(samples):
        for source in sources:
            source.cells()
    assert (time.process_time() - before) / samples < 0.002
    for source in sources:
        source.close()


BUSY = """
import sys, threading, time
def work():
    until = time.process_time() + 0.2
    while time.process_time() < until: pass
thread = threading.Thread(target=work); thread.start(); thread.join()
print("ready", flush=True); sys.stdin.read(1)
"""


def test_cpu_time_is_of_all_threads_even_ended_ones() -> None:
    child = subprocess.Popen([sys.executable, "-c", BUSY], stdin=subprocess.PIPE,
                             stdout=subprocess.PIPE, text=True)
    try:
        assert child.stdout is not None and child.stdout.readline() == "ready\n"
        reading = read_cpu(child.pid)
        assert reading.cpuNanos is not None and reading.cpuNanos >= 200_000_000
        assert abs(time.monotonic_ns() - reading.monotonicNanos) < 60_000_000_000
    finally:
        child.kill()
        child.communicate()


def test_the_process_clock_is_the_kernels() -> None:
    own = time.clock_gettime_ns(process_cpu_clock(os.getpid()))
    assert abs(own - time.process_time_ns()) < 50_000_000


def test_cpu_time_of_a_process_that_is_gone_is_null() -> None:
    child = subprocess.Popen([sys.executable, "-c", ""])
    child.wait()
    assert read_cpu(child.pid).cpuNanos is None
