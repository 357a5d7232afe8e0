"""The table of users: what is in it, and that all else says the same from it."""

from __future__ import annotations

from datetime import date, datetime
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import rankine as rk
from rankine._base.limits import limited
from rankine.errors import (
    ColumnNotFoundError,
    DataError,
    NoRowsError,
    ParameterError,
    RankineError,
    UnknownMetricError,
)
from tests.online.logs import log

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

OWN: dict[str, Any] = {
    "revenue_per_user": "revenue",
    "orders_per_user": "orders",
    "aov": ("revenue", "orders"),
    "ctr": "ctr",
    "big": ("revenue", 0.9),
}
MEANS = {name: given for name, given in OWN.items() if name != "big"}
LOG = rk.online.generate(60, seed=3, visits=2, before=True).events.with_columns(
    pl.format("u{}", "user_id").alias("user_id")
)
"""With texts as ids, which have the same order in a CSV file."""
FORMS: dict[str, Any] = {
    "frame": lambda table, _: table,
    "pandas": lambda table, _: table.to_pandas(),
    "csv": lambda table, folder: _written(table.write_csv, folder / "users.csv"),
    "parquet": lambda table, folder: _written(
        table.write_parquet, folder / "users.parquet"
    ),
}


def _written(write: Callable[[Path], Any], path: Path) -> str:
    write(path)
    return str(path)


@pytest.fixture(params=[*FORMS])
def form(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[..., Any]:
    return lambda table: FORMS[request.param](table, tmp_path)


BEGIN = 1_772_323_200
"""Midnight of 2026-03-01 in UTC."""


def small() -> pl.DataFrame:
    """Return what four users did: u before and after it is in A, w in two variants."""
    rows: list[tuple[str, str | None, float, str, float | None, float | None]] = [
        # user, variant, hours, event, value, cost
        ("u", None, 1.0, "pageview", None, None),
        ("u", None, 1.01, "purchase", 5.5, None),
        ("u", "A", 20.0, "pageview", None, None),
        ("u", "A", 20.001, "impression", None, 0.25),
        ("u", "A", 20.002, "click", None, None),
        ("u", "A", 20.01, "pageview", None, None),
        ("u", "A", 20.02, "purchase", 12.5, None),
        ("u", "A", 44.0, "pageview", None, None),
        ("u", "A", 44.1, "refund", 2.25, None),
        ("v", "B", 21.0, "pageview", None, None),
        ("v", "B", 22.0, "impression", None, 0.5),
        ("v", "B", 22.1, "share", None, None),
        ("w", "A", 23.0, "click", None, None),
        ("w", "B", 23.1, "purchase", None, None),
        ("x", None, 25.0, "heartbeat", None, None),
    ]
    names = ["user_id", "variant", "hours", "event", "value", "cost"]
    frame = pl.DataFrame(rows, names, orient="row")
    seconds = (pl.col("hours") * 3600).round().cast(pl.Int64) + BEGIN
    return frame.with_columns(seconds.alias("timestamp")).drop("hours")


ZERO = dict.fromkeys(
    (
        "events", "impressions", "clicks", "page_views", "actions", "conversions",
        "orders", "sessions", "converting_sessions", "pageless_sessions", "bounces",
        "engaged_sessions", "converting_clicks", "seconds_on_page",
        "timed_page_views", "untimed_page_views", "revenue", "cost",
    ),
    0,
)  # fmt: skip


def row(after: Mapping[str, float], before: Mapping[str, float]) -> dict[str, float]:
    counts = {**ZERO, **after}
    return {**counts, **{f"{k}_before": v for k, v in {**ZERO, **before}.items()}}


U_DAY_1 = {
    "events": 5, "impressions": 1, "clicks": 1, "page_views": 2, "conversions": 1,
    "actions": 1 + 1,  # click, purchase
    "orders": 1, "sessions": 1, "converting_sessions": 1, "engaged_sessions": 1,
    "converting_clicks": 1,
    "seconds_on_page": 0.01 * 3600,  # 20.00 to 20.01 hours
    "timed_page_views": 1, "untimed_page_views": 1, "revenue": 12.5, "cost": 0.25,
}  # fmt: skip
U_DAY_2 = {
    "events": 2, "page_views": 1, "sessions": 1, "engaged_sessions": 1,
    "actions": 1,  # the refund is one
    "untimed_page_views": 1, "revenue": -2.25,
}  # fmt: skip
U_BEFORE = {
    "events": 2, "page_views": 1, "actions": 1, "conversions": 1, "orders": 1,
    "sessions": 1, "converting_sessions": 1, "engaged_sessions": 1,
    "untimed_page_views": 1, "revenue": 5.5,
}  # fmt: skip
V = {
    "events": 3, "page_views": 1, "impressions": 1, "actions": 1,
    "sessions": 1 + 1,  # an hour of silence
    "bounces": 1, "pageless_sessions": 1, "engaged_sessions": 1,
    "untimed_page_views": 1, "cost": 0.5,
}  # fmt: skip
W = {
    "events": 2, "clicks": 1, "actions": 2, "conversions": 1,
    "orders": 0,  # it has no value
    "sessions": 1, "converting_sessions": 1, "pageless_sessions": 1,
    "engaged_sessions": 1, "converting_clicks": 1,
}  # fmt: skip
X_BEFORE = {"events": 1, "sessions": 1, "pageless_sessions": 1}  # never exposed
RETURNS = "events_day_1", "events_day_7", "events_day_28", "days_observed"
KEYS = ["user", "variant", "variants", "first_exposure"]


def test_every_column_is_counted_by_hand() -> None:
    table = rk.online.users(small())

    def at(hour: int) -> datetime:
        return datetime(2026, 3, 1, hour)  # noqa: DTZ001 - in UTC, as the docs say

    assert table.select(KEYS).rows() == [
        ("u", "A", 1, at(20)),
        ("v", "B", 1, at(21)),
        ("w", "A", 2, at(23)),
        ("x", None, 0, None),
    ]
    both = {name: U_DAY_1.get(name, 0) + U_DAY_2.get(name, 0) for name in ZERO}
    assert table.drop(*KEYS, *RETURNS).to_dicts() == [
        row(both, U_BEFORE), row(V, {}), row(W, {}), row({}, X_BEFORE),
    ]  # fmt: skip
    # u comes at 20 hours, and at 44 and 44.1, from 24 to 48 hours later; the last event
    # of the log is at 44.1.
    assert table.select("user", *RETURNS).rows() == [
        ("u", 2, 0, 0, (44.1 - 20) / 24),
        ("v", 0, 0, 0, pytest.approx((44.1 - 21) / 24)),
        ("w", 0, 0, 0, pytest.approx((44.1 - 23) / 24)),
        ("x", 0, 0, 0, 0),
    ]


def test_days_add_up_to_the_table_without_days() -> None:
    whole, days = (rk.online.users(small(), daily=daily) for daily in (False, True))
    u = days.filter(user="u").drop(*KEYS, *RETURNS)

    assert u["day"].to_list() == [date(2026, 3, 1), date(2026, 3, 2)]
    assert u.drop("day").to_dicts() == [row(U_DAY_1, U_BEFORE), row(U_DAY_2, {})]
    numbers = [*row({}, {}), *RETURNS]
    sums = days.group_by("user", maintain_order=True).agg(pl.col(numbers).sum())
    assert sums.equals(whole.select(sums.columns))


@pytest.mark.parametrize("n", [63, 64, 127, 128, 16_384, 32_767, 32_768])
def test_counts_of_any_size_add_up(n: int) -> None:
    """Numbers that fit 8 or 16 bits, and sums that do not."""
    days = [date(2026, 3, 1), date(2026, 3, 2)]
    events = pl.DataFrame(
        {
            "user_id": ["u", "v", "u"],
            "timestamp": [days[0], days[0], days[1]],
            "event": ["conversion", "click", "conversion"],
            "value": [5.5, 0.0, 5.5],
        }
    )
    log = events[[0] * n + [1] + [2] * n]
    total = rk.online.Accumulator(daily=True, duplicates="keep")
    with limited(held_events=2):
        for part in log.iter_slices(n):
            total.update(part)
        table = rk.online.users(total)
    means = {
        "mean events": "events",
        "mean orders": "orders",
        "mean revenue": "revenue",
    }
    found = rk.online.summarize(table, means)

    columns = "user", "day", "events", "orders", "revenue"
    assert table.select(columns).rows() == [
        ("u", days[0], n, n, 5.5 * n),
        ("u", days[1], n, n, 5.5 * n),
        ("v", days[0], 1, 0, 0),
    ]
    assert found.table["value"].to_list() == [(2 * n + 1) / 2, n, 5.5 * n]


def test_microseconds_of_several_days_add_up() -> None:
    """29 minutes are 1,740,000,000 microseconds, and those of two days over 2^31."""
    minutes = [24 * 60 * day + minute for day in range(3) for minute in (0, 29)]
    log = pl.DataFrame(
        {
            "user_id": [user for user in "uvwx" for _ in minutes],
            "variant": [variant for variant in "AABB" for _ in minutes],
            "timestamp": [BEGIN + 60 * minute for _ in "uvwx" for minute in minutes],
            "event": "pageview",
        }
    )

    test = rk.online.ab_test(log, control="A", metrics=["time_on_page"], daily=True)

    assert test.table.select("control_value", "value").row(0) == (29 * 60, 29 * 60)


def test_users_and_their_days_take_as_little_memory_as_documented() -> None:
    days = rk.online.Accumulator(daily=True).update(LOG).counts()
    per_day = days.rows.estimated_size() / days.rows.height
    per_user = days.seen.drop("user").estimated_size() / days.seen.height

    assert per_day < 70
    assert per_day + per_user < 110


def test_metrics_are_sums_of_columns() -> None:
    found = rk.online.summarize(small(), MEANS | {"cpu": "cost"})
    values = {key[:2]: key[2:] for key in found.table.select(
        "metric", "variant", "value", "n", "users"
    ).rows()}  # fmt: skip

    # u alone is in A and v alone in B: w is in both, x in none.
    assert values[("revenue_per_user", "A")] == (12.5 - 2.25, 1, 1)
    assert values[("orders_per_user", "A")] == (1.0, 1, 1)
    assert values[("aov", "A")] == ((12.5 - 2.25) / 1, 1, 1)
    assert values[("ctr", "A")] == (1 / 1, 1, 1)
    assert values[("cpu", "B")] == (0.5, 1, 1)
    assert values[("revenue_per_user", "B")] == (0.0, 1, 1)
    assert found.definitions["aov"] == "revenue / orders"
    assert found.definitions["revenue_per_user"] == "mean revenue of a user"
    notes = rk.online.summarize(small(), {"aov": ("revenue", "orders")}).notes
    assert "aov is undefined: there are no orders (B)" in notes


def test_what_a_log_lacks_is_no_column() -> None:
    bare = rk.online.users(small().drop("value", "cost", "timestamp"))
    gone = {"revenue", "orders", "cost", "sessions", "seconds_on_page", "bounces"}

    assert not gone & {name.removesuffix("_before") for name in bare.columns}
    assert "first_exposure" not in bare.columns
    # Without times, all that a user did counts.
    assert bare.filter(user="u")["events"].item() == 2 + 5 + 2
    with pytest.raises(DataError, match="aov cannot be computed: the log has no value"):
        rk.online.summarize(bare, {"aov": ("revenue", "orders")})


# From a table, everything says the same as from its log


def same(found: Any, expected: Any) -> None:
    """Compare all but what says that a table was read, which settles some rules."""
    ours, theirs = found.to_dict(), expected.to_dict()
    if isinstance(found, rk.online.ABTest):
        assert [each["settings"].pop("table") for each in (ours, theirs)] == [
            True, False,
        ]  # fmt: skip
    says = [each.pop("definitions", {}) for each in (ours, theirs)]
    assert ours == theirs
    settled = {name for name, words in says[0].items() if words.endswith(f" {SETTLED}")}
    assert settled == {*says[0]} & WITH_RULES
    assert all(says[0][name] == says[1][name] for name in {*says[1]} - settled)


SETTLED = "was settled when the table of users was made"
WITH_RULES = {"bounce_rate", "engagement_rate", "time_on_page"}


def test_a_table_says_nothing_of_rules_that_it_does_not_know() -> None:
    rules: dict[str, Any] = {"session_gap": 5, "engaged": 60, "cap": 40}
    names = [*WITH_RULES, "engagement_per_impression"]
    table = rk.online.users(LOG, last_page="heartbeat", **rules)
    found = rk.online.summarize(table, names)
    test = rk.online.ab_test(table, control="A", metrics=names)

    assert dict(found.definitions) == dict(test.definitions)
    for words in found.definitions.values():
        assert words.endswith(SETTLED)
        assert not any(usual in words for usual in ("30 minutes", "excluded", "any "))
    of_log = rk.online.summarize(LOG, names, **rules).definitions
    assert "5 minutes" in of_log["bounce_rate"]
    assert "60 seconds" in of_log["engagement_rate"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"segment": "country"},
        {"metrics": MEANS},
        {"unit": "sessions"},
        {"by": "country"},
        {"by": None, "metrics": ["ctr"]},
    ],
    ids=str,
)
def test_a_summary(options: dict[str, Any], form: Callable[..., Any]) -> None:
    groups = {name: options[name] for name in ("by", "segment") if name in options}
    table = rk.online.users(LOG, **groups)

    same(
        rk.online.summarize(form(table), **options), rk.online.summarize(LOG, **options)
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"segment": "country"},
        {"metrics": OWN, "cuped": True, "margin": {"ctr": "10%"}},
        {"metrics": OWN, "cap": {"revenue_per_user": 20}, "better": {"aov": "lower"}},
        {"metrics": OWN, "daily": True},
    ],
    ids=str,
)
def test_a_test(options: dict[str, Any], form: Callable[..., Any]) -> None:
    daily = options.get("daily", False)
    table = form(rk.online.users(LOG, segment="country", daily=daily))

    same(
        rk.online.ab_test(table, control="A", **options),
        rk.online.ab_test(LOG, control="A", **options),
    )


@pytest.mark.slow
@pytest.mark.parametrize("cuped", [False, True])
def test_a_calibration(cuped: bool, form: Callable[..., Any]) -> None:  # noqa: FBT001
    table = form(rk.online.users(LOG, by="variant" if cuped else None))

    same(
        rk.online.calibrate(table, OWN, 30, cuped=cuped),
        rk.online.calibrate(LOG, OWN, 30, cuped=cuped),
    )


def test_the_users_needed(form: Callable[..., Any]) -> None:
    table = form(rk.online.users(LOG, by=None, daily=True))
    of_log = rk.online.users_needed(LOG, effect="5%", metrics=OWN)

    assert rk.online.users_needed(table, effect="5%", metrics=OWN) == of_log
    plain = rk.online.users(LOG, by=None)  # it does not say when users came
    found = rk.online.users_needed(plain, effect="5%", metrics=OWN)
    assert found == [each._replace(days=None, per_day=None) for each in of_log]


@pytest.mark.parametrize("daily", [False, True])
def test_a_table_of_a_table(daily: bool, form: Callable[..., Any]) -> None:  # noqa: FBT001
    table = rk.online.users(LOG, segment="country", daily=daily)
    again = rk.online.users(form(table), segment="country", daily=daily)

    assert again.equals(table)


def test_ints_are_the_same_users_in_a_file(tmp_path: Path) -> None:
    ints = LOG.with_columns(pl.col("user_id").str.slice(1).cast(pl.Int64))
    table = rk.online.users(ints)
    table.write_csv(tmp_path / "users.csv")
    found = rk.online.summarize(tmp_path / "users.csv", MEANS)

    assert table["user"].dtype == pl.Int64
    same(found, rk.online.summarize(ints, MEANS))


def test_variants_are_ignored_where_they_do_not_matter() -> None:
    table = rk.online.users(small())
    found = rk.online.summarize(table, {"rpu": "revenue"}, by=None)

    # Also what u did before it was in A, and x, who never was in any.
    assert found.table["value"].item() == (5.5 + 12.5 - 2.25) / 4
    assert any("counts as two" in note for note in found.notes)
    assert rk.online.calibrate(table, {"rpu": "revenue"}, 5).users == 4
    (record,) = rk.online.users_needed(table, effect=1, metrics={"rpu": "revenue"})
    assert any("counts as two" in note for note in record.notes)


def test_an_accumulator_gives_the_table() -> None:
    parts = LOG.iter_slices(100)
    total = rk.online.Accumulator(segment="country")
    for part in parts:
        total.update(part)

    assert rk.online.users(total).equals(rk.online.users(LOG, segment="country"))
    options: list[dict[str, Any]] = [{"by": None}, {"daily": True}, {"window": 3}]
    for option in options:
        name = next(iter(option))
        with pytest.raises(ParameterError, match=f"give {name} to the accumulator"):
            rk.online.users(total, **option)


def test_parts_by_user_can_be_put_together() -> None:
    halves = [LOG.filter(pl.col("user_id").hash() % 2 == half) for half in (0, 1)]
    table = pl.concat(map(rk.online.users, halves))

    same(
        rk.online.ab_test(table, control="A", metrics=OWN),
        rk.online.ab_test(LOG, control="A", metrics=OWN),
    )


@pytest.mark.slow
def test_parts_by_day_cannot() -> None:
    days = [part for _, part in LOG.group_by(pl.col("timestamp").dt.date())]
    # A day without variants has no columns of what came before an exposure.
    why = "needs all events of a user together|events_before is missing, not a count"
    for daily in (False, True):
        parts = [rk.online.users(part, daily=daily) for part in days]
        with pytest.raises(DataError, match=why):
            rk.online.summarize(pl.concat(parts, how="diagonal_relaxed"))


# What is refused

TABLE = rk.online.users(LOG, segment="country")
LIKE: dict[str, Any] = {"unit": "user", "variant": "variant"}


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("cap", 30),
        ("window", 3),
        ("engaged", 20),
        ("session_gap", 10),
        ("session_gap", 30),  # which is usual, but may not be that of the table
        ("last_page", "exclude"),
        ("duplicates", "drop"),
        ("exposure", "pageview"),
        ("last_page", "heartbeat"),
        ("kinds", {"share": "click"}),
        ("duplicates", "keep"),
        ("columns", {"user": "user"}),
    ],
)
def test_what_is_settled_cannot_be_given(option: str, value: object) -> None:
    message = f"^{option}.* cannot be given with a table of users"
    calls: list[tuple[Any, dict[str, Any]]] = [
        (rk.online.summarize, {}),
        (rk.online.users, {}),
        (rk.online.ab_test, {"control": "A"}),
        (rk.online.calibrate, {}),
        (rk.online.users_needed, {"effect": "5%"}),
    ]
    for function, more in calls:
        with pytest.raises(ParameterError, match=message):
            function(TABLE, **{option: value}, **more)


@pytest.mark.parametrize(
    "option", [{"max_events": 3}, {"unit": "users"}, {"incomplete": "keep"}], ids=str
)
@pytest.mark.parametrize("data", [LOG, TABLE], ids=["log", "table"])
def test_what_is_for_metrics_makes_no_table(
    data: pl.DataFrame, option: dict[str, Any]
) -> None:
    (name,) = option
    with pytest.raises(ParameterError, match=f"^{name} is for metrics, not for the ta"):
        rk.online.users(data, **option)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda: rk.online.summarize(TABLE, {"x": "revenu"}),
            ParameterError,
            "x reads 'revenu', which is no column .*; did you mean 'revenue'",
        ),
        (
            lambda: rk.online.ab_test(LOG, control="A", metrics={"x": ("clicks", "y")}),
            ParameterError,
            "x reads 'y', which is no column of the table of users; there are events, ",
        ),
        (
            lambda: rk.online.summarize(LOG, {"x": ("revenue", 0.9)}),
            ParameterError,
            "x is a quantile over users, which only tests compare: ab_test, ",
        ),
        (
            lambda: rk.online.Accumulator({"x": ("revenue", 0.9)}),
            ParameterError,
            "x is a quantile over users",
        ),
        (
            lambda: rk.online.calibrate(TABLE, {"x": ("revenue", 2)}),
            ParameterError,
            "the quantile of x must be",
        ),
        (
            lambda: rk.online.summarize(TABLE, {"x": 1}),
            ParameterError,
            "x must be a column for a mean, two for a ratio",
        ),
        (
            lambda: rk.online.summarize(TABLE, daily=True),
            DataError,
            "has no days; make it with daily=True",
        ),
        (
            lambda: rk.online.summarize(TABLE, by="contry"),
            ColumnNotFoundError,
            "has no column 'contry'; it has user, .* did you mean 'country'",
        ),
        (
            lambda: rk.online.ab_test(TABLE, control="at", variant="country"),
            DataError,
            "was made by its column 'variant'.*; for 'country', make the table with",
        ),
        (
            lambda: rk.online.users(LOG.with_columns(clicks=1), segment="clicks"),
            ParameterError,
            "segment cannot be 'clicks', since the table of users has a column",
        ),
        (
            lambda: rk.online.summarize(pl.concat([TABLE, TABLE])),
            DataError,
            "row 120: user 'u0' is also in events, row 0",
        ),
        (lambda: rk.online.summarize(TABLE.clear()), NoRowsError, "has no users"),
        (
            lambda: rk.online.ab_test(
                TABLE.with_columns(age=30), control="A", metrics={"age": "age"}
            ),
            ParameterError,
            "age reads 'age', which is not a count .* give unit=, the column of users",
        ),
    ],
)  # fmt: skip
def test_refusals(
    call: Callable[[], Any], error: type[RankineError], message: str
) -> None:
    with pytest.raises(error, match=message) as raised:
        call()
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("clicks", 0.5, "row 0: clicks is 0.5, not a count"),
        ("clicks", -1, "row 0: clicks is -1, not a count"),
        ("clicks", None, "row 0: clicks is missing, not a count"),
        ("clicks", "x", "row 0: clicks is 'x', not a number"),
        ("revenue", float("inf"), "row 0: revenue is inf, not an amount"),
        ("revenue", 1e13, "not an amount"),
        ("user", None, "user ids are missing"),
        ("first_exposure", "soon", "first_exposure is 'soon', not a time"),
    ],
)
def test_a_table_that_nobody_counted(column: str, value: object, message: str) -> None:
    odd = TABLE.with_columns(pl.lit(value).alias(column))

    with pytest.raises(DataError, match=message):
        rk.online.summarize(odd)


def test_a_table_of_ones_own_that_looks_like_ours() -> None:
    own = TABLE.select(
        "user", "variant", "events", "impressions", "clicks", "actions",
        (pl.col("events") * 0.5).alias("spent"),
    )  # fmt: skip
    found = rk.online.ab_test(own, control="A", metrics={"spent": "spent"}, **LIKE)
    means = own.group_by("variant").agg(pl.col("spent").mean()).sort("variant")

    assert found.table["control_value"].item() == pytest.approx(means["spent"][0])
    assert found.table["value"].item() == pytest.approx(means["spent"][1])
    # One column less, and it could not be ours.
    with pytest.raises(ParameterError, match="the column of their ids, unit="):
        rk.online.ab_test(own.drop("actions"), control="A", metrics={"x": "spent"})


def test_a_column_that_was_added_is_tested_for_those_who_count(form: Any) -> None:
    # Some users were seen in both variants and some in none, as in a test of the log.
    both = LOG.filter(pl.col("user_id").is_in(["u3", "u7"])).with_columns(
        variant=pl.when(pl.col("variant") == "A")
        .then(pl.lit("B"))
        .otherwise(pl.lit("A"))
    )
    without = pl.col("user_id").is_in(["u5", "u9", "u11"])
    log_of_all = pl.concat([LOG, both]).with_columns(
        variant=pl.when(~without).then("variant")
    )
    table = rk.online.users(log_of_all).with_columns(paid=pl.col("revenue") * 1.0)
    expected = rk.online.ab_test(log_of_all, control="A", metrics={"paid": "revenue"})
    found = rk.online.ab_test(
        form(table), control="A", metrics={"paid": "paid"}, **LIKE
    )  # fmt: skip

    values = ["control_value", "value", "low", "high", "p"]
    assert found.details.select(values).row(0) == pytest.approx(
        expected.details.select(values).row(0), rel=1e-12
    )
    assert found.srm.counts == expected.srm.counts
    assert found.excluded == {
        name: n for name, n in expected.excluded.items() if name.startswith("users ")
    }
    assert found.excluded["users in more than one variant"] == 2


def test_a_column_that_was_added_is_tested_where_the_window_is_over(form: Any) -> None:
    table = rk.online.users(LOG, window=3).with_columns(paid=pl.col("revenue") * 1.0)
    expected = rk.online.ab_test(
        LOG, control="A", metrics={"paid": "revenue"}, window=3
    )  # fmt: skip
    found = rk.online.ab_test(
        form(table), control="A", metrics={"paid": "paid"}, **LIKE
    )  # fmt: skip

    values = ["control_value", "value", "low", "high", "p"]
    assert found.details.select(values).row(0) == pytest.approx(
        expected.details.select(values).row(0), rel=1e-12
    )
    assert found.srm.counts == expected.srm.counts
    n = expected.excluded[
        "users whose window of 3 days is not over by the end of the log"
    ]
    assert n == table["window_over"].not_().sum() > 0
    assert found.excluded == {"users whose window is not over by the end of the log": n}


def test_a_table_that_was_made_with_a_window_is_not_told_to_use_one() -> None:
    # Such a table says of each user whether the window is over.
    windowed = TABLE.with_columns(window_over=True)
    advice = [
        [
            note
            for note in found.notes
            if "always-valid intervals are approximate" in note
        ]
        for found in (
            rk.online.ab_test(table, control="A", metrics=["ctr"])
            for table in (TABLE, windowed)
        )
    ]

    assert [len(notes) for notes in advice] == [1, 0]


@pytest.mark.parametrize("name", ["day", "number", "user", "variant"])
def test_a_metric_may_be_called_as_a_column_is(name: str) -> None:
    for data in (LOG, TABLE):
        found, plain = (
            rk.online.ab_test(data, control="A", metrics={called: "events"}, cuped=True)
            for called in (name, "m")
        )
        assert found.details.drop("metric").equals(plain.details.drop("metric"))
    daily = rk.online.summarize(LOG, {name: "events"}, daily=True).table
    as_usual = rk.online.summarize(LOG, {"m": "events"}, daily=True).table
    assert daily.drop("metric").equals(as_usual.drop("metric"))


def test_a_built_in_metric_may_have_another_name() -> None:
    found = rk.online.summarize(LOG, {"click rate": "ctr"})
    ctr = rk.online.summarize(LOG, ["ctr"])

    assert found.table.drop("metric").equals(ctr.table.drop("metric"))
    assert found.table["metric"].unique().to_list() == ["click rate"]


def test_counts_are_not_below_0_but_money_may_be() -> None:
    text = "a A 0 click\nb A 0 exposure\nc A 0 exposure\nd A 0 exposure"
    rare = log(text).with_columns(value=None)
    low = rk.online.summarize(rare, {"clicks": "clicks"}).table["low"].item()

    assert low == 0
    odd = small().filter(pl.col("event") == "refund").with_columns(variant=pl.lit("A"))
    odd = pl.concat([odd, odd.with_columns(user_id=pl.lit("z"), value=pl.lit(4.5))])
    found = rk.online.summarize(odd, {"rpu": "revenue"}).table
    assert found["value"].item() == -(2.25 + 4.5) / 2
    assert found["low"].item() < found["value"].item() < 0


def test_one_test_by_hand() -> None:
    """Revenues of 1, 2, 3 and of 4, 6, 8: means of 2 and 6."""
    worth = {"A": [1.0, 2.0, 3.0], "B": [4.0, 6.0, 8.0]}
    frame = pl.DataFrame(
        [
            (f"{arm}{number}", arm, "purchase", value)
            for arm, values in worth.items()
            for number, value in enumerate(values)
        ],
        ["user_id", "variant", "event", "value"],
        orient="row",
    )
    found = rk.online.ab_test(
        rk.online.users(frame), control="A",
        metrics={"rpu": "revenue", "top": ("revenue", 0.99)},
        cap={"rpu": 7}, better={"rpu": "lower"},
    )  # fmt: skip
    rpu, top = found.details.iter_rows(named=True)

    assert rpu["control_value"] == (1 + 2 + 3) / 3
    assert rpu["value"] == pytest.approx((4 + 6 + 7) / 3)
    assert rpu["verdict"] != "better"
    assert (top["control_value"], top["value"]) == (3.0, 8.0)


@pytest.mark.parametrize("blank", ["", None])
def test_events_without_an_id_are_not_repeats(blank: str | None) -> None:
    events = pl.DataFrame(
        {
            "user_id": ["a", "a", "a", "b"],
            "event": ["impression", "impression", "click", "impression"],
            "event_id": [blank, blank, blank, "x"],
        }
    )

    found = rk.online.summarize(events, ["ctr"])

    assert found.table.select("value", "n").row(0) == (1 / 3, 3)


def test_ids_of_events_are_the_same_whether_ints_or_floats() -> None:
    part = pl.DataFrame({"user_id": ["a"], "event": ["impression"], "event_id": [2]})
    total = rk.online.Accumulator(["ctr"]).update(part)
    total.update(part.with_columns(pl.col("event_id").cast(pl.Float64)))

    assert total.result().table["n"].item() == 1


@pytest.mark.parametrize(
    "column", ["orders", "bounces", "clicks_before", "conversions"]
)
def test_a_table_that_lacks_a_count_is_refused(column: str) -> None:
    events = rk.online.generate(users=20, seed=0).events
    table = rk.online.users(events)

    with pytest.raises(DataError, match=f"lacks {column}, which rk.online.users makes"):
        rk.online.summarize(table.drop(column), ["ctr"])


def test_less_cost_and_fewer_bounces_are_better() -> None:
    events = rk.online.generate(users=400, seed=0).events
    metrics = {"bounces": "bounces", "sessions": "sessions"}

    test = rk.online.ab_test(events, control="A", metrics=metrics)

    directions = dict(test.details.select("metric", "higher_is_better").rows())
    assert directions == {"bounces": False, "sessions": True}


def test_users_without_page_views_do_not_count_in_a_quantile() -> None:
    at = {"a": [0, 10, 30, 31], "b": [0, 40, 45], "c": [0, 100, 101, 150, 160]}
    rows = [(user, time, "pageview") for user, times in at.items() for time in times]
    events = pl.DataFrame(rows, ["user_id", "timestamp", "event"], orient="row")

    found = rk.online.time_on_page(events, quantile=0.5, confidence=0.7)

    # 10 20 1 | 40 5 | 100 1 49 10: the median of nine is the fifth, 10.
    assert found.value == 10
    assert found.interval == (10, 20)


def test_a_log_whose_variants_are_all_missing_has_none() -> None:
    events = pl.DataFrame(
        {
            "user_id": ["a", "a", "b"],
            "timestamp": [1, 2, 3],
            "event": ["impression", "click", "impression"],
            "variant": pl.Series([None, None, None], dtype=pl.String),
        }
    )

    found = rk.online.summarize(events, ["ctr"])

    assert found.table.select("value", "users").rows() == [(1 / 2, 2)]
    assert "the log has no variant: all users are one group" in found.notes


def test_a_segment_may_be_called_segment() -> None:
    events = rk.online.generate(users=50, seed=0).events.rename({"country": "segment"})

    found = rk.online.summarize(events, ["ctr"], segment="segment")

    assert set(found.table["segment"]) == set(events["segment"])


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"by": None, "window": 7}, "by= names no variants"),
        ({"by": "country", "exposure": "pageview"}, "by= names no variants"),
    ],
)
def test_what_counts_from_an_exposure_needs_one(
    options: dict[str, Any], why: str
) -> None:
    events = rk.online.generate(users=50, seed=0).events

    with pytest.raises(ParameterError, match=f"has no effect, .*: {why}"):
        rk.online.summarize(events, **options)
    with pytest.raises(ParameterError, match="the log has no times"):
        rk.online.summarize(events.drop("timestamp"), window=7)


@pytest.mark.parametrize(
    "read",
    [
        lambda table, **given: rk.online.summarize(table, by=None, **given),
        lambda table, **given: rk.online.summarize(table, by="country", **given),
        lambda table, **_: rk.online.users(table, by=None),
        rk.online.calibrate,
        lambda table, **given: rk.online.users_needed(table, effect="5%", **given),
    ],
)
@pytest.mark.parametrize("given", [{}, {"incomplete": "keep"}])
def test_a_window_needs_variants_in_a_table_too(
    read: Callable[..., Any], given: dict[str, Any], form: Callable[..., Any]
) -> None:
    table = form(rk.online.users(LOG, segment="country", window=3))

    why = "with window= or --window, and is not read by variant: what users did before"
    with pytest.raises(ParameterError, match=why):
        read(table, **given)
    rk.online.calibrate(table, ["ctr"], 5, cuped=True)  # by variant


def test_a_table_that_was_not_made_by_arms_is_no_test() -> None:
    # User a is in both groups, which only the log tells.
    events = pl.DataFrame(
        {
            "user_id": ["a", "a", "b", "c"],
            "timestamp": [1, 2, 3, 4],
            "event": ["purchase"] * 4,
            "value": [10.0, 1000.0, 5.0, 25.0],
            "group": ["A", "B", "A", "B"],
            "country": ["x"] * 4,
        }
    )
    metrics = {"r": "revenue"}
    table = rk.online.users(events, by="country", segment="group")

    with pytest.raises(DataError, match="was not made by 'group'"):
        rk.online.ab_test(table, control="A", variant="group", metrics=metrics)

    table = rk.online.users(events, columns={"variant": "group"})
    test = rk.online.ab_test(table, control="A", metrics=metrics)
    assert test.details.select("control_value", "value").row(0) == (5, 25)


@pytest.mark.parametrize("column", ["revenue", "orders", "page_views"])
def test_a_column_in_place_of_a_metric_is_told_how_to_ask(column: str) -> None:
    events = rk.online.generate(20, seed=1).events
    hint = f"'{column}_per_user': '{column}'}} or -m {column}_per_user={column}$"

    for ask in (rk.online.summarize, rk.online.calibrate):
        with pytest.raises(UnknownMetricError, match=hint):
            ask(events, [column])


def test_tables_of_other_columns_are_not_put_together_silently() -> None:
    log = pl.DataFrame(
        {
            "user_id": ["u", "u"], "timestamp": [1, 2],
            "event": ["impression", "purchase"], "value": [0.0, 12.5],
        }
    )  # fmt: skip
    other = log.drop("value").with_columns(user_id=pl.lit("w"))
    both = pl.concat([rk.online.users(log), rk.online.users(other)], how="diagonal")

    with pytest.raises(DataError, match="row 1: orders is missing, not a count"):
        rk.online.summarize(both, {"spent": "revenue"})
