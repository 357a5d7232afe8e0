"""What a comparison is asked for: queries that moved, risk, and queries needed."""

import math
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy.stats import chi2, nct, norm, t

import rankine as rk
from rankine.errors import ParameterError
from tests.evaluate.comparisons import (
    BOTH,
    NEW,
    OLD,
    RR,
    compared,
    frame,
    values_compared,
)


def test_queries_that_moved_most_come_first_whichever_way() -> None:
    moved = compared("RR").moved("RR", "old", "new")

    # d is 1/2, 3/4, 0, -1/2 and 1/2; those of one size are in the order of their ids.
    assert [query.query for query in moved] == ["q2", "q1", "q4", "q5"]
    assert [query.difference for query in moved] == [3 / 4, 1 / 2, -1 / 2, 1 / 2]
    assert [query.values for query in moved][:3] == [(1 / 4, 1), (1 / 2, 1), (1, 1 / 2)]
    assert (moved.n_moved, moved.n_queries) == (4, 5)
    assert (moved.metric, moved.systems) == ("RR", ("old", "new"))


def test_queries_that_moved_show_both_lists_with_grades() -> None:
    moved = compared("RR").moved("RR", "old", "new")

    old, new = moved[0].tops
    assert [tuple(one) for one in old] == [
        (1, "x", None), (2, "y", None), (3, "z", None), (4, "c", 1),
    ]  # fmt: skip
    assert [tuple(one) for one in new] == [(1, "c", 1), (2, "x", None)]
    old, new = moved[1].tops
    assert [tuple(one) for one in old] == [(1, "x", None), (2, "a", 1), (3, "b", 2)]
    assert [tuple(one) for one in new] == [(1, "b", 2), (2, "a", 1)]


def test_without_first_items_only_judged_ones_are_shown_and_that_is_said() -> None:
    kept = compared("RR", keep=2).moved("RR", "old", "new")
    judged = compared("RR", keep=None).moved("RR", "old", "new")
    values = values_compared().moved("value", "s0", "s1")

    hint = "Pass keep=10 to compare() to see unjudged items too."
    assert (kept.keep, judged.keep, values.keep) == (2, 0, 0)
    assert [tuple(one) for one in judged[0].tops[0]] == [(4, "c", 1)]
    assert str(judged).endswith(f"\n\n{hint}")
    assert hint not in str(kept)
    assert hint not in str(values)


def test_the_other_way_round_differences_have_the_other_sign() -> None:
    comparison = compared("RR")

    there = comparison.moved("RR", "old", "new")
    back = comparison.moved("RR", "new", "old")

    assert [query.difference for query in back] == [-q.difference for q in there]
    assert [query.tops for query in back] == [q.tops[::-1] for q in there]


def test_so_many_queries_are_shown_as_are_asked_for() -> None:
    comparison = compared("RR")

    assert len(comparison.moved("RR", "old", "new", n=2)) == 2
    assert len(comparison.moved("RR", "old", "new", n=99)) == 4
    assert comparison.moved("RR", "old", "new", n=1).n_moved == 4


def test_so_many_items_are_kept_as_are_asked_for() -> None:
    moved = compared("RR", keep=1).moved("RR", "old", "new")

    assert [len(top) for top in moved[0].tops] == [1, 1]


def test_queries_that_one_lacks_have_not_moved() -> None:
    short = {query: NEW[query] for query in ("q1", "q3", "q5")}

    moved = compared("RR", {"old": OLD, "new": short}, convention=BOTH).moved(
        "RR", "old", "new"
    )

    assert [query.query for query in moved] == ["q1", "q5"]
    assert (moved.n_moved, moved.n_queries) == (2, 3)


def test_text_and_plain_values_of_queries_that_moved() -> None:
    moved = compared("RR").moved("RR", "old", "new", n=1)

    assert str(moved).splitlines() == [
        "RR, old to new: 4 of 5 queries moved",
        "",
        "q2  +0.7500  (0.2500 to 1.0000)",
        "    old  1. x (unjudged), 2. y (unjudged), 3. z (unjudged), 4. c (1)",
        "    new  1. c (1), 2. x (unjudged)",
    ]
    plain = moved[0].to_dict()
    assert plain["values"] == [0.25, 1.0]
    assert plain["tops"][1][0] == {"rank": 1, "item": "c", "grade": 1.0}


def test_values_from_elsewhere_have_no_lists() -> None:
    moved = values_compared().moved("value", "s0", "s2", n=3)

    assert [query.tops for query in moved] == [((), ())] * 3


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("AP", "old", "new"), "AP was not compared; the metrics are RR"),
        (("RR", "old", "nwe"), "no system is called 'nwe'; .* did you mean 'new'"),
        (("RR", "old", "new", 0), "n must be an integer of at least 1, got 0"),
    ],
)
def test_moved_refuses_what_is_not_there(arguments: Any, message: str) -> None:
    comparison = compared("RR")

    with pytest.raises(ParameterError, match=message):
        comparison.moved(*arguments)


@pytest.mark.parametrize("alpha", [0, 1, 2])
def test_risk_is_that_of_the_formulas(alpha: float) -> None:
    comparison = compared("RR", baseline="old")

    risk = comparison.risk("RR", alpha=alpha)

    assert list(risk) == ["new", "other"]
    # d of new is 1/2, 3/4, 0, -1/2 and 1/2.
    weighed = np.array([1 / 2, 3 / 4, 0, (1 + alpha) * -1 / 2, 1 / 2])
    assert risk["new"].urisk == pytest.approx(weighed.sum() / 5)
    error = weighed.std(ddof=1) / math.sqrt(5)
    assert risk["new"].trisk == pytest.approx(weighed.sum() / 5 / error)
    assert risk["new"].hurt == 1 / 5
    x = np.array([RR["old"], RR["new"], RR["other"]])
    e = x[1].sum() * x.sum(axis=0) / x.sum()
    z = (x[1] - e) / np.sqrt(e)
    zrisk = z[z > 0].sum() + (1 + alpha) * z[z < 0].sum()
    expected = math.sqrt(x[1].mean() * norm.cdf(zrisk / 5))
    assert risk["new"].georisk == pytest.approx(expected)


def test_a_baseline_may_be_given_to_risk_alone() -> None:
    by_default = compared("RR", baseline="old").risk("RR")

    assert compared("RR").risk("RR", "old") == by_default
    assert list(compared("RR", baseline="old").risk("RR", "new")) == ["old", "other"]


def test_risk_knows_metrics_of_which_less_is_better() -> None:
    table = pl.DataFrame({"query": [1, 2, 3], "x": [0.5] * 3, "y": [0.4, 0.3, 0.9]})

    risk = rk.compare_values(table, higher_is_better=False).risk("value", "x")

    assert risk["y"].hurt == pytest.approx(1 / 3)
    assert risk["y"].urisk == pytest.approx((0.1 + 0.2 - 2 * 0.4) / 3)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "risk needs a baseline; the systems are old, new, other"),
        ({"baseline": "odl"}, "no system is called 'odl'; .* did you mean 'old'"),
        ({"baseline": "old", "alpha": -1}, "alpha must be a number at least 0"),
    ],
)
def test_risk_refuses_what_makes_no_sense(
    arguments: dict[str, Any], message: str
) -> None:
    comparison = compared("RR")

    with pytest.raises(ParameterError, match=message):
        comparison.risk("RR", **arguments)


def power_of_t(n: int, effect: float, alpha: float) -> float:
    least, far = t.ppf(1 - alpha / 2, n - 1), effect * math.sqrt(n)
    return float(nct.sf(least, n - 1, far) + nct.cdf(-least, n - 1, far))


@pytest.mark.parametrize("confidence", [0.95, 0.9])
@pytest.mark.parametrize("power", [0.8, 0.95])
def test_queries_needed_to_find_a_difference(confidence: float, power: float) -> None:
    table = frame(2)
    comparison = values_compared(table, confidence=confidence)

    (found,) = rk.queries_needed(comparison, difference=0.02, power=power)

    alpha = 1 - confidence
    deviation = (table["s1"] - table["s0"]).to_numpy().std(ddof=1)
    upper = deviation * math.sqrt(24 / chi2.ppf(alpha, 24))
    assert (found.metric, found.a, found.b) == ("value", "s0", "s1")
    assert found.deviation == pytest.approx(deviation)
    for n, spread in ((found.queries, deviation), (found.at_most, upper)):
        assert n is not None
        assert power_of_t(n, 0.02 / spread, alpha) >= power
        assert power_of_t(n - 1, 0.02 / spread, alpha) < power


def test_queries_needed_for_an_interval() -> None:
    (found,) = rk.queries_needed(values_compared(frame(2)), width=0.01)

    def wide(n: int) -> float:
        return float(2 * t.ppf(0.975, n - 1) * found.deviation / math.sqrt(n))

    assert found.queries is not None
    assert wide(found.queries) <= 0.01 < wide(found.queries - 1)


@pytest.mark.slow
@pytest.mark.parametrize("power", [0.8, 0.95])
def test_queries_needed_for_equivalence_are_near_the_normal_number(
    power: float,
) -> None:
    comparison = values_compared(frame(2))

    (found,) = rk.queries_needed(comparison, margin=0.01, power=power)

    # Far out, t is normal: power = 2 Phi(margin sqrt(n) / sd - z) - 1.
    far = norm.ppf(0.95) + norm.ppf((1 + power) / 2)
    expected = (far * found.deviation / 0.01) ** 2
    assert found.queries == pytest.approx(expected, rel=0.02)


def test_queries_needed_at_a_low_confidence() -> None:
    comparison = values_compared(frame(2), confidence=0.5)

    (found,) = rk.queries_needed(comparison, margin=0.01)

    # z is 0: 2 Phi(margin sqrt(n) / sd) - 1 = 0.8.
    expected = (norm.ppf(0.9) * found.deviation / 0.01) ** 2
    assert found.queries == pytest.approx(expected, rel=0.02)


def test_there_is_a_record_per_metric_and_pair() -> None:
    found = rk.queries_needed(compared(["RR", "AP"]), difference=0.1)

    pairs = [("old", "new"), ("old", "other"), ("new", "other")]
    assert [(one.a, one.b) for one in found] == pairs * 2
    assert [one.metric for one in found] == ["RR"] * 3 + ["AP"] * 3


def test_differences_that_do_not_vary_need_no_number() -> None:
    same = pl.DataFrame({"query": [1, 2, 3], "x": [0.1] * 3, "y": [0.2] * 3})

    (found,) = rk.queries_needed(rk.compare_values(same), difference=0.1)

    assert (found.deviation, found.queries, found.at_most) == (0, None, None)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "give exactly one of difference, width and margin, got 0"),
        ({"width": 0.1, "margin": 0.1}, "margin, got 2"),
        ({"difference": 0}, "difference must be a number above 0, got 0"),
        ({"difference": "much"}, "difference must be a number above 0, got 'much'"),
        ({"width": -1}, "width must be a number above 0, got -1"),
        ({"width": 1, "power": 1}, "power must be a number above 0 and below 1"),
    ],
)
def test_queries_needed_refuses_what_makes_no_sense(
    arguments: dict[str, Any], message: str
) -> None:
    comparison = values_compared()

    with pytest.raises(ParameterError, match=message):
        rk.queries_needed(comparison, **arguments)
