"""system.csv: host, processes and loopback, once a second, cumulative counters.

At most 2 ms of CPU per sample: eight files of the kernel that are opened once and read again at
offset 0, and never a walk over sockets or tasks.
"""

import csv
import io
import os
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from harness import procfs
from harness.cpus import CpuSets
from harness.files import naming

Cells = dict[str, int | None]

COLUMNS = (
    "epoch_millis",
    "monotonic_nanos",
    "host_user_micros",
    "host_system_micros",
    "host_iowait_micros",
    "host_softirq_micros",
    "host_irq_micros",
    "host_steal_micros",
    "host_idle_micros",
    "service_set_busy_micros",
    "loadgen_set_busy_micros",
    "service_cpu_user_micros",
    "service_cpu_system_micros",
    "loadgen_cpu_user_micros",
    "loadgen_cpu_system_micros",
    "mem_total_bytes",
    "mem_available_bytes",
    "service_rss_bytes",
    "loadgen_rss_bytes",
    "service_threads",
    "sockets_in_use",
    "server_sockets",
    "tcp_active_opens",
    "tcp_passive_opens",
    "lo_rx_bytes",
    "lo_tx_bytes",
    "lo_rx_packets",
    "lo_tx_packets",
    "listen_overflows",
    "listen_drops",
    "tcp_retrans_segs",
)
PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
# /proc/net/netstat is the longest of the files, about 6 KiB; one read must hold a whole file.
READ_BYTES = 1 << 16


class KernelFile:
    """One file of /proc, kept open. Reads from the start each time; does not block."""

    def __init__(self, path: str) -> None:
        self._descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)

    def read(self) -> str:
        return os.pread(self._descriptor, READ_BYTES, 0).decode("ascii", "replace")

    def close(self) -> None:
        os.close(self._descriptor)


def host_cells(stat: str, cpus: CpuSets) -> Cells:
    """Columns from /proc/stat."""
    times = procfs.parse_stat(stat)
    host = times["cpu"]
    return {
        "host_user_micros": host.user,
        "host_system_micros": host.system,
        "host_iowait_micros": host.iowait,
        "host_softirq_micros": host.softirq,
        "host_irq_micros": host.irq,
        "host_steal_micros": host.steal,
        "host_idle_micros": host.idle,
        "service_set_busy_micros": _busy(times, cpus.service),
        "loadgen_set_busy_micros": _busy(times, cpus.loadgen),
    }


def _busy(times: dict[str, procfs.CpuTimes], cpus: Sequence[int]) -> int:
    return sum(times[f"cpu{cpu}"].busy for cpu in cpus)


def process_cells(stat: str, side: str) -> Cells:
    """Columns from /proc/PID/stat of `side`, "service" or "loadgen"."""
    process = procfs.parse_process_stat(stat)
    cells: Cells = {
        f"{side}_cpu_user_micros": process.user_micros,
        f"{side}_cpu_system_micros": process.system_micros,
        f"{side}_rss_bytes": process.rss_pages * PAGE_BYTES,
    }
    if side == "service":
        cells["service_threads"] = process.threads
    return cells


def memory_cells(meminfo: str) -> Cells:
    total, available = procfs.parse_meminfo(meminfo)
    return {"mem_total_bytes": total, "mem_available_bytes": available}


def snmp_cells(snmp: str) -> Cells:
    tcp = procfs.parse_paired(snmp, "Tcp")
    return {
        "tcp_active_opens": tcp["ActiveOpens"],
        "tcp_passive_opens": tcp["PassiveOpens"],
        "tcp_retrans_segs": tcp["RetransSegs"],
    }


def netstat_cells(netstat: str) -> Cells:
    extended = procfs.parse_paired(netstat, "TcpExt")
    return {
        "listen_overflows": extended["ListenOverflows"],
        "listen_drops": extended["ListenDrops"],
    }


def loopback_cells(device: str) -> Cells:
    received, sent, received_packets, sent_packets = procfs.parse_loopback(device)
    return {
        "lo_rx_bytes": received,
        "lo_tx_bytes": sent,
        "lo_rx_packets": received_packets,
        "lo_tx_packets": sent_packets,
    }


class Source:
    """One kernel file and what its text means. Unreadable: its columns stay empty."""

    def __init__(self, path: str, parse: Callable[[str], Cells]) -> None:
        self._parse = parse
        self._file: KernelFile | None
        try:
            self._file = KernelFile(path)
        except OSError:
            self._file = None

    def cells(self) -> Cells:
        if self._file is None:
            return {}
        try:
            return self._parse(self._file.read())
        except (OSError, ValueError, KeyError, IndexError):
            # The process has ended, or this kernel has no such counter: not measured.
            return {}

    def close(self) -> None:
        if self._file is not None:
            self._file.close()


def trial_sources(service_pid: int, loadgen_pid: int, cpus: CpuSets) -> list[Source]:
    return [
        Source("/proc/stat", lambda text: host_cells(text, cpus)),
        Source(f"/proc/{service_pid}/stat", lambda text: process_cells(text, "service")),
        Source(f"/proc/{loadgen_pid}/stat", lambda text: process_cells(text, "loadgen")),
        Source("/proc/meminfo", memory_cells),
        Source("/proc/net/snmp", snmp_cells),
        Source("/proc/net/netstat", netstat_cells),
        Source("/proc/net/sockstat", lambda text: {"sockets_in_use": procfs.parse_sockstat(text)}),
        Source("/proc/net/dev", loopback_cells),
    ]


class Sampler:
    """Writes one row at once, one each second at absolute times, and one at `stop`.

    A late wake-up delays one row and shifts none; a second that was missed is a gap.
    """

    def __init__(self, path: Path, sources: list[Source], cpus: Sequence[int]) -> None:
        self._path = path
        self._file = path.open("wb", buffering=0)
        self._fault: OSError | None = None
        self._sources = sources
        self._cpus = cpus
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="sampler", daemon=True)
        with naming(path):
            self._file.write((",".join(COLUMNS) + "\n").encode())
        self._thread.start()

    def stop(self) -> None:
        """Takes the last sample and closes everything. Blocks for one sample at most.

        Raises OSError when the samples could not be written.
        """
        self._stopping.set()
        self._thread.join()
        self._file.close()
        for source in self._sources:
            source.close()
        if self._fault is not None:
            raise self._fault

    def _run(self) -> None:
        try:
            with naming(self._path):
                self._write_rows()
        except OSError as error:
            self._fault = error

    def _write_rows(self) -> None:
        # Away from the service's CPUs: sampling must not cost the thing measured.
        os.sched_setaffinity(0, self._cpus)
        due = time.monotonic()
        while not self._stopping.is_set():
            self._file.write(self._row())
            due = next_due(due, time.monotonic())
            self._stopping.wait(due - time.monotonic())
        self._file.write(self._row())

    def _row(self) -> bytes:
        cells: Cells = {
            "epoch_millis": time.time_ns() // 1_000_000,
            "monotonic_nanos": time.monotonic_ns(),
        }
        for source in self._sources:
            cells.update(source.cells())
        return format_row(cells)


def next_due(due: float, now: float) -> float:
    """The next whole second after `due` that is not past: absolute, so that nothing drifts."""
    missed = max(0, int(now - due))
    return due + missed + 1


def format_row(cells: Cells) -> bytes:
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\n").writerow(cells.get(column) for column in COLUMNS)
    return buffer.getvalue().encode()
