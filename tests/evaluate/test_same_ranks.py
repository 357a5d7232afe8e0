"""Metrics of rankings and metrics of lists see an item at the same rank."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import polars as pl
import pytest

import rankine as rk

pytestmark = pytest.mark.slow

ITEMS = "abcde"
DEPTHS = range(1, 7)
CHOICES = [
    {"order": order, "tie": tie, "score_bits": bits, "duplicates": duplicates}
    for order, tie, bits, duplicates in product(
        ("score", "given"),
        ("id_desc", "id_asc", "input", "input_rev"),
        (32, 64),
        ("last", "set", "count"),
    )
]
NEAR = 1 + 2**-30
"""A score that is 1 in 32 bits, and above it in 64."""


def rows(seed: int, *, repeat: bool) -> pl.DataFrame:
    """Return two lists with ties, near ties and repeated items."""
    rng = np.random.default_rng(seed)
    triples = []
    for query in ("p", "q"):
        items = rng.choice([*ITEMS], 6) if repeat else rng.permutation([*ITEMS])
        scores = rng.choice([1.0, NEAR, 2.0, 0.5], len(items))
        triples += [
            (query, str(item), float(score))
            for item, score in zip(items, scores, strict=True)
        ]
    return pl.DataFrame(triples, schema=["query", "item", "score"], orient="row")


def mapping(run: pl.DataFrame) -> dict[str, Any]:
    """Return lists that have no scores as mappings of lists."""
    return {
        str(query): group["item"].to_list()
        for (query,), group in run.group_by("query", maintain_order=True)
    }


def depths_of(run: Any, target: str, choices: dict[str, Any]) -> tuple[Any, Any]:
    """Say for each list and depth whether an item is there, in both ways.

    The item alone is relevant, and it alone has ever been had.
    """
    found = rk.evaluate(
        {"p": {target: 1}, "q": {target: 1}},
        run,
        [*(f"Success@{k}" for k in DEPTHS), *(f"Popularity@{k}" for k in DEPTHS)],
        convention=rk.Convention(**choices),
        train={"u": [target]},
    )
    values = found.per_query
    return (
        [(values[f"Success@{k}"] > 0).to_list() for k in DEPTHS],
        [(values[f"Popularity@{k}"] > 0).to_list() for k in DEPTHS],
    )


@pytest.mark.parametrize(
    "choices", CHOICES, ids=lambda one: "-".join(map(str, one.values()))
)
@pytest.mark.parametrize("repeat", [False, True])
def test_an_item_has_one_rank(choices: dict[str, Any], *, repeat: bool) -> None:
    for seed in range(2):
        run = rows(seed, repeat=repeat)
        forms = [run] if choices["order"] == "score" else [run, mapping(run)]
        for form, target in product(forms, ITEMS):
            as_ranking, as_list = depths_of(form, target, choices)

            assert as_ranking == as_list, (seed, target)


@pytest.mark.parametrize(
    ("duplicates", "ranks"),
    [
        # By score a, b, a, c: of a, the last row counts, and so b comes first.
        ("last", {"b": 1, "a": 2, "c": 3}),
        # The second row of a keeps its place, and so c stays fourth.
        ("set", {"a": 1, "b": 2, "c": 4}),
        ("count", {"a": 1, "b": 2, "c": 4}),
    ],
)
def test_ranks_of_repeated_items(duplicates: Any, ranks: dict[str, int]) -> None:
    triples = [("p", "a", 3.0), ("p", "a", 2.0), ("p", "b", 2.5), ("p", "c", 1.0)]
    run = pl.DataFrame(triples, schema=["query", "item", "score"], orient="row")
    for item, rank in ranks.items():
        found = rk.evaluate(
            {"p": {item: 1}},
            run,
            ["RR", f"Popularity@{rank}", *([f"Popularity@{rank - 1}"] * (rank > 1))],
            convention=rk.Convention(duplicates=duplicates),
            train={"u": [item]},
        )

        assert found["RR"] == 1 / rank
        assert found[f"Popularity@{rank}"] > 0
        assert rank == 1 or found[f"Popularity@{rank - 1}"] == 0


def test_ranx_ranks_a_repeated_item_second_for_both() -> None:
    triples = [("p", "a", 3.0), ("p", "b", 2.5), ("p", "a", 2.0)]
    run = pl.DataFrame(triples, schema=["query", "item", "score"], orient="row")
    found = rk.evaluate(
        {"p": {"a": 1}},
        run,
        ["RR", "Popularity@1", "Popularity@2"],
        convention="ranx",
        train={"u": ["a"]},
    )

    assert found["RR"] == 1 / 2
    assert found["Popularity@1"] == 0
    assert found["Popularity@2"] == (0 + 1) / 2
    assert sum("repeat" in note for note in found.notes) == 1
