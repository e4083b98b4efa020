"""Turns options into a checked plan: scenarios, approaches, settings, what fits, in which order."""

import os
import secrets
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path

from harness.budgets import Fit, HostLimits, ServiceLimits, check_fit
from harness.effective import Prepared, check_rate, choose_warmup
from harness.errors import UsageError
from harness.load_profile import read_load_profile
from harness.options import DEFAULT_FILE, DEFAULT_ROUNDS, Options
from harness.places import Places
from harness.processes import query
from harness.scenario_file import Scenario, ScenarioFile, read_scenario_file
from harness.schedule import Slot, plan_rounds
from harness.service_command import PLAIN_PROFILE, ServiceBase, Settings, whole_setting
from harness.service_profile import combine_service_profiles

# Where a service does not tell these limits, the ones it documents.
DEFAULT_POOL_THREADS = 5_000
UNLIMITED = 2**31


@dataclass(frozen=True)
class Binaries:
    service: Path
    load: Path


@dataclass(frozen=True)
class RunPlan:
    """All that a run needs to know before it starts anything."""

    scenario_file: str
    name: str
    scenarios: tuple[Scenario, ...]
    prepared: dict[str, Prepared]
    approaches: tuple[str, ...]
    rounds: int
    seed: int
    settings: dict[str, Settings]
    fits: dict[tuple[str, str], Fit]
    slots: tuple[Slot, ...]

    def fit(self, slot: Slot) -> Fit:
        return self.fits[slot.scenario, slot.approach]

    def load(self, slot: Slot) -> Prepared:
        return self.prepared[slot.scenario]

    def runnable(self, slots: list[Slot] | None = None) -> list[Slot]:
        chosen = self.slots if slots is None else slots
        return [slot for slot in chosen if self.fit(slot).skip is None]


def find_binaries(places: Places) -> Binaries:
    """The binaries named in the environment, else those of build/release."""
    return Binaries(
        _find(places, "HEDDLE_SERVICE", "heddle-service"),
        _find(places, "HEDDLE_LOAD", "heddle-load"),
    )


def _find(places: Places, variable: str, name: str) -> Path:
    named = os.environ.get(variable)
    if named:
        path = Path(named).resolve()
        if not os.access(path, os.X_OK):
            raise UsageError(f"{variable}={named}: no executable file")
        return path
    for path in sorted(places.release_build.rglob(name)):
        if path.is_file() and os.access(path, os.X_OK):
            return path
    raise UsageError(f"{name} has not been built: run ./benchmark.sh, which builds it")


def locate_scenario_file(name: str, places: Places) -> tuple[Path, str]:
    """(path, name to show): a bare name lies in scenarios/, one with a slash is a path."""
    if "/" in name:
        path, shown = Path(name), name
    else:
        path, shown = places.scenarios / name, f"scenarios/{name}"
    if not os.path.exists(path):  # unlike Path's, False for a name that is too long
        known = ", ".join(sorted(p.name for p in places.scenarios.glob("*.csv"))) or "none"
        raise UsageError(f"{shown}: no such scenario file; in scenarios/: {known}")
    return path, shown


def read_scenarios(options: Options, places: Places) -> tuple[ScenarioFile, dict[str, Prepared]]:
    """Reads and checks file and profiles, without any binary; overrides and pattern applied."""
    path, shown = locate_scenario_file(options.scenario_file or DEFAULT_FILE, places)
    file = read_scenario_file(path, shown)
    pattern = options.pattern
    chosen = [s for s in file.scenarios if pattern is None or fnmatchcase(s.name, pattern)]
    if not chosen:
        names = ", ".join(scenario.name for scenario in file.scenarios)
        raise UsageError(f"--scenarios {pattern}: matches none of {names}")
    prepared = {s.name: _prepare(s, shown, options, places) for s in chosen}
    return replace(file, scenarios=tuple(chosen)), prepared


def _prepare(scenario: Scenario, file: str, options: Options, places: Places) -> Prepared:
    where = f"{file}:{scenario.line}"
    try:
        profile = read_load_profile(scenario.load_profile, places.load_profiles)
        service = combine_service_profiles(scenario.service_profiles, places.service_profiles)
    except UsageError as error:
        raise UsageError(f"{where}: {error}") from None
    check_rate(scenario, profile, file)
    warmup = choose_warmup(scenario, options.warmup_seconds)
    seconds = options.test_seconds or scenario.test_seconds
    return Prepared(replace(scenario, test_seconds=seconds), profile, service, warmup)


def build_run_plan(
    options: Options, places: Places, service: ServiceBase, limits: HostLimits
) -> RunPlan:
    """Raises UsageError for whatever the run would stumble over later."""
    file, prepared = read_scenarios(options, places)
    approaches = choose_approaches(service.binary, options.approaches)
    seed = secrets.randbits(32) if options.seed is None else options.seed
    rounds = options.rounds or file.rounds or DEFAULT_ROUNDS
    settings = {name: service.settings(name, PLAIN_PROFILE) for name in approaches}
    return RunPlan(
        scenario_file=options.scenario_file or DEFAULT_FILE,
        name=Path(options.scenario_file or DEFAULT_FILE).stem,
        scenarios=file.scenarios,
        prepared=prepared,
        approaches=approaches,
        rounds=rounds,
        seed=seed,
        settings=settings,
        fits=_fits(prepared, settings, service, limits),
        slots=tuple(plan_rounds(seed, rounds, list(prepared), approaches)),
    )


def _fits(
    prepared: dict[str, Prepared],
    settings: dict[str, Settings],
    service: ServiceBase,
    limits: HostLimits,
) -> dict[tuple[str, str], Fit]:
    known: dict[tuple[str, tuple[str, ...]], ServiceLimits] = {
        (name, ()): _service_limits(plain) for name, plain in settings.items()
    }
    fits: dict[tuple[str, str], Fit] = {}
    for load in prepared.values():
        for approach in settings:
            key = approach, load.scenario.service_profiles
            if key not in known:
                known[key] = _service_limits(service.settings(approach, load.service))
            fits[load.name, approach] = check_fit(load, approach, limits, known[key])
    return fits


def _service_limits(settings: Settings) -> ServiceLimits:
    return ServiceLimits(
        pool_threads=whole_setting(settings, "poolThreads", DEFAULT_POOL_THREADS),
        max_connections=whole_setting(settings, "maxConnections", UNLIMITED),
        client_connections=whole_setting(settings, "clientConnections", UNLIMITED),
        io_threads=max(1, whole_setting(settings, "threads", 1)),
    )


def choose_approaches(service: Path, wanted: tuple[str, ...] | None) -> tuple[str, ...]:
    """The wanted approaches, or all, in the order in which the service lists them."""
    known = tuple(query(service, ["--list-approaches"], {}).split())
    for name in wanted or ():
        if name not in known:
            raise UsageError(f"unknown approach {name}, known: {', '.join(known)}")
    if not known:
        raise UsageError(f"{service.name} lists no approach")
    return tuple(name for name in known if wanted is None or name in wanted)
