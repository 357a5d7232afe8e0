"""From clicks to judgements."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import polars as pl

from rankine._base.checks import check_choice, check_count, check_number
from rankine._base.text import count
from rankine._io.sources import Rows
from rankine._online.click_logs import read_click_log
from rankine.errors import DataError, ParameterError

if TYPE_CHECKING:
    from rankine._base.arrays import Floats, Ints

_ROUNDS = 10_000
_CLOSE = 1e-12
_PAIR = ["query", "item"]
_FAVOURS = (
    "judgements from clicks favour the ranking that was logged, since items that it "
    "did not show have none"
)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ClickJudgements(Rows):
    """Judgements from clicks, which `evaluate` accepts.

    Attributes:
        frame: query, item and value.
        support: the same with the numbers of impressions and clicks of each.
        curve: the impressions, clicks and divisor of each position.
        model: how they were made.
    """

    support: pl.DataFrame = field(default_factory=pl.DataFrame)
    curve: pl.DataFrame = field(default_factory=pl.DataFrame)
    model: str = ""

    def __repr__(self) -> str:
        """Return how many there are, in one line."""
        n, queries = self.frame.height, self.frame["query"].n_unique()
        return (
            f"ClickJudgements({self.model}; {count(n, 'item')} of "
            f"{count(queries, 'query')})"
        )


def judgments_from_clicks(
    log: Any,
    model: Literal["coec", "ctr", "position"] = "coec",
    *,
    examination: Mapping[int, float] | Sequence[float] | None = None,
    least: int = 1,
    columns: Mapping[str, Any] | None = None,
) -> ClickJudgements:
    r"""Make judgements from the clicks on lists that were shown.

    Formula:
        $$\text{coec} = \frac{\text{clicks}}{\sum \text{CTR}(\text{rank})}, \quad
        \text{ctr} = \frac{\text{clicks}}{\text{impressions}}, \quad
        \text{position} = \frac{\text{clicks}}{\sum \text{examination}(\text{rank})}$$

    where sums are over the impressions of an item for a query, and CTR(rank) is the
    click rate of all items shown at that rank. COEC is 1 for an item that is clicked on
    as often as others at the same ranks.

    Args:
        log: one row per item that was shown, with query_id, item_id, position (not
            needed for ``ctr``), and click (0, 1, or a number of clicks); or a log of
            events, in which impressions and clicks are rows of their own. Rows that
            `click_metrics` leaves out are left out.
        model: how clicks are weighted.
        examination: how often each rank is looked at: {rank: share}, or shares from
            rank 1. If not given, ``position`` estimates it from items that were shown
            at several ranks for one query.
        least: how many impressions a judgement needs; pairs with fewer get none.
        columns: which column is what, if its name is not recognised.

    Returns:
        Judgements that `evaluate` accepts as qrels, with `support`, the impressions and
        clicks of each, and `curve`. Values are rates, not grades: metrics of relevant
        items need a suitable `rel`, as in ``P(rel=0.1)@5``.

    Raises:
        ParameterError: an option is not valid.
        DataError: a column is missing, or the curve cannot be estimated.

    References:
        W. V. Zhang, R. Jones: Comparing click logs and editorial labels for training
        query rewriting. WWW 2007 workshop. T. Joachims, A. Swaminathan, T. Schnabel:
        Unbiased learning-to-rank with biased feedback. WSDM 2017.

    Rank 1 has 1 click in 2, rank 2 has 1 in 2; x was shown at both and clicked on
    twice: 2 / (1/2 + 1/2).

    >>> import polars as pl
    >>> import rankine as rk
    >>> log = pl.DataFrame(
    ...     {
    ...         "query_id": ["q"] * 4,
    ...         "item_id": ["x", "y", "y", "x"],
    ...         "position": [1, 2, 1, 2],
    ...         "click": [1, 0, 0, 1],
    ...     }
    ... )
    >>> judged = rk.online.judgments_from_clicks(log)
    >>> judged.support.sort("item")["value"].to_list()
    [2.0, 0.0]
    >>> rk.evaluate(judged, {"q": ["x", "y"]}, "nDCG")["nDCG"]
    1.0
    """
    check_choice("model", model, ("coec", "ctr", "position"))
    check_count("least", least, least=1)
    if examination is not None and model != "position":
        msg = f"examination is for model='position', not for {model!r}"
        raise ParameterError(msg)
    needs = {
        "query": "says what the item was shown for",
        "item": "says what was shown",
        "click": "says what users chose",
    }
    optional: tuple[str, ...] = ("position",)
    if model != "ctr":
        needs["position"], optional = "says where it was shown", ()
    frame, name, strays = read_click_log(log, needs, columns, optional, in_one_arm=True)
    ranked = "position" in frame.columns
    if not ranked:
        frame = frame.with_columns(pl.lit(1.0).alias("position"))
    cells = frame.group_by(*_PAIR, "position").agg(
        pl.len().cast(pl.Float64).alias("shown"),
        pl.col("click").sum().alias("clicks"),
    )
    if model == "ctr":
        _refuse_above(cells, name)
    curve = by_position(frame)
    weight, notes = _weights(model, cells, curve, _given(examination), name)
    notes = [*strays, *notes]
    ranks = curve["position"].to_numpy()
    curve = curve.with_columns(pl.Series("weight", weight))
    looked = weight[np.searchsorted(ranks, cells["position"].to_numpy())]
    support = (
        cells.with_columns((pl.col("shown") * pl.Series(looked)).alias("expected"))
        .group_by(_PAIR)
        .agg(pl.col("shown", "clicks", "expected").sum())
        .filter(pl.col("expected") > 0)
        .with_columns((pl.col("clicks") / pl.col("expected")).alias("value"))
        .sort(_PAIR)
        .select(
            *_PAIR,
            "value",
            pl.col("shown").cast(pl.Int64).alias("impressions"),
            pl.col("clicks").cast(pl.Int64),
        )
    )
    notes += above_one(curve) if ranked else []
    few = support.filter(pl.col("impressions") < least).height
    if few:
        n = count(least, "impression")
        notes.append(f"{count(few, 'item')} with fewer than {n} left out")
    support = support.filter(pl.col("impressions") >= least)
    if support.height == 0:
        msg = f"{name}: no item has enough impressions and clicks for a judgement"
        raise DataError(msg)
    return ClickJudgements(
        support.select(*_PAIR, "value"), name, notes=(*notes, _FAVOURS), role="qrels",
        kind="judgements from clicks", support=support, curve=curve, model=model,
    )  # fmt: skip


def by_position(frame: pl.DataFrame) -> pl.DataFrame:
    """Return impressions, clicks and the click rate of each rank."""
    return (
        frame.group_by("position")
        .agg(
            pl.len().cast(pl.Int64).alias("impressions"),
            pl.col("click").sum().cast(pl.Int64).alias("clicks"),
        )
        .sort("position")
        .with_columns(
            pl.col("position").cast(pl.Int64),
            (pl.col("clicks") / pl.col("impressions")).alias("ctr"),
        )
    )


def above_one(curve: pl.DataFrame) -> list[str]:
    """Say which rank has a click rate above 1."""
    over = curve.filter(pl.col("ctr") > 1)
    if not over.height:
        return []
    rank, shown, clicks, _ = over.select(
        "position", "impressions", "clicks", "ctr"
    ).row(0)
    said = (
        f"rank {rank} has a click rate above 1: {count(clicks, 'click')} in "
        f"{count(shown, 'impression')}, as an item can be clicked on more than once"
    )
    return [said]


def _refuse_above(cells: pl.DataFrame, name: str) -> None:
    """Refuse an item that has more clicks than impressions for a query."""
    both = cells.group_by(_PAIR).agg(pl.col("shown", "clicks").sum())
    over = both.filter(pl.col("clicks") > pl.col("shown")).sort(_PAIR)
    if over.height:
        query, item, shown, clicks = over.row(0)
        msg = (
            f"{name}: item {item!r} has {count(int(clicks), 'click')} in "
            f"{count(int(shown), 'impression')} for query {query!r}, a click rate "
            "above 1; log a click as 0 or 1, or use model='coec'"
        )
        raise DataError(msg)


def _given(examination: Any) -> dict[int, float] | None:
    """Read how often each rank is examined, from rank 1."""
    if examination is None:
        return None
    given = examination
    if not isinstance(given, Mapping):
        if isinstance(given, str) or not isinstance(given, (Sequence, np.ndarray)):
            msg = f"examination must be shares by rank, got {examination!r}"
            raise ParameterError(msg)
        given = dict(enumerate(given, 1))
    for rank, share in given.items():
        check_number(f"the examination of rank {rank}", share, above=0, most=1)
    return {int(rank): float(share) for rank, share in given.items()}


def _weights(
    model: str,
    cells: pl.DataFrame,
    curve: pl.DataFrame,
    given: Mapping[int, float] | None,
    name: str,
) -> tuple[Floats, list[str]]:
    """Return what an impression at each rank counts, and how that was found."""
    if model == "coec":
        return curve["ctr"].to_numpy(), []
    if model == "ctr":
        return np.ones(curve.height), []
    ranks = curve["position"].to_list()
    if given is None:
        return _estimated(cells, ranks, name)
    missing = [rank for rank in ranks if rank not in given]
    if missing:
        msg = f"examination has no share for rank {missing[0]}, which {name} has"
        raise ParameterError(msg)
    return np.array([given[rank] for rank in ranks]), []


def _estimated(
    cells: pl.DataFrame, ranks: list[int], name: str
) -> tuple[Floats, list[str]]:
    """Estimate how often ranks are looked at, relative to the first.

    The click rate of an item at a rank is the product of its own rate and that of the
    rank; both are fitted in turn, by maximum likelihood of Poisson counts, to the items
    that were shown at several ranks for one query.
    """
    several = cells.filter(pl.len().over(_PAIR) > 1).filter(
        pl.col("clicks").sum().over(_PAIR) > 0
    )
    pairs = several.select(_PAIR).unique().with_row_index("number")
    several = several.join(pairs, on=_PAIR)
    place = np.searchsorted(ranks, several["position"].to_numpy())
    item = several["number"].cast(pl.Int64).to_numpy()
    shown, clicks = several["shown"].to_numpy(), several["clicks"].to_numpy()
    apart = _unconnected(place, item, ranks)
    by_rank = np.bincount(place, clicks, len(ranks))
    if apart is not None or not by_rank.all():
        rank = apart if apart is not None else ranks[int(by_rank.argmin())]
        msg = (
            f"{name}: the examination of rank {rank} cannot be estimated, since no "
            "item that was clicked on was shown there and at the other ranks for one "
            "query; give examination={rank: share}, or use model='coec'"
        )
        raise DataError(msg)
    looked = np.ones(len(ranks))
    for _ in range(_ROUNDS):
        rates = np.bincount(item, clicks) / np.bincount(item, shown * looked[place])
        fitted = by_rank / np.bincount(place, shown * rates[item], len(ranks))
        fitted /= fitted[0]
        moved = float(np.abs(fitted - looked).max())
        looked = fitted
        if moved < _CLOSE:
            break
    n = count(pairs.height, "item")
    return looked, [f"examination estimated from {n} shown at several ranks"]


def _unconnected(place: Ints, item: Ints, ranks: list[int]) -> int | None:
    """Return a rank that no chain of items connects with the first; None if all are."""
    reached = np.zeros(len(ranks), np.bool_)
    reached[0] = True
    while True:
        seen = np.isin(item, item[reached[place]])
        more = reached.copy()
        more[place[seen]] = True
        if (more == reached).all():
            break
        reached = more
    return None if reached.all() else ranks[int(reached.argmin())]
