"""Hostile names in a browser: they are read as they are, and nothing of them runs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import rankine as rk
from tests.report.pages import HOSTILE, HOSTILE_SYSTEMS, judged_by
from tests.report.test_browser import LIST
from tests.report.test_online_page import log

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.report.conftest import Browser

NAMES = [name for name in HOSTILE if name != "\ud800" and "\x00" not in name]
MARKUP = "main img, main iframe, main script, main h1 ~ h1, main style"
"""What some of the names would be if they were not text."""


def test_hostile_names_stay_text(browser: Browser, tmp_path: Path) -> None:
    names = [name for name in HOSTILE if name != "\ud800"]
    comparison = judged_by(names[:6], names, names)
    path = tmp_path / "hostile.html"
    comparison.report(path, title=HOSTILE[0], texts=dict.fromkeys(names, HOSTILE[1]))

    browser.load(path)
    for number in range(len(names)):
        buttons = browser.driver.find_elements("css selector", f"{LIST} button")
        browser.run("arguments[0].click()", buttons[number])
        assert browser.texts(".detail h3")

    browser.point("#bars canvas", 0.025, 0.4)
    assert len(browser.texts(".vg-tooltip.visible td.value")) == 4
    assert browser.texts(".vg-tooltip img, .vg-tooltip script") == []
    asked, wrong = browser.heard()
    assert browser.run("return window.hurt === undefined")
    assert browser.find("h1").text == HOSTILE[0]
    assert asked == {path.as_uri()}
    assert wrong == []


@pytest.mark.parametrize("names", HOSTILE_SYSTEMS, ids=range(len(HOSTILE_SYSTEMS)))
def test_charts_of_hostile_systems_are_drawn(
    names: list[str], browser: Browser, tmp_path: Path
) -> None:
    path = tmp_path / "hostile.html"
    judged_by(names, ["q1", "q2"], ["x", "y"], baseline=False).report(path)

    browser.load(path)

    assert browser.run("return window.hurt === undefined")
    assert browser.heard() == ({path.as_uri()}, [])


def segments(_: Path) -> Any:
    """Return a comparison with segments and notes of all these names."""
    qrels = {name: {"a": 1, "b": 0} for name in NAMES}
    ranked = (["a", "b"], ["b", "a"])
    runs = {
        f"run {NAMES[place]}": dict.fromkeys(NAMES[place:], ranked[place])
        for place in (0, 1)
    }
    by = {name: name for name in NAMES}
    compared = rk.compare(qrels, runs, "RR", baseline=next(iter(runs)), by=by, draws=50)
    assert any(NAMES[0] in note for note in compared.notes)
    return compared


def experiment(folder: Path) -> Any:
    """Return an experiment whose runs have some of these names."""
    (folder / "qrels.txt").write_text("q1 0 a 1\nq2 0 b 1\n")
    (folder / "a.run").write_text("q1 Q0 a 1 2 x\nq2 Q0 a 1 2 x\nq2 Q0 b 2 1 x\n")
    runs = ", ".join(f"{json.dumps(name)}: a.run" for name in NAMES[:7])
    (folder / "experiment.yaml").write_text(
        f"qrels: qrels.txt\nruns: {{{runs}}}\nmetrics: [RR]\noutput: out\n"
    )
    rk.run_experiment(folder / "experiment.yaml")
    return rk.load(folder / "out" / "results.json")


def by_country(_: Path) -> pl.DataFrame:
    """Return a log in which each of these names is a country."""
    n = 3 * len(NAMES)
    names = {f"u{user}": NAMES[user % len(NAMES)] for user in range(n)}
    country = pl.col("user_id").replace_strict(names)
    return log((NAMES[0], NAMES[1]), users=n).with_columns(country=country)


def summary(folder: Path) -> Any:
    return rk.online.summarize(by_country(folder), "ctr", by="country")


def days(folder: Path) -> Any:
    return rk.online.summarize(by_country(folder), "ctr", by="variant", daily=True)


def ab_test(folder: Path) -> Any:
    return rk.online.ab_test(
        by_country(folder), control=NAMES[0], metrics=["ctr"], segment="country"
    )


@pytest.mark.parametrize("made", [segments, experiment, summary, days, ab_test])
def test_names_of_every_kind_stay_text(
    made: Callable[[Path], Any], browser: Browser, tmp_path: Path
) -> None:
    path = tmp_path / "report.html"
    made(tmp_path).report(path, title=NAMES[2])

    browser.load(path)

    assert browser.find("h1").text == NAMES[2]
    assert browser.run("return window.hurt === undefined")
    assert browser.heard() == ({path.as_uri()}, [])
    assert browser.texts(MARKUP) == []
