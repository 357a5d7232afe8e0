"""Differences that are the other tool's own bug, or an order it does not specify."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from oracle.cases import Case


@dataclass(frozen=True, slots=True)
class Known:
    """One known difference.

    Attributes:
        tool: the name of its module in oracle/tools, or a pattern of names.
        metric: pattern of metric names, such as ``nDCG*``.
        applies: whether a case, with a cutoff, can show it.
        reason: why the numbers differ, in one sentence.
    """

    tool: str
    metric: str
    applies: Callable[[Case, int], bool]
    reason: str


KNOWN = (
    Known(
        "*",
        "*",
        lambda case, _: not case.shared,
        "rankine refuses a run that shares no query with the judgements.",
    ),
    Known(
        "sklearn",
        "nDCG*",
        lambda case, _: all(
            {*own, *dict(case.run.get(query, []))} == {*own} and len(own) == 1
            for query, own in case.qrels.items()
        ),
        "scikit-learn refuses to compute nDCG of a single document.",
    ),
)


def reason(tool: str, metric: str, case: Case, k: int) -> str | None:
    """Say why a tool may differ on a case, or None."""
    for known in KNOWN:
        matches = fnmatchcase(tool, known.tool) and fnmatchcase(metric, known.metric)
        if matches and known.applies(case, k):
            return known.reason
    return None
