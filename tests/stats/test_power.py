"""How many queries it takes: enough with n, and not enough with one fewer."""

import math

import numpy as np
import pytest
from scipy.stats import chi2, nct, norm, t

from rankine._stats.power import (
    needed_for_difference,
    needed_for_equivalence,
    needed_for_width,
)


def power_of_t(n: int, effect: float, alpha: float) -> float:
    """Return how often Student's paired t finds an effect, on either side."""
    least, far = t.ppf(1 - alpha / 2, n - 1), effect * math.sqrt(n)
    return float(nct.sf(least, n - 1, far) + nct.cdf(-least, n - 1, far))


@pytest.mark.parametrize("effect", [0.1, 0.25, 0.5, 1, 3])
@pytest.mark.parametrize(("power", "alpha"), [(0.8, 0.05), (0.95, 0.05), (0.5, 0.01)])
def test_a_difference_is_found_with_so_many_and_not_with_fewer(
    effect: float, power: float, alpha: float
) -> None:
    n = needed_for_difference(0.2, 0.2 * effect, power, alpha) or 0

    assert power_of_t(n, effect, alpha) >= power
    assert n > 2
    assert power_of_t(n - 1, effect, alpha) < power


def test_a_difference_found_the_wrong_way_round_counts_too() -> None:
    # With little power, as many as a sixth of what is found is on the other side.
    n = needed_for_difference(1, 0.1, 0.06, 0.05) or 0

    assert power_of_t(n, 0.1, 0.05) >= 0.06 > power_of_t(n - 1, 0.1, 0.05)
    assert nct.sf(t.ppf(0.975, n - 1), n - 1, 0.1 * math.sqrt(n)) < 0.06


@pytest.mark.parametrize(
    ("effect", "power", "expected"), [(0.2, 0.8, 199), (0.5, 0.8, 34), (0.5, 0.95, 54)]
)
def test_numbers_of_textbooks(effect: float, power: float, expected: int) -> None:
    # As tables give them for two dependent means at 0.05, two-sided.
    assert needed_for_difference(1, effect, power, 0.05) == expected


@pytest.mark.parametrize("width", [0.05, 0.2, 1])
@pytest.mark.parametrize("alpha", [0.05, 0.2])
def test_an_interval_is_as_narrow_with_so_many_and_not_with_fewer(
    width: float, alpha: float
) -> None:
    n = needed_for_width(0.3, width, alpha) or 0

    def wide(n: int) -> float:
        return float(2 * t.ppf(1 - alpha / 2, n - 1) * 0.3 / math.sqrt(n))

    assert wide(n) <= width
    assert n > 2
    assert wide(n - 1) > width


def power_of_equivalence(n: int, effect: float, alpha: float) -> float:
    """Return how often both one-sided tests reject, by summing over deviations.

    The deviation found is that of chi over sqrt(n - 1), and independent of the mean.
    """
    shares = (np.arange(20_000) + 0.5) / 20_000
    s = np.sqrt(chi2.ppf(shares, n - 1) / (n - 1))
    reach = effect * math.sqrt(n) - t.ppf(1 - alpha, n - 1) * s
    return float(np.mean(np.where(reach > 0, 2 * norm.cdf(reach) - 1, 0)))


@pytest.mark.parametrize("effect", [0.2, 0.5, 1.5])
@pytest.mark.parametrize(("power", "alpha"), [(0.8, 0.05), (0.9, 0.1)])
def test_equivalence_is_found_with_so_many_and_not_with_fewer(
    effect: float, power: float, alpha: float
) -> None:
    n = needed_for_equivalence(0.4, 0.4 * effect, power, alpha) or 0

    assert power_of_equivalence(n, effect, alpha) >= power - 1e-4
    assert n > 2
    assert power_of_equivalence(n - 1, effect, alpha) < power + 1e-4


def test_tiny_differences_take_very_many() -> None:
    # Far out, Student's t is normal: n = (z + z)^2 / effect^2.
    n = needed_for_difference(1, 1e-4, 0.8, 0.05)

    assert n == pytest.approx((1.959964 + 0.841621) ** 2 / 1e-8, rel=1e-4)


def test_a_large_difference_takes_few() -> None:
    assert needed_for_difference(1e-3, 1, 0.8, 0.05) in {2, 3}
    assert needed_for_width(1e-6, 1, 0.05) == 2
    assert needed_for_equivalence(1e-6, 1, 0.8, 0.05) == 2


def test_no_number_is_given_where_none_that_is_tried_is_enough() -> None:
    # (z + z)^2 / effect^2 is 8 x 10^18, and 2^40 is 10^12.
    assert needed_for_difference(1, 1e-9, 0.8, 0.05) is None
    assert needed_for_width(1, 1e-9, 0.05) is None
    assert needed_for_equivalence(1, 1e-9, 0.8, 0.05) is None
