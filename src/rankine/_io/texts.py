"""Texts of queries and items by their ids, from files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from rankine._io import open_table
from rankine._io.columns import known_columns
from rankine._io.tables import origin_of, together
from rankine._io.values import ids
from rankine.errors import ColumnNotFoundError, DataError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from rankine._io.tables import Table

QUERIES, ITEMS = "queries", "items"
_IDS = {
    QUERIES: (
        "query_id", "queryid", "qid", "topic_id", "topic", "user_id", "query", "user",
    ),
    ITEMS: (
        "item_id", "itemid", "doc_id", "docid", "docno", "document_id", "passage_id",
        "pid", "product_id", "movie_id", "movieid", "item", "doc",
    ),
}  # fmt: skip
"""What ids are of, by the name of their column; queries and items may share ids."""
_PARTS = {
    "id": (
        "_id", "id", "query_id", "queryid", "qid", "topic_id", "topic", "item_id",
        "itemid", "doc_id", "docid", "docno", "document_id", "passage_id", "pid",
        "product_id", "movie_id", "movieid", "user_id", "query", "item", "doc", "user",
    ),
    **_IDS,
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
_ROWS = 20_000
"""Rows that are read at a time."""


class TextFiles:
    """Texts by ids in files, of which only those that are asked for are held.

    A file has a column of ids and one of texts, with a header or, if there are just
    two, without; or it is a JSON object {id: text}. If there are titles and texts, both
    are taken. Ids are of queries or of items if it is said so, or if the name of their
    column is that of one of them; else they are of both.

    Args:
        paths: the files.
        whose: what their ids are of, `QUERIES` or `ITEMS`, if that is known.

    Raises:
        ColumnNotFoundError: there is no column of ids or of texts.
    """

    def __init__(self, paths: Iterable[str | Path], whose: str | None = None) -> None:
        self._tables = [open_table(path, "texts") for path in paths]
        self._columns = [_columns_of(table, whose) for table in self._tables]
        self._whose = [whose or _whose(columns) for columns in self._columns]

    def of(
        self, queries: Iterable[str], items: Iterable[str]
    ) -> tuple[dict[str, str], dict[str, str]]:
        """Return the texts of some queries and of some items, by their ids.

        If files disagree, the first of them counts. Each is read once.

        Raises:
            DataError: one of the ids has two texts in one file.
        """
        wanted = {QUERIES: [*queries], ITEMS: [*items]}
        texts: dict[str, dict[str, str]] = {QUERIES: {}, ITEMS: {}}
        files = zip(self._tables, self._columns, self._whose, strict=True)
        for table, columns, whose in files:
            kinds = [QUERIES, ITEMS] if whose is None else [whose]
            names = dict.fromkeys(name for kind in kinds for name in wanted[kind])
            if not names:
                continue
            found = columns
            if not isinstance(found, dict):
                ids_wanted = pl.Series([*names], dtype=pl.String)
                found = _texts_of(table, found, ids_wanted)
            for kind in kinds:
                here = {name: found[name] for name in wanted[kind] if name in found}
                texts[kind] = here | texts[kind]
        return texts[QUERIES], texts[ITEMS]


def _whose(columns: list[str] | dict[str, str]) -> str | None:
    """Say what ids are of, by the name of their column; None if it does not say so."""
    if isinstance(columns, dict) or not columns:
        return None
    name = columns[0].casefold()
    return next((kind for kind, names in _IDS.items() if name in names), None)


def _columns_of(table: Table, whose: str | None) -> list[str] | dict[str, str]:
    """Return the columns of ids, texts and titles; or an object's own entries.

    There are none if the names of the columns are the first row.
    """
    names = table.names
    text = next(iter(known_columns(names, "text", _PARTS)), None)
    others = [name for name in names if name != text]
    keys = known_columns(others, "id", _PARTS)
    if whose is not None:
        keys = [*known_columns(others, whose, _PARTS), *keys]
    key = next(iter(keys), None)
    if key is not None and text is not None:
        title = next(iter(known_columns(others, "title", _PARTS)), None)
        return [key, text] if title in {None, key} else [key, text, str(title)]
    if "json" in table.kind:
        entries = _object_of(table)
        if entries is not None:
            return entries
    elif len(names) == _PAIR and not table.kind.startswith(("parquet", "arrow")):
        return []
    shown = ", ".join(names[:10])
    msg = (
        f"{table.name} has no columns of ids and texts; it has {shown}, and names such "
        "as id, query_id, item_id and text, title, contents are recognised"
    )
    raise ColumnNotFoundError(msg)


def _texts_of(table: Table, columns: list[str], wanted: pl.Series) -> dict[str, str]:
    """Read the texts of some ids, a few rows at a time."""
    texts: dict[str, str] = {}
    names = columns or [*table.names]
    if not columns:  # What was taken for the names of columns is the first row.
        first = pl.DataFrame({name: [name] for name in names})
        _keep(texts, first[names[0]], _letters(first[names[1]]), wanted, table.name)
    for loaded in table.batches(names, (), _ROWS):
        frame = together([rows for rows, _ in loaded], [origin for _, origin in loaded])
        keys = frame[names[0]]
        if columns:
            origin: Any = origin_of(table.name, loaded)
            keys = ids(keys, "id", origin, hint="")[0]
        words = [_letters(frame[name]) for name in [*names[2:], names[1]]]
        said = words[0] if len(words) == 1 else _joined(*words)
        _keep(texts, keys, said, wanted, table.name)
    return texts


def _keep(
    texts: dict[str, str],
    keys: pl.Series,
    said: pl.Series,
    wanted: pl.Series,
    name: str,
) -> None:
    """Add the texts that are wanted; refuse an id with two of them."""
    columns: dict[str, Any] = {"id": keys.cast(pl.String), "text": said}
    frame = pl.DataFrame(columns).drop_nulls()
    for key, text in frame.filter(pl.col("id").is_in(wanted.implode())).iter_rows():
        if texts.setdefault(key, text) != text:
            msg = f"{name}: {key!r} has two different texts"
            raise DataError(msg)


def _joined(title: pl.Series, text: pl.Series) -> pl.Series:
    """Put titles before texts, where there are both."""
    frame = pl.DataFrame({"title": title, "text": text})
    both = pl.concat_str("title", "text", separator=": ", ignore_nulls=True)
    return frame.select(both.alias("text"))["text"]


def _object_of(table: Table) -> dict[str, str] | None:
    """Return the entries of a JSON object whose values are texts; None if it is not."""
    entries = table.parts[0].entries
    if entries is None:  # an id has the name of a column
        ((frame, _),) = table.load([*table.names])
        entries = frame.row(0, named=True) if frame.height == 1 else {}
    texts = {name: text for name, text in entries.items() if text is not None}
    if not texts or not all(isinstance(text, str) for text in texts.values()):
        return None
    return {name: text[:_LETTERS] for name, text in texts.items()}


def _letters(column: pl.Series) -> pl.Series:
    """Return a column as texts that are not too long, None where they are empty."""
    texts = column.cast(pl.String).str.slice(0, _LETTERS).str.strip_chars()
    return texts.set(texts == "", None)
