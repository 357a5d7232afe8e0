"""Compare A/B tests of users with tea-tasting: make oracle.

Both test random tables of users: means, ratios, both with CUPED, and the sample ratio.
The exit status is 1 if a number differs.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

sys.path.insert(0, str(Path(__file__).parent.parent))
import rankine as rk

_ENOUGH = 1e-9
_SHOWN = 5
NAMES = {
    "control": "control_value",
    "treatment": "value",
    "effect_size": "difference",
    "effect_size_ci_lower": "low",
    "effect_size_ci_upper": "high",
    "rel_effect_size": "lift",
    "rel_effect_size_ci_lower": "lift_low",
    "rel_effect_size_ci_upper": "lift_high",
    "pvalue": "p",
}
"""What tea-tasting calls a number, and what we do."""


def draw(rng: np.random.Generator) -> pl.DataFrame:
    """Draw users, some of whom are alike, with values that may be skewed."""
    n = int(rng.integers(8, 400))
    variant = (rng.random(n) < rng.uniform(0.2, 0.8)).astype(np.int64)
    variant[:4] = 0, 0, 1, 1
    before = rng.gamma(rng.uniform(0.3, 3), 5, n) + 0.01
    views, views_before = 1 + rng.poisson(3, n), 1 + rng.poisson(3, n)
    liking = rng.beta(1, 4, n)
    return pl.DataFrame(
        {
            "user": np.arange(n),
            "variant": variant,
            "before": before,
            "y": rng.uniform(0, 2) * before + rng.gamma(1, 5, n),
            "views": views,
            "clicks": 1 + rng.binomial(views, liking),
            "views_before": views_before,
            "clicks_before": rng.binomial(views_before, liking),
        }
    )


def theirs(users: pl.DataFrame, ratio: float, confidence: float) -> dict[str, Any]:
    """Return the results of tea-tasting by metric."""
    import tea_tasting as tt

    experiment = tt.Experiment(
        mean=tt.Mean("y", confidence_level=confidence),
        ratio=tt.RatioOfMeans("clicks", "views", confidence_level=confidence),
        mean_cuped=tt.Mean("y", "before", confidence_level=confidence),
        ratio_cuped=tt.RatioOfMeans(
            "clicks",
            "views",
            "clicks_before",
            "views_before",
            confidence_level=confidence,
        ),
        sizes=tt.SampleRatio(ratio, method="norm", correction=False),
    )
    return dict(experiment.analyze(users))


def ours(users: pl.DataFrame, ratio: float, confidence: float) -> Any:
    """Return our test of the same."""
    rate = ("clicks", "views")
    return rk.online.ab_test(
        users,
        unit="user",
        variant="variant",
        control=0,
        metrics={"mean": "y", "ratio": rate, "mean_cuped": "y", "ratio_cuped": rate},
        covariates={
            "mean_cuped": "before",
            "ratio_cuped": ("clicks_before", "views_before"),
        },
        ratio={0: 1, 1: ratio},
        correction="none",
        confidence=confidence,
    )


def differences(
    users: pl.DataFrame, ratio: float, confidence: float
) -> tuple[int, list[str]]:
    """Return how many numbers were compared, and those that differ."""
    found, test = theirs(users, ratio, confidence), ours(users, ratio, confidence)
    pairs = [("sizes", "pvalue", found["sizes"].pvalue, test.srm.p)]
    for row in test.details.iter_rows(named=True):
        their = found[row["metric"]]
        pairs += [
            (row["metric"], name, getattr(their, name), row[own])
            for name, own in NAMES.items()
        ]
    wrong = [
        f"{metric} {name}: {their!r} and {own!r}"
        for metric, name, their, own in pairs
        if not math.isclose(their, own, rel_tol=_ENOUGH, abs_tol=_ENOUGH)
    ]
    return len(pairs), wrong


def main(arguments: list[str] | None = None) -> int:
    """Compare random cases, print what differs, and return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args(arguments)
    rng = np.random.default_rng(asked.seed)
    counts: Counter[str] = Counter()
    for _ in range(asked.cases):
        users = draw(rng)
        ratio, confidence = (
            float(rng.choice(own)) for own in ([1, 0.5, 3], [0.95, 0.8])
        )
        n, wrong = differences(users, ratio, confidence)
        counts["equal"] += n - len(wrong)
        for line in wrong:
            counts["mismatch"] += 1
            if counts["mismatch"] <= _SHOWN:
                print(f"{users.height} users: tea-tasting and rankine have {line}")
    print(f"tea-tasting: {counts['equal']:,} equal, {counts['mismatch']:,} mismatch")
    return int(counts["mismatch"] > 0)


if __name__ == "__main__":
    sys.exit(main())
