"""The same data as judgements and as a run: a table needs two columns of items."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import polars as pl

from rankine._io import combined, open_table, read
from rankine._io.bytes import STDIN
from rankine._io.columns import resolve, resolve_object
from rankine._io.frames import is_frame
from rankine._io.records import are_records, open_records
from rankine._io.shapes import refuse_no_query, simplified
from rankine._io.sources import Dense, Source, bare, hold_objects, is_sparse
from rankine._io.tables import OpenTable
from rankine.errors import FormatError, ParameterError, RankineError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankine._io.sources import Reading

_OF_JUDGED = ("relevan", "referenc", "expected", "truth", "gold", "judged", "label")
"""What names of columns with relevant items have in them."""
_SAME = "the same table"


def refuse_itself(qrels: Any, run: Any, of_qrels: Reading, of_run: Reading) -> None:
    """Refuse data that would be evaluated against themselves.

    One table may be both judgements and run if it has a column of items for each, or
    one column of grades and another of scores; so may lists of objects.

    Args:
        qrels: the judgements, as they were given.
        run: the run, as it was given.
        of_qrels: how the judgements are to be read.
        of_run: how the run is to be read.
    """
    if qrels is not run:
        qrels, of_qrels = _opened(qrels, of_qrels)
        run, of_run = _opened(run, of_run)
        if qrels is not run and not _same_file(qrels, run):
            return
    judged: dict[str, str] = {}
    ranked: dict[str, str] = {}
    try:
        found = _table(run, of_run)
        if isinstance(found, OpenTable):
            judged = resolve(found.names, "qrels", of_qrels.columns, found.title)
            ranked = resolve(found.names, "run", of_run.columns, found.title)
    except RankineError:
        return  # the reader says what is wrong
    if isinstance(found, OpenTable):
        _refuse(found, judged, ranked)
    else:
        _refuse_lists(*found)


def _opened(data: Any, how: Reading) -> tuple[Any, Reading]:
    """Return what data were read from, and how; all else as it is."""
    data = bare(data)
    given = data.given if isinstance(data, Source) else None
    if given is None or given.again is not None:
        return data, how
    return given.data, combined(given.how, how)


def _same_file(first: Any, second: Any) -> bool:
    paths = (str, os.PathLike)
    if not isinstance(first, paths) or not isinstance(second, paths):
        return False
    one, other = (os.fsdecode(path) for path in (first, second))
    return one != STDIN and os.path.realpath(one) == os.path.realpath(other)


def _table(data: Any, how: Reading) -> OpenTable | tuple[Any, str]:
    """Return what has named columns; of all else, what it holds, and its name."""
    if isinstance(data, (str, os.PathLike)):
        try:
            # The columns are those of judgements or of a run, which are named below.
            table = open_table(data, _SAME, replace(how, columns=None)).parts[0]
        except FormatError:  # such as for JSON of lists without ids
            source = read(data, "run", how)
            return getattr(source, "entries", source), source.name
        return table if table.entries is None else (table.entries, table.title)
    shape = simplified(data, "run", _SAME)
    data = data if shape is None else shape.data
    if is_frame(data):
        return open_table(data, _SAME).parts[0]
    if isinstance(data, (list, tuple)) and are_records(data, how):
        return open_records(list(data), _SAME)
    refuse_no_query(data, how, _SAME)
    return data, "the same object"


def _refuse_lists(data: Any, title: str) -> None:
    """Refuse lists and matrices, unless they hold objects with grades and scores."""
    if isinstance(data, Mapping) and not is_sparse(data):
        data = list(data.values())
    listed = isinstance(data, (list, tuple))
    matrix = is_sparse(data) or isinstance(data, Dense)
    if matrix or (listed and data and not _hold_both(data, title)):
        msg = (
            f"{title} is given as the judgements and as the run, so the run would be "
            "evaluated against itself; give the judgements in an object of their own"
        )
        raise ParameterError(msg)


def _hold_both(entries: Sequence[Any], title: str) -> bool:
    """Say whether lists hold objects that have an item or a number for each side."""
    if not hold_objects(entries):
        return False
    first = next(entry[0] for entry in entries if entry)
    try:
        judged, ranked = (
            resolve_object([*first], role, {}, title) for role in ("qrels", "run")
        )
    except RankineError:
        return True  # the reader says what is wrong
    value = ranked.get("score", ranked.get("rank"))
    return judged["item"] != ranked["item"] or judged.get("grade") != value


def _refuse(table: OpenTable, judged: dict[str, str], ranked: dict[str, str]) -> None:
    if judged["item"] != ranked["item"]:
        return
    value = ranked.get("score", ranked.get("rank"))
    if judged.get("grade") != value or _holds_objects(table, judged["item"]):
        return
    item, others = judged["item"], _others(table.names, judged)
    todo = "give the judgements in a table of their own"
    if others:
        pair = (item, others[0]) if _is_judged(item) else (others[0], item)
        relevant, retrieved = pair
        todo = (
            f"name one column for each, columns={{'qrels.item': {relevant!r}, "
            f"'run.item': {retrieved!r}}} or --col qrels.item={relevant} "
            f"--col run.item={retrieved}"
        )
    msg = (
        f"{table.title} is given as the judgements and as the run, with {item!r} as "
        f"the item of both, so the run would be evaluated against itself; {todo}; it "
        f"has {', '.join(map(repr, table.names))}"
    )
    raise ParameterError(msg)


def _is_judged(name: str) -> bool:
    return any(word in name.casefold() for word in _OF_JUDGED)


def _others(names: Sequence[str], chosen: dict[str, str]) -> list[str]:
    """Return the other columns, those that look like relevant items first."""
    left = [name for name in names if name not in chosen.values()]
    return sorted(left, key=lambda name: not _is_judged(name))


def _holds_objects(table: OpenTable, item: str) -> bool:
    """Say whether items are objects, each with a grade or a score of its own."""
    dtype = table.load([item], ())[0].schema[item]
    return getattr(dtype, "inner", dtype) in (pl.Struct, pl.Object)
