"""Service profiles: the only place where a scenario's `serviceProfiles` become flags."""

from dataclasses import dataclass
from pathlib import Path

from harness.errors import UsageError
from harness.places import known_names
from harness.toml_table import Table, read_toml

# The harness sets these itself for every approach alike.
RESERVED = ("approach", "address", "port", "cpus", "metrics-csv", "print-config")


@dataclass(frozen=True)
class ServiceProfile:
    """Options (without the leading dashes) and environment of a service process."""

    options: dict[str, str]
    environment: dict[str, str]


def combine_service_profiles(names: tuple[str, ...], folder: Path) -> ServiceProfile:
    """Merges the named profiles; where two set the same, the later one wins.

    Raises UsageError for an unknown name (listing the known ones) or a faulty file.
    """
    options: dict[str, str] = {}
    environment: dict[str, str] = {}
    for name in names:
        profile = _read(name, folder)
        options.update(profile.options)
        environment.update(profile.environment)
    return ServiceProfile(options, environment)


def _read(name: str, folder: Path) -> ServiceProfile:
    if name not in known_names(folder):
        known = ", ".join(known_names(folder)) or "none"
        raise UsageError(f"unknown service profile {name}, known: {known}")
    top = read_toml(folder / f"{name}.toml")
    if "helper" in top.values:
        raise UsageError(
            f"{top.where}: [helper] is not supported by this version, "
            "accepted: [service] and [environment]"
        )
    top.only(("service", "environment"))
    service = top.table("service")
    for key in service.values:
        if key in RESERVED:
            raise UsageError(f"{service.where}: key {key} is set by the harness itself")
    environment = top.table("environment")
    return ServiceProfile(
        {key: _option(service, key) for key in service.values},
        {key: environment.text(key) for key in environment.values},
    )


def _option(table: Table, key: str) -> str:
    value = table.values[key]
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, int | str) and str(value):
        return str(value)
    raise table.fault(key, "a text, a whole number, true or false")
