"""Compare the faces that rankine has of other libraries with these: make oracle.

Random cases go through both by the same calls. The exit status is 1 if a number
differs, unless known.py says why.
"""

from __future__ import annotations

import logging
import math
import os
import re
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent))
import rankine as rk
from oracle.cases import Case
from oracle.cases import draw as drawn
from oracle.differences import run
from oracle.fusing import METHODS, NORMS
from oracle.fusing import draw as fusion
from oracle.known import FUSIONS, reason
from rankine.compat import ranx as face
from rankine.compat.ir_measures import metric_of, register
from rankine.errors import RankineError

_ENOUGH = 1e-12
_NEARLY = 1e-9
_ROUNDED = 5.1e-6
"""gdeval prints five decimals."""
_SEARCHED = 0.05
"""The share of cases in which parameters are searched, which takes ranx long."""
Number = tuple[str, str, Any, Any, Any, float]
"""What it is, our metric, the case, both values, and how far they may be apart."""

RANX = (
    "hits@3 hit_rate hit_rate@2 precision precision@3 recall recall@4 f1 f1@3 "
    "r-precision mrr mrr@2 map map@3 dcg dcg@3 dcg_burges@2 ndcg ndcg@3 ndcg_burges@5 "
    "bpref rbp.5 rbp.95 ndcg@3-l2 map-l2 precision@2-l2 rbp.8-l2 ndcg_burges@3-l2"
)
IR_MEASURES = (
    "P@3 P(rel=2)@2 P(judged_only=True)@3 RR RR(rel=2) RR@2 RR(judged_only=True) "
    "Rprec Rprec(rel=2) AP AP(rel=2) AP@3 AP(judged_only=True) nDCG nDCG@3 "
    "nDCG(judged_only=True)@3 nDCG(gains={1:5})@3 nDCG(gains={0:1,1:3,2:7}) R@3 "
    "R(rel=2)@3 Bpref Bpref(rel=2) NumRet NumRet(rel=2) NumQ NumRel SetAP SetF "
    "SetF(rel=2,beta=.5) SetP SetP(relative=True) SetP(judged_only=True) SetR(rel=2) "
    "Success(rel=2)@3 IPrec@0.2 IPrec(rel=2)@0.5 infAP infAP(rel=2) Judged Judged@2 "
    "RBP(rel=1) RBP(rel=2,p=.5) BPM(max_rel=3)@3 BPM(T=2.,min_rel=1,max_rel=3)@5 "
    "NERR8(max_rel=3)@3 NERR9(max_rel=3)@4 NERR10(p=.5,max_rel=3) "
    "NERR11(T=2.,max_rel=3) INST(max_rel=3) INSQ(T=2.,max_rel=3) "
    "INSQ(max_rel=4,min_rel=1) Accuracy Accuracy@2 ERR@3 nDCG(dcg='exp-log2')@3 "
    "Compat Compat(p=.5,normalize=False)"
)


def ranx(rng: np.random.Generator) -> Iterator[Number]:
    """Values by query, comparisons, fused runs, normalised ones, and parameters."""
    import ranx as peer

    case, _ = drawn(rng)
    filled = any(case.run.get(query) for query in case.qrels)  # or ranx raises
    if case.whole_grades and not case.has_duplicates and filled:
        yield from _evaluated(peer, case)
    fused = fusion(rng)
    lists = [{q: dict(own) for q, own in one.items()} for one in fused.runs]
    method, norm = METHODS[fused.method][0], NORMS[fused.norm]
    theirs = peer.fuse([peer.Run(one) for one in lists], norm, method, fused.parameters)
    with suppress(RankineError):  # oracle/fusing.py knows what is refused, and why
        own = face.fuse(
            [face.Run(one) for one in lists], norm, method, fused.parameters
        )
        if fused.method != "condorcet":
            known = f"{fused.method}, {fused.norm}"
            yield "fuse", known, fused, theirs.to_dict(), own.to_dict(), _ENOUGH
        yield "name", "", fused, theirs.name, own.name, 0
        if norm != "borda" and norm is not None:
            known = f"combsum, {fused.norm}"
            pair = [
                library.normalize(library.Run(lists[0]), norm).to_dict()
                for library in (peer, face)
            ]
            yield "normalize", known, fused, pair[0], pair[1], _ENOUGH
    if rng.random() < _SEARCHED and not fused.tied:
        yield from _searched(peer, lists, rng)


def _evaluated(peer: Any, case: Case) -> Iterator[Number]:
    qrels = {
        query: {item: int(grade) for item, grade in own.items()}
        for query, own in case.qrels.items()
    }
    values, reports = {}, {}
    for library in (peer, face):
        truth, one = library.Qrels(qrels), library.Run(case.scores, "one")
        other = library.Run(
            {q: {i: -s for i, s in own.items()} for q, own in case.scores.items()}, "b"
        )
        values[library] = {
            name: library.evaluate(
                truth, one, name, return_mean=False, make_comparable=True
            )
            for name in RANX.split()
        }
        reports[library] = [
            library.compare(
                truth, [one, other], ["map@3", "mrr"], test, make_comparable=True
            )
            for test in (("student", "tukey") if len(qrels) > 1 else ())
        ]
    for name in RANX.split():
        metric = str(rk.parse(name))
        known = metric.partition("@")[0] if metric.startswith("Bpref") else metric
        yield name, known, case, values[peer][name], values[face][name], _ENOUGH
    for theirs, own in zip(reports[peer], reports[face], strict=True):
        for metric in theirs.metrics:
            means = [
                [one.results[name][metric] for name in one.model_names]
                for one in (theirs, own)
            ]
            yield "scores", "RR", case, means[0], means[1], _ENOUGH
            pair = [
                one.comparisons["one", "b"][metric]["p_value"] for one in (theirs, own)
            ]
            if not math.isnan(pair[0]):  # where nothing differs, ours is 1
                yield "p", "RR", case, pair[0], pair[1], _NEARLY
            tally = [one.win_tie_loss["one", "b"][metric] for one in (theirs, own)]
            yield "win_tie_loss", "RR", case, tally[0], tally[1], 0


def _searched(peer: Any, lists: Any, rng: np.random.Generator) -> Iterator[Number]:
    """Compare the values of all parameters where no scores are tied."""
    qrels = {q: dict.fromkeys([*own][:2], 1) for q, own in lists[0].items()}
    weights = {"method": "wsum", "step": 0.5}
    how = [weights, {"method": "gmnz", "step": 0.25}][int(rng.integers(2))]
    found = []
    for library in (peer, face):
        runs = [library.Run(one) for one in lists[:2]]
        _, report = library.optimize_fusion(
            library.Qrels(qrels), runs, None, metric="ndcg@3", show_progress=False,
            return_optimization_report=True, **how,
        )  # fmt: skip
        positive = [
            value
            for config, value in zip(report.configs, report.results, strict=True)
            if "0.0"
            not in config.replace("np.float64(", "(")  # items without a run tie
        ]
        found.append(positive)
    yield "optimize_fusion", "", lists, found[0], found[1], _ENOUGH


def ir_measures(rng: np.random.Generator) -> Iterator[Number]:
    """All values by query, before rankine is registered and after."""
    import ir_measures as peer

    case, _ = drawn(rng)
    if (
        not case.whole_grades
        or case.has_duplicates
        or case.all_negative
        or not case.run
    ):
        return
    register()
    pipeline = peer.DefaultPipeline
    real = type(pipeline)([p for p in pipeline.providers if p.NAME != "rankine"])
    numbers = {query: str(n) for n, query in enumerate({**case.qrels, **case.scores})}
    qrels = {
        numbers[query]: {item: int(grade) for item, grade in own.items()}
        for query, own in case.qrels.items()
    }
    scores = {numbers[query]: own for query, own in case.scores.items()}
    missing = peer.providers.base.NOT_PROVIDED
    for name in IR_MEASURES.split():
        measure = peer.parse_measure(name)
        with _quiet():
            try:
                theirs: Any = {
                    m.query_id: m.value
                    for m in real.iter_calc([measure], qrels, scores)
                }
            except Exception as error:  # noqa: BLE001 - whatever it raises
                theirs = type(error).__name__
        own = {
            m.query_id: m.value for m in pipeline.iter_calc([measure], qrels, scores)
        }
        rough = measure.NAME == "ERR" or "exp" in name
        known = re.sub(r"\(rel=1\)|(?<=\()rel=1,", "", str(metric_of(measure, missing)))
        yield name, known, case, theirs, own, _ROUNDED if rough else _NEARLY


@contextmanager
def _quiet() -> Iterator[None]:
    """Silence what the programs behind ir_measures write."""
    logging.disable()
    kept, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)


def _same(theirs: Any, own: Any, within: float) -> bool:
    """Say whether two results are the same: numbers, or what holds them."""
    if isinstance(theirs, dict) and isinstance(own, dict):
        return theirs.keys() == own.keys() and all(
            _same(value, own[key], within) for key, value in theirs.items()
        )
    if isinstance(theirs, str) or isinstance(own, str):
        return bool(theirs == own)
    a, b = np.asarray(theirs, float), np.asarray(own, float)
    return a.shape == b.shape and np.allclose(a, b, rtol=within, atol=within)


def compare(name: str, n_cases: int, seed: int) -> tuple[Counter[str], list[str]]:
    """Compare a library with its face, and tell what differs."""
    compared: Counter[str] = Counter()
    known: Counter[str] = Counter()
    wrong: list[str] = []
    for number in range(n_cases):
        rng = np.random.default_rng((seed, number))
        for what, metric, case, theirs, own, within in FACES[name](rng):
            if _same(theirs, own, within):
                compared[what] += 1
                continue
            table = (FUSIONS,) if what in {"fuse", "normalize"} else ()
            head, _, cut = metric.partition("@")
            k = int(cut) if cut.isdigit() else 0
            pattern = f"{head}@k" if k else metric
            why = reason(name, pattern, case, k, *table)
            if why is None:
                compared[what] += 1
                wrong.append(f"{what}: {case}: {theirs}, rankine {own}")
            else:
                known[why] += 1
    for why, n in known.most_common():
        print(f"{n:6} known: {why}")
    return compared, wrong


FACES = {"ranx": ranx, "ir_measures": ir_measures}

if __name__ == "__main__":
    sys.exit(run(__doc__, FACES, compare, "face", "calls"))
