"""Rows of a run: grouped by list, moved, and searched for repeats."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from rankine._base.blocks import by_blocks
from rankine._base.text import KEEP_BEST, Counted
from rankine._io.repeats import first_repeat, marked
from rankine._io.sources import Rows
from rankine._join.ids import Index, text_order
from rankine._tables.keys import with_query
from rankine._tables.segments import stable_order, starts_of
from rankine.errors import DuplicateItemError

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from rankine._base.arrays import AnyArray, Floats, Ints


def list_starts(query: pl.Series) -> Ints:
    """Return the rows at which a query begins, and the number of rows."""
    if len(query) == 0:
        return np.zeros(1, dtype=np.int64)
    if query.dtype.is_integer() and not query.has_nulls():
        ids = query.to_numpy()
        here, after = ids[:-1], ids[1:]
        changes = by_blocks(
            lambda rows: np.flatnonzero(after[rows] != here[rows]) + (rows.start + 1),
            len(here),
        )
        return np.concatenate(([0], *changes, [len(query)]))
    other = query.slice(1) != query.slice(0, len(query) - 1)
    changed = np.flatnonzero(other.to_numpy()) + 1
    return np.concatenate(([0], changed, [len(query)]))


def grouped(query: pl.Series) -> tuple[pl.Series, Ints, Ints | None]:
    """Return the queries of rows, where each begins, and the order that groups them.

    The order is None if the rows of each query are already together.
    """
    starts = list_starts(query)
    queries = query[starts[:-1]]
    if queries.n_unique() == len(queries):
        return queries, starts, None
    queries = queries.unique(maintain_order=True)
    number = Index(queries).find(query)
    starts = starts_of(np.bincount(number, minlength=len(queries)))
    return queries, starts, stable_order(number)


@dataclass(frozen=True, slots=True)
class RunLists:
    """Lists of a run.

    Attributes:
        rows: where they come from.
        starts: where each list begins.
        number: the number of its query.
        keys: the keys of the items.
        scores: what they are ordered by, None if they are in order.
        order: the row of each key and score, None if they are in the order of rows.
    """

    rows: Rows
    starts: Ints
    number: Ints
    keys: NDArray[np.uint64]
    scores: Floats | None
    order: AnyArray | None

    def items(self, rows: Ints) -> pl.Series:
        """Return the items of some rows of the lists."""
        # Not by gather, which takes 0.1 ms for the fewest rows.
        return self.rows.frame["item"][rows if self.order is None else self.order[rows]]

    def text_order(self, rows: Ints) -> Ints:
        """Return, for some rows, numbers in the order of the texts of their items."""
        return text_order(self.items(rows))


def cut_out(rows: Rows, begin: int, end: int) -> Rows:
    """Return some consecutive rows."""
    frame = rows.frame.slice(begin, end - begin)
    origins = []
    first = 0
    for origin, n_rows in rows.origins:
        inside = range(max(begin - first, 0), min(end - first, n_rows))
        first += n_rows
        if inside:
            origins.append((origin.later(inside.start), len(inside)))
    if len(origins) == 1:
        return replace(origins[0][0], frame=frame)
    if origins:
        names = dict.fromkeys(origin.name for origin, _ in origins)
        return Rows(frame, " and ".join(names), origins=tuple(origins))
    line = None if rows.line is None else rows.line + begin
    lines = None if rows.lines is None else rows.lines[begin:end]
    return Rows(frame, rows.name, line, lines, first=rows.first + begin)


def take(rows: Rows, row: AnyArray) -> Rows:
    """Return some rows in another order, which keep track of where they were."""
    lines = rows.lines
    if lines is None and rows.line is not None:
        lines = np.arange(rows.frame.height) + rows.line
    frame = rows.frame[row]
    if lines is not None:
        return replace(rows, frame=frame, line=None, lines=lines[row])
    number = row if rows.number is None else rows.number[row]
    return replace(rows, frame=frame, number=number)


def without_query(rows: Rows) -> Rows:
    """Leave out the ids of the queries, where numbers stand for them."""
    return replace(rows, frame=rows.frame.drop("query", strict=False))


def by_list(of_row: Ints) -> tuple[Ints, Ints, Ints]:
    """Return the order that groups the rows of each query, and the lists."""
    order = stable_order(of_row)
    ordered = of_row[order]
    changes = np.flatnonzero(ordered[1:] != ordered[:-1]) + 1
    starts = np.concatenate(([0], changes, [len(order)]))
    return order, starts, of_row[order[starts[:-1]]]


def put_together(rows: Rows, pieces: list[tuple[RunLists, Ints]]) -> RunLists:
    """Put the lists of several pieces of a run together.

    The rows that a piece has of a list are together, so that little is moved far.
    """
    number = np.unique(np.concatenate([piece.number for piece, _ in pieces]))
    which = [np.searchsorted(number, piece.number) for piece, _ in pieces]
    lengths = np.zeros(len(number), dtype=np.int64)
    for (piece, _), lists in zip(pieces, which, strict=True):
        lengths[lists] += np.diff(piece.starts)
    starts = starts_of(lengths)
    free = starts[:-1].copy()
    n = rows.frame.height
    keys = np.empty(n, dtype=np.uint64)
    order: AnyArray = np.empty(n, dtype=np.int64 if n >> 31 else np.int32)
    scores = None if pieces[0][0].scores is None else np.empty(n)
    done = 0
    for (piece, rows_of_piece), lists in zip(pieces, which, strict=True):
        counts = np.diff(piece.starts)
        to = np.arange(len(piece.keys))
        to += np.repeat(free[lists] - piece.starts[:-1], counts)
        free[lists] += counts
        keys[to] = piece.keys
        order[to] = rows_of_piece + done
        if scores is not None:
            scores[to] = piece.scores
        done += len(to)
    return RunLists(rows, starts, number, keys, scores, order)


def last_of_repeats(
    items: pl.Series, keys: NDArray[np.uint64], starts: Ints
) -> tuple[Ints, Ints] | None:
    """Return the rows that are left if the last of an item's rows counts.

    If keys are equal by chance, the ids are compared.

    Args:
        items: the item of each row, list by list.
        keys: their keys.
        starts: where each list begins.

    Returns:
        The rows that are left, and where each list then begins; None if no item is
        repeated in its list.
    """
    lengths = np.diff(starts)
    number = np.arange(len(lengths))
    pairs = pl.Series(with_query(keys, number, lengths))
    suspect = pairs.is_duplicated().arg_true().to_numpy()
    owner = np.repeat(number, lengths)
    frame = pl.DataFrame({"number": owner[suspect], "item": items.gather(suspect)})
    again = marked(frame, keep="last")
    if again is None:
        return None
    kept = np.delete(np.arange(len(items)), suspect[again])
    return kept, starts_of(np.bincount(owner[kept], minlength=len(lengths)))


def repeats_left_out(n_rows: int) -> str:
    """Say how many rows were left out because their items are repeated."""
    fate = " of the run left out: the last row of a repeated item counts"
    return Counted("", n_rows, "row", fate)


def refuse_twice(
    items: pl.Series,
    starts: Ints,
    order: AnyArray | None,
    place: Callable[[int], str],
    query_of: Callable[[int], object],
    name: str,
    said: tuple[str, str] = ("appears", KEEP_BEST),
) -> None:
    """Raise if an item is repeated in a list.

    Args:
        items: the item of each row, list by list.
        starts: where each list begins.
        order: where each row was, None if rows were not moved.
        place: says where a row stood.
        query_of: gives the query of a list.
        name: where the rows come from.
        said: the verb of the message, and what can be done about it.
    """
    number = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    repeat = first_repeat(pl.DataFrame({"number": number, "item": items}))
    if repeat is None:
        return
    rows = np.array(repeat) if order is None else order[[*repeat]]
    places = " and ".join(place(row) for row in sorted(rows.tolist()))
    verb, hint = said
    msg = (
        f"item {items[repeat[0]]!r} {verb} twice for query "
        f"{query_of(int(number[repeat[0]]))!r} in {name} ({places}){hint}"
    )
    raise DuplicateItemError(msg)
