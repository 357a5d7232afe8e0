"""Fused runs as dicts, runs to be fused, and a slow twin that fuses dicts."""

from __future__ import annotations

import math
import statistics
from itertools import product
from typing import Any

from hypothesis import strategies as st

import rankine as rk

Scores = dict[Any, float]
Data = dict[Any, Scores]

PARAMETERS: dict[str, dict[str, Any]] = {
    "rrf": {},
    "combsum": {},
    "combmnz": {},
    "combmed": {},
    "combanz": {},
    "combmin": {},
    "combmax": {},
    "combgmnz": {"gamma": 0.7},
    "wsum": {"weights": [0.5, 2, 1]},
    "wmnz": {"weights": [0.5, 2, 1]},
    "mixed": {"weights": [0.5, 2, 1]},
    "borda": {},
    "condorcet": {},
    "isr": {},
    "log_isr": {},
    "logn_isr": {"sigma": 0.3},
    "rbc": {"phi": 0.8},
}
"""All methods, with parameters for three runs."""
OF_RANKS = {"rrf", "borda", "condorcet", "isr", "log_isr", "logn_isr", "rbc"}
NORMS = ("min-max", "max", "sum", "z-score", "rank", "borda")


def scores(run: Any) -> Data:
    """Return {query: {item: score}} of a fused run, best first."""
    found: Data = run.to_dict()
    return found


def fused(runs: Any, method: str, **options: Any) -> Data:
    return scores(rk.fuse(runs, method, **options))


def ranked(own: Scores) -> list[str]:
    """Return items in the order of all runs: by score, then by id, descending."""
    return sorted(own, key=lambda item: (own[item], item), reverse=True)


def twin(runs: list[Data], method: str, norm: str | None, **parameters: Any) -> Data:
    """Fuse as the formulas say, query by query and item by item."""
    made: Data = {}
    for query in dict.fromkeys(query for run in runs for query in run):
        there = [place for place, run in enumerate(runs) if query in run]
        lists = [runs[place][query] for place in there]
        weights = parameters.get("weights")
        own = {key: value for key, value in parameters.items() if key != "weights"}
        if weights is not None:
            own["weights"] = [weights[place] for place in there]
        items = {item for one in lists for item in one}
        made[query] = {
            item: _score(item, items, lists, method, norm, **own) for item in items
        }
    return made


def _score(
    item: str,
    items: set[str],
    lists: list[Scores],
    method: str,
    norm: str | None,
    *,
    k: float = 60,
    gamma: float = 1,
    sigma: float = 0.01,
    phi: float = 0,
    weights: list[float] | None = None,
) -> float:
    weights = weights or [1.0] * len(lists)
    ranks = [ranked(own).index(item) + 1 if item in own else None for own in lists]
    pairs = list(zip(ranks, weights, strict=True))
    n = sum(item in own for own in lists)
    if method == "rrf":
        return sum(w / (k + r) for r, w in pairs if r)
    if method in {"isr", "log_isr", "logn_isr"}:
        factor = {"isr": n, "log_isr": math.log(n), "logn_isr": math.log(n + sigma)}
        return factor[method] * sum(1 / r**2 for r in ranks if r)
    if method == "rbc":
        return sum((1 - phi) * float(phi) ** (r - 1) for r in ranks if r)
    if method == "borda":
        c = len(items)
        return sum(
            c - r + 1 if r else (c - len(own) + 1) / 2
            for r, own in zip(ranks, lists, strict=True)
        )
    if method == "condorcet":
        return sum(_duel(item, other, lists) for other in items - {item})
    made = [_normalised(own, items, norm) for own in lists]
    held = [(own[item], w) for own, w in zip(made, weights, strict=True) if item in own]
    values = [value for value, _ in held]
    n, total = len(held), sum(values)
    weighed = sum(value * w for value, w in held)
    made_of: dict[str, float] = {
        "combsum": total,
        "combmnz": total * n,
        "combgmnz": total * n**gamma,
        "combanz": total / n,
        "combmed": statistics.median(values),
        "combmin": min(values),
        "combmax": max(values),
        "wsum": weighed,
        "wmnz": total * sum(w for _, w in held),
        "mixed": weighed * math.sqrt(n),
    }
    return made_of[method]


def _duel(item: str, other: str, lists: list[Scores]) -> float:
    """Return 1 for a win of an item over another, 1/2 if neither wins."""
    margin = 0
    for own in lists:
        order = ranked(own)
        first, second = (
            order.index(one) if one in own else math.inf for one in (item, other)
        )
        margin += (first < second) - (first > second)
    return (1 + (margin > 0) - (margin < 0)) / 2


def _normalised(own: Scores, items: set[str], norm: str | None) -> Scores:
    if norm is None or not own:
        return dict(own)
    values, order = list(own.values()), ranked(own)
    low, high, n, c = min(values), max(values), len(values), len(items)
    if norm == "rank":
        return {item: 1 - order.index(item) / n for item in own}
    if norm == "borda":
        rest = dict.fromkeys(items, 0.5 - (n - 1) / (2 * c))
        return rest | {item: 1 - order.index(item) / c for item in own}
    down = {
        "min-max": high - low,
        "max": high,
        "sum": sum(value - low for value in values),
        "z-score": statistics.pstdev(values),
    }[norm]
    off = {"min-max": low, "max": 0, "sum": low, "z-score": statistics.fmean(values)}
    return {item: (s - off[norm]) / down if down else 0 for item, s in own.items()}


ITEMS = "abcdefgh"
lists = st.dictionaries(
    st.sampled_from(ITEMS), st.integers(1, 12).map(lambda n: n / 4), min_size=1
)
"""A list with ties, above 0."""


def runs(n: int, queries: str = "pq") -> st.SearchStrategy[list[Data]]:
    """Draw runs of the same queries."""
    one = st.fixed_dictionaries(dict.fromkeys(queries, lists))
    return st.lists(one, min_size=n, max_size=n)


CHOICES = [
    (method, norm)
    for method, norm in product(PARAMETERS, (*NORMS, None))
    if norm is None or method not in OF_RANKS
]
"""Each method with each normalisation that it reads."""
