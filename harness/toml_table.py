"""Typed access to a TOML table; a fault names file, key, what was found and what is accepted."""

import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path

from harness.errors import UsageError


class Table:
    """One table of a TOML file. `where` names file and table in errors."""

    def __init__(self, values: Mapping[str, object], where: str) -> None:
        self.values = values
        self.where = where

    def fault(self, key: str, accepted: str) -> UsageError:
        found = repr(self.values[key]) if key in self.values else "nothing"
        return UsageError(f"{self.where}: key {key}: found {found}, accepted: {accepted}")

    def only(self, keys: Iterable[str]) -> None:
        """Raises when the table has a key that is not among `keys`."""
        known = list(keys)
        for key in self.values:
            if key not in known:
                raise UsageError(f"{self.where}: unknown key {key}, accepted: {', '.join(known)}")

    def text(self, key: str, default: str | None = None) -> str:
        value = self.values.get(key, default)
        if not isinstance(value, str) or not value:
            raise self.fault(key, "a text")
        return value

    def choice(self, key: str, accepted: Iterable[str], default: str | None = None) -> str:
        value = self.values.get(key, default)
        names = list(accepted)
        if not isinstance(value, str) or value not in names:
            raise self.fault(key, ", ".join(names))
        return value

    def number(self, key: str, above: float) -> float:
        value = self.values.get(key)
        if isinstance(value, bool) or not isinstance(value, int | float) or not value > above:
            raise self.fault(key, f"a number above {above:g}")
        return float(value)

    def whole(self, key: str, default: int | None, lowest: int, highest: int) -> int:
        value = self.values.get(key, default)
        if isinstance(value, bool) or not isinstance(value, int):
            raise self.fault(key, f"a whole number from {lowest} to {highest}")
        if not lowest <= value <= highest:
            raise self.fault(key, f"a whole number from {lowest} to {highest}")
        return value

    def pair(self, key: str, lowest: float, highest: float) -> tuple[float, float]:
        """Two numbers, both within the bounds."""
        accepted = f"two numbers from {lowest:g} to {highest:g}"
        value = self.values.get(key)
        if not isinstance(value, list) or len(value) != 2:
            raise self.fault(key, accepted)
        for item in value:
            if isinstance(item, bool) or not isinstance(item, int | float):
                raise self.fault(key, accepted)
            if not lowest <= item <= highest:
                raise self.fault(key, accepted)
        return float(value[0]), float(value[1])

    def table(self, key: str) -> "Table":
        """The table under `key`; an absent one is empty."""
        value = self.values.get(key, {})
        if not isinstance(value, dict):
            raise self.fault(key, "a table")
        return Table(value, f"{self.where} [{key}]")

    def tables(self, key: str) -> list["Table"]:
        """The array of tables under `key`, at least one."""
        value = self.values.get(key)
        if not isinstance(value, list) or not value or not all(isinstance(v, dict) for v in value):
            raise self.fault(key, f"one or more [[{key}]]")
        return [Table(v, f"{self.where} [[{key}]] {i}") for i, v in enumerate(value, start=1)]


def read_toml(path: Path) -> Table:
    """The top table of a file. Raises UsageError when unreadable or not TOML."""
    try:
        return Table(tomllib.loads(path.read_text(encoding="utf-8")), path.name)
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from None
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UsageError(f"{path}: not a TOML file: {error}") from None
