"""Totals over all threads of a process, read at the two ends of the load window."""

import os
import time
from dataclasses import asdict, dataclass

from harness import procfs

CPUCLOCK_SCHED = 2


@dataclass(frozen=True)
class ThreadTotals:
    """Cumulative since the process began. None: could not be read."""

    monotonicNanos: int
    cpuNanos: int | None
    voluntarySwitches: int | None
    involuntarySwitches: int | None
    minorFaults: int | None
    majorFaults: int | None
    threads: int | None

    def as_json(self) -> dict[str, int | None]:
        return asdict(self)


def process_cpu_clock(pid: int) -> int:
    """The clock id of another process's CPU time, as clock_getcpuclockid(3) builds it."""
    return (~pid << 3) | CPUCLOCK_SCHED


def read_totals(pid: int) -> ThreadTotals:
    """Reads all totals; blocks for about 20 microseconds per thread of the process.

    CPU time comes first, at the stamp: the process clock is the kernel's own sum of its threads'
    sum_exec_runtime, what the threads' schedstat files show one by one, read at a single moment
    and with the threads that have ended in it. Switches need a walk over the threads.
    """
    stamp = time.monotonic_ns()
    cpu = _cpu_nanos(pid)
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
            stat = procfs.parse_process_stat(file.read())
        minor, major, threads = stat.minor_faults, stat.major_faults, stat.threads
    except (OSError, ValueError, IndexError):
        return ThreadTotals(stamp, cpu, None, None, None, None, None)
    switches = _switches(pid)
    voluntary, involuntary = switches if switches is not None else (None, None)
    return ThreadTotals(stamp, cpu, voluntary, involuntary, minor, major, threads)


def _cpu_nanos(pid: int) -> int | None:
    try:
        return time.clock_gettime_ns(process_cpu_clock(pid))
    except OSError:
        return _schedstat_nanos(pid)


def _schedstat_nanos(pid: int) -> int | None:
    """The same sum by hand, for kernels that deny the clock of another process."""
    total = 0
    try:
        for thread in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{thread}/schedstat", encoding="ascii") as file:
                total += int(file.read().split()[0])
    except (OSError, ValueError, IndexError):
        return None
    return total


def _switches(pid: int) -> tuple[int, int] | None:
    voluntary = involuntary = 0
    try:
        threads = os.listdir(f"/proc/{pid}/task")
    except OSError:
        return None
    for thread in threads:
        try:
            with open(f"/proc/{pid}/task/{thread}/status", encoding="utf-8") as file:
                switches = procfs.parse_switches(file.read())
        except OSError:
            continue  # this thread has just ended
        except (KeyError, ValueError):
            return None
        voluntary += switches[0]
        involuntary += switches[1]
    return voluntary, involuntary
