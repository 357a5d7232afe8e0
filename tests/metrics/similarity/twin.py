"""Rank-biased overlap straight from its definition: slow, and written again."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

Groups = Sequence[Sequence[str]]


def ranks(groups: Groups) -> dict[str, tuple[int, int]]:
    """Return where the ties of each item begin and end, from 1."""
    found = {}
    above = 0
    for group in groups:
        for item in group:
            found[item] = (above + 1, above + len(group))
        above += len(group)
    return found


def inside(rank: tuple[int, int] | None, depth: int, ties: str) -> float:
    """Return how much of an item is within a depth."""
    if rank is None:
        return 0
    top, bottom = rank
    if ties == "w":
        return float(top <= depth)
    return min(max(depth - top + 1, 0) / (bottom - top + 1), 1)


def rbo(x: Groups, y: Groups, p: float, ties: str) -> dict[str, float]:
    """Return min, max, res and ext by summing depth after depth."""
    one, other = ranks(x), ranks(y)
    short, long = sorted((one, other), key=len)
    s, n = len(short), len(long)
    alone = [item for item in long if item not in short]
    low = high = ext = last = 0.0
    for d in range(1, n + 1):
        weight = (1 - p) * p ** (d - 1)
        parts = {
            item: (inside(short.get(item), d, ties), inside(long.get(item), d, ties))
            for item in {*short, *long}
        }
        common = sum(a * b for a, b in parts.values())
        of_short = [a for a, _ in parts.values()] if d <= s else [1.0] * d
        of_long = [b for _, b in parts.values()]
        size = {
            "w": (sum(of_short) + sum(of_long)) / 2,
            "a": d,
            "b": math.sqrt(sum(v * v for v in of_short) * sum(v * v for v in of_long)),
        }[ties]
        most = likely = 0.0
        if d == s:
            last = common / size
        if d > s:
            most = sum(inside(long[item], d, ties) for item in alone[: d - s])
            begun = [v for item in alone if (v := inside(long[item], d, ties)) > 0]
            likely = (d - s) * last * sum(begun) / len(begun)
        low += weight * common / size
        high += weight * (common + most) / size
        ext += weight * (common + likely) / size
    both = len(short.keys() & long.keys())
    # Deeper than both lists: as many depths as matter at all.
    for d in range(n + 1, n + s + math.ceil(40 / -math.log(p))):
        weight = (1 - p) * p ** (d - 1)
        low += weight * both / d
        high += weight * min(both + 2 * d - n - s, d) / d
    ext += (both + (n - s) * last) / n * p**n if n else 0
    return {"min": low, "max": high, "res": high - low, "ext": ext}


def orders(groups: Groups) -> list[list[list[str]]]:
    """Return every ranking without ties that a ranking with ties may stand for."""
    return [
        [[item] for group in chosen for item in group]
        for chosen in itertools.product(*map(itertools.permutations, groups))
    ]
