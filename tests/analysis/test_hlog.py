from __future__ import annotations

from pathlib import Path

from analysis import hlog
from tests.analysis.hdr_writer import encode

HEAD = ('#[Histogram log format version 1.3]\n'
        '"StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"\n')


def test_tagged_and_untagged_lines() -> None:
    log = hlog.parse(f"{HEAD}Tag=latency:get,1800000000.250,1.000,0.100,{encode({100: 3})}\n"
                     f"1800000001.000,1.000,0.100,{encode({100: 1})}\n")
    assert [item.tag for item in log.intervals] == ["latency:get", ""]
    assert log.intervals[0].start_seconds == 1800000000.25
    assert log.intervals[0].histogram.total == 3
    assert log.problems == ()


def test_stamps_relative_to_base_and_start_time() -> None:
    line = f"Tag=a,2.500,1.000,0.1,{encode({1: 1})}\n"
    base = hlog.parse(f"#[BaseTime: 1800000000.000 (seconds since epoch)]\n{line}")
    assert base.intervals[0].start_seconds == 1800000002.5
    start = hlog.parse(f"#[StartTime: 1800000000.000 (seconds since epoch), then]\n{line}")
    assert start.intervals[0].start_seconds == 1800000002.5
    absolute = hlog.parse("#[StartTime: 1800000000.000 (seconds since epoch), then]\n"
                          f"Tag=a,1800000003.000,1.0,0.1,{encode({1: 1})}\n")
    assert absolute.intervals[0].start_seconds == 1800000003.0


def test_a_cut_off_last_line_is_a_problem_and_the_rest_stays() -> None:
    whole = f"Tag=a,1.0,1.0,0.1,{encode({1: 1})}\n"
    log = hlog.parse(HEAD + whole + whole[:30])
    assert len(log.intervals) == 1
    assert len(log.problems) == 1 and log.problems[0].startswith("line 4:")


def test_only_the_wanted_tags_are_decoded() -> None:
    log = hlog.parse(f"Tag=service:get,1.0,1.0,0.1,broken\nTag=latency:get,1.0,1.0,0.1,"
                     f"{encode({1: 1})}\n", "latency:")
    assert [item.tag for item in log.intervals] == ["latency:get"]
    assert log.problems == ()


def test_missing_and_empty_files(tmp_path: Path) -> None:
    assert hlog.read(tmp_path / "no.hlog").problems
    (tmp_path / "empty.hlog").write_text("")
    assert hlog.read(tmp_path / "empty.hlog") == hlog.IntervalLog((), ())
