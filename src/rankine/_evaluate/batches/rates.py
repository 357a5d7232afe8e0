"""Click-through rates from logs, batch by batch."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from rankine._base.text import count
from rankine._evaluate.batches.totals import Total, check_options, check_pair
from rankine._evaluate.logs.estimate import answer
from rankine._evaluate.logs.question import Question
from rankine._join.ids import one_type
from rankine._join.rounds import Rounds, share_of
from rankine.errors import DataError

if TYPE_CHECKING:
    from rankine._evaluate.logs.estimate import Estimate, Estimates
    from rankine._join.rounds import Joined

_ALL = "all"
"""The context where there is none."""
_ROOM = 1 << 20
"""How many prints can be added up."""
_SAID = 6
"""Notes on columns that are kept, where they differ by batch."""
_SEVERAL = ("reward", "chosen", "propensity", "predicted", "direct", "other", "count")


@dataclass(frozen=True, eq=False)
class _Part:
    """Some rounds, and what is left of their tables.

    Attributes:
        rounds: all of them.
        context: what they are matched by.
        units: the same, with the kind of ids that users are.
        contexts: where anything is recommended or was logged: a print of what is
            recommended, null for nothing, and whether any round was logged there.
        items: the items of the log.
        weight: the items recommended, and how often that is in all rounds.
    """

    rounds: Rounds
    context: tuple[str, ...]
    units: tuple[str, ...]
    contexts: pl.DataFrame
    items: pl.Series
    weight: pl.DataFrame


class Rates(Total[_Part]):
    """The rounds that have come so far.

    Rounds that match are kept, others are counted by what is predicted there.
    """

    said: Question

    def __init__(self, options: dict[str, Any]) -> None:
        """Check the options, which are those of `ctr`."""
        known = {option.name for option in fields(Question)}
        check_options("ctr", options, known - {"engine", "memory_limit"})
        self.said = Question(**options)

    def read(self, *batch: Any) -> _Part:
        """Join a log, and what is recommended to its users."""
        check_pair(batch, "tables, a log and recommendations")
        return _part(self.said.joined(*batch))

    def add(self, part: _Part) -> None:
        """Add rounds of other batches."""
        if self.part is not None:
            part = _both(self.part, part, once=self.said.n == "recommended")
        self.part = part

    def result(self) -> Estimate | Estimates:
        """Return the estimates from all rounds so far."""
        part = self.part
        if part is None:
            msg = "there are no rounds"
            raise DataError(msg)
        seen = part.weight["item"].is_in(part.items.implode())
        weight = part.weight["weight"]
        unseen = share_of(
            weight.filter(~seen).to_numpy().sum(), weight.to_numpy().sum()
        )
        unlogged = 0
        if self.said.n == "logged":
            unlogged = int((~part.contexts["logged"]).sum())
        rounds = replace(
            part.rounds, unseen=unseen, unlogged=unlogged, n_items=len(part.items)
        )
        return answer(rounds, self.said)

    @property
    def rows(self) -> str:
        """How many rounds there are, in words."""
        return count(0 if self.part is None else self.part.rounds.n, "round")


def _part(joined: Joined) -> _Part:
    """Keep what is needed of a batch."""
    context = joined.context or [_ALL]
    shown, offered = joined.shown, joined.offered
    if not joined.context:
        everybody = pl.lit(0).alias(_ALL)
        shown, offered = shown.with_columns(everybody), offered.with_columns(everybody)
    what = [column for column in ("guess", "probability") if column in offered.columns]
    # Ids as texts, as which they are compared where their types differ.
    prints = pl.struct(pl.col("item").cast(pl.String), *what).hash() // _ROOM
    recommended = offered.group_by(context).agg(prints.sum().alias("print"))
    logged = shown.select(context).unique().with_columns(logged=pl.lit(value=True))
    contexts = recommended.join(logged, on=context, how="full", coalesce=True)
    contexts = contexts.with_columns(pl.col("logged").fill_null(value=False))
    weight = offered.group_by("item").agg(pl.col("weight").sum())
    items = shown["item"].unique()
    units = joined.units or (_ALL,)
    return _Part(joined.rounds, tuple(context), units, contexts, items, weight)


def _both(kept: _Part, other: _Part, *, once: bool) -> _Part:
    """Put two parts together, whose contexts must agree."""
    if kept.units != other.units:
        msg = "batches match rounds by different columns: " + " and ".join(
            ", ".join(part.units) for part in (kept, other)
        )
        raise DataError(msg)
    if (kept.rounds.spread is None) != (other.rounds.spread is None):
        msg = "some batches have propensities, and others do not"
        raise DataError(msg)
    context = list(kept.context)
    first, second, notes = _alike(kept.contexts, other.contexts, context)
    again = first.join(second, on=context, suffix="_too")
    if again.height and once:
        msg = (
            f"rounds of {_who(again, context)} were in an earlier batch; with "
            "n='recommended', put all rounds of a list into one batch"
        )
        raise DataError(msg)
    apart = again.filter(pl.col("print").is_null() != pl.col("print_too").is_null())
    if apart.height:
        msg = (
            f"rounds of {_who(apart, context)} are in one batch and the "
            "recommendations in another; put both into the same batch"
        )
        raise DataError(msg)
    other_way = again.filter(pl.col("print") != pl.col("print_too"))
    if other_way.height:
        msg = (
            f"recommendations for {_who(other_way, context)} differ from those in an "
            "earlier batch"
        )
        raise DataError(msg)
    contexts = (
        pl.concat((first, second))
        .group_by(context, maintain_order=True)
        .agg(pl.col("print").first(), pl.col("logged").any())
    )
    mine, too, said = _alike(kept.items.to_frame(), other.items.to_frame(), ["item"])
    weight, more, _ = _alike(kept.weight, other.weight, ["item"])
    shares = pl.concat((weight, more))
    return _Part(
        _rounds(kept.rounds, other.rounds, notes + said),
        kept.context,
        kept.units,
        contexts,
        pl.concat((mine, too))["item"].unique(),
        shares.group_by("item").agg(pl.col("weight").sum()),
    )


def _rounds(kept: Rounds, other: Rounds, notes: tuple[str, ...]) -> Rounds:
    """Put the rounds of two parts together, and what there is to say of both."""
    columns: dict[str, Any] = {
        name: np.concatenate((getattr(kept, name), getattr(other, name)))
        for name in _SEVERAL
    }
    spreads = [part.spread for part in (kept, other) if part.spread is not None]
    ends = np.array(spreads)
    spread = (float(ends.min()), float(ends.max())) if spreads else None
    said = tuple(dict.fromkeys((*notes, *kept.said, *other.said)))[:_SAID]
    outside = kept.outside + other.outside
    return Rounds(**columns, spread=spread, outside=outside, word=kept.word, said=said)


def _alike(
    frame: pl.DataFrame, other: pl.DataFrame, ids: list[str]
) -> tuple[pl.DataFrame, pl.DataFrame, tuple[str, ...]]:
    """Bring ids to one type, and say so where they were of two."""
    notes: tuple[str, ...] = ()
    for name in ids:
        columns = {"some batches": frame[name], "others": other[name]}
        brought, said = one_type(columns, name, to="some batches")
        frame = frame.with_columns(brought["some batches"].alias(name))
        other = other.with_columns(brought["others"].alias(name))
        notes += said
    return frame, other, notes


def _who(rows: pl.DataFrame, context: list[str]) -> str:
    row = rows.sort(context).row(0, named=True)
    if context == [_ALL]:
        return "all users"
    return ", ".join(f"{part} {row[part]!r}" for part in context)
