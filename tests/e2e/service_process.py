"""Starts a real heddle-service on a free port and talks to it."""

from __future__ import annotations

import http.client
import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

START_LIMIT_SECONDS = 20

KINDS = {
    "threadpool": "thread",
    "fibers": "fiber",
    "reactor": "callback",
    "coroutines": "coroutine",
}


def kind_of(approach: str) -> str:
    return KINDS[approach.split("-")[0]]


def service_binary() -> str:
    path = os.environ.get("HEDDLE_SERVICE")
    if not path:
        raise RuntimeError("HEDDLE_SERVICE must name the heddle-service binary; ./test.sh sets it")
    return path


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def approaches() -> list[str]:
    listed = subprocess.run(
        [service_binary(), "--list-approaches"], capture_output=True, text=True, check=True
    )
    return listed.stdout.split()


@dataclass(frozen=True)
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode()


@dataclass
class RunningService:
    approach: str
    port: int
    process: subprocess.Popen[str]

    def request(
        self,
        method: str,
        target: str,
        body: bytes | None = None,
        headers: dict[str, str] | None = None,
        timeout: float = 20,
    ) -> Answer:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        try:
            connection.request(method, target, body=body, headers=headers or {})
            response = connection.getresponse()
            names = {name.lower(): value for name, value in response.getheaders()}
            return Answer(response.status, names, response.read())
        finally:
            connection.close()

    def get(self, target: str) -> Answer:
        return self.request("GET", target)

    def metrics(self) -> dict[str, float]:
        lines = self.get("/metrics").text.splitlines()
        pairs = (line.rsplit(" ", 1) for line in lines if line and not line.startswith("#"))
        return {name: float(value) for name, value in pairs}

    def wait_for_metric(self, name: str, at_least: float, limit: float = 20) -> dict[str, float]:
        end = time.monotonic() + limit
        while True:
            values = self.metrics()
            if values[name] >= at_least:
                return values
            assert time.monotonic() < end, f"{name} is {values[name]}, not {at_least}"
            time.sleep(0.02)

    def cpu_seconds(self) -> float:
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def stop(self, sig: int = signal.SIGTERM, limit: float = 20) -> tuple[int, str]:
        """Sends the signal; gives the exit code and what was written to standard error."""
        self.process.send_signal(sig)
        _, errors = self.process.communicate(timeout=limit)
        return self.process.returncode, errors


@contextmanager
def running_service(
    approach: str, *options: str, port: int | None = None
) -> Iterator[RunningService]:
    chosen = port or free_port()
    command = [service_binary(), "--approach", approach, "--port", str(chosen), *options]
    process = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    service = RunningService(approach, chosen, process)
    try:
        wait_until_healthy(service)
        yield service
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()


def wait_until_healthy(service: RunningService) -> None:
    end = time.monotonic() + START_LIMIT_SECONDS
    while True:
        if service.process.poll() is not None:
            raise RuntimeError(f"the service ended: {service.process.communicate()[1]}")
        try:
            if service.get("/health").status == 200:
                return
        except OSError:
            pass
        if time.monotonic() > end:
            raise RuntimeError("the service did not become healthy")
        time.sleep(0.02)
