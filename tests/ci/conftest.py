"""Helpers to run the scripts of ci/ on small trees of their own."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[2]
Check = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def tree(tmp_path: Path) -> Callable[[dict[str, str]], Path]:
    """Writes files (relative path -> content) and returns the folder they are in."""

    def write(files: dict[str, str]) -> Path:
        for name, content in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content, encoding="utf-8")
        return tmp_path

    return write


@pytest.fixture
def check() -> Check:
    """Runs a Python script of ci/ with arguments."""

    def run(script: str, *arguments: object) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, str(TOP / "ci" / script), *map(str, arguments)]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    return run
