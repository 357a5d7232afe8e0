"""Some queries with all of their rows, evaluated as in memory, without polars."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from rankine._conventions.tools import TOOLS
from rankine._engines.state import State, Sums
from rankine._evaluate.notes import ranking_metrics, seen_in
from rankine._evaluate.summary import summarize
from rankine._evaluate.warnings import cautions_of
from rankine._join.aligned import SHOWN, apply, cut, joined
from rankine._join.ranks import Order, check_ranks, compare, refuse_same_ranks
from rankine._tables.judged import Judged
from rankine._tables.pool import Pool
from rankine._tables.segments import position, starts_of
from rankine.errors import DataError, DuplicateItemError, RankineError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankine._base.arrays import AnyArray, Bools, Floats, Ints
    from rankine._evaluate.plan import Plan
    from rankine._evaluate.summary import Summary
    from rankine._join.aligned import Aligned

JUDGED, LISTED = 0, 1
"""What a row is: a judgement, or an item of a list."""
ROLES = ("qrels", "run")
PLAIN_INT = r"^(0|-?[1-9][0-9]*)$"
ROWS = 1 << 18
"""Rows that are evaluated together, which take about 50 MB."""


@dataclass(frozen=True)
class Work:
    """What executors are told.

    Attributes:
        version: of the package on the driver.
        plan: what is to be computed, with nothing refused, rounded or missed yet.
        depth: the number of items of each list that are kept.
        scored: whether the run has scores or ranks.
        ranked: whether these are ranks.
        lenient: whether repeated items are dropped and counted.
        texts: ids that must be the plain forms of ints: a part, and the side.
        places: whose rows must have a place each, and no two of a query the same:
            a side, and the column of the places.
        n_rows: how many rows are evaluated together.
    """

    version: str
    plan: Plan
    depth: int | None
    scored: bool
    ranked: bool
    lenient: bool
    texts: tuple[tuple[str, int], ...] = ()
    places: tuple[tuple[int, str], ...] = ()
    n_rows: int = ROWS


@dataclass(frozen=True)
class _Rows:
    """Judgements or items of lists, query by query.

    Attributes:
        query, item: the numbers of their ids.
        value: grades or scores, None where the order is the rank.
    """

    query: Ints
    item: Ints
    value: Floats | None

    def take(self, rows: Ints | Bools) -> _Rows:
        value = None if self.value is None else self.value[rows]
        return _Rows(self.query[rows], self.item[rows], value)


@dataclass(frozen=True)
class _Where:
    """Says in messages where rows are: a cluster has no line numbers."""

    frame: dict[str, _Column]
    name: str = ROLES[LISTED]

    def where(self, _: int) -> str:
        return self.name


@dataclass(frozen=True)
class _Column:
    ids: Any
    number: Ints

    def __getitem__(self, row: int) -> Any:
        return self.ids[int(self.number[row])].as_py()


class Queries:
    """Some queries with all of their rows."""

    def __init__(self, work: Work, counts: Counter[tuple[str, str]], rows: Any) -> None:
        self.work, self.counts = work, counts
        self.type = rows.schema.field("query").type
        query, self.queries = _numbered(rows.column("query"))
        item, self.items = _numbered(rows.column("item"))
        kind = rows.column("kind").to_numpy()
        value = rows.column("value")
        absent = value.is_null().to_numpy()
        number = value.fill_null(np.nan).to_numpy()
        sides = []
        for side, role in enumerate(ROLES):
            of_side = kind == side
            known = of_side & (item >= 0)
            n_rows, n_known = np.count_nonzero(of_side), np.count_nonzero(known)
            counts[role, "rows"] += int(n_rows)
            counts[role, "item"] += int(n_rows - n_known)
            valued = side == JUDGED or work.scored
            if valued:
                counts[role, "missing"] += int(np.count_nonzero(known & absent))
            sides.append(
                _Rows(query[known], item[known], number[known] if valued else None)
            )
        self.judged, self.listed = sides
        for side, column in work.places:
            known = (kind == side) & (item >= 0)
            place = rows.column("place").filter(pa.array(known))
            counts[ROLES[side], "place"] += place.null_count
            self._refuse_same_places(place, side, column)
        for key, side in work.texts:
            self._refuse_odd_texts(key, side)

    def _refuse_odd_texts(self, key: str, side: int) -> None:
        """Refuse texts that are not the plain form of an int, where ints are too."""
        rows = (self.judged, self.listed)[side]
        numbers, ids = rows.query, self.queries
        if key == "item":
            numbers, ids = rows.item, self.items
        texts = ids.take(np.unique(numbers))
        odd = texts.filter(pc.invert(pc.match_substring_regex(texts, PLAIN_INT)))
        if len(odd):
            msg = (
                f"{key} ids are text in {ROLES[side]} and ints in {ROLES[1 - side]}, "
                f"and not all of the texts are plain ints, such as {odd[0].as_py()!r}; "
                "give both the same type"
            )
            raise DataError(msg)

    def _refuse_same_places(self, place: Any, side: int, column: str) -> None:
        """Refuse two rows of a query in one place, as either may come first.

        Rows are sorted by their places.
        """
        query = (self.judged, self.listed)[side].query
        same = pc.equal(place[1:], place[:-1]).fill_null(False)
        rows = np.flatnonzero(same.to_numpy() & _repeats(query))
        if len(rows):
            row = int(rows[0])
            msg = (
                f"{ROLES[side]}: two rows of query "
                f"{self.queries[int(query[row])].as_py()!r} have {place[row].as_py()} "
                f"in {column!r}, which sequence= names, so that their order is open; "
                "give each row of a query a number of its own, as row_number() does"
            )
            raise DataError(msg)

    @cached_property
    def ids(self) -> list[Any]:
        ids: list[Any] = self.queries.to_pylist()
        return ids

    def _text_order(self, rows: Ints) -> Ints:
        """Return numbers of the items of some rows, in the order of their texts."""
        return self._place_of_item[self._ranked_items[rows]]

    @cached_property
    def _place_of_item(self) -> Ints:
        place = np.empty(len(self.items), dtype=np.int64)
        by_text = pc.sort_indices(self.items.cast(pa.large_string())).to_numpy()
        place[by_text] = np.arange(len(by_text))
        return place

    def evaluated(self) -> tuple[State, Any]:
        """Return what was seen of the queries, and the values of each."""
        work, plan = self.work, self.work.plan
        state = State([Sums() for _ in plan.asked], self.counts)
        self._check_values(state)
        judged, listed = self._once(self.judged, JUDGED), self.listed
        if work.lenient:
            listed = self._once(listed, LISTED)
        tables = []
        by_order = self._matched(judged, listed)
        by_number: dict[int, Summary] = {}
        state.alone_ids = tuple(next(iter(by_order.values())).extra[:SHOWN])
        for group in plan.groups:
            order = Order.of(group.rule, plan.rule)
            aligned = apply(by_order[order], group.rule, partial=True)
            if work.depth is not None:
                aligned = cut(aligned, work.depth)
            tables.append(aligned)
            for number, metric, rule in group.members:
                summary = summarize(metric, aligned.table, rule, aligned.ids)
                by_number[number] = summary
                state.sums[number] = Sums.of(summary, list(aligned.ids))
        state.n_queries = len(tables[0].ids)
        state.seen = seen_in(tables[0], ranking_metrics(plan))
        state.steps = max(aligned.steps() for aligned in tables)
        if plan.preset is not None:
            state.cautions = self._cautions(tables)
        return state, self._frame(tables, by_number)

    def _cautions(self, tables: Sequence[Aligned]) -> tuple[Any, ...]:
        plan = self.work.plan
        given = any(group.rule.order == "given" for group in plan.groups)
        unsorted = max(table.unsorted for table in tables) if given else 0
        asked = (
            (plan.asked[number], metric, aligned.table)
            for group, aligned in zip(plan.groups, tables, strict=True)
            for number, metric, _ in group.members
        )
        tool = TOOLS[plan.preset or ""]
        return tuple(cautions_of(tool, asked, unsorted))

    def _frame(self, tables: Sequence[Aligned], by_number: dict[int, Summary]) -> Any:
        """Return query and values, a row per query that any metric looks at."""
        plan = self.work.plan
        ids = list(dict.fromkeys(query for table in tables for query in table.ids))
        columns = [pa.array(ids, self.type)]
        place = {query: row for row, query in enumerate(ids)}
        by_label: dict[str, Any] = {}
        for group, table in zip(plan.groups, tables, strict=True):
            rows = [place[query] for query in table.ids]
            for number, _, _ in group.members:
                column = np.full(len(ids), np.nan)
                column[rows] = by_number[number].values
                by_label[plan.labels[number]] = pa.array(column, mask=np.isnan(column))
        columns += [by_label[label] for label in plan.labels]
        return pa.Table.from_arrays(columns, names=["query", *plan.labels])

    def _check_values(self, state: State) -> None:
        """Count grades and scores that are no numbers; they are refused later."""
        grade, score = self.judged.value, self.listed.value
        if grade is not None and len(grade):
            odd = ~np.isfinite(grade)
            least, most = np.inf, -np.inf
            if not odd.all():
                least, most = grade[~odd].min(), grade[~odd].max()
            state.grades = float(least), float(most)
            self.counts[ROLES[JUDGED], "nan"] += int(np.count_nonzero(odd))
            grade[odd] = 0
            fraction = grade[grade != np.floor(grade)]
            state.fraction = float(fraction.min(initial=np.inf))
        if score is not None:
            odd = np.isnan(score)
            self.counts[ROLES[LISTED], "nan"] += int(np.count_nonzero(odd))
            score[odd] = -np.inf

    def _once(self, rows: _Rows, side: int) -> _Rows:
        """Return rows without repeated items, of which the largest value is kept."""
        key = rows.query * len(self.items) + rows.item
        if not _repeats(np.sort(key)).any():
            return rows
        value = np.zeros(len(key)) if rows.value is None else rows.value
        order = np.lexsort((-value, key))
        again = np.flatnonzero(_repeats(key[order])) + 1
        if not self.work.lenient:
            raise self._twice(rows, int(order[again[0]]), side)
        self.counts[ROLES[side], "repeated"] += len(again)
        return rows.take(np.sort(np.delete(order, again)))

    def _twice(self, rows: _Rows, row: int, side: int) -> RankineError:
        item = self.items[int(rows.item[row])].as_py()
        query = self.queries[int(rows.query[row])].as_py()
        verb, fate = (("is judged", "largest grade"), ("appears", "best"))[side]
        msg = (
            f"item {item!r} {verb} twice for query {query!r} in {ROLES[side]}; "
            f"lenient=True keeps the {fate} of each"
        )
        return DuplicateItemError(msg)

    def _matched(self, judged: _Rows, listed: _Rows) -> dict[Order, Aligned]:
        """Join judgements and lists, once for all orders."""
        plan = self.work.plan
        orders: dict[Order, bool] = {}
        for group in plan.groups:
            order = Order.of(group.rule, plan.rule)
            orders[order] = orders.get(order, False) or group.keep_scores
        present = np.bincount(judged.query, minlength=len(self.queries))
        pool = Pool(starts_of(present[present > 0]), judged.value)  # type: ignore[arg-type]
        self.counts[ROLES[JUDGED], "queries"] += pool.n_queries
        matched: dict[Order, Aligned] = {}
        plain = {
            order: orders[order] for order in orders if order.duplicates == "count"
        }
        careful = {order: orders[order] for order in orders if order not in plain}
        last = self._last_rows(listed) if careful else None
        if last is None:
            return _Lists(self, judged, listed, present > 0).matched(pool, orders)
        if any(order.duplicates == "error" for order in careful):
            raise self._twice(listed, last[1], LISTED)
        if plain:
            matched |= _Lists(self, judged, listed, present > 0).matched(pool, plain)
        self.counts[ROLES[LISTED], "dropped"] += len(listed.query) - len(last[0])
        shorter = listed.take(last[0])
        return matched | _Lists(self, judged, shorter, present > 0).matched(
            pool, careful
        )

    def _last_rows(self, rows: _Rows) -> tuple[Ints, int] | None:
        """Return the last row of each item, and one that repeats another, if any."""
        key = rows.query * len(self.items) + rows.item
        if not _repeats(np.sort(key)).any():
            return None
        order = np.argsort(key, kind="stable")
        same = _repeats(key[order])
        kept = np.sort(np.delete(order, np.flatnonzero(same)))
        return kept, int(order[int(same.argmax())])

    def rank(self, listed: _Rows) -> None:
        """Say whose ids decide ties from now on."""
        self._ranked_items = listed.item


class _Lists:
    """Lists as they are compared, and the judged rows in them."""

    def __init__(
        self, queries: Queries, judged: _Rows, listed: _Rows, present: Bools
    ) -> None:
        self.queries, self.listed = queries, listed
        number = np.cumsum(present) - 1
        self.n_judged = int(np.count_nonzero(present))
        of_list = listed.query[np.flatnonzero(np.diff(listed.query, prepend=-1))]
        extra = of_list[~present[of_list]]
        number[extra] = self.n_judged + np.arange(len(extra))
        self.extra, self.number = extra, number[of_list]
        counts = np.bincount(listed.query, minlength=len(present))[of_list]
        self.starts = starts_of(counts)
        self.judged_ids = np.flatnonzero(present)
        width = len(queries.items)
        known = judged.query * width + judged.item
        order = np.argsort(known, kind="stable")
        key, known = listed.query * width + listed.item, known[order]
        place = np.minimum(np.searchsorted(known, key), max(len(known) - 1, 0))
        same = known[place] == key if len(known) else np.zeros(len(key), dtype=bool)
        self.row: Ints = np.flatnonzero(same)
        self.pair: Ints = order[place[self.row]] if len(known) else self.row
        self.group: Ints = np.searchsorted(self.starts, self.row, side="right") - 1

    def matched(self, pool: Pool, orders: dict[Order, bool]) -> dict[Order, Aligned]:
        """Return the joined table for each order."""
        owner, work, starts = self.queries, self.queries.work, self.starts
        owner.rank(self.listed)
        by_place = all(order.by == "given" for order in orders)
        score = None if by_place else self.listed.value
        where = _Where(
            {
                "query": _Column(owner.queries, self.listed.query),
                "item": _Column(owner.items, self.listed.item),
            }
        )
        if score is not None and any(order.by == "rank_value" for order in orders):
            check_ranks(where, score)  # type: ignore[arg-type]
        compared = compare(score, starts, orders)
        matched = {}
        for order, keep_scores in orders.items():
            values = compared[order.by, order.bits]
            scores, row = values.scores, self.row
            if order.by == "rank_value" and scores is not None:
                refuse_same_ranks(where, scores, starts, None, self._query)  # type: ignore[arg-type]
            above, tied, rank = values.ranks(
                starts,
                row,
                self.group,
                order,
                owner._text_order,  # noqa: SLF001
            )
            length = np.zeros(self.n_judged + len(self.extra), dtype=np.int64)
            length[self.number] = values.lengths(starts, order)
            every = of_row = None
            if keep_scores:
                of_row = np.repeat(self.number, np.diff(starts))
                every = -position(of_row).astype(float) if scores is None else scores
                inside = of_row < self.n_judged
                every, of_row = every[inside], of_row[inside]
            table = Judged.of_pairs(
                pool,
                self.pair,
                rank=rank,
                above=above,
                tied=tied,
                score=-above.astype(np.float64) if scores is None else scores[row],
                n_retrieved=length[: self.n_judged],
                in_run=length[: self.n_judged] > 0,
                scores=every,
                score_query=of_row,
            )
            ids = owner.ids
            matched[order] = joined(
                table,
                [ids[number] for number in self.judged_ids],
                [ids[number] for number in self.extra],
                length[self.n_judged :],
                (),
                repeats=True,
                scored=order.by == "score" and scores is not None and not work.ranked,
                unsorted=self._n_unsorted() if order.by == "given" else 0,
                steps=values.steps.seen,
            )
        return matched

    def _query(self, group: int) -> object:
        return self.queries.ids[int(self.listed.query[self.starts[group]])]

    def _n_unsorted(self) -> int:
        """Count the lists in which a score rises."""
        score = self.listed.value
        if score is None:
            return 0
        rises = np.flatnonzero(score[1:] > score[:-1]) + 1
        rises = rises[~np.isin(rises, self.starts)]
        return len(np.unique(np.searchsorted(self.starts, rises, side="right")))


def _repeats(ordered: Ints) -> Bools:
    """Return which numbers come again right behind themselves."""
    same: Bools = ordered[1:] == ordered[:-1]
    return same


def _numbered(column: Any) -> tuple[AnyArray, Any]:
    """Return a number for each id, -1 for those that are missing, and the ids."""
    encoded = column.combine_chunks().dictionary_encode()
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.combine_chunks()
    numbers = encoded.indices.fill_null(-1).to_numpy().astype(np.int64)
    return numbers, encoded.dictionary
