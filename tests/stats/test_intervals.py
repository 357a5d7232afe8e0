"""Intervals: resamples are drawn once for all samples."""

from __future__ import annotations

import math

import numpy as np
import pytest

import rankine as rk
from rankine._base.limits import limited
from rankine._stats.intervals import Interval, Sample, intervals
from rankine.errors import ParameterError


def drawn_by_hand(values: np.ndarray, n_resamples: int, seed: int) -> np.ndarray:
    """Draw values with replacement and average them, one resample after the other."""
    rng = np.random.default_rng(seed)
    known = np.sort(values[~np.isnan(values)])
    return np.array(
        [
            math.fsum(known[rng.integers(0, len(known), len(known))]) / len(known)
            for _ in range(n_resamples)
        ]
    )


@pytest.mark.parametrize("cells", [1, 64, 1 << 17])
def test_bootstrap_is_the_spread_of_resampled_means(cells: int) -> None:
    values = np.random.default_rng(5).random(31)
    values[3] = np.nan
    means = drawn_by_hand(values, 200, seed=7)

    with limited(drawn_cells=cells):
        (plain, total) = intervals(
            [Sample(values), Sample(values, "sum")], n_resamples=200, seed=7
        )

    expected = np.quantile(means, [0.025, 0.975])
    np.testing.assert_allclose(plain, expected, rtol=1e-12)
    np.testing.assert_allclose(total, 30 * expected, rtol=1e-12)


def test_bootstrap_of_a_ratio_draws_both_parts_together() -> None:
    up, down = np.array([1.0, 0.0, 2.0]), np.array([2.0, 4.0, 2.0])
    order = np.lexsort((up, down))
    rng = np.random.default_rng(0)
    drawn = rng.integers(0, 3, (500, 3))
    ratios = up[order][drawn].sum(axis=1) / down[order][drawn].sum(axis=1)

    (bounds,) = intervals([Sample(up / down, parts=(up, down))], n_resamples=500)

    expected = np.quantile(ratios, [0.025, 0.975])
    np.testing.assert_allclose(bounds, expected, rtol=1e-12)


def test_geometric_means_are_resampled_as_logarithms() -> None:
    values = np.array([0.25, 0.04, 0.5, 0.0])
    logs = np.log(np.maximum(values, 1e-5))  # trec_eval's floor
    means = np.exp(drawn_by_hand(logs, 300, seed=1))

    (bounds,) = intervals([Sample(values, "geometric")], n_resamples=300, seed=1)

    np.testing.assert_allclose(bounds, np.quantile(means, [0.025, 0.975]), rtol=1e-12)


def test_an_interval_does_not_depend_on_the_other_samples() -> None:
    rng = np.random.default_rng(2)
    samples = [Sample(rng.random(n)) for n in (400, 400, 17, 400, 1)]

    together = intervals(samples)

    alone = [intervals([sample])[0] for sample in samples]
    assert together[:4] == alone[:4]
    assert all(map(math.isnan, together[4]))


@pytest.mark.parametrize("odd", [math.inf, -math.inf, 1e308])
def test_a_value_without_bounds_leaves_the_others_theirs(odd: float) -> None:
    # 1e308 has a sum that no float can hold.
    values = np.random.default_rng(3).random(40)
    endless = np.append(values[1:], odd)

    plain, none = intervals([Sample(values), Sample(endless)])

    assert plain == intervals([Sample(values)])[0]
    assert all(map(math.isnan, none))


def test_an_evaluation_draws_once_for_all_metrics(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    generators = []

    def counted(seed: int) -> np.random.Generator:
        generators.append(seed)
        return np.random.Generator(np.random.PCG64(seed))

    monkeypatch.setattr(np.random, "default_rng", counted)
    qrels = {f"q{number}": {"a": 1, "b": number % 2} for number in range(9)}
    run = {f"q{number}": ["x", "a", "b"][number % 3 :] for number in range(9)}
    metrics = ["AP", "RR", "P@2"]
    ev = rk.evaluate(qrels, run, metrics)

    bounds = [ev.interval(metric) for metric in metrics]

    assert generators == [0]
    assert bounds == [
        rk.evaluate(qrels, run, metric).interval(metric) for metric in metrics
    ]


@pytest.mark.parametrize(
    "options", [{"confidence": [0.9]}, {"seed": [1]}, {"n_resamples": 2000.5}]
)
def test_options_are_checked_before_anything_is_kept(
    options: dict[str, object],
) -> None:
    ev = rk.evaluate({"q": {"a": 1}, "r": {"a": 1}}, {"q": ["a"], "r": ["b"]}, "AP")
    assert isinstance(ev.interval("AP"), Interval)

    with pytest.raises(ParameterError):
        ev.interval("AP", **options)  # type: ignore[arg-type]


def test_values_that_are_not_finite_have_no_interval() -> None:
    # A gain of 1e308 twice is beyond the largest number.
    qrels = {"q": {"a": 1e308, "b": 1e308}, "r": {"a": 1}}
    ev = rk.evaluate(qrels, {"q": ["a", "b"], "r": ["a"]}, "CG@2")

    assert math.isinf(ev["CG@2"])
    assert all(map(math.isnan, ev.interval("CG@2")))
