"""What lists show, batch by batch, in whole numbers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import polars as pl

from rankine._join.context import counted
from rankine._metrics.lists.kind import ListMetric
from rankine._tables.lists import Recommended, Tally

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankine._evaluate.evaluate import Job
    from rankine._evaluate.plan import Group
    from rankine._join.context import Listed
    from rankine._metrics.metric import Metric

_Key: TypeAlias = tuple[int | None, bool]
_FRAMES = 5
"""Frames of counts that are kept before they are added up."""


@dataclass(eq=False)
class Shown:
    """What all lists of a group show, in whole numbers.

    Attributes:
        tallies: cutoff, and whether items that repeat count once -> frames of item,
            length of the list, and how often.
        lists: the same -> how many lists there are of each length.
        served: how many lists are long enough, by cutoff, length and whose they are.
        n_lists: how many lists there are.
        judged: how many users have judgements, if any has.
        trained: how many users the training data have.
    """

    tallies: dict[_Key, list[pl.DataFrame]] = field(default_factory=dict)
    lists: dict[_Key, list[Any]] = field(default_factory=dict)
    served: dict[tuple[Any, ...], int] = field(default_factory=dict)
    n_lists: int = 0
    judged: int | None = None
    trained: int | None = None

    def add(self, other: Shown) -> None:
        """Add what other lists show."""
        for k, frames in other.tallies.items():
            self.tallies.setdefault(k, []).extend(frames)
            if len(self.tallies[k]) > _FRAMES:
                self.tallies[k] = [_added(self.tallies[k])]
        for k, lists in other.lists.items():
            self.lists.setdefault(k, []).extend(lists)
        for key, n in other.served.items():
            self.served[key] = self.served.get(key, 0) + n
        self.n_lists += other.n_lists
        if other.judged is not None:
            self.judged = (self.judged or 0) + other.judged
        self.trained = other.trained or self.trained


def _added(frames: Sequence[pl.DataFrame]) -> pl.DataFrame:
    kinds = {frame["item"].dtype for frame in frames}
    if len(kinds) > 1:
        text = pl.col("item").cast(pl.String)
        frames = [frame.with_columns(text) for frame in frames]
    return pl.concat(frames).group_by("item", "length").agg(pl.col("n").sum())


def is_tallied(metric: Metric) -> bool:
    """Say whether a metric is a number of all lists together."""
    return metric.fact.summary == "run" or metric.fact.pairs is not None


def shown_in(group: Group, listed: Listed, *, judged: bool) -> Shown:
    """Count what the lists of a batch show, as far as any metric asks."""
    table, items = listed.table, listed.items
    made = Shown(n_lists=table.n_queries)
    if judged:
        made.judged = table.awaited
    else:
        made.trained = table.awaited
    if items is None:
        return made
    for _, metric, _ in group.members:
        if not isinstance(metric, ListMetric) or not is_tallied(metric):
            continue
        k = metric.depth
        if metric.takes("least"):
            least = metric.get("least") or k or 1
            for awaited in (True, False):
                n = table.n_served(k, least, awaited=awaited)
                made.served["served", k, least, awaited] = n
            continue
        once = metric.fact.pairs is not None and table.repeats
        if (k, once) not in made.tallies:
            tally = table.tally(k, once=once)
            made.lists[k, once] = [tally.lists]
            made.tallies[k, once] = [
                pl.DataFrame(
                    {
                        "item": items.gather(at := np.flatnonzero(own)).alias("item"),
                        "length": np.full(len(at), length),
                        "n": own[at],
                    }
                )
                for length, own in tally.by_length.items()
            ]
    return made


def table_of(shown: Shown, job: Job) -> Recommended:
    """Return a table of lists of which only the tallies are known."""
    starts = np.zeros(shown.n_lists + 1, dtype=np.int64)
    none = np.zeros(0, dtype=np.int64)
    memo: dict[Any, Any] = dict(shown.served)
    frames = {k: _added(own) for k, own in shown.tallies.items() if own}
    ids = [frame["item"] for frame in frames.values()]
    codes, n_items, catalogue = counted(ids, job.known)
    for (key, frame), code in zip(frames.items(), codes, strict=True):
        length, n = frame["length"].to_numpy(), frame["n"].to_numpy()
        by_length: dict[int, Any] = {}
        for own in np.unique(length):
            made = np.zeros(n_items, dtype=np.int64)
            rows = length == own
            made[code[rows]] = n[rows]
            by_length[int(own)] = made
        memo["tally", *key] = Tally(by_length, _sum(shown.lists[key]))
    for key, lists in shown.lists.items():
        memo.setdefault(("tally", *key), Tally({}, _sum(lists)))
    awaited = shown.trained if shown.judged is None else shown.judged
    return Recommended(
        starts,
        none,
        none,
        n_items,
        awaited=awaited,
        repeats=any(once for _, once in shown.tallies),
        memo=memo,
        **catalogue,
    )


def _sum(lists: Sequence[Any]) -> Any:
    made = np.zeros(max(map(len, lists)), dtype=np.int64)
    for own in lists:
        made[: len(own)] += own
    return made
