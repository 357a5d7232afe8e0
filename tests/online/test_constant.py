"""Metrics that do not vary have no p-value, whatever rounding makes of them."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
import polars as pl
import pytest

import rankine as rk

ALWAYS = ("always_low", "always_high", "p_always")
UNDEFINED = ("low", "high", "p", "p_corrected", "lift_low", "lift_high", *ALWAYS)


def compared(columns: dict[str, Any], metrics: Any, **options: Any) -> Any:
    given = {"unit": "u", "variant": "arm", "control": "A", **options}
    frame = pl.DataFrame({"u": range(len(columns["arm"])), **columns})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return rk.online.ab_test(frame, metrics=metrics, **given)


def expect_nothing(test: Any) -> None:
    for row in test.details.iter_rows(named=True):
        assert all(math.isnan(row[name]) for name in UNDEFINED), row
        assert row["error"] == 0
        assert row["verdict"] == "cannot tell"
    assert any("does not vary" in note for note in test.notes)


SIZES = [(20, 30), (1003, 1501), (2000, 7001)]


@pytest.mark.parametrize("value", [0.1, 1 / 3, 1e9 + 0.1, -0.7, 1e-9])
@pytest.mark.parametrize("sizes", SIZES)
def test_a_mean_that_does_not_vary(sizes: tuple[int, int], value: float) -> None:
    arm = ["A"] * sizes[0] + ["B"] * sizes[1]
    y = [value] * len(arm)

    expect_nothing(compared({"arm": arm, "y": y}, {"y": "y"}))
    expect_nothing(compared({"arm": arm, "y": y}, {"y": "y"}, margin={"y": 0.1}))


@pytest.mark.parametrize("share", [0.1, 0.3, 1 / 7])
@pytest.mark.parametrize("sizes", SIZES)
def test_a_ratio_that_does_not_vary(sizes: tuple[int, int], share: float) -> None:
    arm = ["A"] * sizes[0] + ["B"] * sizes[1]
    x = np.random.default_rng(0).gamma(1, 10, len(arm))

    expect_nothing(compared({"arm": arm, "y": share * x, "x": x}, {"r": ("y", "x")}))


@pytest.mark.parametrize("sizes", SIZES)
def test_what_was_before_says_it_all(sizes: tuple[int, int]) -> None:
    arm = ["A"] * sizes[0] + ["B"] * sizes[1]
    x = np.random.default_rng(0).gamma(1, 10, len(arm))

    test = compared(
        {"arm": arm, "y": 0.3 * x, "x": x}, {"y": "y"}, covariates={"y": "x"}
    )

    expect_nothing(test)


def test_a_covariate_that_does_not_vary_changes_nothing() -> None:
    rng = np.random.default_rng(0)
    columns = {"arm": ["A", "B"] * 500, "y": rng.normal(1, 1, 1000), "c": [0.1] * 1000}

    plain = compared(columns, {"y": "y"})
    with_it = compared(columns, {"y": "y"}, covariates={"y": "c"})

    # BLAS may add a product of two rows in another order than that of one.
    expected = pytest.approx(plain.details["p"].item(), rel=1e-13)
    assert with_it.details["p"].item() == expected
    assert with_it.health["theta"].item() == 0


def test_what_varies_little_does_vary() -> None:
    rng = np.random.default_rng(0)
    y = 1e6 + 1e-3 * rng.normal(0, 1, 1000)

    test = compared({"arm": ["A", "B"] * 500, "y": y}, {"y": "y"})

    assert test.details["error"].item() == pytest.approx(
        1e-3 * math.sqrt(4 / 1000), 0.1
    )
    assert 0 < test.details["p"].item() < 1


def test_a_lift_without_bounds_warns_of_nothing() -> None:
    y = [1e-9, -1.0, 1.0, 1e-9, 3.0, 2.0, -1.0, 1.0]

    compared({"arm": list("AAAABBBB"), "y": y}, {"y": "y"})
