"""Parts of records: values computed once, and mappings that can be hashed."""

from __future__ import annotations

import functools
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING or sys.version_info >= (3, 12):
    from functools import cached_property
else:

    class cached_property(functools.cached_property):  # noqa: N801 - as it is known
        """A property that is computed once, without the lock of Python 3.11.

        That lock is one for all instances: where a thread computes a property of its
        table, other threads would wait with theirs. Two threads at once may compute the
        same one twice.
        """

        def __get__(self, instance: Any, owner: Any = None) -> Any:
            """Compute the value, and store it where later look-ups find it."""
            if instance is None:
                return self
            value = self.func(instance)
            # Also for frozen classes, whose own way to set attributes refuses.
            object.__setattr__(instance, self.attrname, value)
            return value


class Frozen(dict[Any, Any]):
    """A dict that is hashed by its entries and never changes once it is made."""

    def __hash__(self) -> int:  # type: ignore[override]
        """Hash by the entries."""
        return hash(frozenset(self.items()))


def freeze(value: Any) -> Any:
    """Make mappings and lists hashable; leave the rest as it is.

    >>> hash(freeze({"a": {"b": 1}})) == hash(freeze({"a": {"b": 1}}))
    True
    """
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        return Frozen({key: freeze(item) for key, item in value.items()})
    if isinstance(value, list):
        return tuple(freeze(item) for item in value)
    return value


__all__ = ["Frozen", "cached_property", "freeze"]
