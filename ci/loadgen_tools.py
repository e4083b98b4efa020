"""The load generators that ci/bench-loadgen.sh compares: their commands, and what they print."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

WRK_COMPLETED = re.compile(r"^\s*(\d+) requests in ", re.MULTILINE)
WRK_SOCKET = re.compile(r"Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)")
WRK_STATUS = re.compile(r"Non-2xx or 3xx responses: (\d+)")
H2LOAD_REQUESTS = re.compile(
    r"^requests: \d+ total, \d+ started, \d+ done, (\d+) succeeded, (\d+) failed, (\d+) errored,"
    r" (\d+) timeout", re.MULTILINE)
H2LOAD_STATUS = re.compile(
    r"^status codes: \d+ 2xx, (\d+) 3xx, (\d+) 4xx, (\d+) 5xx", re.MULTILINE)


@dataclass(frozen=True)
class Outcome:
    """What a generator says that it did."""

    completed: int  # requests with an answer as expected
    errors: int
    lag_p99_micros: float | None = None  # of heddle-load with a rate: actual send - due
    verdict: str = ""  # heddle-load's on itself


class Unreadable(ValueError):
    """The output is not what this tool is known to print."""


def wrk_command(connections: int, seconds: int, url: str) -> list[str]:
    return ["wrk", "-t1", f"-c{connections}", f"-d{seconds}", url]


def h2load_command(connections: int, seconds: int, url: str) -> list[str]:
    # -m1: one request at a time on a connection, as with the others.
    return ["h2load", "--h1", "-t1", "-m1", f"-c{connections}", f"-D{seconds}", url]


def parse_wrk(text: str) -> Outcome:
    completed = WRK_COMPLETED.search(text)
    if completed is None:
        raise Unreadable(f"wrk printed no count of requests: {text[-200:]!r}")
    # Both lines are there only when there were such errors.
    socket_errors, statuses = WRK_SOCKET.search(text), WRK_STATUS.search(text)
    broken = sum(map(int, socket_errors.groups())) if socket_errors else 0
    wrong = int(statuses.group(1)) if statuses else 0
    # wrk counts an answer with a wrong status as a completed request.
    return Outcome(int(completed.group(1)) - wrong, broken + wrong)


def parse_h2load(text: str) -> Outcome:
    requests, statuses = H2LOAD_REQUESTS.search(text), H2LOAD_STATUS.search(text)
    if requests is None or statuses is None:
        raise Unreadable(f"h2load printed no count of requests: {text[-200:]!r}")
    succeeded, failed, errored, timeout = map(int, requests.groups())
    redirected, refused, broken = map(int, statuses.groups())
    # A 3xx is "succeeded" for h2load; 4xx and 5xx are "failed". A failed one may count as errored
    # or timed out as well: the largest is a lower bound, and any error rules the run out.
    errors = max(failed, errored, timeout, refused + broken) + redirected
    return Outcome(succeeded - redirected, errors)


def parse_load(result: dict[str, Any], connections: int) -> Outcome:
    """From load.json. A connection that was never open, or was lost, counts as an error."""
    window = result["window"]
    if window is None:
        raise Unreadable(f"heddle-load measured nothing: {result['reason']}")
    found = result["connections"]
    failed = (sum(window["httpErrors"].values()) + sum(window["transportErrors"].values())
              + window["timeouts"])
    never_open = connections - found["opened"]
    # In a closed loop a request is due when it is sent: there is no lateness to look at.
    lag = None if result["closedLoop"] else result["generator"]["lagMicros"]["p99"]
    return Outcome(window["ok"], failed + never_open + found["lost"], lag,
                   result["generator"]["verdict"])


def read_load(out: Path, connections: int) -> Outcome:
    return parse_load(json.loads((out / "load.json").read_text()), connections)


def many_connections_plan(targets: list[str], connections: int, threads: int, rate: int,
                          seconds: int) -> dict[str, object]:
    """A plan whose threads have descriptor tables of their own when one table is too small."""
    stage = {"name": "measure", "kind": "measure", "durationMillis": seconds * 1000,
             "arrivals": {"kind": "constant-rate", "perSecond": rate}}
    request = {"name": "request", "weight": 1, "method": "GET", "path": "/", "headers": {},
               "bodyFile": None, "expect": {"status": 200}}
    return {
        "schema": 1, "name": "many connections", "seed": 1, "targets": targets,
        "connections": connections, "threads": threads, "descriptorTables": "auto",
        # Slower than a server accepts, so that no backlog overflows.
        "connect": {"mode": "ramp", "perSecond": 20_000},
        "stages": [stage], "requests": [request]}
