"""What a trial leaves behind: trial.json, and what load.json says about its validity."""

import csv
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from harness.cpu_reading import CpuReading
from harness.cpus import CpuSets
from harness.effective import Prepared
from harness.errors import TrialFailed
from harness.files import write_json
from harness.modes import ModeCheck
from harness.reference_work import Reference
from harness.schedule import Slot

Status = Literal["ok", "failed", "invalid", "skipped"]
TRIAL_SCHEMA = 1


@dataclass
class TrialRecord:
    """Filled in while the trial runs; None means not reached or not measured."""

    run: str
    slot: Slot
    prepared: Prepared
    cpus: CpuSets
    started_utc: str
    service_command: list[str] = field(default_factory=list)
    status: Status = "failed"
    reason: str | None = None
    flags: list[str] = field(default_factory=list)
    window_start: int | None = None
    window_end: int | None = None
    at_start: CpuReading | None = None
    at_end: CpuReading | None = None
    reference: Reference | None = None
    mode: ModeCheck = ModeCheck(None, None)
    ended_utc: str | None = None

    def as_json(self) -> dict[str, object]:
        warmup = self.prepared.warmup
        reference = self.reference
        return {
            "schema": TRIAL_SCHEMA,
            "run": self.run,
            "round": self.slot.round,
            "position": self.slot.position,
            "scenario": self.slot.scenario,
            "approach": self.slot.approach,
            "status": self.status,
            "reason": self.reason,
            "flags": self.flags,
            "row": self.prepared.columns(),
            "cpus": {
                "service": list(self.cpus.service),
                "loadgen": list(self.cpus.loadgen),
                "hostCpus": self.cpus.host,
            },
            "window": {
                "startMonotonicNanos": self.window_start,
                "endMonotonicNanos": self.window_end,
            },
            "serviceThreads": {
                "atStart": self.at_start.as_json() if self.at_start else None,
                "atEnd": self.at_end.as_json() if self.at_end else None,
            },
            "reference": {
                "millis": reference.millis if reference else None,
                "iterations": reference.iterations if reference else None,
                "otherCpus": reference.other_cpus if reference else None,
            },
            "modeOn": self.mode.on,
            "modeReason": self.mode.reason,
            "serviceCommand": self.service_command,
            "startedUtc": self.started_utc,
            "endedUtc": self.ended_utc,
            "warmup": {"durationSeconds": warmup.seconds, "note": warmup.note},
        }

    def write(self, folder: Path) -> None:
        write_json(folder / "trial.json", self.as_json())


def read_load_result(path: Path) -> dict[str, object]:
    """load.json. Raises TrialFailed when absent, broken, or not of a completed load."""
    try:
        load = json.loads(path.read_text(encoding="utf-8"))
    except OSError:
        raise TrialFailed("heddle-load left no load.json") from None
    except ValueError as error:
        raise TrialFailed(f"load.json is broken: {error}") from None
    if not isinstance(load, dict):
        raise TrialFailed("load.json is no JSON object")
    if load.get("status") != "complete":
        raise TrialFailed(f"load {load.get('status')}: {load.get('reason') or 'no reason given'}")
    return load


def generator_fault(load: Mapping[str, object]) -> str | None:
    """Why the generator itself spoilt the trial, None when it kept up."""
    generator = load.get("generator")
    if not isinstance(generator, dict):
        return "load.json has no generator verdict"
    if generator.get("verdict") == "ok":
        return None
    return f"load generator {generator.get('verdict')}: {generator.get('reason') or 'no reason'}"


def accounting_fault(load: Mapping[str, object]) -> str | None:
    """Whether every planned request of the load window is accounted for (docs/methodology.md)."""
    window = load.get("window")
    if not isinstance(window, dict):
        return "load.json has no window"
    try:
        planned, sent = window["planned"], window["sent"]
        left = window["shed"] + window["unsent"]
        ended = window["ok"] + window["timeouts"] + window["inFlight"]
        ended += sum(window["httpErrors"].values()) + sum(window["transportErrors"].values())
    except (KeyError, TypeError, AttributeError) as error:
        return f"load.json's window lacks a count: {error}"
    if planned != sent + left:
        return f"planned {planned} is not sent {sent} + shed and unsent {left}"
    if sent != ended:
        return f"sent {sent} is not the sum of its outcomes {ended}"
    return None


def accepted_connections(path: Path) -> int | None:
    """connections_accepted of the last row of service.csv that has it; None when there is none."""
    try:
        with path.open(encoding="utf-8", newline="") as file:
            cells = [row.get("connections_accepted") or "" for row in csv.DictReader(file)]
    except (OSError, ValueError, csv.Error):
        return None
    return next((int(cell) for cell in reversed(cells) if cell.isdigit()), None)


def left_unaccepted(load: Mapping[str, object], accepted: int | None, own: int) -> bool:
    """Whether connections that the generator opened were never accepted.

    The kernel completes handshakes by itself, so for the generator such a connection is open. `own`
    are accepted connections of the harness. Self-calls are in `accepted`, too: with call depth
    this finds less.
    """
    connections = load.get("connections")
    if not isinstance(connections, dict) or accepted is None:
        return False
    counts = [connections.get(name) for name in ("opened", "reopened")]
    return accepted - own < sum(count for count in counts if isinstance(count, int))
