"""A simulated result folder with known truth, in the formats the harness and generator write."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from analysis.atomic import csv_text
from analysis.registry import METRICS
from analysis.trial import trial_summary
from tests.analysis.hdr_writer import encode

NANOS = 1_000_000_000
EPOCH_MILLIS, MONOTONIC = 1_800_000_000_000, 5_000_000_000_000
APPROACHES = ("threadpool-restinio", "fibers-restinio", "reactor-restinio",
              "coroutines-restinio")


@dataclass(frozen=True)
class Shape:
    """A scenario: `rate` for a fixed rate, else `users` that ramp up and down."""

    name: str
    rate: float | None = None
    users: int = 0
    seconds: int = 10
    delay_millis: float = 100.0


@dataclass(frozen=True)
class Truth:
    """What is true of an approach: cost per request, extra latency, errors a second."""

    cpu_micros: float = 40.0
    jitter_millis: float = 1.0
    errors_per_second: int = 0
    rss_mib: float = 50.0
    threads: int = 5
    lead_micros: float = 0.0


def offered_in(shape: Shape, second: int) -> int:
    if shape.rate is not None:
        return int(shape.rate)
    up = 0.8 * shape.seconds
    users = shape.users * (second + 0.5) / up if second + 0.5 < up else (
        shape.users * (shape.seconds - second - 0.5) / (0.2 * shape.seconds))
    return max(1, int(users / 2.1))


def _counts(values: np.ndarray) -> dict[int, int]:
    distinct, counts = np.unique(values, return_counts=True)
    return {int(v): int(c) for v, c in zip(distinct, counts)}


def _percentiles(values: np.ndarray) -> dict[str, float | int | None]:
    millis = np.sort(values) / 1000
    found: dict[str, float | int | None] = {
        "min": float(millis[0]), "max": float(millis[-1]), "mean": float(millis.mean()),
        "count": len(millis)}
    for key, share in (("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("p999", 0.999)):
        enough = len(millis) * (1 - share) >= 100
        found[key] = float(np.quantile(millis, share)) if enough else None
    return found


def write_trial(folder: Path, shape: Shape, approach: str, truth: Truth, round_: int,
                position: int, random: np.random.Generator) -> None:
    """The files of one complete trial."""
    folder.mkdir(parents=True)
    host_factor = 1 + 0.02 * random.standard_normal()  # a round's luck
    seconds_rows, log, everything = [], [], []
    done = []
    for second in range(shape.seconds):
        offered = offered_in(shape, second)
        failed = min(truth.errors_per_second, offered)
        ok = offered - failed
        extra = random.gamma(1.2, truth.jitter_millis * host_factor, ok)
        micros = (shape.delay_millis * 1000 + 80 + extra * 1000).astype(np.int64)
        everything.append(micros)
        stamp = MONOTONIC + (second + 1) * NANOS
        seconds_rows.append([EPOCH_MILLIS + (second + 1) * 1000, stamp, "load", "get", offered,
                             offered, ok, 0, failed, 0, int(ok * shape.delay_millis / 1000),
                             offered * 120, ok * 1800, 90])
        if ok:
            log.append(f"Tag=latency:get,{(EPOCH_MILLIS / 1000 + second):.3f},1.000,"
                       f"{micros.max() / 1000:.3f},{encode(_counts(micros))}")
        done.append(ok)
    _write_load(folder, shape, np.concatenate(everything), done, truth, seconds_rows, log)
    _write_system(folder, shape, truth, done, random, host_factor)
    _write_service(folder, shape, done)
    _write_trial_json(folder, shape, approach, truth, round_, position, sum(done), host_factor)


def _write_load(folder: Path, shape: Shape, micros: np.ndarray, done: Sequence[int], truth: Truth,
                rows: list[list[object]], log: list[str]) -> None:
    planned = sum(offered_in(shape, s) for s in range(shape.seconds))
    stage = {
        "name": "load", "kind": "measure", "durationMillis": shape.seconds * 1000,
        "planned": planned, "sent": planned, "shed": 0, "unsent": 0, "ok": sum(done),
        "httpErrors": {}, "transportErrors": {"reset": planned - sum(done)}, "timeouts": 0,
        "inFlight": 0, "startMonotonicNanos": MONOTONIC,
        "endMonotonicNanos": MONOTONIC + shape.seconds * NANOS,
        "latencyMillis": _percentiles(micros), "serviceMillis": _percentiles(micros)}
    warmup = {"name": "warmup", "kind": "warmup", "ok": 7}
    (folder / "load.json").write_text(json.dumps({
        "schema": 1, "status": "complete",
        "anchor": {"epochMillis": EPOCH_MILLIS, "monotonicNanos": MONOTONIC},
        "generator": {"verdict": "ok", "reason": None,
                      "lagMicros": {"p50": 20, "p99": 90 + truth.lead_micros, "max": 900}},
        "connections": {"asked": 100, "connectMillis": {"p50": 0.2, "p99": 1.5, "max": 3}},
        "stages": [warmup, stage], "window": stage}))
    header = ("epoch_millis,monotonic_nanos,stage,request,offered,sent,ok,http_errors,"
              "transport_errors,timeouts,in_flight,bytes_sent,bytes_received,lag_micros_p99")
    early = [[EPOCH_MILLIS, MONOTONIC, "warmup", "get", 5, 5, 5, 0, 0, 0, 1, 1, 1, 1]]
    (folder / "load-seconds.csv").write_text(csv_text(header.split(","), early + rows))
    (folder / "load.hlog").write_text("\n".join([
        "#[Histogram log format version 1.3]",
        '"StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"',
        *log]) + "\n")


def _write_system(folder: Path, shape: Shape, truth: Truth, done: Sequence[int],
                  random: np.random.Generator, factor: float) -> None:
    names = ("epoch_millis,monotonic_nanos,host_user_micros,host_system_micros,"
             "host_iowait_micros,host_softirq_micros,host_irq_micros,host_steal_micros,"
             "host_idle_micros,service_cpu_user_micros,service_cpu_system_micros,"
             "loadgen_cpu_user_micros,loadgen_cpu_system_micros,mem_total_bytes,"
             "mem_available_bytes,service_rss_bytes,loadgen_rss_bytes,service_threads,"
             "server_sockets,tcp_active_opens,tcp_passive_opens,lo_rx_bytes,lo_tx_bytes,"
             "lo_rx_packets,lo_tx_packets").split(",")
    totals = dict.fromkeys(names, 0.0)
    totals |= {"mem_total_bytes": 8 * 2**30, "service_threads": truth.threads}
    rows = []
    for second in range(-1, shape.seconds + 2):
        ok = done[second - 1] if 0 < second <= shape.seconds else 0
        used = ok * truth.cpu_micros * factor
        busy = {"host_user_micros": used * 0.6 + ok * 8, "host_system_micros": used * 0.4 + ok * 9,
                "host_softirq_micros": ok * 2.0, "host_iowait_micros": 2000 * random.random()}
        for name, value in busy.items():
            totals[name] += value
        totals["host_idle_micros"] += 2e6 - sum(busy.values())
        totals["service_cpu_user_micros"] += used * 0.6
        totals["service_cpu_system_micros"] += used * 0.4
        totals["loadgen_cpu_user_micros"] += ok * 8.0
        totals["loadgen_cpu_system_micros"] += ok * 9.0
        totals["service_rss_bytes"] = (truth.rss_mib + 0.002 * ok) * 2**20
        totals["mem_available_bytes"] = 5 * 2**30 - totals["service_rss_bytes"]
        totals["server_sockets"] = (shape.rate and 100) or ok * 2
        totals["tcp_active_opens"] += max(0, ok // 50)
        totals["tcp_passive_opens"] += max(0, ok // 50)
        for name in ("lo_rx_bytes", "lo_tx_bytes"):
            totals[name] += ok * 2100
        for name in ("lo_rx_packets", "lo_tx_packets"):
            totals[name] += ok * 4
        stamp = MONOTONIC + second * NANOS + 300_000_000
        row = totals | {"epoch_millis": EPOCH_MILLIS + second * 1000, "monotonic_nanos": stamp}
        rows.append([int(row[name]) for name in names])
    (folder / "system.csv").write_text(csv_text(names, rows))


def _write_service(folder: Path, shape: Shape, done: Sequence[int]) -> None:
    names = ("epoch_millis,monotonic_nanos,voluntary_switches,involuntary_switches,minor_faults,"
             "major_faults").split(",")
    rows = []
    for second in range(-1, shape.seconds + 2):
        ok = 1000 + sum(done[:max(0, second)])
        rows.append([EPOCH_MILLIS + second * 1000, MONOTONIC + second * NANOS + 400_000_000,
                     ok, ok // 100, 5000 + ok // 10, 0])
    (folder / "service.csv").write_text(csv_text(names, rows))


def _write_trial_json(folder: Path, shape: Shape, approach: str, truth: Truth, round_: int,
                      position: int, ok: int, factor: float) -> None:
    start = {"cpuNanos": 10**9, "monotonicNanos": MONOTONIC}
    end = {"cpuNanos": 10**9 + int(ok * truth.cpu_micros * factor * 1000),
           "monotonicNanos": MONOTONIC + shape.seconds * NANOS}
    (folder / "trial.json").write_text(json.dumps({
        "schema": 1, "run": "simulated", "round": round_, "position": position,
        "scenario": shape.name, "approach": approach, "status": "ok", "reason": None, "flags": [],
        "row": _row(shape), "cpus": {"service": [0], "loadgen": [1], "hostCpus": 2},
        "window": {"startMonotonicNanos": MONOTONIC,
                   "endMonotonicNanos": MONOTONIC + shape.seconds * NANOS},
        "serviceThreads": {"atStart": start, "atEnd": end}, "modeOn": True, "modeReason": None}))


def _row(shape: Shape) -> dict[str, object]:
    return {"scenario": shape.name, "loadProfile": "get-time", "serviceProfiles": "",
            "delayCallDepth": 0, "delayInMillis": shape.delay_millis, "connections": 100,
            "requestsPerSecond": shape.rate, "warmupDurationInSeconds": 2,
            "testDurationInSeconds": shape.seconds}


def append_result(run: Path, trial: Path, status: str = "ok", reason: str = "") -> None:
    """What the harness does after a trial."""
    source = json.loads((trial / "trial.json").read_text())
    summary = trial_summary(trial)
    header = ["run", "round", "position", "scenario", "approach", "status", "reason", "flags",
              *(metric.name for metric in METRICS)]
    row = ["simulated", source["round"], source["position"], source["scenario"],
           source["approach"], status, reason, "|".join(summary.flags),
           *summary.metrics.values()]
    target = run / "results.csv"
    text = csv_text(header, [row])
    if target.exists():
        text = target.read_text() + text.split("\n", 1)[1]
    target.write_text(text)


def manifest(shapes: Sequence[Shape], approaches: Sequence[str], rounds: int) -> dict[str, object]:
    return {
        "schema": 1, "run": "simulated-20270115T080000Z", "name": "scenarios-simulated",
        "scenarioFile": "scenarios/scenarios-simulated.csv",
        "command": ["./benchmark.sh", "--seed", "7", "scenarios-simulated.csv"],
        "commit": "0123456789abcdef0123456789abcdef01234567", "dirty": False,
        "startedUtc": "2027-01-15T08:00:00Z", "endedUtc": "2027-01-15T08:09:30Z", "seed": 7,
        "rounds": {"planned": rounds, "done": rounds}, "approaches": list(approaches),
        "overrides": {"warmupSeconds": None, "testSeconds": None},
        "scenarios": [{"row": _row(shape), "effective": {}} for shape in shapes],
        "settings": {}, "build": {"compiler": "g++ 12.2.0", "flags": "-O3", "buildType": "release"},
        "versions": {"boost": "1.81.0", "restinio": "0.6.17", "python": "3.11.2"},
        "host": {"cpuModel": "Simulated | CPU", "cpus": 2, "memTotalBytes": 8 * 2**30,
                 "memAvailableBytes": 5 * 2**30, "diskTotalBytes": 100 * 2**30,
                 "diskAvailableBytes": 40 * 2**30, "kernel": "6.1.0", "os": "Debian 12",
                 "governor": None, "cpusets": {"service": [0], "loadgen": [1]},
                 "limits": {"nofileSoft": 20000, "nofileHard": 20000}, "sysctls": {}},
        "checks": [{"name": "load", "status": "ok", "detail": "0.1"},
                   {"name": "governor", "status": "warning", "detail": "not readable"}],
        "skipped": []}


SHAPES = (Shape("1k-fixed-rate", rate=1000.0), Shape("paced-spike", users=900, seconds=15),
          Shape("fixed-no-delay", rate=2000.0, delay_millis=0.0))
TRUTHS = {"threadpool-restinio": Truth(80, 4.0, 0, 300, 5005),
          "fibers-restinio": Truth(42, 1.0, 0, 90), "reactor-restinio": Truth(36, 0.9, 0, 50),
          "coroutines-restinio": Truth(36.5, 0.9, 0, 52)}


def build_run(folder: Path, shapes: Sequence[Shape] = SHAPES, rounds: int = 3, seed: int = 7,
              truths: dict[str, Truth] | None = None) -> Path:
    """A complete run in `folder`; the order inside a round is random."""
    random = np.random.default_rng(seed)
    known = truths or TRUTHS
    folder.mkdir(parents=True, exist_ok=True)
    for round_ in range(1, rounds + 1):
        for shape in shapes:
            for position, index in enumerate(random.permutation(len(known)), start=1):
                approach = list(known)[index]
                trial = folder / "trials" / f"r{round_:02d}-{shape.name}-{approach}"
                write_trial(trial, shape, approach, known[approach], round_, position, random)
                append_result(folder, trial)
    (folder / "manifest.json").write_text(json.dumps(manifest(shapes, list(known), rounds)))
    return folder


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))
