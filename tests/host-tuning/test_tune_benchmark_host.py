"""tune-benchmark-host.sh against made-up hosts: a folder stands for /proc/sys."""

import os
import re
import resource
import subprocess
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[2] / "host-tuning"
SCRIPT = FOLDER / "tune-benchmark-host.sh"

GOOD = {
    "net.ipv4.ip_local_port_range": "1024\t65535",
    "net.ipv4.ip_local_reserved_ports": "8080",
    "net.ipv4.tcp_congestion_control": "cubic",
    "net.ipv4.tcp_timestamps": "1",
    "net.ipv4.tcp_tw_reuse": "2",
    "net.ipv4.tcp_max_syn_backlog": "65535",
    "net.core.somaxconn": "65535",
    "fs.file-max": "9223372036854775807",
}
NAMES = [*GOOD, "nofile"]


def make_host(root: Path, values: dict[str, str]) -> None:
    for name, value in values.items():
        path = root / name.replace(".", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(value + "\n", encoding="utf-8")


def run(*arguments: str, root: Path | None = None) -> subprocess.CompletedProcess[str]:
    environment = dict(os.environ)
    if root is not None:
        environment["HEDDLE_SYSCTL_ROOT"] = str(root)
    return subprocess.run(
        [str(SCRIPT), *arguments], env=environment, capture_output=True, text=True, check=False
    )


def check_rows(root: Path) -> dict[str, list[str]]:
    """Name -> found, wanted, state."""
    lines = run("--check", "--format", "tsv", root=root).stdout.splitlines()
    rows = [line.split("\t") for line in lines]
    assert all(len(row) == 4 for row in rows), rows
    return {row[0]: row[1:] for row in rows}


def state_of(tmp_path: Path, name: str, value: str) -> str:
    make_host(tmp_path, {**GOOD, name: value})
    return check_rows(tmp_path)[name][2]


def test_a_good_host_differs_in_nothing_but_perhaps_nofile(tmp_path: Path) -> None:
    make_host(tmp_path, GOOD)
    rows = check_rows(tmp_path)
    assert list(rows) == NAMES
    assert {name for name in GOOD if rows[name][2] != "ok"} == set()


def test_nofile_is_the_hard_limit(tmp_path: Path) -> None:
    make_host(tmp_path, GOOD)
    found, _, state = check_rows(tmp_path)["nofile"]
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    enough = hard == resource.RLIM_INFINITY or hard >= 1_048_576
    assert found == ("unlimited" if hard == resource.RLIM_INFINITY else str(hard))
    assert state == ("ok" if enough else "differs")
    assert run("--check", root=tmp_path).returncode == (0 if enough else 1)


@pytest.mark.parametrize(
    ("name", "value", "state"),
    [
        ("net.core.somaxconn", "65534", "differs"),
        ("net.core.somaxconn", "100000", "ok"),
        ("net.core.somaxconn", "9", "differs"),
        ("net.core.somaxconn", "", "differs"),
        ("fs.file-max", "1048575", "differs"),
        ("fs.file-max", "1048576", "ok"),
        ("net.ipv4.tcp_congestion_control", "bbr", "differs"),
        ("net.ipv4.tcp_tw_reuse", "1", "differs"),
        ("net.ipv4.ip_local_port_range", "32768\t60999", "differs"),
        ("net.ipv4.ip_local_port_range", "1024\t60999", "differs"),
        ("net.ipv4.ip_local_port_range", "1025\t65535", "differs"),
        ("net.ipv4.ip_local_port_range", "900\t65535", "ok"),
        ("net.ipv4.ip_local_reserved_ports", "", "differs"),
        ("net.ipv4.ip_local_reserved_ports", "80,18080,8081-9000", "differs"),
        ("net.ipv4.ip_local_reserved_ports", "22,8080,9000-9100", "ok"),
        ("net.ipv4.ip_local_reserved_ports", "22,8000-8100", "ok"),
    ],
)
def test_each_rule(tmp_path: Path, name: str, value: str, state: str) -> None:
    assert state_of(tmp_path, name, value) == state


def test_blanks_in_what_was_found_become_one(tmp_path: Path) -> None:
    make_host(tmp_path, GOOD)
    assert check_rows(tmp_path)["net.ipv4.ip_local_port_range"][0] == "1024 65535"


def test_a_setting_that_cannot_be_read_is_no_match(tmp_path: Path) -> None:
    make_host(tmp_path, {name: value for name, value in GOOD.items() if name != "fs.file-max"})
    assert check_rows(tmp_path)["fs.file-max"] == ["", ">= 1048576", "unreadable"]
    assert run("--check", root=tmp_path).returncode == 1


def test_text_names_found_and_wanted(tmp_path: Path) -> None:
    make_host(tmp_path, {**GOOD, "net.core.somaxconn": "4096"})
    done = run("--check", root=tmp_path)
    assert done.returncode == 1
    assert re.search(
        r"^differs +net\.core\.somaxconn +found 4096 +wanted >= 65535$", done.stdout, re.MULTILINE
    )
    assert len(done.stdout.splitlines()) == len(NAMES)


def test_check_changes_nothing(tmp_path: Path) -> None:
    make_host(tmp_path, {**GOOD, "net.core.somaxconn": "4096"})
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    run("--check", root=tmp_path)
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


def test_print_lists_the_settings_file(tmp_path: Path) -> None:
    done = run("--print")
    assert done.returncode == 0
    lines = (FOLDER / "settings.conf").read_text(encoding="utf-8").splitlines()
    assert done.stdout.splitlines() == [line for line in lines if line and line[0] != "#"]
    assert [line.split()[0] for line in done.stdout.splitlines()] == NAMES


def test_works_from_anywhere(tmp_path: Path) -> None:
    done = subprocess.run(
        [str(SCRIPT), "--print"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "nothing to do"),
        (["--wrong"], "unknown option '--wrong'"),
        (["--check", "extra"], "unknown option 'extra'"),
        (["--check", "--format"], "--format needs a value"),
        (["--check", "--format", "xml"], "unknown format 'xml'"),
    ],
)
def test_usage_errors_are_one_line_and_exit_code_2(arguments: list[str], message: str) -> None:
    done = run(*arguments)
    assert done.returncode == 2
    assert done.stdout == ""
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_help_names_every_option() -> None:
    for option in ("-h", "--help"):
        done = run(option)
        assert done.returncode == 0
        for name in ("--check", "--format", "--print", "--help", "Exit code"):
            assert name in done.stdout
