"""Mappings are refused in the same words wherever they stand, whatever is asked."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import pandas as pd
import pytest

import rankine as rk
from rankine.errors import DataError, DuplicateItemError, FormatError, RankineError

if TYPE_CHECKING:
    from collections.abc import Callable

NAN = math.nan
QRELS = {"q": {"a": 1}}
DROPS = "lenient=True or --lenient drops such rows"
LAST = "lenient=True or --lenient ranks such items last"


def in_batches(run: Any) -> Any:
    return rk.Accumulator("RR").update(QRELS, run).result()


WAYS: dict[str, Callable[[Any], Any]] = {
    "alone": lambda run: rk.evaluate(QRELS, run, "RR"),
    "with lists": lambda run: rk.evaluate(QRELS, run, ["RR", "Coverage"], catalog=9),
    "catalog": lambda run: rk.evaluate(QRELS, run, "RR", catalog=9),
    "lists alone": lambda run: rk.evaluate(None, run, "Coverage", catalog=9),
    "given": lambda run: rk.evaluate(QRELS, run, "RR", order="given"),
    "keep": lambda run: rk.evaluate(QRELS, run, "RR", keep=2),
    "rows": lambda run: rk.evaluate(
        pd.DataFrame({"query": ["q"], "item": ["a"]}), run, "RR"
    ),
    "reconcile": lambda run: rk.reconcile(QRELS, run, "RR"),
    "compare": lambda run: rk.compare(QRELS, {"run": run, "b": {"q": ["a"]}}, "RR"),
    "batches": in_batches,
}
"""Ways to use a run, which must all say the same of it."""

ID = "run: the id of an item in the list of query 'q' is missing: nan; " + DROPS
TWO = "run: item ids are int and str, such as 7 and 'b'; give them one type"
BOOL = "run: item ids are bool and int, such as True and 2; give them one type"
ODD = (
    "run: the score of item {} for query {} is not a number ({} in all); a ranking "
    f"needs numbers that can be ordered; {LAST}"
)
RUNS: list[tuple[Any, type[RankineError], str]] = [
    ({"q": {"b": 1, NAN: 2, "a": 0.5}}, DataError, ID),
    ({"q": {NAN: 2, "b": 1, "a": 0.5}}, DataError, ID),
    ({"q": {"b": 1, 7: 2, "a": 0.5}}, DataError, TWO),
    ({"q": {"a": 1}, "z": ["b", 7]}, DataError, TWO.replace("'b'", "'a'")),
    ({"q": [2, True]}, DataError, BOOL),
    ({"q": [True, 2]}, DataError, BOOL),
    ({"q": {2: 0.5, True: 0.1}}, DataError, BOOL),
    ({"q": {2: 0.5}, "r": {3: 1, True: 0.1}}, DataError, BOOL),
    ({"q": {"a": NAN, "b": 1}}, DataError, ODD.format("'a'", "'q'", "1 such score")),
    (
        {"q": {"b": 1}, "z": {"a": NAN, "c": NAN}},
        DataError,
        ODD.format("'a'", "'z'", "2 such scores"),
    ),
    (
        {"q": {"b": 1, "a": None}},
        DataError,
        f"run: the score of item 'a' for query 'q' is None, not a number; {LAST}",
    ),
    (
        {"q": ["a"], "z": {"a": "high"}},
        DataError,
        "run: the score of item 'a' for query 'z' is 'high', not a number",
    ),
    (
        {"q": ["a"], "z": None},
        DataError,
        (
            "the list of query 'z' is None; use an empty list or dict if nothing was "
            "retrieved"
        ),
    ),
    (
        {"q": ["a"], "z": {"a"}},
        FormatError,
        (
            "the run of query 'z' is a set; expected a list of items in order, or "
            "{item: score}; a set has no order"
        ),
    ),
]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("run", "kind", "said"), RUNS)
def test_one_sentence_whatever_is_asked(
    run: Any, kind: type[RankineError], said: str, way: str
) -> None:
    with pytest.raises(kind) as caught:
        WAYS[way](run)

    assert str(caught.value) == said


@pytest.mark.parametrize(("run", "kind", "said"), RUNS)
def test_a_reference_is_called_by_its_name(
    run: Any, kind: type[RankineError], said: str
) -> None:
    with pytest.raises(kind) as caught:
        rk.evaluate(None, {"q": ["a"]}, "Intersection@2", reference=run)

    assert str(caught.value) == said.replace("run:", "reference:")


@pytest.mark.parametrize("run", [{"q": [2, True]}, {"q": {2: 1.0, True: 2.0}}])
def test_a_bool_is_no_int_in_similarity_training_data_and_check(run: Any) -> None:
    with pytest.raises(DataError, match="item ids are bool and int"):
        rk.similarity(run, {"q": [2]}, "RBO")
    with pytest.raises(DataError, match=r"^train: item ids are bool and int"):
        rk.evaluate(None, {"q": [2]}, "Novelty", train=run)
    with pytest.raises(DataError, match=r"^qrels: item ids are bool and int"):
        rk.evaluate(run, {"q": [2]}, "RR")
    with pytest.raises(DataError, match="item ids are bool and int"):
        rk.check({"q": {2}}, run)


@pytest.mark.parametrize("items", [[2, True], [True, 2]])
def test_a_bool_is_no_int_in_a_column_of_objects(items: list[Any]) -> None:
    run = pd.DataFrame({"query": ["q", "q"], "item": items, "score": [2.0, 1.0]})

    with pytest.raises(DataError, match="column 'item' mixes bool, int; give it one"):
        rk.evaluate({"q": {2: 1}}, run, "RR")


@pytest.mark.parametrize("run", [{"q": [0, 1, 2]}, {"q": {2: 0.1, 1: 0.2, 0: 0.3}}])
def test_zero_and_one_are_ints(run: Any) -> None:
    assert rk.evaluate({"q": {1: 1}}, run, "RR")["RR"] == 1 / 2


def test_an_item_twice_in_a_list_is_told_with_its_places() -> None:
    run = {"q": ["a"], "z": ["b", "c", "b"]}

    for asked in ("RR", ["RR", "Coverage"]):
        with pytest.raises(DuplicateItemError) as caught:
            rk.evaluate(QRELS, run, asked, catalog=9)
        assert str(caught.value) == (
            "item 'b' appears twice for query 'z' in run (place 1 and place 3); "
            "lenient=True or --lenient keeps the best of each"
        )
    with pytest.raises(DuplicateItemError, match="is judged twice for query 'q' in qr"):
        rk.evaluate({"q": ["a", "b", "a"]}, run, "RR")


@pytest.mark.parametrize("asked", ["RR", ["RR", "Coverage"]])
def test_lists_with_and_without_scores_are_both_ranked(asked: Any) -> None:
    run = {"q": {"b": 0.5, "a": 0.7}, "r": ["b", "a"], "s": {}, "t": []}
    qrels = {query: {"a": 1} for query in "qrst"}

    ev = rk.evaluate(qrels, run, asked, catalog=9)

    assert ev.per_query["RR"].to_list() == [1, 1 / 2, 0, 0]


def test_what_was_read_as_judgements_is_no_run(tmp_path: Any) -> None:
    path = tmp_path / "some.json"
    path.write_text('{"q": ["b", "a"]}')

    with pytest.raises(DataError, match="was read as judgements and cannot be used as"):
        rk.evaluate(QRELS, rk.read_qrels(path), "RR")
    with pytest.raises(DataError, match="was read as a run and cannot be used as judg"):
        rk.evaluate(rk.read_run(path), QRELS, "RR")
    same = tmp_path / "same.json"
    same.write_text(path.read_text())
    assert rk.evaluate(rk.read_qrels(path), rk.read_run(same), "P@1")["P@1"] == 1


def test_lenient_keeps_queries_with_empty_lists() -> None:
    run = {"q": {"a": None, "b": NAN, "c": -1.0}, "r": {}}
    qrels = {"q": {"a": 1}, "r": {"a": 1}}

    ev = rk.evaluate(qrels, run, "RR", lenient=True)

    assert ev.per_query["RR"].to_list() == [1 / 3, 0]  # c, then b before a
    assert "run: 2 scores not a number: ranked last" in ev.notes
    found = rk.check([["a"], ["a"]], {"q": ["a"], "r": []})
    assert found.both["queries_in_both"] == 2
