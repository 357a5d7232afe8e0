"""Compare rankine.compat with the libraries that it stands in for: make oracle.

Random judgements and runs go through both evaluators, with every measure, parameters
and options. The exit status is 1 if names, their order of queries or values differ:
values by more than 1e-12, unless known.py says why. Both compute in double precision
and add up in another order.
"""

from __future__ import annotations

import math
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent))
from oracle.cases import Case, draw
from oracle.differences import run
from oracle.known import INTERFACES, reason
from rankine.compat import pytrec_eval as ours

_ENOUGH = 1e-12
_READ_BEFORE_A_TABLE = ("ndcg", "ndcg_rel", "Rndcg", "G")
"""With all grades of a query negative, the original reads other memory here."""
_CUTS = ("P", "recall", "ndcg_cut", "map_cut", "relative_P", "success")
_SHARES = ("iprec_at_recall", "Rprec_mult")
_NICKNAMES = ("official", "set", "all_trec")
_MOST_ASKED = 5
_MOST_CUT, _MOST_LEVEL = 40, 4


@dataclass(frozen=True, slots=True)
class Call:
    """What both evaluators are given, as known.py looks at it.

    Attributes:
        case: judgements and run.
        measures: names of measures.
        level: the smallest relevant grade.
        judged_only: whether unjudged items are left out.
        scores: the run, with numbers of several types.
    """

    case: Case
    measures: tuple[str, ...]
    level: int
    judged_only: bool
    scores: dict[str, dict[str, Any]]

    @property
    def qrels(self) -> dict[str, dict[str, int]]:
        """The judgements, with one query that has none."""
        whole = {
            query: {item: int(grade) for item, grade in own.items()}
            for query, own in self.case.qrels.items()
        }
        return {**whole, "none": {}}

    def shown(self, query: str) -> list[str]:
        """Return the items of a query that are ranked."""
        judged = [item for item, grade in self.qrels[query].items() if grade >= 0]
        return [x for x in self.scores[query] if not self.judged_only or x in judged]


def drawn(rng: np.random.Generator) -> Call:
    """Draw a call that the original survives."""
    case, _ = draw(rng)
    while case.has_duplicates or not case.whole_grades:
        case, _ = draw(rng)
    names = sorted(ours.supported_measures - {"runid"})
    if case.all_negative:
        names = [name for name in names if name not in _READ_BEFORE_A_TABLE]
    measures = [
        _with_parameters(rng, str(name))
        for name in rng.choice(names, int(rng.integers(0, _MOST_ASKED)), replace=False)
    ]
    if not case.all_negative and rng.random() < 1 / 5:
        measures.append(str(rng.choice(_NICKNAMES)))
    scores = {
        query: {item: _number(rng, score) for item, score in own.items()}
        for query, own in case.scores.items()
    }
    level = int(rng.integers(1, _MOST_LEVEL)) if rng.random() < 1 / 2 else 1
    if rng.random() < 1 / 4:
        scores["none"] = {"d1": 1.0}
    return Call(case, tuple(measures), level, bool(rng.random() < 1 / 3), scores)


def _number(rng: np.random.Generator, score: float) -> Any:
    """Return a score as one of the types that the original takes."""
    if score.is_integer() and rng.random() < 1 / 2:
        return int(score)
    return np.float64(score) if rng.random() < 1 / 2 else score


def _with_parameters(rng: np.random.Generator, name: str) -> str:
    if rng.random() < 1 / 3:
        return name
    mark = str(rng.choice([".", "_"]))
    n = int(rng.integers(1, 4))
    if name in _CUTS:
        return name + mark + ",".join(map(str, rng.integers(1, _MOST_CUT, n)))
    if name in _SHARES or name == "11pt_avg":
        # As trec_eval tells shares apart by two digits, so do these.
        return name + mark + ",".join(f"{x / 20:g}" for x in rng.integers(1, 21, n))
    if name == "set_F":
        return f"{name}{mark}{rng.integers(1, 9) / 4:g}"
    if name == "utility":
        return name + mark + ",".join(map(str, sorted(rng.choice(9, 4, replace=False))))
    return name


def compare(name: str, n_cases: int, seed: int) -> tuple[Counter[str], list[str]]:
    """Compare a library with what stands in for it, and tell what differs."""
    import pytrec_eval as theirs

    compared: Counter[str] = Counter()
    known: Counter[str] = Counter()
    wrong: list[str] = []
    for number in range(n_cases):
        call = drawn(np.random.default_rng((seed, number)))
        found, mine = (
            library.RelevanceEvaluator(
                call.qrels, call.measures, call.level, call.judged_only
            ).evaluate(call.scores)
            for library in (theirs, ours)
        )
        given = f"{call.qrels} {call.scores} {call.measures} {call.level}"
        if [*found] != [*mine] or any(found[q].keys() != mine[q].keys() for q in found):
            wrong.append(f"names: {given}: {found}, rankine {mine}")
            continue
        compared["names"] += 1
        for query, own in found.items():
            compared.update(own.keys())
            for measure, value in own.items():
                other = mine[query][measure]
                if abs(value - other) <= _ENOUGH * max(1, abs(value)):
                    continue
                why = reason(name, measure, (call, query), 0, INTERFACES)
                if why is None:
                    wrong.append(f"{measure}, {query}: {given}: {value}, {other}")
                else:
                    known[why] += 1
        wrong += _means_that_differ(theirs, found)
    for why, n in known.most_common():
        print(f"{n:6} known: {why}")
    if theirs.supported_measures != ours.supported_measures:
        wrong.append("the measures that are supported differ")
    if theirs.supported_nicknames != ours.supported_nicknames:
        wrong.append("the nicknames that are supported differ")
    return compared, wrong


def _means_that_differ(theirs: Any, found: dict[str, dict[str, float]]) -> list[str]:
    wrong = []
    for measure in next(iter(found.values()), {}):
        values = [own[measure] for own in found.values()]
        one, other = (
            library.compute_aggregated_measure(measure, values)
            for library in (theirs, ours)
        )
        if one != other and not math.isnan(one):
            wrong.append(f"{measure} of {values}: {one}, rankine {other}")
    return wrong


if __name__ == "__main__":
    sys.exit(run(__doc__, ["pytrec_eval"], compare, "interface", "names and measures"))
