"""An A/B test of a table of users, by rankine and by tea-tasting.

python benchmarks/ab.py [USERS]: a mean and a ratio, each with and without CUPED, on the
same frame of polars and of pandas, in turn. Prints the least time of each, and how many
times as long tea-tasting takes.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

sys.path.insert(0, str(Path(__file__).parent.parent))
from oracle.online import ours, theirs

if TYPE_CHECKING:
    from collections.abc import Callable

_TIMES = 5
_WANTED = 5
"""Times our own time that tea-tasting should take at least."""


def drawn(n: int) -> pl.DataFrame:
    """Draw users with what they did before the test."""
    rng = np.random.default_rng(0)
    views, views_before = 1 + rng.poisson(3, n), 1 + rng.poisson(3, n)
    before = rng.gamma(2, 5, n)
    return pl.DataFrame(
        {
            "user": np.arange(n),
            "variant": rng.integers(0, 2, n),
            "before": before,
            "y": before + rng.gamma(1, 5, n),
            "views": views,
            "clicks": rng.binomial(views, 0.1),
            "views_before": views_before,
            "clicks_before": rng.binomial(views_before, 0.1),
        }
    )


def main(n: int) -> None:
    """Print both times for each kind of frame."""
    users = drawn(n)
    print(f"An A/B test of {n:,} users, the least time of {_TIMES}")
    for kind, frame in (("polars", users), ("pandas", users.to_pandas())):
        least = _least({"rankine": ours, "tea-tasting": theirs}, frame)
        ratio = least["tea-tasting"] / least["rankine"]
        shown = ", ".join(f"{name} {seconds:.3f} s" for name, seconds in least.items())
        print(f"  {kind}: {shown}, {ratio:.1f} x rankine's time  ({_WANTED})")


def _least(tests: dict[str, Callable[..., Any]], frame: Any) -> dict[str, float]:
    """Return the least time of each, in turn, so that both meet the same load."""
    least = dict.fromkeys(tests, float("inf"))
    for _ in range(_TIMES):
        for name, test in tests.items():
            begin = time.perf_counter()
            test(frame, 1, 0.95)
            least[name] = min(least[name], time.perf_counter() - begin)
    return least


if __name__ == "__main__":
    main(int(sys.argv[1]) if sys.argv[1:] else 10_000_000)
