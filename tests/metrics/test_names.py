"""Cutoff lists, other spellings of what was asked for, and a missing @."""

from __future__ import annotations

import copy
import json
import pickle

import pytest

import rankine as rk
from rankine._metrics.names import parse_all
from rankine.errors import MetricSyntaxError, UnknownMetricError, UsageError

QRELS = {"q": {"a": 1, "b": 1}}
RUN = {"q": ["x", "a", "b"]}


# --- cutoff lists


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("nDCG@1,5,10", ["nDCG@1", "nDCG@5", "nDCG@10"]),
        ("nDCG@10, 1 ,5", ["nDCG@10", "nDCG@1", "nDCG@5"]),
        ("P@5,5", ["P@5"]),
        ("MAP@1,5", ["AP@1", "AP@5"]),
        ("P(rel=2,divisor='list')@5,10", ["P(rel=2,divisor='list')@5",
                                          "P(rel=2,divisor='list')@10"]),
        ("precision@5,10-l2", ["P(rel=2)@5", "P(rel=2)@10"]),
        ("ndcg_burges@1,5", ["nDCG(gain='exponential')@1",
                             "nDCG(gain='exponential')@5"]),
        ("IPrec@0.1,1", ["IPrec@0.1", "IPrec@1"]),
        ("Coverage@5,10", ["Coverage@5", "Coverage@10"]),
    ],
)  # fmt: skip
def test_several_cutoffs(text: str, wanted: list[str]) -> None:
    assert [str(metric) for metric in parse_all(text)] == wanted


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("nDCG@1,", "cannot read the cutoff ''"),
        ("nDCG@,5", "cannot read the cutoff ''"),
        ("nDCG@1,x", "cannot read the cutoff 'x'"),
        ("nDCG@10,AP", "every other metric separately"),
        ("nDCG@1,0", "k must be a positive integer"),
        ("nDCG@1,2.5", "k must be a positive integer"),
        ("nDGC@1,5", "did you mean 'nDCG'?"),
        ("NumRet@1,5", "no cutoff"),
        ("nDCG(k=1)@1,5", "gives k twice"),
    ],
)
def test_cutoffs_that_cannot_be_read(text: str, wanted: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_all(text)

    assert wanted in str(caught.value)


def test_one_metric_is_not_several() -> None:
    with pytest.raises(MetricSyntaxError) as caught:
        rk.parse("nDCG@1,5")

    message = str(caught.value)
    assert "stands for 2 metrics (nDCG@1, nDCG@5), but only one" in message
    assert "give all of them to evaluate" in message
    with pytest.raises(MetricSyntaxError, match=r"\(P@5, P@10, P@15, \.\.\.\)"):
        rk.parse("P.5,10,15,20")


def test_evaluate_takes_cutoff_lists() -> None:
    ev = rk.evaluate(QRELS, RUN, ["P@1,2,3", "RR"])

    assert ev.mean == {"P@1": 0, "P@2": 1 / 2, "P@3": 2 / 3, "RR": 1 / 2}
    assert list(rk.evaluate(QRELS, RUN, "P@1,2").mean) == ["P@1", "P@2"]


def test_accumulators_take_cutoff_lists() -> None:
    total = rk.Accumulator("P@1,2").update(QRELS, RUN).result()

    assert total.mean == {"P@1": 0, "P@2": 1 / 2}


def test_similarity_takes_cutoff_lists() -> None:
    ev = rk.similarity({"q": ["a", "b"]}, {"q": ["b", "a"]}, "Overlap@1,2")

    assert ev.mean == {"Overlap@1": 0, "Overlap@2": 1}
    with pytest.raises(MetricSyntaxError, match="give all of them to similarity"):
        rk.similarity_matrix({"a": RUN, "b": RUN}, "Overlap@1,2")


# --- an @ that is missing


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("nDCG10", "nDCG@10"),
        ("ndcg5", "ndcg@5"),
        ("MAP10", "MAP@10"),
        ("P5", "P@5"),
        ("HitRate-10", "HitRate@10"),
        ("Coverage_10", "Coverage@10"),
    ],
)
def test_a_missing_at_is_suggested(text: str, wanted: str) -> None:
    with pytest.raises(UnknownMetricError) as caught:
        rk.parse(text)

    assert str(caught.value) == f"unknown metric {text!r}; did you mean {wanted!r}?"
    assert rk.parse(wanted)


@pytest.mark.parametrize("text", ["NumRet10", "nDGC10", "nDCG10@5", "nDCG0"])
def test_no_metric_is_suggested_that_there_is_not(text: str) -> None:
    with pytest.raises(UnknownMetricError) as caught:
        rk.parse(text)

    assert "@10" not in str(caught.value)
    assert "@0" not in str(caught.value)


def test_a_missing_at_is_suggested_for_similarities() -> None:
    with pytest.raises(UnknownMetricError, match="did you mean 'AO@10'"):
        rk.similarity(RUN, RUN, "AO10")


# --- means under any spelling


def test_a_mean_is_found_under_any_spelling() -> None:
    ev = rk.evaluate(QRELS, RUN, ["MAP@10", "ndcg_cut.5", "P(rel=1)@2"])

    # Hits at ranks 2 and 3, two relevant items.
    for name in ("MAP@10", "AP@10", "map_cut_10", rk.AP @ 10):
        assert ev.mean[name] == (1 / 2 + 2 / 3) / 2  # type: ignore[index]
        assert name in ev.mean
        assert ev.mean.get(name) == (1 / 2 + 2 / 3) / 2
    assert list(ev.mean) == ["MAP@10", "ndcg_cut.5", "P(rel=1)@2"]


def test_a_mean_that_was_not_asked_for_is_a_key_error() -> None:
    mean = rk.evaluate(QRELS, RUN, ["AP", "RR"]).mean

    for name in ("nDCG", "nDGC", "P@1,2", ""):
        with pytest.raises(KeyError, match="was not evaluated; the metrics are AP, RR"):
            _ = mean[name]
        assert name not in mean
        assert mean.get(name) is None
        assert mean.get(name, 7) == 7


def test_means_are_a_plain_dict_in_all_else() -> None:
    mean = rk.evaluate(QRELS, RUN, ["RR", "P@1"]).mean

    assert isinstance(mean, dict)
    assert mean == {"RR": 0.5, "P@1": 0.0}
    assert repr(mean) == "{'RR': 0.5, 'P@1': 0.0}"
    assert json.dumps(mean) == '{"RR": 0.5, "P@1": 0.0}'
    for other in (pickle.loads(pickle.dumps(mean)), copy.deepcopy(mean)):  # noqa: S301
        assert other == mean
        assert other["MRR"] == 0.5


def test_means_of_similarities_are_found_too() -> None:
    mean = rk.similarity(RUN, RUN, "tau").mean

    assert mean["kendall_tau"] == 1
    assert "AP" not in mean
