#!/usr/bin/python3 -IS
"""Obeys the command line of heddle-load, without sending anything.

A stage takes its planned time divided by FAKE_LOAD_SPEED (40). FAKE_LOAD_<MODEL> or FAKE_LOAD holds
a fault: hang, late, fail, unbalanced, no-window, crash. FAKE_CALIBRATION: fail, stall, hang.
"""

import argparse
import json
import os
import signal
import sys
import time
from pathlib import Path

SPEED = float(os.environ.get("FAKE_LOAD_SPEED", "40"))


class Stopped(Exception):
    pass


def tell(event: str, **values: object) -> None:
    print(json.dumps({"event": event, "monotonicNanos": time.monotonic_ns(), **values}), flush=True)


def run_stages(stages: list[dict[str, object]]) -> None:
    for index, stage in enumerate(stages):
        about = {"name": stage["name"], "kind": stage["kind"], "index": index}
        tell("stage-started", **about)
        print("progress is no error", file=sys.stderr, flush=True)
        time.sleep(float(stage["durationMillis"]) / 1000 / SPEED)  # type: ignore[arg-type]
        tell("stage-ended", **about)


def write_result(out: Path, status: str, fault: str) -> None:
    window = {"planned": 100, "sent": 100, "shed": 0, "unsent": 0, "ok": 97 if fault != "unbalanced"
              else 96, "httpErrors": {"5xx": 1}, "transportErrors": {"reset": 1}, "timeouts": 1,
              "inFlight": 0}
    load = {"schema": 1, "status": status, "reason": None if status == "complete" else "told to",
            "generator": {"verdict": "late" if fault == "late" else "ok",
                          "reason": "p99 lag 9 ms" if fault == "late" else None},
            "connections": {"opened": 10, "reopened": 1}, "stages": [], "window": window}
    (out / "load.json").write_text(json.dumps(load), encoding="utf-8")


def calibrate(file: Path, fault: str) -> int:
    if fault == "hang":
        time.sleep(60)
    if fault == "fail":
        print("heddle-load: a run failed: nothing could connect", file=sys.stderr)
        return 3
    spread = {"median": 80_000.4, "min": 70_000, "max": 90_000}
    file.write_text(json.dumps({"schema": 1, "ceiling": [
        {"connectionsPerThread": 64, "perSecondPerThread": spread}]}), encoding="utf-8")
    return 1 if fault == "stall" else 0


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--plan", type=Path)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--events")
    parser.add_argument("--version", action="store_true")
    parser.add_argument("--calibrate", action="store_true")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--cpus")
    parser.add_argument("--threads")
    parser.add_argument("--calibration", type=Path)
    options = parser.parse_args()
    if options.calibrate:
        return calibrate(options.calibration, os.environ.get("FAKE_CALIBRATION", ""))
    if options.version:
        print("heddle-load fake")
        return 0
    plan = json.loads(options.plan.read_text(encoding="utf-8"))
    (options.out / "arguments.json").write_text(
        json.dumps({"calibration": str(options.calibration)}), encoding="utf-8")
    approach = plan["name"].partition("/")[2]
    model = approach.partition("-")[0].upper()
    fault = os.environ.get(f"FAKE_LOAD_{model}", os.environ.get("FAKE_LOAD", ""))

    def stop(*_: object) -> None:
        raise Stopped

    signal.signal(signal.SIGINT, signal.SIG_IGN if fault == "hang" else stop)
    tell("started", epochMillis=time.time_ns() // 1_000_000)
    tell("connected", opened=plan["connections"], refused=0, allOpenMillis=1.0)
    if fault == "hang":
        while True:
            time.sleep(60)
    if fault == "crash":
        os.abort()
    if fault == "fail":
        write_result(options.out, "failed", fault)
        tell("done", status="failed", reason="nothing could connect")
        return 1
    try:
        run_stages([] if fault == "no-window" else plan["stages"])
    except Stopped:
        write_result(options.out, "interrupted", fault)
        tell("done", status="interrupted", reason="signal")
        return 130
    write_result(options.out, "complete", fault)
    tell("done", status="complete", reason=None)
    return 0


if __name__ == "__main__":
    sys.exit(main())
