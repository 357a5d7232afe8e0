"""Values that every metric promises: within bounds, and 0 where nothing is gained.

Where a promise does not hold for a metric by its definition, it is listed with the
reason, and the test asserts that it indeed does not hold: the lists are exhaustive.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest

import rankine as rk
from rankine._join import Judged, judged
from rankine._metrics.metric import REGISTRY, Metric
from tests.metrics.contract.data import (
    CUT,
    NAMES,
    SEEDS,
    TIED,
    Grades,
    base_of,
    bound,
    column,
    data,
    evaluate,
    every_metric,
    reference,
)

if TYPE_CHECKING:
    from rankine._base.arrays import Floats
    from rankine._evaluate.result import Evaluation


@every_metric
def test_an_empty_table_has_no_values(name: str) -> None:
    for metric in (base_of(name), *bound(name)):
        values = metric.values(Judged.empty())

        assert values.shape == (0,)
        assert values.dtype == np.float64


@pytest.mark.slow
@every_metric
def test_values_are_within_bounds(name: str) -> None:
    low, high = REGISTRY[name].bounds
    metrics = [base_of(name)]
    if name in CUT:
        metrics += [metrics[0] @ k for k in (1, 2, 3, 5, 10, 1000)]
    if name in TIED:
        metrics += [
            metric(ties=ties)
            for metric in metrics.copy()
            for ties in ("average", "best", "worst")
        ]
    for seed in SEEDS:
        for ties in (True, False):
            table = judged(*data(seed, ties=ties))
            for metric in metrics:
                values = metric.values(table)
                inside = (values >= low) & (values <= high)

                assert (inside | np.isnan(values)).all(), (str(metric), seed)
                assert values.shape == (table.n_queries,)


@every_metric
def test_a_summary_is_a_python_float(name: str) -> None:
    assert type(reference(0)[name]) is float


UNSEEN: dict[str, str] = {
    "AUC": "no pairs, so no value: left out, as declared by empty='skip'",
    "Accuracy": "what is not shown is rightly not shown, unless relevant",
    "FCP": "no pairs, so no value: left out",
    "LAUC": "all items are tied: 1/2",
    "MCC": "filled up with misses, it is below 0",
    "NDPM": "all items are tied: 1/2",
    "NumQ": "counts the query",
    "NumRel": "counts the judgements",
    "RBPResidual": "nothing is seen, so all is possible: p^0 = 1",
    "Utility": "counts what is not shown, where its weights say so",
}


@every_metric
def test_a_query_that_the_run_misses_counts_zero(name: str) -> None:
    qrels = {"q1": {"a": 4, "b": 0}, "q2": {"a": 4, "c": 0}}
    other = []
    for metric in (base_of(name), *bound(name)):
        result = evaluate(qrels, {"q1": ["x", "b", "a"]}, [metric])
        if column(result, str(metric))["q2"] != 0:
            other.append(str(metric))

    assert bool(other) == (name in UNSEEN), other


NOT_EMPTY = {
    "Accuracy": "what is rightly not shown counts",
    "FallOut": "what is shown in vain counts",
    "AUC": "no pairs, so no value: left out",
    "FCP": "pairs of grades are compared, relevant or not",
    "LAUC": "no pairs, so no value: left out",
    "Judged": "the share that is judged does not need relevant items",
    "NDPM": "no pairs, so no value: left out",
    "NumNonrelJudgedRet": "counts what is not relevant",
    "NumQ": "counts the query",
    "NumRet": "counts what is retrieved",
    "RBPResidual": "what is unjudged does not need relevant items",
    "Unjudged": "what is unjudged does not need relevant items",
    "Utility": "what is retrieved in vain costs",
}


@every_metric
def test_a_query_without_anything_to_gain_counts_zero(name: str) -> None:
    # Nothing is relevant, nothing gains, nothing is above the neutral rating.
    qrels = {"q1": {"a": 4, "b": 0}, "q2": {"b": 0, "c": 0}}
    run = {"q1": ["x", "b", "a"], "q2": ["b", "y"]}
    other = []
    for metric in (base_of(name), *bound(name)):
        result = evaluate(qrels, run, [metric])
        if column(result, str(metric))["q2"] != 0:
            other.append(str(metric))

    assert bool(other) == (name in NOT_EMPTY), other


def test_a_query_without_a_rating_above_the_neutral_one_counts_zero() -> None:
    metric = rk.RScore(neutral=3, aggregate="mean_of_ratios")
    qrels = {"q1": {"a": 4}, "q2": {"a": 3}}
    result = evaluate(qrels, {"q1": ["a"], "q2": ["a"]}, [metric])

    assert result[metric] == 50


def test_a_query_whose_grades_gain_nothing_counts_zero() -> None:
    metric = rk.nDCG(gain={1: 0.0})
    qrels = {"q1": {"a": 2}, "q2": {"a": 1}}
    result = evaluate(qrels, {"q1": ["a"], "q2": ["a"]}, [metric])

    assert result[metric] == 0.5


# --- cutoffs


BY_THE_CUTOFF = {
    "P": "divides by k, also where the list is shorter",
    "F": "its precision divides by k",
    "AR": "is the mean of the recall at all k ranks",
    "RelP": "divides by what the first k ranks could hold, not what the list could",
    "Unjudged": "divides by k, as trec_eval does",
    "BPM": "its reader goes on to rank k, also below the list",
    "NERR8": "its reader goes on to rank k, also below the list",
    "NERR9": "its reader goes on to rank k, also below the list",
}


def beyond(seed: int, name: str) -> tuple[Evaluation, Evaluation]:
    qrels, run = data(seed)
    deep = 1 + max(len(entry) for side in (qrels, run) for entry in side.values())
    return evaluate(qrels, run, [Metric(name) @ deep]), reference(seed)


@pytest.mark.parametrize("name", CUT)
def test_a_cutoff_beyond_lists_and_judgements_changes_nothing(name: str) -> None:
    changed = 0
    for seed in SEEDS:
        cut, whole = beyond(seed, name)
        label = next(iter(cut.mean))
        changed += column(cut, label) != column(whole, name)

    assert (changed > 0) == (name in BY_THE_CUTOFF)


@pytest.mark.slow
@pytest.mark.parametrize("name", CUT)
def test_a_cutoff_at_the_length_of_a_list_changes_nothing(name: str) -> None:
    """No exceptions where the list has room for all that is judged."""
    for seed in SEEDS:
        qrels, run = data(seed)
        for query in qrels.keys() & run.keys():
            n = len(run[query])
            if n < len(qrels[query]):
                continue
            own = {query: qrels[query]}, {query: run[query]}
            cut = evaluate(*own, [Metric(name) @ n])

            assert list(cut.mean.values()) == pytest.approx(
                [evaluate(*own, [name])[name]], rel=0, abs=0, nan_ok=True
            )


# --- the best ranking


NEVER_REACHED = {
    "ERR": "the user is never surely satisfied: p < 1 for the highest grade",
    "RBP": "a finite list has not all of the weight: 1 - p^n",
    "AR": "recall rises with the rank: R@1 is 1/R at most",
    "AUC": "undefined without items that are not relevant; tested by itself",
    "infAP": "its smoothing term keeps it below 1 by about 0.00001",
    "INSQ": "a finite list has not all of the weight",
    "INST": "a finite list has not all of the weight",
}
NEARLY_REACHED = {"INST"}
"""With every relevant item found, its reader hardly ever goes on."""
NO_VALUE = {"FCP"}
"""Without a value where there is nothing to compare, such as a single grade."""
BEST = [
    name
    for name in NAMES
    if REGISTRY[name].higher_is_better and math.isfinite(REGISTRY[name].bounds[1])
]


def perfect(seed: int) -> tuple[Grades, Grades]:
    """Return judgements, and all relevant items by grade and nothing else."""
    qrels = {
        query: entry
        for query, entry in data(seed)[0].items()
        if sum(grade > 0 for grade in entry.values()) > 1
    }
    run: Grades = {
        query: {item: grade for item, grade in entry.items() if grade > 0}
        for query, entry in qrels.items()
    }
    return qrels, run


ON_A_SCALE = {"BPM", "INSQ", "INST", "NERR8", "NERR9", "NERR10", "NERR11"}
"""Only the highest grade of all queries is worth 1."""
OF_OTHERS = {"PartialAUC", "PAP"}
"""Without a number, all items that are not relevant are meant, and there are none."""


def best(name: str, seed: int, k: int | None = None) -> Floats:
    """Return what a perfect ranking is worth."""
    qrels, run = perfect(seed)
    if name in ON_A_SCALE:
        qrels = {query: dict.fromkeys(entry, 1.0) for query, entry in run.items()}
    k = 3 if name in OF_OTHERS else k
    metric = base_of(name) if k is None else base_of(name) @ k
    return metric.values(judged(qrels, run))


@pytest.mark.parametrize("name", BEST)
def test_a_perfect_ranking_reaches_the_upper_bound(name: str) -> None:
    high = REGISTRY[name].bounds[1]
    for seed in SEEDS:
        values = best(name, seed)
        if name in NEVER_REACHED:
            near = 0 if name in NEARLY_REACHED else 1e-9
            assert not (values >= high).any()
            assert not np.isclose(values, high, rtol=0, atol=near).any()
        else:
            if name in NO_VALUE:
                values = values[~np.isnan(values)]
                assert len(values)
            np.testing.assert_allclose(values, high, rtol=1e-12, err_msg=name)


NO_ROOM = {"R", "F", "AP", "MCC", "Accuracy", "LAUC", "Rprec"}
"""One rank has not room for all relevant items."""


@pytest.mark.parametrize(
    "name", [n for n in BEST if n in CUT and n not in NEVER_REACHED]
)
def test_a_perfect_ranking_reaches_the_bound_at_the_first_rank(name: str) -> None:
    high = REGISTRY[name].bounds[1]

    assert np.allclose(best(name, 0, k=1), high, rtol=1e-12) == (name not in NO_ROOM)


def test_a_perfect_ranking_has_auc_one() -> None:
    for seed in SEEDS:
        qrels, run = perfect(seed)
        below = {query: {**entry, 500: -1.0} for query, entry in run.items()}

        values = rk.AUC.values(judged(qrels, below))

        np.testing.assert_array_equal(values, 1)
