"""How a case is timed."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


def best(function: Callable[[], Any], times: int = 3, repeat: int = 1) -> float:
    """Return the least time of one call."""
    least = float("inf")
    for _ in range(times):
        begin = time.perf_counter()
        for _ in range(repeat):
            function()
        least = min(least, (time.perf_counter() - begin) / repeat)
    return least


def evaluate(*arguments: Any) -> Callable[[], Any]:
    """Return a call of `rankine.evaluate`."""
    import rankine as rk

    return lambda: rk.evaluate(*arguments)
