"""Named conventions: which choices each tool makes, and how they reach a metric."""

from __future__ import annotations

from rankine.conventions.convention import Convention
from rankine.conventions.presets import convention, conventions

__all__ = ["Convention", "convention", "conventions"]
