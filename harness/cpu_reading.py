"""CPU time of a process, read at the two ends of the load window."""

import time
from dataclasses import asdict, dataclass

CPUCLOCK_SCHED = 2


@dataclass(frozen=True)
class CpuReading:
    """Cumulative since the process began. None: could not be read."""

    monotonicNanos: int
    cpuNanos: int | None

    def as_json(self) -> dict[str, int | None]:
        return asdict(self)


def process_cpu_clock(pid: int) -> int:
    """The clock id of another process's CPU time, as clock_getcpuclockid(3) builds it."""
    return (~pid << 3) | CPUCLOCK_SCHED


def read_cpu(pid: int) -> CpuReading:
    """One system call, however many threads there are.

    The process clock is the kernel's own sum of its threads' sum_exec_runtime, what the threads'
    schedstat files show one by one, read at a single moment and with the threads that have ended.
    """
    stamp = time.monotonic_ns()
    try:
        return CpuReading(stamp, time.clock_gettime_ns(process_cpu_clock(pid)))
    except OSError:
        return CpuReading(stamp, None)
