"""Comparison of approaches by round: each round is a block that ran under the same conditions.

Two-way fit (round + approach, no interaction) on the scale given; its residuals give one pooled
standard error with (n - 1)(k - 1) degrees of freedom. Approaches differ in noise, and the pooled
error is then too small for some pairs: the larger of the pooled and the pair's own error counts
(simulated: 10-14 % false alarms become 3-5 % at five rounds). Bonferroni over the k(k - 1)/2
pairs of the cell keeps the chance of any false difference under `ALPHA`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

from analysis.student import quantile, two_sided_p

ALPHA = 0.05
POWER = 0.80
# Values closer than this differ by floating-point rounding only.
TINY = 1e-12


@dataclass(frozen=True)
class Pair:
    """first - second on the scale of the fit, with a simultaneous 95 % interval."""

    difference: float
    low: float
    high: float
    p: float  # adjusted for the pairs of the cell
    error: float  # standard error


@dataclass(frozen=True)
class Fit:
    """`centres[i]` is the mean of approach i over the rounds; `pairs[i, j]` is i minus j."""

    rounds: int
    centres: tuple[float, ...]
    pairs: dict[tuple[int, int], Pair]
    df: int
    critical: float

    def detectable(self) -> float:
        """Smallest true difference found with 80 % power, for the noisiest pair."""
        worst = max(pair.error for pair in self.pairs.values())
        return (self.critical + quantile(POWER, self.df)) * worst


def _pair(difference: float, error: float, critical: float, df: int, pairs: int) -> Pair:
    if error < TINY:
        p = 1.0 if abs(difference) < TINY else 0.0
        return Pair(difference, difference, difference, p, 0.0)
    p = min(1.0, pairs * two_sided_p(difference / error, df))
    return Pair(difference, difference - critical * error, difference + critical * error, p, error)


def fit(values: npt.NDArray[np.float64]) -> Fit:
    """`values[r, a]` is approach a in round r; at least 2 rounds and 2 approaches, no gaps."""
    n, k = values.shape
    if n < 2 or k < 2 or not np.isfinite(values).all():
        raise ValueError("a fit needs two rounds, two approaches and no gaps")
    centres = values.mean(axis=0)
    residuals = values - values.mean(axis=1, keepdims=True) - centres + values.mean()
    df = (n - 1) * (k - 1)
    pooled = math.sqrt(float((residuals**2).sum()) / df * 2 / n)
    count = k * (k - 1) // 2
    critical = quantile(1 - ALPHA / count / 2, df)
    pairs: dict[tuple[int, int], Pair] = {}
    for i, j in combinations(range(k), 2):
        differences = values[:, i] - values[:, j]
        own = float(differences.std(ddof=1)) / math.sqrt(n)
        pair = _pair(float(differences.mean()), max(pooled, own), critical, df, count)
        pairs[i, j] = pair
        pairs[j, i] = Pair(-pair.difference, -pair.high, -pair.low, pair.p, pair.error)
    return Fit(n, tuple(float(c) for c in centres), pairs, df, critical)
