"""Statistics of ci/bench-loadgen.sh: pairs of runs, their ratios, and goals. Pure."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from loadgen_tools import Outcome

# From here on the server's core has nothing left: a closed loop then waits for the server.
FULL_CORE = 0.95


@dataclass(frozen=True)
class Run:
    """One run of one generator."""

    tool: str
    outcome: Outcome
    user_seconds: float  # CPU of the whole process
    system_seconds: float
    peak_kib: int
    server_core_busy: float  # 0 to 1, all that this core did meanwhile

    @property
    def usable(self) -> bool:
        return self.outcome.errors == 0 and self.outcome.completed > 0

    @property
    def user_micros(self) -> float:
        """Per completed request; usable runs only."""
        return self.user_seconds * 1e6 / self.outcome.completed

    @property
    def system_micros(self) -> float:
        return self.system_seconds * 1e6 / self.outcome.completed

    @property
    def cpu_micros(self) -> float:
        return self.user_micros + self.system_micros


@dataclass(frozen=True)
class Pair:
    ours: Run
    other: Run

    @property
    def usable(self) -> bool:
        return self.ours.usable and self.other.usable


@dataclass(frozen=True)
class Summary:
    median: float
    low: float
    high: float
    quartile_low: float
    quartile_high: float


class Verdict(Enum):
    MET = "met"
    MISSED = "MISSED"
    NOT_MEASURED = "not measured"


def summary(values: Sequence[float]) -> Summary:
    """Of at least one value. Quartiles are interpolated, both ends included."""
    if len(values) == 1:
        return Summary(*([values[0]] * 5))
    low, middle, high = statistics.quantiles(values, n=4, method="inclusive")
    return Summary(middle, min(values), max(values), low, high)


def ours_first(pair: int) -> bool:
    """ABBA: what drifts steadily hits both sides alike after every second pair."""
    return pair % 2 == 0


def cpu_ratios(pairs: Sequence[Pair]) -> list[float]:
    return [pair.ours.cpu_micros / pair.other.cpu_micros for pair in pairs if pair.usable]


def memory_ratios(pairs: Sequence[Pair]) -> list[float]:
    return [pair.ours.peak_kib / pair.other.peak_kib for pair in pairs if pair.usable]


def verdict(values: Sequence[float], goal: float) -> Verdict:
    """Is the median at most the goal?"""
    if not values:
        return Verdict.NOT_MEASURED
    return Verdict.MET if summary(values).median <= goal else Verdict.MISSED


def exit_code(verdicts: Sequence[Verdict]) -> int:
    """0 all met, 1 one was missed, 3 one could not be measured."""
    if Verdict.MISSED in verdicts:
        return 1
    return 3 if Verdict.NOT_MEASURED in verdicts else 0


def busy_share(before: str, after: str, cpu: int) -> float:
    """Of one CPU between two readings of /proc/stat, 0 to 1."""
    first, last = _ticks(before, cpu), _ticks(after, cpu)
    idle = sum(last[3:5]) - sum(first[3:5])  # idle and iowait
    total = sum(last) - sum(first)
    return 1 - idle / total if total > 0 else 0.0


def _ticks(stat: str, cpu: int) -> list[int]:
    """user, nice, system, idle, iowait, irq, softirq, steal; the guests are in user already."""
    for line in stat.splitlines():
        name, *fields = line.split()
        if name == f"cpu{cpu}":
            return [int(field) for field in fields[:8]]
    raise ValueError(f"/proc/stat has no line for CPU {cpu}")
