"""The chart of benchmarks/README.md, drawn from the table above it."""

from __future__ import annotations

import math
from pathlib import Path

from tools.docs_family_figures import HEAD

PAGE = Path(__file__).parent.parent / "benchmarks" / "README.md"

_HEADING = "| peer | work |"
_WIDTH, _LEFT, _RIGHT, _TOP, _STEP = 400, 128.0, 390.0, 62.0, 27.0
_TICKS = (0.1, 1, 10, 100)
_LARGEST = 400


def ratios() -> dict[str, list[float]]:
    """Return, by peer, how many times as long as rankine it takes."""
    _, _, below = PAGE.read_text(encoding="utf-8").partition(_HEADING)
    rows, _, _ = below.partition("\n\n")
    found: dict[str, list[float]] = {}
    for row in rows.splitlines()[2:]:
        peer, *_, ratio = (cell.strip() for cell in row.strip("|").split("|"))
        found.setdefault(peer, []).append(float(ratio))
    return dict(sorted(found.items(), key=lambda one: -max(one[1])))


def _x(ratio: float) -> float:
    share = math.log(ratio / _TICKS[0]) / math.log(_LARGEST / _TICKS[0])
    return _LEFT + (_RIGHT - _LEFT) * share


def _text(x: float, y: float, words: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{words}</text>'


def speed() -> str:
    """Draw the ratios of each peer on a log scale."""
    found = ratios()
    bottom = _TOP + _STEP * len(found)
    said = "; ".join(
        f"{peer} {', '.join(f'{ratio:g}' for ratio in sorted(values))}"
        for peer, values in found.items()
    )
    head = HEAD.format(
        name="speed",
        width=_WIDTH,
        height=f"{bottom + 52:.0f}",
        title="The time of other tools as a multiple of rankine's",
        desc=f"A dot for each piece of work, on a log scale: {said}.",
    )
    body = [_text(4, 20, "time of the tool / time of rankine", "start")]
    for tick in _TICKS:
        x = _x(tick)
        kind = "line dashed" if tick == 1 else "grid"
        body += [
            f'<path class="{kind}" d="M{x:.1f} {_TOP - 10:.1f}V{bottom:.1f}"/>',
            _text(x, bottom + 20, f"{tick:g}", "middle"),
        ]
    body += [
        _text(_x(1), _TOP - 16, "equal", "middle"),
        _text((_LEFT + _RIGHT) / 2, bottom + 42, "log scale", "middle"),
    ]
    for number, (peer, values) in enumerate(found.items()):
        y = _TOP + _STEP * (number + 0.5)
        low, high = _x(min(values)), _x(max(values))
        body += [
            _text(_LEFT - 8, y + 5, peer, "end"),
            f'<path class="grid" d="M{_LEFT:.1f} {y:.1f}H{_RIGHT:.1f}"/>',
            f'<path class="line" d="M{low:.1f} {y:.1f}H{high:.1f}"/>',
        ]
        body += [
            f'<circle class="dot" cx="{_x(ratio):.1f}" cy="{y:.1f}" r="4.5"/>'
            for ratio in values
        ]
    return head + "\n".join(body) + "\n</svg>\n"
