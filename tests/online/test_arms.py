"""Users in blocks, arms and segments, against a plain twin."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rankine as rk
from rankine._online import codes, moments
from rankine._online.moments import Moments
from rankine.errors import DataError


def drawn(n: int, variants: int, seed: int) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    views = 1 + rng.poisson(3, n)
    variant = rng.integers(0, variants, n)
    variant[: 2 * variants] = np.repeat(np.arange(variants), 2)
    return pl.DataFrame(
        {
            "id": rng.permutation(n),
            "arm": variant,
            "country": rng.choice(["at", "fr"], n),
            "spent": rng.gamma(1, 10, n),
            "before": rng.gamma(1, 10, n),
            "clicks": rng.binomial(views, 0.4),
            "views": views,
        }
    )


def compared(frame: pl.DataFrame, **options: Any) -> Any:
    metrics = {"mean": "spent", "less": "spent", "ratio": ("clicks", "views")}
    return rk.online.ab_test(
        frame, unit="id", variant="arm", control=0, metrics=metrics,
        covariates={"less": "before"}, correction="none", **options,
    )  # fmt: skip


def twin(y: Any, x: Any) -> tuple[float, float]:
    """Return a ratio, and its variance from the influences of users."""
    value = y.sum() / x.sum()
    return value, ((y - value * x) / x.mean()).var(ddof=1) / len(y)


@settings(max_examples=40, deadline=None)
@given(
    variants=st.sampled_from([2, 3, 11]),
    block=st.sampled_from([1, 7, 64, 4096]),
    few=st.sampled_from([0, 8]),
    as_text=st.booleans(),
    seed=st.integers(0, 99),
)
def test_every_arm_is_as_its_own_users_say(
    variants: int, block: int, few: int, *, as_text: bool, seed: int
) -> None:
    frame = drawn(150, variants, seed)
    asked = frame.with_columns(pl.col("arm").cast(pl.String)) if as_text else frame
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(moments, "_BLOCK", block)
        patch.setattr(codes, "_FREQUENT", few)
        test = compared(asked)
    for row in test.details.iter_rows(named=True):
        if row["metric"] == "less":
            continue
        y, x = ("spent", None) if row["metric"] == "mean" else ("clicks", "views")
        own = [
            (part[y].to_numpy(), np.ones(part.height) if x is None else part[x])
            for part in (
                frame.filter(pl.col("arm") == int(name)) for name in (0, row["variant"])
            )
        ]
        (a, var_a), (b, var_b) = (twin(top, np.asarray(below)) for top, below in own)

        assert row["difference"] == pytest.approx(b - a, rel=1e-10, abs=1e-12)
        assert row["error"] == pytest.approx(math.sqrt(var_a + var_b), rel=1e-10)
    counts = frame["arm"].value_counts().rows()
    assert test.srm.counts == {str(name): n for name, n in counts}


def test_blocks_change_nothing_but_the_last_digits(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    frame = drawn(400, 3, 0).with_columns(
        spent=pl.when(pl.col("id") % 9 == 0).then(None).otherwise("spent")
    )
    whole = compared(frame, segment="country")
    monkeypatch.setattr(moments, "_BLOCK", 32)
    parts = compared(frame, segment="country")

    for column in ("control_value", "difference", "error", "p", "lift_low", "n"):
        assert parts.details[column].to_list() == pytest.approx(
            whole.details[column].to_list(), rel=1e-9
        ), column
    assert parts.health is not None
    assert whole.health is not None
    assert parts.health["theta"].to_list() == pytest.approx(
        whole.health["theta"].to_list(), rel=1e-9
    )


def test_moments_of_many_users_are_those_of_textbooks() -> None:
    # More than the pieces in which products are added up, and far from 0.
    columns = list(np.random.default_rng(0).gamma(1, 10, (4, 10_001)) + 1e6)
    whole = Moments.of(columns, 10_001)
    parts = [
        Moments.of([column[part] for column in columns], len(columns[0][part]))
        for part in (slice(0, 1), slice(1, 1), slice(1, 9000), slice(9000, None))
    ]
    expected = np.cov(columns) * 10_000

    np.testing.assert_allclose(whole.scatter, expected, rtol=1e-10)
    np.testing.assert_allclose(Moments.merged(parts).scatter, expected, rtol=1e-9)
    np.testing.assert_allclose(Moments.merged(parts).mean, whole.mean, rtol=1e-14)
    assert Moments.merged(parts).n == 10_001


@pytest.mark.parametrize("step", [1, 1000])  # ids close together, and far apart
@pytest.mark.parametrize("sign", [1, -1])
def test_a_user_who_is_there_twice_is_refused(step: int, sign: int) -> None:
    ids = sign * step * np.array([5, 3, 4, 1, 2, 3])
    frame = pl.DataFrame({"id": ids, "arm": list("AABBAB"), "y": range(6)})
    options: Any = {"variant": "arm", "control": "A", "metrics": {"y": "y"}}

    with pytest.raises(DataError, match=rf"user {sign * 3 * step} appears twice"):
        rk.online.ab_test(frame, unit="id", **options)
    test = rk.online.ab_test(frame.head(5), unit="id", **options)
    assert test.srm.counts == {"A": 3, "B": 2}
