"""Finds text that must not be in the project.

`check_words.py TOP` prints FILE:LINE: what for each hit in the text files that git tracks below
TOP. Exit code 1 when there is one. The patterns are put together from pieces so that this file does
not find itself.
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

from tracked_files import tracked_files

CODE = {".cpp", ".hpp", ".py", ".sh", ""}

# What, pattern, and the suffixes it applies to (None: every text file).
RULES: list[tuple[str, re.Pattern[str], set[str] | None]] = [
    (
        "a path of one machine",
        re.compile(r"(?<![\w./~-])/" + r"(home|work|root|Users)/\w"),
        None,
    ),
    (
        "the host of a package archive",
        re.compile(
            r"\b(deb|security|registry|archive|mirror|snapshot)\." + r"[a-z]+\.(org|com|io|net)\b"
        ),
        None,
    ),
    ("a merge marker", re.compile(r"^(<{7}|\|{7}|>{7})( |$)|^={7}$"), None),
    ("something left open", re.compile(r"\b(TO" + r"DO|FIX" + r"ME|HA" + r"CK)\b"), None),
    (
        "a test that is switched off",
        re.compile(
            r"GTEST" + r"_SKIP|\bDISABLED" + r"_\w|mark\." + r"(skip|xfail)"
            r"|pytest\." + r"(skip|xfail)\("
        ),
        CODE,
    ),
]


def hits(top: Path) -> Iterator[tuple[Path, int, str, str]]:
    for path in tracked_files(top):
        try:
            text = (top / path).read_text(encoding="utf-8")
        except UnicodeDecodeError:  # a picture
            continue
        for number, line in enumerate(text.splitlines(), start=1):
            for what, pattern, suffixes in RULES:
                match = pattern.search(line)
                if match and (suffixes is None or path.suffix in suffixes):
                    yield path, number, what, match.group().strip()


def main(arguments: list[str]) -> int:
    found = list(hits(Path(arguments[0] if arguments else ".")))
    for path, line, what, text in found:
        print(f"{path}:{line}: {what}: {text}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
