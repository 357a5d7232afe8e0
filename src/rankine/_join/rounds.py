"""Logged rounds joined with what another policy would have shown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from rankine._base.blocks import at_once
from rankine._base.text import count, plural
from rankine._io.repeats import first_repeat
from rankine._join.ids import as_first
from rankine._join.logged import Policy
from rankine.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rankine._base.arrays import Floats, Ints
    from rankine._io.logs import Log

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
        rounds: what is known of the rounds.
        shown: the log.
        offered: what is recommended, and how often in all logged rounds.
        context: what rounds are matched by besides items.
        units: the same, with the kind of ids that users are.
    """

    rounds: Rounds
    shown: pl.DataFrame
    offered: pl.DataFrame
    context: list[str]
    units: tuple[str, ...]


def join(logged: Log, recommended: Log, k: int | None, *, over: str) -> Joined:
    """Join a log with recommendations.

    Args:
        logged: the rounds.
        recommended: what the new policy shows, with probabilities if it is random.
        k: how many items of each list are taken, the best predicted first.
        over: rounds are the ``logged`` ones, or the ``recommended`` pairs.
    """
    context = _context(logged, recommended)
    pair = [*context, "item"]
    offered = _offered(recommended, context, k)
    offered, notes = _same_types(logged, recommended, offered, pair)
    shown = logged.frame
    listed = Policy(shown, offered, context)
    works: list[Callable[[], Any]] = [listed.agreed, listed.unseen]
    agreed, is_unseen = at_once(works, shown.height)
    if agreed is None:
        raise _twice(offered, pair, recommended)
    # Without probabilities, they are the same for a whole list.
    chosen: Floats = 1 / listed.counts[listed.context.offered]
    if "probability" in offered.columns:
        chosen = offered["probability"].to_numpy().astype(np.float64)
    row, place = agreed.row, agreed.place
    same, guess = shown[row], offered["guess"].to_numpy()
    propensities = "propensity" in shown.columns
    unlogged = outside = 0
    if over == "recommended":
        alone = np.ones(offered.height, dtype=np.bool_)
        alone[place] = False
        other, number = guess[alone], np.ones(int(alone.sum()), dtype=np.int64)
        mine, direct = np.ones(len(place)), guess[place]
        weight = chosen
    else:
        mine, some = chosen[place], np.flatnonzero(listed.counts)
        sums = _sums(listed, chosen * guess)
        direct = sums[agreed.context]
        rest = agreed.rounds - np.bincount(agreed.context, minlength=listed.context.n)
        other, number = sums[some], rest[some]
        outside = shown.height - int(agreed.rounds[some].sum())
        unlogged = int(np.count_nonzero(agreed.rounds[some] == 0))
        weight = chosen * agreed.rounds[listed.context.offered]
    unseen = weight[is_unseen]
    rounds = Rounds(
        reward=same["reward"].cast(pl.Float64).to_numpy(),
        chosen=mine,
        propensity=same["propensity"].to_numpy() if propensities else np.ones(len(row)),
        predicted=guess[place],
        direct=direct,
        other=other,
        count=number,
        spread=logged.propensities,
        # Which matters where there are no propensities.
        n_items=0 if logged.propensities else shown["item"].n_unique(),
        unseen=share_of(unseen.sum(), weight.sum()),
        outside=outside,
        unlogged=unlogged,
        word=logged.unit if context == ["user"] else "context",
        said=(*_said(logged, recommended, context), *notes),
    )
    units = tuple(logged.unit if part == "user" else part for part in context)
    return Joined(rounds, shown, offered.with_columns(weight=weight), context, units)


def _said(logged: Log, recommended: Log, context: list[str]) -> Iterator[str]:
    """Say which columns were used, and where rounds are not matched by users."""
    for log in (logged, recommended):
        yield from log.said({*log.columns} - {"user", "position"} | {*context})
    if logged.has("user") and not recommended.has("user"):
        yield (
            f"{recommended.origin.name} has no column with a known name for users: "
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
                f"{recommended.origin.name} has a {part} column and "
                f"{logged.origin.name} has none, so they cannot be matched"
            )
            raise DataError(msg)
    return both


def _same_types(
    logged: Log, recommended: Log, offered: pl.DataFrame, parts: list[str]
) -> tuple[pl.DataFrame, tuple[str, ...]]:
    """Bring the ids that are recommended to the types of those in the log."""
    notes: tuple[str, ...] = ()
    names = logged.origin.name, recommended.origin.name
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
            f"{recommended.origin.name}: a probability is {chances.min():g}, below 0 "
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
            f"the probabilities of {who or 'all items'} in {recommended.origin.name} "
            f"add up to {worst['total']:g}, not to 1"
        )
        raise DataError(msg)


def _twice(offered: pl.DataFrame, pair: list[str], recommended: Log) -> DataError:
    first, _ = first_repeat(offered.select(pair)) or (0, 0)
    row = offered.row(first, named=True)
    who = ", ".join(f"{part} {row[part]!r}" for part in pair)
    return DataError(f"{recommended.origin.name} lists {who} twice")


def _sums(listed: Policy, values: Floats) -> Floats:
    """Add up a number of each recommended pair by context, the smallest first.

    So the order of rows does not matter.
    """
    context = listed.context.offered
    if int(listed.counts.max(initial=0)) > 1 and values.any():
        order = np.lexsort((values, context))
        context, values = context[order], values[order]
    total = np.bincount(context, weights=values, minlength=listed.context.n)
    return total.astype(np.float64, copy=False)
