"""The provider for ir_measures, where it is installed, as by `make oracle`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import pytest

from rankine.compat.ir_measures import measure, register
from rankine.errors import MissingExtraError

QRELS = {"1": {"a": 1, "b": 2}, "2": {"c": 1}}
RUN = {"1": {"x": 3.0, "a": 2.0, "b": 1.0}, "3": {"c": 1.0}}


@pytest.mark.parametrize("call", [register, lambda: measure("AP")])
def test_it_says_what_to_install(call: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ir_measures", None)
    with pytest.raises(MissingExtraError, match="pip install ir-measures"):
        call()


@pytest.fixture
def peer() -> Iterator[Any]:
    """Return the library, in which rankine is registered until the test is over."""
    library = pytest.importorskip("ir_measures")
    providers = library.DefaultPipeline.providers
    before = [*providers]
    register()
    yield library
    providers[:] = before


def values(
    peer: Any, text: str, qrels: Any = QRELS, run: Any = RUN
) -> dict[str, float]:
    asked = peer.parse_measure(text)
    return {m.query_id: m.value for m in peer.iter_calc([asked], qrels, run)}


def test_it_is_first_and_there_once(peer: Any) -> None:
    register()
    names = [provider.NAME for provider in peer.DefaultPipeline.providers]

    assert names[0] == "rankine"
    assert names.count("rankine") == 1


def test_judged_queries_without_a_list_count_as_zero(peer: Any) -> None:
    assert values(peer, "AP") == {"1": (1 / 2 + 2 / 3) / 2, "2": 0}
    mean = peer.calc_aggregate([peer.AP], QRELS, RUN)[peer.AP]
    assert mean == pytest.approx((7 / 12 + 0) / 2)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("RR(rel=2)", 1 / 3),
        ("P(judged_only=True)@2", 1),
        ("SetP(relative=True)", 2 / 2),
        ("NumRet(rel=1)", 2),
        ("nDCG(gains={1:0})@3", (2 / 2) / 2),
    ],
)
def test_parameters(peer: Any, text: str, value: float) -> None:
    assert values(peer, text)["1"] == pytest.approx(value)


@pytest.mark.parametrize(("qrels", "run"), [(QRELS, {}), (QRELS, {"3": {"c": 1.0}})])
def test_nothing_in_common(peer: Any, qrels: Any, run: Any) -> None:
    assert values(peer, "AP", qrels, run) == {"1": 0, "2": 0}


def test_an_empty_list_is_a_list(peer: Any) -> None:
    assert values(peer, "NumRel", run={"1": {}, "3": {"c": 1.0}}) == {"1": 2, "2": 0}


def test_subtopics_are_iterations(peer: Any) -> None:
    qrels = [peer.Qrel("1", "a", 1, "x"), peer.Qrel("1", "b", 1, "y")]

    assert values(peer, "StRecall@1", qrels, {"1": {"a": 1.0}}) == {"1": 1 / 2}


def test_every_measure_but_one_is_supported(peer: Any) -> None:
    first = peer.DefaultPipeline.providers[0]
    ours = {own.NAME for own in first.SUPPORTED_MEASURES}

    assert {m.NAME for m in peer.measures.registry.values()} - ours == {"SDCG"}


def test_a_measure_of_ones_own_stays_so(peer: Any) -> None:
    own = peer.define_byquery(lambda *_: 7.0, name="AP", support_cutoff=False)

    run = {"1": RUN["1"]}
    assert peer.calc_aggregate([own], QRELS, run)[own] == (7 + 0) / 2


def test_a_metric_that_it_lacks(peer: Any) -> None:
    tied = {"1": {"a": 1.0, "x": 1.0}}
    average = measure("P@1", ties="average")

    assert str(average) == "P@1[ties='average']"
    found = peer.calc_aggregate([average], {"1": {"a": 1}}, tied)
    assert found[average] == 1 / 2
