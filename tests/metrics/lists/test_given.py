"""What metrics of lists are given: forms of items, training data and catalogues."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

import rankine as rk
from rankine.errors import (
    DataError,
    DuplicateItemError,
    FormatError,
    ParameterError,
    RankineError,
)
from tests.metrics.lists.mean import one

if TYPE_CHECKING:
    from pathlib import Path

LISTS = {"u": ["a", "b"], "v": ["a", "c"]}
TRAIN = {"u": ["c"], "v": ["b", "c"], "w": ["a"]}
VECTORS = {"a": [1.0, 0.0], "b": [0.0, 1.0], "c": [1.0, 1.0]}
TOPICS = {"a": ["war"], "b": ["love"], "c": ["war", "love"]}


# What a metric needs


@pytest.mark.parametrize(
    ("metric", "given", "message"),
    [
        ("nDCG@10", {}, "nDCG@10 needs judgements, but there are none"),
        ("Coverage@5", {}, "Coverage@5 needs the catalogue; give catalog="),
        ("Gini", {}, "Gini needs the catalogue"),
        ("UserCoverage", {}, "give qrels or train="),
        ("Novelty@5", {}, "Novelty@5 needs the interactions .* give train="),
        ("ILD", {}, "ILD needs features of the items; give items="),
        ("ILD(by='users')", {}, "needs the interactions"),
        ("Unexpectedness", {"items": VECTORS}, "needs the interactions"),
        ("Calibration", {"train": TRAIN}, "needs topics or groups of the items"),
        ("Serendipity", {"train": TRAIN}, "Serendipity needs judgements"),
        ("EPC(judged=True)", {"train": TRAIN}, "needs judgements"),
        ("AWRF", {}, "needs topics"),
        ("Intersection@5", {}, "needs the lists of another .* give reference= or"),
        ("Unexpectedness(by='reference')", {}, "needs the lists of another recom"),
        (
            "Unexpectedness",
            {"convention": "replay", "train": TRAIN, "items": VECTORS},
            "Unexpectedness needs the lists of another recommender",
        ),
    ],
)
def test_what_is_missing_is_told_before_data_is_read(
    metric: str, given: dict[str, Any], message: str
) -> None:
    with pytest.raises(ParameterError, match=message):
        rk.evaluate(None, "no such file", metric, **given)


def test_judgements_and_lists_in_one_call() -> None:
    ev = rk.evaluate(
        {"u": {"b"}, "z": {"a"}}, LISTS, ["RR", "Coverage", "Novelty"], train=TRAIN
    )

    assert list(ev.mean) == ["RR", "Coverage", "Novelty"]
    # u finds its item at rank 2, z is not in the run; v has a list and no judgements.
    assert ev["RR"] == (1 / 2 + 0) / 2
    assert ev["Coverage"] == 1
    assert ev.per_query["query"].to_list() == ["u", "z", "v"]
    assert ev.per_query["Novelty"].null_count() == 1
    assert ev.per_query["Coverage"].null_count() == 3


def test_numbers_of_all_lists_have_no_interval() -> None:
    ev = rk.evaluate(None, LISTS, ["Coverage", "Novelty"], train=TRAIN)

    assert all(math.isnan(bound) for bound in ev.interval("Coverage"))
    assert not math.isnan(ev.interval("Novelty").low)
    assert "Coverage" in str(ev)
    assert ev.to_dict()["metrics"]["Coverage"]["low"] is None


# Catalogues


@pytest.mark.parametrize(
    "catalog",
    [
        4,
        np.int64(4),
        ["a", "b", "c", "d"],
        {"a", "b", "c", "d"},
        pl.Series(["a", "b", "c", "d", "d"]),
        pd.Series(["a", "b", "c", "d"]),
        np.array(["a", "b", "c", "d"]),
        ("a", "b", "c", "d"),
    ],
    ids=lambda one: type(one).__name__,
)
def test_a_catalogue_is_a_number_or_the_items(catalog: Any) -> None:
    assert one(None, LISTS, "Coverage", catalog=catalog) == 3 / 4
    assert one(None, LISTS, "Coverage(scale=100)", catalog=catalog) == 75


@pytest.mark.parametrize("catalog", ["abc", {"a": 1}, 1.5, True, 0, -1, [], [None]])
def test_no_catalogue(catalog: Any) -> None:
    with pytest.raises(RankineError, match="catalog"):
        rk.evaluate(None, LISTS, "Coverage", catalog=catalog)


def test_a_catalogue_that_is_too_small_is_refused() -> None:
    with pytest.raises(DataError, match="has 2 items, but the lists show 3"):
        rk.evaluate(None, LISTS, "Coverage", catalog=2)


def test_items_outside_of_the_catalogue_are_left_out_and_told() -> None:
    ev = rk.evaluate(None, LISTS, "Coverage", catalog=["a", "b", "x", "y"])

    assert ev["Coverage"] == 2 / 4
    assert any("1 recommended item not in the catalogue" in note for note in ev.notes)


def test_the_items_of_the_training_data_are_the_catalogue_if_nobody_says() -> None:
    ev = rk.evaluate(None, {"u": ["a", "x"]}, "Coverage", train=TRAIN)

    assert ev["Coverage"] == 1 / 3
    assert any("1 recommended item not in train" in note for note in ev.notes)


# Items


def features(kind: str, folder: Path) -> Any:
    frame = pl.DataFrame(
        {"item_id": list(VECTORS), "x": [1.0, 0.0, 1.0], "y": [0.0, 1.0, 1.0]}
    )
    if kind in {"csv", "parquet", "ndjson"}:
        path = folder / f"items.{kind}"
        getattr(frame, f"write_{kind}")(path)
        return path
    return {
        "lists": VECTORS,
        "arrays": {item: np.array(row) for item, row in VECTORS.items()},
        "tuples": {item: tuple(row) for item, row in VECTORS.items()},
        "polars": frame,
        "pandas": frame.to_pandas(),
        "arrow": frame.to_arrow(),
    }[kind]


@pytest.mark.parametrize(
    "kind",
    [
        "lists",
        "arrays",
        "tuples",
        "polars",
        "pandas",
        "arrow",
        "csv",
        "parquet",
        "ndjson",
    ],
)
def test_features_in_many_forms(kind: str, tmp_path: Path) -> None:
    value = one(None, LISTS, "ILD", items=features(kind, tmp_path))

    # a and b are at distance 1, a and c at 1 - 1 / sqrt(2)
    assert value == pytest.approx((1 + 1 - 1 / math.sqrt(2)) / 2)


@pytest.mark.parametrize("make", [np.array, sparse.csr_array, sparse.coo_matrix])
def test_a_matrix_has_a_row_per_item(make: Any) -> None:
    lists = {7: [0, 1], 8: [0, 2]}

    value = one(None, lists, "ILD", items=make([[1.0, 0], [0, 1], [1, 1]]))

    assert value == pytest.approx((1 + 1 - 1 / math.sqrt(2)) / 2)


def test_a_function_of_two_items_is_the_distance() -> None:
    apart = {frozenset("ab"): 3.0, frozenset("ac"): 5.0, frozenset("bc"): 9.0}

    def distance(first: str, second: str) -> float:
        return apart.get(frozenset((first, second)), 0.0)

    assert one(None, LISTS, "ILD", items=distance) == (3 + 5) / 2
    # u had c: a is 5 and b 9 from it; v had b and c: a is 3 and 5, c is 9 and 0.
    assert (
        one(None, LISTS, "Unexpectedness", items=distance, train=TRAIN)
        == ((5 + 9) / 2 + (3 + 5 + 9 + 0) / 4) / 2
    )


def test_a_distance_of_vectors_is_a_name_or_a_function() -> None:
    named = one(None, LISTS, rk.ILD(distance="cityblock"), items=VECTORS)
    own = rk.ILD(distance=lambda x, y: float(abs(x - y).sum()))

    assert named == (2 + 1) / 2
    assert rk.evaluate(None, LISTS, own, items=VECTORS)[own] == named


@pytest.mark.parametrize(
    "topics",
    [
        TOPICS,
        {"a": "war", "b": "love", "c": {"war", "love"}},
        {"a": {"war": 2}, "b": {"love": 1.0, "sea": 0}, "c": {"war": 3, "love": 3}},
        pl.DataFrame({"item": ["a", "b", "c"], "genres": ["war", "love", "war|love"]}),
        pl.DataFrame(
            {"item": ["a", "b", "c", "c"], "g": ["war", "love", "war", "love"]}
        ),
        pl.DataFrame(
            {"item": ["a", "b", "c"], "g": [["war"], ["love"], ["love", "war"]]}
        ),
        pl.DataFrame({"item": ["a", "b", "c"], "war": [1, 0, 1], "love": [0, 1, 1]}),
    ],
    ids=["lists", "sets", "weights", "joined", "rows", "nested", "flags"],
)
def test_topics_in_many_forms(topics: Any) -> None:
    ev = rk.evaluate(
        None, LISTS, ["SubtopicRecall(judged=False)@1", "AWRF"], items=topics
    )

    assert ev["SubtopicRecall(judged=False)@1"] == 1 / 2
    assert ev["AWRF"] == pytest.approx(
        rk.evaluate(None, LISTS, "AWRF", items=TOPICS)["AWRF"]
    )


def test_topics_are_features_where_there_are_no_others() -> None:
    assert one(None, LISTS, "ILD", items=TOPICS) == pytest.approx(
        (1 + 1 - 1 / math.sqrt(2)) / 2
    )


@pytest.mark.parametrize(
    ("items", "error", "message"),
    [
        ({}, DataError, "items is empty"),
        ({"a": [1, 2], "b": [1]}, DataError, "item 'b' has features of shape"),
        ({"a": [1, 2], "b": ["x", 2]}, DataError, "features of item 'b'"),
        ({"a": [1, math.inf]}, DataError, "not finite"),
        ({"a": {"war": -1}}, DataError, "weights of at least 0"),
        ({"a": 5}, DataError, "topics of item 'a'"),
        (5, FormatError, "items is an int"),
        (pl.DataFrame({"item": ["a"]}), DataError, "no columns besides"),
        (pl.DataFrame({"film": ["a"], "x": [1]}), RankineError, "no column of items"),
        (pl.DataFrame({"item": ["a", "a"], "x": [1, 2]}), DataError, "appears twice"),
        ("nowhere.csv", DataError, "no such file"),
        (np.zeros(3), FormatError, "items x features"),
    ],
)
def test_bad_items(items: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        rk.evaluate(None, LISTS, "ILD", items=items)


def test_items_without_features_are_left_out_and_counted() -> None:
    ev = rk.evaluate(None, {"u": ["a", "b", "x"], "v": ["x"]}, "ILD", items=VECTORS)

    assert ev["ILD"] == 1
    assert any("1 recommended item without features" in note for note in ev.notes)
    assert any("ILD is undefined for 1 query" in note for note in ev.notes)


# Training data and ids


@pytest.mark.parametrize(
    "train",
    [
        TRAIN,
        {user: set(had) for user, had in TRAIN.items()},
        {user: dict.fromkeys(had, 5) for user, had in TRAIN.items()},
        pl.DataFrame({"user": ["u", "v", "v", "w"], "item": ["c", "b", "c", "a"]}),
    ],
    ids=["lists", "sets", "dicts", "frame"],
)
def test_training_data_in_many_forms(train: Any) -> None:
    # a was had by one of three users, b by one, c by two
    bits = math.log2(3)
    wanted = (bits + (bits + math.log2(3 / 2)) / 2) / 2

    assert one(None, LISTS, "Novelty", train=train) == pytest.approx(wanted)


def test_ids_of_two_types_are_compared_by_their_text() -> None:
    ev = rk.evaluate(None, {"u": [1, 2]}, "Coverage", catalog=["1", "2", "3"])

    assert ev["Coverage"] == pytest.approx(2 / 3)
    assert any("compared as text" in note for note in ev.notes)


def test_an_item_twice_in_a_list() -> None:
    twice = {"u": ["a", "a", "b"], "v": ["c"]}

    with pytest.raises(DuplicateItemError, match="'a' appears twice"):
        rk.evaluate(None, twice, "GiniSimpson")
    assert one(None, twice, "Coverage", convention="rectools", catalog=9) == 3


@pytest.mark.parametrize("lists", [{}, {"u": []}, {"u": [], "v": []}])
def test_lists_without_items(lists: Any) -> None:
    try:
        ev = rk.evaluate(
            None, lists, ["InterListDiversity", "GiniSimpson", "Novelty"], train=TRAIN
        )
    except DataError:
        assert not lists
        return

    assert all(math.isnan(value) for value in ev.mean.values())


def test_one_list_has_no_pairs() -> None:
    assert math.isnan(one(None, {"u": ["a"]}, "InterListDiversity"))


def test_scores_and_ties_decide_who_is_in_the_first_k() -> None:
    scores = {"u": {"a": 1.0, "b": 2.0, "c": 1.0}}
    catalog = {"Coverage@2": ["b", "c"]}["Coverage@2"]

    assert one(None, scores, "Coverage@2", catalog=catalog) == 1
    first = rk.Convention(tie="id_asc")
    assert one(None, scores, "Coverage@2", catalog=catalog, convention=first) == 1 / 2
    given = rk.Convention(order="given")
    assert one(None, scores, "Coverage@2", catalog=["a", "b"], convention=given) == 1


def test_samples_are_repeatable_and_near_the_exact_number() -> None:
    rng = np.random.default_rng(3)
    lists = {user: rng.choice(50, 5, replace=False).tolist() for user in range(400)}
    sampled = "InterListDiversity(sample=100,runs=20,seed=5)"

    ev = rk.evaluate(None, lists, [sampled, "InterListDiversity"])

    assert ev[sampled] == one(None, lists, sampled)
    assert ev[sampled] != ev["InterListDiversity"]
    assert ev[sampled] == pytest.approx(ev["InterListDiversity"], abs=0.01)


@pytest.mark.parametrize(
    "metric",
    [
        "Coverage(share=2)",
        "Gini(divisor='k')",
        "ILD(distance='near')",
        "ILD(by='users',distance='dice')",
        "Novelty(cold='warm')",
        "LongTail(tail=1)",
        "alpha_nDCG(alpha=2)",
        "InterListDiversity(sample=1)",
        "Coverage@0",
        "EE(p=1)",
        "UserCoverage(least=0)",
    ],
)
def test_bad_parameters(metric: str) -> None:
    with pytest.raises(ParameterError):
        rk.parse(metric)
