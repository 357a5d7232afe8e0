"""Gain against the ideal list, rank by rank: G, binG, Rndcg, nDCGrel."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from rankine._base.checks import check_choice, check_number
from rankine._metrics.metric import register
from rankine._metrics.ranking._cutoff import check_binary, ratio
from rankine._metrics.ranking._gain import (
    TableGain,
    check_gain,
    discounted,
    divisors,
    gains,
)
from rankine._tables.segments import running_sum

if TYPE_CHECKING:
    from rankine._base.arrays import Floats, Ints
    from rankine._join import Judged


def _check_table(gain: object) -> None:
    """Accept ``linear`` and tables of gains, which is what trec_eval has."""
    if not isinstance(gain, Mapping):
        check_choice("gain", gain, ("linear",))
    check_gain(None, gain, None)


def normalized_gain(table: Judged, *, gain: TableGain = "linear") -> Floats:
    """Gain discounted by the cost of items that were read in vain.

    Formula:
        G = sum of g_i / log2(2 + cost_i - gained_i) / sum of all gains, with gained_i
        the gains up to rank i and cost_i the sum of max(ideal gain, 1) up to rank i

    Args:
        table: the joined table.
        gain: ``linear``, or a table {grade: gain}.

    Returns:
        One value per query, 0 to 1; nan if nothing can be gained.

    References:
        trec_eval, m_G.c.

    Examples:
        One item of grade 1 at rank 2: cost 2, gained 1: (1 / log2 3) / 1.

        >>> import rankine as rk
        >>> qrels, run = {"q": {"a": 1}}, {"q": ["x", "a"]}
        >>> rk.evaluate(qrels, run, "G").mean
        {'G': 0.6309}
    """
    _check_table(gain)
    worth = gains(table.grade, gain)
    query, _, best = table.pool.largest(gains(table.pool.grade, gain), None)
    total = table.per_query(query, best)
    counts = np.bincount(query, minlength=table.n_queries)
    begin = np.concatenate(([0], np.cumsum(counts)))[:-1]
    # What the ideal list costs beyond one per rank, after 0, 1, 2, ... of its items.
    extra = running_sum(np.maximum(best - 1, 0), query)
    row = np.flatnonzero(worth)
    query_of_row, rank = table.query[row], table.rank[row]
    depth = np.minimum(rank, counts[query_of_row])
    padded = np.append(extra, 0.0)
    dear = np.where(depth > 0, padded[begin[query_of_row] + depth - 1], 0.0)
    gained = running_sum(worth[row], query_of_row)
    term = worth[row] / np.log2(2 + rank + (dear - gained))
    return ratio(table.per_query(query_of_row, term), total)


G = register("G", normalized_gain)


def binary_g(table: Judged, *, rel: float = 1) -> Floats:
    """Mean over relevant items of 1 / log2(2 + items above that are not relevant).

    Formula:
        binG = (1 / R) * sum over hits at rank i, the j-th hit, of 1 / log2(2 + i - j)

    Args:
        table: the joined table.
        rel: an item is relevant when its grade is at least this.

    Returns:
        One value per query, 0 to 1; nan without relevant items.

    References:
        trec_eval, m_binG.c.

    Examples:
        Hits at ranks 1 and 3: (1 / log2 2 + 1 / log2 3) / 2 = 0.8155.

        >>> import rankine as rk
        >>> qrels, run = {"q": {"a": 1, "b": 1}}, {"q": ["a", "x", "b"]}
        >>> rk.evaluate(qrels, run, "binG").mean
        {'binG': 0.8155}
    """
    check_binary(None, rel, None)
    hits = table.hits(rel)
    wasted = hits.rank - hits.nth
    deepest = int(wasted.max(initial=0)) + 1
    term = 1 / divisors("log2", 2, deepest)[wasted + 1]
    return ratio(table.per_query(hits.query, term), table.n_relevant(rel))


binG = register("binG", binary_g)  # noqa: N816 - the name trec_eval uses


class _Curve:
    """DCG of the list and of the ideal list at any rank, per query."""

    def __init__(self, table: Judged, gain: TableGain) -> None:
        self.table = table
        worth = gains(table.grade, gain)
        self.row = np.flatnonzero(worth)
        self.query, self.rank = table.query[self.row], table.rank[self.row]
        self.worth = worth[self.row]
        self.dcg = running_sum(discounted(self.worth, self.rank, "log2", 2), self.query)
        best = table.pool.largest(gains(table.pool.grade, gain), None)
        self.ideal_query, self.ideal_rank, self.ideal_gain = best
        self.ideal = running_sum(
            discounted(self.ideal_gain, self.ideal_rank, "log2", 2), self.ideal_query
        )
        self.n_ideal = np.bincount(self.ideal_query, minlength=table.n_queries)
        self.ideal_begin = np.concatenate(([0], np.cumsum(self.n_ideal)))[:-1]
        counts = np.bincount(self.query, minlength=table.n_queries)
        self.begin = np.concatenate(([0], np.cumsum(counts)))[:-1]

    def dcg_at(self, query: Ints, rank: Ints) -> Floats:
        """Return the DCG of the list at a rank of a query."""
        wide = int(max(self.rank.max(initial=0), rank.max(initial=0))) + 1
        place = np.searchsorted(
            self.query * wide + self.rank, query * wide + rank, side="right"
        )
        inside = place > self.begin[query]
        return np.where(inside, np.append(self.dcg, 0.0)[place - 1], 0.0)

    def ideal_at(self, query: Ints, rank: Ints) -> Floats:
        """Return the DCG of the ideal list at a rank of a query."""
        depth = np.minimum(rank, self.n_ideal[query])
        gain = np.append(self.ideal, 0.0)[self.ideal_begin[query] + depth - 1]
        return np.where(depth > 0, gain, 0.0)


def ndcg_at_levels(
    table: Judged, *, gain: TableGain = "linear", rel: float = 1
) -> Floats:
    """Mean of nDCG at the ranks where the grade of the ideal list changes.

    Formula:
        Rndcg = mean of DCG@b / IDCG@b over the ranks b at which a gain of the ideal
        list ends, and the end of a list that is at least two items longer than the
        ideal one

    Args:
        table: the joined table.
        gain: ``linear``, or a table {grade: gain}.
        rel: a query needs an item of at least this grade to have a value; lower grades
            still have a gain, as in trec_eval.

    Returns:
        One value per query, 0 to 1; nan without relevant items.

    References:
        trec_eval, m_Rndcg.c, whose condition on the last point is kept as it is.

    Examples:
        One item of grade 1, at rank 2 of two: DCG@1 / IDCG@1 = 0.

        >>> import rankine as rk
        >>> qrels, run = {"q": {"a": 1}}, {"q": ["x", "a"]}
        >>> rk.evaluate(qrels, run, "Rndcg").mean
        {'Rndcg': 0.0}

        At rank 2 of three: (0 + (1 / log2 3) / 1) / 2.

        >>> qrels, run = {"q": {"a": 1}}, {"q": ["x", "a", "y"]}
        >>> rk.evaluate(qrels, run, "Rndcg").mean
        {'Rndcg': 0.3155}
    """
    _check_table(gain)
    check_number("rel", rel)
    curve = _Curve(table, gain)
    query, worth = curve.ideal_query, curve.ideal_gain
    ends = np.ones(len(query), dtype=np.bool_)
    ends[:-1] = (query[1:] != query[:-1]) | (worth[1:] != worth[:-1])
    ending, rank = query[ends], curve.ideal_rank[ends]
    points = ratio(curve.dcg_at(ending, rank), curve.ideal[ends])
    total, count = table.per_query(ending, points), table.per_query(ending)
    length = table.n_retrieved
    longer = np.flatnonzero((length > curve.n_ideal + 1) & (curve.n_ideal > 0))
    full = ratio(
        curve.dcg_at(longer, length[longer]), curve.ideal_at(longer, length[longer])
    )
    total[longer] += full
    count[longer] += 1
    value = ratio(total, count)
    value[table.n_relevant(rel) == 0] = np.nan
    return value


Rndcg = register("Rndcg", ndcg_at_levels)


def ndcg_at_hits(table: Judged, *, gain: TableGain = "linear") -> Floats:
    """Mean over relevant items of nDCG at their rank.

    An item that is not found counts as nDCG at the end of the list.

    Formula:
        nDCGrel = (sum over hits at ranks i of DCG@i / IDCG@i + (R - hits) DCG / IDCG)
        / R

    Args:
        table: the joined table.
        gain: ``linear``, or a table {grade: gain}.

    Returns:
        One value per query, 0 to 1; nan if nothing can be gained.

    References:
        trec_eval, m_ndcg_rel.c.

    Examples:
        One of two relevant items, at rank 2: DCG@2 = 1 / log2 3, IDCG@2 = 1 + 1 / log2
        3; (0.3869 + 1 * 0.3869) / 2.

        >>> import rankine as rk
        >>> qrels, run = {"q": {"a": 1, "b": 1}}, {"q": ["x", "a"]}
        >>> rk.evaluate(qrels, run, "nDCGrel").mean
        {'nDCGrel': 0.3869}
    """
    _check_table(gain)
    curve = _Curve(table, gain)
    hit = curve.worth > 0
    query, rank = curve.query[hit], curve.rank[hit]
    points = ratio(curve.dcg[hit], curve.ideal_at(query, rank))
    everyone = np.arange(table.n_queries)
    deepest = np.full(table.n_queries, max(int(table.n_retrieved.max(initial=0)), 1))
    whole = ratio(
        curve.dcg_at(everyone, deepest),
        curve.ideal_at(everyone, np.maximum(curve.n_ideal, 1)),
    )
    n_ideal = curve.n_ideal.astype(np.float64)
    total = table.per_query(query, points)
    total += (n_ideal - table.per_query(query)) * whole
    return ratio(total, n_ideal)


nDCGrel = register("nDCGrel", ndcg_at_hits, aliases=("ndcg_rel",))  # noqa: N816
