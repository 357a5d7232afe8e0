"""users_needed: against Welch's power by hand, and where there is no number."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy import stats

import rankine as rk
from rankine._online.needed import UsersNeeded


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
        None,
        None,
        (),
    )
    assert needed(SPREAD, effect="5%")[4:] == (
        None,
        "a relative effect on a value of 0 is no effect",
        None,
        None,
        (),
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


# Days


def visits(*arrivals: int) -> pl.DataFrame:
    """Return a log in which so many users come new on each day, and return once."""
    day = np.repeat(np.arange(len(arrivals)), arrivals)
    n = len(day)
    seen = pl.DataFrame({"user_id": range(n), "day": day, "event": "impression"})
    clicks = seen.filter(pl.col("user_id") % 3 == 0).with_columns(event=pl.lit("click"))
    again = seen.with_columns(pl.col("day") + 1)
    begin = pl.datetime(2026, 3, 1, 12)
    return pl.concat([seen, clicks, again]).select(
        "user_id", "event", timestamp=begin + pl.duration(days=pl.col("day"))
    )


def in_arms(log: pl.DataFrame) -> pl.DataFrame:
    is_even = pl.col("user_id") % 2 == 0
    arm = pl.when(is_even).then(pl.lit("A")).otherwise(pl.lit("B"))
    return log.with_columns(variant=arm)


def days_of(log: Any, effect: float) -> Any:
    (record,) = rk.online.users_needed(log, effect=effect, metrics=["ctr"])
    return record


def test_days_are_counted_by_who_comes_new() -> None:
    log = visits(100, 0, 40, 20)  # and a fifth day, on which nobody is new
    few, many = days_of(log, 0.12), days_of(log, 0.05)

    assert 100 < few.users <= 140
    assert few.days == 3  # on the second, nobody came
    assert few.per_day == many.per_day == (40 + 20 + 0) / 3
    assert many.users > 160
    assert many.days == 5 + math.ceil((many.users - 160) / 20)
    assert str(many) == (
        f"ctr: {many.users:,} users to find 0.05, which takes {many.days} "
        "days at 20 new users a day"
    )


def test_days_are_not_known_without_times_or_new_users() -> None:
    log = visits(100, 20)
    timeless = days_of(log.drop("timestamp"), 0.05)
    assert (timeless.days, timeless.per_day) == (None, None)
    assert str(timeless) == f"ctr: {timeless.users:,} users to find 0.05"
    nobody = days_of(visits(100), 0.05)  # who return on the second day
    assert (nobody.days, nobody.per_day) == (None, 0)
    assert str(nobody).endswith("; no new users arrived in the second half of the log")
    table = needed(SPREAD, effect=1)
    assert (table.days, table.per_day) == (None, None)
    assert str(needed([0.1] * 50, effect=1)) == (
        "y: the metric does not vary between users"
    )


def test_days_of_a_test_and_of_an_accumulator_are_those_of_the_log() -> None:
    log = in_arms(visits(60, 50, 40, 30))
    test = rk.online.ab_test(log, control="A", metrics=["ctr"])
    of_table = rk.online.ab_test(rk.online.users(log), control="A", metrics=["ctr"])
    parts = rk.online.Accumulator(["ctr"]).update(log.head(200)).update(log[200:])
    (of_test,) = rk.online.users_needed(test, effect=0.05)

    # On the fifth day, nobody is new.
    assert test.arrivals == of_table.arrivals == (60, 50, 40, 30, 0)
    assert of_test.per_day == days_of(log, 0.05).per_day == (40 + 30 + 0) / 3
    assert of_test.users is not None
    assert of_test.days == 5 + math.ceil((of_test.users - 180) / (70 / 3))
    of_parts, *_ = rk.online.users_needed(parts, effect=0.05)
    assert of_parts.per_day == (40 + 30 + 0) / 3


@pytest.mark.parametrize("form", ["log", "table"])
def test_a_test_that_nobody_joins_any_more_takes_for_ever(form: str) -> None:
    log = in_arms(visits(60, 50))
    back = pl.col("timestamp") + pl.duration(days=10)
    log = pl.concat([log, log.with_columns(timestamp=back)])  # they all come back
    data = log if form == "log" else rk.online.users(log)
    test = rk.online.ab_test(data, control="A", metrics=["ctr"])
    (record,) = rk.online.users_needed(test, effect=0.01)

    assert test.arrivals == (60, 50, *[0] * 11)  # up to the return of the last day
    assert (record.days, record.per_day) == (None, 0)
    assert str(record).endswith("; no new users arrived in the second half of the log")


@pytest.mark.parametrize("form", ["log", "table"])
def test_days_end_where_windows_are_not_over(form: str) -> None:
    """The log ends on the sixth day; who came on the fourth has two whole days."""
    log = in_arms(visits(60, 50, 0, 40, 30))
    options: dict[str, Any] = {"window": 2} if form == "log" else {}
    data = log if form == "log" else rk.online.users(log, window=2)
    test = rk.online.ab_test(data, control="A", metrics=["ctr"], **options)

    # Those of the fifth day are left out: it is not a day on which nobody came.
    assert test.arrivals == (60, 50, 0, 40)
    options |= {"incomplete": "keep"}
    kept = rk.online.ab_test(data, control="A", metrics=["ctr"], **options)
    assert kept.arrivals == (60, 50, 0, 40, 30, 0)


@pytest.mark.parametrize(
    ("needed", "sentence"),
    [
        ((5000, 2, 4012.5), ("m: 5,000 users to find 0.05, which takes 2 days at 4,012"
         " new users a day")),
        ((7, 3, 0.25), ("m: 7 users to find 0.05, which takes 3 days at 0.25 new users"
         " a day")),
        ((7, 3, 0.0), "m: 7 users to find 0.05, who came within 3 days of the log"),
    ],
)  # fmt: skip
def test_sentences_have_plain_numbers(
    needed: tuple[int, int, float], sentence: str
) -> None:
    users, days, per_day = needed
    record = UsersNeeded("m", None, 0.5, 0.05, users, days=days, per_day=per_day)

    assert str(record) == sentence
    assert "find 20,000" in str(record._replace(effect=20_000.0))
