"""Whole runs with fake binaries: what becomes of trials that go well, and of those that do not."""

import json
import os
from pathlib import Path

import pytest
from tests.harness.harness_checkout import Checkout, free_port

ONE = ("-n", "1", "-a", "fibers-restinio", "--scenarios", "steady")


def running_fakes(checkout: Checkout) -> list[str]:
    """Command lines of processes that were started for this checkout and still run."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                command = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode()
            except OSError:
                continue
            if "fakes/heddle_" in command and str(checkout.root) in command:
                found.append(command)
    return found


def test_a_whole_run_leaves_rows_a_manifest_and_a_report(checkout: Checkout) -> None:
    ended = checkout.run("-n", "2", "-a", "fibers-restinio,reactor-restinio", "--seed", "5")
    assert (ended.code, ended.err) == (0, "")
    rows = checkout.rows()
    assert len(rows) == 8
    assert {row["status"] for row in rows} == {"ok"}
    assert {(r["round"], r["scenario"], r["approach"]) for r in rows} == {
        (n, s, a) for n in "12" for s in ("steady", "spike")
        for a in ("fibers-restinio", "reactor-restinio")}
    assert {row["requests_ok"] for row in rows} == {"97"}
    manifest = checkout.manifest()
    assert manifest["status"] == "complete"
    assert manifest["rounds"] == {"planned": 2, "done": 2}
    assert manifest["seed"] == 5
    assert manifest["approaches"] == ["fibers-restinio", "reactor-restinio"]
    assert set(manifest["settings"]) == {"fibers-restinio", "reactor-restinio"}  # type: ignore
    assert manifest["endedUtc"] is not None
    assert (checkout.newest / "report.txt").exists()
    assert not (checkout.newest / "trials").exists()
    assert "report: a chart is missing" in ended.out


def test_the_manifests_rows_have_given_and_effective_values(checkout: Checkout) -> None:
    assert checkout.run(*ONE, "-t", "1").code == 0
    manifest = checkout.manifest()
    row = manifest["scenarios"][0]  # type: ignore[index]
    assert (row["warmupDurationInSeconds"], row["testDurationInSeconds"]) == (0, 2)
    assert row["effective"]["warmupDurationInSeconds"] == 5
    assert row["effective"]["testDurationInSeconds"] == 1
    assert "a tenth of its load" in row["warmup"]["note"]
    assert manifest["overrides"] == {"warmupSeconds": None, "testSeconds": 1}


def test_a_trial_folder_has_all_its_files(checkout: Checkout) -> None:
    assert checkout.run("-n", "1", "-a", "fibers-restinio", "--scenarios", "spike", "-C").code == 0
    folder = checkout.newest / "trials" / "r01-spike-fibers-restinio"
    names = {path.name for path in folder.iterdir()}
    assert names >= {"plan.json", "events.jsonl", "load.json", "service.csv", "system.csv",
                     "trial.json", "service.log", "load.log"}
    trial = json.loads((folder / "trial.json").read_text())
    assert (trial["schema"], trial["status"], trial["modeOn"]) == (1, "ok", True)
    assert trial["window"]["endMonotonicNanos"] > trial["window"]["startMonotonicNanos"]
    start, end = trial["serviceThreads"]["atStart"], trial["serviceThreads"]["atEnd"]
    assert end["monotonicNanos"] > start["monotonicNanos"]
    assert end["cpuNanos"] >= start["cpuNanos"] > 0
    assert set(start) == set(end) == {"cpuNanos", "monotonicNanos"}
    assert trial["row"]["delayCallDepth"] == 1 and trial["row"]["requestsPerSecond"] is None
    assert trial["warmup"] == {"durationSeconds": 1, "note": None}
    cpus = len(os.sched_getaffinity(0))
    sides = trial["cpus"]["service"], trial["cpus"]["loadgen"]
    assert cpus == 1 or not set(sides[0]) & set(sides[1])
    plan = json.loads((folder / "plan.json").read_text())
    assert plan["requests"][0]["path"].startswith("/fibers-restinio/movies?directorLastName=Allen&")
    assert plan["requests"][1]["bodyFile"] == str(checkout.root / "scenarios" / "movies.json")


@pytest.mark.parametrize(("missing", "flagged"), [("0", False), ("1", True)])
def test_connections_that_were_never_accepted_flag_the_trial(
    checkout: Checkout, missing: str, flagged: bool
) -> None:
    # The fake generator says that it opened 10 connections and reopened one.
    assert checkout.run(*ONE, FAKE_SERVICE_ACCEPTED=str(11 - int(missing))).code == 0
    row = checkout.rows()[0]
    assert row["status"] == "ok"
    assert ("not-all-accepted" in row["flags"].split("|")) == flagged


def test_the_service_gets_the_profiles_flags(checkout: Checkout) -> None:
    checkout.scenario_rows("steady,get-time,no-cache,0,100,10,50,1,1")
    assert checkout.run("-C", *ONE).code == 0
    trial = json.loads(
        (checkout.newest / "trials" / "r01-steady-fibers-restinio" / "trial.json").read_text())
    command = trial["serviceCommand"]
    assert command[command.index("--cache") + 1] == "off"
    assert command[command.index("--port") + 1] == str(checkout.port)


@pytest.mark.parametrize(
    ("environment", "status", "reason"),
    [
        ({"FAKE_SERVICE": "no-health", "FAKE_HEALTH_LIMIT": "0.5"}, "failed",
         "/health did not answer in 0.5 s"),
        ({"FAKE_SERVICE": "mode-off"}, "failed",
         "mode is not on: tasks of another kind than fiber"),
        ({"FAKE_SERVICE": "bad-exit"}, "failed",
         "at its stop heddle-service ended with exit code 3"),
        ({"FAKE_LOAD": "hang", "FAKE_LOAD_GRACE": "1"}, "failed",
         "heddle-load did not end in 3 s and was killed"),
        ({"FAKE_LOAD": "fail"}, "failed", "load failed: nothing could connect"),
        ({"FAKE_LOAD": "crash"}, "failed", "heddle-load ended by signal SIGABRT"),
        ({"FAKE_LOAD": "no-window"}, "failed", "no load window"),
        ({"FAKE_LOAD": "unbalanced"}, "failed", "requests unaccounted for: sent 100"),
        ({"FAKE_LOAD": "late"}, "invalid", "load generator late: p99 lag 9 ms"),
        ({"FAKE_ANALYSIS": "broken"}, "failed", "analysis: KeyError"),
    ],
)
def test_a_trial_that_goes_wrong_is_a_row_with_its_reason(
    checkout: Checkout, environment: dict[str, str], status: str, reason: str
) -> None:
    ended = checkout.run(*ONE, "-w", "1", "-t", "1", **environment)
    row = checkout.rows()[0]
    assert (row["status"], ended.code) == (status, 1 if status == "failed" else 0)
    assert reason in row["reason"]
    assert (row["requests_ok"] == "") == (status == "failed")
    assert running_fakes(checkout) == []


def test_the_death_of_a_service_fails_its_trial_and_the_run_goes_on(checkout: Checkout) -> None:
    ended = checkout.run("-n", "1", "-a", "fibers-restinio,reactor-restinio", "--scenarios",
                         "steady", FAKE_SERVICE_FIBERS="die-after:0.2", FAKE_LOAD_SPEED="5")
    status = {row["approach"]: row["status"] for row in checkout.rows()}
    assert status == {"fibers-restinio": "failed", "reactor-restinio": "ok"}
    reason = next(row["reason"] for row in checkout.rows() if row["status"] == "failed")
    assert reason == "heddle-service ended by signal SIGKILL; last lines: fatal: out of luck"
    assert ended.code == 1
    assert (checkout.newest / "report.txt").exists()
    assert running_fakes(checkout) == []


def test_a_service_that_does_not_stop_is_killed_and_fails_the_trial(checkout: Checkout) -> None:
    assert checkout.run(*ONE, FAKE_SERVICE="ignore-term", FAKE_STOP_LIMIT="0.2").code == 1
    row = checkout.rows()[0]
    assert (row["status"], row["requests_ok"]) == ("failed", "")
    assert row["reason"] == "the service did not stop within 0.2 s, killed"
    assert running_fakes(checkout) == []


def test_error_lines_of_both_logs_are_kept(checkout: Checkout) -> None:
    assert checkout.run(*ONE, FAKE_SERVICE="log-errors").code == 0
    folder = checkout.newest / "steady"
    assert (folder / "fibers-restinio-service-error.log").read_text() == (
        "an ERROR: one\nno error here: 0 errors\n")
    assert "progress is no error" in (folder / "fibers-restinio-client-error.log").read_text()


def test_rows_that_do_not_fit_are_skipped_with_numbers_and_are_no_failure(
    checkout: Checkout,
) -> None:
    checkout.scenario_rows(
        "steady,get-time,,0,100,10,50,1,1", "huge,get-time,,0,100,1000000,50,1,1")
    ended = checkout.run("-n", "1", "-a", "fibers-restinio")
    rows = {row["scenario"]: row for row in checkout.rows()}
    assert (ended.code, rows["steady"]["status"], rows["huge"]["status"]) == (0, "ok", "skipped")
    assert "needs 1000137 descriptors" in rows["huge"]["reason"]
    assert checkout.manifest()["skipped"] == [
        {"scenario": "huge", "approach": None, "reason": rows["huge"]["reason"]}]
    assert checkout.run("-n", "1", "--scenarios", "huge").code == 3


def test_a_late_generator_is_not_measurable_when_strict(checkout: Checkout) -> None:
    assert checkout.run(*ONE, "--strict", FAKE_LOAD="late").code == 3


def test_a_report_that_lacks_a_part_is_told_and_keeps_the_raw_files(checkout: Checkout) -> None:
    ended = checkout.run(*ONE, FAKE_RENDER="part")
    assert ended.code == 1
    assert "report incomplete: 1 of its parts could not be made" in ended.out
    assert (checkout.newest / "trials" / "r01-steady-fibers-restinio" / "load.json").exists()


def test_a_report_that_fails_keeps_the_raw_files(checkout: Checkout) -> None:
    ended = checkout.run(*ONE, FAKE_RENDER="broken")
    assert (ended.code, "report failed: RuntimeError: no ink" in ended.out) == (1, True)
    assert (checkout.newest / "trials" / "r01-steady-fibers-restinio" / "load.json").exists()


@pytest.mark.parametrize(
    ("arguments", "environment", "part"),
    [
        (("-a", "nonsense"), {}, "unknown approach nonsense, known: threadpool-restinio, fibers-"),
        (("none.csv",), {}, "scenarios/none.csv: no such scenario file; in scenarios/: sc"),
        (("n" * 300,), {}, "n: no such scenario file"),
        (("/dev/null",), {}, "/dev/null: is no regular file"),
        (("profiles",), {}, "scenarios/profiles: is no regular file"),
        (("./none.csv",), {}, "./none.csv: no such scenario file"),
        (("--scenarios", "x*"), {}, "--scenarios x*: matches none of steady, spike"),
        (("--resume", "nowhere"), {}, "--resume wants a result folder"),
        ((), {"HEDDLE_SERVICE": "/nonexistent"}, "HEDDLE_SERVICE=/nonexistent: no executable"),
        ((), {"FAKE_SERVICE": "refuse"}, "refused: no such luck"),
    ],
)
def test_wrong_usage_is_one_line_and_exit_code_2(
    checkout: Checkout, arguments: tuple[str, ...], environment: dict[str, str], part: str
) -> None:
    ended = checkout.run(*arguments, **environment)
    assert ended.code == 2
    assert part in ended.err
    assert ended.err.startswith("benchmark.sh: ") and ended.err.count("\n") == 1
    assert not checkout.results.exists()


@pytest.mark.parametrize(
    ("row", "part"),
    [
        ("a,nope,,0,100,10,50,1,1", "quick.csv:2: unknown load profile nope, known: get-"),
        ("a,get-time,nope,0,100,10,50,1,1", "2: unknown service profile nope, known: no-cache"),
        ("a,get-time,,0,100,10,,1,1", "column requestsPerSecond: found nothing"),
        ("a,spike,,0,100,10,5,1,1", "column requestsPerSecond: found 5"),
        ("a,spike,,0,100,ten,5,1,1", "column connections: found 'ten'"),
    ],
)
def test_a_faulty_row_is_found_before_anything_starts(
    checkout: Checkout, row: str, part: str
) -> None:
    checkout.scenario_rows(row)
    environments: list[dict[str, str]] = [
        {}, {"HEDDLE_CHECK_ARGUMENTS": "1", "HEDDLE_SERVICE": "/nonexistent"}]
    for environment in environments:
        ended = checkout.run(**environment)
        assert (ended.code, part in ended.err) == (2, True)


def test_good_arguments_are_told_so_without_any_binary(checkout: Checkout) -> None:
    ended = checkout.run(HEDDLE_CHECK_ARGUMENTS="1", HEDDLE_SERVICE="/nonexistent")
    assert (ended.code, ended.out, ended.err) == (10, "", "")


def test_help_names_every_option_and_ends_with_0(checkout: Checkout) -> None:
    ended = checkout.run("--help")
    assert ended.code == 0
    for option in ("-a", "--scenarios", "-n", "-w", "-t", "-C", "--seed", "--resume", "--dry-run",
                   "--strict", "--port", "-h", "SCENARIO_FILE"):
        assert option in ended.out


def test_a_dry_run_prints_the_plan_and_leaves_nothing(checkout: Checkout) -> None:
    ended = checkout.run("--dry-run", "--seed", "9")
    assert ended.code == 0
    assert "2 scenarios x 4 approaches x 3 rounds, seed 9" in ended.out
    # 12 trials of 5 + 2 s, 12 of 1 + 2 s, 1.5 s more for each.
    assert "24 trials, about 2:36" in ended.out
    assert not checkout.results.exists()


def test_an_occupied_port_is_told_at_once(checkout: Checkout) -> None:
    import socket

    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        checkout.port = taken.getsockname()[1]
        ended = checkout.run(*ONE)
    assert (ended.code, ended.err.count("\n")) == (2, 1)
    assert f"port {checkout.port} is occupied by " in ended.err
    assert f", process {os.getpid()};" in ended.err
    assert not checkout.results.exists()
    checkout.port = free_port()
    assert checkout.run(*ONE).code == 0
