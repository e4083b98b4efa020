"""What the pictures show, tested on the data behind them; pixels only for their size."""

from __future__ import annotations

import struct
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from analysis import charts, hlog
from analysis.chart_data import ChartData, broken, chart_data, latency_panel
from analysis.series import Samples
from analysis.trial_files import Trial, latency_intervals, read_trial
from tests.analysis.hdr_writer import encode
from tests.analysis.simulate import EPOCH_MILLIS, Shape, Truth, write_trial


def load(folder: Path, truth: Truth = Truth(), shape: Shape = Shape("s", rate=200.0, seconds=6)
         ) -> tuple[Trial, ChartData]:
    write_trial(folder, shape, "a-b", truth, 1, 1, np.random.default_rng(2))
    trial = read_trial(folder)
    data = chart_data(trial, latency_intervals(hlog.read(folder / "load.hlog"), trial.load))
    assert data is not None
    return trial, data


def test_panels_and_their_subjects(tmp_path: Path) -> None:
    _, data = load(tmp_path / "t", Truth(errors_per_second=3))
    assert [(p.title, p.unit, p.lines[0].label) for p in data.panels] == [
        ("Requests", "per second", "achieved"), ("CPU in use", "% of host", "host"),
        ("Memory", "MiB", "service RSS"), ("Sockets", "count", "open"),
        ("Throughput", "Mbit/s", "loopback")]
    requests = {line.label: line.known for line in data.panels[0].lines}
    assert set(requests["achieved"]) == {197.0}
    assert set(requests["offered"]) == {200.0}
    assert set(requests["failed"]) == {3.0}
    assert data.panels[0].summary() == ("197", "197", "197")
    received = {line.label: line.known for line in data.panels[4].lines}["received"]
    assert received[0] == pytest.approx(197 * 1800 * 8 / 1e6)


def test_a_title_tells_min_median_max_and_unit() -> None:
    assert charts.describe("Memory", "service RSS", "MiB", ("1.00", "2.00", "3.00")) == (
        "Memory (service RSS), MiB\nmin 1.00 / median 2.00 / max 3.00")
    assert charts.describe("Memory", "service RSS", "MiB", None).endswith("no values")


def test_failed_requests_are_marked_at_their_second(tmp_path: Path) -> None:
    _, data = load(tmp_path / "t", Truth(errors_per_second=3))
    assert data.latency.marks == tuple((second + 0.5, 3.0) for second in range(6))
    assert data.latency.failed == 18
    _, clean = load(tmp_path / "u")
    assert clean.latency.marks == () and clean.latency.failed == 0


def test_percentiles_of_a_second_need_ten_requests_above(tmp_path: Path) -> None:
    trial, _ = load(tmp_path / "t")
    lines = [f"Tag=latency:get,{EPOCH_MILLIS / 1000 + s:.3f},1.0,1.0,{encode({100_000: n})}"
             for s, n in enumerate((10, 20, 100, 1000))]
    assert trial.window is not None
    panel = latency_panel(trial, latency_intervals(hlog.parse("\n".join(lines)), trial.load),
                          trial.window)
    assert [(line.label, line.x.tolist()) for line in panel.lines] == [
        ("p50", [1.5, 2.5, 3.5]), ("p90", [2.5, 3.5]), ("p99", [3.5])]
    assert panel.lines[0].y[0] == pytest.approx(100, rel=0.01)


def test_requests_of_all_names_merge_and_others_stay_outside(tmp_path: Path) -> None:
    trial, _ = load(tmp_path / "t")
    lines = [f"Tag={tag},{EPOCH_MILLIS / 1000 + s:.3f},1.0,1.0,{encode({100: 5})}"
             for tag, s in (("latency:get", 0), ("latency:post", 0), ("service:get", 0),
                            ("warmup-latency:get", 0), ("latency:get", -2), ("latency:get", 9))]
    assert trial.window is not None
    panel = latency_panel(trial, latency_intervals(hlog.parse("\n".join(lines)), trial.load),
                          trial.window)
    assert [(strip.second, strip.counts.sum()) for strip in panel.strips] == [(0, 10.0)]


def test_density_counts_every_request_once(tmp_path: Path) -> None:
    _, data = load(tmp_path / "t")
    ranges = charts.common_ranges([data])
    grid = charts.density(data.latency, charts.heat_rows(ranges.latency), 6)
    assert grid.sum(axis=0).tolist() == [200.0] * 6


def test_a_gap_breaks_the_line() -> None:
    x, y = broken([1, 2, 9, 10], [5, 6, 7, 8])
    assert x.tolist() == [1, 2, 2.5, 9, 10]
    assert np.isnan(y[2]) and y[[0, 1, 3, 4]].tolist() == [5, 6, 7, 8]


def test_all_charts_of_a_scenario_share_their_ranges(tmp_path: Path) -> None:
    _, small = load(tmp_path / "t")
    _, large = load(tmp_path / "u", Truth(cpu_micros=400, rss_mib=500, jitter_millis=40))
    both = charts.common_ranges([small, large])
    assert both == charts.common_ranges([large, small])
    for data in (small, large):
        own = charts.common_ranges([data])
        assert both.latency[0] <= own.latency[0] and both.latency[1] >= own.latency[1]
        for shared, alone in zip(both.panels, own.panels):
            assert shared[0] <= alone[0] and shared[1] >= alone[1]


def test_an_unknown_tail_is_not_shown_as_a_number(tmp_path: Path) -> None:
    trial, _ = load(tmp_path / "t")
    assert trial.load.totals is not None and trial.window is not None
    latency = replace(trial.load.totals.latency, at_least={"max": ">=60000"})
    totals = replace(trial.load.totals, latency=latency, in_flight=4, unsent=30)
    changed = replace(trial, load=replace(trial.load, totals=totals))
    panel = latency_panel(changed, (), trial.window)
    summary = panel.summary
    assert panel.not_served == 34
    assert summary is not None and summary[2] == "≥60,000"


def test_pictures_of_whole_and_of_bare_trials(tmp_path: Path) -> None:
    trial, data = load(tmp_path / "t", Truth(errors_per_second=2))
    nothing = Samples(np.array([], dtype=np.int64), {})
    bare = chart_data(replace(trial, seconds=nothing, system=nothing, service=nothing), ())
    assert bare is not None
    for chart in (data, bare):
        png = charts.draw("a-b: s", ["one", "two"], chart, charts.common_ranges([chart]))
        width, height = struct.unpack(">II", png[16:24])
        assert (width, height) == (1260, 1320)
    assert chart_data(replace(trial, window=None), ()) is None


def test_the_same_data_give_the_same_bytes(tmp_path: Path) -> None:
    _, data = load(tmp_path / "t")
    ranges = charts.common_ranges([data])
    assert charts.draw("t", ["u"], data, ranges) == charts.draw("t", ["u"], data, ranges)


@pytest.mark.parametrize(("offset", "seconds"), [
    (-0.004, [0, 1, 2, 3, 4, 5]), (-0.3, [0, 1, 2, 3, 4, 5]), (-1.5, [0, 1, 2, 3, 4]),
    (0.4, [0, 1, 2, 3, 4, 5])])
def test_seconds_that_do_not_begin_with_the_window(tmp_path: Path, offset: float,
                                                   seconds: list[int]) -> None:
    trial, _ = load(tmp_path / "t")
    log = hlog.parse("\n".join(
        f"Tag=latency:get,{EPOCH_MILLIS / 1000 + offset + i:.3f},1.0,1.0,{encode({100: 5})}"
        for i in range(6)))
    assert trial.window is not None
    panel = latency_panel(trial, latency_intervals(log, trial.load), trial.window)
    assert [int(strip.second) for strip in panel.strips] == seconds
