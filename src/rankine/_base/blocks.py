"""Work on many rows in parts: in two threads, and in blocks that stay in the cache."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator, Sequence

T = TypeVar("T")

_MANY = 600_000
"""Values that are worth a second thread; a part of a file has fewer."""
_BLOCK = 1 << 16
"""Values that are looked at together, and stay in the cache meanwhile."""


def by_halves(work: Callable[[slice], T], n: int, size: int) -> list[T]:
    """Work on n rows: on all, or if they have many values, on halves in two threads.

    >>> by_halves(lambda rows: (rows.start, rows.stop), 5, 10)
    [(0, 5)]
    >>> by_halves(lambda rows: (rows.start, rows.stop), 5, 1_000_000)
    [(0, 2), (2, 5)]
    """
    if size < _MANY or n < 2:  # noqa: PLR2004 - two halves
        return [work(slice(0, n))]
    with ThreadPoolExecutor(max_workers=1) as pool:
        other = pool.submit(work, slice(0, n // 2))
        second = work(slice(n // 2, n))
        return [other.result(), second]


def at_once(works: Sequence[Callable[[], T]], size: int) -> list[T]:
    """Do several pieces of work on a number of values, two at a time if that pays.

    If some fail, the error of the first of them is raised, as if all went in turn.

    >>> at_once([lambda: 1, lambda: 2], 10), at_once([lambda: 1, lambda: 2], 1_000_000)
    ([1, 2], [1, 2])
    """
    if size < _MANY:
        return [work() for work in works]
    with ThreadPoolExecutor(max_workers=2) as pool:
        return [done.result() for done in [pool.submit(work) for work in works]]


def by_blocks(
    work: Callable[[slice], T], n: int, width: int = 1, size: int = _BLOCK
) -> list[T]:
    """Work on n rows of a given number of values each, a few rows at a time.

    >>> by_blocks(lambda rows: rows.stop - rows.start, 100_000)
    [65536, 34464]
    """
    step = max(1, size // max(width, 1))

    def some(rows: slice) -> list[T]:
        return [
            work(slice(begin, min(begin + step, rows.stop)))
            for begin in range(rows.start, rows.stop, step)
        ]

    return list(chain.from_iterable(by_halves(some, n, n * width)))


def ahead(parts: Iterator[T]) -> Generator[T, None, None]:
    """Go through parts; while one is worked on, a second thread makes the next.

    >>> list(ahead(iter("abc")))
    ['a', 'b', 'c']
    """
    end = object()
    part: T | object = next(parts, end)
    with ThreadPoolExecutor(max_workers=1) as pool:
        while part is not end:
            coming = pool.submit(next, parts, end)
            yield part  # type: ignore[misc]
            part = coming.result()
