"""How a verdict reads in one short cell, in the picture and in tables alike."""

from __future__ import annotations

from collections.abc import Mapping

from analysis.formatting import percent_over
from analysis.verdicts import State, Verdict

SYMBOLS: dict[State, str] = {"undecided": "?", "bound": "—", "not-applicable": "n/a",
                             "failed": "✗", "not-run": "not run", "invalid": "!"}
MEANINGS: dict[State, str] = {
    "winner": "letter of the winner and how much better it is than the next",
    "tie": "≈ all equal within the margin; F=C: these lead and are equal",
    "undecided": "? the rounds do not separate them, nor show them equal",
    "bound": "— the load sets this figure, everyone met it",
    "not-applicable": "n/a not ranked here",
    "failed": "✗ failed: fewer than two approaches have valid trials",
    "not-run": "hatched: not run",
    "invalid": "! measurement invalid: it decides nothing",
}


def label(verdict: Verdict, letters: Mapping[str, str]) -> str:
    """`F 35%`, `F=C`, `≈`, `?`, `—`, ..."""
    if verdict.state == "winner":
        margin = "" if verdict.ratio is None else " " + percent_over(verdict.ratio)
        return letters[verdict.leaders[0]] + margin
    if verdict.state == "tie":
        if set(verdict.leaders) == set(verdict.compared) and not verdict.left_out:
            return "≈"
        return "=".join(letters[name] for name in verdict.leaders)
    return SYMBOLS[verdict.state]
