"""Against printed tables of Student's t and closed forms for 1 and 2 degrees of freedom."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.student import quantile, two_sided_p


@pytest.mark.parametrize(("probability", "df", "expected"), [
    (0.975, 1, 12.7062), (0.975, 2, 4.30265), (0.975, 6, 2.44691), (0.975, 30, 2.04227),
    (0.995, 4, 4.60409), (0.95, 10, 1.81246), (0.80, 5, 0.919544)])
def test_quantiles_of_the_tables(probability: float, df: int, expected: float) -> None:
    assert quantile(probability, df) == pytest.approx(expected, rel=2e-6)


@given(st.floats(-50, 50))
def test_closed_forms(t: float) -> None:
    cauchy = 1 - 2 / math.pi * math.atan(abs(t))
    assert two_sided_p(t, 1) == pytest.approx(cauchy, abs=1e-12)
    assert two_sided_p(t, 2) == pytest.approx(1 - abs(t) / math.sqrt(2 + t * t), abs=1e-12)


@given(st.floats(0.51, 0.9999), st.integers(1, 60))
def test_quantile_inverts_p(probability: float, df: int) -> None:
    assert two_sided_p(quantile(probability, df), df) == pytest.approx(2 * (1 - probability),
                                                                      abs=1e-9)


def test_ends() -> None:
    assert two_sided_p(math.inf, 3) == 0.0
    assert two_sided_p(0.0, 3) == 1.0
    assert quantile(0.5, 3) == pytest.approx(0, abs=1e-9)
    for bad in (0.4, 1.0):
        with pytest.raises(ValueError):
            quantile(bad, 3)
    with pytest.raises(ValueError):
        two_sided_p(1.0, 0)
