"""Metrics of lists: every tool's number, and the choices that make it another."""

from __future__ import annotations

import math
import re
from typing import Any

import polars as pl
import pytest

import rankine as rk
from rankine._conventions.phrases import in_words
from rankine._conventions.presets import PRESETS
from rankine._conventions.tools import TOOLS
from rankine._evaluate.warnings import told
from rankine._metrics.lists.kind import LISTED
from rankine.errors import ParameterError, RankineError
from tests.metrics.lists.twin import world

pytestmark = pytest.mark.slow

rk.metrics()  # fills the registry
METRICS = [form for name in LISTED for form in (name, f"{name}@3")]
"""Every metric, with a cutoff where it has one."""
METRICS = [text for text in METRICS if "@" not in text or LISTED[text[:-2]].at == "k"]


def ranked(lists: dict[str, list[str]]) -> pl.DataFrame:
    """Return rows with scores that tie, and ranks with gaps."""
    rows = [
        (user, item, float(-(place // 2)), 2 * place + 1)
        for user, shown in lists.items()
        for place, item in enumerate(shown)
    ]
    return pl.DataFrame(rows, ["query", "item", "score", "rank"], orient="row")


def known(seed: int, metric: str) -> tuple[Any, Any, dict[str, Any]]:
    """Return judgements, lists with scores and ranks, and all that is known besides."""
    made = world(seed)
    needs = LISTED[metric.partition("@")[0]].needs
    return made.truth, ranked(made.lists), {
        "train": made.train,
        "reference": ranked(made.other),
        "items": made.vectors if "vectors" in needs else made.topics,
        "weights": {user: 1 + at % 3 for at, user in enumerate([*made.lists, "late"])},
    }  # fmt: skip


def same(first: float | None, second: float | None) -> bool:
    """Say whether two numbers are the same to the last bit."""
    both = first is not None and second is not None
    return first == second or (both and math.isnan(first) and math.isnan(second))  # type: ignore[arg-type]


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("seed", range(3))
def test_rows_are_what_evaluate_gives(metric: str, seed: int) -> None:
    qrels, run, given = known(seed, metric)

    found = rk.reconcile(qrels, run, metric, **given)

    assert [row.convention for row in found.rows] == list(rk.conventions())
    for row in found.rows:
        if not TOOLS[row.convention].has(metric.partition("@")[0]):
            assert row.value is None
            assert row.why
            continue
        if row.value is None:
            with pytest.raises(RankineError, match=re.escape(row.why)):
                rk.evaluate(qrels, run, metric, convention=row.convention, **given)
            continue
        alone = rk.evaluate(qrels, run, metric, convention=row.convention, **given)
        assert same(row.value, alone[metric]), row.convention
        assert row.warnings == told(alone.findings.cautions)  # not what data say
    assert found["rankine"] is not None


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("seed", range(3))
def test_the_steps_lead_from_one_number_to_the_other(metric: str, seed: int) -> None:
    qrels, run, given = known(seed, metric)
    found = rk.reconcile(qrels, run, metric, **given)

    having = [row.convention for row in found.rows if row.value is not None]
    for first in having:
        for second in having:
            way = found.explain(first, second)

            assert same(way.value_first, found[first]), (first, second)
            assert same(way.value_second, found[second]), (first, second)


@pytest.mark.parametrize("metric", METRICS)
def test_reasons_are_enough_for_the_number(metric: str) -> None:
    qrels, run, given = known(1, metric)

    found = rk.reconcile(qrels, run, metric, **given)

    base = found._choices("rankine")  # noqa: SLF001 - what the words stand for
    for group in found.groups[1:]:
        for name, words in group.because.items():
            own = found._choices(name)  # noqa: SLF001
            told = {key for key in own if in_words(key, own[key]) in words}
            value = found._value(base | {key: own[key] for key in told})  # noqa: SLF001
            assert value == pytest.approx(group.value, nan_ok=True), name


@pytest.mark.parametrize("metric", list(LISTED))
def test_every_choice_has_words(metric: str) -> None:
    qrels, run, given = known(0, metric)
    found = rk.reconcile(qrels, run, metric, conventions=["rankine"], **given)

    for name in PRESETS:
        for key, value in found._choices(name).items():  # noqa: SLF001
            assert not in_words(key, value).startswith(f"{key} is"), (name, key)


# By hand: of u's items a and b, another recommender shows a, and the user had none.

LISTS = {"u": ["a", "b"], "v": ["b", "c"]}
OTHER = {"u": ["a", "x"], "v": ["x", "y"]}


def test_unexpectedness_by_features_or_by_another_recommender() -> None:
    films = {"a": [1, 0], "b": [0, 1], "c": [0, 1]}
    train = {"u": ["a"], "v": ["b"]}

    found = rk.reconcile(
        None, LISTS, "Unexpectedness@2", items=films, train=train, reference=OTHER
    )

    # u: a is like a, b is not. v: b and c are like b.
    assert found["ranksys"] == ((0 + 1) / 2 + (0 + 0) / 2) / 2
    # u: one of two is not in the reference. v: both.
    assert found["replay"] == (1 / 2 + 2 / 2) / 2
    (step,) = found.explain("ranksys", "replay").steps
    assert (step.field, step.before, step.after) == ("by", "features", "reference")
    assert step.words == "counts items that another recommender does not have"
    assert (step.query, step.query_before, step.query_after) == ("v", 0, 1)
    assert step.change == 3 / 4 - 1 / 4


def test_what_was_not_given_is_a_reason() -> None:
    films = {"a": [1, 0], "b": [0, 1], "c": [0, 1]}

    found = rk.reconcile(
        None, LISTS, "Unexpectedness@2", items=films, train={"u": ["a"]}
    )

    rows = {row.convention: row for row in found.rows}
    assert rows["ranksys"].value == (0 + 1) / 2
    assert rows["replay"].value is None
    assert rows["replay"].why == (
        "Unexpectedness@2 needs the lists of another recommender; give reference= or "
        "--reference"
    )
    assert rows["relison"].why == (
        "its Unexpectedness is defined differently, and not computed here"
    )
    assert rows["ranx"].why == "this tool has no such metric"


def test_nobody_can_do_without_the_catalogue() -> None:
    with pytest.raises(ParameterError, match="Gini needs the catalogue; give catalog="):
        rk.reconcile(None, LISTS, "Gini")


@pytest.mark.parametrize("metric", ["AP@10", "RR", "EPC(judged=True)@2"])
def test_nobody_can_do_without_judgements(metric: str) -> None:
    with pytest.raises(ParameterError, match="needs judgements"):
        rk.reconcile(None, LISTS, metric, train={"u": ["a"]})


def test_coverage_is_a_share_or_a_count_and_is_rounded_last() -> None:
    found = rk.reconcile(None, LISTS, "Coverage@2", catalog=["a", "b", "d"])

    # Of a, b and c, two are in the catalogue of three.
    assert found["rankine"] == 2 / 3
    assert found["rectools"] == found["lenskit"] == found["elliot"] == 3
    assert found["recommenders"] == 3 / 3
    assert found["recbole"] == 3 / 4
    way = found.explain("rankine", "recmetrics")
    assert [step.field for step in way.steps] == ["outside", "scale"]
    assert way.value_second == 100
    back = found.explain("recmetrics", "rankine")
    assert [step.field for step in back.steps] == ["scale", "outside"][::-1]
    assert back.unmoved[0] == "decimals"


@pytest.mark.parametrize(
    ("option", "moved"),
    [
        ({"depth": 1}, 2 / 4),
        ({"weights": {"u": 3, "v": 1}}, 3 / 4),
        ({}, 3 / 4),
    ],
)
def test_options_are_those_of_evaluate(option: dict[str, Any], moved: float) -> None:
    found = rk.reconcile(None, LISTS, "Coverage", catalog=4, **option)

    assert found["rankine"] == moved


def test_distances_are_ranked_the_other_way_round() -> None:
    run = {"u": {"a": 0.1, "b": 0.9}}

    found = rk.reconcile(None, run, "Coverage@1", catalog=["a"], lower_is_better=True)

    assert found["rankine"] == 1
