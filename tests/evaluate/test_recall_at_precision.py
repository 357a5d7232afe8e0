"""recall_at_precision: what is found while precision is enough."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rankine as rk
from rankine.errors import ParameterError

QRELS = {"q1": {"a": 1, "b": 1}, "q2": {"c": 1}}
RUN = {"q1": ["a", "x", "b"], "q2": ["c", "y"]}
# Cutoff         1               2                  3                4
# Mean precision 1               1/2                (2/3 + 1/3) / 2  (2/4 + 1/4) / 2
# Mean recall    (1/2 + 1) / 2   (1/2 + 1) / 2      1                1
FIRST = (1 / 2 + 1) / 2


@pytest.mark.parametrize(
    ("options", "recall", "precision", "k"),
    [
        ((1,), FIRST, 1, 1),
        ((0.9,), FIRST, 1, 1),
        ((0.5,), 1, 1 / 2, 3),
        ((0,), 1, 1 / 2, 3),
        ((0.5, 2), FIRST, 1 / 2, 2),  # of the same recall the last
        ((0, 4), 1, (2 / 4 + 1 / 4) / 2, 4),
        ((0.4, 4), 1, 1 / 2, 3),
    ],
)
def test_by_hand(
    options: tuple[Any, ...], recall: float, precision: float, k: int
) -> None:
    found = rk.evaluate(QRELS, RUN, "AP").recall_at_precision(*options)

    assert (found.recall, found.k) == (recall, k)
    assert found.precision == pytest.approx(precision, rel=1e-15)


def test_short_lists_may_be_divided_by_their_own_length() -> None:
    ev = rk.evaluate(QRELS, RUN, "AP")
    found = ev.recall_at_precision(0.55, precision="P(divisor='list')")

    assert found == rk.RecallAtPrecision(1.0, (2 / 3 + 1 / 2) / 2, 3)
    assert ev.recall_at_precision(0.55).k == 1


def test_another_recall() -> None:
    ev = rk.evaluate({"q": {"a": 1, "b": 2}}, {"q": ["a", "b"]}, "AP")
    found = ev.recall_at_precision(0.9, recall=rk.R(rel=2))

    assert (found.recall, found.k) == (1, 2)


@pytest.mark.parametrize("run", [{"q1": ["x", "a"]}, {"q1": ["x", "y"]}])
def test_no_cutoff_is_precise_enough(run: Any) -> None:
    found = rk.evaluate({"q1": {"a": 1}}, run, "AP").recall_at_precision(0.9, 7)

    assert (found.recall, found.k) == (0, 7)


def test_recall_of_nothing_is_at_the_last_cutoff() -> None:
    found = rk.evaluate({"q": {"a": 1}}, {"q": ["x", "y"]}, "AP").recall_at_precision(0)

    assert found == rk.RecallAtPrecision(0.0, 0.0, 2)


def test_precision_alone_is_not_enough() -> None:
    ev = rk.evaluate({"q": {"a": 1, "b": 2}}, {"q": ["a", "x"]}, "AP")
    found = ev.recall_at_precision(0.9, recall="R(rel=2)")

    assert found == rk.RecallAtPrecision(0.0, 1 / 2, 2)


def test_it_is_frozen() -> None:
    found = rk.evaluate(QRELS, RUN, "AP").recall_at_precision(0.5)

    with pytest.raises(AttributeError):
        found.k = 3  # type: ignore[misc]


@settings(max_examples=60)
@given(
    st.integers(0, 10_000),
    st.floats(0, 1),
    st.one_of(st.none(), st.integers(1, 12)),
    st.sampled_from(["rankine", "ranx", "jurity", "torchmetrics"]),
)
def test_it_is_the_best_of_all_cutoffs(
    seed: int, least: float, max_k: int | None, convention: str
) -> None:
    rng = np.random.default_rng(seed)
    items = [f"d{number}" for number in range(9)]
    qrels, run = {}, {}
    for number in range(4):
        grades = rng.integers(0, 2, 5).tolist()
        judged = rng.permutation(items)[:5].tolist()
        qrels[f"q{number}"] = dict(zip(judged, grades, strict=True))
        shown = rng.permutation(items)[: rng.integers(1, 10)].tolist()
        run[f"q{number}"] = {item: 9.0 - place for place, item in enumerate(shown)}
    last = max_k or max(map(len, run.values()))
    best = (0.0, last)
    for k in range(1, last + 1):
        ev = rk.evaluate(qrels, run, [f"P@{k}", f"R@{k}"], convention=convention)
        precision, recall = ev.mean.values()
        if precision >= least and recall > 0:
            best = max(best, (recall, k))

    # Metrics for which a convention has other queries need a table each.
    ev = rk.evaluate(qrels, run, ["P@12", "R@12"], convention=convention)
    found = ev.recall_at_precision(least, max_k)

    if best[0] == 0:
        best = (0.0, last)
    assert (found.recall, found.k) == best


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"min_precision": 1.5}, "min_precision must be a number at least 0"),
        ({"min_precision": None}, "min_precision must be a number"),
        ({"min_precision": 0.5, "max_k": 0}, "max_k must be a positive integer"),
        ({"min_precision": 0.5, "precision": "SetP"}, "SetP has no k"),
        ({"min_precision": 0.5, "recall": "ILD"}, "ILD is a metric of lists"),
    ],
)
def test_what_is_refused(options: dict[str, Any], said: str) -> None:
    with pytest.raises(ParameterError, match=said):
        rk.evaluate(QRELS, RUN, "AP").recall_at_precision(**options)


def test_a_result_without_items_is_refused() -> None:
    total = rk.Accumulator("P@5").update(QRELS, RUN).result()

    with pytest.raises(ParameterError, match="no longer has the ranks of items"):
        total.recall_at_precision(0.5)


def test_weights_count() -> None:
    ev = rk.evaluate(QRELS, RUN, "AP", weights={"q1": 3, "q2": 1})

    assert ev.recall_at_precision(1).recall == (3 * 1 / 2 + 1 * 1) / 4
