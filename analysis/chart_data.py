"""What a chart shows, as plain arrays: x in seconds from the start of the load window."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from analysis import measures, palette
from analysis.formatting import number
from analysis.hdr import Histogram, merge
from analysis.load import Times
from analysis.series import MAX_BRACKET_NANOS, NANOS, Floats, Samples, Window, steps, total
from analysis.trial_files import TimedHistogram, Trial

# A second's percentile is drawn when this many of its requests lie above it.
SAMPLES_ABOVE = 10
QUANTILES = (("p50", 0.50, palette.BLACK, "-"), ("p90", 0.90, palette.GREEN, "--"),
             ("p99", 0.99, palette.BLUE, "-"))
BITS_PER_MEGABIT = 1e6


@dataclass(frozen=True)
class Line:
    """Points in order; NaN in `y` breaks the line."""

    label: str
    x: Floats
    y: Floats
    colour: str
    dash: str = "-"
    wide: bool = False

    @property
    def known(self) -> Floats:
        found: Floats = self.y[np.isfinite(self.y)]
        return found


@dataclass(frozen=True)
class Panel:
    """The first line is the panel's subject; the title tells its min, median and max."""

    title: str
    unit: str
    lines: tuple[Line, ...]
    logarithmic: bool = False

    def summary(self) -> tuple[str, str, str] | None:
        """Min, median and max of the subject, for people; None without values."""
        values = self.lines[0].known
        if not len(values):
            return None
        return number(values.min()), number(float(np.median(values))), number(values.max())


@dataclass(frozen=True)
class Strip:
    """The latencies of one second: values in ms with their counts."""

    second: float
    lower: Floats
    upper: Floats
    counts: Floats


@dataclass(frozen=True)
class LatencyPanel:
    """`marks` = seconds with failed requests and how many failed; `summary` = min, median, max.

    Strips and lines hold answered requests; the summary knows of unanswered ones ("≥60000").
    """

    strips: tuple[Strip, ...]
    lines: tuple[Line, ...]
    marks: tuple[tuple[float, float], ...]
    summary: tuple[str, str, str] | None
    failed: int | None
    not_served: int


@dataclass(frozen=True)
class ChartData:
    seconds: float
    latency: LatencyPanel
    panels: tuple[Panel, ...]


def broken(x: Sequence[float], y: Sequence[float]) -> tuple[Floats, Floats]:
    """Points with a NaN put in wherever more than the sampling gap lies between two of them."""
    xs, ys = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    gaps = np.flatnonzero(np.diff(xs) > MAX_BRACKET_NANOS / NANOS)
    return np.insert(xs, gaps + 1, xs[gaps] + 0.5), np.insert(ys, gaps + 1, np.nan)


def rate(samples: Samples, columns: Sequence[str], window: Window, label: str, colour: str,
         dash: str = "-", scale: float = 1.0, wide: bool = False) -> Line:
    """Change per second of a sum of counters, drawn in the middle of each interval."""
    spans = list(steps(total(samples, columns), "sum", window))
    x = [((s.start + s.end) / 2 - window.start) / NANOS for s in spans]
    return Line(label, *broken(x, [s.change / s.seconds * scale for s in spans]), colour, dash,
                wide)


def level(samples: Samples, column: str, window: Window, label: str, colour: str,
          dash: str = "-", scale: float = 1.0, wide: bool = False) -> Line:
    """A gauge at its samples inside the window."""
    stamps, values = samples.known(column)
    inside = (stamps >= window.start) & (stamps <= window.end)
    x = (stamps[inside] - window.start) / NANOS
    return Line(label, *broken(list(x), list(values[inside] * scale)), colour, dash, wide)


def _share(trial: Trial, columns: Sequence[str], window: Window, label: str, colour: str,
           dash: str = "-", wide: bool = False) -> Line:
    """CPU time in percent of what all CPUs of the host offered in the same interval."""
    every = {(s.start, s.end): s.change
             for s in steps(total(trial.system, measures.HOST_ALL), "sum", window)}
    x, y = [], []
    for span in steps(total(trial.system, columns), "sum", window):
        whole = every.get((span.start, span.end), 0.0)
        if whole > 0:
            x.append(((span.start + span.end) / 2 - window.start) / NANOS)
            y.append(100 * span.change / whole)
    return Line(label, *broken(x, y), colour, dash, wide)


def requests_panel(trial: Trial, window: Window) -> Panel:
    seconds = trial.seconds
    lines = [rate(seconds, ("ok",), window, "achieved", palette.BLACK, wide=True),
             rate(seconds, ("offered",), window, "offered", palette.BLUE, ":"),
             rate(seconds, ("http_errors", "transport_errors", "timeouts"), window, "failed",
                  palette.ORANGE)]
    return Panel("Requests", "per second", tuple(lines))


def cpu_panel(trial: Trial, window: Window) -> Panel:
    system = ("host_system_micros", "host_irq_micros", "host_softirq_micros")
    return Panel("CPU in use", "% of host", (
        _share(trial, measures.HOST_BUSY, window, "host", palette.BLACK, wide=True),
        _share(trial, ("host_user_micros",), window, "user", palette.GREEN, "--"),
        _share(trial, system, window, "system", palette.BLUE, "--"),
        _share(trial, ("host_iowait_micros",), window, "iowait", palette.RED, ":"),
        _share(trial, measures.SERVICE_CPU, window, "service", palette.VERMILLION),
        _share(trial, measures.LOADGEN_CPU, window, "generator", palette.PURPLE, "-.")))


def memory_panel(trial: Trial, window: Window) -> Panel:
    system = trial.system
    used = system.column("mem_total_bytes") - system.column("mem_available_bytes")
    return Panel("Memory", "MiB", (
        level(system, "service_rss_bytes", window, "service RSS", palette.VERMILLION,
              scale=1 / measures.MIB, wide=True),
        level(Samples(system.stamps, {"used": used}), "used", window, "RAM used",
              palette.BLACK, "--", 1 / measures.MIB)), logarithmic=True)


def sockets_panel(trial: Trial, window: Window) -> Panel:
    counted = level(trial.system, "server_sockets", window, "open", palette.BLACK, wide=True)
    if not len(counted.known):
        counted = level(trial.service, "connections_open", window, "open", palette.BLACK,
                        wide=True)
    return Panel("Sockets", "count", (
        counted,
        rate(trial.system, ("tcp_active_opens",), window, "active opens/s (host)", palette.BLUE,
             "--"),
        rate(trial.system, ("tcp_passive_opens",), window, "passive opens/s (host)",
             palette.VERMILLION, ":")))


def throughput_panel(trial: Trial, window: Window) -> Panel:
    """On loopback received equals sent, so the parts are the load generator's payload."""
    scale = 8 / BITS_PER_MEGABIT
    return Panel("Throughput", "Mbit/s", (
        rate(trial.system, ("lo_rx_bytes",), window, "loopback", palette.BLACK,
             scale=scale, wide=True),
        rate(trial.seconds, ("bytes_received",), window, "received", palette.BLUE, "--", scale),
        rate(trial.seconds, ("bytes_sent",), window, "sent", palette.GREEN, ":", scale)))


def _strip(histogram: Histogram, second: float) -> Strip:
    lower = np.maximum(histogram.layout.lower(histogram.slots), 1) / 1000
    upper = (histogram.layout.upper(histogram.slots) + 1) / 1000
    return Strip(second, lower, upper, histogram.counts.astype(np.float64))


def _seconds(histograms: tuple[TimedHistogram, ...], window: Window) -> dict[int, Histogram]:
    """One histogram per second of the window, all requests merged.

    The generator's seconds need not begin with the window: the middle of what both share counts.
    """
    parts: dict[int, list[Histogram]] = {}
    for item in histograms:
        if item.monotonic_nanos is None or not item.interval.histogram.total:
            continue
        start = max(item.monotonic_nanos, window.start)
        length = round(item.interval.length_seconds * NANOS)
        end = min(item.monotonic_nanos + length, window.end)
        if end > start:
            second = ((start + end) // 2 - window.start) // NANOS
            parts.setdefault(second, []).append(item.interval.histogram)
    merged = {second: merge(items) for second, items in sorted(parts.items())}
    return {second: item for second, item in merged.items() if item is not None}


def _whole(times: Times, key: str) -> str:
    """A figure of the whole trial; one known only from below keeps its sign."""
    if key in times.at_least:
        text = times.at_least[key].removeprefix(">=")
        return "≥" + (number(float(text)) if text.replace(".", "", 1).isdigit() else text)
    return number(times.values.get(key))


def latency_panel(trial: Trial, histograms: tuple[TimedHistogram, ...], window: Window
                  ) -> LatencyPanel:
    seconds = _seconds(histograms, window)
    totals = trial.load.totals
    lines = []
    for name, fraction, colour, dash in QUANTILES:
        known = {s + 0.5: micros / 1000 for s, h in seconds.items()
                 if (micros := h.quantile(fraction, SAMPLES_ABOVE)) is not None}
        x, y = broken(list(known), list(known.values()))
        lines.append(Line(name, x, y, colour, dash))
    failed = rate(trial.seconds, ("http_errors", "transport_errors", "timeouts"), window, "", "")
    marks = tuple((float(x), float(y)) for x, y in zip(failed.x, failed.y) if y > 0)
    summary = None
    if totals is not None and (totals.latency.values or totals.latency.at_least):
        low, middle, high = (_whole(totals.latency, key) for key in ("min", "p50", "max"))
        summary = (low, middle, high)
    return LatencyPanel(tuple(_strip(h, s) for s, h in seconds.items()), tuple(lines), marks,
                        summary, totals.errors if totals is not None else None,
                        totals.not_served if totals is not None else 0)


PANELS: tuple[Callable[[Trial, Window], Panel], ...] = (
    requests_panel, cpu_panel, memory_panel, sockets_panel, throughput_panel)


def chart_data(trial: Trial, histograms: tuple[TimedHistogram, ...]) -> ChartData | None:
    """None for a trial without a load window."""
    window = trial.window
    if window is None:
        return None
    return ChartData(window.seconds, latency_panel(trial, histograms, window),
                     tuple(build(trial, window) for build in PANELS))
