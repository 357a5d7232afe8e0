"""Summaries and A/B tests come back as they were saved, and damage is told."""

from __future__ import annotations

import json
import math
from contextlib import suppress
from copy import deepcopy
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import rankine as rk
from rankine._online.abresult import ABTest
from rankine._online.summary import Summary
from rankine._report import page
from rankine._report.of_online import page_of
from rankine.errors import FormatError
from tests.report.pages import Parsed
from tests.report.test_damaged import WRONG, _places

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

EVENTS = rk.online.generate(60, days=3, seed=1, before=True).events
USERS = pl.DataFrame(
    {
        "user_id": range(8),
        "arm": list("AAAABBBB"),
        "land": ["at", "fr"] * 4,
        "bought": [1, 1, 0, 0, 1, 1, 1, 0],
        "spent": [3.0, 5, 0, 0, 1, 1 / 3, 7, 0],
        "before": [2.0, 5, 1, 0, 1, 2, None, 0],
    }
)


def ab(**options: Any) -> ABTest:
    return rk.online.ab_test(EVENTS, control="A", **options)


def of_users(users: pl.DataFrame = USERS, **options: Any) -> ABTest:
    given = {"unit": "user_id", "variant": "arm", "control": "A", **options}
    return rk.online.ab_test(users, **{"metrics": {"bought": "bought"}, **given})


RESULTS: dict[str, Callable[[], Any]] = {
    "test of events": ab,
    "daily, and all settings": lambda: ab(
        daily=True, cuped=True, margin={"ctr": "2%"}, cap=40, window=2, seed=3
    ),
    "test of users": of_users,
    "segments, a cap and a quantile": lambda: of_users(
        metrics={"spent": "spent", "rate": ("bought", "spent"), "p50": ("spent", 0.5)},
        segment="land",
        covariates={"spent": "before"},
        cap={"spent": 6},
        better={"spent": "lower"},
        ratio={"A": 3, "B": 1},
        lift="fieller",
    ),
    "nothing is defined": lambda: of_users(USERS.with_columns(bought=0)),
    "an infinite bound": lambda: of_users(
        USERS.filter(pl.col("user_id").is_in([0, 2, 4, 7])), confidence=0.999999
    ),
    "summary": lambda: rk.online.summarize(EVENTS),
    "summary by day": lambda: rk.online.summarize(EVENTS, "ctr", daily=True),
    "summary of one group": lambda: rk.online.summarize(EVENTS, by=None),
    "summary by a text that is called day": lambda: rk.online.summarize(
        EVENTS.with_columns(day=pl.lit("2026-03-01")), ["ctr"], by="day"
    ),
    "summary below 0": lambda: rk.online.summarize(
        EVENTS.with_columns(cost=pl.lit(-2.0)), {"r": ("revenue", "cost")}
    ),
}


@pytest.fixture(autouse=True)
def _plain(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave out charts, as without the extra; their numbers are in the tables."""
    monkeypatch.setattr(page, "_converter", lambda: None)


def assert_same(found: Any, wanted: Any) -> None:
    """Compare everything that a reader can ask for."""
    assert type(found) is type(wanted)
    for name, value in vars(wanted).items():
        if isinstance(value, pl.DataFrame):
            assert_frame_equal(getattr(found, name), value, check_exact=True)
        else:
            assert getattr(found, name) == value, name
    assert_frame_equal(found.table, wanted.table, check_exact=True)
    for drawn in ("__str__", "__repr__", "_repr_html_", "to_json", "to_markdown"):
        assert getattr(found, drawn)() == getattr(wanted, drawn)(), drawn
    assert found.to_dict() == wanted.to_dict()
    pages = [page_of(result, None, None, ()).text() for result in (found, wanted)]
    assert pages[0] == pages[1]


@pytest.mark.slow
@pytest.mark.parametrize("make", RESULTS.values(), ids=RESULTS)
def test_what_comes_back_is_what_was_saved(
    make: Callable[[], Any], tmp_path: Path
) -> None:
    result = make()

    result.save(tmp_path / "result.json")

    assert_same(rk.load(tmp_path / "result.json"), result)
    assert_same(rk.load(result.to_json(indent=None)), result)


def test_what_is_infinite_is_kept() -> None:
    # Two users in each arm, with 1 and 0: the error of each mean is the mean itself, so
    # that of the logarithm is sqrt(2), t of two degrees of freedom is 1,000, and
    # exp(1,414) is beyond all numbers.
    test = RESULTS["an infinite bound"]()

    assert test.details["lift_high"].item() == math.inf
    assert rk.load(test.to_json()).details["lift_high"].item() == math.inf
    assert test.to_dict()["effects"][0]["lift_high"] is None


def test_the_settings_are_complete() -> None:
    test = ab(
        metrics=["ctr", "time_on_page"],
        margin={"ctr": "2%"},
        cap=40,
        window=timedelta(hours=36),
        winsorize=0.9,
        max_events=1000,
    )

    said = test.to_dict()["settings"]

    assert said["margin"] == {"ctr": "2%"}
    assert (said["cap"], said["page_cap"], said["window"]) == ({}, 40, 36 / 24)
    assert (said["winsorize"], said["max_events"]) == (0.9, 1000)
    assert rk.load(test.to_json()).settings == test.settings
    for words in (
        "; users' values are capped at their 0.9 quantile",
        "; users with more than 1,000 events are left out",
    ):
        assert words in " ".join(str(test).split())
        assert words not in " ".join(str(ab()).split())
    rows = choices_of(test)
    assert {*said} == {*rows} == {*vars(test.settings)}
    assert rows["margin"] == "ctr 2%"
    assert [rows[name] for name in ("cap", "page_cap", "window")] == [
        "none", "40.0", "1.5",
    ]  # fmt: skip
    assert (rows["winsorize"], rows["max_events"]) == ("0.9", "1000")


GIVEN: dict[str, Any] = {
    "window": timedelta(hours=36), "max_events": 1000, "timezone": "Asia/Tokyo",
    "cap": 40.5, "session_gap": 45.0, "engaged": {"share", "click"},
    "unit": "sessions", "exposure": "impression", "last_page": "heartbeat",
    "duplicates": "keep", "kinds": {"tap": "click"}, "incomplete": "keep",
}  # fmt: skip
SAID: dict[str, Any] = {
    **GIVEN, "window": 1.5, "session_gap": 45, "engaged": ["click", "share"],
}  # fmt: skip


def test_a_summary_says_which_options_were_given(tmp_path: Path) -> None:
    summary = rk.online.summarize(EVENTS, **GIVEN)
    summary.save(tmp_path / "summary.json")

    assert summary.settings == summary.to_dict()["settings"] == SAID
    assert_same(rk.load(tmp_path / "summary.json"), summary)
    text = " ".join(str(summary).split())
    assert "; unit = sessions;" in text
    assert "settings: kinds = tap click;" in text
    table = Parsed(page_of(summary, None, None, ()).text()).tables["Choice and value"]
    rows = {row[0]: row[1] for row in table}
    assert {*rows} >= {*SAID}
    assert (rows["window"], rows["engaged"]) == ("1.5", "click, share")


def test_what_was_not_given_is_no_setting() -> None:
    usual = rk.online.summarize(EVENTS, window=None, session_gap=30, kinds={})

    assert usual.settings == {}
    assert "settings" not in str(usual)
    read = rk.online.Accumulator(timezone="Asia/Tokyo").update(EVENTS)
    assert read.result().settings == {"timezone": "Asia/Tokyo"}


def test_a_test_of_sessions_does_not_look_like_one_of_users() -> None:
    metrics = ["conversion_rate", "engagement_rate"]
    by_session = ab(metrics=metrics, unit="sessions", engaged=10)
    read = rk.online.Accumulator(metrics, unit="sessions", engaged=10).update(EVENTS)

    assert by_session.settings.rules == {"engaged": 10, "unit": "sessions"}
    assert_same(rk.load(by_session.to_json()), by_session)
    text = " ".join(str(by_session).split())
    assert "conversion_rate = sessions with a conversion / sessions" in text
    assert "settings: engaged = 10; unit = sessions" in text
    assert rk.online.ab_test(read, control="A").settings == by_session.settings
    assert ab(metrics=metrics).settings.rules == {}
    assert "conversion_rate =" not in str(ab(metrics=metrics))


def test_a_cap_by_metric_and_that_of_an_accumulator_are_settings() -> None:
    read = rk.online.Accumulator(cap=30, window=2, max_events=99).update(EVENTS)

    test = rk.online.ab_test(read, control="A", metrics=["ctr"], cap={"ctr": 5})

    assert test.settings.cap == {"ctr": 5}
    assert (test.settings.page_cap, test.settings.window) == (30, 2)
    assert test.settings.max_events == 99
    assert of_users(cap={}).settings.page_cap is None
    assert of_users(cap={"bought": 1}).settings.cap == {"bought": 1}


def test_the_time_zone_and_whole_windows_are_settings(tmp_path: Path) -> None:
    options: Any = {"window": 1, "incomplete": "keep", "timezone": "Asia/Tokyo"}
    test = rk.online.ab_test(EVENTS, control="A", metrics=["ctr"], **options)
    test.save(tmp_path / "test.json")

    found = rk.load(tmp_path / "test.json").settings

    assert found == test.settings
    assert (found.incomplete, found.timezone) == ("keep", "Asia/Tokyo")
    plain = rk.online.ab_test(EVENTS, control="A", metrics=["ctr"]).settings
    assert (plain.incomplete, plain.timezone) == (None, None)


def test_what_is_settled_in_a_table_is_no_setting_but_shown(tmp_path: Path) -> None:
    table = rk.online.users(EVENTS, cap=40, timezone="Asia/Tokyo", window=1)
    test = rk.online.ab_test(table, control="A", metrics=["ctr"])
    test.save(tmp_path / "test.json")
    added = rk.online.ab_test(
        table.with_columns(x=pl.col("clicks") * 2.0), control="A", unit="user",
        variant="variant", metrics={"x": "x"},
    )  # fmt: skip

    for found in (test, rk.load(tmp_path / "test.json"), added):
        said = found.settings
        assert said.table
        assert (said.page_cap, said.window) == (None, None)
        assert (said.incomplete, said.timezone) == ("leave out", "Asia/Tokyo")
        rows = choices_of(found)
        assert (
            rows["page_cap"]
            == rows["window"]
            == "as set when the table of users was made"
        )
    plain = rk.online.ab_test(rk.online.users(EVENTS), control="A", metrics=["ctr"])
    assert (plain.settings.incomplete, plain.settings.timezone) == (None, None)
    assert choices_of(plain)["window"] == "none"  # else it would have a column
    assert not ab().settings.table
    assert not of_users().settings.table


def choices_of(test: ABTest) -> dict[str, str]:
    text = page_of(test, None, None, ()).text()
    return {row[0]: row[1] for row in Parsed(text).tables["Choice and value"][1:]}


# Damage


def changed(result: Any, *path: Any, value: Any) -> str:
    data = json.loads(result.to_json())
    inside = data
    for key in path[:-1]:
        inside = inside[key]
    inside[path[-1]] = value
    return json.dumps(data)


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (("format_version",), 2, r"a newer rankine saved this \(format 2"),
        (("kind",), "test", "expected one of .*, comparison, summary, ab_test"),
        (("settings", "lift"), "log", "damaged, the settings are not valid .lift must"),
        (("settings", "control"), "C", "settings.control is not a variant that has"),
        (("saved", "details", "p"), [0.5, 0.5], r"details.p has 2 entries, not 1"),
        (("saved", "details", "n"), [1.5], r"details.n\[0\] is not a whole number"),
        (("srm", "shares"), {"A": 1}, "srm.shares.B is missing"),
        (("saved", "details", "variant"), ["C"], r"variant\[0\] is not a variant that"),
    ],
)
def test_damage_of_a_test_is_told_with_its_place(
    path: tuple[Any, ...], value: Any, message: str
) -> None:
    with pytest.raises(FormatError, match=message):
        rk.load(changed(of_users(), *path, value=value))


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (("confidence",), 1, "damaged, confidence is not valid .confidence must be"),
        (("saved", "groups"), {"n": "String"}, "saved.groups has a name that another"),
        (("saved", "groups", "day"), "Int64", "groups.day is 'Int64'; expected one of"),
        (("saved", "table", "day", 0), "1 March", r"day\[0\] is not a day as in 2026"),
    ],
)
def test_damage_of_a_summary_is_told_with_its_place(
    path: tuple[Any, ...], value: Any, message: str
) -> None:
    summary = rk.online.summarize(EVENTS, "ctr", daily=True)

    with pytest.raises(FormatError, match=message):
        rk.load(changed(summary, *path, value=value))


@pytest.mark.slow
@pytest.mark.parametrize(
    "make",
    [
        lambda: rk.online.summarize(EVENTS, "ctr", daily=True),
        lambda: of_users(segment="land", covariates={"bought": "before"}),
    ],
)
def test_no_damage_goes_further_than_one_sentence(make: Callable[[], Any]) -> None:
    data = json.loads(make().to_json())
    for path in _places(data)[1:]:
        for wrong in (*WRONG, ...):
            broken = deepcopy(data)
            inside = broken
            for key in path[:-1]:
                inside = inside[key]
            if wrong is ...:
                del inside[path[-1]]
            else:
                inside[path[-1]] = wrong
            with suppress(FormatError):
                found = rk.load(json.dumps(broken))
                assert isinstance(found, (Summary, ABTest))
                assert str(found)
                assert found.to_json()
                assert found._repr_html_()
