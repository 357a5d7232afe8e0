"""Counting in sentences, and what several of them say."""

from __future__ import annotations

KEEP_BEST = "; lenient=True or --lenient keeps the best of each"
"""The end of an error: what to do about an item that a list has twice."""
RANK_LAST = "; lenient=True or --lenient ranks such items last"
"""The end of an error: what to do about a score that is not a number."""
KEEP_LARGEST = "; lenient=True or --lenient keeps the largest grade of each"
"""The end of an error: what to do about an item that is judged twice."""


def count(n: int, noun: str) -> str:
    """Return a number with its noun.

    >>> count(1, "query"), count(2000, "query"), count(0, "row"), count(2, "batch")
    ('1 query', '2,000 queries', '0 rows', '2 batches')
    """
    return f"1 {noun}" if n == 1 else f"{n:,} {plural(noun)}"


def plural(noun: str) -> str:
    """Return the plural of a noun.

    >>> plural("user"), plural("query")
    ('users', 'queries')
    """
    if noun.endswith("y"):
        noun = noun[:-1] + "ie"
    elif noun.endswith("ch"):
        noun += "e"
    return f"{noun}s"
