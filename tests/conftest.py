"""Rankings as text, for all tests: "a (b c) d" has b and c tied."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("rankine", deadline=None, derandomize=True)
settings.load_profile("rankine")
