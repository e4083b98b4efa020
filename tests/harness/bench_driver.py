"""Runs the harness as benchmark.sh does, with the fakes, a small analysis and short limits.

`bench_driver.py ROOT ARGUMENT...`: ROOT is a checkout made by `make_checkout`.
"""

import json
import os
import sys
from dataclasses import replace
from pathlib import Path

from harness import reference_work
from harness.cli import main
from harness.places import Places
from harness.reporting import Analysis, Metrics
from harness.trial import Bench


def trial_metrics(trial: Path) -> Metrics:
    if os.environ.get("FAKE_ANALYSIS") == "broken":
        raise KeyError("no such column")
    window = json.loads((trial / "load.json").read_text(encoding="utf-8"))["window"]
    return {"requests_ok": window["ok"], "latency_millis_p50": None}


def render_run(run: Path, keep_raw: bool) -> list[str]:
    if os.environ.get("FAKE_RENDER") == "broken":
        raise RuntimeError("no ink")
    (run / "report.txt").write_text((run / "results.csv").read_text(encoding="utf-8"))
    return ["a chart is missing"]


def short_limits(bench: Bench) -> Bench:
    return replace(
        bench, health_limit_seconds=1.0, load_grace_seconds=1.0, stop_limit_seconds=0.3
    )


def run(root: Path, arguments: list[str]) -> int:
    reference_work.TARGET_SECONDS = 0.002
    analysis = Analysis(("requests_ok", "latency_millis_p50"), trial_metrics, render_run)
    return main(arguments, Places(root), lambda: analysis, short_limits)


if __name__ == "__main__":
    sys.exit(run(Path(sys.argv[1]), sys.argv[2:]))
