"""A mapping that can be hashed, for tables inside frozen records."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


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
