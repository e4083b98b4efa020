"""What the load generator wrote: load.json and load-seconds.csv."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from analysis import jsonfile
from analysis.series import EMPTY, Samples, Window

# Counts per second in load-seconds.csv; `in_flight` is a gauge.
COUNTS = ("offered", "sent", "ok", "http_errors", "transport_errors", "timeouts",
          "bytes_sent", "bytes_received")
Kind = Literal["latencyMillis", "serviceMillis"]


@dataclass(frozen=True)
class Times:
    """Percentiles in ms. A key of `at_least` is a percentile known only from below, as text."""

    values: dict[str, float]
    at_least: dict[str, str]


@dataclass(frozen=True)
class Totals:
    """The measure stages of one load, taken together."""

    planned: int | None
    sent: int | None
    shed: int
    unsent: int
    ok: int | None
    http_errors: int
    transport_errors: int
    timeouts: int
    in_flight: int
    duration_millis: float | None
    window: Window | None
    latency: Times
    service: Times

    @property
    def errors(self) -> int:
        """Requests that ended badly."""
        return self.http_errors + self.transport_errors + self.timeouts

    @property
    def not_served(self) -> int:
        """Requests that were due and never answered: in flight at the end, shed, never sent."""
        return self.in_flight + self.shed + self.unsent

    @property
    def responses(self) -> int | None:
        """Requests that were answered, well or badly: what the service worked for."""
        return None if self.ok is None else self.ok + self.http_errors

    def adds_up(self) -> bool:
        """planned = sent + shed + unsent and sent = ok + errors + in flight, where known."""
        if self.sent is None or self.ok is None:
            return True
        ended = self.ok + self.errors + self.in_flight
        planned = self.sent + self.shed + self.unsent
        return self.sent == ended and self.planned in (None, planned)


@dataclass(frozen=True)
class Load:
    status: str
    reason: str
    verdict: str  # the generator's own: ok, late, saturated; empty when not known
    verdict_reason: str
    lag_micros_p99: float | None
    connect_millis_p99: float | None
    epoch_millis: int | None  # the anchor: these two stamps are the same moment
    monotonic_nanos: int | None
    totals: Totals | None


def _times(source: jsonfile.Object) -> Times:
    values = {key: found for key in source if (found := jsonfile.number(source, key)) is not None}
    censored = {key: value for key, value in source.items() if isinstance(value, str)}
    return Times(values, censored)


def _sum(source: jsonfile.Object) -> int:
    return sum(value for key in source if (value := jsonfile.integer(source, key)) is not None)


def _totals(stage: jsonfile.Object) -> Totals:
    start = jsonfile.integer(stage, "startMonotonicNanos")
    end = jsonfile.integer(stage, "endMonotonicNanos")
    window = Window(start, end) if start is not None and end is not None and end > start else None
    return Totals(
        planned=jsonfile.integer(stage, "planned"),
        sent=jsonfile.integer(stage, "sent"),
        shed=jsonfile.integer(stage, "shed") or 0,
        unsent=jsonfile.integer(stage, "unsent") or 0,
        ok=jsonfile.integer(stage, "ok"),
        http_errors=_sum(jsonfile.child(stage, "httpErrors")),
        transport_errors=_sum(jsonfile.child(stage, "transportErrors")),
        timeouts=jsonfile.integer(stage, "timeouts") or 0,
        in_flight=jsonfile.integer(stage, "inFlight") or 0,
        duration_millis=jsonfile.number(stage, "durationMillis"),
        window=window,
        latency=_times(jsonfile.child(stage, "latencyMillis")),
        service=_times(jsonfile.child(stage, "serviceMillis")),
    )


def parse_load(source: jsonfile.Object) -> Load:
    """`window` merges the measure stages; without it a single measure stage stands for itself."""
    generator = jsonfile.child(source, "generator")
    anchor = jsonfile.child(source, "anchor")
    measured = [s for s in jsonfile.objects(source, "stages") if s.get("kind") == "measure"]
    merged = jsonfile.child(source, "window") or (measured[0] if len(measured) == 1 else {})
    return Load(
        status=jsonfile.text(source, "status"),
        reason=jsonfile.text(source, "reason"),
        verdict=jsonfile.text(generator, "verdict"),
        verdict_reason=jsonfile.text(generator, "reason"),
        lag_micros_p99=jsonfile.number(jsonfile.child(generator, "lagMicros"), "p99"),
        connect_millis_p99=jsonfile.number(
            jsonfile.child(source, "connections", "connectMillis"), "p99"),
        epoch_millis=jsonfile.integer(anchor, "epochMillis"),
        monotonic_nanos=jsonfile.integer(anchor, "monotonicNanos"),
        totals=_totals(merged) if merged else None,
    )


def read_load(path: Path) -> Load:
    return parse_load(jsonfile.read_object(path))


def _number_or_zero(text: str | None) -> float:
    try:
        return float(text or 0)
    except ValueError:
        return 0.0


def parse_seconds(text: str, stages: frozenset[str], window: Window | None) -> Samples:
    """load-seconds.csv as cumulative counters (`ok`, ...) and the gauge `in_flight`.

    Rows of the measure stages only, added up over the requests of a second. A stamp is the end of
    its second; a leading zero row at the window's start makes the first second a step.
    `spin_micros` is the generator's and stands the same in each row of a second.
    """
    rows = [row for row in csv.DictReader(io.StringIO(text))
            if row.get("stage") in stages and (row.get("monotonic_nanos") or "").isdigit()]
    if not rows or window is None:
        return EMPTY
    seconds: dict[int, dict[str, float]] = {}
    for row in rows:
        second = seconds.setdefault(int(row["monotonic_nanos"]), {})
        second["spin_micros"] = _number_or_zero(row.get("spin_micros"))
        for name in (*COUNTS, "in_flight"):
            field = row.get(name) or ""
            try:
                second[name] = second.get(name, 0.0) + float(field)
            except ValueError:
                second[name] = np.nan
    stamps = sorted(seconds)
    columns = {name: np.cumsum([0.0] + [seconds[s].get(name, np.nan) for s in stamps])
               for name in (*COUNTS, "spin_micros")}
    columns["in_flight"] = np.array([np.nan] + [seconds[s].get("in_flight", np.nan)
                                                for s in stamps])
    moments = np.array([min(window.start, stamps[0] - 1)] + stamps, dtype=np.int64)
    return Samples(moments, columns)


def measure_stages(source: jsonfile.Object) -> frozenset[str]:
    """Names of the measure stages, from load.json."""
    return frozenset(jsonfile.text(stage, "name") for stage in jsonfile.objects(source, "stages")
                     if stage.get("kind") == "measure")
