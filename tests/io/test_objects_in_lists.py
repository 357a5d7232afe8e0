"""Items that carry their own number: lists of {"id": ..., "score": ...}."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

import rankine as rk
from rankine.errors import DataError, DuplicateItemError, FormatError, RankineError

QRELS = {"q1": {"a": 2, "b": 0}, "q2": {"c": 1}}
RUN = {"q1": {"a": 0.5, "b": 1}, "q2": {"x": 3, "c": 0.25}}
BY_HAND = (1 / 2 + 1 / 2) / 2


def objects(data: dict[str, dict[str, Any]], key: str, value: str) -> dict[str, Any]:
    return {
        query: [{key: item, value: number} for item, number in entry.items()]
        for query, entry in data.items()
    }


def records(data: dict[str, Any], query: str, items: str) -> list[dict[str, Any]]:
    return [{query: name, items: entry} for name, entry in data.items()]


def written(path: Path, data: Any, form: str) -> Any:
    """Return data as they are, or in a file."""
    if form == "python":
        return data
    lines = form == "ndjson" and isinstance(data, list)
    path.write_text("\n".join(map(json.dumps, data)) if lines else json.dumps(data))
    return path


FORMS = pytest.mark.parametrize("form", ["python", "json", "ndjson"])


@FORMS
@pytest.mark.parametrize(("key", "grade", "score"), [
    ("id", "grade", "score"),
    ("item_id", "relevance", "prediction"),
    ("_id", "rel", "_score"),
    ("doc_id", "label", "rating"),
])  # fmt: skip
def test_usual_names(
    form: str, key: str, grade: str, score: str, tmp_path: Path
) -> None:
    qrels, run = objects(QRELS, key, grade), objects(RUN, key, score)
    for items, relevant in (("items", "docs"), ("retrieved", "relevant")):
        for judged, shown in (
            (qrels, run),
            (records(qrels, "qid", relevant), records(run, "user_id", items)),
        ):
            pair = (
                written(tmp_path / "q", judged, form),
                written(tmp_path / "r", shown, form),
            )
            ev = rk.evaluate(*pair, "RR")

            assert ev["RR"] == BY_HAND
            assert ev.queries == ["q1", "q2"]


def test_lists_by_place() -> None:
    qrels = list(objects(QRELS, "id", "grade").values())
    run = list(objects(RUN, "id", "score").values())

    assert rk.evaluate(qrels, run, "RR").per_query.rows() == [(0, 1 / 2), (1, 1 / 2)]
    assert rk.evaluate([["a"], ["c"]], run, "RR")["RR"] == BY_HAND
    with pytest.raises(DataError, match="for 2 queries and run for 1 query"):
        rk.evaluate(qrels, run[:1], "RR")


def test_without_numbers_the_order_is_the_rank() -> None:
    qrels, run = {"q": [{"id": 7}]}, {"q": [{"id": 8}, {"id": 7}]}

    assert rk.evaluate(qrels, run, "RR")["RR"] == 1 / 2


def test_ranks_give_the_order() -> None:
    run = {"q": [{"id": "a", "rank": 2}, {"id": "b", "rank": 1}]}

    assert rk.evaluate({"q": {"a"}}, run, "RR")["RR"] == 1 / 2
    both = {
        "q": [{"id": "a", "rank": 2, "score": 9}, {"id": "b", "rank": 1, "score": 1}]
    }
    assert rk.evaluate({"q": {"a"}}, both, "RR")["RR"] == 1
    assert rk.evaluate({"q": {"a"}}, both, "RR", order="rank")["RR"] == 1 / 2


def test_keys_of_other_names() -> None:
    columns = {"query": "who", "item": "doc", "run.score": "s", "qrels.grade": "g"}
    qrels = [{"who": "q", "items": [{"doc": "a", "g": 1}]}]
    run = [{"who": "q", "items": [{"doc": "b", "s": 2}, {"doc": "a", "s": 1}]}]

    assert rk.evaluate(qrels, run, "RR", columns=columns)["RR"] == 1 / 2
    hits = [{"who": "q", "hits": [{"id": "a", "s": 1}]}]
    told = {"query": "who", "item": "hits", "score": "s"}
    assert rk.evaluate({"q": {"a"}}, hits, "RR", columns=told)["RR"] == 1


def test_grades_in_words() -> None:
    qrels = {"q": [{"id": "a", "grade": "good"}, {"id": "b", "grade": "bad"}]}
    worth = {"good": 1, "bad": 0}

    assert rk.evaluate(qrels, {"q": ["b", "a"]}, "RR", grades=worth)["RR"] == 1 / 2
    with pytest.raises(DataError, match="'bad', which is not in grades"):
        rk.evaluate(qrels, {"q": ["b", "a"]}, "RR", grades={"good": 1})


@pytest.mark.parametrize("convention", ["rankine", "pytrec_eval", "ranx"])
@pytest.mark.parametrize("numbers", [True, False])
def test_empty_lists_are_lists(convention: str, numbers: bool) -> None:  # noqa: FBT001
    qrels: Any = {"p": {"a": 1}, "q": {}, "r": {"a": 1}}
    run: Any = {"p": {"b": 2.0, "a": 1.0}, "r": {}}
    nested = objects(qrels, "id", "grade"), objects(run, "id", "score")
    if not numbers:
        run = {query: list(entry) for query, entry in run.items()}
        nested = nested[0], {q: [{"id": i} for i in own] for q, own in run.items()}
    metrics = ["RR", "R@2", "NumQ"]

    found = rk.evaluate(*nested, metrics, convention=convention)

    wanted = rk.evaluate(qrels, run, metrics, convention=convention)
    assert found.mean == wanted.mean
    assert found.per_query.equals(wanted.per_query)


def test_metrics_of_lists_training_data_and_two_runs() -> None:
    run, train = objects(RUN, "id", "score"), {"u": [{"id": "a"}], "v": [{"id": "c"}]}

    assert rk.evaluate(None, run, "Coverage", catalog=8)["Coverage"] == 4 / 8
    plain = rk.evaluate(None, RUN, "Novelty", train={"u": ["a"], "v": ["c"]}).mean
    assert rk.evaluate(None, run, "Novelty", train=train).mean == plain
    assert rk.similarity(run, RUN, "RBO")["RBO"] == 1


def test_objects_of_several_kinds() -> None:
    run: Any = {
        "u": [{"id": "x", "score": 2.0}, {"id": "a", "score": 1.0}],
        "v": [{"doc_id": "b", "similarity": 0.5}],
        "w": [
            {"chunk_id": "y", "similarity": 0.5},
            {"chunk_id": "c", "similarity": 0.4},
        ],
    }

    found = rk.evaluate({"u": ["a"], "v": ["b"], "w": ["c"]}, run, "RR")

    assert found.per_query["RR"].to_list() == [1 / 2, 1, 1 / 2]
    assert any("in others, item = id, score = score" in note for note in found.notes)


# An id of a document beside that of a chunk; distances beside scores; no numbers.
@pytest.mark.parametrize(
    "kinds",
    [
        [{"id": "x", "doc_id": "d", "score": 2.0}, {"id": "b", "score": 0.5}],
        [{"id": "x", "score": 2.0}, {"doc_id": "b", "distance": 0.5}],
        [{"id": "x", "score": 2.0}, {"doc_id": "b"}],
    ],
)
def test_objects_of_kinds_that_do_not_go_together(kinds: list[Any]) -> None:
    run = {str(place): [record] for place, record in enumerate(kinds)}
    with pytest.raises(DataError, match=r"has an object without '\w*id' at place 0"):
        rk.evaluate({"0": ["x"], "1": ["b"]}, run, "RR")


BAD: list[tuple[Any, type[RankineError], str]] = [
    ([{"id": "a", "score": 1}, {"score": 2}], DataError,
     "run: the list of query 'q' has an object without 'id' at place 1"),
    ([{"id": None, "score": 1}], DataError, "an object without 'id' at place 0"),
    ([{"id": "a", "score": 1}, {"id": "b"}], DataError,
     "run: the list of query 'q' has an object without 'score' at place 1"),
    ([{"id": "a", "score": 1}, {"id": "b", "score": None}], DataError,
     "an object without 'score' at place 1"),
    ([{"id": "", "score": 1}], DataError, "run, row 0: 1 item id is missing"),
    ([{"id": "a", "score": math.nan}], DataError,
     "run, row 0: the score of item 'a' for query 'q' is not a number"),
    ([{"id": "a", "score": "high"}], DataError, "run, row 0: score is 'high', not a n"),
    ([{"id": "a", "score": 1}, "b"], FormatError,
     "run: the list of query 'q' has a str at place 1; expected a list of objects"),
    (["b", {"id": "a", "score": 1}], FormatError,
     "item 1 in the list of query 'q' is not an id"),
    ([{"id": "a", "score": 1}, {"id": 5, "score": 1}], DataError,
     "run, row 1: column 'id' mixes str and int"),
    ([{"id": "a", "score": 2}, {"id": "a", "score": 1}], DuplicateItemError,
     "item 'a' appears twice for query 'q' in run"),
    ([{"name": "a", "score": 2}], DataError,
     "run has lists of objects without an id; they have 'name', 'score'"),
    ([{"id": "a", "value": 2}], DataError, "but has numbers in 'value'"),
    ([{"id": "a", "score": 2, "pred": 1}], DataError, "several columns for the score"),
]  # fmt: skip


@pytest.mark.parametrize(("entry", "kind", "said"), BAD)
def test_what_is_wrong_is_told_with_its_place(
    entry: list[Any], kind: type[RankineError], said: str
) -> None:
    with pytest.raises(kind) as caught:
        rk.evaluate({"q": {"a": 1}}, {"q": entry}, "RR")
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("other", [{"a": 1}, None, "a", 5])
def test_lists_of_other_queries_must_be_alike(other: Any) -> None:
    run = {"q": [{"id": "a", "score": 1}], "r": other}

    with pytest.raises(FormatError, match="run: the list of query 'r' is"):
        rk.evaluate({"q": {"a": 1}}, run, "RR")


def test_a_file_names_the_line(tmp_path: Path) -> None:
    path = tmp_path / "run.ndjson"
    good = '{"query": "q", "items": [{"id": "a", "score": 1}]}\n'
    for bad, said in (
        ('{"query": "r", "items": [{"score": 1}]}', "2: the list of query 'r' has an"),
        ('{"query": "r", "items": ["a"]}', "2: the list of query 'r' has a str"),
        (
            '{"query": "r", "items": [{"id": "a", "id": "b"}]}',
            "2: the key 'id' appears",
        ),
        (
            '{"query": "r", "items": [{"id": "a", "score": NaN}]}',
            "2: the score of item",
        ),
        ('{"query": "r", "items": null}', "2: the list of query 'r' is None"),
    ):
        path.write_text(good + bad)
        with pytest.raises(RankineError) as caught:
            rk.evaluate({"q": {"a": 1}, "r": {"a": 1}}, path, "RR")
        assert str(caught.value).startswith(f"{path}:{said}")


def test_numbers_beside_the_objects_are_refused() -> None:
    run = [{"query": "q", "items": [{"id": "a"}], "score": [1.0]}]

    with pytest.raises(DataError, match="'score' is next to the objects in 'items'"):
        rk.evaluate({"q": {"a"}}, run, "RR")
    assert rk.evaluate({"q": {"a"}}, run, "RR", columns={"score": "-"})["RR"] == 1


def test_lenient_drops_and_counts() -> None:
    run = {
        "q": [
            {"id": None, "score": 3},
            {"score": 3},
            {"id": "b", "score": math.nan},
            {"id": "a", "score": 1},
            {"id": "a", "score": 2},
        ],
        "r": [],
    }

    ev = rk.evaluate({"q": {"a": 1}}, run, "RR", lenient=True)

    assert ev["RR"] == 1
    assert ev.notes == (
        "1 query of the run without judgements (r): not evaluated",
        "run: item = id",
        "run: 1 empty list",
        "run: 2 rows without an id: dropped",
        "run: 1 score not a number: ranked last",
        "run: 1 row repeating an item: dropped, the best score is kept",
    )


def test_an_id_is_the_item_beside_its_text() -> None:
    run = {"q": [{"id": "a", "document": "The text.", "score": 0.9}]}
    both = {"q": [{"id": "row 1", "doc_id": "a", "score": 0.9}]}

    assert rk.evaluate({"q": {"a"}}, run, "RR")["RR"] == 1
    assert rk.evaluate({"q": {"a"}}, both, "RR")["RR"] == 1


def test_records_of_items_and_of_objects_are_refused_in_any_order() -> None:
    plain = {"query": "q1", "items": ["a"]}
    objects = {"query": "q2", "items": [{"id": "c", "score": 1}]}

    for records in ([plain, objects], [objects, plain]):
        with pytest.raises(FormatError, match="the list of query 'q1' has a str"):
            rk.evaluate({"q1": {"a": 1}, "q2": {"c": 1}}, records, "RR")
