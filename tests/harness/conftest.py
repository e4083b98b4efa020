"""Fixtures of the harness's tests."""

from pathlib import Path

import pytest
from tests.harness.harness_checkout import Checkout, make_checkout


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    """A small checkout of its own for each test."""
    return make_checkout(tmp_path)
