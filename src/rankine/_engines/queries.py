"""Some queries with all of their rows, evaluated as in memory, without polars."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from rankine._conventions.tools import TOOLS
from rankine._engines.ranked import Lists, Rows, repeats
from rankine._engines.state import State, Sums
from rankine._engines.work import (
    FITS,
    JUDGED,
    LISTED,
    PLAIN_INT,
    ROLES,
    odd_text,
    refuse_beyond,
)
from rankine._evaluate.notes import ranking_metrics, removed_from, seen_in
from rankine._evaluate.summary import summarize
from rankine._evaluate.warnings import cautions_of
from rankine._join.aligned import SHOWN, Aligned, apply, cut
from rankine._join.ranks import Order
from rankine._tables.pool import Pool
from rankine._tables.segments import starts_of
from rankine.errors import (
    DataError,
    DuplicateItemError,
    MissingExtraError,
    RankineError,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rankine._base.arrays import AnyArray, Ints
    from rankine._engines.work import Work
    from rankine._evaluate.summary import Summary
    from rankine._join.context import Listed


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
                Rows(query[known], item[known], number[known] if valued else None)
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
            raise odd_text(key, ROLES[side], ROLES[1 - side], odd[0].as_py())
        if side == LISTED and self.work.plan.judged:  # which have ints, as in memory
            long = texts.filter(pc.greater(pc.utf8_length(texts), FITS))
            refuse_beyond(key, *ROLES, long.to_pylist())

    def _refuse_same_places(self, place: Any, side: int, column: str) -> None:
        """Refuse two rows of a query in one place, as either may come first.

        Rows are sorted by their places.
        """
        query = (self.judged, self.listed)[side].query
        same = pc.equal(place[1:], place[:-1]).fill_null(False)
        rows = np.flatnonzero(same.to_numpy() & repeats(query))
        if len(rows):
            row = int(rows[0])
            msg = (
                f"{ROLES[side]}: two rows of query "
                f"{self.queries[int(query[row])].as_py()!r} have {place[row].as_py()} "
                f"in {column!r}, which sequence= or --sequence names, so their "
                "order is undefined; give each row of a query a number of its own, as "
                "row_number() does"
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
        """Return what was seen in the queries, and their values."""
        plan = self.work.plan
        state = State([Sums() for _ in plan.asked], self.counts)
        self._check_values(state)
        judged, listed = self._once(self.judged, JUDGED), self.listed
        if self.work.lenient:
            listed = self._once(listed, LISTED)
        by_number: dict[int, Summary] = {}
        tables = self._tables(state, judged, listed, by_number)
        for group, table in zip(plan.groups, tables, strict=True):
            for number, metric, _ in group.members:
                if not metric.fact.of_all:
                    sums = Sums.of(by_number[number], list(table.ids))
                    state.sums[number] = sums
        state.n_queries = len(tables[0].ids)
        if plan.judged:
            aligned = [table for table in tables if isinstance(table, Aligned)]
            seen = seen_in(aligned[0], ranking_metrics(plan))
            state.seen = replace(seen, removed=removed_from(aligned))
        self._see_both(state, judged, listed)
        state.steps = max(table.steps() for table in tables)
        if plan.preset is not None:
            state.cautions = self._cautions(tables)
        return state, self._frame(tables, by_number)

    def _tables(
        self,
        state: State,
        judged: Rows,
        listed: Rows,
        by_number: dict[int, Summary],
    ) -> list[Any]:
        """Return the table of each group; compute its metrics on the way."""
        work, plan = self.work, self.work.plan
        tables: list[Any] = []
        by_order = self._matched(judged, listed) if plan.judged else {}
        listings: Iterator[Listed] = iter(())
        if len(plan.judged) < len(plan.groups):
            listings = iter(self._listed(state, judged, listed, by_number))
        for group in plan.groups:
            if group.lists:
                tables.append(next(listings))
                continue
            order = Order.of(group.rule, plan.rule)
            aligned = apply(by_order[order], group.rule, partial=True)
            if work.depth is not None:
                aligned = cut(aligned, work.depth)
            tables.append(aligned)
            for number, metric, rule in group.members:
                by_number[number] = summarize(metric, aligned.table, rule, aligned.ids)
        return tables

    def _listed(
        self,
        state: State,
        judged: Rows,
        listed: Rows,
        by_number: dict[int, Summary],
    ) -> list[Listed]:
        """Evaluate metrics of lists, which need polars."""
        try:
            from rankine._engines.listed import listed_of  # noqa: PLC0415
        except ModuleNotFoundError as error:
            if error.name != "polars":
                raise
            group = next(group for group in self.work.plan.groups if group.lists)
            metric = self.work.plan.asked[group.members[0][0]]
            msg = (
                f"{metric} is a metric of lists, which needs polars on the executors; "
                "install it there"
            )
            raise MissingExtraError(msg) from None
        state.listing, tables, summaries = listed_of(self, judged, listed)
        by_number |= summaries
        return tables

    def _see_both(self, state: State, judged: Rows, listed: Rows) -> None:
        """See who has judgements, who has a list, and whether anybody has both."""
        n_queries = len(self.queries)
        is_judged = np.bincount(judged.query, minlength=n_queries) > 0
        is_listed = np.bincount(listed.query, minlength=n_queries) > 0
        ours, theirs = np.flatnonzero(is_judged), np.flatnonzero(is_listed)
        both = is_judged[theirs]
        state.shared = bool(both.any())
        state.judged_ids = tuple(self.ids[number] for number in ours[:SHOWN])
        state.alone_ids = tuple(self.ids[number] for number in theirs[~both][:SHOWN])
        self.counts[ROLES[JUDGED], "queries"] += len(ours)

    def _cautions(self, tables: Sequence[Any]) -> tuple[Any, ...]:
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

    def _frame(self, tables: Sequence[Any], by_number: dict[int, Summary]) -> Any:
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
        """Count grades and scores that are not numbers; they are refused later."""
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

    def _once(self, rows: Rows, side: int) -> Rows:
        """Return rows without repeated items, of which the largest value is kept."""
        key = rows.query * len(self.items) + rows.item
        if not repeats(np.sort(key)).any():
            return rows
        value = np.zeros(len(key)) if rows.value is None else rows.value
        order = np.lexsort((-value, key))
        again = np.flatnonzero(repeats(key[order])) + 1
        if not self.work.lenient:
            raise self._twice(rows, int(order[again[0]]), side)
        self.counts[ROLES[side], "repeated"] += len(again)
        return rows.take(np.sort(np.delete(order, again)))

    def _twice(self, rows: Rows, row: int, side: int) -> RankineError:
        item = self.items[int(rows.item[row])].as_py()
        query = self.queries[int(rows.query[row])].as_py()
        verb, fate = (("is judged", "largest grade"), ("appears", "best"))[side]
        msg = (
            f"item {item!r} {verb} twice for query {query!r} in {ROLES[side]}; "
            f"lenient=True keeps the {fate} of each"
        )
        return DuplicateItemError(msg)

    def _matched(self, judged: Rows, listed: Rows) -> dict[Order, Aligned]:
        """Join judgements and lists, once for all orders."""
        plan = self.work.plan
        orders: dict[Order, bool] = {}
        for group in plan.groups:
            order = Order.of(group.rule, plan.rule)
            orders[order] = orders.get(order, False) or group.keep_scores
        present = np.bincount(judged.query, minlength=len(self.queries))
        pool = Pool(starts_of(present[present > 0]), judged.value)  # type: ignore[arg-type]
        matched: dict[Order, Aligned] = {}
        plain = {
            order: orders[order] for order in orders if order.duplicates == "count"
        }
        careful = {order: orders[order] for order in orders if order not in plain}
        last = self._last_rows(listed) if careful else None
        if last is None:
            return Lists(self, judged, listed, present > 0).matched(pool, orders)
        if any(order.duplicates == "error" for order in careful):
            raise self._twice(listed, last[1], LISTED)
        if plain:
            matched |= Lists(self, judged, listed, present > 0).matched(pool, plain)
        self.counts[ROLES[LISTED], "dropped"] += len(listed.query) - len(last[0])
        shorter = listed.take(last[0])
        return matched | Lists(self, judged, shorter, present > 0).matched(
            pool, careful
        )

    def _last_rows(self, rows: Rows) -> tuple[Ints, int] | None:
        """Return the last row of each item, and one that repeats another, if any."""
        key = rows.query * len(self.items) + rows.item
        if not repeats(np.sort(key)).any():
            return None
        order = np.argsort(key, kind="stable")
        same = repeats(key[order])
        kept = np.sort(np.delete(order, np.flatnonzero(same)))
        return kept, int(order[int(same.argmax())])

    def rank(self, listed: Rows) -> None:
        """Say whose ids decide ties from now on."""
        self._ranked_items = listed.item


def _numbered(column: Any) -> tuple[AnyArray, Any]:
    """Return a number for each id, -1 for those that are missing, and the ids."""
    encoded = column.combine_chunks().dictionary_encode()
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.combine_chunks()
    numbers = encoded.indices.fill_null(-1).to_numpy().astype(np.int64)
    return numbers, encoded.dictionary
