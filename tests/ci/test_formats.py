"""The column lists of docs/formats.md are those of the code."""

import re
from pathlib import Path

import pytest
from analysis.registry import METRICS
from analysis.verdicts_file import HEADER as VERDICT_COLUMNS
from harness import results_table, sampler, scenario_file

TOP = Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"<!-- columns: (.+?) -->\n```\n(.+?)\n```")
DOCUMENTED = {
    name: tuple(columns.split(", "))
    for name, columns in BLOCK.findall((TOP / "docs/formats.md").read_text())
}


def test_every_list_is_there():
    assert set(DOCUMENTED) == {
        "scenario file",
        "load-seconds.csv",
        "service.csv",
        "system.csv",
        "results.csv",
        "verdicts.csv",
    }


@pytest.mark.parametrize(
    ("name", "columns"),
    [
        ("scenario file", scenario_file.COLUMNS),
        ("system.csv", sampler.COLUMNS),
        ("verdicts.csv", VERDICT_COLUMNS),
        ("results.csv", (*results_table.LEADING, *(metric.name for metric in METRICS))),
    ],
)
def test_columns_of_python_files(name, columns):
    assert DOCUMENTED[name] == tuple(columns)


@pytest.mark.parametrize(
    ("name", "folder"),
    [("service.csv", "services/metrics"), ("load-seconds.csv", "loadgen/report")],
)
def test_columns_of_cpp_files(name, folder):
    """The header is one string literal, perhaps over several lines."""
    text = "".join(path.read_text() for path in sorted((TOP / folder).glob("*.cpp")))
    joined = re.sub(r'"\s*"', "", text)
    header = next(line for line in re.findall(r'"(epoch_millis,[^"]*)"', joined))
    assert DOCUMENTED[name] == tuple(header.removesuffix("\\n").split(","))
