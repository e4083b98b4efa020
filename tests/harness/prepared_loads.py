"""Scenarios ready to run, made by hand for tests."""

from harness.effective import Prepared, choose_warmup
from harness.load_profile import LoadProfile, Request, Shape, Stage, Think
from harness.scenario_file import Scenario
from harness.service_profile import ServiceProfile

GET = Request("get-allen", 3, "GET", "/movies?directorLastName=Allen", None, 200, None)
TIME = Request("get-time", 1, "GET", "/epoch-millis", None, 200, 13)
SPIKE = (Stage(0.8, 0.0, 1.0), Stage(0.2, 1.0, 0.0))
FLAT = (Stage(1.0, 1.0, 1.0),)
UNIFORM = Think("uniform", (1.0, 3.0))
NONE = Think("none", ())


def prepared(
    shape: Shape = "rate",
    connections: int = 1000,
    rate: int | None = 500,
    depth: int = 0,
    delay: int = 100,
    warmup: int = 10,
    test: int = 180,
    override: int | None = None,
    stages: tuple[Stage, ...] | None = None,
    think: Think | None = None,
    requests: tuple[Request, ...] = (GET, TIME),
) -> Prepared:
    users = shape == "users"
    profile = LoadProfile(
        "profile", shape, "per-user", think or (UNIFORM if users else NONE),
        stages or (SPIKE if users else FLAT), requests,
    )
    scenario = Scenario("s", "profile", (), depth, delay, connections,
                        None if users else rate, warmup, test)
    return Prepared(scenario, profile, ServiceProfile({}, {}), choose_warmup(scenario, override))
