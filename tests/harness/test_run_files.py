"""Options, results table, folders, lock, error logs, tuning lines, facts."""

import json
import os
from datetime import UTC, datetime
from pathlib import Path

import pytest
from harness.build_facts import read_commit, run_text
from harness.cpus import CpuSets
from harness.error_logs import keep_error_lines
from harness.errors import NotMeasurable, UsageError
from harness.files import write_json
from harness.host_facts import Check, collect_host
from harness.load_events import parse_event
from harness.options import parse_options
from harness.reference_work import is_slow, run_reference
from harness.results_table import ResultsTable
from harness.run_folder import check_disk, create_run_folder, host_lock, link_newest
from harness.schedule import Slot
from harness.trial_record import accounting_fault, generator_fault
from harness.tuning_check import check_tuning, parse_tuning

NOON = datetime(2024, 5, 31, 12, 0, 0, tzinfo=UTC)
SLOT = Slot(1, 2, "s", "fibers-restinio")


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["-n", "0"], "-n/--rounds: found '0', accepted: a whole number from 1 to 1000"),
        (["-t", "1.5"], "-t/--test: found '1.5'"),
        (["-w", "-1"], "-w"),
        (["-a", "x,,y"], "found 'x,,y', accepted: names joined by ','"),
        (["--port", "70000"], "--port: found '70000'"),
        (["--bogus"], "unrecognized arguments: --bogus"),
        (["--round", "3"], "unrecognized arguments: --round"),
        (["a.csv", "b.csv"], "unrecognized arguments: b.csv"),
        ([""], "SCENARIO_FILE: found ''"),
        (["--results-dir", ""], "--results-dir: found '', accepted: a path"),
        (["--resume="], "--resume: found '', accepted: a path"),
        (["--resume", "x", "-n", "2"], "-n cannot change"),
        (["--resume", "x", "a.csv"], "a scenario file cannot change"),
        (["--resume", "x", "--dry-run"], "exclude each other"),
    ],
)
def test_wrong_arguments_give_one_line(arguments: list[str], part: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_options(arguments)
    assert part in str(caught.value)
    assert "\n" not in str(caught.value)


def test_options_by_default_and_given() -> None:
    plain = parse_options([])
    assert (plain.scenario_file, plain.rounds, plain.port, plain.keep_raw) == (None, None, 8080,
                                                                               False)
    given = parse_options(["-a", "x,y,x", "-n", "5", "-w", "0", "-t", "15", "-C", "--seed", "0",
                           "--scenarios", "5k*", "f.csv"])
    assert given.approaches == ("x", "y")
    assert (given.rounds, given.warmup_seconds, given.test_seconds, given.seed) == (5, 0, 15, 0)
    assert (given.keep_raw, given.pattern, given.scenario_file) == (True, "5k*", "f.csv")


def test_rows_are_appended_and_read_again(tmp_path: Path) -> None:
    table = ResultsTable(tmp_path / "results.csv", ("ok", "p99"))
    table.create()
    table.append("run", SLOT, "ok", None, ["a", "b"], {"ok": 7})
    table.append("run", SLOT, "failed", 'it said "no",\nthen died', [], {})
    assert table.path.read_text().splitlines() == [
        "run,round,position,scenario,approach,status,reason,flags,ok,p99",
        "run,1,2,s,fibers-restinio,ok,,a|b,7,",
        'run,1,2,s,fibers-restinio,failed,"it said ""no"", then died",,,',
    ]
    assert [(t.key, t.status, t.flags) for t in table.read()] == [
        (SLOT.key, "ok", ("a", "b")), (SLOT.key, "failed", ())]


def test_a_row_that_was_cut_off_is_dropped(tmp_path: Path) -> None:
    table = ResultsTable(tmp_path / "results.csv", ("ok",))
    table.create()
    table.append("run", SLOT, "ok", None, [], {"ok": 7})
    whole = table.path.read_text()
    table.path.write_text(whole + "run,1,3,s,reac")
    assert len(table.read()) == 1
    assert table.path.read_text() == whole


def test_other_columns_are_refused(tmp_path: Path) -> None:
    ResultsTable(tmp_path / "results.csv", ("ok",)).create()
    with pytest.raises(UsageError, match="its columns are not those of this version"):
        ResultsTable(tmp_path / "results.csv", ("ok", "new")).read()


def test_a_run_never_takes_a_folder_that_exists(tmp_path: Path) -> None:
    first, second = (create_run_folder(tmp_path, "quick", NOON) for _ in range(2))
    assert (first.name, second.name) == ("quick-20240531T120000Z", "quick-20240531T120000Z-2")
    assert link_newest(first, "quick") is None
    assert link_newest(second, "quick") is None
    assert (tmp_path / "quick").resolve() == second.resolve()


def test_a_folder_with_the_links_name_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "quick").mkdir()
    folder = create_run_folder(tmp_path, "quick", NOON)
    assert "is no link" in (link_newest(folder, "quick") or "")
    assert (tmp_path / "quick").is_dir() and not (tmp_path / "quick").is_symlink()


def test_too_little_disk_is_told_with_numbers(tmp_path: Path) -> None:
    check_disk(tmp_path / "not" / "yet", 1, 10)
    with pytest.raises(NotMeasurable, match="MiB of disk free, this run may write"):
        check_disk(tmp_path, 10**9, 10)


def test_the_lock_names_its_holder_and_is_given_back(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with host_lock(path, "benchmark of a.csv"):
        with pytest.raises(UsageError, match=f"process {os.getpid()}: benchmark of a.csv"):
            with host_lock(path, "b"):
                pass
    with host_lock(path, "b"):
        pass


def test_error_lines_of_any_case_are_kept_and_no_empty_file_is_made(tmp_path: Path) -> None:
    trial, run = tmp_path / "trial", tmp_path / "run"
    trial.mkdir()
    run.mkdir()
    (trial / "load.log").write_bytes(b"fine\nan Error: x\nTERROR \xff\nlast error")
    (trial / "service.log").write_bytes(b"all well\n")
    keep_error_lines(trial, run, "s", "a")
    kept = (run / "s" / "a-client-error.log").read_bytes()
    assert kept == b"an Error: x\nTERROR \xff\nlast error\n"
    assert not (run / "s" / "a-service-error.log").exists()


def test_tuning_lines() -> None:
    text = ("setting\tfound\twanted\tstate\nnet.core.somaxconn\t4096\t65535\tdiffers\n"
            "a\t1\t1\tok\nb\t\t1\tskipped\nnoise\n")
    assert parse_tuning(text) == [
        Check("net.core.somaxconn", "warning", "found 4096, wanted 65535"),
        Check("a", "ok", "found 1, wanted 1"),
        Check("b", "skipped", "found nothing, wanted 1"),
    ]


def test_a_tuning_script_that_is_not_there_is_a_skipped_check(tmp_path: Path) -> None:
    assert [c.status for c in check_tuning(tmp_path / "none.sh")] == ["skipped"]


def test_each_host_fact_is_there_or_has_a_check(tmp_path: Path) -> None:
    host, checks = collect_host(tmp_path, CpuSets((0,), (1,), 2), (1024, 4096))
    assert host["cpusets"] == {"service": [0], "loadgen": [1]}
    assert host["limits"] == {"nofileSoft": 1024, "nofileHard": 4096}
    names = {"cpuModel": "cpu-model", "memTotalBytes": "memory", "diskTotalBytes": "disk",
             "os": "os", "governor": "governor"}
    skipped = {check.name for check in checks if check.status == "skipped"}
    for key, name in names.items():
        assert (host[key] is None) == (name in skipped)


def test_the_commit_and_whether_it_is_dirty(tmp_path: Path) -> None:
    assert read_commit(tmp_path, tmp_path / "results").commit is None
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.invalid"]
    assert run_text(["git", "init", "-q", "."], tmp_path) is not None
    (tmp_path / "a").write_text("1")
    assert run_text(["git", "add", "a"], tmp_path) is not None
    assert run_text(["git", *identity, "commit", "-q", "-m", "a"], tmp_path) is not None
    clean = read_commit(tmp_path, tmp_path / "results")
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "x").write_text("1")
    assert read_commit(tmp_path, tmp_path / "results") == clean
    assert (clean.dirty, clean.dirty_diff) == (False, None)
    (tmp_path / "b").write_text("1")
    untracked = read_commit(tmp_path, tmp_path / "results")
    (tmp_path / "a").write_text("2")
    changed = read_commit(tmp_path, tmp_path / "results")
    assert untracked.dirty and changed.dirty
    assert untracked.commit == clean.commit
    assert untracked.dirty_diff != changed.dirty_diff


def test_json_refuses_nan_and_keeps_the_old_file(tmp_path: Path) -> None:
    write_json(tmp_path / "x.json", {"a": None})
    with pytest.raises(ValueError):
        write_json(tmp_path / "x.json", {"a": float("nan")})
    assert json.loads((tmp_path / "x.json").read_text()) == {"a": None}


def test_events() -> None:
    event = parse_event('{"event":"stage-started","kind":"measure","monotonicNanos":5}\n')
    assert event is not None and event.is_measure and event.number("monotonicNanos") == 5
    assert [parse_event(text) for text in ("no", "[1]", "{}", '{"event":1}')] == [None] * 4


WINDOW: dict[str, object] = {
    "planned": 10, "sent": 8, "shed": 1, "unsent": 1, "ok": 4, "httpErrors": {"5xx": 1},
    "transportErrors": {"reset": 1}, "timeouts": 1, "inFlight": 1,
}


def test_every_request_must_be_accounted_for() -> None:
    assert accounting_fault({"window": WINDOW}) is None
    assert accounting_fault({}) == "load.json has no window"
    for key in ("planned", "ok", "unsent", "inFlight"):
        assert accounting_fault({"window": WINDOW | {key: 3}}) is not None
    assert "lacks a count" in (accounting_fault({"window": {"planned": 1}}) or "")


def test_the_generators_own_verdict() -> None:
    assert generator_fault({"generator": {"verdict": "ok"}}) is None
    assert generator_fault({"generator": {"verdict": "late", "reason": "lag"}}) == (
        "load generator late: lag")
    assert generator_fault({}) is not None


def test_a_slow_host_is_a_tenth_over_the_median() -> None:
    assert is_slow(111, [90, 100, 200])
    assert not is_slow(110, [90, 100, 200])
    assert not is_slow(500, [])


def test_reference_work_reports_itself() -> None:
    result = run_reference(2, sorted(os.sched_getaffinity(0)))
    assert result.millis > 0 and result.iterations == 2
    assert result.other_cpus is None or result.other_cpus >= 0
