"""The cells of a result table: computed once, drawn in several ways."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankine._evaluate.result import Evaluation

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")


@dataclass(frozen=True, slots=True)
class Cell:
    """One number with its interval.

    Attributes:
        metric: the metric.
        value: the number; nan if undefined.
        low, high: the bounds of the interval; nan if there is none.
        n: how many queries entered.
        count: whether it is a count, which has no decimals and no interval.
        higher_is_better: the direction of the metric, None if it has none.
    """

    metric: str
    value: float
    low: float
    high: float
    n: int
    count: bool
    higher_is_better: bool | None

    def number(self, decimals: int = 4) -> str:
        """Return the number as text."""
        if math.isnan(self.value):
            return "undefined"
        return f"{self.value:,.0f}" if self.count else f"{self.value:.{decimals}f}"

    def bounds(self, decimals: int = 4) -> str:
        """Return the interval as text, empty if there is none."""
        if self.count or math.isnan(self.low):
            return ""
        return f"{self.low:.{decimals}f} to {self.high:.{decimals}f}"


def cells(
    evaluation: Evaluation, confidence: float = 0.95, *, intervals: bool = True
) -> list[Cell]:
    """Return a cell per metric, with its interval unless that is not wanted."""
    made = []
    for metric, (label, found) in zip(
        evaluation.bound, evaluation.summaries.items(), strict=True
    ):
        count = metric.summary == "sum"
        low = high = math.nan
        if intervals and not count:
            low, high = evaluation.interval(label, confidence)
        direction = metric.higher_is_better
        made.append(Cell(label, found.value, low, high, found.n, count, direction))
    return made


def shown(text: object) -> str:
    r"""Return text that is safe to print: control and direction marks as escapes.

    >>> shown("a\x1b[31mb")
    'a\\x1b[31mb'
    """
    return _CONTROL.sub(
        lambda mark: mark[0].encode("unicode_escape").decode(), str(text)
    )


def names(evaluations: Sequence[Evaluation]) -> list[str]:
    """Return the names of the runs, safe to print."""
    return [shown(evaluation.name) for evaluation in evaluations]
