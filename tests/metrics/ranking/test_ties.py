"""Ties against every order of the tied items, written out as strict rankings."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankine._conventions.convention import Convention
from rankine._join import judged
from rankine._metrics.ranking import (
    AP,
    CG,
    DCG,
    NCG,
    RBP,
    RR,
    F,
    HitCount,
    P,
    R,
    Success,
    nDCG,
)
from rankine.errors import ParameterError
from tests.rankings import orders, scored, table

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from rankine._base.arrays import Floats
    from rankine._join import Judged
    from rankine._metrics.metric import Metric

pytestmark = pytest.mark.slow

TABLE = {1: 3, 2: 1}
METRICS = (
    P,
    P(divisor="list"),
    P(divisor="min_k_R"),
    P(rel=2),
    R,
    R(divisor="min_k_R"),
    R(rel=2),
    F,
    F(beta=2),
    F(divisor="list"),
    F(divisor="min_k_R", rel=2),
    Success,
    Success(rel=2),
    HitCount,
    HitCount(rel=2),
    RR,
    RR(rel=2),
    RR(variant="sum"),
    *(
        AP(divisor=divisor, terms=terms)
        for divisor in ("R", "min_k_R", "min_R_list", "hits", "k", "none")
        for terms in ("hits", "all_ranks")
        if (divisor, terms) != ("hits", "all_ranks")
    ),
    AP(rel=2),
    CG,
    CG(gain="exponential"),
    CG(gain=TABLE),
    CG(rel=2),
    NCG,
    NCG(gain="binary"),
    DCG,
    DCG(gain="exponential"),
    DCG(gain="exponential_rel", rel=2),
    DCG(gain=TABLE),
    DCG(discount="log", base=10),
    DCG(discount="jk", base=3),
    DCG(discount="reciprocal"),
    DCG(discount="none"),
    nDCG,
    nDCG(gain="exponential"),
    nDCG(gain="binary", rel=2),
    nDCG(gain=TABLE),
    nDCG(discount="jk"),
    nDCG(discount="reciprocal"),
    nDCG(ideal="judged"),
    nDCG(ideal="k_ones"),
    nDCG(ideal="retrieved"),
    nDCG(ideal="given@k"),
    RBP,
    RBP(p=0.5, rel=2),
    RBP(gain="scaled"),
    RBP(gain="linear"),
)
CASES = (
    pytest.param("a b x", {"a": 1, "b": 2}, id="no-ties"),
    pytest.param("(a x)", {"a": 1}, id="one-of-two"),
    pytest.param("(a x y z)", {"a": 1, "b": 1}, id="one-of-four-and-one-missing"),
    pytest.param("(a b c x)", {"a": 1, "b": 1, "c": 1}, id="three-of-four"),
    pytest.param("a x y z (b w)", {"a": 1, "b": 1}, id="late-tie"),
    pytest.param("x (a y) b", {"a": 2, "b": 1}, id="inside"),
    pytest.param("(a x) (b y) (c z)", {"a": 1, "b": 2, "c": 3}, id="three-blocks"),
    pytest.param(
        "(x y) (a b n u) c", {"a": 3, "b": 1, "c": 2, "n": 0, "d": 2}, id="graded-block"
    ),
    pytest.param("(a b c d x)", {"d": 4, "c": 3, "b": 2, "a": 1}, id="all-grades"),
    pytest.param("(a m n x) b", {"a": 1, "m": -1, "n": 0, "b": 2}, id="negative"),
    pytest.param("(n m) (x y)", {"n": 0, "m": -1}, id="no-relevant"),
    pytest.param("(x y) z", {"a": 1}, id="none-found"),
    pytest.param("", {"a": 1}, id="empty-run"),
)
# How a value over ties follows from the values of all orders.
OVER_ORDERS: dict[str, Callable[[Floats], float]] = {
    "average": np.mean,
    "best": np.max,
    "worst": np.min,
}


def every_order(text: str, qrels: Mapping[str, float]) -> Judged:
    """Make a table with a query for each order of the ties."""
    lists = {str(number): order for number, order in enumerate(orders(text))}
    return judged({query: dict(qrels) for query in lists}, lists)


def check(metric: Metric, text: str, qrels: Mapping[str, float]) -> None:
    tied, strict = table(text, qrels), every_order(text, qrels)
    for k in (None, *range(1, len(scored(text)) + 2)):
        values = metric(k=k).values(strict)
        for ties, over_orders in OVER_ORDERS.items():
            np.testing.assert_allclose(
                metric(k=k, ties=ties).values(tied),
                [over_orders(values)],
                rtol=1e-12,
                atol=1e-12,
                err_msg=f"{metric(k=k, ties=ties)} of {text!r} with {qrels}",
            )


@pytest.mark.parametrize(("text", "qrels"), CASES)
@pytest.mark.parametrize("metric", METRICS, ids=str)
def test_ties_agree_with_all_orders(
    metric: Metric, text: str, qrels: dict[str, float]
) -> None:
    check(metric, text, qrels)


@st.composite
def tied_rankings(draw: st.DrawFn) -> tuple[str, dict[str, float]]:
    """Draw a ranking of at most seven items in blocks, some of them judged."""
    names = iter("abcdefg")
    sizes: list[int] = []
    while (left := 7 - sum(sizes)) and (size := draw(st.integers(0, min(left, 5)))):
        sizes.append(size)
    blocks = [[next(names) for _ in range(size)] for size in sizes]
    grade = st.sampled_from([None, None, -1.0, 0.0, 0.5, 1.0, 1.0, 2.0, 3.0])
    found = {item: draw(grade) for block in blocks for item in block}
    missed = {f"m{at}": draw(grade) for at in range(draw(st.integers(0, 2)))}
    qrels = {
        item: value for item, value in (found | missed).items() if value is not None
    }
    text = " ".join(f"({' '.join(block)})" for block in blocks)
    return text, qrels or {"n": 0.0}


@pytest.mark.parametrize("metric", METRICS, ids=str)
@settings(max_examples=40)
@given(ranking=tied_rankings())
def test_ties_agree_with_all_orders_of_any_ranking(
    metric: Metric, ranking: tuple[str, dict[str, float]]
) -> None:
    check(metric, *ranking)


@pytest.mark.parametrize("metric", [CG, DCG, nDCG], ids=str)
def test_best_and_worst_order_with_negative_gains(metric: Metric) -> None:
    keep = Convention(negative="keep")
    found = table("(a x)", {"a": -1, "b": 1}, convention=keep)

    best = metric(k=1, ties="best").values(found)
    worst = metric(k=1, ties="worst").values(found)

    np.testing.assert_allclose([*best, *worst], [0, -1], atol=1e-12)


def test_what_has_no_value_over_ties_is_refused() -> None:
    with pytest.raises(ParameterError, match="cannot combine ties with"):
        AP(divisor="hits", terms="all_ranks", ties="average")
