"""Starting, watching and stopping the two binaries. Children are only ever ended by their pid."""

import ctypes
import http.client
import os
import signal
import socket
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from harness.cpus import on_cpus
from harness.errors import TrialFailed, UsageError

HEALTH_LIMIT_SECONDS = 30.0
STOP_LIMIT_SECONDS = 15.0
PORT_LIMIT_SECONDS = 5.0
POLL_SECONDS = 0.02
LAST_LINES = 5
PR_SET_PDEATHSIG = 1  # <linux/prctl.h>
LIBC = ctypes.CDLL(None)


def query(binary: Path, arguments: Sequence[str], environment: Mapping[str, str]) -> str:
    """Standard output of a short call such as --list-approaches. Raises UsageError on failure."""
    command = [str(binary), *arguments]
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            timeout=HEALTH_LIMIT_SECONDS,
            env={**os.environ, **environment},
            check=False,
        )
    except OSError as error:
        raise UsageError(f"cannot run {binary}: {error.strerror}") from None
    except subprocess.TimeoutExpired:
        raise UsageError(f"{' '.join(command)}: no answer in {HEALTH_LIMIT_SECONDS:g} s") from None
    if done.returncode != 0:
        said = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
        raise UsageError(f"{binary.name} {' '.join(arguments)}: {said[-1]}")
    return done.stdout


def _die_with_harness() -> None:
    """Runs in the child before its program: the kernel kills it when the harness ends, even by
    SIGKILL. Otherwise a service would outlive it and keep the port.
    """
    LIBC.prctl(PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)


class Child:
    """A started binary. Its session is its own, so that a Ctrl-C reaches only the harness.

    Must be made on the main thread: the child is killed when the thread that started it ends.
    """

    def __init__(
        self,
        name: str,
        command: Sequence[str],
        log: Path,
        cpus: Sequence[int],
        environment: Mapping[str, str] | None = None,
        pipe_output: bool = False,
    ) -> None:
        self.name = name
        self.log = log
        with log.open("wb") as sink, on_cpus(cpus):
            try:
                self.process = subprocess.Popen(
                    command,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE if pipe_output else sink,
                    stderr=sink,
                    start_new_session=True,
                    preexec_fn=_die_with_harness,
                    env={**os.environ, **(environment or {})},
                )
            except OSError as error:
                raise TrialFailed(f"cannot start {name}: {error.strerror}") from None

    @property
    def pid(self) -> int:
        return self.process.pid

    def ended(self) -> bool:
        return self.process.poll() is not None

    def end_text(self) -> str:
        """How it ended, with the last lines of its log."""
        code = self.process.poll()
        if code is None:
            return f"{self.name} is running"
        how = f"with exit code {code}"
        if code < 0:
            how = f"by signal {signal.Signals(-code).name}"
        lines = last_lines(self.log)
        return f"{self.name} ended {how}" + (f"; last lines: {lines}" if lines else "")

    def send(self, number: signal.Signals) -> None:
        if not self.ended():
            self.process.send_signal(number)

    def wait(self, seconds: float) -> bool:
        """Whether it ended within the time. Bounded polls: a stuck process cannot hang us."""
        try:
            self.process.wait(timeout=max(0.0, seconds))
        except subprocess.TimeoutExpired:
            return False
        return True

    def stop(self, number: signal.Signals, seconds: float) -> bool:
        """Asks it to end, waits, then kills. False when it had to be killed."""
        self.send(number)
        if self.wait(seconds):
            return True
        self.kill()
        return False

    def kill(self) -> None:
        self.send(signal.SIGKILL)
        self.wait(STOP_LIMIT_SECONDS)


def last_lines(log: Path, count: int = LAST_LINES) -> str:
    """The last lines of a log on one line; at most 4 KiB of the file are read."""
    try:
        with log.open("rb") as file:
            file.seek(0, os.SEEK_END)
            file.seek(max(0, file.tell() - 4096))
            lines = file.read().decode("utf-8", "replace").splitlines()
    except OSError:
        return ""
    return " / ".join(line.strip() for line in lines[-count:] if line.strip())


def port_is_free(port: int) -> bool:
    """Whether a listener could take 127.0.0.1:port; connections in TIME_WAIT do not count."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
            # With SO_REUSEADDR binding beside a bound, not yet listening socket succeeds.
            probe.listen(1)
        except OSError:
            return False
    return True


def wait_for_free_port(port: int, seconds: float = PORT_LIMIT_SECONDS) -> bool:
    deadline = time.monotonic() + seconds
    while not port_is_free(port):
        if time.monotonic() > deadline:
            return False
        time.sleep(POLL_SECONDS)
    return True


def http_get(port: int, path: str, timeout: float = 2.0) -> str:
    """Body of a 200 answer of the service. Raises OSError or HTTPException otherwise."""
    connection = http.client.HTTPConnection(
        "127.0.0.1", port, timeout=timeout, source_address=("127.0.0.2", 0)
    )
    try:
        connection.request("GET", path, headers={"Connection": "close"})
        response = connection.getresponse()
        body = response.read().decode("utf-8", "replace")
        if response.status != 200:
            raise http.client.HTTPException(f"{path} answered {response.status}")
        return body
    finally:
        connection.close()
