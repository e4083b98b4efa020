"""Reads what the built load generator writes. HEDDLE_LOAD names the binary; without it (a checkout
that was not built) there is nothing to test here, and no test is collected."""

from __future__ import annotations

import json
import os
import subprocess
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from analysis import hlog, jsonfile
from analysis.hdr import merge
from analysis.load import measure_stages, parse_load, parse_seconds
from analysis.trial import trial_metrics
from analysis.trial_files import latency_intervals

BINARY = os.environ.get("HEDDLE_LOAD", "")
RATE, SECONDS = 100, 3


class Answer(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1  # head and body in one write

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"42")

    def log_message(self, *_: object) -> None:
        """Says nothing."""


def plan(port: int) -> dict[str, object]:
    def stage(name: str, kind: str, seconds: int, rate: int) -> dict[str, object]:
        return {"name": name, "kind": kind, "durationMillis": seconds * 1000,
                "arrivals": {"kind": "constant-rate", "perSecond": rate}}
    return {
        "schema": 1, "name": "real", "seed": 1, "targets": [f"http://127.0.0.1:{port}"],
        "connections": 4, "threads": 1, "cpus": [], "sourceAddresses": "auto", "keepAlive": True,
        "requestsPerConnection": None, "requestTimeoutMillis": 10000,
        "connectTimeoutMillis": 5000, "connect": {"mode": "burst"}, "mix": "per-request",
        "think": {"kind": "none"}, "whenBusy": "queue", "congestionControl": None,
        "stages": [stage("warm", "warmup", 1, 20), stage("main", "measure", SECONDS, RATE)],
        "requests": [{"name": "get", "weight": 1, "method": "GET", "path": "/x", "headers": {},
                      "bodyFile": None, "expect": {"status": 200}}]}


@pytest.fixture(scope="module", name="trial")
def fixture_trial(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("real")
    server = ThreadingHTTPServer(("127.0.0.1", 0), Answer)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    (folder / "plan.json").write_text(json.dumps(plan(server.server_address[1])))
    try:
        subprocess.run([BINARY, "--plan", folder / "plan.json", "--out", folder],
                       check=True, timeout=60, capture_output=True)
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
    yield folder


def check_counts(trial: Path) -> None:
    """Every answered request of the window is in the counts, the seconds and the histograms."""
    source = jsonfile.read_object(trial / "load.json")
    load = parse_load(source)
    assert load.totals is not None and load.totals.window is not None
    assert load.totals.planned == RATE * SECONDS and load.totals.adds_up()
    assert load.totals.ok
    seconds = parse_seconds((trial / "load-seconds.csv").read_text(), measure_stages(source),
                            load.totals.window)
    assert seconds.column("ok")[-1] == load.totals.ok
    log = hlog.read(trial / "load.hlog", "latency:")
    assert log.problems == ()
    merged = merge([item.interval.histogram for item in latency_intervals(log, load)])
    assert merged is not None and merged.total == load.totals.ok


def check_quantiles(trial: Path) -> None:
    """Both sides know the same layout: the median of the log is that of the report."""
    load = parse_load(jsonfile.read_object(trial / "load.json"))
    assert load.totals is not None
    log = hlog.read(trial / "load.hlog", "latency:")
    merged = merge([item.histogram for item in log.intervals])
    assert merged is not None
    for key, fraction in (("p50", 0.5), ("max", 1.0)):
        micros = merged.quantile(fraction)
        assert micros is not None
        assert micros / 1000 == pytest.approx(load.totals.latency.values[key], rel=0.01)


def check_intervals(trial: Path) -> None:
    """On the monotonic clock every interval overlaps the load window or its grace."""
    load = parse_load(jsonfile.read_object(trial / "load.json"))
    assert load.totals is not None and load.totals.window is not None
    log = hlog.read(trial / "load.hlog", "latency:")
    for item in latency_intervals(log, load):
        assert item.monotonic_nanos is not None
        end = item.monotonic_nanos + round(item.interval.length_seconds * 1e9)
        assert end >= load.totals.window.start - 2_000_000


def check_metrics(trial: Path) -> None:
    found = trial_metrics(trial)
    assert found["requests_ok"] and found["requests_error"] == 0
    assert found["requests_per_second_p50"] and found["latency_millis_min"]
    assert found["latency_millis_p999"] is None  # 300 requests: too few for it


if BINARY:
    @pytest.mark.parametrize("check", [check_counts, check_quantiles, check_intervals,
                                       check_metrics])
    def test_of_the_real_generator(trial: Path, check: object) -> None:
        assert callable(check)
        check(trial)
