"""Lists of all items shown, from matrices of scores: the same as from dicts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rankine as rk
from rankine.errors import DataError

TIES: Any = ["id_asc", "id_desc", "input", "input_rev"]


@pytest.mark.parametrize(
    ("tie", "first"),
    [("id_asc", "a"), ("id_desc", "d"), ("input", "b"), ("input_rev", "c")],
)
def test_items_tied_at_the_cutoff_are_decided_by_the_rule(tie: Any, first: str) -> None:
    items = ["b", "a", "d", "c"]
    run = rk.from_scores([[0.5] * 4], items=items)
    rule = rk.Convention(tie=tie)

    found = {
        item: rk.evaluate(None, run, "Coverage@1", catalog=[item], convention=rule)
        for item in items
    }

    assert {item for item, ev in found.items() if ev["Coverage@1"] == 1} == {first}


def test_each_metric_has_its_own_cutoff() -> None:
    run = rk.from_scores([[0.3, 0.2, 0.1, 0.0], [0.1, 0.3, 0.2, 0.0]])

    ev = rk.evaluate(None, run, ["Coverage@1", "Coverage@2", "Coverage"], catalog=4)

    # 0 and 1; then 2, too; then all.
    assert ev.mean == {"Coverage@1": 2 / 4, "Coverage@2": 3 / 4, "Coverage": 1}


def test_a_matrix_is_ranked_by_its_scores_alone() -> None:
    run = rk.from_scores([[0.1, 0.9]])

    for metric in ("RR", "Coverage@1"):
        with pytest.raises(DataError, match="order='given' cannot be used"):
            rk.evaluate([{1}], run, metric, catalog=2, order="given")


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(1, 6),
    width=st.integers(2, 90),
    digits=st.integers(0, 2),
    left_out=st.sampled_from([0, 0.3, 0.9]),
    tie=st.sampled_from(TIES),
    bits=st.sampled_from([32, 64]),
)
def test_the_same_as_dicts(
    *, seed: int, n: int, width: int, digits: int, left_out: float, tie: Any, bits: Any
) -> None:
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=(n, width)).round(digits)
    scores[rng.random(scores.shape) < left_out] = -np.inf
    scores[0, 0] = 1  # at least one item
    rows = [
        {item: score for item, score in enumerate(row) if score > -np.inf}
        for row in scores.tolist()
    ]
    run = dict(enumerate(rows))
    train = {query: rng.integers(0, width, 5).tolist() for query in range(n)}
    metrics = ["Novelty(by='own')@2", "Novelty@5", "Gini@5", "Entropy", "ARP@20"]
    options: Any = {
        "train": train,
        "convention": rk.Convention(tie=tie, score_bits=bits),
    }

    matrix = rk.evaluate(None, rk.from_scores(scores), metrics, **options)
    dicts = rk.evaluate(None, run, metrics, **options)

    assert repr(matrix.mean) == repr(dicts.mean)  # of which one may be nan
    assert matrix.per_query.equals(dicts.per_query)
    assert matrix.notes == dicts.notes
