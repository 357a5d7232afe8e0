"""Joining the lists of a run with what is known about their items and users.

Items get numbers, the same in all data: lists, training data, features, catalogue and
judgements.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from rankine._base.text import Counted, count
from rankine._io import repeats
from rankine._join.ids import Index, numbered
from rankine._tables.groups import Distance, Groups, Topics, Train, marked
from rankine._tables.joined import SHOWN, Listed, no_overlap
from rankine._tables.keys import may_repeat
from rankine._tables.lists import Recommended, Top
from rankine._tables.segments import expand, starts_of
from rankine.errors import DataError

if TYPE_CHECKING:
    from rankine._base.arrays import Floats, Ints
    from rankine._io.items import Features
    from rankine._join.judgements import Judgements
    from rankine._join.known import Known
    from rankine._join.lists import Lists


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
        lists: the lists of the run.
        known: what is known besides.
        depth: how many items of each list matter; None for all.
        duplicates: what happens to an item that is repeated in a list: ``error``,
            ``count``, or only its first position counts (``set``). If only the last
            counts, the others are already left out.
        users: whose lists: all, or as in a convention those of judged users, where a
            user without a list gets an empty one (``qrels``) or is left out (``both``);
            ``awaited`` is like ``qrels``, for metrics that ask who has a list at all.
        partial: whether these are only part of the data, so that no user needs both a
            list and judgements.
    """
    # What repeats is left out before lists are cut.
    whole_lists = duplicates == "set"
    shown, starts, rank = lists.first(None if whole_lists else depth)
    notes = list(lists.notes)
    train, features, judged = known.train, known.features, known.judgements
    notes += () if features is None else features.notes
    codes, n_items, every = numbered({"run": shown} | known.items, "item", notes)
    of_users = {"run": lists.queries} | known.users
    user, n_users, named = numbered(of_users, "query", notes)
    top = _once(lists, Top(starts, codes["run"], rank), duplicates, notes)
    top = top.cut(depth if whole_lists else None)
    owners, chosen = _chosen(user, n_users, users, notes)
    whole = lists.length
    if chosen is not None:
        apart = len(user["run"]) > 0 and not np.isin(user["qrels"], user["run"]).any()
        if apart and not partial and users != "awaited":
            few = [list(of_users[who].head(SHOWN)) for who in ("qrels", "run")]  # type: ignore[union-attr]
            raise no_overlap(len(user["qrels"]), *few)
        # -1 stands for no list, which has no items.
        length, whole = (np.append(n, 0)[chosen] for n in (top.length, whole))
        rows, _ = expand(top.starts[chosen], length)
        top = top.take(rows, starts_of(length))
    table = Recommended(
        top.starts,
        top.item,
        whole,
        n_items,
        repeats=duplicates == "count",
        rank=top.given,
        item_ids=every if partial else None,
    )
    row_of = np.full(n_users, -1)
    row_of[owners] = np.arange(len(owners))
    strange: list[str] = []
    table = replace(table, **_catalogue(known, codes, n_items, table, strange))
    if train is not None:
        user_of = np.full(len(owners), -1)
        list_of = row_of[user["train"]]
        user_of[list_of[list_of >= 0]] = np.flatnonzero(list_of >= 0)
        table = replace(table, train=Train(train.had, codes["train"], n_items, user_of))
    table = _with_reference(table, known, codes, user, row_of, duplicates, notes)
    if judged is not None:
        groups, kept = _judged(judged, codes, row_of[user["qrels"]], table)
        largest = float(judged.pool.grade.max(initial=0)) or 1.0
        table = replace(table, judged=groups, largest_grade=largest)
        if known.subtopics is not None:
            table = _with_subtopics(table, judged, known.subtopics, kept)
    if features is not None:
        table = _with_features(table, features, codes["items"], every)
    awaited = user.get("qrels", user.get("train"))
    if awaited is not None:
        there = marked(awaited, n_users)
        n_awaited = int(np.count_nonzero(there))
        table = replace(table, awaited=n_awaited, covered=there[owners])
    queries = lists.queries
    if users is not None and judged is not None:
        queries = named.gather(owners).cast(judged.queries.dtype).alias("query")
    return Listed(
        replace(table, item_ids=every, user_ids=queries),
        queries,
        tuple(notes),
        tuple(strange),
        tuple(_bare(table)),
        items=every,
        steps=lists.steps.seen,
    )


def _chosen(
    user: Mapping[str, Ints], n_users: int, users: str | None, notes: list[str]
) -> tuple[Ints, Ints | None]:
    """Return whose lists are used, and the number of each, -1 for users without one.

    None stands for all of them.
    """
    run = user["run"]
    if users in {None, "run"} or "qrels" not in user:
        return run, None
    place = np.full(n_users, -1)
    place[run] = np.arange(len(run))
    judged = user["qrels"]
    missing = int(np.count_nonzero(place[judged] < 0))
    if users == "both":
        judged = judged[place[judged] >= 0]
    if missing and users != "awaited":
        fate = "left out" if users == "both" else "treated as an empty list"
        notes.append(Counted("", missing, "judged query", f" without a list: {fate}"))
    return judged, place[judged]


def _with_reference(
    table: Recommended,
    known: Known,
    codes: Mapping[str, Ints],
    user: Mapping[str, Ints],
    row_of: Ints,
    duplicates: str,
    notes: list[str],
) -> Recommended:
    """Add the lists of another recommender, by the numbers of items."""
    others = known.others
    if others is None:
        return table
    notes += others.notes
    top = Top(others.starts, codes["reference"], others.ranks)
    seen: list[str] = []
    top = _once(others, top, duplicates, seen, others.name)
    notes += map(str, seen)  # of all its lists, in every batch: not to be added up
    owner = row_of[user["reference"]][top.user]
    kept = np.flatnonzero(owner >= 0)
    kept = kept[np.argsort(owner[kept], kind="stable")]
    length = np.bincount(owner[kept], minlength=table.n_queries)
    missing = int(np.count_nonzero((length == 0) & (table.length > 0)))
    if missing:
        fate = f" without a list in {others.name} to compare with"
        notes.append(Counted("", missing, "query", fate))
    rank = top.rank[kept].astype(np.float64)
    groups = Groups(starts_of(length), top.item[kept], rank)
    return replace(table, reference=groups)


def _once(
    lists: Lists, top: Top, duplicates: str, notes: list[str], name: str = "the run"
) -> Top:
    """Take care of repeated items: those that are left keep their ranks."""
    again = None
    if duplicates != "count" and may_repeat(top.item.view(np.uint64), top.starts):
        if duplicates == "error":
            lists.refuse_twice()
        pairs = pl.DataFrame({"user": top.user, "item": top.item})
        again = repeats.marked(pairs, keep="first")
    n_again = lists.repeated + (0 if again is None else int(np.count_nonzero(again)))
    if n_again:
        fate = f" of {name} repeating an item: left out"
        notes.append(Counted("", n_again, "row", fate))
    if again is None:
        return top
    first = ~again
    length = np.bincount(top.user[first], minlength=len(top.length))
    return replace(top, given=top.rank).take(first, starts_of(length))


def _catalogue(
    known: Known,
    codes: Mapping[str, Ints],
    n_items: int,
    table: Recommended,
    notes: list[str],
) -> dict[str, Any]:
    """Return the catalogue: as given, or the items of the training data, or all known.

    A size that is smaller than the number of items shown is refused.
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
    offered = marked(codes[source], n_items)
    strange = table.counted(shown & ~offered)
    if strange:
        where = {"catalog": "the catalogue", "train": "train", "items": "items"}[source]
        notes.append(Counted("", strange, "recommended item", f" not in {where}"))
    return {"catalog": int(np.count_nonzero(offered)), "offered": offered}


def counted(
    shown: list[pl.Series], known: Known
) -> tuple[list[Ints], int, dict[str, Any]]:
    """Number items of which only counts are left, and find the catalogue."""
    columns: dict[str, pl.Series | None] = {
        f"run {number}": items for number, items in enumerate(shown)
    }
    others = replace(known, judgements=None).items
    codes, n_items, _ = numbered(columns | others, "item", [])
    numbers = [codes[name] for name in columns]
    every = np.concatenate([*numbers, np.zeros(0, dtype=np.int64)])
    none = np.zeros(1, dtype=np.int64)
    table = Recommended(none, every, none, n_items)
    return numbers, n_items, _catalogue(known, codes, n_items, table, [])


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
    rows = subtopics.join(pairs, on=["query", "item"]).sort("row", maintain_order=True)
    named = subtopics["subtopic"].unique().sort()
    starts = starts_of(np.bincount(rows["row"].to_numpy(), minlength=len(kept)))
    aspects = Groups(
        starts, Index(named).find(rows["subtopic"]), rows["value"].to_numpy()
    )
    return replace(table, aspects=aspects, n_aspects=len(named))


def _with_features(
    table: Recommended, features: Features, codes: Ints, every: pl.Series
) -> Recommended:
    """Add features, topics or a distance, by the numbers of items."""
    if features.distance is not None:
        return replace(table, distance=Distance(features.distance, every.to_list()))
    n = table.n_items
    topic, owner, weight = features.topic, features.topic_item, features.weight
    if topic is not None and owner is not None and weight is not None:
        table = replace(table, topics=_topics(topic, codes[owner], weight, n))
    table = replace(table, featured=marked(codes, n))
    vectors = features.vectors
    if vectors is None:
        return table
    if isinstance(vectors, np.ndarray):
        featured = np.zeros(n, dtype=np.bool_)
        featured[codes] = ~np.isnan(vectors).any(axis=1)
        by_number = np.zeros((n, vectors.shape[1]))
        by_number[codes] = np.nan_to_num(vectors)
        return replace(table, vectors=by_number, featured=featured)
    from scipy.sparse import csr_array  # noqa: PLC0415 - slow to import

    cells = vectors.tocoo()
    places = codes[cells.row], cells.col
    sparse = csr_array((cells.data, places), shape=(n, vectors.shape[1]))
    return replace(table, vectors=sparse)


def _bare(table: Recommended) -> list[str]:
    """Say how many of the items shown have no features."""
    if table.featured is None:
        return []
    bare = table.counted(table.shown(None) & ~table.featured)
    fate = " without features: left out"
    return [Counted("", bare, "recommended item", fate)] if bare else []


def _topics(topic: pl.Series, item: Ints, weight: Floats, n_items: int) -> Topics:
    """Return the topics of items, with weights that add up to 1 for each of them."""
    named = topic.unique().sort()
    order = np.argsort(item, kind="stable")
    starts = starts_of(np.bincount(item, minlength=n_items))
    total = np.bincount(item, weights=weight, minlength=n_items)
    member, share = Index(named).find(topic), weight / total[item]
    return Topics(Groups(starts, member[order], share[order]), tuple(named.to_list()))
