"""ci/setup.sh against a pretended Debian: dpkg-query, apt-cache, apt-get, id and sudo are small
scripts that read and write files in the test's folder."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[2]
LIST = """# a comment
alpha  cmd:no-such-alpha  # what for
beta1|beta2  cmd:no-such-beta
"""
PROGRAMS = {
    # The names of installed packages are the lines of the file "installed".
    "dpkg-query": 'for name; do grep -qx -e "$name" installed && echo "$name ii "; done; exit 1',
    "apt-cache": """shift
for name; do
  printf '%s:\\n  Installed: (none)\\n  Candidate: ' "$name"
  if grep -qx "$name" available; then echo 1.0; else echo '(none)'; fi
done""",
    "apt-get": """echo "$@" >>apt-get.log
[ "$DEBIAN_FRONTEND" = noninteractive ] || exit 9
./policy-rc.d nginx start; [ $? = 101 ] || exit 8
case $1 in
  update) [ ! -e hidden ] || cat hidden >>available ;;
  install)
    if [ -e broken ]; then echo 'E: the disk is full'; exit 100; fi
    for word; do case $word in [ab]*) echo "$word" >>installed ;; esac; done ;;
esac""",
    "id": "cat uid",
    # -n sh -c SCRIPT sh COMMAND...: with a policy-rc.d that is not this machine's.
    "sudo": """[ -e sudoer ] || exit 1
[ "$2" = true ] && exit 0
script=$(printf '%s' "$4" | sed 's|/usr/sbin/|./|')
shift 5
exec sh -c "$script" sh "$@\"""",
}


class Machine:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        shutil.copytree(TOP / "ci", folder / "ci")
        (folder / "bin").mkdir()
        for name, script in PROGRAMS.items():
            self.program(name, script)
        for name in ("installed", "available"):
            self.write(name, "")
        self.write("uid", "1000\n")
        self.write("sudoer", "")
        self.write("ci/packages-debian.txt", LIST)
        self.write("ci/packages-debian-test.txt", "gamma  python:json\n")

    def write(self, name: str, text: str) -> None:
        (self.folder / name).write_text(text)

    def program(self, name: str, script: str) -> None:
        path = self.folder / "bin" / name
        path.write_text(f"#!/bin/sh\ncd '{self.folder}'\n{script}\n")
        path.chmod(0o755)

    def run(self, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
        path = f"{self.folder}/bin:{os.environ['PATH']}"
        return subprocess.run(
            [str(self.folder / "ci/setup.sh"), *arguments],
            env={**os.environ, "PATH": path, "IN_NIX_SHELL": "", **environment},
            capture_output=True,
            text=True,
            check=False,
        )

    def apt_calls(self) -> list[str]:
        log = self.folder / "apt-get.log"
        return log.read_text().splitlines() if log.exists() else []


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_says_and_does_nothing_when_all_is_there(machine):
    machine.write("installed", "alpha\nbeta2\n")
    result = machine.run()
    assert (result.returncode, result.stdout + result.stderr) == (0, "")
    assert machine.apt_calls() == []


def test_installs_what_is_missing_and_the_alternative_that_exists(machine):
    machine.write("available", "alpha\nbeta2\n")
    result = machine.run()
    assert (result.returncode, result.stdout) == (0, "")
    assert result.stderr == "setup: installing 2 packages: alpha beta2\n"
    (call,) = machine.apt_calls()
    assert call.startswith("install -y --no-install-recommends --no-remove alpha beta2 ")
    assert not (machine.folder / "policy-rc.d").exists()


def test_first_alternative_goes_first(machine):
    machine.write("installed", "alpha\n")
    machine.write("available", "beta2\nbeta1\n")
    assert machine.run().returncode == 0
    assert " beta1 " in machine.apt_calls()[0]


def test_reads_the_package_lists_when_a_name_is_unknown(machine):
    machine.write("hidden", "alpha\nbeta1\n")
    assert machine.run().returncode == 0
    assert [call.split()[0] for call in machine.apt_calls()] == ["update", "install"]


def test_name_without_package_is_named(machine):
    machine.write("available", "alpha\n")
    result = machine.run()
    assert result.returncode == 2
    assert "no package for: beta1|beta2" in result.stderr


def test_failed_installation_names_packages_and_reason(machine):
    machine.write("available", "alpha\nbeta1\n")
    machine.write("broken", "")
    result = machine.run()
    assert result.returncode == 2
    assert "could not install: alpha beta1" in result.stderr
    assert "the disk is full" in result.stderr


def test_without_rights_prints_one_command(machine):
    (machine.folder / "sudoer").unlink()
    machine.write("available", "alpha\nbeta1\n")
    result = machine.run()
    assert result.returncode == 2
    commands = [line for line in result.stderr.splitlines() if line.startswith("  ")]
    assert len(commands) == 1
    assert "apt-get install -y --no-install-recommends --no-remove alpha beta1" in commands[0]
    assert machine.apt_calls() == []


@pytest.mark.parametrize("case", ["no rights", "nix shell"])
def test_tools_from_elsewhere_count_where_nothing_can_be_installed(machine, case):
    for name in ("no-such-alpha", "no-such-beta"):
        machine.program(name, "true")
    if case == "no rights":
        (machine.folder / "sudoer").unlink()
    result = machine.run("--test", IN_NIX_SHELL="impure" if case == "nix shell" else "")
    assert result.returncode == 0
    assert machine.apt_calls() == []


def test_without_apt_names_what_is_needed(machine):
    for name in ("dpkg-query", "apt-get", "apt-cache"):
        (machine.folder / "bin" / name).unlink()
    # A PATH with the few programs that the script itself uses, and no package manager.
    for name in ("bash", "cat", "tr", "xargs", "dirname", "awk", "sed", "sh", "env"):
        (machine.folder / "bin" / name).symlink_to(shutil.which(name) or name)
    result = machine.run(PATH=str(machine.folder / "bin"))
    assert result.returncode == 2
    assert "no apt-get" in result.stderr
    assert "  alpha beta1" in result.stderr


def test_check_lists_and_installs_nothing(machine):
    machine.write("available", "alpha\nbeta1\n")
    machine.write("installed", "alpha\n")
    result = machine.run("--check")
    assert (result.returncode, result.stdout) == (2, "beta1|beta2\n")
    assert machine.apt_calls() == []


def test_unknown_option(machine):
    result = machine.run("--all")
    assert result.returncode == 2
    assert "unknown option '--all'" in result.stderr


def test_every_list_is_well_formed():
    for path in sorted((TOP / "ci").glob("packages-debian*.txt")):
        for line in path.read_text().splitlines():
            if line and not line.startswith("#"):
                _, probe, *_ = line.split()
                kind = probe.split(":")[0]
                assert kind in {"cmd", "header", "file", "python"}, f"{path.name}: {line}"
