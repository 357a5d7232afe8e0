"""Conventions: which items of a list count, in which order, and with which ties."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import rankine as rk
from rankine.errors import DuplicateItemError, ParameterError, RankineError
from tests.evaluate.three_queries import evaluate, value

if TYPE_CHECKING:
    from pathlib import Path


def test_unjudged_items_can_be_removed() -> None:
    qrels, run = {"q": {"a": 1, "b": 0, "c": -1}}, {"q": ["x", "b", "c", "y", "a"]}
    metrics = ["RR", "P@2", "NumRet", "Unjudged@2"]
    rule = rk.Convention(unjudged="removed")

    assert rk.evaluate(qrels, run, metrics, convention=rule).mean == {
        "RR": 1 / 2,
        "P@2": 1 / 2,
        "NumRet": 2,
        "Unjudged@2": 0,
    }
    assert rk.evaluate(qrels, run, "RR")["RR"] == 1 / 5


def test_removed_unjudged_items_leave_ties_among_the_rest() -> None:
    qrels = {"q": {"a": 1, "b": 0}}
    run = {"q": {"x": 1.0, "y": 1.0, "a": 1.0, "b": 1.0, "z": 1.0}}

    found = value(qrels, run, "P(ties='average')@1", unjudged="removed")

    assert found == 1 / 2


@pytest.mark.parametrize(
    ("metric", "everything", "listed"),
    [
        ("R", 1 / 3, 1),
        ("AP", (1 / 2) / 3, 1 / 2),
        ("nDCG", (1 / math.log2(3)) / (3 + 1 / math.log2(3) + 1 / 2), 1 / math.log2(3)),
    ],
)
def test_pool(metric: str, everything: float, listed: float) -> None:
    qrels, run = {"q": {"a": 1, "m": 3, "n": 1}}, {"q": ["x", "a"]}

    assert value(qrels, run, metric) == pytest.approx(everything)
    assert value(qrels, run, metric, pool="list") == pytest.approx(listed)


@pytest.mark.parametrize(("floor", "recall"), [(None, 1), (0.1, 1 / 2), (0.5, 0)])
def test_score_floor(floor: float | None, recall: float) -> None:
    qrels, run = {"q": {"a": 1, "b": 1}}, {"q": {"a": 0.5, "b": 0.1, "x": 0.0}}

    ev = rk.evaluate(
        qrels, run, ["R", "NumRet"], convention=rk.Convention(score_floor=floor)
    )

    assert ev.mean == {"R": recall, "NumRet": 3}


TWICE = ["a", "x", "a", "b"]


@pytest.mark.parametrize(
    ("choice", "expected"),
    [
        # x a b: the first a is gone.
        ("last", {"AP": (1 / 2 + 2 / 3) / 2, "RR": 1 / 2, "NumRet": 3}),
        # a x a b: both count as hits.
        ("count", {"AP": (1 / 1 + 2 / 3 + 3 / 4) / 2, "RR": 1, "NumRet": 4}),
        # a x . b: the second a keeps its place and is no hit.
        ("set", {"AP": (1 / 1 + 2 / 4) / 2, "RR": 1, "NumRet": 4}),
    ],
)
@pytest.mark.parametrize("form", ["list", "frame", "scores", "file"])
def test_duplicates(
    choice: Any, expected: dict[str, float], form: str, tmp_path: Path
) -> None:
    run: Any = {"q": TWICE}
    if form == "frame":
        run = pl.DataFrame({"query": "q", "item": TWICE})
    elif form == "scores":
        run = pl.DataFrame({"query": "q", "item": TWICE, "score": [4.0, 3.0, 2.0, 1.0]})
    elif form == "file":
        run = tmp_path / "some.run"
        lines = [f"q Q0 {item} 1 {-at} t" for at, item in enumerate(TWICE)]
        run.write_text("\n".join(lines))
    rule = rk.Convention(duplicates=choice)

    ev = rk.evaluate({"q": {"a", "b"}}, run, list(expected), convention=rule)

    assert ev.mean == pytest.approx(expected)


def test_duplicates_are_an_error_by_default() -> None:
    with pytest.raises(DuplicateItemError, match="'a'"):
        rk.evaluate({"q": {"a"}}, {"q": TWICE}, "AP")


def test_dropped_duplicates_are_told() -> None:
    rule = rk.Convention(duplicates="last")
    lists = rk.evaluate({"q": {"a"}}, {"q": TWICE}, "AP", convention=rule)
    frame = rk.evaluate(
        {"q": {"a"}}, pl.DataFrame({"query": "q", "item": TWICE}), "AP", convention=rule
    )

    assert any("repeat" in note for note in frame.notes)
    assert any("repeat" in note for note in lists.notes)


@pytest.mark.parametrize(
    ("order", "expected"), [("score", 1 / 3), ("given", 1 / 2), ("rank", 1)]
)
def test_order_of_a_frame(order: Any, expected: float) -> None:
    run = pl.DataFrame(
        {
            "query": "q",
            "item": ["x", "a", "y"],
            "score": [2.0, 1.0, 3.0],
            "rank": [2, 1, 3],
        }
    )

    assert value({"q": {"a"}}, run, "RR", order=order) == expected


def test_order_of_a_file_by_its_ranks(tmp_path: Path) -> None:
    path = tmp_path / "some.run"
    path.write_text("q Q0 x 2 9 t\nq Q0 a 1 8 t\n")

    assert value({"q": {"a"}}, path, "RR", order="score") == 1 / 2
    assert value({"q": {"a"}}, path, "RR", order="given") == 1 / 2
    try:
        by_rank = value({"q": {"a"}}, path, "RR", order="rank")
    except RankineError:
        return  # to refuse is right as well; the score is not
    assert by_rank == 1


def test_order_given_of_a_dict_is_that_of_its_keys() -> None:
    run = {"q": {"x": 1.0, "a": 2.0}}

    assert value({"q": {"a"}}, run, "RR", order="given") == 1 / 2
    assert value({"q": {"a"}}, run, "RR") == 1


TIED = {"b": 1.0, "a": 1.0, "10": 1.0, "9": 1.0, "top": 2.0}
TIE_ORDERS = {
    "id_desc": ["top", "b", "a", "9", "10"],
    "id_asc": ["top", "10", "9", "a", "b"],
    "input": ["top", "b", "a", "10", "9"],
    "input_rev": ["top", "9", "10", "a", "b"],
}


@pytest.mark.parametrize("tie", TIE_ORDERS)
@pytest.mark.parametrize("form", ["dict", "frame", "file", "matrix"])
def test_tie(tie: Any, form: str, tmp_path: Path) -> None:
    run: Any = {"q": TIED}
    if form == "frame":
        run = pl.DataFrame(
            {"query": "q", "item": list(TIED), "score": list(TIED.values())}
        )
    elif form == "file":
        run = tmp_path / "some.run"
        lines = [f"q Q0 {item} 1 {score} t" for item, score in TIED.items()]
        run.write_text("\n".join(lines))
    elif form == "matrix":
        run = rk.from_scores([list(TIED.values())], queries=["q"], items=list(TIED))

    found = [value({"q": {item}}, run, "RR", tie=tie) for item in TIE_ORDERS[tie]]

    assert found == [1 / (place + 1) for place in range(len(TIED))]


@pytest.mark.parametrize(
    ("ties", "expected"),
    [
        ("average", {"RR": (1 + 1 / 2 + 1 / 3) / 3, "P@1": 1 / 3}),
        ("best", {"RR": 1, "P@1": 1}),
        ("worst", {"RR": 1 / 3, "P@1": 0}),
    ],
)
def test_ties_over_all_orders(ties: Any, expected: dict[str, float]) -> None:
    run = {"q": {"a": 1.0, "b": 1.0, "c": 1.0}}

    by_option = rk.evaluate({"q": {"b"}}, run, list(expected), ties=ties)
    by_rule = rk.evaluate(
        {"q": {"b"}}, run, list(expected), convention=rk.Convention(tie=ties)
    )
    by_metric = rk.evaluate({"q": {"b"}}, run, [rk.RR(ties=ties), rk.P(ties=ties) @ 1])

    assert by_option.mean == pytest.approx(expected)
    assert by_rule.mean == pytest.approx(expected)
    assert list(by_metric.mean.values()) == pytest.approx(list(expected.values()))


def test_ties_over_all_orders_are_refused_where_there_is_no_such_value() -> None:
    with pytest.raises(
        ParameterError, match="Bpref cannot be computed with tie='average'"
    ):
        evaluate(["Bpref"], ties="average")


@pytest.mark.parametrize("form", ["dict", "frame", "matrix"])
def test_score_bits(form: str) -> None:
    scores = {"b": 1.0, "a": 1.0 + 1e-9}
    run: Any = {"q": scores}
    if form == "frame":
        run = pl.DataFrame(
            {"query": "q", "item": list(scores), "score": list(scores.values())}
        )
    elif form == "matrix":
        run = rk.from_scores([list(scores.values())], queries=["q"], items=list(scores))

    assert value({"q": {"a"}}, run, "RR") == 1
    assert value({"q": {"a"}}, run, "RR", score_bits=32) == 1 / 2


@pytest.mark.parametrize(
    ("negative", "expected"), [("zero", 2), ("keep", 2 - 3 / math.log2(3))]
)
def test_negative(negative: Any, expected: float) -> None:
    qrels, run = {"q": {"a": 2, "b": -3}}, {"q": ["a", "b"]}

    assert value(qrels, run, "DCG", negative=negative) == pytest.approx(expected)
