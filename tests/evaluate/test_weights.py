"""Weights of queries: in means, intervals, notes, batches, files and exports."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankine as rk
from rankine._stats.exact import weighted_sum
from rankine.errors import DataError, RankineError

if TYPE_CHECKING:
    from pathlib import Path

QRELS = {"q": {"a": 1}, "r": {"b": 1}, "s": {"c": 1}}
RUN = {"q": ["a"], "r": ["x", "b"], "s": ["x", "y"]}
# Reciprocal ranks of 1, 1/2 and 0.
WEIGHTS = {"q": 3, "r": 1, "s": 2}


def rr(weights: Any, **more: Any) -> float:
    return rk.evaluate(QRELS, RUN, "RR", weights=weights, **more)["RR"]


def test_a_mean_is_weighted() -> None:
    assert rr(WEIGHTS) == (3 * 1 + 1 / 2 + 2 * 0) / 6


def test_a_weight_of_0_leaves_a_query_out() -> None:
    ev = rk.evaluate(QRELS, RUN, "RR", weights={"q": 1, "r": 1, "s": 0})

    assert ev["RR"] == (1 + 1 / 2) / 2
    assert ev.summaries["RR"].n == 2
    assert "1 query with weight 0: left out" in ev.notes
    assert ev.per_query["RR"].to_list() == [1.0, 0.5, None]


@pytest.mark.parametrize(
    ("empty_truth", "mean", "note"),
    [
        ("zero", (0 + 1) / 2, "counted as 0"),
        ("one", (1 + 1) / 2, "counted as 1"),
        ("skip", 1.0, "left out"),
        ("nan", math.nan, "left out"),
    ],
)
def test_a_query_of_weight_0_has_no_fate(
    empty_truth: Any, mean: float, note: str
) -> None:
    qrels = {"a": {"x": 0}, "b": {"x": 0}, "c": {"x": 1}}
    run = {query: ["x", "y"] for query in qrels}
    rule = rk.Convention(empty_truth=empty_truth)

    def evaluate(metric: str, weights: dict[str, int]) -> rk.Evaluation:
        whole = rk.evaluate(qrels, run, metric, weights=weights, convention=rule)
        ours, theirs = (
            rk.Accumulator(metric, weights=weights, convention=rule) for _ in range(2)
        )
        for query, judged in qrels.items():
            ours.update({query: judged}, {query: run[query]})
        theirs.update(qrels, run)
        for parts in (ours, ours.merge(theirs, repeats="first")):
            assert parts.result()[metric] == pytest.approx(whole[metric], nan_ok=True)
            assert parts.result().notes == whole.notes
        return whole

    some = evaluate("AP", {"a": 0, "b": 1, "c": 1})
    assert some["AP"] == pytest.approx(mean, nan_ok=True)
    assert f"1 query without a relevant item: {note}" in some.notes
    assert evaluate("AP", {"a": 0, "b": 0, "c": 2})["AP"] == 1


def test_a_query_of_weight_0_is_not_refused() -> None:
    qrels, run = {"a": {"x": 0}, "b": {"x": 1}}, {"a": ["x"], "b": ["x"]}
    rule = rk.Convention(empty_truth="error")

    ev = rk.evaluate(qrels, run, "AP", weights={"a": 0, "b": 1}, convention=rule)

    assert ev["AP"] == 1
    with pytest.raises(DataError, match="1 query without a relevant item"):
        rk.evaluate(qrels, run, "AP", weights={"a": 1, "b": 1}, convention=rule)


def test_the_notes_say_how_much_the_weights_leave() -> None:
    ev = rk.evaluate(QRELS, RUN, "RR", weights=WEIGHTS)
    # (3 + 1 + 2)^2 / (9 + 1 + 4) = 36 / 14
    assert any("as informative as 2.6 with equal weights" in note for note in ev.notes)
    assert rk.evaluate(QRELS, RUN, "RR", weights=dict.fromkeys(QRELS, 5)).notes == ()


@pytest.mark.parametrize("metric", ["AP", "gm_AP", "NumRelRet", "nDCG@2", "FCP"])
def test_whole_weights_are_repeated_queries(metric: str) -> None:
    qrels = {
        "q": {"a": 2, "b": 1, "c": 3},
        "r": {"b": 1, "c": 2},
        "s": {"c": 1, "a": 2},
    }
    run = {"q": ["c", "b", "a"], "r": ["x", "b", "c"], "s": ["c", "a", "y"]}
    counts = {"q": 3, "r": 1, "s": 2}
    often = [(query, copy) for query, n in counts.items() for copy in range(n)]
    repeated = rk.evaluate(
        {f"{query}{copy}": qrels[query] for query, copy in often},
        {f"{query}{copy}": run[query] for query, copy in often},
        metric,
    )

    assert rk.evaluate(qrels, run, metric, weights=counts)[metric] == repeated[metric]


def test_a_pooled_ratio_is_weighted() -> None:
    rule = rk.Convention(aggregate="ratio_of_sums")
    ev = rk.evaluate(
        {"q": {"a": 1, "b": 1}, "r": {"c": 1}}, {"q": ["a"], "r": ["x"]}, "R",
        convention=rule, weights={"q": 3, "r": 1},
    )  # fmt: skip
    assert ev["R"] == (3 * 1 + 0) / (3 * 2 + 1 * 1)


@pytest.mark.parametrize("method", ["bootstrap", "t"])
def test_equal_weights_change_no_bit(method: str) -> None:
    rng = np.random.default_rng(0)
    qrels = {n: {1: 1} for n in range(30)}
    run = {n: rng.permutation(9).tolist() for n in range(30)}
    plain = rk.evaluate(qrels, run, ["RR", "nDCG@3"])
    same = rk.evaluate(qrels, run, ["RR", "nDCG@3"], weights=dict.fromkeys(qrels, 0.1))

    assert same.mean == plain.mean
    for metric in plain.mean:
        assert same.interval(metric, method=method) == plain.interval(
            metric, method=method
        )


def test_the_t_interval_is_that_of_a_ratio() -> None:
    interval = rk.evaluate(QRELS, RUN, "RR", weights=WEIGHTS).interval("RR", method="t")
    weight, value = np.array([3.0, 1.0, 2.0]), np.array([1.0, 0.5, 0.0])
    mean = (weight * value).sum() / weight.sum()
    spread = (weight * (value - mean) / weight.mean()).std(ddof=1) / math.sqrt(3)
    # Student's 97.5 % point of two degrees of freedom
    reach = 4.302652729749464 * spread
    np.testing.assert_allclose(interval, (mean - reach, mean + reach), rtol=1e-9)


def test_the_bootstrap_draws_weights_with_their_values() -> None:
    # Whatever is drawn, two queries of value 1 give a mean of 1.
    ev = rk.evaluate(
        {"q": {"a": 1}, "r": {"b": 1}}, {"q": ["a"], "r": ["b"]}, "RR",
        weights={"q": 1, "r": 9},
    )  # fmt: skip
    assert ev.interval("RR") == (1.0, 1.0)
    heavy = rk.evaluate(QRELS, RUN, "RR", weights=WEIGHTS).interval("RR")
    assert heavy.low == 0
    assert heavy.high == 1


def test_metrics_of_all_lists_have_no_weights() -> None:
    ev = rk.evaluate(QRELS, RUN, ["RR", "Coverage"], weights=WEIGHTS, catalog=9)

    assert ev["Coverage"] == 4 / 9  # a, b, x and y
    note = "weights do not change Coverage: computed from all lists together"
    assert note in ev.notes
    alone = rk.evaluate(QRELS, RUN, "Coverage", weights=WEIGHTS, catalog=9)
    assert alone.notes == (note,)
    batches = rk.Accumulator("Coverage", weights=WEIGHTS, catalog=9).update(QRELS, RUN)
    assert batches.result().notes == (note,)


@pytest.mark.parametrize("scope", ["weighted", "pooled"])
def test_numbers_of_all_queries_have_no_weights(scope: str) -> None:
    run = {"q": {"a": 2.0, "x": 1.0}, "r": {"x": 3.0, "b": 1.5}}
    metric = f"AUC(scope='{scope}')"
    ev = rk.evaluate(QRELS, run, ["RR", metric], weights=WEIGHTS)

    assert ev[metric] == rk.evaluate(QRELS, run, metric)[metric]
    note = f"weights do not change {metric}: computed from all lists together"
    assert note in ev.notes


def test_a_pandas_series_is_a_mapping() -> None:
    assert rr(pd.Series(WEIGHTS)) == rr(WEIGHTS)


@pytest.mark.parametrize(
    "held",
    [
        pytest.param(lambda rows: rows, id="frame"),
        pytest.param(lambda rows: rows.rename({"query": "userID"}), id="user"),
        pytest.param(lambda rows: rows.to_pandas(), id="pandas"),
    ],
)
def test_weights_in_a_frame(held: Any) -> None:
    rows = pl.DataFrame({"query": list(WEIGHTS), "weight": list(WEIGHTS.values())})
    assert rr(held(rows)) == rr(WEIGHTS)


def test_weights_in_columns_of_other_names() -> None:
    rows = pl.DataFrame({"who": list(WEIGHTS), "visits": list(WEIGHTS.values())})
    columns = {"weights.query": "who", "weights.weight": "visits"}
    assert rr(rows, columns=columns) == rr(WEIGHTS)


def test_ids_are_compared_as_elsewhere() -> None:
    qrels, run = {1: {"a": 1}, 2: {"b": 1}}, {1: ["a"], 2: ["x"]}
    ev = rk.evaluate(qrels, run, "RR", weights={"1": 3, "2": 1})
    assert ev["RR"] == 3 / 4


@pytest.mark.parametrize(
    ("weights", "said"),
    [
        ({"q": 1, "r": 1}, "no weight for 1 query \\(s\\); give one for every query"),
        ({**WEIGHTS, "s": -1}, "the weight of 's' is -1; a weight is a number"),
        ({**WEIGHTS, "s": math.nan}, "the weight of 's' is nan"),
        ({**WEIGHTS, "s": math.inf}, "the weight of 's' is inf"),
        ({**WEIGHTS, "s": "much"}, "the weight of 's' is 'much', not a number"),
        ({}, "contains no weights"),
        (pl.DataFrame({"query": ["q", "q"], "weight": [1, 2]}), "has a weight already"),
        (pl.DataFrame({"query": ["q"], "load": [1]}), "has no weight column"),
        (pl.DataFrame({"w": ["q"], "weight": [1]}), "has no column of queries"),
        (5, "weights is of type int"),
        ({**WEIGHTS, "s": 10**400}, "the weight of 's' is too large"),
        (dict.fromkeys(QRELS, 1e308), "too large to be added up"),
        (pl.DataFrame({"who": ["q"], "w": [1]}), "columns={'weights.query': ...}"),
    ],
)
def test_what_cannot_be_used_is_refused(weights: Any, said: str) -> None:
    with pytest.raises(RankineError, match=said):
        rr(weights)


def test_all_weights_0_leave_nothing() -> None:
    ev = rk.evaluate(QRELS, RUN, "RR", weights=dict.fromkeys(QRELS, 0))
    assert math.isnan(ev["RR"])
    with pytest.raises(DataError, match="no query is left"):
        rr(dict.fromkeys(QRELS, 0), convention=rk.Convention(nothing="error"))


@pytest.mark.parametrize("cut", [1, 2])
def test_batches_have_the_bits_of_one_call(cut: int) -> None:
    rng = np.random.default_rng(5)
    names = [f"q{n}" for n in range(12)]
    qrels = {name: {1: 1, 2: 2} for name in names}
    run = {name: rng.permutation(9).tolist() for name in names}
    weights = {name: float(rng.random()) for name in names} | {"q3": 0.0}
    metrics = ["AP", "nDCG@3", "gm_AP", "ERR", "NumRelRet"]
    whole = rk.evaluate(qrels, run, metrics, weights=weights)
    totals = [rk.Accumulator(metrics, weights=weights) for _ in range(2)]
    for number in range(0, 12, cut):
        some = names[number : number + cut]
        batch = {name: qrels[name] for name in some}, {name: run[name] for name in some}
        totals[number % 2].update(*batch)
    parts = totals[0].merge(totals[1]).result()

    assert parts.mean == whole.mean
    for metric in metrics:
        assert parts.interval(metric) == whole.interval(metric)
    assert "1 query with weight 0: left out" in parts.notes


def test_batches_of_other_weights_are_not_merged() -> None:
    one, other = (rk.Accumulator("RR", weights={"q": n}) for n in (1, 2))
    with pytest.raises(RankineError, match="differ in metrics or options"):
        one.merge(other)


def test_a_saved_result_keeps_its_weights(tmp_path: Path) -> None:
    ev = rk.evaluate(QRELS, RUN, ["RR", "AP"], weights=WEIGHTS)
    ev.save(tmp_path / "ev.json")
    again = rk.load(tmp_path / "ev.json")

    assert again.mean == ev.mean
    assert again.interval("RR") == ev.interval("RR")
    assert again.interval("RR", method="t") == ev.interval("RR", method="t")
    assert again.notes == ev.notes


@given(
    st.lists(st.tuples(st.floats(0, 1), st.integers(0, 2**40)), min_size=1, max_size=20)
)
def test_weighted_sums_are_exact(pairs: list[tuple[float, int]]) -> None:
    exact = sum(Fraction(value) * weight for value, weight in pairs)
    values, weights = (
        np.array(side, dtype=np.float64) for side in zip(*pairs, strict=True)
    )
    assert weighted_sum(values, weights) == float(exact)


FIVE = {query: {"a": 1} for query in "pqrst"}
"""Judgements of p, q, r, s and t."""


@pytest.mark.parametrize(
    ("rule", "fate", "mean"),
    [("qrels", "counted as 0", (1 + 0) / 2), ("both", "left out", 1.0)],
)
@pytest.mark.parametrize("batches", [False, True])
def test_missing_queries_of_weight_0_are_not_counted(
    rule: Any,
    fate: str,
    mean: float,
    batches: bool,  # noqa: FBT001 - a parameter of the test
) -> None:
    weights = {"p": 1, "q": 1, "r": 0, "s": 0, "t": 0}
    options: dict[str, Any] = {
        "weights": weights, "convention": rk.Convention(queries=rule)
    }  # fmt: skip
    run = {"p": ["a"]}
    if batches:
        total = rk.Accumulator("RR", **options)
        total.update({query: FIVE[query] for query in "pr"}, run)
        total.update({query: FIVE[query] for query in "qst"}, {})
        ev: rk.Evaluation = total.result()
    else:
        ev = rk.evaluate(FIVE, run, "RR", **options)

    # Of p and q, which count, q is missing: not more than half.
    assert ev["RR"] == mean
    assert f"1 judged query missing from the run (q): {fate}" in ev.notes
    assert not [words for words in ev.warnings if "missing" in words]


def test_nothing_is_missing_if_it_counts_nothing() -> None:
    weights = {"p": 1, "q": 0, "r": 0, "s": 0, "t": 0}
    compared = rk.compare(
        FIVE, {"one": {"p": ["a"]}, "two": {"p": ["a"]}}, "RR", weights=weights
    )

    for ev in compared.evaluations.values():
        assert not [words for words in ev.notes + ev.warnings if "missing" in words]
    assert not [words for words in compared.notes if "missing" in words]


def test_queries_of_weight_0_do_not_make_up_for_missing_ones() -> None:
    run = {query: ["a"] for query in "pst"}
    weights = {"p": 1, "q": 1, "r": 1, "s": 0, "t": 0}

    (said,) = rk.evaluate(FIVE, run, "RR", weights=weights).warnings

    assert said.startswith("2 of 3 judged queries are missing from the run, more than")
