"""nan in a matrix of scores: refused whatever is asked, and last if that is allowed."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import polars as pl
import pytest

import rankine as rk
from rankine.errors import DataError

QRELS = {"q1": {"a": 1}, "q2": {"b": 1}}
NAN = math.nan
SCORES = {"q1": {"a": NAN, "b": 1.0, "c": 0.5}, "q2": {"a": 1.0, "b": NAN, "c": 2.0}}


def matrix() -> Any:
    cells = [[*entry.values()] for entry in SCORES.values()]
    return rk.from_scores(np.array(cells), queries=[*SCORES], items=["a", "b", "c"])


def frame() -> pl.DataFrame:
    rows = [(q, item, score) for q, e in SCORES.items() for item, score in e.items()]
    return pl.DataFrame(rows, schema=["query", "item", "score"], orient="row")


@pytest.mark.parametrize("metric", ["nDCG@3", "AP", "Coverage@2", "Coverage@3", "Gini"])
@pytest.mark.parametrize("graded", [True, False])
def test_it_is_refused(metric: str, graded: bool) -> None:  # noqa: FBT001
    qrels: Any = QRELS
    if graded:
        grades = np.array([[1, NAN, NAN], [NAN, 1, NAN]])
        qrels = rk.from_scores(grades, queries=[*SCORES], items=["a", "b", "c"])
    with pytest.raises(DataError, match=r"'a' for query 'q1' .* \(2 such scores in"):
        rk.evaluate(qrels, matrix(), metric, catalog=9)


@pytest.mark.parametrize("convention", ["rankine", "torchmetrics", "trec_eval"])
@pytest.mark.parametrize("metric", ["nDCG@3", "RR", "NumRet", "Coverage@2", "Gini"])
def test_it_is_last_for_a_lenient_reader(metric: str, convention: str) -> None:
    def said(run: Any) -> Any:
        ev = rk.evaluate(
            QRELS, run, metric, catalog=9, lenient=True, convention=convention
        )
        notes = [note for note in ev.notes if "not a number" in note]
        assert [note.partition(": ")[2] for note in notes] == [
            "2 scores not a number: ranked last"
        ]
        return ev.mean

    assert said(matrix()) == said(SCORES) == said(frame())


def test_last_is_below_the_smallest_score_and_still_in_the_list() -> None:
    run = rk.from_scores([[NAN, -1e300, -math.inf]], queries=["q"], items=[*"abc"])

    ev = rk.evaluate({"q": {"a": 1}}, run, ["RR", "NumRet"], lenient=True)

    assert ev.mean == {"RR": 1 / 2, "NumRet": 2}
