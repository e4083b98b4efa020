"""Checks the result folder of a benchmark that was expected to go well.

`check_results.py RESULT_DIR SCENARIO_FILE` prints what is wrong, one line each; exit code 1 when
something is. Knows only docs/formats.md, not the code that wrote the files.
"""

import csv
import json
import struct
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

RESULT_COLUMNS = ["run", "round", "position", "scenario", "approach", "status", "reason", "flags"]
VERDICT_COLUMNS = ["scenario", "metric", "state", "leader", "runner_up", "ratio", "low", "high"]
MANIFEST_KEYS = (
    "schema run name scenarioFile command commit dirty startedUtc endedUtc seed rounds approaches"
    " overrides scenarios settings build versions host checks skipped anchor"
).split()
PERCENTILES = [f"latency_millis_{name}" for name in ("min", "p50", "p90", "p99", "p999", "max")]
Row = dict[str, str]


def read_scenarios(path: Path) -> list[Row]:
    """Rows of a scenario file; blank lines and lines that begin with # are no rows."""
    lines = path.read_text(encoding="utf-8").splitlines()
    kept = [line for line in lines if line.strip() and not line.lstrip().startswith("#")]
    return list(csv.DictReader(kept, skipinitialspace=True))


def number(row: Row, column: str) -> float | None:
    """None where nothing was measured, and for a bound such as ">=60000"."""
    text = row.get(column) or ""
    return None if text == "" or text.startswith(">=") else float(text)


def png_fault(path: Path) -> str | None:
    """Why the file is no whole PNG picture with more than one colour, or None."""
    if not path.is_file():
        return "does not exist"
    data = path.read_bytes()
    if data[:8] != b"\x89PNG\r\n\x1a\n":
        return "is no PNG"
    position, pixels, kind, width, height = 8, b"", b"", 0, 0
    while position + 12 <= len(data) and kind != b"IEND":
        (length,) = struct.unpack_from(">I", data, position)
        kind = data[position + 4 : position + 8]
        body = data[position + 8 : position + 8 + length]
        checksum = data[position + 8 + length : position + 12 + length]
        if checksum != struct.pack(">I", zlib.crc32(kind + body)):
            return f"is damaged in its {kind!r} part"
        if kind == b"IHDR":
            width, height = struct.unpack_from(">II", body)
        if kind == b"IDAT":
            pixels += body
        position += 12 + length
    if kind != b"IEND" or width < 100 or height < 100:
        return "is cut off or tiny"
    if len(set(zlib.decompress(pixels))) < 3:
        return "is blank"
    return None


def row_faults(row: Row, scenario: Row) -> Iterator[str]:
    """What cannot be true of a trial that went well.

    A generator that was late because others used its CPU makes a trial invalid, not wrong: the
    host of a check may be busy, and everything else must hold all the same.
    """
    busy_host = row["status"] == "invalid" and row["reason"].startswith("load generator ")
    if row["status"] != "ok" and not busy_host:
        yield f"status {row['status']}: {row['reason']}"
        return
    if number(row, "requests_error") != 0:
        yield f"requests_error is {row.get('requests_error')!r}"
    if not number(row, "requests_ok"):
        yield "no request succeeded"
    values = [value for column in PERCENTILES if (value := number(row, column)) is not None]
    if values != sorted(values):
        yield f"percentiles that fall: {values}"
    # The leaf of every call waits exactly once: nothing can be faster than the delay.
    least, delay = number(row, "latency_millis_min"), float(scenario["delayInMillis"] or 0)
    if least is None or least < delay:
        yield f"a latency of {least} ms with a delay of {delay:g} ms"
    for column, text in row.items():
        if text.lower() in {"nan", "inf", "-inf", "none", "null"}:
            yield f"{column} is {text}"


def results_faults(folder: Path, scenarios: list[Row], approaches: list[str]) -> Iterator[str]:
    with (folder / "results.csv").open(encoding="utf-8", newline="") as file:
        reader = csv.DictReader(file)
        rows = list(reader)
    if list(reader.fieldnames or [])[: len(RESULT_COLUMNS)] != RESULT_COLUMNS:
        yield f"results.csv begins with the columns {reader.fieldnames}"
        return
    for scenario in scenarios:
        for approach in approaches:
            cell = f"{scenario['scenario']}/{approach}"
            found = [
                row for row in rows if f"{row['scenario']}/{row['approach']}" == cell
            ]
            if not found:
                yield f"results.csv has no row for {cell}"
            for row in found:
                yield from (f"{cell} round {row['round']}: {f}" for f in row_faults(row, scenario))
            if fault := png_fault(folder / f"{cell}.png"):
                yield f"{cell}.png {fault}"


def manifest_faults(manifest: dict[str, Any], approaches: list[str]) -> Iterator[str]:
    yield from (f"manifest.json lacks {key}" for key in MANIFEST_KEYS if key not in manifest)
    for approach in approaches:
        if not manifest.get("settings", {}).get(approach):
            yield f"manifest.json has no settings of {approach}"


def other_faults(folder: Path, scenarios: list[Row], approaches: list[str]) -> Iterator[str]:
    """The overview, the report and the verdicts."""
    if fault := png_fault(folder / "results.png"):
        yield f"results.png {fault}"
    report = (folder / "results.md").read_text(encoding="utf-8")
    for name in [row["scenario"] for row in scenarios] + approaches:
        if name not in report:
            yield f"results.md does not mention {name}"
    with (folder / "verdicts.csv").open(encoding="utf-8", newline="") as file:
        reader = csv.DictReader(file)
        verdicts = list(reader)
    if lacking := [name for name in VERDICT_COLUMNS if name not in (reader.fieldnames or [])]:
        yield f"verdicts.csv lacks the columns {lacking}"
    judged = {verdict.get("scenario") for verdict in verdicts}
    for row in scenarios:
        if row["scenario"] not in judged:
            yield f"verdicts.csv has no row for {row['scenario']}"


def faults(folder: Path, scenario_file: Path) -> Iterator[str]:
    scenarios = read_scenarios(scenario_file)
    wanted = ["results.csv", "verdicts.csv", "manifest.json", "results.md"]
    lacking = [name for name in wanted if not (folder / name).is_file()]
    if lacking:
        yield f"{folder} lacks {', '.join(lacking)}"
        return
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    approaches: list[str] = manifest.get("approaches", [])
    if not approaches or not scenarios:
        yield "there is nothing to check: no approach or no scenario"
    yield from manifest_faults(manifest, approaches)
    yield from results_faults(folder, scenarios, approaches)
    yield from other_faults(folder, scenarios, approaches)


def main(arguments: list[str]) -> int:
    if len(arguments) != 2:
        print("usage: check_results.py RESULT_DIR SCENARIO_FILE", file=sys.stderr)
        return 2
    found = list(faults(Path(arguments[0]), Path(arguments[1])))
    print("\n".join(found), end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
