"""Rows below the largest cutoff change no number and no note, so they can stay."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rankine as rk
from rankine._metrics.lists.kind import ListMetric

K = 3
CUT = [
    name
    for name, metric in rk.metrics().items()
    if metric.fact.at == "k" and not isinstance(metric, ListMetric)
]
COUNTED = rk.Convention(duplicates="count")
Row = tuple[str, str, float]


def frame(rows: list[Row], value: str) -> pl.DataFrame:
    return pl.DataFrame(rows, ["query", "item", value], orient="row")


def first(run: list[Row]) -> list[Row]:
    """Return the rows that fewer than K others of their list are above."""
    return [
        row
        for row in run
        if sum(other[0] == row[0] and other[2] > row[2] for other in run) < K
    ]


@st.composite
def data(draw: st.DrawFn) -> tuple[list[Row], list[Row]]:
    """Draw judgements and lists with ties and repeats, of which some are judged."""
    pair = st.tuples(st.sampled_from("qr"), st.sampled_from("abcdefghij"))
    judged = draw(st.dictionaries(pair, st.sampled_from([0.0, 1.0, 2.0]), min_size=1))
    score = st.sampled_from([1.0, 2.0, 3.0, 4.0, 5.0])
    listed = draw(st.lists(st.tuples(pair, score), min_size=1, max_size=30))
    run = [(*where, number) for where, number in listed]
    top = {row[:2] for row in first(run)}
    if top.isdisjoint(judged):
        judged[next(iter(top))] = 1.0
    return [(*where, grade) for where, grade in judged.items()], run


@pytest.mark.slow
@pytest.mark.parametrize("name", CUT)
@settings(max_examples=25, deadline=None)
@given(data())
def test_a_cutoff_ends_what_a_metric_looks_at(
    name: str, drawn: tuple[list[Row], list[Row]]
) -> None:
    qrels, run = drawn
    metrics = [rk.parse(f"{name}@{K}"), rk.parse(f"{name}@1")]

    every, top = (
        rk.evaluate(
            frame(qrels, "grade"), frame(rows, "score"), metrics,
            convention=COUNTED, catalog=20,
        )
        for rows in (run, first(run))
    )  # fmt: skip

    assert str(top.mean) == str(every.mean)
    assert top.notes == every.notes
