"""Colours can be told apart with any colour vision, on a light and on a dark page."""

from __future__ import annotations

import re
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest

from rankine._report import page, specs

if TYPE_CHECKING:
    from rankine._base.arrays import Floats

STYLE = (Path(page.__file__).parent / "assets" / "report.css").read_text("utf-8")
LIGHT, DARK = STYLE.split("@media screen and", 1)
VISIONS = {
    "any": [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
    "no red": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "no green": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "no blue": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ],
}
"""What is seen of linear red, green and blue: Machado, Oliveira and Fernandes 2009."""
XYZ = [
    [0.4124564, 0.3575761, 0.1804375],
    [0.2126729, 0.7151522, 0.0721750],
    [0.0193339, 0.1191920, 0.9503041],
]
WHITE = [0.95047, 1.0, 1.08883]
APART = 10
"""The distance in CIELAB from which colours are told apart at a glance."""


def linear(color: str) -> Floats:
    parts = np.array([int(color[place : place + 2], 16) / 255 for place in (1, 3, 5)])
    return np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)


def lab(color: str, vision: str) -> Floats:
    seen = np.clip(np.array(VISIONS[vision]) @ linear(color), 0, 1)
    parts = np.array(XYZ) @ seen / WHITE
    x, y, z = np.where(parts > 0.008856, np.cbrt(parts), 7.787 * parts + 16 / 116)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def contrast(color: str, other: str) -> float:
    low, high = sorted(float(linear(each) @ XYZ[1]) for each in (color, other))
    return (high + 0.05) / (low + 0.05)


def on_page(color: str, style: str) -> str:
    """Return what becomes of a colour of a chart on a page of this style."""
    named = re.search(rf'fill="{color}" i\] {{ fill: var\((--[\w-]+)\)', STYLE)
    return color if named is None else set_to(named[1], style)


def set_to(name: str, style: str) -> str:
    value = re.search(rf"{name}: (#[0-9a-f]{{6}})", style)
    assert value is not None
    return value[1]


VERDICTS = sorted(
    {color for name, (color, _) in specs.VERDICTS.items() if name != "mean"}
)


@pytest.mark.parametrize("style", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize("vision", VISIONS)
@pytest.mark.parametrize(
    "colors", [VERDICTS, specs.SYSTEMS], ids=["verdicts", "systems"]
)
def test_colours_are_told_apart(colors: list[str], vision: str, style: str) -> None:
    seen = [lab(on_page(color, style), vision) for color in colors]

    assert min(np.linalg.norm(a - b) for a, b in combinations(seen, 2)) > APART


@pytest.mark.parametrize("style", [LIGHT, DARK], ids=["light", "dark"])
def test_no_system_looks_like_a_verdict(style: str) -> None:
    verdicts = [lab(on_page(color, style), "any") for color in VERDICTS]

    for color in specs.SYSTEMS:
        seen = lab(on_page(color, style), "any")
        assert min(np.linalg.norm(seen - other) for other in verdicts) > 3 * APART


@pytest.mark.parametrize("style", [LIGHT, DARK], ids=["light", "dark"])
def test_verdicts_stand_out_from_the_page(style: str) -> None:
    paper = set_to("--paper", style)

    for color in VERDICTS:
        assert contrast(on_page(color, style), paper) >= 3  # as WCAG asks of charts
    for name in ("better", "worse", "equal", "different"):
        assert contrast(set_to(f"--{name}", style), paper) >= 4.5  # and of words
