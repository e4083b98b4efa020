"""Reads JSON that another program wrote, perhaps only in part: every look-up may find nothing."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

Object = dict[str, Any]


def read_object(path: Path) -> Object:
    """The object in a file; empty when the file is missing, cut off or not an object."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def child(parent: Object, *keys: str) -> Object:
    """A nested object; empty when a step is missing or no object."""
    current: Any = parent
    for key in keys:
        current = current.get(key) if isinstance(current, dict) else None
    return current if isinstance(current, dict) else {}


def number(parent: Object, key: str) -> float | None:
    value = parent.get(key)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return float(value) if math.isfinite(value) else None


def integer(parent: Object, key: str) -> int | None:
    value = parent.get(key)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def text(parent: Object, key: str) -> str:
    value = parent.get(key)
    return value if isinstance(value, str) else ""


def objects(parent: Object, key: str) -> list[Object]:
    """The objects of a list, anything else in it left out."""
    value = parent.get(key)
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def texts(parent: Object, key: str) -> tuple[str, ...]:
    value = parent.get(key)
    return tuple(str(item) for item in value) if isinstance(value, list) else ()
