"""Resamples, studentised as the definition says, one by one."""

import math
import os
import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankine._base.arrays import Floats
from rankine._base.limits import limited
from rankine._stats.paired import Differences, bootstrap_p
from rankine._stats.resamples import resampled_t, resamples, summable

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


SIZES = st.floats(-1e50, 1e50).map(lambda size: size if abs(size) > 1e-50 else 0.0)


@given(
    st.lists(SIZES, min_size=1, max_size=9),
    st.integers(1, 100_000),
    st.randoms(use_true_random=False),
)
def test_sums_of_a_resample_are_exact(values: list[float], n: int, rng: object) -> None:
    rounded = summable(np.array(values)[:, None], n)[:, 0]

    most = max(map(abs, values))
    assert np.abs(rounded - values).max() <= 2.0**-51 * n * most
    # The largest sum that there can be: n times the largest value.
    counts = [0] * len(values)
    counts[int(np.argmax(np.abs(rounded)))] = n
    exact = sum(Fraction(own) * k for own, k in zip(rounded, counts, strict=True))
    assert Fraction(float(np.dot(counts, rounded))) == exact
    drawn = np.random.default_rng(rng.getrandbits(30)).multinomial(  # type: ignore[attr-defined]
        n, [1 / len(values)] * len(values)
    )
    exact = sum(Fraction(own) * int(k) for own, k in zip(rounded, drawn, strict=True))
    for order in (slice(None), slice(None, None, -1)):
        total = 0.0
        for own, k in zip(rounded[order], drawn[order], strict=True):
            total += own * k
        assert Fraction(total) == exact


@pytest.mark.parametrize("most", [5e-324, 1e-322])
def test_values_next_to_nothing_are_kept(most: float) -> None:
    values = np.array([[0.0], [most], [-most]])

    assert summable(values, 7000).tolist() == values.tolist()


def test_how_many_are_multiplied_at_once_changes_no_bit() -> None:
    rng = np.random.default_rng(5)
    pair = Differences(rng.normal(0.1, 1, (6, 50)), rng.random(50))

    whole = bootstrap_p(pair, 300, 0, 0.95)
    with limited(multiplied_cells=70):
        parts = bootstrap_p(pair, 300, 0, 0.95)

    assert whole[0].tolist() == parts[0].tolist()
    assert whole[1] == parts[1]


PRINT = """
import numpy as np
from rankine._stats.intervals import Sample, intervals
from rankine._stats.pairwise import Settings, compare_values

values = np.random.default_rng(0).normal(0, 1, (2, 6, 2001))
found = compare_values(values, Settings("bootstrap", draws=300))
bounds = intervals([Sample(row) for row in values[0]], n_resamples=300)
print(*map(float.hex, np.concatenate([found.p, found.low, found.high, *bounds])))
"""


@pytest.mark.slow
def test_the_number_of_threads_changes_no_bit() -> None:
    printed = [
        subprocess.run(
            [sys.executable, "-c", PRINT],
            env=os.environ | {"OPENBLAS_NUM_THREADS": n, "MKL_NUM_THREADS": n},
            capture_output=True, text=True, check=True,
        ).stdout
        for n in ("1", "2", "4")
    ]  # fmt: skip

    assert len(printed[0].split()) == 3 * 30 + 2 * 6
    assert printed[0] == printed[1] == printed[2]
