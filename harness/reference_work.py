"""Fixed work whose time shows how fast the host is just now, and what else runs on it."""

import time
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from harness import procfs
from harness.cpus import on_cpus

TARGET_SECONDS = 0.5
CALIBRATION_ITERATIONS = 4
BASELINE_RUNS = 3
# Beyond this much over the run's median the host was slow; reference work itself repeats within
# 1-3 % on an idle host.
SLOW_RATIO = 1.10
# More than this many CPUs busy with other work is reported: about a tenth of a core disturbs p99.
OTHER_LOAD_CPUS = 0.10
BLOCK = bytes((i * i ^ (i >> 3)) & 0xFF for i in range(1 << 16))


@dataclass(frozen=True)
class Reference:
    """`other_cpus`: CPUs that everything else on the host kept busy meanwhile; None: unknown."""

    millis: float
    iterations: int
    other_cpus: float | None


def run_reference(iterations: int, cpus: Sequence[int]) -> Reference:
    """Compresses one block `iterations` times on one of `cpus`; blocks about half a second."""
    with on_cpus(cpus[:1]):
        busy_before, own_before = _busy_seconds(), time.process_time()
        started = time.perf_counter()
        for _ in range(iterations):
            zlib.compress(BLOCK, 6)
        wall = time.perf_counter() - started
        own, busy_after = time.process_time() - own_before, _busy_seconds()
    other = None
    if busy_before is not None and busy_after is not None:
        other = max(0.0, busy_after - busy_before - own) / wall
    return Reference(round(wall * 1000, 3), iterations, other)


def calibrate(cpus: Sequence[int]) -> int:
    """Iterations that take about half a second here; fixed for a run, kept over a resume."""
    millis = min(run_reference(CALIBRATION_ITERATIONS, cpus).millis for _ in range(3))
    return max(1, round(CALIBRATION_ITERATIONS * TARGET_SECONDS * 1000 / millis))


def is_slow(millis: float, others: Sequence[float]) -> bool:
    """Whether this run of the work took over a tenth longer than the median of the others."""
    return bool(others) and millis > SLOW_RATIO * median(others)


def _busy_seconds() -> float | None:
    try:
        times = procfs.parse_stat(Path("/proc/stat").read_text(encoding="ascii"))["cpu"]
    except (OSError, KeyError, ValueError):
        return None
    return times.busy / 1e6
