"""Columns of few values, such as variants and kinds of events, as small numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

if TYPE_CHECKING:
    from rankine._base.arrays import AnyArray

_HEAD = 4096
"""Rows at the start that show which texts are frequent."""
_FREQUENT = 12
"""Up to this many texts, comparing a column with each is faster than a join."""


def coded(column: pl.Series) -> tuple[pl.Series, AnyArray]:
    """Return the values of a column, and the number of each row's value from 1.

    The number is 0 where a row has none. The values, texts or ints, are in no order.

    >>> texts, numbers = coded(pl.Series(["b", None, "b"]))
    >>> texts.to_list(), numbers.tolist()
    (['b'], [1, 0, 1])
    """
    texts = column.head(_HEAD).unique().drop_nulls()
    if len(texts) > _FREQUENT or len(column) <= _HEAD:
        texts = column.unique().drop_nulls()
        return texts, _joined(column, texts)
    numbers = np.zeros(len(column), np.uint8)
    for number, text in enumerate(texts, 1):
        is_this = (column == text).fill_null(value=False).to_numpy()
        numbers += is_this.view(np.uint8) * np.uint8(number)
    if numbers.all():
        return texts, numbers
    rest = numbers == 0
    others = column.filter(pl.Series(rest))
    more = others.unique().drop_nulls()
    if more.is_empty():
        return texts, numbers
    all_numbers = numbers.astype(np.int32)
    rare = _joined(others, more)
    all_numbers[rest] = np.where(rare > 0, rare + len(texts), 0)
    return pl.concat([texts, more]), all_numbers


def _joined(column: pl.Series, texts: pl.Series) -> AnyArray:
    if texts.is_empty():
        return np.zeros(len(column), np.int32)
    numbers = pl.Series(range(1, len(texts) + 1), dtype=pl.Int32)
    each = column.replace_strict(texts, numbers, default=0, return_dtype=pl.Int32)
    return each.to_numpy()
