"""Reads scenario files (CSV), strictly: every fault names file, line, column and what is accepted.

The nine columns are those of the suite this one descends from, and its own files load too: its
names `k6Config` and `serverProfiles` are accepted in the header and a `.js` suffix is dropped.
Columns are found by their name in the header, never by position: a swapped column in a positional
reader once passed unnoticed.
"""

import csv
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from harness.errors import UsageError

COLUMNS = (
    "scenario",
    "loadProfile",
    "serviceProfiles",
    "delayCallDepth",
    "delayInMillis",
    "connections",
    "requestsPerSecond",
    "warmupDurationInSeconds",
    "testDurationInSeconds",
)
ANCESTOR_COLUMNS = {"k6Config": "loadProfile", "serverProfiles": "serviceProfiles"}

MAX_DEPTH = 100
MAX_DELAY_MILLIS = 600_000
MAX_CONNECTIONS = 1_000_000
MAX_RATE = 10_000_000
MAX_SECONDS = 86_400

# A scenario's name becomes a folder's name, a profile's name a file's.
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
MAX_NAME = 100  # a trial's folder rNN-NAME-APPROACH must stay below the 255 bytes of a name
NAME_RULE = "letters, digits, '.', '_' and '-', beginning with a letter or digit"

# What else a result folder holds; in lower case, as some file systems tell no case.
RESERVED_NAMES = (
    "manifest.json",
    "report.html",
    "results.csv",
    "results.md",
    "results.png",
    "results.svg",
    "trials",
    "verdicts.csv",
)

# `# rounds = 1` sets how many rounds the file runs without -n; to the ancestor it is a comment.
ROUNDS_LINE = re.compile(r"#\s*rounds\s*=\s*(.*?)\s*")
MAX_ROUNDS = 1_000

T = TypeVar("T")


@dataclass(frozen=True)
class ScenarioFile:
    """`rounds` None: the file asks for no particular number."""

    scenarios: tuple["Scenario", ...]
    rounds: int | None


@dataclass(frozen=True)
class Scenario:
    """One row of a scenario file. `requests_per_second` None: the column is empty."""

    name: str
    load_profile: str
    service_profiles: tuple[str, ...]
    delay_call_depth: int
    delay_millis: int
    connections: int
    requests_per_second: int | None
    warmup_seconds: int
    test_seconds: int
    line: int = 0

    def columns(self) -> dict[str, str | int | None]:
        """The nine columns under the names of the file."""
        return {
            "scenario": self.name,
            "loadProfile": self.load_profile,
            "serviceProfiles": "|".join(self.service_profiles),
            "delayCallDepth": self.delay_call_depth,
            "delayInMillis": self.delay_millis,
            "connections": self.connections,
            "requestsPerSecond": self.requests_per_second,
            "warmupDurationInSeconds": self.warmup_seconds,
            "testDurationInSeconds": self.test_seconds,
        }


@dataclass(frozen=True)
class Cell:
    """One value of the file and where it stands."""

    file: str
    line: int
    column: str
    text: str

    def fault(self, accepted: str) -> UsageError:
        return UsageError(
            f"{self.file}:{self.line}: column {self.column}: found {self.text!r}, "
            f"accepted: {accepted}"
        )


def read_scenario_file(path: Path, shown_as: str | None = None) -> ScenarioFile:
    """The file's scenarios in its order. Raises UsageError naming the first fault."""
    file = shown_as or str(path)
    try:
        # A fifo would block, a device never end.
        if path.exists() and not path.is_file():
            raise UsageError(f"{file}: is no regular file")
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise UsageError(f"{file}: cannot read scenario file: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise UsageError(f"{file}: not UTF-8: byte {error.start} is {error.reason}") from None
    return parse_scenarios(text, file)


def parse_scenarios(text: str, file: str) -> ScenarioFile:
    """As read_scenario_file, from the file's text; `file` is only named in errors."""
    header: list[str] | None = None
    rounds: int | None = None
    scenarios: list[Scenario] = []
    lines_by_name: dict[str, int] = {}
    for number, line in enumerate(text.split("\n"), start=1):
        line = line.strip()
        if match := ROUNDS_LINE.fullmatch(line):
            cell = Cell(file, number, "rounds", match.group(1))
            if rounds is not None:
                raise cell.fault("one line '# rounds = N' in a file")
            rounds = _whole(1, MAX_ROUNDS)(cell)
        if not line or line.startswith("#"):
            continue
        fields = _split(line, file, number)
        if header is None:
            header = _check_header(fields, file, number)
            continue
        scenario = _parse_row(header, fields, file, number)
        earlier = lines_by_name.setdefault(scenario.name, number)
        if earlier != number:
            raise Cell(file, number, "scenario", scenario.name).fault(
                f"a name of its own (line {earlier} has the same)"
            )
        scenarios.append(scenario)
    if header is None:
        raise UsageError(f"{file}: empty; expected the header {','.join(COLUMNS)}")
    if not scenarios:
        raise UsageError(f"{file}: no scenario below the header")
    return ScenarioFile(tuple(scenarios), rounds)


def _split(line: str, file: str, number: int) -> list[str]:
    if "\0" in line:
        raise UsageError(f"{file}:{number}: found a NUL character, accepted: text")
    try:
        rows = list(csv.reader([line], strict=True))
    except csv.Error as error:
        raise UsageError(f"{file}:{number}: not a CSV line: {error}") from None
    return [field.strip() for field in rows[0]]


def _check_header(fields: list[str], file: str, number: int) -> list[str]:
    header = [ANCESTOR_COLUMNS.get(field, field) for field in fields]
    for index, name in enumerate(header):
        if name not in COLUMNS:
            raise UsageError(
                f"{file}:{number}: header column {index + 1}: found {fields[index]!r}, "
                f"accepted: {', '.join(COLUMNS)}"
            )
        if name in header[:index]:
            raise UsageError(
                f"{file}:{number}: header column {index + 1}: found {fields[index]!r} a second "
                "time, accepted: each column once"
            )
    missing = [name for name in COLUMNS if name not in header]
    if missing:
        raise UsageError(
            f"{file}:{number}: header: column {missing[0]} is missing, "
            f"accepted: {', '.join(COLUMNS)}"
        )
    return header


def _parse_row(header: list[str], fields: list[str], file: str, number: int) -> Scenario:
    if len(fields) != len(header):
        raise UsageError(
            f"{file}:{number}: found {len(fields)} columns, "
            f"accepted: {len(header)} as in the header"
        )
    texts = dict(zip(header, fields, strict=True))

    def read(column: str, parse: Callable[[Cell], T]) -> T:
        return parse(Cell(file, number, column, texts[column]))

    return Scenario(
        name=read("scenario", _name),
        load_profile=read("loadProfile", _profile),
        service_profiles=read("serviceProfiles", _profiles),
        delay_call_depth=read("delayCallDepth", _whole(0, MAX_DEPTH)),
        delay_millis=read("delayInMillis", _whole(0, MAX_DELAY_MILLIS)),
        connections=read("connections", _whole(1, MAX_CONNECTIONS)),
        requests_per_second=read("requestsPerSecond", _optional_rate),
        warmup_seconds=read("warmupDurationInSeconds", _whole(0, MAX_SECONDS)),
        test_seconds=read("testDurationInSeconds", _whole(1, MAX_SECONDS)),
        line=number,
    )


def _name(cell: Cell) -> str:
    if not NAME.fullmatch(cell.text):
        raise cell.fault(NAME_RULE)
    if len(cell.text) > MAX_NAME:
        raise cell.fault(f"at most {MAX_NAME} characters (these are {len(cell.text)})")
    if cell.text.lower() in RESERVED_NAMES:
        raise cell.fault(f"a name not used in the result folder ({', '.join(RESERVED_NAMES)})")
    return cell.text


def _profile(cell: Cell) -> str:
    name = cell.text.removesuffix(".js")
    if not NAME.fullmatch(name):
        raise cell.fault(f"the name of a load profile: {NAME_RULE}")
    return name


def _profiles(cell: Cell) -> tuple[str, ...]:
    if not cell.text:
        return ()
    names = tuple(name.strip() for name in cell.text.split("|"))
    if not all(NAME.fullmatch(name) for name in names):
        raise cell.fault("names of service profiles joined by '|', or nothing")
    return names


def _whole(lowest: int, highest: int) -> Callable[[Cell], int]:
    def parse(cell: Cell) -> int:
        # isdecimal would accept digits of other scripts; int() would accept '1_000' and '+5'.
        # 9 digits hold every limit, and a bound keeps int() from its own error on huge texts.
        fits = re.fullmatch(r"[0-9]{1,9}", cell.text) is not None
        if not fits or not lowest <= int(cell.text) <= highest:
            raise cell.fault(f"a whole number from {lowest} to {highest}")
        return int(cell.text)

    return parse


def _optional_rate(cell: Cell) -> int | None:
    if not cell.text:
        return None
    try:
        return _whole(1, MAX_RATE)(cell)
    except UsageError:
        raise cell.fault(f"a whole number from 1 to {MAX_RATE}, or nothing for none") from None
