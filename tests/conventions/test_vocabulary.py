"""A choice has one name, as a field of a convention and as a parameter of a metric.

What it was called before is read as well, and becomes the name when the object is made.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, get_args, get_origin, get_type_hints

import pytest

import rankine as rk
from rankine._conventions.convention import FIELDS, SHARED
from rankine._conventions.spellings import SPELLINGS, canonical
from rankine._join import Judged, Ties
from rankine._metrics.lists.kind import LISTED
from rankine._metrics.metric import REGISTRY
from rankine._metrics.similarity.measures import MEASURES
from rankine.errors import ParameterError

if TYPE_CHECKING:
    from pathlib import Path

QRELS = {"q1": {"a": 2, "b": 1, "c": 0}, "q2": {"a": 1}}
RUN = {"q1": ["x", "b", "a"], "q2": ["y", "a"]}

OLD = [
    ("gain", "exp2", "exponential"),
    ("gain", "exp2_thr", "exponential_rel"),
    ("discount", "log2(r+1)", "log2"),
    ("discount", "log2(max(r,b))", "jk"),
    ("ideal", "judged_all", "judged"),
    ("ideal", "given_order@k", "given@k"),
    ("aggregate", "micro", "ratio_of_sums"),
    ("aggregate", "macro", "mean_of_ratios"),
]
old_words = pytest.mark.parametrize(("field", "old", "word"), OLD)

rk.metrics()  # fills the registries
FACTS = [*REGISTRY.values(), *LISTED.values(), *MEASURES.values()]
FOLLOWED = [
    pytest.param(fact, parameter, field, id=f"{fact.name}-{parameter}")
    for fact in FACTS
    for parameter, field in fact.follows.items()
]


def words(hint: Any) -> set[Any]:
    if get_origin(hint) is Literal:
        return set(get_args(hint))
    return {word for part in get_args(hint) for word in words(part)}


def words_of_parameter(fact: Any, parameter: str) -> set[Any]:
    known = vars(sys.modules[fact.kernel.__module__])
    missing = {"Floats": Any, "Judged": Judged, "Ties": Ties, "Mapping": Mapping}
    return words(get_type_hints(fact.kernel, {**missing, **known})[parameter])


def test_all_old_words_are_listed() -> None:
    read = [(field, *pair) for field, own in SPELLINGS.items() for pair in own.items()]

    assert sorted(read) == sorted(OLD)


@pytest.mark.parametrize(("fact", "parameter", "field"), FOLLOWED)
def test_a_field_has_the_words_of_the_parameter(
    fact: Any, parameter: str, field: str
) -> None:
    choices = words(get_type_hints(rk.Convention)[field])

    assert choices
    assert choices <= words_of_parameter(fact, parameter)


@old_words
def test_a_convention_takes_both_words(field: str, old: str, word: str) -> None:
    rule = rk.Convention(**{field: old})  # type: ignore[arg-type]

    assert getattr(rule, field) == word
    assert rule == rk.Convention(**{field: word})  # type: ignore[arg-type]
    assert hash(rule) == hash(rk.Convention().replace(**{field: old}))
    assert rule.to_dict()[field] == word
    assert old not in repr(rule)


@pytest.mark.parametrize(
    ("metric", "text"),
    [
        (rk.nDCG(gain="exp2"), "nDCG(gain='exponential')"),
        (rk.DCG(gain="exp2_thr", rel=2), "DCG(gain='exponential_rel',rel=2)"),
        (rk.CG(gain="exp2"), "CG(gain='exponential')"),
        (rk.nDCG(discount="log2(max(r,b))"), "nDCG(discount='jk')"),
        (rk.nDCG(ideal="judged_all"), "nDCG(ideal='judged')"),
        (rk.nDCG(ideal="given_order@k") @ 5, "nDCG(ideal='given@k')@5"),
        (rk.RScore(aggregate="macro"), "RScore(aggregate='mean_of_ratios')"),
        (rk.Novelty(aggregate="micro"), "Novelty(aggregate='ratio_of_sums')"),
    ],
)
def test_a_metric_takes_both_words(metric: rk.Metric, text: str) -> None:
    assert str(metric) == text
    assert metric == rk.parse(text)
    assert hash(metric) == hash(rk.parse(text))


def test_a_name_takes_both_words() -> None:
    assert rk.parse("nDCG(gain=exp2)@3") == rk.parse("nDCG(gain=exponential)@3")
    assert rk.parse("DCG(discount='log2(r+1)')") == rk.DCG(discount="log2")


def test_both_words_give_one_number() -> None:
    metric = rk.nDCG(gain="exponential") @ 3
    new = rk.evaluate(QRELS, RUN, metric)[metric]

    for rule in (rk.Convention(gain="exp2"), rk.Convention(gain="exponential")):  # type: ignore[arg-type]
        assert rk.evaluate(QRELS, RUN, "nDCG@3", convention=rule)["nDCG@3"] == new


def test_overrides_take_both_words() -> None:
    old = rk.Convention(
        overrides={
            "nDCG": {"gain": "exp2", "ideal": "judged_all"},
            "P": {"aggregate": "micro"},
        }
    )
    new = rk.Convention(
        overrides={
            "nDCG": {"gain": "exponential", "ideal": "judged"},
            "P": {"aggregate": "ratio_of_sums"},
        }
    )

    assert old == new
    assert old.to_dict() == new.to_dict()


def test_a_file_takes_both_words(tmp_path: Path) -> None:
    path = tmp_path / "ours.yaml"
    path.write_text(
        "base: jurity\ngain: exp2\ndiscount: log2(max(r,b))\nideal: judged_all\n"
        "aggregate: micro\noverrides:\n  nDCG: {ideal: given_order@k}\n"
    )

    assert rk.Convention.from_yaml(path) == rk.conventions()["jurity"].replace(
        gain="exponential",
        discount="jk",
        ideal="judged",
        aggregate="ratio_of_sums",
        overrides={"nDCG": {"ideal": "given@k"}},
    )


def test_a_saved_result_with_the_old_words_is_read() -> None:
    rule = rk.Convention(gain="exponential", ideal="judged")
    ev = rk.evaluate(QRELS, RUN, "nDCG@2", convention=rule)
    text = (
        ev.to_json().replace('"exponential"', '"exp2"').replace('"log2"', '"log2(r+1)"')
    )
    text = text.replace('"judged"', '"judged_all"').replace(
        '"mean_of_ratios"', '"macro"'
    )
    assert json.loads(text)["convention"]["gain"] == "exp2"

    again = rk.load(text)

    assert again.convention == rule
    assert again.mean == ev.mean
    assert again.metrics == ev.metrics


@pytest.mark.parametrize(
    ("field", "wrong", "words"),
    [
        ("gain", "exponentail", "binary, linear, exponential, exponential_rel"),
        ("discount", "log", "log2, jk"),
        ("ideal", "judged_al", "judged@k, judged, judged@list, k_ones, given@k"),
    ],
)
def test_a_refusal_lists_the_words_that_are_used_now(
    field: str, wrong: str, words: str
) -> None:
    with pytest.raises(ParameterError) as refused:
        rk.Convention(**{field: wrong})  # type: ignore[arg-type]

    assert f"{field} must be one of {words}, got {wrong!r}" in str(refused.value)


def test_what_is_not_a_word_stays_as_it_is() -> None:
    assert canonical("gain", {1: 2.0}) == {1: 2.0}
    assert canonical("threshold", 2) == 2
    assert canonical("gain", ["exp2"]) == ["exp2"]


# Fields and parameters of one name


def test_shared_names_are_those_that_metrics_have_for_themselves() -> None:
    """Such a field of an override is checked when its metric is known."""
    assert {key for fact in FACTS for key in fact.apart} == SHARED
    assert set(FIELDS) >= SHARED


def test_a_parameter_of_the_name_of_a_field_is_meant_where_a_metric_has_it() -> None:
    rule = rk.Convention(
        overrides={"RScore": {"aggregate": "mean_of_ratios"}, "RBP": {"gain": "linear"}}
    )
    ev = rk.evaluate({"u": {"a": 2}}, {"u": ["a"]}, ["RScore", "RBP"], convention=rule)

    assert [str(metric) for metric in ev.bound] == [
        "RScore(aggregate='mean_of_ratios')",
        "RBP(gain='linear')",
    ]


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        ({"nDCG": {"gain": "nosuch"}}, "gain must be one of"),
        ({"nDCG@k": {"gain": "nosuch"}}, "gain must be one of"),
        ({"P": {"aggregate": "sum"}}, "aggregate must be one of"),
        ({"DCG": {"negative": "judged"}}, "negative must be one of"),
    ],
)
def test_a_word_that_is_not_one_of_its_metric_is_refused_before_data_is_read(
    overrides: dict[str, Any], message: str
) -> None:
    rule = rk.Convention(overrides=overrides)

    with pytest.raises(ParameterError, match=message):
        rk.evaluate("no such file", "no such file", "RR", convention=rule)
