"""Rank-biased overlap: by hand, by its definition, and what must always hold."""

from __future__ import annotations

import itertools
import math
import random
from typing import Any

import numpy as np
import pytest

import rankine as rk
from tests.metrics.similarity import twin

NAMES = ("min", "max", "res", "ext")


def random_groups(rng: random.Random, items: list[str], most: int) -> list[list[str]]:
    """Draw a ranking of some of the items, with ties of up to so many."""
    left = rng.sample(items, rng.randint(1, len(items)))
    groups = []
    while left:
        size = rng.randint(1, most)
        groups.append(left[:size])
        left = left[size:]
    return groups


def text_of(groups: list[list[str]]) -> str:
    return " ".join(g[0] if len(g) == 1 else f"({' '.join(g)})" for g in groups)


def test_even_lists_by_hand() -> None:
    # a b c d against b a c e: nothing, 2 of 2, 3 of 3, 3 of 4.
    p = 0.5
    found = rk.rbo(["a", "b", "c", "d"], ["b", "a", "c", "e"], p=p)

    seen = 0 + p * 1 + p**2 * 1 + p**3 * 3 / 4
    tail = math.log(1 / (1 - p)) - sum(p**d / d for d in range(1, 5))
    assert found.min == pytest.approx((1 - p) * seen + (1 - p) / p * 3 * tail)
    assert found.ext == pytest.approx((1 - p) * seen + 3 / 4 * p**4)
    # The fifth items may be d and e: then all five are common.
    assert found.max == pytest.approx((1 - p) * seen + p**4)
    assert found.res == pytest.approx(found.max - found.min)


def test_uneven_lists_by_hand() -> None:
    # a b against a c b d: 1, 1 of 2; then b joins at 3; A_s = 1/2.
    p = 0.8
    found = rk.rbo(["a", "b"], ["a", "c", "b", "d"], p=p)

    low = 1 + p / 2 + p**2 * 2 / 3 + p**3 * 2 / 4
    ext = 1 + p / 2 + p**2 * (2 + 1 / 2) / 3 + p**3 * (2 + 2 / 2) / 4
    tail = math.log(1 / (1 - p)) - sum(p**d / d for d in range(1, 5))
    assert found.min == pytest.approx((1 - p) * low + (1 - p) / p * 2 * tail)
    assert found.ext == pytest.approx((1 - p) * ext + (2 + 2 / 2) / 4 * p**4)
    # c and d may follow the shorter list.
    assert found.max == pytest.approx((1 - p) * (1 + p / 2) + p**2)


def test_ties_by_hand() -> None:
    # a (b c) against (a b) c.
    p = 0.5
    x, y = "a (b c)", "(a b) c"

    w = rk.rbo(x, y, p=p, ties="w")
    # Depth 1: a is common, and y shows two; depth 2: a and b, x shows three; then all.
    by_rank = 1 / ((1 + 2) / 2), 2 / ((3 + 2) / 2), 1
    assert w.ext == pytest.approx(
        (1 - p) * sum(p**d * a for d, a in enumerate(by_rank)) + p**3
    )
    a = rk.rbo(x, y, p=p, ties="a")
    # Depth 1: half of a; depth 2: a, and half of b; then all.
    by_mean = 1 / 2, (1 + 1 / 2) / 2, 1
    assert a.ext == pytest.approx(
        (1 - p) * sum(p**d * v for d, v in enumerate(by_mean)) + p**3
    )
    b = rk.rbo(x, y, p=p, ties="b")
    lengths = math.sqrt(1 * (1 / 4 + 1 / 4)), math.sqrt((1 + 1 / 4 + 1 / 4) * 2)
    by_angle = 1 / 2 / lengths[0], (1 + 1 / 2) / lengths[1], 1
    assert b.ext == pytest.approx(
        (1 - p) * sum(p**d * v for d, v in enumerate(by_angle)) + p**3
    )


def test_published_values() -> None:
    # Webber, Moffat and Zobel: agreement and average overlap of these two, down to 7.
    x, y = list("abcdefg"), list("zcavwxy")
    assert [round(rk.overlap(x, y, d), 3) for d in range(1, 8)] == [
        0, 0, 0.667, 0.5, 0.4, 0.333, 0.286,
    ]  # fmt: skip
    assert [round(rk.average_overlap(x, y, d), 3) for d in range(1, 8)] == [
        0, 0, 0.222, 0.292, 0.313, 0.317, 0.312,
    ]  # fmt: skip
    agreed = [0, 0, 2 / 3, 2 / 4, 2 / 5, 2 / 6, 2 / 7]
    p = 0.95
    ext = (1 - p) * sum(p**d * a for d, a in enumerate(agreed)) + 2 / 7 * p**7
    assert rk.rbo(x, y, p=p).ext == pytest.approx(ext, abs=1e-15)
    assert rk.rbo_prefix_weight(10, 0.9) == pytest.approx(0.8556, abs=5e-5)


@pytest.mark.slow
@pytest.mark.parametrize("ties", ["w", "a", "b"])
def test_the_definition_on_random_lists_with_ties(ties: Any) -> None:
    rng = random.Random(f"rbo {ties}")  # noqa: S311 - data, not secrets
    for _ in range(400):
        items = [f"i{number}" for number in range(rng.randint(1, 20))]
        x, y = (random_groups(rng, items, 6) for _ in range(2))
        p = rng.choice([0.01, 0.3, 0.8, 0.9, 0.95, 0.99])

        found = rk.rbo(text_of(x), text_of(y), p=p, ties=ties)

        wanted = twin.rbo(x, y, p, ties)
        for name in NAMES:
            assert getattr(found, name) == pytest.approx(wanted[name], abs=1e-12), (
                name, x, y, p,
            )  # fmt: skip


def test_a_is_the_mean_over_all_orders_of_tied_items() -> None:
    rng = random.Random(5)  # noqa: S311
    for _ in range(60):
        items = list("abcde")
        x, y = (random_groups(rng, items, 3) for _ in range(2))
        if sum(map(len, x)) != sum(map(len, y)):
            continue  # what follows the shorter list is not a mean of anything
        p = rng.uniform(0.3, 0.95)

        found = rk.rbo(x, y, p=p, ties="a")

        each = [rk.rbo(a, b, p=p) for a in twin.orders(x) for b in twin.orders(y)]
        for name in ("min", "max", "ext"):
            mean = np.mean([getattr(one, name) for one in each])
            assert getattr(found, name) == pytest.approx(mean, abs=1e-12), (x, y)


@pytest.mark.slow
@pytest.mark.parametrize("p", [1e-9, 0.1, 0.5, 0.9, 0.99, 0.999999])
@pytest.mark.parametrize(("n", "m"), [(1, 1), (1, 7), (40, 40), (13, 50)])
def test_infinite_sums_far_enough(p: float, n: int, m: int) -> None:
    rng = random.Random(n * m)  # noqa: S311
    items = [f"i{number}" for number in range(max(n, m) + 3)]
    x, y = rng.sample(items, n), rng.sample(items, m)

    found = rk.rbo(x, y, p=p)

    both = len(set(x) & set(y))
    shared = [len(set(x[:d]) & set(y[:d])) for d in range(1, max(n, m) + 1)]
    low = high = 0.0
    step = 1_000_000
    for begin in range(1, 40 * step if p > 0.9999 else step, step):
        depth = np.arange(begin, begin + step)
        common = np.full(step, both)
        if begin == 1:
            common[: len(shared)] = shared
        weight = (1 - p) * p ** (depth - 1.0) / depth
        most = common + np.maximum(depth - n, 0) + np.maximum(depth - m, 0)
        low += float(np.sum(common * weight))
        high += float(np.sum(np.minimum(most, depth) * weight))
    assert found.min == pytest.approx(low, abs=1e-12)
    if n == m:
        assert found.max == pytest.approx(high, abs=1e-12)


def test_empty_lists() -> None:
    nothing = rk.rbo([], [])
    assert (nothing.min, nothing.max, nothing.ext) == (0, 1, 1)
    one = rk.rbo([], ["a", "b"], p=0.7)
    assert (one.min, one.ext) == (0, 0)
    assert one.max == pytest.approx(1)
    assert one.depth == 0
    assert one.weight == 0


def test_identical_and_disjoint_lists() -> None:
    for n in (1, 2, 10, 1000):
        x = [f"i{number}" for number in range(n)]
        same = rk.rbo(x, x, p=0.9)
        assert same.ext == pytest.approx(1, abs=1e-14)
        assert same.max == pytest.approx(1, abs=1e-14)
        other = rk.rbo(x, [f"j{number}" for number in range(n)], p=0.9)
        assert (other.min, other.ext) == (0, 0)
        # From depth n + 1 on, x may get what y had, and the other way round.
        deeper = range(n + 1, 2 * n + 1)
        most = sum(0.1 * 0.9 ** (d - 1) * 2 * (d - n) / d for d in deeper) + 0.9 ** (
            2 * n
        )
        assert other.max == pytest.approx(most, abs=1e-13)


def test_long_lists_lose_no_digits() -> None:
    # Half of each list is common, at the same ranks: A_d = 1/2, but for odd depths.
    n = 100_000
    x = [f"i{number}" for number in range(n)]
    y = [item if at % 2 else f"j{at}" for at, item in enumerate(x)]
    for p in (0.9, 0.999, 0.999999):
        found = rk.rbo(x, y, p=p)
        seen = math.fsum((1 - p) * p ** (d - 1) * (d // 2) / d for d in range(1, n + 1))
        assert found.ext == pytest.approx(seen + p**n / 2, rel=1e-12)
        assert found.min <= found.ext <= found.max
    assert rk.rbo(x, y, p=0.9).res == pytest.approx(0, abs=1e-15)
    assert 0 < rk.rbo(x, y, p=0.9999).res < rk.rbo(x[:-1], y[:-1], p=0.9999).res


@pytest.mark.slow
def test_laws_on_random_lists() -> None:
    rng = random.Random(11)  # noqa: S311
    for _ in range(300):
        items = [f"i{number}" for number in range(rng.randint(1, 15))]
        x, y = (random_groups(rng, items, 4) for _ in range(2))
        p = rng.uniform(0.05, 0.995)
        for ties in ("w", "a", "b"):
            one, other = rk.rbo(x, y, p, ties), rk.rbo(y, x, p, ties)
            for name in NAMES:
                assert getattr(one, name) == pytest.approx(
                    getattr(other, name), abs=1e-13
                )
            assert 0 <= one.min <= one.ext <= one.max <= 1
            assert one.rbd == 1 - one.ext
            assert float(one) == one.ext
        for own in (rk.rbo(x, x, p, "w"), rk.rbo(x, x, p, "b")):
            assert own.ext == pytest.approx(1, abs=1e-12)


def test_what_is_unknown_shrinks_with_depth() -> None:
    rng = random.Random(3)  # noqa: S311
    items = [f"i{number}" for number in range(40)]
    x, y = rng.sample(items, 30), rng.sample(items, 30)
    for p in (0.7, 0.95):
        res = [rk.rbo(x[:k], y[:k], p).res for k in range(31)]
        assert res[0] == pytest.approx(1)
        assert all(later < before for before, later in itertools.pairwise(res))


def test_the_distance_obeys_the_triangle_inequality() -> None:
    rng = random.Random(8)  # noqa: S311
    items = list("abcdefgh")
    for _ in range(500):
        # Whole rankings of the same items, so that nothing is extrapolated.
        x, y, z = (rng.sample(items, len(items)) for _ in range(3))
        p = rng.uniform(0.1, 0.98)
        there = rk.rbo(x, y, p).rbd + rk.rbo(y, z, p).rbd
        assert rk.rbo(x, z, p).rbd <= there + 1e-12


def test_weights() -> None:
    for p in (0.1, 0.5, 0.9, 0.99):
        each = [rk.rbo_rank_weight(d, p) for d in range(1, 400)]
        for d in (1, 2, 5, 30, 399):
            assert rk.rbo_prefix_weight(d, p) == pytest.approx(sum(each[:d]), abs=1e-12)
            depth = np.arange(d, 20_000)
            series = (1 - p) * np.sum(p ** (depth - 1.0) / depth)
            assert each[d - 1] == pytest.approx(series, rel=1e-11)
    assert rk.rbo_prefix_weight(0, 0.5) == 0


@pytest.mark.parametrize("depth", [1, 5, 10, 100, 5000])
@pytest.mark.parametrize("weight", [0.05, 0.5, 0.8556, 0.99])
def test_p_for_a_wanted_weight(depth: int, weight: float) -> None:
    p = rk.rbo_p(depth, weight)

    assert 0 < p < 1
    assert rk.rbo_prefix_weight(depth, p) == pytest.approx(weight, abs=1e-10)


@pytest.mark.parametrize("p", [0, 1, -0.1, 1.5, math.nan, "0.9", None, True])
def test_p_outside_its_range_is_refused(p: Any) -> None:
    with pytest.raises(rk.errors.ParameterError, match="p must be a number above 0"):
        rk.rbo(["a"], ["a"], p=p)
    with pytest.raises(rk.errors.ParameterError, match="p must be a number above 0"):
        rk.rbo_prefix_weight(3, p)


def test_the_text_says_what_the_number_means() -> None:
    assert str(rk.rbo([1, 2, 3, 4], [2, 1, 3, 5], p=0.85)) == (
        "RBO 0.6965 (p = 0.85), between 0.4906 and 0.8270 however the lists continue; "
        "4 ranks in both, with 72.6 % of the weight"
    )


def test_weights_of_very_many_ranks() -> None:
    # All ranks to a billion weigh nearly alike where p is nearly 1.
    p = 1 - 1e-12
    few, many = rk.rbo_prefix_weight(10**6, p), rk.rbo_prefix_weight(10**9, p)
    assert 0 < few < many < 1
    for n in (999, 1000, 1001, 5000):
        for p in (1 - 1e-9, 1 - 1e-6, 1 - 1 / (2 * n)):
            depth = np.arange(1, n, dtype=float)
            head = math.fsum(((1 - p) * p ** (depth - 1) / depth).tolist())
            wanted = -(1 - p) * math.log1p(-p) / p - head
            assert rk.rbo_rank_weight(n, p) == pytest.approx(wanted, rel=1e-12)
    single: Any = np.float32(0.9)
    assert type(rk.rbo(["a"], ["a"], p=single).weight) is float
    assert rk.rbo_p(10, 1e-12) > 1 - 1e-11
