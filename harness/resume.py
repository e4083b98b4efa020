"""Continuing an interrupted run: the same plan again, or a clear refusal."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import cast

from harness.errors import UsageError
from harness.manifest import Identity, Manifest, scenario_rows
from harness.options import Options
from harness.run_plan import RunPlan
from harness.scenario_file import MAX_ROUNDS, MAX_SECONDS

MAX_WHOLE = 2**53 - 1  # what every reader of JSON can hold, and the option --seed takes


def options_of(manifest: Manifest, options: Options) -> Options:
    """The options that planned the run; -C, --strict and --port may be given anew.

    Raises UsageError naming the key of the manifest whose value is missing or impossible.
    """
    value = _Values(manifest)
    value.whole("reference.iterations", 1, MAX_WHOLE)
    value.checked("reference.baselineMillis", _is_times, "a list of times")
    value.checked("checks", _is_objects, "a list of objects")
    return replace(
        options,
        scenario_file=cast(str, value.checked("scenarioFile", _is_text, "a name")),
        approaches=tuple(cast(list[str], value.checked("approaches", _is_names, "names"))),
        pattern=cast(str | None, value.checked("pattern", _is_text_or_null, "a text or null")),
        rounds=value.whole("rounds.planned", 1, MAX_ROUNDS),
        warmup_seconds=value.whole_or_null("overrides.warmupSeconds", 0, MAX_SECONDS),
        test_seconds=value.whole_or_null("overrides.testSeconds", 1, MAX_SECONDS),
        keep_raw=bool(value.checked("keepRaw", _is_bool, "true or false")) or options.keep_raw,
        seed=value.whole("seed", 0, MAX_WHOLE),
    )


class _Values:
    """Values of a manifest by their path of keys joined by dots, each checked."""

    def __init__(self, manifest: Manifest) -> None:
        self._manifest = manifest

    def checked(self, path: str, fits: Callable[[object], bool], accepted: str) -> object:
        value: object = self._manifest.document
        for key in path.split("."):
            if not isinstance(value, dict) or key not in value:
                raise UsageError(f"{self._manifest.path}: lacks {path}")
            value = value[key]
        if not fits(value):
            found = json.dumps(value)[:100]
            raise UsageError(f"{self._manifest.path}: {path}: found {found}, accepted: {accepted}")
        return value

    def whole(self, path: str, lowest: int, highest: int) -> int:
        def fits(value: object) -> bool:
            return type(value) is int and lowest <= value <= highest  # True is an int, too

        accepted = f"a whole number from {lowest} to {highest}"
        return cast(int, self.checked(path, fits, accepted))

    def whole_or_null(self, path: str, lowest: int, highest: int) -> int | None:
        if self.checked(path, lambda value: True, "") is None:
            return None
        return self.whole(path, lowest, highest)


def _is_bool(value: object) -> bool:
    return isinstance(value, bool)


def _is_text(value: object) -> bool:
    return isinstance(value, str) and value != ""


def _is_text_or_null(value: object) -> bool:
    return value is None or isinstance(value, str)


def _is_names(value: object) -> bool:
    return isinstance(value, list) and value != [] and all(map(_is_text, value))


def _is_objects(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(entry, dict) for entry in value)


def _is_times(value: object) -> bool:
    return isinstance(value, list) and all(type(x) in (int, float) and x > 0 for x in value)


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
