from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from analysis.load import parse_load, parse_seconds
from analysis.series import NANOS, Window

STAGE: dict[str, Any] = {
    "name": "main", "kind": "measure", "durationMillis": 2000, "planned": 110, "sent": 104,
    "shed": 4, "unsent": 2, "ok": 90, "httpErrors": {"4xx": 1, "5xx": 3},
    "transportErrors": {"reset": 5, "refused": 2}, "timeouts": 2, "inFlight": 1,
    "startMonotonicNanos": 10 * NANOS, "endMonotonicNanos": 12 * NANOS,
    "latencyMillis": {"min": 1.5, "p50": 2, "p99": ">=60000", "p999": None, "max": ">=60000"},
    "serviceMillis": {"p50": 1.25}}
HEADER = ("epoch_millis,monotonic_nanos,stage,request,offered,sent,ok,http_errors,"
          "transport_errors,timeouts,in_flight,bytes_sent,bytes_received,lag_micros_p99\n")


def test_counts_and_identities() -> None:
    totals = parse_load({"window": STAGE}).totals
    assert totals is not None
    assert (totals.ok, totals.errors, totals.responses) == (90, 13, 94)
    assert totals.not_served == 1 + 4 + 2
    assert totals.adds_up()
    for key in ("planned", "sent", "ok"):
        broken = parse_load({"window": STAGE | {key: STAGE[key] + 1}}).totals
        assert broken is not None and not broken.adds_up()


def test_a_percentile_known_only_from_below_is_no_number() -> None:
    totals = parse_load({"window": STAGE}).totals
    assert totals is not None
    assert totals.latency.values == {"min": 1.5, "p50": 2.0}
    assert totals.latency.at_least == {"p99": ">=60000", "max": ">=60000"}


def test_window_before_stages_and_one_stage_alone() -> None:
    warmup = {"name": "w", "kind": "warmup", "ok": 1}
    assert parse_load({"stages": [warmup, STAGE]}).totals is not None
    assert parse_load({"stages": [STAGE, STAGE]}).totals is None
    merged = parse_load({"stages": [STAGE, STAGE], "window": STAGE | {"ok": 180}}).totals
    assert merged is not None and merged.ok == 180


@pytest.mark.parametrize("source", [
    {}, {"window": {}}, {"stages": None}, {"generator": None, "connections": 5},
    {"window": {"ok": None, "latencyMillis": None}}, {"window": {"ok": True}}])
def test_missing_parts_are_gaps(source: dict[str, Any]) -> None:
    load = parse_load(source)
    assert load.lag_micros_p99 is None and load.verdict == ""
    assert load.totals is None or load.totals.ok is None


def rows(stamps: list[int], stage: str = "main") -> str:
    return "".join(f"1,{stamp},{stage},{name},60,55,{ok},1,2,0,4,100,900,9\n"
                   for stamp in stamps for name, ok in (("get", 40), ("post", 10)))


def test_seconds_become_cumulative_over_all_requests() -> None:
    text = HEADER + rows([9 * NANOS], "warmup") + rows([11 * NANOS, 12 * NANOS])
    series = parse_seconds(text, frozenset({"main"}), Window(10 * NANOS, 12 * NANOS))
    assert (series.stamps // NANOS).tolist() == [10, 11, 12]
    assert series.columns["ok"].tolist() == [0, 50, 100]
    assert series.columns["offered"].tolist() == [0, 120, 240]
    assert series.columns["in_flight"][1:].tolist() == [8, 8]
    assert np.isnan(series.columns["in_flight"][0])


def test_no_rows_no_series() -> None:
    window = Window(0, NANOS)
    assert len(parse_seconds("", frozenset({"main"}), window).stamps) == 0
    assert len(parse_seconds(HEADER + rows([NANOS]), frozenset(), window).stamps) == 0
    assert len(parse_seconds(HEADER + rows([NANOS]), frozenset({"main"}), None).stamps) == 0
