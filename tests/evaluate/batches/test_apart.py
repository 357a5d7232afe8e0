"""Batches in which no query has both judgements and a list: ordinary data."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import polars as pl
import pytest

import rankine as rk
from rankine.errors import DataError
from tests.evaluate.batches.test_evaluations import (
    LISTED,
    data,
    judged_metrics,
    same,
    total,
)

pytestmark = pytest.mark.slow

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


def one_sided(qrels: dict[Any, Any], run: dict[Any, Any]) -> Batches:
    """Cut users into batches, the first three of which have one side or none."""
    first, *others = apart(qrels, run)
    return [(first[0], {}), ({}, first[1]), ({}, {}), *others]


CUTS = pytest.mark.parametrize("cut", [apart, one_sided])
Cut = Callable[[dict[Any, Any], dict[Any, Any]], Batches]


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
        "1 judged query missing from the run (1): counted as 0",
        "1 query of the run without judgements (2): not evaluated",
    )


@pytest.mark.parametrize("seed", range(3))
@CUTS
def test_all_metrics(seed: int, cut: Cut) -> None:
    qrels, run, train, topics = data(seed)
    known: dict[str, Any] = {"train": train, "items": topics}
    judged = [*judged_metrics(), "nDCG@5", "P@3", "AUC(scope=pooled)", "GAUC"]

    same(total(judged, cut(qrels, run)), rk.evaluate(qrels, run, judged))
    same(
        total(LISTED, cut(qrels, run), **known),
        rk.evaluate(qrels, run, LISTED, **known),
    )


@pytest.mark.parametrize("name", rk.conventions())
@CUTS
def test_every_convention(name: str, cut: Cut) -> None:
    qrels, run, train, _ = data(7)
    metrics = ["P@3", "AP@3", "RR@3"]
    if name != "sklearn":  # which averages over ties, and has no lists
        metrics += ["Novelty@3", "Gini@3"]

    found = total(metrics, cut(qrels, run), convention=name, train=train)

    once = rk.evaluate(qrels, run, metrics, convention=name, train=train)
    same(found, once)
    assert found.warnings == once.warnings


@pytest.mark.parametrize("form", ["polars", "pandas", "mapping"])
def test_a_batch_with_one_side_in_every_form(form: str) -> None:
    def made(side: str, rows: dict[str, dict[str, float]]) -> Any:
        if form == "mapping":
            return rows
        value = "grade" if side == "qrels" else "score"
        names = {"query": pl.String, "item": pl.String, value: pl.Float64}
        triples = [(q, i, v) for q, group in rows.items() for i, v in group.items()]
        frame = pl.DataFrame(triples, schema=names, orient="row")
        return frame.to_pandas() if form == "pandas" else frame

    judged, shown = {"p": {"a": 1.0}}, {"q": {"a": 2.0, "b": 1.0}}
    for convention, expected in (("rankine", 1 / 2), ("rectools", 1 / 2)):
        accumulator = rk.Accumulator(["R@2", "GiniSimpson@2"], convention=convention)
        accumulator.update(made("qrels", {}), made("run", shown))
        accumulator.update(made("qrels", judged), made("run", {}))
        accumulator.update(
            made("qrels", {"r": {"a": 1.0}}), made("run", {"r": {"a": 1.0}})
        )
        found = accumulator.result()

        assert found["R@2"] == expected
        # Of three places, a has two and b has one.
        assert found["GiniSimpson@2"] == pytest.approx(1 - (4 / 9 + 1 / 9))


def test_batches_without_any_judgements_are_refused() -> None:
    accumulator = rk.Accumulator("RR").update({}, {"q": ["a"]})

    with pytest.raises(DataError, match=r"^qrels: contains no judgements$"):
        accumulator.result()
    assert accumulator.update({"r": {"a": 1}}, {"r": ["b", "a"]}).result()["RR"] == 0.5


def test_counts_in_warnings_are_those_of_all_batches() -> None:
    tied = {"a": 1.0, "b": 1.0}
    once = rk.evaluate(
        {"p": {"a": 1}, "q": {"a": 1}},
        {"p": tied, "q": tied},
        "AP@1",
        convention="jurity",
    )
    first, second = (
        rk.Accumulator("AP@1", convention="jurity").update({q: {"a": 1}}, {q: tied})
        for q in ("p", "q")
    )

    assert "AP@1 may differ for 2 queries" in once.warnings[0]
    assert first.merge(second).result().warnings == once.warnings


def test_users_in_train_alone_are_counted_once() -> None:
    """Of users u to x, u and v have both, w only lists, and x only training data."""
    train = {"u": ["a"], "v": ["a"], "x": ["b"]}
    run = {"u": ["b"], "v": ["b"], "w": ["b"]}
    options: dict[str, Any] = {"convention": "replay", "train": train}
    accumulator = rk.Accumulator("Novelty(by=own)@1", **options)
    for user, items in run.items():
        accumulator.update({user: items})

    found = accumulator.result().warnings

    assert found == rk.evaluate(None, run, "Novelty(by=own)@1", **options).warnings
    assert "(2 users in only one of the two)" in found[0]


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
    assert "0 of 2 judged users are in the run" in str(once.value)
    assert "have 'q1', 'q2', the run has 'r1', 'r2'" in str(once.value)
    # What comes later may still make it whole.
    accumulator.update({"q3": {"a": 1}}, {"q3": ["a"]})
    assert accumulator.result() is not None


def test_metrics_that_read_no_judgements_do_not_mind() -> None:
    found = rk.Accumulator("GiniSimpson").update({"q": {"a": 1}}, {"r": ["a", "b"]})

    assert found.result()["GiniSimpson"] == 1 - (1 / 4 + 1 / 4)
