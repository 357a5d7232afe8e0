"""Mappings by query: what people hold in memory, and any source as rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Hashable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import closing, suppress
from dataclasses import replace
from itertools import chain, repeat
from operator import contains
from struct import error as StructError
from struct import pack
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from rankine._base.arrays import all_true
from rankine._base.limits import limits
from rankine._base.text import KEEP_LARGEST
from rankine._io.sources import Dense, Lists, Rows
from rankine._io.values import (
    DROPS,
    NOT_JUDGED,
    is_missing,
    kind_of,
    known_grade,
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
    from collections.abc import Generator, Iterable

    from rankine._base.arrays import Floats
    from rankine._io.columns import Role
    from rankine._io.sources import Source, Stream


def grades(source: Lists, *, lenient: bool = False) -> dict[Any, dict[Any, float]]:
    """Return judgements as {query: {item: grade}}; sets and lists get grade 1."""
    data = source.data
    if not lenient and set(map(type, data.values())) == {dict}:
        return dict(data)
    judgements: dict[Any, dict[Any, float]] = {}
    for query, entry in data.items():
        if isinstance(entry, Mapping):
            judgements[query] = entry if type(entry) is dict else dict(entry)
        else:
            judgements[query] = _ones(query, entry, lenient=lenient)
    return judgements


def graded(data: Mapping[Any, Any], grades: Mapping[Any, float]) -> dict[Any, Any]:
    """Return judgements with each grade in words replaced by what it is worth."""
    judgements: dict[Any, Any] = {}
    for query, entry in data.items():
        if not isinstance(entry, Mapping):
            msg = (
                f"the judgements of query {query!r} are {kind_of(entry)} without "
                "grades, but grades= was given"
            )
            raise DataError(msg)
        for item, value in entry.items():
            if not known_grade(value, grades):
                what = f"the grade of item {item!r} for query {query!r}"
                raise unknown_grade(what, value, grades)
        judgements[query] = {item: grades[value] for item, value in entry.items()}
    return judgements


_GROUPS = {dict, list, tuple, set, frozenset}
"""Types whose iteration gives the ids of a query."""
_ORDERED = {list, tuple, np.ndarray}
_NO_INTS = {bool, np.timedelta64}


def check_ids(source: Lists, role: Role) -> None:
    """Refuse ids that a column could not hold: missing ones, and those of two types."""
    data, name = source.data, source.name
    if not _are_plain((data,)):
        for query in data:
            if _is_no_id(query):
                msg = f"the id of a query in {name} is missing: {query!r}{DROPS}"
                raise DataError(msg)
        series_of("query", list(data), name)
    groups = _groups(data)
    if not _are_plain(groups):
        _check_items(data, role)
        series_of("item", list(chain.from_iterable(groups)), name)


def refuse_padded(source: Lists) -> None:
    """Refuse lists of numbers that are filled up with a negative one."""
    entries = source.data.values()
    if set(map(type, entries)).isdisjoint(_ORDERED):
        return
    lists: list[Any] = [_ids_in(e) if type(e) in _ORDERED else () for e in entries]
    if not _are_numbers(items[-1] for items in lists if items):
        return
    if not any(items[-1] < 0 for items in lists if items):
        return
    if _are_numbers(chain.from_iterable(lists)):
        queries = list(source.data)
        refuse_padding(
            lists,
            lambda number: f"{source.name}: the list of query {queries[number]!r}",
            "if it fills up short lists, leave it out, or use from_ranked(x, pad=PAD)",
        )


def n_items(source: Lists) -> int:
    """Return how many different items lists have, whose ids were checked."""
    return len(set().union(*_groups(source.data)))


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
    """Say whether all ids are ints.

    The sum of Python's own ints is one too; to add takes less time than to ask for the
    type of each.
    """
    first = map(type, map(next, map(iter, groups), repeat(0)))
    if set(first) == {int}:
        with suppress(TypeError, OverflowError), np.errstate(over="ignore"):
            return set(map(type, map(sum, groups))) == {int}
        return False
    kinds = set(map(type, chain.from_iterable(groups)))
    return not kinds & _NO_INTS and all(
        issubclass(kind, (int, np.integer)) for kind in kinds
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


def _check_items(data: Mapping[Any, Any], role: Role) -> None:
    """Refuse items that are missing or cannot be ids, saying whose they are."""
    for query, entry in data.items():
        of_query = f"{'judgements' if role == 'qrels' else 'list'} of query {query!r}"
        ordered = not isinstance(entry, (Mapping, AbstractSet))
        for place, item in enumerate(_ids_in(entry)):
            if not isinstance(item, Hashable):
                msg = f"item {place} in the {of_query} is not an id: {item!r}"
                if isinstance(item, (list, np.ndarray)):
                    msg += "; for items with numbers, write {item: number}"
                raise FormatError(msg)
            if _is_no_id(item):
                which = f"at index {place} of" if ordered else "of an item in"
                msg = f"the id {which} the {of_query} is missing: {item!r}{DROPS}"
                raise DataError(msg)


def numbers(values: list[Any], what: str = "grade") -> Floats:
    """Return grades or scores as floats; refuse what is not a number."""
    try:
        floats = packed(values)
    except NOT_PACKED:
        floats = np.full(1, np.nan)
    if all_true(np.isfinite(floats)) if what == "grade" else not np.isnan(floats).any():
        return floats
    bad = next(
        value
        for value in values
        if isinstance(value, (str, bytes)) or not _is_number(value, what)
    )
    hint = ""
    if isinstance(bad, str) and what == "grade":
        hint = (
            f"; say what each word is worth, grades={{{bad!r}: N, ...}}, with 0 for "
            "what is not relevant"
        )
    elif is_missing(bad) and what == "grade":
        hint = f"; {NOT_JUDGED}"
    msg = f"a {what} is {bad!r}, not a number{hint}"
    if isinstance(bad, float) and np.isinf(bad):
        msg = f"a {what} is {bad!r}; expected a finite number"
    raise DataError(msg)


def refuse_number(data: Mapping[Any, Any], what: str, name: str) -> None:
    """Raise for the first value that is not a number, saying whose it is."""
    for query, entry in data.items():
        for item, value in entry.items() if isinstance(entry, Mapping) else ():
            try:
                numbers([value], what)
            except DataError as error:
                _, _, wrong = str(error).partition(" is ")
                whose = f"item {item!r} for query {query!r}"
                msg = f"{name}: the {what} of {whose} is {wrong}"
                raise DataError(msg) from None


NOT_PACKED = (StructError, TypeError, ValueError, OverflowError)
"""What `packed` raises when a value is not a number."""


def packed(values: Collection[Any]) -> Floats:
    """Return numbers as an array; unlike NumPy, does not read text as a number."""
    return np.frombuffer(pack(f"{len(values)}d", *values))


def _is_number(value: Any, what: str) -> bool:
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return False
    return bool(np.isfinite(number) if what == "grade" else not np.isnan(number))


def _ones(query: Any, entry: Any, *, lenient: bool = False) -> dict[Any, float]:
    if isinstance(entry, np.ndarray):
        entry = entry.tolist()
    plain = isinstance(entry, (AbstractSet, Sequence))
    if not plain or isinstance(entry, (str, bytes)):
        msg = (
            f"the judgements of query {query!r} are {kind_of(entry)}; expected "
            "{item: grade}, or a set of relevant items"
        )
        raise FormatError(msg)
    try:
        ones = dict.fromkeys(entry, 1.0)
    except (TypeError, ValueError, OverflowError):
        msg = f"the judgements of query {query!r} contain items that are not ids"
        raise FormatError(msg) from None
    if len(ones) < len(entry) and not lenient:
        times = Counter(entry)
        twice = next(item for item in entry if times[item] > 1)
        msg = f"item {twice!r} is judged twice for query {query!r}{KEEP_LARGEST}"
        raise DuplicateItemError(msg)
    return ones


def as_rows(source: Source, role: Role, *, lenient: bool = False) -> Rows:
    """Turn a mapping or a matrix into a frame; lenient leaves missing ids as null."""
    if isinstance(source, Rows):
        return source
    if isinstance(source, Lists):
        return _rows_of_lists(source, role, lenient=lenient)
    if isinstance(source, Dense):
        return _rows_of_matrix(source, role)
    if role == "qrels":
        msg = f"{source.name} was read as a run and cannot be used as judgements"
        raise DataError(msg)
    return replace(in_one(source), role=role)


def few_as_lists(rows: Rows) -> dict[Any, dict[Any, float]] | None:
    """Turn a few rows into {query: {item: number}}, in which look-ups cost less.

    Returns None for more rows, and for rows that a mapping cannot stand for: repeated
    items, missing ids, subtopics, matrices, and numbers that are not finite or come
    from ranks.
    """
    frame = rows.frame
    few = 0 < frame.height <= limits().few_rows
    plain = rows.shape is None and rows.grid is None and not rows.placed
    if not few or not plain or rows.ranked or frame.columns != _SCORED:
        return None
    columns = queries, items, values = frame.get_columns()
    kinds = {queries.dtype, items.dtype}
    numbers: Floats = values.to_numpy()
    if not kinds <= _AS_IN_DICTS or any(column.has_nulls() for column in columns):
        return None
    lists: dict[Any, dict[Any, float]] = {}
    for query, item, value in zip(*(c.to_list() for c in columns), strict=True):
        group = lists.get(query)
        if group is None:
            group = lists[query] = {}
        group[item] = value
    whole = sum(map(len, lists.values())) == frame.height
    return lists if whole and np.isfinite(numbers).all() else None


_SCORED = ["query", "item", "value"]
_AS_IN_DICTS = {pl.String, pl.Int64}
"""Types of ids that are the same in a frame and in a dict."""


def in_one(source: Stream) -> Rows:
    """Read all parts of a source, and put them together."""
    return replace(
        concat(list(source.open())),
        name=source.name,
        notes=source.notes,
        ranked=source.ranked,
        kind=source.kind,
        warnings=source.warnings,
        contradiction=source.contradiction,
    )


def concat(parts: list[Rows]) -> Rows:
    """Concatenate consecutive parts."""
    frame = pl.concat([part.frame for part in parts], rechunk=False)
    names = dict.fromkeys(part.name for part in parts)
    if len(names) > 1:
        origins = tuple(origin for part in parts for origin in _origins(part))
        return Rows(frame, " and ".join(names), origins=origins)
    if all(part.lines is None for part in parts):
        return Rows(frame, parts[0].name, parts[0].line, first=parts[0].first)
    lines = [
        np.arange(part.frame.height) + (part.line or 0)
        if part.lines is None
        else part.lines
        for part in parts
    ]
    return Rows(frame, parts[0].name, lines=np.concatenate(lines))


def _origins(rows: Rows) -> tuple[tuple[Rows, int], ...]:
    """Return what says where rows are, without the rows."""
    n = rows.frame.height
    return rows.origins or ((replace(rows, frame=rows.frame.clear()), n),)


def _rows_of_lists(source: Lists, role: Role, *, lenient: bool) -> Rows:
    data: Mapping[Any, Any] = source.data
    if role == "qrels":
        data = grades(source, lenient=lenient)
    queries: list[Any] = []
    items: list[Any] = []
    values: list[float] = []
    for query, entry in data.items():
        if isinstance(entry, Mapping):
            items.extend(entry.keys())
            values.extend(entry.values())
        else:
            shown = listed(query, entry)
            items.extend(shown)
            values.extend(-float(place) for place in range(len(shown)))
        queries.extend([query] * (len(items) - len(queries)))
    try:
        if role == "qrels":
            checked = numbers(values)
        else:
            checked = scores_of(values, lenient=lenient)
    except DataError:
        refuse_number(data, "grade" if role == "qrels" else "score", source.name)
        raise
    columns = [
        series_of("query", queries, source.name, lenient=lenient),
        series_of("item", items, source.name, lenient=lenient),
        pl.Series("value", checked),
    ]
    return Rows(
        pl.DataFrame(columns),
        source.name,
        notes=source.notes,
        n_places=source.n_places,
        placed=role == "run" and not any(isinstance(e, Mapping) for e in data.values()),
    )


def listed(query: Any, entry: Any) -> list[Any]:
    """Return the items of a list in order; refuse what is not a list."""
    plain = isinstance(entry, Sequence) and not isinstance(entry, (str, bytes))
    if isinstance(entry, np.ndarray) and entry.ndim == 1:
        return entry.tolist()  # type: ignore[no-any-return]
    if plain:
        return list(entry)
    wanted = "a list of items in order, or {item: score}"
    if isinstance(entry, AbstractSet):
        wanted += "; a set has no order"
    msg = f"the run of query {query!r} is {kind_of(entry)}; expected {wanted}"
    raise FormatError(msg)


def scores_of(values: list[Any], *, lenient: bool) -> Floats:
    """Return scores; a lenient reader reads None as nan and allows nan."""
    if not lenient:
        return numbers(values, "score")
    missing = [index for index, value in enumerate(values) if is_missing(value)]
    known = list(values)
    for index in missing:
        known[index] = 0.0
    scores = numbers(known, "score").copy()
    scores[missing] = np.nan
    return scores


def _rows_of_matrix(source: Dense, role: Role) -> Rows:
    matrix = source.matrix
    inside = ~np.isnan(matrix) if role == "qrels" else matrix > -np.inf
    row, column = np.nonzero(inside)
    frame = pl.DataFrame(
        {
            "query": source.queries.gather(row),
            "item": source.items.gather(column),
            "value": matrix[row, column],
        }
    )
    return Rows(frame, source.name, notes=source.notes)


def turned(source: Source, *, lenient: bool) -> Source:
    """Turn a run of distances into one in which the largest score is the best."""
    if isinstance(source, Lists):
        return replace(source, data=_turned_lists(source, lenient=lenient))
    if isinstance(source, Dense):
        # -inf is not a distance, but an item that was not retrieved.
        matrix = np.where(source.matrix == -np.inf, -np.inf, -source.matrix)
        return replace(source, matrix=matrix)
    if source.ranked:
        raise _no_scores(source.name)
    if isinstance(source, Rows):
        return _turned_rows(source)

    def parts() -> Generator[Rows, None, None]:
        with closing(source.open()) as opened:
            for part in opened:
                yield _turned_rows(part)

    return replace(source, open=parts)


def _turned_rows(rows: Rows) -> Rows:
    if "value" not in rows.frame.columns:
        raise _no_scores(rows.name)
    return replace(rows, frame=rows.frame.with_columns(-pl.col("value")))


def _turned_lists(source: Lists, *, lenient: bool) -> dict[object, dict[object, float]]:
    turned = {}
    for query, entry in source.data.items():
        if not isinstance(entry, Mapping):
            what = f"the list of query {query!r}"
            raise _no_scores(what)
        values = scores_of([*entry.values()], lenient=lenient)
        turned[query] = dict(zip(entry, (-values).tolist(), strict=True))
    return turned


def _no_scores(name: str) -> DataError:
    return DataError(f"{name} has no scores that could be distances")
