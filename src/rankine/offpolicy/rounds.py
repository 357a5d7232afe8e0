"""Logged rounds joined with what another policy would have shown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from rankine.errors import DataError
from rankine.words import count

if TYPE_CHECKING:
    from rankine.arrays import Bools, Floats
    from rankine.io.logs import Log

_SUM = 1e-6
"""How far the probabilities of one context may be from 1 together."""


@dataclass(frozen=True, eq=False)
class Rounds:
    """What is known of each round that counts.

    Attributes:
        reward: what was earned; 0 where nothing was shown.
        chosen: the probability that the new policy shows what was shown; 0 if never.
        propensity: the probability with which it was shown.
        predicted: the predicted reward of what was shown, where it is recommended.
        direct: the predicted reward of what the new policy shows.
        matched: whether the new policy shows what was shown.
        notes: what was left out.
        unseen: the share of the new policy's choices of items that no log has.
    """

    reward: Floats
    chosen: Floats
    propensity: Floats
    predicted: Floats
    direct: Floats
    matched: Bools
    notes: tuple[str, ...]
    unseen: float


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
    _refuse_twice(offered, pair, recommended)
    shown = logged.frame
    seen = shown["item"].unique()
    total = float(offered["chosen"].sum())
    foreign = offered.filter(~pl.col("item").is_in(seen.implode()))
    unseen = float(foreign["chosen"].sum()) / total if total else 0.0
    if over == "recommended":
        return _by_pairs(shown, offered, pair, unseen)
    notes = []
    if context:
        known = offered.select(context).unique()
        left = shown.height
        shown = shown.join(known, on=context, how="semi", maintain_order="left")
        left -= shown.height
        if left:
            who = count(left, "logged round")
            notes.append(f"{who} of users without recommendations: left out")
        others = known.join(shown.select(context).unique(), on=context, how="anti")
        if others.height:
            who = count(others.height, "user")
            notes.append(f"{who} with recommendations not in the log: not counted")
        direct = offered.group_by(context).agg(pl.col("part").sum().alias("direct"))
        shown = shown.join(direct, on=context, how="left", maintain_order="left")
    else:
        shown = shown.with_columns(pl.lit(offered["part"].sum()).alias("direct"))
    joined = shown.join(
        offered.select(*pair, "chosen", "guess"),
        on=pair,
        how="left",
        maintain_order="left",
    )
    return _rounds(joined, tuple(notes), unseen)


def _rounds(joined: pl.DataFrame, notes: tuple[str, ...], unseen: float) -> Rounds:
    chosen = joined["chosen"].fill_null(0.0).to_numpy()
    return Rounds(
        reward=_column(joined, "reward", 0.0),
        chosen=chosen,
        propensity=_column(joined, "propensity", 1.0),
        predicted=joined["guess"].fill_null(0.0).to_numpy(),
        direct=joined["direct"].to_numpy(),
        matched=chosen > 0,
        notes=notes,
        unseen=unseen,
    )


def _column(frame: pl.DataFrame, name: str, missing: float) -> Floats:
    if name not in frame.columns:
        return np.full(frame.height, missing)
    values: Floats = frame[name].fill_null(missing).to_numpy()
    return values


def _by_pairs(
    shown: pl.DataFrame, offered: pl.DataFrame, pair: list[str], unseen: float
) -> Rounds:
    """Take the recommended pairs as rounds; those without a log earn nothing."""
    logged = shown.with_columns(pl.lit(1.0).alias("there"))
    joined = offered.join(logged, on=pair, how="left", maintain_order="left")
    there = joined["there"].fill_null(0.0)
    joined = joined.with_columns(there.alias("chosen"), pl.col("guess").alias("direct"))
    return _rounds(joined, (), unseen)


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
    for part in (*found, "item"):
        ours, theirs = logged.frame[part].dtype, recommended.frame[part].dtype
        if ours != theirs:
            msg = (
                f"{part} ids are {ours} in {logged.origin.name} and {theirs} in "
                f"{recommended.origin.name}; give them one type"
            )
            raise DataError(msg)
    return found


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
        chosen = pl.col("probability")
    else:
        chosen = 1 / (pl.len().over(context) if context else pl.len())
    frame = frame.with_columns(chosen.cast(pl.Float64).alias("chosen"))
    frame = frame.with_columns((pl.col("chosen") * pl.col("guess")).alias("part"))
    return frame.select(*context, "item", "chosen", "guess", "part")


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
