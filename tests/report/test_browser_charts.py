"""Charts of queries in a browser: marks are where the axes say, and answer."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import polars as pl
import pytest

import rankine as rk

if TYPE_CHECKING:
    from pathlib import Path

    from tests.report.conftest import Browser


BAR = (0.037, 0.25)
"""Where a bar of the demo is that gains, in parts of the canvas."""


def test_a_mark_of_a_chart_names_its_query_and_opens_it(
    loaded: Browser, demo: rk.Comparison
) -> None:
    moved = demo.moved("nDCG@10", "keyword", "vector", 50)
    largest = max(moved, key=lambda query: query.difference)

    pointer = loaded.point("#bars canvas", 0.025, 0.1)

    (tip,) = loaded.texts(".vg-tooltip.visible")
    a, b = largest.values
    rows = [line.split("\t") for line in tip.splitlines()]
    assert rows == [
        ["query", largest.query],
        ["keyword", f"{a:.4f}"],
        ["vector", f"{b:.4f}"],
        ["difference", f"{largest.difference:+.4f}"],
    ]
    pointer.click().perform()
    assert loaded.texts(".detail h3") == [largest.query]


TICKS = """
const [figure, role] = arguments;
const area = document.querySelector(`${figure} canvas`).getBoundingClientRect();
const across = role === 'x';
return [...document.querySelectorAll(`${figure} .live svg .role-axis-label`)].flatMap(
  labels => [...labels.children].map(e => [e.textContent, e.getBoundingClientRect()])
).filter(([, box]) => across ? box.top > area.bottom - 9 : box.right < area.left + 9
).map(([text, box]) => [Number(text.replace('\u2212', '-')), across
  ? (box.left + box.width / 2 - area.left) / area.width
  : (box.top + box.height / 2 - area.top) / area.height]);
"""
"""The numbers at an axis, and where they are in parts of the canvas."""


def placed(browser: Browser, figure: str, axis: str, value: float) -> float:
    """Return where a value is, by two numbers of the axis, in parts of the canvas."""
    ticks = sorted(browser.run(TICKS, figure, axis))
    # Labels at the ends are moved inwards.
    (low, start), (high, end) = ticks[1], ticks[-2]
    return float(start + (value - low) / (high - low) * (end - start))


@pytest.mark.parametrize("width", [1400, 800])
def test_marks_are_where_the_axes_say(
    browser: Browser, tmp_path: Path, width: int
) -> None:
    values = {"up": (0.2, 0.8), "down": (0.9, 0.1), "ends": (0.0, 1.0)}
    frame = pl.DataFrame(
        [(query, a, b) for query, (a, b) in values.items()],
        schema=["query", "old", "new"],
        orient="row",
    )
    rk.compare_values(frame).report(tmp_path / "report.html")
    browser.load(tmp_path / "report.html")
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    browser.command("Emulation.setDeviceMetricsOverride", **size)
    browser.wait(
        "const figure = document.querySelector('#dots'); return Math.abs("
        "figure.querySelector('.live svg').clientWidth - figure.clientWidth) < 2"
    )

    for query, (a, b) in values.items():
        x, y = placed(browser, "#dots", "x", a), placed(browser, "#dots", "y", b)
        red, _, blue, alpha = browser.pixel("#dots canvas", x, y)
        assert alpha > 0
        assert (blue > red) == (b > a)
        browser.point("#dots canvas", x, y)
        (tip,) = browser.texts(".vg-tooltip.visible")
        assert f"query\t{query}\n" in tip
    browser.point("#dots canvas", 0.5, 0.55)
    assert browser.texts(".vg-tooltip.visible") == []
    tops = [placed(browser, "#bars", "y", d) for d in (1, 0.6, -0.8)]
    for place, top in enumerate(tops):
        x = placed(browser, "#bars", "x", place + 0.5)
        towards = 0.02 if place < 2 else -0.02
        assert browser.pixel("#bars canvas", x, top + towards)[3] == 255
        assert browser.pixel("#bars canvas", x, top - towards)[3] == 0


def test_the_last_of_quick_choices_is_drawn(
    loaded: Browser, demo: rk.Comparison
) -> None:
    loaded.run(
        "const box = document.querySelectorAll('#controls select')[2];"
        "for (const name of ['keyword', 'vector', 'hybrid']) {"
        "  box.selectedIndex = [...box.options].findIndex(o => o.text === name);"
        "  box.dispatchEvent(new Event('change'));"
        "}"
    )

    title = "nDCG@10: hybrid minus keyword"
    loaded.wait(
        f"return document.querySelector('#bars').textContent.includes('{title}')"
    )
    assert loaded.run("return document.querySelectorAll('#bars canvas').length") == 1
    moved = demo.moved("nDCG@10", "keyword", "hybrid", 50)
    largest = max(moved, key=lambda query: query.difference)
    loaded.point("#bars canvas", 0.025, 0.1)
    assert largest.query in loaded.texts(".vg-tooltip.visible")[0]


def test_marks_stay_in_their_frames_on_paper(loaded: Browser) -> None:
    places = (
        "return ['canvas', '.live svg'].map(e => document.querySelector(`#dots ${e}`)"
        ".getBoundingClientRect()).map(({left, top, width, height}) => "
        "[left, top, width, height])"
    )
    loaded.wait("return document.querySelector('#dots canvas') !== null")

    def parts() -> list[float]:
        (left, top, width, height), (x, y, wide, high) = loaded.run(places)
        return [(left - x) / wide, (top - y) / high, width / wide, height / high]

    screen, (_, before) = parts(), loaded.run(places)
    loaded.command("Emulation.setEmulatedMedia", media="print")
    loaded.run("document.querySelector('main').style.width = '400px'")

    assert loaded.run(places)[1][2] < before[2]  # it is drawn smaller
    assert parts() == pytest.approx(screen, abs=0.01)


def test_paper_is_white_whatever_the_theme(loaded: Browser) -> None:
    ink = "return getComputedStyle(document.body).color"
    for theme in ("dark", "light"):
        features = [{"name": "prefers-color-scheme", "value": theme}]
        loaded.command("Emulation.setEmulatedMedia", media="print", features=features)
        assert loaded.run(ink) == "rgb(0, 0, 0)"
        loaded.run("document.querySelector('#theme').click()")
        assert loaded.run(ink) == "rgb(0, 0, 0)"


def test_marks_are_lighter_on_a_dark_page_and_mean_the_same(loaded: Browser) -> None:
    loaded.wait("return document.querySelector('#bars canvas') !== null")
    line = (
        "return getComputedStyle(document.querySelector("
        "'#forest-0 .live [stroke=\"#0072B2\"]')).stroke"
    )

    def seen() -> list[str]:
        red, green, blue, _ = loaded.pixel("#bars canvas", *BAR)
        return [f"rgb({red}, {green}, {blue})", loaded.run(line)]

    light, dark = "rgb(0, 114, 178)", "rgb(77, 163, 219)"

    assert seen() == [light, light]
    loaded.run("document.querySelector('#theme').click()")
    assert seen() == [dark, dark]


CLIPS = """
return [...document.querySelectorAll('svg [clip-path]')].map(mark => {
  const id = mark.getAttribute('clip-path').replace(/^url\\(#|\\)$/g, '');
  const same = document.querySelectorAll(`[id="${id}"]`);
  return same.length === 1 && same[0].closest('svg') === mark.closest('svg');
});
"""


@pytest.mark.parametrize("with_scripts", [True, False])
def test_what_reaches_beyond_a_chart_is_cut_off_at_its_own_edges(
    browser: Browser, tmp_path: Path, *, with_scripts: bool
) -> None:
    """Two charts of days whose last day has two users, who pay more than others."""
    price = dict.fromkeys(range(1, 7), 1.0) | {7: 50.0}
    rows = [
        (
            f"u{user}",
            datetime(2026, 3, day, 10, tzinfo=UTC),
            "AB"[user % 2],
            event,
            price[day],
        )
        for day in range(1, 8)
        for user in range(200 if day < 7 else 2)
        for event in ("impression", "click", "conversion")
        if event == "impression" or (user + day) % 5 == 0 or day == 7
    ]
    names = ("user_id", "timestamp", "variant", "event", "value")
    metrics = {"conversion_rate": "conversion_rate", "revenue": "revenue"}
    events = pl.DataFrame(rows, names, orient="row")
    summary = rk.online.summarize(events, metrics, daily=True)
    path = tmp_path / "report.html"
    summary.report(path)
    assert path.read_text("utf-8").count("reach beyond the chart") == 2
    if with_scripts:
        browser.load(path)
    else:
        browser.command("Emulation.setScriptExecutionDisabled", value=True)
        browser.driver.get(path.as_uri())

    clipped = browser.run(CLIPS)

    assert len(clipped) > 2
    assert all(clipped)
