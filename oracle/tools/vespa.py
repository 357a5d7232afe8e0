"""pyvespa: what its evaluator makes of hits, without the server that returns them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vespa.evaluation import VespaEvaluator

from oracle.cases import UnfitError

if TYPE_CHECKING:
    from collections.abc import Callable

    from oracle.cases import Case

CONVENTION = "vespa"
HOLDS_EMPTY = True


def accepts(case: Case) -> bool:
    """It divides by the number of queries that have something to find."""
    return bool(case.liked)


def _mean(name: str) -> Callable[[Case, int], float]:
    def value(case: Case, k: int) -> float:
        truth: dict[str, dict[str, float]] = {}
        for query, item, grade in case.liked:
            truth.setdefault(query, {})[item] = grade
        if name == "ndcg" and max(grade for *_, grade in case.liked) > 1:
            raise UnfitError  # grades are from 0 to 1
        evaluator = VespaEvaluator(
            dict.fromkeys(truth, "text"),
            truth if name == "ndcg" else {q: {*own} for q, own in truth.items()},
            lambda text, top_k: {"yql": text, "hits": top_k},
            None,
            mrr_at_k=[k], ndcg_at_k=[k], accuracy_at_k=[k],
            precision_recall_at_k=[k], map_at_k=[k],
        )  # fmt: skip
        lists = [case.lists.get(query, []) for query in evaluator.queries_ids]
        found = evaluator._compute_metrics(lists)  # noqa: SLF001 - the rest asks a server
        return float(found[f"{name}@{k}"])

    return value


METRICS = {
    "P@k": _mean("precision"),
    "R@k": _mean("recall"),
    "AP@k": _mean("map"),
    "nDCG@k": _mean("ndcg"),
    "RR@k": _mean("mrr"),
    "Success@k": _mean("accuracy"),
}
