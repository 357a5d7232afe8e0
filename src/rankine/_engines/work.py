"""What executors are told, and what the rows that they get look like."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rankine.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rankine._evaluate.plan import Plan

JUDGED, LISTED = 0, 1
"""What a row is: a judgement, or an item of a list."""
ROLES = ("qrels", "run")
ROWS = 1 << 18
"""Rows that are evaluated together, which take about 50 MB."""
MOST = 50_000_000
"""Numbers of queries or rounds that are collected: 400 MB for each column."""
PLAIN_INT = r"^(0|-?[1-9][0-9]*)$"
"""Texts that are compared with ints."""
FITS = 18
"""How many letters of such a text always fit 64 bits."""
_LIMIT = 1 << 63


def odd_text(word: str, texts: str, ints: str, example: str) -> DataError:
    """Return what to raise where a text that is compared with ints is not plain."""
    msg = (
        f"{word} ids are text in {texts} and ints in {ints}, and not all of the texts "
        f"are plain ints, such as {example!r}; give both the same type"
    )
    return DataError(msg)


def refuse_beyond(word: str, ints: str, texts: str, long: Iterable[str]) -> None:
    """Refuse ints that do not fit 64 bits, where a table has ints and comes first.

    Args:
        word: what the ids are.
        ints: the table that has ints.
        texts: the one that has texts.
        long: those of more than `FITS` letters.
    """
    odd = [text for text in long if not -_LIMIT <= int(text) < _LIMIT]
    if odd:
        msg = (
            f"{word} ids are Int64 in {ints}, and {min(odd)} in {texts} does not fit; "
            "give both the same type"
        )
        raise DataError(msg)


@dataclass(frozen=True)
class Work:
    """What executors are told.

    Attributes:
        version: of the package on the driver.
        plan: what is to be computed, with nothing refused, rounded or missed yet.
        depth: the number of items of each list that are kept.
        scored: whether the run has scores or ranks.
        ranked: whether these are ranks.
        lenient: whether repeated items are dropped and counted.
        texts: ids that must be the plain forms of ints: a part, and the side.
        places: whose rows must have a place each, and no two of a query the same:
            a side, and the column of the places.
        judged: whether there are judgements.
        known: what is known besides the lists, pickled, as it needs polars; None where
            no metric of lists is asked for.
        n_rows: how many rows are evaluated together.
    """

    version: str
    plan: Plan
    depth: int | None
    scored: bool
    ranked: bool
    lenient: bool
    texts: tuple[tuple[str, int], ...] = ()
    places: tuple[tuple[int, str], ...] = ()
    judged: bool = True
    known: bytes | None = None
    n_rows: int = ROWS
