"""results.md: what ran, on what, with which result. Puts text together; holds no statistics."""

from __future__ import annotations

import shlex
import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import quote

from analysis import jsonfile
from analysis.formatting import anchor, byte_size, count, duration, escape, number
from analysis.gallery import Chart, Trials, generator_text
from analysis.labels import MEANINGS, label
from analysis.registry import HEADLINES, METRICS, Metric
from analysis.run import Row, Run, Scenario
from analysis.verdicts import RULE, STATES, Verdict

COLUMNS = ("scenario", "loadProfile", "serviceProfiles", "delayCallDepth", "delayInMillis",
           "connections", "requestsPerSecond", "warmupDurationInSeconds",
           "testDurationInSeconds")
LIMITATIONS = (
    "Absolute numbers hold for this machine and this build only; compare approaches, not hosts.",
    "One build per approach: memory layout alone can move results by a few percent.",
    "Service and load generator share one machine and its loopback device; there is no network.",
    "HTTP/1.1 without TLS.",
    "Fixed-rate and paced scenarios load the service differently: passing one says nothing about "
    "the other.",
    "\"Undecided\" is not \"equal\": see minimum_detectable_percent in verdicts.csv for what "
    "these rounds could have found.",
    "The verdicts of different cells are not corrected for their number: of many cells without "
    "any true difference a few may still show a winner.",
)


@dataclass(frozen=True)
class Report:
    """Everything the page shows."""

    run: Run
    verdicts: Mapping[tuple[str, str], Verdict]
    letters: Mapping[str, str]
    charts: Sequence[Chart]
    trials: Trials
    raw_files: Sequence[str]
    warnings: Sequence[str]


def table(header: Sequence[str], rows: Sequence[Sequence[str]], left: int = 1) -> list[str]:
    """A Markdown table; the first `left` columns are aligned left, the rest right."""
    marks = [":--" if i < left else "--:" for i in range(len(header))]
    lines = [header, marks, *rows]
    return ["| " + " | ".join(line) + " |" for line in lines]


def _pairs(source: jsonfile.Object) -> list[list[str]]:
    rows = []
    for key, value in source.items():
        if isinstance(value, dict):
            text = ", ".join(f"{k}={v}" for k, v in value.items() if v is not None)
        elif isinstance(value, list):
            text = ", ".join(map(str, value))
        else:
            text = "" if value is None else str(value)
        rows.append([escape(key), escape(text) or "not known"])
    return rows


def _moment(text: str) -> datetime | None:
    try:
        return datetime.fromisoformat(text.replace("Z", "+00:00"))
    except ValueError:
        return None


def elapsed(manifest: jsonfile.Object) -> float | None:
    start = _moment(jsonfile.text(manifest, "startedUtc"))
    end = _moment(jsonfile.text(manifest, "endedUtc"))
    if start is None or end is None or (start.tzinfo is None) != (end.tzinfo is None):
        return None
    return (end - start).total_seconds()


def command(manifest: jsonfile.Object) -> str:
    """The command line that started the run."""
    parts = jsonfile.texts(manifest, "command")
    return shlex.join(parts) if parts else jsonfile.text(manifest, "command")


def _expected_trials(run: Run) -> int | None:
    """Planned trials without the skipped ones; None when the plan is not known."""
    if run.rounds_planned is None:
        return None
    skipped = {(row.scenario, row.approach) for row in run.rows if row.status == "skipped"}
    cells = [(s.name, a) for s in run.scenarios for a in run.approaches
             if (s.name, a) not in skipped and not run.skipped_reason(s.name, a)]
    return len(cells) * run.rounds_planned


def summary(report: Report) -> list[str]:
    """How much of the plan is there."""
    run = report.run
    planned = run.rounds_planned
    states = Counter(row.status for row in run.rows)
    trials = ", ".join(f"{number_of} {state}" for state, number_of in sorted(states.items()))
    lines = [f"Rounds: planned {'unknown' if planned is None else planned}, "
             f"with data {run.rounds_done}. Trials: {trials or 'none'}."]
    expected = _expected_trials(run)
    done = sum(row.status != "skipped" for row in run.rows)
    if expected is not None and done < expected:
        lines.append(f"**Incomplete: {done} of {expected} trials.**")
    if run.rounds_done == 1:
        lines.append("**One round decides nothing: the verdicts below say \"undecided\".**")
    return lines


def _header(report: Report) -> list[str]:
    manifest = report.run.manifest
    name = jsonfile.text(manifest, "name") or report.run.folder.name
    started, ended = (jsonfile.text(manifest, key) for key in ("startedUtc", "endedUtc"))
    return [
        f"# Results of {escape(name)}", "", *summary(report), "",
        "## Time and settings", "",
        *table(("", ""), [
            ["Start (UTC)", escape(started) or "not known"],
            ["End (UTC)", escape(ended) or "not finished"],
            ["Duration", duration(elapsed(manifest))],
            ["Scenario file", escape(jsonfile.text(manifest, "scenarioFile")) or "not known"],
            ["Approaches", escape(", ".join(f"{letter} = {name}"
                                            for name, letter in report.letters.items()))],
            *_overrides(manifest)], left=2), ""]


def _overrides(manifest: jsonfile.Object) -> list[list[str]]:
    overrides = jsonfile.child(manifest, "overrides")
    return [[title, f"{escape(overrides[key])} s, for every scenario"]
            for key, title in (("warmupSeconds", "Warm-up, overridden"),
                               ("testSeconds", "Test, overridden"))
            if overrides.get(key) is not None] or [["Overrides of durations", "none"]]


def _system(report: Report) -> list[str]:
    manifest = report.run.manifest
    host = dict(jsonfile.child(manifest, "host"))
    memory = [byte_size(jsonfile.number(host, f"mem{k}Bytes")) for k in ("Total", "Available")]
    disk = [byte_size(jsonfile.number(host, f"disk{k}Bytes")) for k in ("Total", "Available")]
    for key in ("memTotalBytes", "memAvailableBytes", "diskTotalBytes", "diskAvailableBytes"):
        host.pop(key, None)
    sections = ["## System", "", *table(("", ""), [
        ["RAM, total / available", " / ".join(memory)],
        ["Disk, total / available", " / ".join(disk)], *_pairs(host)], left=2), ""]
    for title, key in (("Versions", "versions"), ("Build", "build")):
        rows = _pairs(jsonfile.child(manifest, key))
        sections += [f"### {title}", "", *(table(("", ""), rows, left=2) if rows
                                           else ["Not recorded."]), ""]
    checks = [c for c in jsonfile.objects(manifest, "checks") if c.get("status") != "ok"]
    notes = [f"- {escape(c.get('name', '?'))}: {escape(c.get('status', '?'))}: "
             f"{escape(c.get('detail') or 'no detail')}" for c in checks]
    notes += [f"- {escape(text)}" for text in (*report.run.problems, *report.warnings)]
    return [*sections, "### Checks that did not pass, and warnings", "", *(notes or ["None."]), ""]


def _scenario_table(report: Report) -> list[str]:
    rows = []
    for scenario in report.run.scenarios:
        cells = [escape(scenario.columns.get(column, "")) or "-" for column in COLUMNS]
        cells[0] = f"[{cells[0]}](#{anchor(scenario.name)})"
        rows.append(cells)
    skipped = [f"- {escape(item.get('scenario', '?'))}, "
               f"{escape(item.get('approach') or 'all approaches')}: "
               f"{escape(item.get('reason') or 'no reason given')}"
               for item in jsonfile.objects(report.run.manifest, "skipped")]
    return ["## Scenarios", "", "Durations are the effective ones.", "",
            *table(COLUMNS, rows, left=3), "", "### Skipped", "", *(skipped or ["None."]), ""]


def _overview(report: Report) -> list[str]:
    counts = Counter(verdict.state for verdict in report.verdicts.values())
    words = "; ".join(f"{counts[state]} {state}" for state in STATES if counts[state])
    rows = [[escape(scenario.name), *(
        escape(label(report.verdicts[scenario.name, metric.name], report.letters))
        for metric in HEADLINES)] for scenario in report.run.scenarios]
    names = [escape(metric.name) for metric in HEADLINES]
    meanings = [f"- {state}: {MEANINGS[state]}" for state in STATES]
    return ["## Overview", "",
            f"![Winner of every metric and scenario, in numbers: {words or 'none'}](results.png)",
            "", "The same as [SVG](results.svg). Headline metrics in words:", "",
            *table(["scenario", *names], rows), "", RULE, "", *meanings, ""]


def _spread(rows: Sequence[Row], metric: Metric) -> str:
    """`median (min-max)` over the valid rounds."""
    values = [v for row in rows if row.status == "ok"
              and (v := row.values[metric.name]) is not None]
    if not values:
        return "n/a"
    show = count if metric.unit == "requests" else number
    middle = show(statistics.median(values))
    low, high = show(min(values)), show(max(values))
    return middle if low == high else f"{middle} ({low}–{high})"


def _headline_table(report: Report, scenario: Scenario) -> list[str]:
    run = report.run
    rows = []
    for approach in run.approaches:
        trials = run.rows_of(scenario.name, approach)
        valid = sum(row.status == "ok" for row in trials)
        rows.append([f"{escape(report.letters[approach])} {escape(approach)}",
                     f"{valid} of {len(trials)}",
                     *(_spread(trials, metric) for metric in HEADLINES)])
    verdicts = [report.verdicts[scenario.name, metric.name] for metric in HEADLINES]
    rows.append(["**verdict**", "", *(escape(label(v, report.letters)) for v in verdicts)])
    header = ["approach", "valid trials",
              *(f"{escape(metric.name)}, {escape(metric.unit)}" for metric in HEADLINES)]
    return ["Median over the valid rounds (smallest–largest).", "", *table(header, rows), "",
            *_reasons(verdicts), ""]


def _reasons(verdicts: Sequence[Verdict]) -> list[str]:
    """Why each verdict is what it is; metrics with the same story share a line."""
    stories: dict[str, list[str]] = {}
    for verdict in verdicts:
        left_out = "".join(f"; {escape(name)} left out: {escape(why)}"
                           for name, why in verdict.left_out.items() if verdict.rounds)
        story = f"{verdict.state}, {escape(verdict.reason)}{left_out}"
        stories.setdefault(story, []).append(escape(verdict.metric))
    return [f"- {', '.join(metrics)}: {story}" for story, metrics in stories.items()]


def _trial_table(report: Report, scenario: Scenario) -> list[str]:
    rows = []
    for row in sorted((r for r in report.run.rows if r.scenario == scenario.name),
                      key=lambda r: (r.round, r.approach)):
        kept = report.trials.get((row.scenario, row.approach, row.round))
        generator = generator_text(row, kept.trial if kept else None)
        explained = [note for note in (kept.summary.notes if kept else ())
                     if not row.reason or row.reason not in f"load {note.replace('-', ' ', 1)}"]
        named = {note.partition(":")[0] for note in explained}
        notes = [row.reason, *(flag for flag in row.flags if flag not in named), *explained]
        rows.append([str(row.round), escape(row.approach), escape(row.status), escape(generator),
                     escape("; ".join(filter(None, notes))) or "-"])
    if not rows:
        return ["No trial was run.", ""]
    return ["<details><summary>Trials, with the load generator's verdict on itself</summary>", "",
            *table(("round", "approach", "status", "generator", "flags and reasons"), rows, left=5),
            "", "</details>", ""]


def _pictures(report: Report, scenario: Scenario) -> list[str]:
    lines = []
    for chart in report.charts:
        if chart.scenario != scenario.name:
            continue
        name = f"{escape(chart.approach)}: {escape(chart.scenario)}"
        if chart.missing:
            lines += [f"No chart of {name}: {escape(chart.missing)}.", ""]
        else:
            lines += [f"![{name}]({quote(chart.path)})", ""]
    return lines


def _details(report: Report) -> list[str]:
    lines = ["## Scenarios in detail", ""]
    for scenario in report.run.scenarios:
        lines += [f'<a id="{anchor(scenario.name)}"></a>', "", f"### {escape(scenario.name)}", "",
                  *_headline_table(report, scenario), *_trial_table(report, scenario),
                  *_pictures(report, scenario)]
    return lines


def _reproduce(report: Report) -> list[str]:
    manifest = report.run.manifest
    dirty = manifest.get("dirty") is True
    versions = jsonfile.child(manifest, "versions") | jsonfile.child(manifest, "build")
    lines = [f"git checkout {jsonfile.text(manifest, 'commit') or 'unknown'}"
             + ("   # plus uncommitted changes" if dirty else ""),
             command(manifest) or "# the command was not recorded",
             f"# seed {manifest.get('seed', 'unknown')}",
             *(f"# {key} {value}" for key, value in versions.items())]
    if dirty:
        lines.append(f"# SHA-256 of the changes: {manifest.get('dirtyDiffSha256')}")
    files = ["results.csv", "verdicts.csv", "manifest.json", *report.raw_files]
    return ["## How to reproduce", "", "```sh", *(" ".join(line.split()) for line in lines),
            "```", "", "Files: " + ", ".join(f"[{escape(f)}]({quote(f)})" for f in files) + ".",
            ""]


def _metrics() -> list[str]:
    rows = [[escape(m.name) if not m.headline else f"**{escape(m.name)}**", escape(m.unit),
             m.direction if m.rule != "never" else "not ranked", f"{m.margin:.0%}",
             escape(m.description)] for m in METRICS]
    return ["## Metrics", "", "Headline metrics are bold.", "",
            *table(("metric", "unit", "better", "margin", "meaning"), rows, left=5), ""]


def results_md(report: Report) -> str:
    """The whole page; every gap in it carries its reason."""
    limits = ["## Limitations", "", *(f"- {text}" for text in LIMITATIONS), ""]
    lines = [*_header(report), *_overview(report), *_scenario_table(report), *_details(report),
             *_system(report), *_reproduce(report), *_metrics(), *limits]
    return "\n".join(lines).rstrip("\n") + "\n"
