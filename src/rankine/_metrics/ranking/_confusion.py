"""Shown and relevant as two classes of the catalogue: fall-out, accuracy, MCC."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from rankine._base.checks import check_choice, check_count, check_flag
from rankine._metrics.metric import register
from rankine._metrics.ranking._cutoff import check_binary, found_within, ratio
from rankine.errors import DataError, ParameterError

if TYPE_CHECKING:
    from rankine._base.arrays import Floats
    from rankine._join import Judged


def check_catalog_holds(table: Judged, rel: float, size: float) -> None:
    """Refuse a catalogue that is smaller than what a query retrieves or should find."""
    missed = table.n_relevant(rel) - found_within(table, None, rel)
    check_size(table.length() + missed, size)


def check_size(items: Floats, size: float) -> None:
    """Refuse a catalogue that has fewer items than a query has."""
    seen = items.max(initial=0)
    if seen > size:
        msg = f"the catalogue has {size:.0f} items, but a query has {seen:.0f}"
        raise DataError(msg)


def _confusion(
    table: Judged,
    k: int | None,
    rel: float,
    catalog: int | None,
    name: str,
    *,
    padded: bool = False,
) -> tuple[Floats, Floats, Floats, Floats]:
    """Count true and false positives, false and true negatives."""
    check_flag("padded", padded)
    check_binary(k, rel, None)
    if catalog is not None:
        check_count("catalog", catalog, least=1)
    elif table.n_queries:
        msg = f"{name} needs the size of the catalogue, e.g. {name}(catalog=1000)@10"
        raise ParameterError(msg)
    hits = found_within(table, k, rel)
    length = table.length()
    most = table.n_relevant(rel)
    size = float(catalog or 0)
    if padded and k is not None:
        shown = np.full(table.n_queries, float(k))
        check_size(shown + most - hits, size)
    else:
        shown = length if k is None else np.minimum(length, k)
        check_catalog_holds(table, rel, size)
    return hits, shown - hits, most - hits, size - shown - most + hits


def fall_out(
    table: Judged,
    *,
    k: int | None = None,
    rel: float = 1,
    universe: Literal["catalogue", "list"] = "catalogue",
    catalog: int | None = None,
) -> Floats:
    """Share of the non-relevant items that are among the first k.

    Formula:
        FallOut@k = (shown - hits) / (N - R), with N the size of the catalogue

    Args:
        table: the joined table.
        k: cutoff.
        rel: an item is relevant when its grade is at least this.
        universe: which items count as not relevant: those of the catalogue, or only
            those of the whole list (torchmetrics).
        catalog: number of items in the catalogue, unless ``universe='list'``.

    Returns:
        One value per query, 0 to 1, lower is better; nan if all items are relevant.

    References:
        C. J. van Rijsbergen: Information Retrieval, 2nd ed., chapter 7. 1979.

    Examples:
        One miss is shown, and 10 - 2 items are not relevant: 1 / 8.

        >>> import rankine as rk
        >>> qrels, run = {"q": {"a": 1, "b": 1}}, {"q": ["x", "a", "b"]}
        >>> rk.evaluate(qrels, run, "FallOut(catalog=10)@2").mean
        {'FallOut(catalog=10)@2': 0.125}

        The list has two items that are not relevant; one is within the first two.

        >>> qrels, run = {"q": {"a": 1}}, {"q": ["x", "a", "y"]}
        >>> rk.evaluate(qrels, run, "FallOut(universe='list')@2").mean
        {"FallOut(universe='list')@2": 0.5}
    """
    check_choice("universe", universe, ("catalogue", "list"))
    if universe == "list":
        check_binary(k, rel, None)
        length = table.length()
        shown = length if k is None else np.minimum(length, k)
        others = length - found_within(table, None, rel)
        return ratio(shown - found_within(table, k, rel), others)
    _, false, _, true_negative = _confusion(table, k, rel, catalog, "FallOut")
    return ratio(false, false + true_negative)


FallOut = register(
    "FallOut",
    fall_out,
    higher_is_better=False,
    empty="gaps",
    undefined="convention",
    lacks="an item that is not relevant",
    needs={"catalog": ("universe", ("catalogue",))},
    by_set=True,
)


def accuracy(
    table: Judged,
    *,
    k: int | None = None,
    rel: float = 1,
    catalog: int | None = None,
    padded: bool = False,
) -> Floats:
    """Share of all items that are rightly shown or rightly not shown.

    Formula:
        Accuracy@k = (TP + TN) / N, with N the size of the catalogue

    Args:
        table: the joined table.
        k: cutoff.
        rel: an item is relevant when its grade is at least this.
        catalog: number of items in the catalogue.
        padded: a list shorter than k is padded with misses, so that k items are always
            shown (RecTools).

    Returns:
        One value per query, 0 to 1.

    References:
        D. M. W. Powers: Evaluation: from precision, recall and F-measure to ROC. 2011.
        https://arxiv.org/abs/2010.16061

    Examples:
        One hit, one miss shown, one relevant item not shown, 7 rightly left out:
        (1 + 7) / 10.

        >>> import rankine as rk
        >>> qrels, run = {"q": {"a": 1, "b": 1}}, {"q": ["x", "a", "b"]}
        >>> rk.evaluate(qrels, run, "Accuracy(catalog=10)@2").mean
        {'Accuracy(catalog=10)@2': 0.8}

        One hit, padded with a miss: 8 items are rightly left out, (1 + 8) / 10.

        >>> qrels, run = {"q": {"a": 1}}, {"q": ["a"]}
        >>> rk.evaluate(qrels, run, "Accuracy(padded=True)@2", catalog=10).mean
        {'Accuracy(padded=True)@2': 0.9}
    """
    hit, false, missed, rest = _confusion(
        table, k, rel, catalog, "Accuracy", padded=padded
    )
    return ratio(hit + rest, hit + false + missed + rest)


Accuracy = register("Accuracy", accuracy, needs={"catalog": True}, by_set=True)


def mcc(
    table: Judged,
    *,
    k: int | None = None,
    rel: float = 1,
    catalog: int | None = None,
    padded: bool = False,
) -> Floats:
    """Correlation of shown and relevant (Matthews correlation coefficient).

    Formula:
        MCC@k = (TP TN - FP FN) / sqrt((TP+FP) (TP+FN) (TN+FP) (TN+FN))

    Args:
        table: the joined table.
        k: cutoff.
        rel: an item is relevant when its grade is at least this.
        catalog: number of items in the catalogue.
        padded: a list shorter than k is padded with misses, so that k items are always
            shown (RecTools).

    Returns:
        One value per query, -1 to 1; 0 if one of the four sums is 0, nan without
        relevant items.

    References:
        B. W. Matthews: Comparison of the predicted and observed secondary structure of
        T4 phage lysozyme. 1975. https://doi.org/10.1016/0005-2795(75)90109-9

    Examples:
        TP = FP = FN = 1, TN = 7: (7 - 1) / sqrt(2 * 2 * 8 * 8) = 6 / 16.

        >>> import rankine as rk
        >>> qrels, run = {"q": {"a": 1, "b": 1}}, {"q": ["x", "a", "b"]}
        >>> rk.evaluate(qrels, run, "MCC(catalog=10)@2").mean
        {'MCC(catalog=10)@2': 0.375}
    """
    hit, false, missed, rest = _confusion(table, k, rel, catalog, "MCC", padded=padded)
    product = (hit + false) * (hit + missed) * (rest + false) * (rest + missed)
    value = ratio(hit * rest - false * missed, np.sqrt(product))
    value[product == 0] = 0
    value[table.n_relevant(rel) == 0] = np.nan
    return value


MCC = register("MCC", mcc, bounds=(-1, 1), needs={"catalog": True}, by_set=True)
