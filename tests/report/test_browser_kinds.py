"""Reports of each kind in a browser: what is read there are the result's numbers."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import polars as pl

import rankine as rk
from rankine.data import QRELS, RUNS
from tests.report.pages import HOSTILE
from tests.report.test_online_page import log

if TYPE_CHECKING:
    from pathlib import Path

    from tests.report.conftest import Browser


def signed(row: dict[str, float], value: str, low: str, high: str, form: str) -> str:
    text = form.format(row[value])
    if math.isnan(row[low]):
        return text
    return f"{text}\n{form.format(row[low])} to {form.format(row[high])}"


def test_an_evaluation(browser: Browser, tmp_path: Path) -> None:
    metrics = ["nDCG@10", "AP", "RR@10"]
    evaluation = rk.evaluate(QRELS, RUNS[0], metrics, keep=10)
    evaluation.report(tmp_path / "report.html")

    browser.load(tmp_path / "report.html")

    n = str(len(evaluation.queries))
    for metric, cells in zip(
        metrics, browser.rows("The number of each metric"), strict=True
    ):
        low, high = evaluation.interval(metric)
        value = f"{evaluation[metric]:.4f}\n{low:.4f} to {high:.4f}"
        assert cells == [metric, value, n]
    values = dict(evaluation.per_query.select("query", "nDCG@10").iter_rows())
    seen = {row[0].split("\n")[0]: row[1] for row in browser.rows("Queries")}
    assert seen == {query: f"{value:.4f}" for query, value in values.items()}


def test_a_summary(browser: Browser, tmp_path: Path) -> None:
    summary = rk.online.summarize(log(), "ctr", by="country")
    summary.report(tmp_path / "report.html")

    browser.load(tmp_path / "report.html")

    rows = browser.rows("The number of each metric")
    assert rows == [
        [
            row["metric"], row["country"],
            signed(row, "value", "low", "high", "{:.4f}"), str(row["n"]),
            str(row["users"]),
        ]
        for row in summary.table.iter_rows(named=True)
    ]  # fmt: skip


def test_an_ab_test(browser: Browser, tmp_path: Path) -> None:
    test = rk.online.ab_test(
        log(users=400), control="A", metrics=["ctr"], segment="country", daily=True
    )
    test.report(tmp_path / "report.html")

    browser.load(tmp_path / "report.html")

    rows = browser.rows("The effect on each metric")
    for row, cells in zip(test.details.iter_rows(named=True), rows, strict=True):
        assert cells[:5] == [
            row["metric"], row["variant"], row["segment"] or "all",
            f"{row['control_value']:.4f}", f"{row['value']:.4f}",
        ]  # fmt: skip
        assert cells[5] == signed(row, "difference", "low", "high", "{:+.4f}")
        assert cells[6] == signed(row, "lift", "lift_low", "lift_high", "{:+.1%}")
        assert cells[-1] == row["verdict"]
    assert test.by_day is not None
    by_day = browser.rows("Effects at the end of each day")
    for row, cells in zip(test.by_day.iter_rows(named=True), by_day, strict=True):
        assert cells[0] == str(row["day"])
        assert cells[3] == str(row["n_control"] + row["n"])
        assert cells[4] == signed(row, "difference", "low", "high", "{:+.4f}")


def test_hostile_variants_and_segments_stay_text(
    browser: Browser, tmp_path: Path
) -> None:
    names = [name for name in HOSTILE if name != "\ud800" and "\x00" not in name]
    path = tmp_path / "report.html"
    events = log((names[0], names[1]), users=3 * len(names)).with_columns(
        country=pl.col("user_id").replace_strict(
            {f"u{n}": names[n % len(names)] for n in range(3 * len(names))}
        )
    )
    rk.online.ab_test(
        events, control=names[0], metrics=["ctr"], segment="country"
    ).report(path, title=names[2])

    browser.load(path)

    assert browser.find("h1").text == names[2]
    assert browser.run("return window.hurt === undefined")
    assert browser.heard() == ({path.as_uri()}, [])
    assert (
        browser.run("return document.querySelectorAll('main img, iframe').length") == 0
    )
