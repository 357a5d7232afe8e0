"""compare: runs in all forms, paired by the ids of their queries."""

import json
import math
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.stats

import rankine as rk
from rankine.errors import DataError, ParameterError, UnknownMetricError
from tests.evaluate.comparisons import (
    BOTH,
    NEW,
    OLD,
    OTHER,
    QRELS,
    RR,
    RUNS,
    compared,
    frame,
    values_compared,
)

METRICS = ["RR", "AP", "nDCG@3", "P@2"]


def written(folder: Path, name: str, run: dict[str, list[str]]) -> str:
    """Write a run as trec_eval reads it."""
    path = folder / name
    path.parent.mkdir(exist_ok=True, parents=True)
    lines = [
        f"{query} Q0 {item} {rank} {10 - rank} tag"
        for query, items in run.items()
        for rank, item in enumerate(items, 1)
    ]
    path.write_text("\n".join(lines) + "\n")
    return str(path)


def numbers(comparison: rk.Comparison) -> list[Any]:
    """Return all numbers, without names."""
    return [
        comparison.pairwise.drop("a", "b").rows(),
        comparison.table.drop("run", "better_than").rows(),
    ]


@pytest.mark.parametrize("metric", METRICS)
def test_means_are_those_of_evaluate(metric: str) -> None:
    comparison = compared(METRICS, confidence=0.9)

    for name, run in RUNS.items():
        expected = rk.evaluate(QRELS, run, METRICS)
        own = comparison.table.filter(run=name, metric=metric).row(0, named=True)
        assert own["mean"] == expected.mean[metric]
        assert (own["low"], own["high"]) == expected.interval(metric, 0.9)
        assert own["n"] == 5


def test_pairs_are_of_the_values_per_query() -> None:
    comparison = compared("RR")

    for row in comparison.pairwise.iter_rows(named=True):
        d = np.array(RR[row["b"]]) - np.array(RR[row["a"]])
        assert row["difference"] == pytest.approx(d.mean())
        assert row["wins"] == np.count_nonzero(d > 0)
        assert row["ties"] == np.count_nonzero(d == 0)
        assert row["losses"] == np.count_nonzero(d < 0)
        assert row["effect"] == pytest.approx(d.mean() / d.std(ddof=1))
    assert comparison.systems == ("old", "new", "other")
    assert comparison.queries == ["q1", "q2", "q3", "q4", "q5"]


def test_columns_are_those_documented() -> None:
    comparison = compared("RR")

    assert comparison.pairwise.columns == [
        "metric", "a", "b", "difference", "low", "high", "p", "p_corrected", "effect",
        "superiority", "wins", "ties", "losses", "verdict",
    ]  # fmt: skip
    assert comparison.table.columns == [
        "run", "metric", "mean", "low", "high", "n", "best", "better_than",
    ]  # fmt: skip
    assert comparison.to_frame("pandas").shape == (3, 14)


def test_lists_of_paths_and_patterns_are_named_after_files(tmp_path: Path) -> None:
    paths = [
        written(tmp_path, f"{name}.txt", RUNS[name]) for name in ("new", "old", "other")
    ]

    listed = compared(METRICS, paths)
    matched = compared(METRICS, str(tmp_path / "*.txt"))
    as_path = compared(METRICS, tmp_path / "*.txt")
    named = compared(METRICS, {"new": NEW, "old": OLD, "other": OTHER})

    assert listed.systems == ("new.txt", "old.txt", "other.txt")
    assert matched.systems == as_path.systems == listed.systems
    assert numbers(listed) == numbers(matched) == numbers(as_path) == numbers(named)


def test_files_of_one_name_are_told_apart(tmp_path: Path) -> None:
    paths = [
        written(tmp_path, "a/run.txt", OLD),
        written(tmp_path, "b/run.txt", NEW),
        written(tmp_path, "b/more.txt", OTHER),
    ]

    assert compared("RR", paths).systems == ("a/run.txt", "b/run.txt", "more.txt")


def test_mappings_may_hold_runs_of_several_forms(tmp_path: Path) -> None:
    rows = [
        {"query": query, "item": item, "score": float(-rank)}
        for query, items in OTHER.items()
        for rank, item in enumerate(items)
    ]
    forms = {
        "old": written(tmp_path, "x.txt", OLD),
        "new": {q: {i: 9.0 - n for n, i in enumerate(own)} for q, own in NEW.items()},
        "other": rk_frame(rows),
    }

    assert numbers(compared(METRICS, forms)) == numbers(compared(METRICS))


def rk_frame(rows: list[dict[str, Any]]) -> Any:
    import polars as pl  # noqa: PLC0415 - for this one alone

    return pl.DataFrame(rows)


@pytest.mark.slow
@pytest.mark.parametrize("test", ["randomization", "bootstrap", "randomized_tukey_hsd"])
def test_the_order_of_queries_changes_no_bit(test: str) -> None:
    shuffled = {}
    for number, (name, run) in enumerate(RUNS.items()):
        queries = list(run)
        random.Random(number).shuffle(queries)  # noqa: S311 - not for secrets
        shuffled[name] = {query: run[query] for query in queries}
    qrels = dict(reversed(QRELS.items()))

    first = compared(METRICS, test=test, seed=7)
    again = rk.compare(qrels, shuffled, METRICS, test=test, seed=7, draws=500)

    assert first.to_json() == again.to_json()


def test_the_order_of_rows_changes_no_bit() -> None:
    table = frame(4)

    first = values_compared(table, correction="maxt")
    again = values_compared(table.reverse(), correction="maxt")

    assert first.to_json() == again.to_json()


def test_queries_that_a_run_lacks_count_as_0_by_default() -> None:
    short = {query: NEW[query] for query in ("q5", "q1", "q3")}

    comparison = compared("RR", {"old": OLD, "new": short})

    d = [1 - 1 / 2, 0 - 1 / 4, 0, 0 - 1, 1 - 1 / 2]
    assert comparison.pairwise["difference"][0] == pytest.approx(sum(d) / 5)
    assert "new: 2 judged queries missing from the run (q2, q4): counted as 0" in (
        comparison.notes
    )


def test_queries_that_a_convention_leaves_out_are_not_paired() -> None:
    short = {query: NEW[query] for query in ("q5", "q1", "q3")}
    lacking = {query: OTHER[query] for query in ("q1", "q2", "q3", "q4")}

    comparison = compared(
        "RR", {"old": OLD, "new": short, "other": lacking}, convention=BOTH
    )

    differences = comparison.pairwise["difference"].to_list()
    assert differences == pytest.approx(
        [
            ((1 - 1 / 2) + 0 + (1 - 1 / 2)) / 3,
            ((1 - 1 / 2) + (1 / 2 - 1 / 4) + (1 / 3 - 1) + 0) / 4,
            ((1 - 1) + (1 / 3 - 1)) / 2,
        ]
    )
    assert comparison.table["n"].to_list() == [5, 3, 4]
    assert comparison.notes[:2] == (
        "RR: 2 queries without a value in new (q2, q4), left out of its pairs",
        "RR: 1 query without a value in other (q5), left out of its pairs",
    )


def test_notes_that_all_runs_share_are_said_once() -> None:
    notes = compared("RR", {"old": OLD, "new": NEW}, rel=2).notes

    assert len(set(notes)) == len(notes)
    for note in rk.evaluate(QRELS, OLD, "RR", rel=2).notes:
        shared = note in rk.evaluate(QRELS, NEW, "RR", rel=2).notes
        assert (note in notes) == shared
        assert (f"old: {note}" in notes) != shared


def test_the_name_of_a_system_may_have_a_colon() -> None:
    qrels = {"q": {"a": 1}, "r": {"a": 1}}
    lists = {"a: b": {"q": ["a"]}, "a": {"q": ["x", "a"]}, "c": {"q": ["x", "y"]}}

    notes = rk.compare(qrels, lists, "P@1").notes

    assert "1 judged query missing from the run (r): counted as 0" in notes


@pytest.mark.parametrize(
    "options",
    [
        {"rel": 2},
        {"convention": "trec_eval"},
        {"ties": "average"},
        {"depth": 1},
        {"weights": {"q1": 3, "q2": 1, "q3": 1, "q4": 2, "q5": 0.5}},
    ],
    ids=["rel", "convention", "ties", "depth", "weights"],
)
def test_options_are_those_of_evaluate(options: dict[str, Any]) -> None:
    comparison = compared(["RR", "AP"], **options)

    for row in comparison.table.iter_rows(named=True):
        run = RUNS[row["run"]]
        expected = rk.evaluate(QRELS, run, ["RR", "AP"], **options)
        assert row["mean"] == expected.mean[row["metric"]]
    by_name = {(r["metric"], r["run"]): r["mean"] for r in comparison.table.to_dicts()}
    for row in comparison.pairwise.iter_rows(named=True):
        up, down = ((row["metric"], row[side]) for side in ("b", "a"))
        assert row["difference"] == pytest.approx(by_name[up] - by_name[down])


def test_weights_enter_the_error_of_the_difference() -> None:
    weights = {"q1": 3, "q2": 1, "q3": 1, "q4": 2, "q5": 3}

    comparison = compared("RR", {"old": OLD, "new": NEW}, weights=weights, test="t")

    w, d = np.array([3, 1, 1, 2, 3]), np.array(RR["new"]) - np.array(RR["old"])
    mean = (w * d).sum() / 10
    error = math.sqrt(((w * (d - mean) / 2) ** 2).sum() / 4 / 5)
    expected = 2 * scipy.stats.t.sf(mean / error, 4)
    assert comparison.pairwise["difference"][0] == pytest.approx(mean)
    assert comparison.pairwise["p"][0] == pytest.approx(expected)


def test_metrics_of_lists_have_values_per_user() -> None:
    runs = {
        "one": {"u": ["a", "b"], "v": ["a", "c"]},
        "two": {"v": ["a", "b"], "u": ["b", "c"]},
    }
    items = {"a": [1.0, 0.0], "b": [0.0, 1.0], "c": [1.0, 0.0]}

    ild = rk.compare(None, runs, "ILD", items=items)
    train = {"x": ["a", "b"], "y": ["a"], "z": ["c"], "w": ["d"]}
    novelty = rk.compare(None, runs, "Novelty", train=train)

    # Cosine distances: a and b 1, a and c 0, b and c 1.
    assert ild.table["mean"].to_list() == pytest.approx([(1 + 0) / 2, (1 + 1) / 2])
    assert ild.pairwise.select("wins", "ties", "losses").row(0) == (1, 1, 0)
    for row in novelty.table.iter_rows(named=True):
        expected = rk.evaluate(None, runs[row["run"]], "Novelty", train=train)
        assert row["mean"] == expected.mean["Novelty"]
        assert row["n"] == 2


def test_lower_is_better_for_some_metrics() -> None:
    # Unjudged@2 of system low is 0 for all, of high 1 / 2 for all.
    qrels = {f"q{n}": {"a": 1, "b": 1} for n in range(12)}
    low = {query: ["a", "b"] for query in qrels}
    high = {query: ["a", "x"] for query in qrels}

    comparison = rk.compare(qrels, {"low": low, "high": high}, "Unjudged@2")

    row = comparison.pairwise.row(0, named=True)
    assert (row["difference"], row["losses"], row["verdict"]) == (0.5, 12, "worse")
    assert (row["wins"], row["superiority"]) == (0, 0 / 12)
    assert comparison.table["best"].to_list() == [True, False]
    assert comparison.table["better_than"].to_list() == [["high"], []]


def test_margins_are_by_metric_and_its_other_names() -> None:
    of_all = compared(["RR", "AP"], margin=0.1)
    of_some = compared(["RR", "AP"], margin={"MRR": 0.2})

    assert of_all.margins == {"RR": 0.1, "AP": 0.1}
    assert of_some.margins == {"RR": 0.2}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"runs": {"old": OLD}}, "needs at least two systems, got only old"),
        ({"runs": {}}, "needs at least two systems, got none"),
        ({"runs": {"a\udcff": OLD, "b": NEW}}, r"'a\\udcff' of a system contains"),
        ({"runs": {1: OLD, "1": NEW}}, "two runs have the same name as text: 1, 1"),
        ({"runs": [OLD, NEW]}, "mapping from name to run, .* got list"),
        ({"baseline": "odl"}, "one of old, new, other, got 'odl'; did you mean 'old'"),
        ({"wieghts": {}}, "compare has no option 'wieghts'; did you mean 'weights'"),
        ({"name": "x"}, "compare has no option 'name'"),
        ({"files": {}}, "compare has no option 'files'"),
        ({"metrics": ["AP", "gm_AP"]}, "gm_AP is not a mean over queries"),
        ({"metrics": "NumRel"}, "NumRel is not a mean over queries"),
        ({"test": "t", "correction": "maxt"}, "needs test='randomization', not 't'"),
        ({"test": "tukey_hsd", "correction": "bonferroni"}, "already corrects for all"),
        ({"test": "wilcoxon", "weights": {"q1": 1}}, "'wilcoxon' takes no weights"),
        ({"margin": {"AP": 0.1}}, "margin is given for AP, which is not among RR"),
        ({"margin": -0.1}, "margin must be a number above 0, got -0.1"),
        ({"margin": 0}, "margin must be a number above 0, got 0"),
        ({"margin": {"RR": -1}}, "the margin of RR must be a number above 0, got -1"),
        ({"margin": {"RR": 0.1, "MRR": 0.2}}, "RR has two margins, 0.1 and 0.2; give"),
    ],
)
def test_what_makes_no_sense_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        compared(**options)


def test_pooled_metrics_are_refused() -> None:
    pooled = rk.Convention(aggregate="ratio_of_sums")

    with pytest.raises(ParameterError, match="R@1 is not a mean over queries"):
        compared("R@1", convention=pooled)


def test_a_margin_for_no_metric_is_refused() -> None:
    with pytest.raises(UnknownMetricError, match="unknown metric 'RRR'"):
        compared(margin={"RRR": 0.1})


def test_a_path_that_is_given_twice_is_refused(tmp_path: Path) -> None:
    old, new = written(tmp_path, "old.txt", OLD), written(tmp_path, "new.txt", NEW)

    with pytest.raises(ParameterError, match=r"two runs have the same name.*old\.txt"):
        compared("RR", [old, new, old])


def test_a_pattern_without_files_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"no file matches '.*\*\.run'"):
        compared("RR", str(tmp_path / "*.run"))


def test_runs_without_a_common_query_are_refused() -> None:
    runs = {"one": {"q1": ["a"]}, "two": {"q2": ["c"]}}

    with pytest.raises(DataError, match="one and two have no query in common for RR"):
        compared("RR", runs, convention=BOTH)


def test_results_can_be_read_again_as_json() -> None:
    read = json.loads(compared(METRICS, margin=0.1).to_json())

    assert read["values"]["RR"]["new"] == pytest.approx(RR["new"])
    assert read["ids"] == ["q1", "q2", "q3", "q4", "q5"]
    assert read["margins"] == dict.fromkeys(METRICS, 0.1)
