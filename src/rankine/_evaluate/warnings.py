"""Warnings: data that may not be what they seem, and numbers that differ from a tool's.

Facts about the data are kept as a few numbers, so that those of batches add up to those
of all data; the same holds for the counts in warnings about a tool.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from rankine._base.contradiction import NO_CONTRADICTION, TRUST, Contradiction
from rankine._base.text import QUERY, RISING, common_unit, count
from rankine._tables.judged import Judged
from rankine._tables.segments import NO_STEPS, Steps

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rankine._conventions.tools import Tool
    from rankine._io.sources import Source
    from rankine._join.judgements import Truth
    from rankine._metrics.metric import Metric
    from rankine._tables.lists import Recommended


_OF_RATINGS = 4
"""From this largest grade on, grades look like ratings."""
_LIKED = 0.75
"""How far up the range of grades those of liked items usually begin."""
_HARDLY = 0.01
"""The share of judged items below which ids probably differ."""
NO_GRADES = math.inf, -math.inf
"""The smallest and the largest grade where there is none."""


@dataclass(frozen=True, eq=False)
class Doubts:
    """Facts about judgements and a run that may cast doubt on them.

    Attributes:
        read: doubts that came up while reading them.
        steps: how often a score is above or below the one before it in its list.
        grades: the smallest and the largest grade.
        rated: whether the grades come from a column of ratings.
        thresholds: the smallest relevant grades of metrics without a given one.
        contradiction: in how many lists ranks and scores disagree.
        missing: how many judged queries the run lacks, and how many there are.
        units: what queries are called, by whatever says so.
    """

    read: tuple[str, ...] = ()
    steps: Steps = NO_STEPS
    grades: tuple[float, float] = NO_GRADES
    rated: bool = False
    thresholds: tuple[float, ...] = ()
    contradiction: Contradiction = NO_CONTRADICTION
    missing: tuple[int, int] = 0, 0
    units: frozenset[str] = frozenset()

    @property
    def unit(self) -> str:
        """What results call a query: user, if something says so and nothing else."""
        return common_unit(self.units)

    def __add__(self, other: Doubts) -> Doubts:
        """Return the facts about both parts of the data."""
        return Doubts(
            tuple(dict.fromkeys((*self.read, *other.read))),
            self.steps + other.steps,
            ends_of(self.grades, other.grades),
            self.rated or other.rated,
            tuple(sorted({*self.thresholds, *other.thresholds})),
            self.contradiction.plus(other.contradiction),
            (self.missing[0] + other.missing[0], self.missing[1] + other.missing[1]),
            self.units | other.units,
        )

    def warnings(self) -> tuple[str, ...]:
        """Return reasons to doubt the numbers, the worst first."""
        found = self.contradiction
        ranks = (f"{found.told} {found.share}; {TRUST}",) if found.n else ()
        said = (
            *self._rising(),
            *ranks,
            *self.read,
            *self._absent(),
            *self._all_relevant("warning"),
        )
        return tuple(dict.fromkeys(said))  # of rising scores, a reader may warn too

    def notes(self) -> tuple[str, ...]:
        """Return further notes on the data."""
        return tuple(self._all_relevant("note"))

    def _all_relevant(self, level: str) -> Iterable[str]:
        least, most = self.grades
        if level == level_of(most, rated=self.rated):
            for threshold in self.thresholds:
                said = all_relevant(least, most, threshold)
                if said is not None:
                    yield "; ".join(said)

    def _absent(self) -> Iterable[str]:
        missing, judged = self.missing
        if 2 * missing > judged:
            yield (
                f"{missing:,} of {count(judged, f'judged {self.unit}')} are missing "
                "from the run, more than half; is the run complete?"
            )

    def _rising(self) -> Iterable[str]:
        if self.steps.like_distances:
            yield RISING


def ends_of(
    ours: tuple[float, float], theirs: tuple[float, float]
) -> tuple[float, float]:
    """Return the smallest and the largest number of two parts of the data."""
    return min(ours[0], theirs[0]), max(ours[1], theirs[1])


NO_DOUBTS = Doubts()
"""No doubts."""


def all_relevant(least: float, most: float, threshold: float) -> list[str] | None:
    """Return a finding if several grades occur and all are relevant, with a remedy.

    >>> all_relevant(1, 5, threshold=1)[0]
    'every judged item counts as relevant: the grades are 1 to 5, and none is below 1'
    """
    if not threshold <= least < most < math.inf:
        return None
    liked = liked_from(least, most)
    what = (
        f"every judged item counts as relevant: the grades are {least:g} to {most:g}, "
        f"and none is below {threshold:g}"
    )
    todo = (
        "if not all of them are, give the smallest relevant grade, such as "
        f"rel={liked} or --rel {liked}"
    )
    return [what, todo]


def hardly_met(n_judged: int, n_possible: int, n_found: int) -> tuple[str, str] | None:
    """Return how serious it is if hardly any judged item is in the run, and the words.

    If there is only one judged item, missing it is not unusual.

    Args:
        n_judged: how many items are judged.
        n_possible: how many of them the lists could have, by their lengths.
        n_found: how many of them they have.

    >>> hardly_met(9000, 1000, 9)
    ('warning', 'only 9 of 9,000 judged items are in the run')
    >>> hardly_met(9000, 1000, 10), hardly_met(1, 1, 0)
    (None, ('note', 'no judged item is in the run'))
    """
    if n_found >= _HARDLY * n_possible:
        return None
    level = "warning" if n_judged > 1 else "note"
    if not n_found:
        return level, "no judged item is in the run"
    are = "is" if n_found == 1 else "are"
    return level, f"only {n_found:,} of {n_judged:,} judged items {are} in the run"


def liked_from(least: float, most: float) -> int:
    """Return the smallest grade of items that usually count as liked.

    >>> liked_from(1, 5), liked_from(0.5, 5)
    (4, 4)
    """
    return math.ceil(least + _LIKED * (most - least))


def looks_rated(most: float) -> bool:
    """Say whether grades look like ratings, judging by the largest."""
    return _OF_RATINGS <= most < math.inf


def level_of(most: float, *, rated: bool) -> str:
    """Return how serious it is that all grades are relevant: low ratings are not."""
    return "warning" if rated or most >= _OF_RATINGS else "note"


def units_of(sources: Iterable[Source], *, trained: bool = False) -> frozenset[str]:
    """Return what queries are called by those of some data that say so.

    Training data are about users, whatever their form.
    """
    said = {source.unit for source in sources} - {""}
    return frozenset({*said, "user"} if trained else said)


def doubts_of(
    truth: Truth | None,
    source: Source,
    thresholds: tuple[float, ...] = (),
    *,
    trained: bool = False,
) -> Doubts:
    """Return the doubts about data before they are joined.

    Args:
        truth: the judgements.
        source: the run.
        thresholds: the smallest relevant grades that were not given, ascending.
        trained: whether there are training data.
    """
    if truth is None:
        return Doubts(source.warnings, units=units_of([source], trained=trained))
    judgements = truth.source
    column = judgements.column
    return Doubts(
        (*judgements.warnings, *source.warnings),
        grades=truth.pool.bounds if thresholds else NO_GRADES,
        rated=bool(column) and _is_rating(column),
        thresholds=thresholds,
        units=units_of([judgements, source], trained=trained),
    )


def _is_rating(column: str) -> bool:
    from rankine._io.columns import is_rating  # noqa: PLC0415 - needs polars

    return is_rating(column)


def with_steps(doubts: Doubts, tables: Iterable[Any]) -> Doubts:
    """Add how often scores rise and fall in the lists, from the joined tables."""
    found = (table.steps for table in tables)
    late = (steps() if callable(steps) else steps for steps in found)
    return replace(doubts, steps=max(late, default=NO_STEPS))


@dataclass(frozen=True)
class Caution:
    """A warning that may contain a count, so that those of batches add up.

    Attributes:
        text: the words, with {} where the count belongs.
        noun: what is counted; queries, or what they are called, if it is empty.
        n: how many of these there are; None if nothing is counted.
        always: a count that is added once, for any number of batches.
        metrics: the labels of the metrics it is about, if these are not all.
    """

    text: str
    noun: str = ""
    n: int | None = None
    always: int = 0
    metrics: tuple[str, ...] = ()

    def told(self, unit: str) -> str | None:
        """Return the words; None if there is nothing to warn of."""
        if self.n is None:
            return self.text
        n = self.n + self.always
        noun = self.noun or unit
        return self.text.replace("{}", count(n, noun)) if n else None


def told(cautions: Iterable[Caution], unit: str = QUERY) -> tuple[str, ...]:
    """Return the words of the cautions that have something to warn of."""
    return tuple(filter(None, (caution.told(unit) for caution in cautions)))


def added(cautions: Iterable[Caution]) -> tuple[Caution, ...]:
    """Combine the cautions of several parts: each once, with its counts added."""
    totals: dict[Caution, int | None] = {}
    for caution in cautions:
        before = totals.get(replace(caution, n=None))
        n = caution.n if before is None or caution.n is None else before + caution.n
        totals[replace(caution, n=None)] = n
    return tuple(replace(caution, n=n) for caution, n in totals.items())


def cautions_of(
    tool: Tool,
    asked: Iterable[tuple[str, Metric, Judged | Recommended]],
    unsorted: int,
) -> Iterator[Caution]:
    """Yield cautions on metrics that a tool lacks, and on choices that it leaves open.

    Args:
        tool: the tool.
        asked: the name that each metric was asked for by, the metric as it was
            computed, and its table.
        unsorted: how many lists are not in the order of their scores, if the tool
            takes the order given.
    """
    yield Caution(
        f"{tool.title}: the given order is used, which is not that of the scores for "
        f"{{}}; sort the run by score if you want that order",
        n=unsorted,
    )
    for label, metric, table in asked:
        whose = (label,)
        if metric.name in tool.over_train and metric.get("by") == "own":
            n, always = _n_elsewhere(table)
            yield Caution(
                f"{tool.title}: this tool averages {label} over the users of train, "
                "with 1 for those without a list; here the mean is over the lists "
                f"({{}} in only one of the two)",
                "user",
                n,
                always,
                whose,
            )
        if metric.name in tool.unlike:
            yield Caution(
                f"{tool.title}: its {tool.unlike[metric.name]} is defined differently; "
                f"{label} is computed with its other conventions",
                metrics=whose,
            )
        elif not tool.has(metric.name, cut=metric.depth is not None):
            known = tool.has(metric.name)
            word = f"{metric.name} with a cutoff" if known else metric.name
            yield Caution(
                f"{tool.title}: {word} does not exist in this tool; {label} is "
                "computed with its other conventions",
                metrics=whose,
            )
        elif tool.open_ties is not None and not metric.get("ties"):
            length = tool.open_ties
            where = f" in lists of {length} items or more" if length > 2 else ""  # noqa: PLR2004 - any list that has ties
            yield Caution(
                f"{tool.title}: the order of equal scores is left open{where}; "
                f"{label} may differ for {{}}",
                n=_n_open(metric, table, length),
                metrics=whose,
            )


def _n_elsewhere(table: Judged | Recommended) -> tuple[int, int]:
    """Count the users who have either a list or training data, but not both.

    The second number is that of all users in the training data; the first subtracts
    those with a list.
    """
    if isinstance(table, Judged) or table.covered is None or table.train is None:
        return 0, 0
    both = int(np.count_nonzero(table.covered))
    return table.n_queries - 2 * both, table.train.n_users


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
