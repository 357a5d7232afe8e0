"""Counts in sentences, and sentences that add up."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from collections.abc import Iterable
    from collections.abc import Set as AbstractSet

_LEAST_P = 0.0001
_PLACES = 8
"""How many things a sentence is said of before the rest is counted."""
QUERY = "query"
"""What is evaluated is called this, unless the data say that it is users."""
_SHOWN = 80
"""How many letters of a value a message shows."""
KEEP_BEST = "; lenient=True or --lenient keeps the best of each"
"""The end of an error: what to do about an item that a list has twice."""
RANK_LAST = "; lenient=True or --lenient ranks such items last"
"""The end of an error: what to do about a score that is not a number."""
KEEP_LARGEST = "; lenient=True or --lenient keeps the largest grade of each"
"""The end of an error: what to do about an item that is judged twice."""

RISING = (
    "scores rise along every list, as distances do; if smaller is better, give "
    "lower_is_better=True or --lower-is-better"
)
"""A warning, and what to do about it."""


def count(n: int, noun: str) -> str:
    """Return a number with its noun.

    >>> count(1, "query"), count(2000, "query"), count(0, "row"), count(2, "batch")
    ('1 query', '2,000 queries', '0 rows', '2 batches')
    """
    return f"1 {noun}" if n == 1 else f"{n:,} {plural(noun)}"


def plural(noun: str) -> str:
    """Return the plural of a noun.

    >>> plural("user"), plural("query"), plural("day")
    ('users', 'queries', 'days')
    """
    if noun.endswith("y") and noun[-2:-1] not in "aeiou":
        noun = noun[:-1] + "ie"
    elif noun.endswith("ch"):
        noun += "e"
    return f"{noun}s"


def common_unit(units: Iterable[str]) -> str:
    """Return what to call the queries of several data: users only if all do.

    >>> common_unit(["user", "user"]), common_unit(["user", "query"]), common_unit([])
    ('user', 'query', 'query')
    """
    return "user" if {*units} == {"user"} else QUERY


def shown(value: Any) -> str:
    """Return a value as it is shown in a message: its first letters.

    >>> shown("a" * 200)[-3:], len(shown("a" * 200)), shown("a")
    ('...', 80, "'a'")
    """
    return shortened(repr(value))


def shortened(text: str) -> str:
    """Return the first letters of a text, as many as a message shows of a value."""
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 3]}..."


def percent(share: float, decimals: int = 0, sign: str = "") -> str:
    """Return a share as a percentage; with a sign if that is ``+``.

    >>> percent(0.184, 1), percent(0.05, sign="+"), percent(float("nan"))
    ('18.4 %', '+5 %', 'undefined')
    >>> percent(-0.0004, 1), percent(-0.0006, 1)  # what is rounded to 0 has no sign
    ('0.0 %', '-0.1 %')
    """
    if math.isnan(share):
        return "undefined"
    return f"{share:{sign}z.{decimals}%}".replace("%", " %")


def p_text(p: float, *, at_most: bool = False) -> str:
    """Return a p-value with four digits; rounded up if all that is known is a bound.

    >>> p_text(0.03), p_text(1e-9), p_text(float("nan"))
    ('0.0300', '< 0.0001', 'undefined')
    >>> p_text(1 / 3001, at_most=True)
    'at most 0.0004'
    """
    if math.isnan(p):
        return "undefined"
    if p < _LEAST_P:
        return "< 0.0001"
    if at_most:
        # What is rounded up anyway must not be raised by the last bit.
        return f"at most {math.ceil(p * 1e4 - 1e-9) / 1e4:.4f}"
    return f"{p:.4f}"


def p_equals(p: float, *, at_most: bool = False) -> str:
    """Return a p-value as it stands in a sentence.

    >>> p_equals(0.00034), p_equals(0.0), p_equals(float("nan"))
    ('p = 0.0003', 'p < 0.0001', 'p is undefined')
    >>> p_equals(1 / 1001, at_most=True)
    'p at most 0.0010'
    """
    if math.isnan(p):
        return "p is undefined"
    equals = "" if at_most or p < _LEAST_P else "= "
    return f"p {equals}{p_text(p, at_most=at_most)}"


class Counted(str):
    """A sentence with a count in it, which adds up with the same one on other data.

    Attributes:
        key: the words before the count, the noun, and the words after it.
        n: how many there are.
        ids: their ids, if one may occur in several data and counts once.

    >>> dropped = Counted("", 3, "row", " dropped")
    >>> dropped, dropped.plus(dropped)
    ('3 rows dropped', '6 rows dropped')
    >>> unknown = Counted("", {"a"}, "item", " unknown")
    >>> unknown.plus(Counted("", {"a", "b"}, "item", " unknown"))
    '2 items unknown'
    """

    __slots__ = ("ids", "key", "n")
    key: tuple[str, str, str]
    n: int
    ids: AbstractSet[str] | None

    def __new__(
        cls, before: str, which: int | AbstractSet[str], noun: str, after: str
    ) -> Self:
        """Make a sentence of a number, or of the ids that are counted."""
        n = which if isinstance(which, int) else len(which)
        sentence = super().__new__(cls, f"{before}{count(n, noun)}{after}")
        sentence.key = before, noun, after
        sentence.n, sentence.ids = n, None if isinstance(which, int) else which
        return sentence

    def plus(self, other: Counted) -> Counted:
        """Return the same sentence with the counts of both."""
        which: int | AbstractSet[str] = self.n + other.n
        if self.ids is not None and other.ids is not None:
            which = self.ids | other.ids
        before, noun, after = self.key
        return Counted(before, which, noun, after)

    def of(self, unit: str) -> Counted:
        """Return the same sentence about users, where it is about queries.

        >>> Counted("", 3, "judged query", " left out").of("user")
        '3 judged users left out'
        """
        before, noun, after = self.key
        which = self.n if self.ids is None else self.ids
        return Counted(before, which, noun.replace(QUERY, unit), after)

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy and pickle as what it is made of."""
        before, noun, after = self.key
        which = self.n if self.ids is None else self.ids
        return Counted, (before, which, noun, after)


class OfQueries(str):
    """A sentence about queries without a count, which may be users.

    Attributes:
        parts: the words before and after the noun.

    >>> said = OfQueries("all ", " ids are text")
    >>> said, said.of("user")
    ('all query ids are text', 'all user ids are text')
    """

    __slots__ = ("parts",)
    parts: tuple[str, str]

    def __new__(cls, before: str, after: str) -> Self:
        """Make a sentence of the words around the noun."""
        sentence = super().__new__(cls, f"{before}{QUERY}{after}")
        sentence.parts = before, after
        return sentence

    def of(self, unit: str) -> str:
        """Return the same sentence about users, or about queries."""
        before, after = self.parts
        return f"{before}{unit}{after}"

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy and pickle as what it is made of."""
        return OfQueries, self.parts


def in_units(notes: Iterable[str], unit: str) -> tuple[str, ...]:
    """Return sentences on data whose queries are called by a unit."""
    return tuple(
        note.of(unit) if isinstance(note, (Counted, OfQueries)) else note
        for note in notes
    )


def grouped(said: Iterable[tuple[str, str]]) -> list[str]:
    """Say each sentence once, after all that it is said of.

    >>> grouped([("ctr", "no lift"), ("roi", "no interval"), ("roi", "no lift")])
    ['ctr, roi: no lift', 'roi: no interval']
    >>> grouped((f"m{n}", "no lift") for n in range(10))
    ['m0, m1, m2, m3, m4, m5, m6, m7 and 2 more: no lift']
    """
    places: dict[str, dict[str, None]] = {}
    for place, sentence in said:
        places.setdefault(sentence, {})[place] = None
    return [
        f"{', '.join([*names][:_PLACES])}"
        f"{f' and {len(names) - _PLACES:,} more' if len(names) > _PLACES else ''}: "
        f"{sentence}"
        for sentence, names in places.items()
    ]


def counted(notes: Iterable[str]) -> tuple[Counted, ...]:
    """Return the sentences with a count, which add up over parts of the data."""
    return tuple(note for note in notes if isinstance(note, Counted))


def uncounted(notes: Iterable[str]) -> tuple[str, ...]:
    """Return sentences with counts of 0, which keep the places of those to come.

    >>> uncounted([Counted("", 3, "row", " dropped"), "so"])
    ('0 rows dropped', 'so')
    """
    return tuple(
        Counted(note.key[0], 0, *note.key[1:]) if isinstance(note, Counted) else note
        for note in notes
    )


def added_up(notes: Iterable[str]) -> tuple[str, ...]:
    """Say each thing once, with the counts of all sentences that say it.

    What is counted as 0 in all of them is not said.

    >>> added_up(
    ...     [
    ...         Counted("", 1, "row", " dropped"),
    ...         "so",
    ...         Counted("", 2, "row", " dropped"),
    ...         "so",
    ...     ]
    ... )
    ('3 rows dropped', 'so')
    """
    return tuple(note for note in summed(notes) if getattr(note, "n", 1))


def summed(notes: Iterable[str]) -> tuple[str, ...]:
    """Put sentences together as `added_up` does, with those that count 0."""
    by_words: dict[object, str] = {}
    for note in notes:
        words = note.key if isinstance(note, Counted) else note
        before = by_words.get(words)
        if isinstance(before, Counted) and isinstance(note, Counted):
            by_words[words] = before.plus(note)
        else:
            by_words[words] = note
    return tuple(by_words.values())
