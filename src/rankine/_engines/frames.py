"""Spark DataFrames as judgements and a run: columns by role, rows of one shape."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from rankine import _io as io
from rankine._engines.jobs import refuse_stopped
from rankine._engines.work import JUDGED, LISTED, SIDES, of_two_types
from rankine._io.columns import NAMES
from rankine._io.frames import open_frame, refuse_distances, resolved
from rankine._io.sources import PLAIN
from rankine.errors import (
    ColumnNotFoundError,
    FormatError,
    MissingExtraError,
    ParameterError,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankine._engines.work import Texts
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
_KINDS = {pl.String: "text", pl.Int64: "ints"}
_WORTH = "rankine worth"
"""A column with what grades in words are worth."""


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
        schema: what a reader makes of the same columns without rows.
        how: what the user says about it.
    """

    frame: Any
    role: str
    part: Mapping[str, str]
    types: Mapping[str, str]
    schema: Rows
    how: Reading

    @staticmethod
    def of(frame: Any, side: int, how: Reading, sequence: str | None) -> SparkTable:
        """Find the columns of a frame, and check their types."""
        role: Any = SIDES[side]
        check_frame(frame, role, "rankine.evaluate")
        types = dict(frame.dtypes)
        if len(types) < len(frame.columns):
            twice = next(x for x in frame.columns if frame.columns.count(x) > 1)
            msg = f"the column {twice!r} appears twice in {role}; give it once"
            raise FormatError(msg)
        schema = blank_of(frame)
        named = {*NAMES, *map(str, (how.columns or {}).values())}
        if sequence and sequence in types and sequence.casefold() not in named:
            schema = schema.drop(sequence)  # whose numbers are the places of rows
        part = resolved(open_frame(schema, role), role, how)
        refuse_distances(part, role, how, role)
        _check_types(part, types, role, in_words=how.grades is not None)
        read: Any = io.read(schema, role, how, role)
        return SparkTable(frame, role, part, types, read, how)

    def kind(self, key: str) -> str | None:
        """Say whether ids are text or ints; None if they are neither."""
        return _kind_of(self.types[self.part[key]])

    @property
    def scored(self) -> bool:
        """Whether a column gives the order."""
        return "value" in self.schema.frame.columns

    def _value(self) -> str:
        """Return the grade, the score, or minus the rank of each row, in SQL."""
        if not self.scored:
            return "0D"
        if not self.schema.column:
            return "1D"
        value = f"CAST({quoted(self.schema.column)} AS DOUBLE)"
        turned = self.how.lower_is_better and self.role == SIDES[LISTED]
        return f"-{value}" if self.schema.ranked or turned else value

    def _worth(self, grades: Mapping[Any, float]) -> Any:
        """Return what each grade in words is worth, null for any other."""
        sql = functions()
        column = sql.col(quoted(self.schema.column))
        worth = sql.lit(None).cast("double")
        for grade, number in grades.items():
            is_grade = column == sql.lit(grade)
            worth = sql.when(is_grade, sql.lit(float(number))).otherwise(worth)
        return worth

    def rows(self, kinds: Mapping[str, str], sequence: tuple[str, str] | None) -> Any:
        """Return query, item, value, what the rows are, and their place if asked.

        They are asked for in SQL, as each function of a column is a call to Java.
        """
        side = SIDES.index(self.role)
        frame, value = self.frame, self._value()
        if side == JUDGED and self.how.grades is not None and self.schema.column:
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


def _kind_of(kind: str) -> str | None:
    """Say whether ids of a Spark type are text or ints; None if they are neither."""
    return _KINDS.get(type_of(kind))


def _check_types(
    part: Mapping[str, str], types: Mapping[str, str], role: str, *, in_words: bool
) -> None:
    """Refuse ids that are neither text nor ints, and numbers that are none.

    Args:
        part: which column plays which part.
        types: the type of each column, in Spark's words.
        role: qrels or run.
        in_words: whether grades are words.
    """
    for key in ("query", "item"):
        name = part[key]
        if types[name].startswith("array"):
            msg = (
                f"{role}: the column {name!r} holds lists; posexplode() makes rows of "
                "them, with a column pos that is used as the rank"
            )
            raise FormatError(msg)
        if _kind_of(types[name]) is None:
            msg = f"{role}: {key} ids are of type {types[name]}; expected text or ints"
            raise FormatError(msg)
    for key in ("grade", "score", "rank"):
        name = part.get(key, "")
        words = key == "grade" and in_words
        if name and not words and not types[name].startswith(_NUMBERS):
            msg = f"{role}: column {name!r} is of type {types[name]}; expected numbers"
            raise FormatError(msg)


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
        # What is refused or counted later ranks first, each row in a list of its own.
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


def blank_of(frame: Any) -> pl.DataFrame:
    """Return the columns of a frame, without rows, as a reader would see them."""
    return pl.DataFrame(
        {name: pl.Series(dtype=type_of(kind)) for name, kind in frame.dtypes}
    )


def type_of(kind: str) -> Any:
    """Return the type that a reader would see."""
    if kind in _INTS:
        return pl.Int64
    if kind.startswith(_TEXTS):
        return pl.String
    if kind == "boolean":
        return pl.Boolean
    return pl.Float64 if kind.startswith(_NUMBERS) else pl.Binary


@dataclass(frozen=True, eq=False)
class Pair:
    """Judgements and a run, whose ids are brought to one type.

    Attributes:
        qrels, run: the two.
        kinds: whether ids of queries and items are compared as text or as ints.
        texts: the ids that must be the plain forms of ints.
        notes: what there is to say about that.
        sequence: the column whose order is that of the rows, if there is one.
        judged: whether there are judgements; if not, `qrels` has no rows.
    """

    qrels: SparkTable
    run: SparkTable
    kinds: Mapping[str, str]
    texts: tuple[Texts, ...]
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
        texts: list[Texts] = []
        notes: list[str] = []
        for key in ("query", "item"):
            ours, theirs = truth.kind(key) or "", lists.kind(key) or ""
            kinds[key] = ours if ours == theirs else "text"
            if ours != theirs:
                side = JUDGED if ours == "text" else LISTED
                to_first = bool(job.plan.judged)
                both, said = of_two_types(key, SIDES, side, to_first=to_first)
                texts.append(both)
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
