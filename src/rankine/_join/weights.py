"""Weights of queries: how much each counts in a mean."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from rankine._base.text import QUERY, count
from rankine._io import open_table
from rankine._io.columns import check_parts, resolve_table, word_for
from rankine._io.repeats import first_repeat
from rankine._io.sources import PLAIN, Reading, Rows
from rankine._io.tables import together
from rankine._io.values import UNREADABLE, ids, numbers, series_of
from rankine._join.ids import Index, one_type
from rankine.errors import ColumnNotFoundError, DataError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankine._base.arrays import Bools, Floats, Ints

_SHOWN = 3
"""Queries without a weight that are named."""


@dataclass(frozen=True, eq=False)
class Weights:
    """How much each query counts, by its id.

    Attributes:
        queries: the ids, each once.
        values: their weights, at least 0.
        name: what to call them in messages.
        notes: what was inferred while reading.
    """

    queries: pl.Series
    values: Floats
    name: str
    notes: tuple[str, ...] = ()

    @property
    def key(self) -> int:
        """A number that is the same for the same weights, in any order."""
        frame = pl.DataFrame({"query": self.queries, "weight": self.values})
        return int((frame.hash_rows() // (1 << 32)).sum())

    def of(self, wanted: Sequence[Any] | pl.Series, unit: str) -> Floats:
        """Return the weights of some queries, all of which must have one.

        Messages call them by the unit.
        """
        place = self._find(wanted)
        missing = np.flatnonzero(place < 0)
        if len(missing):
            named = ", ".join(str(wanted[int(row)]) for row in missing[:_SHOWN])
            more = ", ..." if len(missing) > _SHOWN else ""
            msg = (
                f"{self.name} has no weight for {count(len(missing), unit)} "
                f"({named}{more}); give one for every {unit}, 0 to leave a {unit} out"
            )
            raise DataError(msg)
        weights: Floats = self.values[place]
        return weights

    def leave_out(self, some: Sequence[Any] | pl.Series) -> Bools:
        """Mark those of some queries that count nothing, as their weight is 0."""
        place = self._find(some)
        left_out: Bools = (place >= 0) & (self.values[place] == 0)
        return left_out

    def _find(self, wanted: Sequence[Any] | pl.Series) -> Ints:
        """Return the places of queries among those with a weight, or -1."""
        try:
            column = pl.Series("query", wanted)
        except UNREADABLE:
            column = pl.Series("query", [str(query) for query in wanted])
        if len(column) == 0:
            return np.zeros(0, dtype=np.int64)
        brought, _ = one_type({"weights": self.queries, "queries": column}, "query")
        return Index(brought["weights"]).find(brought["queries"])


def read_weights(data: Any, how: Reading = PLAIN, shared: Any = None) -> Weights:
    """Read weights: {query: weight}, or a table with a query and a weight column.

    Args:
        data: the weights.
        how: how a table is to be read.
        shared: the column of queries of all tables, which this one need not have.
    """
    if type(data).__module__.startswith("pandas") and not hasattr(data, "columns"):
        data = data.to_dict()  # of a Series
    if isinstance(data, Mapping):
        origin = Rows(pl.DataFrame(), "weights")
        for query, weight in data.items():
            if not isinstance(weight, (Real, np.number)):
                msg = f"the weight of {query!r} is {weight!r}, not a number"
                raise DataError(msg)
        queries = series_of("query", list(data), "weights", hint="")
        weights = pl.Series("weight", [_float(*pair) for pair in data.items()])
        return _checked(queries, weights, origin, ())
    table = open_table(data, "weights", how)
    columns = {"query": shared} if shared in table.names else {}
    columns |= table.columns
    check_parts(columns, ("query", "weight"))
    if "query" in columns:
        columns["user"] = columns.pop("query")
    chosen = resolve_table(table.names, "weights", columns, table.name)
    words = {
        "user": ("query", "column of queries"),
        "weight": ("weight", "weight column"),
    }
    for part, (name, what) in words.items():
        if part not in chosen:
            msg = (
                f"{table.name} has no {what}; it has {', '.join(table.names)}; say "
                f"which one it is with columns={{'weights.{name}': ...}} or --col "
                f"weights.{name}=NAME"
            )
            raise ColumnNotFoundError(msg)
    loaded = table.load([chosen["user"], chosen["weight"]], [chosen["weight"]])
    origins = [origin for _, origin in loaded]
    rows = together([frame for frame, _ in loaded], origins)
    query, weight = rows[chosen["user"]], rows[chosen["weight"]]
    unit = word_for(chosen["user"]) or QUERY
    return _checked(query, weight, origins[0], table.notes, unit)


def _float(query: Any, weight: Any) -> float:
    try:
        return float(weight)
    except OverflowError:
        msg = f"the weight of {query!r} is too large"
        raise DataError(msg) from None


def _checked(
    query: pl.Series,
    weight: pl.Series,
    origin: Rows,
    notes: tuple[str, ...],
    unit: str = QUERY,
) -> Weights:
    queries, said = ids(query.alias("query"), unit, origin, hint="")
    values = numbers(weight, "weight", origin).to_numpy()
    odd = np.flatnonzero(~np.isfinite(values) | (values < 0))
    if len(odd):
        row = int(odd[0])
        msg = (
            f"{origin.where(row)}: the weight of {queries[row]!r} is {values[row]:g}; "
            "a weight is a number of at least 0"
        )
        raise DataError(msg)
    with np.errstate(over="ignore"):
        total = float((values * values).sum())
    if not np.isfinite(total):
        msg = f"the weights of {origin.name} are too large to be added up"
        raise DataError(msg)
    if len(queries) == 0:
        msg = f"{origin.name}: contains no weights"
        raise DataError(msg)
    repeat = first_repeat(queries.to_frame())
    if repeat is not None:
        again = queries[repeat[1]]
        msg = f"{origin.where(repeat[1])}: {unit} {again!r} has a weight already"
        raise DataError(msg)
    return Weights(queries, values.astype(np.float64), origin.name, (*notes, *said))
