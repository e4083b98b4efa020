"""What ci/bench-loadgen.sh reads from the generators, and its statistics."""

import subprocess
import sys

import pytest

from tests.ci.conftest import TOP

sys.path.insert(0, str(TOP / "ci"))

import loadgen_stats as stats  # noqa: E402
import loadgen_tools as tools  # noqa: E402

WRK = """Running 2s test @ http://127.0.0.1:18991/
  1 threads and 64 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency    20.17ms   10.93ms  69.33ms   69.35%
    Req/Sec     3.15k   716.22     4.60k    84.21%
  6274 requests in 2.02s, 661.71KB read
"""
WRK_END = "Requests/sec:   3100.13\nTransfer/sec:    326.97KB\n"

H2LOAD = """Stopped all clients for thread #0

finished in 2.01s, 3312.50 req/s, 349.37KB/s
requests: 6625 total, 6689 started, 6625 done, {}
status codes: {}
traffic: 698.73KB (715500) total, 418.06KB (428096) headers (space savings 0.00%), 84.92KB data
"""


def test_wrk_without_errors():
    assert tools.parse_wrk(WRK + WRK_END) == tools.Outcome(6274, 0)


def test_wrk_with_errors_of_both_kinds():
    errors = ("  Socket errors: connect 1, read 2, write 3, timeout 40\n"
              "  Non-2xx or 3xx responses: 100\n")
    assert tools.parse_wrk(WRK + errors + WRK_END) == tools.Outcome(6174, 146)


def test_h2load_without_errors():
    text = H2LOAD.format("6625 succeeded, 0 failed, 0 errored, 0 timeout",
                         "6625 2xx, 0 3xx, 0 4xx, 0 5xx")
    assert tools.parse_h2load(text) == tools.Outcome(6625, 0)


@pytest.mark.parametrize(("requests", "statuses", "expected"), [
    ("6600 succeeded, 25 failed, 25 errored, 0 timeout", "6600 2xx, 0 3xx, 0 4xx, 0 5xx",
     tools.Outcome(6600, 25)),
    ("6625 succeeded, 0 failed, 0 errored, 7 timeout", "6625 2xx, 0 3xx, 0 4xx, 0 5xx",
     tools.Outcome(6625, 7)),
    ("6600 succeeded, 25 failed, 0 errored, 0 timeout", "6590 2xx, 10 3xx, 5 4xx, 20 5xx",
     tools.Outcome(6590, 35)),
])
def test_h2load_with_errors(requests, statuses, expected):
    assert tools.parse_h2load(H2LOAD.format(requests, statuses)) == expected


@pytest.mark.parametrize("parse", [tools.parse_wrk, tools.parse_h2load])
def test_other_output_is_no_result(parse):
    with pytest.raises(tools.Unreadable, match="unable to connect"):
        parse("unable to connect to 127.0.0.1:1 Connection refused\n")


def load_json(**changes):
    window = {"ok": 1000, "httpErrors": {}, "transportErrors": {}, "timeouts": 0}
    result = {"reason": None, "closedLoop": False, "window": window,
              "connections": {"opened": 64, "lost": 0},
              "generator": {"verdict": "ok", "lagMicros": {"p99": 17}}}
    for name, value in changes.items():
        if name in window:
            window[name] = value
        else:
            result[name] = value
    return result


def test_heddle_load():
    assert tools.parse_load(load_json(), 64) == tools.Outcome(1000, 0, 17, "ok")
    assert tools.parse_load(load_json(closedLoop=True), 64).lag_p99_micros is None


@pytest.mark.parametrize("changes", [
    {"httpErrors": {"5xx": 3}}, {"transportErrors": {"reset": 3}}, {"timeouts": 3},
    {"connections": {"opened": 61, "lost": 0}}, {"connections": {"opened": 64, "lost": 3}},
])
def test_every_kind_of_failure_is_an_error(changes):
    assert tools.parse_load(load_json(**changes), 64).errors == 3


def test_heddle_load_without_a_window_is_no_result():
    with pytest.raises(tools.Unreadable, match="nobody listens"):
        tools.parse_load(load_json(window=None, reason="nobody listens"), 64)


def run(tool: str, completed: int, cpu: float, errors: int = 0, peak: int = 1000) -> stats.Run:
    return stats.Run(tool, tools.Outcome(completed, errors), cpu * 0.25, cpu * 0.75, peak, 0.5)


def pair(ours: float, other: float, errors: int = 0) -> stats.Pair:
    return stats.Pair(run("heddle-load", 1000, ours, errors, 500), run("wrk", 1000, other))


def test_cpu_per_request_is_user_and_system():
    one = run("wrk", 100_000, 1.0)
    assert (one.user_micros, one.system_micros, one.cpu_micros) == (2.5, 7.5, 10.0)


def test_ratios_are_within_pairs_and_only_of_pairs_without_errors():
    pairs = [pair(1, 2), pair(8, 1, errors=1), pair(3, 2),
             stats.Pair(run("heddle-load", 0, 1), run("wrk", 1000, 1))]
    assert stats.cpu_ratios(pairs) == [0.5, 1.5]
    assert stats.memory_ratios(pairs) == [0.5, 0.5]


def test_summary_has_interpolated_quartiles():
    assert stats.summary([5, 1, 2, 3, 4]) == stats.Summary(3, 1, 5, 2, 4)
    assert stats.summary([1, 2, 3, 4]) == stats.Summary(2.5, 1, 4, 1.75, 3.25)
    assert stats.summary([7]) == stats.Summary(7, 7, 7, 7, 7)


@pytest.mark.parametrize(("values", "expected"), [
    ([0.7, 0.8, 2.0], "met"), ([0.7, 0.81, 0.82], "MISSED"), ([], "not measured")])
def test_the_median_decides(values, expected):
    assert stats.verdict(values, 0.8).value == expected


def test_exit_code():
    met, missed, unknown = stats.Verdict.MET, stats.Verdict.MISSED, stats.Verdict.NOT_MEASURED
    assert stats.exit_code([met, met]) == 0
    assert stats.exit_code([met, unknown]) == 3
    assert stats.exit_code([unknown, missed, met]) == 1


def test_order_is_abba():
    assert [stats.ours_first(n) for n in range(4)] == [True, False, True, False]


def test_busy_share_of_one_cpu():
    before = "cpu  9 9 9 9 9 9 9 9 9 9\ncpu0 10 0 10 100 0 0 0 0 3 0\ncpu1 0 0 0 0 0 0 0 0 0 0\n"
    after = "cpu  9 9 9 9 9 9 9 9 9 9\ncpu0 30 0 40 140 5 0 5 0 9 0\ncpu1 0 0 0 9 0 0 0 0 0 0\n"
    assert stats.busy_share(before, after, 0) == pytest.approx(55 / 100)
    assert stats.busy_share(before, after, 1) == 0
    with pytest.raises(ValueError, match="CPU 2"):
        stats.busy_share(before, after, 2)


@pytest.mark.parametrize(("options", "said"), [
    (["--pairs", "0"], "not at least 1"), (["--rows", "wrk-65"], "'wrk-65' is not known"),
    (["--nonsense"], "--nonsense")])
def test_wrong_usage_is_exit_code_2(options, said):
    done = subprocess.run([sys.executable, str(TOP / "ci/bench_loadgen.py"), *options],
                          capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert said in done.stderr


def test_help_names_the_rows():
    done = subprocess.run([str(TOP / "ci/bench-loadgen.sh"), "--help"], capture_output=True,
                          text=True, check=False)
    assert done.returncode == 0
    assert "memory-60000" in done.stdout
