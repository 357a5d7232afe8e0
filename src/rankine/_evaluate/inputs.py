"""What an evaluation is made of, read: judgements, training data, a run."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import replace
from typing import Any

from rankine import _io as io
from rankine._conventions.convention import BY_RANK
from rankine._io.frames import from_frame, is_frame
from rankine._io.mappings import as_rows
from rankine._io.repeats import cleaned
from rankine._io.sources import (
    PLAIN,
    Dense,
    Lists,
    Reading,
    Rows,
    Source,
    Stream,
    is_empty,
    no_judgements,
    refuse_empty,
)
from rankine._join.judgements import Truth
from rankine.errors import DataError


def truth_of(qrels: Any, how: Reading = PLAIN, *, part: bool = False) -> Truth:
    """Read judgements, to be used for one run or for many.

    None at all are refused, unless these are a part of the judgements.
    """
    source = io.read(qrels, "qrels", how)
    if how.lenient:
        source = cleaned(source, "qrels")
    if isinstance(source, Stream):
        msg = f"{source.name} was read as a run and cannot be used as judgements"
        raise DataError(msg)
    if not part and is_empty(source):
        raise no_judgements(source.name)
    return Truth(source)


def train_of(train: Any, how: Reading = PLAIN) -> Rows:
    """Read the interactions that users had before; each row is one, and may repeat."""
    how = replace(how, subtopics=False)
    if isinstance(train, Mapping) and type(train).__module__.split(".")[0] != "scipy":
        own = {
            user: sorted(had, key=str) if isinstance(had, AbstractSet) else had
            for user, had in train.items()
        }
        rows = as_rows(Lists(own, "train"), "run", lenient=how.lenient)
    elif is_frame(train):
        rows = from_frame(train, "qrels", how, name="train")
    else:
        source = io.read(train, "qrels", how)
        rows = as_rows(source, "qrels", lenient=how.lenient)
        if isinstance(source, Dense):
            rows = replace(rows, frame=rows.frame.filter(rows.frame["value"] != 0))
    frame = rows.frame
    if how.lenient:
        frame = frame.drop_nulls(["query", "item"])
    name = "train" if rows.name == "qrels" else rows.name
    if frame.height == 0:
        msg = f"{name}: no interactions in it"
        raise DataError(msg)
    return replace(rows, frame=frame, name=name)


def source_of(
    run: Any, how: Reading = PLAIN, order: str | None = None, *, part: bool = False
) -> Source:
    """Read a run; refuse one without the rank column if that was asked for.

    One without rows is refused too, unless it is a part of a run.
    """
    source = io.read(run, "run", how)
    if not part:
        refuse_empty(source)
    if order in BY_RANK and not is_ranked(source):
        msg = f"{source.name} has no rank column, which order={order!r} needs"
        raise DataError(msg)
    return cleaned(source, "run") if how.lenient else source


def is_ranked(source: Source) -> bool:
    """Say whether the ranks of a run come from a column."""
    return isinstance(source, (Rows, Stream)) and source.ranked
