"""The judged rows of a run with their ranks, as they are found part by part."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rankine._tables.judged import Judged
from rankine._tables.segments import NO_STEPS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankine._base.arrays import Bools, Floats, Ints
    from rankine._tables.pool import Pool
    from rankine._tables.segments import Steps

_NO_INTS: Ints = np.zeros(0, dtype=np.int64)
_NO_FLOATS: Floats = np.zeros(0)


class Part(NamedTuple):
    """The judged rows of some lists in one order.

    Attributes:
        number, length: the queries of the lists, and how long these are.
        pair, rank, above, tied, score: columns of `Judged`.
        scores, score_query: the same for all rows, where they are asked for.
    """

    number: Ints = _NO_INTS
    length: Ints = _NO_INTS
    pair: Ints = _NO_INTS
    rank: Ints = _NO_INTS
    above: Ints = _NO_INTS
    tied: Ints = _NO_INTS
    score: Floats = _NO_FLOATS
    scores: Floats = _NO_FLOATS
    score_query: Ints = _NO_INTS


@dataclass(slots=True)
class Ranked:
    """The judged rows of a run in one order.

    Attributes:
        parts: as they were found.
        n_dropped: how many rows were left out because their items are repeated.
        scored: whether there are scores.
        unsorted: how many lists are not in the order of their scores, if the order
            given is used.
        steps: how scores rise and fall along the lists.
    """

    parts: list[Part] = field(default_factory=list)
    n_dropped: int = 0
    scored: bool = True
    unsorted: int = 0
    steps: Steps = NO_STEPS

    def table(
        self, pool: Pool, n_extra: int, present: Bools, *, keep_scores: bool
    ) -> tuple[Judged, Ints]:
        """Return the joined table of the judged queries, and the lengths of others."""
        whole = Part(*map(_joined, zip(*self.parts or [Part()], strict=True)))
        lengths = np.zeros(pool.n_queries + n_extra, dtype=np.int64)
        lengths[whole.number] = whole.length
        judged, others = lengths[: pool.n_queries], lengths[pool.n_queries :]
        scores = score_query = None
        if keep_scores:
            of_judged = whole.score_query < pool.n_queries
            scores = whole.scores[of_judged]
            score_query = whole.score_query[of_judged]
        table = Judged.of_pairs(
            pool,
            whole.pair,
            rank=whole.rank,
            above=whole.above,
            tied=whole.tied,
            score=whole.score,
            n_retrieved=judged,
            in_run=present,
            scores=scores,
            score_query=score_query,
        )
        return table, others


def _joined(parts: Sequence[Any]) -> Any:
    return parts[0] if len(parts) == 1 else np.concatenate(parts)
