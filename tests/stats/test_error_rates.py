"""How often tests err where there is nothing to find: no more often than they say."""

import math

import numpy as np
import pytest
from scipy.stats import studentized_range

from rankine._base.arrays import Floats
from rankine._stats.pairwise import Settings, compare_values
from rankine._stats.tukey import TwoWay

LEVEL = 0.05
UNEQUAL = np.array([1.0, 1.0, 4.0, 0.2])[:, None]
"""Deviations of four systems: a near-duplicate beside one that goes its own way."""


def at_most(n_trials: int) -> float:
    """Return the level and three of its standard errors."""
    return LEVEL + 3 * math.sqrt(LEVEL * (1 - LEVEL) / n_trials)


def share_of_errors(
    settings: Settings, trials: Floats, *, one_family_each: bool
) -> float:
    """Return in how many trials a pair is found; there is nothing to be found."""
    found = 0
    for values in trials:
        pairs = compare_values(values[None], settings)
        p = pairs.p_corrected if one_family_each else pairs.p
        found += bool((p <= LEVEL).any())
    return found / len(trials)


@pytest.mark.slow
@pytest.mark.parametrize("test", ["t", "wilcoxon", "sign"])
def test_two_systems_that_do_the_same_are_seldom_told_apart(test: str) -> None:
    # Each trial is a metric of one comparison.
    trials = np.random.default_rng(17).normal(0, 1, (2000, 2, 25))
    settings = Settings(test, correction="none")

    pairs = compare_values(trials, settings)

    assert 0.01 < np.mean(pairs.p <= LEVEL) <= at_most(2000)


def test_randomization_errs_as_often_as_it_says() -> None:
    # Exact, of all 2^10 flips: the share is the level but for its steps.
    trials = np.random.default_rng(18).normal(0, 1, (2000, 2, 10))
    settings = Settings("randomization", correction="none", draws=1 << 10)

    pairs = compare_values(trials, settings)

    assert 0.035 < np.mean(pairs.p <= LEVEL) <= at_most(2000)


def test_drawn_flips_err_as_often_as_they_say() -> None:
    trials = np.random.default_rng(19).standard_t(4, (600, 2, 30))
    settings = Settings("randomization", correction="none", draws=199)

    share = share_of_errors(settings, trials, one_family_each=False)

    assert 0.02 < share <= at_most(600)


def test_bootstrap_errs_about_as_often_as_it_says() -> None:
    trials = np.random.default_rng(20).normal(0, 1, (300, 2, 40))
    settings = Settings("bootstrap", correction="none", draws=299)

    share = share_of_errors(settings, trials, one_family_each=False)

    assert 0.01 < share <= at_most(300)


def test_tukey_seldom_finds_any_pair_of_four() -> None:
    # p <= 0.05 where a difference is beyond this range, which takes long to compute.
    trials = np.random.default_rng(21).normal(0, 1, (2000, 4, 15))
    least = studentized_range.ppf(1 - LEVEL, 4, 3 * 14)

    found = [
        np.ptp(model.means) >= least * math.sqrt(model.residual / 15)
        for model in map(TwoWay, trials)
    ]

    assert 0.035 < np.mean(found) <= at_most(2000)


def test_randomized_tukey_seldom_finds_any_pair_of_four() -> None:
    trials = np.random.default_rng(23).exponential(1, (300, 4, 15))

    found = [TwoWay(values).permuted_p(199, 0).min() <= LEVEL for values in trials]

    assert 0.01 < np.mean(found) <= at_most(300)


@pytest.mark.slow
@pytest.mark.parametrize("correction", ["holm", "maxt"])
@pytest.mark.parametrize("spread", [np.ones((4, 1)), UNEQUAL], ids=["equal", "unequal"])
def test_corrections_seldom_find_any_pair_of_four(
    correction: str, spread: Floats
) -> None:
    trials = np.random.default_rng(22).normal(0, 1, (400, 4, 20)) * spread
    settings = Settings("randomization", correction=correction, draws=399)

    share = share_of_errors(settings, trials, one_family_each=True)

    assert share <= at_most(400)
    assert share > (0.02 if correction == "maxt" else 0)


def test_uncorrected_pairs_err_far_more_often() -> None:
    trials = np.random.default_rng(22).normal(0, 1, (400, 4, 20))
    settings = Settings("randomization", correction="none", draws=399)

    share = share_of_errors(settings, trials, one_family_each=False)

    assert share > 0.1
