"""AUC of the top of a list: PartialAUC and PAP."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from rankine._base.checks import check_choice, check_count, check_number
from rankine._metrics.metric import register
from rankine._metrics.ranking._cutoff import ratio

if TYPE_CHECKING:
    from rankine._base.arrays import Floats
    from rankine._join import Judged

Short: TypeAlias = Literal["lowest", "undefined"]
_MATTERS = {"short": ("others", ())}
"""Without a number of others, no list is too short."""


def _area(
    table: Judged, others: int | None, rel: float, short: Short, *, capped: bool
) -> Floats:
    """Return the share of ordered pairs of hits and the first other items.

    Args:
        table: the joined table.
        others: how many of the other items are looked at.
        rel: the smallest relevant grade.
        short: what a list with too few other items is worth.
        capped: whether only as many hits count.
    """
    if others is not None:
        check_count("others", others, least=1)
    check_number("rel", rel)
    check_choice("short", short, ("lowest", "undefined"))
    hits = table.hits(rel)
    wanted, shown = table.n_relevant(rel), table.per_query(hits.query)
    in_list = table.length() - shown
    n = in_list if others is None else np.full(table.n_queries, float(others))
    above = hits.rank - hits.nth
    counted = above < n[hits.query]
    if capped:
        counted &= hits.nth <= n[hits.query]
    below = (n[hits.query] - above)[counted]
    pairs = n * (np.minimum(wanted, n) if capped else wanted)
    value = ratio(table.per_query(hits.query[counted], below), pairs)
    if short == "undefined":
        value[(in_list < n) & (shown < wanted)] = np.nan
    return value


def partial_auc(
    table: Judged, *, others: int | None = None, rel: float = 1, short: Short = "lowest"
) -> Floats:
    """AUC of all relevant items and the first n of the others.

    Formula:
        PartialAUC@n = sum over hits of max(n - others above it, 0) / (n R)

    Args:
        table: the joined table.
        others: n, the number of items looked at that are not relevant; all of the list
            if not given. It is not the length of the list; R + n items of the list are
            enough.
        rel: an item is relevant when its grade is at least this.
        short: what to do if a list is too short to tell, as it has fewer than n others
            and lacks a relevant item: ``lowest`` puts the relevant items it lacks below
            the n others (RecTools' ``ignore``), ``undefined`` leaves the query out
            (``exclude``).

    Returns:
        One value per query, 0 to 1; nan without relevant items, or without others.

    References:
        A. Budhiraja et al.: Rich-item recommendations for rich-users: exploiting
        dynamic and static side information. 2020. https://arxiv.org/abs/2001.10495

    Examples:
        Of the two others looked at, 0 and 1 are above the hits at ranks 1 and 3, and a
        third relevant item is not in the list: (2 + 1 + 0) / (2 * 3).

        >>> import rankine as rk
        >>> qrels = {"q": {"a": 1, "b": 1, "c": 1}}
        >>> rk.evaluate(qrels, {"q": ["a", "x", "b", "y"]}, "PartialAUC@2").mean
        {'PartialAUC@2': 0.5}
    """
    return _area(table, others, rel, short, capped=False)


PartialAUC = register(
    "PartialAUC",
    partial_auc,
    aliases=("pAUC",),
    undefined="convention",
    at="others",
    matters=_MATTERS,
)


def pap(
    table: Judged, *, others: int | None = None, rel: float = 1, short: Short = "lowest"
) -> Floats:
    """AUC of the first n relevant items and the first n of the others (pAp).

    It is like precision if there are many relevant items, and like PartialAUC if there
    are few.

    Formula:
        PAP@n = sum over the first n hits of max(n - others above it, 0) / (n min(n, R))

    Args:
        table: the joined table.
        others: n, the number of relevant items and of others that are looked at; as
            many as the list has others if not given. The first 2 n items of the list
            are enough.
        rel: an item is relevant when its grade is at least this.
        short: as in PartialAUC.

    Returns:
        One value per query, 0 to 1; nan without relevant items, or without others.

    References:
        A. Budhiraja et al.: Rich-item recommendations for rich-users: exploiting
        dynamic and static side information. 2020. https://arxiv.org/abs/2001.10495;
        G. Hiranandani et al.: Optimization and analysis of the pAp@k metric for
        recommender systems. ICML 2020.
        https://proceedings.mlr.press/v119/hiranandani20a.html

    Examples:
        There are 0 and 1 others above the hits at ranks 1 and 3, and two of the three
        relevant items count: (2 + 1) / (2 * 2).

        >>> import rankine as rk
        >>> qrels = {"q": {"a": 1, "b": 1, "c": 1}}
        >>> rk.evaluate(qrels, {"q": ["a", "x", "b", "y"]}, "PAP@2").mean
        {'PAP@2': 0.75}
    """
    return _area(table, others, rel, short, capped=True)


PAP = register("PAP", pap, undefined="convention", at="others", matters=_MATTERS)
