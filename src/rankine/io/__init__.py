"""Readers: whatever holds judgements or a run, brought into one of a few shapes."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankine.errors import DataError, FormatError, ParameterError
from rankine.io.sources import Dense, Lists, Rows, Stream

if TYPE_CHECKING:
    from rankine.io.roles import Role
    from rankine.io.sources import Source


def read(
    data: Any,
    role: Role,
    *,
    format: str | None = None,  # noqa: A002 - the word users know
    columns: Mapping[str, str] | None = None,
    grades: Mapping[Any, float] | None = None,
    by_rank: bool = False,
) -> Source:
    """Read judgements or a run from anything that is accepted for them."""
    if grades is not None:
        _check_worth(grades)
    if isinstance(data, (Rows, Stream, Lists, Dense)):
        own = "run" if isinstance(data, Stream) else getattr(data, "role", None)
        if own is not None and own != role:
            word = {"run": "a run", "qrels": "judgements"}
            msg = f"{data.name} was read as {word[own]}, and cannot be {word[role]}"
            raise DataError(msg)
        return data
    if isinstance(data, Mapping):
        if grades is not None:
            data = _graded(data, grades)
        return Lists(data, role)
    if isinstance(data, (str, os.PathLike)):
        from rankine.io.files import read_file  # noqa: PLC0415 - only for files

        return read_file(
            Path(data),
            role,
            format=format,
            columns=columns,
            grades=grades,
            by_rank=by_rank,
        )
    from rankine.io.frames import from_frame, is_frame  # noqa: PLC0415
    from rankine.io.mappings import from_sparse, is_sparse  # noqa: PLC0415

    if is_frame(data):
        return from_frame(data, role, columns=columns, grades=grades, by_rank=by_rank)
    if is_sparse(data):
        return from_sparse(data, role)
    kind = type(data).__name__
    hint = ""
    if kind == "ndarray":
        hint = "; wrap a matrix with from_scores or from_ranked"
    msg = (
        f"cannot read {role} from a {kind}; expected a path, a mapping by query, a "
        f"frame of pandas, polars or pyarrow, or a sparse matrix{hint}"
    )
    raise FormatError(msg)


def _check_worth(grades: Any) -> None:
    from numbers import Real  # noqa: PLC0415

    if not isinstance(grades, Mapping):
        msg = f"grades must be {{word: number}}, got {grades!r}"
        raise ParameterError(msg)
    for word, worth in grades.items():
        if not isinstance(worth, Real):
            msg = f"grades gives {word!r} the worth {worth!r}, which is not a number"
            raise ParameterError(msg)


def _graded(data: Mapping[Any, Any], grades: Mapping[Any, float]) -> dict[Any, Any]:
    made: dict[Any, Any] = {}
    for query, entry in data.items():
        if not isinstance(entry, Mapping):
            msg = (
                f"the judgements of query {query!r} are a {type(entry).__name__} "
                "without grades, for which grades= was given"
            )
            raise DataError(msg)
        for item, value in entry.items():
            if value not in grades:
                known = ", ".join(repr(key) for key in grades)
                msg = (
                    f"the grade of item {item!r} for query {query!r} is {value!r}, "
                    f"which grades does not have; it has {known}"
                )
                raise DataError(msg)
        made[query] = {item: grades[value] for item, value in entry.items()}
    return made


def read_run(
    path: str | os.PathLike[str],
    *,
    format: str | None = None,  # noqa: A002 - the word users know
    columns: Mapping[str, str] | None = None,
) -> Source:
    """Read a run from a file.

    Args:
        path: TREC text, or CSV, TSV or Parquet with named columns.
        format: ``trec``, ``csv``, ``tsv`` or ``parquet``; told by the content if not
            given.
        columns: which column is what, as ``{"query": "userID", "item": ...}``.

    Returns:
        What `evaluate` takes for a run.
    """
    return read(path, "run", format=format, columns=columns)


def read_qrels(
    path: str | os.PathLike[str],
    *,
    format: str | None = None,  # noqa: A002 - the word users know
    columns: Mapping[str, str] | None = None,
    grades: Mapping[Any, float] | None = None,
) -> Source:
    """Read judgements from a file.

    Args:
        path: TREC text, or CSV, TSV or Parquet with named columns.
        format: ``trec``, ``csv``, ``tsv`` or ``parquet``; told by the content if not
            given.
        columns: which column is what, as ``{"query": "userID", "item": ...}``.
        grades: what each grade in words is worth, as ``{"Viewed": 0, "Clicked": 1}``.

    Returns:
        What `evaluate` takes for judgements.
    """
    return read(path, "qrels", format=format, columns=columns, grades=grades)
