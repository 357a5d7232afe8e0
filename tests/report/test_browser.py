"""The report in a browser: what is seen are the numbers, and it answers."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import rankine as rk
from rankine._report import explorer
from tests.report.pages import judged_by

if TYPE_CHECKING:
    from tests.report.conftest import Browser

LIST = "#explorer table:first-of-type tbody tr"
TITLE = "//table[caption='{}']//th[normalize-space(.)='{}']//button"


def click(browser: Browser, selector: str) -> None:
    browser.run(
        "arguments[0].scrollIntoView({block: 'center'})", browser.find(selector)
    )
    browser.find(selector).click()


def keys(browser: Browser, *names: str) -> None:
    from selenium.webdriver import ActionChains, Keys  # noqa: PLC0415 - if installed

    pressed = (getattr(Keys, name, name) for name in names)
    ActionChains(browser.driver).send_keys(*pressed).perform()


def test_it_asks_for_nothing_and_nothing_goes_wrong(
    loaded: Browser, report: Path
) -> None:
    asked, wrong = loaded.heard()

    assert asked == {report.as_uri()}
    assert wrong == []


def test_the_means_that_are_seen_are_those_of_the_result(
    loaded: Browser, demo: rk.Comparison
) -> None:
    rows = loaded.rows("Means of all systems")

    for row in demo.table.iter_rows(named=True):
        cells = rows[demo.systems.index(row["run"])]
        assert cells[0].endswith(row["run"])
        seen = cells[1 + demo.metrics.index(row["metric"])]
        mean, bounds = seen.splitlines()
        assert mean.endswith(f"{row['mean']:.4f}")
        assert bounds == f"{row['low']:.4f} to {row['high']:.4f}"


def test_the_pairs_that_are_seen_are_those_of_the_result(
    loaded: Browser, demo: rk.Comparison
) -> None:
    rows = loaded.rows("Differences of all pairs")

    for row, cells in zip(demo.pairwise.iter_rows(named=True), rows, strict=True):
        bounds = f"{row['low']:.4f} to {row['high']:.4f}"
        # No draw is as extreme as this pair: all that is known is a bound.
        most = "at most " * (
            row["p"] * (demo.to_dict()["draws"] + 1) == pytest.approx(1)
        )
        ps = [
            "< 0.0001" if row[name] < 0.0001 else f"{most}{row[name]:.4f}"
            for name in ("p", "p_corrected")
        ]
        moves = [str(row[name]) for name in ("wins", "ties", "losses")]
        assert cells == [
            row["metric"], row["a"], row["b"], row["verdict"],
            f"{row['difference']:+.4f}\n{bounds}", *ps, *moves,
        ]  # fmt: skip


def test_the_sentences_that_are_seen_are_those_of_the_result(
    loaded: Browser, demo: rk.Comparison
) -> None:
    loaded.run("document.querySelector('#summary details').open = true")

    seen = [" ".join(text.split()) for text in loaded.texts("#summary .verdicts li")]

    rows = demo.pairwise.iter_rows(named=True)
    said = zip(rows, demo.sentences, strict=True)
    assert sorted(seen) == sorted(f"{row['verdict']} {text}" for row, text in said)


def test_the_queries_that_are_seen_have_the_values_of_the_result(
    loaded: Browser, demo: rk.Comparison
) -> None:
    rows = loaded.rows("Queries")

    moved = demo.moved("nDCG@10", "keyword", "vector", 50)
    values = {query.query: (*query.values, query.difference) for query in moved}
    for words, old, new, difference in rows:
        query = words.split("\n")[0]
        if query not in values:  # moved does not have those that stay
            assert difference == "+0.0000"
            continue
        a, b, d = values.pop(query)
        assert [old, new, difference] == [f"{a:.4f}", f"{b:.4f}", f"{d:+.4f}"]
    assert not values
    sizes = [abs(float(row[3])) for row in rows]
    assert sizes == sorted(sizes, reverse=True)


def test_a_title_sorts_a_table_down_then_up(loaded: Browser) -> None:
    def differences() -> list[float]:
        rows = loaded.rows("Differences of all pairs")
        return [float(row[4].splitlines()[0]) for row in rows]

    button = loaded.driver.find_element(
        "xpath", TITLE.format("Differences of all pairs", "difference")
    )
    before = differences()
    for order in (sorted(before, reverse=True), sorted(before)):
        loaded.run("arguments[0].click()", button)
        assert differences() == order
    assert before != sorted(before)


def test_numbers_in_names_sort_by_their_size(browser: Browser, tmp_path: Path) -> None:
    names = ["a", "b"]
    queries = ["q10", "q9", "Q11"]
    judged_by(names, queries, ["x", "y", "z"]).report(tmp_path / "report.html")
    browser.load(tmp_path / "report.html")

    for order in (["q9", "q10", "Q11"], ["Q11", "q10", "q9"]):
        click(browser, "#explorer th button")
        assert [row[0] for row in browser.rows("Queries")] == order


def test_words_filter_queries_by_id_and_text(
    loaded: Browser, demo: rk.Comparison
) -> None:
    fours = {query for query in demo.queries if "q4" in query}
    for words, queries in (("Q4", fours), ("鸡蛋", {"q50"}), ("none", set())):
        loaded.find("#search").clear()
        loaded.find("#search").send_keys(words)

        rows = loaded.rows("Queries")

        assert {row[0].split("\n")[0] for row in rows} == queries
        status = loaded.texts("#explorer [role=status]")[0]
        assert int(status.split()[0]) == len(queries)


def test_a_query_opens_with_both_lists_and_what_was_missed(
    loaded: Browser, demo: rk.Comparison
) -> None:
    (query,) = demo.moved("nDCG@10", "keyword", "vector", 1)

    click(loaded, f"{LIST} button")

    assert loaded.texts(".detail h3") == [query.query]
    for side, top in enumerate(query.tops, 1):
        rows = f".detail .pair:nth-of-type(2) > :nth-child({2 * side - 1}) ol li"
        seen = loaded.run(
            "return [...document.querySelectorAll(arguments[0])].map("
            "li => [...li.children].slice(0, 3).map(e => e.textContent))",
            rows,
        )
        wanted = [
            [
                str(rank),
                "\u2013" if grade is None else f"{grade:g}",
                f"{item}بيض مسلوق" if item == "recipe113" else item,
            ]
            for rank, item, grade in top
        ]
        assert seen == wanted
    worst = demo.evaluations["keyword"].worst("nDCG@10", 50)
    missed = next(entry for entry in worst if entry.query == query.query).missed
    listed = {item for _, item, _ in query.tops[0]}
    seen = loaded.texts(".detail .pair:nth-of-type(3) > :first-child .item > span")
    assert seen == [entry.item for entry in missed if entry.item not in listed]


def test_another_pair_and_metric_can_be_chosen(
    loaded: Browser, demo: rk.Comparison
) -> None:
    for place, name in enumerate(("AP", "vector", "hybrid")):
        box = f"#controls label:nth-child({place + 1}) select"
        loaded.find(box).send_keys(name)

    rows = loaded.rows("Queries")

    (query,) = demo.moved("AP", "vector", "hybrid", 1)
    assert rows[0][0].split("\n")[0] == query.query
    assert rows[0][3] == f"{query.difference:+.4f}"


def test_halves_are_rounded_as_python_does(browser: Browser, tmp_path: Path) -> None:
    values = [1 / 32, 3 / 32, 5 / 32, -1 / 32, 0.00005]
    frame = pl.DataFrame({"query": range(5), "x": [0.0] * 5, "y": values})
    rk.compare_values(frame).report(tmp_path / "report.html")
    browser.load(tmp_path / "report.html")

    rows = browser.rows("Queries")

    assert {row[0]: row[2:] for row in rows} == {
        str(query): [f"{value:.4f}", f"{value:+.4f}"]
        for query, value in enumerate(values)
    }


def test_the_theme_changes_and_follows_the_system(loaded: Browser) -> None:
    color = "return getComputedStyle(document.body).backgroundColor"
    light = loaded.run(color)

    loaded.find("#theme").click()

    dark = loaded.run(color)
    assert light != dark
    assert loaded.texts("#theme") == ["Light"]
    loaded.find("#theme").click()
    assert loaded.run(color) == light
    features = [{"name": "prefers-color-scheme", "value": "dark"}]
    loaded.driver.refresh()
    loaded.command("Emulation.setEmulatedMedia", media="", features=features)
    assert loaded.run(color) == dark


def test_the_keyboard_is_enough(loaded: Browser) -> None:
    active = "return document.activeElement.{}"
    for _ in range(200):
        keys(loaded, "TAB")
        if loaded.run(active.format("id")) == "search":
            break
    keys(loaded, "q50")
    for _ in range(10):
        keys(loaded, "TAB")
        if loaded.run(active.format("textContent")) == "q50":
            break
    keys(loaded, "ENTER")

    assert loaded.texts(".detail h3") == ["q50"]
    assert loaded.run(active.format("className")) == "detail"
    keys(loaded, "ESCAPE")
    assert loaded.texts(".detail h3") == []
    assert loaded.run(active.format("textContent")) == "q50"


def test_it_prints_with_nothing_cut(loaded: Browser) -> None:
    click(loaded, f"{LIST} button")
    pdf = base64.b64decode(loaded.driver.print_page())

    assert pdf.startswith(b"%PDF")
    loaded.command("Emulation.setEmulatedMedia", media="print")
    # Otherwise the titles of columns would stand on the first page only.
    title = "return getComputedStyle(document.querySelector('th button')).display"
    assert loaded.run(title) == "contents"
    # A4 across, less its margins, at 96 dots per inch; charts are not drawn anew.
    width = round((297 - 2 * 12) / 25.4 * 96)
    cut = loaded.run(
        "const main = document.querySelector('main');"
        "main.style.width = arguments[0] + 'px';"
        "const right = main.getBoundingClientRect().right;"
        "return [...main.querySelectorAll('svg, canvas, table, p, li, pre')].filter("
        "e => e.getBoundingClientRect().right > right + 1 || "
        "(e.scrollWidth > e.clientWidth + 1 && getComputedStyle(e).overflowX === "
        "'auto')).map(e => e.outerHTML.slice(0, 99))",
        width,
    )
    assert cut == []


@pytest.mark.parametrize("width", [390, 800, 1400])
def test_it_fits_screens_of_every_width(loaded: Browser, width: int) -> None:
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    loaded.command("Emulation.setDeviceMetricsOverride", **size)
    click(loaded, f"{LIST} button")

    assert loaded.run("return document.documentElement.scrollWidth") <= width


def test_without_scripts_there_are_drawings_and_tables(
    browser: Browser, report: Path
) -> None:
    browser.command("Emulation.setScriptExecutionDisabled", value=True)
    browser.driver.get(report.as_uri())

    drawings = browser.driver.find_elements("css selector", ".drawn svg")
    tables = browser.driver.find_elements("css selector", "noscript table")
    assert drawings
    assert all(drawing.is_displayed() for drawing in drawings)
    assert [table.is_displayed() for table in tables] == [True]


def test_results_without_intervals_are_drawn_quietly(
    browser: Browser, tmp_path: Path
) -> None:
    qrels, run = {"q": {"a": 1}}, {"q": ["x", "a"]}
    drawn: dict[str, Any] = {
        "of_one": rk.evaluate(qrels, run, "RR@3"),
        "of_two": rk.compare(qrels, {"old": run, "new": {"q": ["a"]}}, "RR@3"),
    }
    for name, result in drawn.items():
        path = tmp_path / f"{name}.html"
        result.report(path)

        browser.load(path)

        assert browser.heard() == ({path.as_uri()}, [])


def test_a_list_that_is_not_in_the_file_is_not_taken_for_empty(
    browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(explorer, "_FEWEST", 1)
    monkeypatch.setattr(explorer, "_LISTS", 0)
    qrels = {"q1": {"a": 1}, "q2": {"b": 1}}
    runs = {
        "base": {"q1": ["x", "y", "a"], "q2": ["x", "b"]},
        "one": {"q1": ["y", "a"], "q2": ["b"]},  # q2 moves most
        "two": {"q1": ["a", "y"], "q2": ["x", "b"]},  # q1 moves alone
    }
    rk.compare(qrels, runs, "RR", baseline="base").report(tmp_path / "report.html")
    browser.load(tmp_path / "report.html")
    heads, moves = ".detail .pair h4 + *", ".detail .move"

    browser.find("#search").send_keys("q1")
    click(browser, f"{LIST} button")

    seen = browser.texts(heads)
    assert "a" in seen[0]
    assert seen[1] == "The list of one is not in this file."
    for place, name in ((2, "one"), (3, "two")):
        browser.find(f"#controls label:nth-child({place}) select").send_keys(name)
    click(browser, f"{LIST} button")
    assert browser.texts(heads)[0] == "The list of one is not in this file."
    assert set(browser.texts(moves)) == {""}


def test_a_report_on_users_calls_them_so(browser: Browser, tmp_path: Path) -> None:
    rows = [(f"u{n}", "a", 1) for n in range(4)]
    judged = pl.DataFrame(rows, ["user_id", "item", "grade"], orient="row")
    old = judged.rename({"grade": "score"})
    new = old.vstack(old[1:].with_columns(item=pl.lit("x"), score=2 * pl.col("score")))
    rk.compare(judged, {"old": old, "new": new}, "RR").report(tmp_path / "cmp.html")
    rk.evaluate(judged, new, "RR").report(tmp_path / "run.html")

    for name, head in (("cmp", "from"), ("run", "value")):
        browser.load(tmp_path / f"{name}.html")
        assert browser.find("#queries h2").text == "Users"
        assert browser.texts("#explorer .search") == ["Search users"]
        assert browser.texts("#explorer [role=status]") == ["4 users"]
        titles = browser.texts("#explorer table:first-of-type thead th")
        assert titles[:2] == ["user", head]
        assert len(browser.rows("Users")) == 4
        click(browser, f"{LIST}:first-child button")
        text = browser.find("body").text.replace("query = user_id", "")  # a column
        assert "quer" not in text.lower()
