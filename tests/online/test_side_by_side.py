"""Offline and online results in one table."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

import rankine as rk
from rankine.errors import DataError, ParameterError

JUDGED = {str(n): {"x": 1} for n in range(20)}
GOOD, BAD = ({str(n): items for n in range(20)} for items in (["x"], ["y", "x"]))


def outcome(first: str = "A", second: str = "B") -> Any:
    rng = np.random.default_rng(0)
    users = pl.DataFrame(
        {
            "id": range(400),
            "arm": [first, second] * 200,
            "land": ["at", "at", "fr", "fr"] * 100,
            "bought": (rng.random(400) < [0.7, 0.2] * 200).astype(int),
        }
    )
    return rk.online.ab_test(
        users, unit="id", variant="arm", control=first, metrics={"bought": "bought"},
        segment="land",
    )  # fmt: skip


@pytest.mark.parametrize("order", ["AB", "BA"])
def test_a_variant_is_compared_with_the_control_whichever_is_first(order: str) -> None:
    runs = {"A": BAD, "B": GOOD}
    offline = rk.compare(JUDGED, {name: runs[name] for name in order}, ["RR", "P@1"])
    test = outcome()
    both = rk.online.side_by_side(offline, test)

    assert both["said"].to_list() == ["offline", "offline", "online"]
    assert both.row(0, named=True) | {"p": None, "low": None, "high": None} == {
        "said": "offline", "metric": "RR", "variant": "B", "control_value": 1 / 2,
        "value": 1, "difference": 1 / 2, "low": None, "high": None, "p": None,
        "verdict": "better",
    }  # fmt: skip
    assert both["low"][0] <= both["difference"][0] <= both["high"][0]
    online = test.details.filter(pl.col("segment").is_null()).row(0, named=True)
    last = both.row(2, named=True)
    assert last["difference"] == online["difference"] < 0
    assert last["p"] == online["p_corrected"]
    assert last["verdict"] == "worse"


def test_what_does_not_fit_is_refused() -> None:
    offline = rk.compare(JUDGED, {"A": BAD, "B": GOOD}, "RR")
    with pytest.raises(
        DataError, match="a variant 'C', but the comparison has no rank"
    ):
        rk.online.side_by_side(offline, outcome("A", "C"))
    with pytest.raises(ParameterError, match="online must be what ab_test returns, go"):
        rk.online.side_by_side(offline, offline)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="offline must be what compare returns"):
        rk.online.side_by_side({}, outcome())  # type: ignore[arg-type]


def test_a_comparison_with_another_baseline_is_refused() -> None:
    runs = {"old": BAD, "A": BAD, "B": GOOD}
    offline = rk.compare(JUDGED, runs, "RR", baseline="old")
    with pytest.raises(
        DataError, match="no pair of 'A' and 'B', since it compares all"
    ):
        rk.online.side_by_side(offline, outcome())

    offline = rk.compare(JUDGED, runs, "RR", baseline="A")
    assert rk.online.side_by_side(offline, outcome())["said"].to_list() == [
        "offline",
        "online",
    ]
