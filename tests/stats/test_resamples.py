"""Resamples, studentised as the definition says, one by one."""

import math

import numpy as np
import pytest

from rankine._base.arrays import Floats
from rankine._base.limits import limited
from rankine._stats.paired import Differences, bootstrap_p
from rankine._stats.resamples import resampled_t, resamples

D = np.array([[0.5, -0.1, 0.3, 0.0, 0.2, 0.4], [0.1, 0.2, -0.3, 0.1, np.nan, 0.3]])


def t_by_hand(d: Floats, w: Floats, counts: Floats) -> float:
    """Take a resample as a list of queries, and t of its weighted mean."""
    drawn = np.repeat(np.arange(len(d)), counts.astype(int))
    d, w = d[drawn], w[drawn]
    mean = (w * d).sum() / w.sum()
    base = w * (d - mean) / w.mean()
    error = base.std(ddof=1) / math.sqrt(len(d))
    return float(mean / error) if error > 1e-12 else math.copysign(math.inf, mean)


@pytest.mark.parametrize("weights", [None, [1.0, 2.0, 0.5, 1.0, 3.0, 1.0]])
def test_t_of_resamples(weights: list[float] | None) -> None:
    pair = Differences(D, None if weights is None else np.array(weights))
    w = np.ones(6) if weights is None else np.array(weights)

    for number, drawn in resampled_t(pair.centred, pair.share, pair.paired, 40, 3):
        kept = pair.paired[number]
        shifted = D[number][kept] - pair.mean[number]
        lines = [line for _, part in resamples(kept.sum(), 40, 3) for line in part]
        expected = [t_by_hand(shifted, w[kept], line) for line in lines]
        assert drawn.tolist() == pytest.approx(expected)


def test_every_resample_has_as_many_queries() -> None:
    with limited(drawn_cells=20):
        parts = list(resamples(7, 30, 1))

    assert [part.start for part, _ in parts] == list(range(0, 30, 2))
    counts = np.concatenate([counts for _, counts in parts])
    assert counts.shape == (30, 7)
    assert (counts.sum(axis=1) == 7).all()


def test_an_interval_turns_the_resamples_round() -> None:
    # The studentised interval: mean - t of the upper tail x error, and so on.
    pair = Differences(D[:1])
    ((_, drawn),) = resampled_t(pair.centred, pair.share, pair.paired, 400, 0)

    p, (interval,) = bootstrap_p(pair, 400, 0, 0.9)

    ordered = np.sort(drawn)
    low, high = ordered[19], ordered[379]  # the 5 % and the 95 % of 400
    mean, error = float(pair.mean[0]), float(pair.error[0])
    assert interval == pytest.approx((mean - high * error, mean - low * error))
    extreme = sum(abs(t) >= float(pair.t[0]) for t in drawn)
    assert p[0] == (1 + extreme) / 401


def test_one_query_has_no_interval() -> None:
    p, (interval,) = bootstrap_p(Differences(np.array([[0.5]])), 10, 0, 0.95)

    assert math.isnan(p[0])
    assert all(map(math.isnan, interval))
