"""How different the lists of two users are."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from rankine._base.checks import check_choice, check_k
from rankine._metrics.lists.draws import check_draws, draws
from rankine._metrics.lists.kind import listed, share
from rankine._metrics.metric import Across
from rankine._tables.segments import cut_evenly, expand, starts_of
from rankine._tables.tallies import Tallies
from rankine.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Callable

    from rankine._base.arrays import Floats
    from rankine._tables.lists import Exposure, Recommended, Top
    from rankine._tables.tallies import Tally

Between = Literal[
    "cosine", "dice", "jaccard", "hamming", "cityblock", "manhattan", "sqeuclidean",
    "euclidean",
]  # fmt: skip
_BETWEEN: dict[str, Callable[[Any, Any, Any, int], Any]] = {
    "dice": lambda a, b, both, _: (a + b - 2 * both) / (a + b),
    "jaccard": lambda a, b, both, _: 1 - both / (a + b - both),
    "hamming": lambda a, b, both, n_items: (a + b - 2 * both) / n_items,
    "cityblock": lambda a, b, both, _: a + b - 2 * both,
    "manhattan": lambda a, b, both, _: a + b - 2 * both,
    "sqeuclidean": lambda a, b, both, _: a + b - 2 * both,
    "euclidean": lambda a, b, both, _: np.sqrt(a + b - 2 * both),
}
"""Distances of lists of a and b items, of which they share some, of n_items shown."""
_CURVED = ("jaccard", "euclidean")
"""Those that do not fall by the same for each item that two lists share."""
_CELLS = 1 << 22
"""Pairs of lists that are looked at together."""


def _mean_cosine(tally: Tally) -> float:
    """Return the mean cosine distance of all pairs of lists."""
    n = tally.n_lists
    if len(tally.by_length) == 1:
        (length,) = tally.by_length
        squared = float((tally.rows * tally.rows).sum()) / length
    else:
        total = tally.weighed(lambda length: 1 / math.sqrt(length))
        squared = math.fsum((total * total).tolist())
    value = 1 - (squared - n) / (n * (n - 1))
    return min(max(value, 0.0), 1.0)  # beyond which only rounding leads


def _mean_straight(tally: Tally, distance: str) -> float:
    """Return the mean of a distance that falls by the same amount for each common item.

    What the lists of two lengths share is a product of how often these show each item.
    """
    lengths = np.array(sorted(tally.by_length))
    n_lists = tally.lists[lengths].astype(np.float64)
    shown = np.array([tally.by_length[n] for n in lengths.tolist()], dtype=np.float64)
    both = shown @ shown.T - np.diag(n_lists * lengths)
    pairs = np.outer(n_lists, n_lists) - np.diag(n_lists)
    apart, less = _line(distance, lengths[:, None], lengths, tally)
    total = math.fsum((pairs * apart - both * less).ravel().tolist())
    return max(total / float(pairs.sum()), 0.0)


def _line(distance: str, a: Any, b: Any, tally: Tally) -> tuple[Floats, Floats]:
    """Return the distance of lists without a common item, and what one subtracts."""
    of, n_items = _BETWEEN[distance], int(np.count_nonzero(tally.rows))
    apart = of(a, b, 0, n_items) + 0.0
    return apart, apart - of(a, b, 1, n_items)


def _sums_curved(top: Top, n_items: int, distance: str) -> Floats:
    """Add up the distances of each list to all others, by what each pair shares.

    Pairs that share nothing are not looked at: they are counted by their lengths.
    """
    from scipy.sparse import csr_array  # noqa: PLC0415 - slow to import

    of, length = _BETWEEN[distance], top.length.astype(np.float64)
    kinds, n_lists = np.unique(length[length > 0], return_counts=True)
    apart = of(np.maximum(length, 1)[:, None], kinds, 0, n_items)
    total: Floats = (apart * n_lists).sum(axis=1)
    ones = np.ones(len(top.item))
    lists = csr_array((ones, top.item, top.starts), shape=(len(length), n_items))
    by_item = lists.T.tocsr()
    cost = top.totals(np.diff(by_item.indptr).astype(np.float64))
    for rows in cut_evenly(cost, _CELLS):
        shared = lists[rows] @ by_item
        row = np.repeat(np.arange(shared.shape[0]), np.diff(shared.indptr))
        a, b = length[rows][row], length[shared.indices]
        nearer = of(a, b, 0, n_items) - of(a, b, shared.data, n_items)
        total[rows] -= np.bincount(row, weights=nearer, minlength=shared.shape[0])
    return total


def _sums_of_pairs(table: Recommended, k: int | None, distance: str) -> Floats:
    """Return the sums of curved distances, which are asked for twice."""
    key = ("between", k, distance)
    if key not in table.memo:
        table.memo[key] = _sums_curved(table.once(k), table.n_items, distance)
    sums: Floats = table.memo[key]
    return sums


def _mean_of_pairs(table: Any, k: int | None, distance: str) -> float:
    """Return the mean distance of all pairs of lists, nan without a pair."""
    tally: Tally = table.tally(k, once=True)
    n = tally.n_lists
    if n < 2:  # noqa: PLR2004 - a pair
        return math.nan
    if distance == "cosine":
        return _mean_cosine(tally)
    if distance not in _CURVED:
        return _mean_straight(tally, distance)
    sums = _sums_of_pairs(table, k, distance)[table.once(k).length > 0]
    return max(math.fsum(sums.tolist()) / (n * (n - 1)), 0.0)


def _some(table: Recommended, k: int | None, users: Any) -> Recommended:
    """Return the first k items of some lists alone."""
    top = table.once(k)
    length = top.length[users]
    rows, _ = expand(top.starts[users], length)
    starts, item = starts_of(length), top.item[rows]
    return replace(table, starts=starts, item=item, length=length, rank=None, memo={})


def inter_list_diversity(
    table: Recommended,
    *,
    k: int | None = None,
    distance: Between = "cosine",
    sample: int | None = None,
    runs: int = 10,
    seed: int = 0,
) -> Floats:
    """How different the lists of two users are: 0 all alike, 1 nothing in common.

    The mean cosine distance between the lists of two users, as vectors of what is
    shown, over all pairs of users. It is exact, in one pass and for lists of any
    lengths: the cosines of all pairs add up to the square of the sum of all vectors,
    less their own.

    Formula:
        1 - (|| sum_u r_u / ||r_u|| ||^2 - N) / (N (N - 1)), where r_u has 1 for each
        of the k items of user u, and N users have a list; with another distance d, the
        mean of d(r_u, r_v) over all pairs of users

    Args:
        table: the lists.
        k: cutoff.
        distance: the distance of two lists as vectors of 0 and 1: cosine, dice,
            jaccard, hamming (the share of items that only one of the two lists has,
            among all items shown to anybody), cityblock, manhattan and sqeuclidean
            (the number of these items), or euclidean (its square root). Jaccard and
            euclidean go through all pairs of lists that share an item.
        sample: how many users to draw at random, instead of taking all.
        runs: how many samples are drawn; the result is their mean.
        seed: the seed of the random numbers.

    Returns:
        Per user, the mean distance to the others, 0 to 1, and without an upper bound
        for the last four distances; nan without a list. The number for all is their
        mean, or that of the samples; nan with fewer than two lists. With a sample,
        jaccard and euclidean have no value for users who are not drawn. An item that
        repeats in a list counts once.

    References:
        Jurity calls it Inter-List Diversity, and samples 10,000 users ten times; others
        call it personalization. T. Zhou et al.: Solving the apparent
        diversity-accuracy dilemma of recommender systems. PNAS 2010.
        https://doi.org/10.1073/pnas.1000488107

    Examples:
        The first and the second list have nothing in common, the third shares one of
        two items with each: (1 + 1/2 + 1/2) / 3.

        >>> import rankine as rk
        >>> lists = {"u1": ["a", "b"], "u2": ["c", "d"], "u3": ["a", "c"]}
        >>> ev = rk.evaluate(None, lists, "InterListDiversity@2")
        >>> round(ev["InterListDiversity@2"], 4)
        0.6667
        >>> [round(value, 2) for value in ev.per_query["InterListDiversity@2"]]
        [0.75, 0.75, 0.5]

        Of the three items of two lists they share one: (1 + 2/3 + 2/3) / 3.

        >>> rk.evaluate(None, lists, "InterListDiversity(distance='jaccard')@2")
        Evaluation(InterListDiversity(distance='jaccard')@2=0.7778)
    """
    check_k(k)
    check_choice("distance", distance, get_args(Between))
    check_draws(sample, runs, seed, least=2)
    top, tally = table.once(k), table.tally(k, once=True)
    used, n = top.length > 0, tally.n_lists
    values = np.full(table.n_queries, np.nan)
    if n < 2:  # noqa: PLR2004 - a pair
        return values
    if distance == "cosine":
        total = tally.weighed(lambda length: 1 / math.sqrt(length))
        shared = top.totals(total)[used]
        cosines = shared / np.sqrt(top.length[used]) - 1
        values[used] = np.clip(1 - cosines / (n - 1), 0, 1)
    elif distance not in _CURVED:
        sums = np.zeros(table.n_queries)
        for b, rows in sorted(tally.by_length.items()):
            apart, less = _line(distance, np.maximum(top.length, 1), b, tally)
            sums += tally.lists[b] * apart - less * top.totals(rows.astype(np.float64))
        values[used] = np.maximum(sums[used] / (n - 1), 0.0)
    elif sample is None or sample >= table.n_queries:
        sums = _sums_of_pairs(table, k, distance)
        values[used] = np.maximum(sums[used] / (n - 1), 0.0)
    else:
        values = _in_samples(table, k, distance, (sample, runs, seed))
    return values


def _in_samples(
    table: Recommended, k: int | None, distance: str, how: tuple[int, int, int]
) -> Floats:
    """Return the mean distance of users to the others in their samples."""
    n = table.n_queries
    total, times = np.zeros(n), np.zeros(n)
    for users in draws(n, *how):
        values = inter_list_diversity(_some(table, k, users), distance=distance)  # type: ignore[arg-type]
        known = ~np.isnan(values)
        total[users[known]] += values[known]
        times[users[known]] += 1
    return share(total, times)


def _inter_list(
    table: Exposure,
    *,
    k: int | None = None,
    distance: str = "cosine",
    sample: int | None = None,
    runs: int = 10,
    seed: int = 0,
) -> float:
    """Return the mean over all pairs of users, or of samples of them."""
    if sample is None or sample >= table.n_queries or isinstance(table, Tallies):
        return _mean_of_pairs(table, k, distance)
    # A user without a list is in no pair, and is not drawn.
    users = np.flatnonzero(table.length > 0)
    if sample >= len(users):
        return _mean_of_pairs(table, k, distance)
    means = [
        _mean_of_pairs(_some(table, k, users[drawn]), None, distance)
        for drawn in draws(len(users), sample, runs, seed)
    ]
    return float(np.mean(means))


def _inter_list_without(
    table: Recommended,
    *,
    k: int | None,
    distance: Between,
    sample: int | None,
    runs: int,
    seed: int,
) -> Floats:
    """Return the mean over all pairs without each list in turn.

    Leaving out a list removes its distances from its own mean and from all others.
    """
    del runs, seed
    if sample is not None:
        msg = (
            "InterListDiversity with sample= draws users at random, so it cannot "
            "leave out one user at a time; write it without sample="
        )
        raise ParameterError(msg)
    values = inter_list_diversity(table, k=k, distance=distance)
    used = ~np.isnan(values)
    n, total = np.count_nonzero(used), math.fsum(values[used].tolist())
    filled = np.where(used, values, 0.0)
    left = share(total - 2 * filled, np.where(used, n - 2.0, n))
    if distance == "hamming":
        # A share of all items shown, of which the list may show some alone.
        rows = table.tally(k, once=True).rows
        n_items = np.count_nonzero(rows)
        alone = table.once(k).totals((rows == 1).astype(np.float64))
        left = share(left * n_items, n_items - alone)
    return left


InterListDiversity = listed(
    "InterListDiversity",
    inter_list_diversity,
    aliases=("Personalization", "personalisation", "inter_list_diversity"),
    endless={"distance": ("cityblock", "manhattan", "sqeuclidean", "euclidean")},
    pairs=_inter_list,
    without=_inter_list_without,
    ordered=False,
    across=(
        Across("distance", _CURVED, "looks at all pairs of lists", instead="cosine"),
    ),
    matters={"runs": ("sample", ()), "seed": ("sample", ())},
)
