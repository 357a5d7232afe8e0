"""Who comes first among items with equal scores, for the few that are judged."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from rankine._base.forks import has_threads
from rankine._tables.segments import expand, position, runs

if TYPE_CHECKING:
    from collections.abc import Callable

    from rankine._base.arrays import Floats, Ints


_LITTLE = 5000
"""Rows up to which they are sorted, and not joined."""


def before(
    ids: Callable[[Ints], pl.Series],
    scores: Floats,
    starts: Ints,
    row: Ints,
    group: Ints,
    tie: str,
) -> Ints:
    """Count, for each row, the items of its list and score that the rule puts before.

    Args:
        ids: gives the ids of some rows.
        scores: of all rows, those of a list together.
        starts: where each list begins.
        row: the rows that are asked for.
        group: the number of the list of each.
        tie: the rule.
    """
    # Look at the lists that have such a row, and there at equal scores.
    lists = np.unique(group)
    rows, owner = expand(starts[lists], np.diff(starts)[lists])
    little = len(rows) <= _LITTLE or not has_threads()
    blocks = _few_blocks if little else _blocks
    members, block = blocks(rows, owner, scores, row, lists.searchsorted(group))
    key = np.arange(len(members))
    if tie not in {"input", "input_rev"}:
        # Ids are compared as text, so that 10 and "10" are ranked alike.
        key[_by_text(ids(members).cast(pl.String))] = np.arange(len(members))
    if tie not in {"input", "id_asc"}:
        key = len(members) - 1 - key
    order = np.argsort(block * len(members) + key)
    place = np.empty(len(members), dtype=np.int64)
    place[order] = position(block[order])
    found: Ints = place[np.searchsorted(members, row)]  # members rise, as rows do
    return found


def _by_text(texts: pl.Series) -> Ints:
    """Return the order of texts by their bytes, which is that of their characters."""
    if has_threads():
        return texts.arg_sort().to_numpy()
    plain = texts.to_list()
    return np.array(sorted(range(len(plain)), key=plain.__getitem__), dtype=np.int64)


def _few_blocks(
    rows: Ints, owner: Ints, scores: Floats, row: Ints, _: Ints
) -> tuple[Ints, Ints]:
    """Return the rows with the list and score of one asked for, and which these are."""
    value = scores[rows] + 0.0
    order = np.lexsort((value, owner))
    _, number = runs(owner[order], value[order])
    block = np.empty(len(rows), dtype=np.int64)
    block[order] = number
    # Rows rise, and the asked ones are among them.
    wanted = np.zeros(len(rows), dtype=np.bool_)
    wanted[block[np.searchsorted(rows, row)]] = True
    kept = wanted[block]
    return rows[kept], block[kept]


def _blocks(
    rows: Ints, owner: Ints, scores: Floats, row: Ints, group: Ints
) -> tuple[Ints, Ints]:
    """Return the same for many rows, which a join finds sooner than a sort."""
    every = pl.DataFrame({"list": owner, "score": scores[rows] + 0.0, "row": rows})
    asked = pl.DataFrame({"list": group, "score": scores[row] + 0.0}).unique()
    both = every.join(
        asked.with_row_index("block"), on=["list", "score"], maintain_order="left"
    )
    return both["row"].to_numpy(), both["block"].to_numpy().astype(np.int64)
