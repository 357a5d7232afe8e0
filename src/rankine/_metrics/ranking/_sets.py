"""The retrieved items as a set, without regard to their order."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rankine._base.checks import check_count, check_number
from rankine._metrics.metric import register
from rankine._metrics.ranking._counts import n_relevant_retrieved
from rankine._metrics.ranking._cutoff import ratio
from rankine.errors import ParameterError

if TYPE_CHECKING:
    from rankine._base.arrays import Floats
    from rankine._join import Judged

_N_WEIGHTS = 4


def set_precision(table: Judged, *, rel: float = 1) -> Floats:
    """Precision of the whole list.

    Formula:
        SetP = hits / list length

    Args:
        table: the joined table.
        rel: an item is relevant when its grade is at least this.

    Returns:
        One value per query, 0 to 1; 0 for an empty list.

    References:
        trec_eval, m_set_P.c.

    Examples:
        >>> import rankine as rk
        >>> qrels, run = {"q": {"a": 1}}, {"q": ["x", "a"]}
        >>> rk.evaluate(qrels, run, "SetP").mean
        {'SetP': 0.5}
    """
    hits, length = n_relevant_retrieved(table, rel=rel), table.length()
    value = ratio(hits, length)
    value[length == 0] = 0
    return value


SetP = register("SetP", set_precision, aliases=("set_P",), ordered=False)


def set_recall(table: Judged, *, rel: float = 1) -> Floats:
    """Recall of the whole list.

    Formula:
        SetR = hits / R

    Args:
        table: the joined table.
        rel: an item is relevant when its grade is at least this.

    Returns:
        One value per query, 0 to 1; nan without relevant items.

    References:
        trec_eval, m_set_recall.c.

    Examples:
        >>> import rankine as rk
        >>> qrels, run = {"q": {"a": 1, "b": 1}}, {"q": ["x", "a"]}
        >>> rk.evaluate(qrels, run, "SetR").mean
        {'SetR': 0.5}
    """
    return ratio(n_relevant_retrieved(table, rel=rel), table.n_relevant(rel))


SetR = register("SetR", set_recall, aliases=("set_recall",), ordered=False)


def set_relative_precision(table: Judged, *, rel: float = 1) -> Floats:
    """Hits as a share of the most that the list could hold.

    Formula:
        SetRelP = hits / min(list length, R)

    Args:
        table: the joined table.
        rel: an item is relevant when its grade is at least this.

    Returns:
        One value per query, 0 to 1; 0 for an empty list, nan without relevant items.

    References:
        trec_eval, m_set_rel_P.c.

    Examples:
        >>> import rankine as rk
        >>> qrels, run = {"q": {"a": 1}}, {"q": ["x", "a"]}
        >>> rk.evaluate(qrels, run, "SetRelP").mean
        {'SetRelP': 1.0}
    """
    hits, length = n_relevant_retrieved(table, rel=rel), table.length()
    most = table.n_relevant(rel)
    value = ratio(hits, np.minimum(length, most))
    value[length == 0] = 0
    value[most == 0] = np.nan
    return value


SetRelP = register(
    "SetRelP", set_relative_precision, aliases=("set_relative_P",), ordered=False
)


def set_average_precision(table: Judged, *, rel: float = 1) -> Floats:
    """Product of precision and recall of the whole list.

    Formula:
        SetAP = SetP * SetR

    Args:
        table: the joined table.
        rel: an item is relevant when its grade is at least this.

    Returns:
        One value per query, 0 to 1; 0 for an empty list, nan without relevant items.

    References:
        trec_eval, m_set_map.c.

    Examples:
        1/2 of the retrieved items, 1/2 of the relevant items: 1/4.

        >>> import rankine as rk
        >>> qrels, run = {"q": {"a": 1, "b": 1}}, {"q": ["x", "a"]}
        >>> rk.evaluate(qrels, run, "SetAP").mean
        {'SetAP': 0.25}
    """
    hits, length = n_relevant_retrieved(table, rel=rel), table.length()
    most = table.n_relevant(rel)
    value = ratio(hits * hits, length * most)
    value[length == 0] = 0
    value[most == 0] = np.nan
    return value


SetAP = register("SetAP", set_average_precision, aliases=("set_map",), ordered=False)


def set_f(table: Judged, *, rel: float = 1, beta: float = 1) -> Floats:
    """F of the whole list, weighted as in trec_eval.

    Formula:
        SetF = (b + 1) P R / (b P + R), with P = SetP and R = SetR

    Args:
        table: the joined table.
        rel: an item is relevant when its grade is at least this.
        beta: weight of recall; not squared, as in trec_eval, while F squares it.

    Returns:
        One value per query, 0 to 1; nan without relevant items.

    References:
        trec_eval, m_set_F.c.

    Examples:
        P = R = 1/2: 1/2.

        >>> import rankine as rk
        >>> qrels, run = {"q": {"a": 1, "b": 1}}, {"q": ["x", "a"]}
        >>> rk.evaluate(qrels, run, "SetF").mean
        {'SetF': 0.5}
    """
    check_number("beta", beta, least=0)
    p, r = set_precision(table, rel=rel), set_recall(table, rel=rel)
    value = ratio((beta + 1.0) * p * r, beta * p + r)
    value[r == 0] = 0
    return value


SetF = register("SetF", set_f, at="beta", aliases=("set_F",), ordered=False)


def utility(
    table: Judged,
    *,
    rel: float = 1,
    weights: tuple[float, float, float, float] = (1, -1, 0, 0),
    catalog: int | None = None,
) -> Floats:
    """Weighted sum of the four counts of a retrieved set.

    Formula:
        Utility = a TP + b FP + c FN + d TN

    Args:
        table: the joined table.
        rel: an item is relevant when its grade is at least this.
        weights: a, b, c and d.
        catalog: number of items in the catalogue, to count TN; 0 if not given, as in
            trec_eval.

    Returns:
        One value per query, any number.

    References:
        trec_eval, m_utility.c.

    Examples:
        One hit, two misses: 1 - 2.

        >>> import rankine as rk
        >>> qrels, run = {"q": {"a": 1}}, {"q": ["x", "a", "y"]}
        >>> rk.evaluate(qrels, run, "Utility").mean
        {'Utility': -1.0}
    """
    if not isinstance(weights, (tuple, list)) or len(weights) != _N_WEIGHTS:
        msg = f"weights must be four numbers, got {weights!r}"
        raise ParameterError(msg)
    for weight in weights:
        check_number("a weight", weight)
    if catalog is not None:
        check_count("catalog", catalog, least=0)
    hits, length = n_relevant_retrieved(table, rel=rel), table.length()
    most = table.n_relevant(rel)
    a, b, c, d = weights
    rest = (catalog or 0) + hits - length - most
    return a * hits + b * (length - hits) + c * (most - hits) + d * rest


Utility = register(
    "Utility", utility, bounds=(-np.inf, np.inf), empty="keep", ordered=False
)
