"""cached_property without the lock that it had up to Python 3.11."""

from __future__ import annotations

import functools
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING or sys.version_info >= (3, 12):
    from functools import cached_property
else:

    class cached_property(functools.cached_property):  # noqa: N801 - as it is known
        """A property that is computed once, or perhaps twice by two threads at once."""

        def __get__(self, instance: Any, owner: Any = None) -> Any:
            """Compute the value, and store it where later look-ups find it."""
            if instance is None:
                return self
            value = self.func(instance)
            # Also for frozen classes, whose own way to set attributes refuses.
            object.__setattr__(instance, self.attrname, value)
            return value


__all__ = ["cached_property"]
