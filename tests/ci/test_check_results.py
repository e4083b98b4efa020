"""check_results.py accepts a good result folder and finds each thing that can be wrong with one."""

import json
import struct
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

HEADER = "run,round,position,scenario,approach,status,reason,flags,requests_ok,requests_error"
HEADER += ",latency_millis_min,latency_millis_p50,latency_millis_p99,latency_millis_max"
GOOD = "r1,1,1,get,fibers-restinio,ok,,,1000,0,100.2,100.4,101.0,105.5"
KEYS = (
    "schema run name scenarioFile command commit dirty startedUtc endedUtc seed rounds overrides"
    " scenarios build versions host checks skipped anchor"
).split()


def png(side: int, colours: int) -> bytes:
    rows = b"".join(b"\0" + bytes(x % colours for x in range(side)) for _ in range(side))
    parts = [
        (b"IHDR", struct.pack(">IIBBBBB", side, side, 8, 0, 0, 0, 0)),
        (b"IDAT", zlib.compress(rows)),
        (b"IEND", b""),
    ]
    chunks = (
        struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
        for kind, body in parts
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


@pytest.fixture
def good(tmp_path: Path) -> Path:
    manifest = dict.fromkeys(KEYS, 1)
    manifest["approaches"] = ["fibers-restinio"]
    manifest["settings"] = {"fibers-restinio": {"threads": 1}}
    (tmp_path / "manifest.json").write_text(json.dumps(manifest))
    (tmp_path / "results.csv").write_text(f"{HEADER}\n{GOOD}\n")
    (tmp_path / "results.md").write_text("get, fibers-restinio")
    verdicts = "scenario,metric,state,leader,runner_up,ratio,low,high\nget,p50,undecided,,,,,\n"
    (tmp_path / "verdicts.csv").write_text(verdicts)
    (tmp_path / "get").mkdir()
    for name in ("results.png", "get/fibers-restinio.png"):
        (tmp_path / name).write_bytes(png(200, 5))
    scenarios = "# smoke\n\nscenario, delayInMillis\nget, 100\n"
    (tmp_path / "scenarios.csv").write_text(scenarios)
    return tmp_path


def test_good_folder_passes(good, check):
    result = check("check_results.py", good, good / "scenarios.csv")
    assert (result.returncode, result.stdout) == (0, "")


def test_a_late_generator_on_a_busy_host_is_no_fault_of_the_code(good, check):
    late = GOOD.replace(",ok,,", ",invalid,load generator late: 1 % over 200 us,")
    (good / "results.csv").write_text(f"{HEADER}\n{late}\n")
    assert check("check_results.py", good, good / "scenarios.csv").returncode == 0
    (good / "results.csv").write_text(f"{HEADER}\n{late.replace('1000,0', '1000,3')}\n")
    result = check("check_results.py", good, good / "scenarios.csv")
    assert result.returncode == 1
    assert "requests_error is '3'" in result.stdout


def replace(name: str, old: str, new: str) -> Callable[[Path], object]:
    def change(folder: Path) -> None:
        text = (folder / name).read_text()
        assert old in text
        (folder / name).write_text(text.replace(old, new))

    return change


def picture(name: str, content: bytes) -> Callable[[Path], object]:
    return lambda folder: (folder / name).write_bytes(content)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (replace("results.csv", GOOD, ""), "no row for get/fibers-restinio"),
        (replace("results.csv", ",ok,,", ",failed,killed,"), "status failed: killed"),
        (replace("results.csv", ",1000,0,", ",1000,3,"), "requests_error is '3'"),
        (replace("results.csv", ",1000,0,", ",1000,,"), "requests_error is ''"),
        (replace("results.csv", ",1000,0,", ",0,0,"), "no request succeeded"),
        (replace("results.csv", "100.2,", "99.7,"), "a latency of 99.7 ms with a delay of 100 ms"),
        (replace("results.csv", "101.0,", "100.3,"), "percentiles that fall"),
        (replace("results.csv", ",ok,,,", ",ok,,nan,"), "flags is nan"),
        (replace("results.csv", "run,round", "round,run"), "begins with the columns"),
        (replace("results.md", "get,", "set,"), "does not mention get"),
        (replace("verdicts.csv", "get,", "post,"), "verdicts.csv has no row for get"),
        (replace("verdicts.csv", ",leader", ",winner"), "verdicts.csv lacks the columns"),
        (replace("manifest.json", '"seed"', '"grain"'), "manifest.json lacks seed"),
        (replace("manifest.json", '{"threads": 1}', "{}"), "no settings of fibers-restinio"),
        (replace("manifest.json", '["fibers-restinio"]', "[]"), "nothing to check"),
        (lambda folder: (folder / "verdicts.csv").unlink(), "lacks verdicts.csv"),
        (lambda folder: (folder / "results.png").unlink(), "results.png does not exist"),
        (picture("results.png", b"GIF89a"), "results.png is no PNG"),
        (picture("get/fibers-restinio.png", png(200, 5)[:-20]), "fibers-restinio.png is"),
        (picture("get/fibers-restinio.png", png(200, 1)), "fibers-restinio.png is blank"),
        (picture("results.png", png(50, 5)), "cut off or tiny"),
        (picture("results.png", png(200, 5).replace(b"\0\0\0\xc8", b"\0\0\0\xc9", 1)), "damaged"),
    ],
)
def test_each_fault_is_found(good, check, change, said):
    change(good)
    result = check("check_results.py", good, good / "scenarios.csv")
    assert result.returncode == 1
    assert said in result.stdout
