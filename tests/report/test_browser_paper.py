"""On paper and on narrow pages, in a browser: nothing is cut, and maps can be read."""

from __future__ import annotations

import base64
import re
import shutil
import subprocess
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

import rankine as rk
from tests.report.pages import judged_by
from tests.report.test_browser_charts import BAR
from tests.report.test_online_page import log

if TYPE_CHECKING:
    from pathlib import Path

    from tests.report.conftest import Browser

MANY = [f"system-{number}" for number in range(24)]
QUERIES = [f"query{number}" for number in range(30)]
ARABIC, HEBREW = "نظام", "מערכת"


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> tuple[rk.Comparison, Path]:
    """A report of more systems than a narrow page has room for in a map."""
    comparison = judged_by(MANY, QUERIES, [*"abcdefg"], baseline=False)
    path = tmp_path_factory.mktemp("large") / "report.html"
    comparison.report(path)
    return comparison, path


def dark(browser: Browser) -> None:
    features = [{"name": "prefers-color-scheme", "value": "dark"}]
    browser.command("Emulation.setEmulatedMedia", media="", features=features)


def printed(browser: Browser, path: Path) -> Path:
    """Print the page, as it is on paper."""
    made = browser.command("Page.printToPDF", preferCSSPageSize=True)
    path.write_bytes(base64.b64decode(made["data"]))
    return path


def told(*command: object) -> bytes:
    words = [str(word) for word in command]
    return subprocess.run(words, check=True, capture_output=True).stdout


BLUE, ORANGE = (0, 114, 178), (213, 94, 0)
WORD = r'<word xMin="(.*?)" yMin="(.*?)" xMax="(.*?)" yMax="(.*?)">(.*?)</word>'


def words_of(boxes: str) -> dict[str, list[tuple[float, float]]]:
    """Return where the middle of each word is, on the left half of a page."""
    places: dict[str, list[tuple[float, float]]] = {}
    for *ends, word in re.findall(WORD, boxes):
        left, top, right, bottom = map(float, ends)
        if left < 400:
            middle = (left + right) / 2, (top + bottom) / 2
            places.setdefault(word.replace("\u2212", "-"), []).append(middle)
    return places


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_marks_are_on_paper_where_the_axes_say(
    browser: Browser, tmp_path: Path, theme: str
) -> None:
    if shutil.which("pdftoppm") is None:
        pytest.skip("no pdftoppm: poppler-utils is not installed")
    gains = [0.8, 0.6, 0.6, -0.8]
    frame = pl.DataFrame({"query": range(4), "old": [0.0, 0.1, 0.1, 0.8]})
    frame = frame.with_columns(new=pl.col("old") + pl.Series(gains))
    rk.compare_values(frame).report(tmp_path / "report.html")
    features = [{"name": "prefers-color-scheme", "value": theme}]
    browser.command("Emulation.setEmulatedMedia", media="", features=features)
    browser.load(tmp_path / "report.html")
    browser.wait("return document.querySelector('#bars canvas') !== null")

    file = printed(browser, tmp_path / "report.pdf")

    page = next(
        number
        for number in range(1, 9)
        if b"largest gain" in told("pdftotext", "-f", number, "-l", number, file, "-")
    )
    only = ("-f", page, "-l", page)
    places = words_of(told("pdftotext", "-bbox", *only, file, "-").decode())
    # Of the same number in a table, it is not the one above the title of the axis.
    under = places["largest"][0][1]
    edge_of_loss = next(x for x, y in places["3"] if 0 < under - y < 30)
    heights = {name: places[name][0][1] for name in ("0.8", "0.4", "0.0", "-0.8")}
    drawn = told("pdftoppm", "-r", 72, *only, file)
    width, height = map(int, drawn.split(b"\n", 2)[1].split())
    pixels = np.frombuffer(drawn[-width * height * 3 :], np.uint8)
    pixels = pixels.reshape(height, width, 3).astype(int)

    def near(color: tuple[int, int, int]) -> Any:
        return np.abs(pixels[:, : width // 2] - color).max(axis=2) < 12

    def edges(mark: Any) -> list[int]:
        """Return the first and the last column of a mark, and so of its rows."""
        sizes = (np.flatnonzero(mark.any(axis=axis)) for axis in (0, 1))
        return [int(places[end]) for places in sizes for end in (0, -1)]

    _, right, top, bottom = edges(near(BLUE))
    left, end, start, low = edges(near(ORANGE))
    assert abs(right - edge_of_loss) < 2
    assert abs(left - edge_of_loss) < 2
    tops = {"0.8": [top], "0.0": [bottom, start], "-0.8": [low]}
    for name, rows in tops.items():
        assert all(abs(row - heights[name]) < 2 for row in rows)
    # A line of the grid is seen above the bar that goes down.
    line = round(heights["0.4"])
    assert pixels[line - 2 : line + 3, left + 5 : end - 5].sum(axis=2).min() < 3 * 250


def test_every_row_of_every_table_is_on_paper(
    browser: Browser, large: tuple[rk.Comparison, Path], tmp_path: Path
) -> None:
    if shutil.which("pdftotext") is None:
        pytest.skip("no pdftotext: poppler-utils is not installed")
    comparison, path = large
    dark(browser)
    browser.load(path)
    browser.wait("return document.querySelector('#bars canvas') !== null")
    rows = {
        caption: browser.rows(caption)
        for caption in ("Means of all systems", "Differences of all pairs", "Queries")
    }

    file = printed(browser, tmp_path / "report.pdf")

    text = told("pdftotext", "-layout", file, "-").decode()
    lines = {"".join(line.split()) for line in text.splitlines()}
    assert [*map(len, rows.values())] == [24, 400, 30]
    more = f"The first 400 of {comparison.pairwise.height} rows are shown"
    assert "".join(more.split()) in "".join(text.split())
    for of_table in rows.values():
        for row in of_table:
            # The first line of each cell; what stands below it is a line of its own.
            seen = "".join("".join(cell.splitlines()[0] for cell in row).split())
            assert any(line.startswith(seen) for line in lines), seen


PAPER = """
const main = document.querySelector('main');
main.style.width = '1032px';  // of A4 across, less its margins, at 96 dots per inch
const right = main.getBoundingClientRect().right;
return [...main.querySelectorAll('*')].filter(e => {
  const box = e.getBoundingClientRect();
  const inside = e.closest('.unseen, .live svg, .drawn svg, [hidden]');
  return box.width > 0 && !inside && (box.right > right + 1 || (
    e.scrollWidth > e.clientWidth + 1 && getComputedStyle(e).overflowX !== 'visible'
  ));
}).map(e => e.outerHTML.slice(0, 99));
"""


def test_nothing_is_wider_than_the_paper(
    browser: Browser, large: tuple[rk.Comparison, Path]
) -> None:
    browser.load(large[1])
    browser.command("Emulation.setEmulatedMedia", media="print")

    assert browser.run(PAPER) == []


def test_what_is_painted_is_as_dark_on_paper_as_on_a_light_page(
    loaded: Browser,
) -> None:
    def color() -> list[int]:
        return loaded.pixel("#bars canvas", *BAR)

    loaded.wait("return document.querySelector('#bars canvas') !== null")
    light = color()
    dark(loaded)
    loaded.wait("return document.querySelector('#theme').textContent === 'Light'")
    on_screen = color()

    loaded.run("dispatchEvent(new Event('beforeprint'))")
    on_paper = color()
    loaded.run("dispatchEvent(new Event('afterprint'))")

    assert on_paper == light != on_screen
    assert color() == on_screen
    assert loaded.run("return document.documentElement.dataset.theme") is None


def test_a_map_on_a_narrow_page_scrolls_to_its_last_column(
    browser: Browser, large: tuple[rk.Comparison, Path]
) -> None:
    size = {"width": 390, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    browser.command("Emulation.setDeviceMetricsOverride", **size)
    browser.load(large[1])
    seen = (
        "const live = document.querySelector('#heatmap .live');"
        "const area = live.getBoundingClientRect();"
        "const labels = [...live.querySelectorAll('text')].filter("
        "e => e.textContent === 'system-23').map(e => e.getBoundingClientRect());"
        "return [live.tabIndex, live.classList.contains('more'),"
        "labels.some(box => box.top < area.top + 90 && box.right <= area.right + 1),"
        "Math.min(...[...live.querySelectorAll('text')].map("
        "e => parseFloat(getComputedStyle(e).fontSize)))]"
    )
    browser.wait("return document.querySelector('#heatmap .live svg') !== null")

    before = browser.run(seen)
    browser.run("document.querySelector('#heatmap .live').scrollLeft = 9999")
    browser.wait("return !document.querySelector('#heatmap .live.more')")

    assert before == [0, True, False, 12]  # by keys, and not yet at its end
    assert browser.run(seen) == [0, False, True, 12]
    assert browser.run("return document.documentElement.scrollWidth") <= 390


def test_maps_are_read_on_a_dark_page(loaded: Browser) -> None:
    contrast = """
    const light = color => { const [r, g, b] = color.match(/\\d+/g).map(part => {
      const share = part / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4; });
      return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
    const all = name => [...document.querySelectorAll(`#heatmap .live ${name}`)];
    const cells = all('.mark-rect.role-mark path');
    const texts = all('.mark-text.role-mark text');
    const page = light(getComputedStyle(document.body).backgroundColor);
    return texts.filter(e => e.textContent).map((text, place) => {
      const [ink, behind] = [text, cells[place]].map(
        e => light(getComputedStyle(e).fill));
      const ratio = (a, b) => (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
      return [ratio(ink, behind), ratio(behind, page)]; });
    """
    behind = {}
    for theme in ("light", "dark"):
        features = [{"name": "prefers-color-scheme", "value": theme}]
        loaded.command("Emulation.setEmulatedMedia", media="", features=features)
        cells = loaded.run(contrast)
        assert len(cells) == 6  # of three systems
        assert min(ratio for ratio, _ in cells) >= 4.5  # as WCAG asks for
        behind[theme] = [stands for _, stands in cells]
    assert min(behind["dark"]) > 1.2
    assert behind["dark"] != behind["light"]


def test_the_arrow_between_names_from_right_to_left_points_to_the_second(
    browser: Browser, tmp_path: Path
) -> None:
    path = tmp_path / "report.html"
    names = [ARABIC, HEBREW]
    judged_by(names, QUERIES, [*"abc"], baseline=False).report(path)
    browser.load(path)

    places = browser.run(
        "const label = [...document.querySelectorAll('#forest-0 .live text')].find("
        "e => e.textContent.includes('→'));"
        "return ['ن', '→', 'מ'].map(letter => label.getExtentOfChar("
        "label.textContent.indexOf(letter)).x)"
    )

    assert places == sorted(places)


@pytest.mark.parametrize("n_segments", [3, 5])
def test_a_heading_is_on_the_page_of_its_chart(
    browser: Browser, tmp_path: Path, n_segments: int
) -> None:
    if shutil.which("pdftotext") is None:
        pytest.skip("no pdftotext: poppler-utils is not installed")
    numbers = pl.col("user_id").str.slice(1).cast(pl.Int64)
    events = log(users=240).with_columns(
        country=(numbers // 7 % n_segments).cast(pl.String)
    )
    # Sentences on segments fill the first page, so that the chart would start low.
    metrics = dict.fromkeys(["ctr", "b", "c", "d", "e", "f"], "ctr")
    test = rk.online.ab_test(events, control="A", metrics=metrics, segment="country")
    # Verdicts that hold for one look, as a hint says at the end of the summary.
    wide = test.details.with_columns(always_low=pl.lit(-1.0), always_high=pl.lit(1.0))
    replace(test, details=wide).report(tmp_path / "report.html")
    browser.load(tmp_path / "report.html")

    file = printed(browser, tmp_path / "report.pdf")

    pages = told("pdftotext", file, "-").decode().split("\f")
    (page,) = (page for page in pages if "lift over A" in page)
    assert page is not pages[0]
    assert "Lifts with their intervals" in page


def test_long_tables_of_days_are_not_on_paper(browser: Browser, tmp_path: Path) -> None:
    if shutil.which("pdftotext") is None:
        pytest.skip("no pdftotext: poppler-utils is not installed")
    later = pl.duration(days=pl.int_range(pl.len()) // 30)
    lasting = log(users=240).with_columns(pl.col("timestamp") + later)
    test = rk.online.ab_test(
        lasting, control="A", metrics=["ctr", "engagement_rate"], daily=True
    )
    test.report(tmp_path / "report.html")
    browser.load(tmp_path / "report.html")

    file = printed(browser, tmp_path / "report.pdf")

    text = told("pdftotext", file, "-").decode()
    assert test.by_day is not None
    days = test.by_day["day"].unique()
    assert len(days) > 10
    assert not any(str(day) in text for day in days)
