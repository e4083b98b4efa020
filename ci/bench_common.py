"""What the benchmark scripts of this folder share: ports, waiting for a server, figures as text."""

from __future__ import annotations

import socket
import statistics
import subprocess
import time


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_for_port(port: int, process: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + 10
    while time.monotonic() < end and process.poll() is None:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.02)
    raise SystemExit(f"error: port {port} is not listened on: {process.args!r}")


def spread(values: list[float], digits: int) -> str:
    """Median, minimum and maximum of at least one value."""
    return (f"{statistics.median(values):.{digits}f} "
            f"({min(values):.{digits}f}-{max(values):.{digits}f})")
