"""Logged rounds joined with what another policy would have shown."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from rankine._base.blocks import at_once
from rankine._base.records import cached_property
from rankine._base.text import count, plural
from rankine._io.repeats import first_repeat
from rankine._join.ids import as_first
from rankine._join.logged import Policy
from rankine.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rankine._base.arrays import Bools, Floats, Ints
    from rankine._io.logs import Log

_MATCH, _DISTINCT = 128, 64
"""Bytes that a round that matches takes until an estimate is made of it, and that an
item takes, besides four times its letters, until the items of two parts are one."""
_SUM = 1e-6
"""How far the probabilities of one context may be from 1 together."""


@dataclass(frozen=True, eq=False)
class Rounds:
    """What is known about the rounds: each that matches, and how many others there are.

    Attributes:
        reward: what was earned in a round that matches.
        chosen: the probability that the new policy shows the item that was shown there.
        propensity: the probability with which it was shown.
        predicted: its predicted reward.
        direct: the predicted reward of what the new policy shows there.
        other: the same for rounds that do not match, each different one once.
        count: how many rounds there are of each of these.
        spread: the smallest and the largest propensity in the log, None without any.
        n_items: how many different items the log has, if that matters.
        unseen: the share of the new policy's choices, in the logged rounds, that the
            log never shows.
        outside: how many logged rounds are left out because nothing is recommended
            there.
        unlogged: how many contexts with recommendations have no round.
        word: what a context is called.
        said: how columns were used.
    """

    reward: Floats
    chosen: Floats
    propensity: Floats
    predicted: Floats
    direct: Floats
    other: Floats
    count: Ints
    spread: tuple[float, float] | None = None
    n_items: int = 0
    unseen: float = 0.0
    outside: int = 0
    unlogged: int = 0
    word: str = "user"
    said: tuple[str, ...] = ()

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


@dataclass(frozen=True, eq=False)
class Joined:
    """A log and recommendations, whose ids are of the same types.

    Attributes:
        tally: what the rounds add up to.
        shown: the log.
        units: what rounds are matched by besides items, with the kind of ids that users
            are.
    """

    tally: Tally
    shown: pl.DataFrame
    units: tuple[str, ...]

    @cached_property
    def rounds(self) -> Rounds:
        """What is known of the rounds."""
        return self.tally.rounds

    @property
    def context(self) -> list[str]:
        """What rounds are matched by besides items."""
        return self.tally.context

    @property
    def offered(self) -> pl.DataFrame:
        """What is recommended, and how often in all logged rounds."""
        return self.tally.offered.with_columns(weight=self.tally.weight)


def join(logged: Log, recommended: Log, k: int | None, *, over: str) -> Joined:
    """Join a log with recommendations.

    Args:
        logged: the rounds.
        recommended: what the new policy shows, with probabilities if it is random.
        k: how many items of each list are taken, the best predicted first.
        over: rounds are the ``logged`` ones, or the ``recommended`` pairs.
    """
    tally = Tally(logged, recommended, k, over=over)
    tally.add(logged)
    units = tuple(logged.unit if part == "user" else part for part in tally.context)
    return Joined(tally, logged.frame, units)


class Tally:
    """What rounds add up to, of a log that may come in parts.

    Rounds that match are kept. The others are counted, by the context that they have
    in what is recommended, which has to be at hand.

    Attributes:
        context: what rounds are matched by besides items.
        offered: what is recommended, with ids of the types that the log has.
        columns: the column of each part of the log, and of what is recommended.
        unit: what the ids of users are.
    """

    def __init__(
        self, logged: Log, recommended: Log, k: int | None, *, over: str
    ) -> None:
        """Prepare for a log, of which all or the first part is given."""
        self.context = _context(logged, recommended)
        self.columns = logged.columns, recommended.columns
        self.unit = logged.unit
        self._pair = [*self.context, "item"]
        # Its columns and their types, not its rows, which would stay in memory.
        self._first = replace(logged, frame=logged.frame.clear())
        self._recommended, self._over = recommended, over
        self._plain = _offered(recommended, self.context, k)
        self.offered, _ = _same_types(logged, recommended, self._plain, self._pair)
        n = self.offered.height
        self._guess: Floats = self.offered["guess"].to_numpy()
        self._chosen: Floats = np.zeros(n)
        self._direct: Floats = np.zeros(n)
        self._is_first: Bools = np.zeros(n, dtype=np.bool_)
        self._unseen: Bools = np.ones(n, dtype=np.bool_)
        self._alone: Bools = np.ones(n, dtype=np.bool_)
        self._n_rounds: Ints = np.zeros(n, dtype=np.int64)
        self._n_matched: Ints = np.zeros(n, dtype=np.int64)
        self._matches: list[tuple[Floats, Floats, Ints]] = []
        self._n_held = 0
        self._items: pl.Series | None = None
        self._spread: tuple[float, float] | None = None
        self._outside = 0
        self._notes: dict[str, None] = {}

    def add(self, logged: Log) -> None:
        """Add rounds: all of them, or a part."""
        types = _same_types(logged, self._recommended, self._plain, self._pair)
        self._notes.update(dict.fromkeys(types[1]))
        shown = logged.frame
        listed = Policy(shown, self.offered, self.context)
        works: list[Callable[[], Any]] = [listed.agreed, listed.unseen]
        agreed, is_unseen = at_once(works, shown.height)
        if agreed is None:
            raise _twice(self.offered, self._pair, self._recommended)
        if not self._matches:
            self._look_at_lists(listed)
        row, place = agreed.row, agreed.place
        earned = shown["reward"].gather(row).cast(pl.Float64).to_numpy()
        chance = np.ones(len(row))
        if "propensity" in shown.columns:
            chance = shown["propensity"].gather(row).to_numpy()
        self._matches.append((earned, chance, place))
        self._n_held += len(row)
        of_offered = listed.context.offered
        self._n_rounds += agreed.rounds[of_offered]
        here = np.bincount(agreed.context, minlength=listed.context.n)
        self._n_matched += here[of_offered]
        self._alone[place] = False
        self._unseen &= is_unseen
        self._outside += shown.height - int(agreed.rounds[listed.counts > 0].sum())
        self._see_propensities(logged)

    def _look_at_lists(self, listed: Policy) -> None:
        """See what is recommended in each context, which no round changes."""
        of_offered = listed.context.offered
        # Without probabilities, they are the same for a whole list.
        alone = listed.longest <= 1
        self._chosen = np.ones(len(of_offered))
        if not alone:
            self._chosen /= listed.counts[of_offered]
        if "probability" in self.offered.columns:
            self._chosen = self.offered["probability"].to_numpy().astype(np.float64)
        self._direct = _sums(listed, self._chosen * self._guess)
        if alone:
            self._is_first[:] = True
            return
        first = np.zeros(listed.context.n, dtype=np.int64)
        first[of_offered[::-1]] = np.arange(len(of_offered))[::-1]
        self._is_first[first[listed.counts > 0]] = True

    def _see_propensities(self, logged: Log) -> None:
        ends = logged.propensities
        if ends is None:  # the number of items matters instead
            items = logged.frame["item"].unique()
            if self._items is not None:
                items = pl.concat((self._items, items)).unique()
            self._items = items
        elif self._spread is None:
            self._spread = ends
        else:
            self._spread = min(self._spread[0], ends[0]), max(self._spread[1], ends[1])

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
    def weight(self) -> Floats:
        """How often each pair that is recommended would be shown in all rounds."""
        by_pairs = self._over == "recommended"
        return self._chosen if by_pairs else self._chosen * self._n_rounds

    @property
    def rounds(self) -> Rounds:
        """What is known of the rounds that were added."""
        reward, propensity, place = map(
            np.concatenate, zip(*self._matches, strict=True)
        )
        guess, first = self._guess, self._is_first
        unlogged = outside = 0
        if self._over == "recommended":
            other = guess[self._alone]
            number = np.ones(len(other), dtype=np.int64)
            mine, direct = np.ones(len(place)), guess[place]
        else:
            other = self._direct[first]
            number = (self._n_rounds - self._n_matched)[first]
            mine, direct = self._chosen[place], self._direct[place]
            outside = self._outside
            unlogged = int(np.count_nonzero(self._n_rounds[first] == 0))
        weight, logged = self.weight, self._first
        return Rounds(
            reward=reward,
            chosen=mine,
            propensity=propensity,
            predicted=guess[place],
            direct=direct,
            other=other,
            count=number,
            spread=self._spread,
            n_items=0 if self._items is None else len(self._items),
            unseen=share_of(weight[self._unseen].sum(), weight.sum()),
            outside=outside,
            unlogged=unlogged,
            word=logged.unit if self.context == ["user"] else "context",
            said=(*_said(logged, self._recommended, self.context), *self._notes),
        )


def _said(logged: Log, recommended: Log, context: list[str]) -> Iterator[str]:
    """Say which columns were used, and where rounds are not matched by users."""
    for log in (logged, recommended):
        yield from log.said({*log.columns} - {"user", "position"} | {*context})
    if logged.has("user") and not recommended.has("user"):
        yield (
            f"{recommended.name} has no column with a known name for users: "
            "everyone is recommended the same items"
        )


def share_of(part: float, whole: float) -> float:
    """Return a share, rounded so that the order of additions does not show."""
    return round(float(part) / (float(whole) or 1.0), 9)


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


def _same_types(
    logged: Log, recommended: Log, offered: pl.DataFrame, parts: list[str]
) -> tuple[pl.DataFrame, tuple[str, ...]]:
    """Bring the ids that are recommended to the types of those in the log."""
    notes: tuple[str, ...] = ()
    names = logged.name, recommended.name
    if names[0] == names[1]:
        names = "the log", "what is recommended"
    for part in parts:
        word = logged.unit if part == "user" else part
        ids, said = as_first(logged.frame[part], offered[part], word, names)
        notes += said
        offered = offered.with_columns(ids.alias(part))
    return offered, notes


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
        msg = (
            f"{recommended.name}: a probability is {chances.min():g}, below 0 "
            f"({count(int((chances < 0).sum()), 'such row')} in all)"
        )
        raise DataError(msg)
    total = pl.col("probability").sum().alias("total")
    sums = frame.group_by(context).agg(total) if context else frame.select(total)
    gap = (sums["total"] - 1).abs()
    if len(gap) and float(gap.max()) > _SUM:  # type: ignore[arg-type]
        worst = sums.row(int(gap.arg_max() or 0), named=True)
        who = ", ".join(f"{part} {worst[part]!r}" for part in context)
        msg = (
            f"the probabilities of {who or 'all items'} in {recommended.name} "
            f"add up to {worst['total']:g}, not to 1"
        )
        raise DataError(msg)


def _twice(offered: pl.DataFrame, pair: list[str], recommended: Log) -> DataError:
    first, _ = first_repeat(offered.select(pair)) or (0, 0)
    row = offered.row(first, named=True)
    who = ", ".join(f"{part} {row[part]!r}" for part in pair)
    return DataError(f"{recommended.name} lists {who} twice")


def _sums(listed: Policy, values: Floats) -> Floats:
    """Add up a number of each recommended pair over its context, the smallest first.

    So the order of rows does not matter.
    """
    if listed.longest <= 1:
        return values + 0.0  # a sum has no -0.0
    context = listed.context.offered
    if values.any():
        order = np.lexsort((values, context))
        context, values = context[order], values[order]
    total = np.bincount(context, weights=values, minlength=listed.context.n)
    return total.astype(np.float64, copy=False)[listed.context.offered]
