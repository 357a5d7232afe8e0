"""Runs brought together: of any form, with any ids, with queries that some lack."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import rankine as rk
from rankine._base.limits import limited
from rankine._fusion import join
from rankine.errors import DataError, DuplicateItemError, ParameterError
from tests.fusion.fused import OF_RANKS, PARAMETERS, Data, fused, scores, twin

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

A: Data = {"q1": {"a": 3.5, "b": 2, "c": 1}, "q2": {"b": 0.5, "d": 0.25}}
B: Data = {"q2": {"d": 9, "a": 7, "b": 5}, "q1": {"c": 4, "x": 3}}


def frame(run: Data) -> pl.DataFrame:
    rows = [(q, i, s) for q, own in run.items() for i, s in own.items()]
    return pl.DataFrame(rows, ["query", "item", "score"], orient="row")


def trec(run: Data, path: Path) -> Path:
    text = (f"{q} Q0 {i} 1 {s} x\n" for q, own in run.items() for i, s in own.items())
    path.write_text("".join(text))
    return path


FORMS: dict[str, Callable[[Data, Path], Any]] = {
    "polars": lambda run, _: frame(run),
    "pandas": lambda run, _: pd.DataFrame(frame(run).to_dict(as_series=False)),
    "trec": trec,
    "read": lambda run, path: rk.read_run(trec(run, path)),
    "batches": lambda run, _: iter([frame(run)[:2], frame(run)[2:]]),
    "shuffled": lambda run, _: frame(run).sample(fraction=1, shuffle=True, seed=1),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("method", ["rrf", "combmnz", "borda"])
def test_all_forms_give_the_same_bits(form: str, method: str, tmp_path: Path) -> None:
    made = {
        name: FORMS[form](run, tmp_path / name) for name, run in (("a", A), ("b", B))
    }

    assert fused(made, method) == fused({"a": A, "b": B}, method)


def test_matrices_are_fused() -> None:
    first = rk.from_scores([[3.0, 1.0], [-np.inf, 2.0]], items=["x", "y"])
    second = rk.from_ranked([["y", "x"], ["z", "y"]])

    found = rk.fuse([first, second], "rrf")

    assert scores(found) == {
        0: {"y": pytest.approx(1 / 62 + 1 / 61), "x": pytest.approx(1 / 61 + 1 / 62)},
        1: {"y": pytest.approx(1 / 61 + 1 / 62), "z": pytest.approx(1 / 61)},
    }


def test_lists_without_ids_stay_without_ids() -> None:
    run = rk.fuse([[["a", "b"], ["c"]], [["b"], ["d", "c"]]], "rrf")

    assert rk.evaluate([["b"], ["c"]], run, "RR").mean == {"RR": (1 + 1) / 2}


def test_lists_without_ids_take_those_of_other_runs() -> None:
    run = rk.fuse({"a": A, "b": [["c"], ["d"]]}, "rrf")

    assert list(scores(run)) == ["q1", "q2"]
    assert "b has no query ids: its lists are paired with" in str(run.notes)


def test_ids_of_two_types_are_the_same_ids() -> None:
    ints = {1: {10: 2.0, 11: 1.0}}
    texts = {"1": {"11": 2.0}}

    run = rk.fuse({"a": ints, "b": texts}, "combsum", norm=None)

    assert scores(run) == {"1": {"11": 3, "10": 2}}
    assert "item ids are ints in a and text in b; compared as text" in run.notes


def test_queries_that_some_runs_lack_are_fused_from_the_others() -> None:
    run = rk.fuse({"a": A, "b": {"q1": B["q1"]}, "c": B}, "rrf")

    assert scores(run)["q2"] == fused({"a": A, "c": B}, "rrf")["q2"]
    assert "1 query not in b ('q2'): fused from the other runs" in run.notes


def test_a_run_without_an_item_of_another_is_noted() -> None:
    """Its ids may be those of other things, such as passages instead of documents."""
    other = {"q1": {"A": 1}, "q2": {"B": 1}}
    said = "no item of c is in another run for the same query"

    assert said in str(rk.fuse({"a": A, "b": B, "c": other}).notes)
    assert said not in str(rk.fuse({"a": A, "b": B, "c": {"q1": {"x": 1}}}).notes)
    assert "no item of" not in str(rk.fuse({"a": A, "b": B}).notes)


def test_an_item_of_another_query_is_another_item() -> None:
    run = rk.fuse([{"q": {"a": 1}, "r": {"b": 1}}, {"q": {"b": 1}, "r": {"a": 1}}])

    assert "no item of run 1 is in another run for the same query" in str(run.notes)


def test_an_empty_list_is_a_list() -> None:
    """Borda gives its points to all items alike; a run without the query gives none."""
    empty, lacking = {"q1": {}, "q2": {"a": 1}}, {"q2": {"a": 1}}

    with_list = fused({"a": A, "b": empty}, "borda")["q1"]
    without = fused({"a": A, "b": lacking}, "borda")["q1"]

    assert with_list == {"a": 3 + 2, "b": 2 + 2, "c": 1 + 2}
    assert without == {"a": 3, "b": 2, "c": 1}


def test_a_run_without_the_query_leaves_the_points_of_the_next_one_in_place() -> None:
    """Of three items, a gives 3, 2 and 1, and c gives 3, and (2 + 1) / 2 to two."""
    runs = [{"q": ["x", "y"]}, {"other": ["x"]}, {"q": ["z"]}]

    found = fused(runs, "borda")["q"]

    assert found == {"x": 3 + 1.5, "z": 1 + 3, "y": 2 + 1.5}


def test_a_depth_cuts_lists_before_they_are_normalised_and_after() -> None:
    """Without z, y is the last of the first run; without w, two items are left."""
    runs = [{"q": {"x": 3, "y": 2, "z": 1}}, {"q": {"y": 5, "w": 1}}]

    assert fused(runs, "combsum", depth=2) == {"q": {"y": 0 + 1, "x": 1}}


def test_a_query_without_items_is_still_a_query() -> None:
    run = rk.fuse([{"q": {}, "r": {"a": 1}}, {"q": {}}], "combsum")

    assert scores(run) == {"q": {}, "r": {"a": 0}}
    assert rk.evaluate({"q": {"a": 1}, "r": {"a": 1}}, run, "NumRet").mean == {
        "NumRet": 1
    }


def test_equal_scores_are_in_the_order_of_all_runs() -> None:
    """The order of evaluate: by id, descending, also where ids are ints."""
    run = {"q": {9: 1, 10: 1, 100: 1}}

    assert list(fused([run, run], "rrf")["q"]) == [9, 100, 10]


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 20])
@pytest.mark.parametrize("kind", [int, str])
def test_a_depth_cuts_ties_of_any_size_by_the_order_of_all_runs(
    size: int, kind: type
) -> None:
    ids = np.random.default_rng(size).permutation(1000)[: 2 * size].tolist()
    one, other = ({kind(i): 1.0 for i in own} for own in (ids[::2], ids[1::2]))
    expected = sorted([*one, *other], key=str, reverse=True)[:size]
    runs = [{"p": one, "q": other}, {"p": other, "q": one}]

    found = fused(runs, "combmax", norm=None, depth=size)

    assert [*found["p"]] == [*found["q"]] == expected


def test_equal_scores_of_different_queries_are_no_tie() -> None:
    run = {"p": {"a": 1}, "q": {}, "r": {"b": 1}, "s": {"c": 1}, "t": {}}

    assert fused([run, run], "combmax", norm=None) == run


def test_names_of_runs(tmp_path: Path) -> None:
    one, other = trec(A, tmp_path / "bm25.run"), trec(B, tmp_path / "dense.run")
    weights = {"bm25.run": 1, "dense.run": 3}

    by_path = fused([one, other], "wsum", weights=weights)

    assert by_path == fused([A, B], "wsum", weights={"run 1": 1, "run 2": 3})
    assert by_path == fused(str(tmp_path / "*.run"), "wsum", weights=weights)


def test_notes_of_the_runs_stay() -> None:
    twice = pl.DataFrame({"query": ["q", "q"], "item": ["a", "a"], "score": [2, 1]})

    run = rk.fuse({"first": A, "second": twice}, lenient=True)

    assert "second: 1 row repeating an item: dropped, the best score is kept" in (
        run.notes
    )


# The join itself


def poor_keys(ids: pl.Series, seed: int) -> Any:
    """Give all items the same keys, until the third seed."""
    return (ids.hash(seed).to_numpy() * np.uint64(seed > 1)).astype(np.uint64)


def test_items_with_equal_keys_are_told_apart() -> None:
    expected = fused([A, B], "combmnz")

    with limited(keys=poor_keys):
        assert fused([A, B], "combmnz") == expected


@pytest.mark.parametrize("size", [1, 3, 50])
@pytest.mark.parametrize("method", PARAMETERS)
def test_queries_in_blocks(
    method: str, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(0)
    made = [
        {
            f"q{q}": dict(
                zip(
                    rng.permutation(12)[: rng.integers(1, 9)].astype(str).tolist(),
                    rng.integers(1, 9, 8).astype(float).tolist(),
                    strict=False,
                )
            )
            for q in rng.permutation(20).tolist()
        }
        for _ in range(3)
    ]
    norm = None if method in OF_RANKS else "min-max"
    expected = twin(made, method, norm, **PARAMETERS[method])
    monkeypatch.setattr(join, "_SORTED", size)
    monkeypatch.setattr("rankine._fusion.methods._PAIRS", size)

    found = fused(made, method, **PARAMETERS[method])

    for query, own in expected.items():
        assert found[query] == pytest.approx(own, rel=1e-12, abs=1e-12)


# What cannot be fused


def test_an_item_twice_in_a_list_is_refused() -> None:
    twice = pl.DataFrame({"query": ["q", "q"], "item": ["a", "a"], "score": [2, 1]})
    message = (
        "item 'a' appears twice for query 'q' in b .row 0 and row 1.; lenient=True"
    )

    with pytest.raises(DuplicateItemError, match=message):
        rk.fuse({"a": A, "b": twice})
    assert fused({"a": {"q": ["a"]}, "b": twice}, "rrf", lenient=True) == {
        "q": {"a": pytest.approx(2 / 61)}
    }


@pytest.mark.parametrize(
    ("runs", "options", "message"),
    [
        (
            {"a": A, "b": {"q1": ["a"]}},
            {"method": "combsum"},
            "b has no scores, which combsum reads; give norm='rank' or --norm rank, or",
        ),
        (
            {"a": A, "b": {"q1": {"a": float("inf")}}},
            {"method": "combmax", "norm": None},
            "b has the score inf for query 'q1'; fusion of scores needs finite numbers",
        ),
        (
            {"a": A, "b": {"q1": {"a": -0.5, "b": -1}}},
            {"method": "combsum", "norm": "max"},
            "norm='max' needs a score above 0, which b lacks for query 'q1'; give an",
        ),
        (
            {"a": A, "b": {"q1": {"a": 0, "b": -1}}},
            {"method": "combsum", "norm": "max"},
            "norm='max' needs a score above 0, which b lacks for query 'q1'",
        ),
        (
            {"a": A, "b": {"q1": {"a": 1e308, "b": -1e308}}},
            {"method": "combsum"},
            "norm='min-max' needs scores that are not too large to be subtracted",
        ),
        (
            {"a": {"q1": {"a": 1e308}}, "b": {"q1": {"a": 1e308}}},
            {"method": "combsum", "norm": None},
            "combsum gives a number that is too large for query 'q1'; give smaller sco",
        ),
        (
            {name: {"q1": {"a": 1e308 * (-1) ** (name > "b")}} for name in "abcd"},
            {"method": "combsum", "norm": None},
            "combsum gives a number that is too large for query 'q1'",
        ),
        (
            {"a": A, "b": A},
            {"method": "combgmnz", "gamma": 1e9},
            "combgmnz gives a number that is too large for query 'q1'",
        ),
        (
            {"a": A, "b": A},
            {"method": "wsum", "weights": [1e308, 1e308]},
            "wsum gives a number that is too large for query 'q1'",
        ),
    ],
)
def test_what_has_no_number_is_refused(
    runs: Any, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(DataError, match=message.replace("+", r"\+")):
        rk.fuse(runs, **options)


def test_scores_of_0_alone_stay_0_by_their_largest() -> None:
    assert fused([{"q": {"a": 0, "b": 0}}, {"q": {"c": 2}}], "combsum", norm="max") == {
        "q": {"c": 1, "b": 0, "a": 0}
    }


def test_runs_without_scores_are_fused_by_their_ranks() -> None:
    by_rank = [{"q": ["x", "y"]}, {"q": ["y"]}]

    assert fused(by_rank, "combsum", norm="rank") == {"q": {"y": 1 / 2 + 1, "x": 1}}
    with pytest.raises(DataError, match="run 1, run 2 have no scores"):
        rk.fuse(by_rank, "combsum", norm=None)


@pytest.mark.parametrize(
    ("runs", "message"),
    [
        ({"a": A}, "fusion needs at least two runs, got only a"),
        ([A], "fusion needs at least two runs, got only run 1"),
        ({}, "fusion needs at least two runs, got none"),
        (3, "runs must be {name: run}, a list of runs, or a"),
    ],
)
def test_fewer_than_two_runs_are_refused(runs: Any, message: str) -> None:
    with pytest.raises(ParameterError, match=re.escape(message)):
        rk.fuse(runs)


def test_runs_without_rows_are_refused() -> None:
    with pytest.raises(DataError, match="b: contains no rows"):
        rk.fuse({"a": A, "b": {}})


@pytest.mark.parametrize("form", [dict, lambda own: list(own.items())])
def test_runs_that_look_like_distances_are_named(form: Any) -> None:
    near = {"d1": 0.1, "d2": 0.5, "d3": 0.9, "d4": 1.0, "d5": 1.5, "d6": 2.0}
    far = {"d1": 0.9, "d2": 0.5}
    runs = {"near": {"q": form(near)}, "far": {"q": form(far)}}

    notes = rk.fuse(runs).notes

    said = [note for note in notes if "as distances do" in note]
    assert len(said) == 1
    assert said[0].startswith("near: scores rise along every list, as distances do")


def test_distances() -> None:
    near = {"q": {"x": 0.1, "y": 0.7}}

    assert fused([near, near], "combsum", lower_is_better=True) == {
        "q": {"x": 2, "y": 0}
    }


def test_columns() -> None:
    odd = pl.DataFrame({"who": ["q"], "what": ["a"], "how": [1.0]})
    columns = {"query": "who", "item": "what", "score": "how"}

    assert fused([odd, odd], "combsum", norm=None, columns=columns) == {"q": {"a": 2}}
