"""Time left, the live line of a terminal, and what is said about plan and host."""

import io

from harness.budgets import Fit, Need
from harness.progress import Progress, describe_checks, describe_fits
from harness.run_plan import RunPlan
from harness.schedule import plan_rounds
from tests.harness.prepared_loads import prepared

NEED = Need(0, 0, 0, 1, 137, 128, 0)


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def plan_of(**fits: Fit) -> RunPlan:
    """One scenario of 1 s of warm-up and 9 s of test; approaches as named."""
    load = prepared(warmup=1, test=9)
    approaches = tuple(fits)
    return RunPlan(
        "f.csv", "f", (load.scenario,), {"s": load}, approaches, 1, 1, {},
        {("s", name): fit for name, fit in fits.items()},
        tuple(plan_rounds(1, 1, ["s"], approaches)),
    )


def test_time_left_counts_runnable_trials_and_learns_their_overhead() -> None:
    plan = plan_of(a=Fit(NEED), b=Fit(NEED), c=Fit(NEED, "too big"))
    out = io.StringIO()
    progress = Progress(plan, list(plan.slots), out)
    assert progress.seconds_left() == 2 * 11.5
    slot = next(slot for slot in plan.slots if slot.approach == "a")
    progress.begin(slot)
    progress.end(slot, "ok", 14.0)
    assert progress.seconds_left() == 14.0
    assert out.getvalue() == "[1/3] round 1 s a: ok; 0:14 left\n"


def test_a_skipped_trial_teaches_nothing() -> None:
    plan = plan_of(a=Fit(NEED), c=Fit(NEED, "too big"))
    progress = Progress(plan, list(plan.slots), io.StringIO())
    slot = next(slot for slot in plan.slots if slot.approach == "c")
    progress.begin(slot)
    progress.end(slot, "skipped: too big", None)
    assert progress.seconds_left() == 11.5


def test_a_resumed_run_goes_on_counting() -> None:
    plan = plan_of(a=Fit(NEED), b=Fit(NEED))
    out = io.StringIO()
    progress = Progress(plan, [plan.slots[1]], out)
    progress.begin(plan.slots[1])
    progress.end(plan.slots[1], "ok", 12.0)
    assert out.getvalue().startswith("[2/2] ")


def test_the_live_line_fits_the_terminal_and_is_cleared() -> None:
    plan = plan_of(**{"a" * 300: Fit(NEED)})
    out = Terminal()
    progress = Progress(plan, list(plan.slots), out)
    progress.begin(plan.slots[0])
    progress.end(plan.slots[0], "ok", 12.0)
    live, cleared, _ = out.getvalue().split("\x1b[K")
    assert live.startswith("\r[1/1] round 1 s aaa") and len(live) < 300
    assert cleared == "\r"


def test_one_line_for_each_reason_names_its_approaches() -> None:
    plan = plan_of(a=Fit(NEED, "too big"), b=Fit(NEED, "too big"), c=Fit(NEED, warning="tight"))
    assert describe_fits(plan) == ["  skipped: s (a, b): too big", "  warning: s (c): tight"]


def test_checks_that_warn_are_named() -> None:
    checks = [{"name": "a", "status": "ok"}, {"name": "b", "status": "warning"},
              {"name": "c", "status": "skipped"}]
    assert describe_checks(checks) == ["host differs from what is wanted (recorded): b"]
    assert describe_checks(checks[:1]) == []
