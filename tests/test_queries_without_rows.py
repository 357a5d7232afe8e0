"""Queries without rows mean the same in every form.

A judged query without judgements and a list without items are kept by a mapping, by a
matrix, by nested lists and by a JSON file; rows of items cannot hold them. What each of
them counts, the convention decides, and not the form that they came in.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest
from scipy import sparse

import rankine as rk
from rankine._base.limits import limited
from rankine.errors import RankineError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

pytestmark = pytest.mark.slow

Data = dict[str, dict[str, float]]
QRELS: Data = {
    "bare": {},
    "found": {"a": 1, "b": 0},
    "nothing": {"a": 1},
    "neither": {},
    "missing": {"b": 1},
    "second": {"c": 2, "a": 1},
}
RUN: Data = {
    "unjudged": {"a": 3, "b": 2},
    "nothing": {},
    "second": {"b": 3, "c": 2, "a": 1},
    "empty": {},
    "bare": {"a": 2, "c": 1},
    "found": {"b": 2, "a": 1},
    "neither": {},
}
ITEMS = ["a", "b", "c"]
METRICS = ["AP", "nDCG@2", "P@2", "RR", "R", "NumRet", "NumQ", "NumRel"]
RULES: dict[str, Any] = {name: {"convention": name} for name in rk.conventions()} | {
    f"queries={queries}": {"convention": rk.Convention(queries=queries)}
    for queries in ("run", "both")
}
each_rule = pytest.mark.parametrize("options", RULES.values(), ids=RULES)


def filled(data: Data) -> Data:
    return {query: entry for query, entry in data.items() if entry}


def as_frame(data: Data, value: str) -> pl.DataFrame:
    """Return rows, which have no place for a query without items."""
    rows = [(q, i, x) for q, entry in data.items() for i, x in entry.items()]
    return pl.DataFrame(rows, ["query", "item", value], orient="row")


def as_nested(data: Data, value: str) -> pl.DataFrame:
    lists = {
        "query": [*data],
        "item": [[*entry] for entry in data.values()],
        value: [[*entry.values()] for entry in data.values()],
    }
    return pl.DataFrame(lists)


def as_matrix(data: Data, nothing: float) -> Any:
    cells = [[entry.get(item, nothing) for item in ITEMS] for entry in data.values()]
    return rk.from_scores(cells, queries=[*data], items=ITEMS)


def as_ranked(data: Data) -> Any:
    cells = [[*entry, "", "", ""][: len(ITEMS)] for entry in data.values()]
    return rk.from_ranked(np.array(cells), queries=[*data], pad="")


def as_json(data: Any, path: Path) -> Path:
    path.write_text(json.dumps(data))
    return path


def as_objects(data: Data, value: str) -> dict[str, Any]:
    return {
        query: [{"id": item, value: number} for item, number in entry.items()]
        for query, entry in data.items()
    }


def with_lost(data: Data) -> dict[Any, Any]:
    """Return lists of which those without items have one that a lenient reader drops.

    A list of which nothing is left is an empty list.
    """
    return {query: entry or {None: 1.0} for query, entry in data.items()}


def forms(qrels: Data, run: Data, folder: Path) -> Iterator[tuple[str, Any, Any, Any]]:
    """Yield names, judgements, a run and options, in forms with all queries."""
    lists = {query: [*entry] for query, entry in run.items()}
    lenient = {"lenient": True}
    yield "lists", qrels, lists, {}
    yield "nested run", qrels, as_nested(run, "score"), {}
    yield "batches", qrels, iter([as_nested(run, "score")]), {"memory_limit": "4 GB"}
    yield "objects", as_objects(qrels, "grade"), as_objects(run, "score"), {}
    yield "matrix", qrels, as_matrix(run, -np.inf), {}
    yield "grades", as_matrix(qrels, np.nan), run, {}
    yield "padded", qrels, as_ranked(run), {}
    yield "padded, grades", as_matrix(qrels, np.nan), as_ranked(run), {}
    judged = as_json(qrels, folder / "qrels.json")
    yield "JSON", judged, as_json(run, folder / "run.json"), {}
    yield "lenient", qrels, run, lenient
    yield "lenient lists", qrels, lists, lenient
    yield "lenient nested", qrels, as_nested(run, "score"), lenient
    yield "lenient, dropped", with_lost(qrels), with_lost(run), lenient
    if filled(qrels) == qrels:
        yield "rows, dict", as_frame(qrels, "grade"), run, {}
        yield "rows, padded", as_frame(qrels, "grade"), as_ranked(run), {}
        yield "rows, matrix", as_frame(qrels, "grade"), as_matrix(run, -np.inf), {}
        yield "lenient rows, dict", as_frame(qrels, "grade"), run, lenient
    if filled(run) == run:
        yield "dict, rows", qrels, as_frame(run, "score"), {}
        yield "grades, rows", as_matrix(qrels, np.nan), as_frame(run, "score"), {}
        yield "lenient dict, rows", qrels, as_frame(run, "score"), lenient
        path = folder / "run.csv"
        as_frame(run, "score").write_csv(path)
        yield "file", qrels, path, {}
        yield "stream", qrels, path, {"engine": "stream"}


def is_matrix(run: Any) -> bool:
    return isinstance(run, type(rk.from_scores([[1]])))


def by_place(options: dict[str, Any]) -> bool:
    """Say whether a convention ranks by places in lists, which a matrix lacks."""
    rule = options["convention"]
    rule = rk.conventions()[rule] if isinstance(rule, str) else rule
    return rule.order == "given"


def notes_of(ev: rk.Evaluation) -> list[str]:
    """Return the notes that are not about how a file or an object was read."""
    said = [note for note in ev.notes if not note.split(": ")[0].endswith(READ)]
    return [note for note in said if "no rank column" not in note]


READ = ("run", "qrels", ".json", ".csv")


def asked(qrels: Any, run: Any, options: dict[str, Any]) -> list[str]:
    """Return the metrics that a convention has."""
    some = []
    for metric in METRICS:
        try:
            rk.evaluate(qrels, run, metric, **options)
        except RankineError:
            continue
        some.append(metric)
    return some


@each_rule
@pytest.mark.parametrize("of_run", [filled, dict], ids=["", "empty lists"])
@pytest.mark.parametrize("of_qrels", [filled, dict], ids=["", "bare queries"])
def test_every_form_agrees(
    of_qrels: Callable[[Data], Data],
    of_run: Callable[[Data], Data],
    options: dict[str, Any],
    tmp_path: Path,
) -> None:
    qrels, run = of_qrels(QRELS), of_run(RUN)
    metrics = asked(qrels, run, options)
    expected = rk.evaluate(qrels, run, metrics, **options)

    assert len(metrics) >= 3
    for name, judged, listed, more in forms(qrels, run, tmp_path):
        if is_matrix(listed) and by_place(options):
            continue
        found = rk.evaluate(judged, listed, metrics, **options, **more)

        assert found.mean == expected.mean, name
        assert found.per_query.equals(expected.per_query), name
        assert notes_of(found) == notes_of(expected), name


@each_rule
@pytest.mark.parametrize("form", ["dict", "nested", "matrix", "padded"])
def test_batches_agree(form: str, options: dict[str, Any]) -> None:
    if form == "matrix" and by_place(options):
        return
    metrics = asked(QRELS, RUN, options)
    expected = rk.evaluate(QRELS, RUN, metrics, **options)
    total = rk.Accumulator(metrics, **options)
    made: dict[str, Callable[[Data], Any]] = {
        "dict": dict,
        "nested": lambda run: as_nested(run, "score"),
        "matrix": lambda run: as_matrix(run, -np.inf),
        "padded": as_ranked,
    }
    for query in dict.fromkeys([*QRELS, *RUN]):
        qrels = {query: QRELS[query]} if query in QRELS else {}
        run = {query: RUN[query]} if query in RUN else {}
        total.update(qrels, made[form](run) if run else run)
    found = total.result()

    assert found.mean == expected.mean
    by_query = found.per_query.sort("query")
    assert by_query.equals(expected.per_query.sort("query"))
    assert sorted(notes_of(found)) == sorted(notes_of(expected))


def test_two_matrices_agree() -> None:
    run: Data = {query: RUN.get(query, {}) for query in QRELS}
    expected = rk.evaluate(QRELS, run, METRICS)

    found = rk.evaluate(as_matrix(QRELS, np.nan), as_matrix(run, -np.inf), METRICS)

    assert found.per_query.equals(expected.per_query)
    assert found.notes == expected.notes


def test_by_hand() -> None:
    """Only two queries have something to find, and one of these an empty list."""
    rows = as_frame({"q1": {"a": 1}, "q2": {"a": 1}}, "grade")

    for qrels in (rows, {"q1": {"a": 1}, "q2": {"a": 1}}):
        for run in ({"q1": {}, "q2": {"a": 1.0}}, {"q1": [], "q2": ["a"]}):
            ev = rk.evaluate(qrels, run, "AP", convention="pytrec_eval")
            assert ev["AP"] == (0 + 1) / 2


def test_a_list_that_repeats_an_item_leaves_the_others_empty() -> None:
    rule = rk.Convention(duplicates="count", queries="both")
    lists: Any = {"q1": [], "q2": ["a", "a"], "q3": []}

    ev = rk.evaluate({"q0": {}, "q1": {"a"}, "q2": {"a"}}, lists, "RR", convention=rule)

    assert ev.per_query.rows() == [("q1", 0), ("q2", 1)]


def test_a_repeat_that_is_dropped_leaves_the_others_empty() -> None:
    lists: Any = {"q1": [], "q2": ["b", "a", "b"]}
    ev = rk.evaluate(
        {"q1": {"a"}, "q2": {"a"}}, lists, "RR", convention="pytrec_eval", lenient=True
    )

    assert ev["RR"] == (0 + 1 / 2) / 2


def test_nobody_asks_for_an_empty_row_of_a_sparse_matrix() -> None:
    stored = sparse.csr_matrix(np.array([[0.5, 0], [0, 0], [0, 0.5]]))
    ev = rk.evaluate({0: {0}, 1: {0}, 2: {1}}, stored, "RR", convention="pytrec_eval")

    assert ev["RR"] == (1 + 1) / 2
    assert "1 judged query missing from the run (1): left out" in ev.notes


@pytest.mark.parametrize("order", ["score", "rank", "rank_value"])
@pytest.mark.parametrize("ties", [False, True], ids=["", "ties"])
def test_empty_lists_at_either_end_leave_ranks_as_they_are(
    order: Any,
    ties: bool,  # noqa: FBT001 - a case
) -> None:
    rule = rk.Convention(order=order)
    scores: dict[str, float] = {"a": 3, "b": 3 - (not ties), "c": 1}
    run: Data = {"first": {}, "q": scores, "last": {}}
    qrels = {"first": {"a": 1}, "q": {"c": 1}, "last": {"a": 1}}
    rows = as_frame(filled(run), "score")

    for cutoff in ("RR", "RR@2", "RR@3"):
        with_empty = rk.evaluate(
            qrels, as_nested(run, "score"), cutoff, convention=rule
        )
        without = rk.evaluate(qrels, rows, cutoff, convention=rule)
        assert with_empty.per_query.equals(without.per_query), cutoff
        padded = rk.evaluate(qrels, as_ranked(run), cutoff, convention=rule)
        assert padded.per_query.equals(without.per_query), cutoff


def test_an_id_of_an_empty_list_is_compared_like_the_others() -> None:
    empty: Any = {"1": ["7"], "x": []}
    rows = pl.DataFrame({"query": [1], "item": [7]})

    with pytest.raises(RankineError, match="not a plain int, such as 'x'"):
        rk.evaluate(rows, empty, "RR")


@pytest.mark.parametrize("of_run", [filled, dict], ids=["", "empty lists"])
def test_metrics_of_lists_and_first_items_agree(
    of_run: Callable[[Data], Data], tmp_path: Path
) -> None:
    run = of_run(RUN)
    metrics = ["Coverage@2", "Gini@2", "Novelty@2", "Novelty(by='own')@2", "ARP@2"]
    options: Any = {"train": {"bare": ["a"], "found": ["b", "c"], "second": ["a"]}}
    expected = rk.evaluate(None, run, metrics, **options)
    first = rk.evaluate(QRELS, run, "AP", keep=2, name="run").worst("AP")

    for name, qrels, listed, more in forms(QRELS, run, tmp_path):
        if name == "batches":
            continue  # which can be read only once
        found = rk.evaluate(None, listed, metrics, **options, **more)
        kept = rk.evaluate(qrels, listed, "AP", keep=2, name="run", **more)

        assert repr(found.mean) == repr(expected.mean), name  # of which one may be nan
        assert found.per_query.equals(expected.per_query), name
        assert str(kept.worst("AP")) == str(first), name


@each_rule
def test_a_large_file_agrees(options: dict[str, Any], tmp_path: Path) -> None:
    """A large JSON file is read query by query, and so are batches of a frame."""
    metrics = asked(QRELS, RUN, options)
    expected = rk.evaluate(QRELS, RUN, metrics, **options)
    nested = as_nested(RUN, "score")
    path = as_json(RUN, tmp_path / "run.json")
    in_memory: dict[str, Any] = {}

    for run, more in (
        (path, in_memory),
        (iter([nested[:3], nested[3:]]), in_memory),
        (iter([nested[:3], nested[3:]]), {"memory_limit": "4 GB"}),
    ):
        with limited(large_json_bytes=10, json_items=1):
            found = rk.evaluate(QRELS, run, metrics, **options, **more)

        assert found.mean == expected.mean
        assert found.per_query.equals(expected.per_query)
        assert notes_of(found) == notes_of(expected)


def test_a_query_whose_lists_come_apart_is_empty_only_if_all_are() -> None:
    rows = pl.DataFrame(
        {"query": ["q1", "q2", "q1", "q3"], "item": [[], ["b"], ["a"], []]},
        schema_overrides={"item": pl.List(pl.String)},
    )
    qrels = {"q1": {"a"}, "q2": {"a"}, "q3": {"a"}, "q4": {"a"}}
    rule = rk.Convention(queries="both")

    for run in (rows, iter([rows[:1], rows[1:2], rows[2:]])):
        ev = rk.evaluate(qrels, run, ["RR", "NumRet"], convention=rule)

        assert ev.per_query.rows() == [("q1", 1, 1), ("q2", 0, 1), ("q3", 0, 0)]
    limited = iter([rows[:1], rows[1:2], rows[2:]])
    train = {"q1": ["a"], "q2": ["b"]}
    found = rk.evaluate(None, limited, "ARP", train=train, memory_limit="4 GB")
    assert sorted(found.per_query["query"]) == ["q1", "q2", "q3"]
