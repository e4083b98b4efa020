"""Runs the harness as benchmark.sh does, with a small analysis and limits that tests can shorten.

`bench_driver.py ROOT ARGUMENT...`: ROOT is a checkout made by `make_checkout`.
"""

import json
import os
import resource
import sys
from dataclasses import replace
from pathlib import Path

from harness import reference_work
from harness.cli import main
from harness.places import Places
from harness.reporting import Analysis, Flags, Metrics
from harness.trial import Bench


def read_trial(trial: Path) -> tuple[Metrics, Flags]:
    if os.environ.get("FAKE_ANALYSIS") == "broken":
        raise KeyError("no such column")
    if os.environ.get("FAKE_DISK") == "full":
        # From now on no file can be written, which the kernel refuses as it does on a full disk.
        resource.setrlimit(resource.RLIMIT_FSIZE, (1, 1))
    window = json.loads((trial / "load.json").read_text(encoding="utf-8"))["window"]
    return {"requests_ok": window["ok"], "latency_millis_p50": None}, ("seen-by-analysis",)


def render_run(run: Path, keep_raw: bool) -> list[str]:
    if os.environ.get("FAKE_RENDER") == "broken":
        raise RuntimeError("no ink")
    (run / "report.txt").write_text((run / "results.csv").read_text(encoding="utf-8"))
    warnings = ["a chart is missing"]
    if os.environ.get("FAKE_RENDER") == "part":
        # The wording of failures is the analysis' own; its import takes long.
        from analysis.render import _guarded

        _guarded("results.png", lambda: {}["x"], None, warnings)
    return warnings


def short_limits(bench: Bench) -> Bench:
    health = float(os.environ.get("FAKE_HEALTH_LIMIT", "20"))
    stop = float(os.environ.get("FAKE_STOP_LIMIT", "20"))
    grace = float(os.environ.get("FAKE_LOAD_GRACE", "20"))
    return replace(
        bench,
        health_limit_seconds=health,
        load_grace_seconds=grace,
        stop_limit_seconds=stop,
    )


def run(root: Path, arguments: list[str]) -> int:
    reference_work.TARGET_SECONDS = 0.002
    analysis = Analysis(("requests_ok", "latency_millis_p50"), read_trial, render_run)
    return main(arguments, Places(root), lambda: analysis, short_limits)


if __name__ == "__main__":
    sys.exit(run(Path(sys.argv[1]), sys.argv[2:]))
