"""Counting in sentences."""

from __future__ import annotations


def count(n: int, noun: str) -> str:
    """Return a number with its noun.

    >>> count(1, "query"), count(2000, "query"), count(0, "row")
    ('1 query', '2,000 queries', '0 rows')
    """
    if n == 1:
        return f"1 {noun}"
    if noun.endswith("y"):
        noun = noun[:-1] + "ie"
    return f"{n:,} {noun}s"
