"""Every number of a report of online data is the result's, read from the page.

The cells of all tables, and the numbers of all sentences, as in a comparison.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import rankine as rk
from tests.report.seen import (
    cell,
    four,
    lift,
    numbers,
    p4,
    plus,
    prose,
    tables,
)
from tests.report.test_browser_numbers import PACKAGES
from tests.report.test_online_page import clicked, log

if TYPE_CHECKING:
    from tests.report.conftest import Browser


@pytest.fixture(scope="module")
def clicks() -> rk.online.ClickMetrics:
    return rk.online.click_metrics(clicked(3000))


def of_clicks(clicks: rk.online.ClickMetrics) -> list[list[str]]:
    assert clicks.by_variant is not None
    return [
        [
            f"{row['position']}", row["variant"], f"{row['impressions']:,}",
            f"{row['clicks']:,}", cell(row, "ctr"),
        ]
        for row in clicks.by_variant.sort("position", "variant").rows(named=True)
    ]  # fmt: skip


def in_clicks(clicks: rk.online.ClickMetrics) -> set[str]:
    return {"95", *map(four, (clicks.mrr, *clicks.interval)), *numbers(clicks.notes)}


@pytest.mark.parametrize("daily", [False, True])
def test_a_summary(
    browser: Browser, clicks: rk.online.ClickMetrics, tmp_path: Path, *, daily: bool
) -> None:
    summary = rk.online.summarize(log(), ["ctr"], by="country", daily=daily)
    summary.report(tmp_path / "report.html", clicks=clicks)
    browser.load(tmp_path / "report.html")

    seen = tables(browser)

    groups = summary.groups
    assert len(groups) == 1 + daily
    assert seen == {
        "The number of each metric": [
            [
                row["metric"], *(str(row[name]) for name in groups), cell(row),
                f"{row['n']:,}", f"{row['users']:,}",
            ]
            for row in summary.table.iter_rows(named=True)
        ],
        "Clicks by position": of_clicks(clicks),
        "Choice and value": [["confidence", "0.95"], ["groups", ", ".join(groups)]],
        "Package and version": PACKAGES,
    }  # fmt: skip
    told = (*summary.definitions.values(), *summary.notes, *summary.left_out.values())
    said = {f"{summary.events:,}", *map(str, summary.excluded.values())}
    assert numbers(prose(browser)) == in_clicks(clicks) | said | numbers(told)


@pytest.fixture(scope="module")
def tested() -> rk.online.ABTest:
    """A test with segments and days, and users enough for what always holds."""
    some = pl.col("user_id").str.ends_with("1") & (pl.col("event") == "click")
    return rk.online.ab_test(
        log(users=6000).filter(~some),
        control="A", metrics=["ctr", "engagement_rate"], segment="country", daily=True,
        margin={"engagement_rate": "2%"},
    )  # fmt: skip


def always(row: dict[str, Any]) -> str:
    if math.isnan(row["always_low"]):
        return ""
    bounds = f"{plus(row['always_low'])} to {plus(row['always_high'])}"
    return f"{p4(row['p_always'])}\n{bounds}"


def verdict(row: dict[str, Any]) -> str:
    if row["margin"] is None:
        return str(row["verdict"])
    return f"{row['verdict']}, margin 2 %"


def test_an_ab_test(
    browser: Browser,
    tested: rk.online.ABTest,
    clicks: rk.online.ClickMetrics,
    tmp_path: Path,
) -> None:
    tested.report(tmp_path / "report.html", clicks=clicks)
    browser.load(tmp_path / "report.html")

    seen = tables(browser)

    rows = tested.details.rows(named=True)
    lifts = "lift", ("lift_low", "lift_high"), lift
    assert any(always(row) for row in rows)
    assert {row["verdict"] for row in rows} >= {"better", "not worse"}
    wanted = {
        "The effect on each metric": [
            [
                row["metric"], row["variant"], row["segment"] or "all",
                four(row["control_value"]), four(row["value"]),
                cell(row, "difference", form=plus), cell(row, *lifts),
                p4(row["p_corrected"]), always(row), verdict(row),
            ]
            for row in rows
        ]
    }  # fmt: skip
    assert tested.by_day is not None
    assert tested.joined is not None
    wanted["Effects at the end of each day"] = [
        [
            str(row["day"]), row["metric"], row["variant"],
            f"{row['n_control'] + row['n']:,}", cell(row, "difference", form=plus),
            always(row),
        ]
        for row in tested.by_day.iter_rows(named=True)
    ]  # fmt: skip
    wanted["Users of each variant"] = [
        [name, f"{n:,}", f"{6000 * tested.srm.shares[name]:,.0f}"]
        for name, n in tested.srm.counts.items()
    ]
    wanted["Users of each variant at the end of each day"] = [
        [
            str(row["day"]), row["variant"], f"{row['users']:,}",
            f"{100 * row['share']:.2f} %", f"{100 * row['expected']:.2f} %",
            p4(row["p_anytime"]),
        ]
        for row in tested.joined.iter_rows(named=True)
    ]  # fmt: skip
    wanted["Clicks by position"] = of_clicks(clicks)
    wanted["Choice and value"] = [
        ["control", "A"], ["confidence", "0.95"], ["correction", "holm"],
        ["always_correction", "holm"], ["lift", "delta"], ["expected_n", "10000"],
        ["cuped", "False"], ["seed", "0"], ["margin", "engagement_rate 2%"],
        ["cap", "none"], ["page_cap", "none"], ["window", "none"],
        ["winsorize", "none"], ["max_events", "none"],
        ["incomplete", "none"], ["timezone", "none"], ["rules", "none"],
        ["table", "False"],
    ]  # fmt: skip
    wanted["Package and version"] = PACKAGES
    assert seen == wanted
    sentences = [text for text in prose(browser) if " than A in " in text]
    for row in rows:
        where = "" if row["segment"] is None else f"{row['segment']}: "
        bounds = f"{plus(row['low'])} to {plus(row['high'])}"
        of_lift = f"{lift(row['lift_low'])} to {lift(row['lift_high'])}"
        p = p4(row["p_corrected"])
        sure = f"p {p if p.startswith('<') else f'= {p}'}"
        sure += " after Holm's correction for 4 effects" * (not row["margin"])
        words = f"B is better than A in ctr by {plus(row['difference'])} ({bounds}; "
        if row["margin"]:
            words = (
                "B is not worse than A in engagement_rate by 2 % or more: "
                f"the difference is {plus(row['difference'])} ({bounds}; one-sided "
            )
        words += f"{sure}), a lift of {lift(row['lift'])} ({of_lift})."
        assert f"{row['verdict']} {where}{words}" in [
            " ".join(text.split()) for text in sentences
        ]
    assert len(sentences) == len(rows)
    srm = tested.srm
    said = {"6,000", "95", "10,000", f"{srm.threshold:g}"}
    said |= {p4(p).lstrip("< ") for p in (srm.p, srm.p_anytime)}
    told = (*tested.notes, *tested.warnings, *tested.definitions.values(), *sentences)
    said |= numbers(told) | {str(n) for n in tested.excluded.values()}
    more = len(rows) - len(tested.details.filter(pl.col("segment").is_null()))
    assert numbers(prose(browser)) == in_clicks(clicks) | said | {f"{more}"}


IN_SIGHT = """
const table = [...document.querySelectorAll('table')].find(
  t => t.caption.textContent === 'The effect on each metric');
const box = table.parentNode.getBoundingClientRect();
return [...table.querySelectorAll('.kept')].map(cell => {
  const { left, right } = cell.getBoundingClientRect();
  return left >= box.left && right <= box.right + 1;
});
"""


@pytest.mark.parametrize("width", [1920, 1400, 800, 390])
def test_the_verdicts_of_a_wide_table_stay_in_sight(
    browser: Browser, tested: rk.online.ABTest, tmp_path: Path, width: int
) -> None:
    tested.report(tmp_path / "report.html")
    browser.command(
        "Emulation.setDeviceMetricsOverride",
        width=width, height=900, deviceScaleFactor=1, mobile=False,
    )  # fmt: skip
    browser.load(tmp_path / "report.html")

    seen = browser.run(IN_SIGHT)

    assert len(seen) == tested.details.height + 1  # and the title
    assert all(seen)
    hidden = browser.run(
        "const wide = document.querySelector('#effects .wide');"
        "return wide.scrollWidth - wide.clientWidth"
    )
    if width >= 1400:
        assert hidden == 0  # nothing of it is cut off


def test_long_tables_stay_folded_on_paper_unless_they_are_open(
    browser: Browser, tmp_path: Path
) -> None:
    lasting = log(users=240).with_columns(
        pl.col("timestamp") + pl.duration(days=pl.int_range(pl.len()) // 30)
    )
    test = rk.online.ab_test(
        lasting, control="A", metrics=["ctr", "engagement_rate"], daily=True
    )
    test.report(tmp_path / "report.html")
    browser.load(tmp_path / "report.html")

    browser.run("document.querySelector('#ratio details').open = true")
    browser.run("dispatchEvent(new Event('beforeprint'))")

    is_open = "return document.querySelector('{} details').open"
    assert not browser.run(is_open.format("#days"))
    assert browser.run(is_open.format("#ratio"))
