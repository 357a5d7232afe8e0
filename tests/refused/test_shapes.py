"""Objects of the wrong shape: what is said leads to one that is read."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import rankine as rk
from rankine.errors import DataError, FormatError, UsageError


class TopK(NamedTuple):
    """What a function that finds the largest values returns."""

    values: Any
    indices: Any


def test_values_and_indices_are_no_matrix() -> None:
    top = TopK(np.array([[0.9, 0.8]]), np.array([[1, 2]]))
    for read in (rk.from_ranked, rk.from_scores):
        with pytest.raises(FormatError, match=r"from_ranked\(x.indices\)"):
            read(top)
    assert rk.evaluate({0: {1}}, rk.from_ranked(top.indices), "RR")["RR"] == 1
    assert rk.evaluate([[2]], top, "RR")["RR"] == 1 / 2


@pytest.mark.parametrize(
    "kind", [pd.Series, pl.Series, lambda ids: pa.chunked_array([ids])]
)
def test_a_column_is_refused_unless_it_holds_gold_ids(kind: Any) -> None:
    column = kind([0, 1])
    for read in (
        lambda: rk.ctr(column, column),
        lambda: rk.online.summarize(column),
        lambda: rk.evaluate(None, {0: [1]}, "Intersection", reference=column),
        lambda: rk.evaluate(None, {0: [1]}, "ILD", items=column),
    ):
        with pytest.raises(FormatError):
            read()
    with pytest.raises(FormatError, match=r"run from a .* pass a frame"):
        rk.evaluate({0: {1}}, kind([0, 1]), "RR")
    with pytest.raises(FormatError, match=r"qrels from a .* pass a frame"):
        rk.evaluate(kind([0.5, 1.5]), {0: [1]}, "RR")
    assert rk.evaluate(kind([0, 1]), [[0], [2, 1]], "RR")["RR"] == (1 + 1 / 2) / 2


def test_what_is_said_of_an_array_is_read() -> None:
    with pytest.raises(FormatError, match=r"pass a list for each, \[\[0\], \[1\]\]$"):
        rk.evaluate([[0], [1]], np.array([0, 1]), "RR")
    assert rk.evaluate([[0], [1]], [[0], [1]], "RR")["RR"] == 1
    with pytest.raises(FormatError, match=r"from_scores, or pass .*tolist\(\)$"):
        rk.evaluate(np.array([[0, 1]]), [[0]], "RR")
    with pytest.raises(FormatError, match=r"from_scores or from_ranked$"):
        rk.evaluate([[0]], np.array([[0.5, 1.5]]), "RR")


def test_tuples_that_are_no_pairs_are_refused() -> None:
    said = r"tuples, such as \('a', 1, 0.9\); for items with numbers, write \{item: num"
    with pytest.raises(DataError, match=said):
        rk.evaluate({"q": {"a"}}, {"q": [("a", 1, 0.9), ("b", 2, 0.8)]}, "RR")
    said = r"not clear which is the item and which its score; pass \{item: number\}"
    for pair in ((1, 2), ("a", "b"), (0.5, 1.5), (None, 1)):
        with pytest.raises(FormatError, match=said):
            rk.evaluate({"q": {"a"}}, {"q": [pair]}, "RR")


def test_no_word_is_said_to_be_relevant() -> None:
    words = {"query": ["q", "q"], "item": ["a", "b"], "grade": ["irrelevant", "good"]}
    for qrels in (pl.DataFrame(words), {"q": {"a": "irrelevant"}}):
        with pytest.raises(DataError, match=r"grades=.'irrelevant': N.*0 for words"):
            rk.evaluate(qrels, {"q": ["a"]}, "RR")


@pytest.mark.parametrize("grade", [math.nan, None])
def test_labels_that_are_missing(grade: Any) -> None:
    frame = pl.DataFrame(
        {"query": ["q", "q"], "item": ["a", "b"], "grade": [1.0, grade]}
    )
    for qrels in (frame, {"q": {"a": 1, "b": grade}}):
        with pytest.raises(DataError, match="not judged, give -1 or drop it"):
            rk.evaluate(qrels, {"q": ["a"]}, "RR")


def test_a_new_baseline_asks_for_metrics_in_the_words_of_python(
    tmp_path: Any,
) -> None:
    path = tmp_path / "new.json"
    with pytest.raises(UsageError, match=r"needs metrics, such as metrics='nDCG@10'"):
        rk.gate({"q": {"a"}}, {"q": ["a"]}, baseline=path, update=True)
