"""Effects and sample ratio by day: as a test would have found them on that day."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime
from typing import Any

import polars as pl
import pytest

import rankine as rk
from rankine.errors import ParameterError

WORLD = rk.online.generate(users=1500, days=4, seed=3, before=True).events
METRICS = ["ctr", "conversion_rate", "roi"]
KEPT = (
    "control_value", "value", "difference", "low", "high", "always_low", "always_high",
    "p_always", "n_control", "n",
)  # fmt: skip


def ab(events: Any, **options: Any) -> Any:
    return rk.online.ab_test(events, control="A", metrics=METRICS, **options)


def day_of() -> pl.Expr:
    stamp = pl.col("timestamp")
    stamp = stamp if WORLD["timestamp"].dtype.is_temporal() else stamp.cast(pl.Datetime)
    return stamp.dt.date()


@pytest.mark.slow
@pytest.mark.parametrize("cuped", [False, True])
def test_a_day_has_the_effects_of_the_log_up_to_it(cuped: bool) -> None:  # noqa: FBT001
    by_day = ab(WORLD, daily=True, cuped=cuped).by_day
    days = by_day["day"].unique().sort()

    assert len(days) > 4
    for day in days:
        known = ab(WORLD.filter(day_of() <= day), cuped=cuped).details
        rows = by_day.filter(day=day)
        assert rows["metric"].to_list() == known["metric"].to_list()
        for name in KEPT:
            assert rows[name].to_list() == pytest.approx(
                known[name].to_list(), rel=1e-9, nan_ok=True
            )
    assert by_day["always_low"].is_not_nan().any()


def test_days_change_nothing_else() -> None:
    with_days, without = ab(WORLD, daily=True, cuped=True), ab(WORLD, cuped=True)

    assert with_days.details.equals(without.details)
    assert with_days.joined.equals(without.joined)
    assert with_days.notes == without.notes
    assert without.by_day is None


def log(*users: tuple[str, int]) -> pl.DataFrame:
    """Return a log: of each user the variant, and the day of March of an impression."""
    rows = [
        (str(place), datetime(2026, 3, day, 12, tzinfo=UTC), variant, "impression")
        for place, (variant, day) in enumerate(users)
    ]
    return pl.DataFrame(
        rows, ["user_id", "timestamp", "variant", "event"], orient="row"
    )


def test_the_sample_ratio_of_each_day_by_hand() -> None:
    events = log(("A", 1), ("A", 1), ("B", 1), ("B", 3), ("B", 3), ("B", 3))

    joined = rk.online.ab_test(
        events, control="A", metrics=["ctr"], ratio={"A": 1, "B": 3}
    ).joined

    first, second = date(2026, 3, 1), date(2026, 3, 3)
    assert joined is not None
    assert joined.drop("p_anytime").rows() == [
        (first, "A", 2, 2 / 3, 1 / 4),
        (first, "B", 1, 1 / 3, 3 / 4),
        (second, "A", 2, 2 / 6, 1 / 4),
        (second, "B", 4, 4 / 6, 3 / 4),
    ]


def test_the_last_day_has_the_sample_ratio_of_the_test() -> None:
    test = ab(WORLD, ratio={"A": 2, "B": 1})

    last = test.joined.filter(day=test.joined["day"].max())
    assert dict(zip(last["variant"], last["users"], strict=True)) == test.srm.counts
    assert set(last["p_anytime"]) == {test.srm.p_anytime}


def test_an_accumulator_keeps_days_where_it_is_told_to() -> None:
    half = WORLD.height // 2
    parts = rk.online.Accumulator(METRICS, daily=True)
    parts.update(WORLD[:half]).update(WORLD[half:])

    assert ab(parts, daily=True).by_day.equals(ab(WORLD, daily=True).by_day)
    whole = rk.online.Accumulator(METRICS).update(WORLD)
    with pytest.raises(ParameterError, match="was made with daily=True"):
        ab(whole, daily=True)


def test_a_table_of_users_has_no_days() -> None:
    users = pl.DataFrame({"user_id": [1, 2], "arm": ["A", "B"], "y": [1.0, 2.0]})
    options: dict[str, Any] = {"unit": "user_id", "variant": "arm", "control": "A"}

    assert rk.online.ab_test(users, metrics={"y": "y"}, **options).joined is None
    with pytest.raises(ParameterError, match="daily is for events"):
        rk.online.ab_test(users, metrics={"y": "y"}, daily=True, **options)


def test_a_log_without_times_has_no_days() -> None:
    test = ab(WORLD.drop("timestamp").unique(), daily=True, duplicates="keep")

    assert test.joined is None
    assert test.by_day.is_empty()


def test_days_are_in_the_json() -> None:
    test = ab(WORLD, daily=True)

    document = json.loads(test.to_json())

    first = test.by_day.row(0, named=True)
    assert document["by_day"][0]["day"] == first["day"].isoformat()
    assert document["by_day"][0]["difference"] == first["difference"]
    assert len(document["joined"]) == test.joined.height
