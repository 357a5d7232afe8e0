"""Edges of lists: repeated items, training data, thresholds, and what is told."""

from __future__ import annotations

import math
from typing import Any

import pandas as pd
import polars as pl
import pytest

import rankine as rk
from rankine.errors import DataError, ParameterError, RankineError
from tests.metrics.lists.mean import one


@pytest.mark.parametrize(
    ("lists", "wanted"),
    [
        ({"u": ["a"] * 4, "v": ["b"] * 4}, 1.0),
        ({"u": ["a", "a"], "v": ["b"]}, 1.0),
        ({"u": ["a", "a", "b"], "v": ["b"]}, 1 - 1 / math.sqrt(2)),
    ],
)
def test_an_item_that_repeats_is_one_item_of_a_list(lists: Any, wanted: float) -> None:
    metric = "InterListDiversity"

    ev = rk.evaluate(None, lists, metric, convention="jurity")

    assert ev[metric] == pytest.approx(wanted)
    assert ev.per_query[metric].to_list() == pytest.approx([wanted, wanted])
    total = rk.Accumulator(metric, convention="jurity")
    for user, shown in lists.items():
        total.update({user: shown})
    assert total.result()[metric] == ev[metric]


def test_an_item_is_at_no_distance_from_itself_twice() -> None:
    items = {"a": [1, 0], "b": [0, 1]}

    assert (
        one(None, {"u": ["a", "a", "b"]}, "ILD", convention="jurity", items=items) == 1
    )


def test_an_interval_of_pairs_stays_within_bounds_and_around_its_value() -> None:
    lists = {"u": ["a"], "v": ["a"], "w": ["b"]}
    for method in ("bootstrap", "t"):
        ev = rk.evaluate(None, lists, "InterListDiversity")
        low, high = ev.interval("InterListDiversity", method=method)
        assert 0 <= low <= 2 / 3 <= high <= 1


def test_relevance_follows_the_threshold() -> None:
    qrels, run = {"u": {"a": 1, "b": 4}}, {"u": ["a", "c"]}

    value = one(qrels, run, "EPC", train={"z": ["b"]}, rel=4, convention="elliot")

    assert value == 0
    assert one(qrels, run, "EPC(judged=True)", train={"z": ["b"]}) == 1 / 2
    with pytest.raises(DataError, match="grades have fractions"):
        rk.evaluate({"u": {"a": 0.5}}, run, "EPC(judged=True)", train={"z": ["b"]})
    assert one({"u": {"a": 0.5}}, run, "EPC", train={"z": ["b"]}) == 1


def test_a_number_does_not_depend_on_what_else_is_asked() -> None:
    lists = {"u": ["a", "a", "b"]}
    metric = "Coverage(share=False)@2"

    for metrics in ([metric], [metric, "Entropy@3"]):
        ev = rk.evaluate(None, lists, metrics, convention="ranx")
        assert ev[metric] == 2


@pytest.mark.parametrize("tool", ["rankine", "ranx", "jurity"])
def test_a_depth_holds_for_every_rule_of_repeats(tool: str) -> None:
    lists = {"u": ["a", "b", "c"], "v": ["d", "e"]}

    ev = rk.evaluate(None, lists, "Coverage(share=False)", convention=tool, depth=1)

    assert ev["Coverage(share=False)"] == 2


@pytest.mark.parametrize(("tool", "best"), [("rankine", False), ("ranksys", True)])
def test_the_direction_is_that_of_the_convention(tool: str, best: bool) -> None:  # noqa: FBT001
    ev = rk.evaluate(None, {"u": ["a"]}, "Gini", catalog=3, convention=tool)

    assert ev.bound[0].higher_is_better is best


def test_free_discovery_counts_a_user_once() -> None:
    train = pl.DataFrame({"user": ["u", "u", "u", "v"], "item": ["a", "a", "a", "b"]})

    assert one(None, {"u": ["b"]}, "EFD", train=train) == 1
    assert one(None, {"u": ["b"]}, "Popularity", train=train) == 1
    assert one(None, {"u": ["a"]}, "Popularity", train=train) == 3
    assert one(None, {"u": ["a"]}, "Popularity", train={"u": ["a", "a", "a"]}) == 3


@pytest.mark.parametrize("tool", ["rankine", "elliot"])
def test_judgements_of_other_users_are_told(tool: str) -> None:
    with pytest.raises(DataError, match="0 of 1 judged queries are in the run"):
        rk.evaluate(
            {"x": {"a": 1}}, {"u": ["a"]}, "SubtopicRecall", items={"a": "t"},
            convention=tool,
        )  # fmt: skip


def test_ids_of_two_types_stand_in_one_frame() -> None:
    ev = rk.evaluate(
        {"1": {"10": 1}}, {1: [10, 20]}, ["nDCG", "ILD"], items={10: "a", 20: "b"}
    )

    assert ev.per_query["query"].to_list() == ["1"]


def test_lenient_drops_rows_of_the_training_data() -> None:
    train = pd.DataFrame({"user": ["u", "v"], "item": ["a", None]})

    assert one(None, {"u": ["a"]}, "Popularity", train=train, lenient=True) == 1


def test_notes_are_of_what_was_asked() -> None:
    run, train = {"u": ["a", "x", "y"]}, {"u": ["a"]}
    items = {"a": [1.0], "x": [math.nan]}

    novelty = rk.evaluate(None, run, "Novelty", items=items, train=train)
    ild = rk.evaluate(None, run, "ILD", items=items)

    assert novelty.notes == ()
    assert any("2 recommended items without features" in note for note in ild.notes)


@pytest.mark.parametrize("train", [{}, pl.DataFrame({"user": [], "item": []}), 5])
def test_messages_about_training_data_name_it(train: Any) -> None:
    with pytest.raises(RankineError) as caught:
        rk.evaluate(None, {"u": ["a"]}, "Novelty", train=train)

    assert "judgements" not in str(caught.value) or isinstance(train, int)


def test_edges_of_numbers() -> None:
    with pytest.raises(ParameterError, match="least=3 is more than the cutoff 2"):
        rk.parse("UserCoverage(least=3)@2")
    train = {f"u{n}": list("abcdefgh")[: n + 1] for n in range(8)}
    assert one({"u": {"h"}}, {"u": ["h"]}, "Serendipity", train=train, catalog=1) <= 1
    assert 0 <= one(None, {"u": ["a", "b"]}, "Gini", catalog=3 * 10**18) <= 1
    many = {n: ["a"] for n in range(43)} | {43 + n: [f"b{n}"] for n in range(57)}
    assert one(None, {0: ["b1"]}, "LongTail(tail=0.57)", train=many) == 1
    with pytest.raises(ParameterError, match="needs a cutoff"):
        rk.evaluate(None, {"u": ["a"]}, "Novelty(divisor='k')", train={"u": ["a"]})
    assert (
        one(
            {"u": {"a": 0.5}},
            {"u": ["a"]},
            "SubtopicRecall(judged=False)",
            items={"a": "t"},
        )
        == 1
    )
