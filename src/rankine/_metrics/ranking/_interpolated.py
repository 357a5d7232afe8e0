"""Precision at a recall or at a multiple of R: IPrec, 11pt, RprecMult, RelP."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from rankine._base.checks import check_choice, check_number
from rankine._metrics.metric import register
from rankine._metrics.ranking._cutoff import check_binary, found_within, ratio
from rankine.errors import ParameterError

if TYPE_CHECKING:
    from rankine._base.arrays import Floats
    from rankine._join import Judged

LEVELS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)


def _interpolated(table: Judged, rel: float, recall: float, cut: str) -> Floats:
    """Return the highest precision at or below the rank that reaches a recall."""
    hits = table.hits(rel)
    most = table.n_relevant(rel)
    wanted = most * recall
    needed = np.floor(wanted + 0.5) if cut == "round" else np.trunc(wanted + 0.9)
    counts = np.bincount(hits.query, minlength=table.n_queries)
    begin = np.concatenate(([0], np.cumsum(counts)))[:-1]
    reached = (needed <= counts) & (counts > 0)
    value = np.zeros(table.n_queries)
    if not reached.any():
        return value
    first = begin[reached] + np.maximum(needed[reached].astype(np.int64), 1) - 1
    last = begin[reached] + counts[reached]
    precision = np.append(hits.nth / hits.rank, 0.0)
    # reduceat over [first, last): every second result belongs to a range.
    bounds = np.stack((first, last), axis=1).ravel()
    value[reached] = np.maximum.reduceat(precision, bounds)[::2]
    return value


def interpolated_precision(
    table: Judged,
    *,
    recall: float = 0.5,
    rel: float = 1,
    cut: Literal["round", "up"] = "round",
) -> Floats:
    """Highest precision at any rank that reaches a recall.

    Formula:
        IPrec@r = max of P@i over all ranks i with at least r * R hits

    Args:
        table: the joined table.
        recall: the recall to reach, 0 to 1.
        rel: an item is relevant when its grade is at least this.
        cut: how r * R becomes a number of hits: ``round`` to the nearest (trec_eval
            10), or ``up``: the whole part of r * R + 0.9 (trec_eval 9 and before).

    Returns:
        One value per query, 0 to 1; 0 if that recall is never reached.

    References:
        C. D. Manning, P. Raghavan, H. Schütze: Introduction to Information Retrieval,
        section 8.4. 2008.

    Examples:
        Hits at ranks 1 and 4 of R = 2. Recall 1 is reached at rank 4: 2/4; recall 0.5
        at rank 1: 1.

        >>> import rankine as rk
        >>> qrels = {"q": {"a": 1, "b": 1}}
        >>> run = {"q": ["a", "x", "y", "b"]}
        >>> rk.evaluate(qrels, run, ["IPrec@1", "IPrec"]).mean
        {'IPrec@1': 0.5, 'IPrec': 1.0}

        Recall 0.6 of R = 2 is 1.2 hits, which rounds to 1, and with ``up`` to 2.

        >>> rk.evaluate(qrels, run, ["IPrec@0.6", "IPrec(cut='up')@0.6"]).mean
        {'IPrec@0.6': 1.0, "IPrec(cut='up')@0.6": 0.5}
    """
    check_number("recall", recall, least=0, most=1)
    check_binary(None, rel, None)
    check_choice("cut", cut, ("round", "up"))
    return _interpolated(table, rel, recall, cut)


IPrec = register(
    "IPrec", interpolated_precision, at="recall", aliases=("iprec_at_recall",)
)


def eleven_point(
    table: Judged,
    *,
    rel: float = 1,
    levels: tuple[float, ...] = LEVELS,
    cut: Literal["round", "up"] = "round",
) -> Floats:
    """Mean interpolated precision at the recalls 0, 0.1, ..., 1.

    Formula:
        11pt = (IPrec@0 + IPrec@0.1 + ... + IPrec@1) / 11

    Args:
        table: the joined table.
        rel: an item is relevant when its grade is at least this.
        levels: the recalls to average over.
        cut: how a recall becomes a number of hits, as in IPrec.

    Returns:
        One value per query, 0 to 1.

    References:
        C. D. Manning, P. Raghavan, H. Schütze: Introduction to Information Retrieval,
        section 8.4. 2008.

    Examples:
        Hits at ranks 1 and 4 of R = 2: precision 1 up to recall 0.7, which rounds to
        one hit, then 2/4 for 0.8, 0.9 and 1: (8 + 3/2) / 11 = 0.8636.

        >>> import rankine as rk
        >>> qrels = {"q": {"a": 1, "b": 1}}
        >>> run = {"q": ["a", "x", "y", "b"]}
        >>> rk.evaluate(qrels, run, "11pt").mean
        {'11pt': 0.8636}
    """
    check_binary(None, rel, None)
    check_choice("cut", cut, ("round", "up"))
    if not isinstance(levels, (tuple, list)) or not levels:
        msg = f"levels must be recalls such as (0, 0.5, 1), got {levels!r}"
        raise ParameterError(msg)
    for level in levels:
        check_number("a recall in levels", level, least=0, most=1)
    total = np.zeros(table.n_queries)
    for level in sorted(levels, reverse=True):
        total += _interpolated(table, rel, level, cut)
    return total / len(levels)


ElevenPoint = register("11pt", eleven_point, aliases=("11pt_avg",))


def r_precision_multiple(
    table: Judged, *, multiple: float = 1.0, rel: float = 1
) -> Floats:
    """Precision at a multiple of the number of relevant items.

    Formula:
        RprecMult@m = P@k with k = the whole part of m * R + 0.9

    Args:
        table: the joined table.
        multiple: m.
        rel: an item is relevant when its grade is at least this.

    Returns:
        One value per query, 0 to 1; nan without relevant items.

    References:
        trec_eval, m_Rprec_mult.c.

    Examples:
        R = 2, m = 2: two hits in the first four.

        >>> import rankine as rk
        >>> qrels = {"q": {"a": 1, "b": 1}}
        >>> run = {"q": ["a", "x", "y", "b"]}
        >>> rk.evaluate(qrels, run, "RprecMult@2").mean
        {'RprecMult@2': 0.5}
    """
    check_number("multiple", multiple, above=0)
    check_binary(None, rel, None)
    hits = table.hits(rel)
    depth = np.trunc(table.n_relevant(rel) * multiple + 0.9)
    inside = hits.rank <= depth[hits.query]
    value = ratio(table.per_query(hits.query[inside]), depth)
    value[depth == 0] = 0
    value[table.n_relevant(rel) == 0] = np.nan
    return value


RprecMult = register(
    "RprecMult", r_precision_multiple, at="multiple", aliases=("Rprec_mult",)
)


def relative_precision(
    table: Judged, *, k: int | None = None, rel: float = 1
) -> Floats:
    """Hits among the first k as a share of the most that could be there.

    Formula:
        RelP@k = hits in the first k / min(k, R)

    Args:
        table: the joined table.
        k: cutoff; the length of the list if not given.
        rel: an item is relevant when its grade is at least this.

    Returns:
        One value per query, 0 to 1; nan without relevant items.

    References:
        trec_eval, m_rel_P.c.

    Examples:
        One hit in the first three, two relevant items: 1 / min(3, 2).

        >>> import rankine as rk
        >>> qrels = {"q": {"a": 1, "b": 1}}
        >>> run = {"q": ["a", "x", "y"]}
        >>> rk.evaluate(qrels, run, "RelP@3").mean
        {'RelP@3': 0.5}
    """
    check_binary(k, rel, None)
    most = table.n_relevant(rel)
    down = np.minimum(most, table.length() if k is None else k)
    value = ratio(found_within(table, k, rel), down)
    value[(down == 0) & (most > 0)] = 0
    return value


RelP = register("RelP", relative_precision, aliases=("relative_P",), by_set=True)
