"""How different the items of a list are from each other, and from earlier ones."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from rankine._base.checks import check_choice, check_k
from rankine._metrics.lists._reference import shared_items
from rankine._metrics.lists.directions import dense, directions, dots, features
from rankine._metrics.lists.draws import check_draws, times_drawn
from rankine._metrics.lists.kind import listed
from rankine._tables.segments import starts_of
from rankine.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from rankine._base.arrays import Floats, Ints
    from rankine._tables.lists import Recommended, Top

Distance = Literal[
    "cosine", "euclidean", "sqeuclidean", "cityblock", "chebyshev", "correlation",
    "canberra", "braycurtis", "hamming", "jaccard", "dice",
]  # fmt: skip
Short = Literal["undefined", "zero", "one_known", "one_shown"]
By = Literal["features", "users"]
ByAll = Literal["features", "users", "reference"]
_NAMED = (
    "cosine", "euclidean", "sqeuclidean", "cityblock", "chebyshev", "correlation",
    "canberra", "braycurtis", "hamming", "jaccard", "dice",
)  # fmt: skip
_BINARY = frozenset({"jaccard", "dice"})


def _check_distance(
    distance: object, by: object, short: object, ways: Sequence[str] = get_args(By)
) -> None:
    if callable(distance):
        if type(distance).__hash__ is None:
            msg = f"the function given as distance cannot be hashed: {distance!r}"
            raise ParameterError(msg)
    else:
        if not isinstance(distance, str):
            msg = f"distance must be a name or a function, got {distance!r}"
            raise ParameterError(msg)
        check_choice("distance", distance, _NAMED)
    check_choice("by", by, ways)
    if by != "features" and distance != "cosine":
        msg = f"by={by!r} needs distance='cosine'"
        raise ParameterError(msg)
    check_choice("short", short, get_args(Short))


def _lists(item: Ints, starts: Ints) -> Iterator[Ints]:
    for begin, end in zip(starts[:-1].tolist(), starts[1:].tolist(), strict=True):
        yield item[begin:end]


def _with_features(
    table: Recommended, item: Ints, user: Ints, by: str
) -> tuple[Ints, Ints]:
    """Return the items that have features, and where the lists of these begin."""
    kept = np.ones(len(item), dtype=np.bool_)
    if table.distance is None or by == "users":
        kept = directions(table, by).known[item]
    length = np.bincount(user[kept], minlength=table.n_queries)
    return item[kept], starts_of(length)


def pair_distances(
    table: Recommended, first: Ints, second: Ints | None, distance: Any
) -> Floats:
    """Return the distances of items, of all pairs or of the first with the second."""
    if table.distance is not None:
        measure = table.distance
        pairs = (
            [
                (a, b)
                for number, a in enumerate(first.tolist())
                for b in first[:number].tolist()
            ]
            if second is None
            else [(a, b) for a in first.tolist() for b in second.tolist()]
        )
        return np.array([measure(a, b) for a, b in pairs], dtype=np.float64)
    from scipy.spatial.distance import cdist, pdist  # noqa: PLC0415

    vectors = features(table)
    if vectors is None:
        return np.zeros(0)
    x: Any = dense(vectors[first])
    y: Any = None if second is None else dense(vectors[second])
    if distance in _BINARY:
        x, y = x != 0, None if y is None else y != 0
    distances: Floats = (
        pdist(x, distance) if y is None else cdist(x, y, distance).ravel()
    )
    return distances


def mean_distance(
    table: Recommended, first: Ints, second: Ints | None, distance: Any
) -> float:
    """Return the mean of the distances of items that are known, nan without any."""
    distances = pair_distances(table, first, second, distance)
    known = distances[~np.isnan(distances)]
    return float(known.mean()) if len(known) else math.nan


def intra_list_diversity(
    table: Recommended,
    *,
    k: int | None = None,
    distance: Distance | Callable[[Any, Any], float] = "cosine",
    by: By = "features",
    short: Short = "undefined",
    sample: int | None = None,
    runs: int = 10,
    seed: int = 0,
) -> Floats:
    """How different the items of a list are from each other.

    The mean distance of all pairs of items in a list. Cosine distances need one sum per
    list, as the cosines of all pairs follow from the square of the sum of the vectors.

    Formula:
        ILD@k = 2 / (n (n - 1)) sum_{i < j} d(i, j), n the items of the list

    Args:
        table: the lists.
        k: cutoff.
        distance: the distance between the features of two items: cosine, euclidean,
            sqeuclidean, cityblock, chebyshev, correlation, canberra, braycurtis,
            hamming, jaccard, dice (the last two only distinguish 0 from other values),
            or a function of two vectors. If items= is a function of two items, that is
            the distance.
        by: compare the features of items; or, by the cosine, the users who had them
            before: an item that nobody had is at distance 1 from all others.
        short: the value of a list in which fewer than two items have features: it has
            none, or counts as 0 (``zero``); or it counts as 0 only if exactly one item
            has features (``one_known``, LensKit), or only if exactly one item is shown
            (``one_shown``, RecTools), and has no value otherwise.
        sample: how many users to draw at random, instead of taking all.
        runs: how many samples are drawn; a user counts as often as they are drawn.
        seed: the seed of the random numbers.

    Returns:
        One value per user, from 0; nan with fewer than two items that have features,
        and for users who are not drawn.
        Pairs whose distance is nan are left out, and so are repeats of an item.

    References:
        C.-N. Ziegler et al.: Improving recommendation lists through topic
        diversification. WWW 2005. https://doi.org/10.1145/1060745.1060754
        As Jurity's IntraListDiversity, which samples 10,000 users ten times. RecTools
        counts lists of one item as 0; recommenders compares who had the items, by the
        cosine, instead of their features; LensKit's ILS is 1 - ILD.

    Examples:
        Two films are alike and one is different: cosines 1, 0 and 0.

        >>> import rankine as rk
        >>> films = {"a": [1, 0], "b": [2, 0], "c": [0, 1]}
        >>> rk.evaluate(None, {"u": ["a", "b", "c"]}, "ILD", items=films)
        Evaluation(ILD=0.6667)
    """
    check_k(k)
    _check_distance(distance, by, short)
    check_draws(sample, runs, seed, least=1)
    top = _drawn(table.once(k), _times(table, sample=sample, runs=runs, seed=seed))
    item, starts = _with_features(table, top.item, top.user, by)
    length = np.diff(starts)
    values = np.full(table.n_queries, np.nan)
    if distance == "cosine" and (table.distance is None or by == "users"):
        way = directions(table, by)
        alone = np.bincount(
            np.repeat(np.arange(len(length)), length),
            weights=dots(way.vectors, way.vectors)[item],
            minlength=len(length),
        )
        pairs = length * (length - 1.0)
        cosines = way.squares(item, starts) - alone
        some = length > 1
        values[some] = np.maximum(1 - cosines[some] / pairs[some], 0.0)
    else:
        for user, own_items in enumerate(_lists(item, starts)):
            if len(own_items) > 1:
                values[user] = mean_distance(table, own_items, None, distance)
    if short == "zero":
        values[(length < 2) & (top.length > 0)] = 0.0  # noqa: PLR2004 - a pair
    elif short != "undefined":
        values[(length if short == "one_known" else top.length) == 1] = 0.0
    return values


def _drawn(top: Top, times: Floats | None) -> Top:
    """Empty the lists that are not drawn."""
    if times is None:
        return top
    length = np.where(times > 0, top.length, 0)
    return top.take(times[top.user] > 0, starts_of(length))


def _times(
    table: Recommended,
    *,
    sample: int | None = None,
    runs: int = 10,
    seed: int = 0,
    **_: Any,
) -> Floats | None:
    return times_drawn(table.n_queries, sample, runs, seed)


ILD = listed(
    "ILD",
    intra_list_diversity,
    aliases=("IntraListDiversity", "intra_list_diversity"),
    bounds=(0, math.inf),
    needs={
        "vectors": ("by", ("features",)),
        "train": ("by", ("users",)),
        "train_rows": ("by", ("users",)),
    },
    ordered=False,
    times=_times,
    matters={"runs": ("sample", ()), "seed": ("sample", ())},
)


def unexpectedness(
    table: Recommended,
    *,
    k: int | None = None,
    distance: Distance | Callable[[Any, Any], float] = "cosine",
    by: ByAll = "features",
) -> Floats:
    """How different the items of a list are from what the user had before.

    Formula:
        Unexpectedness@k = mean of d(i, j) over items i of the list and items j that
        the user had; by reference, 1 - |R_u@k and S_u@k| / k, where S is the reference

    Args:
        table: the lists.
        k: cutoff.
        distance: as in ILD.
        by: compare features, or the users who had the items, as in ILD; with
            ``reference``, items that another recommender did not show are unexpected,
            and without a cutoff k is the length of the list.

    Returns:
        One value per user, from 0; nan for users without a list, or who had no items
        with features before. By reference, 0 for users without either list.

    References:
        S. Vargas, P. Castells: Rank and relevance in novelty and diversity metrics for
        recommender systems. RecSys 2011, where it is expected profile distance (EPD);
        https://doi.org/10.1145/2043932.2043955. As in RankSys; with users, as
        serendipity in recommenders if all items are relevant; with reference, as in
        RePlay.

    Examples:
        The user had a; of b and c the first is like it, the second is not.

        >>> import rankine as rk
        >>> films = {"a": [1, 0], "b": [2, 0], "c": [0, 1]}
        >>> rk.evaluate(
        ...     None,
        ...     {"u": ["b", "c"]},
        ...     "Unexpectedness",
        ...     items=films,
        ...     train={"u": ["a"]},
        ... )
        Evaluation(Unexpectedness=0.5000)
    """
    check_k(k)
    _check_distance(distance, by, "zero", get_args(ByAll))
    if by == "reference":
        return _not_in_reference(table, k)
    values = np.full(table.n_queries, np.nan)
    if table.train is None:
        return values
    top, profile = table.top(k), table.train.profile
    item, starts = _with_features(table, top.item, top.user, by)
    had, begin = _with_features(table, profile.member, profile.owner, by)
    some = np.flatnonzero((np.diff(starts) > 0) & (np.diff(begin) > 0))
    if distance == "cosine" and (table.distance is None or by == "users"):
        cosines = directions(table, by).products(item, starts, had, begin)[some]
        n = (np.diff(starts) * np.diff(begin))[some]
        values[some] = np.maximum(1 - cosines / n, 0.0)
        return values
    for user in some.tolist():
        shown = item[starts[user] : starts[user + 1]]
        before = had[begin[user] : begin[user + 1]]
        values[user] = mean_distance(table, shown, before, distance)
    return values


def _not_in_reference(table: Recommended, k: int | None) -> Floats:
    """Return the share of the k places that hold no item of the reference."""
    length = table.top(k).length
    if table.reference is None:
        return np.zeros(len(length))
    places = np.maximum(length if k is None else k, 1)
    either = (length > 0) & (np.diff(table.reference.starts) > 0)
    return np.where(either, 1 - shared_items(table, table.once(k), k) / places, 0.0)


Unexpectedness = listed(
    "Unexpectedness",
    unexpectedness,
    aliases=("EPD", "ProfileDistance"),
    bounds=(0, math.inf),
    needs={
        "vectors": ("by", ("features",)), "train": ("by", ("features", "users")),
        "train_rows": ("by", ("features", "users")),
        "reference": ("by", ("reference",)),
    },
    ordered=False,
)  # fmt: skip
