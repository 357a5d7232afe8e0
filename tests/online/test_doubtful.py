"""What an A/B test cannot tell, and what it says instead."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import polars as pl
import pytest

import rankine as rk
from rankine.errors import DataError


def clicked(**clicks: list[int]) -> pl.DataFrame:
    """Return a log with an impression per user, and some clicks."""
    rows: list[tuple[str, str, str]] = []
    for arm, each in clicks.items():
        for place, n in enumerate(each):
            user = f"{arm}{place}"
            rows += [(user, arm, "impression"), *([(user, arm, "click")] * n)]
    frame = pl.DataFrame(rows, ["user_id", "variant", "event"], orient="row")
    return frame.with_columns(timestamp=pl.int_range(pl.len()) + 1_700_000_000)


def test_no_rate_above_one_in_an_arm() -> None:
    events = clicked(A=[3, 1, 2, 0], B=[0, 0, 1, 0, 0, 0], C=[1, 0, 1, 1])

    test = rk.online.ab_test(events, control="A", metrics=["ctr"])

    assert all(math.isnan(value) for value in test.details["control_value"])
    assert set(test.details["verdict"]) == {"cannot tell"}
    why = "ctr of B, ctr of C: undefined, as there are more clicks than impressions in"
    assert any(note.startswith(why) for note in test.notes)
    other = rk.online.ab_test(events, control="C", metrics=["ctr"]).details
    assert other.filter(variant="B")["control_value"].item() == 3 / 4
    assert math.isnan(other.filter(variant="A")["difference"].item())


def test_a_rate_of_one_is_none_above_it() -> None:
    events = clicked(A=[1, 1, 1], B=[2, 0, 1, 1])

    test = rk.online.ab_test(events, control="A", metrics=["ctr"])

    assert test.details.select("control_value", "value").row(0) == (1, 1)


def searches(clicks: list[int]) -> pl.DataFrame:
    n = len(clicks)
    return pl.DataFrame(
        {
            "query_id": ["q"] * n,
            "item_id": ["x", "y"] * (n // 2),
            "position": [1, 2] * (n // 2),
            "impression_id": [i // 2 for i in range(n)],
            "click": clicks,
        }
    )


def test_click_rates_of_judgements_are_not_above_one() -> None:
    with pytest.raises(DataError, match="'x' has 3 clicks in 2 impressions for query"):
        rk.online.judgments_from_clicks(searches([3, 0, 0, 1]), "ctr")
    judged = rk.online.judgments_from_clicks(searches([2, 0, 0, 1]), "ctr")
    assert judged.support["value"].to_list() == [1, 0.5]


def test_click_rates_of_ranks_above_one_are_told() -> None:
    log = searches([3, 0, 0, 1])
    why = "rank 1 has a click rate above 1: 3 clicks in 2 impressions"

    for notes in (
        rk.online.judgments_from_clicks(log).notes,
        rk.online.click_metrics(log).notes,
    ):
        assert any(note.startswith(why) for note in notes)
    assert not any(
        "above 1" in note
        for note in rk.online.click_metrics(searches([1, 0, 0, 1])).notes
    )


@pytest.mark.parametrize("value", [0.1, 0.0])
def test_nothing_to_calibrate_where_nothing_varies(value: float) -> None:
    users = pl.DataFrame({"u": range(50), "y": [value] * 50})

    result = rk.online.calibrate(users, {"y": "y"}, unit="u", n=20)

    assert result.table["n"].item() == 0
    assert result.to_dict()["metrics"][0]["false_alarms"] is None
    assert str(result) == (
        "y: no A/A test has a p-value, as the metric does not vary between users"
    )


@pytest.mark.parametrize("control", [1, "1", 1.0, np.int64(1), np.float64(1)])
@pytest.mark.parametrize("arms", [[1, 2], [1.0, 2.0], ["1", "2"]])
def test_a_control_that_is_a_number(control: Any, arms: list[Any]) -> None:
    users = pl.DataFrame({"u": range(8), "arm": arms * 4, "y": range(8)})
    events = clicked(A=[1, 0, 1], B=[0, 0, 1]).with_columns(
        pl.col("variant").replace_strict({"A": arms[0], "B": arms[1]})
    )

    of_users = rk.online.ab_test(
        users, unit="u", variant="arm", control=control, metrics={"y": "y"}
    )
    of_events = rk.online.ab_test(events, control=control, metrics=["ctr"])

    assert of_users.details["variant"].to_list() == ["2"]
    assert of_events.details["control_value"].item() == 2 / 3
