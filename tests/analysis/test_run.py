from __future__ import annotations

import json
from pathlib import Path

import pytest

from analysis.run import cells, parse_results, read_run

HEADER = "run,round,position,scenario,approach,status,reason,flags,requests_ok,requests_error\n"
LINE = "x,{round},1,s,{approach},{status},{reason},{flags},{ok},0\n"


def line(round_: int, approach: str, status: str = "ok", reason: str = "", flags: str = "",
         ok: str = "10") -> str:
    return LINE.format(round=round_, approach=approach, status=status, reason=reason,
                       flags=flags, ok=ok)


def test_rows_and_gaps() -> None:
    rows, problems = parse_results(HEADER + line(1, "a", flags="drift|host-slow")
                                   + line(1, "b", ok="") + line(2, "a", ok="nan"))
    assert problems == ()
    assert rows[0].values["requests_ok"] == 10 and rows[0].flags == ("drift", "host-slow")
    assert rows[1].values["requests_ok"] is None and rows[2].values["requests_ok"] is None
    assert rows[0].values["sockets_avg"] is None  # no such column in this file


def test_repeated_and_cut_off_rows_are_told() -> None:
    rows, problems = parse_results(HEADER + line(1, "a") + line(1, "a", ok="11") + "x,2,1,s,a")
    assert [row.values["requests_ok"] for row in rows] == [11]
    assert "line 3 repeats round 1" in problems[0] and "line 4" in problems[1]


@pytest.mark.parametrize("text", ["", HEADER, "nonsense\n1,2\n", "\n\n"])
def test_files_without_rows(text: str) -> None:
    assert parse_results(text)[0] == ()


def test_scenarios_come_from_the_manifest_with_effective_values(tmp_path: Path) -> None:
    (tmp_path / "results.csv").write_text(HEADER + line(1, "a") + line(1, "extra"))
    (tmp_path / "manifest.json").write_text(json.dumps({
        "approaches": ["b", "a"], "rounds": {"planned": 3},
        "scenarios": [{"scenario": "t", "requestsPerSecond": 1000, "testDurationInSeconds": 180,
                       "effective": {"testDurationInSeconds": 15}}]}))
    run = read_run(tmp_path)
    assert [scenario.name for scenario in run.scenarios] == ["t", "s"]
    assert run.scenarios[0].offered == 15_000 and run.scenarios[1].offered is None
    assert run.approaches == ("b", "a", "extra")
    assert (run.rounds_planned, run.rounds_done) == (3, 1)


def test_a_skipped_scenario_says_why_in_its_cells(tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_text(json.dumps({
        "approaches": ["a", "b"], "scenarios": [{"scenario": "big"}],
        "skipped": [{"scenario": "big", "approach": None, "reason": "too few descriptors"}]}))
    run = read_run(tmp_path)
    assert run.skipped_reason("big", "a") == "too few descriptors"
    outcome = cells(run, {})[0].outcomes["a"][0]
    assert (outcome.status, outcome.reason) == ("skipped", "too few descriptors")


def test_reasons_of_the_trials_reach_the_cells(tmp_path: Path) -> None:
    (tmp_path / "results.csv").write_text(HEADER + line(1, "a"))
    reasons = {("s", "a", 1): {"latency_millis_p99": "too few requests"}}
    found = {cell.metric.name: cell for cell in cells(read_run(tmp_path), reasons)}
    assert found["latency_millis_p99"].outcomes["a"][1].reason == "too few requests"


def test_an_empty_folder(tmp_path: Path) -> None:
    run = read_run(tmp_path)
    assert run.rows == () and len(run.problems) == 2
