"""Rows of a run: cut out, moved, and brought together by list."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import polars as pl

from rankine._base.text import count
from rankine._io import repeats
from rankine._io.sources import Rows
from rankine._join.ids import item_keys
from rankine._tables.keys import may_repeat, with_query
from rankine._tables.segments import starts_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rankine._base.arrays import AnyArray, Bools, Floats, Ints


class Items(NamedTuple):
    """Item ids, and the order that brings the rows of each list together."""

    series: pl.Series
    order: AnyArray | None

    def gather(self, rows: Ints) -> pl.Series:
        """Return the ids of some rows."""
        # Not by gather, which takes 0.1 ms for the fewest rows.
        return self.series[rows if self.order is None else self.order[rows]]


@dataclass(frozen=True, slots=True)
class RunLists:
    """Lists of a run.

    Attributes:
        rows: where they come from.
        starts: where each list begins.
        number: the number of its query.
        keys: the keys of the items.
        scores: what they are ordered by, None if they stand in order.
        order: the row of each key and score, None if they stand as the rows do.
    """

    rows: Rows
    starts: Ints
    number: Ints
    keys: NDArray[np.uint64]
    scores: Floats | None
    order: AnyArray | None


def concat(parts: list[Rows]) -> Rows:
    """Put parts that follow each other together."""
    frame = pl.concat([part.frame for part in parts], rechunk=False)
    if all(part.lines is None for part in parts):
        return Rows(frame, parts[0].name, parts[0].line)
    lines = [
        np.arange(part.frame.height) + (part.line or 0)
        if part.lines is None
        else part.lines
        for part in parts
    ]
    return Rows(frame, parts[0].name, lines=np.concatenate(lines))


def cut_out(rows: Rows, begin: int, end: int) -> Rows:
    """Return some rows that follow each other."""
    line = None if rows.line is None else rows.line + begin
    lines = None if rows.lines is None else rows.lines[begin:end]
    return Rows(rows.frame.slice(begin, end - begin), rows.name, line, lines)


def take(rows: Rows, row: AnyArray) -> Rows:
    """Return some rows in another order, which still know where they stood."""
    lines = rows.lines
    if lines is None and rows.line is not None:
        lines = np.arange(rows.frame.height) + rows.line
    frame = rows.frame.drop("query", strict=False)[row]
    if lines is not None:
        return Rows(frame, rows.name, lines=lines[row])
    number = row if rows.number is None else rows.number[row]
    return Rows(frame, rows.name, number=number)


def without_query(rows: Rows) -> Rows:
    """Leave the ids of the queries out, where numbers say them."""
    return replace(rows, frame=rows.frame.drop("query"))


def by_list(of_row: Ints) -> tuple[Ints, Ints, Ints]:
    """Return the order that brings the rows of each query together, and the lists."""
    # Small numbers are sorted many times faster.
    small = of_row.astype(np.uint16) if of_row.max() < 1 << 16 else of_row
    order = np.argsort(small, kind="stable")
    ordered = small[order]
    changes = np.flatnonzero(ordered[1:] != ordered[:-1]) + 1
    starts = np.concatenate(([0], changes, [len(order)]))
    return order, starts, of_row[order[starts[:-1]]]


def put_together(rows: Rows, pieces: list[tuple[RunLists, Ints]]) -> RunLists:
    """Put the lists of several pieces of a run together.

    What a piece has of a list stands together, so that little is moved far.
    """
    number = np.unique(np.concatenate([piece.number for piece, _ in pieces]))
    which = [np.searchsorted(number, piece.number) for piece, _ in pieces]
    lengths = np.zeros(len(number), dtype=np.int64)
    for (piece, _), at in zip(pieces, which, strict=True):
        lengths[at] += np.diff(piece.starts)
    starts = starts_of(lengths)
    free = starts[:-1].copy()
    n = rows.frame.height
    keys = np.empty(n, dtype=np.uint64)
    order: AnyArray = np.empty(n, dtype=np.int64 if n >> 31 else np.int32)
    scores = None if pieces[0][0].scores is None else np.empty(n)
    done = 0
    for (piece, own), at in zip(pieces, which, strict=True):
        counts = np.diff(piece.starts)
        to = np.arange(len(piece.keys))
        to += np.repeat(free[at] - piece.starts[:-1], counts)
        free[at] += counts
        keys[to] = piece.keys
        order[to] = own + done
        if scores is not None:
            scores[to] = piece.scores
        done += len(to)
    return RunLists(rows, starts, number, keys, scores, order)


def last_of_repeats(
    items: pl.Series, starts: Ints, order: AnyArray | None
) -> tuple[Ints | None, Ints]:
    """Return the rows that are left where the last of an item's rows counts.

    Args:
        items: the item of each row.
        starts: where each list begins.
        order: the rows of each list together, None if they stand so.

    Returns:
        The rows of each list that are left, in their order, and where each list begins;
        None for all of them.
    """
    keys = item_keys(items, 0)
    if order is not None:
        keys, items = keys[order], items.gather(order)
    lengths = np.diff(starts)
    number = np.arange(len(lengths))
    if len(keys) == 0 or not may_repeat(keys, number, starts):
        return None, starts
    owner = np.repeat(number, lengths)
    doubled = repeats_of(items, owner, with_query(keys, number, lengths))
    if doubled is None:
        return None, starts
    left = np.flatnonzero(~doubled)
    starts = starts_of(np.bincount(owner[left], minlength=len(lengths)))
    return left if order is None else order[left], starts


def repeats_left_out(n_rows: int) -> str:
    """Say how many rows were left out, as their items come again."""
    left_out = count(n_rows, "row")
    return f"{left_out} of the run left out: the last row of a repeated item counts"


def repeats_of(
    items: pl.Series, number: Ints, keys: NDArray[np.uint64]
) -> Bools | None:
    """Mark the rows whose item comes again in the same list; None if none does.

    Where keys agree by chance, the ids are compared.
    """
    suspect = pl.Series(keys).is_duplicated().arg_true().to_numpy()
    pairs = pl.DataFrame({"number": number[suspect], "item": items.gather(suspect)})
    again = repeats.marked(pairs, keep="last")
    if again is None:
        return None
    doubled = np.zeros(len(number), dtype=np.bool_)
    doubled[suspect] = again
    return doubled
