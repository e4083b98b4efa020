"""Builds plan.json, what the harness asks of heddle-load (docs/formats.md). Pure."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from harness.effective import Prepared
from harness.load_profile import Request, Stage, Think

PLAN_SCHEMA = 1
REQUEST_TIMEOUT_MILLIS = 60_000
CONNECT_TIMEOUT_MILLIS = 20_000

Json = dict[str, object]


@dataclass(frozen=True)
class Target:
    """Where and how the load runs; the same for all approaches of a run but for `approach`."""

    approach: str
    port: int
    loadgen_cpus: tuple[int, ...]
    congestion_control: str | None
    seed: int


def load_seed(run_seed: int, round_number: int, scenario: str) -> int:
    """A trial's seed: equal for all approaches of a round, so that they get the same arrivals.

    Below 2**53, so that every JSON reader keeps it exact.
    """
    digest = hashlib.sha256(f"{run_seed}/{round_number}/{scenario}".encode()).digest()
    return int.from_bytes(digest[:8], "big") >> 11


def build_plan(prepared: Prepared, target: Target) -> Json:
    """The plan as a JSON object. Body files are named by absolute path; the generator compacts
    JSON bodies itself."""
    scenario, profile = prepared.scenario, prepared.profile
    return {
        "schema": PLAN_SCHEMA,
        "name": f"{scenario.name}/{target.approach}",
        "seed": target.seed,
        "targets": [f"http://127.0.0.1:{target.port}"],
        "connections": scenario.connections,
        "threads": len(target.loadgen_cpus),
        "cpus": list(target.loadgen_cpus),
        "sourceAddresses": "auto",
        "keepAlive": True,
        "requestsPerConnection": None,
        "requestTimeoutMillis": REQUEST_TIMEOUT_MILLIS,
        "connectTimeoutMillis": CONNECT_TIMEOUT_MILLIS,
        "connect": {"mode": "burst"},
        "congestionControl": target.congestion_control,
        "mix": profile.mix,
        "think": _think(profile.think),
        "stages": _warmup_stages(prepared)
        + _stages("measure", scenario.test_seconds, profile.stages, prepared),
        "whenBusy": "queue",
        "requests": [
            _request(request, prepared, target.approach) for request in profile.requests
        ],
    }


def measure_stage_count(prepared: Prepared) -> int:
    return len(prepared.profile.stages)


def _think(think: Think) -> Json:
    if think.kind == "none":
        return {"kind": "none"}
    millis = [round(seconds * 1000) for seconds in think.seconds]
    return {"kind": think.kind, "millis": millis if think.kind == "uniform" else millis[0]}


def _warmup_stages(prepared: Prepared) -> list[Json]:
    warmup = prepared.warmup
    if warmup.seconds == 0:
        return []
    if warmup.fraction < 1.0:
        flat = Stage(1.0, warmup.fraction, warmup.fraction)
        return _stages("warmup", warmup.seconds, (flat,), prepared)
    return _stages("warmup", warmup.seconds, prepared.profile.stages, prepared)


def _stages(
    kind: str, seconds: int, stages: Sequence[Stage], prepared: Prepared
) -> list[Json]:
    ends = _boundaries_millis(seconds, stages)
    return [
        {
            "name": kind if len(stages) == 1 else f"{kind}-{index}",
            "kind": kind,
            "durationMillis": ends[index] - ends[index - 1],
            "arrivals": _arrivals(stage, prepared),
        }
        for index, stage in enumerate(stages, start=1)
    ]


def _boundaries_millis(seconds: int, stages: Sequence[Stage]) -> list[int]:
    """Stage boundaries from 0 to exactly the total: rounding never adds up."""
    boundaries, share = [0], 0.0
    for stage in stages:
        share += stage.share
        boundaries.append(round(share * seconds * 1000))
    boundaries[-1] = seconds * 1000
    return boundaries


def _arrivals(stage: Stage, prepared: Prepared) -> Json:
    scenario, profile = prepared.scenario, prepared.profile
    if profile.shape == "rate":
        rate = scenario.requests_per_second or 0
        if stage.start == stage.end:
            return {"kind": "constant-rate", "perSecond": rate * stage.start}
        return {"kind": "rate-ramp", "from": rate * stage.start, "to": rate * stage.end}
    first, last = (_users(scenario.connections, part) for part in (stage.start, stage.end))
    if stage.start == stage.end:
        return {"kind": "users", "count": first}
    return {"kind": "users-ramp", "from": first, "to": last}


def _users(connections: int, fraction: float) -> int:
    """Whole users, rounded down as the ancestor does, but one at least where any are meant.

    The small addend keeps 0.29 * 100 = 28.999... from losing a user.
    """
    if fraction == 0:
        return 0
    return max(1, int(connections * fraction + 1e-9))


def _request(request: Request, prepared: Prepared, approach: str) -> Json:
    scenario, body = prepared.scenario, request.body
    delays = urlencode(
        {"delayCallDepth": scenario.delay_call_depth, "delayInMillis": scenario.delay_millis}
    )
    headers = {"accept": "application/json"}
    if body is not None:
        headers["content-type"] = "application/json"
    return {
        "name": request.name,
        "weight": request.weight,
        "method": request.method,
        "path": f"/{approach}{request.path}{'&' if '?' in request.path else '?'}{delays}",
        "headers": headers,
        "bodyFile": str(body.resolve()) if body is not None else None,
        "expect": {"status": request.status, "bodyBytes": request.body_bytes},
    }
