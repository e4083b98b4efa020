"""Counts test cases in JUnit XML files: `count_tests.py FILE...` prints "PASSED FAILED SKIPPED".

A file that is missing or does not parse (its program died while writing it) counts as one failure.
"""

import sys
from pathlib import Path
from xml.etree import ElementTree


def count(path: Path) -> tuple[int, int, int]:
    """Passed, failed (or ended by an error) and skipped cases of one file."""
    try:
        cases = list(ElementTree.parse(path).iter("testcase"))
    except (OSError, ElementTree.ParseError):
        return 0, 1, 0
    # An Element without children is false: ask for None.
    failed = sum(
        case.find("failure") is not None or case.find("error") is not None for case in cases
    )
    skipped = sum(
        case.find("skipped") is not None or case.get("status") == "notrun" for case in cases
    )
    return len(cases) - failed - skipped, failed, skipped


def main(arguments: list[str]) -> int:
    counts = [count(Path(name)) for name in arguments]
    totals = [sum(column) for column in zip(*counts, strict=True)]
    print(*totals)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
