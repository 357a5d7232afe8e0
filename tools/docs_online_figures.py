"""Figures on probabilities, logs and tests, drawn with the numbers that we compute."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

import rankine as rk
from tools.docs_family_figures import Figure

if TYPE_CHECKING:
    from collections.abc import Callable

_TENTHS = (0, 0.2, 0.4, 0.6, 0.8, 1)
_DAYS = (1, 3, 5, 7, 9, 11, 13, 15)


def calibration() -> str:
    """Draw how often what a model predicts happens; the model is too sure."""
    rng = np.random.default_rng(7)
    true = rng.uniform(0.02, 0.98, 4000)
    happened = (rng.random(len(true)) < true).astype(int)
    odds = (true / (1 - true)) ** 2
    error = rk.expected_calibration_error(happened, odds / (1 + odds), bins=10)
    points = list(error.bins.select("predicted", "observed").iter_rows())
    (low, seldom), *_, (high, often) = points
    figure = Figure(
        "calibration",
        "How often something happens, by its predicted probability",
        f"A model that is too sure of itself: what it gives {low:.2f} happens in "
        f"{seldom:.2f} of all cases, and what it gives {high:.2f} in {often:.2f}. The "
        f"mean gap to the diagonal, the expected calibration error, is {error:.3f}.",
        "predicted", "observed", _TENTHS, _TENTHS,
    )  # fmt: skip
    figure.line([(0, 0), (1, 1)], dashed=True)
    figure.line(points)
    figure.dots(points)
    figure.label("too low", 0.04, 0.43)
    figure.label("too high", 0.97, 0.53, "end")
    return figure.drawn()


def overlap() -> str:
    """Draw an estimate by how often the log shows what is recommended."""
    n, rate = 4000, 0.2
    rng = np.random.default_rng(1)
    chance, clicked = rng.random(n), (rng.random(n) < rate).astype(int)
    recommended = pl.DataFrame({"user_id": range(n), "item_id": ["new"] * n})
    points = []
    for share in (0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.8, 1.0):
        shown = chance < share
        logged = pl.DataFrame(
            {
                "user_id": range(n),
                "item_id": np.where(shown, "new", "old"),
                "click": np.where(shown, clicked, 0),
                "propensity": np.where(shown, share, 1 - share),
            }
        )
        estimate = rk.ctr(logged, recommended, "ips")
        points.append((share, estimate.value, *estimate.interval))
    (_, _, low, high), (_, _, least, most) = points[0], points[-1]
    figure = Figure(
        "overlap",
        "An estimate and its interval, by how often the log shows what is recommended",
        f"The same 4,000 rounds and a click rate of {rate:g}. If the log shows what is "
        f"recommended in 2 of 100 rounds, the interval goes from {low:.2f} to "
        f"{high:.2f}; if it always does, from {least:.2f} to {most:.2f}.",
        "how often the log shows it", "click rate by ips", _TENTHS, (0, 0.1, 0.2, 0.3),
    )  # fmt: skip
    figure.line([(share, value) for share, value, _, _ in points])
    figure.dots([(share, value) for share, value, _, _ in points])
    for end in (2, 3):
        figure.line([(point[0], point[end]) for point in points], dashed=True)
    figure.label("95 % interval", 0.2, 0.245)
    return figure.drawn()


@cache
def _events() -> pl.DataFrame:
    return rk.online.generate(8000).events


def daily() -> str:
    """Draw the click rate of two variants on each day."""
    table = rk.online.summarize(_events(), "ctr", daily=True).table
    means = rk.online.summarize(_events(), "ctr").table
    a, b = (means.filter(variant=name)["value"].item() for name in "AB")
    lines = {
        name: table.filter(variant=name).sort("day")["value"].to_list() for name in "AB"
    }
    below = sum(of_b < of_a for of_a, of_b in zip(*lines.values(), strict=True))
    figure = Figure(
        "daily",
        "The click rate of two variants on each day",
        f"The rate of A is {a:.3f} and that of B {b:.3f}. Both move from day to day; "
        f"of {len(lines['A'])} days, B is below A on {below}.",
        "day", "ctr", _DAYS, (0, 0.05, 0.1, 0.15, 0.2),
    )  # fmt: skip
    for name, values in lines.items():
        figure.line(list(enumerate(values, 1)), dashed=name == "A")
    figure.label("A", 7, 0.082)
    figure.label("B", 7, 0.138)
    return figure.drawn()


def peeking() -> str:
    """Draw a difference at the end of each day, with both of its intervals."""
    test = rk.online.ab_test(_events(), control="A", metrics=["ctr"], daily=True)
    assert test.by_day is not None
    rows = list(enumerate(test.by_day.iter_rows(named=True), 1))
    known = [(day, row) for day, row in rows if row["always_low"] == row["always_low"]]
    last = rows[-1][1]
    figure = Figure(
        "peeking",
        "A difference at the end of each day, with both of its intervals",
        f"The difference is {last['difference']:.3f} in the end. The interval for one "
        f"look is {last['low']:.3f} to {last['high']:.3f}; the one that holds at every "
        f"look, dashed, is {last['always_low']:.3f} to {last['always_high']:.3f}, and "
        f"begins on day {known[0][0]}, once there are enough users.",
        "day", "difference in ctr", _DAYS, (-0.02, 0, 0.02, 0.04, 0.06),
    )  # fmt: skip
    shown = rows[1:]  # the first day has few users, and is beyond the chart
    figure.line([(day, row["difference"]) for day, row in shown])
    figure.dots([(day, row["difference"]) for day, row in shown])
    for end in ("low", "high"):
        figure.line([(day, row[end]) for day, row in shown])
        always = [(day, row[f"always_{end}"]) for day, row in known]
        figure.line(always, dashed=True)
    figure.label("at every look", 9, 0.037)
    return figure.drawn()


ONLINE: dict[str, Callable[[], str]] = {
    f"{draw.__name__}.svg": draw for draw in (calibration, daily, overlap, peeking)
}
