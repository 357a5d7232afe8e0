"""Results are copied and pickled with all that they tell."""

from __future__ import annotations

import copy
import os
import pickle
import subprocess
import sys
from functools import partial
from operator import ne
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import rankine as rk
from rankine._evaluate import custom
from rankine.errors import ParameterError, UnknownMetricError

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


@pytest.mark.slow
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


def length(ranking: list[Any], judged: dict[Any, float]) -> float:  # noqa: ARG001
    return len(ranking)


def first(ranking: list[Any], judged: dict[Any, float]) -> float:
    return judged.get(ranking[0], 0)


class Times:
    """Has the length of a list, so many times."""

    def __init__(self, n: int) -> None:
        self.n = n

    def __call__(self, ranking: list[Any], judged: dict[Any, float]) -> float:  # noqa: ARG002
        return self.n * len(ranking)


def enclosing(n: int) -> Any:
    return lambda ranking, judged: n * len(ranking)  # noqa: ARG005


# What is defined first, and what under its name afterwards.
PAIRS = {
    "functions": (length, first),
    "values that are enclosed": (enclosing(1), enclosing(2)),
    "defaults": (
        lambda ranking, judged, n=1: n * len(ranking),  # noqa: ARG005
        lambda ranking, judged, n=2: n * len(ranking),  # noqa: ARG005
    ),
    "constants": (
        lambda ranking, judged: 1 * len(ranking),  # noqa: ARG005
        lambda ranking, judged: 3 * len(ranking),  # noqa: ARG005
    ),
    "kernels": (
        lambda table: table.n_retrieved * 1.0,
        lambda table: table.n_retrieved * 2.0,
    ),
    "partials": (partial(length), partial(first)),
    "methods": (Times(1).__call__, Times(2).__call__),
    "objects": (Times(1), Times(2)),
}


@pytest.mark.parametrize("pair", PAIRS)
@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy])
def test_a_copy_keeps_its_function(pair: str, again: Any) -> None:
    old, new = PAIRS[pair]
    made = again(rk.metric(old, name="Own"))

    rk.metric(new, name="Own")

    # q has three items, r has two.
    assert rk.evaluate(QRELS, RUN, made)["Own"] == (3 + 2) / 2
    assert rk.evaluate(QRELS, RUN, "Own")["Own"] != (3 + 2) / 2


@pytest.mark.parametrize("pair", PAIRS)
def test_a_pickle_is_never_another_function(pair: str) -> None:
    old, new = PAIRS[pair]
    text = pickle.dumps(rk.metric(old, name="Own"))

    rk.metric(old, name="Own")  # the same again
    assert rk.evaluate(QRELS, RUN, pickle.loads(text))["Own"] == (3 + 2) / 2  # noqa: S301
    rk.metric(new, name="Own")
    with pytest.raises(ParameterError, match="Own was defined differently when it"):
        pickle.loads(text)  # noqa: S301


def test_a_result_of_another_function_is_refused() -> None:
    text = pickle.dumps(rk.evaluate(QRELS, RUN, rk.metric(length, name="Own")))

    rk.metric(first, name="Own")

    with pytest.raises(ParameterError, match="Own was defined differently"):
        pickle.loads(text)  # noqa: S301


def test_a_function_that_calls_itself() -> None:
    def halves(ranking: list[Any], judged: dict[Any, float]) -> float:
        half = ranking[: len(ranking) // 2]
        return 1 + halves(half, judged) if half else 0

    made = rk.metric(halves, name="Halves")

    assert rk.evaluate(QRELS, RUN, pickled(made))["Halves"] == 1


def test_a_function_that_names_itself_as_a_metric() -> None:
    @rk.metric
    def Named(ranking: list[Any], judged: dict[Any, float]) -> float:  # noqa: ARG001, N802
        return float(Named.name == "Named")

    assert rk.evaluate(QRELS, RUN, pickled(Named))["Named"] == 1


MODULE = """
import rankine as rk

@rk.metric
def LengthOfList(ranking, judged, k=None):
    return len(ranking)
"""


@pytest.mark.slow
def test_another_process_finds_the_module(tmp_path: Path) -> None:
    (tmp_path / "own_metrics.py").write_text(MODULE)
    path = os.pathsep.join([str(tmp_path), str(Path(rk.__file__).parent.parent)])
    environment = {**os.environ, "PYTHONPATH": path}

    def python(text: str, given: bytes = b"") -> bytes:
        return subprocess.run(
            [sys.executable, "-c", text],
            input=given,
            capture_output=True,
            check=True,
            env=environment,
        ).stdout

    made = python(
        "import pickle, sys, own_metrics as own;"
        "sys.stdout.buffer.write(pickle.dumps(own.LengthOfList @ 1))"
    )
    told = python(
        "import pickle, sys, rankine as rk;"
        "metric = pickle.loads(sys.stdin.buffer.read());"
        "print(metric, rk.evaluate({'q': {'a'}}, {'q': ['a', 'b']}, metric)[metric])",
        made,
    )

    assert told.decode().split() == ["LengthOfList@1", "1.0"]
