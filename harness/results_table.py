"""results.csv: one row per trial, appended and on disk before the next trial begins."""

import csv
from dataclasses import dataclass
from pathlib import Path

from harness.errors import UsageError
from harness.files import append_csv_row, write_atomically
from harness.reporting import Metrics
from harness.schedule import Slot

LEADING = ("run", "round", "position", "scenario", "approach", "status", "reason", "flags")


@dataclass(frozen=True)
class DoneTrial:
    """A row that a run already has."""

    key: tuple[int, str, str]
    status: str
    flags: tuple[str, ...]


class ResultsTable:
    def __init__(self, path: Path, metric_names: tuple[str, ...]) -> None:
        self.path = path
        self._metric_names = metric_names

    def create(self) -> None:
        write_atomically(self.path, ",".join(LEADING + self._metric_names) + "\n")

    def append(
        self, run: str, slot: Slot, status: str, reason: str | None, flags: list[str],
        metrics: Metrics,
    ) -> None:
        """`metrics` may lack names: those cells stay empty. Blocks until on disk."""
        leading = [run, slot.round, slot.position, slot.scenario, slot.approach, status]
        # A reason can quote a child's log; a row stays one line.
        leading += [" ".join((reason or "").split()), "|".join(flags)]
        append_csv_row(self.path, leading + [metrics.get(name) for name in self._metric_names])

    def read(self) -> list[DoneTrial]:
        """The rows there are; a last line that was cut off is dropped from the file first."""
        try:
            data = self.path.read_bytes()
        except OSError as error:
            raise UsageError(f"{self.path}: {error.strerror}") from None
        whole = data[: data.rfind(b"\n") + 1].decode("utf-8", "replace")
        lines = list(csv.reader(whole.splitlines()))
        if not lines or tuple(lines[0]) != LEADING + self._metric_names:
            raise UsageError(f"{self.path}: its columns are not those of this version")
        if len(whole.encode()) != len(data):
            write_atomically(self.path, whole)
        return [_done(lines[0], line, self.path) for line in lines[1:]]


def _done(header: list[str], fields: list[str], path: Path) -> DoneTrial:
    row = dict(zip(header, fields, strict=False))
    if len(fields) != len(header) or not row["round"].isdecimal():
        raise UsageError(f"{path}: not a row of a trial: {','.join(fields)[:200]}")
    key = int(row["round"]), row["scenario"], row["approach"]
    return DoneTrial(key, row["status"], tuple(flag for flag in row["flags"].split("|") if flag))
