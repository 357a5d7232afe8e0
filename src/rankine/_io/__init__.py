"""Readers: judgements, runs and tables, from whatever holds them, in a few forms.

- sources: the four forms of judgements and runs; rows turns any of them into rows.
- formats: the registry of formats; files and bytes open them, unpack unpacks them, and
  detect recognises them; csv, trec, json, parquet read them.
- save: runs and judgements in a file; writers: one for each format that is written.
- columns: which column is what; fields: of text; cells: of lists; values: ids and
  numbers of any type.
- mappings, records, frames, matrices, batches: what Python holds; irds: judgements of
  ir_datasets. shapes: what libraries hand out, brought to one of these; hits: the
  results of one query in it.
- tables, logs, items, texts: logs, features of items and texts.
- repeats: repeated rows, and what a lenient reader drops; collapse: chunks of
  documents; itself: one table as both
  sides; text_columns: texts that Python holds, as a column.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from rankine._base.checks import check_count
from rankine._base.forks import need_threads
from rankine._conventions.convention import BY_RANK
from rankine._io import files
from rankine._io.batches import is_batches, read_batches
from rankine._io.collapse import collapsed
from rankine._io.columns import (
    ALIASES,
    ALIASES_OF_TABLES,
    check_parts,
)
from rankine._io.frames import is_column, is_frame, open_frame
from rankine._io.irds import PREFIX, read_dataset
from rankine._io.matrices import from_sparse
from rankine._io.records import are_records, from_entries, from_records
from rankine._io.rows import lenient_rows, turned
from rankine._io.shapes import of_frame, plainer
from rankine._io.sources import (
    MAX_BYTES,
    PLAIN,
    Dense,
    Given,
    Lists,
    Reading,
    Rows,
    Source,
    Stream,
    bare,
    is_sparse,
    refuse_empty,
)
from rankine._io.tables import Table
from rankine._io.values import kind_of
from rankine.errors import DataError, FormatError, ParameterError

if TYPE_CHECKING:
    from rankine._io.columns import Role


_ENTRIES = (list, dict, set, frozenset)
"""What may be the entry of a query in a list; a tuple may be a row without names."""


def read(
    data: Any, role: Role, how: Reading = PLAIN, name: str | None = None
) -> Source:
    """Read judgements or a run from anything that is accepted for them.

    Messages call data that are not a file by a name, or by their role.
    """
    if how is not PLAIN:
        _check(how)
    data = bare(data)
    if isinstance(data, Source):
        return _as_read(data, role, how)
    return _as_scores(_read(data, role, how, name or role), role, how)


def _as_scores(source: Source, role: Role, how: Reading) -> Source:
    """Turn distances into scores, if a run has them."""
    return turned(source) if how.lower_is_better and role == "run" else source


def _read(data: Any, role: Role, how: Reading, name: str) -> Source:
    data = plainer(data, role, how, name)
    if isinstance(data, Source):
        return data
    if how.grades is not None and is_sparse(data):
        raise _no_words()
    if isinstance(data, (list, tuple)):
        return _of_list(data, role, how, name)
    if isinstance(data, Mapping) and not is_sparse(data):
        return from_entries(data, role, how, name)
    need_threads()
    if isinstance(data, (str, os.PathLike)):
        place = os.fsdecode(data)
        if place.startswith(PREFIX):
            return read_dataset(place, role, how)
        return files.read_path(Path(place), role, how)
    if role == "run" and is_batches(data) and (how.memory or not is_frame(data)):
        return read_batches(data, how, name)
    if is_frame(data):
        return of_frame(data, role, how, name)
    if is_sparse(data):
        return from_sparse(data, role, name)
    msg = (
        f"cannot read {name} from {kind_of(data)}; expected a path, a mapping by "
        "query, a pandas, polars or pyarrow frame, an iterator of such frames, or a "
        f"sparse matrix{_hint(data, role)}"
    )
    raise FormatError(msg)


def _hint(data: Any, role: Role) -> str:
    """Say what to do with what holds numbers or ids, but not for whom."""
    if is_column(data):
        return "; this is one column: pass a frame with columns of queries and items"
    if type(data).__name__ not in {"ndarray", "Tensor"}:
        return ""
    if getattr(data, "ndim", 2) == 1:
        return "; for one item per query, pass a list for each, [[0], [1]]"
    if role == "run":
        return "; wrap a matrix with from_scores or from_ranked"
    return (
        "; wrap a matrix of grades with from_scores, or pass the lists of relevant "
        "items, x.tolist()"
    )


def _of_list(data: Sequence[Any], role: Role, how: Reading, name: str) -> Source:
    """Read a list: of records, which name their query; or an entry per query."""
    odd = next((entry for entry in data if not isinstance(entry, _ENTRIES)), None)
    if odd is not None:
        msg = (
            f"cannot read {name} from a list that holds {kind_of(odd)}; expected a "
            "list of items for each query, such as [['a', 'b'], ['c']], or records "
            f"with a query{_hint_of_entry(odd, role)}"
        )
        raise FormatError(msg)
    if are_records(data, how):
        need_threads()
        return from_records(list(data), role, how, name)
    return from_entries(dict(enumerate(data)), role, how, name, len(data))


def _hint_of_entry(entry: Any, role: Role) -> str:
    """Say what to do with what stands for a query where a list of items should."""
    if type(entry).__name__ in {"ndarray", "Tensor"}:
        if role == "qrels":
            return "; for arrays of relevant items, pass [x.tolist() for x in arrays]"
        return "; for a matrix of ids, best first, pass from_ranked(ids)"
    if isinstance(entry, tuple) and not isinstance(next(iter(entry), ""), (str, int)):
        return "; for ids with scores, pass {id: score} for each query"
    if isinstance(entry, tuple):
        return "; for rows, pass a frame with columns query, item and score"
    if isinstance(entry, (str, int)):
        return "; for one item per query, pass a list for each, [['a'], ['b']]"
    return ""


def _as_read(source: Source, role: Role, how: Reading) -> Source:
    """Use what was read before; what it was read from is read again if need be."""
    if source.role not in {None, role}:
        words = {"run": "a run", "qrels": "judgements"}
        was, wanted = words[source.role], words[role]
        msg = f"{source.name} was read as {was} and cannot be used as {wanted}"
        raise DataError(msg)
    if not isinstance(source, Lists):
        need_threads()
    given = source.given
    if given is None:
        if how.grades is not None:
            raise _no_words()
        left = source if how.subtopics else _without_subtopics(source)
        return _as_scores(left, role, how)
    asked = combined(given.how, how)
    if _is_same(given.used, asked, source):
        return source
    return read_again(given, role, asked, source.name)


def read_again(given: Given, role: Role, how: Reading, name: str) -> Source:
    """Read data in another way than before, unless they can be read only once."""
    if given.stamps is None:
        msg = (
            f"{name} can be read only once, and was already read in another way; write "
            "it to a file and give its path"
        )
        raise DataError(msg)
    if isinstance(given.data, Path) and files.stamps_of(given.data) != given.stamps:
        msg = f"{name}: has changed since it was read; read it again"
        raise FormatError(msg)
    if given.again is not None:
        return given.again(how)
    source = read(given.data, role, how, name)
    return lenient_rows(source, role) if given.how.lenient else source


def _without_subtopics(source: Source) -> Source:
    """Leave out the subtopics of judgements, as where they are not asked for."""
    if isinstance(source, Rows) and "subtopic" in source.frame.columns:
        return replace(source, frame=source.frame.drop("subtopic"))
    return source


def combined(before: Reading, how: Reading) -> Reading:
    """Return what is said of data now, and what was said when they were read.

    What `read_run` and `read_qrels` were told is about this file, and goes first.
    """
    return replace(
        how,
        format=before.format,
        columns=before.columns or how.columns,
        grades=before.grades or how.grades,
        encoding=before.encoding,
        max_bytes=before.max_bytes,
        lenient=before.lenient or how.lenient,
        lower_is_better=before.lower_is_better or how.lower_is_better,
    )


def _is_same(before: Reading, how: Reading, source: Source) -> bool:
    """Say whether data would be read as before; what is in memory stays there."""
    memory = how.memory if source.in_parts else before.memory
    return replace(how, memory=memory) == before


def _no_words() -> ParameterError:
    return ParameterError(
        "grades= gives words a value, but the grades of these judgements are already "
        "numbers"
    )


def opens_again(data: Any) -> bool:
    """Say whether data can be read a second time, in another way."""
    data = bare(data)
    if isinstance(data, (str, os.PathLike)):
        return files.stamps_of(Path(os.fsdecode(data))) is not None
    if isinstance(data, (Rows, Stream)):
        return data.given is not None and data.given.stamps is not None
    return True


def source_of(
    run: Any,
    how: Reading = PLAIN,
    order: str | None = None,
    *,
    part: bool = False,
    name: str = "run",
) -> Source:
    """Read a run; refuse one without the rank column if that was asked for.

    A run without rows is refused too, unless it is a part of a run. A run that is not a
    file is called by its name.
    """
    source = read(run, "run", replace(how, collapse=None), name)
    if source.name == "run" != name:  # of a matrix, which has no other name
        source = replace(source, name=name)
    if not part:
        refuse_empty(source)
    if order in BY_RANK and not source.ranked:
        msg = f"{source.name} has no rank column, which order={order!r} needs"
        raise DataError(msg)
    if isinstance(source, Stream) and how.memory is not None:
        source = replace(source, lenient=how.lenient)  # part by part, when it is read
    elif how.lenient:
        source = lenient_rows(source, "run")
    return source if how.collapse is None else collapsed(source, how.collapse)


def open_table(data: Any, title: str, how: Reading = PLAIN) -> Table:
    """Open a table with named columns, so that its columns can be seen and read.

    Args:
        data: a path, a pandas, polars or pyarrow frame, or what `read_table` gives.
        title: what to call it in messages, if it is not a path.
        how: what the user says about a file.
    """
    if isinstance(data, Table):
        return data
    need_threads()
    if isinstance(data, (str, os.PathLike)):
        return files.read_table(Path(os.fsdecode(data)), how)
    if is_frame(data):
        return Table(title, (open_frame(data, title),), how.columns or {})
    msg = (
        f"{title} is of type {type(data).__name__}; expected a path or a pandas, "
        "polars or pyarrow frame"
    )
    raise FormatError(msg)


def _check(how: Reading, parts: Collection[str] = ALIASES) -> None:
    grades: Any = how.grades
    if grades is not None and not isinstance(grades, Mapping):
        msg = f"grades must be {{word: number}}, got {grades!r}"
        raise ParameterError(msg)
    for word, worth in (grades or {}).items():
        if not isinstance(worth, Real):
            msg = f"grades maps {word!r} to {worth!r}, which is not a number"
            raise ParameterError(msg)
    columns: Any = how.columns
    if columns is not None and not isinstance(columns, Mapping):
        msg = f"columns must be {{part: column}}, got {columns!r}"
        raise ParameterError(msg)
    check_parts(columns or {}, parts)
    for name in ("format", "encoding"):
        value = getattr(how, name)
        if value is not None and not isinstance(value, str):
            msg = f"{name} must be text, got {value!r}"
            raise ParameterError(msg)
    check_count("max_bytes", how.max_bytes, least=1)


def remembered(data: Any, role: Role, how: Reading, name: str | None = None) -> Source:
    """Read data, and remember them, as they may have to be read otherwise later.

    What only a lenient reader takes is kept, unless it can be read only once: who
    evaluates it may be lenient, and who is not is told then what is wrong.
    """
    data = bare(data)
    _check(how)
    stamps: tuple[tuple[str, int, int], ...] | None = ()
    if isinstance(data, (str, os.PathLike)):
        need_threads()
        data = Path(os.fsdecode(data))
        stamps = files.stamps_of(data)
    batches = is_batches(data) and not isinstance(data, pl.LazyFrame)
    used = how
    try:
        source = read(data, role, how, name)
    except DataError as error:
        if batches or stamps is None or how.lenient:
            raise
        used = replace(how, lenient=True)
        try:
            source = read(data, role, used, name)
        except DataError:
            raise error from None
    if how.lenient:
        source = lenient_rows(source, role)
    if batches or isinstance(data, Source) or isinstance(source, Dense):
        return source
    return replace(source, given=Given(data, how, used, stamps))


def read_table(
    path: str | os.PathLike[str],
    *,
    format: str | None = None,  # noqa: A002 - the word users know
    columns: Mapping[str, Any] | None = None,
    encoding: str | None = None,
    max_bytes: int = MAX_BYTES,
) -> Table:
    """Read a table with named columns from a file: a log, recommendations or items.

    Args:
        path: a file, a folder or a pattern of files, or ``-`` for standard input, in
            any of the formats, compressed or not.
        format: ``csv``, ``tsv``, ``beir``, ``recbole``, ``parquet``, ``arrow``,
            ``json`` or ``ndjson``; recognised by the content if not given.
        columns: which column is what, as ``{"user": "visitor", "reward": ...}``, or by
            their numbers from 1.
        encoding: the encoding of text that is not UTF-8.
        max_bytes: how many bytes may be read, after unpacking.

    Returns:
        What `ctr` takes as a log and as recommendations, and `evaluate` as items=. Only
        the columns that are needed are read, and only when they are needed.
    """
    how = Reading(
        format=format, columns=columns, encoding=encoding, max_bytes=max_bytes
    )
    _check(how, ALIASES_OF_TABLES)
    return open_table(path, "table", how)
