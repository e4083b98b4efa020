"""A scenario with the overrides of the command line and the warm-up rule applied."""

from dataclasses import dataclass, replace

from harness.errors import UsageError
from harness.load_profile import LoadProfile
from harness.scenario_file import MAX_RATE, Scenario
from harness.service_profile import ServiceProfile

# A scenario without a warm-up would measure cold caches and first connections, and differently so
# per approach: it still gets this much, recorded, unless `-w 0` asks for none.
DEFAULT_WARMUP_SECONDS = 5
DEFAULT_WARMUP_FRACTION = 0.1


@dataclass(frozen=True)
class Warmup:
    """`fraction` of the load for `seconds`; fraction 1.0 repeats the profile's own shape."""

    seconds: int
    fraction: float
    note: str | None


@dataclass(frozen=True)
class Prepared:
    """A scenario that is ready to run: its row (durations effective), profiles, warm-up."""

    scenario: Scenario
    profile: LoadProfile
    service: ServiceProfile
    warmup: Warmup

    @property
    def name(self) -> str:
        return self.scenario.name

    @property
    def load_seconds(self) -> int:
        return self.warmup.seconds + self.scenario.test_seconds

    def columns(self) -> dict[str, str | int | None]:
        """The nine columns with effective durations."""
        return replace(self.scenario, warmup_seconds=self.warmup.seconds).columns()


def choose_warmup(scenario: Scenario, override: int | None) -> Warmup:
    """The warm-up of a scenario; `override` is the value of -w, None when not given."""
    if override is not None:
        note = "none, as asked with -w 0" if override == 0 else f"{override} s, as asked with -w"
        return Warmup(override, 1.0, note)
    if scenario.warmup_seconds == 0:
        note = f"the scenario has none: {DEFAULT_WARMUP_SECONDS} s at a tenth of its load"
        return Warmup(DEFAULT_WARMUP_SECONDS, DEFAULT_WARMUP_FRACTION, note)
    return Warmup(scenario.warmup_seconds, 1.0, None)


def check_rate(scenario: Scenario, profile: LoadProfile, file: str) -> None:
    """Raises UsageError when the row has a rate and the profile paces by users, or the reverse."""
    where = f"{file}:{scenario.line}: column requestsPerSecond"
    if profile.shape == "rate" and scenario.requests_per_second is None:
        raise UsageError(
            f"{where}: found nothing, accepted: a whole number from 1 to {MAX_RATE}, "
            f"because load profile {profile.name} has a fixed rate"
        )
    if profile.shape == "users" and scenario.requests_per_second is not None:
        raise UsageError(
            f"{where}: found {scenario.requests_per_second}, accepted: nothing, "
            f"because the users of load profile {profile.name} pace themselves"
        )
