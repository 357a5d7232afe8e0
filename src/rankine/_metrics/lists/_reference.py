"""How lists compare with those of another recommender for the same users."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rankine._base.checks import check_k
from rankine._metrics.lists.kind import listed, share

if TYPE_CHECKING:
    from rankine._base.arrays import Floats
    from rankine._tables.lists import Recommended, Top


def shared_items(table: Recommended, shown: Top, ref_k: int | None) -> Floats:
    """Count, per user, the items shown that the reference has down to a rank."""
    other, width = table.reference, max(table.n_items, 1)
    if other is None:
        return np.zeros(table.n_queries)
    near = other.value <= (np.inf if ref_k is None else ref_k)
    theirs = (other.owner * width + other.member)[near]
    both = np.isin(shown.user * width + shown.item, theirs)
    return table.per_user(shown.user[both])


def intersection(
    table: Recommended, *, k: int | None = None, ref_k: int | None = None
) -> Floats:
    """Share of the items of a list that another recommender also shows to the user.

    Formula:
        Intersection@k = |R_u@k and S_u@ref_k| / |R_u@k|, where S is the reference

    Args:
        table: the lists.
        k: cutoff.
        ref_k: cutoff of the reference; k if not given.

    Returns:
        One value per user, 0 to 1; 0 for users without a list in the reference, and nan
        for users without items down to rank k.

    References:
        As Intersection in RecTools.

    Examples:
        The other recommender shows a first and b second.

        >>> import rankine as rk
        >>> metrics = ["Intersection@2", "Intersection(ref_k=1)@2"]
        >>> other = {"u": ["a", "b"]}
        >>> rk.evaluate(None, {"u": ["b", "a"]}, metrics, reference=other)
        Evaluation(Intersection@2=1.0000, Intersection(ref_k=1)@2=0.5000)
    """
    check_k(k)
    check_k(ref_k, "ref_k")
    shown = table.top(k)
    hits = shared_items(table, shown, k if ref_k is None else ref_k)
    return share(hits, shown.length.astype(np.float64))


Intersection = listed(
    "Intersection",
    intersection,
    higher_is_better=None,
    needs={"reference": True},
    ordered=False,
)
