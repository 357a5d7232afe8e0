"""Surprise: predictions of the rated items that are in a list."""

from __future__ import annotations

from typing import TYPE_CHECKING

from surprise.accuracy import fcp

if TYPE_CHECKING:
    from oracle.cases import Case

CONVENTION = "surprise"


def accepts(case: Case) -> bool:
    """A user rates an item once, from 0 on, and something is predicted."""
    rated = not case.has_duplicates and min(case.grades) >= 0
    return rated and bool(_predictions(case))


def _predictions(case: Case) -> list[tuple[str, str, float, float, dict[str, bool]]]:
    return [
        (query, item, grade, dict(case.run[query])[item], {})
        for query, item, grade in case.judgements
        if item in dict(case.run.get(query, []))
    ]


def _fcp(case: Case, _: int) -> float:
    return float(fcp(_predictions(case), verbose=False))


METRICS = {"FCP": _fcp}
