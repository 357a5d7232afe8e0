"""A/B tests of tables of users: what is refused, and how results are shown."""

from __future__ import annotations

import json
import math
from typing import Any

import polars as pl
import pytest

import rankine as rk
from rankine.errors import ColumnNotFoundError, DataError, ParameterError
from tests.online.test_ab_test import SMALL, ab, drawn, users


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"control": "C"}, "no user is in 'C'; the variants are A, B"),
        ({"metrics": {}}, "no metric was asked for"),
        ({"metrics": {"y": 3}}, "y must be a column for a mean"),
        ({"metrics": {"y": ("y", 1.5)}}, "the quantile of y must be a number above 0"),
        ({"unit": None}, "unit= or --users COLUMN"),
        ({"variant": None}, "needs variant="),
        ({"better": {"z": "lower"}}, "better names a metric 'z'; the metrics are y"),
        ({"better": {"y": "up"}}, "better of y must be one of higher, lower"),
        ({"margin": {"y": "some"}}, "the margin of y must be a number above 0"),
        ({"margin": {"y": -1}}, "the margin of y must be a number above 0"),
        ({"cap": 3}, "cap must be a mapping by metric, got 3"),
        ({"ratio": {"A": 1}}, "ratio has no share for the variant 'B'"),
        ({"confidence": 95}, "confidence must be a number above 0 and below 1"),
        ({"expected_n": 0}, "expected_n must be an integer of at least 1"),
        ({"correction": "homl"}, "did you mean 'holm'"),
        ({"lift": "log"}, "lift must be one of delta, fieller"),
        ({"cuped": True}, "cuped is for events"),
        ({"window": 7}, "window is for events, but this is a table of users"),
    ],
)  # fmt: skip
def test_options_that_cannot_be_met(options: dict[str, Any], message: str) -> None:
    given = {
        "unit": "user_id", "variant": "arm", "control": "A", "metrics": {"y": "y"},
        **options,
    }  # fmt: skip
    with pytest.raises((ParameterError, DataError), match=message):
        rk.online.ab_test(SMALL, **given)


def test_columns_that_are_not_there() -> None:
    with pytest.raises(ColumnNotFoundError, match="users has no column 'spend'"):
        ab(drawn(10), {"s": "spend"})


def test_a_user_who_is_there_twice_is_refused() -> None:
    frame = SMALL.with_columns(user_id=pl.Series([1, 2, 3, 4, 5, 2, 7]))
    with pytest.raises(DataError, match=r"row 5: user 2 appears twice, first in"):
        ab(frame, {"y": "y"})


@pytest.mark.parametrize("arm", ["A", "B"])
def test_one_arm_is_no_test(arm: str) -> None:
    with pytest.raises(DataError, match=r"all users are in 'A'|no user is in 'A'"):
        ab(SMALL.filter(pl.col("arm") == arm), {"y": "y"})


def test_numbers_that_are_not_finite_are_refused() -> None:
    with pytest.raises(DataError, match="y is inf, not a finite number"):
        ab(users(arm=list("AB"), y=[1.0, math.inf]), {"y": "y"})


# What is shown


def test_everything_can_be_shown() -> None:
    test = ab(
        drawn(300),
        {"s": "spent", "a|b": "views"},
        margin={"a|b": "2%"},
        segment="country",
    )
    record = json.loads(test.to_json())

    assert record["effects"][0]["metric"] == "s"
    assert record["effects"][0]["always_low"] is None
    assert record["srm"]["counts"] == test.srm.counts
    assert len(test.to_markdown().splitlines()) == 2 + 6
    assert r"a\|b" in test.to_markdown()
    assert "95 % intervals" in str(test)
    assert "margin 2 %" in str(test)
    assert "<table>" in test._repr_html_()
