"""UserCoverage has a value for every user who should have a list."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankine as rk

LISTS = {"u": ["a", "b"], "v": ["c"], "x": ["a", "c"]}
TRUTH = {"u": {"a"}, "v": {"a"}, "w": {"a"}, "z": {"b"}}


@pytest.mark.parametrize(
    ("metric", "convention", "wanted"),
    [
        ("UserCoverage", "rankine", [1, 1, 0, 0]),
        ("UserCoverage@2", "rankine", [1, 0, 0, 0]),
        ("UserCoverage(least=1)@2", "rankine", [1, 1, 0, 0]),
        ("CoveredUsers@2", "rectools", [1, 1, 0, 0]),
    ],
)
def test_rows(metric: str, convention: str, wanted: list[int]) -> None:
    ev = rk.evaluate(TRUTH, LISTS, metric, convention=convention)

    # x has a list, and nobody expects one.
    assert ev.per_query.rows() == list(zip(TRUTH, wanted, strict=True))
    assert ev[metric] == sum(wanted) / 4
    low, high = ev.interval(metric)
    assert low < ev[metric] < high


def test_a_count_is_of_all_lists_and_has_no_values() -> None:
    ev = rk.evaluate(TRUTH, LISTS, "UserCoverage(share=False)")

    assert ev.mean == {"UserCoverage(share=False)": 3}
    assert ev.per_query.null_count().row(0) == (0, 3)


def test_next_to_other_metrics_of_lists() -> None:
    ev = rk.evaluate(
        TRUTH, LISTS, ["Popularity", "UserCoverage", "P@1"], train={"u": ["a"]}
    )

    assert {row[0]: row[1:] for row in ev.per_query.rows()} == {
        "u": (1 / 2, 1, 1),
        "v": (0, 1, 0),
        "w": (None, 0, 0),
        "z": (None, 0, 0),
        "x": (1 / 2, None, None),
    }


def test_users_of_another_type_than_those_of_the_run() -> None:
    ev = rk.evaluate({1: {"a"}, 2: {"a"}}, {"1": ["a"]}, "UserCoverage")

    assert ev.per_query.rows() == [(1, 1), (2, 0)]


def test_users_of_whom_nobody_has_a_list() -> None:
    ev = rk.evaluate({1: {"a"}, 2: {"a"}}, {3: ["a"]}, "UserCoverage")

    assert ev.per_query.rows() == [(1, 0), (2, 0)]


def test_training_data_give_the_number_alone() -> None:
    ev = rk.evaluate(None, LISTS, "UserCoverage", train=TRUTH)

    assert ev.mean == {"UserCoverage": 2 / 4}
    assert ev.per_query["UserCoverage"].to_list() == [None, None, None]


WEIGHTS = {"u": 3, "v": 1, "w": 2, "z": 0, "x": 9}


@pytest.mark.parametrize("batches", [False, True])
def test_users_may_have_weights(*, batches: bool) -> None:
    metrics = ["UserCoverage", "UserCoverage@2", "UserCoverage(share=False)"]
    ev: Any = rk.evaluate(TRUTH, LISTS, metrics, weights=WEIGHTS)
    if batches:
        total = rk.Accumulator(metrics, weights=WEIGHTS)
        for part in ("xz", "u", "vw"):
            truth = {user: TRUTH[user] for user in part if user in TRUTH}
            total.update(truth, {user: LISTS[user] for user in part if user in LISTS})
        ev = total.result()

    # z, without a list, has no weight; x is not awaited.
    assert ev["UserCoverage"] == (3 + 1) / (3 + 1 + 2)
    assert ev["UserCoverage@2"] == 3 / (3 + 1 + 2)
    assert ev["UserCoverage(share=False)"] == 3
    assert ev.summaries["UserCoverage"].n == 3
    assert ev.notes[-1] == (
        "weights do not change UserCoverage(share=False): computed from all lists "
        "together"
    )
    # Of two users, both have a list whatever is drawn.
    alike = rk.evaluate(
        {"u": {"a"}, "v": {"a"}}, LISTS, "UserCoverage", weights=WEIGHTS
    )
    assert alike.interval("UserCoverage") == (1, 1)


def test_the_training_data_give_no_weights() -> None:
    ev = rk.evaluate(None, LISTS, "UserCoverage", train=TRUTH, weights=WEIGHTS)

    assert ev["UserCoverage"] == 2 / 4


lists = st.dictionaries(
    st.integers(0, 9), st.lists(st.integers(0, 9), max_size=4, unique=True), min_size=1
)
users = st.sets(st.integers(0, 9), min_size=1)


@given(lists, users, st.integers(1, 4), st.data())
def test_batches_give_what_one_call_gives(
    run: dict[int, list[int]], judged: set[int], k: int, data: st.DataObject
) -> None:
    qrels = {user: {0} for user in judged}
    first = data.draw(st.sets(st.sampled_from(sorted(run.keys() | judged))))
    metric = f"UserCoverage@{k}"
    total = rk.Accumulator(metric)
    for part in (first, (run.keys() | judged) - first):
        total.update(
            {user: qrels[user] for user in judged & part},
            {user: run[user] for user in run.keys() & part},
        )

    once, parts = rk.evaluate(qrels, run, metric), total.result()

    wanted = {user: float(len(run.get(user, [])) >= k) for user in judged}
    assert dict(once.per_query.iter_rows()) == wanted
    assert dict(parts.per_query.iter_rows()) == wanted
    assert once[metric] == parts[metric] == sum(wanted.values()) / len(wanted)
