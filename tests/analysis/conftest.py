"""Property tests give the same outcome everywhere, however slow or loaded the machine is."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("repeatable", deadline=None, derandomize=True, max_examples=80)
settings.load_profile("repeatable")
