"""The result folder of a run, the link to the newest, and the host-wide lock."""

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from harness.errors import NotMeasurable, UsageError

LOCK_VARIABLE = "HEDDLE_LOCK"
# Per trial: logs, histograms and series of a second each, before raw files are deleted.
BYTES_PER_TRIAL = 2 << 20
BYTES_PER_LOAD_SECOND = 64 << 10
SPARE_BYTES = 256 << 20


def create_run_folder(results: Path, name: str, now: datetime | None = None) -> Path:
    """A new, empty folder NAME-UTC; one that exists is never taken."""
    stamp = (now or datetime.now(UTC)).strftime("%Y%m%dT%H%M%SZ")
    try:
        results.mkdir(parents=True, exist_ok=True)
        for suffix in ("", *(f"-{n}" for n in range(2, 100))):
            folder = results / f"{name}-{stamp}{suffix}"
            try:
                folder.mkdir()
            except FileExistsError:
                continue
            (folder / "trials").mkdir()
            return folder
    except OSError as error:
        raise UsageError(f"cannot write results below {results}: {error.strerror}") from None
    raise UsageError(f"{results}: a hundred runs in one second")


def link_newest(folder: Path, name: str) -> str | None:
    """Points the link NAME at `folder`. Returns a warning when something else has that name."""
    link = folder.parent / name
    if link.exists() and not link.is_symlink():
        return f"{link} exists and is no link: left as it is"
    temporary = folder.parent / f".{name}.{os.getpid()}"
    temporary.symlink_to(folder.name)
    os.replace(temporary, link)
    return None


def check_disk(results: Path, trials: int, load_seconds: float) -> None:
    """Raises NotMeasurable when the run's files may not fit on the disk."""
    wanted = trials * BYTES_PER_TRIAL + int(load_seconds * BYTES_PER_LOAD_SECOND) + SPARE_BYTES
    folder = results
    while not folder.exists():
        folder = folder.parent
    free = shutil.disk_usage(folder).free
    if free < wanted:
        raise NotMeasurable(
            f"{folder}: {free >> 20} MiB of disk free, this run may write {wanted >> 20} MiB"
        )


def lock_path() -> Path:
    """One lock for the whole host: two runs at once would measure each other."""
    named = os.environ.get(LOCK_VARIABLE)
    return Path(named) if named else Path(tempfile.gettempdir()) / "heddle-benchmark.lock"


@contextmanager
def host_lock(path: Path, purpose: str) -> Iterator[None]:
    """Holds the lock while inside. Raises UsageError naming the holder when it is taken."""
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    except OSError as error:
        raise UsageError(f"cannot open the lock {path}: {error.strerror}") from None
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.pread(descriptor, 4096, 0).decode("utf-8", "replace").strip()
            raise UsageError(
                f"another benchmark is running on this host ({holder or 'unknown'}); "
                "two at once would measure each other"
            ) from None
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"process {os.getpid()}: {purpose}\n".encode(), 0)
        yield
        os.ftruncate(descriptor, 0)
    finally:
        os.close(descriptor)
