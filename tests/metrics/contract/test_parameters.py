"""Names and parameters of every metric: read back, refused and explained alike."""

from __future__ import annotations

from typing import Any

import pytest

import rankine as rk
from rankine._metrics.metric import REGISTRY, Metric
from rankine.errors import ParameterError
from tests.metrics.contract.data import (
    CUT,
    NAMES,
    base_of,
    bound,
    every_metric,
    hints,
    possible,
    values_for,
    words,
)


@every_metric
def test_every_parameter_has_a_value_to_try(name: str) -> None:
    for parameter in REGISTRY[name].parameters:
        assert values_for(name, parameter), parameter


@every_metric
def test_the_text_of_a_metric_is_read_back(name: str) -> None:
    at = REGISTRY[name].at
    metrics = [Metric(name), *bound(name)]
    if at is not None:
        metrics += [
            metric @ value for metric in metrics for value in values_for(name, at)
        ]
    for metric in metrics:
        again = rk.parse(str(metric))

        assert again == metric
        assert hash(again) == hash(metric)
        assert str(again) == str(metric)


@every_metric
def test_aliases_are_read_without_regard_to_case(name: str) -> None:
    for alias in REGISTRY[name].aliases:
        for text in (alias, alias.upper(), alias.lower()):
            assert rk.parse(text) == Metric(name), text


@pytest.mark.parametrize("name", ["ndcg@10", "NDCG@10", "Ndcg@10", "ndcg_cut.10"])
def test_64_case_does_not_matter_where_it_is_unique(name: str) -> None:
    assert rk.parse(name) == rk.nDCG @ 10


@every_metric
def test_an_unknown_parameter_is_an_error(name: str) -> None:
    with pytest.raises(ParameterError, match="has no parameter 'nosuch'"):
        Metric(name)(nosuch=1)


@every_metric
def test_a_word_outside_the_choices_is_an_error(name: str) -> None:
    for parameter, hint in hints(name).items():
        if parameter in REGISTRY[name].parameters and words(hint):
            with pytest.raises(ParameterError, match=parameter):
                base_of(name)(**{parameter: "nosuch"})


@every_metric
def test_every_word_in_the_signature_is_accepted(name: str) -> None:
    for parameter, hint in hints(name).items():
        if parameter in REGISTRY[name].parameters:
            refused = [w for w in words(hint) if not possible(name, parameter, w)]

            assert refused == [], parameter


@pytest.mark.parametrize("name", [n for n in NAMES if REGISTRY[n].at is None])
def test_a_cutoff_is_refused_where_there_is_none(name: str) -> None:
    with pytest.raises(ParameterError, match="no cutoff"):
        _ = Metric(name) @ 5


@pytest.mark.parametrize("name", CUT)
@pytest.mark.parametrize("k", [0, -1, 2.5, True, "5"])
def test_a_cutoff_is_a_positive_integer(name: str, k: Any) -> None:
    with pytest.raises(ParameterError, match="k must be a positive integer"):
        _ = Metric(name) @ k


@every_metric
def test_the_docstring_has_all_sections_and_parameters(name: str) -> None:
    text = REGISTRY[name].kernel.__doc__ or ""
    lines = [line.strip() for line in text.splitlines()]
    sections = ["Formula:", "Args:", "Returns:", "References:", "Examples:"]
    places = [lines.index(section) for section in sections]
    arguments = "\n".join(lines[places[1] : places[2]])

    assert places == sorted(places)
    assert ">>> " in "\n".join(lines[places[-1] :])
    for parameter in REGISTRY[name].parameters:
        assert f"{parameter}: " in arguments, parameter


# --- the public door


def test_conventions_can_be_listed_after_an_evaluation() -> None:
    rk.evaluate({"q": {"a": 1}}, {"q": ["a"]}, ["AP"])

    assert "trec_eval-9" in rk.conventions()
