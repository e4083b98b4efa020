"""One trial: a service process of its own, one load, and everything measured meanwhile."""

import http.client
import os
import signal
import threading
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from harness import modes
from harness.budgets import Fit
from harness.cpu_reading import read_cpu
from harness.cpus import CpuSets
from harness.effective import Prepared
from harness.errors import Interrupted, TrialFailed
from harness.files import utc_text, write_json
from harness.load_events import END, Event, EventReader
from harness.load_plan import Target, build_plan, load_seed, measure_stage_count
from harness.port_owner import port_owner
from harness.processes import (
    HEALTH_LIMIT_SECONDS,
    POLL_SECONDS,
    STOP_LIMIT_SECONDS,
    Child,
    http_get,
    wait_for_free_port,
)
from harness.reference_work import OTHER_LOAD_CPUS, is_slow, run_reference
from harness.sampler import Sampler, trial_sources
from harness.schedule import Slot
from harness.service_command import ServiceBase
from harness.trial_record import (
    TrialRecord,
    accepted_connections,
    accounting_fault,
    generator_fault,
    left_unaccepted,
    read_load_result,
)

# heddle-load's own worst case: connect timeout, then after the last request its timeout; and time
# to write its files.
LOAD_GRACE_SECONDS = 20.0 + 60.0 + 15.0
LOAD_STOP_SECONDS = 5.0
QUIET_NICENESS = 10


@dataclass(frozen=True)
class Bench:
    """What all trials of a run share."""

    run: str
    service: ServiceBase
    load_binary: Path
    cpus: CpuSets
    seed: int
    reference_iterations: int
    stop: threading.Event
    calibration: Path | None = None  # of the load generator; may be missing
    health_limit_seconds: float = HEALTH_LIMIT_SECONDS
    load_grace_seconds: float = LOAD_GRACE_SECONDS
    stop_limit_seconds: float = STOP_LIMIT_SECONDS


def run_trial(
    bench: Bench,
    slot: Slot,
    prepared: Prepared,
    folder: Path,
    fit: Fit,
    earlier_millis: Sequence[float] = (),
) -> TrialRecord:
    """Runs one trial in `folder` (must exist) and leaves its files there. Blocks until both
    children have ended. Never raises for a trial that went wrong: that is status "failed" with
    its reason. Raises, with nothing left running, Interrupted when `bench.stop` is set, and OSError
    when a file cannot be written.

    `fit` comes from planning; `earlier_millis` are the reference times of earlier trials.
    """
    record = TrialRecord(bench.run, slot, prepared, bench.cpus, utc_text(), flags=list(fit.flags))
    run = _Trial(bench, record, folder, fit.service_options)
    faults: list[str] = []
    try:
        run.measure(earlier_millis)
    except TrialFailed as failure:
        faults.append(str(failure))
    finally:
        faults += run.finish()
    if not faults:
        faults += run.judge()
    if faults:
        # The first fault is the cause; an unclean end is often its consequence.
        record.status, record.reason = "failed", faults[0]
    record.ended_utc = utc_text()
    record.write(folder)
    return record


class _Trial:
    def __init__(
        self, bench: Bench, record: TrialRecord, folder: Path, service_options: Mapping[str, str]
    ) -> None:
        self._bench = bench
        self._service_options = service_options
        self._record = record
        self._folder = folder
        self._service: Child | None = None
        self._load: Child | None = None
        self._reader: EventReader | None = None
        self._sampler: Sampler | None = None
        # /metrics is asked for during the load: on a thread that yields to the generator.
        self._quiet = ThreadPoolExecutor(1, "quiet", _be_quiet, (bench.cpus.loadgen,))
        self._own_connections = 0
        self._mode: Future[modes.ModeCheck] | None = None
        self._stages_left = measure_stage_count(record.prepared)

    def measure(self, earlier_millis: Sequence[float]) -> None:
        self._reference(earlier_millis)
        service = self._start_service()
        load = self._start_load()
        sources = trial_sources(service.pid, load.pid, self._bench.cpus)
        self._sampler = Sampler(
            self._folder / "system.csv", sources, self._bench.cpus.loadgen
        )
        self._watch(service, load)
        self._settle_mode()

    def _reference(self, earlier_millis: Sequence[float]) -> None:
        result = run_reference(self._bench.reference_iterations, self._bench.cpus.service)
        self._record.reference = result
        if is_slow(result.millis, earlier_millis):
            self._record.flags.append("host-slow")
        if result.other_cpus is not None and result.other_cpus > OTHER_LOAD_CPUS:
            self._record.flags.append("other-load")

    def _start_service(self) -> Child:
        bench, record = self._bench, self._record
        if not wait_for_free_port(bench.service.port):
            owner = port_owner(bench.service.port) or "another process"
            raise TrialFailed(f"port {bench.service.port} is occupied by {owner}")
        profile = record.prepared.service
        command = [str(bench.service.binary)]
        command += bench.service.flags(record.slot.approach, profile, self._service_options)
        command += ["--metrics-csv", str(self._folder / "service.csv")]
        record.service_command = command
        self._service = service = Child(
            "heddle-service",
            command,
            self._folder / "service.log",
            bench.cpus.service,
            profile.environment,
        )
        deadline = time.monotonic() + bench.health_limit_seconds
        while not self._healthy():
            self._check_alive(service)
            if time.monotonic() > deadline:
                raise TrialFailed(f"/health did not answer in {bench.health_limit_seconds:g} s")
            time.sleep(POLL_SECONDS)
        return service

    def _healthy(self) -> bool:
        try:
            self._ask("/health")
        except (OSError, http.client.HTTPException):
            return False
        return True

    def _ask(self, path: str) -> str:
        body = http_get(self._bench.service.port, path)
        self._own_connections += 1
        return body

    def _check_alive(self, service: Child) -> None:
        if self._bench.stop.is_set():
            raise Interrupted("interrupted")
        if service.ended():
            raise TrialFailed(service.end_text())

    def _start_load(self) -> Child:
        bench, record = self._bench, self._record
        target = Target(
            approach=record.slot.approach,
            port=bench.service.port,
            loadgen_cpus=bench.cpus.loadgen,
            congestion_control=bench.service.congestion(record.prepared.service),
            seed=load_seed(bench.seed, record.slot.round, record.slot.scenario),
        )
        plan = self._folder / "plan.json"
        write_json(plan, build_plan(record.prepared, target))
        command = [str(bench.load_binary), "--plan", str(plan), "--out", str(self._folder)]
        if bench.calibration is not None and bench.calibration.is_file():
            command += ["--calibration", str(bench.calibration)]
        self._load = Child(
            "heddle-load",
            [*command, "--events", "-"],
            self._folder / "load.log",
            bench.cpus.loadgen,
            pipe_output=True,
        )
        stream = self._load.process.stdout
        assert stream is not None  # piped above
        self._reader = EventReader(stream, self._folder / "events.jsonl")
        return self._load

    def _watch(self, service: Child, load: Child) -> None:
        assert self._reader is not None
        limit = self._record.prepared.load_seconds + self._bench.load_grace_seconds
        deadline = time.monotonic() + limit
        reason: str | None = None
        event: Event | None = None
        while event is not END:
            self._check_alive(service)
            if time.monotonic() > deadline:
                raise TrialFailed(f"heddle-load did not end in {limit:g} s and was killed")
            event = self._reader.next(0.1)
            if event is not None:
                reason = self._handle(event) or reason
        if not load.wait(deadline - time.monotonic()):
            raise TrialFailed(f"heddle-load did not end in {limit:g} s and was killed")
        self._check_alive(service)
        if load.process.returncode != 0:
            raise TrialFailed(f"load failed: {reason}" if reason else load.end_text())

    def _handle(self, event: Event) -> str | None:
        """Acts on an event; the reason of a "done" that is not complete is returned."""
        if event.kind == "stage-started" and event.is_measure and self._mode is None:
            assert self._service is not None
            self._record.window_start = event.number("monotonicNanos")
            self._record.at_start = read_cpu(self._service.pid)
            self._mode = self._quiet.submit(self._probe_mode)
        elif event.kind == "stage-ended" and event.is_measure:
            self._stages_left -= 1
            if self._stages_left == 0:
                self._end_window(event)
        elif event.kind == "done" and event.text("status") != "complete":
            return event.text("reason")
        return None

    def _end_window(self, event: Event) -> None:
        assert self._service is not None
        self._record.window_end = event.number("monotonicNanos")
        self._record.at_end = read_cpu(self._service.pid)

    def _probe_mode(self) -> modes.ModeCheck:
        try:
            samples = modes.parse_metrics(self._ask("/metrics"))
        except (OSError, ValueError, http.client.HTTPException) as error:
            return modes.ModeCheck(None, f"cannot read /metrics: {error}")
        return modes.check_mode(self._record.slot.approach, samples)

    def _settle_mode(self) -> None:
        """Takes the check of the window's start; asks again where that could not tell."""
        check = self._mode.result() if self._mode else modes.ModeCheck(None, "no load window")
        if check.on is None:
            check = self._probe_mode()
        self._record.mode = check
        if not check.on:
            raise TrialFailed(f"mode is not on: {check.reason}")

    def finish(self) -> list[str]:
        """Ends whatever runs, load first. Returns what was unclean about the service's end."""
        unclean: list[str] = []
        # Entered in the reverse order; each is called also when one before it raises OSError.
        with ExitStack() as ending:
            if self._service is not None:
                service = self._service
                ending.callback(lambda: unclean.extend(self._stop_service(service)))
            ending.callback(self._quiet.shutdown)
            if self._reader is not None:
                ending.callback(self._reader.close)
            if self._sampler is not None:
                ending.callback(self._sampler.stop)
            if self._load is not None:
                ending.callback(self._load.stop, signal.SIGINT, LOAD_STOP_SECONDS)
        return unclean

    def _stop_service(self, service: Child) -> list[str]:
        if service.ended():
            return [service.end_text()]
        if not service.stop(signal.SIGTERM, self._bench.stop_limit_seconds):
            return [f"the service did not stop within {self._bench.stop_limit_seconds:g} s, killed"]
        if service.process.returncode != 0:
            return [f"at its stop {service.end_text()}"]
        if not wait_for_free_port(self._bench.service.port):
            return [f"port {self._bench.service.port} was not left by the service"]
        return []

    def judge(self) -> list[str]:
        """Whether what was measured may count; sets "ok" or "invalid", or returns the faults."""
        record = self._record
        if record.window_start is None or record.window_end is None:
            return ["heddle-load told no load window"]
        try:
            load = read_load_result(self._folder / "load.json")
        except TrialFailed as failure:
            return [str(failure)]
        fault = accounting_fault(load)
        if fault is not None:
            return [f"requests unaccounted for: {fault}"]
        accepted = accepted_connections(self._folder / "service.csv")
        if left_unaccepted(load, accepted, self._own_connections):
            record.flags.append("not-all-accepted")
        record.reason = generator_fault(load)
        record.status = "invalid" if record.reason else "ok"
        return []


def _be_quiet(cpus: Sequence[int]) -> None:
    os.sched_setaffinity(0, cpus)
    os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), QUIET_NICENESS)
