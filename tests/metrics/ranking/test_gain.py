from __future__ import annotations

from math import log, log2, nan
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from rankine._join import judged
from rankine._metrics.ranking import CG, DCG, NCG, nDCG
from rankine.errors import DataError, ParameterError
from tests.rankings import table

if TYPE_CHECKING:
    from rankine._metrics.metric import Metric

TWO = {"a": 1, "b": 1}
GRADED = {"a": 1, "b": 2, "c": 3}
TABLE = {"gain": {1: 3, 2: 9}}
EXP = {"gain": "exponential"}
EXP_REL = {"gain": "exponential_rel", "rel": 2}
BINARY = {"gain": "binary"}


@pytest.mark.parametrize(
    ("run", "qrels", "params", "expected"),
    [
        pytest.param("a x b c", GRADED, {}, 1 + 2 + 3, id="whole-list"),
        pytest.param("a x b c", GRADED, {"k": 3}, 1 + 0 + 2, id="cut-off"),
        pytest.param("a b", GRADED, {"k": 9}, 1 + 2, id="beyond"),
        pytest.param("b", GRADED, {"gain": "linear"}, 2, id="linear"),
        pytest.param("b", GRADED, EXP, 2**2 - 1, id="exponential"),
        pytest.param("a b c", GRADED, EXP_REL, 0 + 1 + 3, id="exponential_rel"),
        pytest.param("a b c", GRADED, BINARY, 3, id="binary"),
        pytest.param("a b c", GRADED, {**BINARY, "rel": 2}, 2, id="binary-rel"),
        pytest.param("a b c", GRADED, TABLE, 3 + 9 + 3, id="table"),
        pytest.param("a b c", GRADED, {**TABLE, "rel": 2}, 9 + 3, id="table-rel"),
        pytest.param("z x", {"z": 0}, {"gain": {0: 1}}, 1, id="table-of-grade-0"),
        pytest.param("a b c", GRADED, {"rel": 2}, 2 + 3, id="rel"),
        pytest.param(
            "(a c) b", GRADED, {"k": 1, "ties": "average"}, (1 + 3) / 2,
            id="ties-average",
        ),
        pytest.param("(a c)", GRADED, {"k": 1, "ties": "best"}, 3, id="ties-best"),
        pytest.param("(a c)", GRADED, {"k": 1, "ties": "worst"}, 1, id="ties-worst"),
        pytest.param("(c x)", GRADED, {"k": 1, "ties": "worst"}, 0, id="worst-is-none"),
        pytest.param("", GRADED, {}, 0, id="empty-run"),
        pytest.param("a", {"a": 0}, {}, 0, id="no-relevant"),
        pytest.param("a b", {"a": -1, "b": 2}, {}, 0 + 2, id="negative-grade"),
        pytest.param("a b", {"a": -1, "b": 2}, EXP, 0 + 3, id="negative-exponential"),
        pytest.param("x y", GRADED, {}, 0, id="unjudged"),
    ],
)  # fmt: skip
def test_cumulative_gain(
    run: str, qrels: dict[str, float], params: dict[str, Any], expected: float
) -> None:
    values = CG(**params).values(table(run, qrels))

    np.testing.assert_allclose(values, [expected], rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize(
    ("run", "qrels", "params", "expected"),
    [
        pytest.param("a x b", GRADED, {}, (1 + 2) / (3 + 2 + 1), id="whole-list"),
        pytest.param("a x b", GRADED, {"k": 2}, 1 / (3 + 2), id="cut-off"),
        pytest.param("a x b", GRADED, {"k": 9}, (1 + 2) / (3 + 2 + 1), id="beyond"),
        pytest.param("a b", GRADED, {"gain": "linear"}, 3 / 6, id="linear"),
        pytest.param("a b", GRADED, EXP, (1 + 3) / (7 + 3 + 1), id="exponential"),
        pytest.param("a b", GRADED, EXP_REL, 1 / (3 + 1), id="exponential_rel"),
        pytest.param("a b", GRADED, BINARY, 2 / 3, id="binary"),
        pytest.param("a b", GRADED, TABLE, (3 + 9) / (9 + 3 + 3), id="table"),
        pytest.param("a b", GRADED, {"rel": 2}, 2 / (3 + 2), id="rel"),
        pytest.param(
            "(a c)", GRADED, {"k": 1, "ties": "average"}, (1 / 3 + 3 / 3) / 2,
            id="ties-average",
        ),
        pytest.param("(a c)", GRADED, {"k": 1, "ties": "best"}, 3 / 3, id="ties-best"),
        pytest.param("(a c)", GRADED, {"k": 1, "ties": "worst"}, 1 / 3, id="ties-wrst"),
        pytest.param("", GRADED, {}, 0 / 6, id="empty-run"),
        pytest.param("a", {"a": 0}, {}, nan, id="no-relevant"),
        pytest.param("a b", {"a": -1, "b": 2}, {"k": 1}, 0 / 2, id="negative-grade"),
    ],
)  # fmt: skip
def test_normalized_cumulative_gain(
    run: str, qrels: dict[str, float], params: dict[str, Any], expected: float
) -> None:
    values = NCG(**params).values(table(run, qrels))

    np.testing.assert_allclose(values, [expected], rtol=1e-12, atol=1e-15)


FLAT = {"a": 1, "b": 1, "c": 1, "d": 1}


@pytest.mark.parametrize(
    ("run", "qrels", "params", "expected"),
    [
        pytest.param("b x c", GRADED, {}, 2 / log2(2) + 3 / log2(4), id="whole-list"),
        pytest.param("b x c", GRADED, {"k": 2}, 2 / log2(2), id="cut-off"),
        pytest.param("x c", GRADED, {"k": 9}, 3 / log2(3), id="beyond"),
        pytest.param("x c", GRADED, {"gain": "linear"}, 3 / log2(3), id="linear"),
        pytest.param("x c", GRADED, EXP, 7 / log2(3), id="exponential"),
        pytest.param("b c", GRADED, EXP_REL, 1 + 3 / log2(3), id="exponential_rel"),
        pytest.param("b c", GRADED, BINARY, 1 + 1 / log2(3), id="binary"),
        pytest.param("a b", GRADED, TABLE, 3 + 9 / log2(3), id="table"),
        pytest.param("a b", GRADED, {"rel": 2}, 2 / log2(3), id="rel"),
        pytest.param(
            "a b c d", FLAT, {"discount": "log2"},
            1 + 1 / log2(3) + 1 / log2(4) + 1 / log2(5), id="log2",
        ),
        pytest.param(
            "a b c d", FLAT, {"discount": "log", "base": 10},
            log(10) * (1 / log(2) + 1 / log(3) + 1 / log(4) + 1 / log(5)), id="log-10",
        ),
        pytest.param(
            "a b c d", FLAT, {"discount": "log", "base": 3},
            log(3) * (1 / log(2) + 1 / log(3) + 1 / log(4) + 1 / log(5)), id="log-3",
        ),
        pytest.param(
            "a b c d", FLAT, {"discount": "jk"},
            1 + 1 + 1 / log2(3) + 1 / log2(4), id="jk-2",
        ),
        pytest.param(
            "a b c d", FLAT, {"discount": "jk", "base": 3},
            1 + 1 + 1 + log(3) / log(4), id="jk-3",
        ),
        pytest.param(
            "a b c d", FLAT, {"discount": "reciprocal"},
            1 + 1 / 2 + 1 / 3 + 1 / 4, id="reciprocal",
        ),
        pytest.param("a b c d", FLAT, {"discount": "none"}, 4, id="no-discount"),
        pytest.param(
            "(a c)", GRADED, {"ties": "average"}, (1 + 3) * (1 + 1 / log2(3)) / 2,
            id="ties-average",
        ),
        pytest.param(
            "(a c)", GRADED, {"ties": "best"}, 3 + 1 / log2(3), id="ties-best"
        ),
        pytest.param(
            "(a c)", GRADED, {"ties": "worst"}, 1 + 3 / log2(3), id="ties-worst"
        ),
        pytest.param(
            "(a b)", GRADED, {"ties": "best", "gain": {1: 9, 2: 3}}, 9 + 3 / log2(3),
            id="best-is-by-gain",
        ),
        pytest.param("", GRADED, {}, 0, id="empty-run"),
        pytest.param("a", {"a": 0}, {}, 0, id="no-relevant"),
        pytest.param("a b", {"a": -1, "b": 2}, {}, 2 / log2(3), id="negative-grade"),
        pytest.param("a b", {"a": -1, "b": 1}, BINARY, 1 / log2(3), id="neg-binary"),
    ],
)  # fmt: skip
def test_dcg(
    run: str, qrels: dict[str, float], params: dict[str, Any], expected: float
) -> None:
    values = DCG(**params).values(table(run, qrels))

    np.testing.assert_allclose(values, [expected], rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize(
    ("run", "qrels", "params", "expected"),
    [
        pytest.param("c b a", GRADED, {}, 1, id="perfect"),
        pytest.param(
            "x a y", TWO, {}, (1 / log2(3)) / (1 + 1 / log2(3)), id="one-of-two"
        ),
        pytest.param("a c", GRADED, {"k": 1}, 1 / 3, id="cut-off"),
        pytest.param(
            "x c", {"b": 2, "c": 3}, {"k": 9}, (3 / log2(3)) / (3 + 2 / log2(3)),
            id="beyond",
        ),
        pytest.param(
            "b c", {"b": 2, "c": 3}, {"gain": "linear"},
            (2 + 3 / log2(3)) / (3 + 2 / log2(3)), id="linear",
        ),
        pytest.param(
            "b c", {"b": 2, "c": 3}, EXP, (3 + 7 / log2(3)) / (7 + 3 / log2(3)),
            id="exponential",
        ),
        pytest.param(
            "b c", GRADED, EXP_REL, (1 + 3 / log2(3)) / (3 + 1 / log2(3)),
            id="exponential_rel",
        ),
        pytest.param(
            "b x c", {"b": 2, "c": 3}, BINARY, (1 + 1 / log2(4)) / (1 + 1 / log2(3)),
            id="binary",
        ),
        pytest.param("a b", GRADED, {**BINARY, "rel": 3, "k": 2}, 0, id="binary-rel"),
        pytest.param(
            "a b", {"a": 1, "b": 2}, TABLE, (3 + 9 / log2(3)) / (9 + 3 / log2(3)),
            id="table",
        ),
        pytest.param(
            "a b", GRADED, {"rel": 2}, (2 / log2(3)) / (3 + 2 / log2(3)), id="rel"
        ),
        pytest.param(
            "x a", TWO, {"discount": "log2"}, (1 / log2(3)) / (1 + 1 / log2(3)),
            id="log2",
        ),
        pytest.param(
            "x a", TWO, {"discount": "log", "base": 10},
            (1 / log(3)) / (1 / log(2) + 1 / log(3)), id="log-base-cancels",
        ),
        pytest.param("x a", TWO, {"discount": "jk"}, 1 / 2, id="jk-2"),
        pytest.param(
            "x y z a", TWO, {"discount": "jk"}, (1 / log2(4)) / 2, id="jk-2-deeper"
        ),
        pytest.param(
            "x y z a", TWO, {"discount": "jk", "base": 3}, (log(3) / log(4)) / 2,
            id="jk-3",
        ),
        pytest.param(
            "x y a", TWO, {"discount": "reciprocal"}, (1 / 3) / (1 + 1 / 2),
            id="reciprocal",
        ),
        pytest.param("x y a", TWO, {"discount": "none"}, 1 / 2, id="no-discount"),
        pytest.param("x a", TWO, {"k": 1, "ideal": "judged@k"}, 0 / 1, id="judged@k-0"),
        pytest.param("a x", TWO, {"k": 1, "ideal": "judged@k"}, 1 / 1, id="judged@k"),
        pytest.param(
            "a x", TWO, {"k": 1, "ideal": "judged"}, 1 / (1 + 1 / log2(3)), id="judged"
        ),
        pytest.param("a", TWO, {"k": 2, "ideal": "judged@list"}, 1, id="judged@list"),
        pytest.param(
            "x a y", TWO, {"k": 2, "ideal": "judged@list"},
            (1 / log2(3)) / (1 + 1 / log2(3)), id="judged@list-at-k",
        ),
        pytest.param(
            "b x", {"a": 1, "b": 2, "c": 3}, {"ideal": "judged@list"},
            2 / (3 + 2 / log2(3)), id="judged@list-no-cut-off",
        ),
        pytest.param("", TWO, {"ideal": "judged@list"}, 0, id="empty-run-judged@list"),
        pytest.param(
            "a x", TWO, {"k": 3, "ideal": "k_ones"},
            1 / (1 + 1 / log2(3) + 1 / log2(4)), id="k_ones",
        ),
        pytest.param(
            "a b", {"a": 2, "b": 1}, {"k": 2, "ideal": "k_ones"},
            (2 + 1 / log2(3)) / (2 + 2 / log2(3)), id="k_ones-best-gain",
        ),
        pytest.param(
            "a x y", {"a": 1}, {"ideal": "k_ones"}, 1 / (1 + 1 / log2(3) + 1 / log2(4)),
            id="k_ones-no-cut-off",
        ),
        pytest.param(
            "x a", GRADED, {"ideal": "retrieved"}, (1 / log2(3)) / 1, id="retrieved"
        ),
        pytest.param(
            "a b", GRADED, {"k": 1, "ideal": "retrieved"}, 1 / 2, id="retrieved-cut"
        ),
        pytest.param(
            "x a b", GRADED, {"ideal": "retrieved", **EXP},
            (1 / log2(3) + 3 / log2(4)) / (3 + 1 / log2(3)), id="retrieved-exponential",
        ),
        pytest.param("x y", GRADED, {"ideal": "retrieved"}, nan, id="retrieved-none"),
        pytest.param(
            "b x", {"a": 1, "b": 2}, {"ideal": "given@k"}, 2 / (1 + 2 / log2(3)),
            id="given@k",
        ),
        pytest.param(
            "b x", {"a": 1, "b": 2}, {"k": 1, "ideal": "given@k"}, 2 / 1,
            id="given@k-cut",
        ),
        pytest.param(
            "b x", {"z": 0, "b": 2}, {"ideal": "given@k"}, 2 / (2 / log2(3)),
            id="given@k-counts-places",
        ),
        pytest.param(
            "(a b)", {"a": 1, "b": 2}, {"ties": "average"},
            (1 + 2) * (1 + 1 / log2(3)) / 2 / (2 + 1 / log2(3)), id="ties-average",
        ),
        pytest.param("(a b)", {"a": 1, "b": 2}, {"ties": "best"}, 1, id="ties-best"),
        pytest.param(
            "(a b)", {"a": 1, "b": 2}, {"ties": "worst"},
            (1 + 2 / log2(3)) / (2 + 1 / log2(3)), id="ties-worst",
        ),
        pytest.param("", TWO, {}, 0, id="empty-run"),
        pytest.param("", TWO, {"k": 2, "ideal": "k_ones"}, 0, id="empty-run-k_ones"),
        pytest.param("", TWO, {"ideal": "retrieved"}, nan, id="empty-run-retrieved"),
        pytest.param("a", {"a": 0}, {}, nan, id="no-relevant"),
        pytest.param("a", {"a": 0}, {"ideal": "judged"}, nan, id="none-judged"),
        pytest.param("a", {"a": 0}, {"k": 2, "ideal": "k_ones"}, nan, id="none-k_ones"),
        pytest.param("a", {"a": 0}, {"ideal": "given@k"}, nan, id="none-given"),
        pytest.param("a", GRADED, {"rel": 4}, nan, id="none-reaches-rel"),
        pytest.param("a b", {"a": -1, "b": 2}, {}, (2 / log2(3)) / 2, id="negative"),
    ],
)  # fmt: skip
def test_ndcg(
    run: str, qrels: dict[str, float], params: dict[str, Any], expected: float
) -> None:
    values = nDCG(**params).values(table(run, qrels))

    np.testing.assert_allclose(values, [expected], rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize(
    "ideal", ["judged@k", "judged", "judged@list", "k_ones", "retrieved", "given@k"]
)
def test_ndcg_of_a_query_does_not_depend_on_other_queries(ideal: str) -> None:
    qrels = {"q": {"a": 3}, "r": {"a": 1, "b": 1}, "s": {"a": 0}}
    run = {"q": ["a"], "r": ["b", "x"], "s": ["a"]}
    metric = nDCG(k=2, ideal=ideal)

    together = metric.values(judged(qrels, run))
    alone = [metric.values(judged({q: qrels[q]}, {q: run[q]}))[0] for q in qrels]

    np.testing.assert_allclose(together, alone, rtol=1e-12)


@pytest.mark.parametrize(
    ("metric", "expected"), [(CG, 9), (NCG, 9 / 9), (DCG, 9 / 1), (nDCG, 9 / 9)]
)
def test_kernel_takes_a_plain_dict_as_gain(metric: Metric, expected: float) -> None:
    found = table("b", {"a": 1, "b": 2})

    values = metric.fact.kernel(found, k=1, gain={1: 3, 2: 9})

    np.testing.assert_allclose(values, [expected], rtol=1e-12)


@pytest.mark.parametrize("metric", [CG, NCG, DCG, nDCG], ids=str)
@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"k": 0}, "k must be a positive integer or None, got 0"),
        ({"k": True}, "k must be a positive integer or None, got True"),
        ({"k": 2.5}, r"k must be a positive integer or None, got 2\.5"),
        ({"gain": "linaer"}, "gain must be one of .* did you mean 'linear'"),
        ({"gain": 2}, "gain must be one of .* got 2"),
        ({"gain": {1: "much"}}, "the gain of grade 1 must be a finite number"),
        ({"gain": {"high": 1}}, "a grade in gain must be a finite number"),
        ({"gain": "exponential_rel"}, "gain='exponential_rel' needs rel"),
        ({"rel": "high"}, "rel must be a finite number, got 'high'"),
        ({"ties": "both"}, "ties must be one of average, best, worst, got 'both'"),
    ],
)
def test_refuses_parameters(
    metric: Metric, params: dict[str, Any], message: str
) -> None:
    with pytest.raises(ParameterError, match=message):
        metric(**params)


@pytest.mark.parametrize("metric", [DCG, nDCG], ids=str)
@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"discount": "lg2"}, "discount must be one of .* did you mean 'log2'"),
        ({"base": 1}, "base must be a number above 1, got 1"),
        ({"base": "e"}, "base must be a number above 1, got 'e'"),
    ],
)
def test_refuses_discounts(
    metric: Metric, params: dict[str, Any], message: str
) -> None:
    with pytest.raises(ParameterError, match=message):
        metric(**params)


def test_refuses_an_unknown_ideal() -> None:
    with pytest.raises(ParameterError, match="ideal must be one of judged@k, judged"):
        nDCG(ideal="best")


@pytest.mark.parametrize("metric", [CG, NCG, DCG, nDCG], ids=str)
def test_refuses_grades_too_large_for_an_exponential_gain(metric: Metric) -> None:
    with pytest.raises(DataError, match="a grade of 100 is too large"):
        metric(gain="exponential").values(table("a", {"a": 100}))
