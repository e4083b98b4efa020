"""Proof from the service's own /metrics that an approach really waits the way its name says."""

import re
from dataclasses import dataclass

# Which kind of task each model must use; the model is the approach's name up to the server's.
KIND_BY_MODEL = {
    "threadpool": "thread",
    "threads": "thread",
    "fibers": "fiber",
    "reactor": "callback",
    "coroutines": "coroutine",
}
POOL_MODELS = ("threadpool",)
# Counters are read one after the other while requests run: tasks that were started but have not
# reached their body yet may be missing from the place counters, as many as are in flight.
LAG_SLACK = 64

SAMPLE = re.compile(
    r'([a-zA-Z_:][\w:]*)(?:\{((?:[^"}]|"(?:[^"\\]|\\.)*")*)\})?\s+(\S+)(?:\s+\d+)?\s*'
)
LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')

Samples = dict[tuple[str, tuple[tuple[str, str], ...]], float]


@dataclass(frozen=True)
class ModeCheck:
    """`on` None: no task had been started yet, nothing to judge."""

    on: bool | None
    reason: str | None


def parse_metrics(text: str) -> Samples:
    """Prometheus text -> {(name, sorted labels): value}. Raises ValueError on a broken line."""
    samples: Samples = {}
    for line in text.splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        match = SAMPLE.fullmatch(line)
        if match is None:
            raise ValueError(f"not a metrics line: {line!r}")
        labels = tuple(sorted(LABEL.findall(match.group(2) or "")))
        samples[match.group(1), labels] = float(match.group(3))
    return samples


def check_mode(approach: str, samples: Samples) -> ModeCheck:
    """Whether tasks of the right kind, and only those, ran in the right place."""
    model = approach.split("-")[0]
    kind = KIND_BY_MODEL.get(model)
    if kind is None:
        return ModeCheck(None, f"no rule for model {model}")
    told = [dict(labels).get("approach") for name, labels in samples if name == "heddle_info"]
    if told != [approach]:
        return ModeCheck(False, f"the service says it is {told}, wanted {approach}")
    started = by_kind(samples, "heddle_tasks_started_total")
    wrong = [f"{count:g} {name}" for name, count in started.items() if name != kind and count]
    if wrong:
        return ModeCheck(False, f"tasks of another kind than {kind}: {', '.join(wrong)}")
    if not started.get(kind):
        return ModeCheck(None, f"no task of kind {kind} has been started")
    peak = by_kind(samples, "heddle_tasks_in_flight_peak").get(kind, 0.0)
    return _check_places(model, started[kind], peak + LAG_SLACK, samples)


def by_kind(samples: Samples, metric: str) -> dict[str, float]:
    return {
        dict(labels).get("kind", ""): value
        for (name, labels), value in samples.items()
        if name == metric
    }


def _check_places(model: str, started: float, lag: float, samples: Samples) -> ModeCheck:
    on_pool = model in POOL_MODELS
    expected = {
        "heddle_tasks_on_io_threads_total": not on_pool,
        "heddle_tasks_on_pool_threads_total": on_pool,
        "heddle_tasks_in_fiber_context_total": model == "fibers",
    }
    for name, here in expected.items():
        value = samples.get((name, ()))
        if value is None:
            return ModeCheck(False, f"/metrics has no {name}")
        if not here and value:
            return ModeCheck(False, f"{name} is {value:g}, wanted 0 for {model}")
        if here and (value == 0 or abs(started - value) > lag):
            return ModeCheck(False, f"{name} is {value:g}, wanted {started:g} for {model}")
    return ModeCheck(True, None)
