"""The comparison that a report shows: every pair ends at the better system."""

from __future__ import annotations

from copy import copy
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from rankine._base.arrays import AnyArray, Bools
    from rankine._evaluate.compare.comparison import Comparison
    from rankine._stats.pairwise import Pairwise

_TURNED = {"better": "worse", "worse": "better"}
_SWAPPED = {"a": "b", "b": "a", "wins": "losses", "losses": "wins"}


def directed(comparison: Comparison) -> Comparison:
    """Return the same comparison with pairs that end at the better of two systems.

    The better one is that with the better mean of the first metric, so that a pair has
    the same order under all metrics. With a baseline, pairs begin there and stay as
    they are.
    """
    if comparison.baseline is not None:
        return comparison
    compared, pairs = comparison._compared, comparison.pairs  # noqa: SLF001
    sign = -1 if compared.directions[0] is False else 1
    means = np.nan_to_num(sign * compared.means[0], nan=-np.inf)
    turned = copy(comparison)
    turned.pairs = _turned(pairs, means[pairs.a] > means[pairs.b])
    turned.__dict__.pop("pairwise", None)  # made from the pairs before
    return turned


def _turned(pairs: Pairwise, where: Bools) -> Pairwise:
    """Swap the systems of some pairs."""

    def column(name: str) -> AnyArray:
        values: AnyArray = getattr(pairs, name)
        # Negation would turn 0 into -0.0.
        if name in _SWAPPED:
            return np.where(where, getattr(pairs, _SWAPPED[name]), values)
        if name.startswith("low"):
            return np.where(where, 0 - getattr(pairs, f"high{name[3:]}"), values)
        if name.startswith("high"):
            return np.where(where, 0 - getattr(pairs, f"low{name[4:]}"), values)
        if name in {"difference", "effect"}:
            return np.where(where, 0 - values, values)
        if name == "superiority":
            return np.where(where, 1 - values, values)
        return values

    columns: dict[str, Any] = {
        field.name: column(field.name)
        for field in fields(pairs)
        if field.name != "verdicts"
    }
    verdicts = tuple(
        _turned_verdict(verdict) if turns else verdict
        for verdict, turns in zip(pairs.verdicts, where.tolist(), strict=True)
    )
    return replace(pairs, **columns, verdicts=verdicts)


def _turned_verdict(verdict: str) -> str:
    """Return the verdict on the other system: "better" becomes "worse"."""
    first, comma, rest = verdict.partition(",")
    return f"{_TURNED.get(first, first)}{comma}{rest}"
