"""The command line of benchmark.sh."""

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from harness.errors import UsageError
from harness.scenario_file import MAX_ROUNDS, MAX_SECONDS

DEFAULT_FILE = "scenarios-quick.csv"
DEFAULT_ROUNDS = 3
DEFAULT_PORT = 8080

DESCRIPTION = "Benchmarks concurrency models of a C++ HTTP service and writes a report."
EPILOG = """\
A bare SCENARIO_FILE is looked up in scenarios/, one with a slash is a path.
Results: build/results/NAME-UTC/, with a link NAME to the newest.

exit codes: 0 ok (skipped rows are no failure), 1 a trial or the report failed or a file could not
be written, 2 usage or configuration, 3 not measurable (with --strict also a
late load generator or an unfit host), 130 interrupted

environment: HEDDLE_SERVICE and HEDDLE_LOAD name the two binaries to use instead of building them
"""


@dataclass(frozen=True)
class Options:
    """None: not given, so the default or the scenario file decides."""

    scenario_file: str | None
    approaches: tuple[str, ...] | None
    pattern: str | None
    rounds: int | None
    warmup_seconds: int | None
    test_seconds: int | None
    keep_raw: bool
    seed: int | None
    resume: Path | None
    dry_run: bool
    strict: bool
    port: int
    results_dir: Path | None


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message} (see --help)")


def _whole(lowest: int, highest: int) -> Callable[[str], int]:
    def parse(text: str) -> int:
        digits = text.isascii() and text.isdecimal() and len(text) <= 20
        if not digits or not lowest <= int(text) <= highest:
            raise argparse.ArgumentTypeError(
                f"found {text!r}, accepted: a whole number from {lowest} to {highest}"
            )
        return int(text)

    return parse


def _path(text: str) -> Path:
    if not text:
        raise argparse.ArgumentTypeError("found '', accepted: a path")
    return Path(text)


def _file_name(text: str) -> str:
    if not text:
        raise argparse.ArgumentTypeError("found '', accepted: the name of a scenario file")
    return text


def _names(text: str) -> tuple[str, ...]:
    names = tuple(dict.fromkeys(name.strip() for name in text.split(",")))
    if not all(names):
        raise argparse.ArgumentTypeError(f"found {text!r}, accepted: names joined by ','")
    return names


def build_parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="benchmark.sh",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    add = parser.add_argument
    add("scenario_file", nargs="?", type=_file_name, metavar="SCENARIO_FILE",
        help=f"default {DEFAULT_FILE}")
    add("-a", "--approaches", type=_names, metavar="LIST",
        help="approaches joined by ',' (default: all that heddle-service lists)")
    add("--scenarios", dest="pattern", metavar="GLOB",
        help="only scenarios whose whole name matches, e.g. '*-call-depth-1'")
    add("-n", "--rounds", type=_whole(1, MAX_ROUNDS), metavar="N",
        help=f"rounds (default {DEFAULT_ROUNDS}, or what the file's line '# rounds = N' says)")
    add("-w", "--warmup", type=_whole(0, MAX_SECONDS), metavar="SECONDS", dest="warmup_seconds",
        help="warm-up of every scenario in seconds; 0: none (default: as in the file)")
    add("-t", "--test", type=_whole(1, MAX_SECONDS), metavar="SECONDS", dest="test_seconds",
        help="load window of every scenario in seconds (default: as in the file)")
    add("-C", "--keep-raw", action="store_true", help="keep the raw files of each trial")
    add("--seed", type=_whole(0, 2**53 - 1), metavar="N",
        help="seed of order and arrivals (default: random; recorded)")
    add("--resume", type=_path, metavar="DIR", help="continue the interrupted run in DIR")
    add("--dry-run", action="store_true", help="print the plan and its time, run nothing")
    add("--strict", action="store_true",
        help="exit 3 when the load generator was late or the host is unfit")
    add("--port", type=_whole(1, 65535), metavar="PORT", default=DEFAULT_PORT,
        help=f"TCP port of the service (default {DEFAULT_PORT})")
    add("--results-dir", type=_path, metavar="DIR", help="default build/results")
    return parser


def parse_options(arguments: list[str]) -> Options:
    """Raises UsageError for anything wrong; --help prints and raises SystemExit(0)."""
    options = Options(**vars(build_parser().parse_args(arguments)))
    if options.resume is not None:
        given = {
            "a scenario file": options.scenario_file,
            "-a": options.approaches,
            "--scenarios": options.pattern,
            "-n": options.rounds,
            "-w": options.warmup_seconds,
            "-t": options.test_seconds,
            "--seed": options.seed,
            "--results-dir": options.results_dir,
        }
        clash = [name for name, value in given.items() if value is not None]
        if clash:
            raise UsageError(f"--resume continues DIR as it was planned: {clash[0]} cannot change")
        if options.dry_run:
            raise UsageError("--resume and --dry-run exclude each other")
    return options
