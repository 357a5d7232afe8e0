"""Rows of events as arrays, one per column."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rankine._base.arrays import AnyArray, Bools, Ints

_SMALL = 4
"""How many times larger a part must be for rows to be inserted into it."""


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows of events; users, sessions and kinds are numbers.

    Attributes:
        arrays: name of a column -> its values; all have the same length.
    """

    arrays: Mapping[str, AnyArray]

    @property
    def height(self) -> int:
        """How many rows there are."""
        return len(self.arrays["user"])

    @property
    def nbytes(self) -> int:
        """How much memory they take."""
        return sum(array.nbytes for array in self.arrays.values())

    def __contains__(self, name: str) -> bool:
        """Say whether there is such a column."""
        return name in self.arrays

    def __getitem__(self, name: str) -> AnyArray:
        """Return a column."""
        return self.arrays[name]

    def get(self, name: str) -> AnyArray | None:
        """Return a column, or None if there is none."""
        return self.arrays.get(name)

    def filter(self, chosen: Bools) -> Self:
        """Return some of the rows."""
        return self.take(np.flatnonzero(chosen))

    def take(self, places: Ints) -> Self:
        """Return the rows at some places, in their order."""
        return type(self)(
            {name: array.take(places) for name, array in self.arrays.items()}
        )

    def between(self, begin: int, end: int) -> Self:
        """Return the rows from one place to before another."""
        return type(self)(
            {name: array[begin:end] for name, array in self.arrays.items()}
        )

    def replaced(self, **arrays: AnyArray) -> Self:
        """Return the same rows with other columns of these names."""
        return type(self)({**self.arrays, **arrays})


def joined(parts: Sequence[Rows]) -> Rows:
    """Put parts together; merge a small and a large one if both are sorted by user.

    The rows of a user stay in the order of the parts. Inserting a few rows into many is
    faster than sorting all of them.
    """
    if len(parts) == 1:
        return parts[0]
    if len(parts) == 2 and "session" not in parts[0]:  # noqa: PLR2004 - a pair
        small, large = sorted(parts, key=lambda part: part.height)
        users = small["user"], large["user"]
        if _SMALL * small.height <= large.height and all(map(_rises, users)):
            side = "left" if small is parts[0] else "right"
            return _inserted(small, large, np.searchsorted(*users[::-1], side))  # type: ignore[call-overload]
    names = parts[0].arrays
    return Rows(
        {name: np.concatenate([part[name] for part in parts]) for name in names}
    )


def _rises(column: AnyArray) -> bool:
    return bool((column[1:] >= column[:-1]).all())


def _inserted(small: Rows, large: Rows, places: Ints) -> Rows:
    """Insert rows, each before the one at its place."""
    n = small.height + large.height
    places = places + np.arange(len(places))
    rest = np.ones(n, bool)
    rest[places] = False
    arrays = {}
    for name, values in large.arrays.items():
        arrays[name] = column = np.empty(n, values.dtype)
        column[places] = small[name]
        column[rest] = values
    return Rows(arrays)
