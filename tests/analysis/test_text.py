"""Numbers, labels, colours: what people read."""

from __future__ import annotations

from itertools import combinations

import pytest

from analysis import formatting, palette
from analysis.labels import label
from analysis.verdicts import STATES, Verdict

APPROACHES = ("threadpool-restinio", "fibers-restinio", "reactor-restinio", "coroutines-restinio")
LETTERS = palette.letters(APPROACHES)


@pytest.mark.parametrize(("value", "text"), [
    (None, "n/a"), (float("nan"), "n/a"), (float("inf"), "n/a"), (0, "0"), (-0.0, "0"),
    (1, "1.00"), (12.345, "12.3"), (99.96, "100"), (100.4, "100"), (0.012345, "0.0123"),
    (1234567, "1,230,000"), (5005, "5,000"), (-2.5, "-2.50"), (0.00001234, "1.23e-05"),
    (9.999, "10.0")])
def test_three_significant_digits(value: float | None, text: str) -> None:
    assert formatting.number(value) == text


def test_counts_keep_their_digits() -> None:
    assert formatting.count(904_524) == "904,524"
    assert formatting.count(None) == "n/a"


@pytest.mark.parametrize(("ratio", "text"), [
    (1.0, "0.0%"), (1.034, "3.4%"), (1.0996, "10%"), (1.354, "35%"), (1.99, "99%"), (2, "2x"),
    (2.345, "2.35x"), (1234.5, "1,234x")])
def test_margins(ratio: float, text: str) -> None:
    assert formatting.percent_over(ratio) == text


def test_sizes_and_durations() -> None:
    assert formatting.byte_size(8 * 2**30) == "8.0 GiB"
    assert formatting.byte_size(300 * 2**20) == "300 MiB"
    assert formatting.byte_size(None) == "n/a"
    assert formatting.duration(3725) == "01:02:05"
    assert formatting.duration(None) == "n/a"


def test_text_cannot_leave_its_table_cell() -> None:
    assert formatting.escape("a|b\nc <b> `d` [e](f)") == (
        r"a\|b c \<b\> \`d\` \[e\](f)")
    assert formatting.escape("requests_ok") == "requests_ok"


def test_letters() -> None:
    assert LETTERS == dict(zip(APPROACHES, "TFRC"))
    both = palette.letters(("fibers-restinio", "fibers-beast", "reactor-restinio"))
    assert both == {"fibers-restinio": "Fr", "fibers-beast": "Fb", "reactor-restinio": "R"}
    twins = palette.letters(("fibers-beast", "fibers-best", "fibers-bee"))
    assert len(set(twins.values())) == 3


def test_text_reads_on_every_fill() -> None:
    for approach in (*APPROACHES, "unknown-server"):
        for _, strength in palette.STRENGTHS:
            background = palette.fade(palette.colour(approach), strength)
            assert palette.contrast(palette.text_on(background), background) >= 4.5
    for background in (palette.GREY, palette.WHITE, "#F2F2F2"):
        assert palette.contrast(palette.text_on(background), background) >= 4.5
        assert palette.contrast("#595959", palette.WHITE) >= 4.5


def test_lines_stand_out_on_white_and_from_each_other() -> None:
    colours = [palette.colour(approach) for approach in APPROACHES]
    assert set(colours) == {"#0072B2", "#D55E00", "#009E73", "#000000"}
    assert all(palette.contrast(colour, palette.WHITE) >= 3 for colour in colours)
    assert all(a != b for a, b in combinations(colours, 2))


def test_contrast_of_black_and_white() -> None:
    assert palette.contrast("#000000", "#FFFFFF") == pytest.approx(21)
    assert palette.contrast("#777777", "#FFFFFF") == pytest.approx(4.48, abs=0.01)


def test_strength_grows_with_the_lead() -> None:
    steps = [palette.strength(ratio) for ratio in (1.05, 1.2, 1.5, None)]
    assert steps[0] < steps[1] < steps[2] == steps[3] == 1.0


def verdict(state: str, leaders: tuple[str, ...] = (), ratio: float | None = None,
            left_out: dict[str, str] | None = None) -> Verdict:
    return Verdict("s", "m", state, "", leaders, ratio=ratio,  # type: ignore[arg-type]
                   compared=APPROACHES, left_out=left_out or {})


def test_labels() -> None:
    assert label(verdict("winner", ("fibers-restinio",), 1.354), LETTERS) == "F 35%"
    assert label(verdict("winner", ("fibers-restinio",)), LETTERS) == "F"
    assert label(verdict("tie", ("fibers-restinio", "reactor-restinio")), LETTERS) == "F=R"
    assert label(verdict("tie", APPROACHES), LETTERS) == "≈"
    assert label(verdict("tie", APPROACHES, None, {"x": "failed"}), LETTERS) == "T=F=R=C"
    found = [label(verdict(state), LETTERS) for state in STATES if state not in ("winner", "tie")]
    assert found == ["?", "—", "n/a", "✗", "not run", "!"]
