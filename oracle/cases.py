"""Small random inputs, with what makes evaluation tools differ."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeVar

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

FEATURES = (
    "ties",  # few distinct scores
    "unsorted",  # the order given is not that of the scores
    "duplicates",  # an item twice in a list
    "missing",  # judged queries that the run misses
    "extra",  # queries of the run without judgements
    "barren",  # queries with judgements and nothing relevant
    "graded",  # grades 0 to 3
    "negative",  # grades below 0
    "fractional",  # grades such as 0.5
    "low",  # scores of 0 and below
    "close",  # scores that float32 cannot tell apart
    "complete",  # every judged item is in the list
    "empty",  # queries of the run with an empty list
    "gaps",  # ranks that leave numbers out
    "mixed",  # rows that do not come in the order of their ranks
)
# With numbers above 9 the order of ids as text is not that of their numbers.
_ITEMS = tuple(f"d{number}" for number in range(1, 13))
_MOST_QUERIES, _MOST_JUDGED, _MOST_SHOWN, _BEYOND = 4, 8, 10, 3
_MOST_LEFT_OUT = 4
_CHANCE = 0.25


@dataclass(frozen=True, slots=True)
class Case:
    """Judgements and a run.

    A query without judgements is not in `qrels`, and one with an empty list is not in
    `run`: tables of rows, which most tools read, cannot hold either. Queries with an
    empty list are named apart, for tools that take lists or dicts: see `lists`.

    Attributes:
        qrels: query -> item -> grade.
        run: query -> items with scores, in the order given.
        ranks: query -> the rank of each item, where they are not 1, 2, 3, ...
        empty: queries of the run whose list is empty; no item stands twice then, so
            that a mapping can hold the run.
    """

    qrels: dict[str, dict[str, float]]
    run: dict[str, list[tuple[str, float]]]
    ranks: dict[str, list[int]] = field(default_factory=dict)
    empty: tuple[str, ...] = ()

    @property
    def grades(self) -> list[float]:
        """All grades."""
        return [grade for own in self.qrels.values() for grade in own.values()]

    @property
    def judgements(self) -> list[tuple[str, str, float]]:
        """Rows of query, item and grade."""
        return [(q, i, g) for q, own in self.qrels.items() for i, g in own.items()]

    @property
    def liked(self) -> list[tuple[str, str, float]]:
        """Judgements above 0, for tools to which every row is a relevant item."""
        return [row for row in self.judgements if row[2] > 0]

    @property
    def rows(self) -> list[tuple[str, str, float, int]]:
        """Rows of query, item, score and rank in the order given."""
        return [
            (query, item, score, rank)
            for query, shown in self.run.items()
            for rank, (item, score) in zip(self.ranks_of(query), shown, strict=True)
        ]

    def ranks_of(self, query: str) -> list[int]:
        """Return the ranks of a list: those drawn for it, or 1, 2, 3, ..."""
        return self.ranks.get(query) or [*range(1, len(self.run[query]) + 1)]

    @property
    def lists(self) -> dict[str, list[tuple[str, float]]]:
        """The run with its empty lists, which come first."""
        return {query: [] for query in self.empty} | self.run

    @property
    def scores(self) -> dict[str, dict[str, float]]:
        """The run as query -> item -> score, for tools that take dicts."""
        return {query: dict(shown) for query, shown in self.lists.items()}

    def without_empty_lists(self) -> Case:
        """Return the case as a table of rows can hold it."""
        return replace(self, empty=()) if self.empty else self

    @property
    def has_duplicates(self) -> bool:
        """Whether an item stands twice in a list."""
        return any(len(dict(shown)) < len(shown) for shown in self.run.values())

    @property
    def has_ties(self) -> bool:
        """Whether two items of a list have the same score as float32."""
        return any(
            len({np.float32(score) for _, score in shown}) < len(shown)
            for shown in self.run.values()
        )

    @property
    def whole_grades(self) -> bool:
        """Whether all grades are integers."""
        return all(float(grade).is_integer() for grade in self.grades)

    @property
    def all_negative(self) -> bool:
        """Whether a query has no grade of 0 or more."""
        return any(max(own.values()) < 0 for own in self.qrels.values())

    @property
    def shared(self) -> set[str]:
        """Queries that are judged and in the run."""
        return self.qrels.keys() & self.lists.keys()

    @property
    def deepest(self) -> int:
        """The largest rank of all."""
        return max((rank for *_, rank in self.rows), default=0)


_Value = TypeVar("_Value", dict[str, float], list[tuple[str, float]], list[int])


def without_empty(parts: Mapping[str, _Value]) -> dict[str, _Value]:
    """Drop queries with nothing in them."""
    return {query: part for query, part in parts.items() if part}


def draw(rng: np.random.Generator) -> tuple[Case, int]:
    """Draw a case and a cutoff; each feature is switched on by chance."""
    features = {name for name in FEATURES if rng.random() < _CHANCE}
    return draw_with(rng, features)


def draw_with(rng: np.random.Generator, features: set[str]) -> tuple[Case, int]:
    """Draw a case that may have these features, with at least one judgement."""
    queries = [str(number + 1) for number in range(rng.integers(1, _MOST_QUERIES + 1))]
    may_be_empty = "empty" in features and "duplicates" not in features
    qrels, run, ranks, empty = {}, {}, {}, []
    for query in queries:
        qrels[query] = _judgements(rng, features)
        shown = _shown(rng, features, list(qrels[query]))
        if "missing" in features and rng.random() < 1 / 3:
            shown = []
        elif "extra" in features and rng.random() < 1 / 3:
            qrels[query] = {}
        elif may_be_empty and (not shown or rng.random() < 1 / 3):
            shown = []
            empty.append(query)
        run[query] = shown
        ranks[query] = _ranks(rng, features, len(shown))
    if not any(qrels.values()):
        return draw_with(rng, features)
    # The order of queries in the run is not that of the judgements.
    order = [queries[place] for place in rng.permutation(len(queries))]
    case = Case(
        without_empty(qrels),
        without_empty({query: run[query] for query in order}),
        without_empty(ranks) if features & {"gaps", "mixed"} else {},
        tuple(empty),
    )
    return case, int(rng.integers(1, case.deepest + _BEYOND + 1))


def _ranks(rng: np.random.Generator, features: set[str], n_items: int) -> list[int]:
    ranks = np.arange(1, n_items + 1)
    if "gaps" in features:
        most = n_items + int(rng.integers(1, _MOST_LEFT_OUT + 1))
        ranks = np.sort(rng.choice(most, n_items, replace=False) + 1)
    if "mixed" in features:
        ranks = rng.permutation(ranks)
    return [int(rank) for rank in ranks]


def _judgements(rng: np.random.Generator, features: set[str]) -> dict[str, float]:
    n_judged = int(rng.integers(0, _MOST_JUDGED + 1))
    values = [0.0, 1.0]
    if "graded" in features:
        values += [2.0, 3.0]
    if "negative" in features:
        values += [-1.0]
    if "fractional" in features:
        values += [0.5, 1.5]
    if "barren" in features and rng.random() < 1 / 2:
        values = [value for value in values if value <= 0]
    items = rng.choice(_ITEMS, n_judged, replace=False)
    grades = rng.choice(values, n_judged)
    return {str(i): float(g) for i, g in zip(items, grades, strict=True)}


def _shown(
    rng: np.random.Generator, features: set[str], judged: list[str]
) -> list[tuple[str, float]]:
    n_shown = int(rng.integers(0, _MOST_SHOWN + 1))
    items = [str(item) for item in rng.choice(_ITEMS, n_shown, replace=False)]
    if "complete" in features:
        items += [item for item in judged if item not in items]
        items = [str(item) for item in rng.permutation(items)]
    if "duplicates" in features and items:
        again = rng.choice(items, int(rng.integers(1, 3)))
        items = [str(item) for item in rng.permutation([*items, *again])]
    scores = _scores(rng, features, len(items))
    if "unsorted" not in features:
        scores = -np.sort(-scores)
    return [(i, float(s)) for i, s in zip(items, scores, strict=True)]


def _scores(
    rng: np.random.Generator, features: set[str], n_items: int
) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    if "ties" in features:
        scores = rng.integers(1, 4, n_items).astype(float)
    else:
        scores = rng.permutation(n_items) + 1.0 + rng.integers(0, 9) / 8
    if "close" in features:
        scores = 1 + (scores - 1) * 1e-9
    if "low" in features:
        scores = scores - float(rng.integers(1, max(n_items, 2) + 1))
    return scores


class UnfitError(Exception):
    """One metric of a tool cannot be fed a case that its other metrics can."""
