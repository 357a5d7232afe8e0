"""Sources of any form as rows, put together or turned round."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from rankine._base.arrays import packed
from rankine._base.text import added_up
from rankine._io.matrices import nan_last
from rankine._io.repeats import cleaned
from rankine._io.sources import Dense, Lists, Rows
from rankine._io.text_columns import column_of
from rankine._io.values import series_of
from rankine.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Generator

    from rankine._io.columns import Role
    from rankine._io.sources import Source, Stream


def as_rows(source: Source, role: Role) -> Rows:
    """Turn a mapping or a matrix into a frame."""
    if isinstance(source, Rows):
        return source
    if isinstance(source, Lists):
        return rows_of_lists(source, query_ids(source), item_ids(source))
    if isinstance(source, Dense):
        return _rows_of_matrix(source, role)
    if role == "qrels":
        msg = f"{source.name} was read as a run and cannot be used as judgements"
        raise DataError(msg)
    return replace(in_one(source), role=role)


def held(source: Source) -> Source:
    """Return a run that can be looked at again: read at once, if it is in parts."""
    return as_rows(source, "run") if source.in_parts else source


def in_one(source: Stream) -> Rows:
    """Read all parts of a source, and put them together."""
    parts = list(source.open())
    said = (note for part in parts for note in part.notes)
    rows = replace(
        concat(parts),
        name=source.name,
        notes=added_up([*source.told, *said]),
        ranked=source.ranked,
        kind=source.kind,
        warnings=source.warnings,
        contradiction=source.contradiction,
    )
    return cleaned(rows, "run") if source.lenient else rows


def lenient_rows(source: Source, role: Role) -> Source:
    """Drop rows without an id and repeated items; put scores that are nan last.

    A matrix has an id for each score, and none twice; nan in judgements is no grade.
    """
    if isinstance(source, Dense):
        return nan_last(source) if role == "run" else source
    return cleaned(as_rows(source, role), role)


def concat(parts: list[Rows]) -> Rows:
    """Concatenate consecutive parts."""
    frame = pl.concat([part.frame for part in parts], rechunk=False)
    queries = all_lists(parts)
    names = dict.fromkeys(part.name for part in parts)
    if len(names) > 1:
        origins = tuple(origin for part in parts for origin in _origins(part))
        return Rows(frame, " and ".join(names), origins=origins, queries=queries)
    if all(part.lines is None for part in parts):
        line, first = parts[0].line, parts[0].first
        return Rows(frame, parts[0].name, line, first=first, queries=queries)
    lines = [
        np.arange(part.frame.height) + (part.line or 0)
        if part.lines is None
        else part.lines
        for part in parts
    ]
    return Rows(frame, parts[0].name, lines=np.concatenate(lines), queries=queries)


def all_lists(parts: list[Rows]) -> pl.Series | None:
    """Return the ids of all lists of several parts, None if each has a row."""
    if all(part.queries is None for part in parts):
        return None
    return pl.concat([part.lists() for part in parts]).unique(maintain_order=True)


def _origins(rows: Rows) -> tuple[tuple[Rows, int], ...]:
    """Return what says where rows are, without the rows."""
    n = rows.frame.height
    return rows.origins or ((replace(rows, frame=rows.frame.clear()), n),)


def query_ids(source: Lists) -> pl.Series:
    """Return the ids of queries as a column."""
    return series_of("query", list(source.data), source.name)


def item_ids(source: Lists) -> pl.Series:
    """Return the ids of items as a column, list by list."""
    if source.texts[1]:
        return column_of(source.entries, "item")
    return series_of("item", list(chain.from_iterable(source.entries)), source.name)


def rows_of_lists(source: Lists, queries: pl.Series, items: pl.Series) -> Rows:
    lengths = np.diff(source.starts)
    number = np.arange(len(lengths)).repeat(lengths)
    frame = pl.DataFrame(
        [queries.gather(number), items, pl.Series("value", source.numbers)]
    )
    return Rows(
        frame,
        source.name,
        notes=source.notes,
        n_places=source.n_places,
        placed=list in source.kinds,
        starts=source.starts,
        role=source.role,
        queries=queries,
    )


def _rows_of_matrix(source: Dense, role: Role) -> Rows:
    matrix = source.matrix
    inside = ~np.isnan(matrix) if role == "qrels" else matrix > -np.inf
    row, column = np.nonzero(inside)
    frame = pl.DataFrame(
        {
            "query": source.queries.gather(row),
            "item": source.items.gather(column),
            "value": matrix[row, column],
        }
    )
    return Rows(frame, source.name, notes=source.notes, queries=source.queries)


def turned(source: Source) -> Source:
    """Turn a run of distances into one in which the largest score is the best."""
    if isinstance(source, Lists):
        return replace(source, data=_turned_lists(source))
    if isinstance(source, Dense):
        # -inf is not a distance, but an item that was not retrieved.
        matrix = np.where(source.matrix == -np.inf, -np.inf, -source.matrix)
        return replace(source, matrix=matrix)
    if source.ranked:
        raise _no_scores(source.name)
    if isinstance(source, Rows):
        return _turned_rows(source)

    def parts() -> Generator[Rows, None, None]:
        with closing(source.open()) as opened:
            for part in opened:
                yield _turned_rows(part)

    return replace(source, open=parts)


def _turned_rows(rows: Rows) -> Rows:
    if rows.placed or "value" not in rows.frame.columns:
        raise _no_scores(rows.name)
    return replace(rows, frame=rows.frame.with_columns(-pl.col("value")))


def _turned_lists(source: Lists) -> dict[object, dict[object, float]]:
    turned = {}
    for query, entry in source.data.items():
        if not isinstance(entry, dict):
            what = f"the list of query {query!r}"
            raise _no_scores(what)
        numbers = packed(entry.values())
        turned[query] = dict(zip(entry, (-numbers).tolist(), strict=True))
    return turned


def _no_scores(name: str) -> DataError:
    return DataError(f"{name} has no scores that could be distances")
