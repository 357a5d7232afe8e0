"""What is shown at all, and how evenly: coverage, Gini, entropy.

These are numbers for whole runs: functions of what all lists show together
(`Exposure`), whose tallies add up.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from rankine._base.checks import (
    check_choice,
    check_count,
    check_flag,
    check_k,
    check_number,
)
from rankine._metrics.lists._without import (
    coverage_without,
    entropy_without,
    gini_simpson_without,
    gini_without,
    user_coverage_without,
)
from rankine._metrics.lists.kind import listed, one
from rankine.errors import ParameterError

if TYPE_CHECKING:
    from rankine._base.arrays import AnyArray, Floats, Ints
    from rankine._tables.lists import Exposure, Recommended

Outside = Literal["left_out", "counted"]
Divisor = Literal["n-1", "n"]
Weight = Literal["row", "list"]
Scale = Literal["none", "items", "max"]
_OUTSIDE = ("left_out", "counted")


def _offered(table: Exposure, shown: AnyArray, outside: str) -> Any:
    """Leave out the items that the catalogue does not have."""
    if outside == "left_out" and table.offered is not None and len(shown):
        return shown[table.offered]
    return shown


def _shown(table: Exposure, k: int | None, outside: str) -> Ints:
    """Return how often each item is shown."""
    counts: Ints = _offered(table, table.tally(k).rows, outside)
    return counts


def coverage(
    table: Exposure,
    *,
    k: int | None = None,
    share: bool = True,
    outside: Outside = "left_out",
    padding: int = 0,
    weight: Weight = "row",
    scale: float = 1,
) -> Floats:
    """Share of the catalogue that is recommended to anybody.

    Formula:
        Coverage@k = |U_u R_u@k| / N, N the number of items in the catalogue

    Args:
        table: the lists.
        k: cutoff.
        share: divide by the size of the catalogue; otherwise a count.
        outside: items that are not in the catalogue are left out, or counted, which
            may give more than 1.
        padding: a number added to the size of the catalogue, for tools that count an
            item that does not exist.
        weight: every item that is shown counts as 1; or, with ``list``, as the mean of
            k / |R_u@k| over the lists R_u that show it, which is more than 1 if lists
            are shorter than k.
        scale: what the share is multiplied by, 100 for percent (recmetrics).

    Returns:
        One value for all lists; as a share, 0 to `scale`, or more with ``list``; nan
        without a list.

    References:
        M. Ge, C. Delgado-Battenfeld, D. Jannach: Beyond accuracy: evaluating
        recommender systems by coverage and serendipity. RecSys 2010. As RePlay's
        Coverage, where the catalogue is the items of the training data. RecTools,
        Elliot and LensKit give the count unless asked otherwise, recommenders counts
        items outside of the training data too, and RecBole assumes a catalogue that is
        one item larger. The aggregate diversity of RankSys is ``Coverage(share=False,
        weight='list')``; recmetrics gives percent.

    Examples:
        Three of five items are shown.

        >>> import rankine as rk
        >>> rk.evaluate(None, {"u": ["a", "b"], "v": ["c"]}, "Coverage", catalog=5).mean
        {'Coverage': 0.6}
    """
    check_k(k)
    check_flag("share", share)
    check_choice("outside", outside, _OUTSIDE)
    check_count("padding", padding, least=0)
    check_choice("weight", weight, ("row", "list"))
    check_number("scale", scale, above=0)
    if table.n_queries == 0:
        return one(math.nan)
    if weight == "list" and k is not None:
        tally = table.tally(k)
        rows = _offered(table, tally.rows, outside)
        each = _offered(table, tally.weighed(lambda n: 1 / n), outside)
        covered = k * math.fsum((each[rows > 0] / rows[rows > 0]).tolist())
    else:
        covered = float(np.count_nonzero(_offered(table, table.shown(k), outside)))
    whole = (table.catalog or 0) + padding
    return one(covered / whole * scale if share else covered)


Coverage = listed(
    "Coverage",
    coverage,
    aliases=("CatalogCoverage", "catalog_coverage", "ItemCoverage", "item_coverage"),
    bounds=(0, math.inf),
    summary="run",
    without=coverage_without,
    needs={"catalog": ("share", (True,))},
    ordered=False,
    matters={"padding": ("share", (True,)), "scale": ("share", (True,))},
)


def user_coverage(
    table: Exposure,
    *,
    k: int | None = None,
    least: int | None = None,
    share: bool = True,
) -> Floats:
    """Share of the users who get a list of at least k items.

    Formula:
        UserCoverage@k = |{u : |R_u@k| >= k}| / |U|; k is 1 without a cutoff

    Args:
        table: the lists.
        k: cutoff.
        least: how many items a list must have; k if not given.
        share: divide by the number of users; otherwise a count.

    Returns:
        One value for all lists, 0 to 1 as a share; nan without users. The users are
        those with judgements; each has a value, 1 or 0, and may have a weight. Without
        judgements, they are the users of the training data.

    References:
        As RecTools' CoveredUsers, except that it requires only one item even with a
        cutoff; Elliot's UserCoverage and UserCoverageAtN are counts.

    Examples:
        Two of four users have a list.

        >>> import rankine as rk
        >>> lists = {"u": ["a", "b"], "v": ["c"]}
        >>> train = {"u": ["x"], "v": ["x"], "w": ["x"], "z": ["y"]}
        >>> rk.evaluate(None, lists, ["UserCoverage", "UserCoverage@2"], train=train)
        Evaluation(UserCoverage=0.5000, UserCoverage@2=0.2500)
    """
    check_k(k)
    check_flag("share", share)
    if least is not None:
        check_count("least", least, least=1)
        if k is not None and least > k:
            msg = (
                f"least={least} is more than the cutoff {k}, so no list can have that "
                "many items"
            )
            raise ParameterError(msg)
    reached = table.lengths(k).at_least(least or k or 1, awaited=share)
    if not share:
        return one(float(reached))
    return one(reached / table.awaited if table.awaited else math.nan)


def _is_covered(
    table: Recommended,
    *,
    k: int | None = None,
    least: int | None = None,
    share: bool = True,
) -> Floats:
    """Say for each user whether the list has enough items."""
    if not share or table.judged is None:
        return np.full(table.n_queries, np.nan)
    return (table.top(k).length >= (least or k or 1)).astype(np.float64)


UserCoverage = listed(
    "UserCoverage",
    user_coverage,
    each=_is_covered,
    aliases=("CoveredUsers", "user_coverage"),
    bounds=(0, math.inf),
    summary="run",
    without=user_coverage_without,
    needs={"users": ("share", (True,))},
    ordered=False,
    counts="lists",
)


def gini(
    table: Exposure,
    *,
    k: int | None = None,
    complement: bool = False,
    divisor: Divisor = "n-1",
    outside: Outside = "left_out",
    padding: int = 0,
) -> Floats:
    """Gini index of how often items are shown: 0 if equally often, 1 if only one is.

    Formula:
        Gini@k = sum_i (2 i - N - 1) c_(i) / ((N - 1) sum_i c_i), where c_(1) <= ... <=
        c_(N) say how often the items of the catalogue are shown

    Args:
        table: the lists.
        k: cutoff.
        complement: return 1 - Gini, which is larger the more even it is.
        divisor: N - 1, so that a single item gives 1; or N.
        outside: items that are not in the catalogue are left out, or counted.
        padding: a number added to the size of the catalogue.

    Returns:
        One value for all lists, 0 to 1; nan if nothing is shown, or if the catalogue
        has only one item.

    References:
        P. Castells, N. Hurley, S. Vargas: Novelty and diversity in recommender systems.
        Recommender Systems Handbook, 2022. RankSys and Elliot return the complement,
        and RecBole divides by N, with a catalogue one item larger.

    Examples:
        Shown 0, 1, 1 and 2 times: (-3 * 0 - 1 + 1 + 3 * 2) / (3 * 4).

        >>> import rankine as rk
        >>> rk.evaluate(None, {"u": ["a", "b"], "v": ["a", "c"]}, "Gini", catalog=4)
        Evaluation(Gini=0.5000)
    """
    check_k(k)
    check_flag("complement", complement)
    check_choice("divisor", divisor, ("n-1", "n"))
    check_choice("outside", outside, _OUTSIDE)
    check_count("padding", padding, least=0)
    shown = np.sort(_shown(table, k, outside))
    shown = shown[shown > 0]
    n = max((table.catalog or 0) + padding, len(shown))
    down = (n - 1 if divisor == "n-1" else n) * int(shown.sum())
    if down == 0:
        return one(math.nan)
    # In Python's numbers, which have no end: n may be any.
    first = 2 * (n - len(shown) + 1) - n - 1
    weighed = int((2 * np.arange(len(shown)) * shown).sum())
    index = (first * int(shown.sum()) + weighed) / down
    return one(1 - index if complement else index)


Gini = listed(
    "Gini",
    gini,
    aliases=("GiniIndex", "gini_index"),
    summary="run",
    without=gini_without,
    higher_is_better=False,
    needs={"catalog": True},
    ordered=False,
)


def _shares(
    table: Exposure, k: int | None, weight: str, outside: str
) -> tuple[Floats, Floats]:
    """Return the share of each item in all that is shown, and its weight.

    Either every row has the same weight, so that an item has its share; or every list.
    """
    shown = _shown(table, k, outside)
    if int(shown.sum()) == 0:
        return np.zeros(0), np.zeros(0)
    share = shown / int(shown.sum())
    if weight == "row":
        return share[shown > 0], share[shown > 0]
    tally = table.tally(k)
    by_list = _offered(table, tally.weighed(lambda n: 1 / n), outside)
    by_list = by_list / tally.n_lists
    return share[shown > 0], by_list[shown > 0]


def entropy(
    table: Exposure,
    *,
    k: int | None = None,
    base: float = 2,
    weight: Weight = "row",
    scale: Scale = "none",
    outside: Outside = "counted",
) -> Floats:
    """Shannon entropy of what is shown: how many bits it takes to name an item.

    Formula:
        Entropy@k = - sum_i p_i log p_i, where p_i is the share of item i in all that
        is shown

    Args:
        table: the lists.
        k: cutoff.
        base: the base of the logarithm.
        weight: every row counts the same; or every list does, with the mean surprise of
            its items, measured by their share in all rows.
        scale: do not divide, or divide by the number of items that are shown, or by the
            logarithm of the number of items in the catalogue, which is the largest
            possible entropy.
        outside: items that are not in the catalogue are counted, or left out
            (``left_out``).

    Returns:
        One value for all lists, from 0; nan if nothing is shown.

    References:
        G. Shani, A. Gunawardana: Evaluating recommendation systems. Recommender
        Systems Handbook, 2011. As distributional_coverage in recommenders. RankSys and
        Elliot weight lists equally; RecBole uses natural logarithms and divides by the
        number of items that are shown.

    Examples:
        One item half of the time, two a quarter each.

        >>> import rankine as rk
        >>> rk.evaluate(None, {"u": ["a", "b"], "v": ["a", "c"]}, "Entropy").mean
        {'Entropy': 1.5}
    """
    check_k(k)
    check_number("base", base, above=1)
    check_choice("weight", weight, ("row", "list"))
    check_choice("scale", scale, ("none", "items", "max"))
    check_choice("outside", outside, _OUTSIDE)
    share, weighs = _shares(table, k, weight, outside)
    if len(share) == 0:
        return one(math.nan)
    value = -math.fsum((weighs * np.log(share)).tolist()) / math.log(base)
    if scale == "items":
        value /= len(share)
    elif scale == "max":
        most = math.log(table.catalog or 1) / math.log(base)
        value = value / most if most else math.nan
    return one(value + 0.0)  # no minus zero


Entropy = listed(
    "Entropy",
    entropy,
    aliases=("ShannonEntropy", "SEntropy", "distributional_coverage"),
    summary="run",
    without=entropy_without,
    bounds=(0, math.inf),
    needs={"catalog": ("scale", ("max",))},
    ordered=False,
)


def gini_simpson(
    table: Exposure,
    *,
    k: int | None = None,
    weight: Weight = "row",
    outside: Outside = "counted",
) -> Floats:
    """Chance that two items drawn from all that is shown are different.

    Formula:
        GiniSimpson@k = 1 - sum_i p_i^2, where p_i is the share of item i in all that
        is shown

    Args:
        table: the lists.
        k: cutoff.
        weight: every row counts the same; or every list does, and lists are assumed to
            have k items, as in RankSys.
        outside: items that are not in the catalogue are counted, or left out
            (``left_out``).

    Returns:
        One value for all lists, 0 to 1; nan if nothing is shown.

    References:
        L. Jost: Entropy and diversity. Oikos 2006.
        https://doi.org/10.1111/j.2006.0030-1299.14714.x

    Examples:
        1 - (1/4 + 1/16 + 1/16).

        >>> import rankine as rk
        >>> rk.evaluate(None, {"u": ["a", "b"], "v": ["a", "c"]}, "GiniSimpson").mean
        {'GiniSimpson': 0.625}
    """
    check_k(k)
    check_choice("weight", weight, ("row", "list"))
    check_choice("outside", outside, _OUTSIDE)
    share, weighs = _shares(table, k, weight, outside)
    if len(share) == 0:
        return one(math.nan)
    alike = math.fsum((weighs * share).tolist())
    if weight == "list":
        # As if all lists were full: shares are of users times k.
        tally = table.tally(k)
        full = tally.n_lists * (k or len(tally.lists) - 1)
        alike *= int(_shown(table, k, outside).sum()) / full
    return one(1 - alike)


GiniSimpson = listed(
    "GiniSimpson",
    gini_simpson,
    aliases=("GiniSimpsonIndex",),
    summary="run",
    without=gini_simpson_without,
    ordered=False,
)
