"""Measures the service alone: CPU per request beside nginx, parked requests, the length of a wait.

Each figure is the median of interleaved repeats with its spread (minimum to maximum). The server
gets one CPU, the load generator another. CPU is the sum of the threads' run time from schedstat
over the measured window. Compare ratios within one run: absolute figures depend on the host and on
the rate.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from bench_common import free_port, spread, wait_for_port

NGINX_CONFIG = """
daemon off; worker_processes 1; pid {folder}/nginx.pid; error_log {folder}/error.log;
events {{ worker_connections 15000; }}
http {{
  access_log off; keepalive_requests 1000000000; keepalive_timeout 60;
  client_body_temp_path {folder}; proxy_temp_path {folder}; fastcgi_temp_path {folder};
  uwsgi_temp_path {folder}; scgi_temp_path {folder};
  server {{
    listen 127.0.0.1:{port};
    location / {{ default_type application/json; return 200 1234567890123; }}
  }}
}}
"""


@dataclass(frozen=True)
class Contender:
    name: str
    command: Callable[[int, Path], list[str]]
    path: str


@dataclass(frozen=True)
class Cost:
    micros_per_request: float
    ok: int
    errors: int
    p99_millis: object
    generator: str


def nginx_command(port: int, folder: Path) -> list[str]:
    config = folder / "nginx.conf"
    config.write_text(NGINX_CONFIG.format(folder=folder, port=port))
    return ["nginx", "-c", str(config), "-e", str(folder / "error.log")]


def contenders(service: str) -> list[Contender]:
    command = [service, "--list-approaches"]
    listed = subprocess.run(command, capture_output=True, text=True, check=True)
    nginx = Contender("nginx return 200", nginx_command, "/")
    return [nginx, *(approach_contender(service, name) for name in listed.stdout.split())]


def approach_contender(service: str, name: str) -> Contender:
    def command(port: int, _: Path) -> list[str]:
        # As many pool threads as requests are parked, so that all of them wait at once.
        options = ["--port", str(port), "--threads", "1", "--pool-threads", "12000"]
        return [service, "--approach", name, *options]

    return Contender(name, command, f"/{name}/epoch-millis?delayCallDepth=0&delayInMillis=")


@contextmanager
def running(contender: Contender, cpu: int) -> Iterator[tuple[int, int]]:
    """Gives the port and the process id; ends the process by its id."""
    with tempfile.TemporaryDirectory() as folder:
        port = free_port()
        command = ["taskset", "-c", str(cpu), *contender.command(port, Path(folder))]
        process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
        try:
            wait_for_port(port, process)
            yield port, process.pid
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(20)


def family(pid: int) -> list[int]:
    """The process and its children: nginx works in a child."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [pid, *(int(child) for child in children)]


def cpu_nanos(pid: int) -> int:
    total = 0
    for member in family(pid):
        for task in Path(f"/proc/{member}/task").iterdir():
            try:
                total += int((task / "schedstat").read_text().split()[0])
            except OSError:
                continue  # a thread that ended meanwhile took its share with it
    return total


def rss_kib(pid: int) -> float:
    fields = (Path(f"/proc/{pid}/statm").read_text()).split()
    return int(fields[1]) * os.sysconf("SC_PAGE_SIZE") / 1024


def cost_at(load: str, contender: Contender, rate: int, connections: int, seconds: int) -> Cost:
    with running(contender, 0) as (port, pid), tempfile.TemporaryDirectory() as out:
        path = contender.path + ("0" if "=" in contender.path else "")
        command = [
            "taskset", "-c", "1", load, "-c", str(connections), "-r", str(rate), "-w", "1s",
            "-d", f"{seconds}s", "--out", out, "--events", "-", f"http://127.0.0.1:{port}{path}",
        ]
        marks: dict[str, int] = {}
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        for line in process.stdout:
            if not line.startswith("{"):
                continue
            event = json.loads(line)
            if event["event"].startswith("stage-") and event["kind"] == "measure":
                marks[event["event"]] = cpu_nanos(pid)
        if process.wait() != 0:
            raise SystemExit(f"bench_service: error: {' '.join(command)} failed")
        result = json.loads((Path(out) / "load.json").read_text())
        window = result["window"]
        used = marks["stage-ended"] - marks["stage-started"]
        failed = window["sent"] - window["ok"]
        return Cost(used / 1000 / max(1, window["ok"]), window["ok"], failed,
                    window["latencyMillis"]["p99"], result["generator"]["verdict"])


def compare_cost(args: argparse.Namespace, rate: int) -> None:
    everyone = contenders(args.service)
    costs: dict[str, list[Cost]] = {each.name: [] for each in everyone}
    for repeat in range(args.repeats):
        order = everyone if repeat % 2 == 0 else list(reversed(everyone))
        for contender in order:
            costs[contender.name].append(
                cost_at(args.load, contender, rate, args.connections, args.seconds))
    print(
        f"\nCPU per request at {rate}/s, {args.connections} connections, no delay, one core,"
        f" {args.repeats} interleaved repeats of {args.seconds} s"
    )
    print(f"{'':22} {'us per request':>22} {'x nginx':>20} {'ok/s':>9} {'errors':>7}  generator")
    floor = [cost.micros_per_request for cost in costs[everyone[0].name]]
    for name, each in costs.items():
        micros = [cost.micros_per_request for cost in each]
        ratios = [a / b for a, b in zip(micros, floor, strict=True)]
        rate_ok = statistics.median(cost.ok for cost in each) / args.seconds
        print(f"{name:22} {spread(micros, 2):>22} {spread(ratios, 2):>20} {rate_ok:9.0f} "
              f"{sum(cost.errors for cost in each):7d}  "
              + "/".join(cost.generator for cost in each))


def park(port: int, path: str, count: int, pid: int, seconds: float) -> tuple[float, float]:
    """CPU share of a core and KiB of resident memory per request while `count` requests wait."""
    sockets = []
    idle = rss_kib(pid)
    try:
        for index in range(count):
            connection = socket.socket()
            connection.bind((f"127.0.3.{1 + index % 4}", 0))
            connection.connect(("127.0.0.1", port))
            sockets.append(connection)
        time.sleep(1)
        request = f"GET {path} HTTP/1.1\r\nHost: bench\r\n\r\n".encode()
        for connection in sockets:
            connection.sendall(request)
        time.sleep(2)
        parked = rss_kib(pid)
        before, began = cpu_nanos(pid), time.monotonic_ns()
        time.sleep(seconds)
        used = (cpu_nanos(pid) - before) / (time.monotonic_ns() - began)
        return used * 100, (parked - idle) / count
    finally:
        for connection in sockets:
            connection.close()


def compare_parked(args: argparse.Namespace) -> None:
    print(
        f"\n{args.parked} parked requests: CPU while all wait, and resident memory per request"
        f" (RSS while parked - RSS idle, before any connection), {args.repeats} repeats"
    )
    for contender in contenders(args.service)[1:]:
        shares, kibs = [], []
        for _ in range(args.repeats):
            with running(contender, 0) as (port, pid):
                os.sched_setaffinity(0, {1})
                # 10 s: RESTinio looks at each connection once in that time.
                share, kib = park(port, contender.path + "16000", args.parked, pid, 10)
                os.sched_setaffinity(0, {0, 1})
                shares.append(share)
                kibs.append(kib)
        print(
            f"{contender.name:22} {spread(shares, 2):>22} % of a core "
            f"{spread(kibs, 1):>22} KiB"
        )


def compare_waits(args: argparse.Namespace) -> None:
    print("\nlatency of a 100 ms wait, one request at a time (client included), median of 50")
    for contender in contenders(args.service)[1:]:
        with running(contender, 0) as (port, _):
            with socket.create_connection(("127.0.0.1", port)) as connection:
                request = f"GET {contender.path}100 HTTP/1.1\r\nHost: bench\r\n\r\n".encode()
                times = []
                for _ in range(50):
                    before = time.monotonic_ns()
                    connection.sendall(request)
                    connection.recv(4096)
                    times.append((time.monotonic_ns() - before) / 1e6)
            print(f"{contender.name:22} {spread(times, 2)} ms")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--service", required=True, help="the heddle-service binary")
    parser.add_argument("--load", required=True, help="the heddle-load binary")
    parser.add_argument("--rates", default="10000,80000", help="requests per second")
    parser.add_argument("--connections", type=int, default=64)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=5, help="measured per repeat [5]")
    parser.add_argument("--parked", type=int, default=10_000, help="0 leaves this part out [10000]")
    args = parser.parse_args()
    if (os.cpu_count() or 1) < 2:
        print("bench_service: error: two CPUs are needed, one for each side", file=sys.stderr)
        return 3
    rates: list[str] = args.rates.split(",")
    for rate in rates:
        compare_cost(args, int(rate))
    if args.parked > 0:
        compare_parked(args)
        compare_waits(args)
    return 0


if __name__ == "__main__":
    sys.exit(main())
