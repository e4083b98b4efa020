from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from analysis.blocks import fit

# t quantiles for 1 - 0.05 / 2 / pairs, from printed tables
T_2 = 4.302653      # one pair, 2 degrees of freedom
tables = arrays(np.float64, st.tuples(st.integers(2, 6), st.integers(2, 5)),
                elements=st.floats(-5, 5).map(lambda x: round(x, 3)))


def test_two_approaches_are_the_paired_t_interval() -> None:
    # differences 1, 2, 3: mean 2, deviation 1, error 1 / sqrt 3
    result = fit(np.array([[11.0, 10.0], [22.0, 20.0], [33.0, 30.0]]))
    pair = result.pairs[0, 1]
    half = T_2 / math.sqrt(3)
    assert pair.difference == pytest.approx(2)
    assert (pair.low, pair.high) == (pytest.approx(2 - half), pytest.approx(2 + half))
    # p of t = 2 sqrt 3 with 2 degrees of freedom: 1 - t / sqrt(2 + t^2)
    assert pair.p == pytest.approx(1 - math.sqrt(12 / 14))


def test_a_change_of_a_whole_round_does_not_matter() -> None:
    values = np.array([[1.0, 2.0, 4.0], [1.1, 2.3, 4.1], [0.9, 2.1, 4.3]])
    moved = values + np.array([[100.0], [0.0], [-50.0]])
    for key, pair in fit(values).pairs.items():
        assert fit(moved).pairs[key].low == pytest.approx(pair.low)


def test_the_noisier_pair_gets_the_wider_interval() -> None:
    quiet, noisy = np.array([0.0, 0.1, -0.1, 0.05]), np.array([0.0, 3.0, -3.0, 1.5])
    result = fit(np.column_stack([quiet, quiet[::-1] + 1, noisy]))
    assert result.pairs[0, 2].error > result.pairs[0, 1].error


def test_no_noise_is_exact() -> None:
    result = fit(np.array([[1.0, 2.0], [1.0, 2.0]]))
    assert result.pairs[1, 0].low == result.pairs[1, 0].high == 1.0
    assert result.pairs[1, 0].p == 0.0
    assert fit(np.ones((3, 2))).pairs[0, 1].p == 1.0


@pytest.mark.parametrize("bad", [np.ones((1, 2)), np.ones((3, 1)), np.array([[1.0, np.nan]] * 2)])
def test_what_cannot_be_fitted(bad: np.ndarray) -> None:
    with pytest.raises(ValueError):
        fit(bad)


@given(tables)
def test_interval_holds_its_difference_and_is_antisymmetric(values: np.ndarray) -> None:
    result = fit(values)
    for (i, j), pair in result.pairs.items():
        assert pair.low <= pair.difference <= pair.high
        assert 0 <= pair.p <= 1
        assert result.pairs[j, i].low == -pair.high


@given(tables, st.randoms())
def test_order_of_rounds_and_of_approaches_does_not_matter(values: np.ndarray,
                                                           random: object) -> None:
    n, k = values.shape
    rng = np.random.default_rng(random.getrandbits(32))  # type: ignore[attr-defined]
    rounds, names = rng.permutation(n), rng.permutation(k)
    shuffled = fit(values[rounds][:, names])
    for (i, j), pair in fit(values).pairs.items():
        where = list(names)
        other = shuffled.pairs[where.index(i), where.index(j)]
        assert other.difference == pytest.approx(pair.difference, abs=1e-9)
        assert other.error == pytest.approx(pair.error, abs=1e-9)
