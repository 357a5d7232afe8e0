"""Confidence sequences and the check of the sample ratio, by hand and by simulation."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankine._stats.sequences import (
    always_p,
    anytime_ratio_p,
    half_width,
    ratio_p,
    rho_squared,
)


def test_rho_is_as_it_is_defined() -> None:
    expected = (-2 * math.log(0.05) + math.log(1 - 2 * math.log(0.05))) / 5000

    assert rho_squared(5000, 0.05) == pytest.approx(expected, rel=1e-15)


def test_a_sequence_is_tightest_near_the_expected_number() -> None:
    n = np.array([1000.0])
    widths = {
        expected: float(half_width(np.ones(1), n, rho_squared(expected, 0.05), 0.05)[0])
        for expected in (10, 100, 1000, 10_000, 100_000)
    }

    assert min(widths, key=lambda own: widths[own]) == 1000


@given(
    st.floats(1e-3, 0.5), st.integers(10, 10**7), st.integers(10, 10**7)
)  # fmt: skip
def test_p_is_alpha_just_where_the_sequence_ends(
    alpha: float, n: int, expected: int
) -> None:
    rho2, size = rho_squared(expected, alpha), np.array([float(n)])
    z = half_width(np.ones(1), size, rho2, alpha) * math.sqrt(n)

    np.testing.assert_allclose(always_p(z, size, rho2), alpha, rtol=1e-9)


def test_p_is_at_most_1() -> None:
    assert always_p(np.zeros(1), np.array([50.0]), 0.1).tolist() == [1.0]


def test_few_sequences_ever_exclude_the_truth() -> None:
    rng, alpha, rounds = np.random.default_rng(5), 0.05, 1000
    looks = np.arange(100, 4001, 100)
    steps = rng.normal(size=(rounds, len(looks), 100))
    means = np.cumsum(steps.sum(axis=2), axis=1) / looks
    width = half_width(
        np.ones(len(looks)), looks.astype(float), rho_squared(2000, alpha), alpha
    )
    ever = (np.abs(means) > width).any(axis=1).mean()
    naive = (np.abs(means) > 1.96 / np.sqrt(looks)).any(axis=1).mean()

    assert ever <= 0.05
    assert naive > 0.25


def test_chi_square_of_three_arms() -> None:
    counts, shares = np.array([30.0, 50.0, 20.0]), np.array([0.25, 0.5, 0.25])
    # (30 - 25)^2 / 25 + 0 + (20 - 25)^2 / 25 = 2, with two degrees of freedom.
    assert ratio_p(counts, shares) == pytest.approx(math.exp(-1), rel=1e-12)


@given(st.lists(st.integers(0, 6), min_size=2, max_size=3), st.sampled_from([1, 2, 10]))
def test_the_bayes_factor_is_a_product_of_predictions(
    counts: list[int], prior: int
) -> None:
    shares = np.arange(1.0, len(counts) + 1) / sum(range(1, len(counts) + 1))
    seen, factor = np.zeros(len(counts)), 1.0
    for arm, n in enumerate(counts):
        for _ in range(n):
            predicted = (prior * shares + seen) / (prior + seen.sum())
            factor *= predicted[arm] / shares[arm]
            seen[arm] += 1
    expected = min(1.0, 1 / factor)

    found = anytime_ratio_p(np.array(counts, float), shares, prior)

    assert found == pytest.approx(expected, rel=1e-9)


def test_a_gross_mismatch_is_seen_sooner_with_more_users() -> None:
    found = [
        anytime_ratio_p(np.array([0.55 * n, 0.45 * n]), np.array([0.5, 0.5]))
        for n in (100, 1000, 10_000, 100_000)
    ]

    assert all(later <= sooner for sooner, later in pairwise(found))
    assert found[-1] < 1e-100 < found[1]
