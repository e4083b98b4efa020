"""Which trial runs when: rounds of all scenarios x approaches in random order. Pure."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

from harness.effective import Prepared

# Start and stop of both processes, reference work, connects, drain and metrics of one trial:
# measured on 2 cores (docs/methodology.md); replaced by the run's own mean once it has one.
OVERHEAD_SECONDS = 1.5


@dataclass(frozen=True)
class Slot:
    """One planned trial. `position` counts from 1 within its round."""

    round: int
    position: int
    scenario: str
    approach: str

    @property
    def key(self) -> tuple[int, str, str]:
        return self.round, self.scenario, self.approach

    @property
    def folder(self) -> str:
        return f"r{self.round:02d}-{self.scenario}-{self.approach}"


def plan_rounds(
    seed: int, rounds: int, scenarios: Sequence[str], approaches: Sequence[str]
) -> list[Slot]:
    """All slots in running order; the same for the same arguments on every host and Python.

    Pairs are sorted by a hash of seed, round and pair: a uniformly random order that needs no
    generator state, so that a resumed run finds the order of the first part again.
    """
    slots: list[Slot] = []
    for number in range(1, rounds + 1):
        pairs = [(scenario, approach) for scenario in scenarios for approach in approaches]
        pairs.sort(key=lambda pair: (_order(seed, number, pair), pair))
        slots += [
            Slot(number, position, scenario, approach)
            for position, (scenario, approach) in enumerate(pairs, start=1)
        ]
    return slots


def _order(seed: int, round_number: int, pair: tuple[str, str]) -> bytes:
    return hashlib.sha256(f"{seed}/{round_number}/{pair[0]}/{pair[1]}".encode()).digest()


def remaining_seconds(loads: Sequence[Prepared], overhead: float = OVERHEAD_SECONDS) -> float:
    """Time that the given trials will take."""
    return sum(prepared.load_seconds + overhead for prepared in loads)


def clock_text(seconds: float) -> str:
    """Seconds as m:ss or h:mm:ss."""
    whole = max(0, round(seconds))
    hours, rest = divmod(whole, 3600)
    minutes, left = divmod(rest, 60)
    return f"{hours}:{minutes:02d}:{left:02d}" if hours else f"{minutes}:{left:02d}"
