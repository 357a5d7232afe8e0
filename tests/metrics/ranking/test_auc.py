from __future__ import annotations

from math import nan
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from rankine._join import judged
from rankine._metrics.ranking import AUC, LAUC
from rankine.errors import DataError, ParameterError
from tests.rankings import table

if TYPE_CHECKING:
    from rankine._metrics.metric import Metric

TWO = {"a": 1, "b": 1}
MIXED = {"a": 1, "b": 0, "c": 1}


def whole(size: int) -> dict[str, Any]:
    return {"universe": "catalogue", "catalog": size}


@pytest.mark.parametrize(
    ("run", "qrels", "params", "expected"),
    [
        pytest.param("a b c x", MIXED, {}, 3 / 4, id="default"),
        pytest.param("a b c x", MIXED, {"universe": "list"}, 3 / 4, id="list"),
        pytest.param("a b c x", MIXED, {"universe": "matched"}, 1 / 2, id="matched"),
        pytest.param("a b c x", MIXED, whole(10), (3 + 2 * 6) / (2 * 8), id="catalog"),
        pytest.param("a x", TWO, whole(5), (3 + 2 / 2) / (2 * 3), id="one-not-found"),
        pytest.param("x a", TWO, whole(3), 0 / 2, id="one-not-found-loses"),
        pytest.param("b a", {"a": 2, "b": 1}, {"rel": 2}, 0 / 1, id="rel-2"),
        pytest.param("(a x) y", TWO, {}, (1 / 2 + 1) / 2, id="tie"),
        pytest.param("(a b x) y", TWO, {}, (2 / 2 + 2) / 4, id="tie-of-two"),
        pytest.param("x (a y) b z", TWO, {}, (1 / 2 + 1 + 1) / 6, id="tie-below"),
        pytest.param(
            "(a x) (b y)", {"a": 1, "b": 0}, {"universe": "matched"}, 1 / 1,
            id="tied-with-unjudged",
        ),
        pytest.param(
            "(a b x) c", MIXED, {"universe": "matched"}, (1 / 2 + 0) / 2,
            id="matched-tie",
        ),
        pytest.param("(a x)", TWO, whole(4), (3 / 2 + 1 / 2) / 4, id="catalogue-tie"),
        pytest.param("x a b", TWO, {"k": 2}, 0 / 1, id="cut"),
        pytest.param("a x b", TWO, {"k": 9}, 1 / 2, id="cut-below-the-list"),
        pytest.param(
            "a x b c", MIXED, {"universe": "matched", "k": 3}, 1 / 1,
            id="matched-within-the-cut",
        ),
        pytest.param("a (b x)", TWO, {}, (1 + 1 / 2) / 2, id="tied-half"),
        pytest.param("a (b x)", TWO, {"tied": "right"}, 2 / 2, id="tied-right"),
        pytest.param("a (b x)", TWO, {"tied": "wrong"}, 1 / 2, id="tied-wrong"),
        # x stands before b, the larger id first
        pytest.param("a (b x)", TWO, {"tied": "order"}, 1 / 2, id="tied-as-listed"),
        pytest.param(
            "x a y b z", TWO, {"tied": "order", **whole(9), "k": 3},
            # a beats y and the 5 below; b is lost below x and y, tied with 5
            (1 + 5 + 5 / 2) / (2 * 7), id="cut-catalogue",
        ),
        pytest.param("a b", TWO, {"single": "zero"}, 0, id="all-relevant-zero"),
        pytest.param("a b", TWO, {"single": "by_kind"}, 1, id="all-relevant-one"),
        pytest.param("x y", TWO, {"single": "by_kind"}, 0, id="none-relevant-zero"),
        pytest.param("x y", TWO, {"single": "zero"}, 0, id="none-found-zero"),
        pytest.param("x y", {"x": 0}, {"single": "zero"}, nan, id="none-to-find"),
        pytest.param("x", {"x": 0}, {"single": "by_kind"}, nan, id="none-by-kind"),
        pytest.param("", TWO, {}, nan, id="empty-run"),
        pytest.param("", TWO, {"universe": "matched"}, nan, id="empty-run-matched"),
        pytest.param("", TWO, whole(6), 1 / 2, id="empty-run-all-tied"),
        pytest.param("a x", {"a": 0}, {}, nan, id="no-relevant"),
        pytest.param("a x", {"a": 0}, whole(5), nan, id="no-relevant-of-all"),
        pytest.param("a b", TWO, {}, nan, id="all-relevant"),
        pytest.param("b a", {"a": 1, "b": -1}, {}, 0 / 1, id="negative-is-in-the-list"),
        pytest.param(
            "b a c", {"a": 1, "b": -1, "c": 0}, {"universe": "matched"}, 1 / 1,
            id="negative-is-not-matched",
        ),
    ],
)  # fmt: skip
def test_auc(
    run: str, qrels: dict[str, float], params: dict[str, Any], expected: float
) -> None:
    values = AUC(**params).values(table(run, qrels))

    np.testing.assert_allclose(values, [expected], rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize(
    ("params", "expected"),
    [
        pytest.param({"scope": "query"}, [1, 1 / 2], id="query"),
        pytest.param({"scope": "pooled"}, [(3 + 0 + 2 / 2) / 6] * 2, id="pooled"),
        pytest.param(
            {"scope": "query", "universe": "matched"}, [1, nan], id="query-matched"
        ),
        pytest.param(
            {"scope": "pooled", "universe": "matched"}, [1 / 2] * 2, id="pooled-matched"
        ),
        pytest.param({"scope": "pooled", "rel": 2}, [nan] * 2, id="pooled-none"),
    ],
)
def test_auc_of_two_queries(params: dict[str, Any], expected: list[float]) -> None:
    qrels = {"q": {"a": 1, "b": 0}, "r": {"a": 1}}
    run = {"q": {"a": 9.0, "b": 5.0}, "r": {"x": 4.0, "a": 4.0, "y": 4.0}}

    values = AUC(**params).values(judged(qrels, run))

    np.testing.assert_allclose(values, expected, rtol=1e-12)


@pytest.mark.parametrize(
    ("run", "qrels", "params", "expected"),
    [
        pytest.param("a x b", TWO, {"catalog": 10}, (8 + 7) / 16, id="whole-list"),
        pytest.param(
            "a x b", TWO, {"catalog": 10, "k": 2}, (8 + 7 / 2) / 16, id="cut-off"
        ),
        pytest.param("a x b", TWO, {"catalog": 10, "k": 9}, (8 + 7) / 16, id="beyond"),
        pytest.param(
            "a x b", TWO, {"catalog": 5, "k": 2}, (3 + 2 / 2) / 6, id="catalog-5"
        ),
        pytest.param(
            "a b", {"a": 1, "b": 2}, {"catalog": 5, "rel": 2}, 3 / 4, id="rel-2"
        ),
        pytest.param(
            "x a", TWO, {"catalog": 4, "k": 1}, (1 / 2 + 1 / 2) / 4, id="all-beyond"
        ),
        pytest.param(
            "(a x) b", TWO, {"catalog": 4, "k": 1}, (1 / 2 + 1 / 2) / 4, id="tie-cut"
        ),
        pytest.param("", TWO, {"catalog": 5, "k": 2}, 1 / 2, id="empty-run"),
        pytest.param("a x", {"a": 0}, {"catalog": 5, "k": 2}, nan, id="no-relevant"),
        pytest.param("a", TWO, {"catalog": 2, "k": 1}, nan, id="all-relevant"),
        pytest.param(
            "b a", {"a": 1, "b": -1}, {"catalog": 4, "k": 2}, 2 / 3, id="negative"
        ),
    ],
)
def test_limited_auc(
    run: str, qrels: dict[str, float], params: dict[str, Any], expected: float
) -> None:
    values = LAUC(**params).values(table(run, qrels))

    np.testing.assert_allclose(values, [expected], rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("run", ["a x b", "(a x)", "x (a b y)"])
def test_limited_auc_beyond_the_list_is_that_of_the_whole_list(run: str) -> None:
    found = table(run, TWO)

    np.testing.assert_allclose(
        LAUC(catalog=9, k=9).values(found), LAUC(catalog=9).values(found), rtol=1e-12
    )


@pytest.mark.parametrize(
    ("metric", "params", "message"),
    [
        (AUC, {"rel": "high"}, "rel must be a finite number, got 'high'"),
        (AUC, {"universe": "all"}, "universe must be one of matched, list, catalogue"),
        (AUC, {"universe": "catalog"}, "did you mean 'catalogue'"),
        (
            AUC,
            {"scope": "user"},
            "scope must be one of query, weighted, pooled",
        ),
        (AUC, {"catalog": 0}, "catalog must be an integer of at least 1, got 0"),
        (AUC, {"scope": "pooled", **whole(9)}, "scope='pooled' needs universe='matche"),
        (AUC, {"k": 0}, "k must be a positive integer or None, got 0"),
        (AUC, {"tied": "no"}, "tied must be one of half, right, wrong, order"),
        (AUC, {"single": "no"}, "single must be one of undefined, zero, by_kind"),
        (LAUC, {"k": 0}, "k must be a positive integer or None, got 0"),
        (LAUC, {"k": True}, "k must be a positive integer or None, got True"),
        (LAUC, {"k": 2.5}, r"k must be a positive integer or None, got 2\.5"),
        (LAUC, {"rel": None}, "rel must be a finite number, got None"),
        (LAUC, {"catalog": -1}, "catalog must be an integer of at least 1, got -1"),
    ],
)
def test_refuses_parameters(
    metric: Metric, params: dict[str, Any], message: str
) -> None:
    with pytest.raises(ParameterError, match=message):
        metric(**params)


@pytest.mark.parametrize("metric", [AUC(universe="catalogue"), LAUC], ids=str)
def test_needs_the_size_of_the_catalogue(metric: Metric) -> None:
    with pytest.raises(ParameterError, match="needs the size of the catalogue"):
        metric.values(table("a", TWO))


@pytest.mark.parametrize("metric", [AUC(universe="catalogue"), LAUC], ids=str)
@pytest.mark.parametrize(
    ("run", "size"),
    [
        pytest.param("x y z", 2, id="more-retrieved"),
        pytest.param("a", 1, id="more-relevant"),
        pytest.param("x", 2, id="more-relevant-or-retrieved"),
    ],
)
def test_refuses_a_catalogue_that_is_too_small(
    metric: Metric, run: str, size: int
) -> None:
    with pytest.raises(DataError, match=f"the catalogue has {size} items"):
        metric(catalog=size).values(table(run, TWO))


def test_weighted_by_relevant_items() -> None:
    # One relevant item above the other: 1 of 1. Two of three, both last: 0 of 2.
    found = judged(
        {"p": {"a": 1}, "q": {"a": 1, "b": 1}}, {"p": ["a", "x"], "q": ["x", "a", "b"]}
    )

    values = AUC(scope="weighted").values(found)

    assert values.tolist() == [(1 * 1 + 2 * 0) / 3] * 2


def test_pooled_with_a_cutoff() -> None:
    run = {"p": {"a": 3.0, "x": 2.0, "b": 1.0}, "q": {"y": 9.0, "c": 8.0}}
    found = judged({"p": {"a": 1, "b": 1}, "q": {"c": 1}}, run)

    # Down to rank 2: a 3 and c 8 against x 2 and y 9.
    values = AUC(scope="pooled", k=2).values(found)

    assert values.tolist() == [2 / 4] * 2
