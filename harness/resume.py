"""Continuing an interrupted run: the same plan again, or a clear refusal."""

import json
from dataclasses import replace
from pathlib import Path
from typing import cast

from harness.errors import UsageError
from harness.manifest import Identity, Manifest, scenario_rows
from harness.options import Options
from harness.run_plan import RunPlan


def options_of(manifest: Manifest, options: Options) -> Options:
    """The options that planned the run; -C, --strict and --port may be given anew."""
    document = manifest.document
    try:
        overrides = cast(dict[str, int | None], document["overrides"])
        return replace(
            options,
            scenario_file=cast(str, document["scenarioFile"]),
            approaches=tuple(cast(list[str], document["approaches"])),
            pattern=cast(str | None, document["pattern"]),
            rounds=cast(dict[str, int], document["rounds"])["planned"],
            warmup_seconds=overrides["warmupSeconds"],
            test_seconds=overrides["testSeconds"],
            keep_raw=options.keep_raw or bool(document["keepRaw"]),
            seed=cast(int, document["seed"]),
        )
    except (KeyError, TypeError) as error:
        raise UsageError(f"{manifest.path}: lacks {error}") from None


def check_same(manifest: Manifest, plan: RunPlan, identity: Identity) -> None:
    """Raises UsageError naming what differs: trials of two programs make no one result."""
    document = manifest.document
    binaries = cast(dict[str, dict[str, object]], document.get("binaries") or {})
    pairs = {
        "the commit": (document.get("commit"), identity.commit.commit),
        "uncommitted changes": (document.get("dirtyDiffSha256"), identity.commit.dirty_diff),
        "heddle-service": (binaries.get("service", {}).get("sha256"), identity.service_digest),
        "heddle-load": (binaries.get("load", {}).get("sha256"), identity.load_digest),
    }
    for name, (before, now) in pairs.items():
        if before != now:
            raise UsageError(
                f"cannot resume {_folder(manifest)}: {name} differs from when the run began "
                f"({before or 'none'}, now {now or 'none'}); start a new run"
            )
    # Compared as JSON, as which the earlier ones were kept.
    rows = json.loads(json.dumps(scenario_rows(plan)))
    if document.get("scenarios") != rows:
        raise UsageError(
            f"cannot resume {_folder(manifest)}: the rows of {plan.scenario_file} differ from "
            "when the run began; start a new run"
        )


def _folder(manifest: Manifest) -> Path:
    return manifest.path.parent
