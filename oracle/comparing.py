"""Compare the tests of rankine.stats with those of other packages: make oracle.

Values of systems on the same queries are drawn with many ties or none, few queries or
many, and go through both. The exit status is 1 if a number differs.
"""

from __future__ import annotations

import math
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent))
from oracle.differences import run
from rankine import stats
from rankine._stats.paired import Differences, one_sided_p
from rankine._stats.power import needed_for_difference
from rankine._stats.tukey import TwoWay

_ENOUGH = 1e-9
_PERMUTED = 4000
_FAR = 5
"""Standard errors between two numbers that are both drawn."""
_LEAST, _MOST, _ROUGHLY = 0.001, 0.2, 0.002
"""Between which statsmodels' studentised range is right, and about how far."""
_SLOW = 0.2
"""The share of cases in which Tukey's test is compared, which takes long."""
Number = tuple[str, float, float, float]
"""What it is, theirs, ours, and how far they may be apart."""


def values_of(rng: np.random.Generator, m: int = 2, n: int | None = None) -> Any:
    """Draw values of systems: tenths, eighths, or any; some differ more than others."""
    n = int(rng.integers(2, 40)) if n is None else n
    kind = rng.integers(0, 3)
    drawn = rng.random((m, n)) if kind == 0 else rng.integers(0, 9, (m, n)) / (7 + kind)
    drawn[-1] += rng.choice([0, 0, 0.25])
    return drawn


def statsmodels(rng: np.random.Generator) -> Iterator[Number]:
    """Student's t, equivalence, corrections, power, and the model of Tukey's test."""
    import statsmodels.api as sm
    from statsmodels.stats.libqsturng import psturng
    from statsmodels.stats.multitest import multipletests
    from statsmodels.stats.power import TTestPower
    from statsmodels.stats.weightstats import DescrStatsW, ttost_paired

    a, b = values_of(rng)
    d, n = b - a, len(a)
    pair = Differences(d[None, :])
    if np.ptp(d) > _ENOUGH:
        described = DescrStatsW(d)
        t, p, _ = described.ttest_mean(0)
        yield "t", t, stats.t(a, b).statistic, _ENOUGH * abs(t)
        yield "p of t", p, stats.t(a, b).pvalue, _ENOUGH
        level = float(rng.choice([0.01, 0.05, 0.2]))
        bounds = described.tconfint_mean(level)
        for theirs, (ours,) in zip(bounds, pair.interval(1 - level), strict=True):
            yield "interval of t", theirs, ours, _ENOUGH
        margin = float(rng.choice([0.05, 0.1, 0.3]))
        theirs = ttost_paired(b, a, -margin, margin)[0]
        above, below = one_sided_p(pair, -margin)[0], one_sided_p(pair, margin)[1]
        yield "p of equivalence", theirs, max(above[0], below[0]), _ENOUGH
        weights = rng.integers(1, 5, n) / 2
        fitted = sm.WLS(d, np.ones(n), weights).fit(cov_type="HC1", use_t=True)
        if fitted.bse[0] > _ENOUGH:
            found = stats.t(a, b, weights=weights)
            yield "t, weighted", fitted.tvalues[0], found.statistic, 1e-7
            yield "p of t, weighted", fitted.pvalues[0], found.pvalue, 1e-7
    p = rng.choice([rng.random(), 0.01, 0.02, 0.04, 1], int(rng.integers(1, 12)))
    for method, own in (
        ("holm", stats.holm), ("bonferroni", stats.bonferroni), ("fdr_bh", stats.bh),
    ):  # fmt: skip
        for theirs, ours in zip(
            multipletests(p, method=method)[1], own(p), strict=True
        ):
            yield method, theirs, ours, _ENOUGH
    effect = float(rng.choice([0.1, 0.2, 0.5, 1.2]))
    wanted = float(rng.choice([0.5, 0.8, 0.95]))
    n = needed_for_difference(1, effect, wanted, 0.05) or 0
    enough = TTestPower().power(effect, n, 0.05) >= wanted
    fewer = n > 2 and TTestPower().power(effect, n - 1, 0.05) >= wanted  # noqa: PLR2004
    yield "least number for a power", 1, float(enough and not fewer), 0
    if rng.random() < _SLOW:
        yield from _tukey(values_of(rng, int(rng.integers(3, 6)), 8), sm, psturng)


def _tukey(values: Any, sm: Any, psturng: Any) -> Iterator[Number]:
    m, n = values.shape
    systems = np.repeat(np.eye(m), n, axis=0)
    queries = np.tile(np.eye(n), (m, 1))[:, 1:]
    fitted = sm.OLS(values.ravel(), np.hstack([systems, queries])).fit()
    model = TwoWay(values)
    yield "residual variance", fitted.mse_resid, model.residual, _ENOUGH
    yield "degrees of freedom", fitted.df_resid, model.df, 0
    sizes = np.abs(model.differences)
    sizes = sizes[np.triu_indices(m, 1)] / math.sqrt(fitted.mse_resid / n)
    theirs = float(psturng(sizes.max(), m, model.df))
    if _LEAST < theirs < _MOST:
        yield "p of Tukey's test", theirs, model.p().min(), _ROUGHLY


def scipy(rng: np.random.Generator) -> Iterator[Number]:
    """All flips of few queries, Student's t, signed ranks, signs, and corrections."""
    from scipy.stats import (
        binomtest,
        false_discovery_control,
        permutation_test,
        ttest_rel,
        wilcoxon,
    )

    a, b = values_of(rng, n=int(rng.integers(2, 11)))
    exact = permutation_test(
        (a, b), lambda x, y, axis: (y - x).mean(axis=axis), vectorized=True,
        permutation_type="samples", n_resamples=np.inf,
    )  # fmt: skip
    found = stats.randomization(a, b)
    yield "randomization", exact.statistic, found.statistic, _ENOUGH
    # It doubles the smaller tail, which is the same as both tails of flips.
    yield "p of randomization", exact.pvalue, found.pvalue, _ENOUGH
    a, b = values_of(rng)
    d = np.round(b - a, 12)
    if np.ptp(d) > 0:
        yield "p of t", ttest_rel(b, a).pvalue, stats.t(a, b).pvalue, _ENOUGH
    if d.any():
        theirs = wilcoxon(d, zero_method="pratt").pvalue
        yield "p of wilcoxon", theirs, stats.wilcoxon(a, b).pvalue, 1e-7
        wins = int((d > 0).sum())
        theirs = binomtest(wins, int(np.count_nonzero(d))).pvalue
        yield "p of sign", theirs, stats.sign(a, b).pvalue, 1e-7
    p = rng.random(int(rng.integers(1, 12)))
    for theirs, ours in zip(false_discovery_control(p), stats.bh(p), strict=True):
        yield "bh", theirs, ours, _ENOUGH


def ranx(rng: np.random.Generator) -> Iterator[Number]:
    """Random flips; of eighths and 16 queries, for which its sums are not rounded."""
    from ranx.statistical_tests import fisher_randomization_test

    a, b = rng.integers(0, 9, (2, 16)) / 8
    seed = int(rng.integers(1 << 30))
    theirs, _ = fisher_randomization_test(a, b, _PERMUTED, 0.05, seed)
    ours = stats.randomization(a, b).pvalue
    error = math.sqrt(max(ours * (1 - ours), 1 / _PERMUTED) / _PERMUTED)
    yield "p of randomization", theirs, ours, _FAR * error


TOOLS = {"statsmodels": statsmodels, "scipy": scipy, "ranx": ranx}


def compare(name: str, n_cases: int, seed: int) -> tuple[Counter[str], list[str]]:
    """Compare a package with rankine, and tell what differs."""
    compared: Counter[str] = Counter()
    wrong: list[str] = []
    for case in range(n_cases):
        rng = np.random.default_rng((seed, case))
        for what, theirs, ours, apart in TOOLS[name](rng):
            compared[what] += 1
            if not abs(theirs - ours) <= apart:
                wrong.append(f"{name} {what}: {theirs}, rankine {ours}; case {case}")
    return compared, wrong


if __name__ == "__main__":
    sys.exit(run(__doc__, TOOLS, compare, "values", "kinds"))
