"""One table given as judgements and as a run: it needs two columns of items."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import polars as pl

from rankine._io import open_table
from rankine._io.bytes import STDIN
from rankine._io.columns import resolve
from rankine._io.frames import is_frame
from rankine._io.records import records_part
from rankine.errors import ParameterError, RankineError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankine._io.sources import Reading
    from rankine._io.tables import Part

_OF_JUDGED = ("relevan", "referenc", "expected", "truth", "gold", "judged", "label")
"""What names of columns with relevant items have in them."""
_SAME = "the same table"


def refuse_itself(qrels: Any, run: Any, of_qrels: Reading, of_run: Reading) -> None:
    """Refuse a table that would be evaluated against itself.

    One table may be both judgements and run if it has a column of items for each, or
    one column of grades and another of scores.

    Args:
        qrels: the judgements, as they were given.
        run: the run, as it was given.
        of_qrels: how the judgements are to be read.
        of_run: how the run is to be read.
    """
    if qrels is run or _same_file(qrels, run):
        try:
            part, chosen = _parts(run, of_qrels, of_run)
        except RankineError:
            return  # the reader says what is wrong
        _refuse(part, *chosen)


def _same_file(first: Any, second: Any) -> bool:
    paths = (str, os.PathLike)
    if not isinstance(first, paths) or not isinstance(second, paths):
        return False
    one, other = (os.fsdecode(path) for path in (first, second))
    return one != STDIN and os.path.realpath(one) == os.path.realpath(other)


def _parts(
    data: Any, of_qrels: Reading, of_run: Reading
) -> tuple[Part | None, list[dict[str, str]]]:
    """Return a table with named columns, and what they are as qrels and as a run."""
    if isinstance(data, (str, os.PathLike)):
        # The columns are those of judgements or of a run, which are named below.
        part = open_table(data, _SAME, replace(of_run, columns=None)).parts[0]
    elif is_frame(data):
        part = open_table(data, _SAME).parts[0]
    elif isinstance(data, list) and data and isinstance(data[0], dict):
        part = records_part(data, _SAME)
    else:
        return None, [{}, {}]
    judged = resolve(part.names, "qrels", of_qrels.columns, part.title)
    ranked = resolve(part.names, "run", of_run.columns, part.title)
    return part, [judged, ranked]


def _refuse(part: Part | None, judged: dict[str, str], ranked: dict[str, str]) -> None:
    if part is None or judged["item"] != ranked["item"]:
        return
    value = ranked.get("score", ranked.get("rank"))
    if judged.get("grade") != value or _holds_objects(part, judged["item"]):
        return
    item, others = judged["item"], _others(part.names, judged)
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
        f"{part.title} is given as the judgements and as the run, with {item!r} as "
        f"the item of both, so the run would be evaluated against itself; {todo}; it "
        f"has {', '.join(map(repr, part.names))}"
    )
    raise ParameterError(msg)


def _is_judged(name: str) -> bool:
    return any(word in name.casefold() for word in _OF_JUDGED)


def _others(names: Sequence[str], chosen: dict[str, str]) -> list[str]:
    """Return the other columns, those that look like relevant items first."""
    left = [name for name in names if name not in chosen.values()]
    return sorted(left, key=lambda name: not _is_judged(name))


def _holds_objects(part: Part, item: str) -> bool:
    """Say whether items are objects, each with a grade or a score of its own."""
    dtype = part.load([item], ())[0].schema[item]
    return getattr(dtype, "inner", dtype) in (pl.Struct, pl.Object)
