"""Ctrl-C, resume, and two runs at once."""

import io
import json
import os
import re
import shutil
import signal
from pathlib import Path

import pytest
from harness.errors import UsageError
from harness.load_events import EventReader
from harness.manifest import Manifest
from harness.options import parse_options
from harness.resume import options_of
from tests.harness.harness_checkout import Checkout, read_line_with, wait_until
from tests.harness.test_trials import running_fakes

TWO = ("-n", "2", "-a", "fibers-restinio", "--scenarios", "steady", "--seed", "3", "-w", "1")


def loads_begun(trials: Path) -> int:
    return sum("stage-started" in path.read_text() for path in trials.glob("*/events.jsonl"))


def interrupt(checkout: Checkout, number: signal.Signals, *arguments: str) -> tuple[int, str]:
    """Starts a run, sends the signal in the middle of its second trial; (exit code, output)."""
    process = checkout.start("--port", str(checkout.port), *arguments, FAKE_LOAD_SPEED="2")
    first = read_line_with(process.stdout, ": ok")
    folder = checkout.newest / "trials"
    wait_until(lambda: loads_begun(folder) == 2)
    process.send_signal(number)
    out, _ = process.communicate(timeout=60)
    return process.returncode, first + out


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_leaves_a_valid_partial_result_and_no_process(
    checkout: Checkout, number: signal.Signals
) -> None:
    code, out = interrupt(checkout, number, *TWO)
    assert code == 130
    assert running_fakes(checkout) == []
    assert [row["status"] for row in checkout.rows()] == ["ok"]
    manifest = checkout.manifest()
    assert (manifest["status"], manifest["rounds"]) == (
        "interrupted", {"planned": 2, "done": 1})
    assert manifest["endedUtc"] is not None
    assert (checkout.newest / "report.txt").exists()
    assert (checkout.newest / "trials").exists()
    assert f"continue with: ./benchmark.sh --resume {checkout.newest}" in out
    stopped = checkout.newest / "trials" / "r02-steady-fibers-restinio" / "load.json"
    assert json.loads(stopped.read_text())["status"] == "interrupted"


def test_a_deleted_folder_ends_the_run_with_one_line(checkout: Checkout) -> None:
    process = checkout.start("--port", str(checkout.port), *TWO, FAKE_LOAD_SPEED="2")
    read_line_with(process.stdout, "results go to")
    folder = checkout.newest
    wait_until(lambda: loads_begun(folder / "trials") == 1)
    shutil.rmtree(folder)
    _, err = process.communicate(timeout=60)
    assert (process.returncode, err.count("\n")) == (1, 1)
    assert err.startswith(f"benchmark.sh: cannot write {folder}/")
    assert "No such file or directory; nothing to resume" in err
    assert running_fakes(checkout) == []


def test_a_full_disk_ends_the_run_with_one_line_and_it_can_be_resumed(checkout: Checkout) -> None:
    ended = checkout.run(*TWO, FAKE_DISK="full")
    folder = checkout.newest
    assert (ended.code, ended.err) == (1, f"benchmark.sh: cannot write {folder}/results.csv: "
                                          f"File too large; continue with --resume {folder}\n")
    assert running_fakes(checkout) == []
    assert checkout.run("--resume", str(folder)).code == 0
    assert [row["status"] for row in checkout.rows()] == ["ok", "ok"]


def test_a_copy_of_events_that_cannot_be_written_is_told_and_the_pipe_is_emptied() -> None:
    stream = io.BytesIO(b'{"event":"a"}\n' * 3)
    reader = EventReader(stream, Path("/dev/full"))
    reader.close()
    with pytest.raises(OSError, match="No space left on device: '/dev/full'"):
        reader.next(0.1)


def test_nothing_outlives_a_harness_that_was_killed(checkout: Checkout) -> None:
    process = checkout.start("--port", str(checkout.port), *TWO, FAKE_LOAD_SPEED="0.1")
    read_line_with(process.stdout, "results go to")
    wait_until(lambda: loads_begun(checkout.newest / "trials") == 1)
    assert len(running_fakes(checkout)) == 2
    process.kill()
    process.communicate(timeout=60)
    wait_until(lambda: running_fakes(checkout) == [], 5.0)
    # The resumed run does the trial again, for which it needs the port.
    assert checkout.run("--resume", str(checkout.newest)).code == 0
    assert [row["status"] for row in checkout.rows()] == ["ok", "ok"]


def test_a_resumed_run_does_what_is_left_of_the_same_plan(checkout: Checkout) -> None:
    options = ("-n", "2", "-a", "fibers-restinio,reactor-restinio", "--seed", "3", "-w", "1")
    assert interrupt(checkout, signal.SIGINT, *options)[0] == 130
    folder, before = checkout.newest, checkout.rows()
    ended = checkout.run("--resume", str(folder))
    assert (ended.code, ended.err) == (0, "")
    rows = checkout.rows()
    assert checkout.newest == folder
    assert rows[: len(before)] == before
    order = [(row["round"], row["position"]) for row in rows]
    assert order == sorted(order) and len(set(order)) == len(order) == 8
    assert {row["run"] for row in rows} == {folder.name}
    manifest = checkout.manifest()
    assert manifest["status"] == "complete" and len(manifest["resumed"]) == 1  # type: ignore
    assert manifest["rounds"] == {"planned": 2, "done": 2}
    checkout.run(*options)
    assert [(r["scenario"], r["approach"]) for r in checkout.rows()] == [
        (r["scenario"], r["approach"]) for r in rows]


def test_a_complete_run_has_nothing_left_to_resume(checkout: Checkout) -> None:
    assert checkout.run(*TWO, "-C").code == 0
    before = checkout.rows()
    manifest = checkout.manifest()
    ended = checkout.run("--resume", str(checkout.newest))
    assert (ended.code, ended.err) == (0, "")
    assert ended.out == f"{checkout.newest}: already complete, nothing to do\n"
    assert (checkout.rows(), checkout.manifest()) == (before, manifest)


def test_a_complete_run_whose_report_failed_is_reported_again(checkout: Checkout) -> None:
    assert checkout.run(*TWO, FAKE_RENDER="broken").code == 1
    assert checkout.run("--resume", str(checkout.newest)).code == 0
    assert (checkout.newest / "report.txt").exists()
    assert len(checkout.rows()) == 2


@pytest.mark.parametrize(
    ("changes", "part"),
    [
        ({"seed": "x"}, 'seed: found "x", accepted: a whole number from 0'),
        ({"seed": True}, "seed: found true"),
        ({"rounds": {"planned": 0}}, "rounds.planned: found 0, accepted: a whole number from 1"),
        ({"rounds": {"planned": 1.5}}, "rounds.planned: found 1.5"),
        ({"rounds": 2}, "lacks rounds.planned"),
        ({"overrides": {"warmupSeconds": None, "testSeconds": -1}}, "overrides.testSeconds: found"),
        ({"approaches": []}, "approaches: found []"),
        ({"scenarioFile": 7}, "scenarioFile: found 7"),
        ({"pattern": 7}, "pattern: found 7"),
        ({"keepRaw": "no"}, 'keepRaw: found "no"'),
        ({"reference": {"iterations": 0, "baselineMillis": [1]}}, "reference.iterations: found 0"),
        ({"reference": {"iterations": 1, "baselineMillis": ["x"]}}, "reference.baselineMillis"),
        ({"checks": None}, "checks: found null"),
    ],
)
def test_an_impossible_value_of_the_manifest_is_named(
    tmp_path: Path, changes: dict[str, object], part: str
) -> None:
    document: dict[str, object] = {
        "seed": 1, "rounds": {"planned": 1}, "approaches": ["a"], "scenarioFile": "a.csv",
        "pattern": None, "keepRaw": False, "checks": [],
        "overrides": {"warmupSeconds": None, "testSeconds": None},
        "reference": {"iterations": 1, "baselineMillis": [1.5]},
    }
    options = parse_options(["--resume", str(tmp_path)])
    assert options_of(Manifest(tmp_path, document), options).rounds == 1
    with pytest.raises(UsageError, match=re.escape(part)):
        options_of(Manifest(tmp_path, document | changes), options)


def changed_rows(checkout: Checkout) -> None:
    checkout.scenario_rows("steady,get-time,,0,100,11,50,0,2")


def changed_binary(checkout: Checkout) -> None:
    copy = checkout.root / "heddle_load.py"
    source = Path(checkout.environment["HEDDLE_LOAD"]).read_text(encoding="utf-8")
    copy.write_text(source + "# another build\n", encoding="utf-8")
    copy.chmod(0o755)
    checkout.environment["HEDDLE_LOAD"] = str(copy)


def changed_commit(checkout: Checkout) -> None:
    path = checkout.newest / "manifest.json"
    document = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps({**document, "commit": "0" * 40}), encoding="utf-8")


@pytest.mark.parametrize(
    ("change", "part"),
    [(changed_rows, "the rows of scenarios-quick.csv differ"),
     (changed_binary, "heddle-load differs"),
     (changed_commit, "the commit differs")],
    ids=["rows", "binary", "commit"],
)
def test_a_run_of_other_things_is_not_resumed(
    checkout: Checkout, change: object, part: str
) -> None:
    assert interrupt(checkout, signal.SIGINT, *TWO)[0] == 130
    before = checkout.rows()
    assert callable(change)
    change(checkout)
    ended = checkout.run("--resume", str(checkout.newest))
    assert (ended.code, part in ended.err, ended.err.count("\n")) == (2, True, 1)
    assert checkout.rows() == before


def test_two_runs_at_once_are_refused(checkout: Checkout) -> None:
    process = checkout.start("--port", str(checkout.port), *TWO, FAKE_LOAD_SPEED="1")
    try:
        read_line_with(process.stdout, "results go to")
        ended = checkout.run(*TWO)
        assert (ended.code, ended.err.count("\n")) == (2, 1)
        assert "another benchmark is running on this host (process " in ended.err
        assert str(process.pid) in ended.err
    finally:
        os.kill(process.pid, signal.SIGTERM)
        process.communicate(timeout=60)
    assert process.returncode == 130
