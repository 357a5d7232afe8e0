"""Probabilities and ratings against what happened: by hand, and by laws."""

from __future__ import annotations

import copy
import math
import pickle
from typing import Any

import numpy as np
import polars as pl
import pytest

import rankine as rk

Y, P = [1, 0, 1, 0], [0.9, 0.2, 0.4, 0.5]
CE = -(math.log(0.9) + math.log(0.8) + math.log(0.4) + math.log(0.5)) / 4


def test_by_hand() -> None:
    assert rk.cross_entropy(Y, P) == pytest.approx(CE)
    assert rk.normalized_entropy(Y, P) == pytest.approx(CE / math.log(2))
    assert rk.normalized_cross_entropy(Y, P) == pytest.approx(1 - CE / math.log(2))
    base = -(math.log(0.1) + math.log(0.9)) / 2
    assert rk.normalized_entropy(Y, P, baseline=0.1) == pytest.approx(CE / base)
    assert rk.brier(Y, P) == pytest.approx((0.1**2 + 0.2**2 + 0.6**2 + 0.5**2) / 4)
    assert rk.rmse([1, 2, 5], [2, 2, 3]) == pytest.approx(math.sqrt((1 + 0 + 4) / 3))
    assert rk.mae([1, 2, 5], [2, 2, 3]) == pytest.approx((1 + 0 + 2) / 3)


def test_several_classes_by_hand() -> None:
    p = [[0.7, 0.2, 0.1], [0.1, 0.3, 0.6]]
    assert rk.cross_entropy([0, 2], p) == pytest.approx(
        -(math.log(0.7) + math.log(0.6)) / 2
    )
    squares = 0.3**2 + 0.2**2 + 0.1**2 + 0.1**2 + 0.3**2 + 0.4**2
    assert rk.brier([0, 2], p) == pytest.approx(squares / 2)


def test_calibration_by_hand() -> None:
    y, p = [1, 0, 1, 1, 0], [0.95, 0.05, 0.75, 0.35, 0.35]
    found = rk.expected_calibration_error(y, p, bins=2)
    low = abs((0.05 + 0.35 + 0.35) / 3 - 1 / 3)
    high = abs((0.95 + 0.75) / 2 - 2 / 2)
    assert found == pytest.approx(3 / 5 * low + 2 / 5 * high)
    assert found.largest == pytest.approx(max(low, high))
    assert found.bins["n"].to_list() == [3, 2]
    assert found.bins["observed"].to_list() == pytest.approx([1 / 3, 1])
    even = rk.expected_calibration_error(y, p, bins=2, by="count")
    assert sum(even.bins["n"].to_list()) == 5
    assert float(rk.expected_calibration_error([1, 0], [1.0, 0.0])) == 0
    assert rk.expected_calibration_error([1, 1], [0.5, 0.5], by="count") == 0.5


def test_laws() -> None:
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 500)
    rate = float(y.mean())
    assert rk.normalized_entropy(y, np.full(500, rate)) == pytest.approx(1)
    assert rk.normalized_cross_entropy(y, np.full(500, rate)) == pytest.approx(0)
    assert rk.normalized_cross_entropy(y, 1 - y * 0.9 - 0.05) < 0
    both = (
        rk.normalized_entropy(y, rng.random(500)),
        rk.cross_entropy(y, y.astype(float)),
    )
    assert both[0] > 0
    assert float(both[1]) == 0
    order = rng.permutation(500)
    p = rng.random(500)
    assert rk.cross_entropy(y, p) == rk.cross_entropy(y[order], p[order])


def test_certain_and_wrong_is_clipped_and_counted() -> None:
    found = rk.cross_entropy([1, 0, 1], [0.0, 1.0, 0.5], eps=1e-6)
    assert found.clipped == 2
    assert found.n == 3
    assert found == pytest.approx(-(2 * math.log(1e-6) + math.log(0.5)) / 3)


def test_one_class_only_has_no_baseline() -> None:
    assert math.isnan(rk.normalized_entropy([1, 1], [0.5, 0.9]))
    assert rk.normalized_entropy([1, 1], [0.5, 0.9], baseline=0.5) > 0


def test_columns_of_frames() -> None:
    frame = pl.DataFrame({"y": Y, "p": P})
    assert rk.cross_entropy(frame["y"], frame["p"]) == pytest.approx(CE)
    assert rk.cross_entropy([True, False, True, False], P) == pytest.approx(CE)
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame({"y": Y, "p": P})
    assert rk.cross_entropy(table["y"], table["p"]) == pytest.approx(CE)


@pytest.mark.parametrize(
    ("y", "p", "message"),
    [
        ([1, 0], [0.5], "y has 2 rows and p has 1"),
        ([1, 2], [0.5, 0.5], "y must be 0 or 1, got 2 at row 1"),
        ([1, 0], [0.5, 1.5], "p must be between 0 and 1, got 1.5"),
        ([1, 0], [0.5, math.nan], "has 1 non-finite value, the first at row 1"),
        ([1, None], [0.5, 0.5], "has 1 non-finite value"),
        (1, 0.5, "must be a column of numbers"),
        (["a", "b"], [0.5, 0.5], "y must be a column of numbers"),
        ([], [], "there are no rows"),
        ([0, 1], [[0.5, 0.4], [0.5, 0.5]], "row 0 add up to 0.9"),
        ([0, 2], [[0.5, 0.5], [0.5, 0.5]], "class numbers, 0 to 1"),
    ],
)
def test_bad_columns_are_refused(y: Any, p: Any, message: str) -> None:
    with pytest.raises(rk.errors.DataError, match=message):
        rk.cross_entropy(y, p)


def test_results_can_be_copied() -> None:
    found = pickle.loads(pickle.dumps(rk.cross_entropy([1, 0], [0.0, 0.5])))  # noqa: S301
    assert (found.n, found.clipped) == (2, 1)
    again = copy.deepcopy(rk.expected_calibration_error([1, 0], [0.9, 0.4]))
    assert again.bins.height == 2


def test_matrices_and_columns_of_other_kinds() -> None:
    p = pl.DataFrame({"a": [0.7, 0.4], "b": [0.3, 0.6]})
    wanted = -(math.log(0.7) + math.log(0.6)) / 2
    assert rk.cross_entropy([0, 1], p) == pytest.approx(wanted)
    arrow = pytest.importorskip("pyarrow")
    found = rk.cross_entropy(arrow.array([1, 0]), arrow.array([0.7, 0.4]))
    assert found == pytest.approx(wanted)
    assert rk.normalized_entropy([0, 0], [0.1, 0.1], baseline=1e-17) > 1e10


@pytest.mark.parametrize(
    ("y", "predicted", "squared", "explained"),
    [
        ([1, 3, 5], [2, 3, 4], 1 - 2 / 8, 1 - 2 / 8),
        ([1, 3, 5], [3, 5, 7], 1 - 12 / 8, 1.0),
        ([1, 3, 5], [3, 3, 3], 0.0, 0.0),
        ([1, 3, 5], [5, 3, 1], 1 - 32 / 8, 1 - 32 / 8),
        # Errors of 1, 2 and 0 have a mean of 1 and squares of 5: 5 - 9 / 3 = 2.
        ([1, 3, 5], [2, 5, 5], 1 - 5 / 8, 1 - 2 / 8),
        ([2, 2], [1, 3], math.nan, math.nan),
        ([2], [2], math.nan, math.nan),
    ],
)
def test_the_variance_that_is_told(
    y: list[int], predicted: list[int], squared: float, explained: float
) -> None:
    assert rk.r_squared(y, predicted) == pytest.approx(squared, nan_ok=True)
    assert rk.explained_variance(y, predicted) == pytest.approx(explained, nan_ok=True)


@pytest.mark.parametrize("name", ["r_squared", "explained_variance"])
@pytest.mark.parametrize("shift", [0.0, 1e9])
def test_a_large_mean_costs_no_digits(name: str, shift: float) -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(1, 6, 50).astype(float)
    predicted = y + rng.integers(-1, 2, 50)
    function = getattr(rk, name)

    assert function(y + shift, predicted + shift) == function(y, predicted)


@pytest.mark.parametrize("name", ["r_squared", "explained_variance"])
def test_scikit_learn_has_the_same_variance(name: str) -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    rng = np.random.default_rng(1)
    y, predicted = rng.random(40), rng.random(40)
    theirs = {"r_squared": "r2_score", "explained_variance": "explained_variance_score"}
    peer = getattr(metrics, theirs[name])
    assert getattr(rk, name)(y, predicted) == pytest.approx(peer(y, predicted))
