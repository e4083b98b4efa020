"""SCENARIO/APPROACH-client-error.log and -service-error.log: every line that mentions an error."""

import re
from collections.abc import Iterator
from pathlib import Path

ERROR = re.compile(rb"error", re.IGNORECASE)
# A log once grew to 3 GB in the ancestor: streamed, and a line is cut at this length.
MAX_LINE_BYTES = 64 << 10


def keep_error_lines(trial: Path, run: Path, scenario: str, approach: str) -> None:
    """Appends the lines of a trial's logs; a file without such lines is never created."""
    for log, kind in (("load.log", "client"), ("service.log", "service")):
        _append(trial / log, run / scenario / f"{approach}-{kind}-error.log")


def _append(source: Path, target: Path) -> None:
    if not source.is_file():
        return
    out = None
    try:
        for line in error_lines(source):
            if out is None:
                target.parent.mkdir(exist_ok=True)
                out = target.open("ab")
            out.write(line + b"\n")
    finally:
        if out is not None:
            out.close()


def error_lines(source: Path) -> Iterator[bytes]:
    with source.open("rb") as file:
        while line := file.readline(MAX_LINE_BYTES):
            if ERROR.search(line):
                yield line.rstrip(b"\n")
