"""Mappings by query: what people hold in memory, checked."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Hashable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from itertools import chain, repeat
from operator import contains
from typing import TYPE_CHECKING, Any

import numpy as np

from rankine._base.arrays import NOT_PACKED, all_true, packed
from rankine._base.text import KEEP_LARGEST, RANK_LAST, shown
from rankine._io.rows import rows_of_lists
from rankine._io.sources import Lists, Rows
from rankine._io.values import (
    DROPS,
    NOT_JUDGED,
    grades_hint,
    is_missing,
    kind_of,
    known_grade,
    no_order,
    refuse_padding,
    series_of,
    unknown_grade,
)
from rankine.errors import (
    DataError,
    DuplicateItemError,
    FormatError,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rankine._io.columns import Role


def read_lists(
    data: Mapping[Any, Any],
    role: Role,
    name: str,
    *,
    n_places: int | None = None,
    lenient: bool = False,
) -> Lists | Rows:
    """Read a mapping by query, and check it by the rules of frames, once for all.

    Args:
        data: {query: {item: number}}, {query: [items]} or, for judgements,
            {query: {items}}.
        role: what it is.
        name: what to call it in messages.
        n_places: how many queries there are, if they are identified by position.
        lenient: whether ids may be missing and scores may be nan, which only rows
            can hold.

    Returns:
        The same data as dicts and lists, or as rows for a lenient reader.
    """
    if not lenient:
        _check_ids(data, role, name)
    _refuse_padded(data, name)
    if role == "qrels":
        data = _as_grades(data, name, lenient=lenient)
    else:
        data = _as_lists(data)
        data = _with_nan(data) if lenient else data
    source = Lists(data, name, role, n_places=n_places)
    _check_numbers(source, lenient=lenient)
    if not lenient:
        return source
    queries, items = list(data), list(chain.from_iterable(source.entries))
    return rows_of_lists(
        source,
        series_of("query", queries, name, lenient=True),
        series_of("item", items, name, lenient=True),
    )


def _as_grades(data: Mapping[Any, Any], name: str, *, lenient: bool) -> dict[Any, Any]:
    """Return judgements as {query: {item: grade}}; sets and lists get grade 1."""
    if type(data) is dict and set(map(type, data.values())) == {dict}:
        return data
    return {
        query: dict(entry)
        if isinstance(entry, Mapping)
        else _ones(query, entry, name, lenient=lenient)
        for query, entry in data.items()
    }


def _as_lists(data: Mapping[Any, Any]) -> dict[Any, Any]:
    """Return a run whose entries are dicts and lists."""
    if type(data) is dict and set(map(type, data.values())) <= {dict, list}:
        return data
    return {
        query: dict(entry) if isinstance(entry, Mapping) else _listed(query, entry)
        for query, entry in data.items()
    }


def _with_nan(data: Mapping[Any, Any]) -> dict[Any, Any]:
    """Return a run with nan for scores that are missing."""
    return {
        query: {item: math.nan if is_missing(x) else x for item, x in entry.items()}
        if type(entry) is dict
        else entry
        for query, entry in data.items()
    }


def _listed(query: Any, entry: Any) -> list[Any]:
    """Return the items of a list in order; refuse what is not a list."""
    if isinstance(entry, np.ndarray) and entry.ndim == 1:
        return entry.tolist()  # type: ignore[no-any-return]
    if isinstance(entry, Sequence) and not isinstance(entry, (str, bytes)):
        return list(entry)
    if entry is None:
        msg = (
            f"the list of query {shown(query)} is None; use an empty list or dict if "
            "nothing was retrieved"
        )
        raise DataError(msg)
    wanted = "a list of items in order, or {item: score}"
    if isinstance(entry, AbstractSet):
        wanted += "; a set has no order"
    msg = f"the run of query {shown(query)} is {kind_of(entry)}; expected {wanted}"
    raise FormatError(msg)


def _ones(
    query: Any, entry: Any, name: str, *, lenient: bool = False
) -> dict[Any, float]:
    if isinstance(entry, np.ndarray):
        entry = entry.tolist()
    plain = isinstance(entry, (AbstractSet, Sequence))
    if not plain or isinstance(entry, (str, bytes)):
        msg = (
            f"the judgements of query {shown(query)} are {kind_of(entry)}; expected "
            "{item: grade}, or a set of relevant items"
        )
        raise FormatError(msg)
    try:
        ones = dict.fromkeys(entry, 1.0)
    except (TypeError, ValueError, OverflowError):
        msg = f"the judgements of query {shown(query)} contain items that are not ids"
        raise FormatError(msg) from None
    if len(ones) < len(entry) and not lenient:
        times = Counter(entry)
        twice = next(item for item in entry if times[item] > 1)
        msg = (
            f"item {shown(twice)} is judged twice for query {shown(query)} in {name}"
            f"{KEEP_LARGEST}"
        )
        raise DuplicateItemError(msg)
    return ones


def graded(data: Mapping[Any, Any], grades: Mapping[Any, float]) -> dict[Any, Any]:
    """Return judgements with each grade in words replaced by what it is worth."""
    judgements: dict[Any, Any] = {}
    for query, entry in data.items():
        if not isinstance(entry, Mapping):
            msg = (
                f"the judgements of query {shown(query)} are {kind_of(entry)} without "
                "grades, but grades= was given"
            )
            raise DataError(msg)
        for item, value in entry.items():
            if not known_grade(value, grades):
                what = f"the grade of item {shown(item)} for query {shown(query)}"
                raise unknown_grade(what, value, grades)
        judgements[query] = {item: grades[value] for item, value in entry.items()}
    return judgements


_GROUPS = {dict, list, tuple, set, frozenset}
"""Types whose iteration gives the ids of a query."""
_HASHED = {dict, set, frozenset}
_ORDERED = {list, tuple, np.ndarray}
_NO_INTS = {bool, np.timedelta64}


def _check_ids(data: Mapping[Any, Any], role: Role, name: str) -> None:
    """Refuse ids that a column could not hold: missing ones, and those of two types."""
    if not _are_plain((data,)):
        for query in data:
            if _is_no_id(query):
                msg = f"the id of a query in {name} is missing: {shown(query)}{DROPS}"
                raise DataError(msg)
        series_of("query", list(data), name)
    groups = _groups(data)
    if not _are_plain(groups):
        _check_items(data, role, name)
        series_of("item", list(chain.from_iterable(groups)), name)


def _refuse_padded(data: Mapping[Any, Any], name: str) -> None:
    """Refuse lists of numbers that are filled up with a negative one."""
    entries = data.values()
    if set(map(type, entries)).isdisjoint(_ORDERED):
        return
    lists: list[Any] = [_ids_in(e) if type(e) in _ORDERED else () for e in entries]
    if not _are_numbers(items[-1] for items in lists if items):
        return
    if not any(items[-1] < 0 for items in lists if items):
        return
    if _are_numbers(chain.from_iterable(lists)):
        queries = list(data)
        refuse_padding(
            lists,
            lambda number: f"{name}: the list of query {shown(queries[number])}",
            "if it pads short lists, leave it out, or use from_ranked(x, pad=PAD)",
        )


def n_items(source: Lists) -> int:
    """Return how many different items lists have."""
    return len(set().union(*source.entries))


def _groups(data: Mapping[Any, Any]) -> Collection[Collection[Any]]:
    """Return the ids of each query."""
    groups: Collection[Any] = data.values()
    plain = set(map(type, groups)) <= _GROUPS
    return groups if plain else list(map(_ids_in, groups))


def _are_numbers(items: Iterable[Any]) -> bool:
    kinds = set(map(type, items))
    return all(
        issubclass(kind, (int, float, np.integer, np.floating)) for kind in kinds
    )


def _are_plain(groups: Collection[Collection[Any]]) -> bool:
    """Say whether all ids are texts, or all ints, so that none needs a closer look.

    Texts are joined, group by group: that takes less time than to ask for their types.
    """
    try:
        if not all(map(str.isascii, map("".join, groups))):
            for group in groups:
                "".join(group).encode()
        return not any(map(contains, groups, repeat("")))
    except TypeError:
        return _are_ints(groups)
    except UnicodeEncodeError:
        return False


def _are_ints(groups: Collection[Collection[Any]]) -> bool:
    """Say whether all ids are ints."""
    first = set(map(type, map(next, map(iter, groups), repeat(0))))
    if first == {int} and _HASHED.issuperset(map(type, groups)):
        with suppress(TypeError, OverflowError), np.errstate(over="ignore"):
            return all(map(_is_of_ints, groups))
        return False
    kinds = set(map(type, chain.from_iterable(groups)))
    return not kinds & _NO_INTS and all(
        issubclass(kind, (int, np.integer)) for kind in kinds
    )


def _is_of_ints(group: Collection[Any]) -> bool:
    """Say whether the keys of a dict or of a set are Python's own ints.

    Their sum is one, too; to add takes half the time of asking for the type of each.
    A bool counts there, but then it is found as 0 or 1.
    """
    if type(sum(group)) is not int:
        return False
    if 0 not in group and 1 not in group:
        return True
    keys = [*group]
    return not any(
        type(keys[keys.index(number)]) is bool for number in (0, 1) if number in group
    )


def _ids_in(entry: Any) -> Collection[Any]:
    """Return the ids in the entry of a query; none if it is refused later."""
    if isinstance(entry, np.ndarray):
        return entry.tolist() if entry.ndim == 1 else ()
    if isinstance(entry, (Mapping, AbstractSet)):
        return entry
    plain = isinstance(entry, Sequence) and not isinstance(entry, (str, bytes))
    return entry if plain else ()


def _is_no_id(value: Any) -> bool:
    return is_missing(value) or (isinstance(value, str) and not value)


def _check_items(data: Mapping[Any, Any], role: Role, name: str) -> None:
    """Refuse items that are missing or cannot be ids, saying whose they are."""
    for query, entry in data.items():
        of_query = (
            f"{'judgements' if role == 'qrels' else 'list'} of query {shown(query)}"
        )
        ordered = not isinstance(entry, (Mapping, AbstractSet))
        for place, item in enumerate(_ids_in(entry)):
            if not isinstance(item, Hashable):
                which = f"{name}: item {place} in the {of_query}"
                msg = f"{which} is not an id: {shown(item)}"
                if isinstance(item, (list, np.ndarray)):
                    msg += "; for items with numbers, write {item: number}"
                raise FormatError(msg)
            if _is_no_id(item):
                which = f"at index {place} of" if ordered else "of an item in"
                whose = f"{name}: the id {which} the {of_query}"
                msg = f"{whose} is missing: {shown(item)}{DROPS}"
                raise DataError(msg)


def _check_numbers(source: Lists, *, lenient: bool) -> None:
    """Refuse grades that are not finite, and scores that cannot be ordered."""
    if dict not in source.kinds:
        return
    judged = source.role == "qrels"
    with suppress(*NOT_PACKED):
        numbers = source.numbers
        if lenient and not judged:
            return
        if all_true(np.isfinite(numbers) if judged else ~np.isnan(numbers)):
            return
    entries = source.data.items()
    named = [
        (query, item, value)
        for query, entry in entries
        if type(entry) is dict
        for item, value in entry.items()
    ]
    grades: list[Any] = [value for *_, value in named] if judged else []
    words = [*dict.fromkeys(grade for grade in grades if isinstance(grade, str))]
    what, todo = ("grade", f"; {NOT_JUDGED}") if judged else ("score", RANK_LAST)
    for query, item, value in named:
        whose = (
            f"{source.name}: the {what} of item {shown(item)} for query {shown(query)}"
        )
        if judged or not _is_nan(value):
            refuse_number(value, what, whose, todo, words)
        elif not lenient:
            n_nan = sum(_is_nan(value) for *_, value in named)
            raise no_order(source.name, (query, item), n_nan)


def _is_nan(value: Any) -> bool:
    return isinstance(value, float) and math.isnan(value)


def refuse_number(
    value: Any, what: str, whose: str, missing: str = "", words: Sequence[str] = ()
) -> None:
    """Raise if a grade or a score is not a number.

    Args:
        value: the grade or the score.
        what: which of the two it is.
        whose: what to call it.
        missing: what to do if it is missing.
        words: the grades that are words, if the value is one of them.
    """
    number = np.nan
    with suppress(*NOT_PACKED):
        number = float(packed([value])[0])
    if np.isnan(number):
        todo = missing if is_missing(value) else ""
        if what == "grade" and isinstance(value, str):
            todo = grades_hint(words or [value])
        msg = f"{whose} is {shown(value)}, not a number{todo}"
        raise DataError(msg)
    if what == "grade" and np.isinf(number):
        msg = f"{whose} is {shown(value)}; expected a finite number"
        raise DataError(msg)
