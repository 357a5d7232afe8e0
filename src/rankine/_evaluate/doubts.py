"""Doubts: data that may not be what they were taken for, and so numbers that mislead.

What was seen of data is kept as a few numbers, so that those of batches add up to what
all of the data show at once.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from rankine._io.columns import is_rating
from rankine._io.sources import Rows, Stream

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rankine._io.sources import Source
    from rankine._join.judgements import Truth

_RISES = 5
"""Steps upwards after which scores look like distances."""
_OF_RATINGS = 4
"""The largest grade from which grades look like ratings."""
_LIKED = 0.75
"""How far up from the smallest grade those of liked items usually begin."""
_NONE = math.inf, -math.inf


@dataclass(frozen=True)
class Doubts:
    """What was seen of judgements and a run.

    Attributes:
        read: what was doubtful while reading them.
        rises: how often a score is above the one before it in its list.
        falls: whether one is below.
        grades: the smallest and the largest grade.
        rated: whether the grades come from a column of ratings.
        thresholds: the smallest relevant grades of metrics, where nobody gave them.
    """

    read: tuple[str, ...] = ()
    rises: int = 0
    falls: bool = False
    grades: tuple[float, float] = _NONE
    rated: bool = False
    thresholds: tuple[float, ...] = ()

    def __add__(self, other: Doubts) -> Doubts:
        """Return what was seen of both parts of the data."""
        return Doubts(
            tuple(dict.fromkeys((*self.read, *other.read))),
            self.rises + other.rises,
            self.falls or other.falls,
            (
                min(self.grades[0], other.grades[0]),
                max(self.grades[1], other.grades[1]),
            ),
            self.rated or other.rated,
            tuple(sorted({*self.thresholds, *other.thresholds})),
        )

    def warnings(self) -> tuple[str, ...]:
        """Say what makes the numbers doubtful, the worst first."""
        return (*self._rising(), *self.read, *self._all_relevant("warning"))

    def notes(self) -> tuple[str, ...]:
        """Say what else is worth knowing about the data."""
        return tuple(self._all_relevant("note"))

    def _all_relevant(self, level: str) -> Iterable[str]:
        least, most = self.grades
        if level == level_of(most, rated=self.rated):
            for threshold in self.thresholds:
                said = all_relevant(least, most, threshold)
                if said is not None:
                    yield "; ".join(said)

    def _rising(self) -> Iterable[str]:
        if self.rises >= _RISES and not self.falls:
            yield (
                "scores rise along every list, as distances do; if smaller is better, "
                "give lower_is_better=True or --lower-is-better"
            )


def all_relevant(least: float, most: float, threshold: float) -> list[str] | None:
    """Say that several grades occur and all are relevant, and what to do about it.

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


def liked_from(least: float, most: float) -> int:
    """Return the grade from which on items usually count as liked.

    >>> liked_from(1, 5), liked_from(0.5, 5)
    (4, 4)
    """
    return math.ceil(least + _LIKED * (most - least))


def looks_rated(most: float) -> bool:
    """Say whether grades look like ratings, by the largest."""
    return _OF_RATINGS <= most < math.inf


def level_of(most: float, *, rated: bool) -> str:
    """Say how serious it is that all grades are relevant: of ratings, many are not."""
    return "warning" if rated or most >= _OF_RATINGS else "note"


def doubts_of(
    truth: Truth | None, source: Source, thresholds: Iterable[float] = ()
) -> Doubts:
    """Return what is doubtful of data before they are joined.

    Args:
        truth: the judgements.
        source: the run.
        thresholds: the smallest relevant grades that nobody gave.
    """
    own = tuple(sorted(set(thresholds)))
    if truth is None:
        return Doubts(_read(source))
    judgements, grades = truth.source, _NONE
    if own and len(truth.pool.grade):
        grade = truth.pool.grade
        grades = float(grade.min()), float(grade.max())
    column = judgements.column if isinstance(judgements, Rows) else ""
    return Doubts(
        (*_read(judgements), *_read(source)),
        grades=grades,
        rated=is_rating(column),
        thresholds=own,
    )


def with_steps(doubts: Doubts, tables: Iterable[Any]) -> Doubts:
    """Add how scores rise and fall in the lists, from the tables made of them."""
    steps = [table.steps() for table in tables]
    rises, falls = max(steps, default=(0, False))
    return replace(doubts, rises=rises, falls=falls)


def _read(source: Any) -> tuple[str, ...]:
    return source.warnings if isinstance(source, (Rows, Stream)) else ()
