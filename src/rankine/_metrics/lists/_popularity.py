"""How popular the items of a list are: popularity, and the long tail."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal

import numpy as np

from rankine._base.checks import check_choice, check_flag, check_k, check_number
from rankine._metrics.lists._novelty import counts
from rankine._metrics.lists.kind import listed, mean_worth

if TYPE_CHECKING:
    from rankine._base.arrays import Bools, Floats
    from rankine._tables.groups import Train
    from rankine._tables.lists import Recommended

By = Literal["users", "records"]
Of = Literal["interactions", "items"]
TailCold = Literal["tail", "head"]
_BY = ("users", "records")


def popularity(
    table: Recommended, *, k: int | None = None, by: By = "records", share: bool = False
) -> Floats:
    """How popular the items of a list are on average.

    Formula:
        Popularity@k = 1/n sum_i n_i, where n_i is the number of records of item i

    Args:
        table: the lists.
        k: cutoff.
        by: records of an item, or users who had it.
        share: return a share of all records, or of all users, instead of a count.

    Returns:
        One value per user, from 0; nan without a list. An item that nobody had counts
        as 0.

    References:
        H. Yin et al.: Challenging the long tail recommendation. VLDB 2012, as average
        recommendation popularity (ARP). As RecTools' AvgRecPopularity, Elliot's ARP and
        RecBole's AveragePopularity.

    Examples:
        Two records of a, one of b.

        >>> import rankine as rk
        >>> train = {"u": ["a"], "v": ["a", "b"], "w": ["c"]}
        >>> rk.evaluate(None, {"w": ["a", "b"]}, "Popularity", train=train).mean
        {'Popularity': 1.5}
    """
    check_k(k)
    check_choice("by", by, _BY)
    check_flag("share", share)
    if table.train is None:
        return np.full(table.n_queries, np.nan)
    top = table.top(k)
    count, total = counts(table.train, by)
    return mean_worth(top, count / (total if share else 1.0))


Popularity = listed(
    "Popularity",
    popularity,
    aliases=("ARP", "AvgRecPopularity", "AveragePopularity"),
    bounds=(0, math.inf),
    higher_is_better=None,
    needs={"train": True},
    ordered=False,
)


def _in_tail(train: Train, tail: float, of: str) -> Bools:
    """Mark the items of the long tail, new ones too."""
    count = train.records
    order = np.argsort(count, kind="stable")
    known = order[count[order] > 0]
    if of == "items":
        n = max(int(len(known) * tail), 1)
        # Items as popular as the last of the tail are in it as well.
        last = int(count[known[n - 1]])
        return np.asarray(count <= last)
    upto = np.cumsum(count[known])
    # Items that are equally popular are all in the tail, or none is.
    full = np.flatnonzero(upto <= tail * train.n_records * (1 + 1e-12))
    last = 0
    for place in full[::-1].tolist():
        if place + 1 == len(known) or count[known[place + 1]] > count[known[place]]:
            last = int(count[known[place]])
            break
    return np.asarray(count <= last)


def long_tail(
    table: Recommended,
    *,
    k: int | None = None,
    tail: float = 0.2,
    of: Of = "interactions",
    cold: TailCold = "tail",
) -> Floats:
    """Share of a list that comes from the long tail of rare items.

    Formula:
        LongTail@k = |R_u@k in T| / |R_u@k|, where T are the least popular items

    Args:
        table: the lists.
        k: cutoff.
        tail: the size of the tail.
        of: the tail is the least popular items that together have at most this share of
            all interactions; or, with ``items``, this share of all items, at least one.
            Equally popular items are never split: with interactions, they are left out
            if they do not all fit; with ``items``, the tail grows to include them.
        cold: items that nobody had are in the tail, or not.

    Returns:
        One value per user, 0 to 1; nan without a list.

    References:
        H. Abdollahpouri, R. Burke, B. Mobasher: Managing popularity bias in recommender
        systems with personalized re-ranking. FLAIRS 2019, as APLT. As Elliot's APLT,
        except for equally popular items, which Elliot splits in the order given, and
        new items, which are not in its tail. RecBole's TailPercentage uses a tenth of
        the items.

    Examples:
        Eight of ten records are of a, so b and c, with one each, are the tail.

        >>> import rankine as rk
        >>> train = {n: ["a"] for n in range(8)} | {8: ["b"], 9: ["c"]}
        >>> rk.evaluate(None, {0: ["a", "b", "c", "a2"]}, "LongTail", train=train).mean
        {'LongTail': 0.75}
    """
    check_k(k)
    check_number("tail", tail, above=0, below=1)
    check_choice("of", of, ("interactions", "items"))
    check_choice("cold", cold, ("tail", "head"))
    if table.train is None:
        return np.full(table.n_queries, np.nan)
    inside = _in_tail(table.train, tail, of)
    if cold == "head":
        inside &= table.train.records > 0
    return mean_worth(table.top(k), inside.astype(np.float64))


LongTail = listed(
    "LongTail",
    long_tail,
    aliases=("APLT", "TailPercentage"),
    needs={"train": True},
    ordered=False,
)
