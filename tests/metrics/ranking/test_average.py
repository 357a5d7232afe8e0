from __future__ import annotations

from math import nan
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from rankine._metrics.ranking import AP, AR, RR, Rprec
from rankine.errors import ParameterError
from tests.rankings import table

if TYPE_CHECKING:
    from rankine._metrics.metric import Metric

TWO = {"a": 1, "b": 1}
FOUR = {"a": 1, "b": 1, "c": 1, "d": 1}
GRADED = {"a": 2, "b": 1}
EVERY = {"divisor": "k", "terms": "all_ranks"}


@pytest.mark.parametrize(
    ("run", "qrels", "params", "expected"),
    [
        pytest.param("a b", TWO, {}, (1 / 1 + 2 / 2) / 2, id="perfect"),
        pytest.param("a x b", FOUR, {}, (1 / 1 + 2 / 3) / 4, id="whole-list"),
        pytest.param("a x b", FOUR, {"k": 2}, (1 / 1) / 4, id="cut-off"),
        pytest.param("a x b", FOUR, {"k": 9}, (1 / 1 + 2 / 3) / 4, id="beyond"),
        pytest.param("a x b", FOUR, {"k": 3, "divisor": "R"}, (1 + 2 / 3) / 4, id="R"),
        pytest.param(
            "a x b", FOUR, {"k": 3, "divisor": "min_k_R"}, (1 + 2 / 3) / 3, id="min_k_R"
        ),
        pytest.param(
            "a x b", FOUR, {"k": 9, "divisor": "min_k_R"}, (1 + 2 / 3) / 4,
            id="min_k_R-beyond",
        ),
        pytest.param(
            "a x b", FOUR, {"divisor": "min_k_R"}, (1 + 2 / 3) / 4,
            id="min_k_R-no-cut-off",
        ),
        pytest.param(
            "a x b", FOUR, {"k": 9, "divisor": "min_R_list"}, (1 + 2 / 3) / 3,
            id="min_R_list",
        ),
        pytest.param(
            "a x b", FOUR, {"k": 2, "divisor": "min_R_list"}, (1 / 1) / 2,
            id="min_R_list-cut",
        ),
        pytest.param(
            "a x b", FOUR, {"divisor": "min_R_list"}, (1 + 2 / 3) / 3,
            id="min_R_list-no-cut-off",
        ),
        pytest.param(
            "a x b", FOUR, {"divisor": "hits"}, (1 + 2 / 3) / 2, id="hits"
        ),
        pytest.param(
            "a x b", FOUR, {"k": 2, "divisor": "hits"}, (1 / 1) / 1, id="hits-cut"
        ),
        pytest.param("x y", FOUR, {"divisor": "hits"}, 0, id="hits-none"),
        pytest.param("a x b", FOUR, {"k": 5, "divisor": "k"}, (1 + 2 / 3) / 5, id="k"),
        pytest.param(
            "a x b", FOUR, {"divisor": "k"}, (1 + 2 / 3) / 3, id="k-is-the-list"
        ),
        pytest.param("a x b", FOUR, {"divisor": "none"}, 1 + 2 / 3, id="none"),
        pytest.param(
            "a x b", FOUR, {"k": 3, "terms": "hits"}, (1 + 2 / 3) / 4, id="terms-hits"
        ),
        pytest.param(
            "a x b", FOUR, {"k": 3, **EVERY}, (1 + 1 / 2 + 2 / 3) / 3, id="all_ranks"
        ),
        pytest.param(
            "a x b", FOUR, {"k": 5, **EVERY}, (1 + 1 / 2 + 2 / 3 + 2 / 4 + 2 / 5) / 5,
            id="all_ranks-beyond",
        ),
        pytest.param(
            "a x b", FOUR, {"k": 2, **EVERY}, (1 + 1 / 2) / 2, id="all_ranks-cut"
        ),
        pytest.param(
            "x a y", FOUR, {"terms": "all_ranks"}, (0 + 1 / 2 + 1 / 3) / 4,
            id="all_ranks-by-R",
        ),
        pytest.param("b a", GRADED, {"rel": 2}, (1 / 2) / 1, id="rel-2"),
        pytest.param("(a x)", TWO, {"ties": "best"}, (1 / 1) / 2, id="ties-best"),
        pytest.param("(a x)", TWO, {"ties": "worst"}, (1 / 2) / 2, id="ties-worst"),
        pytest.param(
            "(a x)", TWO, {"ties": "average"}, (1 / 2 + 1 / 4) / 2, id="ties-average"
        ),
        pytest.param(
            "(a x)", TWO, {"ties": "average", "divisor": "hits"}, (1 + 1 / 2) / 2,
            id="ties-average-hits",
        ),
        pytest.param(
            "(a x)", TWO, {"ties": "average", "k": 1, "divisor": "hits"}, (1 + 0) / 2,
            id="ties-average-hits-cut",
        ),
        pytest.param(
            "(a x)", TWO, {"ties": "average", **EVERY}, (3 / 4 + 1 / 4) / 2,
            id="ties-average-all_ranks",
        ),
        pytest.param("", TWO, {}, 0, id="empty-run"),
        pytest.param("", TWO, {"divisor": "k"}, 0, id="empty-run-by-list"),
        pytest.param("", TWO, {"divisor": "min_R_list"}, 0, id="empty-run-fits-none"),
        pytest.param("", TWO, {"k": 3, **EVERY}, 0 / 3, id="empty-run-all_ranks"),
        pytest.param("a", {"a": 0}, {}, nan, id="no-relevant"),
        pytest.param("a", {"a": 0}, {"divisor": "none"}, nan, id="no-relevant-none"),
        pytest.param("a", {"a": 0}, {"k": 1, **EVERY}, nan, id="no-relevant-ranks"),
        pytest.param("a b", {"a": -1, "b": 1}, {}, 1 / 2, id="negative-grade"),
        pytest.param("x y a", {"a": 1}, {}, 1 / 3, id="unjudged-take-their-rank"),
    ],
)  # fmt: skip
def test_average_precision(
    run: str, qrels: dict[str, float], params: dict[str, Any], expected: float
) -> None:
    values = AP(**params).values(table(run, qrels))

    np.testing.assert_allclose(values, [expected], rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize(
    ("run", "qrels", "params", "expected"),
    [
        pytest.param("a x b", FOUR, {}, (1 / 4 + 1 / 4 + 2 / 4) / 3, id="whole-list"),
        pytest.param("a x b", FOUR, {"k": 2}, (1 / 4 + 1 / 4) / 2, id="cut-off"),
        pytest.param(
            "a x b", FOUR, {"k": 5}, (1 / 4 + 1 / 4 + 3 * 2 / 4) / 5, id="beyond"
        ),
        pytest.param(
            "x a", TWO, {"k": 2, "variant": "mean"}, (0 + 1 / 2) / 2, id="mean"
        ),
        pytest.param(
            "a x b", FOUR, {"variant": "hits"}, (1 / 4 + 2 / 4) / 4, id="hits"
        ),
        pytest.param(
            "a x b", FOUR, {"k": 2, "variant": "hits"}, (1 / 4) / 4, id="hits-cut"
        ),
        pytest.param(
            "a x b", FOUR, {"variant": "recmetrics"}, (1 + 2 / 3) / 4, id="recmetrics"
        ),
        pytest.param(
            "a x b", FOUR, {"k": 2, "variant": "recmetrics"}, 1 / 4, id="recmetrics-cut"
        ),
        pytest.param("b a", GRADED, {"rel": 2}, (0 + 1) / 2, id="rel-2"),
        pytest.param("", TWO, {}, 0, id="empty-run"),
        pytest.param("", TWO, {"k": 3}, 0 / 3, id="empty-run-cut"),
        pytest.param("", TWO, {"variant": "hits"}, 0, id="empty-run-hits"),
        pytest.param("a", {"a": 0}, {}, nan, id="no-relevant"),
        pytest.param("a", {"a": 0}, {"variant": "hits"}, nan, id="no-relevant-hits"),
        pytest.param("a", {"a": 0}, {"variant": "recmetrics"}, nan, id="no-relevant-P"),
        pytest.param("a b", {"a": -1, "b": 1}, {}, (0 + 1) / 2, id="negative-grade"),
    ],
)
def test_average_recall(
    run: str, qrels: dict[str, float], params: dict[str, Any], expected: float
) -> None:
    values = AR(**params).values(table(run, qrels))

    np.testing.assert_allclose(values, [expected], rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize(
    ("run", "qrels", "params", "expected"),
    [
        pytest.param("x a b", TWO, {}, 1 / 2, id="whole-list"),
        pytest.param("x a b", TWO, {"k": 1}, 0, id="cut-off"),
        pytest.param("x a b", TWO, {"k": 2}, 1 / 2, id="at-the-cut-off"),
        pytest.param("x a b", TWO, {"k": 9}, 1 / 2, id="beyond"),
        pytest.param("x a b", TWO, {"variant": "first"}, 1 / 2, id="first"),
        pytest.param("x a b", TWO, {"variant": "sum"}, 1 / 2 + 1 / 3, id="sum"),
        pytest.param("x a b", TWO, {"variant": "sum", "k": 2}, 1 / 2, id="sum-cut"),
        pytest.param("b x a", GRADED, {"rel": 2}, 1 / 3, id="rel-2"),
        pytest.param(
            "(a x y)", TWO, {"ties": "average"}, (1 + 1 / 2 + 1 / 3) / 3,
            id="ties-average",
        ),
        pytest.param(
            "(a x y)", TWO, {"ties": "average", "k": 2}, (1 + 1 / 2 + 0) / 3,
            id="ties-average-cut",
        ),
        pytest.param(
            "(a b x)", TWO, {"ties": "average", "variant": "sum"},
            2 * (1 + 1 / 2 + 1 / 3) / 3, id="ties-average-sum",
        ),
        pytest.param("(a x y)", TWO, {"ties": "best"}, 1, id="ties-best"),
        pytest.param("(a x y)", TWO, {"ties": "worst"}, 1 / 3, id="ties-worst"),
        pytest.param("(a b x)", TWO, {"ties": "worst"}, 1 / 2, id="ties-worst-of-two"),
        pytest.param("", TWO, {}, 0, id="empty-run"),
        pytest.param("a", {"a": 0}, {}, 0, id="no-relevant"),
        pytest.param("a b", {"a": -1, "b": 1}, {}, 1 / 2, id="negative-grade"),
        pytest.param("x y", TWO, {}, 0, id="unjudged"),
    ],
)  # fmt: skip
def test_reciprocal_rank(
    run: str, qrels: dict[str, float], params: dict[str, Any], expected: float
) -> None:
    values = RR(**params).values(table(run, qrels))

    np.testing.assert_allclose(values, [expected], rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize(
    ("run", "qrels", "params", "expected"),
    [
        pytest.param("a x b", TWO, {}, 1 / 2, id="hits-in-the-first-R"),
        pytest.param("a b x", TWO, {}, 2 / 2, id="perfect"),
        pytest.param("a", FOUR, {}, 1 / 4, id="list-shorter-than-R"),
        pytest.param("b a", GRADED, {}, 2 / 2, id="rel-1"),
        pytest.param("b a", GRADED, {"rel": 2}, 0 / 1, id="rel-2"),
        pytest.param("", TWO, {}, 0 / 2, id="empty-run"),
        pytest.param("a", {"a": 0}, {}, nan, id="no-relevant"),
        pytest.param("a b", {"a": -1, "b": 1}, {}, 0 / 1, id="negative-grade"),
    ],
)
def test_r_precision(
    run: str, qrels: dict[str, float], params: dict[str, Any], expected: float
) -> None:
    values = Rprec(**params).values(table(run, qrels))

    np.testing.assert_allclose(values, [expected], rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("metric", [AP, AR, RR], ids=str)
@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"k": 0}, "k must be a positive integer or None, got 0"),
        ({"k": True}, "k must be a positive integer or None, got True"),
        ({"k": 2.5}, r"k must be a positive integer or None, got 2\.5"),
        ({"rel": "high"}, "rel must be a finite number, got 'high'"),
    ],
)
def test_refuses_parameters(
    metric: Metric, params: dict[str, Any], message: str
) -> None:
    with pytest.raises(ParameterError, match=message):
        metric(**params)


@pytest.mark.parametrize(
    ("metric", "params", "message"),
    [
        (AP, {"divisor": "min_k_r"}, "divisor must be one of .*'min_k_R'"),
        (AP, {"divisor": None}, "divisor must be one of R, .* got None"),
        (AP, {"terms": "ranks"}, "terms must be one of hits, all_ranks, got 'ranks'"),
        (AP, {"ties": "avg"}, "ties must be one of average, best, worst, got 'avg'"),
        (AR, {"variant": "sum"}, "variant must be one of mean, hits, recmetrics"),
        (AR, {"ties": "best"}, "AR has no parameter 'ties'"),
        (RR, {"variant": "frist"}, "variant must be one of .* did you mean 'first'"),
        (RR, {"ties": "random"}, "ties must be one of average, best, worst"),
        (Rprec, {"misses": "no"}, "misses must be one of zero, undefined"),
        (Rprec, {"rel": True}, "rel must be a finite number, got True"),
    ],
)
def test_refuses_parameters_of_its_own(
    metric: Metric, params: dict[str, Any], message: str
) -> None:
    with pytest.raises(ParameterError, match=message):
        metric(**params)


@pytest.mark.parametrize(
    ("run", "expected"),
    [
        ("(a x)", 1 / 2),
        ("(a b x)", (2 / 3 + 2 / 3) / 2),
        ("a (b x) y", (1 + 2 / 3) / 2),
        ("x a b", (1 / 2 + 2 / 3) / 2),
    ],
)
def test_tied_items_count_as_the_last_of_them(run: str, expected: float) -> None:
    values = AP(ties="last").values(table(run, {"a": 1, "b": 1 if "b" in run else 0}))

    assert values[0] == pytest.approx(expected, rel=1e-15)


def test_tied_items_beyond_the_cutoff_are_not_found() -> None:
    found = table("a (b x)", {"a": 1, "b": 1})

    assert AP(ties="last", k=2).values(found)[0] == (1 + 0) / 2


def test_r_precision_within_a_cutoff() -> None:
    found = table("x a b c", {"a": 1, "b": 1, "c": 1})

    assert Rprec(k=2).values(found)[0] == 1 / 3
    assert Rprec(k=9).values(found)[0] == 2 / 3


def test_r_precision_may_be_undefined_where_nothing_is_found() -> None:
    missed = table("x y a b", {"a": 1, "b": 1})

    assert Rprec.values(missed)[0] == 0
    assert np.isnan(Rprec(misses="undefined").values(missed)[0])
