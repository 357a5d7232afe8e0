"""Users who weigh too much: who is named, left out by max_events=, or winsorized."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

import rankine as rk
from rankine._online.calibrate import Calibration
from rankine.errors import DataError, ParameterError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

ALWAYS = ["always_low", "always_high", "p_always", "p_always_corrected"]


def spending(**arms: Sequence[float]) -> pl.DataFrame:
    """Return a table of users of one's own: A1, A2, ... spend what is given for A."""
    rows = [
        (f"{arm}{n}", arm, float(value))
        for arm, values in arms.items()
        for n, value in enumerate(values, 1)
    ]
    return pl.DataFrame(rows, ["id", "variant", "spent"], orient="row")


def compared(users: pl.DataFrame, metrics: Any = None, **options: Any) -> Any:
    metrics = metrics or {"spent": "spent"}
    options = {"unit": "id", "variant": "variant", "control": "A", **options}
    return rk.online.ab_test(users, metrics=metrics, **options)


def seen(
    arms: Mapping[str, Sequence[int]], event: str = "impression", start: int = 0
) -> pl.DataFrame:
    """Return a log in which user A0, A1, ... has as many events as given for A."""
    rows = [
        (f"{arm}{n}", arm, 1_700_000_000 + 60 * (start + minute), event)
        for arm, counts in arms.items()
        for n, count in enumerate(counts)
        for minute in range(count)
    ]
    names = ["user_id", "variant", "timestamp", "event"]
    return pl.DataFrame(rows, names, orient="row")


def about(found: Any, words: str) -> list[str]:
    return [
        note
        for note in (*found.notes, *getattr(found, "warnings", ()))
        if words in note
    ]


# Who is named


def test_a_user_with_more_than_a_tenth_of_the_variance_is_named() -> None:
    # A: R = 20 / 20 = 1, and (20 - 1)^2 = 361 of 361 + 19 * 1^2 = 380, which is 95 %.
    test = compared(spending(A=[20, *[0] * 19], B=[1, 2] * 10))

    assert about(test, "of the variance") == [
        "spent: of the variance in A, user 'A1' makes up 95 %"
    ]
    assert not about(test, "bot")


def test_those_who_are_named_come_by_their_shares() -> None:
    # R = 60 / 20 = 3; 37^2 = 1369 and 17^2 = 289 of 1369 + 289 + 18 * 9 = 1820.
    test = compared(spending(A=[20, 40, *[0] * 18], B=[1, 2] * 10))

    assert about(test, "of the variance") == [
        "spent: of the variance in A, user 'A2' makes up 75 %, user 'A1' makes up 16 %"
    ]


def test_a_tenth_must_be_exceeded() -> None:
    # Of 20 users, k with a 1 make up (1 - k / 20) / k each: 0.1167 for 6, 0.0929 for 7.
    six, seven = [1] * 6 + [0] * 14, [1] * 7 + [0] * 13
    (note,) = about(compared(spending(A=six, B=seven)), "of the variance")

    assert note.startswith("spent: of the variance in A, user 'A1' makes up 12 %, ")
    assert note.count("12 %") == 6


@pytest.mark.parametrize(
    "users",
    [
        spending(A=[19, *[0] * 18], B=[1, 2] * 10),
        spending(A=[5] * 20, B=[1 / 3] * 20),
        spending(A=[20, *[0] * 18, math.nan], B=[1, 2] * 10),
    ],
    ids=["19 users", "nobody differs", "19 users with a value"],
)
def test_nobody_is_named(users: pl.DataFrame) -> None:
    assert not about(compared(users), "of the variance")


def test_a_ratio_that_does_not_vary_names_nobody() -> None:
    users = spending(A=range(1, 31), B=range(1, 31))
    users = users.with_columns(thirds=pl.col("spent") / 3)

    assert not about(compared(users, {"r": ("thirds", "spent")}), "of the variance")


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("cap", [math.inf, 30.0])
def test_exactly_those_above_a_tenth_are_named(seed: int, cap: float) -> None:
    rng = np.random.default_rng(seed)
    users = pl.DataFrame(
        {
            "id": [f"u{n}" for n in range(60)],
            "variant": ["A", "B"] * 30,
            "spent": rng.pareto(1, 60) - rng.choice([0, 9], 60),
            "views": rng.choice([1, 2, 3, 60], 60),
        }
    )
    caps = {} if math.isinf(cap) else {"mean": cap, "ratio": cap}
    metrics = {"mean": "spent", "ratio": ("spent", "views")}
    named = {
        (note.split(":")[0], note.split(" in ")[1][0], user)
        for note in about(compared(users, metrics, cap=caps), "of the variance")
        for user in re.findall("'(u[0-9]+)'", note)
    }

    expected = set()
    for metric in metrics:
        for arm in "AB":
            sides = {
                name: (min(spent, cap), views if metric == "ratio" else 1)
                for name, group, spent, views in users.iter_rows()
                if group == arm
            }
            above, below = (sum(side) for side in zip(*sides.values(), strict=True))
            parts = {
                name: (y - above / below * x) ** 2 for name, (y, x) in sides.items()
            }
            expected |= {
                (metric, arm, name)
                for name, part in parts.items()
                if part > 0.1 * sum(parts.values())
            }
    assert named == expected


def test_a_summary_names_them_in_their_variant() -> None:
    # A: R = 1 / 2; the user without a click has (0 - 20 / 2)^2 = 100, the 20 others
    # (1 - 1 / 2)^2 = 1/4 each: 100 / 105.
    shown = {"A": [20, *[1] * 20], "B": [1] * 20}
    clicks = {"A": [0, *[1] * 20], "B": [1] * 10}
    log = pl.concat([seen(shown), seen(clicks, "click", 60)])
    found = rk.online.summarize(log, ["ctr"])
    everybody = rk.online.summarize(log, ["ctr"], by=None)

    assert about(found, "of the variance") == [
        "ctr: of the variance in A, user 'A0' makes up 95 %"
    ]
    # R = 30 / 60: the same 100 of 100 + 40 * 1/4.
    assert about(everybody, "of the variance") == [
        "ctr: of the variance, user 'A0' makes up 91 %"
    ]
    assert about(
        rk.online.ab_test(log, control="A", metrics=["ctr"]), "of the var"
    ) == (about(found, "of the variance"))


def test_events_far_above_the_99th_percentile_are_possibly_a_bot() -> None:
    # Of 120 users, the 119th has 2 events: 20 * 2 = 40.
    usual = [2] * 119
    above, at = (seen({"A": [*usual, n]}) for n in (41, 40))
    said = (
        "1 user with more than 40 events, 20 times the 99th percentile of users (most: "
        "user 'A119', 41): possibly a bot; max_events= or --max-events leaves such "
        "users out, and winsorize= or --winsorize caps what each counts in a test"
    )

    assert about(rk.online.summarize(above, ["ctr"]), "the 99th percentile") == [said]
    assert not about(rk.online.summarize(above, ["ctr"]), "of the events")
    found = rk.online.summarize(at, ["ctr"])
    assert not about(found, "bot")
    assert "user 'A119' has 14 % of the events" in found.notes  # 40 / 278


# max_events=


ACTIVE = pl.concat(
    [
        seen({"A": [5, 3, 4], "B": [4, 9, 2]}),
        seen({"A": [1, 1, 1], "B": [1, 1, 1]}, "click", 10),
    ]
)


def test_users_with_more_events_are_left_out_and_counted() -> None:
    # With their clicks, A0 has 6 and B1 10 events; A2 and B0 have exactly 5.
    found = rk.online.summarize(ACTIVE, ["ctr"], max_events=5)

    assert found.table["value"].to_list() == [2 / 7, 2 / 6]
    assert found.table["users"].to_list() == [2, 2]
    assert found.excluded == {
        "users with more than 5 events": 2,
        "events of users with more than 5 events": 16,
    }


def test_a_test_counts_them_and_says_that_they_are_selected() -> None:
    test = rk.online.ab_test(ACTIVE, control="A", metrics=["ctr"], max_events=5)

    assert test.details.select("control_value", "value").row(0) == (2 / 7, 2 / 6)
    assert test.excluded["users with more than 5 events"] == 2
    (warning,) = about(test, "max_events")
    assert warning == (
        "max_events= or --max-events selects users by what they did (A 1, B 1 left "
        "out): a variant that makes users do more loses more of them, and its effect "
        "looks smaller; winsorize= or --winsorize keeps them all"
    )
    test = rk.online.ab_test(ACTIVE, control="A", metrics=["ctr"], max_events=10)
    assert not about(test, "max_events")
    assert not test.excluded


def test_only_events_that_count_are_compared() -> None:
    before = seen({"A": [9, 0, 0]}, start=-60).with_columns(
        variant=pl.lit(None, pl.String)
    )
    late = seen({"A": [0, 9, 0]}, start=60 * 48)
    log = pl.concat([before, ACTIVE, late])
    test = rk.online.ab_test(
        log, control="A", metrics=["ctr"], max_events=6, window=1, daily=True
    )

    assert test.excluded["users with more than 6 events"] == 1
    assert test.srm.counts == {"A": 3, "B": 2}
    assert test.by_day is not None
    assert test.by_day["n_control"].to_list()[-1] == 3


def test_days_of_a_user_add_up() -> None:
    days = [seen({"A": [3, 1], "B": [1, 1]}, start=1440 * day) for day in range(3)]
    found = rk.online.summarize(pl.concat(days), ["ctr"], daily=True, max_events=8)

    assert found.excluded["users with more than 8 events"] == 1
    assert found.excluded["events of users with more than 8 events"] == 9


def test_the_table_of_users_and_parts_give_the_same() -> None:
    table = rk.online.users(ACTIVE)
    expected = rk.online.summarize(ACTIVE, ["ctr"], max_events=5)
    parts = rk.online.Accumulator(["ctr"], max_events=5)
    for row in range(ACTIVE.height):
        parts.update(ACTIVE[row])

    assert table.height == 6
    assert parts.result().to_dict() == expected.to_dict()
    again = rk.online.summarize(table, ["ctr"], max_events=5)
    assert again.table.equals(expected.table)
    assert again.excluded == expected.excluded
    test = rk.online.ab_test(parts, control="A")
    assert test.excluded == expected.excluded


def test_the_median_of_a_time_leaves_them_out() -> None:
    # u looks for 60 s at 3 pages, v for 60 s at 9 pages, once for 120 s.
    pages = seen({"A": [4]}, "pageview").with_columns(user_id=pl.lit("u"))
    more = seen({"A": [9]}, "pageview").with_columns(
        user_id=pl.lit("v"), timestamp=2 * pl.col("timestamp") - 1_700_000_000
    )
    log = pl.concat([pages, more])
    medians = [
        rk.online.time_on_page(log, quantile=0.5, max_events=most)
        for most in (None, 9, 8)
    ]

    assert [median.value for median in medians] == [120, 120, 60]
    assert [median.n for median in medians] == [11, 11, 3]


def shares(lost: int, n: int = 112) -> Any:
    log = seen({"A": [9] * lost + [1] * (n - lost), "B": [1] * n})
    return rk.online.ab_test(log, control="A", metrics=["ctr"], max_events=5)


def test_other_shares_in_the_arms_are_warned_of() -> None:
    # 12 of 112 and 0 of 112: 6 and 106 are expected in each arm, so that chi-squared
    # is 2 * 6^2 / 6 + 2 * 6^2 / 106.
    p = math.erfc(math.sqrt((12 + 72 / 106) / 2))

    assert round(p, 4) == 0.0004
    (warning,) = about(shares(12), "different shares")
    assert warning == (
        "the variants lose different shares of users to max_events= (p = 0.0004): "
        "those who are left cannot be compared"
    )
    # 2 * 5.5^2 / 5.5 + 2 * 5.5^2 / 106.5 = 11.57 gives p = 0.00067, and 10 p = 0.0012;
    # of 9, fewer than 5 are expected in each arm.
    assert about(shares(11), "different shares")
    assert not about(shares(10), "different shares")
    assert not about(shares(9, 10_000), "different shares")


@pytest.mark.parametrize("most", [0, -1, 2.5, "9", True])
def test_a_number_of_events_that_cannot_be(most: Any) -> None:
    with pytest.raises(ParameterError, match=r"^max_events must be "):
        rk.online.summarize(ACTIVE, ["ctr"], max_events=most)


def test_where_nobody_is_left() -> None:
    log = seen({"A": [3, 3], "B": [3]})
    with pytest.raises(DataError, match="no user is left: 3 users with more than 2 "):
        rk.online.summarize(log, ["ctr"], max_events=2)


def test_a_table_of_ones_own_has_no_events() -> None:
    with pytest.raises(ParameterError, match=r"^max_events is for events"):
        compared(spending(A=[1, 2], B=[1, 2]), max_events=9)


# winsorize=


def test_the_cap_is_pooled_over_arms() -> None:
    # Of 1, ..., 20, the quantile 0.9 is the 18th: 19 and 20 of B are cut to 18, and
    # nothing of A, which has 1, ..., 10.
    users = spending(A=range(1, 11), B=range(11, 21))
    test = compared(users, winsorize=0.9)

    row = test.details.row(0, named=True)
    assert row["control_value"] == 55 / 10
    assert row["value"] == (11 + 12 + 13 + 14 + 15 + 16 + 17 + 18 + 18 + 18) / 10
    cut, without = about(test, "winsoriz")
    assert cut == "spent: winsorizing at 0.9 cuts values above 18, of 2 users"
    assert without.startswith("winsorize= leaves no always-valid intervals: its caps ")


def test_both_sides_of_a_ratio_are_capped() -> None:
    # Of 20 users each, the 18th of clicks (0, ..., 19) is 17, that of views (20, ...,
    # 39) is 37; the last two users have the most of both, and the first has no clicks.
    users = spending(A=range(10), B=range(10, 20)).with_columns(
        views=pl.col("spent") + 20
    )
    test = compared(users, {"ctr": ("spent", "views")}, winsorize=0.9)

    clicks, views = 10 + 11 + 12 + 13 + 14 + 15 + 16 + 3 * 17, 30 + 31 + 32 + 33
    views += 34 + 35 + 36 + 3 * 37
    assert test.details["value"].item() == pytest.approx(clicks / views, rel=1e-15)
    (cut,) = about(test, "winsorizing at 0.9")
    assert cut == (
        "ctr: winsorizing at 0.9 cuts numerators above 17 and denominators above 37, "
        "of 2 users"
    )


def test_who_is_cut_is_no_longer_named() -> None:
    users = spending(A=[1000, *[1, 2] * 20], B=[1, 2] * 20)

    assert about(compared(users), "of the variance")
    assert not about(compared(users, winsorize=0.9), "of the variance")


@pytest.fixture(scope="module")
def drawn() -> pl.DataFrame:
    """Return 2,400 users with a ratio, its covariates and a segment."""
    log = rk.online.generate(1200, before=True, seed=5).events
    users = rk.online.users(log, segment="country")
    return users.with_columns(revenue_before=pl.lit(0.0)).filter(
        pl.col("impressions") > 0
    )


def test_it_is_what_a_test_of_capped_columns_gives(drawn: pl.DataFrame) -> None:
    options: Any = {
        "unit": "user", "variant": "variant", "control": "A", "segment": "country",
        "metrics": {"ctr": ("clicks", "impressions"), "shown": "impressions"},
        "covariates": {
            "ctr": ("clicks_before", "impressions_before"),
            "shown": "impressions_before",
        },
    }  # fmt: skip
    capped = drawn.with_columns(
        pl.min_horizontal(name, pl.lit(sorted(drawn[name])[math.ceil(0.99 * n) - 1]))
        for n in [drawn.height]
        for name in ("clicks", "impressions")
    )
    found = rk.online.ab_test(drawn, winsorize=0.99, **options)
    expected = rk.online.ab_test(capped, **options)

    assert not expected.details["p_always"].is_nan().all()
    for name in expected.details.columns:
        if name in ALWAYS:
            assert found.details[name].is_nan().all()
        elif found.details[name].dtype == pl.Float64:
            ours, theirs = (test.details[name].to_list() for test in (found, expected))
            assert ours == pytest.approx(theirs, rel=1e-12, nan_ok=True)
        else:
            assert found.details[name].equals(expected.details[name])
    assert any("values before the test are not cut" in note for note in found.notes)
    assert "segment" in found.table.columns


def test_no_look_has_a_sequence() -> None:
    log = rk.online.generate(1200, seed=2, days=3).events
    test = rk.online.ab_test(
        log, control="A", metrics=["ctr"], daily=True, winsorize=0.999
    )

    assert test.by_day is not None
    for frame in (test.by_day, test.details):
        for name in {*ALWAYS} & {*frame.columns}:
            assert frame[name].is_nan().all()
    assert not about(test, "always-valid intervals are approximate")


def test_a_fixed_cap_comes_first() -> None:
    # 20 values cut to 15: the 18th is 15, too.
    users = spending(A=range(1, 11), B=range(11, 21))
    test = compared(users, cap={"spent": 15}, winsorize=0.9)

    assert test.details["value"].item() == (11 + 12 + 13 + 14 + 6 * 15) / 10
    assert "spent: winsorizing at 0.9 cuts nothing" in test.notes


def test_users_without_a_value_have_none() -> None:
    # The quantile 0.9 of 20 known values is the 18th.
    users = spending(A=range(1, 11), B=[*range(11, 21), math.nan])

    assert compared(users, winsorize=0.9).details["value"].item() == 152 / 10


@pytest.mark.parametrize("share", [0.5, 1, 0, -1, 99.9, math.nan, True, "0.9"])
def test_a_share_that_cannot_be(share: Any) -> None:
    words = "^winsorize must be a number above 0.5 and below 1"
    with pytest.raises(ParameterError, match=words):
        compared(spending(A=[1, 2], B=[1, 2]), winsorize=share)


def test_a_quantile_is_refused() -> None:
    users = spending(A=[1, 2], B=[1, 2])
    with pytest.raises(ParameterError, match=r"^winsorize cannot be given for p90, "):
        compared(users, {"p90": ("spent", 0.9)}, winsorize=0.9)


def test_a_metric_is_not_capped_to_nothing() -> None:
    users = spending(A=[1, *[0] * 19], B=[0] * 20)
    words = "would cap spent at 0, as only 2.50 % of users have more"
    with pytest.raises(DataError, match=words):
        compared(users, winsorize=0.9)


# What they are for


def test_four_bots_hide_an_effect_until_they_are_dealt_with() -> None:
    world = rk.online.generate(2000, variants={"A": {}, "B": {"ctr": 0.12}}, seed=3)
    shown = world.events.filter(event="impression")
    bots = [
        shown.filter(variant=arm)
        .head(1)
        .with_columns(user_id=pl.lit(10_000 + n, pl.Int64))
        .select(pl.all().repeat_by(6000).explode())
        .with_columns(pl.col("timestamp") + pl.duration(seconds=pl.int_range(pl.len())))
        for n, arm in enumerate("ABAB")
    ]
    log = pl.concat([world.events, *bots])

    def tested(log: pl.DataFrame, **options: Any) -> Any:
        return rk.online.ab_test(log, control="A", metrics=["ctr"], **options)

    clean, hidden = tested(world.events), tested(log)
    assert clean.details["verdict"].to_list() == ["better"]
    assert hidden.details["verdict"].to_list() == ["cannot tell"]
    assert about(hidden, "possibly a bot")[0].startswith("4 users with more than ")
    assert len(about(hidden, "of the variance")) == 2
    assert not about(clean, "bot")
    without = tested(log, max_events=500)
    assert without.table.equals(clean.table)
    assert not about(without, "different shares")
    assert tested(log, winsorize=0.999).details["verdict"].to_list() == ["better"]


def test_calibrate_points_to_both() -> None:
    row = ("spent", 0.09, 0.07, 0.11, 1000)
    names = ["metric", "false_alarms", "low", "high", "n"]
    table = pl.DataFrame([row], names, orient="row")

    assert str(Calibration(table, 0.05, 500)).endswith(
        "expected 5.0 %: too many; if a few users make up most of it, winsorize= "
        "(--winsorize) caps what each counts in a test, and max_events= (--max-events) "
        "leaves out bots"
    )


# Caps by metric


@pytest.mark.parametrize("most", [0, -3])
def test_a_cap_below_all_users_is_refused(most: float) -> None:
    message = f"^cap of ctr must be above 0, got {most}: nobody has less"
    with pytest.raises(ParameterError, match=message):
        rk.online.ab_test(ACTIVE, control="A", metrics=["ctr"], cap={"ctr": most})
    table = rk.online.users(ACTIVE).with_columns(x=pl.col("clicks") + 1.0)
    own: dict[str, Any] = {"unit": "user", "variant": "variant", "control": "A"}
    with pytest.raises(ParameterError, match=r"^cap of x must be above 0"):
        rk.online.ab_test(table, metrics={"x": "x"}, cap={"x": most}, **own)


def test_money_may_be_below_a_cap_of_0() -> None:
    users = pl.DataFrame(
        {
            "id": range(6),
            "arm": list("AAABBB"),
            "won": [-4.0, 5, 1, -1, -2, 9],
        }
    )
    test = rk.online.ab_test(
        users, unit="id", variant="arm", control="A", metrics={"won": "won"},
        cap={"won": -1},
    )  # fmt: skip

    assert test.table["control_value"].item() == (-4 - 1 - 1) / 3
    assert test.table["value"].item() == pytest.approx((-1 - 2 - 1) / 3)
