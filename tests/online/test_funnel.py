"""Funnels: how many users take steps in order."""

from __future__ import annotations

import math
from collections import defaultdict
from datetime import timedelta
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest

import rankine as rk
from rankine._base.limits import limited
from rankine.errors import ParameterError, RankineError
from tests.online.logs import log

if TYPE_CHECKING:
    from collections.abc import Sequence
    from random import Random

DAY = 24 * 60
SHOP = ["view", "cart", "purchase"]


def reached(events: Any, steps: Sequence[str] = SHOP, **options: Any) -> list[int]:
    """Return how many users reach each step, of a log without groups."""
    found = rk.online.funnel(events, steps, by=None, **options)
    return found.table["users"].to_list()


def test_a_funnel_by_hand() -> None:
    """In A, a does all steps, b views and buys without a cart, and c does nothing."""
    events = log(
        """
        a A 0 view
        a A 1 scroll
        a A 2 cart
        a A 9 purchase
        b A 0 view
        b A 1 purchase
        c A 0 scroll
        d B 0 cart
        d B 1 view
        d B 2 cart
        """
    )

    found = rk.online.funnel(events, SHOP)

    assert found.groups == ("variant",)
    assert found.events == 10
    table = found.table
    assert table.select("variant", "step", "users").rows() == [
        ("A", "view", 2), ("A", "cart", 1), ("A", "purchase", 1),
        ("B", "view", 1), ("B", "cart", 1), ("B", "purchase", 0),
    ]  # fmt: skip
    assert table["rate"].to_list() == [2 / 3, 1 / 2, 1 / 1, 1 / 1, 1 / 1, 0 / 1]
    assert table["of_first"].to_list() == [1, 1 / 2, 1 / 2, 1, 1 / 1, 0 / 1]


@pytest.mark.parametrize("confidence", [0.95, 0.8])
def test_intervals_are_those_of_scipy(confidence: float) -> None:
    world = rk.online.generate(60, seed=3).events
    steps = ["impression", "click", "conversion"]

    table = rk.online.funnel(world, steps, by=None, confidence=confidence).table

    n_of = [world["user_id"].n_unique(), *table["users"]]
    assert n_of[-1] > 0
    for number, row in enumerate(table.iter_rows(named=True), 1):
        of = {"": n_of[number - 1], "of_first_": n_of[1]}
        for mark, n in of.items():
            bounds = row[f"{mark}low"], row[f"{mark}high"]
            if number == 1 and mark:
                assert all(map(math.isnan, bounds))
                continue
            exact = binomtest(n_of[number], n).proportion_ci(confidence, "wilson")
            assert bounds == pytest.approx((exact.low, exact.high), rel=1e-12)


@pytest.mark.parametrize(
    ("within", "expected"),
    [
        (None, [1, 1, 1]),
        (1, [1, 1, 1]),
        (timedelta(days=1), [1, 1, 1]),
        (timedelta(days=1, microseconds=-1), [1, 1, 0]),
        (0.5, [1, 1, 0]),
        (timedelta(minutes=4), [1, 0, 0]),
    ],
)
def test_all_steps_are_within_the_time(within: Any, expected: list[int]) -> None:
    """The cart is 5 minutes after the view, the purchase a day after it."""
    events = log(f"a A 0 view\na A 5 cart\na A {DAY} purchase")

    assert reached(events, within=within) == expected


def test_the_time_counts_from_the_first_step_not_from_the_one_before() -> None:
    events = log(f"a A 0 view\na A {0.8 * DAY} cart\na A {1.6 * DAY} purchase")

    assert reached(events, within=1) == [1, 1, 0]


def test_who_gives_up_may_begin_again() -> None:
    week = 7 * DAY
    events = log(
        f"a A 0 view\na A 1 cart\na A {week} view\na A {week + 1} cart\n"
        f"a A {week + 2} purchase"
    )

    assert reached(events, within=1) == [1, 1, 1]


def test_a_later_beginning_does_not_take_what_came_before_it() -> None:
    """The second view has no cart after it; the first chain goes on."""
    events = log("a A 0 view\na A 1 cart\na A 2 view\na A 3 purchase")

    assert reached(events, within=1) == [1, 1, 1]


def test_one_event_is_one_step() -> None:
    once, twice = log("a A 0 view"), log("a A 0 view\na A 5 view")

    assert reached(once, ["view", "view"]) == [1, 0]
    assert reached(twice, ["view", "view"]) == [1, 1]


def test_a_step_is_a_word_of_the_log_or_a_kind_in_any_spelling() -> None:
    events = log("a A 0 Select_Item\na A 1 add_to_cart\na A 2 buy")

    for steps in (
        ["select item", "Add-to-Cart", "BUY"],
        ["click", "action", "conversion"],
    ):
        found = rk.online.funnel(events, steps, by=None)
        assert found.table["users"].to_list() == [1, 1, 1]
        assert found.table["step"].to_list() == steps

    own = log("a A 0 Watched\na A 1 buy")
    for step in ("watched", "click"):
        assert reached(own, [step, "buy"], kinds={"watched": "click"}) == [1, 1]


@pytest.mark.parametrize("order", [[0, 1, 2], [2, 1, 0], [1, 2, 0]])
def test_at_the_same_time_kinds_then_steps_decide(order: list[int]) -> None:
    """A purchase follows what was done in the same second, a view precedes a cart."""
    events = log("a A 0 view\na A 0 cart\na A 0 purchase")[order]

    assert reached(events) == [1, 1, 1]
    assert reached(events, ["cart", "view"]) == [1, 1]
    assert reached(events, ["purchase", "cart"]) == [1, 0]


def test_only_what_follows_the_exposure_counts_in_a_test() -> None:
    events = log(
        """
        a - 0 view
        a A 1 exposure
        a A 2 cart
        b A 0 exposure
        b A 1 view
        b A 2 cart
        """
    )

    found = rk.online.funnel(events, ["view", "cart"])

    assert found.table["users"].to_list() == [1, 1]
    assert found.table["rate"].to_list() == [1 / 2, 1 / 1]
    assert found.excluded == {"events before the first exposure": 1}
    assert reached(events, ["view", "cart"]) == [2, 2]


def test_the_window_ends_a_funnel() -> None:
    events = log(f"a A 0 view\na A {0.9 * DAY} cart\na A {1.1 * DAY} purchase")

    found = rk.online.funnel(events, SHOP, window=1)

    assert found.table["users"].to_list() == [1, 1, 0]
    assert found.excluded == {"events after the window": 1}


def test_users_whose_window_is_not_over_are_in_no_step() -> None:
    events = log(f"a A 0 view\nb A {DAY} view\nb A {1.5 * DAY} cart")

    left = rk.online.funnel(events, ["view", "cart"], window=1)
    kept = rk.online.funnel(events, ["view", "cart"], window=1, incomplete="keep")

    assert left.table["users"].to_list() == [1, 0]
    assert kept.table["users"].to_list() == [2, 1]


def test_who_does_not_count_is_in_no_step() -> None:
    events = log(
        """
        a A 0 view
        a A 1 cart
        b A 0 view
        b B 1 cart
        c A 0 view
        c A 1 cart
        c A 2 scroll
        c A 3 scroll
        d - 0 view
        """
    )

    found = rk.online.funnel(events, ["view", "cart"], max_events=3)

    assert found.table.select("variant", "users").rows() == [("A", 1), ("A", 1)]
    assert found.excluded == {
        "users in more than one variant": 1,
        "events of users in more than one variant": 2,
        "users without a variant": 1,
        "events of users without a variant": 1,
        "users with more than 3 events": 1,
        "events of users with more than 3 events": 4,
    }
    assert "users in more than one variant, by variant: A 1, B 1" in found.notes


def test_repeated_rows_are_one_event_unless_they_are_kept() -> None:
    events = log("a A 0 view\na A 0 view")

    found = rk.online.funnel(events, ["view", "view"])

    assert found.table["users"].to_list() == [1, 0]
    assert found.excluded == {"duplicate events": 1}
    kept = rk.online.funnel(events, ["view", "view"], duplicates="keep")
    assert kept.table["users"].to_list() == [1, 1]


@pytest.mark.parametrize("order", [[0, 1], [1, 0]])
def test_of_events_with_one_id_the_earlier_step_counts(order: list[int]) -> None:
    events = log("a A 0 view\na A 0 cart").with_columns(event_id=pl.lit("x"))

    assert reached(events[order], ["view", "cart"]) == [1, 0]


def test_groups_are_those_of_a_summary() -> None:
    world = rk.online.generate(80, seed=5).events
    steps = ["impression", "click"]

    found = rk.online.funnel(world, steps, segment="country").table

    beside = rk.online.summarize(world, ["ctr"], segment="country").table
    groups = found.filter(pl.col("step") == "click").select("variant", "country")
    assert groups.equals(beside.select("variant", "country"))
    for variant, country in groups.rows():
        mine = pl.col("variant") == variant, pl.col("country") == country
        alone = rk.online.funnel(world.filter(*mine), steps, by=None).table
        same = found.filter(*mine).drop("variant", "country")
        assert same.equals(alone, null_equal=True)


def test_what_nobody_reached_is_undefined() -> None:
    events = log("a A 0 cart\na A 1 view")

    found = rk.online.funnel(events, ["refund", "view"])

    assert found.table["users"].to_list() == [0, 0]
    assert found.table["rate"][0] == 0
    assert math.isnan(found.table["rate"][1])
    assert found.table["of_first"].is_nan().all()
    assert found.notes[-2:] == (
        "the log has no event of the step 'refund'",
        "a rate is undefined where nobody reached the step before",
    )
    assert found.to_dict()["table"][1]["rate"] is None


def test_what_is_shown() -> None:
    events = log("a A 0 view\na A 1 cart\na A 1 cart\nb - 0 view")

    found = rk.online.funnel(events, ["view", "cart"], within=7)

    text = str(found)
    lines = text.splitlines()
    head = "variant step users rate 95 % interval of_first 95 % interval"
    assert " ".join(lines[0].split()) == head
    assert lines[2].split()[:4] == ["A", "view", "1", "1.0000"]
    assert "within 7 days of the first of them" in " ".join(lines)
    assert "- 1 duplicate event: left out" in lines
    assert "taken as actions" not in text
    assert found.to_markdown().splitlines()[:2] == [
        "| variant | step | users | rate | 95 % interval | of_first | 95 % interval |",
        "| --- | --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    assert "<td" in found._repr_html_()
    assert found.to_dict()["excluded"] == dict(found.excluded)
    assert repr(found) == "Funnel(2 rows)"


# Laws

BEGIN = 1_700_000_000
KINDS = ["view", "impression", "click", "cart", "conversion", "exposure"]
SEEN = [
    {"user_id": 9, "variant": "A", "timestamp": BEGIN, "event": kind}
    | {"country": "x", "session_id": "s", "event_id": kind}
    for kind in KINDS
]
EVENTS = st.fixed_dictionaries(
    {
        "user_id": st.integers(1, 4),
        "variant": st.sampled_from(["A", "A", "A", "A", "A", "B", None, None]),
        "timestamp": st.integers(0, 12).map(lambda n: BEGIN + 6 * 3600 * n),
        "event": st.sampled_from(KINDS),
        "country": st.sampled_from(["x", "y", None]),
        "session_id": st.sampled_from(["s", "t", None]),
        "event_id": st.one_of(st.none(), st.integers(0, 40).map(str)),
    }
)
LOGS = st.lists(EVENTS, min_size=1, max_size=50)
STEPS = st.lists(st.sampled_from([*KINDS, "action"]), min_size=2, max_size=4)
OPTIONS = st.fixed_dictionaries(
    {
        "within": st.sampled_from([None, 0.25, 0.3, 1, 2]),
        "by": st.sampled_from(["variant", "variant", None, "country"]),
    },
    optional={
        "window": st.sampled_from([0.5, 2]),
        "exposure": st.just("exposure"),
        "duplicates": st.just("keep"),
        "max_events": st.just(9),
    },
).filter(
    lambda given: given["by"] == "variant" or not {"window", "exposure"} & {*given}
)
WAYS = [
    ({}, None),
    ({"batch_rows": 3, "held_events": 2}, None),
    ({"batch_rows": 7, "held_events": 2}, 1),
]
"""In one part in memory, by user in memory, and by user on disk."""
CODE = {"exposure": 0, "impression": 1, "click": 5, "view": 6, "cart": 6}
CODE["conversion"] = 8
"""The order of events at the same time; views and carts are actions here."""


def matching(event: str, steps: list[str]) -> list[int]:
    """Return which steps an event is."""
    words = {event, "action"} if CODE[event] == CODE["cart"] else {event}
    return [number for number, step in enumerate(steps) if step in words]


def longest(own: list[dict[str, Any]], steps: list[str], within: float | None) -> int:
    """Return how many steps a user takes, by trying all chains."""

    def place(event: dict[str, Any]) -> tuple[Any, ...]:
        numbers = matching(event["event"], steps)
        bits = sum(1 << number for number in numbers)
        first = numbers[0] if numbers else -1
        return event["timestamp"], CODE[event["event"]], first, bits

    ordered = sorted(own, key=place)

    def beyond(begin: int, last: int, done: int) -> int:
        best = done
        for now in range(last + 1, len(ordered)):
            took = ordered[now]["timestamp"] - ordered[begin]["timestamp"]
            if within is not None and took > within * 86400:
                continue
            if done < len(steps) and done in matching(ordered[now]["event"], steps):
                best = max(best, beyond(begin, now, done + 1))
        return best

    begins = [n for n, one in enumerate(ordered) if 0 in matching(one["event"], steps)]
    return max((beyond(n, n, 1) for n in begins), default=0)


def twin(
    rows: list[dict[str, Any]],
    steps: list[str],
    by: str | None,
    within: float | None = None,
    window: float | None = None,
    exposure: str | None = None,
    duplicates: str = "drop",
    max_events: int | None = None,
) -> dict[Any, list[int]]:
    """Return how many users each group has and how many reach each step, by loops."""
    if duplicates == "drop":
        once = dict.fromkeys(tuple(sorted(row.items())) for row in rows)
        rows = [dict(one) for one in once]
    found: dict[Any, list[int]] = defaultdict(lambda: [0] * (len(steps) + 1))
    for user in {row["user_id"] for row in rows}:
        own = [row for row in rows if row["user_id"] == user]
        group = None
        if by == "country":
            named = [row for row in own if row["country"] is not None]
            named.sort(key=lambda row: (row["timestamp"], row["country"]))
            group = named[0]["country"] if named else None
        if by == "variant":
            arms = {row["variant"] for row in own} - {None}
            exposing = [
                row["timestamp"]
                for row in own
                if row["variant"] and exposure in {None, row["event"]}
            ]
            if len(arms) != 1 or not exposing:
                continue
            (group,) = arms
            own = [row for row in own if row["timestamp"] >= min(exposing)]
            if window is not None:
                end = min(exposing) + window * 86400
                own = [row for row in own if row["timestamp"] < end]
        if max_events is not None and len(own) > max_events:
            continue
        n = longest(own, steps, within)
        for number in range(n + 1):
            found[group][number] += 1
    return dict(found)


@settings(deadline=None, max_examples=250)
@given(rows=LOGS, steps=STEPS, options=OPTIONS)
def test_funnels_are_those_of_plain_loops(
    rows: list[dict[str, Any]], steps: list[str], options: dict[str, Any]
) -> None:
    rows = [
        {
            key: value
            for key, value in row.items()
            if key not in {"session_id", "event_id"}
        }
        for row in [*rows, *SEEN]
    ]
    frame = pl.DataFrame(rows, schema_overrides={"variant": pl.String})

    # Windows that are not over have a test of their own.
    whole: Any = {"incomplete": "keep"} if "window" in options else {}
    found = rk.online.funnel(frame, steps, **options, **whole).table

    expected = twin(rows, steps, **options)
    column = options["by"]
    groups = found[column].unique() if column else [None]
    assert {*groups} == {*expected}
    for group, n_of in expected.items():
        mine = (
            found if column is None else found.filter(pl.col(column).eq_missing(group))
        )
        assert mine["users"].to_list() == n_of[1:]
        rates = [a / b if b else None for b, a in pairwise(n_of)]
        assert mine["rate"].fill_nan(None).to_list() == rates


@pytest.mark.parametrize("way", WAYS, ids=["at once", "by user", "on disk"])
@settings(deadline=None, max_examples=60)
@given(
    rows=LOGS,
    steps=STEPS,
    options=OPTIONS,
    dropped=st.sets(st.sampled_from(["session_id", "event_id"])),
    random=st.randoms(use_true_random=False),
)
def test_any_order_and_any_parts_come_to_the_same(
    way: tuple[dict[str, int], int | None],
    rows: list[dict[str, Any]],
    steps: list[str],
    options: dict[str, Any],
    dropped: set[str],
    random: Random,
) -> None:
    schema = {"variant": pl.String, "session_id": pl.String, "event_id": pl.String}
    frame = pl.DataFrame([*rows, *SEEN], schema_overrides=schema).drop(dropped)

    def outcome(events: pl.DataFrame, memory: int | None = None) -> Any:
        try:
            return rk.online.funnel(
                events, steps, memory_limit=memory, **options
            ).to_dict()
        except RankineError as error:
            return str(error)

    whole = outcome(frame)
    mixed = frame[random.sample(range(frame.height), frame.height)]
    sizes, memory = way
    with limited(**sizes):
        assert outcome(mixed, memory) == whole


# Refusals


@pytest.mark.parametrize(
    ("steps", "options", "message"),
    [
        ("view", {}, "steps must be a list of 2 to 32 events in their order, such as"),
        (["view"], {}, "steps must be a list of 2 to 32 events"),
        (["view"] * 33, {}, "steps must be a list of 2 to 32 events"),
        ({"view", "cart"}, {}, "steps must be a list of 2 to 32 events"),
        (None, {}, "steps must be a list of 2 to 32 events"),
        (["view", 3], {}, "an event must be a word, got"),
        (
            ["view", "crt"],
            {},
            "steps names 'crt', but the log has no such event; it has cart, view; did",
        ),
        (["view", "click"], {"kinds": {"x": "klick"}}, "a kind of event must be one"),
        (SHOP[:2], {"within": 0}, "within must be above 0 days"),
        (SHOP[:2], {"within": "week"}, "within must be a number of days"),
        (SHOP[:2], {"confidence": 1}, "confidence must be a number"),
        (SHOP[:2], {"by": "rate"}, "by cannot be 'rate'"),
        (SHOP[:2], {"segment": "step"}, "segment cannot be 'step'"),
        (SHOP[:2], {"cap": 60}, "cap has no effect on a funnel"),
        (SHOP[:2], {"unit": "clicks"}, "unit has no effect on a funnel"),
        (SHOP[:2], {"engaged": ["view"]}, "engaged has no effect on a funnel"),
        (SHOP[:2], {"session_gap": 5}, "session_gap has no effect on a funnel"),
        (SHOP[:2], {"last_page": "heartbeat"}, "last_page has no effect on a funnel"),
        (SHOP[:2], {"gap": 5}, "there is no option 'gap'"),
    ],
)
def test_refusals(steps: Any, options: dict[str, Any], message: str) -> None:
    events = log("a A 0 view\na A 1 cart")

    with pytest.raises(ParameterError) as refused:
        rk.online.funnel(events, steps, **options)

    assert str(refused.value).startswith(message)


def test_a_log_without_times_is_refused() -> None:
    events = log("a A 0 view\na A 1 cart").drop("timestamp")

    with pytest.raises(ParameterError, match="a funnel needs times, and the log has"):
        rk.online.funnel(events, ["view", "cart"])


@pytest.mark.parametrize("options", [{}, {"window": 1}, {"by": None}])
def test_a_table_of_users_is_refused(options: dict[str, Any]) -> None:
    table = rk.online.users(log("a A 0 view\na A 1 cart"))

    with pytest.raises(ParameterError, match="a funnel needs the log of events"):
        rk.online.funnel(table, ["view", "cart"], **options)
