"""worst: which queries failed, what stands first in their lists, and what they miss."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import rankine as rk
from tests.forms import FORMS, Data

QRELS: Data = {
    "1": {"0": 2, "1": 1, "2": 0, "3": 1},
    "2": {"4": 1},
    "3": {"5": 1, "6": 1},
}
RUN: Data = {
    "1": {"9": 0.9, "2": 0.8, "1": 0.7, "8": 0.6, "3": 0.5},
    "2": {"4": 0.9, "9": 0.8},
    "3": {"9": 0.9, "5": 0.8, "8": 0.7},
}


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


def _frames(run: dict[str, dict[str, float]]) -> pl.DataFrame:
    rows = [(q, i, s) for q, entry in run.items() for i, s in entry.items()]
    return pl.DataFrame(rows, schema=["query", "item", "score"], orient="row")


def _matrix(run: dict[str, dict[str, float]]) -> Any:
    items = sorted({item for entry in run.values() for item in entry})
    scores = np.full((len(run), len(items)), -np.inf)
    for row, entry in enumerate(run.values()):
        for item, score in entry.items():
            scores[row, items.index(item)] = score
    return rk.from_scores(scores, queries=list(run), items=items)


HELD: dict[str, Callable[[Any], Any]] = {
    "dicts": dict,
    "frames": _frames,
    "mixed rows": lambda run: _frames(run).sort("item", maintain_order=True),
    "matrix": _matrix,
}


def _tied(seed: int) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]:
    """Return lists of which many scores are equal, some only in 32 bits."""
    rng = np.random.default_rng(seed)
    qrels, run = {}, {}
    for number in range(30):
        items = [f"d{at:02}" for at in range(20)]
        scores = rng.integers(0, 4, 12) + rng.integers(0, 2, 12) * 1e-9
        shown = sorted(rng.choice(items, 12, replace=False).tolist())
        run[f"q{number}"] = dict(zip(shown, scores.tolist(), strict=True))
        judged = rng.choice(items, 6, replace=False).tolist()
        grades = rng.integers(0, 3, 6).tolist()
        qrels[f"q{number}"] = dict(zip(judged, grades, strict=True))
    return qrels, run


def _order(entry: dict[str, float], tie: str, bits: int) -> list[str]:
    """Return a list in its order, by nothing but Python's own sort."""
    items = list(entry)
    if tie == "input_rev":
        items.reverse()
    elif tie != "input":
        items.sort(reverse=tie != "id_asc")
    narrow = np.float32 if bits == 32 else np.float64
    return sorted(items, key=lambda item: -float(narrow(entry[item])))


@pytest.mark.parametrize("held", HELD)
@pytest.mark.parametrize("bits", [32, 64])
@pytest.mark.parametrize("tie", ["id_desc", "id_asc", "input", "input_rev", "average"])
def test_items_stand_in_the_order_of_the_convention(
    tie: Any, bits: Any, held: str
) -> None:
    qrels, run = _tied(1)
    rule = rk.Convention(tie=tie, score_bits=bits)

    ev = rk.evaluate(qrels, HELD[held](run), "nDCG@5", convention=rule, keep=5)
    found = ev.worst("nDCG@5", n=30)

    assert sorted(one.query for one in found) == sorted(run)
    for one in found:
        order, grades = _order(run[one.query], tie, bits), qrels[one.query]
        ranks = {item: rank for rank, item in enumerate(order, 1)}
        assert one.top == tuple(
            (ranks[item], item, grades.get(item)) for item in order[:5]
        )
        assert {item: rank for item, _, rank in one.missed} == {
            item: ranks.get(item)
            for item, grade in grades.items()
            if grade > 0 and not ranks.get(item, 9) <= 5
        }


@pytest.mark.parametrize("held", HELD)
def test_a_metric_has_the_ranks_of_its_own_group(held: str) -> None:
    qrels, run = _tied(2)
    others = {"id_asc": "AP", "input": "RR", "input_rev": "Bpref", "average": "P"}
    overrides = {name: {"tie": tie} for tie, name in others.items()}
    rule = rk.Convention(tie="id_desc", score_bits=32, overrides=overrides)
    names = {"nDCG@20": "id_desc", "AP": "id_asc", "RR": "input", "P@9": "average"}

    ev = rk.evaluate(qrels, HELD[held](run), list(names), convention=rule, keep=20)

    for metric, tie in names.items():
        for one in ev.worst(metric, n=30):
            order = _order(run[one.query], tie, 32)
            assert [item for _, item, _ in one.top] == order
            for item, _, rank in one.missed:
                assert rank is None or order[rank - 1] == item


@pytest.mark.parametrize("few", [False, True])
def test_ranks_of_lists_that_were_joined_again(few: bool) -> None:  # noqa: FBT001
    # Without keep, all that is known of an item comes from the joins.
    qrels, run = _tied(3)
    if few:  # ties in few lists, which alone are joined again
        run |= {
            query: {item: float(-at) for at, item in enumerate(entry)}
            for query, entry in list(run.items())[2:]
        }
    rule = rk.Convention(tie="id_desc", overrides={"AP": {"tie": "input"}})

    for form in (run, _frames(run)):
        ev = rk.evaluate(qrels, form, ["nDCG", "AP"], convention=rule)
        for one in ev.worst("AP", n=30):
            order = _order(run[one.query], "input", 64)
            assert all(order[rank - 1] == item for rank, item, _ in one.top)
            assert {item for _, item, _ in one.top} == {
                item for item in order[:10] if item in qrels[one.query]
            }


TWICE = ["a", "b", "a", "c"]


@pytest.mark.parametrize(
    ("duplicates", "top", "rank"),
    [
        ("count", ["a", "b", "a", "c"], 1),
        ("set", ["a", "b", "a", "c"], 1),
        ("last", ["b", "a", "c"], 2),
    ],
)
@pytest.mark.parametrize("form", ["lists", "frames"])
def test_an_item_that_stands_twice(
    duplicates: Any, top: list[str], rank: int, form: str
) -> None:
    rule = rk.Convention(duplicates=duplicates)
    run: Any = {"q": TWICE}
    if form == "frames":
        scores = [0.4, 0.3, 0.2, 0.1]
        columns = {"query": ["q"] * 4, "item": TWICE, "score": scores}
        run = pl.DataFrame(columns)

    ev = rk.evaluate({"q": {"a": 1, "z": 1}}, run, "AP", convention=rule, keep=9)
    found = ev.worst("AP")[0]

    assert [item for _, item, _ in found.top] == top
    assert next(grade for _, item, grade in found.top if item == "a") == 1
    plain = rk.evaluate({"q": {"a": 1, "z": 1}}, run, "AP", convention=rule)
    assert plain.worst("AP")[0].top == ((rank, "a", 1.0),)


def test_queries_of_the_run_only() -> None:
    qrels = {"gone": {"a": 1}, "here": {"b": 1}, "last": {"c": 1, "d": 1}}
    run = {"last": ["d"], "new": ["y", "z"], "here": ["x"]}
    for queries in ("run", "both"):
        rule = rk.Convention(queries=queries)
        for form in (run, _frames({q: dict.fromkeys(i, 1.0) for q, i in run.items()})):
            ev = rk.evaluate(qrels, form, "R", convention=rule, keep=1)
            found = {one.query: one for one in ev.worst("R")}
            assert set(found) == {"here", "last"} | (
                {"new"} if queries == "run" else set()
            )
            assert found["here"].missed == (("b", 1.0, None),)
            assert found["last"].missed == (("c", 1.0, None),)
            assert found["last"].top == ((1, "d", 1.0),)
            if "new" in found:
                assert found["new"].missed == ()
                assert found["new"].top[0].grade is None


def test_where_unjudged_items_are_removed_ranks_are_those_that_are_left() -> None:
    rule = rk.Convention(unjudged="removed")

    ev = rk.evaluate(QRELS, RUN, "P@1", convention=rule, keep=2)

    assert ev.worst("P@1", n=1)[0].top == ((1, "2", 0.0), (2, "1", 1.0))


def test_items_put_at_the_end_of_the_list_were_not_retrieved() -> None:
    rule = rk.Convention(pool="union")

    one = rk.evaluate(QRELS, RUN, "P@2", convention=rule).worst("P@2", n=1)[0]

    assert one.missed == (("0", 2.0, None), ("1", 1.0, 3), ("3", 1.0, 5))


def test_items_under_the_floor_are_not_found() -> None:
    rule = rk.Convention(score_floor=0.6)
    for form in (RUN, _frames(RUN), _matrix(RUN)):
        ev = rk.evaluate(QRELS, form, "P@2", convention=rule, keep=9)
        one = ev.worst("P@2", n=1)[0]
        assert [item for _, item, _ in one.top] == ["9", "2", "1"]
        assert one.missed[-1] == ("3", 1.0, None)


def test_a_depth_cuts_what_is_shown() -> None:
    ev = rk.evaluate(QRELS, RUN, "AP", depth=2, keep=9)
    one = ev.worst("AP", n=1)[0]

    assert [item for _, item, _ in one.top] == ["9", "2"]
    assert one.looked == 2
    assert "1 (1) not in the first 2" in str(ev.worst("AP", n=1))


def test_a_matrix_of_grades() -> None:
    grades = np.array([[0, 1, 2, 0.0], [1, 0, 0, np.nan]])
    scores = np.array([[0.1, 0.2, 0.3, 0.4], [0.5, 0.6, 0.7, 0.1]])
    pair = rk.from_scores(grades), rk.from_scores(scores)

    kept = rk.evaluate(*pair, "P@1", keep=4).worst("P@1")

    assert kept[0].top == ((1, 3, 0.0), (2, 2, 2.0), (3, 1, 1.0), (4, 0, 0.0))
    assert kept[0].missed == ((2, 2.0, 2), (1, 1.0, 3))
    assert kept[1].top == ((1, 2, 0.0), (2, 1, 0.0), (3, 0, 1.0), (4, 3, None))
    plain = rk.evaluate(*pair, "P@1").worst("P@1")
    assert plain[1].missed == ((0, 1.0, None),)
    assert plain[1].looked == 1


def test_ranks_below_the_cutoff_of_long_lists_need_keep() -> None:
    # Sorted rows are not looked at below the deepest cutoff, which is what makes
    # them fast; a result says how far it looked.
    run = _frames({"q": {f"d{at}": -float(at) for at in range(50)}})
    qrels = {"q": {"d40": 1}}

    plain = rk.evaluate(qrels, run, "RR@10").worst("RR@10")[0]
    kept = rk.evaluate(qrels, run, "RR@10", keep=1).worst("RR@10")[0]

    assert (plain.missed, plain.looked) == ((("d40", 1.0, None),), 10)
    assert (kept.missed, kept.looked) == ((("d40", 1.0, 41),), None)


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
        ("NumRet", "neither better nor worse"),
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
    with pytest.raises(rk.errors.ParameterError, match="neither better nor worse"):
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
