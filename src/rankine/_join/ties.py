"""Who comes first among items with equal scores: the only place that says so."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from rankine._base.forks import has_threads
from rankine._tables.segments import expand, position, runs

if TYPE_CHECKING:
    from collections.abc import Callable

    from rankine._base.arrays import Floats, Ints

    Ids = Callable[[Ints], pl.Series]

_LITTLE = 5000
"""Rows up to which a sort finds equal scores sooner than a join does."""


def tie_keys(rows: Ints, tie: str, ids: Ids) -> Ints:
    """Return a number for each row; among equals, the smallest comes first.

    Ids are compared by the bytes of their text, so that 10 and "10" are ranked alike.

    Args:
        rows: the rows, in the order given.
        tie: the rule: by id, or by the order given, either way round.
        ids: gives the ids of some rows.
    """
    keys = np.arange(len(rows))
    if tie not in {"input", "input_rev"}:
        keys[_by_text(ids(rows).cast(pl.String))] = np.arange(len(rows))
    return keys if tie in {"input", "id_asc"} else len(rows) - 1 - keys


def before(
    ids: Ids, scores: Floats, starts: Ints, row: Ints, group: Ints, tie: str
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
    keys = tie_keys(members, tie, ids)
    order = np.argsort(block * len(members) + keys)
    place = np.empty(len(members), dtype=np.int64)
    place[order] = position(block[order])
    places: Ints = place[np.searchsorted(members, row)]  # members rise, as rows do
    return places


def sorted_rows(ids: Ids, scores: Floats, starts: Ints, tie: str) -> Ints:
    """Order all rows by list and score, and equal scores by the rule.

    Args:
        ids: gives the ids of some rows.
        scores: of all rows, those of a list together.
        starts: where each list begins.
        tie: the rule.
    """
    number = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    order = np.lexsort((-scores, number))  # which leaves equals as they are given
    ordered = scores[order]
    same = np.zeros(len(scores), dtype=np.bool_)
    same[1:] = (ordered[1:] == ordered[:-1]) & (number[1:] == number[:-1])
    if tie == "input" or not same.any():
        return order
    touched = same.copy()
    touched[:-1] |= same[1:]
    at = np.flatnonzero(touched)
    _, block = runs(number[at], ordered[at])
    keys = tie_keys(order[at], tie, ids)
    order[at] = order[at][np.argsort(block * len(at) + keys)]
    return order


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
