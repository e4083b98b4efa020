"""Whether an approach does what its name says, from its own metrics."""

import pytest
from harness.modes import by_kind, check_mode, parse_metrics
from tests.harness.fakes import heddle_service as fake

APPROACHES = fake.APPROACHES


def text_of(approach: str, **changes: str) -> str:
    """The fake's metrics with lines replaced: metric name -> new value."""
    lines = []
    for line in fake.metrics(approach, "").splitlines():
        name = line.split(" ")[0]
        lines.append(f"{name} {changes.get(name, line.split(' ')[1])}")
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("approach", APPROACHES)
def test_the_right_mode_is_on(approach: str) -> None:
    assert check_mode(approach, parse_metrics(text_of(approach))).on is True


@pytest.mark.parametrize("approach", APPROACHES)
@pytest.mark.parametrize("other", APPROACHES)
def test_the_metrics_of_another_approach_are_refused(approach: str, other: str) -> None:
    if approach != other:
        disguised = text_of(other).replace(f'"{other}"', f'"{approach}"')
        assert check_mode(approach, parse_metrics(disguised)).on is False
        assert check_mode(approach, parse_metrics(text_of(other))).on is False


def test_a_pool_that_works_on_io_threads_is_refused() -> None:
    text = text_of("threadpool-restinio", heddle_tasks_on_io_threads_total="1")
    check = check_mode("threadpool-restinio", parse_metrics(text))
    assert (check.on, check.reason) == (
        False, "heddle_tasks_on_io_threads_total is 1, wanted 0 for threadpool")


def test_fibers_outside_a_fiber_are_refused() -> None:
    text = text_of("fibers-restinio", heddle_tasks_in_fiber_context_total="0")
    assert check_mode("fibers-restinio", parse_metrics(text)).on is False


def test_tasks_between_start_and_body_are_no_fault_but_a_lost_tenth_is() -> None:
    name = 'heddle_tasks_started_total{kind="fiber"}'
    for started, on in (("170", True), ("200", False)):
        text = text_of("fibers-restinio", **{name: started})
        assert check_mode("fibers-restinio", parse_metrics(text)).on is on


def test_nothing_started_yet_cannot_be_judged() -> None:
    name = 'heddle_tasks_started_total{kind="callback"}'
    text = text_of("reactor-restinio", **{name: "0"})
    check = check_mode("reactor-restinio", parse_metrics(text))
    assert (check.on, check.reason) == (None, "no task of kind callback has been started")


def test_a_missing_counter_is_refused() -> None:
    text = text_of("reactor-restinio").replace("heddle_tasks_on_io_threads_total", "other")
    assert check_mode("reactor-restinio", parse_metrics(text)).on is False


def test_prometheus_text() -> None:
    samples = parse_metrics('# HELP x y\nx{b="2",a="1,}"} 1.5e3 1700000000\n\ny 2\nx{kind="k"} 3\n')
    assert samples["x", (("a", "1,}"), ("b", "2"))] == 1500
    assert by_kind(samples, "x")["k"] == 3
    with pytest.raises(ValueError, match="not a metrics line"):
        parse_metrics("what\n")
