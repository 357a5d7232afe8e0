"""A figure for each family of metrics, drawn with the numbers that rankine computes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

import rankine as rk
from rankine._base.text import percent

if TYPE_CHECKING:
    from collections.abc import Callable

Points = Sequence[tuple[float, float]]

LEFT, RIGHT, TOP, BOTTOM = 56.0, 388.0, 36.0, 272.0
SIZE = (400, 324)
_TENTHS = [number / 10 for number in range(11)]
HEAD = """\
<svg xmlns="http://www.w3.org/2000/svg" class="chart" viewBox="0 0 {width} {height}" \
role="img" aria-labelledby="{name}-title {name}-desc">
<title id="{name}-title">{title}</title>
<desc id="{name}-desc">{desc}</desc>
<style>
svg:root {{ color: #222; color-scheme: light dark; font-family: sans-serif }}
@media (prefers-color-scheme: dark) {{ svg:root {{ color: #ddd }} }}
.chart text {{ fill: currentColor; font-size: 15px }}
.chart .grid {{ stroke: currentColor; stroke-opacity: 0.16 }}
.chart .line {{ fill: none; stroke: var(--md-typeset-a-color, #5b7be0); \
stroke-width: 2.2; stroke-linejoin: round }}
.chart .dashed {{ stroke-dasharray: 6 4 }}
.chart .dot {{ fill: var(--md-typeset-a-color, #5b7be0) }}
.chart .name {{ font-weight: 600 }}
</style>
"""


@dataclass
class Figure:
    """Lines over a grid.

    Attributes:
        name: of the file, without its ending.
        title: what it shows.
        desc: the same in a sentence or two, with its numbers.
        across: what goes across.
        up: what goes up.
        xs: the ticks across.
        ys: the ticks up.
        body: what is drawn, so far.
    """

    name: str
    title: str
    desc: str
    across: str
    up: str
    xs: Sequence[float]
    ys: Sequence[float]
    body: list[str] = field(default_factory=list)

    def place(self, x: float, y: float) -> tuple[float, float]:
        """Return where a point is drawn."""
        right = (x - self.xs[0]) / (self.xs[-1] - self.xs[0])
        above = (y - self.ys[0]) / (self.ys[-1] - self.ys[0])
        return LEFT + (RIGHT - LEFT) * right, BOTTOM - (BOTTOM - TOP) * above

    def line(self, points: Points, *, dashed: bool = False) -> None:
        """Draw a line through points."""
        path = "L".join("{:.1f} {:.1f}".format(*self.place(*point)) for point in points)
        kind = "line dashed" if dashed else "line"
        self.body.append(f'<path class="{kind}" d="M{path}"/>')

    def dots(self, points: Points) -> None:
        """Draw a dot at each point."""
        for point in points:
            x, y = self.place(*point)
            self.body.append(f'<circle class="dot" cx="{x:.1f}" cy="{y:.1f}" r="4.5"/>')

    def label(self, words: str, x: float, y: float, anchor: str = "start") -> None:
        """Name what is at a point."""
        left, top = self.place(x, y)
        self.body.append(
            f'<text x="{left:.1f}" y="{top:.1f}" text-anchor="{anchor}" '
            f'class="name">{words}</text>'
        )

    def drawn(self) -> str:
        """Return it as SVG."""
        width, height = SIZE
        head = HEAD.format(
            name=self.name, width=width, height=height, title=self.title, desc=self.desc
        )
        grid = []
        for tick in self.ys:
            _, y = self.place(self.xs[0], tick)
            grid.append(f'<path class="grid" d="M{LEFT:.1f} {y:.1f}H{RIGHT:.1f}"/>')
            grid.append(_text(LEFT - 7, y + 5, f"{tick:g}", "end"))
        for tick in self.xs:
            x, _ = self.place(tick, self.ys[0])
            grid.append(f'<path class="grid" d="M{x:.1f} {TOP:.1f}V{BOTTOM:.1f}"/>')
            grid.append(_text(x, BOTTOM + 20, f"{tick:g}", "middle"))
        middle = (LEFT + RIGHT) / 2
        grid.append(_text(4, TOP - 20, self.up, "start"))
        grid.append(_text(middle, BOTTOM + 44, self.across, "middle"))
        return head + "\n".join([*grid, *self.body]) + "\n</svg>\n"


def _text(x: float, y: float, words: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{words}</text>'


_RELEVANT = (1, 3, 6, 7)
_SHOWN = 10
_RANKS = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10)
_SHARES = (0, 0.2, 0.4, 0.6, 0.8, 1)


def _example() -> rk.Evaluation:
    """Return a list of ten items, of which those at ranks 1, 3, 6 and 7 are relevant.

    A fifth item that is relevant is not in it.
    """
    qrels = {"q": {**{f"d{rank}": 1 for rank in _RELEVANT}, "missed": 1}}
    run = {"q": [f"d{rank}" for rank in range(1, _SHOWN + 1)]}
    return rk.evaluate(qrels, run, ["AP", "P@10", "IPrec@0.5"])


def _at_each_rank(metric: str) -> Points:
    curve = _example().curve(metric, range(1, _SHOWN + 1))
    return list(curve.select("k", "value").iter_rows())


def cutoff() -> str:
    """Draw precision and recall of one list by the cutoff."""
    precision, recall = _at_each_rank("P"), _at_each_rank("R")
    figure = Figure(
        "cutoff",
        "Precision and recall of one list, by the cutoff",
        "Four of five relevant items are at ranks 1, 3, 6 and 7. Precision begins at 1 "
        f"and is {precision[-1][1]:g} at rank 10; recall rises to {recall[-1][1]:g}.",
        "cutoff k", "value", _RANKS, _SHARES,
    )  # fmt: skip
    figure.line(precision)
    figure.line(recall, dashed=True)
    figure.label("P@k", 1.45, 0.84)
    figure.label("R@k", 8.2, 0.84)
    return figure.drawn()


def average() -> str:
    """Draw the precision at each rank, with those of which AP is the mean."""
    precision = _at_each_rank("P")
    counted = [(rank, value) for rank, value in precision if rank in _RELEVANT]
    ap = _example().mean["AP"]
    figure = Figure(
        "average",
        "Average precision: the precision at each relevant item",
        "A line of the precision at ranks 1 to 10, with a dot at each relevant item, "
        "at ranks 1, 3, 6 and 7. Their sum, divided by five relevant items, is "
        f"{ap:.4f}.",
        "rank", "precision", _RANKS, _SHARES,
    )  # fmt: skip
    figure.line(precision, dashed=True)
    figure.dots(counted)
    for (rank, value), above in zip(counted, (-0.03, 0.04, -0.1, 0.04), strict=True):
        figure.label(f"{value:.2f}", rank + 0.2, value + above)
    return figure.drawn()


def recall() -> str:
    """Draw precision by recall, and the precision that is interpolated."""
    pairs = [
        (share, value)
        for (_, share), (_, value) in zip(
            _at_each_rank("R"), _at_each_rank("P"), strict=True
        )
    ]
    qrels = {"q": {**{f"d{rank}": 1 for rank in _RELEVANT}, "missed": 1}}
    run = {"q": [f"d{rank}" for rank in range(1, _SHOWN + 1)]}
    levels = rk.evaluate(qrels, run, [f"IPrec@{level:g}" for level in _TENTHS]).mean
    steps = list(zip(_TENTHS, levels.values(), strict=True))
    figure = Figure(
        "recall",
        "Precision by recall, as it is and interpolated",
        "The interpolated precision at a recall is the best at that recall or a higher "
        f"one: {steps[0][1]:g} up to a recall of 0.2, {steps[3][1]:.2f} up to 0.4, "
        f"{steps[8][1]:.2f} up to 0.8, and 0 beyond.",
        "recall", "precision", _SHARES, _SHARES,
    )  # fmt: skip
    figure.line(pairs, dashed=True)
    figure.dots(steps)
    figure.label("IPrec at 11 levels", 0.42, 0.72)
    return figure.drawn()


def gain() -> str:
    """Draw what a grade of 3 is worth by its rank, for two gains."""
    run = {"q": [f"d{rank}" for rank in range(1, _SHOWN + 1)]}

    def worth(metric: str) -> Points:
        return [
            (rank, rk.evaluate({"q": {f"d{rank}": 3}}, run, metric).mean[metric])
            for rank in range(1, _SHOWN + 1)
        ]

    linear, steep = worth("DCG@10"), worth("DCG(gain='exponential')@10")
    figure = Figure(
        "gain",
        "What an item of grade 3 adds to DCG, by its rank",
        f"At rank 1 it adds {linear[0][1]:g} with the linear gain and {steep[0][1]:g} "
        f"with the exponential one; at rank 10, {linear[-1][1]:.2f} and "
        f"{steep[-1][1]:.2f}.",
        "rank", "added to DCG", _RANKS, (0, 1, 2, 3, 4, 5, 6, 7),
    )  # fmt: skip
    figure.line(linear)
    figure.line(steep, dashed=True)
    figure.label("exponential", 3.1, 3.8)
    figure.label("linear", 5.2, 0.55)
    return figure.drawn()


def user() -> str:
    """Draw how likely a reader of RBP gets to each rank."""
    chances = {
        p: [(rank, p ** (rank - 1)) for rank in _RANKS] for p in (0.5, 0.8, 0.95)
    }
    run = {"q": [f"d{rank}" for rank in _RANKS]}
    for p, points in chances.items():
        # What RBP gives to a rank is how likely it is to be read, times 1 - p.
        for rank, chance in points:
            value = rk.evaluate({"q": {f"d{rank}": 1}}, run, f"RBP(p={p})")
            assert math.isclose(value.mean[f"RBP(p={p})"], (1 - p) * chance)
    says = ", ".join(f"{100 * chances[p][-1][1]:.0f} % with p = {p}" for p in chances)
    figure = Figure(
        "user",
        "How likely a reader is to look at each rank, for three p of RBP",
        f"All look at rank 1. At rank 10 it is {says}.",
        "rank", "share of readers", _RANKS, _SHARES,
    )  # fmt: skip
    for (p, points), (x, y) in zip(
        chances.items(), ((3.3, 0.26), (3.3, 0.64), (5.4, 0.86)), strict=True
    ):
        figure.line(points)
        figure.label(f"p = {p:g}", x, y)
    return figure.drawn()


def sets() -> str:
    """Draw F by precision, where recall is one half."""
    curves = {}
    shares = [number / 20 for number in range(1, 21)]
    for beta in (0.5, 1.0, 2.0):
        points = []
        for share in shares:
            # Of 10 relevant items, 5 are in the list: a recall of one half.
            n = round(5 / share)
            run = {
                "q": [f"r{item}" for item in range(5)] + [f"x{i}" for i in range(n - 5)]
            }
            qrels = {"q": {f"r{item}": 1 for item in range(10)}}
            metric = f"SetF(beta={beta:g})"
            points.append((5 / n, rk.evaluate(qrels, run, metric).mean[metric]))
        curves[beta] = points
    says = ", ".join(
        f"{curves[beta][-1][1]:.2f} with beta = {beta:g}" for beta in curves
    )
    figure = Figure(
        "sets",
        "F by the precision, where recall is one half",
        "The larger beta is, the less precision matters. At a precision of 1, F is "
        f"{says}.",
        "precision", "F", _SHARES, _SHARES,
    )  # fmt: skip
    for (beta, points), y in zip(curves.items(), (0.8, 0.32, 0.5), strict=True):
        figure.line(points, dashed=beta == 1)
        words = f"beta = {beta:g}"
        figure.label(f"dashed: {words}" if beta == 1 else words, 0.98, y, "end")
    return figure.drawn()


def topics() -> str:
    """Draw what another item of the same topic is worth."""
    run = {"q": [f"d{rank}" for rank in _RANKS]}
    curves = {}
    for alpha in (0.2, 0.5, 0.9):
        totals = []
        for n in range(1, 7):
            rows = [("q", "t", f"d{rank}", 1) for rank in range(1, n + 1)]
            metric = f"alpha_DCG(alpha={alpha})@10"
            frame = {
                name: [row[place] for row in rows]
                for place, name in enumerate(("query", "subtopic", "item", "relevance"))
            }
            total = rk.evaluate(pl.DataFrame(frame), run, metric).mean[metric]
            totals.append(total)
        gains = np.diff([0.0, *totals]) * np.log2(np.arange(2, 8))
        curves[alpha] = [(n, float(size)) for n, size in enumerate(gains, 1)]
    says = ", ".join(
        f"{curves[alpha][2][1]:.2f} with alpha = {alpha}" for alpha in curves
    )
    figure = Figure(
        "topics",
        "What another item of a topic is worth, by how many came before",
        f"The first is worth 1. The third is worth {says}.",
        "items of the topic so far, with this one", "gain", (1, 2, 3, 4, 5, 6), _SHARES,
    )  # fmt: skip
    for (alpha, points), (x, y) in zip(
        curves.items(), ((3.1, 0.7), (2.6, 0.36), (2.1, 0.13)), strict=True
    ):
        figure.line(points)
        figure.label(f"alpha = {alpha:g}", x, y)
    return figure.drawn()


def novelty() -> str:
    """Draw how novel an item is by the share of users who know it."""
    users, points = 100, []
    for n in (1, 2, 3, 5, 7, 10, 15, 20, 30, 40, 50, 60, 70, 80, 90, 100):
        train = {f"u{user}": ["x"] if user < n else ["y"] for user in range(users)}
        value = rk.evaluate(None, {"new": ["x"]}, "Novelty", train=train).mean[
            "Novelty"
        ]
        points.append((n / users, value))
    figure = Figure(
        "novelty",
        "How novel an item is, by the share of users who have it",
        f"An item of one user in a hundred has {points[0][1]:.2f}, one of half of the "
        f"users {points[10][1]:.2f}, and one of all users 0 bits.",
        "share of users who have the item", "Novelty, in bits", _SHARES,
        (0, 1, 2, 3, 4, 5, 6, 7),
    )  # fmt: skip
    figure.line(points)
    figure.dots([points[0], points[10]])
    figure.label("1 in 100 users", 0.05, 6.5)
    figure.label("every other user", 0.52, 1.2)
    return figure.drawn()


def exposure() -> str:
    """Draw the share of recommendations that the least shown items have."""
    shown = {"even": [10] * 10, "uneven": [1, 1, 2, 3, 4, 6, 9, 14, 22, 38]}
    curves, ginis = {}, {}
    for name, counts in shown.items():
        total = sum(counts)
        sums = np.cumsum([0, *counts]) / total
        curves[name] = [(place / 10, float(share)) for place, share in enumerate(sums)]
        run = {
            f"u{item} {time}": [f"d{item}"]
            for item, n in enumerate(counts)
            for time in range(n)
        }
        ginis[name] = rk.evaluate(None, run, "Gini", catalog=10).mean["Gini"]
    figure = Figure(
        "exposure",
        "The share of recommendations that go to the least shown items",
        f"On the diagonal all items are shown equally often, and Gini is "
        f"{ginis['even']:.2f}. In the other catalogue the less shown half has "
        f"{percent(curves['uneven'][5][1])} of the recommendations, and Gini is "
        f"{ginis['uneven']:.2f}.",
        "share of items, the least shown first", "share of what is shown", _SHARES,
        _SHARES,
    )  # fmt: skip
    figure.line(curves["even"], dashed=True)
    figure.line(curves["uneven"])
    figure.label(f"Gini = {ginis['even']:.2f}", 0.5, 0.58, "end")
    figure.label(f"Gini = {ginis['uneven']:.2f}", 0.62, 0.1)
    return figure.drawn()


def diversity() -> str:
    """Draw the diversity of a list of two topics by how they are mixed."""
    points = []
    for n in range(_SHOWN + 1):
        items = {f"d{i}": [1.0, 0.0] if i < n else [0.0, 1.0] for i in range(_SHOWN)}
        run = {"u": list(items)}
        metric = "ILD(distance='cosine')@10"
        value = rk.evaluate(None, run, metric, items=items)
        points.append((n, next(iter(value.mean.values()))))
    figure = Figure(
        "diversity",
        "The diversity of ten items of two kinds, by how many are of the first",
        f"It is 0 where all are of one kind, {points[2][1]:.2f} with two of the first, "
        f"and {points[5][1]:.2f} with five of each.",
        "items of the first kind, of ten", "ILD", (0, 2, 4, 6, 8, 10),
        (0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6),
    )  # fmt: skip
    figure.line(points, dashed=True)
    figure.dots(points)
    return figure.drawn()


def catalogue() -> str:
    """Draw the share of relevant items by that of the others; the area is AUC."""
    others = [rank for rank in _RANKS if rank not in _RELEVANT]
    points = [(0.0, 0.0)]
    for rank in _RANKS:
        good = sum(r <= rank for r in _RELEVANT) / len(_RELEVANT)
        bad = sum(r <= rank for r in others) / len(others)
        points.append((bad, good))
    qrels = {"q": {f"d{rank}": int(rank in _RELEVANT) for rank in _RANKS}}
    run = {"q": {f"d{rank}": 1 / rank for rank in _RANKS}}
    auc = next(iter(rk.evaluate(qrels, run, "AUC").mean.values()))
    area = sum(
        (right - left) * (low + high) / 2
        for (left, low), (right, high) in pairwise(points)
    )
    assert math.isclose(auc, area)
    figure = Figure(
        "catalogue",
        "AUC: the area below the share of relevant items",
        "Going down a list of ten items, of which those at ranks 1, 3, 6 and 7 are "
        "relevant: each relevant item is a step up, each other one a step to the "
        f"right. The area below the steps is AUC, {auc:.4f}.",
        "share of other items so far", "share of relevant items so far", _SHARES,
        _SHARES,
    )  # fmt: skip
    figure.line(points)
    figure.line([(0, 0), (1, 1)], dashed=True)
    figure.label(f"AUC = {auc:.2f}", 0.96, 0.3, "end")
    return figure.drawn()


def incomplete() -> str:
    """Draw metrics of the same lists by how many of the judgements are left."""
    rng = np.random.default_rng(7)
    queries, n = 40, 60
    grades = rng.integers(0, 4, (queries, n)) == 0
    order = np.argsort(-(grades + rng.normal(0, 0.9, (queries, n))), axis=1)
    keep = rng.random((queries, n))
    run = {
        f"q{q}": [f"d{item}" for item in row] for q, row in enumerate(order.tolist())
    }
    shares = _TENTHS[1:]
    curves: dict[str, list[tuple[float, float]]] = {"AP": [], "Bpref": []}
    for share in shares:
        qrels = {
            f"q{q}": {
                f"d{item}": int(grades[q, item])
                for item in range(n)
                if keep[q, item] < share
            }
            for q in range(queries)
        }
        for name, value in rk.evaluate(qrels, run, [*curves]).mean.items():
            curves[name].append((share, value))
    says = ", ".join(
        f"{name} from {points[-1][1]:.2f} to {points[1][1]:.2f}"
        for name, points in curves.items()
    )
    figure = Figure(
        "incomplete",
        "Metrics of the same lists, by the share of judgements that are left",
        f"With a fifth of the judgements left, {says}.",
        "share of judgements that are left", "mean", _SHARES, (0, 0.2, 0.4, 0.6, 0.8),
    )  # fmt: skip
    for name, points in curves.items():
        figure.line(points[1:], dashed=name == "AP")
        x, y = points[1]
        figure.label(name, x - 0.02, y, "end")
    return figure.drawn()


FAMILIES: dict[str, Callable[[], str]] = {
    f"{draw.__name__}.svg": draw
    for draw in (
        average, catalogue, cutoff, diversity, exposure, gain, incomplete, novelty,
        recall, sets, topics, user,
    )
}  # fmt: skip
