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


def busy(function: Callable[[], Any], times: int = 3) -> float:
    """Return the least time that one call takes of all cores together.

    Other programs that use the cores make this a little longer, and not many times.
    """
    least = float("inf")
    for _ in range(times):
        begin = time.process_time()
        function()
        least = min(least, time.process_time() - begin)
    return least


def evaluate(*arguments: Any) -> Callable[[], Any]:
    """Return a call of `rankine.evaluate`."""
    import rankine as rk

    return lambda: rk.evaluate(*arguments)
