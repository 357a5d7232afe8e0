"""On paper and on narrow pages, in a browser: nothing is cut, and maps can be read."""

from __future__ import annotations

import base64
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.report.pages import judged_by

if TYPE_CHECKING:
    from pathlib import Path

    import rankine as rk
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

    made = browser.command("Page.printToPDF", preferCSSPageSize=True)

    file = tmp_path / "report.pdf"
    file.write_bytes(base64.b64decode(made["data"]))
    command = ["pdftotext", "-layout", str(file), "-"]
    text = subprocess.run(command, check=True, capture_output=True).stdout.decode()
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
    color = (
        "const canvas = document.querySelector('#bars canvas');"
        "return [...canvas.getContext('2d').getImageData(40, canvas.height / 4, 1, 1)"
        ".data].slice(0, 3)"
    )
    loaded.wait("return document.querySelector('#bars canvas') !== null")
    light = loaded.run(color)
    dark(loaded)
    on_screen = loaded.run(color)

    loaded.run("dispatchEvent(new Event('beforeprint'))")
    on_paper = loaded.run(color)
    loaded.run("dispatchEvent(new Event('afterprint'))")

    assert on_paper == light != on_screen
    assert loaded.run(color) == on_screen
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
