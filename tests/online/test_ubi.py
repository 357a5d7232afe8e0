"""Logs of User Behavior Insights: hits as impressions, clicks on them."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rankine as rk
from rankine.errors import ColumnNotFoundError, DataError

if TYPE_CHECKING:
    from pathlib import Path


def query(name: str, client: str, hits: list[str], **more: Any) -> dict[str, Any]:
    return {
        "query_id": name, "client_id": client, "user_query": f"text of {name}",
        "timestamp": "2026-03-01T09:00:00Z", "query_response_id": f"r{name}",
        "query_response_hit_ids": hits, **more,
    }  # fmt: skip


def event(action: str, name: str | None, client: str, item: str) -> dict[str, Any]:
    return {
        "action_name": action, "query_id": name, "client_id": client,
        "timestamp": "2026-03-01T09:00:30Z", "session_id": f"s{client}",
        "event_attributes": {
            "object": {"object_id": item, "object_id_field": "sku"},
            "position": {"ordinal": 2},
        },
    }  # fmt: skip


QUERIES = [
    query("1", "x", ["a", "b", "c"], query_attributes={"variant": "A", "page": 1}),
    query("2", "y", ["b", "a"], query_attributes={"variant": "B", "page": 1}),
    query("3", "y", [], query_attributes={"variant": "B", "page": 1}),
]
EVENTS = [
    event("click", "1", "x", "b"),
    event("click_through", "2", "y", "b"),
    event("click", "2", "y", "nowhere"),
    event("purchase", "2", "y", "b"),
]


HITS = (
    "5 hits of 2 queries taken as impressions; whether users saw all of them is not "
    "known"
)


def read(events: Any = EVENTS, queries: Any = QUERIES) -> Any:
    return rk.online.from_ubi(pl.DataFrame(events), pl.DataFrame(queries))


def test_hits_are_impressions_with_their_positions() -> None:
    log = read()

    assert log.shown.rows() == [
        ("1", "x", "text of 1", "a", 1, 0),
        ("1", "x", "text of 1", "b", 2, 1),
        ("1", "x", "text of 1", "c", 3, 0),
        ("2", "y", "text of 2", "b", 1, 1),
        ("2", "y", "text of 2", "a", 2, 0),
    ]
    table = rk.online.summarize(log.events, ["ctr", "conversion_rate"]).table
    assert table.select("metric", "variant", "value").rows() == [
        ("ctr", "A", 1 / 3),
        ("ctr", "B", 2 / 2),  # the stray click counts, and is told of
        ("conversion_rate", "A", 0),
        ("conversion_rate", "B", 1),
    ]
    assert log.notes == (
        "1 query without hits counts as an exposure without impressions",
        HITS,
        "1 click on an item its query did not return",
    )
    sessions = log.events.filter(pl.col("event") == "impression")["session_id"]
    assert sessions.to_list() == ["sx"] * 3 + ["sy"] * 2  # by their events
    judged = rk.online.judgments_from_clicks(log.shown, "ctr")
    assert judged.support.sort("query", "item")["value"].to_list() == [0, 1, 0, 0, 1]
    assert rk.online.click_metrics(log.shown).mrr == (1 / 2 + 1) / 2


def test_impressions_of_the_events_count_instead() -> None:
    seen = [event("impression", "1", "x", item) for item in "ab"]
    log = read([*EVENTS, *seen])

    kinds = log.events["event"].value_counts().rows()
    assert dict(kinds)["impression"] == 2
    assert log.shown.select("item_id", "click").rows() == [("a", 0), ("b", 1)]
    assert "the events have impressions, which count instead of hits" in log.notes


@pytest.mark.parametrize("seen", [False, True])
def test_a_search_without_hits_keeps_its_user(*, seen: bool) -> None:
    """Of B's users, 2 of 4 get no hits: 1 of 4 buys, not 1 of 2."""
    hits = {"a1": "pq", "a2": "pq", "a3": "pq", "a4": "pq", "b1": "pq", "b2": "pq"}
    queries = [
        query(user, user, [*hits.get(user, "")], query_attributes={"variant": user[0]})
        for user in (*hits, "b3", "b4")
    ]
    events = [event("purchase", user, user, "p") for user in ("a1", "a2", "b1")]
    events += [event("click", user, user, "p") for user in ("a1", "b1")]
    if seen:
        events += [
            event("impression", user, user, item) for user in hits for item in "pq"
        ]
    log = read(events, queries)

    table = rk.online.summarize(log.events).table
    assert table.select("metric", "variant", "value", "n").rows() == [
        ("ctr", "a", 1 / 8, 8),
        ("ctr", "b", 1 / 4, 4),
        ("conversion_rate", "a", 2 / 4, 4),
        ("conversion_rate", "b", 1 / 4, 4),
        ("engagement_rate", "a", 2 / 4, 4),
        ("engagement_rate", "b", 1 / 4, 4),
    ]
    test = rk.online.ab_test(log.events, control="a", metrics=["conversion_rate"])
    assert test.srm.counts == {"a": 4, "b": 4}
    assert test.table["value"].to_list() == [1 / 4]
    searches = log.events.filter(pl.col("event") == "exposure")
    assert searches.select("user_id", "variant").rows() == [("b3", "b"), ("b4", "b")]
    assert {str(time) for time in searches["timestamp"]} == {
        "2026-03-01 09:00:00+00:00"
    }
    assert log.shown["user_id"].unique().sort().to_list() == [*hits]
    which = "of which no event is an impression" if seen else "without hits"
    said = f"2 queries {which} count as exposures without impressions"
    assert said in log.notes


def test_impressions_of_the_events_have_what_their_query_says() -> None:
    """Both queries have one text: item a is clicked on once, of two times shown."""
    queries = [
        query("1", "x", [], user_query="ink", query_attributes={"variant": "A"}),
        query("2", "y", [], user_query="ink", query_attributes={"variant": "B"}),
    ]
    events = [event("impression", name, user, "a") for name, user in ("1x", "2y")]
    events += [event("click", "2", "y", "a"), event("impression", "9", "y", "a")]
    events += [event("purchase", None, "y", "a")]
    log = read(events, queries)

    rows = log.events.select("event", "variant", "user_query").rows()
    assert rows == [
        ("impression", "A", "ink"),
        ("impression", "B", "ink"),
        ("click", "B", "ink"),
        ("impression", None, None),
        ("purchase", None, None),
    ]
    assert log.notes == ("the events have impressions, which count instead of hits",)
    test = rk.online.ab_test(log.events, control="A", metrics=["ctr"])
    assert test.table.select("control_value", "value").rows() == [(0, 1 / 2)]
    assert log.shown["query"].to_list() == ["ink", "ink", "9"]  # 9: not in queries
    judged = rk.online.judgments_from_clicks(log.shown.head(2), "ctr").support
    assert judged.select("query", "item", "value").rows() == [("ink", "a", 1 / 2)]


def test_what_an_event_says_itself_comes_first() -> None:
    rows = [
        {**event("impression", "1", "x", "a"), "variant": "C", "page": "/home"},
        {**event("impression", "1", "x", "b"), "variant": None, "page": None},
    ]
    events = read(rows, QUERIES[:1]).events

    assert events["variant"].to_list() == ["C", "A"]
    assert events["page"].to_list() == ["/home", None]  # not the page of results


def test_users_that_only_one_table_has() -> None:
    nameless = [{**row, "client_id": None} for row in EVENTS]
    assert read(nameless).events["user_id"].null_count() == 0
    no_client = pl.DataFrame(QUERIES).drop("client_id")
    log = rk.online.from_ubi(pl.DataFrame(EVENTS), no_client)
    assert log.shown["user_id"].to_list() == ["x"] * 3 + ["y"] * 2
    signed_in = [{**row, "user_id": None} for row in EVENTS]  # a client is a user
    assert read(signed_in).events["user_id"].null_count() == 0


@pytest.mark.parametrize("ordinal", [{"ordinal": 2}, {"ordinal": {"index": 2}}])
def test_events_of_older_versions(ordinal: dict[str, Any]) -> None:
    row = event("click", "1", "x", "b")
    row["event_attributes"]["position"] = ordinal
    clicks = read([row]).events.filter(pl.col("event") == "click")

    assert clicks.select("item_id", "position").rows() == [("b", 2)]


def test_a_response_that_is_there_twice_counts_once() -> None:
    log = read(EVENTS, [*QUERIES, QUERIES[0]])

    assert log.shown.height == 5
    assert log.notes[0] == "1 query was there twice: counted once"


def test_files_flat_columns_and_hits_as_text(tmp_path: Path) -> None:
    flat = pl.DataFrame(
        {
            "action_name": ["click"],
            "query_id": ["1"],
            "client_id": ["x"],
            "timestamp": ["2026-03-01T09:00:30Z"],
            "event_attributes.object.object_id": ["b"],
        }
    )
    flat.write_csv(tmp_path / "e.csv")
    hits = pl.col("query_response_hit_ids").map_elements(
        lambda ids: json.dumps(list(ids)), pl.String
    )
    queries = pl.DataFrame(QUERIES).drop("query_attributes").with_columns(hits)
    queries.write_csv(tmp_path / "q.csv")

    log = rk.online.from_ubi(tmp_path / "e.csv", tmp_path / "q.csv")
    assert log.shown["click"].to_list() == [0, 1, 0, 0, 0]


def test_attributes_as_text_are_read_as_nested_ones_are(tmp_path: Path) -> None:
    def as_text(rows: list[dict[str, Any]], name: str) -> pl.DataFrame:
        return pl.DataFrame([{**row, name: json.dumps(row[name])} for row in rows])

    queries = as_text([*QUERIES], "query_attributes").with_columns(
        query_response_hit_ids=pl.Series(
            [json.dumps(row["query_response_hit_ids"]) for row in QUERIES]
        )
    )
    queries.write_csv(tmp_path / "q.csv")
    as_text(EVENTS, "event_attributes").write_csv(tmp_path / "e.csv")
    log = rk.online.from_ubi(tmp_path / "e.csv", tmp_path / "q.csv")

    assert log.events["variant"].to_list() == [*"AAABBBABBB"]
    assert log.shown["click"].to_list() == [0, 1, 0, 1, 0]
    assert log.notes == read().notes


@pytest.mark.parametrize("text", ["variant=A", '"A"', "[1]", '{"variant": "A"'])
def test_attributes_that_are_no_objects(text: str) -> None:
    log = read(EVENTS, [{**row, "query_attributes": text} for row in QUERIES])

    said = "query_attributes cannot be read, since they are not JSON objects"
    assert log.notes[0] == said
    assert "variant" not in log.events.columns


@pytest.mark.parametrize("text", ["", None])
def test_attributes_that_are_empty(text: str | None) -> None:
    first = {**QUERIES[0], "query_attributes": '{"variant": "A"}'}
    second = {**QUERIES[1], "query_attributes": text}

    assert read(EVENTS[:2], [first, second]).events["variant"].to_list() == [
        "A", "A", "A", None, None, "A", None,
    ]  # fmt: skip
    notes = read([EVENTS[1]], [second]).notes
    assert notes == (HITS.replace("5 hits of 2 queries", "2 hits of 1 query"),)


@pytest.mark.parametrize(
    ("drop", "words"),
    [
        ("query_response_hit_ids", "no column query_response_hit_ids, which ubi_quer"),
        ("action_name", "no column action_name, which ubi_events of UBI have"),
        ("event_attributes", "the events have no object_id, which says what was click"),
    ],
)
def test_columns_that_are_missing(drop: str, words: str) -> None:
    frames = [
        frame.drop(drop, strict=False)
        for frame in (pl.DataFrame(EVENTS), pl.DataFrame(QUERIES))
    ]
    with pytest.raises(ColumnNotFoundError, match=words):
        _ = rk.online.from_ubi(*frames).shown


@pytest.mark.parametrize("hits", [3, "a,b"])
def test_hits_that_are_none(hits: Any) -> None:
    queries = pl.DataFrame(QUERIES).with_columns(query_response_hit_ids=pl.lit(hits))
    with pytest.raises(DataError, match="query_response_hit_ids must be lists of ids"):
        rk.online.from_ubi(pl.DataFrame(EVENTS), queries)


@settings(max_examples=50, deadline=None)
@given(
    responses=st.lists(
        st.lists(st.sampled_from("abcd"), min_size=1, max_size=6),
        min_size=1,
        max_size=5,
    ),
    clicks=st.lists(
        st.tuples(st.integers(0, 5), st.sampled_from("abcde")), min_size=1, max_size=9
    ),
)
def test_every_click_is_with_its_hit(
    responses: list[list[str]], clicks: list[tuple[int, str]]
) -> None:
    log = read(
        [event("click", str(n), "x", item) for n, item in clicks],
        [query(str(n), "x", hits) for n, hits in enumerate(responses)],
    )
    times = Counter((str(n), item) for n, item in clicks)
    twin = [
        (str(n), item, hits.index(item) + 1, times[str(n), item])
        for n, hits in enumerate(responses)
        for item in dict.fromkeys(hits)
    ]

    found = log.shown.select("impression_id", "item_id", "position", "click").rows()
    assert found == twin
    impressions = log.events.filter(pl.col("event") == "impression")
    assert impressions.height == sum(map(len, responses))


def test_impressions_without_a_position_are_refused_where_one_is_needed() -> None:
    seen = event("impression", "1", "x", "a")
    seen["event_attributes"] = {"object": {"object_id": "a"}}
    log = read([seen])

    with pytest.raises(ColumnNotFoundError, match="have no position, which says where"):
        _ = log.shown
