"""ci/build.sh on a project of one file, and ci/python.sh with pretended Pythons."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[2]
MESON = """project('small', 'cpp')
executable('hello', 'hello.cpp', cpp_args: '-DNAME="' + get_option('name') + '"')
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "ci").mkdir()
    shutil.copy(TOP / "ci/build.sh", tmp_path / "ci")
    (tmp_path / "meson.build").write_text(MESON)
    (tmp_path / "meson_options.txt").write_text("option('name', type: 'string', value: 'a')\n")
    (tmp_path / "hello.cpp").write_text("#include <cstdio>\nint main() { std::puts(NAME); }\n")
    return tmp_path


def build(project: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [str(project / "ci/build.sh"), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def hello(project: Path) -> str:
    return subprocess.run([project / "out/hello"], capture_output=True, text=True).stdout


def test_builds_and_follows_changed_options(project):
    assert build(project, "out").returncode == 0
    assert hello(project) == "a\n"
    configured = (project / "out/meson-private/coredata.dat").stat().st_mtime_ns
    assert build(project, "out").returncode == 0
    assert (project / "out/meson-private/coredata.dat").stat().st_mtime_ns == configured
    assert build(project, "out", "-Dname=b").returncode == 0
    assert hello(project) == "b\n"


def test_code_that_does_not_compile(project):
    (project / "hello.cpp").write_text("int main() { return nothing; }\n")
    result = build(project, "out")
    assert result.returncode == 1
    assert "out does not compile" in result.stderr
    assert "nothing" in result.stdout + result.stderr


def test_unknown_meson_option_and_missing_folder(project):
    result = build(project, "out", "-Dnonsense=1")
    assert result.returncode == 2
    assert "could not configure out" in result.stderr
    assert "nonsense" in result.stderr
    assert build(project, "out").returncode == 0
    assert build(project).returncode == 2


def python(*modules: str, chosen: str = "") -> subprocess.CompletedProcess[str]:
    script = f'. {TOP}/ci/python.sh; heddle_python "$@"'
    environment = {**os.environ, "HEDDLE_PYTHON": chosen}
    return subprocess.run(
        ["bash", "-c", script, "bash", *modules], capture_output=True, text=True, env=environment
    )


def test_python_that_lacks_a_module_is_passed_over(tmp_path):
    old = tmp_path / "old"
    old.write_text("#!/bin/sh\necho numpy\n")
    old.chmod(0o755)
    found = python("json", chosen=str(old))
    assert found.returncode == 0
    assert found.stdout.strip() != str(old)
    good = tmp_path / "good"
    good.write_text("#!/bin/sh\necho\n")
    good.chmod(0o755)
    assert python("json", chosen=str(good)).stdout.strip() == str(good)


def test_no_python_has_the_module():
    found = python("no_such_module")
    assert found.returncode == 1
    assert found.stdout == ""
    assert "modules wanted: no_such_module" in found.stderr
