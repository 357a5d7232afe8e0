"""Logged rounds joined with what another policy would have shown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from rankine.errors import DataError
from rankine.offpolicy.codes import coded, matched
from rankine.table.judgements import KeyTable, item_keys
from rankine.words import count

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rankine.arrays import Floats, Ints
    from rankine.io.logs import Log
    from rankine.offpolicy.codes import Codes

_SPREAD = np.uint64(0x9E3779B97F4A7C15)
"""2^64 over the golden ratio: mixes the keys of two columns."""
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
        notes: what was left out.
        unseen: the share of the new policy's choices of items that no log has.
    """

    reward: Floats
    chosen: Floats
    propensity: Floats
    predicted: Floats
    direct: Floats
    other: Floats
    count: Ints
    notes: tuple[str, ...] = ()
    unseen: float = 0.0

    @property
    def matched(self) -> int:
        """The number of rounds in which the new policy shows what was shown."""
        return len(self.reward)

    @property
    def n(self) -> int:
        """The number of rounds."""
        return len(self.reward) + int(self.count.sum())


def join(logged: Log, recommended: Log, k: int | None, *, over: str) -> Rounds:
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
    shown, offered = _same_types(logged.frame, offered, pair)
    codes = coded(shown, offered, context)
    chosen = _chosen(offered, context, codes)
    part = chosen * offered["guess"].to_numpy()
    offered = offered.with_columns(pl.Series("chosen", chosen), pl.Series("part", part))
    unseen = _unseen(shown, offered, codes)
    found = None if codes is None else matched(codes)
    if found is None:
        found = _found(shown, offered, pair, recommended)
    row, place = found
    same, partner = shown[row], offered[place]
    if over == "recommended":
        alone = np.ones(offered.height, dtype=np.bool_)
        alone[place] = False
        guess = offered["guess"].to_numpy()
        other, number = guess[alone], np.ones(int(alone.sum()), dtype=np.int64)
        chosen, direct = np.ones(len(place)), guess[place]
        notes: tuple[str, ...] = ()
    else:
        chosen = partner["chosen"].to_numpy()
        direct, other, number, notes = _others(shown, row, offered, context, codes)
    return Rounds(
        reward=same["reward"].to_numpy(),
        chosen=chosen,
        propensity=_column(same, "propensity", 1.0),
        predicted=partner["guess"].to_numpy(),
        direct=direct,
        other=other,
        count=number,
        notes=notes,
        unseen=unseen,
    )


def _chosen(offered: pl.DataFrame, context: list[str], codes: Codes | None) -> Floats:
    """Return the probability of each pair: as given, or the same for a whole list."""
    if "probability" in offered.columns:
        return offered["probability"].to_numpy().astype(np.float64)
    if codes is not None:
        found: Floats = 1 / codes.counts[codes.offered]
        return found
    if not context:
        return np.full(offered.height, 1 / max(offered.height, 1))
    n = (1 / pl.len().over(context)).cast(pl.Float64).alias("n")
    return offered.select(n)["n"].to_numpy()


def _unseen(shown: pl.DataFrame, offered: pl.DataFrame, codes: Codes | None) -> float:
    """Return the share of the new policy's choices of items that no log has."""
    chosen = offered["chosen"].to_numpy()
    total = float(chosen.sum())
    if not total:
        return 0.0
    if codes is not None:
        seen = np.zeros(codes.n_items, dtype=np.bool_)
        seen[codes.item_shown] = True
        return float(chosen[~seen[codes.item_offered]].sum()) / total
    logged = shown["item"].unique()
    foreign = offered.filter(~pl.col("item").is_in(logged.implode()))
    return float(foreign["chosen"].sum()) / total


def _found(
    shown: pl.DataFrame, offered: pl.DataFrame, pair: list[str], recommended: Log
) -> tuple[Ints, Ints]:
    """Return the logged rows that match, and the recommended pair of each."""
    for seed in range(1, 20):
        table = KeyTable(_keys(offered, pair, seed))
        if not table.unique:
            _refuse_twice(offered, pair, recommended)
            continue
        row, place = table.find(_keys(shown, pair, seed))
        # Keys propose, ids decide.
        same = np.ones(len(row), dtype=np.bool_)
        for part in pair:
            same &= (shown[part].gather(row) == offered[part].gather(place)).to_numpy()
        return row[same], place[same]
    msg = "ids cannot be told apart"  # keys of many seeds that agree by chance
    raise DataError(msg)


def _keys(frame: pl.DataFrame, parts: list[str], seed: int) -> NDArray[np.uint64]:
    """Return a key per row, of several columns."""
    keys = np.zeros(frame.height, dtype=np.uint64)
    for part in parts:
        keys = (keys ^ item_keys(frame[part], seed)) * _SPREAD
    return keys


def _others(
    shown: pl.DataFrame,
    row: Ints,
    offered: pl.DataFrame,
    context: list[str],
    codes: Codes | None,
) -> tuple[Floats, Floats, Ints, tuple[str, ...]]:
    """Return the direct prediction of rounds that match, and of all others, counted."""
    if not context:
        total = float(offered["part"].sum())
        rest = np.array([shown.height - len(row)])
        return np.full(len(row), total), np.array([total]), rest, ()
    word = "user" if context == ["user"] else "context"
    if codes is None:
        known = offered.group_by(context).agg(pl.col("part").sum())
        number = _numbers(shown, known, context)
        every = np.bincount(number + 1, minlength=known.height + 1)
        outside, every = int(every[0]), every[1:]
        direct = known["part"].to_numpy()
    else:
        number = codes.shown
        every = np.bincount(number, minlength=len(codes.counts))
        direct = codes.sums(offered["part"].to_numpy())
        outside = int(every[codes.counts == 0].sum())
    of_matched = direct[number[row]]
    rest = every - np.bincount(number[row], minlength=len(direct))
    if codes is not None:
        some = codes.counts > 0
        direct, rest, every = direct[some], rest[some], every[some]
    notes = []
    if outside:
        who = count(outside, "logged round")
        notes.append(f"{who} of {word}s without recommendations: left out")
    unlogged = int(np.count_nonzero(every == 0))
    if unlogged:
        who = count(unlogged, word)
        notes.append(f"{who} with recommendations not in the log: not counted")
    return of_matched, direct, rest, tuple(notes)


def _numbers(shown: pl.DataFrame, known: pl.DataFrame, parts: list[str]) -> Ints:
    """Return which of the known rows each logged row is, -1 for none."""
    for seed in range(1, 20):
        table = KeyTable(_keys(known, parts, seed))
        if not table.unique:
            continue
        number = table.places(_keys(shown, parts, seed))
        at = np.maximum(number, 0)
        for part in parts:
            same = (shown[part] == known[part].gather(at)).to_numpy()
            number[~same] = -1
        return number
    msg = "ids cannot be told apart"  # keys of many seeds that agree by chance
    raise DataError(msg)


def _column(frame: pl.DataFrame, name: str, missing: float) -> Floats:
    if name not in frame.columns:
        return np.full(frame.height, missing)
    return frame[name].to_numpy()


def _context(logged: Log, recommended: Log) -> list[str]:
    """Return what both tables tell rounds apart by: users, and positions."""
    found = []
    for part in ("user", "position"):
        if logged.has(part) and recommended.has(part):
            found.append(part)
        elif recommended.has(part):
            msg = (
                f"{recommended.origin.name} has a {part} column and "
                f"{logged.origin.name} has none, so that they cannot be matched"
            )
            raise DataError(msg)
    return found


def _same_types(
    shown: pl.DataFrame, offered: pl.DataFrame, parts: list[str]
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Compare ids as text where one table has text and the other has numbers."""
    other = [part for part in parts if shown[part].dtype != offered[part].dtype]
    text = pl.col(other).cast(pl.String)
    return (
        (shown.with_columns(text), offered.with_columns(text))
        if other
        else (shown, offered)
    )


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


def _refuse_twice(offered: pl.DataFrame, pair: list[str], recommended: Log) -> None:
    twice = offered.select(pair).is_duplicated()
    if twice.any():
        row = offered.row(int(twice.arg_true()[0]), named=True)
        who = ", ".join(f"{part} {row[part]!r}" for part in pair)
        msg = f"{recommended.origin.name} has {who} twice"
        raise DataError(msg)
