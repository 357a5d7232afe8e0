"""A log of four events, what another policy would show, and its weights."""

from __future__ import annotations

from typing import Any

import polars as pl

LOGGED = pl.DataFrame(
    {
        "user_id": [1, 2, 3, 4],
        "item_id": ["a", "b", "a", "c"],
        "click": [1, 0, 1, 0],
        "propensity": [0.5, 0.25, 0.5, 0.25],
    }
)
SHOWN = pl.DataFrame(
    {
        "user_id": [1, 2, 3, 4],
        "item_id": ["a", "b", "b", "c"],
        "predicted": [0.5, 0.2, 0.1, 0.1],
    }
)
W = [1 / 0.5, 1 / 0.25, 0, 1 / 0.25]
Q = [0.5, 0.2, 0.1, 0.1]
REST = [1 - 0.5, 0 - 0.2, 0, 0 - 0.1]  # r - r' where it matches


def changed(column: str, values: list[Any]) -> pl.DataFrame:
    return LOGGED.with_columns(pl.Series(column, values, strict=False))
