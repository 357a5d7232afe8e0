"""Logged rounds matched with what another policy would have shown; they add up."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from rankine._base.blocks import at_once
from rankine._base.text import count, plural
from rankine._io.repeats import first_repeat
from rankine._join.ids import as_first, one_type
from rankine._join.policy import Policy
from rankine.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from rankine._base.arrays import Bools, Floats, Ints
    from rankine._io.logs import Log

_MATCH, _DISTINCT = 128, 64
"""Bytes that a round that matches takes until an estimate is made of it, and that an
item takes, besides four times its letters, until the items of two parts are one."""
_SUM = 1e-6
"""How far the probabilities of one context may be from 1 together."""
_ALL = "all"
"""The context where there is none."""
_ROOM = 1 << 20
"""How many prints can be added up."""
_SAID = 6
"""Notes on columns that are kept, where they differ by batch."""


@dataclass(frozen=True, eq=False)
class Contexts:
    """The contexts of some rounds by their ids, and what is recommended there.

    Attributes:
        units: what rounds are matched by besides items, with the kind of ids that users
            are.
        frame: a row for each: its ids, a ``print`` of what is recommended, null for
            nothing, and whether any round was ``logged`` there.
        once: whether all rounds of a context come together.
    """

    units: tuple[str, ...]
    frame: pl.DataFrame
    once: bool


@dataclass(frozen=True, eq=False)
class Rounds:
    """What is known about the rounds: each that matches, and how many others there are.

    Those of several logs add up, each with its own recommendations: `a + b`.

    Attributes:
        reward: what was earned in a round that matches.
        chosen: the probability that the new policy shows the item that was shown there.
        propensity: the probability with which it was shown.
        predicted: its predicted reward.
        direct: the predicted reward of what the new policy shows there.
        other: the same for rounds that do not match, each different one once.
        count: how many rounds there are of each of these.
        spread: the smallest and the largest propensity in the log, None without any.
        items: the different items of the log, if they matter.
        unseen: the share of the new policy's choices, in the logged rounds, that the
            log never shows.
        outside: how many logged rounds are left out because nothing is recommended
            there.
        unlogged: how many contexts with recommendations have no round.
        word: what a context is called.
        said: how columns were used.
        weight: the items that are recommended, and how often that is in all rounds;
            None if no rounds are added that have other recommendations.
        contexts: the contexts of the rounds; None if no rounds are added that have the
            same contexts and other recommendations.
    """

    reward: Floats
    chosen: Floats
    propensity: Floats
    predicted: Floats
    direct: Floats
    other: Floats
    count: Ints
    spread: tuple[float, float] | None = None
    items: pl.Series | None = None
    unseen: float = 0.0
    outside: int = 0
    unlogged: int = 0
    word: str = "user"
    said: tuple[str, ...] = ()
    weight: pl.DataFrame | None = None
    contexts: Contexts | None = None

    @property
    def notes(self) -> tuple[str, ...]:
        """Which columns were used, and what was left out, in sentences."""
        said = list(self.said)
        if self.outside:
            who = count(self.outside, "logged round")
            whose = plural(self.word)
            said.append(f"{who} of {whose} without recommendations: left out")
        if self.unlogged:
            who = count(self.unlogged, self.word)
            said.append(f"{who} with recommendations not in the log: not counted")
        return tuple(said)

    @property
    def matched(self) -> int:
        """The number of rounds in which the new policy shows what was shown."""
        return len(self.reward)

    @property
    def n(self) -> int:
        """The number of rounds."""
        return len(self.reward) + int(self.count.sum())

    def __add__(self, other: Rounds) -> Rounds:
        """Add rounds; where both have a context, the same is recommended to both."""
        if self.items is None or other.items is None:
            return NotImplemented
        if self.weight is None or other.weight is None:
            return NotImplemented
        contexts, unlogged = None, self.unlogged + other.unlogged
        notes: list[str] = []
        if self.contexts is not None and other.contexts is not None:
            _refuse_unlike(self, other)
            contexts = _both_contexts(self.contexts, other.contexts, notes)
            if not contexts.once:
                unlogged = int((~contexts.frame["logged"]).sum())
        columns: dict[str, Any] = {
            name: np.concatenate((getattr(self, name), getattr(other, name)))
            for name in _SEVERAL
        }
        frames = self.items.to_frame("item"), other.items.to_frame("item")
        items = pl.concat(_alike(*frames, ["item"], notes))["item"].unique()
        frames = _alike(self.weight, other.weight, ["item"], [])
        weight = pl.concat(frames).group_by("item").agg(pl.col("weight").sum())
        notes += [*self.said, *other.said]
        return Rounds(
            **columns,
            spread=_ends(self.spread, other.spread),
            items=items,
            unseen=_unseen(weight["weight"], weight["item"].is_in(items.implode())),
            outside=self.outside + other.outside,
            unlogged=unlogged,
            word=self.word,
            said=tuple(dict.fromkeys(notes))[:_SAID],
            weight=weight,
            contexts=contexts,
        )


_SEVERAL = ("reward", "chosen", "propensity", "predicted", "direct", "other", "count")


def _refuse_unlike(first: Rounds, other: Rounds) -> None:
    """Refuse rounds that are matched, or were drawn, in different ways."""
    units = [of.contexts.units for of in (first, other) if of.contexts is not None]
    if units[0] != units[1]:
        msg = "batches match rounds by different columns: " + " and ".join(
            map(", ".join, units)
        )
        raise DataError(msg)
    if (first.spread is None) != (other.spread is None):
        msg = "some batches have propensities, but others do not"
        raise DataError(msg)


def _both_contexts(first: Contexts, other: Contexts, notes: list[str]) -> Contexts:
    """Put contexts together; where both have one, the same is recommended there."""
    by = first.frame.columns[: -len(("print", "logged"))]
    frames = _alike(first.frame, other.frame, by, notes)
    again = frames[0].join(frames[1], on=by, suffix="_too")
    if again.height and first.once:
        msg = (
            f"rounds of {_who(again, by)} were in an earlier batch; with "
            "n='recommended', put all rounds of a list into one batch"
        )
        raise DataError(msg)
    apart = again.filter(pl.col("print").is_null() != pl.col("print_too").is_null())
    if apart.height:
        msg = (
            f"rounds of {_who(apart, by)} are in one batch and the recommendations in "
            "another; put both into the same batch"
        )
        raise DataError(msg)
    other_way = again.filter(pl.col("print") != pl.col("print_too"))
    if other_way.height:
        msg = (
            f"recommendations for {_who(other_way, by)} differ from those in an "
            "earlier batch"
        )
        raise DataError(msg)
    every = pl.concat(frames).group_by(by, maintain_order=True)
    both = every.agg(pl.col("print").first(), pl.col("logged").any())
    return replace(first, frame=both)


def _alike(
    first: pl.DataFrame, other: pl.DataFrame, ids: list[str], notes: list[str]
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Bring ids to one type; add a note where they were of two."""
    for name in ids:
        columns = {"some batches": first[name], "others": other[name]}
        brought, said = one_type(columns, name, to="some batches")
        first = first.with_columns(brought["some batches"].alias(name))
        other = other.with_columns(brought["others"].alias(name))
        notes += said
    return first, other


def _who(rows: pl.DataFrame, context: list[str]) -> str:
    if context == [_ALL]:
        return "all users"
    return _named(rows.sort(context).row(0, named=True), context)


def _named(row: dict[str, Any], parts: list[str]) -> str:
    return ", ".join(f"{part} {row[part]!r}" for part in parts)


def _ends(*spreads: tuple[float, float] | None) -> tuple[float, float] | None:
    """Return the smallest and the largest of several, None of none."""
    known = [ends for ends in spreads if ends is not None]
    if not known:
        return None
    return min(low for low, _ in known), max(high for _, high in known)


def _unseen(weight: pl.Series, seen: pl.Series) -> float:
    """Return the share of weights that is not seen.

    It is rounded so that the order of additions does not show.
    """
    whole = float(weight.to_numpy().sum())
    return round(float(weight.filter(~seen).to_numpy().sum()) / (whole or 1.0), 9)


class Tally:
    """What the rounds of a log add up to, of which all or some come at a time.

    Rounds that match are kept. The others are counted, by the list that they have in
    what is recommended.

    Attributes:
        context: what rounds are matched by besides items.
        columns: the column of each part of the log, and of what is recommended.
        unit: what the ids of users are.
    """

    def __init__(
        self,
        logged: Log,
        recommended: Log,
        k: int | None,
        *,
        over: str,
        own: bool = False,
    ) -> None:
        """Index what is recommended.

        Args:
            logged: all or the first rounds of the log, which say what its ids are.
            recommended: what the new policy shows, with probabilities if it is random.
            k: how many items of each list are taken, the best predicted first.
            over: rounds are the ``logged`` ones, or the ``recommended`` pairs.
            own: whether rounds will be added to them that have recommendations of
                their own.
        """
        self.context = _context(logged, recommended)
        self.columns = logged.columns, recommended.columns
        self.unit = logged.unit
        self._over, self._own = over, own
        # Their columns and types, not the rows, which would stay in memory.
        self._logged = replace(logged, frame=logged.frame.clear())
        self._recommended = replace(recommended, frame=recommended.frame.clear())
        offered = _offered(recommended, self.context, k)
        # Of the ids as they were, one is enough to compare their type with others.
        self._example = offered.head(1)
        offered, notes = self._same_types(logged, offered)
        self._notes = dict.fromkeys(notes)
        self._policy = policy = Policy(offered, self.context)
        if not policy.unique:
            raise _twice(offered, [*self.context, "item"], recommended)
        self._n_rounds: Ints = np.zeros(len(policy.sizes), dtype=np.int64)
        self._seen: Bools = np.zeros(len(policy.items.known) + 1, dtype=np.bool_)
        self._matches: list[tuple[Floats, Floats, Ints]] = []
        self._n_held = self._outside = 0
        self._items: pl.Series | None = None
        self._came: list[pl.DataFrame] = []
        self._spread: tuple[float, float] | None = None

    def add(self, logged: Log) -> None:
        """Add rounds: all of them, or some."""
        _, notes = self._same_types(logged, self._example)
        self._notes.update(dict.fromkeys(notes))
        log = logged.frame
        works: list[Callable[[], Any]] = [
            partial(self._policy.look, log),
            partial(self._policy.mark, log["item"], self._seen),
        ]
        shown, _ = at_once(works, log.height)
        earned = log["reward"].gather(shown.row).cast(pl.Float64).to_numpy()
        chance = np.ones(len(shown.row))
        if "propensity" in log.columns:
            chance = log["propensity"].gather(shown.row).to_numpy()
        self._matches.append((earned, chance, shown.place))
        self._n_held += len(shown.row)
        self._n_rounds += shown.rounds
        self._outside += log.height - int(shown.rounds[self._policy.sizes > 0].sum())
        self._spread = _ends(self._spread, logged.propensities)
        if self._own or not logged.has("propensity"):
            items = log["item"].unique()
            if self._items is not None:
                items = pl.concat((self._items, items)).unique()
            self._items = items
        if self._own:
            self._came.append(_by_context(log, self.context).unique())

    def note(self, notes: Iterable[str]) -> None:
        """Add notes on how the log was read."""
        self._notes.update(dict.fromkeys(notes))

    def _same_types(
        self, logged: Log, offered: pl.DataFrame
    ) -> tuple[pl.DataFrame, tuple[str, ...]]:
        """Bring the ids that are recommended to the types of those in the log."""
        notes: tuple[str, ...] = ()
        names = logged.name, self._recommended.name
        if names[0] == names[1]:
            names = "the log", "the recommendations"
        for part in (*self.context, "item"):
            word = self.unit if part == "user" else part
            ids, said = as_first(logged.frame[part], offered[part], word, names)
            notes += said
            offered = offered.with_columns(ids.alias(part))
        return offered, notes

    @property
    def held(self) -> dict[str, int]:
        """How many bytes are needed for what more rounds add to, by what it is."""
        items = self._items
        of_items = 0
        if items is not None:
            of_items = _DISTINCT * len(items) + 4 * int(items.estimated_size())
        return {
            "the rounds that match": _MATCH * self._n_held,
            "the different items of the log": of_items,
        }

    @property
    def rounds(self) -> Rounds:
        """What is known of the rounds that were added."""
        policy, over_pairs = self._policy, self._over == "recommended"
        frame, sizes, list_of = policy.frame, policy.sizes, policy.list_of
        offered = sizes > 0
        reward, propensity, place = map(
            np.concatenate, zip(*self._matches, strict=True)
        )
        guess: Floats = frame["guess"].to_numpy()
        chosen: Floats = 1 / sizes[list_of]
        if "probability" in frame.columns:
            chosen = frame["probability"].to_numpy().astype(np.float64)
        direct = _sums(policy, chosen * guess)
        weight = chosen if over_pairs else chosen * self._n_rounds[list_of]
        unseen = 0.0
        if not self._seen[:-1].all():
            seen = self._seen[policy.items.find(frame["item"])]
            unseen = _unseen(pl.Series(weight), pl.Series(seen))
        if over_pairs:
            other = guess[np.bincount(place, minlength=len(guess)) == 0]
            number = np.ones(len(other), dtype=np.int64)
            mine, of_list = np.ones(len(place)), guess[place]
        else:
            matched = np.bincount(list_of[place], minlength=len(sizes))
            other, number = direct[offered], (self._n_rounds - matched)[offered]
            mine, of_list = chosen[place], direct[list_of[place]]
        unlogged = int(np.count_nonzero(self._n_rounds[offered] == 0))
        return Rounds(
            reward=reward,
            chosen=mine,
            propensity=propensity,
            predicted=guess[place],
            direct=of_list,
            other=other,
            count=number,
            spread=self._spread,
            items=self._items,
            unseen=unseen,
            outside=0 if over_pairs else self._outside,
            unlogged=0 if over_pairs else unlogged,
            word=self.unit if self.context == ["user"] else "context",
            said=(
                *_said(self._logged, self._recommended, self.context),
                *self._notes,
            ),
            weight=self._by_item(weight) if self._own else None,
            contexts=self._contexts() if self._own else None,
        )

    def _by_item(self, weight: Floats) -> pl.DataFrame:
        by_row = self._policy.frame.select("item", weight=weight)
        return by_row.group_by("item").agg(pl.col("weight").sum())

    def _contexts(self) -> Contexts:
        offered = self._policy.frame
        what = [name for name in ("guess", "probability") if name in offered.columns]
        # Ids as texts, as which they are compared where their types differ.
        prints = pl.struct(pl.col("item").cast(pl.String), *what).hash() // _ROOM
        lists = _by_context(offered.with_columns(print=prints), self.context, "print")
        by = self.context or [_ALL]
        recommended = lists.group_by(by).agg(pl.col("print").sum())
        logged = pl.concat(self._came).unique().with_columns(logged=pl.lit(value=True))
        every = recommended.join(logged, on=by, how="full", coalesce=True)
        every = every.with_columns(pl.col("logged").fill_null(value=False))
        units = tuple(self.unit if part == "user" else part for part in by)
        return Contexts(units, every, self._over == "recommended")


def _by_context(frame: pl.DataFrame, context: list[str], *more: str) -> pl.DataFrame:
    """Return the context of each row, and other columns."""
    everybody = frame.with_columns(pl.lit(0).alias(_ALL))
    return everybody.select(*(context or [_ALL]), *more)


def _said(logged: Log, recommended: Log, context: list[str]) -> Iterator[str]:
    """Say which columns were used, and where rounds are not matched by users."""
    for log in (logged, recommended):
        yield from log.said({*log.columns} - {"user", "position"} | {*context})
    if logged.has("user") and not recommended.has("user"):
        yield (
            f"{recommended.name} has no column with a known name for users, so "
            "everyone is recommended the same items"
        )


def _context(logged: Log, recommended: Log) -> list[str]:
    """Return what rounds of both tables are matched by: users, and positions."""
    both = []
    for part in ("user", "position"):
        if logged.has(part) and recommended.has(part):
            both.append(part)
        elif recommended.has(part):
            msg = (
                f"{recommended.name} has a {part} column and "
                f"{logged.name} has none, so they cannot be matched"
            )
            raise DataError(msg)
    return both


def _offered(recommended: Log, context: list[str], k: int | None) -> pl.DataFrame:
    """Return what the new policy shows: each pair, and with which probability."""
    frame = recommended.frame
    guess = pl.col("predicted") if recommended.has("predicted") else pl.lit(0.0)
    frame = frame.with_columns(guess.alias("guess"))
    if k is not None:
        if recommended.has("predicted"):
            frame = frame.sort("guess", descending=True, maintain_order=True)
        place = (
            pl.int_range(pl.len()).over(context) if context else pl.int_range(pl.len())
        )
        frame = frame.filter(place < k)
    if recommended.has("probability"):
        _check_probabilities(frame, context, recommended)
        frame = frame.filter(pl.col("probability") > 0)
        return frame.select(*context, "item", "guess", "probability")
    return frame.select(*context, "item", "guess")


def _check_probabilities(
    frame: pl.DataFrame, context: list[str], recommended: Log
) -> None:
    chances = frame["probability"].to_numpy()
    if (chances < 0).any():
        msg = f"{recommended.name}: a probability is {chances.min():g}, below 0"
        raise DataError(msg)
    total = pl.col("probability").sum().alias("total")
    sums = (
        frame.group_by(context, maintain_order=True).agg(total)
        if context
        else frame.select(total)
    )
    gap = (sums["total"] - 1).abs()
    if len(gap) and float(gap.max()) > _SUM:  # type: ignore[arg-type]
        worst = sums.row(int(gap.arg_max() or 0), named=True)
        who = _named(worst, context)
        msg = (
            f"the probabilities of {who or 'all items'} in {recommended.name} "
            f"add up to {worst['total']:g}, not to 1"
        )
        raise DataError(msg)


def _twice(offered: pl.DataFrame, pair: list[str], recommended: Log) -> DataError:
    first, _ = first_repeat(offered.select(pair)) or (0, 0)
    who = _named(offered.row(first, named=True), pair)
    return DataError(f"{recommended.name} lists {who} twice")


def _sums(policy: Policy, values: Floats) -> Floats:
    """Add up a number of each recommended row over its list, the smallest first.

    So the order of rows does not matter.
    """
    lists = policy.list_of
    if policy.longest > 1 and values.any():
        order = np.lexsort((values, lists))
        lists, values = lists[order], values[order]
    total = np.bincount(lists, weights=values, minlength=len(policy.sizes))
    return total.astype(np.float64, copy=False)
