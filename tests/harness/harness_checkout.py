"""A small checkout for tests: scenario file, profiles, the fakes, a free port."""

import csv
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

HERE = Path(__file__).resolve().parent
TOP = HERE.parent.parent

HEADER = (
    "scenario,loadProfile,serviceProfiles,delayCallDepth,delayInMillis,connections,"
    "requestsPerSecond,warmupDurationInSeconds,testDurationInSeconds\n"
)
RATE_PROFILE = """\
[[stages]]
share = 1.0
rate = [1.0, 1.0]
[[requests]]
name = "get-time"
path = "/epoch-millis"
"""
USERS_PROFILE = """\
mix = "per-user"
think = { kind = "uniform", seconds = [1, 3] }
[[stages]]
share = 0.8
users = [0.0, 1.0]
[[stages]]
share = 0.2
users = [1.0, 0.0]
[[requests]]
name = "get-allen"
path = "/movies?directorLastName=Allen"
[[requests]]
name = "post-movies"
method = "POST"
path = "/movies"
body = "movies.json"
"""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@dataclass
class Checkout:
    """A root folder for the harness, and how to run it as a process of its own."""

    root: Path
    environment: dict[str, str] = field(default_factory=dict)
    port: int = field(default_factory=free_port)

    def write(self, path: str, text: str) -> None:
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")

    def scenario_rows(self, *rows: str, name: str = "scenarios-quick.csv") -> None:
        self.write(f"scenarios/{name}", HEADER + "".join(row + "\n" for row in rows))

    def start(self, *arguments: str, **environment: str) -> "subprocess.Popen[str]":
        return subprocess.Popen(
            [sys.executable, "-m", "tests.harness.bench_driver", str(self.root), *arguments],
            cwd=TOP,
            env={**os.environ, **self.environment, **environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def run(self, *arguments: str, **environment: str) -> "Ended":
        """Runs to the end on this checkout's port."""
        process = self.start("--port", str(self.port), *arguments, **environment)
        out, err = process.communicate(timeout=120)
        return Ended(process.returncode, out, err)

    @property
    def results(self) -> Path:
        return self.root / "build" / "results"

    @property
    def newest(self) -> Path:
        return (self.results / "scenarios-quick").resolve()

    def rows(self) -> list[dict[str, str]]:
        with (self.newest / "results.csv").open(encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))

    def manifest(self) -> dict[str, object]:
        document: dict[str, object] = json.loads(
            (self.newest / "manifest.json").read_text(encoding="utf-8")
        )
        return document


@dataclass(frozen=True)
class Ended:
    code: int
    out: str
    err: str


def make_checkout(folder: Path) -> Checkout:
    """Two scenarios, two load profiles, a body, a service profile, the fakes, a lock of its own."""
    made = Checkout(folder / "checkout")
    made.write("scenarios/profiles/load/get-time.toml", RATE_PROFILE)
    made.write("scenarios/profiles/load/spike.toml", USERS_PROFILE)
    made.write("scenarios/profiles/service/no-cache.toml", '[service]\ncache = "off"\n')
    made.write("scenarios/movies.json", '[\n  {"title": "Zelig"}\n]\n')
    made.scenario_rows("steady,get-time,,0,100,10,50,0,2", "spike,spike,,1,100,10,,1,2")
    made.environment = {
        "HEDDLE_SERVICE": str(HERE / "fakes" / "heddle_service.py"),
        "HEDDLE_LOAD": str(HERE / "fakes" / "heddle_load.py"),
        "HEDDLE_LOCK": str(folder / "lock"),
    }
    return made


def wait_until(condition: Callable[[], bool], seconds: float = 20.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.02)


def read_line_with(stream: IO[str] | None, text: str) -> str:
    """The first line of the stream that contains `text`."""
    assert stream is not None
    for line in stream:
        if text in line:
            return line
    raise AssertionError(f"no line with {text!r}")
