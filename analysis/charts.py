"""Draws one picture per scenario and approach: six panels over the seconds of the load window."""

from __future__ import annotations

import io
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import matplotlib
import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import LinearSegmentedColormap, LogNorm
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullLocator

from analysis import palette
from analysis.chart_data import ChartData, LatencyPanel, Line, Panel
from analysis.formatting import count
from analysis.series import Floats

# 1260 px wide; shown at 900 px the smallest text (10 pt) is still 10 px high.
WIDTH_INCHES, HEIGHT_INCHES, DPI = 12.6, 13.2, 100
MAX_HEAT_ROWS = 120
MIN_HEAT_RATIO = 1.02  # a histogram slot is up to 0.8 % wide: thinner rows would show stripes
GREYS = LinearSegmentedColormap.from_list("density", ["#DCDCDC", "#5A5A5A"])
STYLE = {"font.family": "DejaVu Sans", "font.size": 10.5, "axes.titlesize": 11.5,
         "axes.titleweight": "bold", "axes.labelsize": 10.5, "legend.fontsize": 10,
         "axes.spines.top": False, "axes.spines.right": False}

Range = tuple[float, float]


@dataclass(frozen=True)
class Ranges:
    """The y ranges that all charts of a scenario share, so that they can be compared."""

    seconds: float
    latency: Range
    panels: tuple[Range, ...]


def _latency_range(data: Sequence[ChartData]) -> Range:
    strips = [strip for item in data for strip in item.latency.strips]
    if not strips:
        return 1.0, 10.0
    low = min(float(strip.lower[0]) for strip in strips)
    high = max(float(strip.upper[-1]) for strip in strips)
    return low / 1.15, max(high, low * 2) * 1.35  # room above for the marks of failed requests


def _panel_range(panels: Sequence[Panel]) -> Range:
    values = [panel_line.known for panel in panels for panel_line in panel.lines]
    known = np.concatenate([*values, np.array([])])
    if panels[0].logarithmic:
        known = known[known > 0]
        return (float(known.min()) / 1.5, float(known.max()) * 2.5) if len(known) else (1.0, 10.0)
    top = float(known.max()) if len(known) else 0.0
    return 0.0, top * 1.25 if top > 0 else 1.0


def common_ranges(data: Sequence[ChartData]) -> Ranges:
    """`data` holds one chart per approach, at least one."""
    columns = zip(*(item.panels for item in data))
    return Ranges(max(item.seconds for item in data), _latency_range(data),
                  tuple(_panel_range(panels) for panels in columns))


def heat_rows(limits: Range) -> Floats:
    """Edges of the density rows, evenly spaced on the log axis."""
    ratio = math.log(limits[1] / limits[0])
    rows = max(8, min(MAX_HEAT_ROWS, int(ratio / math.log(MIN_HEAT_RATIO))))
    edges: Floats = np.geomspace(limits[0], limits[1], rows + 1)
    return edges


def density(panel: LatencyPanel, edges: Floats, seconds: int) -> Floats:
    """Requests per row and second; a slot counts in the row of its middle."""
    grid = np.zeros((len(edges) - 1, seconds))
    for strip in panel.strips:
        middles = np.sqrt(strip.lower * strip.upper)
        rows = np.clip(np.searchsorted(edges, middles, side="right") - 1, 0, len(edges) - 2)
        if strip.second < seconds:
            np.add.at(grid[:, int(strip.second)], rows, strip.counts)
    return grid


def describe(title: str, subject: str, unit: str, summary: tuple[str, str, str] | None) -> str:
    """The two lines above a panel."""
    heading = f"{title} ({subject}), {unit}"
    if summary is None:
        return f"{heading}\nno values"
    return "{}\nmin {} / median {} / max {}".format(heading, *summary)


def _axis_number(value: float, _position: int) -> str:
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:,.4g}"


def _log_axis(axes: Any, limits: Range) -> None:
    axes.set_yscale("log")
    axes.set_ylim(*limits)
    decades = math.log10(limits[1] / limits[0])
    wanted = (1, 1.2, 1.5, 2, 3, 5, 7) if decades < 0.8 else (1, 2, 5) if decades < 2.5 else (1,)
    axes.yaxis.set_major_locator(LogLocator(base=10, subs=wanted, numticks=20))
    axes.yaxis.set_major_formatter(FuncFormatter(_axis_number))
    axes.yaxis.set_minor_locator(NullLocator())


def _draw_line(axes: Any, line: Line, label: str, halo: bool = False) -> None:
    # Fewer than three points are too short to be seen as a line.
    if halo:
        axes.plot(line.x, line.y, color=palette.WHITE, linewidth=3.6, zorder=3)
    axes.plot(line.x, line.y, color=line.colour, linestyle=line.dash, label=label,
              linewidth=2.2 if line.wide else 1.7, markersize=4, zorder=4,
              marker="o" if 0 < len(line.known) < 3 else None)


def _nothing(axes: Any, text: str) -> None:
    axes.text(0.5, 0.5, text, transform=axes.transAxes, ha="center", va="center", color="#444444")


def _legend(axes: Any, columns: int) -> None:
    """Above the data and inside the panel; every range leaves room for it."""
    if axes.get_legend_handles_labels()[0]:
        axes.legend(loc="upper left", ncol=columns, framealpha=0.85, borderpad=0.3,
                    handlelength=2.2, columnspacing=1.2, labelspacing=0.25)


def _draw_latency(axes: Any, data: ChartData, ranges: Ranges) -> None:
    panel = data.latency
    axes.set_title(describe("Latency from due time", "answered", "ms", panel.summary), loc="left")
    _log_axis(axes, (ranges.latency[0], ranges.latency[1] * _headroom(ranges.latency)))
    if panel.strips:
        edges = heat_rows(ranges.latency)
        grid = density(panel, edges, math.ceil(ranges.seconds))
        mesh = np.where(grid > 0, grid, np.nan)
        axes.pcolormesh(np.arange(grid.shape[1] + 1), edges, mesh, cmap=GREYS,
                        norm=LogNorm(1, max(2.0, float(grid.max()))), zorder=1, rasterized=True)
    else:
        _nothing(axes, "no latencies recorded")
    for line in panel.lines:
        if len(line.known):
            _draw_line(axes, line, line.label, halo=True)
    scarce = ", ".join(line.label for line in panel.lines if not len(line.known))
    if scarce and panel.strips:
        axes.plot([], [], " ", label=f"{scarce}: too few a second")
    if panel.marks:
        x, y = np.array(panel.marks).T
        level = ranges.latency[1] / 1.08
        axes.scatter(x, np.full(len(x), level), s=14 + 12 * np.log10(1 + y), marker="x",
                     color=palette.RED, linewidths=1.4, zorder=5,
                     label=f"failed: {count(panel.failed)}")
    if panel.not_served:
        axes.plot([], [], "x", color=palette.RED,
                  label=f"never answered: {count(panel.not_served)}")
    _legend(axes, 3)


def _headroom(limits: Range) -> float:
    """A factor on the log axis that leaves a fifth of its height free for the legend."""
    return float((limits[1] / limits[0]) ** 0.2)


def _draw_panel(axes: Any, panel: Panel, limits: Range) -> None:
    title = describe(panel.title, panel.lines[0].label, panel.unit, panel.summary())
    axes.set_title(title, loc="left")
    drawn = [line for line in panel.lines if len(line.known)]
    for line in drawn:
        _draw_line(axes, line, line.label)
    if not drawn:
        _nothing(axes, "not recorded")
    if panel.logarithmic:
        _log_axis(axes, (limits[0], limits[1] * _headroom(limits)))
    else:
        axes.set_ylim(limits[0], limits[1] * 1.12)
        axes.yaxis.set_major_locator(MaxNLocator(nbins=6))
        axes.yaxis.set_major_formatter(FuncFormatter(_axis_number))
    _legend(axes, 3)


def draw(title: str, subtitle: Sequence[str], data: ChartData, ranges: Ranges) -> bytes:
    """The PNG of one trial. `subtitle` holds up to two lines."""
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(WIDTH_INCHES, HEIGHT_INCHES), dpi=DPI)
        FigureCanvasAgg(figure)
        figure.text(0.06, 0.985, title, fontsize=16, fontweight="bold", va="top")
        figure.text(0.06, 0.962, "\n".join(subtitle), fontsize=11, va="top", linespacing=1.4)
        grid = figure.subplots(3, 2, sharex=True)
        figure.subplots_adjust(left=0.065, right=0.985, top=0.885, bottom=0.045, hspace=0.27,
                               wspace=0.16)
        flat = list(grid.flat)
        _draw_latency(flat[0], data, ranges)
        for axes, panel, limits in zip(flat[1:], data.panels, ranges.panels):
            _draw_panel(axes, panel, limits)
        for axes in flat:
            axes.set_xlim(0, ranges.seconds)
            axes.grid(True, linestyle=":", linewidth=0.6, color="#BBBBBB")
            axes.set_axisbelow(True)
        for axes in flat[-2:]:
            axes.set_xlabel("seconds from the start of the load window")
        buffer = io.BytesIO()
        figure.savefig(buffer, format="png", metadata={"Software": None})
        return buffer.getvalue()
