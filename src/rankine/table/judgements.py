"""Judgements: the truth side of the join, built once and used for every run."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from rankine.errors import DataError, DuplicateItemError
from rankine.table.pool import Pool
from rankine.table.segments import starts_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rankine.arrays import Floats, Ints
    from rankine.io.sources import Rows

_SPREAD = np.uint64(0x9E3779B97F4A7C15)
"""2^64 over the golden ratio: spreads query numbers over all 64 bits."""
_ODD = np.array(
    [0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB], dtype=np.uint64
)
"""Multipliers that bring other bits to the top in each round."""


def pair_keys(
    items: pl.Series, number: Ints, lengths: Ints, seed: int
) -> NDArray[np.uint64]:
    """Hash (query number, item id) to 64 bits, the items of each list together.

    A key only proposes: wherever it would decide a value, the ids are compared.
    """
    of_list = (number.astype(np.uint64) + np.uint64(1)) * _SPREAD
    keys: NDArray[np.uint64] = items.hash(seed=seed).to_numpy()
    return keys ^ np.repeat(of_list, lengths)


_TOGETHER = 1 << 19
"""Keys that are looked through together, so that they stay in the cache."""


def may_repeat(keys: NDArray[np.uint64], starts: Ints) -> bool:
    """Say whether some list may have an item twice.

    False is certain: equal items have equal keys. True is to be looked into, as other
    items may have equal keys too.
    """
    lengths = np.diff(starts)
    width = int(lengths[0]) if len(lengths) else 0
    if len(lengths) and (lengths == width).all() and width > 1:
        return _equal_in_rows(keys.reshape(-1, width))
    cuts = np.searchsorted(starts, np.arange(0, len(keys), _TOGETHER))
    bounds = np.unique(np.append(starts[cuts], len(keys)))
    return any(some_equal(keys[begin:end]) for begin, end in pairwise(bounds))


def _equal_in_rows(keys: NDArray[np.uint64]) -> bool:
    """Say whether two keys of a row are equal; half of each key is looked at first."""
    step = max(1, _TOGETHER // keys.shape[1])
    for begin in range(0, len(keys), step):
        some = keys[begin : begin + step]
        half = (some >> np.uint64(32)).astype(np.uint32)
        half.sort(axis=1)
        suspect = (half[:, 1:] == half[:, :-1]).any(axis=1)
        if suspect.any() and any(some_equal(row) for row in some[suspect]):
            return True
    return False


def some_equal(keys: NDArray[np.uint64]) -> bool:
    """Say whether two keys are equal.

    Keys are written into slots by some of their bits. Of those that share a slot, all
    but the last one written are compared with that one, and go on to the next round.
    """
    bits = len(keys).bit_length() + 1
    turn = 0
    while len(keys) > 1:
        slot = (keys * _ODD[turn % len(_ODD)]) >> np.uint64(64 - bits)
        own = np.arange(len(keys), dtype=np.int64)
        last = np.zeros(1 << bits, dtype=np.int64)
        last[slot] = own
        winner = last[slot]
        left = np.flatnonzero(winner != own)
        if (keys[left] == keys[winner[left]]).any():
            return True
        keys, turn = keys[left], turn + 1
        bits = max(len(keys), 2).bit_length() + 1
    return False


@dataclass(frozen=True, slots=True, eq=False)
class Judgements:
    """Judged (query, item, grade) triples, grouped by query.

    Attributes:
        queries: the ids of the queries, in order of first appearance.
        items: the ids of the judged items, grouped by query.
        pool: their grades, in the same order.
        seed: the seed of the hash under which no two judged pairs share a key.
        keys: the keys of all judged pairs.
        name: what to call them in messages.
    """

    queries: pl.Series
    items: pl.Series
    pool: Pool
    seed: int
    keys: pl.Series
    name: str
    memo: dict[str, Any] = field(default_factory=dict, repr=False)

    @staticmethod
    def from_rows(rows: Rows) -> Judgements:
        """Group the rows by query and refuse an item that is judged twice."""
        frame = rows.frame
        if frame.height == 0:
            msg = f"{rows.name}: no judgements in it"
            raise DataError(msg)
        query, items = frame["query"], frame["item"]
        grade: Floats = frame["value"].to_numpy().astype(np.float64, copy=False)
        odd = ~np.isfinite(grade)
        if odd.any():
            at = int(np.flatnonzero(odd)[0])
            msg = (
                f"{rows.where(at)}: the grade is {grade[at]}; expected a finite number"
            )
            raise DataError(msg)
        starts = list_starts(query)
        ids = query.gather(starts[:-1])
        by_query: Ints | None = None
        if ids.n_unique() < len(ids):
            # The rows of a query do not stand together: bring them together.
            ids = ids.unique(maintain_order=True)
            number = numbers(query, ids)
            by_query = np.argsort(number, kind="stable")
            grade, items = grade[by_query], items.gather(by_query)
            starts = starts_of(np.bincount(number, minlength=len(ids)))
        lengths = np.diff(starts)
        seed = 0
        keys = pair_keys(items, np.arange(len(ids)), lengths, seed)
        while some_equal(keys):
            _refuse_twice(rows, ids, items, lengths, by_query)
            seed += 1
            keys = pair_keys(items, np.arange(len(ids)), lengths, seed)
        return Judgements(
            ids, items, Pool(starts, grade), seed, pl.Series("key", keys), rows.name
        )

    def find(self, keys: NDArray[np.uint64]) -> tuple[Ints, Ints]:
        """Return which keys are those of judged pairs, and the pair of each."""
        series = pl.Series("key", keys)
        row = series.is_in(self.keys.implode()).arg_true()
        if len(row) == 0:
            return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
        pair = pl.DataFrame({"key": series.gather(row)}).join(
            pl.DataFrame([self.keys]).with_row_index("pair"),
            on="key",
            how="left",
            maintain_order="left",
        )["pair"]
        return row.to_numpy().astype(np.int64), pair.to_numpy().astype(np.int64)

    def number_of(self, queries: pl.Series) -> Ints:
        """Return the number of each query id, -1 for those without judgements."""
        return numbers(queries, self.queries)


def list_starts(query: pl.Series) -> Ints:
    """Return the rows at which a query begins, and the number of rows."""
    other = query.slice(1) != query.slice(0, len(query) - 1)
    changes = np.flatnonzero(other.to_numpy()) + 1
    return np.concatenate(([0], changes, [len(query)]))


def _refuse_twice(
    rows: Rows, ids: pl.Series, items: pl.Series, lengths: Ints, by_query: Ints | None
) -> None:
    """Raise if an item is judged twice for one query."""
    number = np.repeat(np.arange(len(ids)), lengths)
    pairs = pl.DataFrame({"number": number, "item": items})
    again = pairs.select(pl.struct("number", "item").is_duplicated().alias("again"))
    twice = again["again"].arg_true()
    if len(twice) == 0:
        return
    first = int(twice[0])
    same = (pairs["number"] == number[first]) & (pairs["item"] == items[first])
    at = same.arg_true().to_numpy()
    a, b = sorted((at if by_query is None else by_query[at])[:2])
    msg = (
        f"item {items[first]!r} is judged twice for query {ids[int(number[first])]!r} "
        f"in {rows.name} ({rows.place(int(a))} and {rows.place(int(b))})"
    )
    raise DuplicateItemError(msg)


def numbers(values: pl.Series, known: pl.Series) -> Ints:
    """Return where each value stands among the known ones, -1 if nowhere."""
    table = pl.DataFrame({"id": known, "number": np.arange(len(known), dtype=np.int64)})
    found = (
        pl.DataFrame({"id": values})
        .join(table, on="id", how="left", maintain_order="left")["number"]
        .fill_null(-1)
    )
    result: Ints = found.to_numpy()
    return result
