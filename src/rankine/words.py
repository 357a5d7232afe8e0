"""Counting in sentences."""

from __future__ import annotations


def count(n: int, noun: str) -> str:
    """Return a number with its noun.

    >>> count(1, "query"), count(2000, "query"), count(0, "row"), count(2, "batch")
    ('1 query', '2,000 queries', '0 rows', '2 batches')
    """
    if n == 1:
        return f"1 {noun}"
    if noun.endswith("y"):
        noun = noun[:-1] + "ie"
    elif noun.endswith("ch"):
        noun += "e"
    return f"{n:,} {noun}s"
