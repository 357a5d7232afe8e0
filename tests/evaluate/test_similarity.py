"""Two whole runs: as the functions on each pair of lists, in every form of input."""

from __future__ import annotations

import json
import math
import random
import re
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

import rankine as rk
from rankine._base.limits import limited
from rankine._metrics.similarity.measures import MEASURES, parse_measure

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

SINGLE: dict[str, Callable[[Any, Any], float]] = {
    "RBO(p=0.9)": lambda x, y: rk.rbo(x, y, 0.9).ext,
    "RBO(p=0.7,ties='a',value='min')": lambda x, y: rk.rbo(x, y, 0.7, "a").min,
    "RBO(p=0.7,ties='b',value='max')": lambda x, y: rk.rbo(x, y, 0.7, "b").max,
    "RBO(p=0.7,value='res')": lambda x, y: rk.rbo(x, y, 0.7).res,
    "RBO(p=0.7,value='rbd')": lambda x, y: rk.rbo(x, y, 0.7).rbd,
    "AO@5": lambda x, y: rk.average_overlap(x, y, 5),
    "AO(ties='a')": lambda x, y: rk.average_overlap(x, y, ties="a"),
    "Overlap@3": lambda x, y: rk.overlap(x, y, 3),
    "Overlap(ties='b')@4": lambda x, y: rk.overlap(x, y, 4, "b"),
    "Jaccard@4": lambda x, y: rk.jaccard(x, y, 4),
    "Jaccard": rk.jaccard,
    "LIP@2": lambda x, y: rk.least_item_promoted(x, y, 2),
    "tau(on='intersection')": lambda x, y: rk.kendall_tau(x, y, on="intersection"),
    "tau(on='union')": lambda x, y: rk.kendall_tau(x, y, on="union"),
    "tau(variant='a',on='union')": lambda x, y: rk.kendall_tau(x, y, "a", on="union"),
    "tau(variant='c',on='intersection')": lambda x, y: rk.kendall_tau(
        x, y, "c", on="intersection"
    ),
    "tau(variant='ap',on='union')": lambda x, y: rk.kendall_tau(x, y, "ap", on="union"),
    "tau(variant='weighted',on='union')": lambda x, y: rk.kendall_tau(
        x, y, "weighted", on="union"
    ),
    "rho(on='union')": lambda x, y: rk.spearman(x, y, on="union"),
    "r(on='intersection')": lambda x, y: rk.pearson(x, y, on="intersection"),
    "NDPM(on='union')": lambda x, y: rk.ndpm(x, y, on="union"),
    "FCP(tied='half',on='union',aggregate='mean_of_ratios')": lambda x, y: rk.fcp(
        x, y, tied="half", on="union"
    ),
}


def runs_of(
    seed: int,
) -> tuple[dict[str, dict[str, float]], dict[str, dict[str, float]]]:
    """Draw two runs: lists of unequal length, some with ties, some without."""
    rng = random.Random(seed)  # noqa: S311 - data, not secrets
    items = [f"d{number}" for number in range(14)]
    made: list[dict[str, dict[str, float]]] = []
    for which in range(2):
        run = {}
        for at in range(12):
            if rng.random() < 0.1:
                continue
            shown = rng.sample(items, rng.randint(1, 12))
            levels = 4 if at % 3 == which else 10_000
            run[f"q{at}"] = {item: float(rng.randrange(levels)) for item in shown}
        made.append(run)
    return made[0], made[1]


def frame_of(run: dict[str, dict[str, float]]) -> pl.DataFrame:
    rows = [(q, i, s) for q, entry in run.items() for i, s in entry.items()]
    return pl.DataFrame(rows, ["query", "item", "score"], orient="row")


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("form", ["dict", "frame", "mixed", "file"])
def test_runs_are_as_their_lists_one_by_one(
    seed: int, form: str, tmp_path: Path
) -> None:
    first, second = runs_of(seed)
    shown: list[Any] = [first, second]
    if form == "frame":
        shown = [frame_of(first), frame_of(second).sample(fraction=1, shuffle=True)]
    elif form == "mixed":
        shown = [first, frame_of(second).sort("score")]
    elif form == "file":
        for at, run in enumerate((first, second)):
            path = tmp_path / f"{at}.run"
            path.write_text(
                "".join(
                    f"{q} Q0 {i} 1 {s} tag\n"
                    for q, entry in run.items()
                    for i, s in entry.items()
                )
            )
            shown[at] = path

    ev = rk.similarity(shown[0], shown[1], list(SINGLE))

    common = [query for query in first if query in second]
    assert sorted(ev.queries) == sorted(common)
    values = {row["query"]: row for row in ev.per_query.iter_rows(named=True)}
    for text, function in SINGLE.items():
        label = str(parse_measure(text))
        wanted = {query: function(first[query], second[query]) for query in common}
        for query, value in wanted.items():
            found = values[query][label]
            found = math.nan if found is None else found
            assert found == pytest.approx(value, abs=1e-12, nan_ok=True), (label, query)
        known = [value for value in wanted.values() if not math.isnan(value)]
        assert ev[label] == pytest.approx(np.mean(known), abs=1e-12)
        assert ev.interval(label).low <= ev[label] <= ev.interval(label).high


def test_every_measure_is_compared_above() -> None:
    assert {parse_measure(text).name for text in SINGLE} == set(MEASURES)


def test_lists_without_scores_are_rankings() -> None:
    ev = rk.similarity({"q": ["a", "b", "c"]}, {"q": ["b", "a", "c"]}, ["tau", "AO@2"])

    assert ev.mean == {"tau": pytest.approx(1 / 3), "AO@2": 0.5}
    frame = pl.DataFrame({"query": ["q", "q"], "item": ["a", "b"]})
    with pytest.raises(rk.errors.DataError, match="one has only an order; use rho"):
        rk.similarity(frame, frame, "r")


def test_queries_of_one_run_only_are_left_out_and_told() -> None:
    first = {"q1": ["a"], "q2": ["a"], "q3": ["b"]}
    ev = rk.similarity(first, {"q2": ["a"], "q9": ["a"]}, "Jaccard")

    assert ev.queries == ["q2"]
    assert "2 queries of the first run not in the other run: left out" in ev.notes
    assert "1 query of the second run not in the other run: left out" in ev.notes
    with pytest.raises(rk.errors.DataError, match="the first run has 'q1'"):
        rk.similarity(first, {"x": ["a"]}, "Jaccard")


def test_numbers_and_texts_of_numbers_are_the_same_ids() -> None:
    first = {1: {10: 2.0, 11: 1.0}}
    second = {"1": {"10": 2.0, "11": 1.0}}

    ev = rk.similarity(first, second, "tau")

    assert ev["tau"] == 1
    assert any("compared as text" in note for note in ev.notes)


@pytest.mark.parametrize("which", [0, 1])
def test_an_item_twice_is_refused(which: int) -> None:
    good = pl.DataFrame(
        {"query": ["q"] * 3, "item": ["a", "b", "c"], "score": [3.0, 2, 1]}
    )
    bad = pl.DataFrame(
        {"query": ["q"] * 3, "item": ["a", "b", "a"], "score": [3.0, 2, 1]}
    )
    pair = [good, bad] if which else [bad, good]

    with pytest.raises(
        rk.errors.DuplicateItemError, match="'a' appears twice for query"
    ):
        rk.similarity(pair[0], pair[1], "RBO")


def test_keys_that_agree_by_chance_are_not_taken_for_items() -> None:
    def poor(items: pl.Series, seed: int) -> Any:
        keys = items.hash(seed=seed).to_numpy()
        return keys % np.uint64(2) if seed < 3 else keys

    with limited(keys=poor):
        ev = rk.similarity({"q": ["a", "b", "c"]}, {"q": ["c", "b", "d"]}, "Jaccard")

    assert ev["Jaccard"] == 2 / 4


def test_many_lists_are_matched_in_groups() -> None:
    first, second = runs_of(3)
    wanted = rk.similarity(first, second, list(SINGLE)).per_query

    with limited(paired_items=5):
        found = rk.similarity(first, second, list(SINGLE))

    assert found.per_query.equals(wanted)


@pytest.mark.parametrize(
    ("measure", "message"),
    [
        ("RBO(p=1)", "p must be a number above 0 and below 1, got 1"),
        ("RBO(ties='x')", "ties must be one of w, a, b"),
        ("RBO(value='base')", "value must be one of ext, min, max, res, rbd"),
        ("RB0", "unknown measure of similarity 'RB0'; did you mean 'RBO'"),
        ("nDCG@10", "nDCG@10 compares a run with judgements"),
        ("ndcg_cut_10", "ndcg_cut_10 compares a run with judgements"),
        ("xyz", "unknown measure of similarity 'xyz'; the measures are RBO, AO"),
        ("RBO(p=.9", "cannot read the measure 'RBO(p=.9'; write it like RBO"),
        ("RBO(0.9)", "cannot read the measure 'RBO(0.9)'; write it like RBO"),
        ("RBO(p=0.9),AO@10", "cannot read the measure"),
        ("AO@0", "k must be a positive integer"),
        ("tau@10", "tau has no cutoff"),
        ("tau(variant='d')", "variant must be one of a, b, c, ap, weighted"),
        ("LIP@0", "k must be an integer of at least 1"),
        (3, "a measure of similarity must be a name, got 3"),
        ([], "no measure was asked for"),
    ],
)
def test_a_wrong_measure_is_refused_before_data_is_read(
    measure: Any, message: str
) -> None:
    with pytest.raises(rk.errors.UsageError, match=re.escape(message)):
        rk.similarity("no such file", "nor this", measure)


def test_correlations_of_different_items_want_to_know_which_count() -> None:
    first, second = {"q": ["a", "b"]}, {"q": ["a", "c"]}
    for name in ("tau", "rho", "NDPM", "FCP"):
        with pytest.raises(rk.errors.DataError, match=rf"{name}\(on='intersection'\)"):
            rk.similarity(first, second, name)


def test_nan_scores_are_refused() -> None:
    frame = pl.DataFrame({"query": ["q"], "item": ["a"], "score": [math.nan]})
    with pytest.raises(rk.errors.DataError, match="not a number"):
        rk.similarity(frame, frame, "RBO")


def test_a_result_is_an_evaluation() -> None:
    first, second = runs_of(1)
    ev = rk.similarity(first, second, ["RBO(p=0.9)", "AO@5"], name="a and b")

    assert isinstance(ev, rk.Evaluation)
    assert "RBO(p=0.9)" in str(ev)
    assert "a and b" in str(ev)
    assert json.loads(ev.to_json())["metrics"].keys() == ev.mean.keys()
    assert ev.to_markdown().startswith("| metric |")
    assert "AO@5" in ev.to_latex()
    assert "<table" in ev._repr_html_()
    assert ev["average_overlap@5"] == ev["AO@5"]
    with pytest.raises(KeyError, match="was not evaluated"):
        ev["tau"]


def test_a_matrix_of_runs() -> None:
    first, second = runs_of(2)
    found = rk.similarity_matrix(
        {"a": first, "b": second, "c": dict(first)}, "RBO(p=0.8)"
    )

    assert found["a", "b"] == rk.similarity(first, second, "RBO(p=0.8)")["RBO(p=0.8)"]
    assert found["b", "a"] == found["a", "b"]
    assert found["a", "c"] == pytest.approx(1)
    assert found.frame["run"].to_list() == ["a", "b", "c"]
    assert found.frame["b"].to_list() == found.values[:, 1].tolist()
    assert json.loads(json.dumps(found.to_dict()))["runs"] == ["a", "b", "c"]
    lines = str(found).splitlines()
    assert lines[0] == "RBO(p=0.8)"
    assert lines[2].split() == ["a", "b", "c"]
    assert lines[3].split() == ["a", *(f"{found['a', name]:.4f}" for name in "abc")]
    with pytest.raises(KeyError, match="no run is called 'd'; the runs are a, b, c"):
        found["a", "d"]


def test_a_matrix_of_a_measure_with_a_reference_is_not_symmetric() -> None:
    found = rk.similarity_matrix(
        {"x": {"q": ["a", "b", "c"]}, "y": {"q": ["c", "a", "b"]}}, "LIP@1"
    )

    assert found["x", "y"] == 2
    assert found["y", "x"] == 1


def test_a_matrix_needs_two_named_runs() -> None:
    with pytest.raises(rk.errors.UsageError, match="at least two runs, got 1"):
        rk.similarity_matrix({"a": {"q": ["x"]}})
    with pytest.raises(rk.errors.ParameterError, match="a mapping from name to run"):
        rk.similarity_matrix([{"q": ["x"]}])
    with pytest.raises(rk.errors.DataError, match="a and b: the runs have no query"):
        rk.similarity_matrix({"a": {"q": ["x"]}, "b": {"r": ["x"]}})


@pytest.mark.parametrize("form", ["texts", "numbers", "scores"])
def test_an_empty_list_is_a_list(form: str) -> None:
    first: Any = {"q": ["a", "b"], "r": [], "s": ["x"]}
    second: Any = {"q": ["a", "b"], "r": [], "s": []}
    if form == "numbers":
        first, second = {1: [1, 2], 2: [], 3: [4]}, {1: [1, 2], 2: [], 3: []}
    elif form == "scores":
        first = {"q": {"a": 2.0, "b": 1.0}, "r": {}, "s": {"x": 1.0}}
        second = {"q": {"a": 2.0, "b": 1.0}, "r": {}, "s": {}}

    ev = rk.similarity(first, second, ["RBO(p=0.9)", "Jaccard"])

    values = {row["query"]: row for row in ev.per_query.iter_rows(named=True)}
    assert [row["RBO(p=0.9)"] for row in values.values()] == pytest.approx([1, 1, 0])
    assert sorted(map(str, values)) == sorted(map(str, first))
    assert ev["RBO(p=0.9)"] == pytest.approx(2 / 3)
    assert ev["Jaccard"] == (1 + 0) / 2


def test_r_does_not_correlate_ranks() -> None:
    scored = {"q": {"a": 100.0, "b": 1.0, "c": 0.5}}
    ranked = pl.DataFrame(
        {"query": ["q"] * 3, "item": ["a", "b", "c"], "rank": [1, 2, 3]}
    )
    for other in ({"q": ["a", "b", "c"]}, ranked):
        with pytest.raises(rk.errors.DataError, match="one has only an order"):
            rk.similarity(other, scored, "r")


def test_fcp_adds_up_the_pairs_of_all_queries() -> None:
    x = {"q1": {"a": 3, "b": 2, "c": 1}, "q2": {"a": 2, "b": 1}}
    y = {"q1": {"a": 3, "b": 1, "c": 2}, "q2": {"a": 1, "b": 2}}

    assert rk.similarity(x, y, "FCP")["FCP"] == 2 / 4
    assert rk.evaluate(x, y, "FCP")["FCP"] == 2 / 4


def test_errors_in_files_name_the_line(tmp_path: Path) -> None:
    good, bad = tmp_path / "good.run", tmp_path / "bad.run"
    good.write_text("q1 Q0 a 1 2 t\nq1 Q0 b 2 1 t\n")
    bad.write_text("q1 Q0 a 1 2 t\nq1 Q0 a 2 1 t\n")
    with pytest.raises(rk.errors.DuplicateItemError, match="line 1 and line 2"):
        rk.similarity(good, bad, "RBO")


def test_lenient_reading_and_distances() -> None:
    frame = pl.DataFrame({"query": "q", "item": ["a", "b", "a"], "score": [1.0, 2, 3]})
    other = pl.DataFrame({"query": "q", "item": ["a", "b"], "score": [1.0, 2.0]})
    assert rk.similarity(frame, other, "tau", lenient=True)["tau"] == -1
    third = pl.DataFrame({"query": "q", "item": ["a", "b", "c"], "score": [1.0, 2, 3]})
    near = rk.similarity(third, other, "Jaccard@1", lower_is_better=True)
    far = rk.similarity(third, other, "Jaccard@1")
    assert (near["Jaccard@1"], far["Jaccard@1"]) == (1, 0)


def test_names_of_a_matrix() -> None:
    x = {"q": ["a", "b"]}
    found = rk.similarity_matrix({"run": x, "b": x}, "Jaccard")
    assert found.frame.columns == ["run_", "run", "b"]
    for pair in ("rb", "run", ("run", "b", "b")):
        with pytest.raises(KeyError, match="name two runs"):
            found[pair]
    with pytest.raises(rk.errors.ParameterError, match="the same name as text"):
        rk.similarity_matrix({1: x, "1": x}, "Jaccard")


def test_runs_without_rows() -> None:
    for first, second in (
        ({1: []}, {1: []}),
        ({"q": []}, {"q": []}),
        ({1: {}}, {1: {5: 1.0}}),
    ):
        ev = rk.similarity(first, second, "RBO")
        assert ev["RBO"] == (0 if any(second.values()) else 1)
    empty = pl.DataFrame(
        schema={"query": pl.String, "item": pl.String, "score": pl.Float64}
    )
    nothings: list[Any] = [{}, empty]
    for nothing in nothings:
        with pytest.raises(rk.errors.DataError, match="run: contains no rows"):
            rk.similarity(nothing, {"q": ["a"]}, "RBO")


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("whole", [True, False], ids=["same items", "some"])
def test_runs_are_compared_in_parts_by_two_threads(
    seed: int, monkeypatch: pytest.MonkeyPatch, *, whole: bool
) -> None:
    """The share of common items of each query, against sets."""
    rng = random.Random(seed)  # noqa: S311
    items = [f"d{number}" for number in range(8)]
    first, second = (
        {
            f"q{number}": {
                item: rng.random()
                for item in rng.sample(items, 8 if whole else rng.randint(1, 8))
            }
            for number in range(20)
        }
        for _ in range(2)
    )
    monkeypatch.setattr("rankine._base.blocks._MANY", 2)

    with limited(paired_items=10, looked_up=7, few_texts=0, few_ids=0):
        ev = rk.similarity(first, second, ["Jaccard", "Overlap@3"])

    for number, (query, scores) in enumerate(first.items()):
        other = second[query]
        common = len(scores.keys() & other.keys())
        assert ev.per_query["Jaccard"][number] == common / len({**scores, **other})
        tops = [sorted(run, key=run.__getitem__)[-3:] for run in (scores, other)]
        assert ev.per_query["Overlap@3"][number] == len({*tops[0]} & {*tops[1]}) / 3
