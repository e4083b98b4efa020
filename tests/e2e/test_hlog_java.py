"""load.hlog read by HdrHistogram's own program, which knows nothing of our reader and writer."""

from __future__ import annotations

import json
import math
import os
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.service_process import running_service

JAR = "/usr/share/java/hdrhistogram.jar"
PRECISION = 1 / 128  # a bucket is at most that part of its value wide
RATE, SECONDS, WARMUP_SECONDS = 1000, 2, 1


@dataclass(frozen=True)
class Step:
    """`up_to` samples lie at or below `micros`."""

    micros: float
    up_to: int


def processor(log: Path, *options: str) -> str:
    command = ["java", "-cp", JAR, "org.HdrHistogram.HistogramLogProcessor", "-i", str(log)]
    done = subprocess.run([*command, *options], capture_output=True, text=True, timeout=60,
                          check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def java_steps(log: Path, tag: str) -> list[Step]:
    """The distribution of all intervals with this tag as one."""
    text = processor(log, "-tag", tag, "-csv", "-outputValueUnitRatio", "1")
    rows = [line.split(",") for line in text.splitlines()]
    first = next(number for number, row in enumerate(rows) if row[0] == '"Value"') + 1
    return [Step(float(row[0]), int(row[2])) for row in rows[first:]]


@pytest.fixture(scope="module", name="run")
def fixture_run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("hlog")
    with running_service("reactor-restinio", "--threads", "1") as service:
        url = f"http://127.0.0.1:{service.port}/reactor-restinio/epoch-millis?delayInMillis=1"
        subprocess.run(
            [os.environ["HEDDLE_LOAD"], "-c", "8", "-r", str(RATE), "-d", f"{SECONDS}s",
             "-w", f"{WARMUP_SECONDS}s", "--out", str(folder), url],
            check=True, timeout=60, capture_output=True)
    yield folder


def window(run: Path) -> dict[str, Any]:
    found = json.loads((run / "load.json").read_text())["window"]
    assert isinstance(found, dict)
    return found


def test_its_reader_finds_every_tag(run: Path) -> None:
    lines = processor(run / "load.hlog", "-listtags").split()
    tags = {line for line in lines if ":" in line and not line.endswith(":")}
    tags.discard("waiting:request")  # only when a request had no answer
    assert tags == {"latency:request", "service:request",
                    "warmup-latency:request", "warmup-service:request"}


@pytest.mark.parametrize("kind", ["latency", "service"])
def test_its_reader_counts_what_the_report_counts(run: Path, kind: str) -> None:
    figures = window(run)[f"{kind}Millis"]
    steps = java_steps(run / "load.hlog", f"{kind}:request")
    assert steps[-1].up_to == figures["count"] == window(run)["ok"] > 0
    warmup = java_steps(run / "load.hlog", f"warmup-{kind}:request")
    assert 0 < warmup[-1].up_to <= RATE * WARMUP_SECONDS


@pytest.mark.parametrize("kind", ["latency", "service"])
@pytest.mark.parametrize(("key", "fraction"), [("p50", 0.5), ("p90", 0.9), ("max", 1.0)])
def test_its_reader_sees_the_percentiles_of_the_report(
    run: Path, kind: str, key: str, fraction: float
) -> None:
    figures = window(run)[f"{kind}Millis"]
    # Those without an answer rank above all answers and are not in the log: ">=N" is a bound only.
    rank = math.ceil(fraction * (figures["count"] + figures["atLeastCount"]))
    steps = java_steps(run / "load.hlog", f"{kind}:request")
    if rank > figures["count"]:
        rank, micros = figures["count"], float(str(figures[key]).removeprefix(">=")) * 1000
        assert steps[-1].micros <= micros * (1 + PRECISION) + 1
        return
    micros = figures[key] * 1000
    below = [step.micros for step in steps if step.up_to < rank]
    above = [step.micros for step in steps if step.up_to >= rank]
    assert max(below, default=0) <= micros * (1 + PRECISION) + 1
    assert min(above) >= micros * (1 - PRECISION) - 1
    # Its steps lie at 0.5, 0.9 and 1: without unanswered requests the value itself is among them.
    if figures["atLeastCount"] == 0:
        assert min(above) == pytest.approx(micros, rel=PRECISION, abs=1)
