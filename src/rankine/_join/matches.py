"""Matches: the judged rows of a run, as they are found."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from rankine._base.arrays import Floats, Ints


@dataclass(slots=True)
class Matches:
    """The rows of a run that are judged, as they are found, and who was retrieved.

    Attributes:
        n_judged: how many queries are judged; further numbers are extra queries.
        extra: ids of the queries that are not judged, in order of appearance.
        length: query number -> length of its list; judged queries first.
        rises: how often a score is above the one before it in its list.
        falls: whether one is below.
        strict: whether every list falls, without a tie: then the order of the rows is
            that of the scores, whatever the rule for ties.
        exact: whether many scores are equal, and are so also as given.
        scored: whether there are scores.
        spans: where the lists of a run in memory begin, and the number of the query of
            each; None where they are mixed or came in parts.
        unsorted: the lists whose order is not that of their scores, where the order
            given is taken.
    """

    n_judged: int
    query: list[Ints] = field(default_factory=list)
    pair: list[Ints] = field(default_factory=list)
    above: list[Ints] = field(default_factory=list)
    tied: list[Ints] = field(default_factory=list)
    rank: list[Ints] = field(default_factory=list)
    score: list[Floats] = field(default_factory=list)
    scores: list[Floats] = field(default_factory=list)
    score_query: list[Ints] = field(default_factory=list)
    extra: list[object] = field(default_factory=list)
    length: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    n_dropped: int = 0
    rises: int = 0
    falls: bool = False
    strict: bool = True
    exact: bool = True
    scored: bool = True
    spans: tuple[Ints, Ints] | None = None
    unsorted: set[int] = field(default_factory=set)
