"""The figures of the documentation are those that the code draws, and can be read."""

from __future__ import annotations

import re
from xml.etree import ElementTree as ET

import pytest

from tools.docs_figures import ASSETS, FIGURES
from tools.docs_speed_figure import PAGE, ratios

pytestmark = pytest.mark.slow

SVG = "{http://www.w3.org/2000/svg}"


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_is_what_the_code_draws(name: str) -> None:
    assert (ASSETS / name).read_text() == FIGURES[name]()


def test_every_figure_is_drawn_by_code() -> None:
    assert {path.name for path in ASSETS.glob("*.svg")} == set(FIGURES)


@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_is_said_in_words_too(name: str) -> None:
    tree = ET.fromstring(FIGURES[name]())  # noqa: S314 - ours
    said = tree.attrib["aria-labelledby"].split()
    words = {node.attrib["id"]: node.text for node in tree if "id" in node.attrib}

    assert tree.attrib["role"] == "img"
    assert [tree[0].tag, tree[1].tag] == [f"{SVG}title", f"{SVG}desc"]
    assert all(words[one] for one in said)


def test_the_ratios_that_are_drawn_are_among_the_measurements() -> None:
    _, _, measured = PAGE.read_text(encoding="utf-8").partition("speed.svg")
    drawn = [ratio for values in ratios().values() for ratio in values]

    assert drawn
    assert [x for x in drawn if not re.search(rf" {x:.1f} ?x", measured)] == []


@pytest.mark.parametrize("name", FIGURES)
def test_the_text_of_a_figure_can_be_read_on_a_telephone(name: str) -> None:
    drawn = FIGURES[name]()
    sizes = [float(size) for size in re.findall(r"font-size: ([\d.]+)px", drawn)]
    width = float(ET.fromstring(drawn).attrib["viewBox"].split()[2])  # noqa: S314

    assert sizes
    assert min(sizes) * min(1, 358 / width) >= 13
