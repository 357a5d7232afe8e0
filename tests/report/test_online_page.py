"""The reports of the online part: their numbers are those of the result."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

import rankine as rk
from rankine._report import page, specs
from rankine._report.abtest import sentences
from rankine._report.charts import days_span
from rankine._report.of_online import page_of
from rankine.errors import ParameterError
from tests.report.pages import HOSTILE, Parsed

if TYPE_CHECKING:
    from pathlib import Path

    from tests.report.conftest import Browser


def log(variants: tuple[str, str] = ("A", "B"), users: int = 40) -> pl.DataFrame:
    """Return a log: half of the users of the first variant click, all of the second."""
    rows = [
        (
            f"u{user}",
            datetime(2026, 3, 1 + user % 3, 10, tzinfo=UTC),
            variants[user % 2],
            event,
            f"c{user % 3}",
        )
        for user in range(users)
        for event in ("impression", "click")
        if event == "impression" or user % 4
    ]
    names = ("user_id", "timestamp", "variant", "event", "country")
    return pl.DataFrame(rows, names, orient="row")


def clicked(n: int) -> pl.DataFrame:
    """Draw clicks on three positions in two variants; users have four or so each."""
    rng = np.random.default_rng(0)
    return pl.DataFrame(
        {
            "impression_id": np.arange(n),
            "user_id": rng.integers(0, 4 * n // 15, n),
            "position": rng.integers(1, 4, n),
            "click": rng.integers(0, 2, n),
            "variant": rng.choice(["A", "B"], n),
        }
    )


@pytest.fixture
def _plain(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave out charts, as without the extra."""
    monkeypatch.setattr(page, "_converter", lambda: None)


def parsed(result: Any) -> Parsed:
    return Parsed(page_of(result, None, None, ()).text())


@pytest.mark.usefixtures("_plain")
def test_a_summary_has_its_numbers() -> None:
    summary = rk.online.summarize(log(), "ctr")

    rows = parsed(summary).tables["The number of each metric"]

    # Of the users of A half click once, of B all.
    wanted = summary.table.rows()
    assert [row[:2] for row in rows[1:]] == [["ctr", "A"], ["ctr", "B"]]
    assert [row[2].split("|")[0] for row in rows[1:]] == [f"{1 / 2:.4f}", f"{1:.4f}"]
    assert rows[1][2].split("|")[1] == f"{wanted[0][3]:.4f} to {wanted[0][4]:.4f}"
    assert [row[3:] for row in rows[1:]] == [["20", "20"], ["20", "20"]]


@pytest.mark.usefixtures("_plain")
def test_a_test_has_its_effects() -> None:
    test = rk.online.ab_test(log(), control="A", metrics=["ctr"])

    document = parsed(test)

    (row,) = test.details.iter_rows(named=True)
    cells = document.tables["The effect on each metric"][1]
    assert cells[:4] == ["ctr", "B", f"{1 / 2:.4f}", f"{1:.4f}"]
    assert cells[4] == f"{1 / 2:+.4f}|{row['low']:+.4f} to {row['high']:+.4f}"
    assert cells[5].startswith("+100.0 %|")
    # So few users have no interval that holds at every look, and no column for it.
    head = document.tables["The effect on each metric"][0]
    assert "always" not in head
    assert cells[7] == row["verdict"] == "better"
    assert document.tables["Users of each variant"][1:] == [
        ["A", "20", "20"], ["B", "20", "20"],
    ]  # fmt: skip


@pytest.mark.usefixtures("_plain")
def test_metrics_of_fewer_users_have_their_counts() -> None:
    # Every third user has not rated: 0, 3 and 6 of A and of B alike, and 9 of B.
    users = pl.DataFrame(
        {
            "id": range(11),
            "arm": ["A", "B"] * 5 + ["A"],
            "paid": range(11),
            "rated": [None if user % 3 == 0 else user for user in range(11)],
        }
    )
    metrics = {"paid": "paid", "stars": "rated", "top": ("rated", 0.5)}
    options: Any = {"unit": "id", "variant": "arm", "control": "A"}
    test = rk.online.ab_test(users, metrics=metrics, **options)

    # A has 0, 2, 4, 6, 8, 10 without 0 and 6; B has 1, 3, 5, 7, 9 without 3 and 9.
    for text in (str(test), test._repr_html_(), page_of(test, None, None, ()).text()):
        assert "users of stars, top: A 4, B 3" in text
    assert "\nusers: A 6, B 5;" in str(test)
    alike = rk.online.ab_test(users, metrics={"paid": "paid"}, **options)
    assert "users of" not in str(alike)


@pytest.mark.usefixtures("_plain")
def test_a_line_says_how_each_metric_is_defined() -> None:
    names = ["ctr", "engagement_rate"]
    of_log = rk.online.ab_test(log(), control="A", metrics=names, session_gap=5)
    users = pl.DataFrame(
        {"id": range(8), "arm": ["A", "B"] * 4, "paid": range(8), "orders": [1, 2] * 4}
    )
    metrics = {
        "paid": "paid", "aov": ("paid", "orders"), "median": ("paid", 0.5),
    }  # fmt: skip
    of_users = rk.online.ab_test(
        users, unit="id", variant="arm", control="A", metrics=metrics
    )
    summary = rk.online.summarize(log(), names, session_gap=5)

    assert of_log.definitions == summary.definitions
    assert "5 minutes of silence" in of_log.definitions["engagement_rate"]
    assert of_users.definitions == {
        "paid": "mean paid of a user",
        "aov": "paid / orders",
        "median": "the 0.5 quantile of paid over users",
    }
    for test in (of_log, of_users):
        text = page_of(rk.load(test.to_json()), None, None, ()).text()
        for name, says in test.definitions.items():
            assert f"<li><b>{name}</b>: {says}</li>" in text


@pytest.mark.usefixtures("_plain")
@pytest.mark.parametrize("size", ["10%", 0.02])
def test_a_guardrail_is_shown_with_its_margin(size: str | float) -> None:
    test = rk.online.ab_test(log(), control="A", metrics=["ctr"], margin={"ctr": size})

    text = page_of(test, None, None, ()).text()

    says = f"not worse, margin {str(size).replace('%', ' %')}"
    assert says in str(test)
    assert Parsed(text).tables["The effect on each metric"][1][-1] == says
    short, margin = says.split(", margin ")
    for words in (short, says):  # in the summary and in the table
        assert text.count(f'<span class="verdict not-worse">{words}</span>') == 1
    assert (
        f"B is not worse than A in ctr by {margin} or more".replace(" %", "\xa0%")
        in text
    )


@pytest.mark.usefixtures("_plain")
def test_what_is_undefined_is_said_in_words() -> None:
    test = rk.online.ab_test(log(users=2), control="A", metrics=["ctr"])

    text = page_of(test, None, None, ()).text()

    says = "Cannot tell whether B is better than A in ctr: the difference is +1.0000 "
    assert f"{says}(p is undefined)." in text
    assert Parsed(text).tables["The effect on each metric"][1][6] == "undefined"
    assert "nan" not in text.partition("<main")[2].partition("<script")[0]


@pytest.mark.usefixtures("_plain")
def test_arms_of_other_sizes_are_warned_of_first() -> None:
    lost = log(users=400).filter(
        (pl.col("variant") == "A") | (pl.col("user_id") < "u2")
    )
    test = rk.online.ab_test(lost, control="A", metrics=["ctr"])

    text = page_of(test, None, None, ()).text()

    assert test.srm.mismatch
    warned = "the arms are not as large"
    assert text.count(warned) == 1
    assert text.index("<h1>") < text.index(warned) < text.index("<section")
    assert str(test).startswith(f"! {warned}")
    assert test.to_markdown().startswith(f"**Warning:** {warned}")
    assert test._repr_html_().startswith(f"<ul><li>{warned}")


def effect(verdict: str, **more: Any) -> dict[str, Any]:
    """Return a row of details: 0.02 more than the 0.1 of the control."""
    ends = {"low": 0.01, "high": 0.03, "lift_low": 0.095, "lift_high": 0.304}
    return {
        "metric": "ctr", "variant": "B", "difference": 0.02, "lift": 0.2, **ends,
        "p_corrected": 0.004, "higher_is_better": True, "margin": None,
        "verdict": verdict, **more,
    }  # fmt: skip


SIZE = "+0.0200 (+0.0100 to +0.0300; p = 0.0040), a lift of +20.0 % (+9.5 % to +30.4 %)"
ONE_SIDED = SIZE.replace("p =", "one-sided p =")
ALONE = SIZE.replace("; p = 0.0040", "")
IS = "the difference is"
OPEN = "Cannot tell whether"
NAN = float("nan")


@pytest.mark.parametrize(
    ("row", "says"),
    [
        (effect("better"), f"B is better than A in ctr by {SIZE}."),
        (effect("worse", segment="de"), f"de: B is worse than A in ctr by {SIZE}."),
        (
            effect("larger", higher_is_better=None),
            f"ctr is larger in B than in A by {SIZE}.",
        ),
        (
            effect("cannot tell"),
            f"{OPEN} B is better than A in ctr: {IS} {SIZE}.",
        ),
        (
            effect("cannot tell", higher_is_better=None),
            f"{OPEN} ctr differs between A and B: {IS} {SIZE}.",
        ),
        (
            effect("not worse", margin="2%"),
            f"B is not worse than A in ctr by 2 % or more: {IS} {ONE_SIDED}.",
        ),
        (
            effect("cannot tell", margin="0.01"),
            f"{OPEN} B is worse than A in ctr by 0.01 or more: {IS} {ONE_SIDED}.",
        ),
        (
            effect("worse", margin="0.01"),
            f"B is worse than A in ctr by {ALONE}.",
        ),
        (
            effect("better", lift=NAN, low=NAN, high=NAN),
            "B is better than A in ctr by +0.0200 (p = 0.0040).",
        ),
        (
            effect("cannot tell", difference=NAN),
            f"{OPEN} B is better than A in ctr: {IS} undefined.",
        ),
    ],
)
def test_every_verdict_is_a_sentence(row: dict[str, Any], says: str) -> None:
    test = rk.online.ab_test(log(), control="A", metrics=["ctr"])
    found = replace(test, details=pl.DataFrame([row]))

    assert sentences(found) == [says]


@pytest.mark.usefixtures("_plain")
def test_segments_have_rows_of_their_own() -> None:
    test = rk.online.ab_test(log(), control="A", metrics=["ctr"], segment="country")

    text = page_of(test, None, None, ()).text()
    cells = Parsed(text).tables["The effect on each metric"]
    assert "<summary>3 more comparisons, by segment</summary>" in text
    assert cells[0][2] == "segment"
    assert [row[2] for row in cells[1:]] == [
        "all" if row is None else row for row in test.details["segment"]
    ]


@pytest.mark.slow
@pytest.mark.usefixtures("_plain")
def test_hostile_names_leave_the_documents_as_they_are() -> None:
    def structure(a: str, b: str) -> list[Any]:
        events = log((a, b))
        test = rk.online.ab_test(events, control=a, metrics=["ctr"])
        summary = rk.online.summarize(events, "ctr")
        return [parsed(result).elements for result in (test, summary)]

    for text in HOSTILE:
        safe = text.encode("utf-8", "ignore").decode()
        assert structure(f"1{safe}", f"2{safe}") == structure("1a", "2a")


@pytest.mark.usefixtures("_plain")
def test_long_tables_of_days_are_folded_and_short_ones_are_not() -> None:
    metrics = ["ctr", "engagement_rate"]
    lasting = log(users=240).with_columns(
        pl.col("timestamp") + pl.duration(days=pl.int_range(pl.len()) // 40)
    )
    for events, n_days in ((log(), 3), (lasting, 13)):
        test = rk.online.ab_test(events, control="A", metrics=metrics, daily=True)
        assert test.by_day is not None
        assert test.joined is not None
        n = test.by_day.height
        assert n == 2 * n_days == test.joined.height
        text = page_of(test, None, None, ()).text()
        summaries = re.findall("<details><summary>(.*?)</summary>", text)
        wanted = [
            f"Effects at the end of each day: {n} rows",
            f"Users of each variant at the end of each day: {n} rows",
        ]
        assert summaries == (wanted if n > 20 else [])
        rows = Parsed(text).tables["Effects at the end of each day"]
        assert len(rows) == n + 1

    summary = rk.online.summarize(lasting, "ctr", daily=True)
    text = page_of(summary, None, None, ()).text()
    assert "<summary>The number of each metric: 26 rows</summary>" in text


def test_days_are_lines_and_groups_are_points(tmp_path: Path) -> None:
    pytest.importorskip("vl_convert")
    events = log()
    for daily, field in ((True, "day"), (False, "verdict")):
        summary = rk.online.summarize(events, "ctr", daily=daily)
        path = tmp_path / "report.html"
        summary.report(path)

        (chart,) = Parsed(path.read_text("utf-8")).data["charts"].values()

        points = chart["data"]["values"]
        assert [point["value"] for point in points] == summary.table["value"].to_list()
        assert all(field in point for point in points)


def test_effects_are_drawn_with_both_intervals(tmp_path: Path) -> None:
    pytest.importorskip("vl_convert")
    some = pl.col("user_id").str.ends_with("1") & (pl.col("event") == "click")
    events = log(users=2400).filter(~some)
    test = rk.online.ab_test(events, control="A", metrics=["ctr"])
    path = tmp_path / "report.html"
    test.report(path)

    charts = Parsed(path.read_text("utf-8")).data["charts"]

    (row,) = test.details.iter_rows(named=True)
    (lift,) = charts["lifts"]["data"]["values"]
    assert lift == {
        "label": "ctr", "verdict": "better", "value": row["lift"],
        "low": row["lift_low"], "high": row["lift_high"],
        "lift": f"+{100 * row['lift']:.1f} % (+{100 * row['lift_low']:.1f} % to "
        f"+{100 * row['lift_high']:.1f} %)",
    }  # fmt: skip
    (change,) = charts["difference-0"]["data"]["values"]
    assert change == {
        "label": "B", "verdict": "better", "value": row["difference"],
        **{name: row[name] for name in ("low", "high", "always_low", "always_high")},
    }  # fmt: skip
    fields = [
        layer["encoding"]["x"]["field"] for layer in charts["difference-0"]["layer"]
    ]
    assert fields == ["zero", "always_low", "low", "value"]


@pytest.fixture(scope="module")
def looked() -> rk.online.ABTest:
    """A test whose effects are kept by day."""
    return rk.online.ab_test(
        log(users=3000),
        control="A",
        metrics=["ctr"],
        daily=True,
        ratio={"A": 1, "B": 1},
    )


def test_effects_of_each_day_are_drawn_with_both_bands(
    looked: rk.online.ABTest, tmp_path: Path
) -> None:
    pytest.importorskip("vl_convert")
    path = tmp_path / "report.html"
    looked.report(path)

    document = Parsed(path.read_text("utf-8"))

    assert looked.by_day is not None
    rows = list(looked.by_day.iter_rows(named=True))
    assert len(rows) == 3
    assert document.tables["Effects at the end of each day"][1:] == [
        [
            str(row["day"]), "ctr", "B", f"{row['n'] + row['n_control']:,}",
            f"{row['difference']:+.4f}|{row['low']:+.4f} to {row['high']:+.4f}",
            "" if row["n"] < 1000 else
            f"< 0.0001|{row['always_low']:+.4f} to {row['always_high']:+.4f}",
        ]
        for row in rows
    ]  # fmt: skip
    chart = document.data["charts"]["day-0"]
    bounds = ("low", "high", "always_low", "always_high")
    assert [
        {name: point[name] for name in ("day", "value", *bounds)}
        for point in chart["data"]["values"]
    ] == [
        {
            "day": str(row["day"]), "value": row["difference"],
            **{name: None if row[name] != row[name] else row[name] for name in bounds},
        }
        for row in rows
    ]  # fmt: skip
    fields = [layer["encoding"]["y"]["field"] for layer in chart["layer"]]
    assert fields == ["level", "always_low", "low", "value"]


def test_the_sample_ratio_of_each_day_is_shown(
    looked: rk.online.ABTest, tmp_path: Path
) -> None:
    pytest.importorskip("vl_convert")
    path = tmp_path / "report.html"
    looked.report(path)

    document = Parsed(path.read_text("utf-8"))

    # A third of the users comes on each of three days, and every second one is of A.
    rows = document.tables["Users of each variant at the end of each day"][1:]
    assert [row[:5] for row in rows] == [
        [f"2026-03-0{day}", variant, f"{500 * day:,}", "50.00 %", "50.00 %"]
        for day in (1, 2, 3)
        for variant in "AB"
    ]
    chart = document.data["charts"]["joined"]
    assert {point["value"] for point in chart["data"]["values"]} == {0.5}
    effects = document.data["charts"]["day-0"]
    (both, colors), (names, others) = (
        spec["encoding"]["color"]["scale"].values() for spec in (chart, effects)
    )
    assert (both, names) == (["A", "B"], ["B"])
    assert others == colors[1:]  # the same in every chart


@pytest.mark.usefixtures("_plain")
def test_without_days_it_says_how_to_keep_them() -> None:
    test = rk.online.ab_test(log(), control="A", metrics=["ctr"])

    text = page_of(test, None, None, ()).text()

    assert "daily=True or --daily adds them" in text


def test_clicks_by_position_are_shown(tmp_path: Path) -> None:
    pytest.importorskip("vl_convert")
    shown = pl.DataFrame(
        {
            "impression_id": [1, 1, 2, 2],
            "user_id": [7, 7, 8, 8],
            "position": [1, 2, 1, 2],
            "click": [1, 0, 1, 1],
        }
    )
    clicks = rk.online.click_metrics(shown)
    path = tmp_path / "report.html"
    for result in (
        rk.online.summarize(log(), "ctr"),
        rk.online.ab_test(log(), control="A", metrics=["ctr"]),
    ):
        result.report(path, clicks=clicks)

        document = Parsed(path.read_text("utf-8"))

        # At rank 1 both users are alike; at rank 2 they are not at all.
        assert document.tables["Clicks by position"][1:] == [
            ["1", "2", "2", "1.0000"], ["2", "2", "1", "0.5000|0.0000 to 1.0000"],
        ]  # fmt: skip
        points = document.data["charts"]["by-position"]["data"]["values"]
        assert [(point["rank"], point["value"]) for point in points] == [
            (1, 1),
            (2, 0.5),
        ]
        # The first click is at rank 1 in both.
        assert "Mean reciprocal rank of the first click: 1.0000" in path.read_text()
    with pytest.raises(ParameterError, match="clicks must be the result of"):
        result.report(path, clicks=shown)  # type: ignore[arg-type]


def test_clicks_by_position_are_told_of_each_variant() -> None:
    pytest.importorskip("vl_convert")
    shown = clicked(300)
    clicks = rk.online.click_metrics(shown, confidence=0.9)
    test = rk.online.ab_test(log(), control="A", metrics=["ctr"], confidence=0.99)

    text = page_of(test, None, None, (), clicks).text()

    document = Parsed(text)
    assert clicks.by_variant is not None
    rows = clicks.by_variant.sort("position", "variant").rows(named=True)
    assert document.tables["Clicks by position"][1:] == [
        [
            f"{row['position']}", row["variant"], f"{row['impressions']}",
            f"{row['clicks']}",
            f"{row['ctr']:.4f}|{row['low']:.4f} to {row['high']:.4f}",
        ]
        for row in rows
    ]  # fmt: skip
    chart = document.data["charts"]["by-position"]
    points = chart["data"]["values"]
    assert [(point["system"], point["low"], point["high"]) for point in points] == [
        (row["variant"], row["low"], row["high"]) for row in rows
    ]
    assert [layer["mark"]["type"] for layer in chart["layer"]] == ["area", "line"]
    says = "Clicks per impression at each position, for {}, with {} % intervals over {}"
    assert says.format("each variant", 90, "users") in text
    summary = rk.online.summarize(log(), "ctr", confidence=0.99)
    for columns, units in (
        (["variant"], "users"),
        (["variant", "user_id"], "impressions"),
    ):
        clicks = rk.online.click_metrics(shown.drop(columns))
        text = page_of(summary, None, None, (), clicks).text()
        assert says.format(f"all {units}", 95, units) in text


@pytest.mark.parametrize("kind", ["summary", "days", "test"])
def test_a_browser_shows_them(kind: str, browser: Browser, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    if kind == "test":
        rk.online.ab_test(
            log(users=3000), control="A", metrics=["ctr"], daily=True
        ).report(path)
    else:
        rk.online.summarize(log(), "ctr", daily=kind == "days").report(path)

    browser.load(path)

    asked, wrong = browser.heard()
    assert asked == {path.as_uri()}
    assert wrong == []
    assert browser.find("figure .live svg").is_displayed()


def day_of(low: float | None, value: float, high: float | None) -> dict[str, Any]:
    return {
        "system": "A",
        "day": "2026-03-01",
        "value": value,
        "low": low,
        "high": high,
    }


USUAL = [day_of(0.1, 0.2, 0.3), day_of(0.2, 0.3, 0.4), day_of(0.1, 0.3, 0.5)]


@pytest.mark.parametrize(
    ("odd", "span"),
    [
        (day_of(-2, 0.5, 3), (0.1, 0.5)),  # an interval far wider than most
        (day_of(None, 7, None), (0.1, 0.5)),  # one user, who has no interval
        (day_of(0, 0.2, 0.4), None),
    ],
)
def test_a_day_with_few_users_does_not_stretch_the_axis(
    odd: dict[str, Any], span: tuple[float, float] | None
) -> None:
    assert days_span([*USUAL, odd]) == span
    spec = specs.over_days([*USUAL, odd], "ctr", span=span)
    for layer in spec["layer"]:
        assert layer["mark"].get("clip", False) == (span is not None)
        domain = layer["encoding"]["y"]["scale"].get("domain")
        assert domain == (None if span is None else [*span])


def test_what_days_are_compared_with_stays_on_the_axis() -> None:
    assert days_span([*USUAL, day_of(-9, 0, 9)], 0) == (0, 0.5)


@pytest.mark.usefixtures("_plain")
def test_tables_say_how_many_rows_they_leave_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shown = [(f"i{n}", place, n % 2) for n in range(4) for place in (1, 2, 3)]
    frame = pl.DataFrame(shown, ["impression_id", "position", "click"], orient="row")
    clicks = rk.online.click_metrics(frame)
    test = rk.online.ab_test(log(), control="A", metrics=["ctr"], daily=True)
    assert "rows are shown" not in page_of(test, None, None, (), clicks).text()
    monkeypatch.setattr("rankine._report.of_clicks._ROWS", 2)
    monkeypatch.setattr("rankine._report.of_online._ROWS", 1)

    text = page_of(test, None, None, (), clicks).text()

    assert test.by_day is not None
    assert test.joined is not None
    for says in (
        "The first 2 of 3 rows are shown; see .by_position of rk.online.",
        f"The last 1 of {test.by_day.height} rows are shown; see .by_day of",
        f"The last 1 of {test.joined.height} rows are shown; see .joined of",
    ):
        assert says in text
    assert len(Parsed(text).tables["Clicks by position"]) == 1 + 2
