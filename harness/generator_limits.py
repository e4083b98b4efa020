"""What the load generator can do on this host, measured once before the trials of a run.

heddle-load drives a server of its own that does nothing but answer: its ceiling, its lateness, and
whether a stall of known size shows in the latency. The file stays with the run, and every trial
says when its rate comes near the ceiling.
"""

import json
import time
from collections.abc import Mapping
from pathlib import Path

from harness.errors import Interrupted, TrialFailed
from harness.host_facts import Check
from harness.processes import Child
from harness.trial import Bench

FILE_NAME = "generator-calibration.json"
CHECK_NAME = "generator-calibration"
# The short form takes under 10 s where nothing is in the way.
LIMIT_SECONDS = 60.0
POLL_SECONDS = 0.1


def measure_limits(bench: Bench, folder: Path) -> Check:
    """Writes `folder`/FILE_NAME. What goes wrong is a warning: the trials can do without.

    Blocks for about 10 s. Raises Interrupted, with nothing left running, when `bench.stop` is set.
    """
    file = folder / FILE_NAME
    try:
        failed = _run(bench, file, folder / "generator-calibration.log")
        return _check(json.loads(file.read_text(encoding="utf-8")), failed)
    except (TrialFailed, OSError, ValueError, KeyError, TypeError) as error:
        return Check(CHECK_NAME, "warning", f"the load generator was not calibrated: {error}")


def _run(bench: Bench, file: Path, log: Path) -> bool:
    """Whether the check with a stall failed. Raises TrialFailed when nothing was measured."""
    threads = ",".join(map(str, bench.cpus.loadgen))
    child = Child(
        "heddle-load --calibrate",
        [str(bench.load_binary), "--calibrate", "--quick", "--cpus", threads,
         "--threads", str(len(bench.cpus.loadgen)), "--calibration", str(file)],
        log,
        # Its own server takes the service's place.
        sorted({*bench.cpus.loadgen, *bench.cpus.service}),
    )
    try:
        deadline = time.monotonic() + LIMIT_SECONDS
        while not child.wait(POLL_SECONDS):
            if bench.stop.is_set():
                raise Interrupted("interrupted")
            if time.monotonic() > deadline:
                raise TrialFailed(f"it did not end in {LIMIT_SECONDS:g} s")
    finally:
        child.kill()
    if child.process.returncode not in (0, 1) or not file.is_file():
        raise TrialFailed(child.end_text())
    return child.process.returncode == 1


def _check(calibration: Mapping[str, object], failed: bool) -> Check:
    points = calibration["ceiling"]
    if not isinstance(points, list):
        raise ValueError("its file has no list 'ceiling'")
    ceilings = ", ".join(
        f"{point['perSecondPerThread']['median']:.0f}/s with {point['connectionsPerThread']}"
        for point in points
    )
    detail = f"the load generator reaches, per thread and connections of it: {ceilings}"
    if failed:
        return Check(CHECK_NAME, "warning", f"{detail}; its check with a stalled server failed")
    return Check(CHECK_NAME, "ok", detail)
