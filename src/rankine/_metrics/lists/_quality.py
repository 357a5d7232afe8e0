"""Whether lists are complete and without repeats."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rankine._base.checks import check_flag, check_k
from rankine._metrics.lists.kind import listed, share

if TYPE_CHECKING:
    from rankine._base.arrays import Floats
    from rankine._tables.lists import Recommended


def sufficient_reco(
    table: Recommended, *, k: int | None = None, deep: bool = False
) -> Floats:
    """Whether the list of a user has k items.

    Formula:
        SufficientReco@k = 1 if |R_u@k| >= k, else 0; with deep, |R_u@k| / k; k is 1
        without a cutoff

    Args:
        table: the lists.
        k: cutoff; missing ranks are places without an item.
        deep: return the share of the k places that have an item.

    Returns:
        One value per user of the run, 0 to 1.

    References:
        As SufficientReco in RecTools. UserCoverage also counts users who should have a
        list but have none.

    Examples:
        One of two places is filled.

        >>> import rankine as rk
        >>> lists = {"u": ["a", "b"], "v": ["c"]}
        >>> rk.evaluate(
        ...     None, lists, ["SufficientReco@2", "SufficientReco(deep=True)@2"]
        ... )
        Evaluation(SufficientReco@2=0.5000, SufficientReco(deep=True)@2=0.7500)
    """
    check_k(k)
    check_flag("deep", deep)
    filled: Floats = np.minimum(table.top(k).length / (k or 1), 1.0)
    return filled if deep else np.floor(filled)


SufficientReco = listed("SufficientReco", sufficient_reco, ordered=False)


def unrepeated_reco(
    table: Recommended, *, k: int | None = None, deep: bool = False
) -> Floats:
    """Whether no item appears twice in the list of a user.

    Formula:
        UnrepeatedReco@k = 1 if the items of R_u@k are all different, else 0; with deep,
        the number of different items over |R_u@k|

    Args:
        table: the lists.
        k: cutoff.
        deep: return the share of items that do not repeat an earlier one.

    Returns:
        One value per user, 0 to 1; nan for users without an item down to rank k. Lists
        are taken as they are, whatever the convention makes of repeats elsewhere;
        ``lenient=True`` drops repeats before any metric sees them.

    References:
        As UnrepeatedReco in RecTools.

    Examples:
        One of three items repeats another.

        >>> import rankine as rk
        >>> lists = {"u": ["a", "a", "b"], "v": ["c"]}
        >>> rk.evaluate(None, lists, ["UnrepeatedReco", "UnrepeatedReco(deep=True)"])
        Evaluation(UnrepeatedReco=0.5000, UnrepeatedReco(deep=True)=0.8333)
    """
    check_k(k)
    check_flag("deep", deep)
    n = table.top(k).length.astype(np.float64)
    different = share(table.once(k).length.astype(np.float64), n)
    return different if deep else np.floor(different)


UnrepeatedReco = listed(
    "UnrepeatedReco", unrepeated_reco, ordered=False, rule={"duplicates": "count"}
)
