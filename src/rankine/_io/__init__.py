"""Readers: judgements, runs and tables, from whatever holds them, in a few forms.

- sources: the four forms of judgements and runs; rows turns any of them into rows.
- formats: the registry of formats; files and bytes open them, unpack unpacks them, and
  detect recognises them; csv, trec, json, parquet read them.
- columns: which column is what; fields: of text; values: ids and numbers of any type.
- mappings, records, frames, matrices, batches: what Python holds.
- tables, logs, items, texts: logs, features of items and texts.
- repeats: repeated rows, and what a lenient reader drops; itself: one table as both
  sides; text_columns: texts that Python holds, as a column.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankine._base.checks import check_count
from rankine._base.forks import need_threads
from rankine._conventions.convention import BY_RANK
from rankine._io import files
from rankine._io.batches import is_batches, read_batches
from rankine._io.columns import (
    ALIASES,
    ALIASES_OF_TABLES,
    check_parts,
    known_columns,
)
from rankine._io.frames import from_frame, is_column, is_frame, open_frame
from rankine._io.matrices import from_sparse, refuse_topk
from rankine._io.records import from_entries, from_records
from rankine._io.rows import lenient_rows, turned
from rankine._io.sources import (
    MAX_BYTES,
    PLAIN,
    File,
    Lists,
    Reading,
    Rows,
    Source,
    Stream,
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
    source = _read(data, role, how, name or role)
    if how.lower_is_better and role == "run":
        return turned(source)
    return source


def _read(data: Any, role: Role, how: Reading, name: str) -> Source:
    if isinstance(data, Source):
        return _as_read(data, role, how)
    if how.grades is not None and is_sparse(data):
        raise _no_words()
    if type(data).__name__ == "DatasetDict":
        splits = ", ".join(map(repr, data))
        msg = f"cannot read {name} from a DatasetDict; pass one of its splits: {splits}"
        raise FormatError(msg)
    if isinstance(data, (list, tuple)):
        refuse_topk(data)
        return _of_list(data, role, how, name)
    if isinstance(data, Mapping) and not is_sparse(data):
        return from_entries(data, role, how, name)
    need_threads()
    if isinstance(data, (str, os.PathLike)):
        return files.read_path(Path(os.fsdecode(data)), role, how)
    if role == "run" and is_batches(data) and (how.memory or not is_frame(data)):
        return read_batches(data, how, name)
    if is_frame(data):
        return from_frame(data, role, how, name=name)
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


def are_records(data: Sequence[Any], how: Reading) -> bool:
    """Say whether the entries of a list are rows that name their queries."""
    return bool(data) and all(_is_record(entry, how) for entry in data)


def _is_record(entry: Any, how: Reading) -> bool:
    """Say whether this is a row that names its query, and not {item: number}."""
    if not isinstance(entry, dict) or not all(isinstance(key, str) for key in entry):
        return False
    column = (how.columns or {}).get("query")
    return column in entry or bool(known_columns(list(entry), "user"))


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
    """Use what was read before; its file is read again if that must be otherwise."""
    if source.role not in {None, role}:
        words = {"run": "a run", "qrels": "judgements"}
        was, wanted = words[source.role], words[role]
        msg = f"{source.name} was read as {was} and cannot be used as {wanted}"
        raise DataError(msg)
    if not isinstance(source, Lists):
        need_threads()
    file = source.file
    if file is None and how.grades is not None:
        raise _no_words()
    asked = None if file is None else combined(file.how, how)
    if file is None or asked is None or _is_same(file.how, asked, source):
        return source
    if file.stamps is None:
        msg = (
            f"{source.name} can be read only once, and was already read in another "
            "way; write it to a file and give its path"
        )
        raise DataError(msg)
    if files.stamps_of(file.place) != file.stamps:
        msg = f"{source.name}: has changed since it was read; read it again"
        raise FormatError(msg)
    return files.read_path(file.place, role, asked)


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
    if isinstance(data, (str, os.PathLike)):
        return files.stamps_of(Path(os.fsdecode(data))) is not None
    if isinstance(data, (Rows, Stream)):
        return data.file is not None and data.file.stamps is not None
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
    source = read(run, "run", how, name)
    if source.name == "run" != name:  # of a matrix, which has no other name
        source = replace(source, name=name)
    if not part:
        refuse_empty(source)
    if order in BY_RANK and not source.ranked:
        msg = f"{source.name} has no rank column, which order={order!r} needs"
        raise DataError(msg)
    if not how.lenient:
        return source
    if isinstance(source, Stream) and how.memory is not None:
        return replace(source, lenient=True)  # part by part, when it is read
    return lenient_rows(source, "run")


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


def read_run(
    path: str | os.PathLike[str],
    *,
    format: str | None = None,  # noqa: A002 - the word users know
    columns: Mapping[str, Any] | None = None,
    encoding: str | None = None,
    max_bytes: int = MAX_BYTES,
) -> Source:
    """Read a run from a file.

    Args:
        path: a file, a folder or a pattern of files, or ``-`` for standard input, in
            any of the formats, compressed or not.
        format: ``trec``, ``trec-loose``, ``msmarco``, ``csv``, ``tsv``, ``beir``,
            ``movielens``, ``recbole``, ``parquet``, ``arrow``, ``json`` or ``ndjson``;
            recognised by the content if not given.
        columns: which column is what, as ``{"query": "userID", "item": ...}``, or by
            their numbers from 1.
        encoding: the encoding of text that is not UTF-8.
        max_bytes: how many bytes may be read, after unpacking.

    Returns:
        What `evaluate` takes as a run.
    """
    how = Reading(
        format=format, columns=columns, encoding=encoding, max_bytes=max_bytes
    )
    return _read_file(path, "run", how)


def read_qrels(
    path: str | os.PathLike[str],
    *,
    format: str | None = None,  # noqa: A002 - the word users know
    columns: Mapping[str, Any] | None = None,
    grades: Mapping[Any, float] | None = None,
    encoding: str | None = None,
    max_bytes: int = MAX_BYTES,
) -> Source:
    """Read judgements from a file.

    Args:
        path: a file, a folder or a pattern of files, or ``-`` for standard input, in
            any of the formats, compressed or not.
        format: ``trec``, ``csv``, ``tsv``, ``beir``, ``movielens``, ``recbole``,
            ``parquet``, ``arrow``, ``json`` or ``ndjson``; recognised by the content if
            not given.
        columns: which column is what, as ``{"query": "userID", "item": ...}``, or by
            their numbers from 1.
        grades: what each grade in words is worth, as ``{"Viewed": 0, "Clicked": 1}``.
        encoding: the encoding of text that is not UTF-8.
        max_bytes: how many bytes may be read, after unpacking.

    Returns:
        What `evaluate` takes as judgements.
    """
    how = Reading(
        format=format,
        columns=columns,
        grades=grades,
        encoding=encoding,
        max_bytes=max_bytes,
    )
    return _read_file(path, "qrels", how)


def _read_file(path: Any, role: Role, how: Reading) -> Source:
    """Read a file, and remember how, as it may have to be read otherwise later."""
    if not isinstance(path, (str, os.PathLike)):
        return read(path, role, how)
    _check(how)
    need_threads()
    place = Path(os.fsdecode(path))
    stamps = files.stamps_of(place)
    try:
        source = files.read_path(place, role, how)
    except DataError as error:
        if stamps is None:
            raise
        # Who evaluates it may be lenient; who is not is told then what is wrong.
        how = replace(how, lenient=True)
        try:
            source = files.read_path(place, role, how)
        except DataError:
            raise error from None
    return replace(source, file=File(place, how, stamps))


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
