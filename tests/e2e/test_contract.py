"""The HTTP contract: every approach answers alike, byte for byte."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.service_process import Answer, RunningService, approaches, running_service

MOVIES = (Path(__file__).parents[2] / "scenarios" / "movies.json").read_bytes()
JSON_TYPE = {"Content-Type": "application/json"}
NO_DELAY = "delayCallDepth=0&delayInMillis=0"


@pytest.fixture(scope="module")
def services() -> Iterator[dict[str, RunningService]]:
    running: dict[str, RunningService] = {}
    contexts = []
    for name in approaches():
        context = running_service(name, "--pool-threads", "50")
        contexts.append(context)
        running[name] = context.__enter__()
    yield running
    for context in contexts:
        context.__exit__(None, None, None)


def ask_all(
    services: dict[str, RunningService],
    method: str,
    target: str,
    body: bytes | None = None,
    headers: dict[str, str] | None = None,
) -> Answer:
    """The one answer that every approach gives; "{}" in the target stands for the approach."""
    answers = {}
    for name, service in services.items():
        answer = service.request(method, target.format(name), body, headers)
        # The approach's own name appears in some problem texts: compare without it.
        body_without_name = answer.body.replace(name.encode(), b"APPROACH")
        answers[name] = (answer.status, answer.headers, body_without_name)
    first = next(iter(answers.values()))
    without_length = [
        (status, {k: v for k, v in headers.items() if k != "content-length"}, body)
        for status, headers, body in answers.values()
    ]
    assert all(other == without_length[0] for other in without_length), answers
    return Answer(*first)


@pytest.mark.parametrize(
    ("director", "bytes_expected", "movies"),
    [("Allen", 1664, 3), ("Hitchcock", 1622, 3), ("Kubrick", 1235, 2)],
)
def test_get_movies(
    services: dict[str, RunningService], director: str, bytes_expected: int, movies: int
) -> None:
    answer = ask_all(services, "GET", f"/{{}}/movies?directorLastName={director}&{NO_DELAY}")
    assert answer.status == 200
    assert answer.headers["content-type"] == "application/json"
    assert len(answer.body) == pytest.approx(bytes_expected, rel=0.02)
    parsed = json.loads(answer.body)
    assert len(parsed) == movies
    assert {person["lastName"] for movie in parsed for person in movie["directors"]} == {director}


def test_post_movies_echoes_while_read_only(services: dict[str, RunningService]) -> None:
    answer = ask_all(services, "POST", f"/{{}}/movies?{NO_DELAY}", MOVIES, JSON_TYPE)
    assert answer.status == 200
    assert [m["title"] for m in json.loads(answer.body)] == [m["title"] for m in json.loads(MOVIES)]
    # Nothing was saved.
    after = ask_all(services, "GET", f"/{{}}/movies?directorLastName=Allen&{NO_DELAY}")
    assert len(json.loads(after.body)) == 3


def test_epoch_millis_is_a_json_number_near_now(services: dict[str, RunningService]) -> None:
    for name, service in services.items():
        before = time.time() * 1000
        answer = service.get(f"/{name}/epoch-millis?{NO_DELAY}")
        assert answer.status == 200
        assert answer.headers["content-type"] == "application/json"
        assert before - 1 <= int(answer.text) <= time.time() * 1000 + 1


def test_the_default_delay_is_100_ms(services: dict[str, RunningService]) -> None:
    for name, service in services.items():
        before = time.monotonic()
        assert service.get(f"/{name}/epoch-millis").status == 200
        assert time.monotonic() - before >= 0.1


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_only_the_leaf_of_a_call_chain_waits(
    services: dict[str, RunningService], depth: int
) -> None:
    for name, service in services.items():
        requests_before = service.metrics()["heddle_requests_total"]
        before = time.monotonic()
        answer = service.get(
            f"/{name}/movies?directorLastName=Kubrick&delayCallDepth={depth}&delayInMillis=50"
        )
        waited = time.monotonic() - before
        assert answer.status == 200 and len(json.loads(answer.body)) == 2
        assert waited >= 0.05
        # The request itself, its self-calls, and the look at the metrics.
        assert service.metrics()["heddle_requests_total"] - requests_before == 1 + depth + 1


FAULTS = [
    ("GET", "/nonsense", None, {}, 404),
    ("GET", "/other-approach/movies?directorLastName=Allen", None, {}, 404),
    ("GET", "/{}/movies", None, {}, 400),
    ("GET", "/{}/movies?directorLastName=Allen&delayCallDepth=-1", None, {}, 400),
    ("GET", "/{}/movies?directorLastName=Allen&delayCallDepth=x", None, {}, 400),
    ("GET", "/{}/epoch-millis?delayInMillis=1e9", None, {}, 400),
    ("GET", "/{}/epoch-millis?delayInMillis=99999999999999999999", None, {}, 400),
    ("GET", "/{}/epoch-millis?delayInMillis=0&delayInMillis=0", None, {}, 400),
    ("GET", "/{}/movies?directorLastName=%zz", None, {}, 400),
    ("PUT", "/{}/movies", b"[]", JSON_TYPE, 405),
    ("HEAD", "/{}/epoch-millis", None, {}, 405),
    ("POST", "/{}/epoch-millis", b"[]", JSON_TYPE, 405),
    ("POST", "/{}/movies?" + NO_DELAY, b"[]", {"Content-Type": "text/plain"}, 415),
    ("POST", "/{}/movies?" + NO_DELAY, b"[]", {}, 415),
    ("POST", "/{}/movies?" + NO_DELAY, b"[{", JSON_TYPE, 400),
    ("POST", "/{}/movies?" + NO_DELAY, b"{}", JSON_TYPE, 400),
    ("POST", "/{}/movies?" + NO_DELAY, b'[{"title": 5}]', JSON_TYPE, 400),
    ("POST", "/{}/movies?" + NO_DELAY, b"", JSON_TYPE, 400),
    ("POST", "/health", b"", {}, 405),
]


@pytest.mark.parametrize(("method", "target", "body", "headers", "status"), FAULTS)
def test_faults_are_problems_and_alike(
    services: dict[str, RunningService],
    method: str,
    target: str,
    body: bytes | None,
    headers: dict[str, str],
    status: int,
) -> None:
    answer = ask_all(services, method, target, body, headers)
    assert answer.status == status
    assert answer.headers["content-type"] == "application/problem+json"
    assert ("allow" in answer.headers) == (status == 405)
    if method == "HEAD":
        assert answer.body == b""
    else:
        problem = json.loads(answer.body)
        assert problem["status"] == status
        assert problem["detail"]


def test_header_sets_are_minimal_and_equal(services: dict[str, RunningService]) -> None:
    answer = ask_all(services, "GET", f"/{{}}/movies?directorLastName=Allen&{NO_DELAY}")
    assert set(answer.headers) == {"connection", "content-length", "content-type"}


def test_health_and_metrics(services: dict[str, RunningService]) -> None:
    for name, service in services.items():
        health = service.get("/health")
        assert health.status == 200 and json.loads(health.body)["status"] == "up"
        assert f'heddle_info{{approach="{name}"' in service.get("/metrics").text
        assert service.get("/health?probe=1").status == 200
        assert service.get("/metrics?format=text").status == 200
        assert service.get("/healthy").status == 404
