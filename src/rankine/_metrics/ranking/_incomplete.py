"""Incomplete judgements, and geometric means: bpref, infAP, gm_AP, gm_Bpref."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rankine._metrics.metric import register
from rankine._metrics.ranking._average import average_precision
from rankine._metrics.ranking._cutoff import check_binary, ratio

if TYPE_CHECKING:
    from rankine._base.arrays import Bools, Floats, Ints
    from rankine._join import Judged

_EPSILON = 1e-5
"""trec_eval's smoothing of infAP, and its floor of geometric means."""


def _before(table: Judged, marked: Bools) -> Ints:
    """Count the marked rows of the same query before each row."""
    running: Ints = np.cumsum(marked) - marked
    start = table.row_starts()[table.query]
    return running - running[start] if len(running) else running


def bpref(table: Judged, *, rel: float = 1) -> Floats:
    """Mean share of the items judged not relevant that are below each relevant item.

    Unjudged items are skipped, so the value does not fall if judgements are missing.

    Formula:
        Bpref = (1 / R) * sum over hits of 1 - min(n, R) / min(N, R), with n the items
        judged not relevant above the hit and N all of them

    Args:
        table: the joined table.
        rel: an item is relevant when its grade is at least this.

    Returns:
        One value per query, 0 to 1; nan without relevant items.

    References:
        C. Buckley, E. M. Voorhees: Retrieval evaluation with incomplete information.
        SIGIR 2004. https://doi.org/10.1145/1008992.1009000. As in trec_eval's
        m_bpref.c, a hit with nothing judged above it counts as 1.

    Examples:
        Two items are relevant and two are not; one of these is above the second hit:
        (1 + 1 - 1/2) / 2 = 0.75.

        >>> import rankine as rk
        >>> qrels = {"q": {"a": 1, "b": 0, "c": 1, "d": 0}}
        >>> run = {"q": ["x", "a", "b", "c"]}
        >>> rk.evaluate(qrels, run, "Bpref").mean
        {'Bpref': 0.75}
    """
    check_binary(None, rel, None)
    known = (table.grade >= 0) & (table.grade < rel)
    hit = table.grade >= rel
    query = table.query[hit]
    above = _before(table, known)[hit].astype(np.float64)
    most, all_known = table.n_relevant(rel), table.pool.count(0, rel)
    least = np.minimum(all_known, most)[query]
    lost = ratio(np.minimum(above, most[query]), least)
    share = np.where(above > 0, 1 - lost, 1.0)
    return ratio(table.per_query(query, share), most)


Bpref = register("Bpref", bpref)


def inferred_ap(table: Judged, *, rel: float = 1) -> Floats:
    """Average precision estimated from a judged sample of the pool.

    A negative grade means "in the pool, but not judged".

    Formula:
        infAP = (1 / R) * sum over hits at ranks i of 1/i + ((i-1)/i)
        (pooled above / (i-1)) ((r + e) / (r + n + 2e)), with r relevant and n other
        judged items above and e = 0.00001

    Args:
        table: the joined table.
        rel: an item is relevant when its grade is at least this.

    Returns:
        One value per query, 0 to about 1; nan without relevant items.

    References:
        E. Yilmaz, J. A. Aslam: Estimating average precision with incomplete and
        imperfect judgments. CIKM 2006. https://doi.org/10.1145/1183614.1183633

    Examples:
        All judged, hits at ranks 1 and 3: (1 + 1/3 + (2/3) (2/2) (1/2)) / 2 = 0.8333.

        >>> import rankine as rk
        >>> qrels = {"q": {"a": 1, "b": 0, "c": 1}}
        >>> run = {"q": ["a", "b", "c"]}
        >>> rk.evaluate(qrels, run, "infAP").mean
        {'infAP': 0.8333}
    """
    check_binary(None, rel, None)
    hit = table.grade >= rel
    relevant = _before(table, hit)[hit]
    known = _before(table, (table.grade >= 0) & ~hit)[hit]
    pooled = _before(table, (table.grade < 0) & ~hit)[hit]
    j = (table.rank[hit] - 1).astype(np.float64)
    share = (relevant + _EPSILON) / (relevant + known + 2 * _EPSILON)
    deeper = ratio(j, j + 1) * ratio((relevant + known + pooled).astype(float), j)
    term = np.where(j == 0, 1.0, 1 / (j + 1) + deeper * share)
    return ratio(table.per_query(table.query[hit], term), table.n_relevant(rel))


infAP = register("infAP", inferred_ap)  # noqa: N816 - the name papers use


def geometric_ap(table: Judged, *, rel: float = 1) -> Floats:
    """Average precision, averaged over queries by the geometric mean.

    Formula:
        gm_AP = exp(mean of ln(max(AP, 0.00001)))

    Args:
        table: the joined table.
        rel: an item is relevant when its grade is at least this.

    Returns:
        One value per query, 0 to 1: the average precision itself.

    References:
        S. Robertson: On GMAP: and other transformations. CIKM 2006.
        https://doi.org/10.1145/1183614.1183630

    Examples:
        >>> import rankine as rk
        >>> qrels, run = {"q": {"a": 1}}, {"q": ["x", "a"]}
        >>> rk.evaluate(qrels, run, "gm_AP").mean
        {'gm_AP': 0.5}
    """
    return average_precision(table, rel=rel)


gm_AP = register(  # noqa: N816 - the name trec_eval uses
    "gm_AP", geometric_ap, aliases=("gm_map", "GMAP"), summary="geometric"
)


def geometric_bpref(table: Judged, *, rel: float = 1) -> Floats:
    """Bpref, averaged over queries by the geometric mean.

    Formula:
        gm_Bpref = exp(mean of ln(max(Bpref, 0.00001)))

    Args:
        table: the joined table.
        rel: an item is relevant when its grade is at least this.

    Returns:
        One value per query, 0 to 1: bpref itself.

    References:
        trec_eval, m_gm_bpref.c.

    Examples:
        >>> import rankine as rk
        >>> qrels, run = {"q": {"a": 1}}, {"q": ["x", "a"]}
        >>> rk.evaluate(qrels, run, "gm_Bpref").mean
        {'gm_Bpref': 1.0}
    """
    return bpref(table, rel=rel)


gm_Bpref = register(  # noqa: N816 - the name trec_eval uses
    "gm_Bpref", geometric_bpref, summary="geometric"
)
