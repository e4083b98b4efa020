""".ci/run with pretended steps: order, result line, and that every failure fails it."""

import shutil
import subprocess
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[2]
TESTS = "echo 'C++ tests: 5 passed, 0 failed (1 s)'; echo '12 passed, 0 failed'"
STEPS = {
    "ci/setup.sh": "",
    "ci/check-format.sh": "",
    "ci/check-lint.sh": "",
    "ci/build.sh": "echo built $1 with $CXX",
    "test.sh": TESTS,
    "benchmark.sh": "mkdir -p build/results; echo benchmark of $1",
}


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    (tmp_path / "ci").mkdir()
    (tmp_path / ".ci").mkdir()
    shutil.copy(TOP / ".ci/run", tmp_path / ".ci")
    shutil.copy(TOP / "ci/python.sh", tmp_path / "ci")
    (tmp_path / "ci/check_results.py").write_text("import sys\nprint('checked', *sys.argv[1:])\n")
    for name, script in STEPS.items():
        step(tmp_path, name, script)
    return tmp_path


def step(checkout: Path, name: str, script: str) -> None:
    (checkout / name).write_text(f"#!/bin/bash\nset -e\n{script}\n")
    (checkout / name).chmod(0o755)


def run(checkout: Path) -> tuple[int, list[str]]:
    result = subprocess.run(
        [str(checkout / ".ci/run")],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return result.returncode, result.stdout.splitlines()


def test_all_steps_pass_and_the_count_is_the_last_line(checkout):
    code, lines = run(checkout)
    assert code == 0, lines
    assert lines[-1] == "12 passed, 0 failed"
    assert "benchmark of scenarios-smoketest.csv" in lines
    assert "checked build/results/scenarios-smoketest scenarios/scenarios-smoketest.csv" in lines
    assert any(line.startswith("built build/clang with clang++-") for line in lines)
    timed = [line for line in lines if line.startswith("--- ") and line.endswith(" s")]
    assert len(timed) == 7


@pytest.mark.parametrize("name", sorted(STEPS))
def test_every_step_can_fail(checkout, name):
    step(checkout, name, "exit 3")
    code, lines = run(checkout)
    assert code != 0
    assert any(line.startswith("failed in: ") for line in lines)


def test_failed_tests_are_counted_on_the_last_line(checkout):
    step(checkout, "test.sh", "echo '11 passed, 1 failed'; exit 1")
    code, lines = run(checkout)
    assert code == 1
    assert lines[-1] == "11 passed, 1 failed"
    assert "failed in: tests (exit code 1)" in lines


def test_tests_without_a_result_line_are_a_failure(checkout):
    step(checkout, "test.sh", "echo fine")
    assert run(checkout)[0] == 1


def test_bad_results_are_a_failure(checkout):
    (checkout / "ci/check_results.py").write_text("raise SystemExit(1)\n")
    code, lines = run(checkout)
    assert code == 1
    assert "failed in: smoke benchmark (exit code 1)" in lines


def test_a_program_left_running_is_a_failure(checkout):
    left = checkout / "build/release/heddle-service"
    left.parent.mkdir(parents=True)
    shutil.copy("/bin/sleep", left)
    with subprocess.Popen([str(left), "60"]) as process:
        try:
            code, lines = run(checkout)
        finally:
            process.terminate()
    assert code == 1
    assert f"still running: {process.pid} ({left})" in lines
