"""Days, weeks and hours of a time zone; whole windows; and who comes back."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

import numpy as np
import polars as pl
import pytest
from scipy.stats import ttest_ind

import rankine as rk
from rankine._base.limits import limited
from rankine._report.specs import over_days
from rankine.errors import ColumnNotFoundError, DataError, ParameterError

if TYPE_CHECKING:
    from pathlib import Path

BERLIN = "Europe/Berlin"


def log(*rows: tuple[str, str | None, str, str]) -> pl.DataFrame:
    """Return a log of user, variant, time in UTC and event."""
    names = ["user_id", "variant", "timestamp", "event"]
    return pl.DataFrame(rows, names, orient="row").with_columns(
        pl.col("timestamp") + "Z"
    )


# Days, weeks and hours

CHANGES = log(
    # In Berlin, 2026-03-29 has 23 hours, and 2026-10-25 has 25.
    ("u", "A", "2026-03-28T22:59:59", "impression"),  # 23:59:59 on the 28th
    ("u", "A", "2026-03-28T23:00:00", "click"),  # midnight
    ("u", "A", "2026-03-29T21:59:59", "impression"),  # 23 hours later, the same day
    ("u", "A", "2026-03-29T22:00:00", "impression"),  # the 30th, a Monday
    ("u", "A", "2026-10-24T22:00:00", "impression"),  # the 25th
    ("u", "A", "2026-10-25T22:59:59", "impression"),  # 25 hours later, the same day
    ("u", "A", "2026-10-25T23:00:00", "impression"),  # the 26th
)


def test_days_of_23_and_25_hours() -> None:
    table = rk.online.users(CHANGES, daily=True, timezone=BERLIN)

    assert table.select("day", "events").rows() == [
        (date(2026, 3, 28), 1),
        (date(2026, 3, 29), 2),
        (date(2026, 3, 30), 1),
        (date(2026, 10, 25), 2),
        (date(2026, 10, 26), 1),
    ]


def test_weeks_begin_on_monday() -> None:
    table = rk.online.users(CHANGES, weekly=True, timezone=BERLIN)

    assert table.select("week", "events").rows() == [
        (date(2026, 3, 23), 3),
        (date(2026, 3, 30), 1),
        (date(2026, 10, 19), 2),
        (date(2026, 10, 26), 1),
    ]


def test_an_hour_that_comes_twice_is_two_hours() -> None:
    twice = log(
        ("u", "A", "2026-10-25T00:30:00", "impression"),  # 02:30, in summer
        ("u", "A", "2026-10-25T01:30:00", "impression"),  # 02:30, in winter
        ("u", "A", "2026-10-25T01:59:59", "click"),
    )
    found = rk.online.summarize(twice, {"n": "events"}, hourly=True, timezone=BERLIN)
    there = ZoneInfo(BERLIN)

    assert found.table.schema["hour"] == pl.Datetime("us", BERLIN)
    assert [each.isoformat() for each in found.table["hour"]] == [
        "2026-10-25T02:00:00+02:00",
        "2026-10-25T02:00:00+01:00",
    ]
    assert found.table["hour"][0].tzinfo == there
    assert found.table["value"].to_list() == [1, 2]


def test_half_hour_zones_have_whole_hours_of_their_own() -> None:
    frame = log(
        ("u", "A", "2026-03-01T18:29:00", "impression"),  # 23:59 in Kolkata
        ("u", "A", "2026-03-01T18:30:00", "impression"),  # midnight
        ("u", "A", "2026-03-01T19:29:00", "impression"),
    )
    table = rk.online.users(frame, hourly=True, timezone="Asia/Kolkata")

    assert [each.isoformat() for each in table["hour"]] == [
        "2026-03-01T23:00:00+05:30",
        "2026-03-02T00:00:00+05:30",
    ]
    assert table["events"].to_list() == [1, 2]


def test_without_a_zone_they_are_those_of_utc() -> None:
    table = rk.online.users(CHANGES.head(2), hourly=True)

    assert table["hour"].to_list() == [
        datetime(2026, 3, 28, 22),  # noqa: DTZ001 - in UTC, as the docs say
        datetime(2026, 3, 28, 23),  # noqa: DTZ001
    ]


def random_log(seed: int, n: int = 400, users: int = 12) -> pl.DataFrame:
    """Return events around both changes of the clocks, in many zones."""
    rng = np.random.default_rng(seed)
    changes = [datetime(2026, 3, 29, tzinfo=UTC), datetime(2026, 10, 25, tzinfo=UTC)]
    around = np.array([int(each.timestamp()) for each in changes])
    times = around[rng.integers(0, 2, n)] + rng.integers(-4 * 86400, 40 * 86400, n)
    arms = np.array(["A", "B"])
    user = rng.integers(0, users, n)
    return pl.DataFrame(
        {
            "user_id": user,
            "variant": arms[user % 2],
            "timestamp": times,
            "event": np.where(rng.random(n) < 0.2, "click", "impression"),
        }
    ).unique(maintain_order=True)


@pytest.mark.parametrize(
    "zone", [BERLIN, "Asia/Kolkata", "America/St_Johns", "Australia/Adelaide", "UTC"]
)
@pytest.mark.parametrize("every", ["day", "week", "hour"])
def test_a_twin_by_plain_loops(zone: str, every: str) -> None:
    frame = random_log(7)
    expected: Counter[tuple[int, str]] = Counter()
    for user, seconds in frame.select("user_id", "timestamp").iter_rows():
        moment = datetime.fromtimestamp(seconds, ZoneInfo(zone))
        day = moment.date()
        if every == "week":
            day -= timedelta(day.weekday())
        hour = moment.replace(minute=0, second=0).isoformat()
        expected[user, hour if every == "hour" else day.isoformat()] += 1
    given: dict[str, Any] = {
        {"day": "daily", "week": "weekly", "hour": "hourly"}[every]: True
    }
    table = rk.online.users(frame, timezone=zone, **given)

    found = {
        (user, when.isoformat()): n
        for user, when, n in table.select("user", every, "events").iter_rows()
    }
    assert found == expected


@pytest.mark.parametrize("option", ["daily", "weekly", "hourly"])
def test_parts_in_any_order_and_from_disk(option: str) -> None:
    frame = random_log(3)
    given: dict[str, Any] = {option: True, "timezone": BERLIN, "window": 5}
    names = ["ctr", "retention_1"]
    whole = rk.online.summarize(frame, names, **given)
    shuffled = frame.sample(fraction=1, shuffle=True, seed=1)
    with limited(held_events=50):
        one, two = (rk.online.Accumulator(names, **given) for _ in range(2))
        for place, part in enumerate(shuffled.iter_slices(37)):
            (one, two)[place % 2].update(part)
        merged = two.merge(one).result()

    assert merged.table.equals(whole.table)
    assert merged.excluded == whole.excluded
    assert set(merged.notes) == set(whole.notes)


@pytest.mark.parametrize("option", ["daily", "weekly", "hourly"])
@pytest.mark.parametrize("form", ["frame", "parquet", "csv"])
def test_a_table_says_what_its_log_says(option: str, form: str, tmp_path: Path) -> None:
    frame, names = random_log(5), ["ctr", "retention_1", "retention_7"]
    given: dict[str, Any] = {option: True}
    table = rk.online.users(frame, timezone=BERLIN, window=9, **given)
    whole = rk.online.summarize(frame, names, timezone=BERLIN, window=9, **given)
    data: Any = table
    if form != "frame":
        data = tmp_path / f"users.{form}"
        getattr(table, f"write_{form}")(data)
    found = rk.online.summarize(data, names, **given)

    assert found.table.equals(whole.table)
    if form != "csv":  # nothing counts on some days, which are beyond the window
        counts = table.filter(pl.col("events") + pl.col("events_before") > 0)
        assert rk.online.users(data, **given).equals(counts)


def of_zone(user: str, zone: str | None, **options: Any) -> pl.DataFrame:
    """Return the table of a user who came half an hour after midnight in UTC."""
    frame = log((user, "A", "2026-03-28T00:30:00", "impression"))
    if zone is not None:
        options["timezone"] = zone
    return rk.online.users(frame, **options)


TWO_ZONES = "tables of two time zones are put together, {} and {}, whose days are not"


@pytest.mark.parametrize("option", ["daily", "weekly"])
@pytest.mark.parametrize("form", ["frame", "parquet", "csv"])
@pytest.mark.parametrize("other", ["America/New_York", "UTC"])
def test_tables_of_two_zones_are_not_put_together(
    other: str, form: str, option: str, tmp_path: Path
) -> None:
    given: dict[str, Any] = {"by": None, option: True}
    here, there = of_zone("u", BERLIN, **given), of_zone("v", other, **given)
    data: Any = pl.concat([here, there])
    if form != "frame":
        data = tmp_path
        for name, table in (("here", here), ("there", there)):
            getattr(table, f"write_{form}")(tmp_path / f"{name}.{form}")

    with pytest.raises(DataError, match=TWO_ZONES.format(*sorted([BERLIN, other]))):
        rk.online.summarize(data, {"n": "events"}, **given)


def test_a_table_of_a_zone_and_one_of_none_are_not_put_together() -> None:
    given: dict[str, Any] = {"by": None, "daily": True}
    here, there = of_zone("u", BERLIN, **given), of_zone("v", None, **given)

    both = pl.concat([here, there], how="diagonal")
    with pytest.raises(DataError, match=TWO_ZONES.format(BERLIN, "UTC")):
        rk.online.summarize(both, {"n": "events"}, **given)
    # UTC is UTC, named or not.
    both = pl.concat([of_zone("u", "UTC", **given), there], how="diagonal")
    found = rk.online.summarize(both, {"n": "events"}, **given)
    assert found.table["users"].to_list() == [2]


def test_first_exposures_of_two_zones_in_csv_files(tmp_path: Path) -> None:
    # Offsets alone would be read as if all were of one zone.
    for user, zone in (("u", BERLIN), ("v", "America/New_York")):
        of_zone(user, zone).write_csv(tmp_path / f"{user}.csv")

    with pytest.raises(DataError, match=TWO_ZONES.format("America/New_York", BERLIN)):
        rk.online.summarize(tmp_path, {"n": "events"})


def test_a_table_whose_zone_is_wrong_or_missing() -> None:
    table = of_zone("u", BERLIN, hourly=True)

    wrong = table.with_columns(zone_of_days=pl.lit("Europe/Berln"))
    with pytest.raises(ParameterError, match="did you mean 'Europe/Berlin'"):
        rk.online.summarize(wrong, {"n": "events"})
    with pytest.raises(ColumnNotFoundError, match="lacks zone_of_days"):
        rk.online.summarize(table.drop("zone_of_days"), {"n": "events"})
    with pytest.raises(ParameterError, match="segment cannot be 'zone_of_days'"):
        rk.online.users(CHANGES, segment="zone_of_days")


def test_days_add_up_to_weeks() -> None:
    frame = random_log(5)
    days = rk.online.users(frame, daily=True, timezone=BERLIN)
    weeks = rk.online.users(frame, weekly=True, timezone=BERLIN)

    assert rk.online.users(days, weekly=True).equals(weeks)
    with pytest.raises(DataError, match="has no days; make it with daily=True or --da"):
        rk.online.summarize(weeks, daily=True)
    with pytest.raises(DataError, match="has no hours; make it with hourly=True"):
        rk.online.summarize(days, hourly=True)


@pytest.mark.parametrize("form", ["log", "parquet", "csv"])
def test_a_test_counts_the_days_of_the_zone(form: str, tmp_path: Path) -> None:
    frame = log(
        ("u", "A", "2026-03-28T22:30:00", "impression"),  # the 28th in Berlin
        ("v", "B", "2026-03-28T23:30:00", "impression"),  # the 29th
        ("w", "A", "2026-03-29T21:30:00", "click"),  # the 29th
        ("w", "A", "2026-03-29T22:30:00", "impression"),
    )
    data: Any = frame
    options: dict[str, Any] = {"timezone": BERLIN}
    if form != "log":
        table = rk.online.users(frame, **options)
        assert table.schema["first_exposure"] == pl.Datetime("us", BERLIN)
        data, options = tmp_path / f"users.{form}", {}
        getattr(table, f"write_{form}")(data)
    test = rk.online.ab_test(data, control="A", metrics=["ctr"], **options)

    assert test.arrivals == (1, 2, 0)  # the log ends on the 30th
    joined = test.joined
    assert joined is not None
    assert joined.select("day", "variant", "users").rows() == [
        (date(2026, 3, 28), "A", 1),
        (date(2026, 3, 28), "B", 0),
        (date(2026, 3, 29), "A", 2),
        (date(2026, 3, 29), "B", 1),
    ]


def test_hours_are_saved_and_drawn(tmp_path: Path) -> None:
    found = rk.online.summarize(random_log(2), ["ctr"], hourly=True, timezone=BERLIN)
    (tmp_path / "found.json").write_text(found.to_json())
    again = rk.load(tmp_path / "found.json")
    first = found.table["hour"][0]

    assert again.table.equals(found.table)
    assert found.to_dict()["table"][0]["hour"] == first.isoformat()
    text = first.isoformat(" ", "minutes")
    for shown in (str(found), found.to_markdown(), found._repr_html_()):
        assert text in shown
    found.report(tmp_path / "report.html")
    assert text in (tmp_path / "report.html").read_text()
    # Clocks in browsers may be in another zone: an axis shows those of the log.
    rows = [{"system": "A", "hour": text, "value": 1, "low": 0, "high": 2}]
    (drawn,) = over_days(rows, "ctr", every="hour")["data"]["values"]
    assert drawn["time"] == first.strftime("%Y-%m-%dT%H:%MZ")
    weeks = rk.online.summarize(random_log(2), ["ctr"], weekly=True)
    (tmp_path / "weeks.json").write_text(weeks.to_json())
    assert rk.load(tmp_path / "weeks.json").table.equals(weeks.table)


# Windows

ENDING = log(
    ("u", "A", "2026-03-01T00:00:00", "impression"),
    ("u", "A", "2026-03-02T00:00:00", "click"),
    ("v", "B", "2026-03-01T10:00:00", "impression"),
    ("w", "A", "2026-03-01T10:00:01", "impression"),  # a second too late
    ("x", "B", "2026-03-03T10:00:00", "exposure"),  # the last event of the log
)


def test_users_whose_window_is_not_over_are_left_out() -> None:
    metrics = {"n": "impressions"}
    found = rk.online.summarize(ENDING, metrics, window=2)
    kept = rk.online.summarize(ENDING, metrics, window=2, incomplete="keep")

    assert found.table["users"].to_list() == [1, 1]  # u; v
    what = "whose window of 2 days is not over by the end of the log"
    assert found.excluded == {f"users {what}": 2, f"events of users {what}": 2}
    assert "- 2 users whose window of 2 days is not over by the end" in str(found)
    assert kept.table["users"].to_list() == [2, 2]
    assert kept.excluded == {}
    table = rk.online.users(ENDING, window=2)
    assert table["window_over"].to_list() == [True, True, False, False]
    assert rk.online.summarize(table, metrics).table.equals(found.table)
    again = rk.online.summarize(table, metrics, incomplete="keep")
    assert again.table.equals(kept.table)


def test_days_without_times_end_at_midnight() -> None:
    days = ENDING.with_columns(pl.col("timestamp").str.slice(0, 10))
    found = rk.online.summarize(days, {"n": "impressions"}, window=3)

    # The log ends at the end of March 3: three whole days after March 1.
    assert found.table["users"].to_list() == [2, 1]  # u, w; v
    with pytest.raises(DataError, match=r"window of 4 days is not over.*--keep-inc"):
        rk.online.summarize(days, {"n": "impressions"}, window=4)


def test_the_last_time_is_that_of_the_whole_log() -> None:
    total = rk.online.Accumulator({"n": "impressions"}, window=2)
    late = rk.online.Accumulator({"n": "impressions"}, window=2)
    late.update(ENDING.tail(1))
    total.update(ENDING.head(3)).update(ENDING[3:4]).merge(late)

    whole = rk.online.summarize(ENDING, {"n": "impressions"}, window=2)
    assert total.result().to_dict() == whole.to_dict()


@pytest.mark.parametrize(
    ("data", "options", "why"),
    [
        (
            ENDING,
            {"incomplete": "keep"},
            "incomplete= .* has no effect without window=",
        ),
        (
            rk.online.users(ENDING),
            {"incomplete": "keep"},
            "incomplete= .* has no effect: the table was made without window=",
        ),
        (ENDING, {"incomplete": "drop"}, "incomplete must be"),
        (ENDING, {"timezone": "Europe/Berln"}, "did you mean 'Europe/Berlin'"),
        (ENDING, {"timezone": 3}, "timezone must be a name such as .*, got 3"),
        (
            rk.online.users(ENDING),
            {"timezone": BERLIN},
            "timezone cannot be given with a table of users",
        ),
        (ENDING.drop("timestamp"), {"timezone": BERLIN}, "the log has no times"),
        (
            ENDING.with_columns(pl.col("timestamp").str.slice(0, 10)),
            {"timezone": BERLIN},
            "the times of the log are days",
        ),
        (
            ENDING,
            {"timezone": BERLIN, "by": None},
            "there are neither days, weeks or hours nor first exposures",
        ),
        (ENDING, {"daily": True, "hourly": True}, "hourly cannot be given with daily"),
        (
            ENDING.with_columns(week=pl.lit("w")),
            {"weekly": True, "segment": "week"},
            "segment cannot be 'week', since the table has a column",
        ),
        (
            ENDING,
            {"metrics": {"x": "events_day_7"}},
            "x reads 'events_day_7', which is not known of users .*; retention_7",
        ),
    ],
)
def test_what_is_refused(data: Any, options: dict[str, Any], why: str) -> None:
    with pytest.raises(ParameterError, match=why):
        rk.online.summarize(data, **{"metrics": {"n": "impressions"}, **options})


# Retention

RETURNING = log(
    ("a", "A", "2026-03-01T10:00:00", "impression"),
    ("a", "A", "2026-03-02T10:00:00", "click"),  # exactly 24 hours later
    ("b", "A", "2026-03-01T10:00:00", "impression"),
    ("b", "A", "2026-03-02T09:59:59", "click"),  # too early
    ("b", "A", "2026-03-03T10:00:00", "click"),  # too late
    ("c", "B", "2026-03-01T10:00:00", "impression"),
    ("c", "B", "2026-03-03T09:59:59", "click"),
    ("d", "B", "2026-03-03T10:00:00", "impression"),
    ("d", "B", "2026-03-04T11:00:00", "click"),  # returns, but is not seen for 48 hours
    ("e", "B", "2026-03-03T08:00:00", "impression"),
    ("e", None, "2026-03-02T07:00:00", "impression"),  # before the exposure
    ("e", "B", "2026-03-05T09:00:00", "click"),  # the end of the log
)


def test_who_comes_back_after_a_day() -> None:
    found = rk.online.summarize(RETURNING, ["retention_1"])

    # A: a, of a and b; B: c, of c and e, who is seen for 49 hours.
    assert found.table.select("value", "n").rows() == [(1 / 2, 2), (1 / 2, 2)]
    low, high = 0.0945, 0.9055  # Wilson's interval of 1 of 2
    assert found.table.row(0)[3:5] == pytest.approx((low, high), abs=1e-4)
    note = "retention_1: 1 user not observed for 2 days by the end of the log, left out"
    assert note in found.notes
    week = rk.online.summarize(RETURNING, ["retention_7"])
    assert week.table["value"].is_nan().all()
    why = "retention_7 is undefined: there are no users who are observed for 8 days (A)"
    assert why in week.notes


def test_without_variants_the_first_event_begins() -> None:
    found = rk.online.summarize(RETURNING, ["retention_1"], by=None)

    # a, c and e, who is seen first on March 2 and back from 24 to 48 hours later, are
    # three of a, b, c and e.
    assert found.table.select("value", "n").rows() == [(3 / 4, 4)]
    table = rk.online.users(RETURNING)
    with pytest.raises(DataError, match="retention_1 cannot be computed: nothing says"):
        rk.online.summarize(table, ["retention_1"], by=None)


def test_days_show_the_retention_of_who_came_first_on_them() -> None:
    found = rk.online.summarize(RETURNING, ["retention_1"], by=None, daily=True).table

    first = found.filter(pl.col("n") > 0)
    assert first.select("day", "value", "n").rows() == [
        (date(2026, 3, 1), 2 / 3, 3),
        (date(2026, 3, 2), 1 / 1, 1),
    ]


def test_a_window_must_be_long_enough() -> None:
    ok = rk.online.summarize(RETURNING, ["retention_1"], window=2)
    assert ok.table.select("value", "n").rows() == [(1 / 2, 2), (1 / 2, 2)]
    with pytest.raises(DataError, match=r"must be 2 days or more, but is 1\.5"):
        rk.online.summarize(RETURNING, ["retention_1"], window=1.5)
    made = rk.online.users(RETURNING, window=1.5)
    with pytest.raises(DataError, match="made with a window of 2 days or more"):
        rk.online.summarize(made, ["retention_1"])


def retained(frame: pl.DataFrame, day: int) -> dict[str, list[float]]:
    """Return 1 or 0 for each user who is seen long enough, by plain loops."""
    end = frame["timestamp"].max()
    found: dict[str, list[float]] = {"A": [], "B": []}
    for (user,), own in frame.group_by("user_id", maintain_order=True):
        times = own["timestamp"].to_list()
        since = [(time - min(times)) / 86400 for time in times]
        if (end - min(times)) / 86400 >= day + 1:
            found["AB"[user % 2]].append(any(day <= at < day + 1 for at in since))
    return found


@pytest.mark.parametrize("day", [1, 7, 28])
@pytest.mark.parametrize("source", ["log", "table", "days"])
def test_retention_of_two_arms_is_welchs_test(day: int, source: str) -> None:
    rng = np.random.default_rng(day)
    frame = pl.DataFrame(
        {
            "user_id": (user := rng.integers(0, 150, 1500)),
            "variant": np.array(["A", "B"])[user % 2],
            "timestamp": 1_772_323_200 + rng.integers(0, 45 * 86400, 1500),
            "event": "impression",
        }
    )
    data: Any = frame
    if source != "log":
        data = rk.online.users(frame, daily=source == "days")
    name = f"retention_{day}"
    test = rk.online.ab_test(
        data, control="A", metrics=[name, "ctr"], cuped=True, daily=source == "days"
    )
    arms = retained(frame, day)
    welch = ttest_ind(arms["B"], arms["A"], equal_var=False)
    row = test.details.row(0, named=True)

    assert (row["n_control"], row["n"]) == (len(arms["A"]), len(arms["B"]))
    assert row["control_value"] == pytest.approx(np.mean(arms["A"]), rel=1e-12)
    assert row["p"] == pytest.approx(welch.pvalue, rel=1e-9)
    interval = welch.confidence_interval(0.95)
    assert (row["low"], row["high"]) == pytest.approx((interval.low, interval.high))
    summary = rk.online.summarize(data, [name])
    assert summary.table["value"].to_list() == pytest.approx(
        [np.mean(arms["A"]), np.mean(arms["B"])]
    )


def test_a_look_counts_who_was_seen_long_enough_by_then() -> None:
    test = rk.online.ab_test(
        RETURNING, control="A", metrics=["retention_1"], daily=True
    )
    looks = test.by_day
    assert looks is not None

    # By the end of March 3, a, b and c were seen for 48 hours; e by that of March 5.
    assert looks.select("day", "n_control", "n").rows() == [
        (date(2026, 3, 1), 0, 0),
        (date(2026, 3, 2), 0, 0),
        (date(2026, 3, 3), 2, 1),
        (date(2026, 3, 4), 2, 1),
        (date(2026, 3, 5), 2, 2),
    ]
    assert looks["difference"].is_nan().to_list() == [True, True, False, False, False]
