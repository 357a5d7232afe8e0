"""Batches in which no query has both judgements and a list: ordinary data."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

import rankine as rk
from rankine.errors import DataError
from tests.accumulate.test_evaluations import LISTED, data, judged_metrics, same, total

Batches = list[tuple[dict[Any, Any], dict[Any, Any]]]
QRELS = {0: {0: 1}, 1: {1: 1}}
RUN = {0: [0], 2: [2]}


def apart(qrels: dict[Any, Any], run: dict[Any, Any]) -> Batches:
    """Cut users into batches, the first two of which have no user on both sides."""
    judged = [user for user in qrels if user not in run]
    shown = [user for user in run if user not in qrels]
    made: Batches = [
        ({judged[0]: qrels[judged[0]]}, {shown[0]: run[shown[0]]}),
        (
            {user: qrels[user] for user in judged[1:]},
            {user: run[user] for user in shown[1:]},
        ),
    ]
    made += [({user: qrels[user]}, {user: run[user]}) for user in qrels if user in run]
    return made


def test_a_batch_without_a_common_query() -> None:
    accumulator = rk.Accumulator("R@1").update({0: {0: 1}}, {0: [0]})
    found = accumulator.update({1: {1: 1}}, {2: [2]}).result()
    first = rk.Accumulator("R@1").update({1: {1: 1}}, {2: [2]})
    merged = rk.Accumulator("R@1").update({0: {0: 1}}, {0: [0]})
    merged.merge(pickle.loads(pickle.dumps(first)))  # noqa: S301 - our own

    # Query 0 is found, query 1 has no list, query 2 is not judged.
    assert found["R@1"] == merged.result()["R@1"] == (1 + 0) / 2
    assert rk.evaluate(QRELS, RUN, "R@1")["R@1"] == (1 + 0) / 2
    assert found.per_query.rows() == [(0, 1.0), (1, 0.0)]
    assert found.notes == (
        "batch 2: 1 judged query missing from the run (1): counted 0",
        "batch 2: 1 query of the run without judgements (2): not evaluated",
    )


@pytest.mark.parametrize("seed", range(3))
def test_all_metrics(seed: int) -> None:
    qrels, run, train, topics = data(seed)
    known: dict[str, Any] = {"train": train, "items": topics}
    judged = [*judged_metrics(), "nDCG@5", "P@3", "AUC(scope=pooled)", "GAUC"]

    same(total(judged, apart(qrels, run)), rk.evaluate(qrels, run, judged))
    same(
        total(LISTED, apart(qrels, run), **known),
        rk.evaluate(qrels, run, LISTED, **known),
    )


@pytest.mark.parametrize("name", rk.conventions())
def test_every_convention(name: str) -> None:
    qrels, run, train, _ = data(7)
    metrics = ["P@3", "AP@3", "RR@3"]
    if name != "sklearn":  # which averages over ties, and has no lists
        metrics += ["Novelty@3", "Gini@3"]

    found = total(metrics, apart(qrels, run), convention=name, train=train)

    same(found, rk.evaluate(qrels, run, metrics, convention=name, train=train))


@pytest.mark.parametrize("metric", ["RR", "Serendipity@3", "alpha_nDCG@3"])
def test_batches_that_share_no_query_at_all_are_refused_as_one_call_is(
    metric: str,
) -> None:
    known: dict[str, Any] = {"train": {"u": ["a"]}, "items": {"a": "x", "b": "y"}}
    qrels = {"q1": {"a": 1}, "q2": {"a": 1}}
    run = {"r1": ["a"], "r2": ["b"]}
    accumulator = rk.Accumulator(metric, **known)
    with pytest.raises(DataError) as once:
        rk.evaluate(qrels, run, metric, **known)

    accumulator.update({"q1": qrels["q1"]}, {"r1": run["r1"]})
    accumulator.update({"q2": qrels["q2"]}, {"r2": run["r2"]})
    with pytest.raises(DataError) as batches:
        accumulator.result()

    assert str(batches.value) == str(once.value)
    assert "0 of 2 judged queries are in the run" in str(once.value)
    assert "have 'q1', 'q2', the run has 'r1', 'r2'" in str(once.value)
    # What comes later may still make it whole.
    accumulator.update({"q3": {"a": 1}}, {"q3": ["a"]})
    assert accumulator.result() is not None


def test_metrics_that_read_no_judgements_do_not_mind() -> None:
    found = rk.Accumulator("GiniSimpson").update({"q": {"a": 1}}, {"r": ["a", "b"]})

    assert found.result()["GiniSimpson"] == 1 - (1 / 4 + 1 / 4)
