from __future__ import annotations

from math import nan
from typing import Any

import numpy as np
import polars as pl
import pytest

import rankine as rk
from rankine._metrics.ranking import PAP, PartialAUC
from tests.rankings import table

THREE = {"a": 1, "b": 1, "c": 1}


@pytest.mark.parametrize(
    ("run", "qrels", "params", "expected"),
    [
        pytest.param("a x b y", THREE, {"others": 2}, (2 + 1) / (2 * 3), id="two"),
        pytest.param("a x b y", THREE, {"others": 1}, (1 + 0) / (1 * 3), id="one"),
        pytest.param("a x b y", THREE, {}, (2 + 1) / (2 * 3), id="all-of-the-list"),
        pytest.param(
            "a x b y", THREE, {"others": 5}, (5 + 4) / (5 * 3), id="more-than-there-are"
        ),
        pytest.param("x y a", {"a": 1}, {"others": 2}, 0, id="below-them-all"),
        pytest.param("x a y z", {"a": 1}, {"others": 3}, 2 / 3, id="second"),
        pytest.param(
            "x a y z", {"a": 1, "x": 2}, {"others": 2, "rel": 2}, 2 / 2, id="rel-2"
        ),
        pytest.param(
            "a x b y", THREE, {"others": 5, "short": "undefined"}, nan, id="too-short"
        ),
        pytest.param(
            "a x b y", THREE, {"others": 2, "short": "undefined"}, (2 + 1) / (2 * 3),
            id="long-enough",
        ),
        pytest.param(
            "a x", {"a": 1}, {"others": 5, "short": "undefined"}, 1.0, id="has-all"
        ),
        pytest.param(
            "a x b y", THREE, {"others": 5, "short": "lowest"}, (5 + 4) / (5 * 3),
            id="lowest",
        ),
        pytest.param("a b", THREE, {}, nan, id="no-others"),
        pytest.param("", THREE, {"others": 2}, 0, id="empty-run"),
        pytest.param("a", {"a": 0}, {"others": 2}, nan, id="no-relevant"),
    ],
)  # fmt: skip
def test_partial_auc(
    run: str, qrels: dict[str, float], params: dict[str, Any], expected: float
) -> None:
    values = PartialAUC(**params).values(table(run, qrels))

    np.testing.assert_allclose(values, [expected], rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize(
    ("run", "qrels", "params", "expected"),
    [
        pytest.param("a x b y", THREE, {"others": 2}, (2 + 1) / (2 * 2), id="two"),
        pytest.param("a b c", THREE, {"others": 1}, 1 / 1, id="first-hit-alone"),
        pytest.param("a x b y", THREE, {"others": 5}, (5 + 4) / (5 * 3), id="few"),
        pytest.param("a x b y", THREE, {}, (2 + 1) / (2 * 2), id="all-of-the-list"),
        pytest.param(
            "x a y", {"a": 1, "x": 2}, {"others": 1, "rel": 2}, 1.0, id="rel-2"
        ),
        pytest.param(
            "a x b y", THREE, {"others": 5, "short": "undefined"}, nan, id="too-short"
        ),
        pytest.param(
            "a x b y", THREE, {"others": 5, "short": "lowest"}, (5 + 4) / (5 * 3),
            id="lowest",
        ),
        pytest.param("a b", THREE, {}, nan, id="no-others"),
        pytest.param("", THREE, {"others": 2}, 0, id="empty-run"),
        pytest.param("a", {"a": 0}, {"others": 2}, nan, id="no-relevant"),
    ],
)  # fmt: skip
def test_pap(
    run: str, qrels: dict[str, float], params: dict[str, Any], expected: float
) -> None:
    values = PAP(**params).values(table(run, qrels))

    np.testing.assert_allclose(values, [expected], rtol=1e-12, atol=1e-15)


def test_the_number_of_others_does_not_cut_the_list() -> None:
    # The hit at rank 5 has two others above it, though only three are looked at.
    run = {"q": ["a", "x", "b", "y", "c", "z"]}
    ev = rk.evaluate({"q": THREE}, run, "PartialAUC@3")

    assert ev["PartialAUC@3"] == pytest.approx((3 + 2 + 1) / (3 * 3), rel=1e-15)


@pytest.mark.parametrize(
    ("metric", "expected"),
    [
        ("PartialAUC@1", [0, 0, 1, 1, 0]),
        ("PartialAUC@3", [0, 0, 1, 1, 1 / 12]),
        ("PAP@1", [0, 0, 1, 1, 0]),
        ("PAP@3", [0, 0, 1, 1, 1 / 9]),
    ],
)
def test_the_numbers_of_rectools_own_tests(metric: str, expected: list[float]) -> None:
    user = [1, 2, 3, 3, 3, 4, 5, 5, 5, 5]
    run = pl.DataFrame(
        {
            "user_id": user,
            "item_id": [1, 2, 1, 2, 3, 1, 1, 2, 3, 5],
            "rank": [9, 1, 1, 2, 3, 1, 3, 7, 9, 1],
        }
    )
    liked = pl.DataFrame({"user_id": user, "item_id": [1, 1, 1, 2, 3, 1, 1, 2, 3, 4]})

    found = rk.evaluate(liked, run, metric, convention="rectools").per_query

    assert found[metric].to_list() == pytest.approx(expected)
