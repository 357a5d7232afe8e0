"""Warnings: where a number may not be the one that a tool would give."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from operator import lt
from typing import TYPE_CHECKING

import numpy as np

from rankine._base.text import count
from rankine._tables.judged import Judged

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rankine._conventions.tools import Tool
    from rankine._io.sources import Lists
    from rankine._metrics.metric import Metric
    from rankine._tables.lists import Recommended


@dataclass(frozen=True)
class Caution:
    """A warning that may have a count in it, so that those of batches add up.

    Attributes:
        text: the words, with {} where the count belongs.
        noun: what is counted.
        n: how many of these there are; None where nothing is counted.
        always: how many more there are, however many batches come.
    """

    text: str
    noun: str = ""
    n: int | None = None
    always: int = 0

    def told(self) -> str | None:
        """Return the words, None where there is nothing to warn of."""
        if self.n is None:
            return self.text
        n = self.n + self.always
        return self.text.replace("{}", count(n, self.noun)) if n else None


def added(cautions: Iterable[Caution]) -> tuple[Caution, ...]:
    """Put cautions of several parts together: each once, with its counts added."""
    totals: dict[Caution, int | None] = {}
    for one in cautions:
        before = totals.get(replace(one, n=None))
        n = one.n if before is None or one.n is None else before + one.n
        totals[replace(one, n=None)] = n
    return tuple(replace(one, n=n) for one, n in totals.items())


def cautions_of(
    tool: Tool,
    asked: Iterable[tuple[Metric, Metric, Judged | Recommended]],
    unsorted: int,
) -> Iterator[Caution]:
    """Say what a tool does not have, and what it leaves open.

    Args:
        tool: the tool.
        asked: each metric as it was asked for, as it was computed, and its table.
        unsorted: how many lists are not in the order of their scores, if the tool
            takes the order given.
    """
    yield Caution(
        f"{tool.title}: the given order is used, which is not that of the scores for "
        f"{{}}; sort the run by score if you want that order",
        "query",
        unsorted,
    )
    for metric, bound, table in asked:
        if metric.name in tool.over_train and bound.get("by") == "own":
            n, always = _n_elsewhere(table)
            yield Caution(
                f"{tool.title}: this tool averages {metric} over the users of train, "
                "with 1 for those without a list; here the mean is over the lists "
                f"({{}} in only one of the two)",
                "user",
                n,
                always,
            )
        if metric.name in tool.unlike:
            yield Caution(
                f"{tool.title}: its {tool.unlike[metric.name]} is defined differently; "
                f"{metric} is computed with its other conventions"
            )
        elif not tool.has(metric.name, cut=metric.depth is not None):
            known = tool.has(metric.name)
            word = f"{metric.name} with a cutoff" if known else metric.name
            yield Caution(
                f"{tool.title}: {word} does not exist in this tool; {metric} is "
                "computed with its other conventions"
            )
        elif tool.open_ties is not None and not bound.get("ties"):
            length = tool.open_ties
            where = f" in lists of {length} items or more" if length > 2 else ""  # noqa: PLR2004 - any list that has ties
            yield Caution(
                f"{tool.title}: the order of equal scores is left open{where}; "
                f"{metric} may differ for {{}}",
                "query",
                _n_open(bound, table, length),
            )


def _n_elsewhere(table: Judged | Recommended) -> tuple[int, int]:
    """Count the users who have a list or training data, and not both.

    The second number is that of all users of the training data, from which those with
    a list are taken off in the first.
    """
    if isinstance(table, Judged) or table.covered is None or table.train is None:
        return 0, 0
    both = int(np.count_nonzero(table.covered))
    return table.n_queries - 2 * both, table.train.n_users


def n_unsorted(source: Lists) -> int:
    """Count the lists whose order is not that of their scores."""
    return sum(map(_rises, source.data.values()))


def _rises(entry: object) -> bool:
    if not isinstance(entry, Mapping):
        return False
    values = [*entry.values()]
    try:
        return any(map(lt, values, values[1:]))
    except (TypeError, ValueError, ArithmeticError):
        return False  # no numbers, which do not matter where the order is given


def _n_open(metric: Metric, table: Judged | Recommended, shortest: int) -> int:
    """Count the queries in which the order of tied items can matter."""
    if not metric.fact.ordered or not isinstance(table, Judged):
        return 0
    k = metric.depth
    open_ = (table.tied > 1) & (table.n_retrieved[table.query] >= shortest)
    if k is not None:
        open_ &= table.above < k
        if metric.fact.by_set:
            open_ &= table.above + table.tied > k
    elif metric.fact.by_set:
        return 0
    return len(np.unique(table.query[open_]))
