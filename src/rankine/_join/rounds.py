"""Logged rounds joined with what another policy would have shown."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import polars as pl

from rankine._base.blocks import by_blocks, by_halves
from rankine._base.cached import cached_property
from rankine._base.text import count, plural
from rankine._io.repeats import first_repeat
from rankine._join.ids import SPARSE, Index, as_first, as_they_are
from rankine._tables.groups import marked
from rankine._tables.keys import KeyTable, spread
from rankine._tables.segments import starts_of
from rankine.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankine._base.arrays import AnyArray, Bools, Floats, Ints
    from rankine._io.logs import Log

_SHORT = 8
"""Items of a list that are looked at one after the other."""
_NOTHING = -2
"""What no item is numbered by."""
_NONE: Ints = np.zeros(0, dtype=np.int64)
_SUM = 1e-6
"""How far the probabilities of one context may be from 1 together."""


@dataclass(frozen=True, eq=False)
class Rounds:
    """What is known of the rounds: of each that matches, and how many others there are.

    Attributes:
        reward: what was earned in a round that matches.
        chosen: the probability that the new policy shows what was shown there.
        propensity: the probability with which it was shown.
        predicted: its predicted reward.
        direct: the predicted reward of what the new policy shows there.
        other: the same for rounds that do not match, each different one once.
        count: how many rounds there are of each of these.
        spread: the smallest and the largest propensity of the log, None without any.
        n_items: how many different items the log has, if that matters.
        unseen: the share of the new policy's choices, in the rounds logged, of items
            that no log has.
        outside: how many logged rounds are left out, as nothing is recommended there.
        unlogged: how many contexts with recommendations have no round.
        word: what a context is called.
        said: which columns were taken for what.
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
        """Which columns were taken, and what was left out, in sentences."""
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
        offered: what is recommended, and how often in all rounds that were logged.
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
        recommended: what the new policy shows, with probabilities if it draws.
        k: how many items of each list are taken, the best predicted first.
        over: rounds are the ``logged`` ones, or the ``recommended`` pairs.
    """
    context = _context(logged, recommended)
    pair = [*context, "item"]
    offered = _offered(recommended, context, k)
    offered, notes = _same_types(logged, recommended, offered, pair)
    shown = logged.frame
    codes = coded(shown, offered, context)
    # Without probabilities, they are the same for a whole list.
    chosen: Floats = 1 / codes.counts[codes.context.offered]
    if "probability" in offered.columns:
        chosen = offered["probability"].to_numpy().astype(np.float64)
    same_pairs = matched(codes)
    if same_pairs is None:
        raise _twice(offered, pair, recommended)
    row, place = same_pairs
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
        mine, some = chosen[place], np.flatnonzero(codes.counts)
        sums = codes.sums(chosen * guess)
        here = codes.context.shown[row]
        direct = sums[here]
        rest = codes.rounds - np.bincount(here, minlength=codes.context.n)
        other, number = sums[some], rest[some]
        outside = shown.height - int(codes.rounds[some].sum())
        unlogged = int(np.count_nonzero(codes.rounds[some] == 0))
        weight = chosen * codes.rounds[codes.context.offered]
    unseen = weight[~codes.seen[codes.item.offered]]
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
    """Say which columns were taken, and where rounds are not matched by users."""
    for log in (logged, recommended):
        yield from log.said({*log.columns} - {"user", "position"} | {*context})
    if logged.has("user") and not recommended.has("user"):
        yield (
            f"{recommended.origin.name} has no column with a known name for users: "
            "everyone is recommended the same"
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


class Numbers(NamedTuple):
    """Ids by numbers.

    Attributes:
        shown: the number of each logged row, -1 if nothing that is recommended has it.
        offered: that of each recommended row.
        n: how many numbers there are.
        unknown: whether any may be -1.
    """

    shown: Ints
    offered: Ints
    n: int
    unknown: bool = False


@dataclass(frozen=True, eq=False)
class Codes:
    """Contexts and items by numbers."""

    context: Numbers
    item: Numbers

    @cached_property
    def counts(self) -> Ints:
        """How many pairs are recommended in each context."""
        return np.bincount(self.context.offered, minlength=self.context.n)

    @cached_property
    def rounds(self) -> Ints:
        """How many rounds were logged in each context."""
        shown, n = self.context.shown, self.context.n
        if self.context.unknown:
            shown = shown[shown >= 0]
        parts = by_halves(
            lambda rows: np.bincount(shown[rows], minlength=n), len(shown), len(shown)
        )
        return sum(parts[1:], parts[0])

    @cached_property
    def seen(self) -> Bools:
        """Which items the log has."""
        shown, n = self.item.shown, self.item.n + 1
        parts = by_halves(lambda rows: marked(shown[rows], n), len(shown), len(shown))
        seen: Bools = np.logical_or.reduce(parts)
        return seen[:-1]

    def sums(self, values: Floats) -> Floats:
        """Add up a number of each recommended pair by context, the smallest first.

        So the order of rows does not matter.
        """
        context = self.context.offered
        if int(self.counts.max(initial=0)) > 1 and values.any():
            order = np.lexsort((values, context))
            context, values = context[order], values[order]
        total = np.bincount(context, weights=values, minlength=self.context.n)
        return total.astype(np.float64, copy=False)


def coded(shown: pl.DataFrame, offered: pl.DataFrame, context: list[str]) -> Codes:
    """Give contexts and items numbers."""
    items = _of_column(shown["item"], offered["item"])
    if not context:
        return Codes(Numbers(0 * items.shown, 0 * items.offered, 1), items)
    numbers = (_of_column(shown[part], offered[part]) for part in context)
    return Codes(reduce(_combined, numbers), items)


def _of_column(shown: pl.Series, offered: pl.Series) -> Numbers:
    """Number ids as they are, or as they are recommended."""
    columns = {"shown": shown, "offered": offered}
    plain = as_they_are(columns, SPARSE * (len(shown) + len(offered)))
    if plain is not None:
        number, _, n = plain
        return Numbers(number["shown"], number["offered"], n)
    index = Index.of_all(offered)
    n = len(index.known)
    again = np.arange(n) if n == len(offered) else index.find(offered)
    return Numbers(index.find(shown), again, n, unknown=True)


def _combined(first: Numbers, other: Numbers) -> Numbers:
    """Number pairs of ids, none where one of the two is unknown."""
    shown = first.shown * other.n + other.shown
    if first.unknown or other.unknown:
        shown[(first.shown < 0) | (other.shown < 0)] = -1
    offered = first.offered * other.n + other.offered
    n = first.n * other.n
    if n <= SPARSE * (len(shown) + len(offered)):
        return Numbers(shown, offered, n, first.unknown or other.unknown)
    known = np.unique(offered)
    place = np.minimum(np.searchsorted(known, shown), len(known) - 1)
    shown = np.where(known[place] == shown, place, -1)
    return Numbers(shown, np.searchsorted(known, offered), len(known), unknown=True)


def _equal(here: AnyArray, context: Ints, item: Ints) -> Ints:
    """Return the rows whose context has their item, a part at a time in the cache."""
    equal = by_blocks(
        lambda rows: np.flatnonzero(here[context[rows]] == item[rows]) + rows.start,
        len(item),
    )
    return np.concatenate([_NONE, *equal])


def matched(codes: Codes) -> tuple[Ints, Ints] | None:
    """Return the logged rounds that show what is recommended, and the pair of each.

    None if a pair is recommended twice.
    """
    counts, offered = codes.counts, codes.context.offered
    longest = int(counts.max(initial=0))
    if longest > _SHORT:
        return _by_pairs(codes)
    order = np.arange(len(offered))
    if longest > 1 or (offered[1:] < offered[:-1]).any():
        order = np.lexsort((codes.item.offered, offered))
    context, item = offered[order], codes.item.offered[order]
    if ((context[1:] == context[:-1]) & (item[1:] == item[:-1])).any():
        return None
    begin = starts_of(counts)
    rows, places = [_NONE], [_NONE]
    for position in range(longest):
        # What the list of each context has here; the last is that of unknown ones.
        here = np.full(codes.context.n + 1, _NOTHING, dtype=np.int32)
        some = np.flatnonzero(counts > position)
        here[some] = item[begin[some] + position]
        row = _equal(here, codes.context.shown, codes.item.shown)
        rows.append(row)
        places.append(order[begin[codes.context.shown[row]] + position])
    row, place = np.concatenate(rows), np.concatenate(places)
    if longest > 1:
        by_row = np.argsort(row, kind="stable")
        row, place = row[by_row], place[by_row]
    return row, place


def _by_pairs(codes: Codes) -> tuple[Ints, Ints] | None:
    """Look up pairs of a context and an item, for lists of any length."""
    width = codes.item.n + 1
    table = KeyTable(spread(codes.context.offered * width + codes.item.offered))
    if not table.unique:
        return None
    known = (codes.context.shown >= 0) & (codes.item.shown >= 0)
    pair = codes.context.shown * width + codes.item.shown
    return table.find(spread(np.where(known, pair, -1)))
