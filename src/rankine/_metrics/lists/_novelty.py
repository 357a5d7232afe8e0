"""How new the items of a list are to users: self-information, free discovery."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal

import numpy as np

from rankine._base.checks import check_choice, check_flag, check_k, check_number
from rankine._metrics.lists.kind import listed, mean_of, mean_worth, share, worths
from rankine.errors import ParameterError

if TYPE_CHECKING:
    from rankine._base.arrays import Bools, Floats, Ints
    from rankine._tables.groups import Train
    from rankine._tables.lists import Recommended, Top

By = Literal["users", "records", "own"]
Cold = Literal["one", "most", "zero", "skip"]
Divisor = Literal["list", "k"]
Weight = Literal["none", "log2", "reciprocal"]
Aggregate = Literal["mean_of_ratios", "ratio_of_sums"]
_BY = ("users", "records", "own")
_COLD = ("one", "most", "zero", "skip")
_WEIGHT = ("none", "log2", "reciprocal")
_AGGREGATE = ("mean_of_ratios", "ratio_of_sums")


def discounts(rank: Ints, discount: str) -> Floats:
    """Return the weight of each rank."""
    weight: Floats = np.ones(len(rank))
    if discount == "log2":
        weight /= np.log2(rank + 1.0)
    elif discount == "reciprocal":
        weight /= rank
    return weight


def counts(train: Train, by: str) -> tuple[Ints, int]:
    """Return how often users had each item, and all items together."""
    if by == "records":
        return train.records, train.n_records
    if by == "pairs":
        return train.users, train.n_pairs
    return train.users, train.n_users


def _information(train: Train, by: str, cold: str, *, scaled: bool) -> Floats:
    """Return -log2 of each item's share; nan for new items that are skipped."""
    count, total = counts(train, by)
    known = count > 0
    share = np.maximum(count, 1) / total
    info = -np.log2(share)
    if cold == "most":
        info[~known] = info[known].max(initial=0.0)
    elif cold != "one":
        info[~known] = 0.0 if cold == "zero" else np.nan
    # Among one user everything is as new as it can be.
    return info / math.log2(total) if scaled and total > 1 else info


def _not_had(table: Recommended, top: Top) -> Floats:
    """Return 1 for the items that the user did not have before."""
    train = table.train
    if train is None:
        return np.zeros(len(top.item))
    width = max(table.n_items, 1)
    had = train.profile.owner * width + train.profile.member
    had.sort(kind="stable")  # ids of two types may be in another order as texts
    asked = top.user * width + top.item
    place = np.minimum(np.searchsorted(had, asked), max(len(had) - 1, 0))
    known = had[place] == asked if len(had) else np.zeros(len(asked), dtype=np.bool_)
    return (~known).astype(np.float64)


def _novelty_parts(
    table: Recommended,
    *,
    k: int | None = None,
    by: By = "users",
    cold: Cold = "one",
    divisor: Divisor = "list",
    scaled: bool = False,
    aggregate: Aggregate = "mean_of_ratios",
) -> tuple[Floats, Floats]:
    """Return the information of each list and the number of its items."""
    del aggregate
    top = table.top(k)
    if table.train is None:
        return np.zeros(table.n_queries), np.zeros(table.n_queries)
    if by == "own":
        total, down = top.sums(_not_had(table, top)), top.length.astype(np.float64)
    else:
        info = _information(table.train, by, cold, scaled=scaled)
        total, down = worths(top, info)
    if divisor == "k" and k is not None:
        down = np.where(down > 0, float(k), 0.0)
    return total, down


def novelty(
    table: Recommended,
    *,
    k: int | None = None,
    by: By = "users",
    cold: Cold = "one",
    divisor: Divisor = "list",
    scaled: bool = False,
    aggregate: Aggregate = "mean_of_ratios",
) -> Floats:
    """How surprising the items of a list are to users: mean self-information, in bits.

    Formula:
        Novelty@k = 1/n sum_i -log2(n_i / U), where n_i of U users had item i before

    Args:
        table: the lists.
        k: cutoff.
        by: how many users had an item, its share of all records, or whether the user
            has not had it (1) or has had it (0).
        cold: an item that nobody had counts as if one user had had it, as much as the
            most novel known item, or as nothing, or it is left out.
        divisor: the length of the list, or k even for shorter lists.
        scaled: divide by log2 of the number of users, so that an item that one user had
            counts as 1.
        aggregate: the mean over all lists, or the sum of all information divided by the
            number of all items shown.

    Returns:
        One value per user, from 0; nan without a list.

    References:
        T. Zhou et al.: Solving the apparent diversity-accuracy dilemma of recommender
        systems. PNAS 2010. https://doi.org/10.1073/pnas.1000488107
        As RecTools' MeanInvUserFreq. recommenders counts records, pools all lists and
        counts new items as nothing; RePlay's Surprisal is
        ``Novelty(divisor='k', scaled=True)``, its Novelty ``Novelty(by='own')``.

    Examples:
        Of four users, two had a and one had b: (1 + 2) / 2.

        >>> import rankine as rk
        >>> train = {"u": ["a"], "v": ["a", "b"], "w": ["c"], "x": ["c"]}
        >>> rk.evaluate(None, {"w": ["a", "b"]}, "Novelty", train=train).mean
        {'Novelty': 1.5}
    """
    check_k(k)
    check_choice("by", by, _BY)
    check_choice("cold", cold, _COLD)
    check_choice("divisor", divisor, ("list", "k"))
    if divisor == "k" and k is None and table.n_queries:
        msg = "divisor='k' needs a cutoff, as in Novelty(divisor='k')@10"
        raise ParameterError(msg)
    check_flag("scaled", scaled)
    check_choice("aggregate", aggregate, _AGGREGATE)
    total, down = _novelty_parts(
        table, k=k, by=by, cold=cold, divisor=divisor, scaled=scaled
    )
    return share(total, down)


Novelty = listed(
    "Novelty",
    novelty,
    aliases=("MIUF", "MeanInvUserFreq", "SelfInformation", "mean_inv_user_freq"),
    bounds=(0, math.inf),
    parts=_novelty_parts,
    needs={"train": True, "train_rows": ("by", ("own",))},
    ordered=False,
    matters=dict.fromkeys(("cold", "scaled"), ("by", ("users", "records"))),
)


def _expected(
    table: Recommended, k: int | None, info: Floats, by_rank: str, rel: float | None
) -> Floats:
    """Return the mean worth of items, weighted by rank, and of relevant ones only."""
    top = table.top(k)
    if rel is None and by_rank == "none":
        return mean_worth(top, info)
    worth = info[top.item]
    new = np.isnan(worth)
    weight = None if by_rank == "none" else discounts(top.rank, by_rank)
    if new.any():
        weight = np.where(new, 0.0, 1.0 if weight is None else weight)
        worth = np.where(new, 0.0, worth)
    if rel is None:
        return mean_of(top, worth, weight)
    worth = np.where(table.grades(k) >= rel, worth, 0.0)
    values = mean_of(top, worth, weight)
    values = np.where(top.length > 0, values, 0.0)
    return np.where(_wanting(table, rel), values, np.nan)


def _wanting(table: Recommended, rel: float) -> Bools:
    """Mark the users who have a relevant item."""
    judged = table.judged
    if judged is None:
        return np.zeros(table.n_queries, dtype=np.bool_)
    return table.per_user(judged.owner[judged.value >= rel]) > 0


def _check_expected(k: object, weight: object, judged: object, rel: object) -> None:
    check_k(k)
    check_choice("weight", weight, _WEIGHT)
    check_flag("judged", judged)
    check_number("rel", rel)


def expected_popularity_complement(
    table: Recommended,
    *,
    k: int | None = None,
    weight: Weight = "none",
    judged: bool = False,
    rel: float = 1,
) -> Floats:
    """Probability that users do not know an item of the list: 1 minus its popularity.

    Formula:
        EPC@k = sum_r d(r) (1 - n_i / U) / sum_r d(r), where n_i of U users had the item
        i at rank r

    Args:
        table: the lists.
        k: cutoff.
        weight: what a rank weighs: 1, 1 / log2(r + 1), or 1 / r.
        judged: only relevant items are worth anything.
        rel: an item is relevant when its grade is at least this.

    Returns:
        One value per user, 0 to 1; nan without a list, and, with `judged`, for users
        without a relevant item. An item that nobody had counts as 1.

    References:
        S. Vargas, P. Castells: Rank and relevance in novelty and diversity metrics for
        recommender systems. RecSys 2011. https://doi.org/10.1145/2043932.2043955
        As RankSys. Elliot discounts by log2 and counts relevant items only.

    Examples:
        Two of four users had a, one had b: (1/2 + 3/4) / 2.

        >>> import rankine as rk
        >>> train = {"u": ["a"], "v": ["a", "b"], "w": ["c"], "x": ["c"]}
        >>> rk.evaluate(None, {"w": ["a", "b"]}, "EPC", train=train).mean
        {'EPC': 0.625}
    """
    _check_expected(k, weight, judged, rel)
    if table.train is None:
        return np.full(table.n_queries, np.nan)
    info = 1 - table.train.users / table.train.n_users
    return _expected(table, k, info, weight, rel if judged else None)


EPC = listed(
    "EPC",
    expected_popularity_complement,
    aliases=("PopularityComplement",),
    needs={"train": True, "judgements": ("judged", (True,))},
    binary=True,
    matters={"rel": ("judged", (True,))},
)


def expected_free_discovery(
    table: Recommended,
    *,
    k: int | None = None,
    weight: Weight = "none",
    judged: bool = False,
    rel: float = 1,
    cold: Cold = "most",
) -> Floats:
    """How surprising it is to discover the items of a list by chance, in bits.

    Formula:
        EFD@k = sum_r d(r) (-log2 (n_i / n)) / sum_r d(r), where n_i of all n pairs of a
        user and an item have the item i at rank r

    Args:
        table: the lists.
        k: cutoff.
        weight: what a rank weighs: 1, 1 / log2(r + 1), or 1 / r.
        judged: only relevant items are worth anything.
        rel: an item is relevant when its grade is at least this.
        cold: an item that nobody had counts as much as the most novel known item, as if
            it had one record, or as nothing, or it is left out.

    Returns:
        One value per user, from 0; nan without a list, and, with `judged`, for users
        without a relevant item.

    References:
        S. Vargas, P. Castells: Rank and relevance in novelty and diversity metrics for
        recommender systems. RecSys 2011. https://doi.org/10.1145/2043932.2043955
        As RankSys. Elliot discounts by log2 and counts relevant items only.

    Examples:
        Four pairs of a user and an item, two with a and one with b: (1 + 2) / 2.

        >>> import rankine as rk
        >>> train = {"u": ["a"], "v": ["a", "b"], "w": ["c"]}
        >>> rk.evaluate(None, {"w": ["a", "b"]}, "EFD", train=train).mean
        {'EFD': 1.5}
    """
    _check_expected(k, weight, judged, rel)
    check_choice("cold", cold, _COLD)
    if table.train is None:
        return np.full(table.n_queries, np.nan)
    info = _information(table.train, "pairs", cold, scaled=False)
    return _expected(table, k, info, weight, rel if judged else None)


EFD = listed(
    "EFD",
    expected_free_discovery,
    aliases=("FreeDiscovery",),
    bounds=(0, math.inf),
    needs={"train": True, "judgements": ("judged", (True,))},
    binary=True,
    matters={"rel": ("judged", (True,))},
)
