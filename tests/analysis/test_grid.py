from __future__ import annotations

import re
import struct

from analysis import grid, palette
from analysis.registry import METRICS
from analysis.verdicts import Verdict

NAMES = ("threadpool-restinio", "fibers-restinio", "reactor-restinio", "coroutines-restinio")
LETTERS = palette.letters(NAMES)
STATES = ("winner", "tie", "undecided", "bound", "not-applicable", "failed", "not-run", "invalid")


def verdicts(scenarios: list[str]) -> dict[tuple[str, str], Verdict]:
    """The states in turn, over all cells."""
    found = {}
    for index, (scenario, metric) in enumerate((s, m) for s in scenarios for m in METRICS):
        state = STATES[index % len(STATES)]
        leaders = {"winner": NAMES[1:2], "tie": NAMES[1:3]}.get(state, ())
        found[scenario, metric.name] = Verdict(
            scenario, metric.name, state, "",  # type: ignore[arg-type]
            leaders, ratio=1.35 if state == "winner" else None, compared=NAMES)
    return found


def texts(svg: bytes) -> list[str]:
    return re.findall(r">([^<>]+)</text>", svg.decode())


def test_every_cell_name_and_count_is_in_the_picture() -> None:
    cells = verdicts(["one", "two"])
    pictures = grid.draw("Title", "Subtitle", ["one", "two"], cells, LETTERS, "Rounds: 3.")
    shown = texts(pictures["svg"])
    assert {metric.name for metric in METRICS} <= set(shown)
    assert {"one", "two", "Title", "Subtitle", "requests", "network", "decided"} <= set(shown)
    for text, state in (("F 35%", "winner"), ("F=R", "tie"), ("?", "undecided"), ("—", "bound"),
                        ("✗", "failed"), ("!", "invalid"), ("n/a", "not-applicable")):
        count = sum(verdict.state == state for verdict in cells.values())
        assert shown.count(text) == count
        assert any(line.startswith(f"{count} {state}:") for line in shown)
    rule = " ".join(shown)
    assert "Winner: ahead of every other approach" in rule and "Rounds: 3." in rule


def test_hatch_marks_what_was_not_run() -> None:
    cells = verdicts(["one"])
    without = {key: v for key, v in cells.items() if v.state != "not-run"}
    assert b"<pattern" in grid.draw("t", "s", ["one"], cells, LETTERS, "")["svg"]
    assert b"<pattern" not in grid.draw("t", "s", ["one"], without, LETTERS, "")["svg"]


def test_fill_is_the_winners_colour() -> None:
    cell = next(v for v in verdicts(["one"]).values() if v.state == "winner")
    assert grid.fill(cell) == palette.fade(palette.colour("fibers-restinio"), 1.0)
    assert {grid.fill(v) for v in verdicts(["one"]).values() if not v.leaders} == {
        palette.WHITE, palette.GREY}


def test_width_grows_with_the_scenarios_and_none_is_fine() -> None:
    widths = []
    for count in (0, 1, 4, 12):
        names = [f"s{i}" for i in range(count)]
        png = grid.draw("t", "s", names, verdicts(names), LETTERS, "")["png"]
        widths.append(struct.unpack(">I", png[16:20])[0])
    assert widths[0] == widths[1] == widths[2] < widths[3] <= 1600
