"""depth=: the numbers of a run whose lists were cut before, as with trec_eval's -M."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

import rankine as rk
from rankine._metrics.lists.kind import LISTED
from rankine.errors import DataError, ParameterError
from tests.evaluate.streams import small
from tests.metrics.contract.data import CATALOG, NAMES, bound, data

if TYPE_CHECKING:
    from collections.abc import Callable

    from rankine._evaluate.result import Evaluation

pytestmark = pytest.mark.slow

Run = dict[Any, dict[Any, float]]
RULES: dict[str, dict[str, Any]] = {
    "default": {},
    "removed": {"unjudged": "removed"},
    "pool of the list": {"pool": "list"},
    "pool of both": {"pool": "union"},
    "floor": {"score_floor": 0.2},
    "queries of both": {"queries": "both"},
    "queries of the run": {"queries": "run"},
    "losses": {"negative": "keep"},
    "ascending": {"tie": "id_asc"},
    "all at once": {"unjudged": "removed", "pool": "list", "queries": "both"},
}
SOME = ("P@2", "P@4", "R@3", "AP", "AP@3", "nDCG", "nDCG@3", "RR", "AUC", "Bpref")


def framed(run: Run) -> pl.DataFrame:
    rows = [(q, i, s) for q, entry in run.items() for i, s in entry.items()]
    return pl.DataFrame(rows, schema=["query", "item", "score"], orient="row")


def matrix(run: Run) -> Any:
    items = sorted({item for entry in run.values() for item in entry})
    cells = [[entry.get(item, -np.inf) for item in items] for entry in run.values()]
    return rk.from_scores(np.array(cells), queries=list(run), items=items)


FORMS: dict[str, Callable[[Run], Any]] = {
    "dict": dict,
    "frame": framed,
    "matrix": matrix,
    "stream": lambda run: framed(run).lazy(),
}


def truncated(run: Run, depth: int, *, ascending: bool = False) -> Run:
    """Keep the first items of each list, equal scores by the texts of their ids."""
    best = {
        query: sorted(
            sorted(entry, key=str, reverse=not ascending), key=lambda item: -entry[item]
        )
        for query, entry in run.items()
    }
    return {
        query: {item: run[query][item] for item in items[:depth]}
        for query, items in best.items()
    }


def same(ours: Evaluation, theirs: Evaluation) -> None:
    """Compare all values and all numbers to the last bit."""
    assert str(ours.mean) == str(theirs.mean)
    for metric in ours.mean:
        both = [
            dict(ev.per_query.select("query", metric).rows()) for ev in (ours, theirs)
        ]
        assert both[0] == both[1], metric


def evaluate(
    form: str, qrels: Any, run: Run, *asked: Any, **options: Any
) -> Evaluation:
    engine = "stream" if form == "stream" else "memory"
    with small():
        return rk.evaluate(qrels, FORMS[form](run), *asked, engine=engine, **options)


@pytest.mark.parametrize("ties", [False, True], ids=["strict", "ties"])
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("choice", RULES)
def test_every_metric(choice: str, form: str, *, ties: bool) -> None:
    rule = rk.Convention(**RULES[choice])
    qrels, run = data(0, ties=ties)
    shorter = truncated(run, 3, ascending=rule.tie == "id_asc")
    given: Any = {"convention": rule, "catalog": CATALOG}

    found = evaluate(form, qrels, run, NAMES, depth=3, **given)

    same(found, rk.evaluate(qrels, shorter, NAMES, **given))


@pytest.mark.parametrize("depth", [1, 2, 5])
@pytest.mark.parametrize("choice", ["default", "removed", "pool of both"])
def test_every_choice(choice: str, depth: int) -> None:
    qrels, run = data(1)
    asked = [
        metric for name in NAMES for metric in bound(name) if not metric.get("ties")
    ]
    given: Any = {"convention": rk.Convention(**RULES[choice]), "catalog": CATALOG}

    found = rk.evaluate(qrels, run, asked, depth=depth, **given)

    same(found, rk.evaluate(qrels, truncated(run, depth), asked, **given))


@pytest.mark.parametrize("preset", rk.conventions())
def test_every_preset(preset: str) -> None:
    qrels, run = data(2, ties=False)
    run = truncated(run, 99)  # some presets take the order that is given

    shorter = truncated(run, 3)
    given: Any = {"convention": preset, "catalog": CATALOG}
    for metric in SOME:
        try:
            expected = rk.evaluate(qrels, shorter, metric, **given)
            found = rk.evaluate(qrels, run, metric, depth=3, **given)
        except (ParameterError, DataError):  # ties are spread, or grades refused
            continue
        same(found, expected)


@pytest.mark.parametrize("form", FORMS)
def test_metrics_of_lists(form: str) -> None:
    qrels, run = data(3)
    items = sorted({item for entry in run.values() for item in entry}, key=str)
    given: Any = {
        "train": {query: items[query : query + 9] for query in run},
        "items": {item: "abc"[item % 3] for item in items},
        "reference": {query: items[query : query + 3] for query in run},
        "catalog": items,
    }

    found = evaluate(form, qrels, run, list(LISTED), depth=2, **given)

    same(found, rk.evaluate(qrels, truncated(run, 2), list(LISTED), **given))


def test_a_tie_at_the_depth_is_cut() -> None:
    qrels = {"q": {"a": 0, "b": 1, "c": 1}}
    run = {"q": {"a": 2.0, "b": 1.0, "c": 1.0}}

    ev = rk.evaluate(qrels, run, "AUC", depth=2)

    # a, c: the one pair is in the wrong order.
    assert ev["AUC"] == 0 / 1
    assert ev.notes[-1] == (
        "1 query with judged items tied across the depth of the lists: the tie rule "
        "decides"
    )


def test_lists_are_cut_before_unjudged_items_are_removed() -> None:
    qrels, run = {"q": {"a": 1, "d": 1}}, {"q": {"x": 4.0, "b": 3.0, "a": 2.0}}
    rule = rk.Convention(unjudged="removed")

    assert rk.evaluate(qrels, run, "AP", depth=2, convention=rule)["AP"] == 0
    assert rk.evaluate(qrels, run, "AP", depth=3, convention=rule)["AP"] == 1 / 1 / 2


def test_lists_are_cut_before_they_are_the_pool() -> None:
    qrels = {"q": {"a": 1, "d": 1}}
    run = {"q": {"a": 4.0, "b": 3.0, "c": 2.0, "d": 1.0}}

    ev = rk.evaluate(qrels, run, "R@3", depth=2, convention="torchmetrics")

    assert ev["R@3"] == 1 / 1


@pytest.mark.parametrize("form", FORMS)
def test_judged_items_below_the_depth_are_in_the_run(form: str) -> None:
    run: Run = {q: {item: 100.0 - item for item in range(100)} for q in range(30)}
    qrels = {query: dict.fromkeys(range(50, 60), 1) for query in run}

    for rule in (rk.Convention(), rk.Convention(unjudged="removed", queries="both")):
        ev = evaluate(form, qrels, run, "P@10", depth=10, convention=rule)

        assert ev.warnings == ()


@pytest.mark.parametrize("form", FORMS)
def test_judged_items_that_are_not_in_the_run_are_missed(form: str) -> None:
    run: Run = {q: {item: 100.0 - item for item in range(100)} for q in range(30)}
    qrels = {query: dict.fromkeys(range(150, 160), 1) for query in run}

    for rule in (rk.Convention(), rk.Convention(unjudged="removed", pool="union")):
        ev = evaluate(form, qrels, run, "P@10", depth=10, convention=rule)

        assert "no judged item is in the run" in ev.warnings[0]


def test_ranks_below_the_depth_are_unknown_of_condensed_lists_too() -> None:
    qrels = {"q": {"a": 1, "b": 1}}
    run = {"q": {"x": 4.0, "a": 3.0, "b": 2.0}}
    rule = rk.Convention(unjudged="removed")

    ev = rk.evaluate(qrels, run, "AP", depth=2, convention=rule, keep=2)

    assert "not in the first 2" in str(ev.worst("AP"))
