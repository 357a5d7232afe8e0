from __future__ import annotations

from math import log, nan
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankine._metrics.ranking import Compat
from tests.rankings import table

GRADED = {"a": 1, "b": 2}
P = 0.95


LISTS = {"depth": "lists"}
# The sum of P^(d-1) / d over all depths d.
ALL = -log(1 - P) / P


@pytest.mark.parametrize(
    ("run", "qrels", "params", "expected"),
    [
        pytest.param("b a", GRADED, {}, 1.0, id="ideal"),
        # Two items from depth 2 on, instead of one and then two.
        pytest.param("a b", GRADED, {}, 2 * (ALL - 1) / (2 * ALL - 1), id="turned"),
        pytest.param(
            "a b", GRADED, {"depth": "endless"}, 2 * (ALL - 1) / (2 * ALL - 1),
            id="endless",
        ),
        # With p = 1/2 the sum is 2 ln 2.
        pytest.param(
            "a b", GRADED, {"p": 0.5}, 2 * (2 * log(2) - 1) / (4 * log(2) - 1), id="p"
        ),
        pytest.param("a b", GRADED, LISTS, P / (1 + P), id="lists-turned"),
        # Depth 3: agreement 0, 1/2, 2/3 of 1, 1, 2/3.
        pytest.param(
            "x b a", GRADED, LISTS, (P / 2 + P**2 * 2 / 3) / (1 + P + P**2 * 2 / 3),
            id="lists-longer",
        ),
        pytest.param(
            "x b a", GRADED, {**LISTS, "normalize": False},
            (P / 2 + P**2 * 2 / 3) / (1 + P + P**2), id="lists-not-normalized",
        ),
        pytest.param(
            "b x", {"b": 1}, {"normalize": False}, ALL * (1 - P), id="not-normalized"
        ),
        pytest.param("b x", {"b": 1}, {"normalize": True}, 1.0, id="normalized"),
        # The ideal ranking has the order of the list where grades are equal.
        pytest.param("b a", {"a": 1, "b": 1}, {}, 1.0, id="equal-grades"),
        # What is not shown comes last among its grade: ideal b, z.
        pytest.param(
            "b x", {"b": 1, "z": 1}, {}, ALL / (2 * ALL - 1), id="not-retrieved"
        ),
        # Ideal z, a: a is in both from depth 2 on.
        pytest.param(
            "a", {"a": 1, "z": 3}, {}, (ALL - 1) / (2 * ALL - 1), id="short-list"
        ),
        pytest.param("a b", {"a": -1, "b": 1}, {}, (ALL - 1) / ALL, id="below-0"),
        pytest.param("", GRADED, {}, 0, id="empty-run"),
        pytest.param("a", {"a": 0}, {}, nan, id="no-relevant"),
        pytest.param("a", {"a": 0}, {"normalize": False}, nan, id="none-unnormalized"),
        pytest.param("x y", GRADED, {}, 0, id="unjudged"),
    ],
)  # fmt: skip
def test_compat(
    run: str, qrels: dict[str, float], params: dict[str, Any], expected: float
) -> None:
    values = Compat(**params).values(table(run, qrels))

    np.testing.assert_allclose(values, [expected], rtol=1e-12, atol=1e-15)


def by_definition(
    shown: list[str], grades: dict[str, int], p: float, depth: int | None = None
) -> float:
    """Compare the list with the ideal ranking, prefix by prefix."""
    relevant = [item for item in grades if grades[item] > 0]
    place = {item: rank for rank, item in enumerate(shown)}
    ideal = sorted(relevant, key=lambda one: (-grades[one], place.get(one, 99)))
    depth = depth or max(len(shown), len(ideal))

    def overlap(ranking: list[str]) -> float:
        return sum(
            p ** (d - 1) * len(set(ranking[:d]) & set(ideal[:d])) / d
            for d in range(1, depth + 1)
        )

    return overlap(shown) / overlap(ideal)


@given(
    grades=st.lists(st.integers(0, 3), min_size=6, max_size=6).filter(any),
    shown=st.permutations([f"d{number}" for number in range(9)]),
    length=st.integers(1, 9),
    p=st.sampled_from([0.5, 0.95]),
)
def test_it_is_the_overlap_with_the_ideal_ranking(
    grades: list[int], shown: list[str], length: int, p: float
) -> None:
    judged = {f"d{number}": grade for number, grade in enumerate(grades)}
    joined = table(" ".join(shown[:length]), judged)

    values = Compat(p=p, depth="lists").values(joined)
    expected = by_definition(shown[:length], judged, p)
    np.testing.assert_allclose(values, [expected], rtol=1e-12, atol=1e-15)
    values = Compat(p=p).values(joined)
    expected = by_definition(shown[:length], judged, p, depth=1000)
    np.testing.assert_allclose(values, [expected], rtol=1e-12, atol=1e-15)
