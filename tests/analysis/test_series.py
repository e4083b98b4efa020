from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.series import (NANOS, Samples, Window, change_in, gauge, parse_csv, read_csv, steps,
                             total, value_at)


def samples(seconds: list[float], values: list[float], name: str = "c") -> Samples:
    stamps = np.array([round(second * NANOS) for second in seconds], dtype=np.int64)
    return Samples(stamps, {name: np.array(values, dtype=float)})


WINDOW = Window(10 * NANOS, 14 * NANOS)


def test_ends_are_interpolated_between_two_samples() -> None:
    # 100 a second until 10.5, then 300 a second: 100 * 0.5 + 300 * 3.5 = 1100 in the window
    series = samples([9.5, 10.5, 11.5, 12.5, 13.5, 14.5], [0, 100, 400, 700, 1000, 1300])
    span = change_in(series, "c", WINDOW)
    assert span is not None
    assert span.change == pytest.approx(1100) and span.seconds == 4.0


def test_without_a_sample_beyond_the_end_the_last_one_inside_counts() -> None:
    series = samples([9.5, 10.5, 11.5, 12.5, 13.5], [0, 100, 400, 700, 1000])
    span = change_in(series, "c", WINDOW)
    assert span is not None
    assert span.change == pytest.approx(950) and span.seconds == 3.5


def test_samples_far_apart_bracket_nothing() -> None:
    # 5 s between the samples around the end: what happened at 14 is not known
    series = samples([10, 11, 12, 13, 18], [0, 10, 20, 30, 1000])
    span = change_in(series, "c", WINDOW)
    assert span is not None
    assert (span.change, span.seconds) == (30, 3.0)


def test_less_than_half_the_window_is_no_figure() -> None:
    assert change_in(samples([10, 11], [0, 10]), "c", WINDOW) is None
    assert change_in(samples([10.1], [0]), "c", WINDOW) is None
    assert change_in(samples([], []), "c", WINDOW) is None


def test_a_counter_that_goes_backwards_is_no_figure() -> None:
    assert change_in(samples([10, 11, 12, 13, 14], [0, 10, 5, 20, 30]), "c", WINDOW) is None


def test_gaps_are_not_zeros() -> None:
    series = samples([10, 11, 12, 13, 14], [0, np.nan, 20, 30, 40])
    assert [(s.change, s.seconds) for s in steps(series, "c", WINDOW)] == [
        (20, 2.0), (10, 1.0), (10, 1.0)]
    span = change_in(series, "c", WINDOW)
    assert span is not None and span.change == 40
    assert gauge(series, "c", WINDOW).tolist() == [0, 20, 30, 40]


def test_rates_use_the_real_time_between_samples() -> None:
    series = samples([10, 11.25, 12], [0, 250, 400])
    assert [s.change / s.seconds for s in steps(series, "c", WINDOW)] == [200.0, 200.0]


def test_steps_leave_out_slivers_and_long_gaps() -> None:
    series = samples([10, 10.1, 11, 14], [0, 1, 10, 40])
    assert [s.seconds for s in steps(series, "c", WINDOW)] == [pytest.approx(0.9), 3.0]
    assert list(steps(samples([10, 13.5], [0, 1]), "c", WINDOW)) == []


def test_value_at() -> None:
    stamps, values = samples([1, 2], [10, 30]).known("c")
    assert value_at(stamps, values, NANOS) == 10
    assert value_at(stamps, values, NANOS * 5 // 4) == 15
    assert value_at(stamps, values, NANOS - 1) is None
    assert value_at(stamps, values, 2 * NANOS + 1) is None


def test_sum_of_columns_has_the_gaps_of_both() -> None:
    series = Samples(np.array([1, 2, 3]), {"a": np.array([1.0, np.nan, 3]),
                                           "b": np.array([10.0, 20, 30])})
    assert total(series, ("a", "b")).known("sum")[1].tolist() == [11, 33]
    assert len(total(series, ("a", "missing")).known("sum")[1]) == 0


def test_parse_csv_drops_what_is_cut_off() -> None:
    text = ("epoch_millis,monotonic_nanos,x\n5,2000000000,7\n6,1000000000,\n7,3000000000,oops\n"
            "8,,4\n9,40")
    series = parse_csv(text)
    assert series.stamps.tolist() == [NANOS, 2 * NANOS, 3 * NANOS]
    assert series.known("x")[1].tolist() == [7]
    assert series.column("no such column").shape == (3,)


@pytest.mark.parametrize("text", ["", "\n", "a,b\n1,2\n", "monotonic_nanos\n"])
def test_files_without_data(text: str, tmp_path: Path) -> None:
    assert len(parse_csv(text).stamps) == 0
    assert len(read_csv(tmp_path / "missing.csv").stamps) == 0


@given(st.lists(st.integers(0, 1000), min_size=5, max_size=40), st.integers(0, NANOS - 1))
def test_change_in_the_whole_is_the_sum_of_its_halves(increments: list[int], offset: int) -> None:
    stamps = np.arange(len(increments), dtype=np.int64) * NANOS
    series = Samples(stamps, {"c": np.cumsum(increments).astype(float)})
    window = Window(0, int(stamps[-1]))
    middle = window.end // 2 + (offset % 1000)
    whole = change_in(series, "c", window)
    parts = [change_in(series, "c", w) for w in (Window(0, middle), Window(middle, window.end))]
    assert whole is not None and parts[0] is not None and parts[1] is not None
    assert whole.change == pytest.approx(parts[0].change + parts[1].change)
