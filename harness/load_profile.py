"""Load profiles: the shape of a load and its request mix, read from TOML (docs/formats.md)."""

from dataclasses import dataclass
from math import isclose
from pathlib import Path
from typing import Literal

from harness.errors import UsageError
from harness.places import known_names
from harness.toml_table import Table, read_toml

Shape = Literal["rate", "users"]
MIXES = ("per-user", "per-request")
THINK_KINDS = ("none", "constant", "uniform", "exponential")
METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
# A user owns one of the scenario's connections; a rate may peak above the row's own, but beyond
# twice that a profile would no longer mean what the row says.
MAX_FRACTION = {"users": 1.0, "rate": 2.0}


@dataclass(frozen=True)
class Think:
    """Pause of a user after each response. `seconds`: () none, (x,) constant or mean, (a, b)."""

    kind: str
    seconds: tuple[float, ...]

    def mean_seconds(self) -> float:
        return sum(self.seconds) / len(self.seconds) if self.seconds else 0.0


@dataclass(frozen=True)
class Stage:
    """`start` and `end` are fractions of the scenario's connections or requests per second."""

    share: float
    start: float
    end: float


@dataclass(frozen=True)
class Request:
    name: str
    weight: int
    method: str
    path: str
    body: Path | None
    status: int
    body_bytes: int | None


@dataclass(frozen=True)
class LoadProfile:
    name: str
    shape: Shape
    mix: str
    think: Think
    stages: tuple[Stage, ...]
    requests: tuple[Request, ...]

    def peak_fraction(self) -> float:
        """The highest share of the scenario's load that any stage reaches."""
        return max(max(stage.start, stage.end) for stage in self.stages)


def read_load_profile(name: str, folder: Path) -> LoadProfile:
    """The profile `name` of `folder`. Raises UsageError listing the known ones if there is none.

    Bodies are looked up beside the profile, then in the scenarios folder two levels up.
    """
    if name not in known_names(folder):
        known = ", ".join(known_names(folder)) or "none"
        raise UsageError(f"unknown load profile {name}, known: {known}")
    top = read_toml(folder / f"{name}.toml")
    top.only(("mix", "think", "stages", "requests"))
    stages = top.tables("stages")
    shape = _shape(stages)
    profile = LoadProfile(
        name=name,
        shape=shape,
        mix=top.choice("mix", MIXES, default="per-request"),
        think=_think(top.table("think")),
        stages=tuple(_stage(table, shape) for table in stages),
        requests=tuple(_request(table, folder) for table in top.tables("requests")),
    )
    _check(profile, top)
    return profile


def _shape(stages: list[Table]) -> Shape:
    shapes: set[Shape] = set()
    for stage in stages:
        stage.only(("share", "rate", "users"))
        if ("rate" in stage.values) == ("users" in stage.values):
            raise UsageError(f"{stage.where}: accepted: either rate or users, one of them")
        shapes.add("rate" if "rate" in stage.values else "users")
    if len(shapes) > 1:
        raise UsageError(f"{stages[0].where}: all stages must have rate, or all users")
    return shapes.pop()


def _stage(table: Table, shape: Shape) -> Stage:
    start, end = table.pair(shape, 0.0, MAX_FRACTION[shape])
    return Stage(table.number("share", above=0.0), start, end)


def _think(table: Table) -> Think:
    table.only(("kind", "seconds"))
    kind = table.choice("kind", THINK_KINDS, default="none")
    if kind == "none":
        table.only(("kind",))
        return Think(kind, ())
    if kind == "uniform":
        low, high = table.pair("seconds", 0.0, 3600.0)
        if low > high:
            raise table.fault("seconds", "the lower bound first")
        return Think(kind, (low, high))
    return Think(kind, (table.number("seconds", above=0.0),))


def _request(table: Table, folder: Path) -> Request:
    table.only(("name", "weight", "method", "path", "body", "expect"))
    expect = table.table("expect")
    expect.only(("status", "bodyBytes"))
    path = table.text("path")
    if not path.startswith("/") or any(c.isspace() for c in path):
        raise table.fault("path", "a path that begins with '/' and has no spaces")
    has_size = "bodyBytes" in expect.values
    return Request(
        name=table.text("name"),
        weight=table.whole("weight", 1, 1, 1_000_000),
        method=table.choice("method", METHODS, default="GET"),
        path=path,
        body=_body(table, folder) if "body" in table.values else None,
        status=expect.whole("status", 200, 100, 599),
        body_bytes=expect.whole("bodyBytes", None, 0, 2**31) if has_size else None,
    )


def _body(table: Table, folder: Path) -> Path:
    name = table.text("body")
    for candidate in (folder / name, folder.parent.parent / name):
        if candidate.is_file():
            return candidate
    raise table.fault("body", f"a file beside the profile or in {folder.parent.parent}")


def _check(profile: LoadProfile, top: Table) -> None:
    total = sum(stage.share for stage in profile.stages)
    if not isclose(total, 1.0, abs_tol=1e-6):
        raise UsageError(f"{top.where}: the stages' shares add up to {total:g}, accepted: 1")
    if profile.shape == "rate" and profile.think.kind != "none":
        raise UsageError(f"{top.where}: a profile with rate has no think time, accepted: none")
    if profile.peak_fraction() == 0:
        raise UsageError(f"{top.where}: no stage has any load")
    names = [request.name for request in profile.requests]
    for name in names:
        if names.count(name) > 1:
            raise UsageError(f"{top.where}: two requests are named {name}")
