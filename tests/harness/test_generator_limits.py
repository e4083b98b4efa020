"""The load generator's own limits are measured once per run, and a fault there costs no trial."""

import json
import signal

from tests.harness.harness_checkout import Checkout, read_line_with
from tests.harness.test_trials import ONE, running_fakes


def check_of(checkout: Checkout) -> dict[str, str]:
    checks = checkout.manifest()["checks"]
    assert isinstance(checks, list)
    found = [check for check in checks if check["name"] == "generator-calibration"]
    assert len(found) == 1
    return found[0]


def test_the_calibration_stays_with_the_run_and_is_given_to_every_trial(checkout: Checkout) -> None:
    ended = checkout.run(*ONE, "-C", FAKE_LOAD_SPEED="40")
    assert ended.code == 0
    file = checkout.newest / "generator-calibration.json"
    assert json.loads(file.read_text())["ceiling"][0]["connectionsPerThread"] == 64
    assert check_of(checkout)["status"] == "ok"
    assert "80000/s with 64" in check_of(checkout)["detail"]
    arguments = (checkout.newest / "trials" / "r01-steady-fibers-restinio" / "arguments.json")
    assert json.loads(arguments.read_text())["calibration"] == str(file)


def test_without_a_calibration_the_trials_run_and_the_manifest_warns(checkout: Checkout) -> None:
    assert checkout.run(*ONE, FAKE_CALIBRATION="fail").code == 0
    assert check_of(checkout)["status"] == "warning"
    assert "nothing could connect" in check_of(checkout)["detail"]
    assert [row["status"] for row in checkout.rows()] == ["ok"]


def test_a_failed_check_with_a_stall_is_a_warning_and_strict_refuses(checkout: Checkout) -> None:
    assert checkout.run(*ONE, FAKE_CALIBRATION="stall").code == 0
    assert check_of(checkout)["status"] == "warning"
    assert "stalled server" in check_of(checkout)["detail"]
    assert checkout.run(*ONE, "--strict", FAKE_CALIBRATION="stall").code == 3


def test_ctrl_c_during_the_calibration_leaves_nothing_running(checkout: Checkout) -> None:
    process = checkout.start("--port", str(checkout.port), *ONE, FAKE_CALIBRATION="hang")
    read_line_with(process.stdout, "measuring what the load generator can do")
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=30)
    assert process.returncode == 130
    assert running_fakes(checkout) == []
