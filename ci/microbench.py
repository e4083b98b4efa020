"""Prints what the load generator's small operations cost: time, instructions, allocations.

Instructions per operation are the difference between two runs of count-kernels with different
numbers of operations, divided by the difference of those numbers: what comes before and after the
operations is the same in both and falls out.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import statistics
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass

REPEATS = 5
# Operations of the two runs that are compared. Instructions hardly vary, and callgrind is about 50
# times slower than the CPU: a thousand operations between the two are enough.
FEW, MANY = 100, 1_100

COLLECTED = re.compile(r"Collected : (\d+)")
Counter = Callable[[list[str]], int]


@dataclass(frozen=True)
class Times:
    median: float
    low: float
    high: float


@dataclass(frozen=True)
class Cost:
    name: str
    nanos: Times
    instructions: float | None  # per operation; None where nothing can count them
    allocations: float  # per operation


def run(command: list[str]) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"microbench: error: {' '.join(command)} failed: {done.stderr.strip()}")
    return done


def parse_times(text: str) -> dict[str, Times]:
    """CPU time in ns of every kernel, from Google Benchmark's JSON with repetitions."""
    repeats: dict[str, list[float]] = {}
    for entry in json.loads(text)["benchmarks"]:
        if entry["run_type"] == "iteration":
            if entry["time_unit"] != "ns":
                raise ValueError(f"times in {entry['time_unit']}, expected ns")
            repeats.setdefault(entry["run_name"], []).append(float(entry["cpu_time"]))
    return {name: Times(statistics.median(values), min(values), max(values))
            for name, values in repeats.items()}


def parse_collected(errors: str) -> int:
    """Instructions of a program, from what callgrind says on standard error."""
    found = COLLECTED.search(errors)
    if found is None:
        raise ValueError(f"callgrind printed no count of instructions: {errors[-200:]!r}")
    return int(found.group(1))


def parse_perf(errors: str) -> int:
    """Instructions of a program, from `perf stat -x,`: VALUE,UNIT,EVENT,..."""
    for line in errors.splitlines():
        fields = line.split(",")
        if len(fields) > 2 and fields[2].startswith("instructions") and fields[0].isdigit():
            return int(fields[0])
    raise ValueError(f"perf counted no instructions: {errors[-200:]!r}")


def per_operation(few: int, few_count: int, many: int, many_count: int) -> float:
    return (many_count - few_count) / (many - few)


def with_callgrind(command: list[str]) -> int:
    prefix = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"]
    return parse_collected(run([*prefix, *command]).stderr)


def with_perf(command: list[str]) -> int:
    return parse_perf(run(["perf", "stat", "-x,", "-e", "instructions:u", *command]).stderr)


def perf_counts() -> bool:
    """Virtual machines often have no such counter."""
    if shutil.which("perf") is None:
        return False
    try:
        return with_perf(["true"]) > 0
    except (ValueError, SystemExit):
        return False


def choose_counter() -> tuple[str, Counter | None]:
    if shutil.which("valgrind") is not None:
        return "callgrind", with_callgrind
    if perf_counts():
        return "the CPU's counter", with_perf
    return "nothing: neither valgrind nor a hardware counter is here", None


def count(binary: str, name: str, counter: Counter | None) -> tuple[float | None, float]:
    """Instructions and allocations per operation."""
    few, many = ([binary, name, str(times)] for times in (FEW, MANY))
    allocations = per_operation(FEW, int(run(few).stdout), MANY, int(run(many).stdout))
    if counter is None:
        return None, allocations
    return per_operation(FEW, counter(few), MANY, counter(many)), allocations


def time_all(binary: str, names: list[str], min_time: float) -> dict[str, Times]:
    only = "^(" + "|".join(names) + ")$"
    return parse_times(run([binary, "--benchmark_format=json", f"--benchmark_filter={only}",
                            f"--benchmark_min_time={min_time}",
                            f"--benchmark_repetitions={REPEATS}"]).stdout)


def table(costs: list[Cost], counted_by: str) -> str:
    lines = [f"{'operation':22} {'ns, median (min-max)':>26} {'instructions':>13}"
             f" {'allocations':>12}"]
    for cost in costs:
        nanos = cost.nanos
        digits = 1 if nanos.median < 1000 else 0
        times = f"{nanos.median:.{digits}f} ({nanos.low:.{digits}f}-{nanos.high:.{digits}f})"
        counted = "-" if cost.instructions is None else f"{cost.instructions:.1f}"
        lines.append(f"{cost.name:22} {times:>26} {counted:>13} {cost.allocations:>12.2f}")
    lines.append(f"\nper operation; CPU time of {REPEATS} repeats; instructions by {counted_by}")
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--time", required=True, help="the time-kernels binary")
    parser.add_argument("--count", required=True, help="the count-kernels binary")
    parser.add_argument("--kernels", help="names, separated by commas [all]")
    parser.add_argument("--min-time", type=float, default=0.2, help="seconds per repeat [0.2]")
    args = parser.parse_args()
    known = run([args.count, "--list"]).stdout.split()
    names = known if args.kernels is None else args.kernels.split(",")
    for name in names:
        if name not in known:
            parser.error(f"--kernels: '{name}' is not known; known: {', '.join(known)}")
    times = time_all(args.time, names, args.min_time)
    counted_by, counter = choose_counter()
    costs = [Cost(name, times[name], *count(args.count, name, counter)) for name in names]
    print(table(costs, counted_by))
    return 0


if __name__ == "__main__":
    sys.exit(main())
