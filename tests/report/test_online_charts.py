"""Charts of summaries and tests: they draw the numbers of the result."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import polars as pl
import pytest

import rankine as rk
from rankine._report import charts, specs
from rankine.errors import MissingExtraError, ParameterError

USERS = pl.DataFrame(
    {
        "id": range(8),
        "arm": list("AAAABBBB"),
        "land": ["at", "fr"] * 4,
        "bought": [1, 1, 0, 0, 1, 1, 1, 0],
        "seen": [2, 2, 2, 2, 4, 4, 4, 4],
    }
)
METRICS = {"bought": "bought", "rate": ("bought", "seen")}
BOUNDS = ("low", "high", "always_low", "always_high")


def log(variants: str = "AB", users: int = 12) -> pl.DataFrame:
    """Return a log of two days: users see one thing a day; on the first, all click."""
    rows = [
        (user, datetime(2026, 3, 1 + day, 10, tzinfo=UTC), variant, event)
        for user in range(users)
        for variant in variants[user % len(variants)]
        for day in range(2)
        for event in ("impression", "click")
        if event == "impression" or day == 0 or user % 3 == 0
    ]
    names = ("user_id", "timestamp", "variant", "event")
    return pl.DataFrame(rows, names, orient="row")


def ab(**options: Any) -> rk.online.ABTest:
    return rk.online.ab_test(
        USERS, metrics=METRICS, unit="id", variant="arm", control="A", **options
    )


def rows_of(chart: Any) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = chart.to_dict()["data"]["values"]
    return rows


def fields_of(chart: Any, axis: str) -> list[str]:
    return [layer["encoding"][axis]["field"] for layer in chart.to_dict()["layer"]]


def test_a_summary_has_a_point_for_each_group() -> None:
    pytest.importorskip("altair")
    summary = rk.online.summarize(log(), {"ctr": "ctr", "seen": "impressions"})

    # Of six users of each variant, those with 0, 6 and with 3, 9 click twice of twice.
    rows = rows_of(summary.plot())
    assert [(row["label"], row["value"]) for row in rows] == [
        ("A", (6 + 2) / 12), ("B", (6 + 2) / 12),
    ]  # fmt: skip
    bounds = summary.table.filter(metric="ctr").select("low", "high").rows()
    assert [(row["low"], row["high"]) for row in rows] == bounds
    assert [row["value"] for row in rows_of(summary.plot("seen"))] == [2, 2]


def test_a_summary_with_days_has_a_curve_for_each_group() -> None:
    pytest.importorskip("altair")
    chart = rk.online.summarize(log(), ["ctr"], daily=True).plot("ctr")

    rows = [(row["system"], row["day"], row["value"]) for row in rows_of(chart)]
    assert sorted(rows) == [
        ("A", "2026-03-01", 1), ("A", "2026-03-02", 2 / 6),
        ("B", "2026-03-01", 1), ("B", "2026-03-02", 2 / 6),
    ]  # fmt: skip
    assert chart.to_dict()["encoding"]["x"]["type"] == "temporal"
    assert fields_of(chart, "y") == ["low", "value"]


def test_a_forest_has_the_lifts_of_all_metrics_or_of_one() -> None:
    pytest.importorskip("altair")
    rows = rows_of(ab().plot())

    assert [(row["label"], row["value"]) for row in rows] == [
        ("bought", 3 / 2 - 1), ("rate", (3 / 16) / (2 / 8) - 1),
    ]  # fmt: skip
    assert rows_of(ab().plot("forest", "rate")) == rows[1:]
    labels = [row["label"] for row in rows_of(ab(segment="land").plot())]
    assert labels[:3] == ["bought", "bought, at", "bought, fr"]


def test_a_difference_is_of_one_metric() -> None:
    pytest.importorskip("altair")
    test = ab()
    (first,) = rows_of(test.plot("difference"))
    (row,) = rows_of(test.plot("difference", "rate"))

    assert (first["value"], row["value"]) == (3 / 4 - 2 / 4, 3 / 16 - 2 / 8)
    wanted = test.details.row(1, named=True)
    assert (row["low"], row["high"]) == (wanted["low"], wanted["high"])
    assert row["verdict"] == wanted["verdict"]
    assert row["always_low"] is None  # of eight users there is none


def test_days_have_both_bands() -> None:
    pytest.importorskip("altair")
    rows = [
        (user, datetime(2026, 3, 1 + user // 1200, 10, tzinfo=UTC), "AB"[user % 2], did)
        for user in range(2400)
        for did in ("impression", "click")
        if did == "impression" or user % 2 == 0 or user % 3
    ]
    names = ("user_id", "timestamp", "variant", "event")
    events = pl.DataFrame(rows, names, orient="row")
    test = rk.online.ab_test(events, control="A", metrics=["ctr"], daily=True)
    chart = test.plot("days")

    assert test.by_day is not None
    last = test.by_day.row(-1, named=True)
    assert last["difference"] == 2 / 3 - 1  # in B, every third does not click
    assert last["always_low"] < last["low"] < last["difference"]
    assert rows_of(chart)[-1] == {
        "system": "B", "day": str(last["day"]), "time": str(last["day"]), "zero": 0,
        "value": last["difference"], **{name: last[name] for name in BOUNDS},
    }  # fmt: skip
    assert len(rows_of(chart)) == test.by_day.height == 2
    assert fields_of(chart, "y") == ["level", "always_low", "low", "value"]


def test_what_was_saved_has_the_same_charts() -> None:
    pytest.importorskip("altair")
    test = rk.online.ab_test(log(), control="A", metrics=["ctr"], daily=True)
    summary = rk.online.summarize(log(), ["ctr"])

    for kind in ("forest", "difference", "days"):
        again = rk.load(test.to_json()).plot(kind)
        assert again.to_dict() == test.plot(kind).to_dict()
    again = rk.load(summary.to_json()).plot()
    assert again.to_dict() == summary.plot().to_dict()


@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (lambda: ab().plot("forst"), "kind must be one of forest, difference, d"),
        (lambda: ab().plot("forst"), "did you mean 'forest'?"),
        (lambda: ab().plot("forest", "bougt"), "did you mean 'bought'?"),
        (lambda: ab().plot("difference", "x"), "metric must be one of bought, ra"),
        (
            lambda: ab().plot("days"),
            "has no effects by day; pass daily=True to ab_test",
        ),
        (
            lambda: rk.online.summarize(log(), ["ctr"]).plot("crt"),
            "metric must be one of ctr, got 'crt'; did you mean 'ctr'?",
        ),
        (
            lambda: rk.online.summarize(log("ABCDEFGH"), daily=True).plot("ctr"),
            "a chart over days shows at most 7 groups, as many as colours can tell",
        ),
        (
            lambda: rk.online.ab_test(
                log("ABCDEFGH", 80), control="A", metrics=["ctr"], daily=True
            ).plot("days"),
            "a chart over days shows at most 7 variants",
        ),
    ],
)
def test_what_cannot_be_drawn_is_refused(draw: Any, message: str) -> None:
    with pytest.raises(ParameterError) as caught:
        draw()
    assert message in str(caught.value)


def test_as_many_groups_as_there_are_colours_are_drawn_over_days() -> None:
    pytest.importorskip("altair")
    names = "ABCDEFG"
    assert len(names) == specs.MOST_CURVES
    chart = rk.online.summarize(log(names, 14), ["ctr"], daily=True).plot()

    assert {row["system"] for row in rows_of(chart)} == {*names}


def test_without_altair_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr(charts, "import_module", missing)

    for draw in (ab().plot, rk.online.summarize(log(), ["ctr"]).plot):
        with pytest.raises(MissingExtraError, match=r"rankine-eval\[report\]"):
            draw()
