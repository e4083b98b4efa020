"""The winners' grid: metrics as rows, scenarios as columns; PNG and SVG."""

from __future__ import annotations

import io
import textwrap
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from analysis import palette
from analysis.labels import MEANINGS, label
from analysis.registry import METRICS
from analysis.verdicts import RULE, STATES, Verdict

# At 100 dots per inch a column is 85 px wide: text of 10 pt reads well when shown at 900 px.
COLUMN, ROW, LABELS, GROUPS = 0.95, 0.29, 2.75, 1.25
MIN_GRID = 4.75  # inches; few scenarios get wide columns
HEADER, FOOTER = 2.05, 2.55
DPI = 100
STYLE = {"font.family": "DejaVu Sans", "font.size": 10, "svg.fonttype": "none",
         "svg.hashsalt": "heddle", "hatch.linewidth": 0.6}

Key = tuple[str, str]  # scenario, metric


def fill(verdict: Verdict) -> str:
    """Background of a cell: the winner's colour, stronger for a larger lead; else white or grey."""
    if verdict.state == "winner":
        return palette.fade(palette.colour(verdict.leaders[0]), palette.strength(verdict.ratio))
    if verdict.state == "tie":
        return "#F2F2F2"
    return palette.GREY if verdict.state in ("failed", "invalid") else palette.WHITE


def _cell(axes: Any, column: int, row: int, verdict: Verdict, letters: Mapping[str, str],
          bold: bool) -> None:
    background = fill(verdict)
    hatch = "////" if verdict.state == "not-run" else None
    axes.add_patch(Rectangle((column, row), 1, 1, facecolor=background, edgecolor="#D5D5D5",
                             linewidth=0.8))
    if hatch:
        axes.add_patch(Rectangle((column, row), 1, 1, facecolor="none", edgecolor="#999999",
                                 linewidth=0, hatch=hatch))
        return
    quiet = verdict.state in ("bound", "not-applicable")
    colour = "#595959" if quiet else palette.text_on(background)
    axes.text(column + 0.5, row + 0.5, label(verdict, letters), ha="center", va="center",
              color=colour, fontsize=9 if quiet else 10,
              fontweight="bold" if bold and verdict.state == "winner" else "normal")


def _labels(axes: Any, columns: int) -> None:
    previous = ""
    for row, metric in enumerate(METRICS):
        axes.annotate(metric.name, (0, row + 0.5), (-6, 0), textcoords="offset points",
                      ha="right", va="center", annotation_clip=False,
                      fontweight="bold" if metric.headline else "normal")
        if metric.group != previous:
            axes.axhline(row, color="#555555", linewidth=1.2, zorder=3)
            axes.annotate(metric.group, (columns, row + 0.5), (6, 0),
                          textcoords="offset points", va="center", color="#444444",
                          fontstyle="italic", annotation_clip=False)
            previous = metric.group


def _footer(figure: Any, height: float, shown: Sequence[Verdict], letters: Mapping[str, str],
            rounds: str) -> None:
    """Letters with their colours, the states with their counts, the rule in one sentence."""
    top = (FOOTER - 0.45) / height
    x = 0.15
    width = figure.get_figwidth()
    for name, letter in letters.items():
        background = palette.colour(name)
        figure.text(x / width, top, f" {letter} ", color=palette.text_on(background),
                    backgroundcolor=background, fontweight="bold", va="top", fontsize=9)
        figure.text((x + 0.32) / width, top, name, va="top", fontsize=9.5)
        x += 0.55 + 0.092 * len(name)
    counts = Counter(verdict.state for verdict in shown)
    lines = [f"{counts[state]} {state}: {MEANINGS[state]}" for state in STATES if counts[state]]
    half = (len(lines) + 1) // 2
    below = top - 0.3 / height
    for part, left in ((lines[:half], 0.15), (lines[half:], width / 2)):
        figure.text(left / width, below, "\n".join(textwrap.fill(p, 62, subsequent_indent="    ")
                                                   for p in part),
                    va="top", fontsize=8.5, linespacing=1.25)
    rule = textwrap.fill(f"{RULE} {rounds}", int(width * 15.5))
    figure.text(0.15 / width, 0.1 / height, rule, va="bottom", fontsize=8.5, color="#333333")


def draw(title: str, subtitle: str, scenarios: Sequence[str], verdicts: Mapping[Key, Verdict],
         letters: Mapping[str, str], rounds: str) -> dict[str, bytes]:
    """`png` and `svg` of the grid; a cell without a verdict stays empty."""
    columns = max(1, len(scenarios))
    inches = max(columns * COLUMN, MIN_GRID)
    width = LABELS + inches + GROUPS
    height = HEADER + len(METRICS) * ROW + FOOTER
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(width, height), dpi=DPI)
        FigureCanvasAgg(figure)
        figure.text(0.15 / width, 1 - 0.12 / height, title, fontsize=14, fontweight="bold",
                    va="top")
        figure.text(0.15 / width, 1 - 0.42 / height, subtitle, fontsize=10, va="top")
        axes = figure.add_axes((LABELS / width, FOOTER / height, inches / width,
                                len(METRICS) * ROW / height))
        axes.set_xlim(0, columns)
        axes.set_ylim(len(METRICS), 0)
        axes.axis("off")
        _labels(axes, columns)
        for column, scenario in enumerate(scenarios):
            axes.text(column + 0.4, -0.2, "\n".join(textwrap.wrap(scenario, 26)), rotation=35,
                      rotation_mode="anchor", ha="left", va="bottom", fontsize=9,
                      linespacing=0.95)
            found = [verdicts.get((scenario, metric.name)) for metric in METRICS]
            for row, (metric, verdict) in enumerate(zip(METRICS, found)):
                if verdict is not None:
                    _cell(axes, column, row, verdict, letters, metric.headline)
            ranked = [v for v in found if v is not None
                      and v.state in ("winner", "tie", "undecided")]
            decided = sum(v.state != "undecided" for v in ranked)
            axes.text(column + 0.5, len(METRICS) + 0.45, f"{decided} of {len(ranked)}",
                      ha="center", va="center", fontsize=9, color="#333333")
        axes.annotate("decided", (0, len(METRICS) + 0.45), (-6, 0), textcoords="offset points",
                      ha="right", va="center", fontsize=9, color="#333333",
                      annotation_clip=False)
        _footer(figure, height, list(verdicts.values()), letters, rounds)
        pictures = {}
        for kind, metadata in (("png", {"Software": None}), ("svg", {"Date": None})):
            buffer = io.BytesIO()
            figure.savefig(buffer, format=kind, metadata=metadata)
            pictures[kind] = buffer.getvalue()
        return pictures
