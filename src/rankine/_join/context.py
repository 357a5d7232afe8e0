"""Joining the lists of a run with what is known about their items and users."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from rankine._base.text import QUERY, Counted, count
from rankine._join.ids import Index, one_type
from rankine._join.lists import without_repeats
from rankine._tables.groups import Distance, Groups, Train
from rankine._tables.joined import SHOWN, Listed, no_overlap
from rankine._tables.lists import Recommended, Top
from rankine._tables.segments import expand, starts_of
from rankine.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankine._base.arrays import Ints
    from rankine._join.judgements import Judgements, Truth
    from rankine._join.known_items import KnownItems, Numbered
    from rankine._join.lists import Lists
    from rankine._join.side_data import SideData

_WHERE = {"catalog": "the catalogue", "train": "train", "items": "items"}


def know(
    lists: Lists,
    side_data: SideData,
    truth: Truth | None,
    depth: int | None,
    duplicates: str,
    *,
    users: str | None = None,
    unit: str = QUERY,
    partial: bool = False,
) -> Listed:
    """Join lists with what is known.

    Args:
        lists: the lists of the run.
        side_data: what is known besides.
        truth: the judgements, if there are any.
        depth: how many items of each list matter; None for all.
        duplicates: what happens to an item that is repeated in a list: ``error``,
            ``count``, or only its first position counts (``set``). If only the last
            counts, the others are already left out.
        users: whose lists: all, or as in a convention those of judged users, where a
            user without a list gets an empty one (``qrels``) or is left out (``both``);
            ``awaited`` is like ``qrels``, for metrics that ask who has a list at all.
        unit: what messages call a user: query, or user.
        partial: whether these are only part of the data, so that no user needs both a
            list and judgements.
    """
    judged = None if truth is None else truth.judgements
    notes = list(lists.notes)
    notes += () if side_data.features is None else side_data.features.notes
    # What repeats is left out before lists are cut.
    whole_lists = duplicates == "set"
    shown, starts, rank = lists.first(None if whole_lists else depth)
    side, items = _items(side_data, shown, judged, notes)
    ids = _users(side_data, lists, judged, notes)
    top = without_repeats(
        lists, Top(starts, items.codes["run"], rank), duplicates, notes
    )
    top = top.cut(depth if whole_lists else None)
    owners = _owners(ids, users, notes)
    if judged is not None and owners.are_apart and not partial and users != "awaited":
        n, few = len(judged.queries), (judged.queries, lists.queries)
        ours, theirs = (list(some.head(SHOWN)) for some in few)
        raise no_overlap(n, ours, theirs, unit)
    top, length = owners.take(top, lists.length)
    table = Recommended(
        top.starts,
        top.item,
        length,
        items.n,
        repeats=duplicates == "count",
        rank=top.given,
        item_ids=items.ids if partial else None,
    )
    table, strange = with_catalogue(table, side_data, side)
    table = _with_train(table, side_data, side, owners, ids)
    table = _with_reference(table, side_data, side, owners, ids, duplicates, notes)
    table = _with_judgements(table, side_data, truth, items, owners, ids)
    table = _with_features(table, side_data, side, items)
    queries = lists.queries
    if users is not None and judged is not None:
        queries = owners.ids.cast(judged.queries.dtype).alias("query")
    return Listed(
        replace(table, item_ids=items.ids, user_ids=queries),
        queries,
        tuple(notes),
        strange,
        _bare(table),
        items=items.ids,
        unsorted=lists.unsorted,
        steps=lists.steps,
        catalogue=_assumed(table, side_data),
    )


def _items(
    side_data: SideData, shown: pl.Series, judged: Judgements | None, notes: list[str]
) -> tuple[KnownItems, Numbered]:
    """Number the items that are shown and judged like those that are known."""
    side = side_data.items
    reference = {name: side.pop(name) for name in ["reference"] if name in side}
    qrels = {} if judged is None else {"qrels": judged.items}
    ids, said = one_type({"run": shown} | side | qrels | reference, "item")
    notes += said
    columns = {name: ids.pop(name) for name in ("run", *qrels)}
    numbers = side_data.numbers(ids)
    return numbers, numbers.with_others(columns)


def _users(
    side_data: SideData, lists: Lists, judged: Judgements | None, notes: list[str]
) -> dict[str, pl.Series]:
    """Return the users of lists, training data, judgements and the reference."""
    side = side_data.users
    reference = {name: side.pop(name) for name in ["reference"] if name in side}
    qrels = {} if judged is None else {"qrels": judged.queries}
    ids, said = one_type({"run": lists.queries} | side | qrels | reference, "query")
    notes += said
    return ids


@dataclass(frozen=True, eq=False)
class Owners:
    """The users of a table of lists.

    Attributes:
        ids: their ids.
        list_of: the number of each one's list, -1 for those without one; None if all
            lists are used, in their order.
        are_apart: whether lists and judgements have no user in common.
    """

    ids: pl.Series
    list_of: Ints | None = None
    are_apart: bool = False

    def take(self, top: Top, length: Ints) -> tuple[Top, Ints]:
        """Return their lists, and how long these are as a whole."""
        if self.list_of is None:
            return top, length
        own = np.append(top.length, 0)[self.list_of]
        rows, _ = expand(top.starts[self.list_of], own)
        return top.take(rows, starts_of(own)), np.append(length, 0)[self.list_of]


def _owners(
    ids: Mapping[str, pl.Series], users: str | None, notes: list[str]
) -> Owners:
    """Decide whose lists are used."""
    run, judged = ids["run"], ids.get("qrels")
    if users in {None, "run"} or judged is None:
        return Owners(run)
    list_of = Index(run).find(judged)
    missing = int(np.count_nonzero(list_of < 0))
    apart = len(run) > 0 and missing == len(judged)
    if users == "both":
        judged, list_of = judged.filter(list_of >= 0), list_of[list_of >= 0]
    if missing and users != "awaited":
        fate = "left out" if users == "both" else "treated as an empty list"
        notes.append(Counted("", missing, "judged query", f" without a list: {fate}"))
    return Owners(judged, list_of, apart)


def with_catalogue(
    table: Recommended, side_data: SideData, side: KnownItems
) -> tuple[Recommended, tuple[str, ...]]:
    """Add the catalogue, and note what is shown besides.

    A size that is smaller than the number of items shown is refused.
    """
    size, shown = side_data.catalog, table.shown(None)
    if isinstance(size, int):
        seen = int(np.count_nonzero(shown))
        if seen > size:
            msg = (
                f"the catalogue has {count(size, 'item')}, but the lists show "
                f"{count(seen, 'different one')}"
            )
            raise DataError(msg)
        return replace(table, catalog=size), ()
    offered = side.offered(table.n_items)
    if offered is None:
        return table, ()
    n_offered = int(np.count_nonzero(offered))
    table = replace(table, catalog=n_offered, offered=offered)
    strange = table.counted(shown & ~offered)
    if not strange:
        return table, ()
    fate = f" not in {_WHERE[side_data.offers or '']}"
    return table, (Counted("", strange, "recommended item", fate),)


def _assumed(table: Recommended, side_data: SideData) -> tuple[str, ...]:
    """Say whose items are the catalogue, where nobody gave one."""
    if side_data.catalog is not None or table.catalog is None:
        return ()
    n = count(table.catalog, "item")
    said = (
        f"the catalogue is assumed to be the {n} of {side_data.offers}=; give another "
        "with catalog="
    )
    return (said,)


def _with_train(
    table: Recommended,
    side_data: SideData,
    side: KnownItems,
    owners: Owners,
    ids: Mapping[str, pl.Series],
) -> Recommended:
    """Add what users did before, who should have a list if nobody is judged."""
    train = side_data.train
    if train is None:
        return table
    user_of = side_data.find_users("train", ids["train"], owners.ids)
    if "qrels" not in ids:
        table = replace(table, awaited=len(train.users), covered=user_of >= 0)
    if train.had is None:
        return table
    had = Train(train.had, side.numbers("train"), table.n_items, user_of)
    return replace(table, train=had)


def _with_reference(
    table: Recommended,
    side_data: SideData,
    side: KnownItems,
    owners: Owners,
    ids: Mapping[str, pl.Series],
    duplicates: str,
    notes: list[str],
) -> Recommended:
    """Add the lists of another recommender, by the numbers of items."""
    others = side_data.ranked_reference
    if others is None:
        return table
    top, said = side.reference(duplicates)
    # Of all its lists, in every batch: not to be added up.
    notes += (*others.notes, *said)
    list_of = side_data.find_users("reference", ids["reference"], owners.ids)
    length = np.append(top.length, 0)[list_of]
    missing = int(np.count_nonzero((length == 0) & (table.length > 0)))
    if missing:
        fate = f" without a list in {others.name} to compare with"
        notes.append(Counted("", missing, "query", fate))
    rows, _ = expand(top.starts[list_of], length)
    rank = top.rank[rows].astype(np.float64)
    groups = Groups(starts_of(length), top.item[rows], rank)
    return replace(table, reference=groups)


def _with_judgements(
    table: Recommended,
    side_data: SideData,
    truth: Truth | None,
    items: Numbered,
    owners: Owners,
    ids: Mapping[str, pl.Series],
) -> Recommended:
    """Add the judged items of each user, who should have a list then."""
    if truth is None:
        return table
    judged = truth.judgements
    row = Index(owners.ids).find(ids["qrels"])
    owner = row[judged.pool.query]
    kept = np.flatnonzero(owner >= 0)
    kept = kept[np.argsort(owner[kept], kind="stable")]
    starts = starts_of(np.bincount(owner[kept], minlength=table.n_queries))
    covered = np.zeros(table.n_queries, dtype=np.bool_)
    covered[row[row >= 0]] = True
    table = replace(
        table,
        judged=Groups(starts, items.codes["qrels"][kept], judged.pool.grade[kept]),
        largest_grade=float(judged.pool.grade.max(initial=0)) or 1.0,
        awaited=len(row),
        covered=covered,
    )
    # Topics of items, where they are known, come before those of judgements.
    topics = None if side_data.features is None else side_data.features.topic
    subtopics = truth.subtopics if topics is None else None
    if subtopics is None:
        return table
    return _with_subtopics(table, judged, subtopics, kept)


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
    table: Recommended, side_data: SideData, side: KnownItems, items: Numbered
) -> Recommended:
    """Add features, topics or a distance, by the numbers of items."""
    features, n = side_data.features, table.n_items
    if features is None:
        return table
    if features.distance is not None:
        return replace(table, distance=Distance(features.distance, items.ids.to_list()))
    return replace(
        table,
        topics=side.topics(n),
        featured=side.featured(n),
        vectors=side.vectors(n),
    )


def _bare(table: Recommended) -> tuple[str, ...]:
    """Say how many of the items shown have no features."""
    if table.featured is None:
        return ()
    bare = table.counted(table.shown(None) & ~table.featured)
    fate = " without features: left out"
    return (Counted("", bare, "recommended item", fate),) if bare else ()


def counted(
    shown: list[pl.Series], side_data: SideData
) -> tuple[list[Ints], int, dict[str, Any]]:
    """Number items of which only counts are left, and find the catalogue."""
    names = [f"run {number}" for number in range(len(shown))]
    ids, _ = one_type(dict(zip(names, shown, strict=True)) | side_data.items, "item")
    columns = {name: ids.pop(name) for name in names}
    side = side_data.numbers(ids)
    codes, n_items, _ = side.with_others(columns)
    numbers = [codes[name] for name in names]
    every = np.concatenate([*numbers, np.zeros(0, dtype=np.int64)])
    none = np.zeros(1, dtype=np.int64)
    table, _ = with_catalogue(Recommended(none, every, none, n_items), side_data, side)
    return numbers, n_items, {"catalog": table.catalog, "offered": table.offered}
