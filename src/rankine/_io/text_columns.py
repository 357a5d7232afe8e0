"""Many texts that Python holds, made a column of polars."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from typing import TYPE_CHECKING, TypeVar

import numpy as np
import polars as pl

from rankine._base.forks import has_threads
from rankine._base.limits import limits
from rankine._tables.segments import groups_of, starts_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

T = TypeVar("T")
_MARK = "\0"
"""What texts are joined by; one that has it in it is left to the slower way."""


def parts_of(
    groups: Sequence[Collection[str]],
    work: Callable[[pl.Series, int], T],
) -> list[T]:
    """Make columns of the texts of many groups, and do some work on each.

    Python joins texts, and polars splits what came out in a thread, while Python joins
    the next: 37 ns for each of seven million texts, half of them beside Python, where a
    list of them would take 50.

    Args:
        groups: the texts.
        work: what is done with each column, of which it is said how many texts come
            before it.

    Raises:
        TypeError: some are not texts.
        UnicodeEncodeError: some hold half of a surrogate pair, which cannot be written.

    >>> parts_of([["a", "b"], [], {"c": 1}], lambda part, before: (before, *part))
    [(0, 'a', 'b', 'c')]
    """
    starts = starts_of(np.array([len(group) for group in groups], dtype=np.int64))
    few = int(starts[-1]) <= limits().few_texts
    if few or not has_threads():
        texts = list(chain.from_iterable(groups))
        _check("".join(texts))
        return [work(pl.Series(texts, dtype=pl.String), 0)]
    with ThreadPoolExecutor(max_workers=1) as pool:
        parts = [
            pool.submit(
                _split,
                _joined(groups[some]),
                groups[some],
                work,
                int(starts[some.start]),
            )
            for some in groups_of(starts, limits().looked_up)
        ]
        return [part.result() for part in parts]


def column_of(groups: Sequence[Collection[str]], name: str) -> pl.Series:
    """Make a column of the texts of many groups, one after the other.

    >>> column_of([["a", "b"], [], {"c": 1}], "item").to_list()
    ['a', 'b', 'c']
    """
    return pl.concat(parts_of(groups, lambda part, _: part)).alias(name)


def _joined(groups: Sequence[Collection[str]]) -> str:
    text = _MARK.join(map(_MARK.join, filter(None, groups)))
    _check(text)
    return text


def _check(text: str) -> None:
    """Refuse what cannot be written: an unpaired surrogate."""
    if not text.isascii():
        text.encode()


def _split(
    text: str,
    groups: Sequence[Collection[str]],
    work: Callable[[pl.Series, int], T],
    before: int,
) -> T:
    """Split texts that were joined, unless one of them has the mark in it."""
    column = pl.Series([text]).str.split(_MARK).explode()
    if len(column) != sum(map(len, groups)):  # also where there are none
        column = pl.Series(list(chain.from_iterable(groups)), dtype=pl.String)
    return work(column, before)
