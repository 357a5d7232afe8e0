"""A rank column is refused alike by metrics of judged items and by those of lists."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankine as rk
from rankine.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Sequence

QRELS = {"q1": {"a": 1}, "q2": {"b": 1}}
DUPLICATES = ("error", "last", "set", "count")
Row = tuple[str, str, float]


def refusal(rows: Sequence[Row], metric: str, duplicates: str) -> str:
    frame = pl.DataFrame(rows, schema=["query", "item", "rank"], orient="row")
    choices: Any = {"order": "rank_value", "duplicates": duplicates}
    try:
        rk.evaluate(
            QRELS, frame, metric, convention=rk.Convention(**choices), catalog=9
        )
    except DataError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("duplicates", DUPLICATES)
@pytest.mark.parametrize(
    ("rank", "said"),
    [
        (0.0, "run, row 0: the rank of item 'a' for query 'q1' is 0"),
        (float("nan"), "run, row 0: the score of item 'a' for query 'q1' is not a"),
    ],
)
def test_a_rank_of_a_row_that_is_left_out_is_refused(
    duplicates: str, rank: float, said: str
) -> None:
    rows = [("q1", "a", rank), ("q1", "a", 1.0), ("q1", "b", 3.0)]

    for metric in ("nDCG@3", "Coverage@3"):
        assert refusal(rows, metric, duplicates).startswith(said)


@given(
    rows=st.lists(
        st.tuples(
            st.sampled_from(["q1", "q2"]),
            st.sampled_from("abc"),
            st.sampled_from([0.0, 1.0, 2.0, 3.0, 2.5]),
        ),
        min_size=1,
        max_size=7,
    ),
    duplicates=st.sampled_from(DUPLICATES),
)
def test_both_kinds_of_metrics_refuse_the_same(
    rows: list[Row], duplicates: str
) -> None:
    said: Any = {refusal(rows, metric, duplicates) for metric in ("nDCG", "Coverage")}

    assert len(said) == 1
