"""Lists compared with what their users did: serendipity, and calibration of tastes."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal

import numpy as np

from rankine._base.checks import check_choice, check_k, check_number
from rankine._metrics.lists._diversity import mean_distance
from rankine._metrics.lists.directions import directions
from rankine._metrics.lists.kind import by_parts, listed, mean_of, share

if TYPE_CHECKING:
    from rankine._base.arrays import Floats, Ints
    from rankine._tables.groups import Topics, Train
    from rankine._tables.lists import Recommended, Top

Method = Literal["popularity", "distance", "users"]


def _ranks(records: Ints) -> Ints:
    """Rank items by popularity, the most popular first, with ties; 0 if new."""
    _, rank = np.unique(-records, return_inverse=True)
    place: Ints = np.where(records > 0, rank + 1, 0)
    return place


def _unlikely(table: Recommended, train: Train, item: Ints, rank: Ints) -> Floats:
    """Return how much more likely items are here than for anybody."""
    n = float(table.catalog or 1)
    place = _ranks(train.records)[item]
    anybody = np.where(place > 0, np.maximum(n + 1 - place, 0) / n, 0.0)
    here = (n + 1 - rank.astype(np.float64)) / n
    return np.maximum(here - anybody, 0.0)


def _unlike(table: Recommended, top: Top, train: Train, by: str) -> Floats:
    """Return how different an item is from what the user had; nan if unknown."""
    if table.distance is not None and by == "features":
        return _apart(table, top, train)
    way, profile = directions(table, by), train.profile
    n = table.per_user(profile.owner[way.known[profile.member]])
    cosine = way.cosines(top.item, top.user, profile.member, profile.starts)
    return np.where(way.known[top.item], 1 - share(cosine, n[top.user]), np.nan)


def _apart(table: Recommended, top: Top, train: Train) -> Floats:
    """Return the mean distance of each item from what its user had."""
    profile = train.profile
    distance = np.full(len(top.item), np.nan)
    for row, (user, item) in enumerate(zip(top.user, top.item, strict=True)):
        had = profile.member[profile.starts[user] : profile.starts[user + 1]]
        distance[row] = mean_distance(table, np.array([item]), had, None)
    return distance


def serendipity(
    table: Recommended,
    *,
    k: int | None = None,
    rel: float = 1,
    method: Method = "popularity",
) -> Floats:
    """Degree to which a list is both unexpected and relevant.

    Formula:
        Serendipity@k = 1/n sum_i unexpected(i) relevant(i), where unexpected(i) is, by
        popularity, max(0, (N + 1 - r) / N - (N + 1 - p_i) / N) for an item at rank r
        that is the p_i-th most popular of N; otherwise one minus the mean cosine of i
        with what the user had

    Args:
        table: the lists.
        k: cutoff.
        rel: an item is relevant when its grade is at least this.
        method: what makes an item unexpected: it is ranked above more popular ones; its
            features differ from those of the user's items (``distance``); or the users
            who had it differ from those who had the user's items (``users``).

    Returns:
        One value per user, from 0. By popularity, an item that nobody had is as
        unexpected as possible; by distance, items without features are left out; by
        distance and by users, users who had nothing have no value.

    References:
        M. Ge, C. Delgado-Battenfeld, D. Jannach: Beyond accuracy: evaluating
        recommender systems by coverage and serendipity. RecSys 2010. By popularity, as
        in RecTools; by distance and by users, as in recommenders, whose relevance is 1
        for all items unless it is given.

    Examples:
        Of four items, a is the most popular; c is the third, and relevant at rank 1:
        (1 - 2/4) / 2.

        >>> import rankine as rk
        >>> train = {"u": ["a"], "v": ["a", "b"], "w": ["a", "b", "c"]}
        >>> rk.evaluate(
        ...     {"u": {"c"}}, {"u": ["c", "b"]}, "Serendipity", train=train, catalog=4
        ... ).mean
        {'Serendipity': 0.25}
    """
    check_k(k)
    check_number("rel", rel)
    check_choice("method", method, ("popularity", "distance", "users"))
    train = table.train
    if train is None:
        return np.full(table.n_queries, np.nan)
    top = table.top(k)
    if method == "popularity":
        hits = table.hits(k)
        liked = hits.grade >= rel
        row, user = hits.row[liked], hits.user[liked]
        rank = top.rank_of(row, user)
        worth = table.per_user(user, _unlikely(table, train, top.item[row], rank))
        return np.divide(worth, top.length, out=worth, where=top.length > 0)
    by = "users" if method == "users" else "features"
    unexpected = _unlike(table, top, train, by)
    worth = np.where(table.grades(k) >= rel, unexpected, unexpected * 0.0)
    kept = ~np.isnan(unexpected)
    values = mean_of(top, np.where(kept, worth, 0.0), kept.astype(np.float64))
    return np.where(top.length > 0, values, 0.0)


Serendipity = listed(
    "Serendipity",
    serendipity,
    bounds=(0, 2),
    needs={
        "judgements": True,
        "train": True,
        "train_rows": ("method", ("distance", "users")),
        "catalog": ("method", ("popularity",)),
        "vectors": ("method", ("distance",)),
    },
    binary=True,
)


def _tastes(topics: Topics, item: Ints, user: Ints, n_users: int) -> Floats:
    """Return how the items of each user spread over topics; nan for users without."""
    rows, which = topics.of_item.of(item)
    cell = user[which] * topics.n + topics.of_item.member[rows]
    flat = np.bincount(
        cell, weights=topics.of_item.value[rows], minlength=n_users * topics.n
    )
    parts = flat.astype(np.float64).reshape(n_users, topics.n)
    return share(parts, parts.sum(axis=1, keepdims=True))


@by_parts
def calibration(
    table: Recommended, *, k: int | None = None, alpha: float = 0.01
) -> Floats:
    """How far the topics of a list are from those of the user's items; 0 is best.

    Formula:
        Calibration@k = sum_g p(g) ln(p(g) / ((1 - alpha) q(g) + alpha p(g))), where p
        is how the user's items spread over topics g, and q how the list does

    Args:
        table: the lists.
        k: cutoff.
        alpha: keeps the divergence finite where a topic is missing from the list.

    Returns:
        One value per user, from 0, at most ln(1 / alpha); nan for users without topics
        in their list or in their items.

    References:
        H. Steck: Calibrated recommendations. RecSys 2018, equations 1 to 5.
        https://doi.org/10.1145/3240323.3240372

    Examples:
        Half drama and half comedy before, and only drama now:
        1/2 ln(1/2 / (0.99 + 0.005)) + 1/2 ln(1/2 / 0.005).

        >>> import rankine as rk
        >>> kinds = {"a": "drama", "b": "comedy", "c": "drama"}
        >>> ev = rk.evaluate(
        ...     None, {"u": ["c"]}, "Calibration", items=kinds, train={"u": ["a", "b"]}
        ... )
        >>> round(ev["Calibration"], 4)
        1.9585
    """
    check_k(k)
    check_number("alpha", alpha, above=0, below=1)
    train, topics = table.train, table.topics
    if train is None or topics is None:
        return np.full(table.n_queries, np.nan)
    top, n = table.top(k), table.n_queries
    before = _tastes(topics, train.profile.member, train.profile.owner, n)
    now = _tastes(topics, top.item, top.user, n)
    mixed = (1 - alpha) * now + alpha * before
    ratio = np.divide(before, mixed, out=np.ones(before.shape), where=before > 0)
    values: Floats = (before * np.log(ratio)).sum(axis=1)
    return np.where(np.isnan(now[:, 0]), np.nan, np.maximum(values, 0.0))


Calibration = listed(
    "Calibration",
    calibration,
    aliases=("Miscalibration", "CalibrationKL"),
    bounds=(0, math.inf),
    higher_is_better=False,
    needs={"train": True, "train_rows": True, "topics": True},
    ordered=False,
)
