"""Results of a search, as libraries hand them out: lists of hits.

No library is imported: two steps serve all of them. `opened` and `parallel` open what
holds the results of a query, and `taken` takes the id and the number of each.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from rankine._base.tensors import off_torch
from rankine._base.text import shown
from rankine._io.columns import DISTANCES, IDS_OF_HITS, NO_COLUMN, SCORES_OF_HITS
from rankine._io.values import kind_of
from rankine.errors import DataError, FormatError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rankine._io.columns import Role

HOLDERS = (
    "hits", "response", "root", "children", "documents", "docs", "points", "matches",
    "objects", "nodes", "source_nodes", "source_documents", "retrieved_documents",
    "results", "result", "retrievalResults", "retrieval_results", "items", "chunks",
    "passages", "context", "data", "value", "rows", "body",
)  # fmt: skip
"""What the results of a query are under, in keys or attributes."""
_IDS = (
    "ids", "indices", "keys", "labels", "neighbors", "total_indices", "documents",
)  # fmt: skip
_NUMBERS = ("scores", "similarities", "distances", "values", "total_scores")
"""What ids and their numbers are under, where each is in a list of its own."""
_INNER = (
    "hit", "document", "doc", "node", "point", "item", "chunk", "passage",
    "_additional",
)  # fmt: skip
"""What a hit may hold its item in, beside a score."""
_OWN = (
    "metadata", "meta", "payload", "properties", "entity", "fields", "_source",
)  # fmt: skip
"""What users store with an item, under names of their own."""
_OF_USERS = (
    "doc_id", "document_id", "docid", "docno", "item_id", "chunk_id", "passage_id",
    "pid", "id", "_id", "source",
)  # fmt: skip
"""The names under which they store its id."""
_GRADES = ("grade", "relevance", "rating", "label")
"""The names under which a hit may have its grade."""
_PAIR = 2
_KEYS = 5
"""How many names of what users store a message shows."""
_DEEPEST = 4
"""How many holders may be inside each other."""
_NO_ITEM, _NO_NUMBER = -1, float(np.finfo(np.float32).max)
"""What a place without an item has for its id, and for its number, or the negative."""


def field_of(thing: Any, name: str) -> Any:
    """Return what is under a key or an attribute; None if there is nothing.

    >>> field_of({"id": 1}, "id"), field_of(1.5, "real"), field_of([], "append")
    (1, 1.5, None)
    """
    if isinstance(thing, Mapping):
        return thing.get(name)
    try:
        value = getattr(thing, name, None)
    except Exception:  # noqa: BLE001 - whatever a property of somebody's raises
        return None
    return None if callable(value) else value


def under(thing: Any, path: str) -> Any:
    """Return what is under a name, or under names with dots between them.

    >>> under({"metadata": {"doc_id": "a"}}, "metadata.doc_id")
    'a'
    """
    found = field_of(thing, path)
    if found is None and "." in path:
        for name in path.split("."):
            thing = field_of(thing, name)
        return thing
    return found


def is_array(thing: Any) -> bool:
    """Say whether this is an array or a tensor, and not a number of one."""
    return (bool(getattr(thing, "ndim", 0)) and hasattr(thing, "dtype")) or is_tensor(
        thing
    )


def is_tensor(thing: Any) -> bool:
    """Say whether this is a tensor of torch."""
    return type(thing).__name__ == "Tensor"


def as_array(thing: Any) -> Any:
    """Return an array or a tensor as an array; refuse one with masked places."""
    if isinstance(thing, np.ma.MaskedArray) and np.ma.is_masked(thing):
        msg = (
            "an array has masked places; if these pad short lists of ids, use "
            "from_ranked(x.filled(-1), pad=-1)"
        )
        raise FormatError(msg)
    return np.asarray(off_torch(thing))


def is_listed(thing: Any) -> bool:
    """Say whether this is a list of anything, and not a text or a record."""
    return (isinstance(thing, (list, tuple)) and names_of(thing) is None) or is_array(
        thing
    )


def names_of(thing: Any) -> tuple[str, ...] | None:
    """Return the names of the fields of a tuple, None if it is not one with names."""
    for attribute in ("_fields", "__fields__"):
        names = getattr(thing, attribute, None)
        if isinstance(thing, Sequence) and names:
            return tuple(names)
    return None


def opened(entry: Any, depth: int = 0) -> Any:
    """Return the list of results that something holds; None if it holds none.

    >>> opened({"took": 3, "hits": {"total": 1, "hits": [{"_id": "a"}]}})
    [{'_id': 'a'}]
    >>> opened({"hits": 0.5, "points": 0.25}), opened("hits")
    (None, None)
    """
    if depth == _DEEPEST or isinstance(entry, (str, bytes)) or is_array(entry):
        return None
    for name in HOLDERS:
        inside = field_of(entry, name)
        if inside is None or isinstance(inside, (str, bytes, int, float)):
            continue
        if is_listed(inside):
            return inside
        found = opened(inside, depth + 1)
        if found is not None:
            return found
        if name == "root" and isinstance(inside, Mapping):
            return []  # in Vespa, a root without children
    if isinstance(entry, Mapping) and len(entry) == 1:  # such as a part of a pipeline
        (inside,) = entry.values()
        return inside if depth and is_listed(inside) else opened(inside, depth + 1)
    return None


@dataclass(frozen=True, slots=True)
class Parallel:
    """Ids and their numbers, each in a list or a matrix of its own.

    Attributes:
        ids: the ids.
        numbers: their numbers, None if there are none.
        words: what to call them in a note.
        name: under which name the numbers are, if they have one.
    """

    ids: Any
    numbers: Any
    words: str
    name: str = ""

    @property
    def nested(self) -> bool:
        """Whether there is a list for each of several queries."""
        return _is_nested(self.ids)

    def rows(self) -> list[list[tuple[Any, Any]]] | list[list[Any]]:
        """Return a list for each query: of pairs, or of ids if there are no numbers."""
        ids = _rows_of(self.ids)
        if self.numbers is None:
            return ids
        numbers = _rows_of(self.numbers)
        if [*map(len, ids)] != [*map(len, numbers)]:
            msg = f"{self.words} differ in length; each item needs one number"
            raise DataError(msg)
        return [list(zip(*row, strict=True)) for row in zip(ids, numbers, strict=True)]


def parallel(entry: Any) -> Parallel | None:
    """Find ids and numbers that are held in two lists; None if these are not such.

    >>> parallel((np.array([[0.9, 0.5]]), np.array([[7, 8]]))).rows()
    [[(7, 0.9), (8, 0.5)]]
    >>> parallel({"ids": [["a"]], "distances": None, "documents": [["words"]]}).rows()
    [['a']]
    >>> parallel((["a", "b"], ["c"])) is parallel({"ids": 0.5}) is None
    True
    """
    if isinstance(entry, (str, bytes, list)) or is_array(entry):
        return None
    if isinstance(entry, tuple) and names_of(entry) is None:
        return _of_pair(entry)
    numbers, ids = (
        next((n for n in names if is_listed(field_of(entry, n))), "")
        for names in (_NUMBERS, _IDS)
    )
    if ids and numbers:
        own, beside = field_of(entry, ids), field_of(entry, numbers)
        if kind_of_column(beside) in {"numbers", "ints", "none"}:
            words = f"items are under {ids} and their numbers under {numbers}"
            return Parallel(own, beside, words, numbers)
    elif ids == "ids" and (
        _is_nested(field_of(entry, ids)) or field_of(entry, "documents") is not None
    ):
        return Parallel(field_of(entry, ids), None, f"items are under {ids}")
    return None


def _of_pair(entry: tuple[Any, ...]) -> Parallel | None:
    """Tell ids from numbers by their types."""
    if len(entry) != _PAIR or not all(map(is_listed, entry)):
        return None
    kinds = tuple(map(kind_of_column, entry))
    if kinds in {("ints", "numbers"), ("texts", "numbers"), ("texts", "ints")}:
        return Parallel(entry[0], entry[1], "a pair of items and scores")
    if kinds in {("numbers", "ints"), ("numbers", "texts"), ("ints", "texts")}:
        return Parallel(entry[1], entry[0], "a pair of scores and items")
    arrays = all(map(is_array, entry))
    if arrays and kinds in {("ints", "ints"), ("numbers", "numbers")}:
        msg = (
            f"a pair of two arrays of {'ints' if kinds[0] == 'ints' else 'floats'} "
            "does not say which are the items; pass {query: {item: number}}, or name "
            "them, {'ids': ..., 'scores': ...}"
        )
        raise FormatError(msg)
    return None


def _is_nested(column: Any) -> bool:
    if is_array(column):
        return bool(as_array(column).ndim == _PAIR)
    return any(is_listed(row) for row in column[:1])


def _rows_of(column: Any) -> list[list[Any]]:
    """Return the rows of a matrix or of a list of lists; of a single list, one row."""
    if is_array(column):
        column = as_array(column)
        column = column.tolist() if column.ndim > 1 else [column.tolist()]
    elif not _is_nested(column):
        column = [column] if column else [[]]
    return [as_array(row).tolist() if is_array(row) else list(row) for row in column]


def kind_of_column(column: Any) -> str:
    """Say what a list, or a list of lists, holds: texts, ints, numbers, none or odd."""
    if is_array(column):
        array = as_array(column)
        if array.ndim not in {1, _PAIR}:
            return "odd"
        kind = {"f": "numbers", "i": "ints", "u": "ints", "U": "texts"}
        if array.dtype.kind in kind:
            return kind[array.dtype.kind]
        column = array.tolist()
    if _is_nested(column):
        if not all(map(is_listed, column)):
            return "odd"
        column = chain.from_iterable(_rows_of(column))
    kinds = {kind_of_value(value) for value in column}
    if kinds <= {"number", "int"} and "number" in kinds:
        return "numbers"
    return {"int": "ints", "text": "texts"}.get(
        "".join(kinds), "none" if not kinds else "odd"
    )


def kind_of_value(value: Any) -> str:
    """Say what one value may be: a text, an int, a number with a fraction, or else.

    >>> [kind_of_value(x) for x in ("a", 1, np.float32(1), True, None, [])]
    ['text', 'int', 'number', 'bool', 'none', 'object']
    """
    value = plain(value)
    if isinstance(value, bool):
        return "bool"
    for kind, word in ((str, "text"), (int, "int"), (float, "number")):
        if isinstance(value, kind):
            return word
    return "none" if value is None else "object"


def is_long_id(value: Any) -> bool:
    """Say whether this is an id of a database, which users write as text."""
    return type(value).__name__ in {"UUID", "ObjectId"}


def plain(value: Any) -> Any:
    """Return an id or a number as Python's own; an id of 128 bits as text.

    >>> from uuid import UUID
    >>> plain(np.int64(3)), plain(UUID(int=1)), plain(Decimal("0.5"))
    (3, '00000000-0000-0000-0000-000000000001', 0.5)
    """
    if type(value) in {str, int, float}:
        return value
    if is_long_id(value):
        return str(value)
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, np.generic) or (
        getattr(value, "ndim", None) == 0 and hasattr(value, "item")
    ):
        return value.item()
    return value


@dataclass(frozen=True, slots=True)
class Taken:
    """What was taken from hits: one id each, and a number each if they have any.

    Attributes:
        ids: the ids.
        numbers: their numbers.
        words: which of their parts these are.
        name: under which name the numbers are.
        item: the words for the ids alone.
    """

    ids: list[Any]
    numbers: list[Any] | None
    words: str
    name: str = ""
    item: str = ""

    @property
    def is_of_users(self) -> bool:
        """Whether numbers are where users store anything, and may be no scores."""
        return any(holder in self.name.split(".")[:-1] for holder in _OWN)


def taken(
    hits: Sequence[Any], role: Role, given: Mapping[str, Any], name: str
) -> Taken:
    """Take the item and the number of each hit.

    Args:
        hits: pairs, or objects of any library; all of one kind.
        role: what they are.
        given: which part is what, as far as the user says.
        name: what to call them in messages.
    """
    if is_pair(hits[0]):
        return _of_pairs(hits, role, given, name)
    item, ids = _item_of(hits, given, name)
    number, numbers = _number_of(hits, role, given)
    value = "grade" if role == "qrels" else "score"
    whose = _whose(hits[0], item, given)
    alone = f"item = {item} of {whose}"
    words = f"item = {item}, {value} = {number} of {whose}" if number else alone
    return Taken(ids, numbers, words, number, alone)


def _whose(hit: Any, item: str, given: Mapping[str, Any]) -> str:
    """Name the type of a hit, and another id that users have stored in it."""
    kind = type(hit).__name__
    if "item" in given:
        return kind
    ids = _paths((), _OF_USERS[:-1])
    others = (path for path in ids if path != item and _are_ids([hit], path))
    other = next((p for p in others if under(hit, p) != under(hit, item)), None)
    if other is None:
        return kind
    return f"{kind}; it has {other} too, which columns={{'item': {other!r}}} takes"


def is_pair(hit: Any) -> bool:
    """Say whether this is a pair without names, such as of an item and its score."""
    return isinstance(hit, (tuple, list)) and len(hit) == _PAIR and not names_of(hit)


def _of_pairs(
    hits: Sequence[Any], role: Role, given: Mapping[str, Any], name: str
) -> Taken:
    odd = next((hit for hit in hits if not is_pair(hit)), None)
    if odd is not None:
        msg = (
            f"{name}: a list has pairs, and also {kind_of(odd)}, {shown(odd)}; give "
            "all of them as pairs of an item and its score"
        )
        raise FormatError(msg)
    value = "grade" if role == "qrels" else "score"
    sides = [[hit[n] for hit in hits] for n in range(_PAIR)]
    kinds = [set(map(kind_of_value, side)) for side in sides]
    if role == "qrels":
        kinds = [{"int" if kind == "bool" else kind for kind in side} for side in kinds]
    at = _place_of_number(kinds)
    if at is None:
        msg = (
            f"{name}: in pairs such as {shown(hits[0])}, it is not clear which is the "
            f"item and which its {value}; pass {{item: number}} for each query"
        )
        raise FormatError(msg)
    numbers = [plain(number) for number in sides[at]]
    words = f"pairs of item and {value}" if at else f"pairs of {value} and item"
    ids = sides[1 - at]
    if kinds[1 - at] == {"object"}:
        item, ids = _item_of(ids, given, name)
        words += f", item = {item} of {_whose(sides[1 - at][0], item, given)}"
    else:
        ids = [*map(plain, ids)]
    return Taken(ids, None if kinds[at] == {"none"} else numbers, words)


def _place_of_number(kinds: Sequence[set[str]]) -> int | None:
    """Say which side of pairs holds the numbers, None if that is not clear."""
    numeric = [bool(side) and side <= {"int", "number", "none"} for side in kinds]
    # An id that is missing is refused by readers, which say where.
    if numeric == [False, True] and kinds[0] <= {"text", "object", "none"}:
        return 1
    if numeric == [True, False] and kinds[1] <= {"text", "object", "none"}:
        return 0
    # Floats are never ids; whole scores among them may be ints.
    floats = ["number" in side for side in kinds]
    if {"int"} in kinds and floats in ([False, True], [True, False]):
        return floats.index(True)
    return None


def _item_of(
    hits: Sequence[Any], given: Mapping[str, Any], name: str
) -> tuple[str, list[Any]]:
    """Find the id of each hit: in it, in what it holds, or in what users add."""
    likely = _likely(hits[0], given)
    for path in likely:
        if _are_ids(hits, path):
            return path, [plain(under(hit, path)) for hit in hits]
    if likely:
        odd = next(n for n, hit in enumerate(hits) if not _are_ids([hit], likely[0]))
        msg = (
            f"{name}: {kind_of(hits[odd])} has no {likely[0]!r}, but others have one; "
            "give all of them an id"
        )
        raise DataError(msg)
    if "item" in given:
        msg = f"{name}: {kind_of(hits[0])} has no {given['item']!r} that could be an id"
        raise FormatError(msg)
    stored = next(filter(None, (field_of(hits[0], own) for own in _OWN)), None)
    keys = [*stored][:_KEYS] if isinstance(stored, Mapping) else []
    here = f" (here {', '.join(map(shown, keys))})" if keys else ""
    msg = (
        f"{name} has lists of {type(hits[0]).__name__} without an id; names such as id "
        f"and doc_id are recognised, also in their metadata{here}; say which part it "
        "is, columns={'item': NAME}, or pass {query: [ids]}"
    )
    raise FormatError(msg)


def has_item(hit: Any, given: Mapping[str, Any]) -> bool:
    """Say whether there is anything in a hit that could be the id of an item.

    >>> has_item({"metadata": {"doc_id": "a"}}, {}), has_item({"name": "a"}, {})
    (True, False)
    """
    return bool(_likely(hit, given))


def _likely(hit: Any, given: Mapping[str, Any]) -> list[str]:
    """Return where in a hit there is an id: where the user says, or anywhere usual."""
    told = given.get("item")
    names = (IDS_OF_HITS, _OF_USERS) if told is None else ((str(told),),) * 2
    return [path for path in _paths(*names) if _are_ids([hit], path)]


def _paths(names: Sequence[str], of_users: Sequence[str]) -> list[str]:
    """Return where an id or a number may be, the likeliest first."""
    return [
        *names,
        *(f"{holder}.{name}" for holder in _INNER for name in names),
        *(f"{holder}.{name}" for holder in _OWN for name in of_users),
        *(
            f"{inner}.{holder}.{name}"
            for inner in _INNER
            for holder in _OWN
            for name in of_users
        ),
    ]


def _are_ids(hits: Iterable[Any], path: str) -> bool:
    values = (plain(under(hit, path)) for hit in hits)
    return all(
        kind_of_value(value) in {"text", "int"} and value != "" for value in values
    )


def _number_of(
    hits: Sequence[Any], role: Role, given: Mapping[str, Any]
) -> tuple[str, list[Any] | None]:
    """Find the number of each hit, if any has one."""
    part = "grade" if role == "qrels" else "score"
    names = _GRADES if role == "qrels" else (*SCORES_OF_HITS, *DISTANCES)
    holders = _INNER if role == "qrels" else (*_INNER, *_OWN)
    paths = [*names, *(f"{holder}.{name}" for holder in holders for name in names)]
    if part in given:
        told = (str(given[part]),)
        paths = [] if given[part] in (None, NO_COLUMN) else _paths(told, told)
    for path in paths:
        numbers = [plain(under(hit, path)) for hit in hits]
        if any(kind_of_value(number) in {"number", "int"} for number in numbers):
            return path, numbers
    return "", None


def trimmed(found: Parallel) -> tuple[list[list[Any]], int]:
    """Return the lists without places that have no item, and count these.

    FAISS fills short lists with the id -1 and the largest number of 32 bits, or the
    smallest; implicit gives that to items that are filtered out, and repeats item 0
    after them.

    >>> trimmed(Parallel([[3, -1, 0]], [[0.9, -3.4028234663852886e38, 0.0]], ""))
    ([[(3, 0.9)]], 2)
    """
    rows, n = found.rows(), 0
    for row in rows:
        end = next((n for n, hit in enumerate(row) if _is_empty(hit)), len(row))
        n += len(row) - end
        del row[end:]
    return rows, n


def _is_empty(hit: Any) -> bool:
    """Say whether this only fills up a list."""
    item, number = hit if isinstance(hit, tuple) else (hit, 0)
    return item == _NO_ITEM or (abs(number) >= _NO_NUMBER and math.isfinite(number))
