"""Risk against a baseline, by the formulas."""

import math

import numpy as np
import pytest
from scipy.stats import norm

from rankine._stats.risk import risk_of

NAN = math.nan
BASE = [0.5, 0.5, 0.5, 0.5]
SYSTEM = [0.9, 0.7, 0.5, 0.3]


@pytest.mark.parametrize("alpha", [0, 1, 2.5])
def test_urisk_counts_losses_more(alpha: float) -> None:
    risk = risk_of(np.array([BASE, SYSTEM]), 0, 1, alpha)

    assert risk.urisk == pytest.approx((0.4 + 0.2 + (1 + alpha) * -0.2) / 4)
    assert risk.hurt == 1 / 4


def test_trisk_is_urisk_over_its_standard_error() -> None:
    risk = risk_of(np.array([BASE, SYSTEM]), 0, 1, 1)

    mean = (0.4 + 0.2 + 0 - 0.4) / 4
    squares = (0.4 - mean) ** 2 + (0.2 - mean) ** 2 + mean**2 + (-0.4 - mean) ** 2
    assert risk.trisk == pytest.approx(mean / math.sqrt(squares / 3 / 4))


@pytest.mark.parametrize("alpha", [0, 1, 3])
def test_georisk_is_of_the_values_expected_of_all_systems(alpha: float) -> None:
    values = np.array([[0.2, 0.4], [0.6, 0.4], [0.2, 0.2]])

    risk = risk_of(values, 0, 1, alpha)

    # Rows sum to 0.6, 1 and 0.4, columns to 1 and 1, all to 2.
    e = 1.0 * 1.0 / 2.0
    up, down = (0.6 - e) / math.sqrt(e), (0.4 - e) / math.sqrt(e)
    zrisk = up + (1 + alpha) * down
    assert risk.georisk == pytest.approx(math.sqrt(0.5 * norm.cdf(zrisk / 2)))


def test_georisk_depends_on_the_other_systems_and_the_rest_does_not() -> None:
    two = np.array([[0.2, 0.4, 0.9], [0.6, 0.4, 0.1]])
    three = np.concatenate([two, [[0.9, 0.1, 0.0]]])

    of_two, of_three = risk_of(two, 0, 1, 1), risk_of(three, 0, 1, 1)

    assert of_two.urisk == of_three.urisk
    assert of_two.trisk == of_three.trisk
    assert of_two.georisk != pytest.approx(of_three.georisk)


def test_a_query_where_all_have_nothing_adds_nothing_to_zrisk() -> None:
    values = np.array([[0.2, 0.4, 0.0], [0.6, 0.4, 0.0]])

    risk = risk_of(values, 0, 1, 1)

    first, second = 1.0 * 0.8 / 1.6, 1.0 * 0.8 / 1.6
    zrisk = (0.6 - first) / math.sqrt(first) + 2 * (0.4 - second) / math.sqrt(second)
    assert risk.georisk == pytest.approx(math.sqrt(1.0 / 3 * norm.cdf(zrisk / 3)))


def test_queries_that_one_lacks_are_left_out() -> None:
    values = np.array([[*BASE, NAN, 0.1], [*SYSTEM, 0.7, NAN]])

    found = risk_of(values, 0, 1, 1)

    assert found == pytest.approx(risk_of(np.array([BASE, SYSTEM]), 0, 1, 1))


def test_what_differs_by_rounding_is_no_loss() -> None:
    risk = risk_of(np.array([[0.1 + 0.2, 0.1], [0.3, 0.2]]), 0, 1, 1)

    assert risk.hurt == 0
    assert risk.urisk == pytest.approx(0.1 / 2)


def test_without_any_difference_there_is_no_risk() -> None:
    risk = risk_of(np.array([BASE, BASE]), 0, 1, 1)

    assert (risk.urisk, risk.trisk, risk.hurt) == (0, 0, 0)
    assert risk.georisk == pytest.approx(math.sqrt(0.5 * norm.cdf(0)))


def test_one_query_has_no_standard_error_and_none_has_no_risk() -> None:
    one = risk_of(np.array([[0.5], [0.9]]), 0, 1, 1)
    none = risk_of(np.array([[NAN], [0.9]]), 0, 1, 1)

    assert one.urisk == pytest.approx(0.4)
    assert math.isnan(one.trisk)
    assert all(map(math.isnan, none))


def test_georisk_of_systems_without_any_value_is_undefined() -> None:
    risk = risk_of(np.zeros((2, 3)), 0, 1, 1)

    assert math.isnan(risk.georisk)
    assert risk.urisk == 0
