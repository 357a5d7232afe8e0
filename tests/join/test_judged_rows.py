"""Keys propose, ids decide: duplicates and matches when hashes collide."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pytest

import rankine as rk
from rankine._base.limits import limited
from rankine.errors import DuplicateItemError

if TYPE_CHECKING:
    from numpy.typing import NDArray


def _poor_keys(items: pl.Series, seed: int) -> NDArray[np.uint64]:
    """Give items that are 7 apart the same key; with the first seeds, all items."""
    apart = np.uint64(1 if seed < 2 else 7)
    return items.to_numpy().astype(np.uint64) % apart


def test_colliding_keys_change_nothing() -> None:
    rng = np.random.default_rng(0)
    run = pl.DataFrame(
        {
            "query": np.repeat(np.arange(30), 20),
            "item": np.concatenate([rng.permutation(60)[:20] for _ in range(30)]),
            "score": rng.random(600),
        }
    )
    qrels = pl.DataFrame(
        {"query": np.repeat(np.arange(30), 2), "item": np.tile([3, 4], 30), "rel": 1}
    )
    expected = rk.evaluate(qrels, run, ["AP", "nDCG@5"]).per_query

    with limited(keys=_poor_keys):
        found = rk.evaluate(qrels, run, ["AP", "nDCG@5"])

    assert expected["AP"].sum() > 0
    assert found.per_query.equals(expected)


def test_a_real_duplicate_is_found_among_colliding_keys() -> None:
    run = pl.DataFrame(
        {"query": ["q"] * 4, "item": ["a", "b", "c", "b"], "score": [4.0, 3, 2, 1]}
    )

    with (
        limited(keys=lambda items, _: np.zeros(len(items), dtype=np.uint64)),
        pytest.raises(DuplicateItemError, match=r"item 'b' appears twice .*row 1 and"),
    ):
        rk.evaluate({"q": {"a": 1}}, run, "AP")


@pytest.mark.parametrize("piece", [7, 100, 1 << 18])
def test_mixed_queries_are_joined_piece_by_piece(piece: int) -> None:
    rng = np.random.default_rng(piece)
    run = pl.DataFrame(
        {
            "query": np.repeat([f"q{number}" for number in range(12)], 40),
            "item": np.concatenate([rng.permutation(90)[:40] for _ in range(12)]),
            "score": rng.integers(0, 25, 480).astype(float),
        }
    ).with_columns(pl.col("item").cast(pl.String))
    qrels = {f"q{at}": {str(item): at % 3 for item in range(at, 60)} for at in range(9)}
    expected = rk.evaluate(qrels, run, ["AP", "nDCG@5", "RR"])

    mixed = run.sample(fraction=1, shuffle=True, seed=3)
    with limited(mixed_rows=piece, few_ids=3):
        found = rk.evaluate(qrels, mixed, ["AP", "nDCG@5", "RR"])

    assert expected["AP"] > 0
    assert found.per_query.equals(expected.per_query)
    assert found.notes[1:] == expected.notes[1:]
