from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from analysis import hlog
from analysis.drift import find_drifts, steady_load
from analysis.series import Samples
from analysis.trial_files import TimedHistogram, Trial, latency_intervals, read_trial
from tests.analysis.hdr_writer import encode
from tests.analysis.simulate import EPOCH_MILLIS, Shape, Truth, write_trial


def trial_at(folder: Path, shape: Shape) -> Trial:
    write_trial(folder, shape, "fibers-restinio", Truth(), 1, 1, np.random.default_rng(3))
    return read_trial(folder)


def latencies(trial: Trial, medians: list[int]) -> tuple[TimedHistogram, ...]:
    lines = [f"Tag=latency:get,{EPOCH_MILLIS / 1000 + i:.3f},1.0,1.0,{encode({m: 500})}"
             for i, m in enumerate(medians)]
    return latency_intervals(hlog.parse("\n".join(lines)), trial.load)


@pytest.fixture(name="steady")
def fixture_steady(tmp_path: Path) -> Trial:
    return trial_at(tmp_path / "steady", Shape("s", rate=500.0, seconds=8))


def test_a_steady_trial_has_no_flag(steady: Trial) -> None:
    assert find_drifts(steady, latencies(steady, [101_000] * 8)) == ()


def test_growing_latency_is_flagged(steady: Trial) -> None:
    found = find_drifts(steady, latencies(steady, [101_000] * 4 + [140_000] * 4))
    assert [drift.what for drift in found] == ["median latency, us"]
    assert found[0].second > found[0].first


def test_a_draining_backlog_is_flagged(steady: Trial) -> None:
    flight = np.array([np.nan, 900, 800, 700, 600, 60, 50, 50, 50])
    trial = replace(steady, seconds=Samples(
        steady.seconds.stamps, steady.seconds.columns | {"in_flight": flight}))
    assert [drift.what for drift in find_drifts(trial, ())] == ["requests in flight"]


def test_growing_memory_is_flagged(steady: Trial) -> None:
    rss = np.linspace(50, 150, len(steady.system.stamps)) * 2**20
    trial = replace(steady, system=Samples(
        steady.system.stamps, steady.system.columns | {"service_rss_bytes": rss}))
    assert [drift.what for drift in find_drifts(trial, ())] == ["resident memory, bytes"]


def test_tiny_differences_are_not(steady: Trial) -> None:
    # twice as slow, yet by 200 us only
    assert find_drifts(steady, latencies(steady, [200] * 4 + [400] * 4)) == ()


def test_a_ramp_is_not_asked(tmp_path: Path) -> None:
    trial = trial_at(tmp_path / "ramp", Shape("p", users=500, seconds=10))
    assert not steady_load(trial)
    assert find_drifts(trial, latencies(trial, [100] * 5 + [90_000] * 5)) == ()
