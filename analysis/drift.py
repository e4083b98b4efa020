"""Does the second half of the load window look like the first? What drains or grows is flagged."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analysis.hdr import Histogram, merge
from analysis.series import Samples, Window, gauge, change_in
from analysis.trial_files import TimedHistogram, Trial

# Halves of a steady trial agree within noise; the load itself must be steady to ask at all.
SAME_LOAD = 0.02
RELATIVE = 0.10
# Differences that matter to nobody, whatever their share: half a millisecond, ten requests, 8 MiB.
MIN_LATENCY_MICROS = 500.0
MIN_IN_FLIGHT = 10.0
MIN_RSS_BYTES = 8.0 * 1024 * 1024


@dataclass(frozen=True)
class Drift:
    what: str
    first: float
    second: float


def halves(window: Window) -> tuple[Window, Window]:
    middle = (window.start + window.end) // 2
    return Window(window.start, middle), Window(middle, window.end)


def _differs(first: float, second: float, least: float) -> bool:
    difference = abs(second - first)
    return difference > least and difference > RELATIVE * max(abs(first), abs(second))


def _means(samples: Samples, column: str, window: Window) -> tuple[float, float] | None:
    first, second = (gauge(samples, column, half) for half in halves(window))
    if len(first) < 2 or len(second) < 2:
        return None
    return float(np.mean(first)), float(np.mean(second))


def _medians(histograms: tuple[TimedHistogram, ...], window: Window
             ) -> tuple[float, float] | None:
    middle = halves(window)[1].start
    parts: tuple[list[Histogram], list[Histogram]] = ([], [])
    for item in histograms:
        if item.monotonic_nanos is not None:
            parts[item.monotonic_nanos >= middle].append(item.interval.histogram)
    first, second = (merge(part) for part in parts)
    if first is None or second is None:
        return None
    one, two = first.quantile(0.5, above=10), second.quantile(0.5, above=10)
    return None if one is None or two is None else (float(one), float(two))


def steady_load(trial: Trial) -> bool:
    """Whether as much was offered in both halves; a ramp differs by design and is not asked."""
    if trial.window is None or trial.requests_per_second is None:
        return False
    first, second = (change_in(trial.seconds, "offered", half) for half in halves(trial.window))
    if first is None or second is None or first.change <= 0 or second.change <= 0:
        return False
    one, two = first.change / first.seconds, second.change / second.seconds
    return abs(one - two) <= SAME_LOAD * max(one, two)


def find_drifts(trial: Trial, histograms: tuple[TimedHistogram, ...]) -> tuple[Drift, ...]:
    """What differs between the halves of a trial with a steady load; empty when nothing does."""
    window = trial.window
    if window is None or not steady_load(trial):
        return ()
    candidates = (
        ("median latency, us", _medians(histograms, window), MIN_LATENCY_MICROS),
        ("requests in flight", _means(trial.seconds, "in_flight", window), MIN_IN_FLIGHT),
        ("resident memory, bytes", _means(trial.system, "service_rss_bytes", window),
         MIN_RSS_BYTES),
    )
    return tuple(Drift(what, *pair) for what, pair, least in candidates
                 if pair is not None and _differs(*pair, least))
