"""The lists of a run that must not be held: their first items, part by part."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from rankine._base.text import added_up
from rankine._io import mappings
from rankine._io.repeats import marked
from rankine._io.sources import Dense, Stream
from rankine._io.sources import Lists as Mappings
from rankine._join.gathered import by_query, refuse_more
from rankine._join.ids import item_keys
from rankine._join.lists import First, Ids, Lists, first_of, lists_of
from rankine._join.numbering import compact
from rankine._join.pieces import list_starts
from rankine._tables.keys import may_repeat
from rankine._tables.segments import Steps, cut_lists, expand, starts_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rankine._base.arrays import Ints
    from rankine._conventions.convention import Convention
    from rankine._io.sources import Rows, Source


_NUMBERED, _AGAIN = 96, 192
"""Bytes that an item takes beside itself, where all items of lists are numbered, and
where more items are added to the different ones."""


def lists_in(source: Source, rule: Convention, depth: int | None) -> Lists:
    """Bring the rows of a run into order; keep what may be held of a large one.

    For a run that must not be held, and for a matrix, these are its items down to a
    depth.
    """
    if isinstance(source, Stream) and source.memory is not None:
        return by_query(source, partial(_lists_in_parts, source, rule, depth))
    return lists_of(source, rule, depth)


def first_in(
    source: Source, rule: Convention, depth: int, floor: float | None
) -> First:
    """Return the first items of every list of a run, however large."""
    if isinstance(source, Stream) and source.memory is not None:
        return by_query(source, partial(_first_in_parts, source, rule, depth, floor))
    return first_of(source, rule, depth, floor)


def n_items(source: Source) -> int:
    """Return how many different items a run has, however large."""
    if isinstance(source, Dense):
        return len(source.items)
    if isinstance(source, Mappings):
        return mappings.n_items(source)
    if isinstance(source, Stream) and source.memory is not None:
        return by_query(source, partial(_n_items_in_parts, source))
    return mappings.as_rows(source, "run").frame["item"].n_unique()


def _n_items_in_parts(source: Stream, parts: Iterator[Rows]) -> int:
    known: pl.Series | None = None
    for part in parts:
        items = part.frame["item"].unique()
        items = items if known is None else pl.concat((known, items)).unique()
        known = compact(items)
        del items
        # The next part may bring as many new items as this one has rows.
        later = _AGAIN * (len(known) + len(part.frame))
        refuse_more("the different items of the run", source.memory, "", later=later)
    return 0 if known is None else len(known)


def _first_in_parts(
    source: Stream,
    rule: Convention,
    depth: int,
    floor: float | None,
    parts: Iterator[Rows],
) -> First:
    queries, items, lengths, ranks = [], [], [], []
    for part in parts:
        first = first_of(replace(part, ranked=source.ranked), rule, depth, floor)
        queries.append(compact(pl.Series("query", first.queries)))
        items.append(compact(pl.Series("item", first.items)))
        lengths.append(np.diff(first.starts))
        ranks.append((first.starts, first.ranks))
    return First(
        pl.concat(queries),
        starts_of(np.concatenate(lengths)),
        pl.concat(items),
        _all_ranks(ranks),
    )


def _ranks(starts: Ints, ranks: Ints | None) -> Ints:
    """Return the rank of each item, where they may be 1, 2, 3 and so on."""
    if ranks is not None:
        return ranks
    rows, owner = expand(starts[:-1], np.diff(starts))
    return rows - starts[owner] + 1


def _all_ranks(parts: Sequence[tuple[Ints, Ints | None]]) -> Ints | None:
    """Return the ranks of several parts; None if all of them are 1, 2, 3 and so on."""
    if all(ranks is None for _, ranks in parts):
        return None
    return np.concatenate([_ranks(*part) for part in parts])


def _lists_in_parts(
    source: Stream, rule: Convention, depth: int | None, parts: Iterator[Rows]
) -> Lists:
    """Bring the lists of each part into order, and keep their first items."""
    kept: list[Lists] = []
    places: list[Ints] = []
    later = 0
    for part in parts:
        ranked = lists_of(replace(part, ranked=source.ranked), rule)
        kept.append(_shortened(ranked, rule.duplicates, depth))
        if part.number is not None:
            places.append(part.number[list_starts(part.frame["query"])[:-1]])
        later += _NUMBERED * len(kept[-1].ids.series)
        refuse_more("the items of all lists", source.memory, later=later)
    lists = _below_each_other(kept, source)
    return _taken(lists, np.argsort(np.concatenate(places))) if places else lists


def _shortened(lists: Lists, duplicates: str, depth: int | None) -> Lists:
    """Keep the first items of lists, and what must be known of the others."""
    shown, starts, rank = lists.first(None if duplicates == "set" else depth)
    repeated = 0
    if duplicates in {"error", "set"} and may_repeat(item_keys(shown, 0), starts):
        if duplicates == "error":
            lists.refuse_twice()
        _, owner = expand(starts[:-1], np.diff(starts))
        again = marked(pl.DataFrame({"list": owner, "item": shown}), keep="first")
        if again is not None:
            first = np.flatnonzero(~again)
            repeated = len(again) - len(first)
            rank = _ranks(starts, rank)[first]
            shown, owner = shown.gather(first), owner[first]
            starts = starts_of(np.bincount(owner, minlength=len(starts) - 1))
    if duplicates == "set" and depth is not None:
        starts, rows = cut_lists(starts, rank, depth)
        shown, rank = shown.gather(rows), None if rank is None else rank[rows]
    items = compact(shown)
    return replace(
        lists,
        queries=compact(lists.queries),
        starts=starts,
        ids=Ids(lambda: items, "row {}".format),
        order=None,
        scores=None,
        ranks=rank,
        lengths=np.diff(lists.starts),
        repeated=repeated,
    )


def _below_each_other(parts: list[Lists], source: Stream) -> Lists:
    """Put lists of several parts together."""
    items = pl.concat([part.ids.series for part in parts])
    return Lists(
        source.name,
        added_up([*source.notes, *(note for part in parts for note in part.notes)]),
        pl.concat([part.queries for part in parts]),
        starts_of(np.concatenate([np.diff(part.starts) for part in parts])),
        Ids(lambda: items, "row {}".format),
        None,
        None,
        scored=parts[0].scored,
        ranks=_all_ranks([(part.starts, part.ranks) for part in parts]),
        steps=Steps(*map(sum, zip(*(part.steps for part in parts), strict=True))),
        lengths=np.concatenate([part.length for part in parts]),
        repeated=sum(part.repeated for part in parts),
    )


def _taken(lists: Lists, order: Ints) -> Lists:
    """Return the lists in another order."""
    length = np.diff(lists.starts)[order]
    rows, _ = expand(lists.starts[:-1][order], length)
    items = lists.items_of(rows)
    return replace(
        lists,
        queries=lists.queries.gather(order),
        starts=starts_of(length),
        ids=Ids(lambda: items, "row {}".format),
        ranks=None if lists.ranks is None else lists.ranks[rows],
        lengths=lists.length[order],
    )
