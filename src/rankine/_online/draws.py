"""Interleaving: one list that is drawn from two rankings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any, Literal

import numpy as np
import polars as pl

from rankine._base.checks import check_choice, check_k
from rankine._base.notebook import as_table
from rankine.errors import DataError, ParameterError

_STEEPNESS = 3
"""How much probabilistic interleaving prefers the first items of a ranking."""
TEAMS = ("a", "b")


@dataclass(frozen=True)
class Interleaved:
    """A list to be shown, and which ranking each of its items counts for.

    Attributes:
        items: the items, from rank 1.
        teams: ``a`` or ``b`` for each of them.
        method: how it was drawn.
    """

    items: tuple[Any, ...]
    teams: tuple[str, ...]
    method: str

    def log(
        self, impression: Any, user: Any, clicked: Sequence[Any] = ()
    ) -> pl.DataFrame:
        """Return the rows to be logged, which `interleaving_test` reads.

        Args:
            impression: the id of this impression.
            user: the id of the user.
            clicked: the items that were clicked on.
        """
        for item in clicked:
            if item not in self.items:
                msg = f"{item!r} was clicked on, but is not among the items shown"
                raise DataError(msg)
        n = len(self.items)
        return pl.DataFrame(
            {
                "impression_id": [impression] * n,
                "user_id": [user] * n,
                "position": range(1, n + 1),
                "item_id": self.items,
                "team": self.teams,
                "click": [int(item in clicked) for item in self.items],
            }
        )

    def _repr_html_(self) -> str:
        return as_table(self)


def interleave(
    a: Sequence[Any],
    b: Sequence[Any],
    method: Literal["team_draft", "probabilistic"] = "team_draft",
    *,
    k: int | None = None,
    seed: int | Sequence[int] = 0,
) -> Interleaved:
    """Draw one list from two rankings.

    ``team_draft``: in each round, a coin decides which ranking picks first; each takes
    its best item that is not yet in the list. ``probabilistic``: at each rank, a coin
    decides which ranking picks; it draws an item with a probability that falls with the
    cube of its rank, so that every order is possible.

    Args:
        a: the items of one ranking, the best first.
        b: those of the other.
        method: how to draw.
        k: how many items to show; if not given, as many as the longer ranking has.
        seed: the seed of the draw: a number, or several, such as those of a user and a
            request.

    Returns:
        The items and their teams; `log` returns the rows to keep.

    References:
        F. Radlinski, M. Kurup, T. Joachims: How does clickthrough data reflect
        retrieval quality? CIKM 2008. K. Hofmann, S. Whiteson, M. de Rijke: A
        probabilistic method for inferring preferences from clicks. CIKM 2011.

    >>> import rankine as rk
    >>> drawn = rk.online.interleave(["x", "y"], ["y", "z"], seed=1)
    >>> drawn.items, drawn.teams
    (('x', 'y'), ('a', 'b'))
    """
    check_choice("method", method, ("team_draft", "probabilistic"))
    check_k(k)
    rankings = [
        _ranking(name, items) for name, items in zip(TEAMS, (a, b), strict=True)
    ]
    _check_seed(seed)
    length = min(k or max(map(len, rankings)), len({*rankings[0], *rankings[1]}))
    rng = np.random.default_rng(seed)
    items: list[Any] = []
    teams: list[str] = []
    turn = 0
    while len(items) < length:
        if method == "team_draft" and len(items) % 2:
            turn = 1 - turn
        else:
            turn = int(rng.integers(2))
        free = [
            (rank, item)
            for rank, item in enumerate(rankings[turn], 1)
            if item not in items
        ]
        if not free:
            turn = 1 - turn
            free = [
                (rank, item)
                for rank, item in enumerate(rankings[turn], 1)
                if item not in items
            ]
        place = 0
        if method == "probabilistic":
            weights = np.array([float(rank) ** -_STEEPNESS for rank, _ in free])
            place = int(rng.choice(len(free), p=weights / weights.sum()))
        items.append(free[place][1])
        teams.append(TEAMS[turn])
    return Interleaved(tuple(items), tuple(teams), method)


def _ranking(name: str, given: Any) -> list[Any]:
    """Return the items of a ranking, which must all be different."""
    try:
        items = list(given)
        if items and len({*items}) == len(items):
            return items
    except TypeError:  # not a list, or of items that cannot be told apart
        pass
    msg = f"{name} must be a list of different items, got {given!r}"
    raise ParameterError(msg)


def _check_seed(seed: Any) -> None:
    several = isinstance(seed, (Sequence, np.ndarray)) and not isinstance(seed, str)
    for part in seed if several else (seed,):
        whole = isinstance(part, Integral) and not isinstance(part, (bool, np.bool_))
        if not whole or part < 0:
            msg = (
                "seed must be an integer of at least 0, or several such as those of a "
                f"user and a request, got {seed!r}"
            )
            raise ParameterError(msg)
