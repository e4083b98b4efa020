"""The event stream of heddle-load (--events -): kept in events.jsonl and handed to the trial."""

import json
import queue
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from harness.files import naming


@dataclass(frozen=True)
class Event:
    """One line. `kind` "" marks the end of the stream."""

    kind: str
    values: dict[str, object]

    def text(self, key: str) -> str | None:
        value = self.values.get(key)
        return value if isinstance(value, str) else None

    def number(self, key: str) -> int | None:
        value = self.values.get(key)
        return value if isinstance(value, int) and not isinstance(value, bool) else None

    @property
    def is_measure(self) -> bool:
        return self.text("kind") == "measure"


END = Event("", {})


def parse_event(line: str) -> Event | None:
    """None for anything that is no event; the raw line stays in events.jsonl."""
    try:
        values = json.loads(line)
    except ValueError:
        return None
    if not isinstance(values, dict) or not isinstance(values.get("event"), str):
        return None
    return Event(values["event"], values)


class EventReader:
    """Copies the stream to a file on a thread of its own; `next` never blocks longer than told."""

    def __init__(self, stream: IO[bytes], copy_to: Path) -> None:
        self._stream = stream
        self._copy = copy_to.open("wb", buffering=0)
        self._events: queue.Queue[Event] = queue.Queue()
        self._copy_to = copy_to
        self._fault: OSError | None = None
        self._thread = threading.Thread(target=self._run, name="events", daemon=True)
        self._thread.start()

    def next(self, seconds: float) -> Event | None:
        """The next event, END after the last one, None when there is none in the time.

        Raises OSError when the copy could not be written.
        """
        if self._fault is not None:
            raise self._fault
        try:
            return self._events.get(timeout=seconds)
        except queue.Empty:
            return None

    def close(self) -> None:
        """Call after the process has ended."""
        self._thread.join(timeout=5.0)
        if not self._thread.is_alive():
            self._copy.close()
            self._stream.close()

    def _run(self) -> None:
        for line in self._stream:
            try:
                with naming(self._copy_to):
                    self._copy.write(line)
            except OSError as error:
                # Told by `next`; reading goes on, or heddle-load would block on a full pipe.
                self._fault = error
            event = parse_event(line.decode("utf-8", "replace"))
            if event is not None:
                self._events.put(event)
        self._events.put(END)
