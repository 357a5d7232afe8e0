"""Named conventions: which choices each tool makes, and how they reach a metric."""

from __future__ import annotations

from rankine._conventions.convention import Convention
from rankine._conventions.presets import convention, conventions

__all__ = ["Convention", "convention", "conventions"]
