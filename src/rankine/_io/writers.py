"""Writers of formats: what is read back is what was written, to the last bit.

Each takes a sheet and returns the content of a file. What a format cannot hold without
being read back as something else is refused.
"""

from __future__ import annotations

import io
import json
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from rankine.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_BREAKS = r"[\x00-\x08\x0a-\x1f\x7f\x{feff}]"
"""What no text in fields can hold, even if it is quoted: a control character."""
_MARKS = r"[\x00-\x1f\x7f\x{feff}\"]|^\s|\s$"
"""What separates fields, or quotes them; and blanks around a field."""
_BLANKS = r"[\x00-\x20\x7f\x{feff}]"
"""What separates fields where nothing is quoted."""
_OF_BEIR = {"query": "query-id", "item": "corpus-id", "grade": "score"}
_OF_RECBOLE = {
    "query": "user_id:token",
    "item": "item_id:token",
    "score": "score:float",
    "grade": "rating:float",
}


@dataclass(frozen=True)
class Sheet:
    """A run or judgements, to be written.

    Attributes:
        frame: the columns query and item, then score, rank or grade, and maybe
            subtopic; the rows of a query are together, those of a run best first.
        role: "qrels" or "run".
        name: what to call it in messages.
        n_queries: how many queries there are, also without a row.
        entries: makes {query: what it has} of all of them.
        tag: what a TREC run calls itself.
    """

    frame: pl.DataFrame
    role: str
    name: str
    n_queries: int
    entries: Callable[[], Mapping[Any, Any]]
    tag: str


@dataclass(frozen=True)
class Writer:
    """How a format is written, and what it can hold.

    Attributes:
        write: returns the content of a file.
        named: whether its columns have names, which can be chosen.
        subtopics: whether it holds subtopics.
        empty: whether it holds queries without items.
    """

    write: Callable[[Sheet], bytes]
    named: bool = False
    subtopics: bool = False
    empty: bool = False


def _trec(sheet: Sheet) -> bytes:
    """Write ``query Q0 item rank score tag``, or ``query subtopic item grade``."""
    _refuse_ids(sheet, _BLANKS, "TREC text")
    _refuse_comments(sheet, "TREC text")
    frame = sheet.frame
    if sheet.role == "qrels":
        if "subtopic" not in frame.columns:
            frame = frame.with_columns(subtopic=pl.lit("0"))
        return _lines(frame.select("query", "subtopic", "item", "grade"), " ")
    tag = pl.lit(sheet.tag).alias("tag")
    columns = ["query", pl.lit("Q0").alias("q0"), "item", "rank", "score", tag]
    return _lines(_scored(_ranked(frame)).select(columns), " ")


def _msmarco(sheet: Sheet) -> bytes:
    """Write query, item and rank."""
    _refuse_ids(sheet, _BLANKS, "MS MARCO's format")
    _refuse_comments(sheet, "MS MARCO's format")
    return _lines(_ranked(sheet.frame).select("query", "item", "rank"), "\t")


def _csv(sheet: Sheet) -> bytes:
    """Write a table with a header, whose texts are quoted where they must be."""
    _refuse_ids(sheet, _BREAKS, "CSV")
    return sheet.frame.write_csv().encode()


def _tsv(sheet: Sheet) -> bytes:
    """Write a table with a header, without quotes."""
    _refuse_ids(sheet, _MARKS, "TSV")
    return _lines(sheet.frame, "\t", header=True)


def _beir(sheet: Sheet) -> bytes:
    """Write a table with the header of BEIR."""
    _refuse_ids(sheet, _MARKS, "BEIR's format")
    frame = sheet.frame if sheet.role == "qrels" else _scored(sheet.frame)
    frame = frame.rename(_OF_BEIR, strict=False)
    return _lines(frame.select("query-id", "corpus-id", "score"), "\t", header=True)


def _recbole(sheet: Sheet) -> bytes:
    """Write a table whose header says the types of its columns."""
    _refuse_ids(sheet, _MARKS, "RecBole's format")
    frame = sheet.frame if sheet.role == "qrels" else _scored(sheet.frame)
    frame = frame.rename(_OF_RECBOLE, strict=False)
    columns = [name for name in frame.columns if ":" in name]
    return _lines(frame.select(columns), "\t", header=True)


def _parquet(sheet: Sheet) -> bytes:
    """Write a table as Parquet."""
    content = io.BytesIO()
    sheet.frame.write_parquet(content)
    return content.getvalue()


def _arrow(sheet: Sheet) -> bytes:
    """Write a table as a file of Arrow."""
    content = io.BytesIO()
    sheet.frame.write_ipc(content)
    return content.getvalue()


def _json(sheet: Sheet) -> bytes:
    """Write {query: {item: number}}, or {query: [items]} without scores."""
    _refuse_infinite(sheet)
    return (json.dumps(sheet.entries(), ensure_ascii=False) + "\n").encode()


def _ndjson(sheet: Sheet) -> bytes:
    """Write a record per row."""
    _refuse_infinite(sheet)
    return sheet.frame.write_ndjson().encode()


def _lines(frame: pl.DataFrame, mark: str, *, header: bool = False) -> bytes:
    return frame.write_csv(
        separator=mark, include_header=header, quote_style="never"
    ).encode()


def _ranked(frame: pl.DataFrame) -> pl.DataFrame:
    """Return rows with ranks: those that they have, or else 1, 2, 3, ..."""
    if "rank" in frame.columns:
        return frame
    return frame.with_columns(rank=pl.int_range(1, pl.len() + 1).over("query"))


def _scored(frame: pl.DataFrame) -> pl.DataFrame:
    """Return rows with scores: those that they have, or else some that fall by rank."""
    if "score" in frame.columns:
        return frame
    return frame.with_columns(score=pl.col("rank").max() + 1 - pl.col("rank"))


def _refuse_ids(sheet: Sheet, odd: str, format_name: str) -> None:
    """Refuse ids that would be read back as something else."""
    for part in ("query", "item", "subtopic"):
        if sheet.frame.schema.get(part) == pl.String:
            ids = sheet.frame[part]
            _refuse(sheet, part, ids.filter(ids.str.contains(odd)), format_name)


def _refuse_comments(sheet: Sheet, format_name: str) -> None:
    """Refuse queries that begin as a comment does."""
    if sheet.frame.schema["query"] == pl.String:
        queries = sheet.frame["query"]
        marked = queries.filter(queries.str.starts_with("#"))
        _refuse(sheet, "query", marked, format_name)


def _refuse(sheet: Sheet, part: str, odd: pl.Series, format_name: str) -> None:
    if len(odd):
        msg = (
            f"{sheet.name}: the {part} {odd[0]!r} cannot be written in {format_name}; "
            "json and parquet can hold it"
        )
        raise DataError(msg)


def _refuse_infinite(sheet: Sheet) -> None:
    """Refuse numbers that JSON does not have."""
    number = sheet.frame.columns[2]
    values = sheet.frame[number]
    if not values.dtype.is_float():
        return
    odd = values.is_infinite().arg_true()
    if len(odd):
        query, item, value = sheet.frame.row(int(odd[0]))[:3]
        sign = "-" if math.copysign(1, value) < 0 else ""
        msg = (
            f"{sheet.name}: the {number} of item {item!r} for query {query!r} is "
            f"{sign}inf, which JSON cannot hold; write csv or parquet"
        )
        raise DataError(msg)


WRITERS = {
    "trec": Writer(_trec, subtopics=True),
    "msmarco": Writer(_msmarco),
    "csv": Writer(_csv, named=True, subtopics=True),
    "tsv": Writer(_tsv, named=True, subtopics=True),
    "beir": Writer(_beir),
    "recbole": Writer(_recbole),
    "parquet": Writer(_parquet, named=True, subtopics=True),
    "arrow": Writer(_arrow, named=True, subtopics=True),
    "json": Writer(_json, empty=True),
    "ndjson": Writer(_ndjson, named=True, subtopics=True),
}
"""How formats are written, by their names; what is not here is only read."""
