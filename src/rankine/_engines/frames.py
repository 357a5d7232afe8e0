"""Spark DataFrames as judgements and a run: columns by role, rows of one shape."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from rankine import _io as io
from rankine._engines.jobs import refuse_stopped
from rankine._engines.work import JUDGED, LISTED, ROLES
from rankine._io.columns import NAMES
from rankine._io.frames import open_frame, resolved
from rankine._io.sources import PLAIN
from rankine._join.ids import as_first
from rankine.errors import (
    ColumnNotFoundError,
    FormatError,
    MissingExtraError,
    ParameterError,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankine._evaluate.evaluate import Job
    from rankine._io.sources import Reading, Rows

_INTS = frozenset({"tinyint", "smallint", "int", "bigint"})
_TEXTS = ("string", "varchar", "char")
_NUMBERS = (*_INTS, "float", "double", "decimal", "boolean")
_FLOATS = ("float", "double")
_PLACES = (*_FLOATS, "decimal", "date", "timestamp")
"""What can say in which order rows were given, besides ints."""
_SINGLE = 32
"""Bits of a number that Spark calls float."""
_WORTH = "rankine worth"
"""A column with what grades in words are worth."""
_EXAMPLES = {"text": pl.Series(["7"]), "ints": pl.Series([7])}


def functions() -> Any:
    """Return pyspark's functions of columns."""
    try:
        from pyspark.sql import functions as sql  # noqa: PLC0415 - an extra
    except ImportError:
        msg = "Spark needs pyspark; install rankine-eval[spark]"
        raise MissingExtraError(msg) from None
    return sql


def is_spark(frame: Any) -> bool:
    """Say whether this is a Spark DataFrame, classic or Connect."""
    return type(frame).__module__.startswith("pyspark.") and hasattr(
        frame, "mapInArrow"
    )


def check_frame(frame: Any, name: str, instead: str) -> None:
    """Refuse what is not a Spark DataFrame, and one whose session was stopped.

    Args:
        frame: what was given.
        name: what it was given as.
        instead: the function that takes data in memory.
    """
    if not is_spark(frame):
        msg = (
            f"{name} must be a Spark DataFrame, got {type(frame).__name__}; {instead} "
            "takes data in memory"
        )
        raise ParameterError(msg)
    refuse_stopped(frame.sparkSession, f"the Spark session of {name}")


@dataclass(frozen=True, eq=False)
class SparkTable:
    """Judgements or a run, as Spark has them.

    Attributes:
        frame: the frame.
        role: qrels or run.
        part: which column plays which part.
        types: the type of each column, in Spark's words.
        empty: what a reader makes of the same columns without rows.
        how: what the user says about it.
    """

    frame: Any
    role: str
    part: Mapping[str, str]
    types: Mapping[str, str]
    empty: Rows
    how: Reading

    @staticmethod
    def of(frame: Any, side: int, how: Reading, sequence: str | None) -> SparkTable:
        """Find the columns of a frame, and check their types."""
        role = ROLES[side]
        check_frame(frame, role, "rankine.evaluate")
        types = dict(frame.dtypes)
        if len(types) < len(frame.columns):
            twice = next(x for x in frame.columns if frame.columns.count(x) > 1)
            msg = f"the column {twice!r} appears twice in {role}; give it once"
            raise FormatError(msg)
        blank = pl.DataFrame({name: blank_of(types[name]) for name in types})
        named = {*NAMES, *map(str, (how.columns or {}).values())}
        if sequence and sequence in types and sequence.casefold() not in named:
            blank = blank.drop(sequence)  # whose numbers are the places of rows
        part = resolved(open_frame(blank, role), role, how)  # type: ignore[arg-type]
        table = SparkTable(frame, role, part, types, None, how)  # type: ignore[arg-type]
        table._check()
        empty = io.read(blank, role, how, role)  # type: ignore[arg-type]
        return SparkTable(frame, role, part, types, empty, how)  # type: ignore[arg-type]

    def _check(self) -> None:
        for key in ("query", "item"):
            name = self.part[key]
            if self.types[name].startswith("array"):
                msg = (
                    f"{self.role}: the column {name!r} holds lists; posexplode() makes "
                    "rows of them, with a column pos that is used as the rank"
                )
                raise FormatError(msg)
            if self.kind(key) is None:
                msg = (
                    f"{self.role}: {key} ids are of type {self.types[name]}; expected "
                    "text or ints"
                )
                raise FormatError(msg)
        for key in ("grade", "score", "rank"):
            name = self.part.get(key, "")
            in_words = key == "grade" and self.how.grades is not None
            if name and not in_words and not self.types[name].startswith(_NUMBERS):
                msg = (
                    f"{self.role}: column {name!r} is of type {self.types[name]}; "
                    "expected numbers"
                )
                raise FormatError(msg)

    def kind(self, key: str) -> str | None:
        """Say whether ids are text or ints; None if they are neither."""
        kind = self.types[self.part[key]]
        if kind in _INTS:
            return "ints"
        return "text" if kind.startswith(_TEXTS) else None

    @property
    def scored(self) -> bool:
        """Whether a column gives the order."""
        return "value" in self.empty.frame.columns

    def _value(self) -> str:
        """Return the grade, the score, or minus the rank of each row, in SQL."""
        if not self.scored:
            return "0D"
        if not self.empty.column:
            return "1D"
        value = f"CAST({quoted(self.empty.column)} AS DOUBLE)"
        turned = self.how.lower_is_better and self.role == ROLES[LISTED]
        return f"-{value}" if self.empty.ranked or turned else value

    def _worth(self, grades: Mapping[Any, float]) -> Any:
        """Return what each grade in words is worth, null for any other."""
        sql = functions()
        column = sql.col(quoted(self.empty.column))
        worth = sql.lit(None).cast("double")
        for grade, number in grades.items():
            is_grade = column == sql.lit(grade)
            worth = sql.when(is_grade, sql.lit(float(number))).otherwise(worth)
        return worth

    def rows(self, kinds: Mapping[str, str], sequence: tuple[str, str] | None) -> Any:
        """Return query, item, value, what the rows are, and their place if asked.

        They are asked for in SQL, as each function of a column is a call to Java.
        """
        side = ROLES.index(self.role)
        frame, value = self.frame, self._value()
        if side == JUDGED and self.how.grades is not None and self.empty.column:
            frame = frame.withColumn(_WORTH, self._worth(self.how.grades))
            value = quoted(_WORTH)
        columns = []
        for key, kind in kinds.items():
            name = quoted(self.part[key])
            ids = f"CAST({name} AS BIGINT)"
            if kind == "text":
                ids = f"CAST({name} AS STRING)"
                ids = f"CASE WHEN {ids} != '' THEN {ids} END"  # empty is not an id
            columns.append(f"{ids} AS {key}")
        columns += [f"{value} AS value", f"{side}Y AS kind"]
        if sequence is not None:
            name, kind = sequence
            place = quoted(name) if name in self.types else "NULL"
            if kind in _FLOATS and name in self.types:  # nan is not a place
                place = f"CASE WHEN NOT isnan({place}) THEN {place} END"
            columns.append(f"CAST({place} AS {kind}) AS place")
        return frame.selectExpr(*columns)


@dataclass(frozen=True)
class TopRows:
    """The rows of each list that any metric looks at.

    Attributes:
        depth: down to which rank.
        bits: the precision in which scores are compared.
    """

    depth: int
    bits: int

    def of(self, rows: Any) -> Any:
        """Keep these rows, those tied with the last of them, and what is refused."""
        from pyspark.sql import Window  # noqa: PLC0415 - an extra

        sql = functions()
        value = sql.col("value")
        odd = sql.col("query").isNull() | sql.col("item").isNull()
        odd = odd | value.isNull() | value.isNaN()
        # Each of these is a list of its own.
        rows = rows.withColumn("odd", sql.when(odd, sql.monotonically_increasing_id()))
        number = value + sql.lit(0.0)  # -0 and 0 are equal
        key = (number.cast("float") if self.bits == _SINGLE else number).desc()
        rank = sql.rank().over(Window.partitionBy("query", "odd").orderBy(key))
        rows = rows.withColumn("rank", rank).where(sql.col("rank") <= self.depth)
        return rows.drop("odd", "rank")


def quoted(name: str) -> str:
    """Return a column's name as Spark takes it literally.

    >>> quoted("nDCG@10"), quoted("a`b")
    ('`nDCG@10`', '`a``b`')
    """
    doubled = name.replace("`", "``")
    return f"`{doubled}`"


def blank_of(kind: str) -> pl.Series:
    """Return a column without rows, of the type that a reader would see."""
    dtype: Any = pl.Float64
    if kind in _INTS:
        dtype = pl.Int64
    elif kind.startswith(_TEXTS):
        dtype = pl.String
    elif kind == "boolean":
        dtype = pl.Boolean
    elif not kind.startswith(_NUMBERS):
        dtype = pl.Binary
    return pl.Series(dtype=dtype)


@dataclass(frozen=True, eq=False)
class Pair:
    """Judgements and a run, whose ids are brought to one type.

    Attributes:
        qrels, run: the two.
        kinds: whether ids of queries and items are compared as text or as ints.
        texts: the ids that must be the plain forms of ints: a part, and the side.
        notes: what there is to say about that.
        sequence: the column whose order is that of the rows, if there is one.
        judged: whether there are judgements; if not, `qrels` has no rows.
    """

    qrels: SparkTable
    run: SparkTable
    kinds: Mapping[str, str]
    texts: tuple[tuple[str, int], ...]
    notes: tuple[str, ...]
    sequence: str | None
    judged: bool = True

    @staticmethod
    def of(qrels: Any, run: Any, job: Job, sequence: str | None) -> Pair:
        """Find the columns of both, before anything is computed."""
        judged = qrels is not None
        if judged:
            truth = SparkTable.of(qrels, JUDGED, job.of_qrels, sequence)
        lists = SparkTable.of(run, LISTED, job.of_run, sequence)
        if not judged:
            query, item = (lists.types[lists.part[key]] for key in ("query", "item"))
            kind = f"query {query}, item {item}, grade double"
            nobody = run.sparkSession.createDataFrame([], kind)
            truth = SparkTable.of(nobody, JUDGED, PLAIN, None)
        if sequence is not None and sequence not in lists.types:
            msg = (
                f"run has no column {sequence!r}, which sequence= or --sequence names; "
                f"it has {', '.join(lists.types)}"
            )
            raise ColumnNotFoundError(msg)
        for table in (lists, truth):
            kind = table.types.get(sequence or "", "int")
            if kind not in _INTS and not kind.startswith(_PLACES):
                msg = (
                    f"{table.role}: the column {sequence!r}, which sequence= or "
                    f"--sequence names, is of type {kind}; it must hold numbers or "
                    "times"
                )
                raise FormatError(msg)
        kinds: dict[str, str] = {}
        texts: list[tuple[str, int]] = []
        notes: list[str] = []
        for key in ("query", "item"):
            ours, theirs = truth.kind(key) or "", lists.kind(key) or ""
            kinds[key] = ours if ours == theirs else "text"
            if ours != theirs:
                texts.append((key, JUDGED if ours == "text" else LISTED))
                _, said = as_first(_EXAMPLES[ours], _EXAMPLES[theirs], key, ROLES)
                notes += said
        return Pair(truth, lists, kinds, tuple(texts), tuple(notes), sequence, judged)

    def rows(self, n_partitions: int | None, top: TopRows | None) -> Any:
        """Return the rows of both, those of a query together.

        Rows without a query, of which there may be many, are spread by their items.
        """
        places = None
        if self.sequence is not None:  # as they are: doubles would tie large numbers
            places = self.sequence, self.run.types[self.sequence]
        truth = self.qrels.rows(self.kinds, places)
        lists = self.run.rows(self.kinds, places)
        rows = truth.unionByName(lists if top is None else top.of(lists))
        nobody = "CASE WHEN query IS NULL THEN xxhash64(item, value, kind) END"
        by: list[Any] = ["query", functions().expr(nobody)]
        if n_partitions is not None:
            by.insert(0, n_partitions)
        order = ["query"] if self.sequence is None else ["query", "kind", "place"]
        return rows.repartition(*by).sortWithinPartitions(*order)
