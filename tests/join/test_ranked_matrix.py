"""Matrices of ranked items against matrices of grades: the same as lists and dicts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rankine as rk
from rankine._base.limits import limited
from rankine._conventions.convention import Convention
from rankine._join.dense import RankedMatrixFinder
from rankine._join.judgements import Truth
from rankine._join.matching import finder_of
from rankine._tables.order import Order
from rankine.errors import DataError, DuplicateItemError, FormatError

METRICS = ["nDCG@2", "AP", "RR", "P@3", "Bpref", "NumRet", "NumRel", "RBP", "R@1"]


def ranked(rng: np.random.Generator, n: int, width: int, n_items: int) -> Any:
    return np.array([rng.permutation(n_items)[:width] for _ in range(n)])


def graded(matrix: Any) -> dict[int, dict[int, float]]:
    return {
        row: {item: grade for item, grade in enumerate(own) if grade == grade}  # noqa: PLR0124
        for row, own in enumerate(matrix.tolist())
    }


def is_quick(qrels: Any, run: Any) -> bool:
    """Say whether the matrices are matched cell by cell, without the keys of ids."""
    order = Order.of(Convention(), Convention())
    _, finder = finder_of(Truth(qrels), run, {order: False})
    return isinstance(finder, RankedMatrixFinder)


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(1, 4),
    width=st.integers(1, 6),
    more=st.integers(0, 3),
    gaps=st.booleans(),
    whole=st.booleans(),
    convention=st.sampled_from(
        ["rankine", "pytrec_eval", "ranx", "jurity", "rectools"]
    ),
)
def test_the_same_as_lists(
    *,
    seed: int,
    n: int,
    width: int,
    more: int,
    gaps: bool,
    whole: bool,
    convention: str,
) -> None:
    rng = np.random.default_rng(seed)
    n_items = width + more
    grades = rng.integers(0, 4, (n, n_items)).astype(float)
    if gaps:
        grades[rng.random(grades.shape) < 0.4] = np.nan
    # Some items are not among the graded ones.
    run = ranked(rng, n, width, n_items) + (1 if more else 0)
    qrels, matrix = rk.from_scores(grades), rk.from_ranked(run)
    assert is_quick(qrels, matrix)
    lists = {row: own.tolist() for row, own in enumerate(run)}

    with limited(whole_rows=10**6 if whole else 0):
        found = rk.evaluate(qrels, matrix, METRICS, convention=convention)

    wanted = rk.evaluate(graded(grades), lists, METRICS, convention=convention)
    assert found.per_query.equals(wanted.per_query)
    assert found.notes == tuple(one for one in wanted.notes if "rank column" not in one)
    shown = found.worst("AP", n=1) if whole else None
    assert shown is None or str(shown) == str(wanted.worst("AP", n=1))


def test_ids_of_rows_and_columns() -> None:
    rng = np.random.default_rng(3)
    grades = rng.integers(0, 3, (4, 5))
    items, queries = [70, 3, 5, 8, 10**12], ["d", "a", "c", "b"]
    run = np.array(items)[ranked(rng, 4, 3, 5)]
    qrels = rk.from_scores(grades, queries=queries, items=items)
    matrix = rk.from_ranked(run, queries=queries)
    assert is_quick(qrels, matrix)

    found = rk.evaluate(qrels, matrix, METRICS)

    lists = dict(zip(queries, run.tolist(), strict=True))
    plain = {
        query: dict(zip(items, row, strict=True))
        for query, row in zip(queries, grades.tolist(), strict=True)
    }
    assert found.per_query.equals(rk.evaluate(plain, lists, METRICS).per_query)


@pytest.mark.parametrize(
    ("options", "pad"),
    [({"queries": [1, 0]}, None), ({"queries": ["x", "y"]}, None), ({}, -1)],
)
def test_what_is_not_alike_is_joined_by_ids(options: Any, pad: Any) -> None:
    qrels = rk.from_scores([[1.0, 0.0, 2.0], [0.0, 1.0, 0.0]])
    run = rk.from_ranked([[2, 1, 0], [1, -1 if pad else 2, 0]], pad=pad, **options)

    assert not is_quick(qrels, run)
    if options == {"queries": ["x", "y"]}:
        with pytest.raises(DataError, match="not plain ints"):
            rk.evaluate(qrels, run, "RR")
        return
    # If that was said, the first list is of query 1, and the second of query 0.
    expected = [1 / 2, 1 / 2] if options else [1, 1]
    assert rk.evaluate(qrels, run, "RR").per_query["RR"].to_list() == expected


def test_an_item_twice_is_refused_or_counted_as_in_lists() -> None:
    qrels = rk.from_scores([[1.0, 0.0, 2.0]])
    for row in ([2, 1, 2], [5, 0, 5]):
        run = rk.from_ranked([row])
        assert not is_quick(qrels, run)
        with pytest.raises(DuplicateItemError, match="appears twice for query 0"):
            rk.evaluate(qrels, run, "RR")
        ours = rk.evaluate(qrels, run, METRICS[:4], convention="ranx")
        theirs = rk.evaluate(
            {0: {0: 1, 1: 0, 2: 2}}, [row], METRICS[:4], convention="ranx"
        )
        assert ours.mean == theirs.mean
    lenient = rk.evaluate(qrels, rk.from_ranked([[1, 2, 1]]), "RR", lenient=True)
    assert lenient["RR"] == 1 / 2


def test_scores_of_all_items_are_those_of_lists() -> None:
    qrels, run = rk.from_scores([[1.0, 0.0, 0.0]]), rk.from_ranked([[2, 0, 1]])

    # One of two pairs of a relevant and another item is in the right order.
    assert rk.evaluate(qrels, run, "AUC(scope=pooled)")["AUC(scope=pooled)"] == 1 / 2


@pytest.mark.parametrize("order", ["score", "rank", "rank_value", "given"])
def test_every_order(order: str) -> None:
    qrels, run = rk.from_scores([[0.0, 0.0, 1.0]]), rk.from_ranked([[1, 2, 0]])

    assert rk.evaluate(qrels, run, "RR", order=order)["RR"] == 1 / 2


def test_what_is_no_id_is_still_refused() -> None:
    for matrix in ([[1.5, 2.0]], [[None, 1]], [["a", ""]]):
        with pytest.raises(DataError):
            rk.from_ranked(matrix)
    with pytest.raises(FormatError, match="differ in length"):
        rk.from_ranked([[1, 2], [1]])


def test_batches_of_both() -> None:
    grades, run = np.eye(4), ranked(np.random.default_rng(0), 4, 4, 4)
    total = rk.Accumulator(["RR", "AP"], renumber=True)
    for rows in (slice(0, 1), slice(1, 4)):
        total.update(rk.from_scores(grades[rows]), rk.from_ranked(run[rows]))

    once = rk.evaluate(rk.from_scores(grades), rk.from_ranked(run), ["RR", "AP"])
    assert total.result().per_query.equals(once.per_query)
    places = [own.tolist().index(row) for row, own in enumerate(run)]
    assert once.per_query["RR"].to_list() == [1 / (place + 1) for place in places]
