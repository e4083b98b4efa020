"""Many requests at once on raw sockets, from one thread."""

from __future__ import annotations

import selectors
import socket
import time
from dataclasses import dataclass


@dataclass(frozen=True)
class Burst:
    statuses: dict[int, int]
    seconds: float


def connect_all(port: int, count: int) -> list[socket.socket]:
    sockets = []
    for index in range(count):
        connection = socket.socket()
        # A source other than the service's own address: its port can not be occupied by TIME_WAIT.
        connection.bind((f"127.0.2.{1 + index % 4}", 0))
        connection.connect(("127.0.0.1", port))
        sockets.append(connection)
    return sockets


def send_all(sockets: list[socket.socket], target: str) -> float:
    """Sends one GET on each; gives the monotonic time before the first."""
    request = f"GET {target} HTTP/1.1\r\nHost: test\r\n\r\n".encode()
    started = time.monotonic()
    for connection in sockets:
        connection.sendall(request)
    return started


def collect(sockets: list[socket.socket], started: float, limit: float) -> Burst:
    """Reads the status of every answer, at most `limit` seconds long."""
    statuses: dict[int, int] = {}
    with selectors.DefaultSelector() as selector:
        for connection in sockets:
            connection.setblocking(False)
            selector.register(connection, selectors.EVENT_READ)
        left = len(sockets)
        while left > 0:
            remaining = started + limit - time.monotonic()
            assert remaining > 0, f"{left} of {len(sockets)} were not answered in {limit} s"
            for key, _ in selector.select(remaining):
                data = key.fileobj.recv(65536)  # type: ignore[union-attr]
                status = int(data.split(b" ", 2)[1]) if data else 0
                statuses[status] = statuses.get(status, 0) + 1
                selector.unregister(key.fileobj)
                left -= 1
    return Burst(statuses, time.monotonic() - started)


def close_all(sockets: list[socket.socket]) -> None:
    for connection in sockets:
        connection.close()
