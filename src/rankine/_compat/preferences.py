"""Preference measures: how many judged preferences a ranking fulfils.

A group of judgements prefers one item to another if its level is higher. A group in
parts has what its parts prefer, and what follows from that. An item that is retrieved
comes before one that is not.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from rankine.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rankine._base.arrays import Bools, Floats

Levels = dict[str, dict[str, float]]
"""The levels of items in the parts of a group."""
_NOT_JUDGED = -1.0
_PAIRS = {"": {}, "_ret": {"found": True}, "_imp": {"implied": True}}
"""By the ends of names, which pairs count: all; both retrieved; one at least."""


@dataclass(frozen=True, slots=True, eq=False)
class _Group:
    """A group of judgements; items are numbered by rank, those retrieved first.

    Attributes:
        wanted: whether item i is preferred to item j.
        level: of each item; -1 for items that the group does not judge.
        n_found: how many of the items are retrieved.
        in_parts: whether it has several parts.
    """

    wanted: Bools
    level: Floats
    n_found: int
    in_parts: bool

    def counts(self, *, found: bool = False, implied: bool = False) -> tuple[int, int]:
        """Count the preferences that are fulfilled, and those that are possible.

        Args:
            found: only those with both items retrieved.
            implied: only those with one item retrieved, or both.
        """
        n, wanted = self.n_found, self.wanted
        if found:
            wanted = wanted[:n, :n]
        fulfilled = int(np.count_nonzero(np.triu(wanted, 1)[:n]))
        neither = int(np.count_nonzero(self.wanted[n:, n:])) if implied else 0
        return fulfilled, int(np.count_nonzero(wanted)) - neither

    def balanced(self, *, found: bool) -> float:
        """Return the share fulfilled with as many items of level 0 as of others.

        Those at the end are left out, or as many are added as are missing.
        """
        end = self.n_found if found else len(self.level)
        relevant, zero = self.level > 0, self.level == 0
        n_relevant, n_zero = relevant[:end].sum(), zero[:end].sum()
        if n_relevant >= n_zero:
            fulfilled, possible = self.counts(found=found)
            more = n_relevant - n_zero
            fulfilled += relevant[: self.n_found].sum() * more
            possible += relevant.sum() * more
            return _share(fulfilled, possible)
        if self.in_parts:
            # trec_eval keeps as many as there are relevant items, retrieved or not.
            late = zero & (np.cumsum(zero) > relevant.sum())
            kept = self.wanted & ~late & ~late[:, None]
        else:
            # trec_eval also compares all items of level 0 with those that it keeps.
            first = zero & (np.cumsum(zero) <= n_relevant)
            kept = (self.wanted & ~zero) | (first & (self.level >= 0)[:, None])
        kept = kept[:end, :end]
        fulfilled = int(np.count_nonzero(np.triu(kept, 1)[: self.n_found]))
        return _share(fulfilled, int(np.count_nonzero(kept)))


def _share(fulfilled: int, possible: int) -> float:
    return fulfilled / possible if possible else math.nan


def preferences(
    groups: Mapping[str, Levels], ranking: Sequence[str], query: str
) -> dict[str, float]:
    """Return the values of all preference measures for a query.

    Args:
        groups: the judgements.
        ranking: the retrieved items, in order.
        query: the id of the query, for messages.
    """
    judged = {
        item for parts in groups.values() for own in parts.values() for item in own
    }
    found = [item for item in ranking if item in judged]
    rest = sorted(judged.difference(found), key=str.encode)
    place = {item: number for number, item in enumerate([*found, *rest])}
    made = [
        _group(groups[name], place, len(found), f"group {name} of query {query}")
        for name in sorted(groups, key=str.encode)
    ]
    values: dict[str, float] = {}
    both = [(group.counts(), group) for group in made]
    values["prefs_num_prefs_poss"] = sum(possible for (_, possible), _ in both)
    values["prefs_num_prefs_ful"] = sum(fulfilled for (fulfilled, _), _ in both)
    values["prefs_num_prefs_ful_ret"] = sum(
        group.counts(found=True)[0] for group in made
    )
    for end, which in (
        ("", {}),
        ("_ret", {"found": True}),
        ("_imp", {"implied": True}),
    ):
        counts = [group.counts(**which) for group in made]
        fulfilled, possible = map(sum, zip(*counts, strict=True))
        values[f"prefs_num_prefs_ful{end}"] = fulfilled
        values[f"prefs_num_prefs_poss{end}"] = possible
        values[f"prefs_simp{end}"] = fulfilled / possible if possible else 0
        shares = [one / all_ for one, all_ in counts if all_]
        values[f"prefs_avgjg{end}"] = sum(shares) / len(made)
        values[f"prefs_pair{end}"] = _by_pair(made, **which)
    for end, of_found in (("", False), ("_ret", True)):
        total = sum(group.balanced(found=of_found) for group in made)
        values[f"prefs_avgjg_Rnonrel{end}"] = total / len(made) if total > 0 else 0
    return values


def _by_pair(
    groups: Sequence[_Group], *, found: bool = False, implied: bool = False
) -> float:
    """Return the share of groups that a pair fulfils, averaged over pairs."""
    n = groups[0].n_found
    votes = np.sum([group.wanted for group in groups], axis=0)
    up = np.triu(votes + votes.T, 1)
    if found:
        up[:, n:] = 0
    if implied:
        up[n:] = 0
    paired = up > 0
    shares = votes[paired] / up[paired]
    shares[np.nonzero(paired)[0] >= n] = 0
    return float(shares.mean()) if len(shares) else 0.0


def _group(parts: Levels, place: Mapping[str, int], n_found: int, where: str) -> _Group:
    n = len(place)
    wanted = np.zeros((n, n), dtype=np.bool_)
    level = np.full(n, _NOT_JUDGED)
    for own in parts.values():
        rows = np.array([place[item] for item in own])
        levels = np.array([*own.values()])
        known = level[rows]
        mixed = (np.minimum(known, levels) == 0) & (np.maximum(known, levels) > 0)
        if mixed.any():
            item = [*own][int(mixed.argmax())]
            msg = f"{where}: item {item} has level 0 in one part and more in another"
            raise DataError(msg)
        level[rows] = levels
        wanted[np.ix_(rows, rows)] |= levels[:, None] > levels
    if len(parts) > 1:
        wanted = _with_what_follows(wanted, where)
    return _Group(wanted, level, n_found, len(parts) > 1)


def _with_what_follows(wanted: Bools, where: str) -> Bools:
    """Add that a is preferred to c, if a is preferred to b, and b to c."""
    while True:
        steps = wanted.astype(np.float32)
        more = wanted | (steps @ steps > 0)
        if (more & more.T).any():
            msg = f"{where} prefers an item to one that it prefers to the first"
            raise DataError(msg)
        if (more == wanted).all():
            return wanted
        wanted = more
