"""The jackknife of differences: by hand, of means, and where it cannot be told."""

from __future__ import annotations

import math
from math import sqrt

import numpy as np
import pytest
from scipy.stats import norm, sem

from rankine._stats.jackknife import Whole, jackknife
from rankine._stats.pairwise import Pairwise, Settings, compare_values

NAN = math.nan


def pairs_of(whole: Whole, margin: float = NAN, **settings: str) -> Pairwise:
    """Compare two systems by one number of all users."""
    values = np.full((1, 2, 0), np.nan)
    how = Settings(**{"correction": "none", **settings})  # type: ignore[arg-type]
    return compare_values(values, how, margins=np.array([margin]), wholes={0: whole})


def test_by_hand() -> None:
    # d is 0.2, and 0.1, 0.2 and 0.3 without one of the users.
    left = np.array([[0.5, 0.5, 0.4], [0.6, 0.7, 0.7]])
    whole = Whole(np.array([0.5, 0.7]), left)

    found = pairs_of(whole, margin=0.5)

    error = sqrt(2 / 3 * (0.1**2 + 0 + 0.1**2))
    assert found.difference[0] == pytest.approx(0.2)
    assert found.error[0] == pytest.approx(error)
    assert found.p[0] == pytest.approx(2 * norm.sf(0.2 / error))
    bounds = found.low[0], found.high[0]
    assert bounds == pytest.approx(norm.interval(0.95, 0.2, error))
    assert (found.n[0], found.n_moved[0]) == (3, 2)
    assert found.verdicts == ("cannot tell",)


def test_users_are_paired_and_one_that_a_system_lacks_changes_nothing_there() -> None:
    left = np.array([[0.5, NAN, 0.4, NAN], [NAN, 0.6, 0.7, NAN]])
    whole = Whole(np.array([0.5, 0.7]), left)

    found = pairs_of(whole)

    # Without the first 0.7 - 0.5, without the second 0.6 - 0.5, without the third 0.3.
    d = np.array([0.2, 0.1, 0.3])
    assert found.n[0] == 3
    assert found.error[0] == pytest.approx(sqrt(2 / 3 * ((d - 0.2) ** 2).sum()))
    assert whole.n.tolist() == [2, 2]


@pytest.mark.parametrize("seed", range(3))
def test_of_means_it_is_the_error_of_the_paired_t_test(seed: int) -> None:
    x = np.random.default_rng(seed).normal(0, 1, (2, 30))
    left = (x.sum(axis=1, keepdims=True) - x) / 29

    found = pairs_of(Whole(x.mean(axis=1), left))

    error = sem(x[1] - x[0])
    assert found.error[0] == pytest.approx(error)
    assert found.p[0] == pytest.approx(2 * norm.sf(abs((x[1] - x[0]).mean()) / error))


def test_equivalence_is_by_two_one_sided_tests() -> None:
    x = np.random.default_rng(4).normal(0, 1, (2, 400))
    left = (x.sum(axis=1, keepdims=True) - x) / 399
    whole = Whole(x.mean(axis=1), left)

    near, far = pairs_of(whole, margin=0.5), pairs_of(whole, margin=0.01)

    d, error = (x[1] - x[0]).mean(), sem(x[1] - x[0])
    for found, margin in ((near, 0.5), (far, 0.01)):
        one_sided = [norm.sf((d + margin) / error), norm.cdf((d - margin) / error)]
        assert found.p_equivalent[0] == pytest.approx(max(one_sided))
    assert near.verdicts == ("equivalent",)
    assert far.verdicts == ("cannot tell",)


def test_systems_that_do_the_same_do_not_differ() -> None:
    left = np.array([[0.5, 0.3, 0.4]] * 2)

    found = pairs_of(Whole(np.array([0.5, 0.5]), left))

    row = found.difference[0], found.error[0], found.p[0], found.low[0], found.high[0]
    assert row == (0, 0, 1, 0, 0)


@pytest.mark.parametrize(
    "left",
    [
        [[0.5, 0.5, 0.5], [0.7, 0.7, 0.7]],
        [[0.5, 0.4, math.inf], [0.7, 0.7, 0.7]],
        [[0.5, 0.4, math.inf], [0.7, 0.7, math.inf]],
        [[NAN, 0.4, NAN], [NAN, 0.7, NAN]],
    ],
    ids=["nobody", "nothing left", "nothing left of both", "one user"],
)
def test_an_error_that_cannot_be_told_is_not_0(left: list[list[float]]) -> None:
    found = pairs_of(Whole(np.array([0.5, 0.7]), np.array(left)), margin=9)

    assert found.difference[0] == pytest.approx(0.2)
    numbers = found.error, found.p, found.low, found.high, found.p_equivalent
    assert np.isnan(np.concatenate(numbers)).all()
    assert found.verdicts == ("cannot tell",)


def test_values_per_query_are_tested_as_if_alone_and_corrected_together() -> None:
    rng = np.random.default_rng(8)
    values = rng.normal(0, 1, (1, 2, 12)) + np.array([[0], [0.4]])
    x = rng.normal(0, 1, (2, 50))
    whole = Whole(x.mean(axis=1), (x.sum(axis=1, keepdims=True) - x) / 49)
    settings = Settings("t", "bonferroni", "all")
    both = np.concatenate((values, np.full((1, 2, 12), np.nan)))

    found = compare_values(both, settings, wholes={1: whole})

    alone = compare_values(values, Settings("t", "none")), pairs_of(whole)
    p = [alone[0].p[0], alone[1].p[0]]
    np.testing.assert_allclose(found.p, p)
    np.testing.assert_allclose(found.p_corrected, np.minimum(2 * np.array(p), 1))
    assert found.wins[0] == alone[0].wins[0]


def test_without_such_numbers_there_is_nothing() -> None:
    found = jackknife({}, *np.zeros((3, 2), dtype=np.int64))

    assert not found.whole.any()
    assert np.isnan(found.difference).all()
