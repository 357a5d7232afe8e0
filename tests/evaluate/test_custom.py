"""Metrics that users write: functions of one query, and kernels of the table."""

# ruff: noqa: ARG001, ARG005 - functions take what they are called with

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import rankine as rk
from rankine._evaluate import custom
from rankine.errors import DataError, ParameterError, UnknownMetricError

if TYPE_CHECKING:
    from pathlib import Path

QRELS = {"q": {"a": 2, "b": 1}, "r": {"b": 1}, "s": {"c": 1}}
RUN = {"q": {"a": 3.0, "x": 2.0, "b": 1.0}, "r": {"x": 2.0, "b": 1.0}}


def first_is_good(ranking: list[Any], judged: dict[Any, float]) -> bool:
    return bool(ranking) and judged.get(ranking[0], 0) > 0


def test_a_function_of_a_ranking_and_judgements() -> None:
    seen = []

    @rk.metric
    def Spy(ranking: list[Any], judged: dict[Any, float]) -> float:  # noqa: N802
        seen.append((ranking, judged))
        return 0.0

    rk.evaluate(QRELS, RUN, Spy)
    assert seen == [
        (["a", "x", "b"], {"a": 2.0, "b": 1.0}),
        (["x", "b"], {"b": 1.0}),
        ([], {"c": 1.0}),
    ]


@pytest.mark.parametrize("form", ["metric", "name"])
def test_it_is_used_like_any_other(form: str) -> None:
    made = rk.metric(first_is_good, name="FirstIsGood")
    asked = made if form == "metric" else "FirstIsGood"
    ev = rk.evaluate(QRELS, RUN, ["RR", asked])

    assert ev.mean == {"RR": (1 + 1 / 2 + 0) / 3, "FirstIsGood": 1 / 3}
    assert ev.per_query["FirstIsGood"].to_list() == [1, 0, 0]
    assert ev["FirstIsGood"] == ev[made]
    low, high = ev.interval(made)
    assert low == 0
    assert high == 1
    assert "FirstIsGood" in str(ev)
    assert "FirstIsGood" in ev.to_latex()
    assert rk.parse("firstisgood") == made
    assert rk.metrics()["FirstIsGood"] == made


def test_int_ids_stay_ints() -> None:
    rk.metric(lambda ranking, judged: ranking[0] + sum(judged), name="Sum")
    assert rk.evaluate({1: {7: 1}}, {1: [5, 7]}, "Sum")["Sum"] == 5 + 7


def test_a_cutoff_and_other_parameters() -> None:
    @rk.metric
    def Shown(  # noqa: N802
        ranking: list[Any],
        judged: dict[Any, float],
        *,
        k: int | None = None,
        by: int = 1,
    ) -> float:
        return by * len(ranking)

    ev = rk.evaluate(QRELS, RUN, ["Shown", "Shown@2", "Shown(by=10)@1"])
    assert ev.mean == {
        "Shown": (3 + 2) / 3,
        "Shown@2": (2 + 2) / 3,
        "Shown(by=10)@1": 20 / 3,
    }
    with pytest.raises(ParameterError, match="it takes k, by"):
        rk.parse("Shown(bye=1)")


def test_a_default_cutoff_cuts() -> None:
    rk.metric(lambda ranking, judged, k=1: len(ranking), name="One")
    assert rk.evaluate(QRELS, RUN, "One")["One"] == (1 + 1) / 3


def test_nan_leaves_a_query_out() -> None:
    rk.metric(lambda ranking, judged: len(ranking) or math.nan, name="Length")
    ev = rk.evaluate(QRELS, RUN, "Length")

    assert ev["Length"] == (3 + 2) / 2
    assert ev.per_query["Length"].to_list() == [3, 2, None]


@pytest.mark.parametrize("choice", ["zero", "one", "skip", "nan", "error"])
def test_nan_is_never_what_a_convention_counts_without_relevant_items(
    choice: Any,
) -> None:
    @rk.metric(bounds=(1, math.inf), higher_is_better=False)
    def RankOfFirst(table: Any) -> Any:  # noqa: N802
        found = table.grade > 0
        rank = table.per_query(table.query[found], table.rank[found])
        return np.where(rank > 0, rank, np.nan)

    qrels = {"found": {"a": 1}, "not found": {"a": 1}, "none": {"a": 0}}
    run = {query: ["x", "a"] if query == "found" else ["x"] for query in qrels}
    rule = rk.Convention(empty_truth=choice)
    ev = rk.evaluate(qrels, run, RankOfFirst, convention=rule)

    assert ev["RankOfFirst"] == 2
    assert ev.per_query["RankOfFirst"].to_list() == [2, None, None]
    assert "RankOfFirst is undefined for 2 queries: left out" in ev.notes


def test_a_kernel_of_the_table() -> None:
    @rk.metric
    def Graded(table: Any, *, k: int | None = None) -> Any:  # noqa: N802
        inside = table.rank <= (k or 99)
        return table.per_query(table.query[inside], table.grade[inside])

    ev = rk.evaluate(QRELS, RUN, ["Graded", "Graded@1"])
    assert ev.mean == {"Graded": (3 + 1 + 0) / 3, "Graded@1": 2 / 3}


def test_conventions_and_weights_hold() -> None:
    made = rk.metric(first_is_good, name="FirstIsGood")
    both = rk.evaluate(QRELS, RUN, made, convention=rk.Convention(queries="both"))
    assert both[made] == 1 / 2
    weights = {"q": 3, "r": 1, "s": 0}
    assert rk.evaluate(QRELS, RUN, made, weights=weights)[made] == 3 / 4


def test_batches_have_the_bits_of_one_call() -> None:
    made = rk.metric(first_is_good, name="FirstIsGood")
    total = rk.Accumulator(made)
    for query, judged in QRELS.items():
        lists = {query: RUN[query]} if query in RUN else {}
        total.update({query: judged}, lists)
    assert total.result().mean == rk.evaluate(QRELS, RUN, made).mean


def test_a_result_is_saved(tmp_path: Path) -> None:
    made = rk.metric(first_is_good, name="FirstIsGood")
    ev = rk.evaluate(QRELS, RUN, made)
    ev.save(tmp_path / "ev.json")
    assert rk.load(tmp_path / "ev.json").mean == ev.mean


def test_it_can_be_defined_again() -> None:
    first = rk.metric(lambda ranking, judged: 1.0, name="Again")
    assert rk.evaluate(QRELS, RUN, first)["Again"] == 1
    rk.metric(lambda ranking, judged: 2.0, name="Again")
    assert rk.evaluate(QRELS, RUN, "Again")["Again"] == 2
    rk.metric(lambda table: np.full(table.n_queries, 3.0), name="Again")
    assert rk.evaluate(QRELS, RUN, "Again")["Again"] == 3


def test_a_metric_keeps_its_function_when_another_has_its_name() -> None:
    first = rk.metric(lambda ranking, judged, k=None, by=1: 1.0 * by, name="Again")
    old = rk.evaluate(QRELS, RUN, first(by=2))
    told = str(old)
    second = rk.metric(
        lambda table: np.full(table.n_queries, 3.0), name="Again", bounds=(0, 9)
    )

    assert first != second
    assert rk.evaluate(QRELS, RUN, first(by=2) @ 2).mean == {"Again(by=2)@2": 2}
    assert rk.evaluate(QRELS, RUN, second).mean == {"Again": 3}
    assert rk.evaluate(QRELS, RUN, first).mean == {"Again": 1}
    assert (first.fact.bounds, second.fact.bounds) == ((-math.inf, math.inf), (0, 9))
    assert str(old) == told
    assert old.interval(first(by=2)) == (2, 2)
    with pytest.raises(ParameterError, match="two metrics are called Again"):
        rk.evaluate(QRELS, RUN, [first, second])


def test_no_cutoff_where_the_function_has_one_of_its_own() -> None:
    made = rk.metric(lambda ranking, judged, k=1: len(ranking), name="Shown")
    metrics = [made, made(k=None), made @ 2, (made @ 2)(k=None)]

    assert [str(one) for one in metrics] == [
        "Shown", "Shown(k=None)", "Shown@2", "Shown(k=None)",
    ]  # fmt: skip
    assert [rk.parse(str(one)) for one in metrics] == metrics
    assert rk.evaluate(QRELS, RUN, metrics[:3]).mean == {
        "Shown": (1 + 1 + 0) / 3,
        "Shown(k=None)": (3 + 2 + 0) / 3,
        "Shown@2": (2 + 2 + 0) / 3,
    }


def test_batches_of_two_definitions_are_not_mixed() -> None:
    totals = []
    for number in (1.0, 2.0):
        rk.metric(lambda ranking, judged, number=number: number, name="Again")
        totals.append(rk.Accumulator("Again"))
    with pytest.raises(ParameterError, match="redefined after"):
        totals[0].update(QRELS, RUN)
    with pytest.raises(ParameterError, match="differ in metrics or options"):
        totals[0].merge(totals[1])


@pytest.mark.parametrize("bounds", [3, (1, 0), ("a", "b"), (1,), None])
def test_bounds_are_two_numbers(bounds: Any) -> None:
    with pytest.raises(ParameterError, match="bounds must be the smallest"):
        rk.metric(first_is_good, bounds=bounds)


def test_a_direction_is_a_flag() -> None:
    with pytest.raises(ParameterError, match="higher_is_better must be"):
        rk.metric(first_is_good, higher_is_better="yes")  # type: ignore[call-overload]


def test_it_is_gone_when_forgotten() -> None:
    rk.metric(first_is_good, name="FirstIsGood")
    custom.forget("FirstIsGood")
    with pytest.raises(UnknownMetricError):
        rk.parse("FirstIsGood")


@pytest.mark.parametrize("returned", [None, "1", [1.0], object(), np.complex128(1j)])
def test_what_is_not_a_number_names_the_query(returned: Any) -> None:
    def odd(ranking: list[Any], judged: dict[Any, float]) -> Any:
        return returned if "c" in judged else 1.0

    rk.metric(odd, name="Odd")
    with pytest.raises(DataError, match=r"Odd returned .* for query 's'; expected"):
        rk.evaluate(QRELS, RUN, "Odd")


@pytest.mark.parametrize(
    "returned", [1.0, np.zeros(2), np.array(["a"] * 3), [[1], [1, 2], 3]]
)
def test_a_kernel_must_return_a_number_per_query(returned: Any) -> None:
    rk.metric(lambda table: returned, name="Odd")
    with pytest.raises(DataError, match="Odd must return 3 numbers, one for each"):
        rk.evaluate(QRELS, RUN, "Odd")


@pytest.mark.parametrize(
    ("function", "name", "said"),
    [
        (first_is_good, "AP", "already read as AP"),
        (first_is_good, "map", "already read as AP"),
        (first_is_good, "ndcg", "already read as nDCG"),
        (first_is_good, "a b", "must be valid for a function"),
        (lambda ranking, judged: 1, None, "must be valid for a function"),
        (lambda ranking: 1, "Odd", "must take \\(ranking, judged\\)"),
        (lambda ranking, judged, more: 1, "Odd", "'more' without a default"),
        (lambda *both: 1, "Odd", "must take \\(ranking, judged\\)"),
        (5, "Odd", "made from a function, got 5"),
        (max, "Odd", "cannot be determined"),
        (lambda ranking, judged, table=1: 1, "Odd", "'table' that is not the first"),
    ],
)
def test_what_cannot_be_a_metric_is_refused(
    function: Any, name: str | None, said: str
) -> None:
    with pytest.raises(ParameterError, match=said):
        rk.metric(function, name=name)


def test_it_needs_judgements() -> None:
    made = rk.metric(first_is_good, name="FirstIsGood")
    with pytest.raises(ParameterError, match="FirstIsGood needs judgements"):
        rk.evaluate(None, RUN, made)
