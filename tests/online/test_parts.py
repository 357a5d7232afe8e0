"""However a log is cut, ordered, merged and kept: the same result to the last bit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

import rankine as rk
from rankine._base.limits import limited
from rankine._online.table import table_of
from rankine.errors import RankineError
from tests.online.logs import user_sums

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

BEGIN = 1_700_000_000
KINDS = [
    "impression", "pageview", "click", "share", "conversion", "refund", "heartbeat",
    "exposure",
]  # fmt: skip
SCHEMA = {"variant": pl.String, "session_id": pl.String, "event_id": pl.String}
SEEN = [
    {"user_id": 9, "variant": "A", "timestamp": BEGIN + n, "event": kind}
    | {"value": 1.0, "cost": 1.0, "country": "x", "session_id": "s", "event_id": kind}
    for n, kind in enumerate(["impression", "pageview", "conversion", "exposure"])
]
WAYS = [
    ({}, None),
    ({"batch_rows": 3, "held_events": 2}, None),
    ({"batch_rows": 7, "held_events": 2}, 1),
]
"""In one part in memory, by user in memory, and by user on disk."""


def events(
    users: int, spread: int, step: int, sessions: str
) -> st.SearchStrategy[list[dict[str, Any]]]:
    """Draw logs; users are mostly in one arm, and times are steps of some seconds."""
    event = st.fixed_dictionaries(
        {
            "user_id": st.integers(1, users),
            "variant": st.sampled_from(["A", "A", "A", "A", "B", None, None]),
            "timestamp": st.integers(0, spread).map(lambda n: BEGIN + step * n),
            "event": st.sampled_from(KINDS),
            "value": st.sampled_from([None, 0.0, 0.1, 1 / 3, 1e-7, 2.5]),
            "cost": st.sampled_from([0.05, 0.1, 1e-8, 2 / 7]),
            "country": st.sampled_from(["x", "y", None]),
            "session_id": st.sampled_from([*sessions, None]),
            "event_id": st.one_of(st.none(), st.integers(0, 60).map(str)),
        }
    )
    return st.lists(event, min_size=1, max_size=60)


LOGS = st.one_of(
    events(4, 40, 400, "st"),
    events(2, 150, 400, "st"),
    events(3, 60, 20_000, "abcdefghijklmnop"),
)
DROPPED = st.sets(
    st.sampled_from(["session_id", "event_id", "value", "timestamp"]), max_size=3
)
OPTIONS = st.fixed_dictionaries(
    {
        "every": st.sampled_from([None, "day", "week", "hour"]),
        "segment": st.sampled_from([None, "country"]),
        "by": st.sampled_from(["variant", "variant", None, "country"]),
    }
).filter(lambda given: given["by"] is None or given["by"] != given["segment"])
RULES = st.fixed_dictionaries(
    {},
    optional={
        "session_gap": st.just(10),
        "window": st.sampled_from([0.1, 2]),
        "incomplete": st.just("keep"),
        "timezone": st.just("Australia/Adelaide"),
        "exposure": st.sampled_from(["exposure", "impression"]),
        "duplicates": st.just("keep"),
        "last_page": st.just("heartbeat"),
        "engaged": st.sampled_from([900, ["share", "conversion"]]),
        "cap": st.sampled_from([500, 3600]),
        "unit": st.sampled_from(["sessions", "clicks"]),
    },
)


def outcome(compute: Callable[[], Any]) -> Any:
    """Return a result, or why there is none."""
    try:
        return compute()
    except RankineError as error:
        return str(error)


def assert_same(found: Any, expected: Any) -> None:
    """Compare sums of users."""
    if isinstance(expected, str):
        assert found == expected
        return
    assert_frame_equal(found.frame, expected.frame, check_exact=True)
    assert found.notes == expected.notes
    assert found.excluded == expected.excluded
    assert defined(found) == defined(expected)
    assert found.left_out == expected.left_out


def defined(sums: Any) -> dict[str, tuple[str, list[str]]]:
    """Return the metrics of sums: their definitions, and the columns they read."""
    return {name: (one.says, sorted(one.columns)) for name, one in sums.metrics.items()}


@pytest.mark.parametrize("way", WAYS, ids=["at once", "by user", "on disk"])
@settings(deadline=None, max_examples=60)
@given(
    rows=LOGS,
    dropped=DROPPED,
    options=OPTIONS,
    rules=RULES,
    random=st.randoms(use_true_random=False),
)
def test_any_cut_order_and_tree_of_merges_come_to_the_same(
    way: tuple[dict[str, int], int | None],
    rows: list[dict[str, Any]],
    dropped: set[str],
    options: dict[str, Any],
    rules: dict[str, Any],
    random: Random,
) -> None:
    sizes, memory = way
    frame = pl.DataFrame([*rows, *SEEN], schema_overrides=SCHEMA).drop(dropped)
    every = options.pop("every", None)
    given: dict[str, Any] = {**options, **rules}
    if every is not None:
        given[{"day": "daily", "week": "weekly", "hour": "hourly"}[every]] = True

    def read() -> rk.online.Accumulator:
        return rk.online.Accumulator(**given).update(frame)

    whole = outcome(lambda: user_sums(read()))
    table = outcome(lambda: table_of(read().counts()))
    summary = outcome(lambda: rk.online.summarize(frame, **given).to_dict())

    mixed = frame[random.sample(range(frame.height), frame.height)]
    n_parts = random.randint(1, 5)
    parts = [
        rk.online.Accumulator(memory_limit=memory, **given) for _ in range(n_parts)
    ]
    with limited(**sizes):
        begin = 0
        while begin < mixed.height:
            size = random.randint(1, 12)
            random.choice(parts).update(mixed[begin : begin + size])
            begin += size
        while len(parts) > 1:
            other = parts.pop(random.randrange(len(parts)))
            random.choice(parts).merge(other)

        assert_same(outcome(lambda: user_sums(parts[0])), whole)
        found = outcome(lambda: table_of(parts[0].counts()))
        assert outcome(lambda: parts[0].result().to_dict()) == summary
    if isinstance(table, str):
        assert found == table
    else:
        assert_frame_equal(found, table, check_exact=True)


@pytest.mark.slow
@pytest.mark.parametrize(("sizes", "memory"), WAYS)
@pytest.mark.parametrize("swapped", [False, True])
def test_users_who_are_ints_in_one_part_are_texts_in_the_other(
    sizes: dict[str, int], memory: int | None, *, swapped: bool
) -> None:
    """Users 0 to 39 have an impression, 20 to 39 a click, and x has both."""
    ints = pl.DataFrame({"user_id": range(40), "event": "impression"})
    clicks = [*map(str, range(20, 40)), "x"]
    texts = pl.DataFrame({"user_id": clicks, "event": "click"})
    texts.extend(pl.DataFrame({"user_id": ["x"], "event": ["impression"]}))
    parts = [texts, ints] if swapped else [ints, texts]
    expected = {str(user): (user >= 20, 1) for user in range(40)} | {"x": (1, 1)}
    with limited(**sizes):
        both = rk.online.Accumulator(["ctr"], by=None, memory_limit=memory)
        both.update(parts[0]).update(parts[1])
        merged = rk.online.Accumulator(["ctr"], by=None, memory_limit=memory)
        merged.update(parts[0])
        merged.merge(rk.online.Accumulator(["ctr"], by=None).update(parts[1]))

        for total in (both, merged):
            found = user_sums(total).frame.select("user", "ctr.y", "ctr.x").rows()
            assert found == [(user, *expected[user]) for user in sorted(expected)]


@pytest.mark.parametrize("way", ["by user", "on disk"])
@pytest.mark.parametrize("rules", [{}, {"last_page": "heartbeat", "cap": 900}])
def test_a_quantile_of_the_time_on_page_is_the_same_in_parts(
    way: str, rules: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(2)
    log = pl.DataFrame(
        {
            "timestamp": BEGIN + rng.integers(0, 90_000, 400),
            "user_id": rng.integers(0, 30, 400),
            "event": np.array(["pageview", "heartbeat"])[rng.integers(0, 2, 400)],
        }
    )
    whole = rk.online.time_on_page(log, quantile=0.5, **rules)
    if way == "on disk":  # where no memory is free
        monkeypatch.setattr("rankine._online.log.available", lambda: 0)

    with limited(batch_rows=7, held_events=20):
        mixed = log.sample(fraction=1, shuffle=True, seed=4)
        found = rk.online.time_on_page(mixed, quantile=0.5, **rules)

    assert found == whole
    assert found.value > 0


def test_a_result_may_be_asked_for_between_parts() -> None:
    total = rk.online.Accumulator(["ctr"], by=None, duplicates="keep", memory_limit=1)
    part = pl.DataFrame({"user_id": [1, 2], "event": ["impression"] * 2})
    with limited(held_events=3):
        counts = [total.update(part).result().table["n"][0] for _ in range(4)]

    assert counts == [2, 4, 6, 8]


def test_groups_have_names_however_many_there_are() -> None:
    """Each user sees a page of their own, whose names come in another order."""
    n = 300
    names = [f"p{7 * user % n:03}" for user in range(n)]
    log = pl.DataFrame({"user_id": range(n), "event": "impression", "page": names})
    parts = rk.online.Accumulator(["ctr"], by="page")
    with limited(held_events=20):
        for begin in reversed(range(0, n, 50)):
            parts.update(log[begin : begin + 50])
        found = user_sums(parts).frame

    assert parts.result().table["page"].to_list() == sorted(names)
    assert found.select("user", "variant").rows() == [*enumerate(names)]


@pytest.mark.parametrize("rules", [{}, {"exposure": "click"}, {"window": 0.01}])
def test_metrics_are_computed_side_by_side(
    rules: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(5)
    n = 600
    kinds = np.array(["impression", "click", "pageview", "conversion"])
    log = pl.DataFrame(
        {
            "timestamp": BEGIN + np.sort(rng.integers(0, 200_000, n)),
            "user_id": rng.integers(0, 40, n),
            "event": kinds[rng.integers(0, 4, n)],
            "value": rng.integers(0, 5, n) / 3,
            "cost": rng.integers(0, 5, n) / 10,
        }
    )
    log = log.with_columns(variant=pl.col("user_id").mod(2).cast(pl.String))
    in_turn = rk.online.summarize(log, daily=True, **rules)
    monkeypatch.setattr("rankine._base.blocks._MANY", 2)

    at_once = rk.online.summarize(log, daily=True, **rules)

    assert at_once.to_dict() == in_turn.to_dict()
