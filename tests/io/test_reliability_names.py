"""Bad input, items 63 to 72 of the catalogue: metrics, parameters, empty things."""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import rankine as rk
from rankine.errors import (
    DataError,
    FormatError,
    MetricSyntaxError,
    NoRowsError,
    ParameterError,
    UnknownMetricError,
    UsageError,
)
from tests.refusals import command, files, refusal, refused, told

if TYPE_CHECKING:
    from pathlib import Path

TRUTH = {"q1": {"a": 1, "b": 0}, "q2": {"c": 2}}


# --- metrics and their parameters


@pytest.mark.parametrize("k", ["0", "-1", "10.0", "1e18", "nan"])
def test_63_a_cutoff_that_is_no_positive_int_is_bad_usage(
    k: str, tmp_path: Path
) -> None:
    text = refusal(ParameterError, *files(tmp_path), f"P@{k}")

    assert text.startswith("k must be a positive integer or None, got ")


@pytest.mark.parametrize("k", [0, -1, "10", 10.0, True, float("nan"), np.bool_(True)])
def test_63_a_cutoff_in_python_is_an_int(k: Any) -> None:
    with pytest.raises(ParameterError, match="k must be a positive integer or None"):
        rk.P @ k


def test_63_large_cutoffs_numpy_ints_and_repetitions_are_fine() -> None:
    large = 10**18
    found = rk.evaluate({"q": {"a": 1}}, {"q": ["a"]}, [f"P@{large}", "P@5", "P_5"])

    assert rk.P @ np.int64(5) == rk.P @ 5
    assert found.mean == {f"P@{large}": 1 / large, "P@5": 1 / 5}


def test_63_a_cutoff_beyond_64_bits_is_told() -> None:
    with pytest.raises(ParameterError, match=r"a positive integer below 2\^62 or None"):
        rk.evaluate({"q": {"a": 1}}, {"q": ["a"]}, f"P@{10**23}")


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("nDGC@10", "'nDGC'; did you mean 'nDCG'?"),
        ("precison@5", "'precison'; did you mean 'Precision'?"),
        ("xyz", "'xyz'"),
    ],
)
def test_64_an_unknown_metric_suggests_the_nearest(
    name: str, hint: str, tmp_path: Path
) -> None:
    text = refusal(UnknownMetricError, *files(tmp_path), name)

    assert text == f"unknown metric {hint}"


@pytest.mark.parametrize("name", ["ndcg@10", "NDCG@10", "Ndcg@10", "ndcg_cut.10"])
def test_64_case_does_not_matter_where_it_is_unique(name: str) -> None:
    assert rk.parse(name) == rk.nDCG @ 10


@pytest.mark.parametrize(
    "text",
    ['P(__import__("os"))@5', 'P(rel=__import__("os"))@5', "P(rel=1+1)@5",
     "P(rel=2,rel=3)@5", "P(rel=2@5", "P@5; ls"],
)  # fmt: skip
def test_65_text_is_never_run(text: str, tmp_path: Path) -> None:
    said = refusal(MetricSyntaxError, *files(tmp_path), text)

    assert said.startswith("cannot read ")
    assert "write it like nDCG@10" in said


def test_65_parameters_that_do_not_exist_list_those_that_do(tmp_path: Path) -> None:
    text = refusal(ParameterError, *files(tmp_path), "P(foo=1)@5")

    assert text.startswith("P has no parameter 'foo'; it takes k, rel, ")


@pytest.mark.parametrize("value", ["'x'", "[1]", "True", "nan", "1e400"])
def test_65_parameters_of_another_type_say_what_is_wanted(
    value: str, tmp_path: Path
) -> None:
    text = refusal(ParameterError, *files(tmp_path), f"P(rel={value})@5")

    assert text.startswith("rel must be a finite number, got ")


@pytest.mark.parametrize("p", ["0", "1", "1.5", "-0.1", "nan", "'0.8'"])
def test_66_persistence_lies_between_0_and_1(p: str, tmp_path: Path) -> None:
    text = refusal(ParameterError, *files(tmp_path), f"RBP(p={p})")

    assert text.startswith("p must be a number above 0 and below 1, got ")


def test_66_beta_is_not_negative(tmp_path: Path) -> None:
    text = refusal(ParameterError, *files(tmp_path), "F(beta=-1)@5")

    assert text == "beta must be a number at least 0, got -1"


def test_67_what_a_metric_needs_is_told_before_files_are_read(tmp_path: Path) -> None:
    missing = tmp_path / "not.there"

    text = told(2, missing, missing, "-m", "AUC(universe='catalogue')")

    assert text.startswith("AUC(universe='catalogue') needs the size of the catalogue")


def test_68_precision_divides_by_k_and_short_lists_are_told(tmp_path: Path) -> None:
    qrels, run = files(tmp_path)

    code, out, _ = command("evaluate", qrels, run, "-m", "P@10")

    assert code == 0
    assert rk.evaluate(qrels, run, "P@10")["P@10"] == 1 / 10
    assert "2 lists with fewer than 10 items: empty ranks count nothing" in out


# --- empty things


EMPTY: dict[str, list[Any]] = {"query": [], "item": [], "score": []}


@pytest.mark.parametrize("run", [{}, pl.DataFrame(EMPTY), pd.DataFrame(EMPTY)])
def test_69_an_empty_run_is_refused(run: Any) -> None:
    assert refused(NoRowsError, TRUTH, run) == "run: no rows in it"


@pytest.mark.parametrize("run", [{"q1": [], "q2": []}, {"q1": {}, "q2": {}}])
def test_69_empty_lists_count_zero_and_are_told(run: Any) -> None:
    found = rk.evaluate(TRUTH, run, "RR")

    assert found["RR"] == 0
    assert "all lists of the run are empty" in found.notes


def test_69_none_is_no_list() -> None:
    text = refused(DataError, TRUTH, {"q1": None, "q2": ["c"]})

    assert text.startswith("the list of query 'q1' is None; an empty list or dict says")


@pytest.mark.parametrize("content", ["{}", "[]", "query,item,score\n"])
def test_69_a_file_without_rows_is_refused(content: str, tmp_path: Path) -> None:
    qrels, run = files(tmp_path, run=content)

    assert refusal(NoRowsError, qrels, run) == f"{run}: no rows in it"


def test_69_empty_lists_of_json_lines_count_zero(tmp_path: Path) -> None:
    lines = '{"query": "q1", "retrieved": []}\n{"query": "q2", "retrieved": ["c"]}\n'
    qrels, run = files(tmp_path, run=lines)

    found = rk.evaluate(qrels, run, "RR")

    assert found.per_query["RR"].to_list() == [0, 1]
    assert f"{run}: 1 empty list in 'retrieved'" in found.notes


@pytest.mark.parametrize(
    "content",
    ['{"query": "q1", "retrieved": null}\n{"query": "q2", "retrieved": ["c"]}\n',
     '{"q1": null, "q2": ["c"]}'],
    ids=["lines", "object"],
)  # fmt: skip
def test_69_null_is_no_list_in_a_file_either(content: str, tmp_path: Path) -> None:
    qrels, run = files(tmp_path, run=content)

    with pytest.raises(DataError, match=r"is missing|'q1' is of type NoneType"):
        rk.evaluate(qrels, run, "RR")


def test_69_no_judgement_at_all_is_told_in_words() -> None:
    notes = rk.evaluate({"q1": set()}, {"q1": ["a"]}, "RR").notes

    assert not any("inf" in note for note in notes)


def test_70_one_query_has_no_interval(tmp_path: Path) -> None:
    qrels, run = files(tmp_path, "q 0 a 1\n", "q Q0 a 1 1 t\n")

    found = rk.evaluate(qrels, run, "AP")
    code, out, _ = command("evaluate", qrels, run, "-m", "AP", "--csv")

    assert found["AP"] == 1
    assert all(map(isnan, found.interval("AP")))
    assert all(map(isnan, found.interval("AP", method="t")))
    assert code == 0
    assert out.splitlines()[1] == "a.run,all,AP,1.0,,"


def test_70_one_query_has_a_reason_for_no_interval() -> None:
    found = rk.evaluate({"q": {"a": 1}}, {"q": ["a"]}, "AP")

    assert "stands its 95 % interval" not in str(found)


def test_71_no_metric_is_bad_usage(tmp_path: Path) -> None:
    qrels, run = files(tmp_path)

    text = refused(UsageError, qrels, run, [])

    assert text == "no metrics were asked for; name at least one, such as nDCG@10"
    assert told(2, qrels, run, "-m", "").startswith("cannot read metric ''")


def test_71_no_run_is_bad_usage(tmp_path: Path) -> None:
    qrels, _ = files(tmp_path)

    assert told(2, qrels).startswith("missing argument 'RUN [RUN ...]'")


def test_72_a_catalogue_smaller_than_a_list_is_refused(tmp_path: Path) -> None:
    qrels, run = files(tmp_path)

    text = told(3, qrels, run, "-m", "AUC(universe='catalogue')", "--catalog", "2")

    assert text == f"the catalogue has 2 items, but {run} has 4 different ones"


def test_72_a_catalogue_smaller_than_all_items_is_refused() -> None:
    qrels, run = {"p": {"a"}, "q": {"c"}}, {"p": ["a", "b"], "q": ["c", "d"]}

    text = refused(DataError, qrels, run, "AUC(universe='catalogue')", catalog=2)

    assert "catalogue has 2 items" in text


def test_70_one_item_and_one_query_work_in_all_forms() -> None:
    assert rk.evaluate({1: {2}}, {1: [2]}, "AP").per_query.rows() == [(1, 1)]
    assert rk.evaluate(rk.from_scores([[1]]), rk.from_scores([[5]]), "AP")["AP"] == 1
    assert refused(FormatError, {1: {2}}, None).startswith("cannot read run from a ")
