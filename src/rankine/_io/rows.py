"""Sources of any form as rows, put together or turned round."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from rankine._base.arrays import packed
from rankine._base.text import RISING, added_up
from rankine._io.columns import is_distance
from rankine._io.matrices import nan_last
from rankine._io.repeats import cleaned
from rankine._io.sources import Dense, Lists, Rows, noted
from rankine._io.text_columns import column_of
from rankine._io.values import series_of
from rankine._tables.segments import steps_of
from rankine.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Generator

    from rankine._io.columns import Role
    from rankine._io.sources import Reading, S, Source, Stream


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
        given=source.given,
        unit=source.unit,
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
    names, unit = dict.fromkeys(part.name for part in parts), parts[0].unit
    if len(names) > 1:
        origins = tuple(origin for part in parts for origin in _origins(part))
        return Rows(
            frame, " and ".join(names), origins=origins, queries=queries, unit=unit
        )
    if all(part.lines is None for part in parts):
        line, first = parts[0].line, parts[0].first
        return Rows(frame, parts[0].name, line, first=first, queries=queries, unit=unit)
    lines = [
        np.arange(part.frame.height) + (part.line or 0)
        if part.lines is None
        else part.lines
        for part in parts
    ]
    every = np.concatenate(lines)
    return Rows(frame, parts[0].name, lines=every, queries=queries, unit=unit)


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
        warnings=source.warnings,
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
    return Rows(
        frame,
        source.name,
        notes=source.notes,
        queries=source.queries,
        n_places=source.n_places,
        is_matrix=True,
    )


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


def directed(source: S, name: str, *, known: bool = False) -> S:
    """Take numbers as distances where they rise along every list.

    Libraries return the best first. So numbers that fall along every list are scores,
    whatever they are called. Those that rise are distances if they are called so, or if
    such a form usually holds distances; otherwise that is doubtful. Numbers that do
    neither are what they are called.

    Args:
        source: a run, as dicts or as rows, whose lists are in the order that they had.
        name: what its numbers are called, if they have a name.
        known: whether such a form usually holds distances without a name.
    """
    rises, falls = _ways(source)
    called = is_distance(name)
    what = f"{source.name}: {f'the numbers in {name!r}' if name else 'its numbers'} are"
    if falls and not rises:
        said = f"{what} read as scores, as they fall along every list"
        return noted(source, [said]) if called else source
    if called or (known and rises and not falls):
        plainly = rises and not falls
        why = "as they rise along every list" if plainly else "by their name"
        made: Any = noted(turned(source), [f"{what} read as distances, {why}"])
        return made  # type: ignore[no-any-return]
    if not rises or (falls and not known):
        return source
    doubt = (
        f"{what} read as scores, though they neither rise nor fall along every list; "
        "if they are distances, give lower_is_better=True"
    )
    doubtful: Any = source
    warnings = (*source.warnings, doubt if falls else RISING)
    return replace(doubtful, warnings=warnings)  # type: ignore[no-any-return]


def in_their_order(rows: Rows, role: Role, how: Reading) -> Rows:
    """Take the scores of a run as distances where their order says so.

    What the user says of them goes first.
    """
    if role == "qrels" or _is_told(how) or rows.ranked or not rows.column:
        return rows
    return directed(rows, rows.column)


def may_be_distance(column: str, how: Reading) -> bool:
    """Say whether numbers are called distances, and the user does not say more."""
    return is_distance(column) and not _is_told(how)


def _is_told(how: Reading) -> bool:
    return how.lower_is_better or "score" in (how.columns or {})


def _ways(source: Source) -> tuple[bool, bool]:
    """Say whether numbers rise anywhere along a list, and whether they fall."""
    if isinstance(source, Lists):
        steps = steps_of(source.numbers, source.starts)
        return steps.rises > 0, steps.falls > 0
    frame = as_rows(source, "run").frame
    step = frame.select(pl.col("value").diff().over("query"))["value"]
    return bool((step > 0).any()), bool((step < 0).any())


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
