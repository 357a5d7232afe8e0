"""users_needed: against Welch's power by hand, and where there is no number."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy import stats

import rankine as rk


def needed(y: Any, **options: Any) -> Any:
    frame = pl.DataFrame({"id": range(len(y)), "y": y})
    (record,) = rk.online.users_needed(frame, metrics={"y": "y"}, unit="id", **options)
    return record


def power_of(n: float, share: float, gap: float, sd: float) -> float:
    """Return the power of Welch's t, as textbooks have it."""
    first, second = share * n, (1 - share) * n
    parts = 1 / first, 1 / second
    df = sum(parts) ** 2 / (parts[0] ** 2 / (first - 1) + parts[1] ** 2 / (second - 1))
    far, least = gap / sd / math.sqrt(sum(parts)), stats.t.ppf(0.975, df)
    return float(stats.nct.sf(least, df, far) + stats.nct.cdf(-least, df, far))


SPREAD = np.array([-1.0, 1.0] * 500)


@pytest.mark.parametrize("share", [0.5, 0.1, 0.9, 0.03])
@pytest.mark.parametrize("gap", [0.2, 1.5, 4.0])
def test_no_more_and_no_fewer_users_than_welch_needs(share: float, gap: float) -> None:
    sd = float(SPREAD.std(ddof=1))
    n = needed(SPREAD, effect=gap, share=share).users

    assert power_of(n, share, gap, sd) >= 0.8
    fewer = n - 1
    least = math.ceil(2 / min(share, 1 - share))
    assert n == least or power_of(fewer, share, gap, sd) < 0.8


def test_small_arms_take_their_toll() -> None:
    sd = float(SPREAD.std(ddof=1))

    assert needed(SPREAD, effect=1.5 * sd, share=0.1).users == 57


@pytest.mark.parametrize(("share", "users"), [(0.5, 4), (0.1, 20), (0.9, 20)])
def test_each_arm_has_two_users(share: float, users: int) -> None:
    assert needed(SPREAD, effect=1000, share=share).users == users


def test_a_number_beyond_all_bounds_is_none() -> None:
    record = needed(SPREAD, effect=1e-12)

    assert record.users is None
    assert record.note == "more than 2^40 users are needed"


def test_why_there_is_no_number() -> None:
    assert needed([0.1] * 50, effect=1)[4:] == (
        None,
        "the metric does not vary between users",
    )
    assert needed(SPREAD, effect="5%")[4:] == (
        None,
        "an effect relative to a value of 0 is none",
    )
    assert needed(SPREAD, effect=1).note == ""


def test_a_test_keeps_its_shares() -> None:
    arms = np.where(np.arange(1000) % 20 < 2, "B", "A")
    frame = pl.DataFrame({"id": range(1000), "arm": arms, "y": SPREAD})
    test = rk.online.ab_test(
        frame, unit="id", variant="arm", control="A", metrics={"y": "y"}
    )

    (record,) = rk.online.users_needed(test, effect=1.5)

    # A little more than 57, as the few users of B vary by sqrt(100 / 99).
    assert record.users == 58
