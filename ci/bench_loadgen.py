"""Compares heddle-load with wrk and h2load, and with its own goals.

One server on one CPU, one generator at a time on another. Each row is measured in interleaved
pairs whose order alternates (ABBA). CPU per completed request is user + system time of the whole
generator process, from its start to its end (so with connecting), divided by the requests that it
completed; heddle-load has all its outputs on (--out). Only pairs without any error count. Absolute
figures depend on the host and on the server: compare ratios.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import resource
import statistics
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import loadgen_tools as tools
from bench_common import spread
from loadgen_process import Cpus, null_servers, run_generator, service, settle
from loadgen_stats import (
    FULL_CORE,
    Pair,
    Run,
    Verdict,
    cpu_ratios,
    exit_code,
    memory_ratios,
    ours_first,
    summary,
    verdict,
)

# Goals: at most so much.
CPU_GOALS = {
    "wrk-64": ("wrk", 64, 0.92), "wrk-1000": ("wrk", 1_000, 0.90),
    "wrk-10000": ("wrk", 10_000, 0.80),
    "h2load-64": ("h2load", 64, 0.90), "h2load-1000": ("h2load", 1_000, 0.85),
}
PACING, PACING_GOAL_MICROS = "pacing-10000", 50
PACED_CONNECTIONS, PACED_RATE = 10_000, 20_000
MEMORY, MEMORY_GOAL = "memory-10000", 1.0
MANY, MANY_GOAL_MIB = "memory-60000", 100
MANY_CONNECTIONS, MANY_THREADS, MANY_RUNS = 60_000, 4, 3
ROWS = [*CPU_GOALS, PACING, MEMORY, MANY]
NEEDED_PAIRS = 7

FIELDS = ["row", "number", "tool", "connections", "completed", "errors", "user_seconds",
          "system_seconds", "cpu_micros_per_request", "peak_kib", "server_core_percent",
          "lag_micros_p99", "verdict"]


@dataclass(frozen=True)
class Bench:
    load: str
    service: str
    null_server: str
    cpus: Cpus
    pairs: int
    seconds: int
    rows: list[list[object]]  # of the CSV file, one a run


def measure(bench: Bench, tool: str, connections: int, command: list[str],
            parse: Callable[[str], tools.Outcome]) -> Run:
    used = run_generator(command, bench.cpus, bench.seconds)
    settle()
    if used.exit_code != 0:
        print(f"  {tool} ended with {used.exit_code}: {used.errors or used.output[-200:]}",
              file=sys.stderr)
        outcome = tools.Outcome(0, connections)
    else:
        outcome = parse(used.output)
    return Run(tool, outcome, used.user_seconds, used.system_seconds, used.peak_kib,
               used.server_core_busy)


def our_run(bench: Bench, connections: int, options: list[str]) -> Run:
    with tempfile.TemporaryDirectory() as out:
        command = [bench.load, "--out", out, *options]
        return measure(bench, "heddle-load", connections, command,
                       lambda _: tools.read_load(Path(out), connections))


def other_run(bench: Bench, tool: str, connections: int, url: str) -> Run:
    if tool == "wrk":
        command = tools.wrk_command(connections, bench.seconds, url)
        return measure(bench, tool, connections, command, tools.parse_wrk)
    command = tools.h2load_command(connections, bench.seconds, url)
    return measure(bench, tool, connections, command, tools.parse_h2load)


def note(bench: Bench, row: str, number: int, connections: int, run: Run) -> None:
    """Keeps the run for the CSV file, and shows progress."""
    outcome = run.outcome
    cost = f"{run.cpu_micros:.3f}" if outcome.completed > 0 else ""
    bench.rows.append([
        row, number, run.tool, connections, outcome.completed, outcome.errors,
        f"{run.user_seconds:.6f}", f"{run.system_seconds:.6f}", cost, run.peak_kib,
        f"{100 * run.server_core_busy:.1f}", outcome.lag_p99_micros, outcome.verdict])
    print(f"  {row} {number + 1}: {run.tool:11} {cost or '-':>8} us/request,"
          f" {outcome.completed} completed, {outcome.errors} errors,"
          f" server's core {100 * run.server_core_busy:.0f} % busy", file=sys.stderr)


def run_pairs(bench: Bench, row: str, tool: str, connections: int) -> list[Pair]:
    pairs = []
    with service(bench.service, bench.cpus) as url:
        def ours() -> Run:
            return our_run(bench, connections, ["-c", str(connections), "-d", f"{bench.seconds}s",
                                                url])

        def other() -> Run:
            return other_run(bench, tool, connections, url)

        for number in range(bench.pairs):
            if ours_first(number):
                first = ours()
                pair = Pair(first, other())
            else:
                first = other()
                pair = Pair(ours(), first)
            note(bench, row, number, connections, pair.ours)
            note(bench, row, number, connections, pair.other)
            pairs.append(pair)
    return pairs


def ratio_text(values: Sequence[float]) -> str:
    found = summary(values)
    return (f"{found.median:.3f} ({found.low:.3f}-{found.high:.3f}), quartiles"
            f" {found.quartile_low:.3f} {found.quartile_high:.3f}")


def parts(runs: Sequence[Run]) -> str:
    user = statistics.median(run.user_micros for run in runs)
    system = statistics.median(run.system_micros for run in runs)
    return f"{user + system:.2f} = {user:.2f} user + {system:.2f} system"


def errors_text(pairs: Sequence[Pair]) -> list[str]:
    left_out = [pair for pair in pairs if not pair.usable]
    if not left_out:
        return []
    return [f"{len(left_out)} of {len(pairs)} pairs left out (errors or no answers): "
            + "; ".join(f"{run.tool} {run.outcome.completed} completed, {run.outcome.errors} errors"
                        for pair in left_out for run in (pair.ours, pair.other))]


def full_core_text(pairs: Sequence[Pair]) -> list[str]:
    usable = [pair for pair in pairs if pair.usable]
    shares = [statistics.median(run.server_core_busy for run in runs)
              for runs in ([p.ours for p in usable], [p.other for p in usable])]
    text = f"server's core {100 * shares[0]:.0f} % and {100 * shares[1]:.0f} % busy"
    if max(shares) >= FULL_CORE:
        text += ": the server was the bottleneck, the generators waited for it"
    return [text]


def show(row: str, goal: str, result: Verdict, lines: Sequence[str]) -> Verdict:
    print(f"{row:13} goal <= {goal:10} {result.value}")
    for line in lines:
        print(f"{'':13} {line}")
    return result


def cpu_row(row: str, pairs: Sequence[Pair]) -> Verdict:
    tool, _, goal = CPU_GOALS[row]
    ratios = cpu_ratios(pairs)
    result = verdict(ratios, goal)
    if not ratios:
        return show(row, f"{goal:.2f}", result, errors_text(pairs))
    usable = [pair for pair in pairs if pair.usable]
    return show(row, f"{goal:.2f}", result, [
        f"CPU per completed request, heddle-load / {tool}: {ratio_text(ratios)}",
        f"heddle-load us: {parts([pair.ours for pair in usable])}",
        f"{tool + ' us':14}: {parts([pair.other for pair in usable])}",
        *full_core_text(pairs), *errors_text(pairs)])


def memory_row(pairs: Sequence[Pair]) -> Verdict:
    ratios = memory_ratios(pairs)
    result = verdict(ratios, MEMORY_GOAL)
    if not ratios:
        return show(MEMORY, "wrk's", result, errors_text(pairs))
    usable = [pair for pair in pairs if pair.usable]
    ours = spread([pair.ours.peak_kib / 1024 for pair in usable], 1)
    theirs = spread([pair.other.peak_kib / 1024 for pair in usable], 1)
    return show(MEMORY, "wrk's", result, [
        f"peak memory, heddle-load / wrk: {ratio_text(ratios)}",
        f"heddle-load {ours} MiB, wrk {theirs} MiB", *errors_text(pairs)])


def pacing_row(bench: Bench) -> Verdict:
    with null_servers(bench.null_server, bench.cpus, 1) as urls:
        options = ["-c", str(PACED_CONNECTIONS), "-r", str(PACED_RATE), "-w", "1s",
                   "-d", f"{bench.seconds}s", urls[0] + "/"]
        runs = []
        for number in range(bench.pairs):
            runs.append(our_run(bench, PACED_CONNECTIONS, options))
            note(bench, PACING, number, PACED_CONNECTIONS, runs[-1])
    lags = [run.outcome.lag_p99_micros for run in runs
            if run.usable and run.outcome.lag_p99_micros is not None]
    result = verdict(lags, PACING_GOAL_MICROS)
    lines = [f"{len(lags)} of {len(runs)} runs without errors; generator: "
             + "/".join(run.outcome.verdict or "-" for run in runs)]
    if lags:
        lines.insert(0, f"send lateness p99, us, at {PACED_RATE}/s against the null server: "
                     + spread(lags, 0))
    return show(PACING, f"{PACING_GOAL_MICROS} us", result, lines)


def many_row(bench: Bench) -> Verdict:
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    servers = -(-MANY_CONNECTIONS // (hard - 100))  # some are open already in each of them
    runs = []
    with null_servers(bench.null_server, bench.cpus, servers) as urls, \
            tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(tools.many_connections_plan(urls, MANY_CONNECTIONS, MANY_THREADS, PACED_RATE,
                                              bench.seconds), file)
        file.flush()
        for number in range(min(MANY_RUNS, bench.pairs)):
            runs.append(our_run(bench, MANY_CONNECTIONS, ["--plan", file.name]))
            note(bench, MANY, number, MANY_CONNECTIONS, runs[-1])
    peaks = [run.peak_kib / 1024 for run in runs if run.usable]
    lines = [f"{len(peaks)} of {len(runs)} runs with all connections open and without errors;"
             f" {MANY_THREADS} threads, {servers} null servers"]
    if peaks:
        lines.insert(0, f"peak memory of heddle-load, MiB: {spread(peaks, 1)}")
    return show(MANY, f"{MANY_GOAL_MIB} MiB", verdict(peaks, MANY_GOAL_MIB), lines)


def measure_rows(bench: Bench, rows: Sequence[str]) -> list[Verdict]:
    verdicts = []
    of_memory: list[Pair] | None = None
    for row in rows:
        if row in CPU_GOALS:
            tool, connections, _ = CPU_GOALS[row]
            pairs = run_pairs(bench, row, tool, connections)
            if row == "wrk-10000":
                of_memory = pairs
            verdicts.append(cpu_row(row, pairs))
        elif row == MEMORY:
            if of_memory is None:
                of_memory = run_pairs(bench, row, "wrk", 10_000)
            verdicts.append(memory_row(of_memory))
        else:
            verdicts.append(pacing_row(bench) if row == PACING else many_row(bench))
    return verdicts


def write_csv(path: Path, rows: list[list[object]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(FIELDS)
        writer.writerows(rows)


def positive(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"'{text}' is not at least 1")
    return value


def row_names(text: str) -> list[str]:
    names = text.split(",")
    for name in names:
        if name not in ROWS:
            raise argparse.ArgumentTypeError(f"'{name}' is not known; known: {', '.join(ROWS)}")
    return [row for row in ROWS if row in names]


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="ci/bench-loadgen.sh", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="Exit code: 0 all goals met, 1 one was missed, 2 usage, 3 one could not be measured."
        f"\nRows: {', '.join(ROWS)}")
    parser.add_argument("--folder", default="build/release", help="build folder [build/release]")
    parser.add_argument("--pairs", type=positive, default=NEEDED_PAIRS,
                        help=f"per row [{NEEDED_PAIRS}]; fewer are only a trial")
    parser.add_argument("--seconds", type=positive, default=5, help="per run [5]")
    parser.add_argument("--rows", type=row_names, default=ROWS, metavar="ROW,...",
                        help="only these [all]")
    parser.add_argument("--csv", type=Path, default=Path("build/bench-loadgen.csv"),
                        help="a row per run [build/bench-loadgen.csv]")
    return parser.parse_args()


def main() -> int:
    args = arguments()
    allowed = sorted(os.sched_getaffinity(0))
    if len(allowed) < 2:
        print("bench-loadgen: two CPUs are needed, one for the server and one for the generator;"
              f" this process may use {len(allowed)}", file=sys.stderr)
        return 3
    bench = Bench(f"{args.folder}/loadgen/heddle-load",
                  f"{args.folder}/services/approaches/heddle-service",
                  f"{args.folder}/loadgen/heddle-null-server",
                  Cpus(allowed[0], allowed[1]), args.pairs, args.seconds, [])
    if args.pairs < NEEDED_PAIRS:
        print(f"only {args.pairs} pairs: a trial, not a result (at least {NEEDED_PAIRS})")
    try:
        verdicts = measure_rows(bench, args.rows)
    finally:
        write_csv(args.csv, bench.rows)
    print(f"\nmedian (minimum-maximum) of interleaved pairs, {args.seconds} s a run; server on CPU"
          f" {bench.cpus.server}, generator on CPU {bench.cpus.load}; every run: {args.csv}")
    return exit_code(verdicts)


if __name__ == "__main__":
    sys.exit(main())
