"""One query, for which a shorter way is taken: its values are those among others."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rankine as rk

METRICS = [
    "nDCG@3", "nDCG", "nDCG(gain='exponential')@5", "DCG@4", "CG@4", "AP", "AP@2", "RR",
    "P@3", "R@3", "R", "Hits@2", "Rprec", "bpref",
]  # fmt: skip


def drawn(seed: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return judgements and a run, with ties, of lists of different lengths."""
    rng = np.random.default_rng(seed)
    items = [f"d{number}" for number in range(14)]

    def some(values: list[float], most: int) -> dict[str, float]:
        chosen = rng.permutation(items)[: rng.integers(1, most + 1)].tolist()
        return {item: float(rng.choice(values)) for item in chosen}

    qrels = {f"q{number}": some([-1, 0, 1, 1, 2], 9) for number in range(30)}
    scores = [0.25, 0.5, 0.75, *rng.random(5).tolist()]
    return qrels, {query: some(scores, 12) for query in qrels}


@pytest.mark.parametrize("convention", ["rankine", "trec_eval-9", "ranx", "rectools"])
@pytest.mark.parametrize("seed", range(3))
def test_a_query_alone_has_the_values_it_has_among_others(
    seed: int, convention: str
) -> None:
    qrels, run = drawn(seed)
    together = rk.evaluate(qrels, run, METRICS, convention=convention).per_query

    for number, query in enumerate(qrels):
        alone = rk.evaluate(
            {query: qrels[query]}, {query: run[query]}, METRICS, convention=convention
        )
        assert repr(alone.per_query.rows()) == repr([together.row(number)])


def test_a_metric_alone_has_the_values_it_has_beside_others() -> None:
    metrics = [*METRICS, "P@1", "Hits@1", "R(ties='best')@3", "R(ties='worst')@3"]
    metrics += ["AP(ties='best')@2", "RR(ties='worst')@1", "R(min_score=0.5)@3"]
    for n_queries in (1, 30):
        qrels, run = drawn(n_queries)
        qrels = {query: qrels[query] for query in [*qrels][:n_queries]}
        together = rk.evaluate(qrels, run, metrics)

        for metric in metrics:
            alone = rk.evaluate(qrels, run, metric)
            (label,) = alone.mean
            values = [repr(ev.per_query[label].to_list()) for ev in (alone, together)]
            assert values[0] == values[1]


def test_what_the_caller_changes_later_does_not_show() -> None:
    for seed in range(5):
        told = []
        for change in (False, True):
            qrels, run = drawn(seed)
            qrels, run = {"q1": qrels["q1"]}, {"q1": run["q1"]}
            run["q1"] = dict(sorted(run["q1"].items(), key=lambda pair: pair[1]))
            ev = rk.evaluate(qrels, run, METRICS, convention="ranx")
            if change:
                qrels["q1"].clear()
                run["q1"].clear()
                run["q2"] = {"d1": 1.0}
            worst = str(ev.worst("nDCG@3"))
            told.append([ev.mean, ev.notes, ev.warnings, worst, ev.to_json()])
        assert told[0] == told[1]
