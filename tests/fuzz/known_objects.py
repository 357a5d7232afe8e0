"""Findings in objects: mappings, frames and matrices in memory."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

import rankine as rk
from rankine.errors import DataError
from tests.fuzz import judge
from tests.fuzz.findings import FRAME, LISTS, TRUTH, allowed, case, value

if TYPE_CHECKING:
    from collections.abc import Callable


@case("A2")
def distances_in_matrices() -> None:
    for run in (sparse.csr_array([[0.1, 0.9]]), rk.from_scores([[0.1, 0.9]])):
        assert value({0: {0: 1}}, run, lower_is_better=True) in {None, 1}


@case("A3")
def grades_of_matrices() -> None:
    for qrels in (sparse.csr_array([[2.0]]), rk.from_scores([[2.0]])):
        assert value(qrels, {0: [0]}, "DCG", grades={2: 5}) in {None, 5}


@case("B2")
def surrogate_in_a_mapping() -> None:
    allowed(lambda: rk.evaluate({"\ud800": {"a": 1}}, LISTS, "RR").per_query)


@case("B2")
def surrogate_in_a_frame() -> None:
    frame = pd.DataFrame({"query": ["\ud800"], "item": ["a"]}, dtype=object)

    allowed(lambda: rk.evaluate(TRUTH, frame, "RR"))


@case("B2")
def surrogate_in_a_matrix() -> None:
    allowed(lambda: rk.from_ranked([["\ud800"]]))


@case("B5")
def grades_that_are_lists() -> None:
    frame = FRAME.with_columns(grade=pl.Series([[1]]))
    for qrels in ({"q": {"a": [1]}}, frame):
        allowed(lambda qrels=qrels: rk.evaluate(qrels, LISTS, "RR", grades={1: 1}))  # type: ignore[misc]


@case("B6")
def distance_that_is_missing() -> None:
    run = {"q": {"a": None}}

    allowed(lambda: rk.evaluate(TRUTH, run, "RR", lower_is_better=True))


@case("B7")
def lenient_with_odd_scores() -> None:
    for score in (pd.NA, np.array([1, 2])):
        run = {"q": {"a": score}}
        allowed(lambda run=run: rk.evaluate(TRUTH, run, "RR", lenient=True))  # type: ignore[misc]


@case("B8")
def number_for_a_list() -> None:
    for entry in (5, np.array(1), np.array([[1, 2]]), float("nan")):
        run = {"q": entry, "p": ["a"]}
        for qrels in (TRUTH, FRAME):
            for lenient in (False, True):
                allowed(
                    lambda qrels=qrels, run=run, lenient=lenient: rk.evaluate(  # type: ignore[misc]
                        qrels, run, "RR", lenient=lenient
                    )
                )


@case("B10")
def ints_beyond_64_bits() -> None:
    frame = pd.DataFrame({"query": ["q"], "item": ["a"], "score": [10**30]})

    allowed(lambda: rk.evaluate(TRUTH, frame, "RR"))


@case("B10")
def types_that_polars_has_not() -> None:
    for column in (
        pa.array([1], pa.decimal256(50)),
        pa.array([(1, 2, 3)], pa.month_day_nano_interval()),
    ):
        frame = pa.table({"query": column, "item": ["a"]})
        allowed(lambda frame=frame: rk.evaluate(TRUTH, frame, "RR"))  # type: ignore[misc]


@case("B10")
def lazy_frame_that_fails() -> None:
    allowed(lambda: rk.evaluate(TRUTH, pl.scan_csv("/nonexistent"), "RR"))


@case("B11")
def odd_sparse_matrices() -> None:
    odd = sparse.csr_array([[1.0]])
    odd.data = odd.data.astype(object)
    for run in (sparse.csr_array([[1 + 2j]]), sparse.dok_matrix((2, 2)), odd):
        allowed(lambda run=run: rk.evaluate({0: {0: 1}}, run, "RR"))  # type: ignore[misc]


ODD_MATRICES: dict[str, Callable[[], object]] = {
    "large": lambda: rk.from_scores([[10**400]]),
    "complex": lambda: rk.from_scores(np.array([[1 + 2j]])),
    "queries": lambda: rk.from_scores([[1]], queries=5),
    "queries of arrays": lambda: rk.from_ranked([[1], [2]], queries=[np.ones(2), ""]),
    "pad nan": lambda: rk.from_ranked(np.array([[None, "a"]]), pad=float("nan")),
    "pad array": lambda: rk.from_ranked([[1, 2]], pad=np.array([1, 2])),
    "pad large": lambda: rk.from_ranked([[1]], pad=10**30),
}


@case("B12")
def odd_matrices() -> None:
    for made in ODD_MATRICES.values():
        allowed(made)


@case("B12")
def text_for_scores() -> None:
    assert allowed(lambda: rk.from_scores([["1", "2"]])).error


@case("B13")
def dates_for_queries() -> None:
    day = np.datetime64("2020-01-01")

    allowed(lambda: rk.evaluate({day: {"a": 1}}, {day: ["a"]}, "RR").per_query)


@case("B17")
def number_for_the_list_of_a_query_that_is_not_judged() -> None:
    for entry in (5, pl.Series(["a"])):
        run = {"zz": entry}
        allowed(lambda run=run: rk.evaluate(TRUTH, run, "RR"))  # type: ignore[misc]


@case("B19")
def grade_beyond_measure() -> None:
    allowed(lambda: rk.evaluate({"q": {"a": 1e300}}, LISTS, "G").mean)


@case("B20")
def query_that_is_missing_in_pandas() -> None:
    qrels = {0.5: {"a": 1}, pd.NA: {"a": 1}}

    allowed(lambda: rk.evaluate(qrels, LISTS, "RR"))


@case("B21")
def decimal_that_is_no_number() -> None:
    run = {"q": [Decimal("NaN")]}

    allowed(lambda: rk.evaluate(FRAME, run, "RR"))


@case("C10")
def columns_of_lists() -> None:
    path = judge.written(b"query,item,grade\nq,a,1\n")

    allowed(lambda: rk.evaluate(path, LISTS, "RR", columns={"query": [1]}))


@case("E1")
def items_twice_that_cannot_be_compared() -> None:
    for items in ([pd.NA, None, None, ""], [(1, 2), (1, 2), np.int64(1)]):
        allowed(lambda items=items: rk.evaluate({"q": items}, LISTS, "RR"))  # type: ignore[misc]


@case("E3")
def queries_beyond_64_bits() -> None:
    ev = rk.evaluate({10**40: {"a"}}, {10**40: []}, "RR")

    assert ev.per_query["query"].to_list() == [str(10**40)]


@case("E4")
def columns_given_as_a_series() -> None:
    path = judge.written(b"query,item\nq,a\n")

    for told in (pl.Series(["a"]), pd.Series(["a"])):
        allowed(
            lambda told=told: rk.evaluate(path, LISTS, "RR", columns={"query": told})  # type: ignore[misc]
        )


@case("E6")
def grades_without_bound_in_a_matrix() -> None:
    grades = rk.from_scores([[np.inf, 1.0]])

    with pytest.raises(DataError, match="row 0, column 0 of the matrix is inf"):
        rk.evaluate(grades, rk.from_scores([[1.0, 2.0]]), "nDCG")


@case("E7")
def pads_that_cannot_be_compared() -> None:
    pair = np.array([[(1, 2)]], dtype="i4,i4")
    allowed(lambda: rk.from_ranked(pair, pad=0))
    allowed(lambda: rk.from_ranked([[0.5]], pad=10**400))


@case("E1")
def a_list_with_a_missing_item() -> None:
    allowed(lambda: rk.evaluate(TRUTH, {"q": [pd.NA]}, "RR"))


@case("E3")
def queries_of_several_types() -> None:
    allowed(lambda: rk.evaluate({10**40: {"a"}, 0.5: {"a"}}, {10**40: ["a"]}, "RR"))


@case("E7")
def a_pad_beyond_small_floats() -> None:
    allowed(lambda: rk.from_ranked(np.array([[1, 2]], dtype="f2"), pad=2**63))


@case("E10")
def an_order_given_with_odd_scores() -> None:
    for odd in (Decimal("NaN"), None, "x"):
        run = {"q": {"b": 0, "a": odd}}
        allowed(lambda run=run: rk.evaluate(TRUTH, run, "RR", order="given"))  # type: ignore[misc]


@case("E7")
def a_pad_beside_huge_ints() -> None:
    allowed(lambda: rk.from_ranked([[10**400, 1]], pad=np.float32(0.5)))


@case("D5")
def sentence_of_numpy() -> None:
    allowed(lambda: rk.from_scores([[1, [2]]]))
