"""Puts everything together for one call of benchmark.sh and turns the outcome into an exit code."""

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import cast

from harness.cpus import CpuSets, find_cpu_sets, on_cpus
from harness.errors import (
    EXIT_FAILED,
    EXIT_INTERRUPTED,
    EXIT_OK,
    HarnessError,
    RunBroken,
    UsageError,
)
from harness.files import utc_text
from harness.host_facts import choose_congestion_control, host_limits, raise_descriptor_limit
from harness.manifest import FILE_NAME, Manifest, new_manifest, read_identity, read_manifest
from harness.options import Options, parse_options
from harness.places import Places
from harness.port_owner import port_owner
from harness.processes import port_is_free
from harness.generator_limits import FILE_NAME as CALIBRATION_FILE
from harness.progress import Progress, describe_checks, describe_plan
from harness.reference_work import BASELINE_RUNS, calibrate, run_reference
from harness.reporting import Analysis, load_analysis
from harness.resume import check_same, options_of
from harness.run import Run
from harness.run_folder import check_disk, create_run_folder, host_lock, link_newest, lock_path
from harness.run_plan import (
    Binaries,
    RunPlan,
    build_run_plan,
    find_binaries,
    read_scenarios,
)
from harness.service_command import ServiceBase
from harness.trial import Bench

# Set by benchmark.sh before anything is installed or built: check the command line and the files
# it names, then end with this code, which means "go on".
CHECK_VARIABLE = "HEDDLE_CHECK_ARGUMENTS"
EXIT_GO_ON = 10
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def main(
    arguments: Sequence[str],
    places: Places | None = None,
    analysis: Callable[[], Analysis] = load_analysis,
    adjust_bench: Callable[[Bench], Bench] = lambda bench: bench,
) -> int:
    """Runs one command line; returns the exit code. Errors are one line on stderr.

    `analysis` and `adjust_bench` let tests replace the analysis and shorten time limits.
    """
    try:
        options = parse_options(list(arguments))
        return _run(options, arguments, places or Places(), analysis, adjust_bench)
    except SystemExit as leave:  # --help
        return int(leave.code or EXIT_OK)
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    except OSError as error:
        print(f"benchmark.sh: {os_error_text(error)}", file=sys.stderr)
        return EXIT_FAILED
    except HarnessError as error:
        print(f"benchmark.sh: {error}", file=sys.stderr)
        return error.exit_code


def _run(
    options: Options,
    arguments: Sequence[str],
    places: Places,
    analysis: Callable[[], Analysis],
    adjust_bench: Callable[[Bench], Bench],
) -> int:
    manifest = read_manifest(options.resume) if options.resume is not None else None
    if manifest is not None:
        options = options_of(manifest, options)
        if manifest.nothing_left():
            print(f"{options.resume}: already complete, nothing to do")
            return EXIT_OK
    if os.environ.get(CHECK_VARIABLE):
        read_scenarios(options, places)
        return EXIT_GO_ON
    binaries = find_binaries(places)
    nofile = raise_descriptor_limit()
    cpus = find_cpu_sets()
    service = ServiceBase(
        binaries.service, options.port, cpus.service, choose_congestion_control()
    )
    plan = build_run_plan(options, places, service, host_limits())
    for line in describe_plan(plan):
        print(line, flush=True)
    if options.dry_run:
        return EXIT_OK
    starter = _Starter(options, arguments, places, binaries, service, cpus, nofile, plan)
    with host_lock(lock_path(), f"benchmark of {plan.scenario_file}"), _stop_signals() as stop:
        # The harness itself stays off the service's CPUs.
        try:
            with on_cpus(cpus.loadgen):
                run, progress = starter.start(manifest, analysis(), adjust_bench, stop)
                complete = run.execute(progress)
            _default_signals()  # a second Ctrl-C ends the rendering
            outcome = run.finish(complete, progress)
        except OSError as error:
            raise RunBroken(broken_line(starter.folder, error)) from None
    progress.say(closing_line(starter.folder, complete))
    return outcome.exit_code(options.strict)


def closing_line(folder: Path, complete: bool) -> str:
    if complete:
        return f"results: {folder}"
    return (
        f"interrupted; partial results: {folder}; "
        f"continue with: ./benchmark.sh --resume {folder}"
    )


def os_error_text(error: OSError) -> str:
    reason = error.strerror or str(error)
    return f"cannot write {error.filename}: {reason}" if error.filename else reason


def broken_line(folder: Path, error: OSError) -> str:
    """What went wrong with the run in `folder`, and how to go on where that is possible."""
    if (folder / FILE_NAME).is_file():
        return f"{os_error_text(error)}; continue with --resume {folder}"
    return f"{os_error_text(error)}; nothing to resume, start a new run"


class _Starter:
    """Makes a new run or opens an interrupted one."""

    def __init__(
        self,
        options: Options,
        arguments: Sequence[str],
        places: Places,
        binaries: Binaries,
        service: ServiceBase,
        cpus: CpuSets,
        nofile: tuple[int, int],
        plan: RunPlan,
    ) -> None:
        self._options = options
        self._arguments = arguments
        self._places = places
        self._binaries = binaries
        self._service = service
        self._cpus = cpus
        self._nofile = nofile
        self._plan = plan
        self.folder = options.resume.resolve() if options.resume is not None else Path()

    def start(
        self,
        manifest: Manifest | None,
        analysis: Analysis,
        adjust_bench: Callable[[Bench], Bench],
        stop: threading.Event,
    ) -> tuple[Run, Progress]:
        """Checks the host, writes the manifest; nothing has been started when this returns."""
        if not port_is_free(self._service.port):
            owner = port_owner(self._service.port) or "a process that cannot be seen"
            raise UsageError(
                f"port {self._service.port} is occupied by {owner}; "
                "end it or choose another --port"
            )
        resumed = manifest is not None
        manifest = self._resume(manifest) if manifest is not None else self._create()
        reference = cast(dict[str, object], manifest.document["reference"])
        bench = Bench(
            run=self.folder.name,
            service=self._service,
            load_binary=self._binaries.load,
            cpus=self._cpus,
            seed=self._plan.seed,
            reference_iterations=cast(int, reference["iterations"]),
            stop=stop,
            calibration=self.folder / CALIBRATION_FILE,
        )
        run = Run(
            self.folder,
            self._plan,
            adjust_bench(bench),
            manifest,
            analysis,
            self._options.keep_raw,
            cast(list[float], reference["baselineMillis"]),
        )
        run.restore() if resumed else run.begin()
        progress = Progress(self._plan, run.left())
        for line in describe_checks(manifest.document["checks"]):
            progress.say(line)
        progress.say(f"results go to {self.folder}")
        return run, progress

    def _create(self) -> Manifest:
        plan, options = self._plan, self._options
        results = options.results_dir or self._places.results
        loads = [plan.load(slot).load_seconds for slot in plan.runnable()]
        check_disk(results, len(loads), sum(loads))
        self.folder = create_run_folder(results, plan.name).resolve()
        iterations = calibrate(self._cpus.service)
        baseline = [
            run_reference(iterations, self._cpus.service).millis for _ in range(BASELINE_RUNS)
        ]
        manifest = new_manifest(
            self.folder,
            plan,
            options,
            self._arguments,
            read_identity(self._places, self._binaries, self.folder.parent),
            self._places,
            self._binaries,
            self._cpus,
            self._nofile,
            {"iterations": iterations, "baselineMillis": baseline},
        )
        warning = link_newest(self.folder, plan.name)
        if warning is not None:
            print(f"warning: {warning}", file=sys.stderr)
        return manifest

    def _resume(self, manifest: Manifest) -> Manifest:
        identity = read_identity(self._places, self._binaries, self.folder.parent)
        check_same(manifest, self._plan, identity)
        earlier = cast(list[object], manifest.document.get("resumed") or [])
        manifest.update(
            status="running",
            reported=False,
            resumed=[*earlier, utc_text()],
            keepRaw=self._options.keep_raw,
        )
        return manifest


@contextmanager
def _stop_signals() -> Iterator[threading.Event]:
    """An event that SIGINT, SIGTERM and SIGHUP set: children are then ended in order."""
    stop = threading.Event()

    def handler(number: int, frame: FrameType | None) -> None:
        stop.set()

    before = {number: signal.signal(number, handler) for number in SIGNALS}
    try:
        yield stop
    finally:
        for number, old in before.items():
            signal.signal(number, old)


def _default_signals() -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
