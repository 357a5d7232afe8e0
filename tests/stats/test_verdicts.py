"""What is said of a pair: better, worse, equivalent, or that it cannot be told."""

import math
from typing import Any

import numpy as np
import pytest
import scipy.stats

from rankine._base.arrays import Floats
from rankine._stats.pairwise import Pairwise, Settings, compare_values

SPREAD = np.array([-1.0, 1.0] * 10)
"""Twenty differences with a mean of 0 and a standard deviation of sqrt(20 / 19)."""
ERROR = math.sqrt(20 / 19 / 20)


def judged(
    differences: Any,
    margin: float | list[float] = math.nan,
    *,
    higher: bool | None = True,
    **fields: Any,
) -> Pairwise:
    """Compare systems with a baseline of zeros by Student's t."""
    d = np.atleast_2d(np.asarray(differences, dtype=np.float64))
    values = np.concatenate([np.zeros((1, d.shape[1])), d])[None]
    settings = Settings("t", **fields)
    margins = np.atleast_1d(np.asarray(margin, dtype=np.float64))
    return compare_values(
        values, settings, baseline=0, directions=(higher,), margins=margins
    )


@pytest.mark.parametrize(
    ("shift", "scale", "margin", "higher", "expected"),
    [
        (1, 1, 0.1, True, "better"),
        (-1, 1, 0.1, True, "worse"),
        (1, 1, 0.1, False, "worse"),
        (-1, 1, 0.1, False, "better"),
        (1, 1, 0.1, None, "different"),
        (0, 1, 0.1, True, "cannot tell"),
        (0, 1, 1, True, "equivalent"),
        (0.1, 0.1, 1, True, "better, equivalent"),
        (-0.1, 0.1, 1, True, "worse, equivalent"),
        (0.1, 0.1, 1, False, "worse, equivalent"),
        (-0.1, 0.1, 1, False, "better, equivalent"),
        (0, 1, math.nan, True, "cannot tell"),
    ],
)
def test_verdicts(
    shift: float,
    scale: float,
    margin: float,
    higher: bool | None,  # noqa: FBT001
    expected: str,
) -> None:
    found = judged(shift + scale * SPREAD, margin, higher=higher)

    assert found.verdicts == (expected,)


@pytest.mark.parametrize(
    ("more", "expected"), [(-1e-6, "cannot tell"), (1e-6, "better")]
)
def test_a_difference_is_told_from_the_level_on(more: float, expected: str) -> None:
    shift = scipy.stats.t.ppf(0.975, 19) * ERROR

    found = judged(shift + more + SPREAD)

    assert found.verdicts == (expected,)


def test_the_corrected_p_decides() -> None:
    shift = scipy.stats.t.ppf(0.98, 19) * ERROR  # p = 0.04

    alone = judged(shift + SPREAD)
    among = judged([shift + SPREAD, SPREAD])
    uncorrected = judged([shift + SPREAD, SPREAD], correction="none")

    assert alone.p_corrected == pytest.approx([0.04])
    assert among.p_corrected == pytest.approx([0.08, 1])
    assert alone.verdicts == ("better",)
    assert among.verdicts == ("cannot tell", "cannot tell")
    assert uncorrected.verdicts == ("better", "cannot tell")


def test_a_p_value_of_just_the_level_is_enough() -> None:
    # The smallest p of 9 drawn flips is 1 / 10, and 1 - 0.9 is a bit less as a float.
    values = np.stack([np.zeros(20), np.full(20, 0.5)])[None]
    settings = Settings("randomization", confidence=0.9, draws=9)

    found = compare_values(values, settings)

    assert found.p.tolist() == [0.1]
    assert found.verdicts == ("better",)


@pytest.mark.parametrize("shift", [0, 0.2, -0.2])
def test_equivalence_is_the_larger_of_two_one_sided_p_values(shift: float) -> None:
    d = shift + SPREAD

    found = judged(d, 0.7)

    above = scipy.stats.ttest_1samp(d, -0.7, alternative="greater").pvalue
    below = scipy.stats.ttest_1samp(d, 0.7, alternative="less").pvalue
    assert found.p_equivalent == pytest.approx([max(above, below)])


@pytest.mark.parametrize("shift", [0, 0.3, -0.3])
@pytest.mark.parametrize("confidence", [0.95, 0.8])
@pytest.mark.parametrize("inside", [True, False])
def test_one_pair_is_equivalent_where_the_interval_is_inside(
    shift: float,
    confidence: float,
    inside: bool,  # noqa: FBT001
) -> None:
    d = shift + SPREAD
    wide = 1 - 2 * (1 - confidence)
    low, high = scipy.stats.ttest_1samp(d, 0).confidence_interval(wide)
    margin = max(-low, high) + (1e-9 if inside else -1e-9)

    found = judged(d, margin, confidence=confidence)

    assert ("equivalent" in found.verdicts[0]) == inside


def test_equivalence_is_corrected_by_holm_even_if_differences_are_not() -> None:
    rows = [SPREAD, 0.2 + SPREAD, 0.1 - SPREAD]

    found = judged(rows, 0.7, correction="none")

    one, two, three = (judged(row, 0.7).p_equivalent[0] for row in rows)
    assert one < three < two
    assert found.p_equivalent == pytest.approx(
        [3 * one, max(3 * one, 2 * three, two), max(3 * one, 2 * three)]
    )


@pytest.mark.parametrize(("family", "factor"), [("metric", 1), ("all", 2)])
def test_equivalence_is_corrected_within_the_family(family: str, factor: int) -> None:
    values = np.stack([[np.zeros(20), SPREAD], [np.zeros(20), 0.3 + SPREAD]])
    settings = Settings("t", family=family)

    found = compare_values(values, settings, margins=np.array([0.7, 0.7]))

    first = judged(SPREAD, 0.7).p_equivalent[0]
    assert found.p_equivalent[0] == pytest.approx(factor * first)


def test_a_metric_without_a_margin_has_no_equivalence() -> None:
    values = np.stack([[np.zeros(20), SPREAD]] * 2)
    settings = Settings("t", family="all")

    found = compare_values(values, settings, margins=np.array([math.nan, 0.7]))

    assert math.isnan(found.p_equivalent[0])
    assert found.p_equivalent[1] == judged(SPREAD, 0.7).p_equivalent[0]
    assert found.verdicts == ("cannot tell", "equivalent")


@pytest.mark.parametrize(
    ("n_moved", "expected"), [(9, "cannot tell"), (10, "equivalent")]
)
def test_few_differences_are_not_called_equivalent(n_moved: int, expected: str) -> None:
    d = np.zeros(40)
    d[:n_moved] = 0.001 * (-1.0) ** np.arange(n_moved)

    found = judged(d, 0.5)

    assert found.verdicts == (expected,)


def with_weights(d: Floats, weights: Floats) -> Pairwise:
    values = np.stack([np.zeros(len(d)), d])[None]
    margins = np.array([0.7])
    return compare_values(values, Settings("t"), weights=weights, margins=margins)


def test_equivalence_knows_weights() -> None:
    weights = np.array([1.0, 1.0, 2.0, 2.0] * 5)

    found = with_weights(SPREAD, weights)

    # The mean stays 0; w d / mean w has squares of (1 + 4) / 2 / 1.5^2 on average.
    error = math.sqrt(20 * 2.5 / 1.5**2 / 19 / 20)
    assert found.p_equivalent == pytest.approx([scipy.stats.t.sf(0.7 / error, 19)])
