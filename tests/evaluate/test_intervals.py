"""Intervals of means: by the t distribution and by resampling."""

from __future__ import annotations

import inspect
import math
from typing import Any

import numpy as np
import pytest
from scipy import stats

import rankine as rk
from rankine.errors import ParameterError
from tests.evaluate.three_queries import QRELS, RUN, evaluate


def many(n: int = 40) -> rk.Evaluation:
    qrels = {f"q{number}": {"a": 1} for number in range(n)}
    run = {
        f"q{number}": [f"x{place}" for place in range(number % 7)] + ["a"]
        for number in range(n)
    }
    return rk.evaluate(qrels, run, ["RR", "Success@3", "gm_map", "NumRet"])


@pytest.mark.parametrize("confidence", [0.5, 0.9, 0.95, 0.99])
def test_t_interval_is_that_of_scipy(confidence: float) -> None:
    ev = many()
    values = ev.per_query["RR"].to_numpy()

    found = ev.interval("RR", confidence=confidence, method="t")

    spread = values.std(ddof=1) / math.sqrt(len(values))
    expected = stats.t.interval(confidence, len(values) - 1, values.mean(), spread)
    assert (found.low, found.high) == pytest.approx(expected, rel=1e-12)


def test_bootstrap_interval_is_near_that_of_scipy() -> None:
    ev = many(200)
    values = ev.per_query["RR"].to_numpy()

    found = ev.interval("RR", n_resamples=4000)

    # The name of the seed has changed with scipy 1.15.
    known = inspect.signature(stats.bootstrap).parameters
    seed: dict[str, Any] = {"rng" if "rng" in known else "random_state": 1}
    reference = stats.bootstrap(
        (values,), np.mean, method="percentile", n_resamples=4000, **seed
    ).confidence_interval
    assert found.low == pytest.approx(reference.low, abs=0.01)
    assert found.high == pytest.approx(reference.high, abs=0.01)


def test_bootstrap_interval_is_the_same_for_the_same_seed() -> None:
    first, again = many(), many()

    assert first.interval("RR", seed=3) == again.interval("RR", seed=3)
    assert first.interval("RR", seed=3) != first.interval("RR", seed=4)
    assert first.interval("RR") == first.interval("RR", seed=0)


def test_an_interval_holds_the_mean_and_grows_with_confidence() -> None:
    ev = many()
    inner, outer = ev.interval("RR", 0.5), ev.interval("RR", 0.99)

    assert outer.low < inner.low < ev["RR"] < inner.high < outer.high
    assert isinstance(inner, rk.Interval)
    assert tuple(inner) == (inner.low, inner.high)


@pytest.mark.parametrize("method", ["bootstrap", "t"])
def test_one_query_has_no_interval(method: str) -> None:
    ev = rk.evaluate({"q": {"a"}}, {"q": ["a"]}, ["AP"])

    assert all(math.isnan(bound) for bound in ev.interval("AP", method=method))


@pytest.mark.parametrize("method", ["bootstrap", "t"])
def test_queries_that_were_left_out_are_not_in_the_interval(method: str) -> None:
    rule = rk.Convention(empty_truth="skip")
    qrels: dict[str, Any] = {**QRELS, "q4": {"a": 0}}

    with_empty = rk.evaluate(qrels, RUN, ["AP"], convention=rule)

    found = with_empty.interval("AP", method=method)
    assert found == pytest.approx(evaluate(["AP"]).interval("AP", method=method))


@pytest.mark.parametrize("method", ["bootstrap", "t"])
def test_equal_values_have_an_interval_of_no_width(method: str) -> None:
    qrels = {f"q{number}": {"a"} for number in range(5)}
    ev = rk.evaluate(qrels, {query: ["x", "a"] for query in qrels}, ["RR"])

    assert ev.interval("RR", method=method) == (1 / 2, 1 / 2)


@pytest.mark.parametrize("method", ["bootstrap", "t"])
@pytest.mark.parametrize("metric", ["RR", "gm_map", "RScore", "InterListDiversity@3"])
@pytest.mark.parametrize("n", [2, 3, 5, 7, 49])
@pytest.mark.parametrize("weighted", [False, True])
def test_an_interval_of_equal_values_is_their_mean(
    method: str,
    metric: str,
    n: int,
    weighted: bool,  # noqa: FBT001
) -> None:
    qrels = {f"q{number}": {"a": 1} for number in range(n)}
    run = {query: ["x", query, "a"] for query in qrels}
    draw = np.random.default_rng(n)
    weights = {query: draw.random() for query in qrels} if weighted else None
    ev = rk.evaluate(qrels, run, [metric], weights=weights)

    found = ev.interval(metric, method=method)

    assert found.low <= ev[metric] <= found.high
    np.testing.assert_allclose(found, ev[metric], rtol=1e-14)


@pytest.mark.parametrize("method", ["bootstrap", "t"])
def test_an_interval_is_rounded_as_its_number(method: str) -> None:
    rule = rk.Convention(decimals=2)
    qrels = {f"q{number}": {"a": 1} for number in range(3)}
    run = {query: ["x", "y", "a"] for query in qrels}
    ev = rk.evaluate(qrels, run, ["RR"], convention=rule)

    assert ev["RR"] == 0.33
    assert ev.interval("RR", method=method) == (0.33, 0.33)
    assert ev.curve("RR", [3]).row(0) == (3, 0.33, 0.33, 0.33)


def test_no_resample_is_better_than_perfect() -> None:
    # Sums of weights and of weighted values are rounded to other units.
    draw = np.random.default_rng(0)
    for n in range(2, 9):
        qrels = {f"q{number}": {"a": 1} for number in range(n)}
        run = {
            query: ["a"] if place else ["x", "a"] for place, query in enumerate(qrels)
        }
        for _ in range(10):
            weights = {query: draw.random() for query in qrels}
            ev = rk.evaluate(qrels, run, ["RR"], weights=weights)
            assert ev.interval("RR", n_resamples=200).high <= 1


@pytest.mark.parametrize("method", ["bootstrap", "t"])
@pytest.mark.parametrize("metric", ["gm_map", "RScore"])
def test_an_interval_is_one_of_the_number_that_is_shown(
    method: str, metric: str
) -> None:
    # A long list with one hit beside short perfect ones: pooled and mean are far apart.
    qrels = {f"q{at}": {"a": 5} for at in range(20)} | {"big": {"a": 5000, "b": 5000}}
    run: dict[str, Any] = {f"q{at}": ["a"] for at in range(20)}
    run["big"] = [f"x{at}" for at in range(40)] + ["a"]
    ev = rk.evaluate(qrels, run, [metric])

    found = ev.interval(metric, method=method)

    assert found.low <= ev[metric] <= found.high


def test_t_interval_of_a_pooled_number_is_not_that_of_the_mean() -> None:
    rule = rk.Convention(aggregate="ratio_of_sums")
    qrels = {f"q{at}": {"a"} for at in range(20)}
    qrels["big"] = {f"b{at}" for at in range(1000)}
    run = {query: ["a"] for query in qrels}
    ev = rk.evaluate(qrels, run, ["R"], convention=rule)

    assert ev["R"] == 20 / 1020
    try:
        found = ev.interval("R", method="t")
    except ParameterError:
        return  # to refuse is right as well
    assert found.low <= ev["R"] <= found.high


@pytest.mark.parametrize(
    ("options", "wanted"),
    [
        ({"confidence": 0}, "confidence must be a number above 0 and below 1, got 0"),
        ({"confidence": 1}, "confidence must be a number above 0 and below 1, got 1"),
        ({"confidence": 95}, "confidence must be a number above 0 and below 1, got 95"),
        ({"confidence": "x"}, "confidence must be a number above 0"),
        ({"method": "bootstrp"}, "got 'bootstrp'; did you mean 'bootstrap'?"),
        ({"method": None}, "method must be one of bootstrap, t, got None"),
        ({"n_resamples": 0}, "n_resamples must be"),
        ({"n_resamples": 2.5}, "n_resamples must be"),
        ({"seed": -1}, "seed must be"),
        ({"seed": "x"}, "seed must be"),
    ],
)
def test_wrong_choices_of_an_interval_are_refused(
    options: dict[str, Any], wanted: str
) -> None:
    with pytest.raises(ParameterError) as caught:
        many(3).interval("RR", **options)

    assert wanted in str(caught.value)


@pytest.mark.parametrize("scope", ["pooled", "weighted"])
@pytest.mark.parametrize("method", ["bootstrap", "t"])
def test_a_number_that_compares_all_queries_has_no_interval(
    scope: str, method: str
) -> None:
    qrels = {query: {"a": 1, "b": 0} for query in "pqr"}
    run = {query: {"a": n, "b": 2 * n - 1} for n, query in enumerate("pqr")}

    metric = rk.AUC(scope=scope)
    found = rk.evaluate(qrels, run, metric).interval(metric, method=method)

    assert math.isnan(found.low)
    assert math.isnan(found.high)
