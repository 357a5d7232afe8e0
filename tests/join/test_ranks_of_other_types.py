"""A run with ranks stays one where its ids get the type of the judged ones."""

from __future__ import annotations

import polars as pl
import pytest

import rankine as rk

QRELS = {1: {7: 1}, 2: {8: 1}}
RANKED = pl.DataFrame(
    {"query": [1, 1, 2, 2], "item": [7, 9, 9, 8], "rank": [1, 2, 1, 2]}
)


def as_text(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.with_columns(pl.col("query", "item").cast(pl.String))


@pytest.mark.parametrize(
    "convention", ["rankine", "torchmetrics", rk.Convention(score_floor=0)]
)
def test_a_rank_is_not_a_score_under_a_floor(convention: str | rk.Convention) -> None:
    for run in (RANKED, as_text(RANKED)):
        ev = rk.evaluate(QRELS, run, ["RR", "R"], convention=convention)

        assert ev.mean == {"RR": (1 + 1 / 2) / 2, "R": (1 + 1) / 2}
        assert not any("floor" in note for note in ev.notes)


def test_ranks_from_the_last_to_the_first_are_no_distances() -> None:
    items = list(range(7, 14))
    turned = pl.DataFrame({"query": [1] * 7, "item": items, "rank": range(7, 0, -1)})

    for run in (turned, as_text(turned)):
        ev = rk.evaluate(QRELS, run, "RR")

        assert ev["RR"] == (1 / 7 + 0) / 2
        assert ev.warnings == ()
