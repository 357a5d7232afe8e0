"""Names of metrics, their parameters, and options that are out of range."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

import rankine as rk
from rankine import errors
from rankine._metrics import names
from rankine.errors import (
    DataError,
    MetricSyntaxError,
    ParameterError,
    UnknownMetricError,
)
from tests.refused.refusals import command, files, refusal, refused, told

if TYPE_CHECKING:
    from pathlib import Path


# --- cutoffs


@pytest.mark.parametrize(
    "k",
    [0, -1, "10", 10.0, True, np.True_, 1e18, math.nan, math.inf, [5, 5]],
    ids=repr,
)
def test_63_cutoff_that_is_no_positive_int_is_refused(k: Any) -> None:
    with pytest.raises(errors.ParameterError) as caught:
        _ = rk.nDCG @ k

    assert str(caught.value) == f"k must be a positive integer or None, got {k!r}"


@pytest.mark.parametrize("name", ["nDCG@0", "nDCG@-1", "nDCG@1.5", "P_0", "P.0,5"])
def test_63_cutoff_in_text_that_is_no_positive_int_is_refused(name: str) -> None:
    with pytest.raises(errors.ParameterError, match="k must be a positive integer"):
        rk.parse(name)


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


def test_63_cutoff_in_text_that_is_no_number_is_refused() -> None:
    with pytest.raises(errors.MetricSyntaxError, match=r"'ten'.* nDCG@10"):
        rk.parse("nDCG@ten")


@pytest.mark.parametrize("k", [10**18, np.int64(7), np.uint8(7)], ids=repr)
def test_63_large_cutoffs_and_numpy_ints_are_fine(k: Any) -> None:
    ev = rk.evaluate({"q": {"a": 1}}, {"q": ["x", "a"]}, [rk.RR @ k])

    assert ev.mean == {f"RR@{int(k)}": 1 / 2}


def test_63_large_cutoffs_numpy_ints_and_repetitions_are_fine() -> None:
    large = 10**18
    found = rk.evaluate({"q": {"a": 1}}, {"q": ["a"]}, [f"P@{large}", "P@5", "P_5"])

    assert rk.P @ np.int64(5) == rk.P @ 5
    assert found.mean == {f"P@{large}": 1 / large, "P@5": 1 / 5}


def test_63_same_cutoff_twice_is_one_metric() -> None:
    ev = rk.evaluate({"q": {"a"}}, {"q": ["a"]}, ["P@1", rk.P @ 1, "P_1", "P.1,1"])

    assert ev.mean == {"P@1": 1.0}


def test_63_a_cutoff_beyond_64_bits_is_told() -> None:
    with pytest.raises(ParameterError, match=r"a positive integer below 2\^62 or None"):
        rk.evaluate({"q": {"a": 1}}, {"q": ["a"]}, f"P@{10**23}")


@pytest.mark.parametrize("depth", [0, -3, 1.5, "10", True])
def test_63_depth_that_is_no_positive_int_is_refused(depth: Any) -> None:
    text = refused(errors.ParameterError, {"q": {"a"}}, {"q": ["a"]}, depth=depth)

    assert text == f"depth must be a positive integer or None, got {depth!r}"


# --- names


@pytest.mark.parametrize("name", ["nDGC@10", "NDGC", "ndgc"])
def test_64_unknown_metric_suggests_the_nearest(name: str) -> None:
    text = refused(errors.UnknownMetricError, {"q": {"a"}}, {"q": ["a"]}, name)

    assert text == f"unknown metric {name.partition('@')[0]!r}; did you mean 'nDCG'?"


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


def test_64_unknown_metric_without_anything_near_is_named() -> None:
    text = refused(errors.UnknownMetricError, {"q": {"a"}}, {"q": ["a"]}, "zzzzzz")

    assert text == "unknown metric 'zzzzzz'"


@pytest.mark.parametrize("name", ["ndcg@5", "NDCG@5", "nDcG@5", "ndcg_cut_5"])
def test_64_case_does_not_matter_where_it_is_unique(name: str) -> None:
    assert rk.parse(name) == rk.nDCG @ 5


@pytest.mark.parametrize("metrics", [[3], [None], [["AP"]], [{"AP"}], 3, None])
def test_64_what_is_no_metric_is_refused(metrics: Any) -> None:
    with pytest.raises(errors.UsageError, match="metric"):
        rk.evaluate({"q": {"a"}}, {"q": ["a"]}, metrics)


@pytest.mark.parametrize(
    "text",
    [
        "P(__import__('os'))@5",
        "P(rel=__import__('os').getpid())@5",
        "P(rel=().__class__)",
        "P(*[1])",
        "P(**{'rel': 1})",
        "P(rel=[x for x in (1,)])",
        "P(rel=" + "(" * 300 + "1" + ")" * 300 + ")",
        "nDCG(10)",
        "P(rel=1",
        "P rel=1)",
        "",
        "   ",
        "P(rel=1)(k=2)",
        "x" * 10_000,
    ],
    ids=lambda text: text[:24],
)
def test_65_text_that_is_no_metric_is_refused_and_never_run(text: str) -> None:
    with pytest.raises(errors.UsageError) as caught:
        rk.parse(text)

    assert "write it like nDCG@10" in str(caught.value) or "unknown" in str(
        caught.value
    )
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "text",
    ['P(__import__("os"))@5', 'P(rel=__import__("os"))@5', "P(rel=1+1)@5",
     "P(rel=2,rel=3)@5", "P(rel=2@5", "P@5; ls"],
)  # fmt: skip
def test_65_text_is_never_run(text: str, tmp_path: Path) -> None:
    said = refusal(MetricSyntaxError, *files(tmp_path), text)

    assert said.startswith("cannot read ")
    assert "write it like nDCG@10" in said


# --- parameters


def test_65_unsupported_parameter_lists_those_there_are() -> None:
    with pytest.raises(errors.ParameterError) as caught:
        rk.parse("nDCG(kk=1)")

    assert "nDCG has no parameter 'kk'" in str(caught.value)
    assert "it takes k, gain, discount" in str(caught.value)


def test_65_parameters_that_do_not_exist_list_those_that_do(tmp_path: Path) -> None:
    text = refusal(ParameterError, *files(tmp_path), "P(foo=1)@5")

    assert text.startswith("P has no parameter 'foo'; it takes k, rel, ")


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("P(rel=foo)", "rel must be a finite number, got 'foo'"),
        ("P(rel=None)", "rel must be a finite number, got None"),
        ("P(rel=True)", "rel must be a finite number, got True"),
        ("nDCG(gain=linaer)", "got 'linaer'; did you mean 'linear'?"),
        ("nDCG(gain=3)", "gain must be one of linear"),
        ("nDCG(gain={1: 'x'})", "the gain of grade 1 must be a finite number, got 'x'"),
        ("AP(divisor=r)", "divisor must be one of R, min_k_R"),
        ("P(ties=[1])", "ties must be one of average, best, worst, got [1]"),
        ("Utility(weights=3)", "weights must be four numbers, got 3"),
    ],
)
def test_65_wrong_type_says_what_is_allowed(text: str, wanted: str) -> None:
    with pytest.raises(errors.ParameterError) as caught:
        rk.parse(text)

    assert wanted in str(caught.value)


@pytest.mark.parametrize("value", ["'x'", "[1]", "True", "nan", "1e400"])
def test_65_parameters_of_another_type_say_what_is_wanted(
    value: str, tmp_path: Path
) -> None:
    text = refusal(ParameterError, *files(tmp_path), f"P(rel={value})@5")

    assert text.startswith("rel must be a finite number, got ")


def test_65_a_parameter_given_twice_is_refused() -> None:
    with pytest.raises(errors.MetricSyntaxError, match="rel"):
        rk.parse("P(rel=1,rel=2)")


def test_65_a_cutoff_given_twice_is_refused() -> None:
    with pytest.raises(errors.UsageError, match="k"):
        rk.parse("P(k=5)@10")


def test_65_lists_in_parameters_are_fine() -> None:
    ev = rk.evaluate({"q": {"a"}}, {"q": ["a"]}, ["Utility(weights=[2,-1,0,0])"])

    assert list(ev.mean.values()) == [2]


def test_65_metric_without_cutoff_says_so() -> None:
    with pytest.raises(errors.ParameterError, match="NumQ has no cutoff"):
        rk.parse("NumQ@3")


@pytest.mark.parametrize("value", ["0", "1", "1.5", "-0.1", "nan", "1e999", "'x'"])
@pytest.mark.parametrize("name", ["RBP", "RBPResidual"])
def test_66_persistence_outside_its_range_is_refused(name: str, value: str) -> None:
    with pytest.raises(errors.ParameterError) as caught:
        rk.parse(f"{name}(p={value})")

    assert "p must be a number above 0 and below 1, got " in str(caught.value)


@pytest.mark.parametrize("p", [0, 1, 1.5, math.nan, math.inf, True, "0.5"])
def test_66_persistence_outside_its_range_is_refused_in_python(p: Any) -> None:
    with pytest.raises(errors.ParameterError) as caught:
        rk.RBP(p=p)

    assert f"p must be a number above 0 and below 1, got {p!r}" == str(caught.value)


@pytest.mark.parametrize("p", ["0", "1", "1.5", "-0.1", "nan", "'0.8'"])
def test_66_persistence_lies_between_0_and_1(p: str, tmp_path: Path) -> None:
    text = refusal(ParameterError, *files(tmp_path), f"RBP(p={p})")

    assert text.startswith("p must be a number above 0 and below 1, got ")


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("F(beta=-1)", "beta must be a number at least 0, got -1"),
        ("SetF(beta=-1)", "beta must be a number at least 0, got -1"),
        ("RScore(half_life=1)", "half_life must be a number above 1, got 1"),
        ("RScore(scale=0)", "scale must be a number above 0, got 0"),
        ("nDCG(base=1)", "base must be a number above 1, got 1"),
        ("FallOut(catalog=0)", "catalog must be"),
    ],
)
def test_66_numbers_outside_their_range_are_refused(text: str, wanted: str) -> None:
    with pytest.raises(errors.ParameterError) as caught:
        rk.parse(text)

    assert wanted in str(caught.value)


def test_66_beta_is_not_negative(tmp_path: Path) -> None:
    text = refusal(ParameterError, *files(tmp_path), "F(beta=-1)@5")

    assert text == "beta must be a number at least 0, got -1"


@pytest.mark.parametrize(
    "text",
    ["P.1e999", "P.inf", "ndcg@10-l" + "9" * 400, "P(self=1)", "ndcg.1e999=3"],
    ids=lambda text: text[:12],
)
def test_numbers_beyond_all_bounds_are_refused(text: str) -> None:
    with pytest.raises(ParameterError):
        names.parse_all(text)


# --- what a metric needs


def test_67_metric_that_needs_a_catalogue_says_so_before_reading() -> None:
    text = refused(errors.ParameterError, "no such file", "no such file", "FallOut@5")

    assert "FallOut@5 needs the size of the catalogue" in text
    assert "catalog=" in text


def test_67_what_a_metric_needs_is_told_before_files_are_read(tmp_path: Path) -> None:
    missing = tmp_path / "not.there"

    text = told(2, missing, missing, "-m", "AUC(universe='catalogue')")

    assert text.startswith("AUC(universe='catalogue') needs the size of the catalogue")


@pytest.mark.parametrize(
    ("options", "kind", "wanted"),
    [
        ({"convention": "trec_evl"}, "UnknownConventionError", "mean 'trec_eval'?"),
        ({"convention": None}, "UnknownConventionError", "None"),
        ({"convention": {"tie": "input"}}, "UnknownConventionError", "tie"),
        ({"ties": "avrage"}, "ParameterError", "'avrage'; did you mean 'average'?"),
        ({"rel": "2"}, "ParameterError", "rel must be a finite number, got '2'"),
        ({"rel": math.nan}, "ParameterError", "rel must be a finite number, got nan"),
    ],
    ids=["convention-typo", "convention-none", "convention-dict", "ties", "rel", "nan"],
)
def test_67_wrong_options_say_what_is_allowed(
    options: dict[str, Any], kind: str, wanted: str
) -> None:
    text = refused(getattr(errors, kind), {"q": {"a"}}, {"q": ["a"]}, **options)

    assert wanted in text


def test_68_precision_divides_by_k_and_short_lists_are_told(tmp_path: Path) -> None:
    qrels, run = files(tmp_path)

    code, out, _ = command("evaluate", qrels, run, "-m", "P@10")

    assert code == 0
    assert rk.evaluate(qrels, run, "P@10")["P@10"] == 1 / 10
    assert (
        "2 lists with fewer than 10 items: missing ranks count as not relevant"
    ) in out


def test_a_catalogue_that_is_too_small_is_refused() -> None:
    with pytest.raises(DataError, match="catalogue has 2 items"):
        rk.evaluate({"q": {"a"}}, {"q": ["a", "x", "y"]}, "FallOut@3", catalog=2)


def test_72_a_catalogue_smaller_than_a_list_is_refused(tmp_path: Path) -> None:
    qrels, run = files(tmp_path)

    text = told(3, qrels, run, "-m", "AUC(universe='catalogue')", "--catalog", "2")

    assert text == f"the catalogue has 2 items, but {run} has 4 different ones"


def test_72_a_catalogue_smaller_than_all_items_is_refused() -> None:
    qrels, run = {"p": {"a"}, "q": {"c"}}, {"p": ["a", "b"], "q": ["c", "d"]}

    text = refused(DataError, qrels, run, "AUC(universe='catalogue')", catalog=2)

    assert "catalogue has 2 items" in text


@pytest.mark.parametrize("metrics", [["Coverage"], ["Coverage", "RR"], ["RR", "AUC"]])
def test_a_catalogue_is_refused_by_the_metrics_that_read_it(metrics: list[str]) -> None:
    qrels, run = {"u": {"x": 1}}, {"u": ["x", "y", "w"]}
    catalog = ["x", "z"]
    batches = rk.Accumulator(metrics, catalog=catalog).update(qrels, run)

    ev = rk.evaluate(qrels, run, metrics, catalog=catalog)

    assert ev.mean == pytest.approx(batches.result().mean, nan_ok=True)
    assert ev.mean.get("Coverage", 1 / 2) == 1 / 2  # x, of x and z
    assert "catalogue has 2 items" in refused(
        DataError, qrels, run, [*metrics, "FallOut"], catalog=catalog
    )


@pytest.mark.parametrize(
    "run",
    [
        {0: {0: 0.2, 1: 0.1}, 1: {2: 0.2, 1: 0.1}},
        {0: [0, 1], 1: (2, 1)},
        {0: np.array([0, 1]), 1: [2, 1]},
        rk.from_ranked([[0, 1], [2, 1]]),
        rk.from_scores([[0.2, 0.1, -np.inf], [-np.inf, 0.1, 0.2]]),
        pl.DataFrame({"query": [0, 0, 1, 1], "item": [0, 1, 2, 1]}),
    ],
    ids=["dicts", "lists", "arrays", "ranks", "scores", "frame"],
)
def test_items_of_a_catalogue_are_counted_once_in_every_form(run: Any) -> None:
    found = refused(DataError, {0: {0}, 1: {1}}, run, "FallOut@2", catalog=2)

    assert "catalogue has 2 items" in found
    assert "has 3 different ones" in found
    assert rk.evaluate({0: {0}, 1: {1}}, run, "RR", catalog=3)["RR"] == (1 + 1 / 2) / 2
