from __future__ import annotations

from math import nan, sqrt
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from rankine._metrics.ranking import MCC, Accuracy, FallOut
from rankine.errors import DataError, ParameterError
from tests.rankings import table

if TYPE_CHECKING:
    from rankine._metrics.metric import Metric

TWO = {"a": 1, "b": 1}
GRADED = {"a": 2, "b": 1}


@pytest.mark.parametrize(
    ("run", "qrels", "params", "expected"),
    [
        pytest.param("x y a", TWO, {"catalog": 10}, 2 / (10 - 2), id="whole-list"),
        pytest.param("x y a", TWO, {"catalog": 10, "k": 1}, 1 / 8, id="cut-off"),
        pytest.param("x y a", TWO, {"catalog": 10, "k": 9}, 2 / 8, id="beyond"),
        pytest.param("x y a", TWO, {"catalog": 20}, 2 / (20 - 2), id="catalog-20"),
        pytest.param("a b", GRADED, {"catalog": 10}, 0 / 8, id="rel-1"),
        pytest.param("a b", GRADED, {"catalog": 10, "rel": 2}, 1 / 9, id="rel-2"),
        pytest.param("", TWO, {"catalog": 10}, 0 / 8, id="empty-run"),
        pytest.param("a x", {"a": 0}, {"catalog": 10}, 2 / 10, id="no-relevant"),
        pytest.param("a", TWO, {"catalog": 2}, nan, id="all-relevant"),
        pytest.param("a", {"a": -1, "b": 1}, {"catalog": 5}, 1 / 4, id="negative"),
        pytest.param("x a y", TWO, {"universe": "list"}, 2 / 2, id="list"),
        pytest.param("x a y", TWO, {"universe": "list", "k": 2}, 1 / 2, id="list-cut"),
        pytest.param("x a y", {}, {"universe": "list", "k": 2}, 2 / 3, id="list-none"),
        pytest.param("a b", TWO, {"universe": "list"}, nan, id="list-all-relevant"),
        pytest.param(
            "x a y", TWO, {"universe": "catalogue", "catalog": 4}, 2 / 2, id="catalogue"
        ),
    ],
)
def test_fall_out(
    run: str, qrels: dict[str, float], params: dict[str, Any], expected: float
) -> None:
    values = FallOut(**params).values(table(run, qrels))

    np.testing.assert_allclose(values, [expected], rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize(
    ("run", "qrels", "params", "expected"),
    [
        pytest.param("x a b", TWO, {"catalog": 10}, (2 + 7) / 10, id="whole-list"),
        pytest.param("x a b", TWO, {"catalog": 10, "k": 2}, (1 + 7) / 10, id="cut-off"),
        pytest.param("x a b", TWO, {"catalog": 10, "k": 9}, (2 + 7) / 10, id="beyond"),
        pytest.param("x a b", TWO, {"catalog": 20}, (2 + 17) / 20, id="catalog-20"),
        pytest.param("a b", GRADED, {"catalog": 10}, (2 + 8) / 10, id="rel-1"),
        pytest.param("a b", GRADED, {"catalog": 10, "rel": 2}, (1 + 8) / 10, id="rel"),
        pytest.param("", TWO, {"catalog": 10}, (0 + 8) / 10, id="empty-run"),
        pytest.param("a x", {"a": 0}, {"catalog": 10}, (0 + 8) / 10, id="no-relevant"),
        pytest.param("a", {"a": -1, "b": 1}, {"catalog": 5}, (0 + 3) / 5, id="neg"),
        pytest.param(
            "a",
            {"a": 1},
            {"catalog": 10, "k": 2, "padded": True},
            (1 + 8) / 10,
            id="padded",
        ),
        pytest.param(
            "a",
            {"a": 1},
            {"catalog": 10, "k": 2, "padded": False},
            (1 + 9) / 10,
            id="not-padded",
        ),
        pytest.param(
            "x a b",
            TWO,
            {"catalog": 10, "k": 2, "padded": True},
            (1 + 7) / 10,
            id="padded-long-enough",
        ),
        pytest.param(
            "",
            TWO,
            {"catalog": 10, "k": 2, "padded": True},
            (0 + 6) / 10,
            id="padded-empty-run",
        ),
        pytest.param(
            "a",
            {"a": 1},
            {"catalog": 10, "padded": True},
            (1 + 9) / 10,
            id="padded-without-cutoff",
        ),
    ],
)
def test_accuracy(
    run: str, qrels: dict[str, float], params: dict[str, Any], expected: float
) -> None:
    values = Accuracy(**params).values(table(run, qrels))

    np.testing.assert_allclose(values, [expected], rtol=1e-12, atol=1e-15)


def correlation(tp: int, fp: int, fn: int, tn: int) -> float:
    sums = (tp + fp) * (tp + fn) * (tn + fp) * (tn + fn)
    return (tp * tn - fp * fn) / sqrt(sums)


@pytest.mark.parametrize(
    ("run", "qrels", "params", "expected"),
    [
        pytest.param(
            "x a b", TWO, {"catalog": 10}, correlation(2, 1, 0, 7), id="whole-list"
        ),
        pytest.param("x a b", TWO, {"catalog": 10, "k": 2}, 6 / 16, id="cut-off"),
        pytest.param(
            "x a b", TWO, {"catalog": 10, "k": 9}, correlation(2, 1, 0, 7), id="beyond"
        ),
        pytest.param(
            "x a", TWO, {"catalog": 20}, correlation(1, 1, 1, 17), id="catalog-20"
        ),
        pytest.param(
            "b a", GRADED, {"catalog": 10, "rel": 2}, correlation(1, 1, 0, 8), id="rel"
        ),
        pytest.param("a b", TWO, {"catalog": 10}, 1, id="perfect"),
        pytest.param("x y", TWO, {"catalog": 4}, -1, id="all-wrong"),
        pytest.param("", TWO, {"catalog": 10}, 0, id="empty-run"),
        pytest.param("a b", TWO, {"catalog": 2}, 0, id="all-relevant"),
        pytest.param("a x", {"a": 0}, {"catalog": 10}, nan, id="no-relevant"),
        pytest.param(
            "a b", {"a": -1, "b": 1}, {"catalog": 5}, correlation(1, 1, 0, 3), id="neg"
        ),
        pytest.param(
            "a",
            {"a": 1},
            {"catalog": 10, "k": 2, "padded": True},
            correlation(1, 1, 0, 8),
            id="padded",
        ),
        pytest.param(
            "",
            TWO,
            {"catalog": 10, "k": 2, "padded": True},
            correlation(0, 2, 2, 6),
            id="padded-empty-run",
        ),
    ],
)
def test_mcc(
    run: str, qrels: dict[str, float], params: dict[str, Any], expected: float
) -> None:
    values = MCC(**params).values(table(run, qrels))

    np.testing.assert_allclose(values, [expected], rtol=1e-12, atol=1e-15)


METRICS = pytest.mark.parametrize("metric", [FallOut, Accuracy, MCC], ids=str)


@METRICS
@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"k": 0}, "k must be a positive integer or None, got 0"),
        ({"k": True}, "k must be a positive integer or None, got True"),
        ({"k": 2.5}, r"k must be a positive integer or None, got 2\.5"),
        ({"rel": None}, "rel must be a finite number, got None"),
        ({"catalog": 0}, "catalog must be an integer of at least 1, got 0"),
        ({"catalog": "all"}, "catalog must be an integer of at least 1, got 'all'"),
        ({"ties": "average"}, "has no parameter 'ties'"),
    ],
)
def test_refuses_parameters(
    metric: Metric, params: dict[str, Any], message: str
) -> None:
    with pytest.raises(ParameterError, match=message):
        metric(**params)


@METRICS
def test_needs_the_size_of_the_catalogue(metric: Metric) -> None:
    message = f"{metric} needs the size of the catalogue"

    with pytest.raises(ParameterError, match=message):
        metric.values(table("a", TWO))


@METRICS
@pytest.mark.parametrize(
    ("run", "size"),
    [
        pytest.param("x y z", 2, id="more-retrieved"),
        pytest.param("a", 1, id="more-relevant"),
        pytest.param("x", 2, id="more-relevant-or-retrieved"),
    ],
)
def test_refuses_a_catalogue_that_is_too_small(
    metric: Metric, run: str, size: int
) -> None:
    with pytest.raises(DataError, match=f"the catalogue has {size} items"):
        metric(catalog=size).values(table(run, TWO))


def test_filled_up_lists_must_fit_into_the_catalogue() -> None:
    metric = Accuracy(catalog=3, k=3, padded=True)

    with pytest.raises(DataError, match="the catalogue has 3 items, but a query has 4"):
        metric.values(table("", {"a": 1}))


@pytest.mark.parametrize("metric", [Accuracy, MCC], ids=str)
def test_refuses_padded_that_is_no_flag(metric: Metric) -> None:
    with pytest.raises(ParameterError, match="padded must be True or False, got 1"):
        metric(padded=1)


def test_refuses_another_universe() -> None:
    with pytest.raises(ParameterError, match="universe must be one of catalogue, list"):
        FallOut(universe="matched")
