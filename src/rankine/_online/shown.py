"""Logs of lists that were shown: a row per item and impression, with its clicks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from rankine._io import open_table
from rankine._io.columns import check_parts, known_columns, told_column
from rankine._io.tables import origin_of, together
from rankine._io.values import ids, numbers
from rankine.errors import ColumnNotFoundError, DataError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

COLUMNS = {
    "user": ("user_id", "user", "visitor_id", "client_id"),
    "impression": ("impression_id", "impression", "request_id", "search_id"),
    "query": ("query_id", "query", "user_query", "qid"),
    "item": ("item_id", "item", "doc_id", "object_id", "docid"),
    "position": ("position", "rank", "ordinal"),
    "click": ("click", "clicks", "clicked", "reward"),
    "team": ("team", "ranker", "source"),
    "rank_a": ("rank_a",),
    "rank_b": ("rank_b",),
}
"""What a column can be, and the names by which it is known."""
_NUMBERS = ("position", "click", "rank_a", "rank_b")


def read_shown(
    log: Any,
    needs: Mapping[str, str],
    columns: Mapping[str, Any] | None,
    optional: Sequence[str] = (),
) -> tuple[pl.DataFrame, str]:
    """Read the columns that are needed, each under the name of its part.

    Args:
        log: a path, a frame, or what `read_table` returns.
        needs: the parts that must be there, and what for.
        columns: which column is what, where names are not known.
        optional: parts that are read if they are there.

    Returns:
        The rows, and what to call the log.
    """
    given = columns or {}
    check_parts(given, COLUMNS)
    table = open_table(log, "log")
    column_of = {}
    for part in (*needs, *optional):
        name = told_column(table.names, given.get(part), table.name)
        known = known_columns(table.names, part, COLUMNS)
        if name is None and known:
            name = known[0]
        if name is not None:
            column_of[part] = name
        elif part in needs:
            msg = (
                f"{table.name} has no column for the {part}, which {needs[part]}; it "
                f"has {', '.join(table.names)}, and names such as "
                f"{', '.join(COLUMNS[part][:3])} are recognised; say which one to use "
                f"with columns={{{part!r}: ...}}"
            )
            raise ColumnNotFoundError(msg)
    numeric = [name for part, name in column_of.items() if part in _NUMBERS]
    loaded = table.load(list(dict.fromkeys(column_of.values())), numeric)
    frame = together([rows for rows, _ in loaded], [origin for _, origin in loaded])
    origin: Any = origin_of(table.name, loaded)
    if frame.height == 0:
        msg = f"{table.name} has no rows"
        raise DataError(msg)
    series = []
    for part, name in column_of.items():
        column = frame[name]
        if part not in _NUMBERS:
            column = ids(column, part, origin, hint="")[0]
        else:
            column = numbers(column, name, origin, lenient=part not in needs)
            _check(part, column, name, origin)
        series.append(column.alias(part))
    return pl.DataFrame(series), table.name


def _check(part: str, column: pl.Series, name: str, origin: Any) -> None:
    """Refuse clicks that cannot be counted, and ranks that are none."""
    least = 0 if part == "click" else 1
    wrong = (column < least) | (column != column.floor()) | column.is_infinite()
    odd = wrong & column.is_not_nan()
    if odd.any():
        row = int(odd.arg_true()[0])
        what = "a number of clicks" if part == "click" else "a rank from 1"
        msg = f"{origin.where(row)}: {name} is {column[row]:g}, not {what}"
        raise DataError(msg)
