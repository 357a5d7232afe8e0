"""Events from files and frames of every kind, with columns under many names."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from rankine._online.events import event_batches
from rankine._online.rules import KINDS, PASSIVE, Rules
from rankine.errors import ColumnNotFoundError, DataError
from tests.online.logs import user_sums

FRAME = pl.DataFrame(
    {
        "user_id": ["u", "u", "v"],
        "variant": ["A", "A", "B"],
        "timestamp": [f"2026-03-01T{time}Z" for time in ("12:00", "12:05", "13:00")],
        "event": ["impression", "click", "impression"],
        "value": [0.0, 1.5, 0.0],
    }
)  # fmt: skip


def rates(data: Any, **rules: Any) -> list[tuple[Any, ...]]:
    return (
        user_sums(data, ["ctr"], **rules).frame.select("user", "ctr.y", "ctr.x").rows()
    )


@pytest.mark.parametrize("kind", ["csv", "ndjson", "parquet", "folder", "glob"])
def test_files(kind: str, tmp_path: Path) -> None:
    path: Path | str = tmp_path / f"log.{kind}"
    match kind:
        case "csv":
            FRAME.write_csv(path)
        case "ndjson":
            FRAME.write_ndjson(path)
        case "parquet":
            FRAME.write_parquet(path)
        case _:
            for day in range(3):
                FRAME[day : day + 1].write_csv(tmp_path / f"{day}.csv")
            path = tmp_path if kind == "folder" else str(tmp_path / "*.csv")

    assert rates(path) == [("u", 1, 1), ("v", 0, 1)]


@pytest.mark.parametrize("library", ["polars", "lazy", "pandas", "arrow"])
def test_frames(library: str) -> None:
    makers: dict[str, Any] = {
        "polars": lambda: FRAME,
        "lazy": FRAME.lazy,
        "pandas": FRAME.to_pandas,
        "arrow": FRAME.to_arrow,
    }

    assert rates(makers[library]()) == [("u", 1, 1), ("v", 0, 1)]


def test_columns_of_the_ubi_standard() -> None:
    frame = pl.DataFrame(
        {
            "client_id": ["u", "u", "v"],
            "session_id": ["s", "s", "t"],
            "query_id": ["q", "q", "r"],
            "action_name": ["impression", "click", "impression"],
            "timestamp": ["2026-03-01T12:00:00Z"] * 3,
            "event_attributes": [
                {"object": {"object_id": "x"}, "position": {"ordinal": 1}},
                {"object": {"object_id": "x"}, "position": {"ordinal": 1}},
                {"object": {"object_id": "y"}, "position": {"ordinal": 2}},
            ],
        }
    )
    found = user_sums(frame, ["ctr"], by=None)

    assert found.frame.select("user", "ctr.y", "ctr.x").rows() == [
        ("u", 1, 1),
        ("v", 0, 1),
    ]
    assert found.notes == ("events: user = client_id, event = action_name",)


def test_a_column_with_the_name_of_its_part_is_not_worth_a_note() -> None:
    frame = FRAME.rename({"user_id": "user"})

    assert user_sums(frame, ["ctr"]).notes == user_sums(FRAME, ["ctr"]).notes


def test_columns_that_are_told() -> None:
    frame = FRAME.rename({"user_id": "who", "event": "did", "variant": "color"})
    told = {"user": "who", "event": "did", "variant": "color"}

    assert rates(frame, columns=told) == [("u", 1, 1), ("v", 0, 1)]
    with pytest.raises(
        ColumnNotFoundError, match="events has no column for the user; it has who"
    ):
        user_sums(frame)


def test_a_part_that_is_told_not_to_be_there() -> None:
    assert (
        user_sums(FRAME, ["ctr"], columns={"variant": None})
        .frame["variant"]
        .null_count()
        == 2
    )


def test_sessions_stand_for_users_where_there_are_none() -> None:
    found = user_sums(FRAME.rename({"user_id": "session_id"}), ["ctr"])

    assert found.frame["user"].to_list() == ["u", "v"]
    assert "events has no users: every session counts as one" in found.notes


@pytest.mark.parametrize(
    ("word", "kind"),
    [
        ("Impression", "impression"),
        ("page_view", "pageview"),
        ("Page View", "pageview"),
        ("PURCHASE", "conversion"),
        ("item-click", "click"),
        ("share", "action"),
        ("watched", "click"),
    ],
)
def test_kinds(word: str, kind: str) -> None:
    frame = FRAME.with_columns(event=pl.lit(word))
    (read,) = event_batches(frame, Rules(kinds={"Watched": "click"}), None, None)

    assert {KINDS[code] for code in read.frame["kind"]} == {kind}
    assert {*read.frame["engages"]} == {kind not in PASSIVE}


def test_events_that_lack_something_are_left_out_and_counted() -> None:
    frame = pl.DataFrame(
        {
            "user_id": ["u", None, "u", "u", ""],
            "timestamp": [10, 11, None, 12, 13],
            "event": ["impression", "click", "click", None, "click"],
        }
    )
    found = user_sums(frame, ["ctr"], by=None)

    assert found.frame.select("ctr.y", "ctr.x").rows() == [(0, 1)]
    assert found.excluded == {
        "events without a user": 2,
        "events without a kind": 1,
        "events without a time": 1,
    }


def test_without_times_nothing_is_before_or_after() -> None:
    found = user_sums(FRAME.drop("timestamp"))

    assert (*found.metrics,) == ("ctr",)
    assert found.frame["ctr.x"].to_list() == [1, 1]
    assert found.left_out is not None
    assert found.left_out["engagement_rate"] == "the log has no time or session"


def test_without_variants_all_users_are_one_group() -> None:
    found = user_sums(FRAME.drop("variant"), ["ctr"])

    assert found.frame["variant"].null_count() == 2


@pytest.mark.parametrize(
    ("frame", "rules", "words"),
    [
        (FRAME[:0], {}, "events has no events"),
        (FRAME, {"segment": "land"}, "events has no column 'land'; it has user_id, "),
        (FRAME, {"by": "varaint"}, "no column 'varaint'; .*did you mean 'variant'"),
        (
            FRAME.with_columns(value=pl.lit("ten")),
            {},
            "events, row 0: value is 'ten', not a number",
        ),
        (
            FRAME.with_columns(value=pl.lit(1e12)),
            {},
            r"events, row 0: value is 1e\+12; an event may be worth up to 9,000,000",
        ),
        (
            FRAME.with_columns(user_id=pl.lit("")),
            {},
            "no event has all of",
        ),
    ],
)
def test_logs_that_cannot_be_read(
    frame: pl.DataFrame, rules: dict[str, Any], words: str
) -> None:
    with pytest.raises(DataError, match=words):
        user_sums(frame, **rules)


def test_a_line_that_is_wrong_is_named(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    FRAME.with_columns(
        timestamp=pl.Series(["2026-03-01", "soon", "2026-03-01"])
    ).write_csv(path)

    with pytest.raises(DataError, match=r"log\.csv:3: timestamp is 'soon', not a time"):
        user_sums(path)


def test_numbers_in_text_are_shown_as_they_stand(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text("user_id,event,ts\n1,click,1700000000\n1,click,1700000000000\n")

    with pytest.raises(DataError, match="csv:2: ts is 1700000000, seconds by its size"):
        user_sums(path)
