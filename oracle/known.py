"""Differences that are the other tool's own bug, or an order it does not specify."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

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
    applies: Callable[[Any, int], bool]
    reason: str


def _no_hit(case: Case, _: int) -> bool:
    return any(
        not {item for item, grade in own.items() if grade >= 1}
        & dict(case.run.get(query, [])).keys()
        for query, own in case.qrels.items()
        if max(own.values()) >= 1
    )


def _nothing_liked(case: Case, _: int) -> bool:
    return not case.run.keys() <= {query for query, *_ in case.liked}


def _misplaced_in_ideal(case: Case, _: int) -> bool:
    """Whether equal scores, or none above 0, order the ideal list of Compat."""
    return bool(case.empty) or any(
        len(set(scores)) < len(scores) or min(scores) <= 0
        for scores in ([score for _, score in shown] for shown in case.run.values())
    )


def _is_found(case: Case) -> bool:
    return any(item in dict(case.run.get(query, [])) for query, item, _ in case.liked)


def _none_within_r(case: Case, _: int) -> bool:
    """Whether each query has as many other items first as it has relevant ones."""
    tops = {
        query: dict(
            sorted(shown, key=lambda pair: -pair[1])[
                : sum(liked == query for liked, *_ in case.liked)
            ]
        )
        for query, shown in case.run.items()
    }
    return not any(item in tops.get(query, {}) for query, item, _ in case.liked)


_NOTHING, _NEARLY = 1e-9, 0.1


def _ideal(grades: list[float], offset: int) -> float:
    return sum(
        grade / max(math.log2(rank + offset), 1) for rank, grade in enumerate(grades, 1)
    )


def _ideal_is_zero(case: Case, k: int | None) -> bool:
    """Whether gains and losses of a query's ideal list add up to 0."""
    ideals = [sorted(case.qrels[query].values(), reverse=True) for query in case.shared]
    return any(any(own) and abs(_ideal(own[:k], 0)) < _NOTHING for own in ideals)


def _grades_in_lists(case: Case) -> list[list[float]]:
    """Return the grades of the items of each list."""
    return [
        [case.qrels.get(query, {}).get(item, 0) for item, _ in shown]
        for query, shown in case.run.items()
    ]


def _single_item(case: Case, _: int) -> bool:
    return all(
        len({*own, *dict(case.run.get(query, []))}) == 1
        for query, own in case.qrels.items()
    )


def _liked_only(case: Case, k: int | None) -> bool:
    """Whether the top of a list has relevant items and no others."""
    tops = {
        query: sorted(shown, key=lambda pair: -pair[1])[:k]
        for query, shown in case.run.items()
        if query in case.qrels
    }
    return any(
        all(case.qrels[query].get(item, 0) >= 1 for item, _ in top)
        for query, top in tops.items()
    )


def _one_kind(case: Case, _: int) -> bool:
    return any(
        len({grade >= 1 for grade in own.values()}) == 1 for own in case.qrels.values()
    )


def _close(case: Case, _: int) -> bool:
    """Whether scores differ as 64-bit floats and not as 32-bit floats."""
    return any(
        len({np.float32(score) for _, score in shown}) < len({s for _, s in shown})
        for shown in case.run.values()
    )


def _repeats_liked(case: Case, k: int) -> bool:
    """Whether a relevant item stands twice among the first k."""
    liked = {(query, item) for query, item, _ in case.liked}
    firsts = ((q, [item for item, _ in own[:k]]) for q, own in case.run.items())
    return any(
        first.count(item) > 1 and (query, item) in liked
        for query, first in firsts
        for item in first
    )


def _nothing_for_nothing(case: Case, _: int) -> bool:
    """Whether a query has no relevant item, and nothing was retrieved for it."""
    liked = {query for query, *_ in case.liked}
    return any(query not in liked and query not in case.run for query in case.qrels)


KNOWN = (
    Known(
        "*",
        "*",
        lambda case, _: not case.shared,
        "rankine refuses a run that shares no query with the judgements.",
    ),
    Known(
        "mlflow",
        "nDCG@k",
        _repeats_liked,
        "MLflow takes a relevant item that is repeated for another relevant item.",
    ),
    Known(
        "mlflow",
        "[Rn]*@k",
        _nothing_for_nothing,
        "MLflow counts a query with nothing to find and an empty list as 1.",
    ),
    Known(
        "sklearn",
        "*DCG*",
        _single_item,
        "scikit-learn refuses to compute DCG of a single document.",
    ),
    Known(
        "jurity",
        "*",
        lambda case, _: min(case.grades) < 0,
        "Jurity takes every click that is not 0 for relevant, a negative one too.",
    ),
    Known(
        "jurity",
        "*",
        lambda case, _: case.has_ties,
        "Jurity sorts by a sort that is not stable, on some machines even short lists.",
    ),
    Known(
        "jurity",
        "nDCG*",
        lambda case, _: case.has_duplicates,
        "Jurity raises where an item stands twice in a list.",
    ),
    Known(
        "jurity",
        "R*",
        lambda case, _: case.has_duplicates,
        "Jurity counts a relevant item that stands twice as two relevant items.",
    ),
    Known(
        "recommenders",
        "nDCG*",
        lambda case, _: case.has_duplicates,
        "recommenders gives an item that stands twice both ranks at both places.",
    ),
    Known(
        "recommenders",
        "Rprec*",
        _none_within_r,
        "recommenders gives 0 where nothing is found at all, and no value where what "
        "is found stands below rank R.",
    ),
    Known(
        "recommenders",
        "AUC",
        lambda case, _: not _is_found(case),
        "recommenders raises where no judged item is retrieved.",
    ),
    Known(
        "torchmetrics",
        "nDCG*",
        lambda case, _: any(
            any(own) and not sum(own) for own in _grades_in_lists(case)
        ),
        "torchmetrics takes grades that add up to 0 for a query with nothing relevant.",
    ),
    Known(
        "torchmetrics",
        "nDCG*",
        lambda case, _: any(
            0 < abs(_ideal(sorted(own, reverse=True), 1)) < _NEARLY
            for own in _grades_in_lists(case)
        ),
        "torchmetrics adds up in float32, and loses digits where gains and losses "
        "nearly cancel.",
    ),
    Known(
        "ir_measures",
        "Compat*",
        _misplaced_in_ideal,
        "The ideal list has items that were not retrieved where a score of 0 would be, "
        "and tied ones in the order of the judgements instead of that of the list; and "
        "an empty list without relevant items divides by zero.",
    ),
    *(
        Known(
            "rectools",
            metric,
            lambda case, _: case.has_duplicates,
            "RecTools counts a relevant item that stands twice as two relevant items.",
        )
        for metric in ("[RFAM]*@k", "P(*", "nDCG(*", "P[aA]*@k")
    ),
    Known(
        "cornac",
        "RR",
        _no_hit,
        "Cornac raises where no relevant item of a user is in the list.",
    ),
    Known(
        "cornac",
        "[!n]*",
        lambda case, _: not case.whole_grades,
        "rankine asks which grades are relevant where they have fractions.",
    ),
    Known(
        "torchmetrics",
        "[!n]*",
        lambda case, _: case.has_ties,
        "The order in which torch puts tied scores is not specified.",
    ),
    Known(
        "implicit",
        "AUC*",
        lambda case, k: any(len(case.lists[query]) < k for query in case.qrels),
        "implicit's AUC counts the -1 that fill up a short list as items.",
    ),
    Known(
        "lenskit",
        "nDCG(gain='linear')",
        lambda case, _: _ideal_is_zero(case, None),
        "LensKit divides by an ideal of 0 where gains and losses cancel.",
    ),
    Known(
        "lenskit",
        "nDCG(gain='linear')@k",
        _ideal_is_zero,
        "LensKit divides by an ideal of 0 where gains and losses cancel.",
    ),
    Known(
        "lenskit",
        "DCG(gain='linear')*",
        lambda case, _: not case.lists.keys() <= case.qrels.keys(),
        "LensKit raises where a list has no test items that could have a gain.",
    ),
    Known(
        "lenskit",
        "DCG*",
        lambda case, _: not {*case.empty} <= {query for query, *_ in case.liked},
        "LensKit's RunAnalysis passes over an empty list without test items.",
    ),
    Known(
        "lenskit",
        "AP*",
        _nothing_liked,
        "LensKit divides by 0 where a list has no test items.",
    ),
    Known(
        "ir_measures",
        "nDCG(*",
        _close,
        "For exponential gains ir_measures asks gdeval, which compares scores as "
        "64-bit floats.",
    ),
    Known(
        "pytrec_eval",
        "[I1]*",
        lambda case, _: bool(case.empty),
        "trec_eval divides 0 by 0 where a list is empty.",
    ),
    Known(
        "ir_measures",
        "IPrec*",
        lambda case, _: bool(case.empty),
        "trec_eval, which it asks, divides 0 by 0 where a list is empty.",
    ),
    Known(
        "ir_measures",
        "AUC",
        lambda case, _: _liked_only(case, None),
        "ir_measures divides by 0 where a list has relevant items only.",
    ),
    Known(
        "ir_measures",
        "AUC@k",
        _liked_only,
        "ir_measures divides by 0 where a list has relevant items only.",
    ),
    Known(
        "ir_measures",
        "Judged*",
        lambda case, _: bool(case.empty),
        "ir_measures divides by 0 where a list is empty.",
    ),
    Known(
        "recmetrics",
        "P*",
        lambda case, _: bool(case.empty),
        "recmetrics divides by 0 where a list is empty.",
    ),
    Known(
        "ranx",
        "*",
        lambda case, _: not any(case.run.get(query) for query in case.qrels),
        "ranx raises where every list is empty.",
    ),
    Known(
        "ranx",
        "Bpref",
        _one_kind,
        "ranx divides 0 by 0 where all judged items are relevant, or none is.",
    ),
    Known(
        "ranx",
        "Bpref",
        lambda case, _: min(case.grades) < 0,
        "ranx treats items with a negative grade as judged.",
    ),
)


_BY_RANK = "rrf borda condorcet isr log_isr logn_isr rbc"
_FAR, _NEAR = 1e9, 1e-9

FUSIONS = (
    *(
        Known(
            "ranx",
            pattern,
            lambda case, _: case.tied,
            "The order in which ranx puts equal scores is not specified.",
        )
        for pattern in ("*, rank", "*, borda", *(f"{n}, *" for n in _BY_RANK.split()))
    ),
    *(
        Known(
            "ranx",
            f"{name}, borda",
            lambda *_: True,
            "After its Borda normalisation, ranx takes items in the order of a set, "
            "which changes with PYTHONHASHSEED.",
        )
        for name in _BY_RANK.split()
    ),
    Known(
        "ranx",
        "condorcet, *",
        lambda case, _: not case.is_clear,
        "ranx compares items in the order of a set, which changes with "
        "PYTHONHASHSEED, and counts a run that has neither of two items as a vote "
        "against the first; so it sorts by a comparison that contradicts itself.",
    ),
    *(
        Known(
            "ranx",
            f"*, {norm}",
            lambda case, _: any(0 <= spread < _NEAR for spread in case.spreads),
            "ranx divides by 1e-9 where scores are nearer to each other than that, or "
            "where a rounded mean is not quite equal to scores that are all equal.",
        )
        for norm in ("min-max", "sum", "z-score")
    ),
    Known(
        "ranx",
        "*, max",
        lambda case, _: any(max(own.values()) < _NEAR for own in case.lists),
        "ranx divides by 1e-9 where no score is above that; rankine refuses lists "
        "whose largest score is not above 0.",
    ),
    *(
        Known(
            "ranx",
            f"{name}, None",
            lambda case, _: any(
                abs(score) > _FAR for own in case.lists for score in own.values()
            ),
            "ranx takes 1e9 or -1e9 for the score of an item that a run lacks.",
        )
        for name in ("combmin", "combmax")
    ),
)
"""The same for fusion of runs, whose metrics are methods with their normalisations."""

INTERFACES = tuple(
    Known(
        "pytrec_eval",
        pattern,
        lambda of, _: not of[0].shown(of[1]),
        "Of a query with an empty list, the original divides 0 by 0.",
    )
    for pattern in ("iprec_at_recall_*", "11pt_avg")
)
"""Of drop-ins; a case is a call with one of its queries."""


def reason(
    tool: str, metric: str, case: Any, k: int, differences: tuple[Known, ...] = KNOWN
) -> str | None:
    """Say why a tool may differ on a case, or None."""
    for known in differences:
        matches = fnmatchcase(tool, known.tool) and fnmatchcase(metric, known.metric)
        if matches and known.applies(case, k):
            return known.reason
    return None
