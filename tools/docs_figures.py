"""Draw the figures of the documentation: python -m tools.docs_figures.

They are SVG, and are put into the pages themselves, where they take the colours of the
page; seen alone, they follow the light or dark scheme of the reader.
"""

from __future__ import annotations

import math
from pathlib import Path

from rankine import rbo_prefix_weight
from rankine._base.text import percent
from tools.docs_family_figures import (
    BOTTOM,
    FAMILIES,
    HEAD,
    LEFT,
    RIGHT,
    SIZE,
    TOP,
)
from tools.docs_online_figures import ONLINE
from tools.docs_speed_figure import speed

ASSETS = Path(__file__).parent.parent / "docs" / "assets"

_PERSISTENCE = (0.7, 0.8, 0.9, 0.95, 0.98)
_DEPTHS = (1, 2, 5, 10, 20, 50)
_SHARES = (0, 20, 40, 60, 80, 100)
_NAMED_AT = (0.88, 0.7, 0.7, 0.7, 0.7)
"""The share at which each curve is named; the first on its free side, the left."""


def _x(depth: float) -> float:
    """Return where a depth is: ranks by their logarithm."""
    return LEFT + (RIGHT - LEFT) * math.log(depth) / math.log(_DEPTHS[-1])


def _y(share: float) -> float:
    return BOTTOM - (BOTTOM - TOP) * share


def _text(x: float, y: float, words: str, anchor: str, more: str = "") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{more}>{words}</text>'


def _grid() -> list[str]:
    drawn = []
    for share in _SHARES:
        y = _y(share / 100)
        drawn += [
            f'<path class="grid" d="M{LEFT:.1f} {y:.1f}H{RIGHT:.1f}"/>',
            _text(LEFT - 7, y + 5, f"{share} %", "end"),
        ]
    for depth in _DEPTHS:
        x = _x(depth)
        drawn += [
            f'<path class="grid" d="M{x:.1f} {TOP:.1f}V{BOTTOM:.1f}"/>',
            _text(x, BOTTOM + 20, str(depth), "middle"),
        ]
    middle = (LEFT + RIGHT) / 2
    return [
        *drawn,
        _text(4, TOP - 20, "share of the weight", "start"),
        _text(middle, BOTTOM + 44, "depth, in ranks (log scale)", "middle"),
    ]


def _curve(p: float, named_at: float) -> list[str]:
    """Draw the weight of the first ranks for one p, and name it."""
    shares = [rbo_prefix_weight(d, p) for d in range(1, _DEPTHS[-1] + 1)]
    points = [(_x(d), _y(share)) for d, share in enumerate(shares, start=1)]
    path = "L".join(f"{x:.1f} {y:.1f}" for x, y in points)
    after = next(at for at, share in enumerate(shares) if share >= named_at)
    (x0, y0), (x1, y1) = points[after - 1], points[after]
    y = _y(named_at)
    x = x0 + (x1 - x0) * (y - y0) / (y1 - y0)
    bold = ' class="name"'
    if p == _PERSISTENCE[0]:
        name = _text(x - 7, y - 2, f"p = {p:g}", "end", bold)
    else:
        name = _text(x + 9, y + 11, f"{p:g}", "start", bold)
    return [f'<path class="line" d="M{path}"/>', name]


def rbo_weight() -> str:
    """Draw the share of the weight of RBO that the first ranks have, for several p."""
    shares = [(percent(rbo_prefix_weight(10, p)), p) for p in _PERSISTENCE]
    shown = ", ".join(f"{share} for {p:g}" for share, p in shares)
    head = HEAD.format(
        name="rbo-weight",
        width=SIZE[0],
        height=SIZE[1],
        title="The share of the weight that the first ranks have, by p",
        desc=f"A curve for each p, rising with the number of ranks from 1 to "
        f"{_DEPTHS[-1]}. The first ten ranks have {shown}.",
    )
    body = _grid()
    for p, named_at in zip(_PERSISTENCE, _NAMED_AT, strict=True):
        body += _curve(p, named_at)
    return head + "\n".join(body) + "\n</svg>\n"


FIGURES = {"rbo-weight.svg": rbo_weight, "speed.svg": speed, **FAMILIES, **ONLINE}


if __name__ == "__main__":
    for name, draw in FIGURES.items():
        (ASSETS / name).write_text(draw(), encoding="utf-8")
