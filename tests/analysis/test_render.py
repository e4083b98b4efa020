"""Whole result folders, complete and not: what is written, and that nothing raises."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from urllib.parse import unquote

import pytest

from analysis import charts, grid
from analysis.__main__ import main
from analysis.registry import METRICS
from analysis.render import render_run
from analysis.verdicts import STATES
from tests.analysis.simulate import APPROACHES, SHAPES, TRUTHS, Truth, build_run, rows

QUICK = SHAPES[:2]


@pytest.fixture(autouse=True)
def fixture_quick_pictures(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
                           ) -> None:
    """Drawing takes most of a rendering's time: only tests marked `pictures` really do it."""
    if request.node.get_closest_marker("pictures") is None:
        monkeypatch.setattr(charts, "draw", lambda title, *_: b"\x89PNG " + title.encode())
        monkeypatch.setattr(grid, "draw", lambda *_: {"png": b"\x89PNG", "svg": b"<svg/>"})


@pytest.fixture(scope="module", name="template")
def fixture_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    truths = TRUTHS | {"reactor-restinio": Truth(30, 0.9, 0, 40)}
    return build_run(tmp_path_factory.mktemp("run") / "run", QUICK, truths=truths)


@pytest.fixture(name="run")
def fixture_run(template: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(template, tmp_path / "run"))


def manifest(run: Path, **changes: object) -> None:
    path = run / "manifest.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


def edit_rows(run: Path, change: Callable[[dict[str, str]], None]) -> None:
    path = run / "results.csv"
    lines = path.read_text().splitlines()
    found = rows(path.read_text())
    for row in found:
        change(row)
    path.write_text("\n".join([lines[0], *(",".join(row.values()) for row in found)]) + "\n")


def check_page(run: Path) -> str:
    """Links of the page lead somewhere; its tables are rectangular."""
    page = (run / "results.md").read_text()
    for target in re.findall(r"\]\(([^)]+)\)", page):
        if target.startswith("#"):
            assert f'<a id="{target[1:]}"></a>' in page
        else:
            assert (run / unquote(target)).is_file(), target
    width = 0
    for line in page.splitlines():
        cells = len(re.findall(r"(?<!\\)\|", line)) if line.startswith("| ") else 0
        assert not (width and cells and cells != width), line
        width = cells
    assert "nan" not in page.lower().split()
    return page


@pytest.mark.pictures
def test_a_complete_run(run: Path) -> None:
    assert render_run(run, keep_raw=True) == []
    page = check_page(run)
    verdicts = rows((run / "verdicts.csv").read_text())
    assert len(verdicts) == len(QUICK) * len(METRICS)
    assert {row["state"] for row in verdicts} <= set(STATES)
    assert {row["rounds"] for row in verdicts if row["state"] == "winner"} == {"3"}
    assert not any(row["q"] for row in verdicts)
    by_key = {(row["scenario"], row["metric"]): row for row in verdicts}
    cost = by_key["1k-fixed-rate", "service_cpu_micros_per_request"]
    assert (cost["state"], cost["leader"]) == ("winner", "reactor-restinio")
    assert float(cost["ratio"]) == pytest.approx(36.5 / 30, rel=0.06)
    assert by_key["1k-fixed-rate", "requests_per_second_p50"]["state"] == "bound"
    assert by_key["paced-spike", "service_cpu_micros_per_request"]["state"] == "not-applicable"
    for shape in QUICK:
        for approach in APPROACHES:
            assert (run / shape.name / f"{approach}.png").read_bytes()[:4] == b"\x89PNG"
            assert f"![{approach}: {shape.name}]({shape.name}/{approach}.png)" in page
    assert (run / "results.svg").read_text().startswith("<?xml")


def test_the_page_tells_what_a_reader_needs(run: Path) -> None:
    render_run(run, keep_raw=False)
    page = check_page(run)
    for text in ("2027-01-15T08:00:00Z", "00:09:30", "planned 3, with data 3. Trials: 24 ok.",
                 "8.0 GiB / 5.0 GiB", "100.0 GiB / 40.0 GiB", r"Simulated \| CPU", "g++ 12.2.0",
                 "| restinio | 0.6.17 |", "- governor: warning: not readable",
                 "./benchmark.sh --seed 7 scenarios-simulated.csv", "# seed 7",
                 "git checkout 0123456789abcdef", "## Limitations", "ok, lag p99 90.0 us",
                 "| Overrides of durations | none |", "[1k-fixed-rate](#1k-fixed-rate)"):
        assert text in page, text


def test_medians_and_ranges_in_the_tables(run: Path) -> None:
    values = iter((30, 10, 20))

    def change(row: dict[str, str]) -> None:
        if row["approach"] == "fibers-restinio" and row["scenario"] == "1k-fixed-rate":
            row["latency_millis_p50"] = str(next(values))

    edit_rows(run, change)
    render_run(run, keep_raw=False)
    assert "20.0 (10.0–30.0)" in check_page(run)


def test_raw_files_cover_all_rounds(run: Path) -> None:
    render_run(run, keep_raw=True)
    folder = run / "1k-fixed-rate"
    latency = rows((folder / "fibers-restinio-latency.csv").read_text())
    assert list(latency[0]) == ["round", "epoch_millis", "monotonic_nanos", "request",
                                "lower_micros", "upper_micros", "count"]
    total = {str(r): 0 for r in (1, 2, 3)}
    for row in latency:
        total[row["round"]] += int(row["count"])
        assert 0 <= int(row["lower_micros"]) <= int(row["upper_micros"])
    assert set(total.values()) == {10_000}
    system = rows((folder / "fibers-restinio-system.csv").read_text())
    assert {row["round"] for row in system} == {"1", "2", "3"} and "lo_rx_bytes" in system[0]
    runtime = rows((folder / "fibers-restinio-runtime.csv").read_text())
    assert {row["round"] for row in runtime} == {"1", "2", "3"} and "major_faults" in runtime[0]
    assert "fibers-restinio-latency.csv" in (run / "results.md").read_text()


@pytest.mark.pictures
def test_rendering_again_gives_the_same_bytes(run: Path) -> None:
    names = ("verdicts.csv", "results.md", "results.png", "results.svg",
             "paced-spike/fibers-restinio.png")
    render_run(run, keep_raw=False)
    first = [(run / name).read_bytes() for name in names]
    render_run(run, keep_raw=False)
    assert [(run / name).read_bytes() for name in names] == first
    assert not list(run.rglob("*.tmp"))


def test_pictures_stay_when_the_raw_files_are_gone(run: Path) -> None:
    render_run(run, keep_raw=False)
    picture = (run / "paced-spike/fibers-restinio.png").read_bytes()
    shutil.rmtree(run / "trials")
    assert render_run(run, keep_raw=False) == []
    page = check_page(run)
    assert (run / "paced-spike/fibers-restinio.png").read_bytes() == picture
    assert "No chart" not in page and "ok, lag p99" in page


def test_without_raw_files_and_pictures_the_reason_is_given(run: Path) -> None:
    shutil.rmtree(run / "trials")
    render_run(run, keep_raw=True)
    assert ("No chart of fibers-restinio: paced-spike: the raw files of the trial were not kept."
            in check_page(run))


def test_failed_skipped_and_invalid_trials(run: Path) -> None:
    def change(row: dict[str, str]) -> None:
        if row["approach"] == "threadpool-restinio":
            row["status"], row["reason"] = "failed", "service ended with signal 9"
            for metric in METRICS:
                row[metric.name] = ""
        if row["approach"] == "fibers-restinio" and row["scenario"] == "paced-spike":
            row["status"], row["reason"] = "invalid", "load generator saturated"
    edit_rows(run, change)
    for folder in (run / "trials").glob("*threadpool*"):
        shutil.rmtree(folder)
    manifest(run, skipped=[{"scenario": "20k", "approach": None, "reason": "40,100 | 20,000"}],
             scenarios=[*json.loads((run / "manifest.json").read_text())["scenarios"],
                        {"scenario": "20k"}])
    assert render_run(run, keep_raw=True) == []
    page = check_page(run)
    assert "18 failed" not in page and "6 failed, 3 invalid, 15 ok" in page
    assert r"- 20k, all approaches: 40,100 \| 20,000" in page
    assert r"No chart of reactor-restinio: 20k: 40,100 \| 20,000." in page
    assert "threadpool-restinio left out: failed: service ended with signal 9" in page
    verdicts = rows((run / "verdicts.csv").read_text())
    winners = {row["leader"] for row in verdicts if row["scenario"] == "paced-spike"}
    assert not any("fibers" in leader or "threadpool" in leader for leader in winners)
    assert {row["state"] for row in verdicts if row["scenario"] == "20k"} == {"not-run"}


def test_one_round_decides_nothing(tmp_path: Path) -> None:
    run = build_run(tmp_path / "run", QUICK[:1], rounds=1)
    render_run(run, keep_raw=False)
    assert "One round decides nothing" in check_page(run)
    states = {row["state"] for row in rows((run / "verdicts.csv").read_text())}
    assert states <= {"undecided", "bound", "not-applicable"}


def test_an_interrupted_run_says_so(run: Path) -> None:
    lines = (run / "results.csv").read_text().splitlines()
    (run / "results.csv").write_text("\n".join(lines[:14]) + "\n" + lines[14][:25])
    manifest(run, endedUtc=None)
    warnings = render_run(run, keep_raw=True)
    page = check_page(run)
    assert "**Incomplete: 13 of 24 trials.**" in page
    assert "| End (UTC) | not finished |" in page and "| Duration | n/a |" in page
    assert any("line 15 is not a whole row" in warning for warning in warnings)


@pytest.mark.pictures
@pytest.mark.parametrize("name", ["load-seconds.csv", "load.hlog", "system.csv"])
def test_damaged_series_are_drawn_with_gaps(run: Path, name: str) -> None:
    for number, folder in enumerate(sorted((run / "trials").glob("*1k-fixed-rate*"))):
        path = folder / name
        data = path.read_bytes()
        path.write_bytes(data[:len(data) * (number % 4) // 4])
    for folder in (run / "trials").glob("*paced-spike*"):
        shutil.rmtree(folder)
    assert render_run(run, keep_raw=False) == []


@pytest.mark.parametrize("name", ["load.json", "load-seconds.csv", "load.hlog", "system.csv",
                                  "trial.json"])
def test_damaged_files_of_trials_leave_gaps(run: Path, name: str) -> None:
    for number, folder in enumerate(sorted((run / "trials").iterdir())):
        path = folder / name
        data = path.read_bytes()
        path.write_bytes(data[:len(data) * (number % 4) // 4])
    assert render_run(run, keep_raw=True) == []
    check_page(run)


@pytest.mark.parametrize("content", ["", "{", "[]", "{}", '{"scenarios": 5, "host": [], '
                                     '"command": {"a": 1}, "rounds": null, "skipped": "x"}'])
def test_any_manifest(run: Path, content: str) -> None:
    (run / "manifest.json").write_text(content)
    render_run(run, keep_raw=False)
    check_page(run)


def test_a_run_without_any_trial(tmp_path: Path) -> None:
    (tmp_path / "manifest.json").write_text(json.dumps(
        {"approaches": ["a-b"], "scenarios": [{"scenario": "s"}], "rounds": {"planned": 3}}))
    assert render_run(tmp_path, keep_raw=True) == ["results.csv is missing or unreadable"]
    page = (tmp_path / "results.md").read_text()
    assert "No chart of a-b: s: no trial was run." in page


def test_names_that_need_escaping(run: Path) -> None:
    text = (run / "manifest.json").read_text().replace("paced-spike", "paced | <b>")
    (run / "manifest.json").write_text(text)
    edit_rows(run, lambda row: row.update(
        scenario=row["scenario"].replace("paced-spike", "paced | <b>")))
    render_run(run, keep_raw=False)
    page = check_page(run)
    assert r"### paced \| \<b\>" in page and "<b>" not in page.replace(r"\<b\>", "")


def test_command_line(run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(run)]) == 0
    assert capsys.readouterr().out == f"{run / 'results.md'}\n"
    assert main([str(tmp_path / "nothing")]) == 2
    assert "neither results.csv nor manifest.json" in capsys.readouterr().err
    with pytest.raises(SystemExit) as wrong:
        main(["--unknown", str(run)])
    assert wrong.value.code == 2
