"""Compat: how close a ranking comes to an ideal one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from rankine._base.checks import check_choice, check_flag, check_number
from rankine._metrics.metric import register
from rankine._metrics.ranking._cutoff import ratio
from rankine._tables.segments import position

if TYPE_CHECKING:
    from rankine._base.arrays import Floats, Ints
    from rankine._join import Judged


def compatibility(
    table: Judged,
    *,
    p: float = 0.95,
    normalize: bool = True,
    depth: Literal["endless", "lists"] = "endless",
) -> Floats:
    """Rank-biased overlap with the ideal ranking that is nearest to the list.

    An ideal ranking has the relevant items by decreasing grade; items of the same grade
    are in the order in which the list has them.

    Formula:
        Compat = sum over depths d of p^(d-1) |L(1..d) and I(1..d)| / d, divided by the
        same sum for the ideal ranking and itself

    Args:
        table: the joined table.
        p: persistence; 0.95 looks at about 20 items.
        normalize: divide by the sum for the ideal ranking, which is less than the sum
            of all p^(d-1) if that ranking is short.
        depth: the last depth d: ``endless``, as in the authors' own program, which ends
            at 1,000; or the length of the longer of the two ``lists`` (ir_measures), so
            that an additional item at the end of a list raises its value.

    Returns:
        One value per query, 0 to 1; nan without relevant items.

    References:
        C. L. A. Clarke, A. Vtyurina, M. D. Smucker: Assessing top-k preferences. TOIS
        2021. https://doi.org/10.1145/3451161

    Examples:
        The ideal ranking is b, a; the list is a, b, which agrees with it from depth 2
        on, by 2 / d: 2 (S - 1) of S + (S - 1), S = sum of 0.5^(d-1) / d = 2 ln 2.

        >>> import rankine as rk
        >>> qrels, run = {"q": {"a": 1, "b": 2}}, {"q": ["a", "b"]}
        >>> rk.evaluate(qrels, run, "Compat(p=0.5)").mean
        {'Compat(p=0.5)': 0.4358}

        Only down to depth 2: 0.5 of 1 + 0.5.

        >>> rk.evaluate(qrels, run, "Compat(p=0.5,depth='lists')").mean
        {"Compat(p=0.5,depth='lists')": 0.3333}
    """
    check_number("p", p, above=0, below=1)
    check_flag("normalize", normalize)
    check_choice("depth", depth, ("endless", "lists"))
    pool = table.pool
    wanted = pool.grade > 0
    owner = pool.query[wanted]
    n_ideal = np.bincount(owner, minlength=table.n_queries)
    last = np.maximum(table.n_retrieved, n_ideal)
    deepest = int(last.max(initial=0))
    power = p ** np.arange(deepest, dtype=np.float64)
    # An item in both from depth x on adds p^(x-1) / x + p^x / (x+1) + ...
    upto = np.concatenate(([0.0], np.cumsum(power / np.arange(1, deepest + 1))))
    if depth == "lists":
        whole = upto[last]
        weights = np.concatenate(([0.0], np.cumsum(power)))[last]
    else:
        whole = np.full(table.n_queries, -np.log1p(-p) / p)
        weights = np.full(table.n_queries, 1 / (1 - p))
    row = np.flatnonzero(table.grade > 0)
    query = table.query[row]
    both_from = np.maximum(_ideal_rank(table, row), table.rank[row])
    shared = table.per_query(query, whole[query] - upto[both_from - 1])
    if not normalize:
        value = ratio(shared, weights)
        value[n_ideal == 0] = np.nan
        return value
    best = table.per_query(owner, whole[owner] - upto[position(owner)])
    return np.minimum(ratio(shared, best), 1)  # which rounding may exceed


def _ideal_rank(table: Judged, row: Ints) -> Ints:
    """Return the ranks of the relevant rows of a table in its ideal ranking."""
    pool, query = table.pool, table.query[row]
    # How many judged items of the query have a larger grade, whether shown or not.
    levels, number = np.unique(-pool.grade, return_inverse=True)
    n_levels = len(levels)
    every = np.sort(pool.query * n_levels + number)
    level = levels.searchsorted(-table.grade[row])
    larger = every.searchsorted(query * n_levels + level) - pool.starts[query]
    # And how many of the same grade the list has above.
    order = np.lexsort((table.rank[row], level, query))
    _, segment = np.unique(query[order] * n_levels + level[order], return_inverse=True)
    nth = np.empty(len(row), dtype=np.int64)
    nth[order] = position(segment)
    ideal: Ints = larger + nth + 1
    return ideal


Compat = register("Compat", compatibility)
