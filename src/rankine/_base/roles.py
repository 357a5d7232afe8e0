"""Roles: what the data of an evaluation are, by the names of arguments and options."""

from __future__ import annotations

OTHERS = ("train", "reference", "items", "weights")
"""The data besides judgements and runs."""
ROLES = ("qrels", "run", *OTHERS)
RUNS = frozenset({"run", "reference"})
"""Data that are lists of retrieved items."""
LIKE = {"train": "qrels", "reference": "run"}
"""Data with the columns of others, unless their own are given."""
APART = {"items": ("item",), "weights": ("query", "weight")}
"""Data whose columns and format are given separately, and the parts that they have."""


_WORDS = {"train": "training data", "reference": "reference lists"}


def none_of(role: str) -> str:
    """Say that no such data were given.

    >>> none_of("train"), none_of("items")
    ('no training data were given', 'no items were given')
    """
    return f"no {_WORDS.get(role, role)} were given"
