"""Warnings: where a number may not be the one that a tool would give."""

from __future__ import annotations

from collections.abc import Mapping
from operator import lt
from typing import TYPE_CHECKING

import numpy as np

from rankine.table.judged import Judged
from rankine.words import count

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rankine.conventions.tools import Tool
    from rankine.io.sources import Lists
    from rankine.metric import Metric
    from rankine.table.recommended import Recommended

_BY_SET = frozenset({"P", "R", "F", "Success"})
"""Metrics that do not ask where above the cutoff an item stands."""


def cautions_of(
    tool: Tool,
    asked: Iterable[tuple[Metric, Metric, Judged | Recommended]],
    unsorted: int,
) -> Iterator[str]:
    """Say what a tool does not have, and what it leaves open.

    Args:
        tool: the tool.
        asked: each metric as it was asked for, as it was computed, and its table.
        unsorted: how many lists are not in the order of their scores, if the tool
            takes the order given.
    """
    if unsorted:
        yield (
            f"{tool.title}: the order given is taken, which is not that of the scores "
            f"for {count(unsorted, 'query')}; sort the run by score if that is meant"
        )
    for metric, bound, table in asked:
        if metric.name in tool.over_train and bound.get("by") == "own":
            n = _n_elsewhere(table)
            if n:
                yield (
                    f"{tool.title}: the mean of {metric} is over the users of train, 1 "
                    f"for those without a list; here it is over the lists "
                    f"({count(n, 'user')} in one of the two only)"
                )
        if metric.name in tool.unlike:
            yield (
                f"{tool.title}: its {tool.unlike[metric.name]} is defined in another "
                f"way; {metric} is computed with the choices that it makes elsewhere"
            )
        elif not tool.has(metric.name, cut=metric.depth is not None):
            known = tool.has(metric.name)
            word = f"{metric.name} with a cutoff" if known else metric.name
            yield (
                f"{tool.title}: this tool has no such metric as {word}; {metric} is "
                "computed with the choices that it makes elsewhere"
            )
        elif tool.open_ties is not None and not bound.get("ties"):
            n = _n_open(bound, table, tool.open_ties)
            if n:
                length = tool.open_ties
                where = f" in lists of {length} items or more" if length > 2 else ""  # noqa: PLR2004 - any list that has ties
                yield (
                    f"{tool.title}: the order of equal scores is left open{where}; "
                    f"{metric} may differ for {count(n, 'query')}"
                )


def _n_elsewhere(table: Judged | Recommended) -> int:
    """Count the users who have a list or training data, and not both."""
    if isinstance(table, Judged) or table.covered is None or table.train is None:
        return 0
    both = int(np.count_nonzero(table.covered))
    return table.train.n_users - both + table.n_queries - both


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
        if metric.name in _BY_SET:
            open_ &= table.above + table.tied > k
    elif metric.name in _BY_SET:
        return 0
    return len(np.unique(table.query[open_]))
