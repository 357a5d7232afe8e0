"""Run and Qrels: a run and judgements that can be looked at, cut and filtered.

A view holds a source, which `evaluate` reads as it would read what the source was read
from. What is derived from it are rows, in the order in which they came.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

import numpy as np
import polars as pl

from rankine._base.checks import check_count, check_flag, check_number
from rankine._base.forks import need_threads
from rankine._base.notebook import as_table
from rankine._base.records import cached_property
from rankine._base.text import QUERY, count
from rankine._io import combined, read, read_again, remembered
from rankine._io.rows import as_rows, lenient_rows
from rankine._io.save import save
from rankine._io.sources import (
    MAX_BYTES,
    PLAIN,
    Dense,
    Given,
    Reading,
    Rows,
    Source,
    View,
    noted,
)
from rankine._io.values import series_of
from rankine._io.writers import Sheet
from rankine._join.by_position import is_listed, met_by_number, paired
from rankine._join.ids import Index, as_first, text_order
from rankine._join.judgements import Truth, truth_of
from rankine._join.lists import lists_of
from rankine._join.row_chunks import listed, take
from rankine._join.side_data import seen_of
from rankine._runs.several import check_depth, first_pairs, sources_of
from rankine._tables.segments import cut_lists, position
from rankine.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rankine._base.arrays import AnyArray, Bools, Ints
    from rankine._io.columns import Role
    from rankine._join.lists import Lists


class _Order(NamedTuple):
    """Where the rows of each query are.

    Attributes:
        queries: the ids of all queries.
        starts: where the list of each begins.
        order: the row at each place of the lists; None if rows are where they were.
    """

    queries: pl.Series
    starts: Ints
    order: AnyArray | None


@dataclass(frozen=True)
class _Again:
    """Takes a part of a run or of judgements again, as they are read in another way.

    Attributes:
        kind: what is made.
        base: what it is a part of, or what that was read from.
        name: what to call it in messages.
        method: the name of the method that takes the part.
        arguments: what that is given.
    """

    kind: type[_Table]
    base: Source | Given
    name: str
    method: str
    arguments: Mapping[str, Any]

    def __call__(self, how: Reading) -> Source:
        role = self.kind.role
        if isinstance(self.base, Given):
            asked = combined(self.base.how, how)
            source = read_again(self.base, role, asked, self.name)
        else:
            source = read(self.base, role, how)
        if how.lenient:
            source = lenient_rows(source, role)
        part: View = getattr(self.kind(source), self.method)(**self.arguments)
        return part.source


class _Table(View):
    """What a run and judgements have in common: rows by query."""

    role: ClassVar[Role]

    def __init__(self, data: Any) -> None:
        """Read data that `evaluate` takes, in any form.

        Args:
            data: the data; `read_run` and `read_qrels` also take options.
        """
        read_before = isinstance(data, Source)
        self._source: Source = (
            data if read_before else remembered(data, self.role, PLAIN)
        )

    @property
    def source(self) -> Source:
        """What `evaluate` reads; a file that is read in parts is read then."""
        return self._source

    @property
    def name(self) -> str:
        """The path of the file that it was read from; else "run" or "qrels"."""
        return self._source.name

    @property
    def notes(self) -> tuple[str, ...]:
        """What was inferred, changed or left out; `Evaluation.notes` has it too."""
        return self._source.notes

    @property
    def queries(self) -> list[Any]:
        """The ids of all queries, also of those without items."""
        return self._rows.query_ids()

    @cached_property
    def _rows(self) -> Rows:
        """All rows; a file that is read in parts is read now, once for all."""
        need_threads()
        how = replace(PLAIN, subtopics=self.role == "qrels")
        rows = as_rows(read(self._source, self.role, how), self.role)
        if self._source.in_parts:
            self._source = rows
        return rows

    def _part(self, rows: Rows, method: str, **arguments: Any) -> Self:
        """Return some of the rows, which a method takes again where that is needed.

        `evaluate` may have to read what they are a part of in another way, such as by
        its ranks.
        """
        source = self._source
        base = source if source.given is None else source.given
        how = replace(PLAIN, subtopics="subtopic" in rows.frame.columns)
        again = _Again(type(self), base, self.name, method, arguments)
        stamps = None if isinstance(base, Given) and base.stamps is None else ()
        return type(self)(replace(rows, given=Given(None, how, how, stamps, again)))

    @cached_property
    def _order(self) -> _Order:
        raise NotImplementedError

    @cached_property
    def _places(self) -> dict[Any, int]:
        """The number of the list of each query."""
        queries = self._order.queries.to_list()
        return dict(zip(queries, range(len(queries)), strict=True))

    @property
    def _table(self) -> pl.DataFrame:
        """The columns that users see, those of a query together."""
        raise NotImplementedError

    def _entry(self, place: int) -> Any:
        """Return the items of a query; refuse one that it has twice."""
        raise NotImplementedError

    def filter(self, *, queries: Iterable[Any]) -> Self:
        """Return the rows of some queries.

        Args:
            queries: their ids: a list, a column, or another run or judgements; of lists
                without ids, their places from 0. Those that are not here are counted
                in the notes.
        """
        if isinstance(queries, (str, bytes)) or not hasattr(queries, "__iter__"):
            msg = f"queries must be a list of ids, got {queries!r}"
            raise ParameterError(msg)
        self._refuse_places(queries)
        every, listed_ids = self._rows.lists(), list(queries)
        asked = series_of("query", listed_ids, "queries=")
        asked, said = as_first(every, asked, "query", (self.name, "queries="))
        wanted = Index.of_all(asked)
        left = every.filter(pl.Series(wanted.find(every) >= 0))
        notes = list(said)
        if len(left) < max(len(every), len(wanted.known)):
            kept_of = count(len(every), self._rows.unit or QUERY)
            note = f"{self.name}: {len(left):,} of {kept_of} kept"
            n_others = len(wanted.known) - len(left)
            if n_others:
                are = "that was asked for is" if n_others == 1 else "asked for are"
                note += f"; {n_others:,} {are} not in it"
            notes.append(note)
        kept = wanted.find(self._rows.frame["query"]) >= 0
        rows = replace(some_of(self._rows, kept, *notes), queries=left)
        return self._part(rows, "filter", queries=listed_ids)

    def _refuse_places(self, queries: Any) -> None:
        """Refuse queries of other data, if one of both are lists without ids."""
        if not isinstance(queries, (View, Mapping)):
            return
        other = queries.source if isinstance(queries, View) else None
        ours, theirs = is_listed(self._rows), other is not None and is_listed(other)
        if ours != theirs:
            names = self.name, "queries=" if other is None else other.name
            without, with_ids = names if ours else names[::-1]
            msg = (
                f"{without} has lists without ids, which cannot be found by the ids of "
                f"{with_ids}; pass places, counted from 0, or give {without} ids, as "
                "in {query: ...}"
            )
            raise ParameterError(msg)

    def to_frame(self, library: str = "polars") -> Any:
        """Return the rows as a frame of ``polars``, ``pandas`` or ``pyarrow``.

        Queries without items have no row.
        """
        from rankine._report.export import to_frame  # noqa: PLC0415

        return to_frame(self._table, library)

    def _save(
        self,
        path: str | os.PathLike[str],
        name: str | None,
        columns: Mapping[str, str] | None,
        tag: str,
    ) -> None:
        """Write the rows, and warn of what the format cannot hold."""
        n_queries = len(self._order.queries)
        if is_listed(self._rows):
            said = "its places, counted from 0, are written as ids"
            warnings.warn(f"{self.name} has no query ids: {said}", stacklevel=3)
        sheet = Sheet(self._table, self.role, self.name, n_queries, self.to_dict, tag)
        for note in save(sheet, path, name, columns):
            warnings.warn(note, stacklevel=3)

    def to_dict(self) -> dict[Any, Any]:
        """Return {query: what `self[query]` is}."""
        return {query: self._entry(place) for query, place in self._places.items()}

    def __len__(self) -> int:
        """Return how many queries there are."""
        return len(self._rows.lists())

    def __iter__(self) -> Iterator[Any]:
        """Go through the ids of the queries, as in a dict."""
        return iter(self.queries)

    def __contains__(self, query: Any) -> bool:
        """Say whether it has a query."""
        return query in self._places

    def __getitem__(self, query: Any) -> Any:
        """Return the items of a query."""
        place = self._places.get(query)
        if place is None:
            first = next(iter(self._places), None)
            msg = f"{self.name} has no {self._source.unit or QUERY} {query!r}"
            if first is not None and type(first) is not type(query):
                msg += f"; its ids are of type {type(first).__name__}: {first!r}, ..."
            raise KeyError(msg)
        return self._entry(place)

    def __repr__(self) -> str:
        """Return how much it is, and where it comes from."""
        kind, name = type(self).__name__, self.name
        if self._source.in_parts:
            return f"{kind}({name!r}, not read yet)"
        n_rows = count(self._rows.frame.height, "row")
        unit = self._source.unit or QUERY
        return f"{kind}({name!r}, {count(len(self), unit)}, {n_rows})"

    def _repr_html_(self) -> str:
        return as_table(self)


class Run(_Table):
    """The retrieved items of each query, with their scores or ranks.

    It can be used like a dict from query to items. These come in the order of their
    scores, the largest first, and items with equal scores in that of their ids as text,
    descending, as in trec_eval; without scores, in the order of ranks. So the first k
    are those that metrics at k see. `evaluate` reads a run as it would read what the
    run was read from: a file that is read in parts is read only when it is needed.

    >>> import rankine as rk
    >>> run = rk.read_run({"q1": {"a": 0.2, "b": 0.9, "c": 0.2}, "q2": {"x": 0.5}})
    >>> run
    Run('run', 2 queries, 4 rows)
    >>> run["q1"]
    {'b': 0.9, 'c': 0.2, 'a': 0.2}
    """

    role = "run"

    @cached_property
    def _lists(self) -> Lists:
        return lists_of(self._rows)

    @cached_property
    def _order(self) -> _Order:
        lists = self._lists
        return _Order(lists.queries, lists.starts, lists.order)

    @property
    def _scored(self) -> bool:
        """Whether it has scores, and not only ranks or places."""
        rows = self._rows
        return "value" in rows.frame.columns and not (rows.ranked or rows.placed)

    @property
    def _table(self) -> pl.DataFrame:
        rows, order = self._rows, self._order.order
        frame = rows.frame if order is None else rows.frame[order]
        if self._scored:
            numbers = frame["value"].alias("score")
        elif rows.ranked and "value" in frame.columns:
            numbers = _as_ints(-frame["value"]).alias("rank")
        else:
            starts = self._order.starts
            owner = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
            numbers = pl.Series("rank", position(owner) + 1)
        return pl.DataFrame([frame["query"], frame["item"], numbers])

    @cached_property
    def _columns(self) -> tuple[list[Any], list[float] | None, list[int]]:
        """The items and scores of all lists, and where each list begins."""
        self._lists.refuse_twice(self._lists.starts)
        table, starts = self._table, self._order.starts.tolist()
        scores = table["score"].to_list() if self._scored else None
        return table["item"].to_list(), scores, starts

    def _entry(self, place: int) -> dict[Any, float] | list[Any]:
        items, scores, starts = self._columns
        some = slice(starts[place], starts[place + 1])
        if scores is None:
            return items[some]
        return dict(zip(items[some], scores[some], strict=True))

    def __getitem__(self, query: Any) -> dict[Any, float] | list[Any]:
        """Return {item: score} of a query, best first; without scores, its items."""
        entry: dict[Any, float] | list[Any] = super().__getitem__(query)
        return entry

    def save(
        self,
        path: str | os.PathLike[str],
        *,
        format: str | None = None,  # noqa: A002 - the word users know
        columns: Mapping[str, str] | None = None,
        tag: str | None = None,
    ) -> None:
        """Write the run to a file, from which the same numbers can be computed.

        Items come best first. Scores are written so that they are read back exactly;
        for a run without any, formats that need scores get some that fall by rank.

        Args:
            path: the file; an ending such as ``.gz`` packs it, and ``-`` is standard
                output.
            format: ``trec``, ``msmarco``, ``csv``, ``tsv``, ``beir``, ``recbole``,
                ``parquet``, ``arrow``, ``json`` or ``ndjson``; by the ending of the
                path if not given: ``.trec``, ``.run`` and ``.txt`` are TREC text.
            columns: other names for the columns of a table, as ``{"query": "q_id"}``.
            tag: what a TREC run calls itself; the name of its file if not given.

        Warns:
            UserWarning: the format cannot hold queries without items.
        """
        if tag is not None and (not isinstance(tag, str) or tag.split() != [tag]):
            msg = f"tag must be a word without blanks, got {tag!r}"
            raise ParameterError(msg)
        own = "_".join(PurePath(self.name).name.partition(".")[0].split()) or "run"
        self._save(path, format, columns, tag or own)

    def head(self, k: int) -> Run:
        """Return the first items of each list.

        Args:
            k: how many of each.

        >>> import rankine as rk
        >>> rk.read_run({"q": {"a": 0.2, "b": 0.9, "c": 0.2}}).head(2).to_dict()
        {'q': {'b': 0.9, 'c': 0.2}}
        """
        check_count("k", k, least=0)
        if isinstance(self._source, Dense):
            return self._part(_first_of_matrix(self._source, k), "head", k=k)
        _, places = cut_lists(self._order.starts, None, k)
        order, n_rows = self._order.order, self._rows.frame.height
        rows = places if order is None else order[places]
        note = f"{len(rows):,} of {count(n_rows, 'row')} are among the first {k}"
        notes = [f"{self.name}: {note} of each list"] if len(rows) < n_rows else []
        return self._part(some_of(self._rows, rows, *notes), "head", k=k)

    def condensed(self, qrels: Any) -> Run:
        """Return the judged items alone, as for condensed lists (Sakai 2007).

        Args:
            qrels: the judgements, in any form. An item with a negative grade counts as
                unjudged, as in trec_eval.

        >>> import rankine as rk
        >>> run = rk.read_run({"q": ["x", "a", "y", "b"]})
        >>> run.condensed({"q": {"a": 1, "b": 0}}).to_dict()
        {'q': ['a', 'b']}
        """
        truth = truth_of(qrels)
        judged, own = paired(truth.source, self._rows, ("qrels", self.name))
        rows, known = as_rows(own, "run"), Truth(judged).judgements
        columns = known.queries[known.pool.query].alias("query"), known.items
        pairs = pl.DataFrame(columns).filter(known.pool.grade >= 0)
        kept, notes = are_in(rows, pairs, judged.name)
        n_others = int(np.count_nonzero(~kept))
        if n_others:
            rest = f"{count(n_others, 'row')} not judged in {judged.name}"
            notes += (f"{self.name}: {rest}: left out",)
        left = some_of(rows, kept, *notes)
        return self._part(left, "condensed", qrels=truth.source)

    def without(self, seen: Any) -> Run:
        """Return what was not seen before.

        Args:
            seen: pairs of query and item, such as training data, in any form that
                judgements or a run may have.

        >>> import rankine as rk
        >>> rk.read_run({"user": ["a", "b", "c"]}).without({"user": {"b"}}).to_dict()
        {'user': ['a', 'c']}
        """
        ranked = isinstance(seen, Run)
        source = as_rows(seen.source, "run") if ranked else seen_of(seen, PLAIN, "seen")
        names = "seen", self.name
        both = paired(source, self._rows, names)
        had, rows = (as_rows(side, "run") for side in both)
        there, notes = are_in(rows, had.frame, "seen")
        notes = (*met_by_number(had, rows, names, alike=False), *notes)
        n_seen = int(np.count_nonzero(there))
        if n_seen:
            rest = f"{count(n_seen, 'row')} with an item seen before"
            notes += (f"{self.name}: {rest}: left out",)
        left = some_of(rows, ~there, *notes)
        return self._part(left, "without", seen=Run(source))


class Qrels(_Table):
    """The judged items of each query, with their grades.

    It can be used like a dict from query to {item: grade}.

    >>> import rankine as rk
    >>> qrels = rk.read_qrels({"q1": {"a": 1, "b": 0}, "q2": {"x"}})
    >>> qrels
    Qrels('qrels', 2 queries, 3 rows)
    >>> qrels["q1"]
    {'a': 1, 'b': 0}
    """

    role = "qrels"

    @cached_property
    def _rows(self) -> Rows:
        """All rows, with their subtopics if there are any."""
        rows = super()._rows
        if Truth(rows).subtopics is None:
            rows = replace(rows, frame=rows.frame.drop("subtopic", strict=False))
        return rows

    @cached_property
    def _order(self) -> _Order:
        return _Order(*listed(self._rows))

    @property
    def _table(self) -> pl.DataFrame:
        order, frame = self._order.order, self._rows.frame
        frame = frame if order is None else frame[order]
        grades = _as_ints(frame["value"]).alias("grade")
        subtopics = [frame["subtopic"]] if "subtopic" in frame.columns else []
        return pl.DataFrame([frame["query"], frame["item"], grades, *subtopics])

    @cached_property
    def _columns(self) -> tuple[list[Any], list[float], list[int]]:
        """The items and grades of all queries, and where those of each begin."""
        judged = Truth(self._rows).judgements  # one grade per item, of all subtopics
        grades = _as_ints(pl.Series(judged.pool.grade)).to_list()
        return judged.items.to_list(), grades, judged.pool.starts.tolist()

    def _entry(self, place: int) -> dict[Any, float]:
        items, grades, starts = self._columns
        some = slice(starts[place], starts[place + 1])
        return dict(zip(items[some], grades[some], strict=True))

    def __getitem__(self, query: Any) -> dict[Any, float]:
        """Return {item: grade} of a query."""
        entry: dict[Any, float] = super().__getitem__(query)
        return entry

    def save(
        self,
        path: str | os.PathLike[str],
        *,
        format: str | None = None,  # noqa: A002 - the word users know
        columns: Mapping[str, str] | None = None,
    ) -> None:
        """Write the judgements to a file.

        Args:
            path: the file; an ending such as ``.gz`` packs it, and ``-`` is standard
                output.
            format: ``trec``, ``csv``, ``tsv``, ``beir``, ``recbole``, ``parquet``,
                ``arrow``, ``json`` or ``ndjson``; by the ending of the path if not
                given: ``.trec``, ``.qrels`` and ``.txt`` are TREC text.
            columns: other names for the columns of a table, as ``{"query": "q_id"}``.

        Warns:
            UserWarning: the format cannot hold queries without judgements, or
                subtopics.
        """
        self._save(path, format, columns, "")

    def pooled(self, runs: Any, depth: int | None) -> Qrels:
        """Return the judgements that a pool of runs would have led to.

        Args:
            runs: {name: run}, a list of runs in any form, or paths or a pattern of
                files.
            depth: how many items of each list were judged; None for all.

        Returns:
            The judgements of items that any of the runs has among its first. All
            queries stay, also those without judgements.

        References:
            Zobel (1998), How reliable are the results of large-scale information
            retrieval experiments? https://doi.org/10.1145/290941.291014

        >>> import rankine as rk
        >>> qrels = rk.read_qrels({"q": {"a": 1, "b": 1, "z": 1}})
        >>> qrels.pooled([{"q": ["a", "z"]}, {"q": ["x", "b"]}], depth=1).to_dict()
        {'q': {'a': 1}}
        """
        check_depth(depth)
        rows, notes = self._rows, dict[str, None]()
        kept = np.zeros(rows.frame.height, dtype=np.bool_)
        sources = sources_of(runs)
        for name, source in sources.items():
            own, run = paired(rows, source, (self.name, name))
            rows = as_rows(own, "qrels")
            there, said = are_in(rows, first_pairs(run, depth), name)
            kept |= there
            notes |= dict.fromkeys(said)
        if not kept.all():
            share = f"{np.count_nonzero(kept):,} of {count(len(kept), 'judgement')}"
            first = "" if depth is None else f"the first {depth} of each list of "
            notes[f"{self.name}: {share} are in {first}these runs"] = None
        left = some_of(rows, kept, *notes)
        return self._part(left, "pooled", runs=sources, depth=depth)

    def sample(self, share: float, seed: int = 0) -> Qrels:
        """Return a random share of the judgements of each query, rounded up.

        The same judgements give the same sample, whatever their order; and with the
        same seed, a larger share has all that a smaller one has.

        Args:
            share: how many of the judgements are kept, above 0 and up to 1.
            seed: the seed of the random numbers.

        References:
            Buckley and Voorhees (2004), Retrieval evaluation with incomplete
            information. https://doi.org/10.1145/1008992.1009000

        >>> import rankine as rk
        >>> qrels = rk.read_qrels({"q": {item: 1 for item in range(10)}})
        >>> len(qrels.sample(0.25, seed=1)["q"])  # 2.5, rounded up
        3
        """
        check_number("share", share, above=0, most=1)
        check_count("seed", seed, least=0)
        frame = self._rows.frame
        query, item = _in_order(frame["query"]), _in_order(frame["item"])
        order = np.lexsort((item, query))
        key = np.random.default_rng(seed).random(len(order))
        order, query = order[np.lexsort((key, query[order]))], np.sort(query)
        n_judged = np.bincount(query)
        # What a float adds to 0.1 x 30 must not be rounded up.
        n_kept = np.ceil(share * n_judged - 1e-9).astype(np.int64)
        rows = order[position(query) < n_kept[query]]
        note = f"{len(rows):,} of {count(frame.height, 'judgement')} were drawn"
        notes = [f"{self.name}: {note} (seed {seed})"] if share < 1 else []
        left = some_of(self._rows, rows, *notes)
        return self._part(left, "sample", share=share, seed=seed)


def some_of(rows: Rows, which: Bools | Ints, *notes: str) -> Rows:
    """Return some rows, as they came. All queries stay, also those without rows."""
    row = np.flatnonzero(which) if which.dtype == np.bool_ else np.sort(which)
    # Places in lists or in a matrix do not fit what is left.
    number = None if rows.starts is not None else rows.number
    left = replace(
        take(replace(rows, number=number), row),
        starts=None,
        shape=None,
        grid=None,
        given=None,
        queries=rows.lists(),
    )
    return noted(left, notes)


def are_in(rows: Rows, pairs: pl.DataFrame, name: str) -> tuple[Bools, tuple[str, ...]]:
    """Mark the rows whose query and item are among some pairs; also returns notes.

    Args:
        rows: the rows.
        pairs: the columns query and item.
        name: what to call the pairs.
    """
    frame, notes = rows.frame, dict[str, None]()
    names = (rows.name if rows.name != name else "this", name)
    columns = []
    for part in ("query", "item"):
        ids, said = as_first(frame[part], pairs[part], part, names)
        columns.append(ids)
        notes |= dict.fromkeys(said)
    numbered = frame.select("query", "item").with_row_index("row")
    found = numbered.join(pl.DataFrame(columns), on=["query", "item"], how="semi")
    there = np.zeros(frame.height, dtype=np.bool_)
    there[found["row"].to_numpy()] = True
    return there, tuple(notes)


def _as_ints(numbers: pl.Series) -> pl.Series:
    """Return whole numbers as ints; a column with others as it is."""
    ints = numbers.cast(pl.Int64, strict=False)
    same = (ints.cast(pl.Float64) == numbers).all() and not ints.has_nulls()
    return ints if same else numbers


def _in_order(ids: pl.Series) -> Ints:
    """Return a number for each id, which are in the order of the ids as texts."""
    known = ids.unique()
    return text_order(known)[Index(known).find(ids)]


def _first_of_matrix(source: Dense, k: int) -> Rows:
    """Return the first items of each row; no more of a matrix becomes rows."""
    lists = lists_of(source, depth=max(k, 1))
    starts, rows = cut_lists(lists.starts, None, k)
    query = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    columns = {
        "query": lists.queries[query],
        "item": lists.items_of(rows),
        "value": np.zeros(0) if lists.scores is None else lists.scores[rows],
    }
    return Rows(
        pl.DataFrame(columns),
        source.name,
        notes=source.notes,
        role="run",
        queries=source.queries,
        n_places=source.n_places,
        is_matrix=True,
    )


def read_run(
    data: Any,
    *,
    format: str | None = None,  # noqa: A002 - the word users know
    columns: Mapping[str, Any] | None = None,
    lower_is_better: bool = False,
    lenient: bool = False,
    encoding: str | None = None,
    max_bytes: int = MAX_BYTES,
) -> Run:
    """Read a run.

    Args:
        data: a file, a folder or a pattern of files, or ``-`` for standard input, in
            any of the formats, compressed or not; or any object that `evaluate` takes
            as a run.
        format: ``trec``, ``trec-loose``, ``msmarco``, ``csv``, ``tsv``, ``beir``,
            ``movielens``, ``recbole``, ``parquet``, ``arrow``, ``json`` or ``ndjson``;
            recognised by the content if not given.
        columns: which column is what, as ``{"query": "userID", "item": ...}``, or by
            their numbers from 1.
        lower_is_better: scores are distances, which become scores: minus the distance.
        lenient: drop rows without an id and repeated items, rank scores that are nan
            last, and count them in the notes, instead of refusing them.
        encoding: the encoding of text that is not UTF-8.
        max_bytes: how many bytes may be read, after unpacking.

    Returns:
        The run, which can be looked at, cut, filtered, saved, and evaluated.
    """
    check_flag("lower_is_better", lower_is_better)
    check_flag("lenient", lenient)
    how = Reading(
        format=format,
        columns=columns,
        lower_is_better=lower_is_better,
        lenient=lenient,
        encoding=encoding,
        max_bytes=max_bytes,
    )
    return Run(remembered(data, "run", how))


def read_qrels(
    data: Any,
    *,
    format: str | None = None,  # noqa: A002 - the word users know
    columns: Mapping[str, Any] | None = None,
    grades: Mapping[Any, float] | None = None,
    lenient: bool = False,
    encoding: str | None = None,
    max_bytes: int = MAX_BYTES,
) -> Qrels:
    """Read judgements.

    Args:
        data: a file, a folder or a pattern of files, or ``-`` for standard input, in
            any of the formats, compressed or not; or any object that `evaluate` takes
            as judgements.
        format: ``trec``, ``csv``, ``tsv``, ``beir``, ``movielens``, ``recbole``,
            ``parquet``, ``arrow``, ``json`` or ``ndjson``; recognised by the content if
            not given.
        columns: which column is what, as ``{"query": "userID", "item": ...}``, or by
            their numbers from 1.
        grades: what each grade in words is worth, as ``{"Viewed": 0, "Clicked": 1}``.
        lenient: drop rows without an id and repeated items, and count them in the
            notes, instead of refusing them.
        encoding: the encoding of text that is not UTF-8.
        max_bytes: how many bytes may be read, after unpacking.

    Returns:
        The judgements, which can be looked at, filtered, saved, and evaluated against.
    """
    check_flag("lenient", lenient)
    how = Reading(
        format=format,
        columns=columns,
        grades=grades,
        lenient=lenient,
        encoding=encoding,
        max_bytes=max_bytes,
    )
    return Qrels(remembered(data, "qrels", how))
