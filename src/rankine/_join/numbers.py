"""Ids by numbers, the same for the same in several tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from rankine._base.forks import need_threads
from rankine._join.judgements import numbers
from rankine._tables.segments import bounds

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankine._base.arrays import Ints

_SPARSE = 4
"""How many numbers there may be for each different id, to take ints as they are."""


def numbered(
    columns: Mapping[str, pl.Series | None], what: str, notes: list[str]
) -> tuple[dict[str, Ints], int, pl.Series]:
    """Give ids numbers, the same to the same; return these and the ids by number."""
    given = {name: one for name, one in columns.items() if one is not None}
    if not given:
        return {}, 0, pl.Series("id", [], dtype=pl.String)
    kinds = {one.dtype for one in given.values() if len(one)}
    if len(kinds) > 1:
        words = {name: str(one.dtype) for name, one in given.items() if len(one)}
        said = ", ".join(f"{kind} in {name}" for name, kind in words.items())
        notes.append(f"{what} are {said}: compared by their text")
        given = {name: one.cast(pl.String) for name, one in given.items()}
        kinds = {pl.String()}
    kind = next(iter(kinds), pl.String())
    given = {name: one.cast(kind) for name, one in given.items()}
    if kind.is_integer():
        plain = _as_they_are(given)
        if plain is not None:
            return plain
    need_threads()
    # Sorted, so that sums over items do not depend on the order of users.
    every = pl.concat([one.alias("id").unique() for one in given.values()])
    every = every.unique().sort()
    return {name: numbers(one, every) for name, one in given.items()}, len(every), every


def _as_they_are(
    given: Mapping[str, pl.Series],
) -> tuple[dict[str, Ints], int, pl.Series] | None:
    """Take ints that lie close together for their own numbers."""
    filled = [one for one in given.values() if len(one)]
    if not filled:
        return None
    ends = [bounds(one.to_numpy()) for one in filled]
    least, most = min(low for low, _ in ends), max(high for _, high in ends)
    width = most - least + 1
    if width > _SPARSE * sum(len(one) for one in filled):
        return None
    if len(given.get("items", ())) and width > _SPARSE * len(given["items"]):
        return None  # for each of which there would be a row of features
    if 0 < least < len(filled[0]):
        least = 0  # a few numbers more, and nothing to subtract
        width = most + 1
    codes = {
        name: (one - least if least else one).cast(pl.Int64).to_numpy()
        for name, one in given.items()
    }
    return codes, width, pl.Series("id", np.arange(least, most + 1))
