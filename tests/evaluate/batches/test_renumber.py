"""Queries without ids, numbered on from batch to batch; and accumulators used again."""

from __future__ import annotations

import math
import pickle
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import rankine as rk
from rankine.errors import DataError, ParameterError, UsageError
from tests.evaluate.batches.test_evaluations import same

METRICS = ["nDCG@2", "RR", "AP", "GiniSimpson@2", "AUC(scope=pooled)"]
ALIKE = ("scores", "sparse", "ranked", "lists")


def sides(form: str, grades: Any, scores: Any) -> tuple[Any, Any]:
    """Judgements and a run of some rows, without ids of queries."""
    if form == "scores":
        return rk.from_scores(grades), rk.from_scores(scores)
    if form == "sparse":
        return sparse.csr_array(grades), sparse.csr_array(scores)
    judged = [dict(enumerate(row)) for row in grades.tolist()]
    if form == "ranked":
        return judged, rk.from_ranked(np.argsort(-scores, axis=1))
    return judged, [np.argsort(-row).tolist() for row in scores]


def batches(form: str, sizes: list[int]) -> tuple[Any, list[Any]]:
    """Return the data of one call, and the same in batches."""
    n = sum(sizes)
    rng = np.random.default_rng(n)
    grades = rng.integers(0, 3, (n, 4)).astype(float)
    scores = rng.permuted(np.tile(np.arange(1.0, 5), (n, 1)), axis=1)
    cuts = np.cumsum(sizes)[:-1]
    parts = zip(np.split(grades, cuts), np.split(scores, cuts), strict=True)
    return sides(form, grades, scores), [sides(form, *part) for part in parts]


def filled(some: list[Any]) -> rk.Accumulator[Any]:
    total = rk.Accumulator(METRICS, renumber=True)
    for batch in some:
        total.update(*batch)
    return total


@settings(max_examples=10, deadline=None)
@given(sizes=st.lists(st.integers(1, 3), min_size=1, max_size=4))
@pytest.mark.parametrize("form", ALIKE)
def test_batches_are_the_rows_of_one_matrix(form: str, sizes: list[int]) -> None:
    (qrels, run), some = batches(form, sizes)
    wanted = rk.evaluate(qrels, run, METRICS)

    found = filled(some).result()

    same(found, wanted)
    assert found.notes == wanted.notes
    assert found.queries == list(range(sum(sizes)))


@pytest.mark.parametrize("form", ALIKE)
def test_merged_ones_follow_in_the_order_of_merging(form: str) -> None:
    (qrels, run), some = batches(form, [2, 1, 3, 2])
    wanted = rk.evaluate(qrels, run, METRICS)
    first, second = filled(some[:2]), filled(some[2:])
    other = pickle.loads(pickle.dumps(second))  # noqa: S301 - our own

    found = filled([]).merge(first).merge(other)

    same(found.result(), wanted)
    assert other.result().queries == list(range(5))
    turned = filled(some[2:]).merge(first).result()
    assert turned.mean == wanted.mean
    columns = ["RR", "AP"]
    back = pl.concat((turned.per_query[5:], turned.per_query[:5]))
    assert back.select(columns).equals(wanted.per_query.select(columns))


def test_what_is_named_in_notes_is_numbered_on() -> None:
    lists = [[["a"], ["a"]], [["a"], ["b"]]]
    first, second = (
        rk.Accumulator("RR", renumber=True).update(own, [*own[:1], []]) for own in lists
    )
    alone = rk.Accumulator("RR", renumber=True).update(
        rk.from_scores([[1.0]]), rk.from_scores([[2.0]])
    )

    found = first.merge(second).merge(alone)

    assert found.result().per_query.rows() == [
        (0, 1.0), (1, 0.0), (2, 1.0), (3, 0.0), (4, 1.0),
    ]  # fmt: skip


def test_queries_without_a_list_keep_their_numbers() -> None:
    judged = sparse.csr_array([[1.0, 0.0], [0.0, 1.0]])
    shown = sparse.csr_array([[1.0, 0.0], [0.0, 0.0]])
    once = "1 judged query missing from the run ({}): counted as 0"
    first = rk.Accumulator("RR", renumber=True).update(judged, shown)
    assert first.result().notes == (once.format(1),)

    first.update(judged, shown)
    more = rk.Accumulator("RR", renumber=True).merge(first).merge(first)

    assert first.result().notes == (
        "2 judged queries missing from the run (1, 3): counted as 0",
    )
    assert more.result().notes == (
        "4 judged queries missing from the run (1, 3, 5, ...): counted as 0",
    )
    assert more.result().queries == list(range(8))


def test_training_data_are_looked_up_by_the_number_of_the_row() -> None:
    train = sparse.csr_array([[1.0, 0.0], [0.0, 1.0]])
    lists = [[[0]], [[0]]]
    options: dict[str, Any] = {"train": train, "items": {0: "x", 1: "y"}}
    total = rk.Accumulator("Unexpectedness", renumber=True, **options)
    for one in lists:
        total.update(one)

    # The first user had item 0 before, the second had item 1.
    assert total.result().per_query["Unexpectedness"].to_list() == [0, 1]
    other = rk.Accumulator("Unexpectedness", renumber=True, **options)
    with pytest.raises(ParameterError, match="train= was already looked up by the old"):
        other.update(lists[1]).merge(total)


def test_weights_are_looked_up_too() -> None:
    weights = {0: 3, 1: 1}
    parts = [[["a"]], [["b"]]]
    total = rk.Accumulator("RR", renumber=True, weights=weights)
    for own in parts:
        total.update([["a"]], own)

    assert total.result()["RR"] == (3 * 1 + 1 * 0) / 4
    one = rk.Accumulator("RR", renumber=True, weights=weights).update([["a"]], parts[0])
    with pytest.raises(ParameterError, match="weights= was already looked up"):
        one.merge(total)


def test_without_it_the_second_batch_is_refused_with_what_to_do() -> None:
    scores = rk.from_scores([[0.2, 0.8]])
    total = rk.Accumulator("RR").update([{1}], scores)

    with pytest.raises(DataError, match="numbered from 0 in every batch") as caught:
        total.update([{1}], scores)
    assert "from_scores(x, queries=ids)" in str(caught.value)
    assert "renumber=True" in str(caught.value)
    total.update({7: {1}}, rk.from_scores([[0.2, 0.8]], queries=[7]))
    assert total.result().queries == [0, 7]


def test_ids_that_were_given_are_not_told_of_numbers() -> None:
    total = rk.Accumulator("RR").update({0: {"a"}}, {0: ["a"]})

    with pytest.raises(DataError, match="put the whole list of a query into one batch"):
        total.update({0: {"a"}}, {0: ["a"]})


@pytest.mark.parametrize(
    ("qrels", "run"),
    [
        ({0: {0}}, rk.from_scores([[1.0]])),
        ([{0}], {0: [0]}),
        ([{0}], rk.from_scores([[1.0]], queries=[5])),
        ([{0}], rk.from_ranked([[0]], queries=[5])),
        ([{0}], pl.DataFrame({"query": [0], "item": [0], "score": [1.0]})),
    ],
)
def test_ids_are_not_numbered_anew(qrels: Any, run: Any) -> None:
    total = rk.Accumulator("RR", renumber=True)

    with pytest.raises(
        DataError, match=r"renumber=True is for batches without query ids"
    ):
        total.update(qrels, run)


def test_lenient_lists_have_places_too() -> None:
    total = rk.Accumulator("RR", renumber=True, lenient=True)
    for _ in range(2):
        total.update([{"a": 1}], [["b", "a", "a"]])

    assert total.result().per_query.rows() == [(0, 1 / 2), (1, 1 / 2)]


@pytest.mark.parametrize("told", [1, "yes", None])
def test_it_is_true_or_false(told: Any) -> None:
    with pytest.raises(ParameterError, match="renumber must be True or False"):
        rk.Accumulator("RR", renumber=told)


def test_it_is_for_metrics_and_the_same_in_what_is_merged() -> None:
    for metric in ("ctr", "mae"):
        with pytest.raises(UsageError, match="renumber"):
            rk.Accumulator(metric, renumber=True)
    with pytest.raises(ParameterError, match="differ in metrics or options"):
        rk.Accumulator("RR", renumber=True).merge(rk.Accumulator("RR"))


def test_a_reset_empties_and_keeps_the_options() -> None:
    total = rk.Accumulator(["RR", "Coverage"], renumber=True, catalog=4, depth=1)
    total.update([{1}], rk.from_scores([[0.2, 0.8]]))
    first = total.result()

    assert total.reset() is total
    assert repr(total) == "Accumulator(0 queries in 0 batches)"
    assert math.isnan(total.result()["RR"])
    total.update([{1}, {0}], rk.from_scores([[0.8, 0.2], [0.9, 0.1]]))
    # Down to rank 1, item 1 is not found, and item 0 is all that is shown.
    assert total.result().mean == {"RR": (0 + 1) / 2, "Coverage": 1 / 4}
    assert total.result().queries == [0, 1]
    assert first.mean == {"RR": 1, "Coverage": 1 / 4}


def test_a_reset_of_losses_and_logs() -> None:
    losses = rk.Accumulator([rk.mae, rk.rmse]).update([3], [5])
    found = losses.reset().update([1], [2]).result()
    assert {name: float(one) for name, one in found.items()} == {"mae": 1, "rmse": 1}

    log = pl.DataFrame({"user_id": [1, 2], "item_id": ["a", "b"], "click": [1, 0]})
    offered = log.select("user_id", "item_id")
    rates = rk.Accumulator("ctr", estimator="matching").update(log, offered)
    rates.reset().update(log[:1], offered[:1])
    assert rates.result().value == 1
    with pytest.raises(DataError, match="there are no rounds"):
        rates.reset().result()


def test_a_reference_is_looked_up_by_running_numbers() -> None:
    run = [["a"], ["b"], ["c"], ["d"]]
    shown = [["a"], ["x"], ["c"], ["d"]]

    batches = rk.Accumulator("Intersection@1", renumber=True, reference=run)
    for begin in (0, 2):
        batches.update(shown[begin : begin + 2])

    assert batches.result().per_query["Intersection@1"].to_list() == [1, 0, 1, 1]


def test_what_was_looked_up_in_a_reference_cannot_be_numbered_anew() -> None:
    first, second = (
        rk.Accumulator("Intersection@1", renumber=True, reference={0: ["a"], 1: ["b"]})
        for _ in range(2)
    )
    first.update([["a"]])
    second.update([["b"]])

    with pytest.raises(
        ParameterError, match="reference= was already looked up by the old"
    ):
        first.merge(second)
