"""What a simulation found: a share, its Monte Carlo standard error, and a bound."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

_ERRORS = 3
"""Standard errors by which a share may be beyond its bound by chance."""


@dataclass(frozen=True)
class Row:
    """One line of the table.

    Attributes:
        what: what was done, in words.
        rounds: how many times.
        value: the share of rounds in which it happened, or another number.
        error: the standard error of that.
        least, most: the bounds that it has to keep, up to three standard errors.
    """

    what: str
    rounds: int
    value: float
    error: float
    least: float = -math.inf
    most: float = math.inf

    @property
    def holds(self) -> bool:
        """Whether the bounds are kept, as far as chance lets them."""
        slack = _ERRORS * self.error
        return self.least - slack <= self.value <= self.most + slack

    @property
    def bound(self) -> str:
        """The bounds, in words."""
        parts = []
        if math.isfinite(self.least):
            parts.append(f">= {self.least:g}")
        if math.isfinite(self.most):
            parts.append(f"<= {self.most:g}")
        return " ".join(parts) or "none"


Simulation = Callable[[float], list[Row]]
"""Takes the share of its rounds to go through; 1 for all of them."""


def share(
    what: str,
    happened: int,
    rounds: int,
    *,
    least: float = -math.inf,
    most: float = math.inf,
) -> Row:
    """Return a row for a share; its standard error is that of the bound, if one is."""
    bound = next((own for own in (most, least) if math.isfinite(own)), None)
    p = happened / rounds if bound is None else bound
    error = math.sqrt(p * (1 - p) / rounds)
    return Row(what, rounds, happened / rounds, error, least, most)


def chunks(rounds: int, size: int = 50) -> Iterator[tuple[int, int]]:
    """Go through rounds, some at once: the number of a chunk, and its rounds.

    The rounds of a chunk share their random flips, and so are compared in one call;
    few enough that their shares hardly depend on each other.
    """
    for number, begin in enumerate(range(0, rounds, size)):
        yield number, min(size, rounds - begin)
