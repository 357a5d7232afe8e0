"""Sums over common items, some queries at a time."""

from __future__ import annotations

import numpy as np
import pytest

from rankine._tables.paired import Matched, Side
from rankine._tables.segments import starts_of


@pytest.mark.parametrize("lengths", [[], [0], [3, 0, 2], [900, 0, 70_000, 1, 30_000]])
def test_values_of_depths_are_added_up_by_query(lengths: list[int]) -> None:
    rng = np.random.default_rng(len(lengths))
    starts = starts_of(np.array(lengths, dtype=np.int64))
    x_at = np.concatenate([np.arange(0), *(np.arange(n) for n in lengths)])
    y_at = np.concatenate([np.arange(0), *(rng.permutation(n) for n in lengths)])
    both = Matched(Side(starts), Side(starts), starts, x_at, y_at)
    values = rng.integers(0, 1000, max(lengths, default=0) + 1).astype(np.float64)

    total = both.sum_by_depth(values)

    deepest = [max(x, y) + 1 for x, y in zip(x_at, y_at, strict=True)]
    wanted = [0.0] * len(lengths)
    for query, depth in zip(both.query.tolist(), deepest, strict=True):
        wanted[query] += values[depth]
    assert total.tolist() == wanted
