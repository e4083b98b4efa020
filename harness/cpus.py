"""Which CPUs the service and the load generator get, and starting children on them."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class CpuSets:
    """CPU numbers of each side; `host` is the number of CPUs online on the whole machine."""

    service: tuple[int, ...]
    loadgen: tuple[int, ...]
    host: int


def split_cpus(cores: Sequence[Sequence[int]]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """(service, loadgen) from cores, each a list of sibling CPUs, which stay together.

    Of an odd number of cores the service gets the larger part. A single core is split between its
    siblings; a single CPU is shared by both sides.
    """
    units = [list(core) for core in cores]
    if len(units) == 1:
        units = [[cpu] for cpu in units[0]]
    if len(units) == 1:
        return (units[0][0],), (units[0][0],)
    middle = (len(units) + 1) // 2
    service = sorted(cpu for unit in units[:middle] for cpu in unit)
    loadgen = sorted(cpu for unit in units[middle:] for cpu in unit)
    return tuple(service), tuple(loadgen)


def parse_cpu_list(text: str) -> list[int]:
    """'0-2,5' -> [0, 1, 2, 5], the kernel's list format."""
    cpus: list[int] = []
    for part in text.strip().split(","):
        first, _, last = part.partition("-")
        if first:
            cpus += range(int(first), int(last or first) + 1)
    return cpus


def find_cpu_sets() -> CpuSets:
    """Halves of the CPUs that this process may use."""
    allowed = sorted(os.sched_getaffinity(0))
    cores: dict[int, list[int]] = {}
    for cpu in allowed:
        cores.setdefault(min(_siblings(cpu)), []).append(cpu)
    service, loadgen = split_cpus(list(cores.values()))
    return CpuSets(service, loadgen, os.cpu_count() or len(allowed))


def _siblings(cpu: int) -> list[int]:
    path = Path(f"/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list")
    try:
        return parse_cpu_list(path.read_text()) or [cpu]
    except (OSError, ValueError):
        return [cpu]


@contextmanager
def on_cpus(cpus: Sequence[int]) -> Iterator[None]:
    """Runs the calling thread on `cpus`; a child started inside inherits them from its first
    instruction on, threads and all, which setting them after the start would not ensure."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cpus)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)
