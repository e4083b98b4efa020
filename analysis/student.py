"""Student's t distribution, exact through the regularised incomplete beta function."""

from __future__ import annotations

import math
from functools import lru_cache

import mpmath


def two_sided_p(t: float, df: int) -> float:
    """P(|T| >= |t|) for T with `df` degrees of freedom; 0 for an infinite t."""
    if df < 1:
        raise ValueError(f"{df} degrees of freedom")
    if math.isinf(t):
        return 0.0
    return float(mpmath.betainc(df / 2, 0.5, 0, df / (df + t * t), regularized=True))


@lru_cache(maxsize=4096)
def quantile(probability: float, df: int) -> float:
    """t with P(T <= t) = `probability`, for 0.5 <= probability < 1; by bisection to 1e-12."""
    if not 0.5 <= probability < 1:
        raise ValueError(f"probability {probability} is not in [0.5, 1)")
    tail = 2 * (1 - probability)
    low, high = 0.0, 1.0
    while two_sided_p(high, df) > tail:
        low, high = high, high * 2
    while high - low > 1e-12 * high:
        middle = (low + high) / 2
        if middle in (low, high):
            break
        if two_sided_p(middle, df) > tail:
            low = middle
        else:
            high = middle
    return (low + high) / 2
