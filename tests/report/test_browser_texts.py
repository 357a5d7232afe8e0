"""Long texts in a browser: they push nothing aside, and can be read whole."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.report.pages import judged_by

if TYPE_CHECKING:
    from pathlib import Path

    from tests.report.conftest import Browser

ADDRESS = "https://example.org/" + "without/any/space/" * 9
ARABIC = "اغلِ الماء في قدر كبير ثم أنزل البيض بملعقة واتركه ست دقائق ونصف"


@pytest.mark.parametrize("width", [390, 1400])
def test_numbers_are_seen_beside_long_texts(
    browser: Browser, tmp_path: Path, width: int
) -> None:
    path = tmp_path / "report.html"
    comparison = judged_by(["old", "new"], ["q1", "q2", "q3"], ["a", "b", "c"])
    comparison.report(path, texts={"q1": ADDRESS, "a": ARABIC, "b": ADDRESS})
    browser.command(
        "Emulation.setDeviceMetricsOverride",
        width=width, height=900, deviceScaleFactor=1, mobile=False,
    )  # fmt: skip

    browser.load(path)

    scrolls = (
        "return (e => e.scrollWidth - e.clientWidth)(document.querySelector('{}'))"
    )
    assert browser.run(scrolls.format("#explorer .wide")) <= 0
    browser.run("document.querySelector('#explorer tbody button').click()")
    assert browser.run(scrolls.format("html")) <= 0
    lines = browser.run(
        "return [...document.querySelectorAll('.pair ol li')].map("
        "li => li.getBoundingClientRect().height)"
    )
    # As the lines between both lists have them.
    assert lines == [46] * 6
    directions = browser.run(
        "return Object.fromEntries([...document.querySelectorAll('.pair ol small')]"
        ".map(e => [e.textContent, getComputedStyle(e).direction]))"
    )
    assert directions == {ARABIC: "rtl", ADDRESS: "ltr"}
    browser.run("document.querySelector('.whole').open = true")
    assert browser.texts(".whole dt") == ["a", "b"]
    assert browser.texts(".whole dd") == [ARABIC, ADDRESS]


NAMES = [f"a-model-with-a-very-long-name-indeed-that-ends-in-{end}" for end in "xy"]


def test_long_names_can_be_told_apart_where_they_are_chosen(
    browser: Browser, tmp_path: Path
) -> None:
    path = tmp_path / "report.html"
    judged_by(NAMES, ["q1", "q2", "q3"], ["a", "b", "c"]).report(path)

    browser.load(path)

    for place, name in ((2, NAMES[0]), (3, NAMES[1])):
        option = f"#controls label:nth-child({place}) option:checked"
        (text,) = browser.texts(option)
        assert len(text) == 40
        assert text.startswith(name[:20])
        assert text.endswith(name[-19:])
        assert browser.find(option).get_attribute("title") == name


@pytest.mark.parametrize("width", [390, 1400])
def test_titles_of_charts_have_both_names(
    browser: Browser, tmp_path: Path, width: int
) -> None:
    path = tmp_path / "report.html"
    judged_by(NAMES, ["q1", "q2", "q3"], ["a", "b", "c"]).report(path)
    browser.command(
        "Emulation.setDeviceMetricsOverride",
        width=width, height=900, deviceScaleFactor=1, mobile=False,
    )  # fmt: skip

    browser.load(path)
    browser.wait("return document.querySelector('#bars canvas') !== null")

    heading = browser.find("#bars h3")
    first, second = heading.text.split(" minus ")
    # Neither is cut at its end, where they differ, however narrow the page is.
    assert first.endswith("ends-in-y")
    assert second.endswith("ends-in-x")
    assert browser.run(
        "return arguments[0].scrollWidth <= arguments[0].clientWidth", heading
    )
