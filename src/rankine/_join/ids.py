"""Bringing ids of two sources to one type, or saying why that cannot be done."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from rankine._io.sources import Rows
from rankine.errors import DataError

if TYPE_CHECKING:
    from rankine._join.judgements import Judgements


def same_type(
    truth: Judgements, run: Rows, *, items: bool = True
) -> tuple[Judgements, Rows, tuple[str, ...]]:
    """Bring the run's ids to the type that the judgements have.

    Ints and text are compared as text, and only if every text is the plain form of an
    int: ``007`` is not ``7``, and where such ids occur the two cannot be compared.
    """
    notes: list[str] = []
    frame = run.frame
    pairs = [("query", truth.queries)]
    if items:
        pairs.append(("item", truth.items))
    for column, known in pairs:
        ids = frame[column]
        if ids.dtype == known.dtype:
            continue
        if len(ids) == 0:
            frame = frame.with_columns(ids.cast(known.dtype))
            continue
        if ids.dtype == pl.String:
            ids = _plain_ints(ids, column, run.name, truth.name, known.dtype)
        elif known.dtype == pl.String:
            _plain_ints(known, column, truth.name, run.name, ids.dtype)
            ids = ids.cast(pl.String)
        else:
            ids = ids.cast(known.dtype, strict=False)
            if ids.null_count():
                example = frame[column].filter(ids.is_null())[0]
                msg = (
                    f"{column} ids are {known.dtype} in {truth.name} and "
                    f"{frame[column].dtype} in {run.name}, where {example} does not "
                    "fit; give both the same type"
                )
                raise DataError(msg)
        notes.append(
            f"{column} ids are {_word(known)} in {truth.name} and "
            f"{_word(frame[column])} in {run.name}; compared by their text"
        )
        frame = frame.with_columns(ids.alias(column))
    if frame is run.frame:
        return truth, run, ()
    return truth, Rows(frame, run.name, run.line, run.lines, run.notes), tuple(notes)


def _plain_ints(
    ids: pl.Series, column: str, name: str, other: str, dtype: pl.DataType
) -> pl.Series:
    """Read text ids as ints; refuse those that are not the plain form of one."""
    numbers = ids.cast(dtype, strict=False)
    odd = ids.ne_missing(numbers.cast(pl.String))
    if odd.any():
        example = ids.filter(odd)[0]
        msg = (
            f"{column} ids are text in {name} and ints in {other}, and "
            f"{int(odd.sum())} of the texts are no plain ints, such as {example!r}; "
            "give both the same type"
        )
        raise DataError(msg)
    return numbers


def _word(ids: pl.Series) -> str:
    return "text" if ids.dtype == pl.String else "ints"
