"""Flips of signs: all of them where they are few, drawn ones where they are many."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rankine import stats
from rankine._base.arrays import Floats
from rankine._base.limits import limited
from rankine._stats.flips import _coins, _drawn_sums, flipped_p, stepped_down_p

# Charles Darwin's maize, crossed minus self-fertilised, in eighths of an inch; of the
# 32,768 flips, 863 reach the sum of 314 (Fisher: The design of experiments, 1935).
DARWIN = [49, -67, 8, 16, 6, 23, 28, 41, 14, 29, 56, 24, 75, 60, -48]

tenths = st.integers(-5, 5).map(lambda tenth: tenth / 10)
"""Differences of P@10, which tie all the time."""


def test_fishers_own_example() -> None:
    crossed = [200 + difference for difference in DARWIN]

    found = stats.randomization([200] * 15, crossed)

    assert found.statistic == sum(DARWIN) / 15
    assert found.pvalue == 2 * 863 / 2**15


def exact_p(tenths_moved: list[int]) -> float:
    """Go through all flips, in whole numbers."""
    observed = abs(sum(tenths_moved))
    sums = [
        sum(sign * tenth for sign, tenth in zip(signs, tenths_moved, strict=True))
        for signs in product((1, -1), repeat=len(tenths_moved))
    ]
    return sum(abs(total) >= observed for total in sums) / len(sums)


@given(st.lists(st.integers(-5, 5), min_size=1, max_size=10))
def test_all_flips_are_as_the_definition_says(moved: list[int]) -> None:
    # 0.1 * 3 is not 0.3: rounding must not decide what is as extreme.
    row = np.array([tenth * 0.1 for tenth in moved])

    assert flipped_p(row[None, :], 1 << 10, 0)[0] == pytest.approx(exact_p(moved))


@given(st.lists(st.integers(-5, 5), min_size=1, max_size=10))
def test_one_sided_flips_are_as_the_definition_says(moved: list[int]) -> None:
    row = np.array([tenth * 0.1 for tenth in moved])
    sums = [
        sum(sign * tenth for sign, tenth in zip(signs, moved, strict=True))
        for signs in product((1, -1), repeat=len(moved))
    ]
    expected = sum(total <= sum(moved) for total in sums) / len(sums)

    found = flipped_p(row[None, :], 1 << 10, 0, below=True)[0]
    assert found == pytest.approx(expected)


def test_drawn_one_sided_flips_come_near_all_of_them() -> None:
    rows = np.random.default_rng(3).normal(-0.2, 1, (3, 14))
    draws = 10_000  # below 2^14

    drawn, exact = (flipped_p(rows, n, (0, 1), below=True) for n in (draws, 1 << 14))

    assert (np.abs(drawn - exact) < 4 * np.sqrt(exact * (1 - exact) / draws)).all()
    assert (drawn != flipped_p(rows, draws, (0, 2), below=True)).any()
    assert (drawn == flipped_p(rows, draws, (0, 1), below=True)).all()


def test_zeros_have_no_sign_to_flip() -> None:
    row = np.zeros(5000)
    row[:4] = 0.1, 0.1, 0.2, 0.1

    assert flipped_p(row[None, :], 16, 0)[0] == 2 / 16
    assert flipped_p(np.zeros((1, 5)), 16, 0)[0] == 1


def test_drawn_flips_come_near_all_of_them() -> None:
    rng = np.random.default_rng(3)
    rows = rng.normal(0.2, 1, (3, 14))
    draws = 10_000  # below 2^14

    drawn, exact = flipped_p(rows, draws, 0), flipped_p(rows, 1 << 14, 0)

    error = np.sqrt(exact * (1 - exact) / draws)
    assert (np.abs(drawn - exact) < 4 * error).all()
    assert (drawn != exact).any()


def test_no_draw_makes_p_zero() -> None:
    rows = np.full((1, 40), 0.5)

    assert flipped_p(rows, 99, 0)[0] == 1 / 100


def test_blocks_change_nothing() -> None:
    rows = np.random.default_rng(5).normal(0.1, 1, (4, 70))
    n = np.full(4, 70)

    def both(seed: int) -> list[list[float]]:
        corrected = stepped_down_p(rows, n, 500, seed)
        return [flipped_p(rows, 500, seed).tolist(), corrected.tolist()]

    whole = both(7)
    with limited(flipped_cells=1000):
        assert both(7) == whole
    assert both(8) != whole


def maxt_by_hand(rows: Floats) -> list[float]:
    """Go through all flips of two or three rows, step by step."""
    n = rows.shape[1]

    def sizes(signs: tuple[int, ...]) -> list[float]:
        found = []
        for row in rows:
            flipped = row * np.array(signs)
            error = flipped.std(ddof=1) / np.sqrt(n)
            found.append(abs(flipped.mean()) / error if error > 1e-12 else np.inf)
        return found

    observed = sizes((1,) * n)
    order = sorted(range(len(rows)), key=lambda number: -observed[number])
    flips = [sizes(signs) for signs in product((1, -1), repeat=n)]
    p, before = [0.0] * len(rows), 0.0
    for step, number in enumerate(order):
        largest = [max(found[other] for other in order[step:]) for found in flips]
        least = observed[number] * (1 - 1e-9)
        before = max(before, sum(value >= least for value in largest) / len(flips))
        p[number] = before
    return p


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.integers(2, 7), st.integers(1, 3))
def test_maxt_is_as_the_definition_says(seed: int, n: int, n_rows: int) -> None:
    rows = np.random.default_rng(seed).normal(0.4, 1, (n_rows, n))

    found = stepped_down_p(rows, np.full(n_rows, n), 1 << 8, 0)

    assert found.tolist() == pytest.approx(maxt_by_hand(rows))


def test_maxt_of_rows_without_a_difference_is_one() -> None:
    rows = np.array([[0.0] * 4, [0.1, 0.1, 0.2, 0.1]])

    assert stepped_down_p(rows, np.array([4, 4]), 100, 0).tolist() == [1, 2 / 16]
    assert stepped_down_p(np.array([[0.3]]), np.array([1]), 100, 0).tolist() == [1]


def test_maxt_is_monotone_and_never_below_the_test_itself() -> None:
    rng = np.random.default_rng(11)
    rows = rng.normal(0, 1, (6, 50)) + rng.normal(0, 0.5, 50) + 0.2
    n = np.full(6, 50)

    corrected = stepped_down_p(rows, n, 5000, 0)

    t = np.abs(rows.mean(axis=1) / rows.std(axis=1, ddof=1))
    order = np.argsort(-t)
    assert (np.diff(corrected[order]) >= 0).all()
    assert (corrected >= flipped_p(rows, 5000, 0) - 0.01).all()


def test_families_are_corrected_apart() -> None:
    rng = np.random.default_rng(12)
    rows = rng.normal(0.2, 1, (7, 40))
    n, families = np.full(7, 40), np.array([1, 0, 1, 2, 0, 1, 2])

    together = stepped_down_p(rows, n, 3000, 5, families)

    for family in range(3):
        own = families == family
        apart = stepped_down_p(rows[own], n[own], 3000, 5)
        assert together[own].tolist() == apart.tolist()


def test_near_duplicates_cost_maxt_nothing() -> None:
    # Ten copies of one hypothesis are one hypothesis; Holm would multiply by ten.
    row = np.random.default_rng(2).normal(0.3, 1, 60)
    n = np.full(10, 60)

    alone = stepped_down_p(row[None, :], n[:1], 4000, 0)
    copies = stepped_down_p(np.tile(row, (10, 1)), n, 4000, 0)

    assert copies.tolist() == alone.tolist() * 10


@pytest.mark.parametrize("n", [30, 63, 64, 65, 200])
def test_few_rows_and_many_see_the_same_flips(n: int) -> None:
    rng = np.random.default_rng(n)
    rows = rng.normal(0.1, 1, (9, n)).round(2)
    counts = np.full(9, n)

    together = flipped_p(rows, 3000, seed=4)
    apart = [flipped_p(row[None], 3000, seed=4)[0] for row in rows]

    assert together.tolist() == apart
    # What coins keep, added up in both ways, is the same.
    for size in (1, 6, 7):
        (sums,) = _drawn_sums(rows[:size], 50, seed=1)
        coins = np.unpackbits(next(_coins(n, 50, 1, 50)), axis=1)[:, :n]
        assert sums == pytest.approx((2.0 * coins - 1) @ rows[:size].T, abs=1e-9)
    both = stepped_down_p(rows[:3], counts[:3], 3000, seed=4)
    with limited(flipped_cells=n):
        assert stepped_down_p(rows[:3], counts[:3], 3000, seed=4).tolist() == (
            both.tolist()
        )
