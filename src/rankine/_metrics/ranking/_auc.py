"""Pairs of a relevant and another item in the right order: AUC and its relatives."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from rankine._base.checks import check_choice, check_count, check_k, check_number
from rankine._metrics.metric import Across, register
from rankine._metrics.ranking._confusion import check_catalog_holds
from rankine._metrics.ranking._cutoff import ratio
from rankine._tables.segments import position, runs
from rankine.errors import ParameterError

if TYPE_CHECKING:
    from rankine._base.arrays import Bools, Floats
    from rankine._join import Judged

Universe = Literal["matched", "list", "catalogue"]


def auc(
    table: Judged,
    *,
    k: int | None = None,
    rel: float = 1,
    universe: Universe = "list",
    scope: Literal["query", "weighted", "pooled"] = "query",
    tied: Literal["half", "right", "wrong", "order"] = "half",
    single: Literal["undefined", "zero", "by_kind"] = "undefined",
    catalog: int | None = None,
) -> Floats:
    """Share of pairs of a relevant and another item that are in the right order.

    Formula:
        AUC = (pairs in the right order + half the tied pairs) / all pairs

    Args:
        table: the joined table.
        k: cutoff: items below rank k are not in the list.
        rel: an item is relevant when its grade is at least this.
        universe: which items form pairs: ``matched``, those retrieved and judged
            (Jurity); ``list``, all retrieved, unjudged ones as not relevant;
            ``catalogue``, all items, those not retrieved tied below the list.
        scope: ``query``: pairs of one query; ``weighted``: the same, with queries
            weighted by their number of relevant items (RecBole's GAUC); ``pooled``:
            pairs of all queries together, by score. The last two have one value for all
            queries.
        tied: a pair of equal scores counts as ``half``, is ``right`` or ``wrong`` (as
            in Cornac), or follows the order of the items in the list (``order``).
        single: the value of a query without a pair: none; 0 (torchmetrics); or 1 if all
            items of the list are relevant and 0 if none is (``by_kind``, RePlay). The
            last two apply to queries with relevant items; for the others, the
            convention decides, in `empty_truth`.
        catalog: number of items in the catalogue, for ``universe='catalogue'``.

    Returns:
        One value per query, 0 to 1; nan without pairs, or without relevant items.
        Queries without pairs are left out of the mean, unless `single` counts them.

    References:
        J. A. Hanley, B. J. McNeil: The meaning and use of the area under a receiver
        operating characteristic (ROC) curve. Radiology 1982.
        https://doi.org/10.1148/radiology.143.1.7063747

    Examples:
        Relevant at ranks 1 and 3, others at 2 and 4: of 4 pairs, 1-2, 1-4 and 3-4 are
        right.

        >>> import rankine as rk
        >>> qrels = {"q": {"a": 1, "b": 0, "c": 1}}
        >>> run = {"q": ["a", "b", "c", "x"]}
        >>> rk.evaluate(qrels, run, "AUC").mean
        {'AUC': 0.75}

        Judged items only: 1-2 is right, 3-2 is wrong.

        >>> rk.evaluate(qrels, run, "AUC(universe='matched')").mean
        {"AUC(universe='matched')": 0.5}

        Six further items below the list: (3 + 2 * 6) / (2 * 8).

        >>> rk.evaluate(qrels, run, "AUC(universe='catalogue',catalog=10)").mean
        {"AUC(universe='catalogue',catalog=10)": 0.9375}
    """
    check_k(k)
    check_number("rel", rel)
    check_choice("universe", universe, ("matched", "list", "catalogue"))
    check_choice("scope", scope, ("query", "weighted", "pooled"))
    check_choice("tied", tied, ("half", "right", "wrong", "order"))
    check_choice("single", single, ("undefined", "zero", "by_kind"))
    _check_catalog(table, catalog, needed=universe == "catalogue", name="AUC")
    if k is not None:
        table = table.cut(k)
    if scope == "pooled":
        if universe == "catalogue" or tied != "half":
            msg = (
                "scope='pooled' needs universe='matched' or 'list', and cannot be "
                "combined with tied"
            )
            raise ParameterError(msg)
        return _pooled(table, rel, universe)
    if universe == "matched":
        table = table.without_unjudged()
    if tied == "order":
        table = _without_ties(table)
    weight = {"right": 0.0, "wrong": 1.0}.get(tied, 0.5)
    wrong, n_hits = _wrong_pairs(table, table.grade >= rel, weight)
    others = table.length() - n_hits
    if universe == "catalogue":
        value = _over_catalogue(table, rel, wrong, n_hits, others, float(catalog or 0))
    else:
        value = 1 - ratio(wrong, n_hits * others)
    if single != "undefined":
        alone = np.isnan(value) & (table.n_relevant(rel) > 0)
        full = (n_hits > 0) & (others == 0) & (single == "by_kind")
        value[alone] = np.where(full, 1.0, 0.0)[alone]
    if scope == "weighted":
        defined = ~np.isnan(value)
        total = float(n_hits[defined].sum())  # of whole numbers
        # Exactly, so that the order of queries does not matter.
        worth = math.fsum((value * n_hits)[defined].tolist())
        mean = worth / total if total else np.nan
        return np.full(table.n_queries, mean)
    return value


def _check_catalog(
    table: Judged, catalog: int | None, *, needed: bool, name: str
) -> None:
    if catalog is not None:
        check_count("catalog", catalog, least=1)
    elif needed and table.n_queries:
        msg = f"{name} needs the size of the catalogue, e.g. {name}(catalog=1000)"
        raise ParameterError(msg)


def _wrong_pairs(
    table: Judged, relevant: Bools, weight: float = 0.5
) -> tuple[Floats, Floats]:
    """Count pairs in the wrong order, tied ones in part, and the relevant items."""
    row = np.flatnonzero(relevant)
    query, above, tied = table.query[row], table.above[row], table.tied[row]
    # Relevant items above this block, and inside it.
    first, block = runs(query, above)
    before, beside = position(query)[first][block], np.bincount(block)[block]
    wrong = (above - before) + weight * (tied - beside)
    return table.per_query(query, wrong), table.per_query(query)


def _without_ties(table: Judged) -> Judged:
    """Return the table with ties replaced by the order of the list."""
    return replace(table, above=table.rank - 1, tied=np.ones_like(table.tied), memo={})


def _over_catalogue(
    table: Judged,
    rel: float,
    wrong: Floats,
    n_hits: Floats,
    others: Floats,
    size: float,
) -> Floats:
    check_catalog_holds(table, rel, size)
    most = table.n_relevant(rel)
    missed = most - n_hits
    below = size - table.length() - missed
    # A relevant item below the list loses to all others in it, and ties below.
    wrong = wrong + missed * (others + 0.5 * below)
    return 1 - ratio(wrong, most * (size - most))


def _pooled(table: Judged, rel: float, universe: str) -> Floats:
    """Compare scores across queries."""
    scores = table.scores
    if universe == "matched" or scores is None:
        scores = table.score[table.grade >= 0]
    positive = np.sort(table.score[table.grade >= rel])
    ordered = np.sort(scores)
    above = len(ordered) - np.searchsorted(ordered, positive, side="right")
    equal = (len(ordered) - above) - np.searchsorted(ordered, positive, side="left")
    own_above = len(positive) - np.searchsorted(positive, positive, side="right")
    own_equal = (len(positive) - own_above) - np.searchsorted(
        positive, positive, side="left"
    )
    wrong = float((above - own_above).sum() + 0.5 * (equal - own_equal).sum())
    pairs = float(len(positive) * (len(ordered) - len(positive)))
    value = 1 - wrong / pairs if pairs else np.nan
    return np.full(table.n_queries, value)


AUC = register(
    "AUC",
    auc,
    aliases=("ROC_AUC", "roc_auc", "AUROC"),
    empty="gaps",
    undefined="convention",
    needs={"scores": ("scope", ("pooled",)), "catalog": ("universe", ("catalogue",))},
    across=(Across("scope", ("pooled", "weighted"), "compares or weighs all queries"),),
    ordered=False,
    matters={"single": ("scope", ("query", "weighted"))},
)


def limited_auc(
    table: Judged, *, k: int | None = None, rel: float = 1, catalog: int | None = None
) -> Floats:
    """AUC of a list that is cut at k, all other items of the catalogue tied below.

    Formula:
        LAUC@k = AUC over the catalogue, with items beyond rank k tied

    Args:
        table: the joined table.
        k: cutoff.
        rel: an item is relevant when its grade is at least this.
        catalog: number of items in the catalogue.

    Returns:
        One value per query, 0 to 1; nan without pairs.

    References:
        G. Schröder, M. Thiele, W. Lehner: Setting goals and choosing metrics for
        recommender system evaluations. UCERSTI 2 at RecSys 2011, section 4.2.

    Examples:
        Two relevant items, one at rank 1, one beyond the cutoff; 10 items: the first
        beats all 8 others, the second loses to the item at rank 2 and ties with 7:
        1 - (1 + 7/2) / 16 = 0.7188.

        >>> import rankine as rk
        >>> qrels, run = {"q": {"a": 1, "b": 1}}, {"q": ["a", "x", "b"]}
        >>> rk.evaluate(qrels, run, "LAUC(catalog=10)@2").mean
        {'LAUC(catalog=10)@2': 0.7188}
    """
    check_k(k)
    check_number("rel", rel)
    _check_catalog(table, catalog, needed=True, name="LAUC")
    table = _without_ties(table if k is None else table.cut(k))
    wrong, n_hits = _wrong_pairs(table, table.grade >= rel)
    others = table.length() - n_hits
    return _over_catalogue(table, rel, wrong, n_hits, others, float(catalog or 0))


LAUC = register(
    "LAUC",
    limited_auc,
    aliases=("LimitedAUC",),
    empty="skip",
    needs={"catalog": True},
)
