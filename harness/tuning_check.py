"""Host tuning as tune-benchmark-host.sh sees it: differences are recorded, they stop nothing."""

import subprocess
from pathlib import Path

from harness.host_facts import Check

LIMIT_SECONDS = 30


def check_tuning(script: Path) -> list[Check]:
    """One check per setting that the script reports. Blocks until it has ended."""
    command = [str(script), "--check", "--format", "tsv"]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=LIMIT_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return [Check("host-tuning", "skipped", f"cannot run {script.name}: {error}")]
    checks = parse_tuning(done.stdout)
    if not checks:
        said = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
        return [Check("host-tuning", "skipped", f"{script.name} reported nothing: {said}")]
    return checks


def parse_tuning(text: str) -> list[Check]:
    """Lines `setting, found, wanted, state` with tabs between; "ok" is the state of a match."""
    checks: list[Check] = []
    for line in text.splitlines():
        fields = line.split("\t")
        if len(fields) < 4 or fields[0] in ("setting", "name"):
            continue
        name, found, wanted, state = fields[:4]
        status = {"ok": "ok", "skipped": "skipped"}.get(state, "warning")
        checks.append(Check(name, status, f"found {found or 'nothing'}, wanted {wanted}"))
    return checks
