"""Queries that two accumulators have, as samplers of several processes repeat them."""

from __future__ import annotations

import pytest

import rankine as rk
from rankine.errors import DataError, ParameterError

METRICS = ["RR", "P@1"]


def both() -> tuple[rk.Accumulator, rk.Accumulator]:  # type: ignore[type-arg]
    ours = rk.Accumulator(METRICS).update({"a": {1}, "b": {1}}, {"a": [1], "b": [2, 1]})
    theirs = rk.Accumulator(METRICS).update({"c": {1}}, {"c": [2, 3, 1]})
    # Another value than that of the first.
    return ours, theirs.update({"a": {1}, "d": {1}}, {"a": [2, 1], "d": [1]})


def test_the_first_of_repeated_queries_counts() -> None:
    ours, theirs = both()
    ev = ours.merge(theirs, repeats="first").result()

    rows = [("a", 1, 1), ("b", 1 / 2, 0), ("c", 1 / 3, 0), ("d", 1, 1)]
    assert ev.per_query.rows() == rows
    assert ev["RR"] == pytest.approx((1 + 1 / 2 + 1 / 3 + 1) / 4)
    assert theirs.result().queries == ["c", "a", "d"]


def test_repeated_queries_are_refused_unless_asked_for() -> None:
    ours, theirs = both()
    with pytest.raises(DataError, match=r"merge\(other, repeats='first'\)"):
        ours.merge(theirs)
    with pytest.raises(ParameterError, match="repeats"):
        ours.merge(theirs, repeats="last")  # type: ignore[arg-type]


def test_lists_of_repeated_users_count_once() -> None:
    train = {"u": ["a", "b"], "v": ["a"], "w": ["a", "c"], "x": ["a"]}
    metrics = ["Novelty", "Novelty(aggregate='ratio_of_sums')"]
    first, second = (
        rk.Accumulator(metrics, train=train).update(run)
        for run in ({"u": ["a", "b"]}, {"u": ["c", "b"], "v": ["b"]})
    )
    ev = first.merge(second, repeats="first").result()

    # All four users had a: 0 bits; one had b: 2 bits.
    assert ev.per_query["Novelty"].to_list() == [(0 + 2) / 2, 2]
    assert list(ev.mean.values()) == [(1 + 2) / 2, (0 + 2 + 2) / 3]


@pytest.mark.parametrize("metric", ["RR", "nDCG@2", "AP"])
def test_padded_shares_of_several_ranks_give_what_one_call_gives(metric: str) -> None:
    users = list("abcdefghij")
    qrels = {user: {user: 1, "x": 2} for user in users}
    run = {
        user: ["y"] * (place % 3 > 0) + [user, "x"] for place, user in enumerate(users)
    }
    padded = [*users, *users[:2]]  # so that each of four ranks has three
    total, *others = [
        rk.Accumulator(metric).update(
            {user: qrels[user] for user in padded[rank::4]},
            {user: run[user] for user in padded[rank::4]},
        )
        for rank in range(4)
    ]

    for other in others:
        total.merge(other, repeats="first")

    assert total.result().mean == rk.evaluate(qrels, run, metric).mean
    assert sorted(total.result().queries) == users


def test_metrics_of_all_lists_cannot_leave_queries_out() -> None:
    first, second = (
        rk.Accumulator("Coverage", catalog=3).update({"a": [1]}) for _ in range(2)
    )
    with pytest.raises(ParameterError, match="cannot leave a query out of Coverage"):
        first.merge(second, repeats="first")
    with pytest.raises(ParameterError, match="is for metrics"):
        rk.Accumulator(rk.mae).merge(rk.Accumulator(rk.mae), repeats="first")


@pytest.mark.parametrize("renumber", [True, False])
def test_queries_without_ids_are_not_taken_for_repeated(renumber: bool) -> None:  # noqa: FBT001
    first, second = (
        rk.Accumulator("RR", renumber=renumber).update([[0]], rk.from_scores([scores]))
        for scores in ([1.0, 0.0], [0.0, 1.0])
    )
    with pytest.raises(ParameterError, match="needs query ids"):
        first.merge(second, repeats="first")


def test_weights_of_repeated_queries_count_once() -> None:
    weights = {"a": 0, "b": 3, "c": 1}
    first, second = (
        rk.Accumulator("RR", weights=weights).update({key: {1} for key in run}, run)
        for run in ({"a": [1], "b": [1]}, {"a": [1], "b": [1], "c": [2, 1]})
    )
    ev = first.merge(second, repeats="first").result()
    assert ev["RR"] == pytest.approx((3 * 1 + 1 * 1 / 2) / 4)
