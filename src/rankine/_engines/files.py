"""Files as Spark reads them: judgements or a run as a frame."""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from rankine._engines.frames import functions, quoted
from rankine._engines.jobs import marked, run_action
from rankine._engines.work import JUDGED, LISTED, SIDES
from rankine._io.columns import resolve
from rankine._io.formats import FORMATS as KNOWN
from rankine.errors import FormatError, ParameterError

if TYPE_CHECKING:
    from collections.abc import Callable

    from rankine._io.sources import Reading

FORMATS = ("parquet", "csv", "tsv", "ndjson", "trec")
"""The formats that Spark reads, of those that are known."""
_BY_SUFFIX = {"": "parquet"} | {
    ending: name for name in FORMATS for ending in KNOWN[name].endings
}
_PACKED = {".gz", ".bz2", ".zst", ".lz4", ".snappy"}
_TREC = {
    "qrels": ("query", "subtopic", "item", "grade"),
    "run": ("query", "q0", "item", "rank", "score", "tag"),
}
_NUMBERS = ("grade", "score", "rank")
_NUMBER = r"(?i)^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$|^nan$|^[+-]?inf(inity)?$"


def format_of(path: str, how: Reading) -> str:
    """Return the format of a file: what the user says, or what its name shows.

    Nothing is read for this: a folder or a pattern without a known ending is taken for
    the parts of a Parquet table.

    >>> from rankine._io.sources import PLAIN
    >>> format_of("s3a://logs/2026/run", PLAIN), format_of("run.csv.gz", PLAIN)
    ('parquet', 'csv')
    """
    if path == "-":
        msg = (
            "Spark cannot read standard input (-); give a path that executors can read"
        )
        raise ParameterError(msg)
    known = ", ".join(FORMATS)
    if how.format is not None:
        if how.format not in FORMATS:
            msg = f"Spark does not read {how.format}; with --engine spark, use {known}"
            raise ParameterError(msg)
        return how.format
    suffixes = [suffix.lower() for suffix in PurePosixPath(path).suffixes]
    while suffixes and (suffixes[-1] in _PACKED or not _is_ending(suffixes[-1])):
        suffixes.pop()
    suffix = suffixes[-1] if suffixes else ""
    if suffix not in _BY_SUFFIX:
        msg = (
            f"{path}: the name does not say which format it is; give one with "
            f"--format: {known}"
        )
        raise ParameterError(msg)
    return _BY_SUFFIX[suffix]


def _is_ending(suffix: str) -> bool:
    """Say whether this may name a format: it is not a number, a date or a pattern."""
    return re.fullmatch(r"\.[a-z]\w*", suffix) is not None


def frame_of(spark: Any, path: str, side: int, how: Reading) -> Any:
    """Return what Spark reads from a file, a folder, a pattern or an object store."""
    kind, read = format_of(path, how), spark.read
    if kind == "parquet":
        table = run_action(lambda: _of_parquet(read, path), path)
        if side == JUDGED or _has_value(table, path, how):
            return table
        # Spark took the columns of one file, and others may have scores or ranks.
        merged = read.option("mergeSchema", True)
        return run_action(lambda: merged.parquet(path), path)
    if kind == "ndjson":
        return run_action(lambda: read.option("mode", "FAILFAST").json(path), path)
    if kind == "trec":
        return _of_trec(run_action(lambda: read.text(path), path), path, side)
    options = {
        "header": True,
        "sep": "\t" if kind == "tsv" else ",",
        "escape": '"',
        "enforceSchema": False,  # refuse parts with their columns in another order
        "mode": "FAILFAST",
    }
    return _of_csv(
        run_action(lambda: read.options(**options).csv(path), path), path, side, how
    )


def _of_parquet(read: Any, path: str) -> Any:
    """Read a table; refuse files without a byte, which Spark would skip."""
    if _is_there(lambda: read.text(f"{path}/_delta_log")):
        if _is_there(lambda: read.format("delta").load(path)):
            return read.format("delta").load(path)
        msg = (
            f"{path}: is in the Delta format, and its files include old versions; "
            "start Spark with delta-spark to read the newest one"
        )
        raise FormatError(msg)
    frame = read.parquet(path)
    files = frame.inputFiles()
    # As nothing of their content is asked for, this lists files, those with bytes.
    full = read.format("binaryFile").load(path).select("path")
    if len(files) > 1 and full.count() < len(files):
        names = {_plain(row.path) for row in full.collect()}
        empty = next((file for file in files if _plain(file) not in names), path)
        msg = f"{_plain(empty)}: is empty; writing it probably failed: write it again"
        raise FormatError(msg)
    return frame


def _is_there(read: Callable[[], Any]) -> bool:
    """Say whether Spark finds what is read, and has what reads it."""
    try:
        return bool(read().columns)
    except Exception as error:
        if type(error).__module__.startswith(("pyspark", "py4j", "grpc")):
            return False
        raise


def _plain(path: str) -> str:
    """Return a path as it is written in one way: Spark has several."""
    return re.sub(r"^file:/+", "/", unquote(path))


def _has_value(table: Any, path: str, how: Reading) -> bool:
    """Say whether a run has scores or ranks."""
    part = resolve(table.columns, SIDES[LISTED], how.columns, path)  # type: ignore[arg-type]
    return "score" in part or "rank" in part


def _of_trec(lines: Any, path: str, side: int) -> Any:
    """Split lines at white space; refuse those with more or fewer fields."""
    sql = functions()
    line = sql.col("value")
    lines = lines.where(~line.rlike(r"^(#|\s*$)"))
    parts = sql.split(sql.trim(sql.regexp_replace(line, r"\s+", " ")), " ")
    names = _TREC[SIDES[side]]
    what = "judgements" if side == JUDGED else "a run"
    expected = (
        f"{path}: expected the {len(names)} fields of {what} in TREC text "
        f"({' '.join(names)}), got: "
    )
    fields = sql.when(sql.size(parts) == len(names), parts).otherwise(
        _refused(expected, sql.substring(line, 1, 120))
    )
    lines = lines.select(fields.alias("fields"))
    columns = [sql.col("fields")[place] for place in range(len(names))]
    return lines.select(
        *(
            (_number(column, name, path) if name in _NUMBERS else column).alias(name)
            for column, name in zip(columns, names, strict=True)
            if name in {"query", "item", *_NUMBERS}
        )
    )


def _of_csv(table: Any, path: str, side: int, how: Reading) -> Any:
    """Turn columns of numbers into numbers; ids stay texts."""
    sql = functions()
    part = resolve(table.columns, SIDES[side], how.columns, path)  # type: ignore[arg-type]
    for key in _NUMBERS:
        name = part.get(key)
        if name is not None and not (key == "grade" and how.grades is not None):
            column = _number(sql.col(quoted(name)), name, path)
            table = table.withColumn(name, column)
    return table


def _number(column: Any, name: str, path: str) -> Any:
    """Return a text as a number, null where there is none; refuse anything else."""
    sql = functions()
    text = sql.trim(column)
    number = sql.when(text.rlike(_NUMBER), text.cast("double"))
    odd = _refused(f"{path}: not a number in {name}: ", sql.substring(text, 1, 120))
    return sql.when((text != "") & number.isNull(), odd).otherwise(number)


def _refused(expected: str, what: Any) -> Any:
    sql = functions()
    return sql.raise_error(sql.concat(sql.lit(marked(FormatError, expected)), what))
