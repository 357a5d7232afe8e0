"""Results are copied and pickled with all that they tell."""

from __future__ import annotations

import copy
import pickle
from operator import ne
from typing import Any

import polars as pl
import pytest

import rankine as rk
from rankine._evaluate import custom
from rankine.errors import UnknownMetricError

QRELS = {"q": {"a": 2, "b": 1}, "r": {"b": 1}}
RUN = {"q": {"a": 3.0, "x": 2.0, "b": 1.0}, "r": {"x": 2.0, "b": 1.0}}
LISTS = {query: list(scores) for query, scores in RUN.items()}
ROWS = [
    (query, item, score) for query, own in RUN.items() for item, score in own.items()
]
FRAME = pl.DataFrame(ROWS, ["query", "item", "score"], orient="row")
FORMS = {
    "mapping": RUN,
    "lists": LISTS,
    "frame": FRAME,
    "pandas": FRAME.to_pandas(),
    "ranks": FRAME.with_columns(pl.Series("rank", [1, 2, 3, 1, 2])),
}
ASKED: list[tuple[list[str], dict[str, Any]]] = [
    (["AP", "P@1", "AUC"], {}),
    (["AP"], {"keep": 2}),
    (["AP"], {"weights": {"q": 2, "r": 1}}),
    (["AP", "Length"], {}),
    (["Coverage@2", "InterListDiversity"], {"catalog": 9}),
    (["SubtopicRecall", "TopicEntropy"], {"items": {"a": "war", "b": "love"}}),
    (["ILD", "AP"], {"items": {"a": [1, 0], "b": [0, 1], "x": [1, 1]}}),
    (["ILD"], {"items": ne}),
    (["Novelty", "Serendipity", "Unexpectedness(by='users')"], {"train": LISTS}),
]


def pickled(value: Any) -> Any:
    return pickle.loads(pickle.dumps(value))  # noqa: S301 - our own


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("metrics", "more"), ASKED, ids=lambda one: str(one)[:20])
@pytest.mark.parametrize("again", [copy.deepcopy, pickled])
def test_a_result_tells_the_same(
    form: str, metrics: list[str], more: dict[str, Any], again: Any
) -> None:
    rk.metric(lambda ranking, judged: len(ranking), name="Length")  # noqa: ARG005
    ev = rk.evaluate(QRELS, FORMS[form], metrics, **more)

    found = again(ev)  # before anything was asked of it

    assert (found.mean, found.notes, found.warnings) == (ev.mean, ev.notes, ev.warnings)
    assert found.per_query.equals(ev.per_query)
    assert str(again(ev)) == str(found) == str(ev)  # and after


def test_a_metric_is_pickled_by_its_name() -> None:
    made = rk.metric(lambda ranking, judged, k=3: 1.0, name="Named")  # noqa: ARG005
    text = pickle.dumps(made @ 5)

    assert pickle.loads(text) == made @ 5  # noqa: S301 - our own
    custom.forget("Named")
    with pytest.raises(UnknownMetricError, match="unknown metric 'Named'"):
        pickle.loads(text)  # noqa: S301 - our own
