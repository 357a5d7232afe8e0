"""Pools: numbers with the judgements of shallower ones, and without those of a run."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

import rankine as rk
from rankine.errors import DataError, ParameterError
from tests.report.pages import HOSTILE, Parsed

# d was found by no run, as if by a system that is not among these.
QRELS = {"q1": {"a": 1, "b": 1, "c": 0, "d": 2}, "q2": {"e": 1, "f": 0}}
RUNS = {
    "one": {"q1": ["a", "x", "b"], "q2": ["f", "e"]},
    "two": {"q1": ["x", "a", "c"], "q2": ["f", "y"]},
    "three": {"q1": ["y", "z", "a"], "q2": ["y", "z", "e"]},
}


def value(study: rk.PoolStudy, depth: int | None, run: str, column: str) -> float:
    same = study.table["depth"].eq_missing(depth)
    (row,) = study.table.filter(same, run=run).to_dicts()
    return float(row[column])


def test_a_pool_leaves_the_judgements_of_its_items() -> None:
    study = rk.pool_study(QRELS, RUNS, "P@3", depths=[1, 2, 3])

    # Depth 1: a and f. Depth 2: a, x and f, e, y. Depth 3: all but d.
    rows = study.rankings.select("depth", "judged", "relevant").rows()
    assert rows == [(1, 2, 1), (2, 3, 2), (3, 5, 3), (None, 6, 4)]
    by_depth = [value(study, depth, "one", "value") for depth in (1, 2, 3, None)]
    assert by_depth == [
        (1 / 3 + 0) / 2, (1 / 3 + 1 / 3) / 2, (2 / 3 + 1 / 3) / 2, (2 / 3 + 1 / 3) / 2,
    ]  # fmt: skip


def test_the_share_of_unjudged_items_is_that_down_to_the_cutoff() -> None:
    study = rk.pool_study(QRELS, RUNS, ["P@2", "AP"], depths=[1])

    shares = study.table.filter(run="one", depth=1)
    # Of a, x and f, e, the pool of depth 1 has a and f; of the whole lists, too.
    assert shares["unjudged"].to_list() == [
        (1 / 2 + 1 / 2) / 2, pytest.approx((2 / 3 + 1 / 2) / 2)
    ]  # fmt: skip
    full = study.table.filter(run="one").filter(study.table.filter(run="one")[
        "depth"
    ].is_null())  # fmt: skip
    assert full["unjudged"].to_list() == [(1 / 2 + 0) / 2, (1 / 3 + 0) / 2]


def test_tau_compares_the_order_of_runs_with_that_by_all_judgements() -> None:
    study = rk.pool_study(QRELS, RUNS, "RR", depths=[1, 3])

    # By all: one (1 + 1/2) / 2, two (1/2 + 0) / 2, three (1/3 + 1/3) / 2: one, three,
    # two. At depth 1, only a is relevant: 1/2, 1/4, 1/6, so that three is the last.
    full = [value(study, None, run, "value") for run in RUNS]
    assert full == pytest.approx([3 / 4, 1 / 4, 1 / 3])
    first = [value(study, 1, run, "value") for run in RUNS]
    assert first == pytest.approx([1 / 2, 1 / 4, 1 / 6])
    assert study.rankings["tau"].to_list() == [pytest.approx(1 / 3), 1, 1]


def test_a_run_that_is_left_out_takes_along_what_it_alone_brought() -> None:
    study = rk.pool_study(QRELS, RUNS, "P@3", depths=[2, 3])

    # Within depth 3: b is of one alone, c of two alone; a, e and f are of several, and
    # d, of none of them, stays.
    rows = study.left_out.select("run", "value", "without", "judged", "relevant").rows()
    assert rows == [
        ("one", 1 / 2, pytest.approx((1 / 3 + 1 / 3) / 2), 1, 1),
        ("two", pytest.approx((1 / 3 + 0) / 2), pytest.approx((1 / 3 + 0) / 2), 1, 0),
        ("three", 1 / 3, 1 / 3, 0, 0),
    ]
    assert study.left_out["change"].to_list() == pytest.approx([-1 / 6, 0, 0])
    assert study.notes[0] == (
        "1 of 6 judgements are of items that no run has among its first 3; they stay "
        "when a run is left out"
    )


def test_what_a_run_alone_brought_is_missing_for_itself_in_the_ideal_too() -> None:
    qrels, runs = {"q": {"a": 1, "b": 1}}, {"x": {"q": ["a", "b"]}, "y": {"q": ["a"]}}

    study = rk.pool_study(qrels, runs, "R", depths=[5])

    # R of x stays 1, as b is not missed any more; so it seems to lose nothing.
    row = study.left_out.row(0, named=True)
    assert (row["value"], row["without"], row["judged"]) == (1, 1, 1)


def test_depths_rise_each_once_and_queries_without_judgements_stay() -> None:
    study = rk.pool_study(QRELS, RUNS, "RR", depths=[3, 1, 3])

    assert study.depths == (1, 3)
    assert study.table["depth"].unique(maintain_order=True).to_list() == [1, 3, None]
    only = {"q1": QRELS["q1"], "q2": {"z9": 1}}  # which no run found
    fewer = rk.pool_study(only, RUNS, "RR", depths=[3])
    assert value(fewer, 3, "one", "value") == (1 + 0) / 2


graded = st.dictionaries(st.sampled_from("abcdef"), st.integers(-1, 2), max_size=6)
lists = st.lists(st.sampled_from("abcdefxy"), unique=True, max_size=8)


@st.composite
def data(draw: st.DrawFn) -> tuple[Any, Any]:
    queries = [f"q{n}" for n in range(draw(st.integers(1, 3)))]
    qrels = {query: draw(graded) for query in queries}
    qrels[queries[0]] = {"a": 1} | qrels[queries[0]]
    names = ["r1", "r2", "r3"][: draw(st.integers(1, 3))]
    runs = {name: {query: draw(lists) for query in queries} for name in names}
    return qrels, runs


def pooled(qrels: Any, runs: Any, depth: int | None) -> Any:
    """Restrict judgements to the first items of runs, the slow way."""
    return {
        query: {
            item: grade
            for item, grade in judged.items()
            if any(item in run[query][:depth] for run in runs.values())
        }
        for query, judged in qrels.items()
    }


def without(qrels: Any, runs: Any, name: str, depth: int) -> Any:
    return {
        query: {
            item: grade
            for item, grade in judged.items()
            if item not in runs[name][query][:depth]
            or any(
                item in run[query][:depth]
                for other, run in runs.items()
                if other != name
            )
        }
        for query, judged in qrels.items()
    }


METRICS = ["nDCG@3", "AP", "P@2"]


@settings(max_examples=20)  # each evaluates many times
@given(data(), st.integers(1, 4))
def test_numbers_are_those_of_judgements_restricted_by_hand(
    given_data: tuple[Any, Any], depth: int
) -> None:
    qrels, runs = given_data

    study = rk.pool_study(qrels, runs, METRICS, depths=[depth, 99])

    for at in (depth, 99):
        fewer = pooled(qrels, runs, at)
        for name, run in runs.items():
            wanted = rk.evaluate(fewer, run, [*METRICS, "Unjudged@3"])
            rows = study.table.filter(depth=at, run=name)
            assert rows["value"].to_list() == [wanted[label] for label in METRICS]
            assert rows["unjudged"][0] == wanted["Unjudged@3"]
    for name, run in runs.items():
        left = rk.evaluate(without(qrels, runs, name, 99), run, METRICS)
        rows = study.left_out.filter(run=name)
        assert rows["without"].to_list() == list(left.mean.values())


@settings(max_examples=30)
@given(data())
def test_the_deepest_pool_of_all_runs_has_the_judgements_of_what_they_retrieved(
    given_data: tuple[Any, Any],
) -> None:
    qrels, runs = given_data

    study = rk.pool_study(qrels, runs, "AP", depths=[10**6])

    retrieved = pooled(qrels, runs, None)
    n = sum(grade >= 0 for judged in retrieved.values() for grade in judged.values())
    assert study.rankings["judged"][0] == n
    for name, run in runs.items():
        assert (
            value(study, 10**6, name, "value")
            == rk.evaluate(retrieved, run, "AP")["AP"]
        )


def test_a_run_twice_has_nothing_of_its_own() -> None:
    runs = RUNS | {"again": RUNS["one"]}

    left = rk.pool_study(QRELS, runs, "AP", depths=[3]).left_out

    assert left.filter(run="one")["judged"].to_list() == [0]
    assert left.filter(run="again")["change"].to_list() == [0]


def test_one_run_has_no_order() -> None:
    study = rk.pool_study(QRELS, {"one": RUNS["one"]}, "AP", depths=[1])

    assert all(map(math.isnan, study.rankings["tau"]))
    assert study.left_out["judged"].to_list() == [2]  # a and f


def test_every_form_gives_the_same() -> None:
    rng = np.random.default_rng(0)
    grades = rng.integers(0, 3, (9, 12)).astype(float)
    grades[rng.random(grades.shape) < 0.4] = np.nan
    scores = {name: rng.normal(size=grades.shape) for name in ("x", "y")}
    qrels = {
        query: {n: int(g) for n, g in enumerate(row) if not np.isnan(g)}
        for query, row in enumerate(grades)
    }
    runs = {
        name: {query: dict(enumerate(row.tolist())) for query, row in enumerate(matrix)}
        for name, matrix in scores.items()
    }
    how: dict[str, Any] = {"metrics": ["nDCG@5", "AP"], "depths": [2, 4]}

    dicts = rk.pool_study(qrels, runs, **how)
    matrices = rk.pool_study(
        rk.from_scores(grades), {n: rk.from_scores(m) for n, m in scores.items()}, **how
    )
    texts = {str(q): {str(i): g for i, g in row.items()} for q, row in qrels.items()}

    assert_frame_equal(matrices.table, dicts.table)
    assert_frame_equal(matrices.rankings, dicts.rankings)
    assert_frame_equal(matrices.left_out, dicts.left_out)
    assert_frame_equal(rk.pool_study(texts, runs, **how).left_out, dicts.left_out)
    listed = {name: [*map(list, run.values())] for name, run in {
        name: {q: sorted(row, key=row.__getitem__, reverse=True)
               for q, row in run.items()} for name, run in runs.items()
    }.items()}  # fmt: skip
    assert_frame_equal(rk.pool_study(qrels, listed, **how).rankings, dicts.rankings)


def test_files_and_patterns_are_read(tmp_path: Any) -> None:
    (tmp_path / "qrels.txt").write_text("q1 0 a 1\nq1 0 b 1\n")
    for name, items in (("one", "ab"), ("two", "xa")):
        rows = [f"q1 Q0 {item} {n} {9 - n} t\n" for n, item in enumerate(items, 1)]
        (tmp_path / f"{name}.run").write_text("".join(rows))

    study = rk.pool_study(
        tmp_path / "qrels.txt", str(tmp_path / "*.run"), "P@2", depths=[1]
    )

    assert study.table["value"].to_list() == [1 / 2, 1 / 2, 1, 1 / 2]


def test_an_item_twice_counts_at_its_best_rank() -> None:
    runs = {"one": {"q": ["x", "a", "a"]}, "two": {"q": ["y"]}}
    rule = rk.Convention(duplicates="count")

    study = rk.pool_study({"q": {"a": 1}}, runs, "P@3", depths=[2], convention=rule)

    assert study.rankings["judged"].to_list() == [1, 1]


def test_a_convention_that_removes_unjudged_items_still_says_how_many() -> None:
    rule = rk.Convention(unjudged="removed")
    qrels, run = {"q": {"a": 1, "b": 1}}, {"q": ["x", "a", "y"]}

    study = rk.pool_study(qrels, {"one": run}, "P@2", depths=[2], convention=rule)

    assert study.table["unjudged"].to_list() == [1 / 2, 1 / 2]
    assert study.table["value"].to_list() == [1 / 2, 1 / 2]  # of the list of a alone


def test_options_are_those_of_evaluate() -> None:
    study = rk.pool_study(
        QRELS, RUNS, "P@3", depths=[3], rel=2, weights={"q1": 3, "q2": 1}
    )

    assert study.rankings["relevant"].to_list() == [0, 1]
    with pytest.raises(ParameterError, match="pool_study has no option 'deths'"):
        rk.pool_study(QRELS, RUNS, deths=[1])


@pytest.mark.parametrize(
    ("depths", "message"),
    [
        ([], "depths is empty"),
        ([0], "depths must be an integer of at least 1, got 0"),
        ([2.5], "depths must be an integer of at least 1"),
        (10, "depths must be numbers of items"),
        ("10", "depths must be numbers of items"),
    ],
)
def test_depths_that_are_none_are_refused(depths: Any, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        rk.pool_study(QRELS, RUNS, depths=depths)


def test_judgements_of_subtopics_stay_together() -> None:
    # a is about both subtopics, b about the first.
    frame = pl.DataFrame(
        {
            "query": ["q"] * 3, "item": ["a", "a", "b"], "subtopic": ["1", "2", "1"],
            "grade": [1, 1, 1],
        }
    )  # fmt: skip
    runs = {"one": {"q": ["a", "b"]}, "two": {"q": ["b", "x"]}}

    study = rk.pool_study(frame, runs, "SubtopicRecall@2", depths=[1, 2])

    assert study.rankings["judged"].to_list() == [2, 2, 2]
    assert study.table.filter(depth=1)["value"].to_list() == [1, 1 / 2]
    # Without a, there is only the first subtopic; one finds it with b, and all of it.
    left = study.left_out.row(0, named=True)
    assert (left["judged"], left["value"], left["without"]) == (1, 1, 1)


def test_what_is_no_run_is_refused() -> None:
    with pytest.raises(ParameterError, match="there is no run"):
        rk.pool_study(QRELS, {}, "AP")
    with pytest.raises(ParameterError, match="runs must be a mapping"):
        rk.pool_study(QRELS, 5, "AP")


def test_an_error_says_with_which_judgements_it_came() -> None:
    rule = rk.Convention(empty_truth="error")
    qrels = {"q1": {"a": 1}, "q2": {"e": 1}}

    with pytest.raises(DataError, match=r"^one, with the judgements in pools of 1: "):
        rk.pool_study(qrels, RUNS, "AP", depths=[1, 3], convention=rule)


def test_it_is_shown_as_text_markdown_html_and_json() -> None:
    study = rk.pool_study(QRELS, RUNS, ["P@3", "AP"], depths=[1, 3])

    text = " ".join(str(study).split())
    assert "P@3 by the depth of the pool" in text
    assert f"one {1 / 6:.4f} {1 / 2:.4f} {1 / 2:.4f}" in text
    assert "judgements 2 5 6" in text
    assert "1 of 6 judgements" in text
    markdown = study.to_markdown()
    assert "| one | 0.1667 (50.0 %) | 0.5000 (16.7 %) | 0.5000 (16.7 %) |" in markdown
    tables = Parsed(study._repr_html_()).tables
    assert list(tables) == [
        "P@3 by the depth of the pool", "AP by the depth of the pool",
        "Without the judgements that a run alone brought into the pool of depth 3",
    ]  # fmt: skip
    last = tables[
        "Without the judgements that a run alone brought into the pool of depth 3"
    ]
    assert last[1][:3] == ["one", "1", "1"]
    assert last[1][3] == f"{1 / 3:.4f}{-1 / 6:+.4f}"
    found = json.loads(json.dumps(study.to_dict(), allow_nan=False))
    assert found["left_out"][0]["judged"] == 1
    assert repr(study) == "PoolStudy(3 runs: P@3, AP; pools of depth 1, 3)"


def test_undefined_numbers_are_shown_as_such() -> None:
    rule = rk.Convention(empty_truth="nan")
    study = rk.pool_study(
        {"q": {"a": 1}}, {"one": {"q": ["x", "a"]}}, "AP", depths=[1], convention=rule
    )

    assert "undefined" in str(study)
    assert "nan" not in study._repr_html_()
    json.dumps(study.to_dict(), allow_nan=False)


def test_a_chart_has_a_line_per_run() -> None:
    pytest.importorskip("altair")
    study = rk.pool_study(QRELS, RUNS, ["P@3", "AP"], depths=[1, 3])

    rows = study.plot("AP").to_dict()["data"]["values"]

    assert {row["system"] for row in rows} == set(RUNS)
    assert [row["depth"] for row in rows if row["system"] == "one"] == [1, 3]
    many = {f"r{n}": {"q1": [*"xyz"[: n % 3], "a"]} for n in range(9)}
    few = rk.pool_study(QRELS, many, "RR", depths=[9]).plot()
    drawn = {row["system"] for row in few.to_dict()["data"]["values"]}
    assert len(drawn) == 7
    assert {"r0", "r3", "r6"} < drawn  # the best
    with pytest.raises(ParameterError, match="metric must be one of P@3, AP"):
        study.plot("RR")


def test_names_of_runs_stay_texts() -> None:
    evil = HOSTILE[0]

    study = rk.pool_study(
        QRELS, {evil: RUNS["one"], "b": RUNS["two"]}, "AP", depths=[1]
    )

    assert Parsed(study._repr_html_()).open == []
