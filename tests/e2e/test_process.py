"""The service as a process: options, signals, limits."""

from __future__ import annotations

import csv
import json
import resource
import signal
import socket
import subprocess
import threading
import time
from pathlib import Path

import pytest

from tests.e2e.many_requests import close_all, collect, connect_all, send_all
from tests.e2e.service_process import (
    RunningService,
    approaches,
    free_port,
    kind_of,
    running_service,
    service_binary,
    wait_until_healthy,
)


def run(*options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [service_binary(), *options], capture_output=True, text=True, timeout=20, check=False
    )


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--approach", "nonsense"], "fibers-restinio"),
        ([], "--approach is missing"),
        (["--approach", "reactor-restinio", "--port", "x"], "'x' is no whole number from 1 to"),
        (["--approach", "reactor-restinio", "--port", "70000"], "70000"),
        (["--approach", "reactor-restinio", "--threads", "-1"], "-1"),
        (["--approach", "reactor-restinio", "--nonsense"], "--nonsense"),
        (["--approach", "reactor-restinio", "stray"], "positional"),
        (["--approach", "reactor-restinio", "--cpus", "0-"], "--cpus"),
        (["--approach", "reactor-restinio", "--cpus", "4000"], "4000"),
        (["--approach", "reactor-restinio", "--cache", "maybe"], "'maybe'"),
        (["--approach", "reactor-restinio", "--repository", "tape"], "'tape'"),
        (["--approach", "reactor-restinio", "--congestion-control", "warp"], "'warp'"),
        (["--approach", "reactor-restinio", "--address", "localhost"], "'localhost'"),
        (["--approach", "reactor-restinio", "--upstream-url", "ftp://x"], "ftp://x"),
        (["--approach", "reactor-restinio", "--max-connections", "9000000"], "9000000"),
        (["--approach", "reactor-restinio", "--metrics-csv", "/nonexistent/x"], "/nonexistent/x"),
    ],
)
def test_wrong_usage_is_one_line_and_exit_code_2(options: list[str], said: str) -> None:
    done = run(*options)
    assert done.returncode == 2
    assert said in done.stderr
    assert done.stderr.count("\n") == 1, done.stderr
    assert done.stdout == ""


@pytest.mark.parametrize("reuse_port", [False, True])
def test_an_occupied_port_is_refused_even_if_it_could_be_shared(reuse_port: bool) -> None:
    with socket.socket() as other:
        if reuse_port:
            other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        done = run("--approach", "fibers-restinio", "--port", str(port))
    assert done.returncode == 2
    assert f"127.0.0.1:{port}" in done.stderr and "in use" in done.stderr
    assert done.stderr.count("\n") == 1


def test_help_names_every_option_and_exits_0() -> None:
    done = run("--help")
    assert done.returncode == 0
    for option in ("--approach", "--pool-threads", "--fiber-stack-kib", "--metrics-csv", "--cpus"):
        assert option in done.stdout


def test_print_config_holds_what_is_in_force() -> None:
    done = run("--approach", "fibers-restinio", "--pool-threads", "7", "--print-config")
    assert done.returncode == 0
    config = json.loads(done.stdout)
    assert config["approach"] == "fibers-restinio"
    assert config["poolThreads"] == 7
    assert config["taskKind"] == "fiber"
    assert config["listenBacklog"] == 65535
    assert config["descriptorLimitSoft"] == config["descriptorLimitHard"]
    assert config["maxConnections"] + config["clientConnections"] < config["descriptorLimitSoft"]
    assert config["upstreamUrl"] == "http://127.0.0.1:8080"


@pytest.mark.parametrize("sig", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("approach", approaches())
def test_a_signal_lets_requests_in_flight_finish(approach: str, sig: int) -> None:
    with running_service(approach, "--threads", "2") as service:
        sockets = connect_all(service.port, 50)
        started = send_all(sockets, f"/{approach}/movies?directorLastName=Allen&delayInMillis=700")
        service.wait_for_metric(f'heddle_tasks_started_total{{kind="{kind_of(approach)}"}}', 50)
        exit_code, errors = service.stop(sig)
        burst = collect(sockets, started, 10)
        close_all(sockets)
        assert burst.statuses == {200: 50}
        assert exit_code == 0
        assert "dropped" not in errors
        # The port is free again at once.
        with running_service(approach, port=service.port):
            pass


@pytest.mark.parametrize("approach", ["threadpool-restinio", "fibers-restinio"])
def test_a_request_that_does_not_finish_is_dropped_after_ten_seconds(approach: str) -> None:
    with running_service(approach) as service:
        sockets = connect_all(service.port, 1)
        send_all(sockets, f"/{approach}/epoch-millis?delayInMillis=60000")
        time.sleep(0.3)
        before = time.monotonic()
        exit_code, errors = service.stop()
        close_all(sockets)
        assert exit_code == 0
        assert "1 requests were still in flight" in errors
        assert 9 < time.monotonic() - before < 15


@pytest.mark.parametrize("approach", approaches())
def test_connections_beyond_the_limit_wait_and_are_served_later(approach: str) -> None:
    """RESTinio stops accepting for ever after one EMFILE: the limit must come first."""
    with running_service(approach, "--max-connections", "50", "--threads", "1") as service:
        first = connect_all(service.port, 49)  # the health check may still hold one
        send_all(first, f"/{approach}/epoch-millis?delayInMillis=0")
        collect(first, time.monotonic(), 10)
        second = connect_all(service.port, 60)  # in the kernel's backlog
        started = send_all(second, f"/{approach}/epoch-millis?delayInMillis=0")
        time.sleep(0.3)
        close_all(first)
        half = collect(second[:40], started, 10)
        close_all(second)
        assert half.statuses == {200: 40}
        assert service.get("/health").status == 200


@pytest.mark.parametrize("approach", approaches())
def test_a_burst_against_a_low_descriptor_limit_does_not_end_accepting(approach: str) -> None:
    port = free_port()
    process = subprocess.Popen(
        [service_binary(), "--approach", approach, "--port", str(port), "--threads", "1"],
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (400, 400)),
    )
    service = RunningService(approach, port, process)
    try:
        wait_until_healthy(service)
        # 400 descriptors are shared out as 204 accepted connections and 68 to the upstream.
        too_many = connect_all(port, 600)
        send_all(too_many, f"/{approach}/epoch-millis?delayInMillis=20")
        time.sleep(1)
        close_all(too_many)
        within = connect_all(port, 120)
        started = send_all(within, f"/{approach}/epoch-millis?delayCallDepth=1&delayInMillis=50")
        assert collect(within, started, 15).statuses == {200: 120}
        close_all(within)
        assert service.get(f"/{approach}/epoch-millis?delayCallDepth=1").status == 200
    finally:
        process.kill()
        process.communicate()


@pytest.mark.parametrize("approach", approaches())
def test_an_upstream_that_refuses_hangs_or_breaks_is_a_502_or_504(approach: str) -> None:
    nobody = free_port()
    with running_service(approach, "--upstream-url", f"http://127.0.0.1:{nobody}") as service:
        answer = service.get(f"/{approach}/epoch-millis?delayCallDepth=1")
        assert answer.status == 502
        assert json.loads(answer.body)["status"] == 502
        assert service.get(f"/{approach}/epoch-millis?delayInMillis=0").status == 200


def serve_raw(listener: socket.socket, answers: list[bytes]) -> None:
    """Answers each connection with the next bytes and closes it."""
    for answer in answers:
        connection, _ = listener.accept()
        connection.recv(4096)
        connection.sendall(answer)
        connection.close()


@pytest.mark.parametrize("approach", approaches())
@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"garbage\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort",
        b"HTTP/1.1 500 Oops\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nX: " + b"y" * 20000 + b"\r\n\r\n",
    ],
)
def test_a_broken_upstream_answer_is_a_502(approach: str, answer: bytes) -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        thread = threading.Thread(target=serve_raw, args=(listener, [answer]))
        thread.start()
        with running_service(approach, "--upstream-url", url) as service:
            assert service.get(f"/{approach}/epoch-millis?delayCallDepth=1").status == 502
            assert service.get("/health").status == 200
        thread.join(10)


def keep_alive_once(listener: socket.socket, served: list[int]) -> None:
    """Promises keep-alive but closes each connection after one answer."""
    body = b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n1"
    for _ in range(3):
        connection, _ = listener.accept()
        connection.recv(4096)
        connection.sendall(body)
        served.append(1)
        connection.close()


@pytest.mark.parametrize("approach", approaches())
def test_a_connection_closed_while_idle_is_replaced(approach: str) -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        served: list[int] = []
        thread = threading.Thread(target=keep_alive_once, args=(listener, served))
        thread.start()
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        with running_service(approach, "--upstream-url", url) as service:
            for _ in range(3):
                assert service.get(f"/{approach}/epoch-millis?delayCallDepth=1").status == 200
                time.sleep(0.1)
        thread.join(10)
        assert len(served) == 3


@pytest.mark.parametrize("approach", approaches())
def test_a_full_client_pool_makes_calls_wait_their_turn(approach: str) -> None:
    with running_service(approach, "--client-connections", "2", "--threads", "1") as service:
        sockets = connect_all(service.port, 10)
        started = send_all(sockets, f"/{approach}/epoch-millis?delayCallDepth=1&delayInMillis=200")
        burst = collect(sockets, started, 20)
        close_all(sockets)
        assert burst.statuses == {200: 10}
        assert burst.seconds >= 5 * 0.2, "two connections serve ten calls in five turns"
        assert service.metrics()["heddle_client_connects_total"] == 2


@pytest.mark.parametrize("approach", approaches())
def test_garbage_closes_only_its_own_connection(approach: str) -> None:
    with running_service(approach) as service:
        long_target = b"GET /" + b"a" * 70000 + b" HTTP/1.1\r\n\r\n"
        for garbage in (b"\x00\xff\xfe\r\n\r\n", b"GET / SMTP/1.1\r\n\r\n", long_target):
            with socket.create_connection(("127.0.0.1", service.port), timeout=10) as connection:
                connection.sendall(garbage)
                try:
                    assert connection.recv(4096) == b"", "RESTinio closes without a byte"
                except ConnectionResetError:
                    pass
        too_large = b"x" * (1024 * 1024 + 1)
        with socket.create_connection(("127.0.0.1", service.port), timeout=10) as connection:
            head = (
                f"POST /{approach}/movies HTTP/1.1\r\nContent-Type: application/json\r\n"
                f"Content-Length: {len(too_large)}\r\n\r\n"
            )
            try:
                connection.sendall(head.encode() + too_large)
                assert connection.recv(4096) == b""
            except (ConnectionResetError, BrokenPipeError):
                pass
        assert service.get(f"/{approach}/epoch-millis?delayInMillis=0").status == 200


@pytest.mark.parametrize("approach", approaches())
def test_pipelined_requests_are_answered_in_order(approach: str) -> None:
    with running_service(approach) as service:
        path = f"/{approach}/movies?delayInMillis=20&directorLastName="
        wanted = b"".join(
            f"GET {path}{name} HTTP/1.1\r\nHost: x\r\n\r\n".encode()
            for name in ("Allen", "Kubrick", "Hitchcock")
        )
        with socket.create_connection(("127.0.0.1", service.port), timeout=10) as connection:
            connection.sendall(wanted)
            data = b""
            while data.count(b"HTTP/1.1 200") < 3 or not data.endswith(b"]"):
                chunk = connection.recv(65536)
                assert chunk
                data += chunk
        positions = [data.index(name) for name in (b"Zelig", b"2001", b"Vertigo")]
        assert positions == sorted(positions)


def test_the_metrics_file_has_a_row_a_second(tmp_path: Path) -> None:
    path = tmp_path / "metrics.csv"
    with running_service("fibers-restinio", "--metrics-csv", str(path)) as service:
        for _ in range(20):
            service.get("/fibers-restinio/epoch-millis?delayInMillis=0")
        time.sleep(2.2)
        assert service.stop()[0] == 0
    rows = list(csv.DictReader(path.open()))
    assert len(rows) >= 3
    assert int(rows[-1]["requests"]) >= 20
    assert int(rows[-1]["connections_accepted"]) >= 20
    stamps = [int(row["monotonic_nanos"]) for row in rows]
    assert stamps == sorted(stamps)


@pytest.mark.parametrize("approach", approaches())
def test_an_expectation_is_ignored_and_the_body_is_answered(approach: str) -> None:
    with running_service(approach) as service:
        with socket.create_connection(("127.0.0.1", service.port), timeout=10) as connection:
            head = (
                f"POST /{approach}/movies?delayInMillis=0 HTTP/1.1\r\nHost: x\r\n"
                "Content-Type: application/json\r\nExpect: 100-continue\r\n"
                "Content-Length: 2\r\n\r\n"
            )
            connection.sendall(head.encode())
            time.sleep(0.2)
            connection.sendall(b"[]")
            assert connection.recv(4096).startswith(b"HTTP/1.1 200 OK")
