"""The list of faults that other load generators are known for names a test of ours for each."""

import csv
import re
from pathlib import Path

TOP = Path(__file__).resolve().parents[2]
LIST = TOP / "tests" / "loadgen" / "known-faults.csv"
FAULTS = 61


def rows() -> list[dict[str, str]]:
    with LIST.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, strict=True))


def google_tests() -> set[str]:
    """Suite.Name of every GoogleTest case below tests/."""
    case = re.compile(r"^TEST(?:_F|_P)?\(\s*(\w+),\s*(\w+)\)", re.MULTILINE)
    found: set[str] = set()
    for source in (TOP / "tests").rglob("*.cpp"):
        text = source.read_text(encoding="utf-8")
        found |= {f"{suite}.{name}" for suite, name in case.findall(text)}
    return found


def exists(test: str, google: set[str]) -> bool:
    if "::" not in test:
        return test in google
    path, function = test.split("::")
    source = TOP / path
    return source.is_file() and f"def {function}(" in source.read_text(encoding="utf-8")


def test_every_number_stands_there_once_and_in_order() -> None:
    assert [row["number"] for row in rows()] == [str(number) for number in range(1, FAULTS + 1)]


def test_no_cell_is_empty() -> None:
    columns = ["number", "topic", "fault", "what_heddle_does", "tests"]
    for row in rows():
        assert list(row) == columns
        assert all(value and value == value.strip() for value in row.values()), row["number"]


def test_every_named_test_exists() -> None:
    google = google_tests()
    missing = [
        f"{row['number']}: {test}"
        for row in rows()
        for test in row["tests"].split("|")
        if not exists(test, google)
    ]
    assert missing == []


def test_every_class_of_errors_is_documented() -> None:
    """The names are the keys of load.json."""
    source = (TOP / "loadgen" / "record" / "counts.cpp").read_text(encoding="utf-8")
    body = re.search(r"name_of\(TransportError error\) \{(.*?)\n\}", source, re.DOTALL)
    assert body
    names = set(re.findall(r'return "(\w+)";', body.group(1)))
    assert len(names) >= 7
    documented = (TOP / "docs" / "loadgen.md").read_text(encoding="utf-8")
    # `other` carries the error's name: `other:ENETDOWN`.
    assert {name for name in names if not re.search(f"`{name}[`:]", documented)} == set()
