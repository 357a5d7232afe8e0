"""Runs joined: the votes of all of them, item by item.

Items are brought together by keys of 64 bits, some of which say the query; whatever
comes together is then compared by the ids themselves.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from rankine._base.blocks import by_halves
from rankine._base.forks import need_threads
from rankine._base.text import QUERY, RISING, common_unit, count
from rankine._fusion.ballots import Ballots, Votes
from rankine._fusion.ties import best_first
from rankine._io.sources import Lists as Mappings
from rankine._io.sources import Rows
from rankine._join.by_position import all_paired, met_by_number
from rankine._join.ids import Index, differ, item_keys, one_type, text_order, told_apart
from rankine._join.lists import lists_of
from rankine._tables.segments import cut_lists, expand, groups_of, starts_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from rankine._base.arrays import Bools, Floats, Ints
    from rankine._io.sources import Source
    from rankine._join.lists import Lists

_SHOWN = 3
"""How many ids are shown as examples."""
_SORTED = 1 << 16
"""Keys that are sorted together, so that they stay in the cache."""


@dataclass(frozen=True, eq=False)
class Joined:
    """Runs joined on their queries and items.

    Attributes:
        names: what the runs are called.
        unscored: the names of those that have ranks or places, and no scores.
        votes: what they say about each candidate.
        queries: the ids of the queries.
        items: the ids of the items, as they came in the runs.
        item: for each candidate, where its id is among these.
        notes: what was inferred, changed or missing.
        n_places: how many queries there are, if their ids are only places.
        is_matrix: whether these are the rows of matrices.
        unit: what queries are called, if the runs say so.
    """

    names: tuple[str, ...]
    unscored: tuple[str, ...]
    votes: Votes
    queries: pl.Series
    items: pl.Series
    item: Ints
    notes: tuple[str, ...]
    n_places: int | None
    is_matrix: bool
    unit: str

    def text_order(self, candidates: Ints) -> Ints:
        """Return numbers in the order of the texts of the items of candidates."""
        return text_order(self.items[self.item[candidates]])

    def run(
        self, scores: Floats, depth: int | None, name: str, notes: Sequence[str] = ()
    ) -> Rows:
        """Return the candidates as a run, best first.

        Args:
            scores: a score for each candidate.
            depth: how many items of each list are left; None for all.
            name: what to call it.
            notes: what else is to be said.
        """
        starts = starts_of(self.votes.n_candidates)
        order = best_first(scores, starts, lambda which: self.items[self.item[which]])
        if depth is not None:
            order = order[cut_lists(starts, None, depth)[1]]
        return self.rows(order, scores[order], name, (*self.notes, *notes))

    def rows(
        self, candidates: Ints, values: Floats, name: str, notes: tuple[str, ...] = ()
    ) -> Rows:
        """Return candidates with their values, as they come."""
        frame = pl.DataFrame(
            [
                self.queries[self.votes.query[candidates]].alias("query"),
                self.items[self.item[candidates]].alias("item"),
                pl.Series("value", values),
            ]
        )
        return Rows(
            frame,
            name,
            role="run",
            queries=self.queries,
            n_places=self.n_places,
            is_matrix=self.is_matrix,
            notes=notes,
            unit=self.unit,
        )


def join(runs: Mapping[str, Source], depth: int | None) -> Joined:
    """Bring the lists of runs to one table of votes.

    Args:
        runs: the runs, by their names.
        depth: how many items of each list vote; None for all.
    """
    need_threads()
    names = tuple(runs)
    sources = all_paired(names, [*runs.values()])
    doubts = [
        said
        for name, source in zip(names[1:], sources[1:], strict=True)
        for said in met_by_number(sources[0], source, (names[0], name))
    ]
    every = [lists_of(source, depth=depth) for source in sources]
    for name, source, one in zip(names, sources, every, strict=True):
        rising = (RISING,) if one.steps.like_distances else ()
        doubts += [
            f"{name}: {said}" for said in dict.fromkeys((*source.warnings, *rising))
        ]
    notes = dict.fromkeys(note for one in every for note in one.notes)
    ids, of_queries = one_type(
        {name: one.queries for name, one in zip(names, every, strict=True)}, "query"
    )
    queries = pl.concat([own.alias("query") for own in ids.values()])
    queries = queries.unique(maintain_order=True)
    index = Index(queries)
    numbers = [index.find(own) for own in ids.values()]
    columns, of_items = one_type(
        {name: one.ids.series for name, one in zip(names, every, strict=True)}, "item"
    )
    items = pl.concat([own.alias("item") for own in columns.values()], rechunk=True)
    ballots, places = _ballots(every, numbers, len(queries), depth)

    def attempt(seed: int) -> Votes | None:
        return _votes(ballots, items, places, every, seed)

    votes = told_apart(attempt)
    there = ballots.there.reshape(-1, len(names))
    units = {source.unit for source in sources} - {""}
    unit = common_unit(units) if units else ""
    said = _missing(names, queries, there, unit or QUERY)
    n_places = {source.n_places for source in sources}
    return Joined(
        names,
        tuple(
            name
            for name, one, source in zip(names, every, sources, strict=True)
            if not _has_scores(one, source)
        ),
        votes,
        queries,
        items,
        places[votes.row[votes.starts[:-1]]],
        (*notes, *of_queries, *of_items, *doubts, *said, *_apart(names, votes)),
        n_places.pop() if len(n_places) == 1 else None,
        all(source.is_matrix for source in sources),
        unit,
    )


def _has_scores(lists: Lists, source: Source) -> bool:
    """Say whether all scores of a run are the user's own."""
    if isinstance(source, Mappings):
        return list not in source.kinds
    return lists.scored and lists.scores is not None and not source.placed


def _missing(
    names: Sequence[str], queries: pl.Series, there: Bools, unit: str
) -> list[str]:
    """Say which queries some runs do not have."""
    said = []
    for run, name in enumerate(names):
        missing = np.flatnonzero(~there[:, run])
        if len(missing):
            few = ", ".join(map(repr, queries[missing[:_SHOWN]].to_list()))
            more = ", ..." if len(missing) > _SHOWN else ""
            said.append(
                f"{count(len(missing), unit)} not in {name} ({few}{more}): fused "
                "from the other runs"
            )
    return said


def _apart(names: Sequence[str], votes: Votes) -> list[str]:
    """Say which runs have no item in common with others: their ids may be of others."""
    n_votes = np.diff(votes.starts)
    shared = votes.run[np.repeat(n_votes > 1, n_votes)]
    n_rows, n_shared = (
        np.bincount(run, minlength=len(names)) for run in (votes.run, shared)
    )
    apart = [
        names[run] for run in np.flatnonzero((n_rows > 0) & (n_shared == 0)).tolist()
    ]
    return [
        f"no item of {name} is in another run for the same query; are ids of one kind?"
        for name in apart
    ]


def _ballots(
    every: Sequence[Lists], numbers: Sequence[Ints], n_queries: int, depth: int | None
) -> tuple[Ballots, Ints]:
    """Put the lists of a query next to each other.

    Args:
        every: the lists of each run.
        numbers: the number of the query of each list.
        n_queries: how many queries there are.
        depth: how many items of each list are taken.

    Returns:
        The ballots, and for each of their rows the place of its item among those of
        all runs.
    """
    n_runs = len(every)
    there = np.zeros((n_queries, n_runs), dtype=np.bool_)
    length = np.zeros((n_queries, n_runs), dtype=np.int64)
    taken = []
    for run, (lists, number) in enumerate(zip(every, numbers, strict=True)):
        starts, rows = cut_lists(lists.starts, None, depth or int(lists.starts[-1]))
        there[number, run] = True
        length[number, run] = np.diff(starts)
        taken.append((starts, rows))
    begins = starts_of(length.ravel())
    places = np.empty(int(begins[-1]), dtype=np.int64)
    score = np.empty(len(places))
    before = 0
    for run, (lists, number) in enumerate(zip(every, numbers, strict=True)):
        starts, rows = taken[run]
        to, _ = expand(begins[:-1][number * n_runs + run], np.diff(starts))
        places[to] = before + (rows if lists.order is None else lists.order[rows])
        if lists.scores is not None:
            score[to] = lists.scores[rows]
        else:
            score[to] = -np.arange(len(rows)) + np.repeat(starts[:-1], np.diff(starts))
        before += len(lists.ids.series)
    return Ballots(n_runs, begins, there.ravel(), score), places


def _votes(
    ballots: Ballots, items: pl.Series, places: Ints, every: Sequence[Lists], seed: int
) -> Votes | None:
    """Bring the rows of ballots together by query and item.

    Returns:
        The votes; None if keys are equal whose items differ.
    """
    row, run, new = _grouped(item_keys(items, seed), places, ballots)
    again = ~new[1:] & (run[1:] == run[:-1])
    if again.any():  # an item twice in a list, or a key by chance
        for which in np.unique(run[1:][again]).tolist():
            every[which].refuse_twice(every[which].starts)
        return None
    # Votes with one key are next to each other: if each is on the item of the one
    # before it, all are on the same.
    others = np.flatnonzero(~new)
    one, other = places[row[others - 1]], places[row[others]]
    if differ(items[one], items[other]).any():
        return None
    first = np.flatnonzero(new)
    n_candidates = np.diff(first.searchsorted(ballots.starts[:: ballots.n_runs]))
    query = np.repeat(np.arange(ballots.n_queries), n_candidates)
    return Votes(
        ballots, np.append(first, len(row)), query, run, row, scores=ballots.score
    )


def _grouped(
    keys: NDArray[np.uint64], places: Ints, ballots: Ballots
) -> tuple[Ints, Ints, Bools]:
    """Order the rows of ballots by query, key and run.

    Args:
        keys: the key of each item.
        places: the place of the item of each row among these.
        ballots: the lists.

    Returns:
        The rows, the run of each, and which of them are the first of a query and key.
    """
    n_runs = ballots.n_runs
    groups = groups_of(ballots.starts[::n_runs], _SORTED)
    row = np.empty(len(places), dtype=np.int64)
    run = np.empty(len(places), dtype=np.int64)
    new = np.zeros(len(places), dtype=np.bool_)
    low = np.uint64(max(n_runs - 1, 1).bit_length())

    def work(some: slice) -> None:
        for queries in groups[some]:
            lists = slice(queries.start * n_runs, queries.stop * n_runs)
            begins = ballots.starts[lists.start : lists.stop + 1]
            rows = slice(int(begins[0]), int(begins[-1]))
            # The query is in the first bits, the run in the last; as no two rows are
            # equal then, the sort need not be stable, which takes six times as long.
            query, of_run = divmod(np.arange(len(begins) - 1, dtype=np.uint64), n_runs)
            high = np.uint64(max(int(query[-1]), 1).bit_length())
            own = keys[places[rows]] >> (high + low) << low
            own |= np.repeat(query << (np.uint64(64) - high) | of_run, np.diff(begins))
            order = own.argsort()
            own = own[order]
            row[rows] = order + rows.start
            run[rows] = own & ((np.uint64(1) << low) - np.uint64(1))
            own >>= low
            mark = new[rows]
            mark[:1] = True
            mark[1:] = own[1:] != own[:-1]

    by_halves(work, len(groups), len(places))
    return row, run, new
