"""Chunks of documents: a run of chunks becomes one of documents.

The best chunk decides where its document stands, and the others are left out.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import polars as pl

from rankine._base.text import Counted, shown
from rankine._io.repeats import best_of_repeats, replaced
from rankine._io.rows import as_rows
from rankine._io.sources import Dense, Lists, Rows, Stream
from rankine.errors import DataError, ParameterError

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from rankine._io.sources import Source

_GROUP = r"expected one group, as in (.*)#\d+, that holds the id of the document"


@dataclass(frozen=True, eq=False)
class Collapse:
    """How the document of a chunk is found.

    Attributes:
        documents: chunk -> document, if that is a table.
        pattern: a pattern with one group, the id of the document, if there is one.
        column: the column of the run that ids were read from, if there is neither.
        words: what ids are that have no document, in words.
        first: whether the first chunk given decides, and not the best.
    """

    documents: Mapping[str, str] | None = None
    pattern: str | None = None
    column: str | None = None
    words: str = ""
    first: bool = False

    def renamed(self, rows: Rows) -> Rows:
        """Put documents in the place of chunks; ids without one stay as they are."""
        if self.column is not None:
            return rows
        item = rows.frame["item"]
        chunk = item.cast(pl.String)
        if self.pattern is not None:
            found = chunk.str.extract(self.pattern, 1)
        else:
            found = chunk.replace_strict(
                list(self.documents or ()),
                list((self.documents or {}).values()),
                default=None,
                return_dtype=pl.String,
            )
        found = found.set(found == "", None)  # no id is empty
        n_kept = int((found.is_null() & chunk.is_not_null()).sum())
        document = pl.select(pl.coalesce(found, chunk)).to_series().alias("item")
        frame = rows.frame.with_columns(document)
        said = Counted(f"{rows.name}: ", n_kept, "row", f" {self.words}: id kept")
        return replace(rows, frame=frame, notes=(*rows.notes, *([said] * (n_kept > 0))))

    def best(self, frame: pl.DataFrame) -> tuple[Any, int]:
        """Return the rows to keep, None for all, and how many others there are."""
        seen = frame.drop("rank", *(["value"] if self.first else []), strict=False)
        kept = best_of_repeats(seen)
        return kept, 0 if kept is None else frame.height - len(kept)

    def left_out(self, name: str, n: int) -> Counted:
        """Say how many rows were left out."""
        which = "an earlier" if self.first else "a better"
        fate = f" of a document that {which} row of the list has: left out"
        return Counted(f"{name}: ", n, "row", fate)


def collapsed(run: Source, how: Collapse) -> Source:
    """Put documents in the place of the chunks of a run, each with its best chunk.

    What is read in parts gets the ids here, and is left with the best when its lists
    are whole.
    """
    if how.column is not None and isinstance(run, (Lists, Dense)):
        msg = (
            f"collapse names the column {how.column!r}, and {run.name} has no columns; "
            "give {chunk: document}, a separator or a pattern"
        )
        raise DataError(msg)
    if isinstance(run, Stream) and run.memory is not None:
        return replace(run, open=_renamed(run.open, how), collapse=how)
    rows = how.renamed(as_rows(run, "run"))
    kept, n = how.best(rows.frame)
    return rows if kept is None else replaced(rows, kept, how.left_out(rows.name, n))


def _renamed(
    opened: Callable[[], Generator[Rows, None, None]], how: Collapse
) -> Callable[[], Generator[Rows, None, None]]:
    def parts() -> Generator[Rows, None, None]:
        with closing(opened()) as chunks:
            yield from map(how.renamed, chunks)

    return parts


def collapse_of(given: Any) -> Collapse:
    """Return how chunks are collapsed.

    Args:
        given: {chunk: document}; a pattern with one group; a separator, such as ``#``;
            or the name of a column of the run, which has a letter.

    >>> collapse_of("#").words, collapse_of("doc_id").column
    ('without an id before #', 'doc_id')
    """
    if isinstance(given, Mapping):
        documents = {str(chunk): str(document) for chunk, document in given.items()}
        if not documents:
            msg = "collapse is an empty mapping; expected {chunk: document}"
            raise ParameterError(msg)
        return Collapse(documents, words="that collapse does not name")
    if not isinstance(given, str) or not given:
        msg = (
            "collapse must be {chunk: document}, a pattern with one group, a separator "
            f"such as '#', or a column of the run, got {shown(given)}"
        )
        raise ParameterError(msg)
    if (pattern := _pattern(given)) is not None:
        return Collapse(pattern=pattern, words=f"not like {given}")
    if any(letter.isalpha() for letter in given):
        return Collapse(column=given)
    mark = "".join(f"\\x{{{ord(letter):x}}}" for letter in given)
    return Collapse(pattern=f"(?s)^(.*){mark}", words=f"without an id before {given}")


def _pattern(text: str) -> str | None:
    """Return a pattern that matches whole ids; None if a text is not a pattern."""
    try:
        n_groups = re.compile(text).groups
    except re.error:
        n_groups = 0
    if n_groups == 0 and "\\" not in text:
        return None
    whole, error = f"^(?:{text})$", "it has no group or several"
    if n_groups == 1:
        try:
            pl.Series([""]).str.extract(whole, 1)
        except pl.exceptions.PolarsError as why:
            error = " ".join(str(why).split())
        else:
            return whole
    msg = f"the pattern {text!r} of collapse cannot be used ({error}); {_GROUP}"
    raise ParameterError(msg)
