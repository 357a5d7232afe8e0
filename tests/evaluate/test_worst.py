"""worst: which queries failed, what stands first in their lists, and what they miss."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import rankine as rk
from tests.evaluate.worst_lists import QRELS, RUN
from tests.forms import FORMS

if TYPE_CHECKING:
    from pathlib import Path


def as_text(one: rk.WorstQuery) -> tuple[Any, ...]:
    """Return a record with its ids as text, whatever the form had."""
    top = [(rank, str(item), grade) for rank, item, grade in one.top]
    missed = [(str(item), grade, rank) for item, grade, rank in one.missed]
    return str(one.query), one.value, top, missed, one.looked


def test_the_worst_queries_with_what_they_missed() -> None:
    ev = rk.evaluate(QRELS, RUN, "P@2", keep=3)

    found = ev.worst("P@2", n=2)

    assert (found.metric, found.n_queries, found.keep) == ("P@2", 3, 3)
    # Of the lists, 0, 1 and 1 of the first two items are relevant.
    assert [as_text(one) for one in found] == [
        (
            "1",
            0 / 2,
            [(1, "9", None), (2, "2", 0.0), (3, "1", 1.0)],
            [("0", 2.0, None), ("1", 1.0, 3), ("3", 1.0, 5)],
            None,
        ),
        ("2", 1 / 2, [(1, "4", 1.0), (2, "9", None)], [], None),
    ]


def test_without_keep_there_are_judged_items_only() -> None:
    found = rk.evaluate(QRELS, RUN, "P@2").worst("P@2", n=1)

    assert found.keep == 0
    assert found[0].top == ((2, "2", 0.0), (3, "1", 1.0), (5, "3", 1.0))
    assert found[0].missed == (("0", 2.0, None), ("1", 1.0, 3), ("3", 1.0, 5))


def test_a_metric_without_cutoff_misses_what_is_not_among_the_first() -> None:
    found = rk.evaluate(QRELS, RUN, "AP", keep=3).worst("AP", n=1)[0]

    assert found.value == (1 / 3 + 2 / 5) / 3
    assert found.missed == (("0", 2.0, None), ("3", 1.0, 5))


def test_the_threshold_is_that_of_the_metric() -> None:
    ev = rk.evaluate(QRELS, RUN, ["P@2", "P(rel=2)@2"], keep=2)

    assert [item for item, _, _ in ev.worst("P(rel=2)@2")[0].missed] == ["0"]


@pytest.mark.parametrize("form", FORMS)
def test_every_form(form: str, tmp_path: Path) -> None:
    pair = FORMS[form](QRELS, RUN, tmp_path)

    found = rk.evaluate(*pair, "P@2", keep=3).worst("P@2")

    wanted = rk.evaluate(QRELS, RUN, "P@2", keep=3).worst("P@2")
    assert [as_text(one) for one in found] == [as_text(one) for one in wanted]


@pytest.mark.parametrize("form", FORMS)
def test_every_form_without_keep(form: str, tmp_path: Path) -> None:
    pair = FORMS[form](QRELS, RUN, tmp_path)

    found = rk.evaluate(*pair, "AP").worst("AP", n=1)[0]

    assert [(str(item), rank) for rank, item, _ in found.top ] == [
        ("2", 2), ("1", 3), ("3", 5)
    ]  # fmt: skip
    assert [(str(item), rank) for item, _, rank in found.missed] == [("0", None)]


def test_ids_are_as_they_were_given() -> None:
    qrels = {1: {10: 1, 11: 1}}

    ev = rk.evaluate(qrels, {1: [12, 10]}, "RR@1", keep=5)
    query = ev.worst("RR@1")[0]

    assert query == rk.WorstQuery(
        1,
        0.0,
        (rk.TopItem(1, 12, None), rk.TopItem(2, 10, 1.0)),
        (rk.MissedItem(10, 1.0, 2), rk.MissedItem(11, 1.0, None)),
    )


def test_ids_that_are_text_on_one_side_only() -> None:
    ev = rk.evaluate({1: {0: 2}}, {"1": {"2": 0.9, "0": 0.5}}, "RR", keep=5)

    assert ev.worst("RR")[0].top == ((1, "2", None), (2, "0", 2.0))


def test_equal_values_stay_in_order_and_what_has_no_value_is_left_out() -> None:
    qrels = {"c": {"x": 1}, "a": {"x": 1}, "none": {"x": 0}, "b": {"x": 1}}
    run = {query: ["y"] for query in qrels} | {"b": ["x"]}
    rule = rk.Convention(empty_truth="skip")

    found = rk.evaluate(qrels, run, "RR", convention=rule).worst("RR")

    assert [one.query for one in found] == ["c", "a", "b"]
    assert found.n_queries == 3


def test_where_less_is_better_the_largest_come_first() -> None:
    assert rk.FallOut.higher_is_better is False
    qrels = {"good": {"a": 1, "b": 0}, "bad": {"a": 1, "b": 0}}
    run = {"good": ["a"], "bad": ["b"]}

    found = rk.evaluate(qrels, run, "FallOut@1", catalog=5).worst("FallOut@1")

    assert [one.query for one in found] == ["bad", "good"]


@pytest.mark.parametrize(
    ("metric", "message"),
    [
        ("ILD@2", "looks at whole lists"),
        ("Coverage", "one number for all queries"),
        ("NumRet", "has no direction"),
    ],
)
def test_metrics_without_worst_queries(metric: str, message: str) -> None:
    items = {str(item): [1.0, item] for item in range(40)}
    ev = rk.evaluate(QRELS, RUN, metric, items=items)

    with pytest.raises(rk.errors.ParameterError, match=message):
        ev.worst(metric)


def test_what_is_not_right() -> None:
    ev = rk.evaluate(QRELS, RUN, "AP")

    with pytest.raises(rk.errors.ParameterError, match="n must be"):
        ev.worst("AP", n=0)
    with pytest.raises(KeyError, match="P@5 was not evaluated"):
        ev.worst("P@5")
    with pytest.raises(rk.errors.ParameterError, match="keep must be a positive"):
        rk.evaluate(QRELS, RUN, "AP", keep=0)


def test_batches_and_comparisons_keep_no_items() -> None:
    batches = rk.Accumulator("AP")
    batches.update(QRELS, RUN)

    with pytest.raises(rk.errors.ParameterError, match="Accumulated keeps no items"):
        batches.result().worst("AP")
    with pytest.raises(rk.errors.ParameterError, match="AO@2 has no direction"):
        rk.similarity(RUN, RUN, "AO@2").worst("AO@2")
    with pytest.raises(rk.errors.ParameterError, match="keep= is for evaluate"):
        rk.Accumulator("AP", keep=3)


def test_a_result_does_not_go_back_to_the_data() -> None:
    qrels = {"q": {"a": 2, "b": 1}}
    run = {"q": {"x": 0.9, "b": 0.5}}
    ev = rk.evaluate(qrels, run, "RR", keep=2)
    before = ev.worst("RR").to_dict()

    qrels["q"].clear()
    run["q"].clear()

    assert ev.worst("RR").to_dict() == before


def test_a_result_does_not_go_back_to_a_matrix() -> None:
    grades, scores = np.array([[0.0, 1.0, 0.0]]), np.array([[0.3, 0.2, 0.1]])
    ev = rk.evaluate(rk.from_scores(grades), rk.from_scores(scores), "RR@1", keep=2)
    before = ev.worst("RR@1").to_dict()

    grades[:] = 5
    scores[:] = 5

    assert ev.worst("RR@1").to_dict() == before


def test_counts_have_worst_queries() -> None:
    found = rk.evaluate(QRELS, RUN, "NumRelRet").worst("NumRelRet", n=1)

    # Of the lists, 2, 1 and 1 items are relevant.
    assert (found[0].query, found[0].value) == ("2", 1)


# --- as text, HTML and JSON


def test_text_says_where_items_are() -> None:
    text = str(rk.evaluate(QRELS, RUN, "P@2", keep=3, name="bm25").worst("P@2", n=1))

    assert text.splitlines() == [
        "bm25: the worst of 3 queries by P@2",
        "",
        "1  P@2 0.0000",
        "    first   1. 9 (unjudged), 2. 2 (0), 3. 1 (1)",
        "    missed  0 (2) not retrieved, 1 (1) at rank 3, 3 (1) at rank 5",
    ]


def test_text_says_how_unjudged_items_are_had_and_cuts_what_is_long() -> None:
    qrels = {"q": {f"d{at:03}": 1 for at in range(100)}}
    found = rk.evaluate(qrels, {"q": ["x"]}, "R").worst("R")

    assert "keep=10" in str(found)
    assert "90 more" in str(found)
    assert len(found[0].missed) == 100
    assert max(map(len, str(found).splitlines())) <= 80
    assert all("d" in line for line in str(found).splitlines()[4:8])


def test_html_is_escaped() -> None:
    ev = rk.evaluate({"<q>": {"<a>": 1}}, {"<q>": ["<x>"]}, "RR", keep=1, name="<run>")

    text = ev.worst("RR")._repr_html_()

    assert "<q>" not in text
    assert "&lt;a&gt;" in text
    assert "1. &lt;x&gt; (unjudged)" in text
    assert "&lt;run&gt;" in text


def test_a_record_becomes_json() -> None:
    qrels = {np.int64(1): {np.int64(7): 2}}
    ev = rk.evaluate(qrels, {1: [np.int64(8)]}, "RR", keep=1)

    found = json.loads(json.dumps(ev.worst("RR").to_dict(), allow_nan=False))

    assert found == {
        "metric": "RR",
        "keep": 1,
        "queries": [
            {
                "query": 1,
                "value": 0.0,
                "top": [{"rank": 1, "item": 8, "grade": None}],
                "missed": [{"item": 7, "grade": 2.0, "rank": None}],
                "looked": None,
            }
        ],
    }


def test_it_is_a_sequence() -> None:
    found = rk.evaluate(QRELS, RUN, "P@2").worst("P@2")

    assert len(found) == 3
    assert [one.query for one in found[:2]] == ["1", "2"]
    assert math.isclose(found[-1].value, 0.5)
    with pytest.raises(AttributeError):
        found.keep = 3  # type: ignore[misc]


def test_a_run_of_empty_lists_has_no_first_items() -> None:
    ev = rk.evaluate({"q": {"a": 1}}, {"q": []}, "P@2", keep=3)
    [query] = ev.worst("P@2")

    assert as_text(query)[:4] == ("q", 0.0, [], [("a", 1.0, None)])
