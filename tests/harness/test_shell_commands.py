"""benchmark.sh and benchmarks.sh themselves, on the shipped scenario files, with fake binaries."""

import os
import subprocess
from pathlib import Path

import pytest
from tests.harness.harness_checkout import HERE, TOP

FAKES = {
    "HEDDLE_SERVICE": str(HERE / "fakes" / "heddle_service.py"),
    "HEDDLE_LOAD": str(HERE / "fakes" / "heddle_load.py"),
}


def call(
    folder: Path, script: str, *arguments: str, fakes: bool = True
) -> "subprocess.CompletedProcess[str]":
    environment = {k: v for k, v in os.environ.items() if not k.startswith("HEDDLE_")}
    return subprocess.run(
        [str(TOP / script), *arguments],
        cwd=folder,
        env={**environment, **(FAKES if fakes else {})},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.mark.parametrize(
    ("arguments", "code"),
    [(("--help",), 0), (("-h",), 0), (("-n", "0"), 2), (("none.csv",), 2), (("--bogus",), 2)],
)
def test_help_and_wrong_usage_need_no_build(
    tmp_path: Path, arguments: tuple[str, ...], code: int
) -> None:
    ended = call(tmp_path, "benchmark.sh", *arguments, fakes=False)
    assert ended.returncode == code
    good = code == 0
    assert (ended.stderr.count("\n"), bool(ended.stdout)) == (0 if good else 1, good)


@pytest.mark.parametrize("name", ["scenarios-smoketest.csv", "scenarios-default.csv", ""])
def test_the_shipped_files_plan_from_any_folder(tmp_path: Path, name: str) -> None:
    (tmp_path / "harness").mkdir()  # no other package of this name may get in the way
    (tmp_path / "harness" / "__main__.py").write_text("raise SystemExit(77)\n")
    ended = call(tmp_path, "benchmark.sh", "--dry-run", *([name] if name else []))
    assert (ended.returncode, ended.stderr) == (0, "")
    assert f"{name or 'scenarios-quick.csv'}: " in ended.stdout


def test_the_default_run_takes_less_than_ten_minutes(tmp_path: Path) -> None:
    last = call(tmp_path, "benchmark.sh", "--dry-run").stdout.splitlines()[-1]
    minutes, seconds = last.rpartition("about ")[2].split(":")
    assert last.startswith("48 trials")
    assert 7 * 60 <= int(minutes) * 60 + int(seconds) < 9 * 60


def test_the_smoketest_takes_less_than_a_minute(tmp_path: Path) -> None:
    ended = call(tmp_path, "benchmark.sh", "--dry-run", "scenarios-smoketest.csv")
    last = ended.stdout.splitlines()[-1]
    assert last.startswith("8 trials, about 0:")


def test_several_files_go_on_after_a_failure_and_the_worst_code_wins(tmp_path: Path) -> None:
    ended = call(tmp_path, "benchmarks.sh", "-o", "--dry-run -n 2", "none.csv",
                 "scenarios-smoketest.csv")
    assert ended.returncode == 2
    assert "none.csv: no such scenario file" in ended.stderr
    assert "4 approaches x 2 rounds" in ended.stdout
    assert ended.stdout.splitlines()[-3:] == [
        "== exit codes", "2  none.csv", "0  scenarios-smoketest.csv"]


@pytest.mark.parametrize(("arguments", "code"), [(("-h",), 0), (("--help",), 0), (("-x",), 2),
                                                 (("-o",), 2)])
def test_usage_of_several_files(tmp_path: Path, arguments: tuple[str, ...], code: int) -> None:
    ended = call(tmp_path, "benchmarks.sh", *arguments)
    assert ended.returncode == code
    assert ended.stdout.startswith("usage: ") == (code == 0)
    assert ended.stderr.count("\n") == (0 if code == 0 else 1)
