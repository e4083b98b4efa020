"""What the user sees while a run goes on: plain lines, and on a terminal a line with time left."""

import shutil
import sys
import threading
import time
from collections.abc import Sequence
from typing import TextIO

from harness.effective import Prepared
from harness.run_plan import RunPlan
from harness.schedule import OVERHEAD_SECONDS, Slot, clock_text, remaining_seconds


class Progress:
    """Counts finished trials and learns their overhead. Output is one line per trial."""

    def __init__(self, plan: RunPlan, left: Sequence[Slot], out: TextIO | None = None) -> None:
        self._plan = plan
        self._left = list(left)
        self._number = len(plan.slots) - len(self._left)
        self._out = out or sys.stdout
        self._terminal = self._out.isatty()
        self._overheads: list[float] = []
        self._ticking = threading.Event()
        self._ticker: threading.Thread | None = None

    def say(self, text: str) -> None:
        self._out.write(text + "\n")
        self._out.flush()

    def overhead(self) -> float:
        known = self._overheads
        return sum(known) / len(known) if known else OVERHEAD_SECONDS

    def seconds_left(self) -> float:
        loads = [self._plan.load(slot) for slot in self._plan.runnable(self._left)]
        return remaining_seconds(loads, self.overhead())

    def begin(self, slot: Slot) -> None:
        """The trial of `slot` starts now."""
        self._number += 1
        if self._terminal:
            self._ticking.clear()
            arguments = (self._label(slot), self._plan.load(slot), self.seconds_left())
            self._ticker = threading.Thread(target=self._tick, args=arguments, daemon=True)
            self._ticker.start()

    def end(self, slot: Slot, outcome: str, seconds: float | None) -> None:
        """`seconds` None: the trial was skipped."""
        self.pause()
        self._left.remove(slot)
        if seconds is not None:
            self._overheads.append(max(0.0, seconds - self._plan.load(slot).load_seconds))
        left = clock_text(self.seconds_left())
        self.say(f"{self._label(slot)}: {outcome}; {left} left")

    def pause(self) -> None:
        """Clears the live line."""
        if self._ticker is not None:
            self._ticking.set()
            self._ticker.join()
            self._ticker = None

    def _label(self, slot: Slot) -> str:
        total = len(self._plan.slots)
        return f"[{self._number:{len(str(total))}}/{total}] round {slot.round} " \
               f"{slot.scenario} {slot.approach}"

    def _tick(self, label: str, load: Prepared, left: float) -> None:
        started = time.monotonic()
        expected = clock_text(load.load_seconds + self.overhead())
        while True:
            spent = time.monotonic() - started
            line = f"{label}: {clock_text(spent)} of {expected}, {clock_text(left - spent)} left"
            # A line that wraps could not be written over.
            room = max(20, shutil.get_terminal_size().columns - 1)
            self._out.write(f"\r{line[:room]}\x1b[K")
            self._out.flush()
            if self._ticking.wait(1.0):
                break
        self._out.write("\r\x1b[K")
        self._out.flush()


def describe_checks(checks: object) -> list[str]:
    """One line that names the checks of the manifest which warn; none when all are well."""
    entries = checks if isinstance(checks, list) else []
    names = [str(entry["name"]) for entry in entries if entry["status"] in ("warning", "failed")]
    return [f"host differs from what is wanted (recorded): {', '.join(names)}"] if names else []


def describe_plan(plan: RunPlan) -> list[str]:
    """The lines that --dry-run prints and every run begins with."""
    runnable = plan.runnable()
    seconds = remaining_seconds([plan.load(slot) for slot in runnable])
    lines = [
        f"{plan.scenario_file}: {len(plan.scenarios)} scenarios x {len(plan.approaches)} "
        f"approaches x {plan.rounds} rounds, seed {plan.seed}",
        f"approaches: {', '.join(plan.approaches)}",
    ]
    for scenario in plan.scenarios:
        load = plan.prepared[scenario.name]
        text = f"  {scenario.name}: {load.profile.name}, {scenario.connections} connections"
        if scenario.requests_per_second is not None:
            text += f", {scenario.requests_per_second}/s"
        text += f", warm-up {load.warmup.seconds} s"
        text += f" ({load.warmup.note})" if load.warmup.note else ""
        lines.append(f"{text}, test {load.scenario.test_seconds} s")
    lines += describe_fits(plan)
    lines.append(f"{len(runnable)} trials, about {clock_text(seconds)}")
    return lines


def describe_fits(plan: RunPlan) -> list[str]:
    """One line for each reason that skips or warns, with the approaches it concerns."""
    found: dict[tuple[str, str, str], list[str]] = {}
    for (scenario, approach), fit in plan.fits.items():
        if fit.skip is not None:
            found.setdefault((scenario, "skipped", fit.skip), []).append(approach)
        elif fit.warning is not None:
            found.setdefault((scenario, "warning", fit.warning), []).append(approach)
    return [
        f"  {kind}: {scenario} ({', '.join(approaches)}): {reason}"
        for (scenario, kind, reason), approaches in found.items()
    ]
