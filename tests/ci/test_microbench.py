"""What ci/microbench.py reads from Google Benchmark, callgrind and perf."""

import json
import sys

import pytest

from tests.ci.conftest import TOP

sys.path.insert(0, str(TOP / "ci"))

import microbench  # noqa: E402


def entry(name: str, run_type: str, cpu_time: float, unit: str = "ns") -> dict[str, object]:
    return {"run_name": name, "run_type": run_type, "cpu_time": cpu_time, "time_unit": unit}


def test_times_are_those_of_the_repeats_and_not_of_the_aggregates():
    text = json.dumps({"benchmarks": [
        entry("a", "iteration", 3.0), entry("a", "iteration", 1.0), entry("a", "iteration", 2.5),
        entry("a", "aggregate", 99.0), entry("b", "iteration", 7.0)]})
    assert microbench.parse_times(text) == {
        "a": microbench.Times(2.5, 1.0, 3.0), "b": microbench.Times(7.0, 7.0, 7.0)}


def test_times_in_another_unit_are_refused():
    with pytest.raises(ValueError, match="us"):
        microbench.parse_times(json.dumps({"benchmarks": [entry("a", "iteration", 3.0, "us")]}))


def test_instructions_of_callgrind():
    errors = "==7== Events    : Ir\n==7== Collected : 8461337\n==7==\n"
    assert microbench.parse_collected(errors) == 8461337
    with pytest.raises(ValueError, match="no count"):
        microbench.parse_collected("==7== Command: x\n")


def test_instructions_of_perf():
    counted = "123456,,instructions:u,803112,100.00,,\n"
    assert microbench.parse_perf(counted) == 123456
    with pytest.raises(ValueError, match="not supported"):
        microbench.parse_perf("<not supported>,,instructions:u,0,100.00,,\n")


def test_what_both_runs_share_falls_out():
    assert microbench.per_operation(100, 5_000 + 100 * 42, 1_100, 5_000 + 1_100 * 42) == 42
