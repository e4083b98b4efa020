"""The command line of the service: the same options for every approach, then the profile's."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from harness.errors import UsageError
from harness.processes import query
from harness.service_profile import ServiceProfile

Settings = Mapping[str, object]
PLAIN_PROFILE = ServiceProfile({}, {})


@dataclass(frozen=True)
class ServiceBase:
    """What all approaches and scenarios of a run have in common."""

    binary: Path
    port: int
    cpus: tuple[int, ...]
    congestion_control: str | None

    def congestion(self, profile: ServiceProfile) -> str | None:
        """Both ends use the same one: what a service profile sets holds for the generator too."""
        return profile.options.get("congestion-control", self.congestion_control)

    def flags(
        self, approach: str, profile: ServiceProfile, extra: Mapping[str, str] | None = None
    ) -> list[str]:
        """Options for one approach; `extra` are those that a scenario's size needs."""
        options = {**(extra or {}), **profile.options}
        if self.congestion_control is not None:
            options.setdefault("congestion-control", self.congestion_control)
        flags = ["--approach", approach, "--port", str(self.port)]
        flags += ["--cpus", ",".join(map(str, self.cpus))]
        return flags + [part for key, value in options.items() for part in (f"--{key}", value)]

    def settings(
        self, approach: str, profile: ServiceProfile, extra: Mapping[str, str] | None = None
    ) -> Settings:
        """Every effective setting, as --print-config tells it. Raises UsageError."""
        flags = [*self.flags(approach, profile, extra), "--print-config"]
        try:
            settings = json.loads(query(self.binary, flags, profile.environment))
        except ValueError:
            settings = None
        if not isinstance(settings, dict):
            raise UsageError(f"{self.binary.name} --print-config printed no JSON object")
        return settings


def whole_setting(settings: Settings, name: str, default: int) -> int:
    value = settings.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) else default
