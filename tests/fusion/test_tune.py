"""Tuned fusion: the best parameters, and what they are worth on other queries."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
import pytest

import rankine as rk
from rankine.errors import DataError, ParameterError
from tests.fusion.fused import Data, scores

FALL_OUT = "FallOut(catalog=50)@3"
"""The smaller, the better."""
WORDS = [f"d{n}" for n in range(12)]


def world(seed: int, n: int = 12, n_runs: int = 2) -> tuple[Data, dict[str, Data]]:
    """Draw judgements, and runs of which each finds some of them; with ties."""
    rng = np.random.default_rng(seed)
    qrels: Data = {}
    runs: dict[str, Data] = {f"r{place}": {} for place in range(n_runs)}
    for query in map(str, range(n)):
        grades = rng.integers(0, 3, len(WORDS)) * (rng.random(len(WORDS)) < 0.4)
        qrels[query] = dict(zip(WORDS[:9], grades.tolist(), strict=False))
        for place, run in enumerate(runs.values()):
            seen = rng.permutation(len(WORDS))[: rng.integers(4, 12)]
            noise = rng.integers(0, 4 + 2 * place, len(seen))
            values = (grades[seen] * rng.integers(0, 3) + noise) / 4
            run[query] = {
                WORDS[i]: v for i, v in zip(seen, values.tolist(), strict=True)
            }
    return qrels, runs


def per_query(qrels: Data, run: Any, metric: str, **options: Any) -> dict[str, float]:
    frame = rk.evaluate(qrels, run, metric, **options).per_query
    return dict(frame.iter_rows())


def grid(n: int = 10) -> list[dict[str, float]]:
    return [{"r0": i / n, "r1": (n - i) / n} for i in range(n + 1)]


# The best parameters


@pytest.mark.parametrize("metric", ["nDCG@3", "AP", "RR", "AUC", "P@2", FALL_OUT])
@pytest.mark.parametrize(
    "convention", ["rankine", "trec_eval-9", "ranx", "lenskit", "spark"]
)
@pytest.mark.parametrize("depth", [None, 4])
def test_settings_have_the_means_of_the_runs_that_they_make(
    metric: str, convention: str, depth: int | None
) -> None:
    qrels, runs = world(1)
    chosen = {"convention": convention, "depth": depth}

    tuned = rk.tune_fusion(runs, qrels, metric, folds=3, **chosen)  # type: ignore[arg-type]

    assert tuned.trials.height == 11
    for weights, mean in tuned.trials.iter_rows():
        run = rk.fuse(runs, "wsum", weights=weights, depth=depth)
        expected = rk.evaluate(qrels, run, metric, **chosen)[metric]  # type: ignore[arg-type]
        assert mean == pytest.approx(expected, rel=1e-12)
    best = min if metric == FALL_OUT else max
    final = rk.evaluate(qrels, rk.fuse(runs, **tuned.parameters), metric, **chosen)  # type: ignore[arg-type]
    assert final[metric] == pytest.approx(best(tuned.trials["mean"]), rel=1e-12)


@pytest.mark.parametrize(
    ("method", "grid", "n"),
    [
        ("rrf", None, 10),
        ("rrf", {"k": [0, 5], "weights": [[1, 1], [1, 2], [2, 1]]}, 6),
        ("combgmnz", {"gamma": [0, 0.5, 1]}, 3),
        ("rbc", None, 99),
        ("logn_isr", None, 99),
        ("wmnz", None, 11),
        ("mixed", {"weights": [{"r1": 1, "r0": 3}]}, 1),
    ],
)
def test_methods_and_their_grids(method: str, grid: Any, n: int) -> None:
    qrels, runs = world(2)

    tuned = rk.tune_fusion(runs, qrels, "AP", method, grid=grid)

    assert tuned.trials.height == n
    fused = rk.fuse(runs, **tuned.parameters)
    assert rk.evaluate(qrels, fused, "AP")["AP"] == pytest.approx(
        max(tuned.trials["mean"])
    )


def test_of_equal_settings_the_most_usual_is_taken() -> None:
    """No weights and no k change this ranking."""
    qrels = {str(n): {"a": 1} for n in range(5)}
    run = {str(n): ["a", "b"] for n in range(5)}

    tuned = rk.tune_fusion([run, run], qrels, "RR", norm="rank")

    assert tuned.parameters["weights"] == {"run 1": 0.5, "run 2": 0.5}
    assert rk.tune_fusion([run, run], qrels, "RR", "rrf").parameters["k"] == 60


# Queries that were left out


@pytest.mark.parametrize("metric", ["nDCG@3", FALL_OUT])
@pytest.mark.parametrize("seed", [0, 1])
def test_queries_are_fused_by_what_is_best_on_others(metric: str, seed: int) -> None:
    """As with one fusion and one evaluation for each setting and fold."""
    qrels, runs = world(3, n=11)
    tuned = rk.tune_fusion(
        runs, qrels, metric, grid={"weights": grid()}, folds=3, seed=seed
    )
    values = [
        per_query(qrels, rk.fuse(runs, "wsum", weights=weights), metric)
        for weights in grid()
    ]
    held_out = dict(tuned.held_out.per_query.iter_rows())

    assert sum(tuned.folds["queries"]) == 11
    assert sorted(tuned.folds["queries"]) == [3, 4, 4]
    order = np.random.default_rng(seed).permutation(11)
    folds = [[sorted(qrels)[i] for i in order[fold::3]] for fold in range(3)]
    for fold, row in zip(folds, tuned.folds.iter_rows(named=True), strict=True):
        rest = [query for query in qrels if query not in fold]
        means = [math.fsum(own[query] for query in rest) for own in values]
        best = (min if metric == FALL_OUT else max)(means)
        chosen = grid().index(row["weights"])
        assert means[chosen] == pytest.approx(best)
        assert row["training"] == pytest.approx(best / len(rest))
        for query in fold:
            assert held_out[query] == pytest.approx(values[chosen][query])
    gain = tuned.held_out[metric] - tuned.runs[tuned.best][metric]
    assert tuned.gain == pytest.approx(-gain if metric == FALL_OUT else gain)


def test_the_comparison_is_with_the_best_single_run() -> None:
    qrels, runs = world(4, n_runs=3)

    tuned = rk.tune_fusion(runs, qrels, "AP")

    means = {name: rk.evaluate(qrels, run, "AP")["AP"] for name, run in runs.items()}
    assert {name: own["AP"] for name, own in tuned.runs.items()} == means
    assert tuned.best == max(means, key=means.__getitem__)
    assert tuned.comparison.systems == (tuned.best, "fused")
    difference = tuned.comparison.pairwise["difference"].item()
    assert difference == pytest.approx(tuned.gain)


def test_a_depth_is_that_of_single_runs_too() -> None:
    qrels, runs = world(5)

    tuned = rk.tune_fusion(runs, qrels, "AP", depth=2)

    assert {name: own["AP"] for name, own in tuned.runs.items()} == {
        name: rk.evaluate(qrels, run, "AP", depth=2)["AP"] for name, run in runs.items()
    }


def test_the_order_of_queries_and_rows_does_not_matter() -> None:
    qrels, runs = world(6)
    turned = {query: qrels[query] for query in sorted(qrels, reverse=True)}
    others = {name: dict(reversed(run.items())) for name, run in runs.items()}

    one, other = (
        rk.tune_fusion(own, judged, "AP")
        for own, judged in ((runs, qrels), (others, turned))
    )

    assert one.parameters == other.parameters
    assert one.folds.equals(other.folds)
    assert one.held_out["AP"] == other.held_out["AP"]


def test_another_seed_makes_other_folds() -> None:
    qrels, runs = world(7)

    values = {
        rk.tune_fusion(runs, qrels, "AP", seed=seed).folds["held_out"][0]
        for seed in range(5)
    }

    assert len(values) > 1


def test_a_gain_on_training_queries_alone_is_a_warning() -> None:
    """Runs of noise: with many settings, some fit the training queries by chance."""
    rng = np.random.default_rng(1)
    qrels = {str(q): {WORDS[q % 12]: 1} for q in range(24)}
    runs = {
        f"r{place}": {
            str(q): dict(zip(WORDS, rng.random(12).tolist(), strict=True))
            for q in range(24)
        }
        for place in range(4)
    }

    tuned = rk.tune_fusion(runs, qrels, "RR")

    assert tuned.training_gain > 0
    assert tuned.gain < tuned.training_gain / 2
    (warning,) = tuned.warnings
    assert re.match(
        r"the gain over r\d is \+\d\.\d{4} on the queries that parameters were tuned "
        r"on, but [+-]\d\.\d{4} on queries that were left out",
        warning,
    )
    assert warning in str(tuned)


def test_a_gain_that_is_there_is_no_warning() -> None:
    """Each run finds one of two relevant items; both together find them."""
    qrels = {str(q): {"a": 1, "b": 1} for q in range(20)}
    runs = {
        "first": {str(q): {"a": 3, "x": 2, "y": 1} for q in range(20)},
        "second": {str(q): {"b": 3, "z": 2, "w": 1} for q in range(20)},
    }

    tuned = rk.tune_fusion(runs, qrels, "P@2")

    assert (tuned.held_out["P@2"], tuned.gain, tuned.warnings) == (1, 0.5, ())
    assert str(tuned).startswith(
        "method wsum, norm min-max, weights first=0.5 second=0.5\n"
        "the best of 11 settings for P@2 on 20 queries; below, each query is fused"
    )
    assert "first to fused" in str(tuned)
    assert "better" in str(tuned)


# Data of other kinds


def test_queries_without_a_value_are_in_no_fold() -> None:
    qrels, runs = world(8)
    qrels["0"] = {"d1": 0}

    tuned = rk.tune_fusion(runs, qrels, "AP", convention="ranx", folds=2)
    skipped = rk.Convention(empty_truth="skip")
    fewer = rk.tune_fusion(runs, qrels, "AP", convention=skipped, folds=2)

    assert sum(tuned.folds["queries"]) == 12
    n_relevant = sum(any(own.values()) for own in qrels.values())
    assert sum(fewer.folds["queries"]) == n_relevant < 12


def test_queries_that_are_not_judged_are_fused_too() -> None:
    qrels, runs = world(9)
    for run in runs.values():
        run["more"] = {"d1": 2.0, "d2": 1.0}

    tuned = rk.tune_fusion(runs, qrels, "AP")

    assert sum(tuned.folds["queries"]) == 12
    assert "more" in scores(rk.fuse(runs, **tuned.parameters))


def test_lists_without_ids() -> None:
    qrels, runs = world(10)
    bare = [list(run.values()) for run in runs.values()]
    judged = list(qrels.values())

    tuned = rk.tune_fusion(bare, judged, "AP", folds=2)
    by_id = rk.tune_fusion([*runs.values()], qrels, "AP", folds=2)

    assert tuned.trials.equals(by_id.trials)


def test_a_metric_of_lists_of_the_users_own() -> None:
    qrels, runs = world(13)

    @rk.metric(name="FirstOfTwo")
    def first_of_two(ranking: list[str], judged: dict[str, float]) -> float:
        return float(any(judged.get(item, 0) > 0 for item in ranking[:2]))

    tuned = rk.tune_fusion(runs, qrels, first_of_two)

    assert tuned.trials.equals(rk.tune_fusion(runs, qrels, "Success@2").trials)


def test_a_run_may_be_called_fused() -> None:
    qrels, runs = world(11)

    tuned = rk.tune_fusion({"fused": runs["r0"], "r1": runs["r1"]}, qrels, "AP")

    assert tuned.comparison.systems == (tuned.best, "fused by wsum")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "combsum"}, "combsum has no parameters to tune; methods that have"),
        ({"folds": 1}, "folds must be an integer of at least 2, got 1"),
        ({"seed": -1}, "seed must be an integer of at least 0, got -1"),
        ({"confidence": 1}, "confidence must be a number above 0 and below 1, got 1"),
        ({"metric": "NumRet"}, "NumRet is not a mean over queries"),
        ({"metric": ["AP", "RR"]}, "tune_fusion needs one metric, got 2"),
        (
            {"metric": "ILD"},
            "ILD needs more than judgements, which tune_fusion does",
        ),
        ({"metric": "NumQ"}, "NumQ is not a mean"),
        ({"grid": [1]}, r"grid must be {parameter: values to try}, got \[1\]"),
        ({"grid": {"k": [1]}}, "wsum has no parameter 'k'; it takes weights"),
        ({"grid": {"weights": []}}, "grid gives no values to try for weights"),
        ({"grid": {"weights": {"r0": 1}}}, "grid must give weights a list of values"),
        ({"grid": {"weights": [[1]]}}, "weights has 1 number for 2 runs"),
        ({"method": "rrf", "grid": {"k": [-1]}}, "k must be a number at least 0"),
        ({"qrels": None}, "tune_fusion needs judgements, but qrels is None"),
    ],
)
def test_what_cannot_be_tuned(options: dict[str, Any], message: str) -> None:
    nothing = dict.fromkeys(("r0", "r1"), "no such file")
    given = {"runs": nothing, "qrels": "no such file", "metric": "AP", **options}

    with pytest.raises(ParameterError, match=message):
        rk.tune_fusion(**given)


def test_more_folds_than_queries_are_refused() -> None:
    qrels, runs = world(12, n=4)

    with pytest.raises(DataError, match="5 folds need as many queries, but there is o"):
        rk.tune_fusion(runs, qrels, "AP")
