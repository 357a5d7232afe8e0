"""Rules for a log that matter for no metric that was asked for: they are refused."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import rankine as rk
from rankine.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Callable

WORLD = rk.online.generate(60, before=True).events


def also(after: str, seconds: int, event: str) -> pl.DataFrame:
    """Return an event some seconds after each one of a kind."""
    later = pl.col("timestamp") + pl.duration(seconds=seconds)
    return WORLD.filter(event=after).with_columns(later, event=pl.lit(event))


BEATS = also("click", 7, "heartbeat")
AGAIN = also("conversion", 60, "conversion")
LED = also("conversion", -60, "click"), also("conversion", -60, "impression")
LOG = pl.concat([WORLD, BEATS, AGAIN, *LED]).sort("timestamp")
RULES: dict[str, Any] = {
    "session_gap": 0.5, "engaged": ["share"], "unit": "clicks", "cap": 3,
    "last_page": "heartbeat",
}  # fmt: skip
OURS = [
    "ctr", "conversion_rate", "bounce_rate", "engagement_rate", "time_on_page", "roi",
    "engagement_per_impression", "retention_1",
]  # fmt: skip
COUNTS = [
    "events", "impressions", "clicks", "page_views", "actions", "conversions", "orders",
    "sessions", "converting_sessions", "pageless_sessions", "bounces",
    "engaged_sessions", "converting_clicks", "seconds_on_page", "timed_page_views",
    "untimed_page_views", "revenue", "cost",
]  # fmt: skip
ASKED: list[Any] = [*([name] for name in OURS), *({name: name} for name in COUNTS)]
EVERY = {name: name for name in (*OURS, *COUNTS)}


def values(metrics: Any, **rules: Any) -> dict[str, list[float]]:
    table = rk.online.summarize(LOG, metrics, **rules).table
    return {
        metric: rows["value"].to_list()
        for (metric,), rows in table.group_by("metric", maintain_order=True)
    }


@pytest.fixture(scope="module")
def of_rule() -> dict[str, dict[str, list[float]]]:
    """All metrics by each of the rules, and by none."""
    by_rule = {name: values(EVERY, **{name: RULES[name]}) for name in RULES}
    return {"": values(EVERY), **by_rule}


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("asked", ASKED, ids=str)
def test_a_rule_is_refused_where_it_changes_nothing(
    rule: str, asked: Any, of_rule: dict[str, dict[str, list[float]]]
) -> None:
    (name,) = asked
    if of_rule[rule][name] == of_rule[""][name]:
        with pytest.raises(ParameterError, match=f"{rule} has no effect on {name}; "):
            values(asked, **{rule: RULES[rule]})
    else:
        assert values(asked, **{rule: RULES[rule]})[name] == of_rule[rule][name]


@pytest.mark.parametrize(
    ("asked", "rules", "why"),
    [
        (["ctr"], {"cap": 3}, "cap has no effect on ctr; .*such as time_on_page"),
        ("ctr", {"session_gap": 30}, "session_gap has no effect on ctr; it is for "),
        (["ctr", "roi"], {"engaged": 9}, "engaged has no effect on ctr, roi; it is "),
        (["roi"], {"unit": "users"}, "such as conversion_rate"),
        ({"aov": ("revenue", "orders")}, {"last_page": "exclude"}, "last_page .* aov"),
        (["conversion_rate"], {"session_gap": 9, "unit": "users"}, "session_gap has"),
        (["engagement_per_impression"], {"engaged": 9}, "such as engagement_rate$"),
    ],
)
def test_it_is_refused_whatever_its_value(
    asked: Any, rules: dict[str, Any], why: str
) -> None:
    with pytest.raises(ParameterError, match=why):
        rk.online.summarize(LOG, asked, **rules)


@pytest.mark.parametrize(
    ("asked", "rules"),
    [
        (None, RULES),
        (["ctr", "time_on_page"], {"cap": 3}),
        ({"clicks": "clicks", "seconds": "seconds_on_page"}, {"cap": 3}),
        ({"stay": ("seconds_on_page", "timed_page_views")}, {"last_page": "heartbeat"}),
        (["conversion_rate"], {"session_gap": 9, "unit": "sessions"}),
        (iter(["ctr", "bounce_rate"]), {"session_gap": 9}),
        (["ctr"], {"cap": None, "engaged": None, "max_events": 999, "window": 7}),
    ],
)
def test_it_is_not_refused_where_a_metric_reads_it(
    asked: Any, rules: dict[str, Any]
) -> None:
    assert rk.online.summarize(LOG, asked, **rules).table.height


@pytest.mark.parametrize(
    "call",
    [
        lambda: rk.online.ab_test(LOG, control="A", metrics=["ctr"], cap=3),
        lambda: rk.online.calibrate(LOG, ["ctr"], 5, cap=3),
        lambda: rk.online.users_needed(LOG, metrics=["ctr"], effect=0.1, cap=3),
        lambda: rk.online.click_through_rate(LOG, cap=3),
        lambda: rk.online.Accumulator(["ctr"], cap=3),
        lambda: rk.online.ab_test(
            LOG, control="A", metrics={"ctr": ("clicks", "impressions")}, cap=3
        ),
    ],
)
def test_every_function_refuses_it(call: Callable[[], Any]) -> None:
    with pytest.raises(ParameterError, match="cap has no effect on ctr"):
        call()


def test_a_quantile_of_the_time_on_page_refuses_it() -> None:
    with pytest.raises(ParameterError, match="unit has no effect on time_on_page; "):
        rk.online.time_on_page(LOG, quantile=0.5, unit="users")
    assert rk.online.time_on_page(LOG, quantile=0.5, cap=3).value == 3


def test_what_was_counted_with_a_rule_answers_every_question() -> None:
    total = rk.online.Accumulator(cap=3).update(LOG)
    table = rk.online.users(LOG, cap=3)
    for counted in (total, table):
        assert rk.online.ab_test(counted, control="A", metrics=["ctr"]).table.height
    assert rk.online.summarize(table, ["ctr"], max_events=999).table.height
    with pytest.raises(ParameterError, match="unit has no effect on ctr"):
        rk.online.summarize(table, ["ctr"], unit="users")
