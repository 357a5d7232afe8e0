"""Whether one evaluation is better than another: by its mean, or by a test."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankine as rk
from rankine.errors import DataError, ParameterError

QRELS = {f"q{n}": {"a": 1} for n in range(6)}
LOW = {query: ["x", "a"] for query in QRELS}
HIGH = {query: ["a", "x"] for query in QRELS}
NEARLY = LOW | {"q0": ["a", "x"]}


def ev(run: Any, metrics: Any = "RR", qrels: Any = QRELS, **options: Any) -> Any:
    return rk.evaluate(qrels, run, metrics, **options)


def test_the_larger_mean_is_better_by_however_little() -> None:
    assert ev(NEARLY).better_than(ev(LOW), "RR") is True
    assert ev(LOW).better_than(ev(NEARLY), "RR") is False
    assert ev(LOW).better_than(ev(LOW), "RR") is False


def test_a_training_loop_keeps_the_best() -> None:
    best = None
    for run in (LOW, HIGH, NEARLY):
        found = ev(run)
        if best is None or found.better_than(best, "RR"):
            best = found

    assert best is not None
    assert best["RR"] == 1


def test_where_less_is_better_the_smaller_mean_is() -> None:
    qrels = {query: {"a": 1, "b": 0} for query in QRELS}
    good, bad = ({q: ["a", "b"] for q in QRELS}, {q: ["b", "a"] for q in QRELS})
    metric = "FallOut(universe='list')@1"
    first, second = ev(good, metric, qrels), ev(bad, metric, qrels)

    assert rk.parse(metric).higher_is_better is False
    assert first[metric] < second[metric]
    assert first.better_than(second, metric)
    assert not second.better_than(first, metric)
    assert first.better_than(second, metric, confidence=0.95)


@pytest.mark.parametrize(
    ("confidence", "verdict"),
    [(0.96, True), (0.97, False), (0.9, True), (0.99, False)],
)
def test_with_a_confidence_the_test_decides(confidence: float, verdict: bool) -> None:  # noqa: FBT001
    # All six differences are the same: of the 2^6 flips, 2 are as extreme.
    p = 2 / 2**6

    assert (p <= 1 - confidence) == verdict
    assert ev(HIGH).better_than(ev(LOW), "RR", confidence=confidence) is verdict
    assert ev(LOW).better_than(ev(HIGH), "RR", confidence=confidence) is False


def test_a_test_alone_is_at_95_percent() -> None:
    # The sign test: 6 of 6, so p = 2 / 64; with 5 of 5, p = 2 / 32 is above 0.05.
    five = {query: run for query, run in QRELS.items() if query != "q5"}

    assert ev(HIGH).better_than(ev(LOW), "RR", test="sign") is True
    first, second = (ev({q: run[q] for q in five}, qrels=five) for run in (HIGH, LOW))
    assert first.better_than(second, "RR") is True
    assert first.better_than(second, "RR", test="sign") is False


@given(
    st.lists(st.tuples(st.integers(1, 4), st.integers(1, 4)), min_size=1, max_size=8),
    st.floats(0.5, 0.99),
)
def test_what_a_test_finds_better_has_the_better_mean(
    ranks: list[tuple[int, int]], confidence: float
) -> None:
    qrels = {n: {"a": 1} for n in range(len(ranks))}
    runs = [
        {n: [*"xyz"[: rank[side] - 1], "a"] for n, rank in enumerate(ranks)}
        for side in (0, 1)
    ]
    first, second = (ev(run, qrels=qrels) for run in runs)

    sure = first.better_than(second, "RR", confidence=confidence)
    systems = {"second": runs[1], "first": runs[0]}
    pair = rk.compare(qrels, systems, "RR", confidence=confidence)

    assert sure == pair.pairwise["verdict"][0].startswith("better")
    assert first.better_than(second, "RR") == (first["RR"] > second["RR"])
    assert not (sure and not first.better_than(second, "RR"))


def test_the_metric_may_have_another_name_in_either() -> None:
    assert ev(HIGH, "MRR").better_than(ev(LOW, "recip_rank"), "RR")
    assert ev(HIGH, "RR@10").better_than(ev(LOW, "RR@10"), "rr_at_10")


def test_undefined_is_never_better_and_anything_is_better_than_it() -> None:
    rule = rk.Convention(empty_truth="nan")
    nothing = {"q": {"a": 0}}
    undefined = ev({"q": ["a"]}, qrels=nothing, convention=rule)
    defined = ev({"q": ["b"]}, qrels={"q": {"a": 1}}, convention=rule)

    assert defined["RR"] == 0
    assert defined.better_than(undefined, "RR")
    assert not undefined.better_than(defined, "RR")
    assert not undefined.better_than(undefined, "RR")


def test_a_query_that_one_leaves_out_counts_in_neither_mean() -> None:
    # q0 is the worst of the first run. The second has an empty list for it, and this
    # convention leaves such a query out, so that its mean is the larger one.
    rule = rk.Convention(empty_list="skip")
    full = ev(HIGH | {"q0": ["x", "y", "a"]}, convention=rule)
    fewer = ev(HIGH | {"q0": [], "q1": ["x", "a"]}, convention=rule)

    assert full["RR"] == pytest.approx((5 + 1 / 3) / 6)
    assert fewer["RR"] == pytest.approx((4 + 1 / 2) / 5)
    assert fewer["RR"] > full["RR"]
    assert full.better_than(fewer, "RR")
    assert not fewer.better_than(full, "RR")


def test_other_queries_are_refused() -> None:
    more = QRELS | {"q9": {"a": 1}}

    with pytest.raises(DataError, match=r"has 1 query \(q9\).*same queries"):
        ev(HIGH).better_than(ev(LOW, qrels=more), "RR")
    with pytest.raises(DataError, match=r"has 1 query \(q9\)"):
        ev(LOW, qrels=more).better_than(ev(HIGH), "RR")
    both = rk.Convention(queries="both")  # which leaves out who has no list
    fewer = {query: run for query, run in HIGH.items() if query != "q3"}
    with pytest.raises(DataError, match=r"has 1 query \(q3\)"):
        ev(fewer, convention=both).better_than(ev(LOW, convention=both), "RR")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"convention": "trec_eval-9"}, "differently.*evaluate both in the same way"),
        ({"ties": "average"}, "compute RR differently"),
        ({"rel": 2}, "compute RR differently"),
        ({"weights": dict.fromkeys(QRELS, 1) | {"q0": 2}}, "weigh their queries"),
    ],
)
def test_what_was_computed_differently_is_refused(options: Any, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        ev(HIGH).better_than(ev(LOW, **options), "RR")
    with pytest.raises(ParameterError, match=message):
        ev(HIGH, **options).better_than(ev(LOW), "RR")


@pytest.mark.parametrize("metric", ["Coverage@1", "AUC(universe=catalogue)"])
def test_two_catalogues_are_refused(metric: str) -> None:
    # 1 of 10 items is shown, and 1 of 20: no recommender covers more than the other.
    first, second, same = (
        rk.evaluate({"q": {"a": 1}}, {"q": ["a"]}, metric, catalog=size)
        for size in (10, 20, 10)
    )

    assert not first.better_than(same, metric)
    assert rk.compare_values({"x": first, "y": same}).pairwise.height == 1
    with pytest.raises(ParameterError, match="catalog"):
        first.better_than(second, metric)
    with pytest.raises(ParameterError, match=r"10 in x, 20 in y\).*same catalog="):
        rk.compare_values({"x": first, "y": second})


def test_weights_count() -> None:
    weights = dict.fromkeys(QRELS, 1.0) | {"q0": 100.0}
    first = ev(LOW | {"q0": ["a"]}, weights=weights)
    second = ev(HIGH | {"q0": ["x", "a"]}, weights=weights)

    assert first["RR"] == pytest.approx((100 + 5 / 2) / 105)
    assert first.better_than(second, "RR")
    with pytest.raises(ParameterError, match="takes no weights"):
        first.better_than(second, "RR", test="sign")


def test_queries_may_come_in_another_order() -> None:
    weights = {query: n + 1.0 for n, query in enumerate(QRELS)}
    turned = dict(reversed(QRELS.items()))
    first = ev(NEARLY, weights=weights)
    second = ev(NEARLY, qrels=turned, weights=weights)

    assert [*second.queries] == [*reversed(first.queries)]
    assert not first.better_than(second, "RR")
    assert not first.better_than(second, "RR", confidence=0.5)


def test_a_metric_without_a_direction_or_a_value_is_refused() -> None:
    with pytest.raises(ParameterError, match="NumRet has no direction"):
        ev(HIGH, "NumRet").better_than(ev(LOW, "NumRet"), "NumRet")
    with pytest.raises(KeyError, match="AP was not evaluated"):
        ev(HIGH).better_than(ev(LOW, "AP"), "AP")
    with pytest.raises(ParameterError, match=r"the other evaluation.*AP was not"):
        ev(HIGH, "AP").better_than(ev(LOW), "AP")
    with pytest.raises(ParameterError, match="takes an evaluation, got float"):
        ev(HIGH).better_than(0.5, "RR")


def test_numbers_that_are_no_means_are_compared_but_not_tested() -> None:
    first, second = ev(HIGH, "gm_AP"), ev(LOW, "gm_AP")

    assert first.better_than(second, "gm_AP")
    with pytest.raises(ParameterError, match="not a mean over queries"):
        first.better_than(second, "gm_AP", confidence=0.9)


def test_numbers_of_whole_runs_are_tested_by_the_jackknife() -> None:
    wide = {f"u{n}": [f"i{n}", f"j{n}"] for n in range(40)}
    narrow = {f"u{n}": ["i0", f"j{n % 3}"] for n in range(40)}
    first, second = (
        rk.evaluate(None, run, "Coverage", catalog=100) for run in (wide, narrow)
    )

    assert first.better_than(second, "Coverage")
    assert first.better_than(second, "Coverage", confidence=0.95)
    assert not second.better_than(first, "Coverage")


def test_accumulated_and_loaded_evaluations_are_compared(tmp_path: Any) -> None:
    total = rk.Accumulator("RR").update(QRELS, HIGH).result()
    ev(LOW).save(tmp_path / "low.json")
    low = rk.load(tmp_path / "low.json")

    assert total.better_than(low, "RR")
    assert total.better_than(low, "RR", confidence=0.95)
    assert not low.better_than(total, "RR")
