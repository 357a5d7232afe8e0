"""Chunks: whole queries with their judgements and lists, cut out of Spark's batches."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from rankine._base.text import Counted
from rankine._engines.state import State
from rankine._engines.work import JUDGED, LISTED, SIDES
from rankine._io.repeats import cleaned
from rankine._io.sources import Rows
from rankine._io.values import ends
from rankine.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rankine._engines.work import Counts, Work


def whole_queries(
    batches: Iterable[Any], n_rows: int
) -> Iterator[tuple[Counts, pl.DataFrame]]:
    """Put batches together until they hold enough rows, and cut them between queries.

    Rows come sorted by query. Those without an id of a query are counted and left out.
    """
    held: list[Any] = []
    n_held, enough = 0, n_rows
    counts: Counts = Counter()
    for batch in batches:
        missing = batch.column("query").null_count
        if missing:
            gone = batch.filter(pc.is_null(batch.column("query")))
            for number, role in enumerate(SIDES):
                n = pc.sum(pc.equal(gone.column("kind"), number)).as_py()
                counts[role, "query"] += n or 0
            batch = batch.filter(pc.is_valid(batch.column("query")))  # noqa: PLW2901
        held.append(batch)
        n_held += batch.num_rows
        if n_held < enough:
            continue
        rows = pa.Table.from_batches(held).combine_chunks()
        query = rows.column("query")
        last = pc.index(query, query[-1]).as_py()
        held, n_held = rows.slice(last).to_batches(), len(rows) - last
        if last:
            yield counts, _frame(rows.slice(0, last))
            counts = Counter()
        # A query that is larger than this is not looked through at every batch.
        enough = max(n_rows, 2 * n_held)
    if held:
        yield counts, _frame(pa.Table.from_batches(held))


def _frame(rows: Any) -> pl.DataFrame:
    frame: Any = pl.from_arrow(rows)
    return frame  # type: ignore[no-any-return]


def chunk_of(
    work: Work, dropped: Counts, rows: pl.DataFrame
) -> tuple[Rows, Rows, State]:
    """Return the rows of some queries as a reader would: as judgements and a run.

    Also returns what was seen of them.

    Args:
        work: what is to be computed.
        dropped: how many rows were left out before.
        rows: the rows, sorted by query.
    """
    state = State(dropped.copy())
    counts, sides = state.counts, []
    for side, role in enumerate(SIDES):
        of_side = rows.filter(pl.col("kind") == side)
        known = of_side.filter(pl.col("item").is_not_null())
        counts[role, "rows"] += of_side.height
        counts[role, "item"] += of_side.height - known.height
        if side in dict(work.places):
            counts[role, "place"] += known["place"].null_count()
        frame = known.select("query", "item")
        if side == JUDGED or work.scored:
            frame = frame.with_columns(_numbers(work, side, known, state))
        ranked = side == LISTED and work.ranked
        # A list of which nothing is left is an empty list, as in memory.
        queries = of_side["query"].unique(maintain_order=True)
        sides.append(Rows(frame, role, ranked=ranked, role=role, queries=queries))
    if work.lenient:
        sides = [_cleaned(rows, counts) for rows in sides]
    judged, listed = sides
    grade = judged.frame["value"]
    fractions = grade.filter(grade != grade.floor())
    if len(fractions):
        state.examples[SIDES[JUDGED], "fraction"] = fractions.min()
    if len(grade):
        state.grades = ends(grade)
    return judged, listed, state


def check_rows(work: Work, rows: pl.DataFrame) -> None:
    """Refuse texts that are not those of ints, and two rows in the same place."""
    known = rows.filter(pl.col("item").is_not_null())
    for texts in work.texts:
        texts.check(known.filter(pl.col("kind") == texts.side)[texts.word].unique())
    for side, column in work.places:
        _refuse_same_places(known.filter(pl.col("kind") == side), SIDES[side], column)


def _numbers(work: Work, side: int, rows: pl.DataFrame, state: State) -> pl.Series:
    """Return grades or scores; those to be refused later are counted and replaced."""
    value, role = rows["value"], SIDES[side]
    if side == LISTED and work.lenient:
        return value.fill_null(float("nan"))
    state.counts[role, "missing"] += value.null_count()
    fine = value.is_finite() if side == JUDGED else value.is_not_nan()
    odd = rows.filter(~fine)
    if odd.height:
        state.counts[role, "nan"] += odd.height
        state.examples[role, "nan"] = (
            min(map(str, odd["value"].to_list()))
            if side == JUDGED
            else odd.select("query", "item").sort("query", "item").row(0)
        )
    worst = 0.0 if side == JUDGED else -float("inf")
    frame = rows.select(pl.when(fine).then("value").otherwise(worst).alias("value"))
    return frame["value"]


def _cleaned(rows: Rows, counts: Counts) -> Rows:
    """Drop repeated items as in memory, and note also what was dropped before."""
    n = counts[rows.name, "query"] + counts[rows.name, "item"]
    said = Counted(f"{rows.name}: ", n, "row", " without an id: dropped")
    rows = replace(rows, notes=(said,) if n else ())
    return cleaned(rows, rows.role)  # type: ignore[arg-type]


def _refuse_same_places(rows: pl.DataFrame, role: str, column: str) -> None:
    """Refuse two rows of a query in one place, as either may come first.

    Rows are sorted by their places.
    """
    after = rows.select("query", "place").shift(-1)
    same = (rows["query"] == after["query"]) & (rows["place"] == after["place"])
    row = same.fill_null(value=False).arg_max()
    if row is not None and same[row]:
        msg = (
            f"{role}: two rows of query {rows['query'][row]!r} have "
            f"{rows['place'][row]} in {column!r}, which sequence= or --sequence names, "
            "so their order is undefined; give each row of a query a number of its "
            "own, as row_number() does"
        )
        raise DataError(msg)
