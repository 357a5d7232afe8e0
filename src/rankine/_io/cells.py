r"""Cells of a table that hold lists as text, as spreadsheets and CSV files do.

A list is written in brackets, as JSON, Python or NumPy write it, or with bars between
its members. Nothing is executed.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import polars as pl

from rankine._base.text import shown
from rankine._io.columns import names_lists

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankine._io.columns import Role

_BAR = "|"
_MARKS = r"\S[,;\s]+\S"
"""What else may be between the members of a list."""
_MEMBER = re.compile(
    r"""\s*(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|([^\s,'"\[\]]+))\s*(?:,|(?=\s|$))"""
)
_NUMBER = re.compile(r"[+-]?\d[\d.eE+-]*")


def with_lists(
    frame: pl.DataFrame, column_of: Mapping[str, str], role: Role, title: str
) -> tuple[pl.DataFrame, tuple[str, ...]]:
    """Read cells of items that are lists, and those of scores or grades beside them.

    Args:
        frame: the columns of a table.
        column_of: which of them is what.
        role: what the table is.
        title: what to call it in messages.
    """
    item = column_of["item"]
    if not holds_lists(frame[item], role):
        return frame, ()
    members = [members_of(cell, item, role) for cell in frame[item].to_list()]
    if any(found is None for found in members):
        return frame, ()
    columns = [pl.Series(item, members, dtype=pl.List(pl.String))]
    for part in column_of.keys() & {"score", "grade", "rank"}:
        column = frame[column_of[part]]
        if column.dtype == pl.String:
            numbers = [members_of(cell, item, role) for cell in column.to_list()]
            lists = pl.Series(column.name, numbers, dtype=pl.List(pl.String))
            columns.append(lists.cast(pl.List(pl.Float64), strict=False))
    said = f"{title}: the cells of {item!r} are read as lists"
    return frame.with_columns(columns), (said,)


def doubts(
    frame: pl.DataFrame, column_of: Mapping[str, str], role: Role, title: str
) -> tuple[str, ...]:
    """Return a warning of cells that look like lists, and are read as one id each.

    That is so where a column is called a list, and each query has a single row.
    """
    column, query = frame[column_of["item"]], frame[column_of["query"]]
    if column.dtype != pl.String or not names_lists(column.name, role):
        return ()
    several = column.filter(column.str.contains(_MARKS).fill_null(value=False))
    if several.is_empty() or query.n_unique() < len(query):
        return ()
    said = (
        f"{title}: each cell of {column.name!r}, such as {shown(several[0])}, is read "
        "as one id; if it is a list, write its ids with bars, a|b, or as JSON"
    )
    return (said,)


def holds_lists(column: pl.Series, role: Role) -> bool:
    """Say whether cells look like lists, by the first of them."""
    if column.dtype != pl.String or len(column) == 0:
        return False
    first = column[0]
    if first is None:  # which is rare, and found only by looking at all
        first = column[column.is_not_null().arg_max() or 0] or ""
    if first.startswith("[") and first.endswith("]"):
        return members_of(first, column.name, role) is not None
    if not names_lists(column.name, role):
        return False
    return bool(column.str.contains(_BAR, literal=True).any())


def members_of(cell: str | None, column: str, role: Role) -> list[str] | None:
    r"""Return the members of a list in a cell; None if this is not one.

    >>> members_of('["d3", "d1"]', "item", "run"), members_of("[1, 2]", "item", "run")
    (['d3', 'd1'], ['1', '2'])
    >>> members_of("['d3' 'd1']", "item", "run")  # of NumPy
    ['d3', 'd1']
    >>> members_of("d3|d1", "retrieved", "run"), members_of("[a]", "item", "run")
    (['d3', 'd1'], None)
    """
    listed = names_lists(column, role)
    if cell is None:
        return None if not listed else []
    text = cell.strip()
    if not (text.startswith("[") and text.endswith("]")):
        if not listed:
            return None
        return [part.strip() for part in text.split(_BAR)] if text else []
    inside, members, end = text[1:-1].strip(), [], 0
    while end < len(inside):
        found = _MEMBER.match(inside, end)
        if found is None:
            return None
        end, bare = found.end(), found[3]
        if bare is not None and not listed and not _NUMBER.fullmatch(bare):
            return None
        quoted = found[1] if found[1] is not None else found[2]
        members.append(bare if bare is not None else re.sub(r"\\(.)", r"\1", quoted))
    return members
