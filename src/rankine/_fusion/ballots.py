"""Ballots and votes: the lists of several runs, and what they say about each item."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import reduce
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from rankine._base.records import cached_property
from rankine._tables.segments import starts_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from rankine._base.arrays import Bools, Floats, Ints

T = TypeVar("T", bound=np.generic)

_UNORDERED = 2
"""How many numbers have the same sum in any order, to the last bit."""


@dataclass(frozen=True, eq=False)
class Ballots:
    """The lists of several runs, best first, one after the other.

    The list of run r for query q has the number q * n_runs + r, so those of a query
    are together.

    Attributes:
        n_runs: how many runs there are.
        starts: where each list begins.
        there: whether the run has the query, list by list; its list may be empty.
        score: the score of each row; of runs that have none, minus the rank.
    """

    n_runs: int
    starts: Ints
    there: Bools
    score: Floats

    @staticmethod
    def empty(n_runs: int) -> Ballots:
        """Return ballots without queries, on which parameters are checked."""
        return Ballots(n_runs, starts_of(_NO_INTS), np.zeros(0, np.bool_), np.zeros(0))

    @property
    def n_queries(self) -> int:
        """How many queries there are."""
        return len(self.there) // self.n_runs

    @cached_property
    def length(self) -> Ints:
        """How many items each list has."""
        return np.diff(self.starts)

    @cached_property
    def number(self) -> Ints:
        """The number of the list of each row."""
        return np.repeat(np.arange(len(self.length)), self.length)

    @cached_property
    def rank(self) -> Ints:
        """The rank of each row in its list."""
        return np.arange(1, len(self.score) + 1) - self.each(self.starts[:-1])

    def each(self, values: NDArray[T]) -> NDArray[T]:
        """Give each row the value of its list."""
        return np.repeat(values, self.length)

    @cached_property
    def first(self) -> Floats:
        """The largest score of each list, 0 of an empty one."""
        return self._at(self.starts[:-1])

    @cached_property
    def last(self) -> Floats:
        """The smallest score of each list, 0 of an empty one."""
        return self._at(self.starts[1:] - 1)

    def _at(self, rows: Ints) -> Floats:
        filled = self.length > 0
        found = np.zeros(len(rows))
        found[filled] = self.score[rows[filled]]
        return found

    @property
    def query(self) -> Ints:
        """The query of each list."""
        return np.arange(len(self.there)) // self.n_runs


_NO_INTS: Ints = np.zeros(0, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Votes:
    """The rows of ballots by candidate: an item of a query, whichever runs have it.

    The votes of a candidate are in the order of runs.

    Attributes:
        ballots: the lists.
        starts: where the votes of each candidate begin.
        query: the number of the query of each candidate; rises.
        run: the number of the run that each vote comes from.
        row: the row of the ballots that each vote is; where the run does not have the
            item, how many rows there are, plus the number of the list.
        scores: the score of each row, as it was normalised, and then that which each
            list gives to items that it does not have, if it does.
    """

    ballots: Ballots
    starts: Ints
    query: Ints
    run: Ints
    row: Ints
    scores: Floats

    @staticmethod
    def empty(n_runs: int) -> Votes:
        """Return votes on nothing, on which parameters are checked."""
        ints = _NO_INTS
        return Votes(
            Ballots.empty(n_runs), starts_of(ints), ints, ints, ints, np.zeros(0)
        )

    @cached_property
    def rank(self) -> Ints:
        """The rank of each vote in its list; only lists that have the item give one."""
        return self.ballots.rank[self.row]

    @cached_property
    def score(self) -> Floats:
        """The score of each vote."""
        return self.scores[self.row]

    @cached_property
    def count(self) -> Floats:
        """How many runs have each candidate."""
        return np.diff(self.starts).astype(np.float64)

    @cached_property
    def candidate(self) -> Ints:
        """The candidate of each vote."""
        return np.repeat(np.arange(len(self.query)), np.diff(self.starts))

    @cached_property
    def n_candidates(self) -> Ints:
        """How many candidates each query has."""
        return np.bincount(self.query, minlength=self.ballots.n_queries)

    def scored(self, score: Floats, rest: Floats | None = None) -> Votes:
        """Return the votes with the scores of a normalisation.

        Args:
            score: a number for each row of the ballots.
            rest: for each list, the score of the candidates of its query that it does
                not have, if they get one; then each run that has the query votes on all
                of its candidates.
        """
        if rest is None:
            return replace(self, scores=score)
        return self._completed(np.concatenate([score, rest]))

    def _completed(self, scores: Floats) -> Votes:
        """Let each run that has the query vote on all of its candidates.

        Args:
            scores: the scores of the rows, and of what each list does not have.
        """
        ballots, shape = self.ballots, (-1, self.ballots.n_runs)
        there = ballots.there.reshape(shape)[self.query]
        candidate, run = np.nonzero(there)
        starts = starts_of(np.count_nonzero(there, axis=1))
        # The place of a run among those that have the query.
        nth = np.cumsum(ballots.there.reshape(shape), axis=1) - 1
        own = starts[self.candidate] + nth[self.query[self.candidate], self.run]
        row = len(ballots.score) + self.query[candidate] * ballots.n_runs + run
        row[own] = self.row
        return Votes(ballots, starts, self.query, run, row, scores)

    def sum(self, values: Floats) -> Floats:
        """Add up a value per vote; the order of runs does not change a bit."""
        total = np.zeros(len(self.query))
        for which, some in self._sorted(values):
            total[which] = reduce(np.add, some.T)
        return total

    def median(self, values: Floats) -> Floats:
        """Return the middle value of each candidate, or the mean of the middle two."""
        middle = np.zeros(len(self.query))
        for which, some in self._sorted(values):
            n = some.shape[1]
            middle[which] = (some[:, (n - 1) // 2] + some[:, n // 2]) / 2
        return middle

    def least(self, values: Floats) -> Floats:
        """Return the smallest value of each candidate."""
        return self._reduced(np.minimum, values)

    def largest(self, values: Floats) -> Floats:
        """Return the largest value of each candidate."""
        return self._reduced(np.maximum, values)

    def _reduced(self, function: np.ufunc, values: Floats) -> Floats:
        if len(values) == 0:
            return np.zeros(0)
        found: Floats = function.reduceat(values, self.starts[:-1])
        return found

    def _sorted(self, values: Floats) -> Iterator[tuple[Ints, Floats]]:
        """Yield candidates with equally many votes, with their values in order.

        In their order, values have a sum that does not depend on which run has which;
        so items that the runs rank alike, each in another way, are tied.
        """
        for which, rows in self._by_count:
            some = values[rows]
            if some.shape[1] > _UNORDERED:
                some.sort(axis=1)
            yield which, some

    @cached_property
    def _by_count(self) -> list[tuple[Ints, Ints]]:
        """The candidates with 1, 2, ... votes, and a row of votes for each of them."""
        counts = np.diff(self.starts)
        found = []
        for n in np.unique(counts).tolist():
            which = np.flatnonzero(counts == n)
            found.append((which, self.starts[which][:, None] + np.arange(n)))
        return found
