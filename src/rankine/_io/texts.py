"""Texts of queries and items by their ids, from files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from rankine._io import open_table
from rankine._io.columns import known_columns
from rankine._io.repeats import first_repeat
from rankine._io.tables import origin_of, together
from rankine._io.values import ids
from rankine.errors import ColumnNotFoundError, DataError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from rankine._io.tables import Table

_PARTS = {
    "id": (
        "_id", "id", "query_id", "queryid", "qid", "topic_id", "topic", "item_id",
        "itemid", "doc_id", "docid", "docno", "document_id", "passage_id", "pid",
        "product_id", "movie_id", "movieid", "user_id", "query", "item", "doc", "user",
    ),
    "title": ("title", "name", "product_title"),
    "text": (
        "text", "contents", "content", "passage", "body", "query_text", "user_query",
        "description", "query", "title", "name", "product_title",
    ),
}  # fmt: skip
"""What a column can be, and the names by which it is known."""
_LETTERS = 1000
"""Letters of a text that are kept; more are never shown."""
_PAIR = 2


def read_texts(paths: Iterable[str | Path]) -> dict[str, str]:
    """Read texts by id from all files; if an id is in several, its first text counts.

    A file has a column of ids and one of texts, with a header or, where there are
    just two, without; or it is a JSON object {id: text}. Where there are titles and
    texts, both are taken.

    Raises:
        ColumnNotFoundError: there is no column of ids or of texts.
        DataError: an id has two texts in one file.
    """
    texts: dict[str, str] = {}
    for path in paths:
        texts = _texts_of(open_table(path, "texts")) | texts
    return texts


def _texts_of(table: Table) -> dict[str, str]:
    names = table.names
    text = next(iter(known_columns(names, "text", _PARTS)), None)
    others = [name for name in names if name != text]
    key = next(iter(known_columns(others, "id", _PARTS)), None)
    if key is None or text is None:
        return _unnamed(table)
    title = next(iter(known_columns(others, "title", _PARTS)), None)
    wanted = [key, text] if title in {None, key} else [key, text, str(title)]
    loaded = table.load(wanted)
    frame = together([rows for rows, _ in loaded], [origin for _, origin in loaded])
    words = [_letters(frame[name]) for name in [*wanted[2:], text]]
    said = words[0] if len(words) == 1 else _joined(*words)
    origin: Any = origin_of(table.name, loaded)
    keys = ids(frame[key], "id", origin, hint="")[0]
    return _by_id(keys, said, table.name)


def _joined(title: pl.Series, text: pl.Series) -> pl.Series:
    """Put titles before texts, where there are both."""
    frame = pl.DataFrame({"title": title, "text": text})
    both = pl.concat_str("title", "text", separator=": ", ignore_nulls=True)
    return frame.select(both.alias("text"))["text"]


def _unnamed(table: Table) -> dict[str, str]:
    """Read a file without a header, or the object {id: text}."""
    names = table.names
    if "json" in table.kind:
        entries = _object_of(table)
        if entries is not None:
            return entries
    elif len(names) == _PAIR and not table.kind.startswith(("parquet", "arrow")):
        # What was taken for the names of columns is the first row.
        loaded = table.load([*names])
        frame = together([rows for rows, _ in loaded], [origin for _, origin in loaded])
        keys, texts = (
            pl.concat([pl.Series([name]), _letters(frame[name])]) for name in names
        )
        return _by_id(keys, texts, table.name)
    shown = ", ".join(names[:10])
    msg = (
        f"{table.name} has no columns of ids and texts; it has {shown}, and names such "
        "as id, query_id, item_id and text, title, contents are recognised"
    )
    raise ColumnNotFoundError(msg)


def _object_of(table: Table) -> dict[str, str] | None:
    """Return the entries of a JSON object whose values are texts; None if it is not."""
    ((frame, _),) = table.load([*table.names])
    if frame.height != 1 or any(kind != pl.String for kind in frame.dtypes):
        return None
    return {
        name: str(text)[:_LETTERS]
        for name, text in frame.row(0, named=True).items()
        if text is not None
    }


def _letters(column: pl.Series) -> pl.Series:
    """Return a column as texts that are not too long, None where they are empty."""
    texts = column.cast(pl.String).str.slice(0, _LETTERS).str.strip_chars()
    return texts.set(texts == "", None)


def _by_id(keys: pl.Series, texts: pl.Series, name: str) -> dict[str, str]:
    """Return texts by ids; refuse an id with two of them."""
    columns: dict[str, Any] = {"id": keys.cast(pl.String), "text": texts}
    frame = pl.DataFrame(columns).drop_nulls().unique(maintain_order=True)
    twice = first_repeat(frame.select("id"))
    if twice is not None:
        msg = f"{name}: {frame['id'][twice[0]]!r} has two different texts"
        raise DataError(msg)
    return dict(frame.iter_rows())
