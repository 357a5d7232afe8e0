"""Losses of batches are those of all rows at once, bit for bit."""

from __future__ import annotations

import math
import pickle
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import rankine as rk
from rankine._stats.exact import exact_sum, root, to_float
from rankine.errors import DataError, ParameterError

EVERY: dict[str, Any] = {
    "cross_entropy": rk.cross_entropy,
    "normalized_entropy": rk.normalized_entropy,
    "normalized_cross_entropy": rk.normalized_cross_entropy,
    "brier": rk.brier,
    "expected_calibration_error": rk.expected_calibration_error,
    "rmse": rk.rmse,
    "mae": rk.mae,
}


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("name", list(EVERY))
def test_rows_may_be_cut_anywhere(name: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = 300
    p = rng.random(n) ** 3
    p[:3] = [0.0, 1.0, 0.5]
    y = (rng.random(n) < p).astype(int)
    wanted = EVERY[name](y, p)
    order = rng.permutation(n)
    cuts = np.sort(rng.integers(0, n, 4))
    parts = np.split(order, cuts)
    made = [rk.Accumulator(EVERY[name]).update(y[part], p[part]) for part in parts]
    first, *others = (pickle.loads(pickle.dumps(one)) for one in made)  # noqa: S301
    for one in others:
        first.merge(one)
    found = first.result()
    assert float(found) == float(wanted)
    assert found.n == wanted.n == n
    assert getattr(found, "clipped", 0) == getattr(wanted, "clipped", 0)
    if isinstance(wanted, rk.CalibrationError):
        assert found.bins.equals(wanted.bins)
        assert found.largest == wanted.largest


def test_several_at_once_and_their_options() -> None:
    mixed: Any = ["cross_entropy", rk.brier, "normalized_entropy"]
    total: rk.Accumulator[Any] = rk.Accumulator(mixed, eps=0.1)
    total.update([1, 0], [0.0, 0.4]).update(([1], [0.7]))
    y, p = [1, 0, 1], [0.0, 0.4, 0.7]
    assert total.result() == {
        "cross_entropy": rk.cross_entropy(y, p, eps=0.1),
        "brier": rk.brier(y, p),
        "normalized_entropy": rk.normalized_entropy(y, p, eps=0.1),
    }
    assert total.result()["cross_entropy"].clipped == 1
    assert repr(total) == "Accumulator(3 rows in 2 batches)"


def test_several_classes_come_in_batches_too() -> None:
    y, p = [0, 2, 1], [[0.5, 0.3, 0.2], [0.1, 0.1, 0.8], [0.2, 0.7, 0.1]]
    total = rk.Accumulator("cross_entropy").update(y[:1], p[:1]).update(y[1:], p[1:])
    assert total.result() == rk.cross_entropy(y, p)


@pytest.mark.parametrize(
    ("metrics", "options", "message"),
    [
        (["cross_entropy", "nDCG@10"], {}, "cross_entropy, nDCG@10 need different"),
        (["cross_entropy", "ctr"], {}, "need different kinds of data"),
        (
            "cross_entropy",
            {"epz": 0.1},
            (r"no option 'epz'; its options are eps.*did you"),
        ),
        ("brier", {"eps": 0.1}, "brier has no option 'eps'; its options are none"),
        ("cross_entropy", {"eps": 0.7}, "eps"),
        ("expected_calibration_error", {"by": "count"}, "use by='width'"),
        ("nDCG@10", {"trian": 1}, r"evaluate has no option 'trian'"),
    ],
)
def test_what_cannot_be_is_said_at_once(
    metrics: Any, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(ParameterError, match=message):
        rk.Accumulator(metrics, **options)


def test_nothing_has_no_loss() -> None:
    total = rk.Accumulator("mae")
    total.update([], [])
    with pytest.raises(DataError, match="there are no rows"):
        total.result()
    with pytest.raises(ParameterError, match="two columns"):
        total.update([1])
    with pytest.raises(
        ParameterError, match=("one or two arguments, such as qrels and run, got 3")
    ):
        total.update([1], [2], [3])
    with pytest.raises(ParameterError, match="differ in metrics or options"):
        total.merge(rk.Accumulator("rmse"))


@pytest.mark.parametrize("seed", range(6))
def test_sums_are_those_of_fractions(seed: int) -> None:
    rng = np.random.default_rng(seed)
    for _ in range(30):
        n = int(rng.integers(0, 100))
        size = 300 if seed % 2 else 5
        values = rng.normal(size=n) * 10.0 ** rng.integers(-size, size, n)
        often = rng.integers(0, 1000, n)
        pairs = list(zip(values.tolist(), often.tolist(), strict=True))
        assert exact_sum(values) == sum(map(Fraction, values.tolist()))
        assert exact_sum(values, often) == sum(
            Fraction(v) * times for v, times in pairs
        )


def test_sums_at_the_ends_of_floats() -> None:
    assert exact_sum(np.array([5e-324] * 3)) == 3 * Fraction(5e-324)
    huge = exact_sum(np.array([1.7e308, 1.7e308, 1.0]))
    assert huge == 2 * Fraction(1.7e308) + 1
    assert to_float(huge) == math.inf
    assert to_float(-huge) == -math.inf
    assert exact_sum(np.array([math.inf, 1.0])) == math.inf
    assert math.isnan(to_float(exact_sum(np.array([math.inf, -math.inf]))))
    assert exact_sum(np.array([math.inf, 2.0]), np.array([0, 3])) == 6
    many = np.full(700_000, 0.1)
    assert exact_sum(many) == 700_000 * Fraction(0.1)


@pytest.mark.parametrize("scale", [1e-300, 1e-160, 1.0, 1e160, 1e300])
def test_roots_of_squares_that_no_float_holds(scale: float) -> None:
    assert math.isclose(
        rk.rmse([3 * scale, 0], [0, 4 * scale]), math.sqrt(12.5) * scale
    )
    assert root(Fraction(2) ** 4000) == math.inf
    assert root(math.inf) == math.inf
