"""The run: every trial in its turn, a row for each, and a report of what there is at the end."""

import json
import shutil
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from harness import errors
from harness.error_logs import keep_error_lines
from harness.errors import Interrupted
from harness.files import utc_text
from harness.generator_limits import FILE_NAME as CALIBRATION_FILE
from harness.generator_limits import measure_limits
from harness.host_facts import Check
from harness.manifest import Manifest
from harness.progress import Progress
from harness.reference_work import OTHER_LOAD_CPUS
from harness.reporting import Analysis, Metrics, failed_parts
from harness.results_table import DoneTrial, ResultsTable
from harness.run_plan import RunPlan
from harness.schedule import Slot
from harness.trial import Bench, run_trial
from harness.trial_record import TrialRecord

SHOWN_METRICS = (("latency_millis_p50", "p50"), ("latency_millis_p99", "p99"))


@dataclass(frozen=True)
class Outcome:
    """How a run ended: statuses of all its trials, warnings of the report."""

    statuses: tuple[str, ...]
    interrupted: bool
    report_failed: bool
    host_warnings: bool

    def exit_code(self, strict: bool) -> int:
        if self.interrupted:
            return errors.EXIT_INTERRUPTED
        if "failed" in self.statuses or self.report_failed:
            return errors.EXIT_FAILED
        if all(status == "skipped" for status in self.statuses):
            return errors.EXIT_NOT_MEASURABLE
        if strict and ("invalid" in self.statuses or self.host_warnings):
            return errors.EXIT_NOT_MEASURABLE
        return errors.EXIT_OK


class Run:
    """One run in its folder, new or resumed."""

    def __init__(
        self,
        folder: Path,
        plan: RunPlan,
        bench: Bench,
        manifest: Manifest,
        analysis: Analysis,
        keep_raw: bool,
        baseline_millis: Sequence[float],
    ) -> None:
        self._folder = folder
        self._plan = plan
        self._bench = bench
        self._manifest = manifest
        self._analysis = analysis
        self._keep_raw = keep_raw
        self._table = ResultsTable(folder / "results.csv", analysis.metric_names)
        self._done: list[DoneTrial] = []
        self._reference_millis = list(baseline_millis)
        self._most_other_cpus = 0.0

    def begin(self) -> None:
        """Creates the results table of a new run."""
        self._table.create()

    def restore(self) -> None:
        """Takes over the rows of the interrupted part."""
        self._done = self._table.read()
        self._reference_millis += _reference_times(self._folder / "trials")

    def left(self) -> list[Slot]:
        done = {trial.key for trial in self._done}
        return [slot for slot in self._plan.slots if slot.key not in done]

    def execute(self, progress: Progress) -> bool:
        """Runs what is left. Returns False when it was interrupted; nothing runs then."""
        try:
            self._calibrate(progress)
        except Interrupted:
            return False
        for slot in self.left():
            if self._bench.stop.is_set():
                return False
            progress.begin(slot)
            try:
                outcome, seconds = self._one(slot)
            except Interrupted:
                progress.pause()
                return False
            progress.end(slot, outcome, seconds)
            self._manifest.update(rounds=self._rounds())
        return True

    def _calibrate(self, progress: Progress) -> None:
        """Once per run: a resumed one keeps the limits that its first trials had."""
        runnable = any(self._plan.fit(slot).skip is None for slot in self.left())
        if not runnable or (self._folder / CALIBRATION_FILE).exists():
            return
        progress.say("measuring what the load generator can do on this host (about 10 s)")
        check = measure_limits(self._bench, self._folder)
        self._manifest.set_check(check)
        progress.say(f"{'warning: ' if check.status == 'warning' else ''}{check.detail}")

    def _one(self, slot: Slot) -> tuple[str, float | None]:
        """(what to tell, seconds it took or None for a skipped one)."""
        fit = self._plan.fit(slot)
        if fit.skip is not None:
            self._add_row(slot, "skipped", fit.skip, [], {})
            return f"skipped: {fit.skip}", None
        started = time.monotonic()
        trial = self._folder / "trials" / slot.folder
        # What an interrupted trial left behind is no part of the result.
        shutil.rmtree(trial, ignore_errors=True)
        trial.mkdir(parents=True)
        load = self._plan.load(slot)
        record = run_trial(self._bench, slot, load, trial, fit, self._reference_millis)
        metrics = self._metrics(record, trial)
        self._add_row(slot, record.status, record.reason, record.flags, metrics)
        keep_error_lines(trial, self._folder, slot.scenario, slot.approach)
        self._note_host(record)
        return describe(record, metrics), time.monotonic() - started

    def _metrics(self, record: TrialRecord, trial: Path) -> Metrics:
        """Metrics of a trial that counts; a failed one has none rather than wrong ones."""
        if record.status not in ("ok", "invalid"):
            return {}
        try:
            metrics, flags = self._analysis.read_trial(trial)
        except Exception as error:  # whatever it is, it must not end the run
            record.status = "failed"
            record.reason = f"analysis: {type(error).__name__}: {error}"
            record.write(trial)
            return {}
        # In the row too: what stands behind them goes with the raw files.
        record.flags += [flag for flag in flags if flag not in record.flags]
        return metrics

    def _add_row(
        self, slot: Slot, status: str, reason: str | None, flags: list[str], metrics: Metrics
    ) -> None:
        self._table.append(self._bench.run, slot, status, reason, flags, metrics)
        self._done.append(DoneTrial(slot.key, status, tuple(flags)))

    def _note_host(self, record: TrialRecord) -> None:
        reference = record.reference
        if reference is None:
            return
        self._reference_millis.append(reference.millis)
        if reference.other_cpus is None or reference.other_cpus <= OTHER_LOAD_CPUS:
            return
        self._most_other_cpus = max(self._most_other_cpus, reference.other_cpus)
        trials = sum("other-load" in trial.flags for trial in self._done)
        detail = (
            f"before {trials} of {len(self._done)} trials other processes were running, "
            f"at most {self._most_other_cpus:.2f} CPUs busy"
        )
        self._manifest.set_check(Check("other-load", "warning", detail))

    def _rounds(self) -> dict[str, int]:
        left = {slot.round for slot in self.left()}
        return {"planned": self._plan.rounds, "done": self._plan.rounds - len(left)}

    def finish(self, complete: bool, progress: Progress) -> Outcome:
        """Closes the manifest, renders the report, and drops raw files of a complete run."""
        self._manifest.update(
            status="complete" if complete else "interrupted",
            endedUtc=utc_text(),
            rounds=self._rounds(),
        )
        report_failed = not self._render(progress)
        self._manifest.update(reported=not report_failed)
        if complete and not self._keep_raw and not report_failed:
            shutil.rmtree(self._folder / "trials", ignore_errors=True)
        return Outcome(
            statuses=tuple(trial.status for trial in self._done),
            interrupted=not complete,
            report_failed=report_failed,
            host_warnings=self._manifest.has_warnings(),
        )

    def _render(self, progress: Progress) -> bool:
        if not self._done:
            return True
        try:
            warnings = self._analysis.render_run(self._folder, self._keep_raw)
        except Exception as error:  # the measurements are there; say it and keep them
            progress.say(f"report failed: {type(error).__name__}: {error}")
            return False
        for warning in warnings:
            progress.say(f"report: {warning}")
        failed = failed_parts(warnings)
        if failed:
            progress.say(
                f"report incomplete: {len(failed)} of its parts could not be made, see above; "
                "raw files are kept"
            )
        return not failed


def describe(record: TrialRecord, metrics: Metrics) -> str:
    """One line for the user."""
    text: str = record.status
    if record.reason:
        text += f": {record.reason}"
    for name, short in SHOWN_METRICS:
        value = metrics.get(name)
        if value is not None:
            text += f", {short} {value:.4g} ms"
    if metrics.get("requests_error"):
        text += f", {metrics['requests_error']} errors"
    return text + (f" [{', '.join(record.flags)}]" if record.flags else "")


def _reference_times(trials: Path) -> list[float]:
    """Reference times of the trials that are there, for a resumed run."""
    times: list[float] = []
    for path in sorted(trials.glob("*/trial.json")):
        try:
            millis = json.loads(path.read_text(encoding="utf-8"))["reference"]["millis"]
        except (OSError, ValueError, KeyError, TypeError):
            continue
        if isinstance(millis, int | float):
            times.append(float(millis))
    return times
