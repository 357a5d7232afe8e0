"""Joining the lists of a run with what is known of their items and users.

Items get numbers, the same for all that speaks of them: lists, training data, features,
catalogue and judgements.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from rankine._base.text import count
from rankine._io import repeats
from rankine._join.aligned import SHOWN, no_overlap, no_steps
from rankine._join.ids import Index, numbered
from rankine._tables.groups import Groups, Topics, Train
from rankine._tables.keys import may_repeat
from rankine._tables.lists import Recommended
from rankine._tables.segments import cut_lists, expand, position, starts_of
from rankine.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from rankine._base.arrays import Ints
    from rankine._io.items import Features
    from rankine._join.judgements import Judgements
    from rankine._join.known import Known
    from rankine._join.lists import Lists


@dataclass(frozen=True, eq=False)
class Listed:
    """A table of lists, the ids of its users, and what was seen on the way.

    Attributes:
        table: the lists.
        ids: of their users.
        notes: what was left out or changed.
        strange: what is said of items that are not in the catalogue.
        bare: what is said of items that have no features.
        catalogue: what is said of the catalogue, if nobody gave one.
        items: the ids of items by number.
        steps: tells how scores rise and fall along the lists, as in `Aligned`.
    """

    table: Recommended
    ids: pl.Series
    notes: tuple[str, ...] = ()
    strange: tuple[str, ...] = ()
    bare: tuple[str, ...] = ()
    unsorted: int = 0
    items: pl.Series | None = None
    steps: Callable[[], tuple[int, bool]] = no_steps
    catalogue: tuple[str, ...] = ()


def know(
    lists: Lists,
    known: Known,
    depth: int | None,
    duplicates: str,
    *,
    users: str | None = None,
    partial: bool = False,
) -> Listed:
    """Join lists with what is known.

    Args:
        lists: of the run.
        known: what is known besides.
        depth: how many items of each list matter; None for all.
        duplicates: what becomes of an item that is repeated in a list: ``error``,
            ``count``, or only its first place counts (``set``). Where the last one
            does, the lists have no others.
        users: whose lists: all, or as in a convention those of judged users, who have
            an empty one if they have none (``qrels``), or not (``both``).
        partial: whether these are not all data, so that nobody need have both a list
            and judgements.
    """
    # What repeats is left out before lists are cut.
    whole_lists = duplicates == "set"
    shown, starts, rank = lists.first(None if whole_lists else depth)
    notes = list(lists.notes)
    train, features, judged = known.train, known.features, known.judgements
    notes += () if features is None else features.notes
    columns = {
        "run": shown,
        "train": None if train is None else train.frame["item"],
        "items": None if features is None else features.items,
        "catalog": known.catalog if isinstance(known.catalog, pl.Series) else None,
        "qrels": None if judged is None else judged.items,
    }
    codes, n_items, every = numbered(columns, "item", notes)
    of_users = {
        "run": lists.queries,
        "train": None if train is None else train.frame["query"],
        "qrels": None if judged is None else judged.queries,
    }
    user, n_users, named = numbered(of_users, "query", notes)
    item, starts, rank = _once(lists, codes["run"], starts, rank, duplicates, notes)
    if whole_lists and depth is not None:
        starts, rows = cut_lists(starts, rank, depth)
        item, rank = item[rows], None if rank is None else rank[rows]
    own, chosen = _chosen(user, n_users, users, notes)
    if chosen is not None and not partial and _is_apart(user):
        ids = [list(of_users[who].head(SHOWN)) for who in ("qrels", "run")]  # type: ignore[union-attr]
        raise no_overlap(len(user["qrels"]), *ids)
    whole = np.diff(lists.starts)
    if chosen is not None:
        # -1 stands for no list, which has no items.
        length = np.append(np.diff(starts), 0)[chosen]
        rows, _ = expand(starts[chosen], length)
        item, rank = item[rows], None if rank is None else rank[rows]
        starts, whole = starts_of(length), np.append(whole, 0)[chosen]
    repeats = duplicates == "count"
    table = Recommended(starts, item, whole, n_items, repeats=repeats, rank=rank)
    row_of = np.full(n_users, -1)
    row_of[own] = np.arange(len(own))
    strange: list[str] = []
    table = replace(table, **_catalogue(known, codes, n_items, table, strange))
    if train is not None:
        made = Train(user["train"], codes["train"], n_items, row_of, len(own), _sorted)
        table = replace(table, train=made)
    if judged is not None:
        groups, kept = _judged(judged, codes, row_of[user["qrels"]], table)
        table = replace(
            table,
            judged=groups,
            largest_grade=float(judged.pool.grade.max(initial=0)) or 1.0,
        )
        if known.subtopics is not None:
            table = _with_subtopics(table, judged, known.subtopics, kept)
    if features is not None:
        table = _with_features(table, features, codes["items"], every)
    awaited = user.get("qrels", user.get("train"))
    if awaited is not None:
        there = np.zeros(n_users, dtype=np.bool_)
        there[awaited] = True
        table = replace(table, awaited=int(np.count_nonzero(there)), covered=there[own])
    queries = lists.queries
    if users is not None and judged is not None:
        queries = named.gather(own).cast(judged.queries.dtype).alias("query")
    said, steps = (tuple(notes), tuple(strange), tuple(_bare(table))), lists.steps
    return Listed(
        table, queries, *said, items=every, steps=lambda: (steps.rises, steps.falls > 0)
    )


def _chosen(
    user: Mapping[str, Ints], n_users: int, users: str | None, notes: list[str]
) -> tuple[Ints, Ints | None]:
    """Return whose lists are taken, and which these are, -1 for users without one.

    None stands for all of them.
    """
    run = user["run"]
    if users in {None, "run"} or "qrels" not in user:
        return run, None
    place = np.full(n_users, -1)
    place[run] = np.arange(len(run))
    own = user["qrels"]
    if users == "both":
        own = own[place[own] >= 0]
    missing = int(np.count_nonzero(place[user["qrels"]] < 0))
    if missing:
        fate = "left out" if users == "both" else "treated as an empty list"
        notes.append(f"{count(missing, 'judged query')} without a list: {fate}")
    return own, place[own]


def _is_apart(user: Mapping[str, Ints]) -> bool:
    """Say whether there are lists and judgements, but nobody has both."""
    return len(user["run"]) > 0 and not np.isin(user["qrels"], user["run"]).any()


def _once(
    lists: Lists,
    item: Ints,
    starts: Ints,
    rank: Ints | None,
    duplicates: str,
    notes: list[str],
) -> tuple[Ints, Ints, Ints | None]:
    """Take care of repeated items: those that are left keep their ranks."""
    if duplicates == "count":
        return item, starts, rank
    n = len(starts) - 1
    if not may_repeat(item.view(np.uint64), starts):
        return item, starts, rank
    if duplicates == "error":
        lists.refuse_twice()
    user = np.repeat(np.arange(n), np.diff(starts))
    pairs = pl.DataFrame({"user": user, "item": item})
    again = repeats.marked(pairs, keep="first")
    if again is None:
        return item, starts, rank
    n_again, first = int(np.count_nonzero(again)), ~again
    notes.append(f"{count(n_again, 'row')} of the run repeating an item: left out")
    if rank is None:
        rank = position(user) + 1
    return item[first], starts_of(np.bincount(user[first], minlength=n)), rank[first]


def _catalogue(
    known: Known,
    codes: Mapping[str, Ints],
    n_items: int,
    table: Recommended,
    notes: list[str],
) -> dict[str, Any]:
    """Return the catalogue: as told, or the items of the training data, or all known.

    A number that is smaller than what is shown is refused.
    """
    shown = table.shown(None)
    seen = int(np.count_nonzero(shown))
    if isinstance(known.catalog, int):
        if seen > known.catalog:
            msg = (
                f"the catalogue has {count(known.catalog, 'item')}, but the lists show "
                f"{count(seen, 'different one')}"
            )
            raise DataError(msg)
        return {"catalog": known.catalog, "offered": None}
    source = next(
        (name for name in ("catalog", "train", "items") if name in codes), None
    )
    if source is None or (source == "items" and len(codes["items"]) == 0):
        return {}
    offered = np.zeros(n_items, dtype=np.bool_)
    offered[codes[source]] = True
    strange = int(np.count_nonzero(shown & ~offered))
    if strange:
        where = {"catalog": "the catalogue", "train": "train", "items": "items"}[source]
        notes.append(f"{count(strange, 'recommended item')} not in {where}")
    return {"catalog": int(np.count_nonzero(offered)), "offered": offered}


def counted(
    shown: list[pl.Series], known: Known
) -> tuple[list[Ints], int, dict[str, Any]]:
    """Number items of which only counts are left, and say what the catalogue is."""
    train, features, catalog = known.train, known.features, known.catalog
    columns: dict[str, pl.Series | None] = {
        f"run {at}": one for at, one in enumerate(shown)
    }
    columns |= {
        "train": None if train is None else train.frame["item"],
        "items": None if features is None else features.items,
        "catalog": catalog if isinstance(catalog, pl.Series) else None,
    }
    codes, n_items, _ = numbered(columns, "item", [])
    own = [codes[f"run {at}"] for at in range(len(shown))]
    every = np.concatenate([*own, np.zeros(0, dtype=np.int64)])
    none = np.zeros(1, dtype=np.int64)
    table = Recommended(none, every, none, n_items)
    return own, n_items, _catalogue(known, codes, n_items, table, [])


def _judged(
    judged: Judgements, codes: Mapping[str, Ints], row: Ints, table: Recommended
) -> tuple[Groups, Ints]:
    """Return the judged items of the users who have lists, and which these are."""
    owner = row[judged.pool.query]
    kept = np.flatnonzero(owner >= 0)
    kept = kept[np.argsort(owner[kept], kind="stable")]
    starts = starts_of(np.bincount(owner[kept], minlength=table.n_queries))
    return Groups(starts, codes["qrels"][kept], judged.pool.grade[kept]), kept


def _with_subtopics(
    table: Recommended, judged: Judgements, subtopics: pl.DataFrame, kept: Ints
) -> Recommended:
    """Add the subtopics of each judgement, in the order of the judgements."""
    pairs = pl.DataFrame(
        {
            "query": judged.queries.gather(judged.pool.query[kept]),
            "item": judged.items.gather(kept),
            "row": np.arange(len(kept)),
        }
    )
    found = subtopics.join(pairs, on=["query", "item"]).sort("row", maintain_order=True)
    named = subtopics["subtopic"].unique().sort()
    starts = starts_of(np.bincount(found["row"].to_numpy(), minlength=len(kept)))
    aspects = Groups(
        starts, Index(named).find(found["subtopic"]), found["value"].to_numpy()
    )
    return replace(table, aspects=aspects, n_aspects=len(named))


def _with_features(
    table: Recommended, features: Features, codes: Ints, every: pl.Series
) -> Recommended:
    """Add features, topics or a distance, by the numbers of items."""
    if features.distance is not None:
        return replace(table, distance=_distance(features.distance, every.to_list()))
    n = table.n_items
    if features.topic is not None and features.topic_item is not None:
        table = replace(table, topics=_topics(features, codes, n))
    featured = np.zeros(n, dtype=np.bool_)
    vectors = features.vectors
    if vectors is None:
        featured[codes] = True
        return replace(table, featured=featured)
    if isinstance(vectors, np.ndarray):
        featured[codes] = ~np.isnan(vectors).any(axis=1)
        made: Any = np.zeros((n, vectors.shape[1]))
        made[codes] = np.nan_to_num(vectors)
    else:
        from scipy.sparse import csr_array  # noqa: PLC0415 - slow to import

        featured[codes] = True
        rows = vectors.tocoo()
        shape = (n, vectors.shape[1])
        made = csr_array((rows.data, (codes[rows.row], rows.col)), shape=shape)
    return replace(table, vectors=made, featured=featured)


def _distance(
    own: Callable[[Any, Any], float], named: list[Any]
) -> Callable[[int, int], float]:
    """Return a distance of items by their numbers, which is asked once for a pair."""

    @lru_cache(maxsize=1 << 20)
    def distance(first: int, second: int) -> float:
        found = own(named[first], named[second])
        try:
            return float(found)
        except (TypeError, ValueError):
            msg = (
                f"the distance between items {named[first]!r} and {named[second]!r} is "
                f"{found!r}, not a number"
            )
            raise DataError(msg) from None

    return distance


def _sorted(numbers: Ints) -> Ints:
    """Sort with all cores, as polars does."""
    found: Ints = pl.Series(numbers).sort().to_numpy()
    return found


def _bare(table: Recommended) -> list[str]:
    """Say how many of the items shown have no features."""
    if table.featured is None:
        return []
    n = int(np.count_nonzero(table.shown(None) & ~table.featured))
    return [f"{count(n, 'recommended item')} without features: left out"] if n else []


def _topics(features: Features, codes: Ints, n_items: int) -> Topics:
    topic = features.topic
    if topic is None or features.topic_item is None or features.weight is None:
        raise TypeError
    named = topic.unique().sort()
    item = codes[features.topic_item]
    order = np.argsort(item, kind="stable")
    starts = starts_of(np.bincount(item, minlength=n_items))
    total = np.bincount(item, weights=features.weight, minlength=n_items)
    weight = features.weight / total[item]
    member = Index(named).find(topic)
    return Topics(Groups(starts, member[order], weight[order]), tuple(named.to_list()))
