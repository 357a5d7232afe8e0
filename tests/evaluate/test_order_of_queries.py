"""Queries without judgements come in the order of the run, however it is cut."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import rankine as rk
from rankine.errors import RankineError
from tests.evaluate.streams import small

QRELS = {"q1": {"i6": 1}, "q2": {"i0": 1}}
Row = tuple[str | None, str | None, float]
LEFT: list[tuple[str, str | None]] = [
    ("z", "i0"), ("y", None), ("z", "i2"), ("x", None),
    ("x", None), ("q2", None), ("q1", "i6"), ("y", None),
]  # fmt: skip


def order(rows: list[Row], size: int | None, metrics: list[str], engine: str) -> Any:
    """Return the queries, of one frame or of batches of a size."""
    schema = {"query": pl.String, "item": pl.String, "score": pl.Float64}
    frame = pl.DataFrame(rows, schema=schema, orient="row")
    run: Any = frame
    if size is not None:
        run = (frame[begin : begin + size] for begin in range(0, len(rows), size))
    rule = rk.Convention(queries="run")
    try:
        ev = rk.evaluate(
            QRELS, run, metrics, convention=rule, catalog=9, lenient=True,
            engine=engine,
        )  # fmt: skip
    except RankineError as error:
        return str(error)
    return ev.per_query["query"].to_list()


@pytest.mark.parametrize(
    ("rows", "queries"),
    [
        (LEFT, ["z", "y", "x"]),
        # What is left of a is behind e; x and y have repeats, y the better ones last.
        ([("a", None), ("b", "i1"), ("e", None), ("a", "i1")], ["b", "e", "a"]),
        ([("y", "i1"), ("x", "i1"), ("x", "i1"), ("y", "i1")], ["y", "x"]),
    ],
)
def test_it_is_that_of_the_rows(rows: list[Any], queries: list[str]) -> None:
    scored = [(*row, float(place)) for place, row in enumerate(rows)]
    scored += [("q1", "i6", 0.0)]  # as without a judged query, a run is refused

    for size in (None, 1, 2, 4, 8):
        found = order(scored, size, ["RR"], "stream")
        assert [query for query in found if query not in QRELS] == queries


@given(
    rows=st.lists(
        st.tuples(
            st.sampled_from(["z", "y", "x", "q1", "q2", None]),
            st.sampled_from(["i0", "i6", None, None]),
            st.sampled_from([0.0, 1.0, 2.0]),
        ),
        min_size=1,
        max_size=12,
    ),
    size=st.integers(1, 6),
    metrics=st.sampled_from([["RR"], ["Coverage@2"], ["Entropy", "RR"]]),
    held=st.sampled_from([1, 1 << 20]),
)
@example(rows=[(*row, 0.0) for row in LEFT], size=4, metrics=["RR"], held=1)
def test_however_it_is_cut(
    rows: list[Row], size: int, metrics: list[str], held: int
) -> None:
    whole = order(rows, None, metrics, "memory")

    with small(held=held):
        assert order(rows, size, metrics, "stream") == whole
    assert order(rows, size, metrics, "memory") == whole
