"""What a reader is told, and what it hands on: a few shapes, whatever came in.

`Reading` is what the user says. `Lists` are mappings that were checked, `Dense` a
matrix, `Rows` a frame with the columns query, item and value (a grade, a score, or None
where the order is the rank), `Stream` the same in parts.
"""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import TYPE_CHECKING, Any, Self, TypeAlias, TypeVar

import numpy as np
import polars as pl

from rankine._base.arrays import packed
from rankine._base.contradiction import NO_CONTRADICTION, Contradiction
from rankine._base.notebook import as_table
from rankine._base.records import cached_property
from rankine._base.text import added_up, summed
from rankine._tables.segments import groups_of, starts_of
from rankine.errors import DataError, NoRowsError

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Mapping, Sequence

    from rankine._base.arrays import Floats, Ints
    from rankine._base.text import Counted
    from rankine._io.collapse import Collapse


PARTS, NAMELESS, REPEATS = "parts", "nameless", "repeats"
"""When something of a stream was counted: by a reader of its parts, and when lenient
rows without ids and repeats were dropped."""
_PACKED = 1 << 14
"""Numbers that are packed at once, as they fit the cache."""
MAX_BYTES = 64 << 30
"""Bytes that a file may have, unpacked, unless more is allowed: 64 GiB."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What the user says about judgements or a run; None is to be found out.

    Attributes:
        format: the name of a format.
        columns: which column is what.
        grades: what each grade in words is worth.
        by_rank: whether a rank column gives the order, even if there are scores.
        encoding: the encoding of text, UTF-8 if not given.
        max_bytes: how many bytes may be read, after unpacking.
        lenient: whether rows that are usually refused are kept, to be dropped and
            counted later.
        lower_is_better: whether scores are distances.
        keep_rank: whether a rank column is kept next to the score.
        subtopics: whether the subtopic of each judgement is kept, if there is one.
        more_words: whether a line of a TREC run may continue after its tag, as in
            trec_eval. A format given by name has its own rule.
        memory: the bytes of memory that the process may use while a run is read in
            parts; None if it may be read at once.
        collapse: how the document of a chunk is found, if a run has chunks.
    """

    format: str | None = None
    columns: Mapping[str, Any] | None = None
    grades: Mapping[Any, float] | None = None
    by_rank: bool = False
    encoding: str | None = None
    max_bytes: int = MAX_BYTES
    lenient: bool = False
    lower_is_better: bool = False
    keep_rank: bool = False
    subtopics: bool = False
    more_words: bool = False
    memory: int | None = None
    collapse: Collapse | None = None


PLAIN = Reading()
"""No option is given: everything is inferred."""


@dataclass(frozen=True, slots=True)
class Given:
    """What `read_run` or `read_qrels` was given, so that it can be read otherwise.

    Attributes:
        data: the path of a file, a folder or a pattern of files; or an object.
        how: what the user said of it then.
        used: how it was read: as the user said, or leniently where only that is
            possible.
        stamps: the path, the size and the time of each file; None if it can be read
            only once, as standard input is.
        again: makes a part of a run or of judgements again, for another way of reading
            what it is a part of; None if this is no part.
    """

    data: Any
    how: Reading
    used: Reading
    stamps: tuple[tuple[str, int, int], ...] | None = ()
    again: Callable[[Reading], Source] | None = None


class _Form:
    """What may be asked of data in any form; a form has a field for what it can say."""

    __slots__ = ()

    @property
    def role(self) -> str | None:
        """What it was read as, "qrels" or "run"; None if it can be either."""
        return None

    @property
    def given(self) -> Given | None:
        """What it was read from, if that was before it was known for what."""
        return None

    @property
    def warnings(self) -> tuple[str, ...]:
        """Reasons to doubt that it is what it was read as."""
        return ()

    @property
    def contradiction(self) -> Contradiction:
        """In how many of the first lists ranks and scores disagree."""
        return NO_CONTRADICTION

    @property
    def ranked(self) -> bool:
        """Whether the ranks of a run come from a column."""
        return False

    @property
    def placed(self) -> bool:
        """Whether values are made from places in lists without scores."""
        return False

    @property
    def n_places(self) -> int | None:
        """How many queries there are, if their ids are only their places."""
        return None

    @property
    def is_matrix(self) -> bool:
        """Whether queries are the rows of a matrix, whose numbers can be ids."""
        return False

    @property
    def shape(self) -> tuple[int, int] | None:
        """The shape of the sparse matrix that it was read from, if it was one."""
        return None

    @property
    def column(self) -> str:
        """The name of the column that grades or scores come from, if it has one."""
        return ""

    @property
    def unit(self) -> str:
        """What its queries are called, "user" or "query"; empty if nothing says so."""
        return ""

    @property
    def in_parts(self) -> bool:
        """Whether it is read in parts, later."""
        return False

    @property
    def memory(self) -> int | None:
        """The bytes of memory within which it is read in parts, if they are limited."""
        return None

    @property
    def once(self) -> bool:
        """Whether it can be read only once."""
        return False

    @property
    def is_empty(self) -> bool:
        """Whether it has no rows; a run of empty lists does not count as empty."""
        return False


@dataclass(frozen=True, slots=True, eq=False)
class Rows(_Form):
    """A frame of judgements or of retrieved items.

    Attributes:
        frame: the columns query and item, and value unless the order is the rank.
        name: what to call it in messages: a path, or "run" or "qrels".
        line: the line of the first row in its file, None if it is not a file.
        lines: the line of every row, if rows and lines do not correspond.
        notes: what was inferred or changed while reading.
        number: the number that every row had before rows were reordered.
        first: the number of the first row, if these are not the first rows.
        ranked: whether the value comes from a rank column.
        placed: whether values are made from places in lists without scores.
        starts: where each list begins, if they were those of a mapping.
        role: what it was read as, "qrels" or "run"; None if it can be either.
        kind: what it was found to be, in words.
        shape: the shape of the matrix that it was read from, if it was one.
        warnings: reasons to doubt that it is what it was read as.
        column: the name of the column that the value comes from, if it has one.
        unit: what its queries are called, by the name of their column.
        queries: the ids of all lists, of which those that are empty have no row; None
            if there are no others than in the rows.
        n_places: how many lists there were, if the ids of queries are only their
            places: those in a list, or the rows of a matrix.
        grid: the same as a matrix of ints, a row per query and a column per rank.
        is_matrix: whether its queries are the rows of a matrix.
        origins: the files that rows of several come from, each with how many rows.
        contradiction: in how many of the first lists ranks and scores disagree.
        given: what it was read from, if `read_run` or `read_qrels` did so.
    """

    frame: pl.DataFrame
    name: str
    line: int | None = None
    lines: Ints | None = None
    notes: tuple[str, ...] = ()
    number: Ints | None = None
    first: int = 0
    ranked: bool = False
    placed: bool = False
    starts: Ints | None = None
    role: str | None = None
    kind: str = ""
    shape: tuple[int, int] | None = None
    warnings: tuple[str, ...] = ()
    column: str = ""
    unit: str = ""
    queries: pl.Series | None = None
    n_places: int | None = None
    grid: Ints | None = None
    is_matrix: bool = False
    origins: tuple[tuple[Rows, int], ...] = ()
    contradiction: Contradiction = NO_CONTRADICTION
    given: Given | None = None

    @property
    def is_empty(self) -> bool:
        """Whether it has no rows; a run of empty lists does not count as empty."""
        # Nor does a sparse matrix, whose rows may all be empty.
        n_lists = self.n_places if self.queries is None else len(self.queries)
        return self.frame.height == 0 and not n_lists

    def query_ids(self) -> list[Any]:
        """Return the ids of all queries, in order."""
        return self.lists().to_list()

    def lists(self) -> pl.Series:
        """Return the ids of all lists, also of those that are empty, in order."""
        ids = self.queries
        if ids is None:
            ids = self.frame["query"].unique(maintain_order=True)
        return ids.drop_nulls()

    def with_queries(self, ids: Sequence[Any]) -> Self:
        """Return the same with ids for queries that were identified by their places."""
        every = pl.Series("query", ids)
        frame = self.frame.with_columns(query=every.gather(self.frame["query"]))
        # Of lists without ids that were filtered, some are left.
        queries = None if self.queries is None else every.gather(self.queries)
        return replace(self, frame=frame, queries=queries)

    def where(self, row: int) -> str:
        """Say where a row is, as ``file:line`` or as a row number from 0."""
        if self.origins:
            return self.place(row)
        word, _, number = self.place(row).partition(" ")
        mark = ":" if word == "line" else ", row "
        return f"{self.name}{mark}{number}"

    def later(self, skipped: int) -> Rows:
        """Return the origin of the rows after the first n, which were left out."""
        if self.lines is None and self.line is not None:
            return replace(self, line=self.line + skipped)
        lines = None if self.lines is None else self.lines[skipped:]
        return replace(self, lines=lines, first=self.first + skipped)

    def place(self, row: int) -> str:
        """Say where a row is within its source: ``line 7`` or ``row 7``.

        The name of the file comes with it, where there are several. The rows of a
        mapping have places in its lists, from 1.
        """
        if self.starts is not None:
            row = row if self.number is None else int(self.number[row])
            begin = self.starts[self.starts.searchsorted(row, side="right") - 1]
            return f"place {row - int(begin) + 1}"
        if self.origins:
            row = row if self.number is None else int(self.number[row])
            for origin, n_rows in self.origins:
                if row < n_rows:
                    return origin.where(row)
                row -= n_rows
        if self.lines is not None:
            return f"line {int(self.lines[row])}"
        if self.line is not None:
            return f"line {self.line + row}"
        return (
            f"row {self.first + row if self.number is None else int(self.number[row])}"
        )

    def _repr_html_(self) -> str:
        return as_table(self)


@dataclass(frozen=True, slots=True, eq=False)
class Stream(_Form):
    """A run that is read in parts, each with whole lines; it can be opened again.

    Attributes:
        open: starts reading; close what it returns, as threads read ahead.
        name: what to call it in messages.
        told: what was inferred before it is read, and with 0 what its parts count.
        ranked: whether the value comes from the rank column.
        tag: finds the name that the run gives itself, if it is TREC text.
        warnings: reasons to doubt that it is a run.
        memory: the bytes of memory that the process may use while it is read; None if
            all of it may be held.
        once: whether it can be opened only once.
        n_rows: about how many rows it has, None if that is not known.
        memo: what is kept of it between two readings.
        lenient: whether rows that are usually refused are dropped when it is read.
        collapse: how one row of each item is chosen when it is read, if only one
            counts.
        unit: what its queries are called, by the name of their column.
        contradiction: in how many of the first lists ranks and scores disagree.
        given: what it is read from, if `read_run` says so.
    """

    open: Callable[[], Generator[Rows, None, None]]
    name: str
    told: tuple[str, ...] = ()
    ranked: bool = False
    tag: Callable[[], str] | None = None
    kind: str = ""
    warnings: tuple[str, ...] = ()
    memory: int | None = None
    once: bool = False
    n_rows: int | None = None
    memo: dict[str, Any] = field(default_factory=dict, repr=False)
    contradiction: Contradiction = NO_CONTRADICTION
    given: Given | None = None
    lenient: bool = False
    collapse: Collapse | None = None
    unit: str = ""

    @property
    def notes(self) -> tuple[str, ...]:
        """What was inferred, and what was counted when it was last read."""
        stages = (self.memo.get(stage, ()) for stage in (PARTS, NAMELESS, REPEATS))
        return added_up(chain(self.told, *stages))

    def count(self, stage: str, more: Iterable[Counted]) -> None:
        """Add what was counted in a part to what was counted in those before it."""
        self.memo[stage] = summed((*self.memo.get(stage, ()), *more))

    def forget(self, *stages: str) -> None:
        """Count from 0 again, as parts are read again."""
        self.memo.update(dict.fromkeys(stages, ()))

    @property
    def role(self) -> str:
        """What it was read as: only runs are read in parts."""
        return "run"

    @property
    def in_parts(self) -> bool:
        """Whether it is read in parts, later."""
        return True

    def query_ids(self) -> list[Any]:
        """Return the ids of all queries, in the order in which they come."""
        if self.once:
            msg = (
                f"{self.name} can be read only once and in parts, so lists without ids "
                "cannot be paired with it; give the lists ids, as in {query: ...}"
            )
            raise DataError(msg)
        found: dict[Any, None] = {}
        with closing(self.open()) as parts:
            for part in parts:
                found.update(dict.fromkeys(part.lists()))
        return list(found)


@dataclass(frozen=True, eq=False)
class Lists(_Form):
    """A mapping from query to {item: number} or, of a run, to a list of items.

    `mappings.read_lists` makes it, and has checked ids and numbers by the rules of
    frames.

    Attributes:
        data: the mapping, whose entries are dicts and lists.
        name: what to call it in messages.
        role: what it was read as, "qrels" or "run".
        notes: what was inferred or changed while reading.
        kind: what it was found to be, in words.
        n_places: how many queries there are, if their ids are positions in a list.
        warnings: reasons to doubt that it is what it was read as.
        given: what it was read from, if `read_run` or `read_qrels` did so.
    """

    data: Mapping[Any, dict[Any, float] | list[Any]]
    name: str
    role: str = "run"
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    kind: str = ""
    n_places: int | None = None
    given: Given | None = None

    @property
    def is_empty(self) -> bool:
        """Whether there are no lists; empty ones count as lists."""
        return not self.data

    def query_ids(self) -> list[Any]:
        """Return the ids of all queries, in order."""
        return list(self.data)

    def with_queries(self, ids: Sequence[Any]) -> Self:
        """Return the same with ids for queries that were identified by their places."""
        return replace(self, data=dict(zip(ids, self.data.values(), strict=True)))

    @cached_property
    def entries(self) -> list[Any]:
        """The list of each query."""
        return [*self.data.values()]

    @cached_property
    def kinds(self) -> set[type]:
        """The types of the lists: dict, list, or both."""
        return set(map(type, self.entries))

    @cached_property
    def starts(self) -> Ints:
        """Where each list begins, if all are put one after the other."""
        n = len(self.entries)
        return starts_of(np.fromiter(map(len, self.entries), np.int64, count=n))

    @cached_property
    def numbers(self) -> Floats:
        """Grades or scores, list by list; of lists without any, minus the place."""
        if dict not in self.kinds:
            lengths = np.diff(self.starts)
            begins = self.starts[:-1].repeat(lengths)
            return (begins - np.arange(len(begins))).astype(np.float64)
        numbers = [
            entry.values() if type(entry) is dict else range(0, -len(entry), -1)
            for entry in self.entries
        ]
        parts = [
            packed([*chain.from_iterable(numbers[some])])
            for some in groups_of(self.starts, _PACKED)
        ]
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    @cached_property
    def repeats(self) -> bool:
        """Whether a list has an item twice, which a dict cannot."""
        return list in self.kinds and any(
            len(set(entry)) < len(entry)
            for entry in self.entries
            if type(entry) is list
        )

    @cached_property
    def texts(self) -> tuple[bool | None, bool | None]:
        """Whether queries and items are texts; None if there are none."""
        query = next(iter(self.data), None)
        item = next(chain.from_iterable(self.entries), None)
        first = (query, item)
        return tuple(None if x is None else isinstance(x, str) for x in first)  # type: ignore[return-value]


@dataclass(frozen=True, slots=True, eq=False)
class Dense(_Form):
    """A matrix of numbers, queries by items.

    Attributes:
        matrix: scores, where -inf is an item that is not retrieved; or grades, where
            nan is an item that is not judged.
        queries: the id of each row.
        items: the id of each column.
        name: what to call it in messages.
        n_places: how many queries there are, if their ids are the numbers of rows.
    """

    matrix: Floats
    queries: pl.Series
    items: pl.Series
    name: str = "matrix"
    notes: tuple[str, ...] = ()
    n_places: int | None = None
    memo: dict[str, Any] = field(default_factory=dict, repr=False)

    @property
    def is_matrix(self) -> bool:
        """Whether queries are the rows of a matrix, whose numbers can be ids."""
        return True

    def query_ids(self) -> list[Any]:
        """Return the ids of all queries, in order."""
        return self.queries.to_list()

    def with_queries(self, ids: Sequence[Any]) -> Self:
        """Return the same with ids for queries that were identified by their places."""
        return replace(self, queries=pl.Series("queries", ids))


Held: TypeAlias = Rows | Lists | Dense
"""Data at hand, of which each list is in memory."""
Source: TypeAlias = Held | Stream
S = TypeVar("S", bound=Source)


class View:
    """Judgements or a run as users see them: `Qrels` and `Run`."""

    @property
    def source(self) -> Source:
        """What `evaluate` reads; a file that is read in parts is read then."""
        raise NotImplementedError

    def to_frame(self, library: str = "polars") -> Any:
        """Return the rows as a frame of ``polars``, ``pandas`` or ``pyarrow``."""
        raise NotImplementedError


def bare(data: Any) -> Any:
    """Return what a view is a view of; all else as it is."""
    return data.source if isinstance(data, View) else data


def noted(source: S, more: Sequence[str]) -> S:
    """Return the same with more notes."""
    if isinstance(source, Stream):
        return replace(source, told=(*source.told, *more))
    return replace(source, notes=(*source.notes, *more))


def is_sparse(data: Any) -> bool:
    """Say whether this is a sparse matrix of scipy, one kind of which is a dict too."""
    return type(data).__module__.startswith("scipy.sparse") and hasattr(data, "tocsr")


def hold_objects(entries: Iterable[Any]) -> bool:
    """Say whether lists hold objects, by the first of them that is not empty."""
    for entry in entries:
        if not isinstance(entry, (list, tuple)):
            return False
        if entry:
            return isinstance(entry[0], dict)
    return False


def no_rows(name: str, role: str = "run") -> NoRowsError:
    """Return the error for a run or a file without rows, whatever its form."""
    word = "judgements" if role == "qrels" else "rows"
    return NoRowsError(f"{name}: contains no {word}")


def none_left(name: str) -> NoRowsError:
    """Return the error for a run of which a lenient reader has dropped all rows."""
    return NoRowsError(f"{name}: no rows are left, as none has an id")


def with_rows(
    parts: Generator[Rows, None, None], name: str, role: str = "run"
) -> Generator[Rows, None, None]:
    """Go through the parts of a source; refuse a source in which no part has a row."""
    empty = True
    with closing(parts):
        for rows in parts:
            empty = empty and rows.is_empty
            yield rows
            del rows  # before the next part is read
    if empty:
        raise no_rows(name, role)


def no_judgements(name: str) -> DataError:
    """Return the error for judgements without rows, whatever their form."""
    return DataError(f"{name}: contains no judgements")


def refuse_empty(run: Source) -> None:
    """Refuse a run without rows."""
    if run.is_empty:
        raise no_rows(run.name)
