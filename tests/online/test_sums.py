"""Sums per user: by hand, and against plain loops."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rankine as rk
from rankine._base.limits import limited
from rankine.errors import DataError, RankineError, UnknownMetricError
from tests.online.logs import log, user_sums
from tests.online.twin import twin

SIX = [
    "ctr",
    "conversion_rate",
    "bounce_rate",
    "engagement_rate",
    "time_on_page",
    "roi",
]
VISIT = log(
    """
    u A 0 pageview home
    u A 0.5 impression
    u A 0.5 impression x
    u A 1 click
    u A 2 pageview item
    u A 2.5 conversion
    u A 5 pageview thanks
    u A 40 pageview home
    v A 3 pageview home
    """
)


def sums(frame: Any, metric: str, **rules: Any) -> dict[str, tuple[float, float]]:
    found = user_sums(frame, [metric], **rules).frame
    return {
        row[0]: row[1:]
        for row in found.select("user", f"{metric}.y", f"{metric}.x").iter_rows()
    }


@pytest.mark.parametrize(
    ("metric", "rules", "expected"),
    [
        ("ctr", {}, {"u": (1, 2), "v": (0, 0)}),
        ("conversion_rate", {}, {"u": (1, 1), "v": (0, 1)}),
        ("conversion_rate", {"unit": "sessions"}, {"u": (1, 2), "v": (0, 1)}),
        ("conversion_rate", {"unit": "clicks"}, {"u": (1, 1), "v": (0, 0)}),
        ("bounce_rate", {}, {"u": (1, 2), "v": (1, 1)}),
        ("bounce_rate", {"session_gap": 35}, {"u": (0, 1), "v": (1, 1)}),
        ("engagement_rate", {}, {"u": (1, 2), "v": (0, 1)}),
        ("engagement_rate", {"engaged": ["conversion"]}, {"u": (1, 2), "v": (0, 1)}),
        ("engagement_rate", {"engaged": ["share"]}, {"u": (0, 2), "v": (0, 1)}),
        ("engagement_rate", {"engaged": 5 * 60}, {"u": (1, 2), "v": (0, 1)}),
        ("engagement_rate", {"engaged": 5 * 60 + 1}, {"u": (0, 2), "v": (0, 1)}),
        ("time_on_page", {}, {"u": (2 * 60 + 3 * 60, 2), "v": (0, 0)}),
        ("time_on_page", {"cap": 150}, {"u": (2 * 60 + 150, 2), "v": (0, 0)}),
    ],
)  # fmt: skip
def test_by_hand(metric: str, rules: dict[str, Any], expected: dict[str, Any]) -> None:
    assert sums(VISIT, metric, **rules) == expected


def test_a_gap_of_exactly_thirty_minutes_does_not_end_a_session() -> None:
    frame = log("u A 0 pageview\nu A 30 pageview b\nu A 60.1 pageview c")

    assert sums(frame, "bounce_rate") == {"u": (1, 2)}


def test_what_is_seen_passively_does_not_stop_a_bounce() -> None:
    frame = log("u A 0 pageview\nu A 1 impression\nu A 2 heartbeat\nu A 3 exposure")

    assert sums(frame, "bounce_rate") == {"u": (1, 1)}
    assert sums(frame.vstack(log("u A 4 scroll")), "bounce_rate") == {"u": (0, 1)}


def test_a_heartbeat_closes_the_last_page_where_asked() -> None:
    frame = log(
        """
        u A 0 pageview a
        u A 1 heartbeat
        u A 2 pageview b
        u A 3 heartbeat
        u A 4.5 heartbeat
        u A 100 pageview c
        """
    )

    assert sums(frame, "time_on_page") == {"u": (2 * 60, 1)}
    closed = sums(frame, "time_on_page", last_page="heartbeat")
    assert closed == {"u": (2 * 60 + 2.5 * 60, 2)}


def test_sessions_by_id_may_overlap_and_pause() -> None:
    frame = log(
        "u A 0 pageview a\nu A 1 pageview b\nu A 5 pageview c\nu A 50 pageview d"
    ).with_columns(session_id=pl.Series(["s", "t", "s", "t"]))

    assert sums(frame, "time_on_page") == {"u": (5 * 60 + 49 * 60, 2)}
    assert sums(frame, "bounce_rate") == {"u": (0, 2)}


def test_an_id_that_comes_back_after_a_day_is_the_same_session() -> None:
    frame = log("u A 0 pageview a\nu A 1440 pageview b\nu A 2881 pageview c")
    frame = frame.with_columns(session_id=pl.lit("s"))

    assert sums(frame, "bounce_rate") == {"u": (0, 1)}
    assert sums(frame, "time_on_page") == {"u": (2881 * 60, 2)}


def test_clicks_convert_if_a_conversion_comes_before_the_next_click() -> None:
    frame = log(
        """
        u A 0 conversion early
        u A 1 click a
        u A 2 click b
        u A 3 conversion b
        u A 4 conversion again
        u A 5 click c
        u A 60 conversion late
        """
    )

    assert sums(frame, "conversion_rate", unit="clicks") == {"u": (1, 3)}


def test_a_session_counts_on_the_day_on_which_it_begins() -> None:
    """Minute 100 is 23:53:20, minute 110 is 0:03:20."""
    frame = log(
        """
        u A 100 pageview a
        u A 101 impression
        u A 110 pageview b
        u A 111 click
        u A 112 impression
        """
    )
    columns = [
        "clicks", "impressions", "bounces", "engaged_sessions", "sessions",
        "seconds_on_page", "timed_page_views",
    ]  # fmt: skip
    found = rk.online.users(frame, daily=True)

    assert found["day"].cast(pl.String).to_list() == ["2023-11-14", "2023-11-15"]
    assert found.select(columns).rows() == [
        (0, 1, 0, 1, 1, 10 * 60, 1),
        (1, 1, 0, 0, 0, 0, 0),
    ]


# Exposure and arms


def test_only_what_comes_after_the_first_exposure_counts() -> None:
    frame = log(
        """
        u - 0 impression
        u - 1 click
        u A 2 impression
        u - 3 impression x
        u - 4 click
        """
    )
    found = user_sums(frame, ["ctr"])

    (row,) = found.frame.select("ctr.y", "ctr.x", "ctr.y0", "ctr.x0").rows()
    assert row == (1, 2, 1, 1)
    assert found.excluded == {"events before the first exposure": 2}
    assert found.frame["first"].to_physical().to_list() == [1_700_000_120 * 10**6]


def test_a_session_is_cut_by_the_first_exposure() -> None:
    frame = log("u - 0 pageview a\nu - 1 click\nu A 2 pageview b")

    assert sums(frame, "bounce_rate") == {"u": (1, 1)}


def test_an_event_may_say_who_is_exposed() -> None:
    frame = log("u A 0 impression\nu A 1 assigned\nu A 2 impression\nv A 0 impression")
    found = user_sums(frame, ["ctr"], exposure="assigned")

    assert found.frame["user"].to_list() == ["u"]
    assert found.frame["ctr.x"].to_list() == [1]
    assert found.excluded == {
        "users never exposed": 1,
        "events of users never exposed": 1,
        "events before the first exposure": 1,
    }


def test_an_exposure_that_the_log_does_not_have_is_named() -> None:
    frame = log("u A 0 impression\nu A 1 click")
    said = "users never exposed.*; exposure names 'clik', but .*did you mean 'click'"

    with pytest.raises(DataError, match=said):
        user_sums(frame, ["ctr"], exposure="clik")


def test_users_in_both_arms_are_said_to_be_left_out_once() -> None:
    frame = log("u A 0 impression\nu B 1 impression\nv B 0 impression")
    text = " ".join(str(rk.online.summarize(frame, ["ctr"])).split())

    assert text.count("1 user in more than one variant") == 1
    assert "- 1 user in more than one variant: left out" in text
    assert "- users in more than one variant, by variant: A 1, B 1" in text


def test_users_in_both_arms_are_left_out_and_counted() -> None:
    frame = log("u A 0 impression\nu B 1 impression\nv B 0 impression\nw - 0 click")
    found = user_sums(frame, ["ctr"])

    assert found.frame["user"].to_list() == ["v"]
    assert "users in more than one variant, by variant: A 1, B 1" in found.notes
    assert found.excluded == {
        "users in more than one variant": 1,
        "events of users in more than one variant": 2,
        "users without a variant": 1,
        "events of users without a variant": 1,
    }


def test_a_window_ends_what_counts() -> None:
    frame = log("u A 0 impression\nu A 1439 impression\nu A 1440 impression")
    found = user_sums(frame, ["ctr"], window=1)

    assert found.frame["ctr.x"].to_list() == [2]
    assert found.excluded == {"events after the window": 1}


def test_groups_other_than_variants_are_those_of_the_first_event() -> None:
    frame = log("u A 1 impression\nu A 0 impression\nv B 0 impression")
    frame = frame.with_columns(device=pl.Series(["phone", "desk", "desk"]))
    found = user_sums(frame, ["ctr"], by="device")

    assert found.frame.select("user", "variant").rows() == [
        ("u", "desk"),
        ("v", "desk"),
    ]
    assert found.frame["first"].null_count() == 2
    assert "1 user in more than one device, counted in their first" in found.notes


def test_nobody_left_is_said() -> None:
    with pytest.raises(DataError, match="no user is left: 1 user in more than one"):
        user_sums(log("u A 0 impression\nu B 1 impression"), ["ctr"])


# What is odd


def test_the_same_row_counts_once() -> None:
    frame = log("u A 0 impression\nu A 0 impression\nu A 0 impression other")
    found = user_sums(frame, ["ctr"])

    assert found.frame["ctr.x"].to_list() == [2]
    assert found.excluded == {"duplicate events": 1}
    assert sums(frame, "ctr", duplicates="keep") == {"u": (0, 3)}


def test_an_id_tells_events_apart() -> None:
    frame = log("u A 0 impression\nu A 0 impression\nu A 1 impression")
    frame = frame.with_columns(event_id=pl.Series([1, 2, 2]))

    assert sums(frame, "ctr") == {"u": (0, 2)}


def test_events_need_not_be_in_the_order_of_time() -> None:
    frame = log("u A 5 pageview b\nv A 0 pageview\nu A 0 pageview a")

    assert sums(frame, "time_on_page") == {"u": (300, 1), "v": (0, 0)}


def test_a_user_with_a_tenth_of_the_events_is_reported() -> None:
    rows = [f"u{n:02} A {n} impression" for n in range(27)]
    robot = [f"bot A {n} impression" for n in range(3)]
    found = user_sums(log("\n".join(rows + robot)), ["ctr"])

    assert "user 'bot' has 10 % of the events" in found.notes
    found = user_sums(log("\n".join(rows + robot[:2])), ["ctr"])
    assert not any("of the events" in note for note in found.notes)


def test_more_clicks_than_impressions_are_refused_or_left_out() -> None:
    frame = log("u A 0 impression\nu A 1 click\nu A 2 click")
    why = "there are more clicks than impressions: 2 and 1, a rate above 1"

    with pytest.raises(DataError, match=f"^ctr cannot be computed: {why}$"):
        user_sums(frame, ["ctr"])
    found = user_sums(frame)
    assert found.left_out is not None
    assert found.left_out["ctr"] == why
    assert (*found.metrics,) == ("engagement_rate",)


def test_money_is_added_exactly() -> None:
    frame = log("\n".join(f"u A {n} conversion" for n in range(10))).with_columns(
        value=pl.lit(0.1), cost=pl.lit(0.05)
    )
    refund = log("u A 20 refund").with_columns(value=pl.lit(-0.4), cost=pl.lit(0.0))

    assert sums(frame, "roi") == {"u": (0.5, 0.5)}
    assert sums(frame.vstack(refund), "roi") == {"u": (1 / 10, 0.5)}


def test_values_that_are_no_revenue_are_counted() -> None:
    frame = log("u A 0 click\nu A 1 conversion\nu A 2 refund").with_columns(
        value=pl.Series([5.0, 7.0, -1.0]), cost=pl.lit(2.0)
    )
    found = user_sums(frame, ["roi"])

    assert found.frame["roi.y"].to_list() == [7 - 1 - 6]
    said = "1 event with a value, but neither conversion nor refund: not revenue"
    assert said in found.notes


def test_metrics_without_their_columns_are_named() -> None:
    found = user_sums(log("u A 0 impression"))

    assert (*found.metrics,) == ("ctr", "engagement_rate")
    assert found.left_out == {
        "conversion_rate": "the log has no conversion",
        "bounce_rate": "the log has no pageview",
        "time_on_page": "the log has no pageview",
        "roi": "the log has no value and no cost",
    }
    with pytest.raises(
        DataError, match=r"^roi cannot be computed: the log has no value"
    ):
        user_sums(log("u A 0 impression"), ["roi"])
    with pytest.raises(UnknownMetricError, match="did you mean 'ctr'"):
        user_sums(log("u A 0 impression"), ["crt"])


# Against plain loops

EVENT = st.fixed_dictionaries(
    {
        "user_id": st.integers(0, 3),
        "variant": st.sampled_from(["A", "A", "A", "B", None]),
        "timestamp": st.integers(0, 150).map(lambda n: 1_700_000_000 + 400 * n),
        "event": st.sampled_from(
            ["impression", "pageview", "click", "share", "conversion"]
        ),
        "value": st.integers(0, 4).map(lambda n: n / 4),
        "cost": st.integers(1, 4).map(lambda n: n / 4),
    }
)
KINDS = [
    {"user_id": 9, "variant": "A", "timestamp": 1_700_000_000 + n, "event": kind}
    | {"value": 1.0, "cost": 1.0}
    for n, kind in enumerate(["impression", "impression", "pageview", "conversion"])
]


@pytest.mark.parametrize("sizes", [{}, {"batch_rows": 3, "held_events": 2}])
@settings(deadline=None, max_examples=30)
@given(rows=st.lists(EVENT, min_size=1, max_size=60))
def test_as_plain_loops_count(
    rows: list[dict[str, Any]], sizes: dict[str, Any]
) -> None:
    rows = [*rows, *KINDS]
    names = [name for name in SIX if name != "ctr"]
    frame = pl.DataFrame(rows, schema_overrides={"variant": pl.String})
    with limited(**sizes):
        found = user_sums(frame, names).frame
    expected = twin(rows)

    assert found["user"].to_list() == list(expected)
    for row in found.iter_rows(named=True):
        own = expected[row["user"]]
        assert row["variant"] == own["variant"]
        for name in names:
            for side in ("y", "x", "y0", "x0"):
                assert row[f"{name}.{side}"] == own[f"{name}.{side}"], (name, side)


@pytest.mark.parametrize(
    ("rules", "words"),
    [
        ({"unit": "pages"}, "unit must be one of users, sessions, clicks, got 'pages'"),
        ({"session_gap": 0}, "session_gap must be above 0 minutes"),
        ({"engaged": "click"}, r"engaged must be a list of events such as"),
        ({"kinds": {"watch": "look"}}, "a kind of event must be one of exposure, "),
        ({"columns": {"usr": "x"}}, "columns has no part 'usr'; .* mean 'user'"),
        ({"cap": -1}, "cap must be above 0 seconds"),
        ({"by": 3}, "by must be the name of a column or None, got 3"),
    ],
)
def test_rules_that_cannot_be(rules: dict[str, Any], words: str) -> None:
    with pytest.raises(RankineError, match=words):
        user_sums(VISIT, **rules)
