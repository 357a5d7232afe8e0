"""The arms of a test: the moments of every metric in each, from blocks of users."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from rankine._online.moments import Moments
from rankine._online.texts import coded

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankine._online.cohort import Cohort, Measure

_BLOCK = 1 << 17
"""Users that are processed together: few enough for the cache of a core."""
_THREADS = 8

Place = tuple["Measure", str, str | None]
"""A metric, a variant, and a segment or None."""


def by_arm(cohort: Cohort) -> tuple[dict[Place, Any], dict[str, int]]:
    """Return the moments of each metric and arm, overall and in each segment.

    For a quantile, these are its values. Also returns how many users each variant has.
    Blocks are merged in order, so that the number of threads does not matter.
    """
    names, codes = coded(cohort.frame["variant"])
    variants, codes = [*map(str, names)], codes - 1
    segments: Sequence[str | None] = [None]
    if cohort.is_segmented:
        names, inner = coded(cohort.frame["segment"])
        segments = [*map(str, names)]
        codes = codes.astype(np.int64) * len(segments) + inner - 1
    arms = [(variant, segment) for variant in variants for segment in segments]
    by_name = sorted(range(len(arms)), key=arms.__getitem__)
    columns = cohort.columns()
    same = _same(cohort.measures)
    measures = list(dict.fromkeys(same.values()))

    def of_block(first: int) -> list[tuple[int, list[Any]]]:
        rows = slice(first, first + _BLOCK)
        order = codes[rows].argsort(kind="stable")
        numbers = np.arange(len(arms) + 1, dtype=codes.dtype)
        bounds = np.searchsorted(codes[rows], numbers, sorter=order).tolist()
        users = {name: column[rows].take(order) for name, column in columns.items()}
        parts = []
        for begin, end in pairwise(bounds):
            arm = {name: column[begin:end] for name, column in users.items()}
            known = [measure.known_of(arm) for measure in measures]
            parts.append((end - begin, known))
        return parts

    parts: dict[Place, list[Any]] = {}
    sizes: dict[str, int] = dict.fromkeys(variants, 0)
    for block in _in_order(of_block, range(0, len(codes), _BLOCK)):
        for number in by_name:  # so that sums do not depend on how names are numbered
            (variant, segment), (size, known) = arms[number], block[number]
            sizes[variant] += size
            for measure, values in zip(measures, known, strict=True):
                for part in {None, segment} if size else ():
                    parts.setdefault((measure, variant, part), []).append(values)
    merged = {
        place: np.concatenate(values) if place[0].quantile else Moments.merged(values)
        for place, values in parts.items()
    }
    by_place = {
        (measure, variant, part): known
        for measure, computed in same.items()
        for (whose, variant, part), known in merged.items()
        if whose is computed
    }
    return by_place, sizes


def _in_order(function: Any, begins: range) -> Any:
    if len(begins) == 1:
        return [function(begins[0])]
    with ThreadPoolExecutor(min(_THREADS, os.cpu_count() or 1)) as pool:
        return [*pool.map(function, begins)]


def _same(measures: Sequence[Measure]) -> dict[Measure, Measure]:
    """Say which metric to compute for each: with CUPED, it is known without it too."""
    fuller = {
        replace(measure, name="", before=None): measure
        for measure in sorted(measures, key=lambda measure: measure.before is not None)
    }
    return {
        measure: measure
        if measure.before
        else fuller[replace(measure, name="", before=None)]
        for measure in measures
    }
