"""Trials: what a metric says of fused lists, again and again with other scores."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from rankine._evaluate.engine import evaluate_source, paired_with
from rankine._join.matching import match
from rankine._tables.order import compare
from rankine._tables.segments import starts_of

if TYPE_CHECKING:
    from rankine._base.arrays import Bools, Floats
    from rankine._evaluate.evaluate import Job
    from rankine._evaluate.result import Evaluation
    from rankine._fusion.join import Joined
    from rankine._join.judgements import Truth
    from rankine._tables.joined import Aligned
    from rankine._tables.order import Order

_OF_FUSED = ("score", "id_desc", 64)
"""The order of fused lists: by what, who comes first among equals, how precisely."""


class Trials:
    """Evaluates fused lists whose items stay, while their scores change.

    Which of the items are judged is looked up once. Then only the scores above these
    are counted, and the same kernels compute the values as for any run. Where a
    convention has another order for equal scores, or a metric reads whole lists, each
    trial is an evaluation of its own.
    """

    def __init__(self, job: Job, truth: Truth, joined: Joined) -> None:
        self._job, self._joined = job, joined
        n = len(joined.votes.query)
        # In place of its score, each row has its number.
        source = joined.rows(np.arange(n), -np.arange(n, dtype=np.float64), "fused")
        self._truth, self._source = paired_with(truth, source)
        self._aligned: dict[Order, Aligned] = {}
        for group, order in zip(job.plan.judged, job.plan.orders, strict=True):
            if order[: len(_OF_FUSED)] == _OF_FUSED:
                asked = {order: group.keep_scores}
                self._aligned |= match(self._truth, self._source, asked)
        first = self.evaluate(np.zeros(n))
        self.ids = [*first.tables[0].ids]
        """The queries that have values."""

    def values(self, scores: Floats) -> Floats:
        """Return the value of each query for scores of the candidates."""
        return self.evaluate(scores).summaries[self._label].values

    @property
    def _label(self) -> str:
        return self._job.plan.labels[0]

    def of(self, evaluation: Evaluation) -> Floats:
        """Return the values of the same queries in another evaluation; nan for none."""
        own = evaluation.summaries[self._label].values
        pairs = zip(evaluation.tables[0].ids, own.tolist(), strict=True)
        by_id = {str(query): value for query, value in pairs}
        return np.array([by_id.get(str(query), np.nan) for query in self.ids])

    def of_queries(self, which: Bools) -> Bools:
        """Mark the candidates of some of the queries that have values."""
        chosen = {str(query) for query, own in zip(self.ids, which, strict=True) if own}
        queries: Any = self._source.query_ids()
        own = np.array([str(query) in chosen for query in queries], dtype=np.bool_)
        return own[self._joined.votes.query]

    def evaluate(self, scores: Floats) -> Evaluation:
        """Evaluate the fused lists with scores of their items."""
        job, source = self._job, self._source
        cache = {order: self._ranked(order, scores) for order in self._aligned}
        if not cache:
            source = self._joined.run(scores, job.options.depth, "fused")
        return evaluate_source(
            job.plan,
            self._truth,
            source,
            "fused",
            depth=job.options.depth,
            cache=cache,
        )

    def _ranked(self, order: Order, scores: Floats) -> Aligned:
        """Return the judged items with the ranks that they have by other scores."""
        aligned, votes = self._aligned[order], self._joined.votes
        table = aligned.table
        row = -table.score.astype(np.int64)
        rising = np.argsort(row)
        table, row = table.take(rising), row[rising]
        starts = starts_of(votes.n_candidates)
        filled = np.diff(starts) > 0
        group = (np.cumsum(filled) - 1)[votes.query[row]]
        starts = starts[np.append(filled, True)]
        compared = compare(scores, starts, [order])[order.by, order.bits]
        above, tied, rank = compared.ranks(
            starts, row, group, order, self._joined.text_order
        )
        again = np.lexsort((rank, table.query))
        changed = replace(
            table.take(again),
            rank=rank[again],
            above=above[again],
            tied=tied[again],
            score=scores[row[again]],
        )
        if table.scores is not None:
            every = -table.scores.astype(np.int64)
            changed = replace(changed, scores=scores[every])
        return replace(aligned, table=changed, steps=compared.steps)
