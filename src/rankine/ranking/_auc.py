"""Pairs of a relevant and another item in the right order: AUC and its relatives."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from rankine.checks import check_choice, check_count, check_k, check_number
from rankine.errors import ParameterError
from rankine.metric import register
from rankine.ranking._confusion import check_catalog_holds
from rankine.ranking._cutoff import ratio
from rankine.table.segments import position, runs

if TYPE_CHECKING:
    from rankine.arrays import Bools, Floats
    from rankine.table import Judged

Universe = Literal["matched", "list", "catalogue"]


def auc(
    table: Judged,
    *,
    rel: float = 1,
    universe: Universe = "list",
    scope: Literal["query", "pooled"] = "query",
    catalog: int | None = None,
) -> Floats:
    """Share of pairs of a relevant and another item that are in the right order.

    Formula:
        AUC = (pairs in the right order + half the tied pairs) / all pairs

    Args:
        table: the joined table.
        rel: an item is relevant when its grade is at least this.
        universe: which items form pairs: ``matched``, those retrieved and judged
            (Jurity); ``list``, all retrieved, unjudged ones as not relevant;
            ``catalogue``, all items, those not retrieved tied below the list.
        scope: ``query``: pairs of one query; ``pooled``: of all queries together, by
            score, the same value for every query.
        catalog: number of items in the catalogue, for that universe.

    Returns:
        One value per query, 0 to 1; nan without pairs. Such queries are left out of
        the mean.

    References:
        J. A. Hanley, B. J. McNeil: The meaning and use of the area under a receiver
        operating characteristic (ROC) curve. Radiology 1982.
        https://doi.org/10.1148/radiology.143.1.7063747

    Examples:
        Relevant at ranks 1 and 3, others at 2 and 4: right are 1-2, 1-4 and 3-4 of 4.

        >>> from rankine.table import judged
        >>> qrels = {"q": {"a": 1, "b": 0, "c": 1}}
        >>> table = judged(qrels, {"q": ["a", "b", "c", "x"]})
        >>> auc(table)
        array([0.75])

        Judged items only: 1-2 right, 3-2 wrong.

        >>> auc(table, universe="matched")
        array([0.5])

        Six further items below the list: (3 + 2 * 6) / (2 * 8).

        >>> auc(table, universe="catalogue", catalog=10)
        array([0.9375])
    """
    check_number("rel", rel)
    check_choice("universe", universe, ("matched", "list", "catalogue"))
    check_choice("scope", scope, ("query", "pooled"))
    _check_catalog(table, catalog, needed=universe == "catalogue", name="AUC")
    if scope == "pooled":
        if universe == "catalogue":
            msg = "scope='pooled' takes universe='matched' or 'list'"
            raise ParameterError(msg)
        return _pooled(table, rel, universe)
    if universe == "matched":
        table = _only_judged(table)
    relevant = table.grade >= rel
    wrong, found = _wrong_pairs(table, relevant)
    others = table.length() - found
    if universe != "catalogue":
        return 1 - ratio(wrong, found * others)
    return _over_catalogue(table, rel, wrong, found, others, float(catalog or 0))


def _check_catalog(
    table: Judged, catalog: int | None, *, needed: bool, name: str
) -> None:
    if catalog is not None:
        check_count("catalog", catalog, least=1)
    elif needed and table.n_queries:
        msg = f"{name} needs the size of the catalogue, e.g. {name}(catalog=1000)"
        raise ParameterError(msg)


def _only_judged(table: Judged) -> Judged:
    from dataclasses import replace  # noqa: PLC0415

    keep = table.grade >= 0
    query, above, tied = table.query[keep], table.above[keep], table.tied[keep]
    first, block = runs(query, above)
    above, tied = position(query)[first][block], np.bincount(block)[block]
    return replace(
        table,
        query=query,
        rank=position(query) + 1,
        grade=table.grade[keep],
        above=above,
        tied=tied,
        score=table.score[keep],
        n_retrieved=np.bincount(query, minlength=table.n_queries),
        memo={},
    )


def _wrong_pairs(table: Judged, relevant: Bools) -> tuple[Floats, Floats]:
    """Count pairs in the wrong order, tied ones half, and the relevant items found."""
    row = np.flatnonzero(relevant)
    query, above, tied = table.query[row], table.above[row], table.tied[row]
    # Relevant items above this block, and inside it.
    first, block = runs(query, above)
    before, beside = position(query)[first][block], np.bincount(block)[block]
    wrong = (above - before) + 0.5 * (tied - beside)
    return table.per_query(query, wrong), table.per_query(query)


def _over_catalogue(
    table: Judged,
    rel: float,
    wrong: Floats,
    found: Floats,
    others: Floats,
    size: float,
) -> Floats:
    check_catalog_holds(table, rel, size)
    most = table.n_relevant(rel)
    missed = most - found
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
    empty="skip",
    needs=("scores",),
    ordered=False,
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

        >>> from rankine.table import judged
        >>> table = judged({"q": {"a": 1, "b": 1}}, {"q": ["a", "x", "b"]})
        >>> limited_auc(table, k=2, catalog=10)
        array([0.7188])
    """
    from dataclasses import replace  # noqa: PLC0415

    check_k(k)
    check_number("rel", rel)
    _check_catalog(table, catalog, needed=True, name="LAUC")
    keep = table.rank <= k if k is not None else table.rank > 0
    length = table.n_retrieved if k is None else np.minimum(table.n_retrieved, k)
    # The order is the list's own: ties are broken by now.
    table = replace(
        table,
        query=table.query[keep],
        rank=table.rank[keep],
        grade=table.grade[keep],
        above=table.rank[keep] - 1,
        tied=np.ones(int(keep.sum()), dtype=np.int64),
        score=table.score[keep],
        n_retrieved=length,
        memo={},
    )
    wrong, found = _wrong_pairs(table, table.grade >= rel)
    others = table.length() - found
    return _over_catalogue(table, rel, wrong, found, others, float(catalog or 0))


LAUC = register("LAUC", limited_auc, aliases=("LimitedAUC",), empty="skip")
