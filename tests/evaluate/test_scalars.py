"""Numbers by names that loggers accept."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

import pytest

import rankine as rk
from rankine._metrics.safe_names import safe_name
from rankine.errors import ParameterError
from tests.contracts import every_choice, values_for

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankine._metrics.metric import Metric

QRELS = {"q1": {"a": 1}, "q2": {"b": 2, "c": 1}}
RUN = {"q1": ["x", "a"], "q2": ["b", "x"]}
OTHER = {"q1": ["a", "x"], "q2": ["b", "x"]}
# What W&B can sort and filter by, which MLflow and TensorBoard accept as well.
SAFE = re.compile(r"[_a-zA-Z][_a-zA-Z0-9]*")
MLFLOW = re.compile(r"[/\w.\- ]+")
TENSORBOARD = re.compile(r"[-/\w.]+")


def with_choices(metric: Metric) -> Iterator[Metric]:
    metrics = [metric, *(own for own, _ in every_choice(metric))]
    yield from metrics
    if metric.fact.at is not None:
        for own in metrics:
            for cut in values_for(metric, metric.fact.at):
                yield own @ cut


@pytest.mark.parametrize("name", rk.metrics())
def test_a_safe_name_is_read_back_with_every_parameter(name: str) -> None:
    for metric in with_choices(rk.metrics()[name]):
        safe = safe_name(metric)

        assert SAFE.fullmatch(safe), safe
        if not any(callable(value) for _, value in metric.params):
            assert rk.parse(safe) == metric


def test_no_two_metrics_have_the_same_safe_name() -> None:
    by_name: dict[str, Metric] = {}
    for metric in rk.metrics().values():
        for own in with_choices(metric):
            known = by_name.setdefault(safe_name(own).casefold(), own)
            plain = not any(callable(value) for _, value in own.params)
            assert known == own or not plain


@pytest.mark.parametrize(
    ("metric", "safe"),
    [
        ("nDCG@10", "ndcg_at_10"),
        ("MAP", "ap"),
        ("RBP(p=0.95)@10", "rbp_at_10__p_0_95"),
        ("nDCG(gain='exponential',discount='log2')@5",
         "ndcg_at_5__gain_exponential__discount_log2"),
        ("IPrec@0.1", "iprec_at_0_1"),
        ("11pt", "_11pt"),
        ("BPM(T=2.5)", "bpm__T_2_5"),
        ("nDCG(ideal='given@k')", "ndcg__ideal_given_at_k"),
        ("RBP(rel=None)", "rbp__rel_null"),
        ("Compat(normalize=False)", "compat__normalize_false"),
        ("AP(rel=-1)", "ap__rel_hex_" + b"-1".hex()),
        ("Calibration(alpha=1e-05)", "calibration__alpha_hex_" + b"1e-05".hex()),
        ("11pt(levels=(0.5,1))", "_11pt__levels_hex_" + b"(0.5, 1)".hex()),
    ],
)  # fmt: skip
def test_names_by_hand(metric: str, safe: str) -> None:
    assert safe_name(rk.parse(metric)) == safe
    assert rk.parse(safe) == rk.parse(metric)


@pytest.mark.parametrize(
    ("text", "metric"),
    [
        ("NDCG_at_10", "nDCG@10"),
        ("recall_at_100", "R@100"),
        ("map_at_10", "AP@10"),
        ("mrr_at_10", "RR@10"),
        ("hit_rate_at_5", "Success@5"),
        ("alpha_ndcg_at_20", "alpha_nDCG@20"),
        ("iprec_at_recall_0.50", "IPrec@0.5"),  # trec_eval's own spelling stays
        ("ndcg_cut_10", "nDCG@10"),
    ],
)
def test_other_names_with_at_are_read(text: str, metric: str) -> None:
    assert rk.parse(text) == rk.parse(metric)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("ndcg_at_0", "k must be a positive integer"),
        ("ndcg_at_2_5", "k must be a positive integer"),
        ("ndcg__gain_cubic", "gain must be one of"),
        ("ndcg_at_10__nosuch_3", "unknown metric"),
        ("nosuch_at_10", "unknown metric 'nosuch_at_10'"),
        ("bpref_at_10", "no cutoff"),
    ],
)
def test_a_safe_name_that_is_none_is_refused(text: str, message: str) -> None:
    with pytest.raises(rk.errors.UsageError, match=message):
        rk.parse(text)


def test_a_metric_of_ones_own_is_read_back() -> None:
    def kernel(table: Any, *, k: int | None = None) -> Any:
        del k
        return table.lengths

    metric = rk.metric(kernel, name="Länge") @ 3

    assert SAFE.fullmatch(safe_name(metric))
    assert rk.parse(safe_name(metric)) == metric


@pytest.mark.parametrize(
    "value",
    ["null", "true", "10", "1_5", "a_at_b", "hex_31", "a b", "", 10, 1.0, None, True],
)
def test_words_that_look_like_something_else_are_read_back(value: Any) -> None:
    def kernel(table: Any, *, word: Any = "usual") -> Any:
        del word
        return table.lengths

    metric = rk.metric(kernel, name="Worded")(word=value)

    again = rk.parse(safe_name(metric))
    assert SAFE.fullmatch(safe_name(metric))
    assert again == metric
    assert type(again.get("word")) is type(value)


def test_the_numbers_stand_by_their_names_in_the_order_asked() -> None:
    ev = rk.evaluate(QRELS, RUN, ["RR@10", "NDCG@1", "NumRet"])

    scalars = ev.scalars("val/")

    assert scalars == {
        "val/rr_at_10": (1 / 2 + 1) / 2,
        "val/ndcg_at_1": 1 / 2,
        "val/numret": 4,
    }
    assert list(scalars) == ["val/rr_at_10", "val/ndcg_at_1", "val/numret"]
    assert all(type(value) is float for value in scalars.values())
    for name in scalars:
        assert MLFLOW.fullmatch(name)
        assert TENSORBOARD.fullmatch(name)
        assert ev[name.removeprefix("val/")] == scalars[name]


def test_unsafe_names_are_those_asked_for() -> None:
    ev = rk.evaluate(QRELS, RUN, ["MRR", "nDCG@1"])

    assert ev.scalars("val ", safe=False) == {f"val {k}": v for k, v in ev.mean.items()}


def test_intervals_follow_their_number() -> None:
    ev = rk.evaluate(QRELS, RUN, ["RR@10", "P@1"])

    scalars = ev.scalars(intervals=True)

    assert list(scalars)[:3] == ["rr_at_10", "rr_at_10_low", "rr_at_10_high"]
    low, high = ev.interval("RR@10")
    assert (scalars["rr_at_10_low"], scalars["rr_at_10_high"]) == (low, high)


def test_what_is_undefined_is_nan() -> None:
    rule = rk.Convention(empty_truth="nan")
    ev = rk.evaluate({"q": {"a": 0}}, {"q": ["a"]}, "RR", convention=rule)

    assert math.isnan(ev.scalars()["rr"])


@pytest.mark.parametrize("prefix", ["val@", "/val/", "val//", "a b/", "../", "v,", 3])
def test_a_prefix_that_a_logger_refuses_is_refused(prefix: Any) -> None:
    ev = rk.evaluate(QRELS, RUN, "RR")

    with pytest.raises(ParameterError, match="prefix"):
        ev.scalars(prefix)


@pytest.mark.parametrize("prefix", ["", "val/", "val_", "run-1/val.", "a/b/c/"])
def test_plain_prefixes_are_taken(prefix: str) -> None:
    assert list(rk.evaluate(QRELS, RUN, "RR").scalars(prefix)) == [f"{prefix}rr"]


def test_similarities_have_scalars_too() -> None:
    found = rk.similarity(RUN, OTHER, ["RBO(p=0.9)", "AO@2"])

    scalars = found.scalars()

    assert list(scalars) == ["rbo__p_0_9", "ao_at_2"]
    assert [found[name] for name in scalars] == list(scalars.values())


def test_a_comparison_has_a_scalar_per_system_and_metric() -> None:
    cmp = rk.compare(QRELS, {"a b": RUN, "new": OTHER}, ["RR@10"])

    assert cmp.scalars("t/") == {"t/a_b/rr_at_10": 3 / 4, "t/new/rr_at_10": 1}
    assert list(cmp.scalars(safe=False)) == ["a b/RR@10", "new/RR@10"]
    bounds = cmp.scalars(intervals=True)
    assert bounds["new/rr_at_10_low"] == cmp.table["low"][1]


def test_systems_whose_safe_names_are_the_same_are_refused() -> None:
    cmp = rk.compare(QRELS, {"a b": RUN, "A_b": OTHER}, "RR")

    with pytest.raises(ParameterError, match="'a b' and 'A_b' are both 'A_b'"):
        cmp.scalars()
    assert len(cmp.scalars(safe=False)) == 2
