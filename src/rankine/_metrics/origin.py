"""Origin: what distinguishes the function of a user's own metric from others."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from types import CellType, CodeType
from typing import TYPE_CHECKING, Any

from rankine._base.records import cached_property

if TYPE_CHECKING:
    from collections.abc import Callable

_PLACE = re.compile(" at 0x[0-9a-fA-F]+")
"""Where an object is in memory."""


@dataclass(frozen=True, eq=False)
class Origin:
    """The function from which a user made a metric."""

    function: Callable[..., Any]

    @property
    def module(self) -> str:
        """The module that defines it."""
        return str(getattr(self.function, "__module__", ""))

    @cached_property
    def mark(self) -> str:
        """What functions of the same code, defaults and enclosed values have in common.

        It is computed only when a metric is pickled, as these values may be large.
        """
        return sha256(
            _PLACE.sub("", repr(_content(self.function))).encode()
        ).hexdigest()


def _content(function: Any) -> Any:
    if isinstance(function, partial):
        return _content(function.func), function.args, function.keywords
    called = function if hasattr(function, "__code__") else function.__call__
    names = ("__qualname__", "__defaults__", "__kwdefaults__", "__self__")
    return (
        [getattr(called, name, None) for name in names],
        getattr(getattr(called, "__self__", None), "__dict__", None),
        [_enclosed(cell) for cell in getattr(called, "__closure__", None) or ()],
        _code(getattr(called, "__code__", None)),
    )


def _enclosed(cell: CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # of a name that has no value yet
        return None


def _code(code: Any) -> Any:
    """Return what a function is made of, without where it is defined."""
    if not isinstance(code, CodeType):
        return code
    return code.co_code, code.co_names, [_code(constant) for constant in code.co_consts]
