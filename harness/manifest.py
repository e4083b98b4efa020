"""manifest.json: what was planned, on what, with what; written at the start and kept up to date."""

import json
import shlex
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.build_facts import Commit, file_digest, read_build, read_commit, read_versions
from harness.cpus import CpuSets
from harness.errors import UsageError
from harness.files import utc_text, write_json
from harness.host_facts import Check, collect_host
from harness.options import Options
from harness.places import Places
from harness.run_plan import Binaries, RunPlan
from harness.tuning_check import check_tuning

MANIFEST_SCHEMA = 1
FILE_NAME = "manifest.json"

Json = dict[str, object]


@dataclass(frozen=True)
class Identity:
    """What must be the same when an interrupted run goes on."""

    commit: Commit
    service_digest: str | None
    load_digest: str | None


def read_identity(places: Places, binaries: Binaries, results: Path) -> Identity:
    """`results` is the folder that holds this run's folder and others'."""
    return Identity(
        read_commit(places.root, results),
        file_digest(binaries.service),
        file_digest(binaries.load),
    )


def anchor() -> dict[str, int]:
    """One moment on both clocks."""
    return {"epochMillis": time.time_ns() // 1_000_000, "monotonicNanos": time.monotonic_ns()}


def scenario_rows(plan: RunPlan) -> list[Json]:
    """The rows as in the file, each with its effective values and the warm-up's note."""
    rows: list[Json] = []
    for scenario in plan.scenarios:
        load = plan.prepared[scenario.name]
        rows.append(
            {
                **scenario.columns(),
                "effective": load.columns(),
                "warmup": {"seconds": load.warmup.seconds, "note": load.warmup.note},
            }
        )
    return rows


def skipped_entries(plan: RunPlan) -> list[Json]:
    """One entry per reason and approach; approach null when it holds for all of them."""
    entries: list[Json] = []
    for name in plan.prepared:
        reasons = {approach: plan.fits[name, approach].skip for approach in plan.approaches}
        if len(set(reasons.values())) == 1 and None not in reasons.values():
            entries.append(
                {"scenario": name, "approach": None, "reason": reasons[plan.approaches[0]]}
            )
            continue
        entries += [
            {"scenario": name, "approach": approach, "reason": reason}
            for approach, reason in reasons.items()
            if reason is not None
        ]
    return entries


class Manifest:
    """The document and its file. `update` writes it atomically."""

    def __init__(self, folder: Path, document: Json) -> None:
        self.path = folder / FILE_NAME
        self.document = document

    def update(self, **changes: object) -> None:
        self.document.update(changes)
        write_json(self.path, self.document)

    def set_check(self, check: Check) -> None:
        """Puts the check in the place of the one with its name, or at the end."""
        known = self.document["checks"]
        assert isinstance(known, list)
        others = [entry for entry in known if entry["name"] != check.name]
        self.update(checks=[*others, check.as_json()])

    def nothing_left(self) -> bool:
        """Whether all trials are done and the whole report is written."""
        return self.document.get("status") == "complete" and self.document.get("reported") is True

    def has_warnings(self) -> bool:
        checks = self.document["checks"]
        assert isinstance(checks, list)
        return any(check.get("status") in ("warning", "failed") for check in checks)


def new_manifest(
    folder: Path,
    plan: RunPlan,
    options: Options,
    arguments: Sequence[str],
    identity: Identity,
    places: Places,
    binaries: Binaries,
    cpus: CpuSets,
    nofile: tuple[int, int],
    reference: Json,
) -> Manifest:
    """Collects everything that is known before the first trial and writes it."""
    host, checks = collect_host(folder, cpus, nofile)
    checks += check_tuning(places.tuning_script)
    bare = "/" not in plan.scenario_file
    document: Json = {
        "schema": MANIFEST_SCHEMA,
        "run": folder.name,
        "name": plan.name,
        "status": "running",
        "reported": False,
        "scenarioFile": plan.scenario_file if bare else str(Path(plan.scenario_file).resolve()),
        "command": shlex.join(["./benchmark.sh", *arguments]),
        "commit": identity.commit.commit,
        "dirty": identity.commit.dirty,
        "dirtyDiffSha256": identity.commit.dirty_diff,
        "startedUtc": utc_text(),
        "endedUtc": None,
        "anchor": anchor(),
        "resumed": [],
        "seed": plan.seed,
        "rounds": {"planned": plan.rounds, "done": 0},
        "approaches": list(plan.approaches),
        "pattern": options.pattern,
        "overrides": {
            "warmupSeconds": options.warmup_seconds,
            "testSeconds": options.test_seconds,
        },
        "keepRaw": options.keep_raw,
        "port": options.port,
        "scenarios": scenario_rows(plan),
        "skipped": skipped_entries(plan),
        "settings": plan.settings,
        "binaries": {
            "service": {"sha256": identity.service_digest},
            "load": {"sha256": identity.load_digest},
        },
        "build": read_build(binaries.service),
        "versions": read_versions(binaries.service, binaries.load),
        "reference": reference,
        "host": host,
        "checks": [check.as_json() for check in checks],
    }
    manifest = Manifest(folder, document)
    manifest.update()
    return manifest


def read_manifest(folder: Path) -> Manifest:
    """The manifest of an earlier run. Raises UsageError when there is none that fits."""
    path = folder / FILE_NAME
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}; --resume wants a result folder") from None
    except ValueError as error:
        raise UsageError(f"{path}: not JSON: {error}") from None
    if not isinstance(document, dict) or document.get("schema") != MANIFEST_SCHEMA:
        raise UsageError(f"{path}: its schema is not {MANIFEST_SCHEMA}")
    return Manifest(folder, document)
