"""Ids of several sources: brought to one type, and found among known ones.

Nothing else in the package compares ids of two sources, or decides which ids of two
types are the same.
"""

from __future__ import annotations

import io
import re
from functools import cache
from itertools import repeat
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import polars as pl

from rankine._base.blocks import by_blocks
from rankine._base.forks import has_threads, need_threads
from rankine._base.limits import limits
from rankine._base.records import cached_property
from rankine._base.text import QUERY, OfQueries
from rankine._io.values import ends
from rankine._tables.groups import marked
from rankine._tables.keys import KeyTable
from rankine._tables.order import places_of
from rankine._tables.segments import bounds
from rankine.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from rankine._base.arrays import Ints

T = TypeVar("T")
SPARSE = 4
"""How many numbers there may be for each id, to use ints as their own numbers."""
_MERGED = 4
"""SideData ids that are indexed anew for each id that was looked up, at most."""
_SEEDS = range(20)


def told_apart(attempt: Callable[[int], T | None]) -> T:
    """Return what an attempt gives with the first seed under which all keys differ.

    One set of ids in a billion needs the second seed, so if many do not help, more
    would not either.

    Args:
        attempt: makes keys with a seed; None if two ids have the same key.
    """
    for seed in _SEEDS:
        result = attempt(seed)
        if result is not None:
            return result
    msg = (
        f"ids cannot be told apart: under each of {len(_SEEDS)} seeds, two of them "
        "have the same key"
    )
    raise DataError(msg)


def item_keys(ids: pl.Series, seed: int) -> NDArray[np.uint64]:
    """Return a 64-bit key per id.

    Keys of different ids may be equal by chance. Wherever that would change a value,
    the ids themselves are compared; `pairs.py` says why it does not do so.
    """
    other = limits().keys
    keys: NDArray[np.uint64]
    if other is not None:
        keys = other(ids, seed)
    else:
        keys = ids.to_frame().select_seq(_hash(seed)).to_series().to_numpy()
    return keys


@cache
def _hash(seed: int) -> pl.Expr:
    """Return what a column's own `hash` makes anew: 100 keys take 35 us, not 44."""
    return pl.all().hash(seed)


def text_order(ids: pl.Series) -> Ints:
    """Return the place of each id in the order of their texts, by bytes.

    So 10 and "10" are ranked alike. It needs none of the threads of polars, which a
    forked process lacks.
    """
    texts = ids.cast(pl.String)
    if not has_threads():
        return places_of(texts.to_list())
    order = texts.arg_sort().to_numpy()
    places = np.empty(len(order), dtype=np.int64)
    places[order] = np.arange(len(order))
    return places


def one_type(
    columns: Mapping[str, pl.Series], word: str, to: str | None = None
) -> tuple[dict[str, pl.Series], tuple[str, ...]]:
    """Bring ids of several sources to one type, or say why that cannot be done.

    Ints and texts have ids in common only if every text is the plain form of an int:
    ``007`` is not ``7``, and where such a text occurs the two cannot be compared.

    Args:
        columns: the name of each source, and its ids.
        word: what the ids are: query, item, user.
        to: the source whose type all ids get; text if it is not given.

    Returns:
        The ids of each source, and notes on them.

    >>> ids, notes = one_type({"a": pl.Series([7]), "b": pl.Series(["7"])}, "item")
    >>> ids["a"].to_list(), notes
    (['7'], ('item ids are ints in a and text in b; compared as text',))
    """
    if len({ids.dtype for ids in columns.values()}) == 1:
        return dict(columns), ()
    types = {name: ids.dtype for name, ids in columns.items() if len(ids)}
    if len(set(types.values())) <= 1:
        # Where there are no ids, there is nothing to compare.
        dtype = next(iter(types.values()), pl.String())
        return {name: ids.cast(dtype) for name, ids in columns.items()}, ()
    texts = [name for name, dtype in types.items() if dtype == pl.String]
    ints = [name for name, dtype in types.items() if dtype != pl.String]
    for name in texts if ints else ():
        _refuse_odd_texts(columns[name], word, name, ints[0])
    dtype = types[to] if to in types else pl.String()
    brought = {
        name: _cast(ids, dtype, word, name, to or "") for name, ids in columns.items()
    }
    if not texts:
        return brought, ()
    said = f"ints in {_listed(ints)} and text in {_listed(texts)}"
    if next(iter(types)) in texts:
        said = f"text in {_listed(texts)} and ints in {_listed(ints)}"
    said = f" ids are {said}; compared as text"
    return brought, (OfQueries("", said) if word == QUERY else f"{word}{said}",)


def as_first(
    first: pl.Series, second: pl.Series, word: str, names: tuple[str, str]
) -> tuple[pl.Series, tuple[str, ...]]:
    """Bring ids of a second source to the type of the first.

    Args:
        first: the ids of one.
        second: those of the other.
        word: what the ids are: query, item, user.
        names: what to call the two, by different names.

    Returns:
        The ids of the second, and notes on them.
    """
    ids, notes = one_type(
        dict(zip(names, (first, second), strict=True)), word, names[0]
    )
    return ids[names[1]], notes


PLAIN_INT = r"^(0|-?[1-9][0-9]*)$"
"""Texts that are compared with ints."""


def is_plain_int(text: str) -> bool:
    """Say whether a text is the plain form of an int.

    >>> is_plain_int("7"), is_plain_int("007")
    (True, False)
    """
    return re.fullmatch(PLAIN_INT, text) is not None


def odd_text(
    word: str, texts: str, ints: str, example: str, n: int | None = None
) -> DataError:
    """Say that texts which are compared with ints are not all the plain forms of ints.

    Args:
        word: what the ids are.
        texts: where they are text.
        ints: where they are ints.
        example: a text that is not the form of an int.
        n: how many such texts there are, if all were looked at.
    """
    said = "not all of the texts are plain ints"
    if n is not None:
        are = "is not a plain int" if n == 1 else "are not plain ints"
        said = f"{n} of the texts {are}"
    msg = (
        f"{word} ids are text in {texts} and ints in {ints}, and {said}, such as "
        f"{example!r}; give both the same type"
    )
    return DataError(msg)


def no_fit(
    word: str, dtype: pl.DataType, first: str, example: object, other: str
) -> DataError:
    """Say that an id does not fit the type that ids have elsewhere.

    Args:
        word: what the ids are.
        dtype: the type.
        first: where they have it.
        example: the id.
        other: where it is.
    """
    msg = (
        f"{word} ids are {dtype} in {first}, and {example} in {other} does not fit; "
        "give both the same type"
    )
    return DataError(msg)


def _refuse_odd_texts(ids: pl.Series, word: str, name: str, other: str) -> None:
    """Refuse texts that are not the plain form of an int."""
    plain = ids.str.contains(PLAIN_INT)
    if not plain.all():
        odd = ids.filter(~plain)
        raise odd_text(word, name, other, odd[0], len(odd))


def _cast(
    ids: pl.Series, dtype: pl.DataType, word: str, name: str, other: str
) -> pl.Series:
    """Give ids a type; a number that does not fit it cannot be compared."""
    cast = ids.cast(dtype, strict=False)
    if cast.null_count() > ids.null_count():
        example = ids.filter(cast.is_null() & ids.is_not_null())[0]
        raise no_fit(word, dtype, other, example, name)
    return cast


def _listed(names: list[str]) -> str:
    return ", ".join(names[:-1]) + " and " * (len(names) > 1) + names[-1]


class Index:
    """Finds ids among known ones, all of one type and each known once.

    Ints that are close together are looked up in a table of their own; a few ids in a
    dict; all others by keys, and whatever a key proposes is compared.

    >>> Index(pl.Series(["a", "b"])).find(pl.Series(["b", "c"]))
    array([ 1, -1])
    """

    def __init__(self, known: pl.Series) -> None:
        """Take the known ids, in the order of their numbers."""
        self.known = known

    @classmethod
    def of_all(cls, ids: pl.Series) -> Index:
        """Make an index of ids that may be repeated, each once, in the order given.

        >>> Index.of_all(pl.Series(["a", "b", "a"])).known.to_list()
        ['a', 'b']
        """
        table = KeyTable(item_keys(ids, _SEEDS[0]))
        if not table.unique:
            return cls(ids.unique(maintain_order=True))
        index = cls(ids)
        index._keys = table, _SEEDS[0]
        return index

    def find(self, ids: pl.Series) -> Ints:
        """Return the number of each id, -1 where it is not known."""
        if len(self.known) == 0 or len(ids) == 0:
            return np.full(len(ids), -1, dtype=np.int64)
        if self._table is not None and not ids.has_nulls():
            return _in_table(*self._table, ids.to_numpy())
        if len(ids) <= limits().few_ids and "_keys" not in vars(self):
            number = map(self._dict.get, ids.to_list(), repeat(-1))
            return np.fromiter(number, dtype=np.int64, count=len(ids))
        return self._by_key(ids)

    @cached_property
    def _table(self) -> tuple[int, Ints] | None:
        """The smallest known int, and the number of each from there on."""
        known = self.known
        if not known.dtype.is_integer() or known.has_nulls():
            return None
        plain: Any = known.to_numpy()
        least, most = bounds(plain)
        if most - least >= SPARSE * len(plain):
            return None
        numbers = np.full(most - least + 1, -1, dtype=np.int64)
        numbers[plain - plain.dtype.type(least)] = np.arange(len(plain))
        return least, numbers

    @cached_property
    def _dict(self) -> dict[object, int]:
        ids = self.known.to_list()
        return dict(zip(ids, range(len(ids)), strict=True))

    @cached_property
    def _keys(self) -> tuple[KeyTable, int]:
        """The keys of the known ids, and a seed under which all of them differ."""
        need_threads()

        def attempt(seed: int) -> tuple[KeyTable, int] | None:
            table = KeyTable(item_keys(self.known, seed))
            return (table, seed) if table.unique else None

        return told_apart(attempt)

    def _by_key(self, ids: pl.Series) -> Ints:
        number = np.empty(len(ids), dtype=np.int64)
        # Made here, and not by each of two threads: among a million texts, two million
        # are found in 80 ms of the processor instead of 100.
        keys = self._keys

        def some(rows: slice) -> None:
            self._fill(*keys, number[rows], ids[rows])

        by_blocks(some, len(ids), size=limits().looked_up)
        return number

    def _fill(self, table: KeyTable, seed: int, number: Ints, ids: pl.Series) -> None:
        """Write the numbers of some ids: keys propose, ids decide."""
        keys = item_keys(ids, seed)
        proposed = table.proposed(keys)
        number[:] = proposed
        np.maximum(proposed, 0, out=proposed)
        others = differ(ids, _gathered(self.known, proposed))
        if not others.any():
            return
        rest = others.arg_true().to_numpy()
        rest = rest[number[rest] >= 0]
        if len(rest) == 0:
            return
        place = table.others(keys[rest])
        there = np.flatnonzero(place >= 0)
        asked = ids.gather(rest[there])
        unlike = differ(asked, self.known.gather(place[there])).to_numpy()
        place[there[unlike]] = -1
        number[rest] = place


def _gathered(ids: pl.Series, places: NDArray[np.int32]) -> pl.Series:
    """Return the ids of some places, none of which is below 0."""
    # Unsigned, as in polars, which would otherwise count negative ones from the end.
    # Not by `gather`, which plans a query first, and makes two threads wait for that.
    return ids[pl.Series(places.view(np.uint32))]


def differ(ids: pl.Series, others: pl.Series) -> pl.Series:
    """Say which ids are not those that stand beside them; None is None."""
    if ids.has_nulls() or others.has_nulls():
        return ids.ne_missing(others)
    return ids != others


def _in_table(least: int, numbers: Ints, ids: Any) -> Ints:
    """Find ints in a table of the numbers of all from the least on."""
    low, high = bounds(ids)
    if low >= least and high < least + len(numbers):
        number: Ints = numbers[ids - ids.dtype.type(least)]
        return number
    inside = np.flatnonzero((ids >= least) & (ids < least + len(numbers)))
    number = np.full(len(ids), -1)
    number[inside] = numbers[ids[inside] - ids.dtype.type(least)]
    return number


class Numbering:
    """Numbers ids in the order in which they first come, while more are to come.

    The known ids are in several indexes, each of at most half the size of the one
    before it, so that new ids do not make all of them be indexed again. Once none of
    many ids is new, one index is made of all.

    >>> numbering = Numbering()
    >>> numbering.of(pl.Series(["b", "a", "b"])), numbering.of(pl.Series(["c", "a"]))
    (array([0, 1, 0]), array([2, 1]))
    >>> numbering.ids.to_list()
    ['b', 'a', 'c']
    """

    def __init__(self) -> None:
        self._indexes: list[Index] = []

    def __len__(self) -> int:
        return sum(len(index.known) for index in self._indexes)

    @property
    def ids(self) -> pl.Series:
        """The ids by number."""
        return pl.concat([index.known for index in self._indexes], rechunk=True)

    def of(self, ids: pl.Series) -> Ints:
        """Return the number of each id, and remember those that are new."""
        number = np.empty(len(ids), dtype=np.int64)
        open_, n = np.arange(len(ids)), 0
        for index in self._indexes:
            place = index.find(ids)
            number[open_] = place + n
            n += len(index.known)
            unknown = np.flatnonzero(place < 0)
            if len(unknown) == 0:
                if len(self._indexes) > 1 and _MERGED * len(number) >= len(self):
                    self._indexes = [Index(self.ids)]
                return number
            open_, ids = open_[unknown], ids.gather(unknown)
        new = Index(compact(ids.unique(maintain_order=True)))
        number[open_] = new.find(ids) + n
        self._add(new)
        return number

    def _add(self, new: Index) -> None:
        smaller = [new.known]
        while self._indexes and len(self._indexes[-1].known) < 2 * sum(
            map(len, smaller)
        ):
            smaller.append(self._indexes.pop().known)
        if len(smaller) > 1:
            # In one piece: from several, texts are gathered ten times as slowly.
            new = Index(pl.concat(smaller[::-1], rechunk=True))
        self._indexes.append(new)


def compact(ids: pl.Series) -> pl.Series:
    """Return a copy of ids, since a few texts of many would keep all in memory."""
    if ids.dtype != pl.String:
        return ids
    packed = io.BytesIO()
    ids.to_frame().write_ipc_stream(packed)
    packed.seek(0)
    return pl.read_ipc_stream(packed).to_series()


def numbered(
    columns: Mapping[str, pl.Series],
) -> tuple[dict[str, Ints], int, pl.Series]:
    """Number the ids of several sources, with the same number for the same id.

    Args:
        columns: the name of each source, and its ids, all of one type.

    Returns:
        The numbers of each source, how many there are, and the ids by number.
    """
    if not columns:
        return {}, 0, pl.Series("id", [], dtype=pl.String)
    plain = as_they_are(columns, SPARSE * sum(map(len, columns.values())))
    if plain is not None:
        numbers, least, width = plain
        return numbers, width, pl.Series("id", np.arange(least, least + width))
    need_threads()
    # Sorted, so that sums over items do not depend on the order of users.
    every = pl.concat([ids.alias("id").unique() for ids in columns.values()])
    every = every.unique().sort()
    index = Index(every)
    return {name: index.find(ids) for name, ids in columns.items()}, len(every), every


def different(ids: pl.Series) -> pl.Series:
    """Return the different ids, in order.

    >>> different(pl.Series([9, 5, 9])).to_list()
    [5, 9]
    """
    # Ints that are close together are marked: a million in 6 ms, sorted in 10.
    plain = as_they_are({"ids": ids}, SPARSE * len(ids))
    if plain is None:
        need_threads()
        return ids.unique().sort()
    numbers, least, width = plain
    there = np.flatnonzero(marked(numbers["ids"], width))
    return pl.Series(ids.name, there + least).cast(ids.dtype)


def as_they_are(
    columns: Mapping[str, pl.Series], room: int
) -> tuple[dict[str, Ints], int, int] | None:
    """Use ints that are close together as their own numbers.

    Args:
        columns: ids of one type.
        room: how many numbers there may be.

    Returns:
        The numbers of each source, the id that is number 0, and how many numbers there
        are; None where ids are not ints, or too far apart.
    """
    span = span_of(list(columns.values()), room)
    if span is None:
        return None
    least, width = span
    numbers = {
        name: (ids - least if least else ids).cast(pl.Int64).to_numpy()
        for name, ids in columns.items()
    }
    return numbers, least, width


def span_of(columns: Sequence[pl.Series], room: int) -> tuple[int, int] | None:
    """Return the smallest of some ints, and how many numbers lie from there on.

    None where ids are not ints, or more would lie there than there is room for.

    >>> span_of([pl.Series([7, 9]), pl.Series([8])], room=3)
    (7, 3)
    """
    filled = [ids for ids in columns if len(ids)]
    if not filled or not filled[0].dtype.is_integer():
        return None
    if any(ids.has_nulls() for ids in filled):
        return None
    spans = [ends(ids) for ids in filled]
    least, most = min(low for low, _ in spans), max(high for _, high in spans)
    if most - least + 1 > room:
        return None
    if 0 < least < len(filled[0]):
        least = 0  # a few numbers more, and nothing to subtract
    return least, most - least + 1
