"""What is known of items: features as numbers, topics as words, or a distance."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from rankine._base.text import count
from rankine._io import open_table
from rankine._io.columns import is_of_single_items, no_part, resolve_table
from rankine._io.frames import is_frame
from rankine._io.repeats import first_repeat
from rankine._io.sources import is_sparse
from rankine._io.tables import Table, together
from rankine._io.values import ids, kind_of, no_text, series_of
from rankine.errors import ColumnNotFoundError, DataError, FormatError, nearest

if TYPE_CHECKING:
    from rankine._base.arrays import Floats, Ints

_SEPARATOR = "|"
"""Separates the topics of one item, if they are in one text."""
_NEARLY = 0.9
"""Share of different texts from which they are names of items, not topics."""
_ENOUGH, _BESIDE = 20, 3
"""Texts that show it: in the only column of texts, and next to another one."""
_BY_NAME = "such a column names or describes single items"
_BY_TEXT = "nearly every text in it is different"
_LARGEST = float(np.finfo(np.float64).max)
"""The largest weight of a topic."""


@dataclass(frozen=True, eq=False)
class Features:
    """What is known of items.

    Attributes:
        items: their ids, each once.
        vectors: a row of numbers per item, in an array or a sparse matrix.
        topic_item: the number of an item.
        topic: the name of a topic that it has.
        weight: how much of it the topic has.
        distance: a function of two ids.
        notes: how columns were used, where there was a choice.
    """

    items: pl.Series
    vectors: Any = None
    topic_item: Ints | None = None
    topic: pl.Series | None = None
    weight: Floats | None = None
    distance: Callable[[Any, Any], float] | None = None
    notes: tuple[str, ...] = ()


def read_features(
    data: Any, columns: Mapping[str, Any] | None = None, *, lenient: bool = False
) -> Features:
    """Read features of items from anything that is accepted for them.

    Args:
        data: {item: numbers}, {item: topic or topics}, {item: {topic: weight}}, also
            as a JSON file; a frame or a file with a column of items, in which further
            columns are numbers or texts; a matrix whose row i is item i; or a function
            of two items.
        columns: the column of items, as {"item": ...}, if its name is not recognised;
            and the columns of features, as {"features": name or names}, if not all
            others.
        lenient: leave out rows without an item.
    """
    if isinstance(data, Features):
        return data
    if isinstance(data, Mapping):
        return _of_mapping(data, "items")
    if isinstance(data, (str, os.PathLike, Table)) or is_frame(data):
        return _of_table(open_table(data, "items"), columns, lenient=lenient)
    if is_sparse(data):
        return _of_sparse(data)
    if isinstance(data, np.ndarray):
        return _of_matrix(data)
    if callable(data):
        return Features(pl.Series("item", [], dtype=pl.String), distance=data)
    msg = (
        f"items is {kind_of(data)}; expected {{item: numbers}}, {{item: "
        "topics}, a frame or a file with a column of items, a matrix, or a function of "
        "two items"
    )
    raise FormatError(msg)


def _of_sparse(data: Any) -> Features:
    from scipy.sparse import csr_array  # noqa: PLC0415 - slow to import

    if data.dtype.kind not in "biuf":
        msg = f"items is a matrix of {data.dtype}; expected numbers"
        raise FormatError(msg)
    vectors = csr_array(data, dtype=np.float64)
    if not np.isfinite(vectors.data).all():
        msg = "items has features that are not finite"
        raise DataError(msg)
    return Features(pl.Series("item", np.arange(vectors.shape[0])), vectors)


def _of_matrix(data: np.ndarray[Any, Any]) -> Features:
    matrix = 2
    if data.ndim != matrix or data.dtype.kind not in "biuf":
        msg = f"items is an array of shape {data.shape}; expected items x features"
        raise FormatError(msg)
    vectors = _finite(data.astype(np.float64), lambda row: f"item {row}")
    return Features(pl.Series("item", np.arange(len(data))), vectors)


def _finite(vectors: Floats, word: Callable[[int], str]) -> Floats:
    """Refuse infinities; an item with a nan among its features has no features."""
    odd = np.isinf(vectors).any(axis=1)
    if odd.any():
        msg = f"the features of {word(int(np.flatnonzero(odd)[0]))} are not finite"
        raise DataError(msg)
    return vectors


def _of_mapping(data: Mapping[Any, Any], title: str) -> Features:
    if not data:
        msg = f"{title} is empty; give at least one item with its features"
        raise DataError(msg)
    items = series_of("item", list(data), title, hint="")
    data = {
        item: entry.to_numpy() if hasattr(entry, "to_numpy") else entry
        for item, entry in data.items()
    }
    first = next(iter(data.values()))
    if _is_numbers(first):
        return Features(items, _vectors(data))
    owner: list[int] = []
    names: list[str] = []
    weights: list[float] = []
    for number, (item, entry) in enumerate(data.items()):
        for name, weight in _topics(item, entry):
            owner.append(number)
            names.append(name)
            weights.append(weight)
    if not owner:
        msg = f"{title} has no topic for any item"
        raise DataError(msg)
    try:
        topic = pl.Series("topic", names, dtype=pl.String)
    except UnicodeEncodeError as error:
        raise no_text(error, title) from None
    return Features(
        items,
        topic_item=np.array(owner, dtype=np.int64),
        topic=topic,
        weight=np.array(weights),
    )


def _is_numbers(entry: Any) -> bool:
    if isinstance(entry, np.ndarray):
        return entry.dtype.kind in "biuf"
    plain = isinstance(entry, Collection) and not isinstance(entry, (str, Mapping, set))
    return plain and bool(entry) and not any(isinstance(value, str) for value in entry)


def _vectors(data: Mapping[Any, Any]) -> Floats:
    rows: list[Floats] = []
    for item, entry in data.items():
        try:
            row = np.asarray(entry, dtype=np.float64)
        except (TypeError, ValueError):
            msg = f"the features of item {item!r} are {entry!r}; expected numbers"
            raise DataError(msg) from None
        if row.ndim != 1 or (rows and len(row) != len(rows[0])):
            have = len(rows[0]) if rows else 1
            msg = (
                f"item {item!r} has features of shape {row.shape}; those of earlier "
                f"items have {have} numbers"
            )
            raise DataError(msg)
        rows.append(row)
    names = list(data)
    return _finite(np.stack(rows), lambda row: f"item {names[row]!r}")


def _topics(item: Any, entry: Any) -> Iterable[tuple[str, float]]:
    if isinstance(entry, str):
        return [(entry, 1.0)]
    if isinstance(entry, Mapping):
        weighed = list(entry.items())
    elif isinstance(entry, Iterable):
        weighed = [(name, 1.0) for name in dict.fromkeys(entry)]
    else:
        weighed = [(None, entry)]
    for name, weight in weighed:
        number = isinstance(weight, Real) and not isinstance(weight, bool)
        if not isinstance(name, str) or not number or not 0 <= weight <= _LARGEST:
            msg = (
                f"the topics of item {item!r} are {entry!r}; expected a text, several "
                f"texts, or {{text: weight}} with weights of at least 0"
            )
            raise DataError(msg)
    return [(name, float(weight)) for name, weight in weighed if weight > 0]


def _of_table(
    table: Table, columns: Mapping[str, Any] | None, *, lenient: bool
) -> Features:
    title = table.name
    entries = table.parts[0].entries
    if entries is not None:
        return _of_mapping(entries, title)
    name = _item_column(table, (columns or {}).get("item"))
    chosen = _chosen(table.names, name, (columns or {}).get("features"), title)
    loaded = table.load([name, *chosen])
    origins = [origin for _, origin in loaded]
    items = [
        ids(frame[name], "item", origin, lenient=lenient)[0].to_frame("item")
        for frame, origin in loaded
    ]
    item = together(items, origins)["item"]
    others = together([frame.select(chosen) for frame, _ in loaded], origins)
    said: tuple[str, ...] = table.notes
    if lenient and item.has_nulls():
        n = count(item.null_count(), "row")
        said += (f"{title}: {n} without an id: dropped",)
        others, item = others.filter(item.is_not_null()), item.drop_nulls()
    if len(item) == 0:
        msg = f"{title}: contains no items"
        raise DataError(msg)
    if not chosen:
        msg = (
            f"{title} has no columns besides {name!r}; it needs columns of features too"
        )
        raise DataError(msg)
    rest = dict(zip(chosen, others.get_columns(), strict=True))
    features = _of_columns(item, rest, title, named="features" in (columns or {}))
    return replace(features, notes=(*said, *features.notes))


def _item_column(table: Table, column: Any) -> str:
    """Return the column of items: the one given, if the table has it, or a known one.

    A column given for all tables of an evaluation may be meant for another table.
    """
    names, title = table.names, table.name
    columns = {"item": column} if column in names else {}
    name = resolve_table(names, "items", {**columns, **table.columns}, title).get(
        "item"
    )
    if name is None:
        raise no_part(names, "item", title, "column of items")
    return name


def _chosen(names: Sequence[str], item: str, wanted: Any, title: str) -> list[str]:
    """Return the columns of features: those given, or all but the items."""
    others = [name for name in names if name != item]
    for name in wanted or ():
        if name not in others:
            msg = (
                f"{title} has no feature column {name!r}; it has "
                f"{', '.join(others)}{nearest(str(name), others)}"
            )
            raise ColumnNotFoundError(msg)
    return others if wanted is None else list(wanted)


def _of_columns(
    item: pl.Series, rest: dict[str, pl.Series], title: str, *, named: bool
) -> Features:
    numbers: dict[str, pl.Series] = {}
    words: dict[str, pl.Series] = {}
    for name, column in rest.items():
        if column.dtype == pl.String:
            number = column.cast(pl.Float64, strict=False)
            plain = number.null_count() == column.null_count() < len(column)
            (numbers if plain else words)[name] = number if plain else column
        elif column.dtype.is_numeric() or column.dtype == pl.Boolean:
            numbers[name] = column.cast(pl.Float64)
        elif getattr(column.dtype, "inner", column.dtype).is_numeric():
            numbers |= _spread(column, name, title)
        else:
            words[name] = column
    known = item.unique(maintain_order=True)
    owner = _places(item, known)
    of_column = {
        name: _topic_rows(owner, column, name) for name, column in words.items()
    }
    nested = (pl.List, pl.Array)
    texts = {name for name in words if not isinstance(words[name].dtype, nested)}
    names = {} if named else _names_of_items(of_column, texts)
    words = {name: column for name, column in words.items() if name not in names}
    topics = [of_column[name] for name in words]
    left_out = tuple(
        f"{title}: {name!r} is not used as a topic, as {why}; to use it, give "
        "columns={'features': ...} or --col features=NAME"
        for name, why in names.items()
    )
    vectors = None
    if numbers:
        repeat = first_repeat(item.to_frame())
        if repeat is not None:
            again = item[repeat[0]]
            msg = f"{title}: item {again!r} appears twice; give its features in one row"
            raise DataError(msg)
        vectors = _finite(
            np.stack([column.to_numpy() for column in numbers.values()], axis=1),
            lambda row: f"item {item[row]!r}",
        )
        if not topics and bool(np.isin(vectors, (0.0, 1.0)).all()):
            # Columns of yes and no are topics with the names of the columns.
            places, which = np.nonzero(vectors)
            flags = pl.Series(list(numbers))[which]
            topics = [pl.DataFrame({"at": places, "topic": flags})]
    if not topics:
        return Features(known, vectors, notes=left_out)
    notes = left_out
    if not named and words and len(rest) - len(names) > 1:
        # Such as a year and a title next to genres.
        taken = [f"{', '.join(words)} as topics"]
        taken += [f"{', '.join(numbers)} as features"] if numbers else []
        said = (
            f"{title}: uses {' and '.join(taken)}; to select some of them, give "
            "columns={'features': ...} or --col features=NAME"
        )
        notes = (*left_out, said)
    every = pl.concat(topics).unique(maintain_order=True)
    return Features(
        known,
        vectors,
        every["at"].to_numpy(),
        every["topic"],
        np.ones(every.height),
        notes=notes,
    )


def _names_of_items(
    of_column: Mapping[str, pl.DataFrame], texts: Collection[str]
) -> dict[str, str]:
    """Return the columns that tell items apart, such as titles, and why these do.

    A few texts may differ by chance, unless another column has topics that recur. Words
    of titles recur too, so that only the name tells where each word is a text.
    """
    called = dict.fromkeys(filter(is_of_single_items, of_column), _BY_NAME)
    differ = [
        name
        for name, rows in of_column.items()
        if name in texts and rows["topic"].n_unique() >= _NEARLY * rows.height
    ]
    enough = _BESIDE if len(differ) < len(of_column) else _ENOUGH
    by_text = [name for name in differ if of_column[name].height >= enough]
    return called | dict.fromkeys(by_text, _BY_TEXT)


def _spread(column: pl.Series, name: str, title: str) -> dict[str, pl.Series]:
    """Return a column of vectors as a column for each number."""
    column = column.cast(pl.List(pl.Float64))
    lengths = column.list.len()
    if lengths.n_unique() != 1 or not lengths[0]:
        msg = f"{title}: the vectors in column {name!r} differ in length"
        raise DataError(msg)
    return {
        f"{name} {index}": column.list.get(index, null_on_oob=True)
        for index in range(int(lengths[0]))
    }


def _places(item: pl.Series, known: pl.Series) -> Ints:
    table = pl.DataFrame({"id": known, "at": np.arange(len(known), dtype=np.int64)})
    joined = pl.DataFrame({"id": item}).join(
        table, on="id", how="left", maintain_order="left"
    )
    places: Ints = joined["at"].to_numpy()
    return places


def _topic_rows(owner: Ints, column: pl.Series, name: str) -> pl.DataFrame:
    """Return an item and a topic per row; texts hold one, or several with | between."""
    frame = pl.DataFrame({"at": owner, "topic": column})
    if not isinstance(column.dtype, (pl.List, pl.Array)):
        try:
            frame = frame.with_columns(pl.col("topic").cast(pl.String))
        except pl.exceptions.PolarsError:
            msg = f"column {name!r} holds {column.dtype}; expected numbers or texts"
            raise DataError(msg) from None
        frame = frame.with_columns(pl.col("topic").str.split(_SEPARATOR))
    frame = frame.explode("topic").drop_nulls()
    return frame.with_columns(pl.col("topic").cast(pl.String)).filter(
        pl.col("topic") != ""
    )
