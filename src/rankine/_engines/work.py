"""What executors are told, and what the rows that they get look like."""

from __future__ import annotations

import pickle
import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import polars as pl
import pyarrow as pa

from rankine._join.ids import PLAIN_INT, as_first, no_fit, odd_text
from rankine._join.side_data import NOTHING, SideData
from rankine.errors import RankineError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from rankine._evaluate.plan import Plan

Counts: TypeAlias = Counter[tuple[str, str]]
"""How many rows of a side there are, by the side and what is so of them.

- ``rows``: they have an id of a query.
- ``query``, ``item``: they have no id of this kind, and are left out.
- ``place``: they have no place in the order of rows, though one is needed.
- ``missing``: they have no grade or score.
- ``nan``: their grade or score is not a number.
"""

JUDGED, LISTED = 0, 1
"""What a row is: a judgement, or an item of a list."""
SIDES = ("qrels", "run")
"""What these two are called."""
ROWS = 1 << 18
"""Rows that are evaluated together, which take about 50 MB."""
MOST = 50_000_000
"""Numbers of queries or rounds that are collected: 400 MB for each column."""
_FITS = 18
"""How many letters of the text of an int always fit 64 bits."""
_LIMIT = 1 << 63
_ROW = re.compile(r"^(\w+), row \d+| \(row \d+ and row \d+\)")
"""The places of rows, which mean nothing on Spark."""


def without_rows(error: RankineError) -> RankineError:
    """Return an error without the places of rows in it."""
    return type(error)(_ROW.sub(r"\1", str(error)))


def answering(
    function: Callable[[bytes, Iterable[Any]], Iterator[Any]],
) -> Callable[[bytes, Iterable[Any]], Iterator[pa.RecordBatch]]:
    """Let a function for executors yield what `jobs.collected` reads.

    A refusal is an answer, too: an exception would be tried again, and come as a stack
    of calls.
    """

    def answers(sent: bytes, batches: Iterable[Any]) -> Iterator[pa.RecordBatch]:
        try:
            for answer in function(sent, batches):
                yield _as_batch(answer)
        except RankineError as error:
            yield _as_batch(without_rows(error))

    return answers


def _as_batch(answer: Any) -> pa.RecordBatch:
    return pa.RecordBatch.from_pydict({"state": [pickle.dumps(answer)]})


def rows_of(batches: Iterable[Any]) -> pl.DataFrame | None:
    """Return all rows of a partition; None if it has none."""
    tables = [batch for batch in batches if batch.num_rows]
    rows: Any = pl.from_arrow(pa.Table.from_batches(tables)) if tables else None
    return rows  # type: ignore[no-any-return]


@dataclass(frozen=True)
class Texts:
    """Ids that are ints in one table, and must be the plain forms of ints in another.

    Attributes:
        word: what the ids are: query, item, user.
        tables: what the tables are called.
        side: the number of the one that has them as text.
        to_ints: whether they become ints in memory, so that each must fit.
    """

    word: str
    tables: tuple[str, str]
    side: int
    to_ints: bool

    def check(self, ids: pl.Series) -> None:
        """Refuse other texts."""
        texts, ints = self.tables[self.side], self.tables[1 - self.side]
        odd = ids.filter(~ids.str.contains(PLAIN_INT))
        if len(odd):
            raise odd_text(self.word, texts, ints, str(odd.min()))
        long = ids.filter(ids.str.len_chars() > _FITS) if self.to_ints else ()
        odd_ints = [text for text in long if not -_LIMIT <= int(text) < _LIMIT]
        if odd_ints:
            raise no_fit(self.word, pl.Int64(), ints, min(odd_ints), texts)


def of_two_types(
    word: str, tables: tuple[str, str], side: int, *, to_first: bool = True
) -> tuple[Texts, tuple[str, ...]]:
    """Return ids that are ints in one table and text in the other, and a note on them.

    Args:
        word: what the ids are.
        tables: what the tables are called.
        side: the number of the one that has text.
        to_first: whether all ids get the type of the first table in memory.
    """
    ids = [pl.Series([7]), pl.Series([7])]
    ids[side] = pl.Series(["7"])
    _, notes = as_first(ids[0], ids[1], word, tables)
    return Texts(word, tables, side, to_first and side > 0), notes


@dataclass(frozen=True)
class Work:
    """What executors are told.

    Attributes:
        plan: what is to be computed, with nothing refused, rounded or missed yet.
        depth: the number of items of each list that are kept.
        side_data: what is known besides the lists.
        scored: whether the run has scores or ranks.
        ranked: whether these are ranks.
        lenient: whether repeated items are dropped and counted.
        judged: whether there are judgements.
        texts: ids that must be the plain forms of ints.
        places: whose rows must have a place each, and no two of a query the same:
            a side, and the column of the places.
        n_rows: how many rows are evaluated together.
    """

    plan: Plan
    depth: int | None = None
    side_data: SideData = NOTHING
    scored: bool = True
    ranked: bool = False
    lenient: bool = False
    judged: bool = True
    texts: tuple[Texts, ...] = ()
    places: tuple[tuple[int, str], ...] = ()
    n_rows: int = ROWS
