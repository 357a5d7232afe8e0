"""Correlations, NDPM and FCP: scipy's numbers, and pairs counted one by one."""

from __future__ import annotations

import itertools
import math
import random
import warnings
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy import stats

import rankine as rk
from rankine._tables.inversions import inversions, pair_counts, smaller_before
from tests.metrics.similarity.twin import orders

RNG = np.random.default_rng(7)


def columns(seed: int) -> tuple[Any, Any]:
    """Draw two columns: without ties, with ties in one, or in both."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 60))
    x = rng.normal(size=n) if seed % 3 else rng.integers(0, 6, n).astype(float)
    y = x + rng.normal(size=n)
    return x, y if seed % 2 else np.round(y)


@pytest.mark.parametrize("seed", range(60))
def test_scipy_agrees(seed: int) -> None:
    x, y = columns(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        wanted = {
            "b": stats.kendalltau(x, y).statistic,
            "c": stats.kendalltau(x, y, variant="c").statistic,
            "weighted": stats.weightedtau(x, y).statistic,
            "rho": stats.spearmanr(x, y).statistic,
            "r": stats.pearsonr(x, y).statistic,
        }
    found = {
        "b": rk.kendall_tau(x, y),
        "c": rk.kendall_tau(x, y, "c"),
        "weighted": rk.kendall_tau(x, y, "weighted"),
        "rho": rk.spearman(x, y),
        "r": rk.pearson(x, y),
    }
    for name, value in wanted.items():
        assert found[name] == pytest.approx(value, abs=1e-12, nan_ok=True), name


@pytest.mark.parametrize("seed", range(40))
def test_pairs_counted_one_by_one(seed: int) -> None:
    x, y = columns(seed)
    right = wrong = even = 0
    for i, j in itertools.combinations(range(len(x)), 2):
        a, b = np.sign(x[i] - x[j]), np.sign(y[i] - y[j])
        right += a * b > 0
        wrong += a * b < 0
        even += a != 0 and b == 0
    ordered = right + wrong + even
    if ordered == 0:
        assert math.isnan(rk.ndpm(x, y))
        return
    n = len(x)
    assert rk.ndpm(x, y) == pytest.approx((2 * wrong + even) / (2 * ordered))
    assert rk.fcp(x, y) == pytest.approx(right / ordered)
    assert rk.fcp(x, y, tied="half") == pytest.approx((right + even / 2) / ordered)
    if right + wrong:
        assert rk.fcp(x, y, tied="ignore") == pytest.approx(right / (right + wrong))
    assert rk.kendall_tau(x, y, "a") == pytest.approx(
        (right - wrong) / (n * (n - 1) / 2)
    )


def tau_ap(reference: list[str], system: list[str]) -> float:
    """Return the AP correlation of two lists without ties, as it is defined."""
    place = {item: at for at, item in enumerate(reference)}
    n = len(system)
    total = sum(
        sum(place[above] < place[system[i]] for above in system[:i]) / i
        for i in range(1, n)
    )
    return 2 * total / (n - 1) - 1


def test_tau_ap_is_its_definition_and_the_mean_over_orders_of_ties() -> None:
    rng = random.Random(2)  # noqa: S311 - data, not secrets
    for _ in range(150):
        items = list("abcdef")[: rng.randint(2, 6)]

        def ranking(items: list[str] = items) -> list[list[str]]:
            left, groups = rng.sample(items, len(items)), []
            while left:
                size = rng.choice([1, 1, 2, 3])
                groups.append(left[:size])
                left = left[size:]
            return groups

        x, y = ranking(), ranking()
        if min(len(x), len(y)) == 1:
            continue  # all are tied, and there is no order to compare
        each = [
            tau_ap([i for g in a for i in g], [i for g in b for i in g])
            for a in orders(x)
            for b in orders(y)
        ]
        assert rk.kendall_tau(x, y, "ap") == pytest.approx(np.mean(each), abs=1e-12)


def test_laws() -> None:
    rng = random.Random(4)  # noqa: S311
    for _ in range(50):
        x = rng.sample([f"i{at}" for at in range(30)], rng.randint(2, 30))
        y = rng.sample(x, len(x))
        for variant in ("a", "b", "c", "ap", "weighted"):
            assert rk.kendall_tau(x, x, variant) == pytest.approx(1)
            assert rk.kendall_tau(x, x[::-1], variant) == pytest.approx(-1)
            if variant != "ap":
                back = rk.kendall_tau(y, x, variant)
                assert rk.kendall_tau(x, y, variant) == pytest.approx(back)
        assert rk.spearman(x, x[::-1]) == pytest.approx(-1)
        assert rk.ndpm(x, x) == 0
        assert rk.ndpm(x, x[::-1]) == 1
        assert rk.fcp(x, x) == 1
        assert rk.ndpm(x, y) == pytest.approx((1 - rk.kendall_tau(x, y)) / 2)


def test_constant_and_short_columns_have_no_correlation() -> None:
    one, three = [1.0, 1.0, 1.0], [1.0, 2.0, 3.0]
    for found in (
        rk.kendall_tau(one, three),
        rk.kendall_tau(one, three, "a"),
        rk.kendall_tau(one, three, "ap"),
        rk.kendall_tau(three, one, "ap"),
        rk.kendall_tau(three, one, "c"),
        rk.kendall_tau(one, three, "weighted"),
        rk.spearman(one, three),
        rk.pearson(three, one),
        rk.kendall_tau(["a"], ["a"]),
        rk.kendall_tau([], [], "ap"),
        rk.pearson([], []),
        rk.ndpm(one, three),
        rk.fcp([], []),
    ):
        assert type(found) is float
        assert math.isnan(found)


def test_what_a_ranking_may_be() -> None:
    x = {"a": 3.0, "b": 2.0, "c": 1.0}
    y = {"b": 9.0, "a": 5.0, "c": 1.0}
    wanted = rk.kendall_tau(x, y)
    assert wanted == pytest.approx(1 / 3)
    assert rk.kendall_tau(["a", "b", "c"], ["b", "a", "c"]) == wanted
    assert rk.kendall_tau("a b c", "b a c") == wanted
    assert rk.kendall_tau(pl.Series([3, 2, 1]), pl.Series([5, 9, 1])) == wanted
    assert rk.kendall_tau(np.array([3, 2, 1]), np.array([5, 9, 1])) == wanted
    assert rk.kendall_tau(pl.Series(["a", "b", "c"]), y) == wanted
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"x": [3, 2, 1], "y": [5, 9, 1], "id": ["b", "a", "c"]})
    assert rk.kendall_tau(frame["x"], frame["y"]) == wanted
    assert rk.kendall_tau("a b c", frame["id"]) == wanted
    assert rk.kendall_tau([3, 2, 1], [2, 3, 1]) == wanted  # ids, best first
    assert rk.kendall_tau([3, 2, 1], [5.0, 9.5, 1.0]) == wanted  # numbers
    assert rk.kendall_tau(np.array([3, 2, 1]), [5, 9, 1]) == wanted


def test_what_is_the_same_is_exactly_one() -> None:
    for x in ("a b c", "a (b c) d", "(a b) (c d e) f g"):
        assert rk.kendall_tau(x, x) == 1
        assert rk.spearman(x, x) == 1
    column = RNG.normal(size=101)
    assert rk.pearson(column, column) == 1
    assert rk.pearson(column, -column) == -1


def test_different_items_are_an_error_unless_it_is_said_which_count() -> None:
    x, y = ["a", "b", "c"], ["d", "b", "a"]
    with pytest.raises(rk.errors.DataError, match="1 item only in the first, such as"):
        rk.kendall_tau(x, y)
    assert rk.kendall_tau(x, y, on="intersection") == -1
    # a b c d against d b a c: a 1 3, b 2 2, c 3 4, d 4 1.
    assert rk.kendall_tau(x, y, on="union") == pytest.approx(
        stats.kendalltau([1, 2, 3, 4], [3, 2, 4, 1]).statistic
    )
    assert rk.spearman(x, y, on="union") == pytest.approx(
        stats.spearmanr([1, 2, 3, 4], [3, 2, 4, 1]).statistic
    )
    with pytest.raises(rk.errors.ParameterError, match="on must be one of"):
        rk.kendall_tau(x, y, on="both")  # type: ignore[arg-type]
    with pytest.raises(rk.errors.ParameterError, match="needs a score for every item"):
        rk.pearson({"a": 1.0}, {"b": 1.0}, on="union")


@pytest.mark.parametrize(
    ("x", "y", "message"),
    [
        ([1.5, math.nan], [1.0, 2.0], "x is not a number at row 1"),
        (np.array([1.0, 2.0]), np.array([1.0]), "x has 2 numbers and y 1"),
        ({"a": math.nan}, {"a": 1.0}, "x: the score of item 'a' is nan, not a number"),
        (pl.Series("s", [1, None]), pl.Series([1, 2]), "x has 1 value missing"),
    ],
)
def test_numbers_that_cannot_be_ordered_are_refused(
    x: Any, y: Any, message: str
) -> None:
    with pytest.raises(rk.errors.DataError, match=message):
        rk.kendall_tau(x, y)


def test_pearson_needs_finite_scores() -> None:
    with pytest.raises(rk.errors.DataError, match="x has no scores"):
        rk.pearson(["a", "b"], ["b", "a"])
    with pytest.raises(rk.errors.DataError, match="not a finite number"):
        rk.pearson([1.0, math.inf], [1.0, 2.0])
    assert rk.pearson([1, 2, 4], [10, 20, 40]) == pytest.approx(1)
    assert rk.pearson([1e300, 2e300, 4e300], [1.0, 2.0, 4.0]) == pytest.approx(1)


def test_inversions_of_segments() -> None:
    for width, levels in ((3, 2), (17, 9), (40, 1000), (300, 40_000), (70_000, 10)):
        lengths = RNG.integers(0, width + 1, 30 if width < 1000 else 2)
        starts = np.concatenate(([0], np.cumsum(lengths)))
        values = RNG.integers(0, levels, int(starts[-1]))
        found = inversions(values, starts)
        less, equal = smaller_before(values, starts)
        for at in range(len(lengths)):
            own = values[starts[at] : starts[at + 1]]
            if width < 1000:
                wanted = sum(int((own[:j] > own[j]).sum()) for j in range(len(own)))
                assert found[at] == wanted
            n = len(own)
            part = slice(starts[at], starts[at + 1])
            greater = n * (n - 1) // 2 - int(less[part].sum() + equal[part].sum())
            assert found[at] == greater


def test_pairs_of_nothing() -> None:
    none = np.zeros(0)
    found = pair_counts(none, none, np.array([0, 0, 0]))
    assert found.all.tolist() == [0, 0]


def test_integers_keep_all_their_digits() -> None:
    large = [2**53, 2**53 + 1, 2**53 + 2]
    for x in (
        np.array(large),
        pl.Series(large),
        np.array([2**64 - 3 + n for n in range(3)], dtype=np.uint64),
    ):
        assert rk.kendall_tau(x, np.array([1, 2, 3])) == 1
        assert rk.ndpm(x, np.array([3, 2, 1])) == 1


def test_infinite_numbers_have_an_order() -> None:
    x = np.array([math.inf, -math.inf, 0.0])
    for variant in ("a", "b", "c", "ap", "weighted"):
        own = rk.kendall_tau(
            np.array([2.0, 0.0, 1.0]), np.array([1.0, 2.0, 3.0]), variant
        )
        assert rk.kendall_tau(x, np.array([1.0, 2.0, 3.0]), variant) == own
    huge = np.array([1.7e308, -1.7e308])
    assert rk.kendall_tau(huge, np.array([2.0, 1.0]), "weighted") == 1


def test_lists_of_numbers_of_any_kind_are_columns() -> None:
    x, y = [2, 3, 1, 4], [3, 1, 4, 2]
    wanted = stats.kendalltau(x, y).statistic
    for kind in (float, np.float32, Decimal, Fraction):
        assert rk.kendall_tau(
            [kind(v) for v in x], [kind(v) for v in y]
        ) == pytest.approx(wanted)
        assert rk.kendall_tau([kind(v) for v in x], y) == pytest.approx(wanted)
        assert rk.pearson([kind(v) for v in x], y) == pytest.approx(
            stats.pearsonr(x, y).statistic
        )
    assert rk.pearson([np.int32(v) for v in x], y) == pytest.approx(
        stats.pearsonr(x, y).statistic
    )


def test_labels_of_rows_must_agree() -> None:
    pandas = pytest.importorskip("pandas")
    x = pandas.Series([1, 2, 3.0], index=list("abc"))
    y = pandas.Series([3, 2, 1.0], index=list("cba"))
    with pytest.raises(rk.errors.DataError, match="different labels"):
        rk.kendall_tau(x, y)
    assert rk.kendall_tau(x, y[["a", "b", "c"]]) == 1


def test_text_and_numbers_are_never_the_same_items() -> None:
    with pytest.raises(rk.errors.DataError, match="ids are text in one and numbers"):
        rk.kendall_tau(["1", "2"], [1, 2], on="union")
