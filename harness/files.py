"""Writing files so that a reader never sees half of one."""

import csv
import io
import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Puts `path` into an OSError from inside that names no file, as that of a full disk."""
    try:
        yield
    except OSError as error:
        if error.filename is None:
            error.filename = str(path)
        raise


def write_atomically(path: Path, text: str) -> None:
    """Replaces `path` in one step, on disk when this returns."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    with naming(path), temporary.open("w", encoding="utf-8", newline="\n") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    os.replace(temporary, path)


def write_json(path: Path, value: object) -> None:
    """NaN and infinity are refused: "not measured" is null."""
    write_atomically(path, json.dumps(value, indent=2, allow_nan=False, ensure_ascii=False) + "\n")


def append_csv_row(path: Path, cells: Sequence[object]) -> None:
    """Appends one row, on disk when this returns."""
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\n").writerow(cells)
    with naming(path), path.open("a", encoding="utf-8", newline="") as file:
        file.write(buffer.getvalue())
        file.flush()
        os.fsync(file.fileno())


def utc_text(moment: datetime | None = None) -> str:
    """2024-05-31T12:00:00Z"""
    return (moment or datetime.now(UTC)).strftime("%Y-%m-%dT%H:%M:%SZ")
