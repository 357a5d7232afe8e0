"""What executors are told, and what the rows that they get look like."""

from __future__ import annotations

import pickle
import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import polars as pl
import pyarrow as pa

from rankine._join.ids import no_fit
from rankine._join.known import NOTHING, Known

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rankine._evaluate.plan import Plan
    from rankine.errors import RankineError

Counts: TypeAlias = Counter[tuple[str, str]]
"""How many rows there are: of judgements or of the run, and which of them."""

JUDGED, LISTED = 0, 1
"""What a row is: a judgement, or an item of a list."""
ROLES = ("qrels", "run")
ROWS = 1 << 18
"""Rows that are evaluated together, which take about 50 MB."""
MOST = 50_000_000
"""Numbers of queries or rounds that are collected: 400 MB for each column."""
FITS = 18
"""How many letters of such a text always fit 64 bits."""
_LIMIT = 1 << 63
_ROW = re.compile(r"^(\w+), row \d+| \(row \d+ and row \d+\)")
"""The places of rows, which mean nothing on Spark."""


def without_rows(error: RankineError) -> RankineError:
    """Return an error without the places of rows in it."""
    return type(error)(_ROW.sub(r"\1", str(error)))


def packed(state: Any) -> pa.RecordBatch:
    """Return what a task comes to as a batch with one row."""
    return pa.RecordBatch.from_pydict({"state": [pickle.dumps(state)]})


def refuse_beyond(word: str, ints: str, texts: str, long: Iterable[str]) -> None:
    """Refuse ints that do not fit 64 bits, where a table has ints and comes first.

    Args:
        word: what the ids are.
        ints: the table that has ints.
        texts: the one that has texts.
        long: those of more than `FITS` letters.
    """
    odd = [text for text in long if not -_LIMIT <= int(text) < _LIMIT]
    if odd:
        raise no_fit(word, pl.Int64(), ints, min(odd), texts)


@dataclass(frozen=True)
class Work:
    """What executors are told.

    Attributes:
        plan: what is to be computed, with nothing refused, rounded or missed yet.
        depth: the number of items of each list that are kept.
        known: what is known besides the lists.
        scored: whether the run has scores or ranks.
        ranked: whether these are ranks.
        lenient: whether repeated items are dropped and counted.
        judged: whether there are judgements.
        texts: ids that must be the plain forms of ints: a part, and the side.
        places: whose rows must have a place each, and no two of a query the same:
            a side, and the column of the places.
        n_rows: how many rows are evaluated together.
    """

    plan: Plan
    depth: int | None = None
    known: Known = NOTHING
    scored: bool = True
    ranked: bool = False
    lenient: bool = False
    judged: bool = True
    texts: tuple[tuple[str, int], ...] = ()
    places: tuple[tuple[int, str], ...] = ()
    n_rows: int = ROWS
