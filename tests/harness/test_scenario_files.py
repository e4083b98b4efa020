"""The CSV reader: what is accepted, and one clear line for each fault."""

import csv
import io
import os
from pathlib import Path

import pytest
from harness.errors import UsageError
from harness.places import REPOSITORY_ROOT
from harness.scenario_file import COLUMNS, parse_scenarios, read_scenario_file
from tests.harness.harness_checkout import HEADER
from hypothesis import given
from hypothesis import strategies as st

ROW = "a,get-time,,0,100,10,50,1,2\n"


def fault_of(text: str) -> str:
    with pytest.raises(UsageError) as caught:
        parse_scenarios(text, "x.csv")
    message = str(caught.value)
    assert "\n" not in message
    return message


def test_all_nine_columns_are_read() -> None:
    found = parse_scenarios(HEADER + "b,get-movies,postgres|no-cache,2,150,1000,,0,180\n", "x.csv")
    assert found.rounds is None
    scenario = found.scenarios[0]
    assert scenario.line == 2
    assert scenario.columns() == {
        "scenario": "b",
        "loadProfile": "get-movies",
        "serviceProfiles": "postgres|no-cache",
        "delayCallDepth": 2,
        "delayInMillis": 150,
        "connections": 1000,
        "requestsPerSecond": None,
        "warmupDurationInSeconds": 0,
        "testDurationInSeconds": 180,
    }


def test_the_ancestors_files_load_unchanged() -> None:
    text = (
        "scenario,k6Config,serverProfiles,delayCallDepth,delayInMillis,connections,"
        "requestsPerSecond,warmupDurationInSeconds,testDurationInSeconds\r\n"
        "\r\n# a comment\r\n"
        "smoke,get-time.js,,1,100,5,5,0,5\r\n"
        "pg,get-movies.js,postgres|no-cache,0,100,10,10,10,300"
    )
    smoke, pg = parse_scenarios(text, "x.csv").scenarios
    assert (smoke.load_profile, smoke.service_profiles, smoke.line) == ("get-time", (), 4)
    assert (pg.load_profile, pg.service_profiles) == ("get-movies", ("postgres", "no-cache"))


def test_columns_are_found_by_name_not_by_position() -> None:
    names = list(reversed(COLUMNS))
    values = list(reversed(ROW.strip().split(",")))
    text = ",".join(names) + "\n" + ",".join(values) + "\n"
    assert parse_scenarios(text, "x.csv").scenarios[0].columns() == (
        parse_scenarios(HEADER + ROW, "x.csv").scenarios[0].columns()
    )


def test_a_byte_order_mark_and_quotes_are_understood(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_bytes(b"\xef\xbb\xbf" + (HEADER + '"a","get-time",,0,0,1,1,0,1\n').encode())
    assert read_scenario_file(path).scenarios[0].name == "a"


def test_a_rounds_line_is_read_and_other_comments_are_not() -> None:
    assert parse_scenarios("# rounds = 1\n" + HEADER + ROW, "x.csv").rounds == 1
    assert parse_scenarios("# rounds are 1\n" + HEADER + ROW, "x.csv").rounds is None
    assert "column rounds: found 'many'" in fault_of("# rounds = many\n" + HEADER + ROW)


@pytest.mark.parametrize(
    ("row", "line", "column", "found"),
    [
        ("a b,get-time,,0,100,10,50,1,2", 2, "scenario", "'a b'"),
        ("../a,get-time,,0,100,10,50,1,2", 2, "scenario", "'../a'"),
        (",get-time,,0,100,10,50,1,2", 2, "scenario", "''"),
        ("a,,,0,100,10,50,1,2", 2, "loadProfile", "''"),
        ("a,../x,,0,100,10,50,1,2", 2, "loadProfile", "'../x'"),
        ("a,get-time,x||y,0,100,10,50,1,2", 2, "serviceProfiles", "'x||y'"),
        ("a,get-time,,one,100,10,50,1,2", 2, "delayCallDepth", "'one'"),
        ("a,get-time,,-1,100,10,50,1,2", 2, "delayCallDepth", "'-1'"),
        ("a,get-time,,0,1.5,10,50,1,2", 2, "delayInMillis", "'1.5'"),
        ("a,get-time,,0,100,0,50,1,2", 2, "connections", "'0'"),
        ("a,get-time,,0,100,1_000,50,1,2", 2, "connections", "'1_000'"),
        ("a,get-time,,0,100,\u0665,50,1,2", 2, "connections", "'\u0665'"),
        ("a,get-time,,0,100,10,0,1,2", 2, "requestsPerSecond", "'0'"),
        ("a,get-time,,0,100,10,nan,1,2", 2, "requestsPerSecond", "'nan'"),
        ("a,get-time,,0,100,10,50,,2", 2, "warmupDurationInSeconds", "''"),
        ("a,get-time,,0,100,10,50,1,0", 2, "testDurationInSeconds", "'0'"),
        ("a,get-time,,0,100,10,50,1," + "9" * 5000, 2, "testDurationInSeconds", "'999"),
    ],
)
def test_a_wrong_cell_is_named_with_line_column_found_and_accepted(
    row: str, line: int, column: str, found: str
) -> None:
    message = fault_of(HEADER + row + "\n")
    assert message.startswith(f"x.csv:{line}: column {column}: found {found}")
    assert ", accepted: " in message


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("", "x.csv: empty; expected the header scenario,"),
        ("# only\n\n", "x.csv: empty"),
        (HEADER, "x.csv: no scenario below the header"),
        (ROW, "x.csv:1: header column 1: found 'a', accepted: scenario,"),
        (HEADER.replace("delayInMillis", "delay"), "header column 5: found 'delay', accepted"),
        (HEADER.replace(",connections", ""), "header: column connections is missing"),
        (HEADER.replace("loadProfile", "k6Config,loadProfile"), "'loadProfile' a second time"),
        (HEADER + "a,get-time,,0,100,10,50,1\n", "x.csv:2: found 8 columns, accepted: 9"),
        (HEADER + 'a,"get-time,,0,100,10,50,1,2\n', "x.csv:2: not a CSV line"),
        (HEADER + "a,get\0,,0,100,10,50,1,2\n", "x.csv:2: found a NUL character"),
        ("# rounds = 2\n#rounds=3\n" + HEADER + ROW, "x.csv:2: column rounds: found '3', acc"),
        (HEADER + ROW + "\n" + ROW, "x.csv:4: column scenario: found 'a', accepted: a name"),
    ],
)
def test_a_broken_file_gives_one_line(text: str, part: str) -> None:
    assert part in fault_of(text)


def test_a_file_that_is_not_utf8_or_not_there(tmp_path: Path) -> None:
    (tmp_path / "latin.csv").write_bytes(HEADER.encode() + b"\xe9,get-time,,0,0,1,1,0,1\n")
    with pytest.raises(UsageError, match="not UTF-8"):
        read_scenario_file(tmp_path / "latin.csv")
    with pytest.raises(UsageError, match="No such file"):
        read_scenario_file(tmp_path / "none.csv")


@pytest.mark.parametrize("name", ["results.md", "trials", "Trials", "MANIFEST.json"])
def test_names_of_the_result_folder_are_refused(name: str) -> None:
    message = fault_of(HEADER + name + ROW[1:])
    assert message.startswith(f"x.csv:2: column scenario: found {name!r}, accepted: a name not")


def test_a_name_has_at_most_100_characters() -> None:
    assert parse_scenarios(HEADER + "n" * 100 + ROW[1:], "x.csv").scenarios[0].name == "n" * 100
    assert "at most 100 characters (these are 101)" in fault_of(HEADER + "n" * 101 + ROW[1:])


def test_what_is_no_regular_file_is_not_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    for path in (tmp_path, tmp_path / "fifo", Path("/dev/null")):
        with pytest.raises(UsageError, match="is no regular file"):
            read_scenario_file(path)


@given(st.text())
def test_no_text_causes_anything_but_a_usage_error(text: str) -> None:
    for start in ("", HEADER):
        try:
            parse_scenarios(start + text, "x.csv")
        except UsageError:
            pass


cells = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._-]{0,20}", fullmatch=True).filter(
    lambda name: not name.endswith(".js")
)


@given(
    name=cells,
    profile=cells,
    services=st.lists(cells, max_size=3),
    numbers=st.tuples(
        st.integers(0, 100),
        st.integers(0, 600_000),
        st.integers(1, 1_000_000),
        st.none() | st.integers(1, 10_000_000),
        st.integers(0, 86_400),
        st.integers(1, 86_400),
    ),
)
def test_what_is_written_is_read_again(
    name: str, profile: str, services: list[str], numbers: tuple[int | None, ...]
) -> None:
    row = dict(zip(COLUMNS, (name, profile, "|".join(services), *numbers), strict=True))
    buffer = io.StringIO()
    writer = csv.DictWriter(buffer, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerow(row)
    assert parse_scenarios(buffer.getvalue(), "x.csv").scenarios[0].columns() == row


def test_the_default_file_has_the_ancestors_eleven_rows() -> None:
    found = read_scenario_file(REPOSITORY_ROOT / "scenarios" / "scenarios-default.csv").scenarios
    smooth, post = "get-movies-smooth-vus-spike", "get-post-movies-smooth-vus-spike"
    expected = [
        ("smoketest", "get-time", 1, 100, 5, 5, 0, 5),
        ("1k-vus-and-rps-get-time-no-delay", "get-time", 0, 0, 1000, 1000, 10, 180),
        ("5k-vus-and-rps-get-time", "get-time", 0, 100, 5000, 5000, 10, 180),
        ("5k-vus-and-rps-get-movies", "get-movies", 0, 100, 5000, 5000, 10, 180),
        ("10k-vus-and-rps-get-movies", "get-movies", 0, 100, 10000, 10000, 10, 180),
        ("10k-vus-and-rps-get-movies-call-depth-1", "get-movies", 1, 100, 10000, 10000, 10, 180),
        ("20k-vus-stepped-spike-get-movies", "get-movies-stepped-vus-spike", 0, 100, 20000, None,
         0, 180),
        ("20k-vus-smooth-spike-get-movies", smooth, 0, 100, 20000, None, 0, 180),
        ("20k-vus-smooth-spike-get-post-movies", post, 0, 100, 20000, None, 0, 180),
        ("20k-vus-smooth-spike-get-post-movies-call-depth-1", post, 1, 100, 20000, None, 0, 180),
        ("20k-vus-smooth-spike-get-post-movies-call-depth-2", post, 2, 100, 20000, None, 0, 180),
    ]
    assert [tuple(v for k, v in s.columns().items() if k != "serviceProfiles") for s in found] == (
        expected
    )
    assert all(s.service_profiles == () for s in found)
