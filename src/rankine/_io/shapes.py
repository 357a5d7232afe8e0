"""What libraries hand out, brought to the forms that readers take.

`plainer` leaves plain data alone: mappings of dicts, lists of texts or ints, frames.
All else is simplified step by step, by the table `_STEPS`, until each query has an
entry; `hits` takes items and numbers from the entries. No library is imported: objects
are known by what they have. Every step is a note, so that nothing is inferred silently.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from itertools import accumulate, islice, pairwise
from operator import is_
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from rankine._base.text import count, shown
from rankine._io.columns import (
    names_item,
    names_number,
    names_query,
    of_role,
    resolve,
)
from rankine._io.frames import from_frame, is_column, is_frame
from rankine._io.hits import (
    HOLDERS,
    Parallel,
    as_array,
    field_of,
    has_item,
    is_array,
    is_listed,
    is_long_id,
    is_pair,
    is_tensor,
    kind_of_column,
    kind_of_value,
    names_of,
    opened,
    parallel,
    plain,
    taken,
    trimmed,
)
from rankine._io.records import are_records, from_entries, from_records
from rankine._io.rows import directed
from rankine._io.sources import Rows, Source, is_sparse, noted
from rankine._io.values import kind_of
from rankine._tables.segments import starts_of, steps_of
from rankine.errors import DataError, FormatError

if TYPE_CHECKING:
    from collections.abc import Callable

    from rankine._io.columns import Role
    from rankine._io.hits import Taken
    from rankine._io.sources import Lists, Reading

_LISTED = {list, set, frozenset}
_GROUPS = {dict, list, tuple, set, frozenset}
_PLAIN_IDS = (str, int, np.str_, np.integer)
_PLAIN_NUMBERS = (int, float, np.number, np.bool_)
_PAIR = 2
_ROW = 3
"""The length of a row without names: query, item and number."""
_MOST_STEPS = 8


@dataclass(frozen=True, slots=True)
class Shape:
    """Data on their way to a plain form.

    Attributes:
        data: an entry for each query, records, or a frame.
        said: what was inferred, each to come after the name of the data.
        name: what the data call themselves.
        number: what their numbers are called, if that is known.
        known: whether their numbers are distances if they rise along every list.
        unnamed: whether rows have no names of columns, so that these were made.
    """

    data: Any
    said: tuple[str, ...] = ()
    name: str | None = None
    number: str = ""
    known: bool = False
    unnamed: bool = False


def is_plain(data: Any) -> bool:
    """Say whether this needs no step, by the first entry that is not empty.

    >>> is_plain({"q": {"a": 1}}), is_plain([["a", "b"]]), is_plain({"q": [("a", 1)]})
    (True, True, False)
    """
    groups = _GROUPS
    if isinstance(data, dict):
        if is_sparse(data):  # one kind of which is a dict in older versions of scipy
            return True
        if is_long_id(next(iter(data), None)):
            return False
        data = data.values()
    elif type(data) is list:
        groups = _GROUPS - {tuple}  # which may be a row
    else:
        return False
    if not groups.issuperset(map(type, data)):
        return False
    first: Any = next(filter(None, data), ())
    if type(first) is dict:
        kinds = set(map(type, first.values()))
        numbers = all(issubclass(kind, _PLAIN_NUMBERS) for kind in kinds)
        return numbers and not is_long_id(next(iter(first)))
    return isinstance(next(iter(first), ""), _PLAIN_IDS)


def plainer(data: Any, role: Role, how: Reading, name: str) -> Any:
    """Read what libraries hand out; return what is plain, or of no known shape.

    Args:
        data: anything that is given as judgements or as a run.
        role: which of the two.
        how: what the user says of it.
        name: what to call it in messages.

    Returns:
        What was read, or data that other readers take or refuse.
    """
    if is_plain(data):
        return data
    if isinstance(data, Iterator) and not hasattr(data, "__arrow_c_stream__"):
        data = _rows_or_frames(data)
    shape = simplified(data, role, name)
    if shape is None:
        shape = Shape(data)
    if shape.name and name == role:
        name = shape.name
    source = _read(shape, role, how, name)
    if source is None:
        return shape.data
    said = [f"{name}: {words}" for words in shape.said]
    source = replace(source, notes=(*said, *source.notes))
    if shape.unnamed and isinstance(source, Rows):
        source = replace(source, unit="")
    return source


def _rows_or_frames(data: Iterator[Any]) -> Any:
    """Return the rows of an iterator as a list; an iterator over all else again."""
    first = next(data, None)
    if isinstance(first, (tuple, dict)):
        return [first, *data]
    return data if first is None else _from_the_first(first, data)


def _from_the_first(first: Any, others: Iterator[Any]) -> Iterator[Any]:
    yield first
    yield from others


def simplified(data: Any, role: Role, name: str) -> Shape | None:
    """Take the steps that apply, one after the other.

    None if data have forms of their own, or if there is no end to the steps.
    """
    if is_frame(data):
        return _indexed(data)  # as of all steps, no other applies
    if is_sparse(data) or isinstance(data, Iterator):
        return None
    shape = Shape(data)
    for _ in range(_MOST_STEPS):
        step = next(
            filter(None, (step(shape.data, role, name) for step in _STEPS)), None
        )
        if step is None:
            break
        shape = replace(
            step, said=(*shape.said, *step.said), name=step.name or shape.name
        )
    else:
        return None
    return shape


def _read(shape: Shape, role: Role, how: Reading, name: str) -> Lists | Rows | None:
    """Read data after all steps; None if there is nothing that others cannot read."""
    data = shape.data
    if is_frame(data):
        return of_frame(data, role, how, name, shape) if shape.said else None
    if isinstance(data, (list, tuple)) and are_records(data, how):
        return _of_records(list(data), role, how, name, shape)
    if is_column(data) or is_array(data):
        return None
    refuse_no_query(data, how, name)
    if _is_of_one(data):
        raise _one_query(name)
    if isinstance(data, Mapping):
        queries = [*data]
        if queries and is_long_id(queries[0]):
            queries = [*map(plain, queries)]
            shape = replace(shape, said=(*shape.said, "query ids are read as text"))
        return _of_entries(queries, [*data.values()], role, how, name, shape, None)
    if isinstance(data, (list, tuple)):
        places = range(len(data))
        return _of_entries(places, data, role, how, name, shape, len(data))
    return None


# --- steps


def _splits(data: Any, _: Role, name: str) -> Shape | None:
    """The splits of a data set of Hugging Face, which are tables of their own."""
    if type(data).__name__ != "DatasetDict":
        return None
    splits = ", ".join(map(repr, data))
    msg = f"cannot read {name} from a DatasetDict; pass one of its splits: {splits}"
    raise FormatError(msg)


def _body(data: Any, *_: Any) -> Shape | None:
    """The response of Elasticsearch's client, which is not a mapping."""
    body = None if isinstance(data, Mapping) else field_of(data, "body")
    if isinstance(body, (Mapping, list)) and hasattr(data, "meta"):
        return Shape(body)
    return None


def _with_own_mapping(data: Any, role: Role, name: str) -> Shape | None:
    """A `Run` or `Qrels` of ranx, over which nobody may iterate."""
    if isinstance(data, Mapping) or not callable(getattr(data, "to_dict", None)):
        return None
    for attribute, kind in (("run", "run"), ("qrels", "qrels")):
        if isinstance(field_of(data, attribute), Mapping):
            _refuse_role(data, kind, role, name)
            own = field_of(data, "name")
            return Shape(data.to_dict(), name=own if isinstance(own, str) else None)
    return None


def _with_own_frame(data: Any, *_: Any) -> Shape | None:
    """What has its rows in a frame: lists of LensKit, runs of trectools."""
    if isinstance(data, Mapping) or is_frame(data):
        return None
    for attribute in ("run_data", "qrels_data"):
        if is_frame(field_of(data, attribute)):
            return Shape(field_of(data, attribute), (f"rows of {attribute}",))
    if callable(getattr(data, "to_df", None)):
        frame = data.to_df()
        return Shape(frame, ("rows of to_df()",)) if is_frame(frame) else None
    return None


def _judgements(data: Any, role: Role, name: str) -> Shape | None:
    """Judgements beside something else: queries, texts or the settings of a tool."""
    found: Any = field_of(data, "relevant_docs")
    if isinstance(found, Mapping) and field_of(data, "queries") is not None:
        _refuse_role(data, "qrels", role, name)
        return Shape(found, ("judgements under relevant_docs",))
    found = field_of(data, "requests")
    if isinstance(found, list) and any(field_of(one, "ratings") for one in found[:1]):
        _refuse_role(data, "qrels", role, name)
        ratings = {one["id"]: one["ratings"] for one in found}
        return Shape(ratings, ("judgements under ratings",))
    if callable(getattr(data, "qrels_iter", None)):
        _refuse_role(data, "qrels", role, name)
        if callable(getattr(data, "has_qrels", None)) and not data.has_qrels():
            msg = f"{name}: this data set of ir_datasets has no judgements"
            raise DataError(msg)
        return Shape([*data.qrels_iter()], ("judgements of qrels_iter()",))
    return None


def _refuse_role(data: Any, kind: str, role: Role, name: str) -> None:
    if kind != role:
        words = {"run": "a run", "qrels": "judgements"}
        msg = (
            f"cannot read {name} from {kind_of(data)}, as it holds {words[kind]}; are "
            "the arguments swapped?"
        )
        raise FormatError(msg)


def _inputs(data: Any, *_: Any) -> Shape | None:
    """A result of Haystack: what was evaluated, in a list for each name."""
    inputs = field_of(data, "inputs")
    if field_of(data, "run_name") is None or not isinstance(inputs, Mapping):
        return None
    rows = zip(*inputs.values(), strict=True)
    records = [dict(zip(inputs, row, strict=True)) for row in rows]
    return Shape(records, ("records of inputs",))


def _predictions(data: Any, *_: Any) -> Shape | None:
    """Predictions that MTEB saved: by subset, by split, by query."""
    if not isinstance(data, Mapping) or "mteb_model_meta" not in data:
        return None
    found = {
        (subset, split): run
        for subset, splits in data.items()
        if subset != "mteb_model_meta"
        for split, run in splits.items()
    }
    if len(found) != 1:
        names = ", ".join(f"[{a!r}][{b!r}]" for a, b in found)
        msg = f"predictions of MTEB for {count(len(found), 'split')}; pass one: {names}"
        raise FormatError(msg)
    (((subset, split), run),) = found.items()
    return Shape(run, (f"predictions of subset {subset!r}, split {split!r}",))


def _records_by_query(data: Any, *_: Any) -> Shape | None:
    """Records that are keyed by their queries, with what was retrieved or expected."""
    first = next(iter(data.values()), None) if isinstance(data, Mapping) else None
    roles: tuple[Role, ...] = ("qrels", "run")
    if not isinstance(first, Mapping) or not any(
        is_listed(value) and any(of_role(str(key), role) for role in roles)
        for key, value in first.items()
    ):
        return None
    if not all(isinstance(entry, Mapping) for entry in data.values()):
        return None
    records = [{"query_id": query, **entry} for query, entry in data.items()]
    return Shape(records, ("records by query",))


def _inside(data: Any, *_: Any) -> Shape | None:
    """Responses to several queries at once, or records in an object of their own."""
    if isinstance(data, Mapping):
        found = data.get("responses")
        if isinstance(found, list) and not isinstance(data.get("took"), Mapping):
            return Shape(found, ("lists under responses",))
        found = data.get("details")
        if isinstance(found, Mapping) and "metric_score" in data:
            return Shape(found, ("lists under details",))
        return None
    found = field_of(data, "samples")
    return Shape(found, ("records under samples",)) if isinstance(found, list) else None


def _column(data: Any, role: Role, _: str) -> Shape | None:
    """A Series: of lists by query, of one gold id each, or of numbers by two levels."""
    if not is_column(data):
        return None
    index = getattr(data, "index", None)
    if getattr(index, "nlevels", 1) > 1:
        name = str(data.name)
        if names_number(name, role):
            return Shape(data.to_frame(), (f"the values are read as {name!r}",))
        value = "grade" if role == "qrels" else "score"
        frame = data.rename(value).to_frame()
        return Shape(frame, (f"the values are read as {value}s",))
    values = next(
        getattr(data, convert)()
        for convert in ("to_list", "to_pylist")
        if hasattr(data, convert)
    )
    kinds = set(map(kind_of_value, values))
    listed = kinds == {"object"}
    if not listed and not (role == "qrels" and kinds in ({"text"}, {"int"})):
        return None
    said = ("the values are lists",) if listed else ()
    if index is None or callable(index) or type(index).__name__ == "RangeIndex":
        return Shape(values, said)
    queries = index.to_list()
    if len(set(queries)) < len(queries):
        twice = next(query for query in queries if queries.count(query) > 1)
        msg = f"the query {shown(twice)} appears twice in the index; give it once"
        raise DataError(msg)
    return Shape(dict(zip(queries, values, strict=True)), said)


def _indexed(frame: Any, *_: Any) -> Shape | None:
    """A frame of pandas whose queries are in its index."""
    index = getattr(frame, "index", None) if is_frame(frame) else None
    names = [name for name in getattr(index, "names", ()) if name]
    if not names or names_query([*map(str, frame.columns)]):
        return None
    said = ", ".join(map(str, names))
    return Shape(frame.reset_index(), (f"{said}: from the index",))


def _rows(data: Any, role: Role, name: str) -> Shape | None:
    """Rows that name their query: tuples with names, objects, or rows of a cursor."""
    if not isinstance(data, (list, tuple)) or not data or names_of(data):
        return None
    first = data[0]
    if isinstance(first, (str, int, float, Mapping, list, AbstractSet)):
        return None
    fields = fields_of(first)
    if fields and names_query(fields):
        records = [{key: _value(row, key) for key in fields} for row in data]
        return Shape(records, (f"rows of {type(first).__name__}",))
    if type(first) is not tuple or kind_of_value(next(iter(first), first)) == "object":
        return None
    if not all(type(row) is tuple for row in data):
        return None
    if all(len(row) == _PAIR and _is_entry(row) for row in data):
        queries = [query for query, _ in data]
        if len({*map(shown, queries)}) < len(queries):
            raise _twice(queries, name)
        return Shape(dict(data), ("pairs of a query and its results",))
    kinds = [set(map(kind_of_value, column)) for column in zip(*data, strict=False)]
    if len(kinds) == _ROW - 1 and kinds[1] == {"number"}:
        raise _one_query(name)  # of pairs of an item and its score
    whole = all(len(row) == _ROW for row in data)
    ids = all(kind in ({"text"}, {"int"}) for kind in kinds[:2])
    numbers = kinds[-1] <= {"int", "number"} and kinds != [{"int"}] * _ROW
    if not (whole and ids and numbers):
        msg = (
            f"{name}: tuples such as {shown(first)} may be rows or lists of items; "
            "pass rows as a frame with columns query, item and score, and lists of "
            "items as lists"
        )
        raise FormatError(msg)
    value = "grade" if role == "qrels" else "score"
    columns = "query", "item", value
    records = [dict(zip(columns, map(plain, row), strict=True)) for row in data]
    return Shape(records, (f"rows of query, item and {value}",), unnamed=True)


def _is_entry(row: tuple[Any, Any]) -> bool:
    """Say whether this is a query, and what was retrieved or is relevant for it."""
    query, results = row
    return kind_of_value(query) in {"text", "int"} and _are_groups(results)


def _are_groups(results: Any) -> bool:
    return isinstance(results, (list, dict, AbstractSet)) or is_array(results)


def fields_of(thing: Any) -> tuple[str, ...]:
    """Return the names of the fields of a row or of an object."""
    names = names_of(thing)
    if names is not None:
        return names
    keys = getattr(thing, "keys", None)
    if callable(keys) and isinstance(thing, Sequence):
        return tuple(keys())
    for attribute in ("__dataclass_fields__", "__struct_fields__"):
        names = getattr(type(thing), attribute, None)
        if names:
            return tuple(names)
    return tuple(getattr(thing, "__dict__", ()))


def _value(row: Any, key: str) -> Any:
    found = field_of(row, key)
    return row[key] if found is None and not hasattr(row, key) else found


def _side_by_side(data: Any, _: Role, name: str) -> Shape | None:
    """Ids and numbers of all queries, each in a matrix or a list of lists."""
    found = None if isinstance(data, Source) or is_frame(data) else parallel(data)
    if found is None:
        return None
    if not found.nested:
        raise _one_query(name)
    return _shape_of(found)


def _shape_of(found: Parallel) -> Shape:
    rows, n = trimmed(found)
    said = [found.words]
    if n:
        said.append(f"{count(n, 'place')} without an item, which are padding: left out")
    unnamed = found.name in {"", "values"}
    number = "" if unnamed else found.name
    return Shape(rows, tuple(said), number=number, known=unnamed)


def _is_of_one(data: Any) -> bool:
    """Say whether these are the results of a single query, which they do not name."""
    if isinstance(data, Mapping):
        if opened(data) is None or not any(name in data for name in HOLDERS):
            return False
        return len(data) == 1 or not all(map(_are_results, data.values()))
    if isinstance(data, (list, tuple)):
        plain_ = (*_PLAIN_IDS, float, Mapping, list, tuple, AbstractSet)
        hits = [hit for hit in data if not isinstance(hit, plain_)]
        return len(hits) == len(data) > 0 and all(
            not _are_results(hit) and has_item(hit, {}) for hit in hits
        )
    return opened(data) is not None


def _are_results(value: Any) -> bool:
    return is_listed(value) or is_column(value) or opened(value) is not None


def _one_query(name: str) -> FormatError:
    msg = f"{name} holds the results of one query only; pass {{query: results}}"
    return FormatError(msg)


def _matrix(data: Any, role: Role, _: str) -> Shape | None:
    """A matrix of ids, or of judgements a row of gold ids."""
    if not is_array(data) or is_column(data):
        return None
    array = as_array(data)
    kind = kind_of_column(array)
    if role == "qrels":
        gold = array.ndim == 1 and kind in {"ints", "texts"}
        return Shape(array.tolist()) if gold else None
    if array.ndim != 2 or kind not in {"ints", "texts"}:  # noqa: PLR2004 - a matrix
        return None
    found = Parallel(array, None, "its rows are lists of items, best first")
    return _shape_of(found)


_STEPS: tuple[Callable[[Any, Role, str], Shape | None], ...] = (
    _splits, _body, _with_own_mapping, _with_own_frame, _judgements, _inputs,
    _predictions,
    _inside, _records_by_query, _column, _indexed, _rows, _side_by_side,
    _matrix,
)  # fmt: skip


# --- entries and records


def refuse_no_query(data: Any, how: Reading, name: str) -> None:
    """Refuse records with lists of a known name, whose queries have none."""
    listed = isinstance(data, (list, tuple)) and data and type(data[0]) is dict
    if not listed or "query" in (how.columns or {}):
        return
    keys = [key for key in data[0] if isinstance(key, str)]
    roles: tuple[Role, ...] = ("qrels", "run")
    lists = [
        key
        for key in keys
        if is_listed(data[0][key]) and any(of_role(key, role) for role in roles)
    ]
    others = [key for key in keys if key not in lists]
    if not lists or names_query(keys):
        return
    todo = "give each record one, such as 'query_id'"
    if others:
        todo += f", or say which of {', '.join(map(repr, others))} it is"
        todo += f", columns={{'query': {others[0]!r}}}"
    msg = f"{name} has records with {', '.join(map(repr, lists))} and no query; {todo}"
    raise FormatError(msg)


def _of_records(
    records: list[Any], role: Role, how: Reading, name: str, shape: Shape
) -> Lists | Rows | None:
    """Read records; those with lists that need a step as entries of their queries."""
    lists = {
        key: next(filter(_is_full_list, (record.get(key) for record in records)), ())
        for key in records[0]
    }
    named = any(
        map(names_of, (next(iter(value)) for value in lists.values() if len(value)))
    )
    if named:
        records = [
            {key: _as_dicts(value) for key, value in record.items()}
            for record in records
        ]
    given = how.columns or {}
    foreign = {
        key
        for key, value in lists.items()
        if _kind_of_hits(_as_dicts(value), given) != "plain"
    }
    if foreign:
        columns = resolve([*records[0]], role, how.columns, name)
        if columns["item"] in foreign:
            queries, entries = (
                [record.get(columns[part]) for record in records]
                for part in ("query", "item")
            )
            said = ", ".join(f"{part} = {key}" for part, key in columns.items())
            shape = replace(shape, said=(*shape.said, said))
            how = replace(how, columns=None)
            return _of_entries(queries, entries, role, how, name, shape, None)
    if not (named or shape.said):
        return None
    return from_records(records, role, how, name)


def _is_full_list(value: Any) -> bool:
    return is_listed(value) and len(value) > 0


def _of_entries(
    queries: Sequence[Any],
    entries: Sequence[Any],
    role: Role,
    how: Reading,
    name: str,
    shape: Shape,
    n_places: int | None,
) -> Lists | Rows | None:
    """Read an entry for each query; None if all are plain already."""
    found = _all_opened(queries, entries, role, name)
    lists = [one.data for one in found] or [*entries]
    said = [*dict.fromkeys(note for one in found for note in one.said)]
    number = shape.number or next((one.number for one in found if one.number), "")
    known = shape.known or any(one.known for one in found)
    lists = _with_simple_hits(queries, lists, name)
    first = _first_hit(lists)
    kind = _kind_of_hits(first, how.columns or {})
    if kind == "floats":
        raise _no_ids(first[0], name)
    read_before = shape.said or shape.name
    if kind == "plain" and not read_before and all(map(is_, lists, entries)):
        return None
    scored = False
    if kind == "ids":
        lists = [[*map(plain, e)] if isinstance(e, list) else e for e in lists]
        said.append("ids are read as text")
    elif kind == "hits":
        _refuse_mixed(lists, name)
        hits = [hit for entry in lists if isinstance(entry, list) for hit in entry]
        got = taken(hits, role, how.columns or {}, name)
        if got.is_of_users and not _is_ordered(got, [*map(len, lists)]):
            got = replace(got, numbers=None, words=got.item)
        said += [] if number or known else [got.words]
        scored, number = got.numbers is not None, number or got.name
        lists = _divided(got, [*map(len, lists)], role)
        how = replace(how, columns=None)
    if len({*map(shown, queries)}) < len(queries):
        raise _twice(queries, name)
    data = dict(zip(queries, lists, strict=True))
    source = from_entries(data, role, how, name, n_places)
    source = noted(source, [f"{name}: {note}" for note in said])
    if scored and role == "run" and not how.lower_is_better:
        return directed(source, number, known=known)
    return source


def _with_simple_hits(queries: Sequence[Any], lists: list[Any], name: str) -> list[Any]:
    """Return lists with dicts in place of tuples with names, and ids as texts."""
    if _holds_long_ids(lists):
        lists = [_with_texts(entry) for entry in lists]
    first = _first_hit(lists)
    if first and names_of(first[0]):
        lists = [*map(_as_dicts, lists)]
        first = _first_hit(lists)
    if first and isinstance(first[0], dict):
        _refuse_none(queries, lists, name)
        # {} may stand for no hits.
        lists = [[] if isinstance(e, dict) and not e else e for e in lists]
    if first and _holds_objects(first[0]):
        lists = [
            [{key: plain(x) for key, x in hit.items()} for hit in entry]
            for entry in lists
        ]
    return lists


def _refuse_none(queries: Sequence[Any], lists: Sequence[Any], name: str) -> None:
    """Refuse None in place of a list."""
    both = zip(queries, lists, strict=True)
    missing = next((query for query, entry in both if entry is None), None)
    if missing is not None:
        msg = (
            f"{name}: the list of query {shown(missing)} is None; use an empty list if "
            "nothing was retrieved"
        )
        raise FormatError(msg)


def _holds_long_ids(lists: Sequence[Any]) -> bool:
    """Say whether sets or dicts have ids that are written as text, by the first."""
    groups = (dict, set, frozenset)
    full = (entry for entry in lists if isinstance(entry, groups) and entry)
    return any(is_long_id(next(iter(entry))) for entry in islice(full, 1))


def _with_texts(entry: Any) -> Any:
    """Return a set, or {id: number}, with ids as text; all else as it is."""
    if isinstance(entry, dict):
        return {plain(key): value for key, value in entry.items()}
    return {*map(plain, entry)} if isinstance(entry, AbstractSet) else entry


def _all_opened(
    queries: Sequence[Any], entries: Sequence[Any], role: Role, name: str
) -> list[Shape]:
    """Open the entries of all queries; none if all of them are open already."""
    if _LISTED.issuperset(map(type, entries)):
        return []
    each = zip(queries, entries, strict=True)
    return [_opened(entry, role, query, name) for query, entry in each]


def _first_hit(lists: Sequence[Any]) -> list[Any]:
    """Return the first hit of all lists, in a list; an empty one if there is none."""
    full = (entry for entry in lists if isinstance(entry, list) and entry)
    return next(full, [])[:1]


def _holds_objects(hit: Any) -> bool:
    """Say whether values of a dict are ids of MongoDB, or tensors of one number."""
    return type(hit) is dict and any(
        is_long_id(value) or is_tensor(value) for value in hit.values()
    )


def _kind_of_hits(hits: Sequence[Any], given: Mapping[str, Any]) -> str:
    """Say whether readers take hits as they are, or what must be taken from them."""
    if not len(hits):
        return "plain"
    first = hits[0]
    if isinstance(first, dict):
        told = given.get("item")
        plainly = [key for key, x in first.items() if kind_of_value(x) != "object"]
        known = names_item(plainly) if told is None else told in first
        return "plain" if known or not has_item(first, given) else "hits"
    if isinstance(first, _PLAIN_IDS):
        return "plain"
    kind = kind_of_value(first)
    if kind in {"text", "int"}:
        return "ids"
    if kind == "number" and first == first:  # noqa: PLR0124 - nan is no id at all
        return "floats"
    return "hits" if is_pair(first) or fields_of(first) else "plain"


def _opened(entry: Any, role: Role, query: Any, name: str) -> Shape:
    """Open the entry of a query, up to {item: number} or a list of hits or of ids."""
    kind = type(entry)
    if kind in _LISTED:
        return Shape(entry)
    if isinstance(entry, Mapping) and all(
        isinstance(value, _PLAIN_NUMBERS) for value in entry.values()
    ):
        return Shape(entry)
    table = _table_of(entry)
    if table is not None:
        return _of_columns(table)
    if is_array(entry):
        array = as_array(entry)
        return Shape(array.tolist() if array.ndim == 1 else entry)
    _refuse_failure(entry, query, name)
    found = None if isinstance(entry, (str, int, float)) else parallel(entry)
    if found is not None:
        return _only_row(_shape_of(found), query, name)
    held = opened(entry)
    if held is not None:
        return Shape([*(as_array(held).tolist() if is_array(held) else held)])
    if kind is tuple:
        return Shape([*entry])
    if role == "qrels" and kind_of_value(entry) in {"text", "int"} and entry != "":
        return Shape([plain(entry)], ("one relevant item for each query",))
    return Shape(entry)


def _refuse_failure(entry: Any, query: Any, name: str) -> None:
    """Refuse what a service returns in place of results."""
    error = entry.get("error") if isinstance(entry, Mapping) else None
    if isinstance(error, (Mapping, str)):
        msg = (
            f"{name}: the entry of query {shown(query)} is an error of a service, "
            f"{shown(error)}; search again, or leave the query out"
        )
        raise DataError(msg)


def _table_of(entry: Any) -> Any:
    """Return the frame or the column that holds the results of a query, or None."""
    if is_column(entry) or is_frame(entry):
        return entry
    own = _with_own_frame(entry)
    return None if own is None else own.data


def _of_columns(entry: Any) -> Shape:
    """Return the list that a column or a frame holds for one query."""
    if is_frame(entry):
        return Shape(_as_records(entry), ("a frame for each query",))
    index = getattr(entry, "index", None)
    values = entry.to_list()
    if index is None or type(index).__name__ == "RangeIndex":
        return Shape(values)
    return Shape(dict(zip(index.to_list(), values, strict=True)))


def _only_row(shape: Shape, query: Any, name: str) -> Shape:
    """Return the list of a query, which may be in a list of one."""
    if len(shape.data) != 1:
        msg = (
            f"{name}: the entry of query {shown(query)} has results for "
            f"{count(len(shape.data), 'query')}; pass those of one"
        )
        raise FormatError(msg)
    return replace(shape, data=shape.data[0])


def _no_ids(example: float, name: str) -> DataError:
    msg = (
        f"{name}: a list holds floats, such as {plain(example)!r}, which are never "
        "ids; give ids as ints or text; if these are the scores of all items, stack "
        "the lists of all queries and pass from_scores(np.stack(lists))"
    )
    return DataError(msg)


def of_frame(
    data: Any, role: Role, how: Reading, name: str, shape: Shape | None = None
) -> Lists | Rows:
    """Read a frame; one with lists of rows in a column by way of records."""
    try:
        return from_frame(data, role, how, name=name)
    except DataError:
        if not isinstance(data, pl.LazyFrame) and not hasattr(data, "__len__"):
            data = pl.DataFrame(data)  # such as one of Spark
        if not _holds_rows(data):
            raise
        records = _as_records(data)
        source = _of_records(records, role, how, name, shape or Shape(data))
        if source is None:
            source = from_records(records, role, how, name)
        return source


def _holds_rows(frame: Any) -> bool:
    """Say whether a column has lists of rows, by its first value."""
    if isinstance(frame, pl.LazyFrame) or not hasattr(frame, "__len__"):
        return False
    if not len(frame):
        return False
    names: Any = getattr(frame, "column_names", None) or getattr(frame, "columns", ())
    if len({*names}) < len(names):
        return False
    columns = [next(iter(frame[name])) for name in names]
    columns = [own.as_py() if hasattr(own, "as_py") else own for own in columns]
    lists = [first for first in columns if is_listed(first) or is_column(first)]
    return any(kind_of_value(hit) == "object" for first in lists for hit in first[:1])


def _as_records(frame: Any) -> list[Any]:
    """Return the rows of a frame as dicts."""
    dicts = getattr(frame, "to_dicts", None) or getattr(frame, "to_pylist", None)
    records = frame.to_dict("records") if dicts is None else dicts()
    return [*records]


def _as_dicts(entry: Any) -> Any:
    """Return a list of tuples with names as a list of dicts; all else as it is."""
    if not isinstance(entry, list) or not any(map(names_of, entry[:1])):
        return entry
    return [dict(zip(names_of(hit) or (), hit, strict=False)) for hit in entry]


def _refuse_mixed(lists: Sequence[Any], name: str) -> None:
    """Refuse lists of hits beside entries of other kinds."""
    others = [e for e in lists if not isinstance(e, list)]
    odd = [e for e in others if not hasattr(e, "__len__") or len(e)]
    if odd:
        msg = (
            f"{name}: one query has a list of hits, and another has {kind_of(odd[0])}, "
            f"{shown(odd[0])}; give all of them in one form"
        )
        raise FormatError(msg)


def _is_ordered(found: Taken, lengths: Sequence[int]) -> bool:
    """Say whether numbers rise along every list, or fall, as those of a ranking do."""
    try:
        numbers = np.array(found.numbers, dtype=np.float64)
    except (TypeError, ValueError):
        return False
    steps = steps_of(numbers, starts_of(np.array(lengths)))
    return not (steps.rises and steps.falls) and not np.isnan(numbers).any()


def _divided(found: Taken, lengths: Sequence[int], role: Role) -> list[Any]:
    """Return the items of each list, with their numbers if they have any."""
    ends = [*accumulate(lengths, initial=0)]
    ids = [found.ids[begin:end] for begin, end in pairwise(ends)]
    if found.numbers is None:
        return ids
    numbers = [found.numbers[begin:end] for begin, end in pairwise(ends)]
    each = zip(ids, numbers, strict=True)
    plainly = None not in found.numbers and all(len(set(i)) == len(i) for i in ids)
    if plainly:
        return [dict(zip(*both, strict=True)) for both in each]
    value = "grade" if role == "qrels" else "score"
    # Readers say which is missing, or what a list has twice.
    return [
        [{"item": i, value: x} for i, x in zip(*both, strict=True)] for both in each
    ]


def _twice(queries: Sequence[Any], name: str) -> DataError:
    twice = next(query for query in queries if list(queries).count(query) > 1)
    msg = f"{name}: query {shown(twice)} has several lists; give it one"
    return DataError(msg)
