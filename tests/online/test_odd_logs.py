"""Logs that are odd: what cannot be said of them is not said, and why is."""

from __future__ import annotations

import math
from datetime import date
from typing import Any

import numpy as np
import polars as pl
import pytest

import rankine as rk
from rankine._online.rules import Rules
from rankine._online.words import notes_on
from rankine.errors import DataError, FormatError, ParameterError
from tests.online.logs import log


def shop(events: list[str], values: Any, costs: Any, users: Any) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "user_id": users,
            "timestamp": [1_700_000_000 + n for n in range(len(events))],
            "event": events,
            "value": values,
            "cost": costs,
        }
    )


def roi(frame: pl.DataFrame) -> Any:
    return rk.online.roi(frame)


@pytest.mark.parametrize("seed", range(20))
def test_what_does_not_vary_has_no_interval(seed: int) -> None:
    random = np.random.default_rng(seed)
    costs = random.integers(1, 10_000, 60) / 100
    times = float(random.choice([1.1, 1.37, 1 / 3, 1.000001, 7.77]))
    frame = shop(["purchase"] * 60, times * costs, costs, random.integers(0, 20, 60))
    rate = roi(frame)

    assert rate.value == pytest.approx(times - 1)
    assert math.isnan(rate.interval.low)
    assert "roi has no interval: users do not differ" in rate.notes


def test_what_varies_a_little_has_an_interval() -> None:
    frame = shop(["purchase"] * 3, [2.0, 2.0, 2.000001], [1.0] * 3, [1, 2, 3])

    assert not math.isnan(roi(frame).interval.low)


def test_a_single_user_is_named_as_the_reason() -> None:
    rate = roi(shop(["purchase"], [2.0], [1.0], [1]))

    assert "roi has no interval: there is a single user" in rate.notes


def test_no_group_has_a_rate_above_one() -> None:
    frame = log(
        "u A 0 impression\nu A 1 click\nu A 2 click\n"
        + "\n".join(f"v B {n} impression" for n in range(4))
    )
    for options in ({}, {"by": None, "segment": "variant"}):
        summary = rk.online.summarize(frame, ["ctr"], **options)  # type: ignore[arg-type]
        first, second = summary.table["value"].to_list()

        assert math.isnan(first)
        assert second == 0
        assert summary.table["n"].to_list() == [1, 4]
        assert (
            "ctr is undefined: there are more clicks than impressions: 2 and 1, a rate "
            "above 1 (A)"
        ) in summary.notes


# Money


@pytest.mark.parametrize("refund", [40.0, -40.0])
def test_a_refund_is_taken_off_whatever_its_sign(refund: float) -> None:
    frame = shop(["purchase", "refund"], [100.0, refund], [20.0, 0.0], [1, 1])
    summary = rk.online.summarize(frame, ["roi"])

    assert summary.table["value"].to_list() == [(100 - 40 - 20) / 20]
    assert "minus that of refunds, whatever the sign" in summary.definitions["roi"]


def test_a_cost_below_zero_has_no_roi() -> None:
    frame = shop(["purchase"] * 3, [5.0, 6.0, 8.0], [-2.0, -1.0, 0.5], [1, 2, 3])
    rate = roi(frame)

    assert math.isnan(rate.value)
    assert math.isnan(rate.interval.low)
    assert "roi is undefined: cost is below 0" in rate.notes
    assert "2 events with a cost below 0: taken off the cost" in rate.notes


def test_small_and_large_amounts_add_up() -> None:
    frame = shop(
        ["purchase"] * 1000, [0.0000308] * 1000, [0.0000154] * 1000, [1] * 1000
    )
    assert roi(frame).value == 1

    frame = shop(["purchase"] * 1100, [9e9] * 1100, [4.5e9] * 1100, [1] * 1100)
    assert roi(frame).value == 1

    thirds = [0.00001 / 3] * 3
    assert roi(shop(["purchase"] * 3, thirds, [1e-5, 0, 0], [1] * 3)).value == (
        pytest.approx(0, abs=1e-12)
    )


def test_an_amount_that_is_too_small_is_refused() -> None:
    with pytest.raises(DataError, match="cost is 1e-12; an event may be worth 1e-09"):
        roi(shop(["purchase"], [1.0], [1e-12], [1]))


# Databases


@pytest.mark.parametrize(
    "source",
    [
        "postgresql+psycopg2://bob:s3cret@h/x",
        "mysql://bob:s3cret@h/x",
        "mysql+pymysql:/bob:s3cret@h/x",
        "jdbc:postgresql://h/x?user=bob&password=s3cret",
        "host=h dbname=x password=s3cret",
        "Server=h;Pwd=s3cret",
        "postgresql://bob:/s3cret@h/x",
        "postgresql://bob:?s3cret@h/x",
        "postgresql://bob:#s3cret@h/x",
        "postgresql://bob:[s3cret@h/x",
        "postgresql://bob:a@s3cret@h/x",
    ],
)
def test_no_part_of_a_password_is_printed(source: str) -> None:
    with pytest.raises(FormatError) as refused:
        rk.online.from_sql(source, "select 1")
    assert "s3cret" not in str(refused.value)
    with pytest.raises(FormatError) as refused:
        rk.online.summarize(source)
    assert "s3cret" not in str(refused.value)


def test_another_database_is_named_with_what_is_supported() -> None:
    with pytest.raises(
        FormatError,
        match=r"^a URL that begins with mysql: cannot be read; expected the path of an "
        r"SQLite or DuckDB file, a URL such as postgresql://host/database, or an open",
    ):
        rk.online.from_sql("mysql://h/x", "select 1")


# Words


def test_what_trackers_send_is_no_action() -> None:
    frame = pl.DataFrame(
        {
            "user_id": [1, 1, 2, 2, 3, 3],
            "event": ["session_start", "page_view"] * 3,
            "timestamp": range(6),
        }
    )

    assert rk.online.bounce_rate(frame).value == 1
    assert rk.online.engagement_rate(frame).value == 0


def test_words_that_are_not_known_are_named() -> None:
    frame = log("u A 0 impression\nu A 1 clik\nu A 2 foo\nu A 3 share\nu A 4 bar")
    summary = rk.online.summarize(frame, kinds={"bar": "click"})

    assert "taken as actions: clik, foo" in summary.notes


def test_engaged_events_that_the_log_does_not_have_are_named() -> None:
    frame = log("u A 0 impression\nu A 1 click")
    notes = rk.online.summarize(frame, engaged=["clik", "click"]).notes

    said = "engaged names 'clik', but the log has no such event; did you mean 'click'?"
    assert said in notes
    assert sum("engaged names" in note for note in notes) == 1


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"kinds": {"clik": "click"}}, "kinds= or --kind names 'clik', but the log"),
        ({"exposure": "clik"}, "exposure names 'clik', but the log"),
    ],
)
def test_named_events_that_the_log_does_not_have_are_named(
    options: dict[str, Any], said: str
) -> None:
    words = notes_on({"impression", "click"}, Rules(**options))

    assert words == [f"{said} has no such event; did you mean 'click'?"]
    assert notes_on({"clik", "impression"}, Rules(**options)) == []


def test_a_kind_that_no_event_has_is_noted() -> None:
    frame = log("u A 0 impression\nu A 1 click")

    notes = rk.online.summarize(frame, kinds={"foo": "click"}).notes

    assert "kinds= or --kind names 'foo', but the log has no such event" in notes


def test_days_without_times_have_no_hours() -> None:
    frame = log("u A 0 impression\nu A 1 click").with_columns(
        timestamp=pl.Series(["2026-03-01", "2026-03-02"])
    )

    with pytest.raises(ParameterError, match="hourly has no effect: the times of the"):
        rk.online.summarize(frame, hourly=True)
    assert rk.online.summarize(frame, daily=True).table.height == 2 * 3 - 2


@pytest.mark.parametrize("column", ["variant", "arm"])
def test_the_variants_are_no_segments(column: str) -> None:
    frame = log("u A 0 impression\nu A 1 click\nv B 0 impression")
    frame = frame.rename({"variant": column})
    said = f"segment must be another column than that of the .*, '{column}'"

    with pytest.raises(ParameterError, match=said):
        rk.online.ab_test(frame, control="A", metrics=["ctr"], segment=column)
    with pytest.raises(ParameterError, match=said):
        rk.online.summarize(frame, ["ctr"], segment=column)
    users = rk.online.users(frame)
    with pytest.raises(ParameterError, match="segment must be another column"):
        rk.online.ab_test(users, control="A", metrics=["ctr"], segment="variant")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"window": 1}, "window= or --window must be 8 days or more, but is 1$"),
        ({"columns": {"time": None}}, "after 7 days: there are no times$"),
    ],
)
def test_retention_is_refused_with_the_cause_that_holds(
    options: dict[str, Any], said: str
) -> None:
    frame = log("u A 0 impression\nu A 1 click")

    with pytest.raises(DataError, match=said):
        rk.online.summarize(frame, ["retention_7"], **options)


def test_what_was_before_the_exposure_is_no_metric() -> None:
    frame = log("u A 0 impression\nu A 1 click")

    with pytest.raises(ParameterError, match="clicks_before', which is from before"):
        rk.online.summarize(frame, {"x": "clicks_before"})


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"window": 1e30}, r"window must be at most 13,343,998 days, got 1e\+30"),
        ({"window": -1}, "window must be above 0 days, got -1"),
        ({"incomplete": "drop"}, "incomplete must be 'leave out' or 'keep', got 'drop"),
    ],
)
def test_options_out_of_range(options: dict[str, Any], said: str) -> None:
    with pytest.raises(ParameterError, match=said):
        rk.online.summarize(log("u A 0 click"), **options)


# Sessions and duplicates


def test_a_session_with_an_id_is_not_cut_by_silence() -> None:
    start = 1_700_006_400
    frame = pl.DataFrame(
        {
            "user_id": [1, 1, 2],
            "session_id": ["s", "s", "t"],
            "event": ["pageview"] * 3,
            "timestamp": [start, start + 90_000, start],
        }
    )

    assert rk.online.bounce_rate(frame).value == 1 / 2
    assert rk.online.bounce_rate(frame).n == 2
    assert rk.online.time_on_page(frame).value == 90_000


@pytest.mark.parametrize("times", [None, ["2026-03-01"] * 3])
def test_without_a_time_of_day_equal_rows_are_events(times: Any) -> None:
    frame = pl.DataFrame({"user_id": [1] * 3, "event": ["impression"] * 3})
    if times:
        frame = frame.with_columns(date=pl.Series(times))
    summary = rk.online.summarize(frame, ["ctr"])

    assert summary.table["n"].to_list() == [3]
    assert any("identical rows all count" in note for note in summary.notes)


def test_rows_with_other_lists_are_not_the_same() -> None:
    frame = pl.DataFrame(
        {
            "user_id": [1] * 3,
            "event": ["impression"] * 3,
            "timestamp": [1_700_000_001] * 3,
            "items": [[1, 2], [1, 3], [1, 2]],
        }
    )
    summary = rk.online.summarize(frame, ["ctr"])

    assert summary.table["n"].to_list() == [2]
    assert summary.excluded == {"duplicate events": 1}


def test_a_late_retry_of_an_event_counts_once() -> None:
    events = [
        log(f"u A {minute} impression\nu A {minute} click").with_columns(
            event_id=pl.Series([name, f"{name} click"])
        )
        for minute, name in ((0, "a"), (300, "b"), (600, "a"), (900, "c"), (0, "a"))
    ]
    whole = rk.online.summarize(pl.concat(events))
    parts = rk.online.Accumulator()
    for part in events:
        parts.update(part)

    assert whole.table["n"].to_list()[0] == 3
    assert parts.result().table.equals(whole.table)
    assert parts.result().excluded == whole.excluded


# Arguments

LOG = log("u A 0 impression\nu A 1 click\nv B 0 impression")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"sesion_gap": 3}, "no option 'sesion_gap'; .* mean 'session_gap'"),
        ({"metrics": 5}, "metrics must be names such as .*, got 5"),
        ({"segment": "variant"}, "segment must be another column than .* 'variant'"),
        ({"segment": "n"}, "segment cannot be 'n', since the table has a column"),
        ({"by": "users"}, "by cannot be 'users', since"),
        ({"by": "metric"}, "by cannot be 'metric', since"),
        ({"segment": "day", "daily": True}, "segment cannot be 'day', since"),
    ],
)
def test_arguments_that_cannot_be(options: dict[str, Any], words: str) -> None:
    names = ("n", "users", "metric", "day")
    frame = LOG.with_columns(pl.lit("x").alias(name) for name in names)

    with pytest.raises(ParameterError, match=words):
        rk.online.summarize(frame, **options)


def test_a_day_may_be_a_segment_without_days() -> None:
    frame = LOG.with_columns(day=pl.lit("monday"))

    assert (
        rk.online.summarize(frame, ["ctr"], segment="day").table["day"][0] == "monday"
    )


def test_only_accumulators_that_are_alike_merge() -> None:
    with pytest.raises(ParameterError, match="merge takes an Accumulator, got"):
        rk.online.Accumulator().merge(3)  # type: ignore[arg-type]
    with pytest.raises(DataError, match=r"cannot be merged: metrics is \['ctr'\] and"):
        rk.online.Accumulator(["ctr"]).merge(rk.online.Accumulator())
    with pytest.raises(DataError, match=r"merged: confidence is 0\.95 and 0\.9"):
        rk.online.Accumulator().merge(rk.online.Accumulator(confidence=0.9))


def test_bare_seconds_are_capped() -> None:
    assert rk.online.time_on_page(seconds=[1, 2, 3, 50], cap=10).value == 4
    with pytest.raises(ParameterError, match="session_gap says how a log is read"):
        rk.online.time_on_page(seconds=[1, 2], session_gap=3)


@pytest.mark.parametrize("times", [["2026-03-01"] * 3, [date(2026, 3, 1)] * 3])
def test_dates_give_no_time_on_page(times: list[Any]) -> None:
    log = pl.DataFrame({"user_id": [1, 1, 2], "event": "pageview", "timestamp": times})
    log = log.with_row_index("row")
    table = rk.online.users(log)
    columns = "seconds_on_page", "timed_page_views", "untimed_page_views"
    quantile = rk.online.time_on_page(log, quantile=0.5)

    assert table.select(columns).rows() == [(0, 0, 2), (0, 0, 1)]
    for given in (log, table):
        found = rk.online.summarize(given, ["time_on_page"])
        assert math.isnan(found.table["value"].item())
        assert "3 page views: time on page unknown, as times are dates" in found.notes
    assert math.isnan(quantile.value)
    assert "time_on_page is undefined: no page view has a time of day" in quantile.notes


def test_one_time_of_day_makes_all_times_known() -> None:
    times = ["2026-03-01T00:00:00", "2026-03-01T00:00:00", "2026-03-02T00:10:00"]
    log = pl.DataFrame({"user_id": [1, 1, 2], "event": "pageview", "timestamp": times})
    total = rk.online.Accumulator(duplicates="keep")
    for part in (log[:2], log[2:]):
        total.update(part)

    assert rk.online.users(total)["timed_page_views"].to_list() == [1, 0]


# Times that no date has, that are not there, or that say nothing of the order


@pytest.mark.parametrize("daily", [True, False])
@pytest.mark.parametrize(
    ("time", "known"),
    [
        (-62_135_596_801, False), (-62_135_596_800, True),
        (253_402_300_799, True), (253_402_300_800, False),
    ],
)  # fmt: skip
def test_times_are_of_the_years_1_to_9999(
    *, time: int, known: bool, daily: bool
) -> None:
    # datetime(1, 1, 1) is 719,162 days before 1970, datetime(10000, 1, 1) would be
    # 2,932,897 days after it: times 86,400.
    times = pl.Series([0, 1000 * time]).cast(pl.Datetime("ms"))
    log = pl.DataFrame({"user_id": [1, 2], "event": "impression", "timestamp": times})

    if known:
        found = rk.online.summarize(log, ["ctr"], daily=daily)
        assert found.table["n"].sum() == 2
        return
    with pytest.raises(
        DataError, match="row 1: timestamp is not in the years 1 to 9999"
    ):
        rk.online.summarize(log, ["ctr"], daily=daily)


def test_a_column_of_times_without_a_type_is_no_times() -> None:
    log = pl.DataFrame({"user_id": [1, 1], "event": ["impression", "click"]})
    nulls = log.with_columns(timestamp=pl.Series([None, None], dtype=pl.Null))
    found, plain = (rk.online.summarize(given) for given in (nulls, log))

    assert found.table.equals(plain.table)
    assert found.left_out == plain.left_out
    assert "events: timestamp is empty, so there are no times" in found.notes
    assert set(plain.notes) < set(found.notes)


def test_without_times_nobody_knows_which_click_converts() -> None:
    log = pl.DataFrame(
        {"user_id": [1, 1], "session_id": "s", "event": ["click", "purchase"]}
    )
    table = rk.online.users(log, by=None)

    assert "converting_clicks" not in table.columns
    assert table["converting_sessions"].item() == 1
    for given in (log, table):
        with pytest.raises(
            DataError, match="c cannot be computed: the log has no time"
        ):
            rk.online.summarize(given, {"c": "converting_clicks"})
    timed = log.with_columns(timestamp=pl.Series([1, 2]))
    assert rk.online.users(timed, by=None)["converting_clicks"].item() == 1


def test_an_accumulator_refuses_a_table_of_users() -> None:
    log = pl.DataFrame({"user_id": [1, 1], "event": ["impression", "click"]})
    total = rk.online.Accumulator().update(log)

    with pytest.raises(DataError, match=r"events is a table of users, .*pl\.concat"):
        total.update(rk.online.users(log))
    assert total.result().table["value"].item() == 1
