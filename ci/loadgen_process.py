"""Processes of ci/bench-loadgen.sh: servers on one CPU, a generator on another, what it used."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from bench_common import free_port, wait_for_port
from loadgen_stats import busy_share

# Beyond its own duration: connecting, heddle-load's grace, a slow end.
LIMIT_SECONDS = 60
SERVICE_PATH = "/reactor-restinio/epoch-millis?delayCallDepth=0&delayInMillis=0"


@dataclass(frozen=True)
class Cpus:
    server: int
    load: int


@dataclass(frozen=True)
class Used:
    output: str
    errors: str
    exit_code: int
    user_seconds: float
    system_seconds: float
    peak_kib: int
    server_core_busy: float


def pinned(cpu: int, command: list[str]) -> list[str]:
    return ["taskset", "-c", str(cpu), *command]


def run_generator(command: list[str], cpus: Cpus, seconds: int) -> Used:
    """Runs it to its end. CPU comes from wait4 and is that of the whole process.

    Peak memory does not: the kernel gives a child the peak of the process that it was forked from,
    which is this interpreter. GNU time is small enough to be the parent; its own share of the CPU
    (about 1 ms) is the same for every generator.
    """
    with tempfile.TemporaryDirectory() as folder:
        peak, out, err = (Path(folder) / name for name in ("peak", "out", "err"))
        timed = ["/usr/bin/time", "-q", "-f", "%M", "-o", str(peak)]
        before = Path("/proc/stat").read_text()
        with out.open("wb") as output, err.open("wb") as errors:
            process = subprocess.Popen([*timed, *pinned(cpus.load, command)], stdout=output,
                                       stderr=errors, start_new_session=True)
        # In a session of its own, so that a generator that hangs ends with GNU time.
        killer = threading.Timer(seconds + LIMIT_SECONDS, os.killpg, (process.pid, signal.SIGKILL))
        killer.start()
        try:
            _, status, usage = os.wait4(process.pid, 0)
        except BaseException:  # Ctrl-C: the generator's session does not get it
            os.killpg(process.pid, signal.SIGKILL)
            raise
        finally:
            killer.cancel()
        process.returncode = os.waitstatus_to_exitcode(status)
        busy = busy_share(before, Path("/proc/stat").read_text(), cpus.server)
        return Used(out.read_text(), err.read_text().strip(), process.returncode, usage.ru_utime,
                    usage.ru_stime, int(peak.read_text() or 0) if peak.exists() else 0, busy)


@contextmanager
def stopped_at_the_end(process: subprocess.Popen[bytes]) -> Iterator[None]:
    try:
        yield
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


@contextmanager
def service(binary: str, cpus: Cpus) -> Iterator[str]:
    """The reactor approach with one I/O thread; gives the URL that does no work."""
    port = free_port()
    command = [binary, "--approach", "reactor-restinio", "--port", str(port), "--threads", "1"]
    process = subprocess.Popen(pinned(cpus.server, command), stderr=subprocess.DEVNULL)
    with stopped_at_the_end(process):
        wait_for_port(port, process)
        yield f"http://127.0.0.1:{port}{SERVICE_PATH}"


@contextmanager
def null_servers(binary: str, cpus: Cpus, count: int) -> Iterator[list[str]]:
    """Processes of their own, so that each has its own descriptors; gives their base URLs."""
    with ExitStack() as stack:
        urls = []
        for _ in range(count):
            process = subprocess.Popen(pinned(cpus.server, [binary]), stdout=subprocess.PIPE)
            stack.enter_context(stopped_at_the_end(process))
            assert process.stdout is not None
            port = process.stdout.readline().decode().strip()
            if not port:
                raise SystemExit(f"error: {binary} did not print its port")
            urls.append(f"http://127.0.0.1:{port}")
        yield urls


def settle() -> None:
    """Lets the ports of the last run become usable again: with tcp_tw_reuse a port of a closed
    connection may be taken again after one second."""
    time.sleep(1.2)
