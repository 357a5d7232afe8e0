"""Distances: scores of which the smallest is the best, turned round."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from rankine._io.mappings import scores_of
from rankine._io.sources import Dense, Lists, Rows
from rankine.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Generator

    from rankine._io.sources import Source


def turned(source: Source, *, lenient: bool) -> Source:
    """Return a run whose largest score is its best, given one of distances."""
    if isinstance(source, Lists):
        return replace(source, data=_of_lists(source, lenient=lenient))
    if isinstance(source, Dense):
        # -inf is not a distance, but an item that was not retrieved.
        matrix = np.where(source.matrix == -np.inf, -np.inf, -source.matrix)
        return replace(source, matrix=matrix)
    if source.ranked:
        raise _no_scores(source.name)
    if isinstance(source, Rows):
        return _of_rows(source)

    def parts() -> Generator[Rows, None, None]:
        with closing(source.open()) as opened:
            for part in opened:
                yield _of_rows(part)

    return replace(source, open=parts)


def _of_rows(rows: Rows) -> Rows:
    if "value" not in rows.frame.columns:
        raise _no_scores(rows.name)
    return replace(rows, frame=rows.frame.with_columns(-pl.col("value")))


def _of_lists(source: Lists, *, lenient: bool) -> dict[object, dict[object, float]]:
    made = {}
    for query, entry in source.data.items():
        if not isinstance(entry, Mapping):
            what = f"the list of query {query!r}"
            raise _no_scores(what)
        values = scores_of([*entry.values()], lenient=lenient)
        made[query] = dict(zip(entry, (-values).tolist(), strict=True))
    return made


def _no_scores(name: str) -> DataError:
    return DataError(f"{name} has no scores that could be distances")
