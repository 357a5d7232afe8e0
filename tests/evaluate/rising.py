"""Lists whose scores rise, as distances do, and their rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

if TYPE_CHECKING:
    from collections.abc import Mapping

QRELS = {"q": {"a": 1, "b": 0}, "r": {"a": 1}}
LISTS: dict[str, dict[str, float]] = {
    "q": {"a": 0.1, "b": 0.2, "c": 0.4, "d": 0.8},
    "r": {"a": 1, "b": 2, "c": 3},
}


def rows(
    lists: Mapping[str, Mapping[str, float]], value: str = "score"
) -> pl.DataFrame:
    triples = [
        (query, item, float(number))
        for query, own in lists.items()
        for item, number in own.items()
    ]
    return pl.DataFrame(triples, schema=["query", "item", value], orient="row")
