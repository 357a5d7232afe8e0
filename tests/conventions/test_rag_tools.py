"""The tools of retrieval for language models: numbers that their users reported.

Elasticsearch and OpenSearch compute in the server; their numbers are made by hand from
their formulas. `make oracle` and `make clients` compare the others with the packages.
"""

from __future__ import annotations

from math import log2
from typing import Any

import polars as pl
import pytest

import rankine as rk

FIVE = {"q": dict.fromkeys("abcde", 1)}
AT_2 = 1 / log2(3)


def rows(*items: str) -> pl.DataFrame:
    """Make a list that may repeat items."""
    return pl.DataFrame({"query": ["q"] * len(items), "item": items})


def value(tool: str, metric: str, qrels: Any, run: Any) -> float:
    return float(rk.evaluate(qrels, run, metric, convention=tool)[metric])


def said(metric: str, qrels: Any, run: Any, first: str, second: str) -> list[str]:
    """Return the choices that lead from one tool's number to another's."""
    found = rk.reconcile(qrels, run, metric).explain(first, second)
    return [step.words for step in found.steps]


def test_a_document_found_twice_had_a_perfect_ndcg_and_more() -> None:
    # deepset-ai/haystack#11959: A is the one relevant document, and found twice.
    qrels, run = {"q": {"A": 1}}, rows("A", "A")

    assert value("haystack-3.0", "nDCG", qrels, run) == pytest.approx(1 + AT_2)
    assert value("haystack", "nDCG", qrels, run) == 1
    assert said("nDCG", qrels, run, "haystack", "haystack-3.0") == [
        "counts a repeated item each time"
    ]
    assert value("llama_index", "nDCG", qrels, run) == pytest.approx(1.6309, abs=5e-5)


def test_map_that_was_divided_by_the_hits() -> None:
    # deepset-ai/haystack#12255: one of four relevant documents, at rank 1.
    qrels, run = {"q": dict.fromkeys("abcd", 1)}, rows("a", "x")

    assert value("haystack-3.0", "AP", qrels, run) == 1
    assert value("haystack", "AP", qrels, run) == 1 / 4
    assert said("AP", qrels, run, "haystack", "haystack-3.0") == [
        "divides AP by the hits"
    ]


def test_a_short_list_with_one_of_five_is_perfect() -> None:
    # mlflow/mlflow#24541 and elastic/elasticsearch#154362.
    run = rows("a")

    assert value("mlflow", "nDCG@5", FIVE, run) == 1
    assert value("elasticsearch", "nDCG@5", FIVE, run) == 1
    whole = 1 / sum(1 / log2(rank + 1) for rank in range(1, 6))
    assert value("rankine", "nDCG@5", FIVE, run) == pytest.approx(whole)
    assert whole == pytest.approx(0.339, abs=5e-4)
    for tool in ("mlflow", "elasticsearch"):
        assert said("nDCG@5", FIVE, run, "rankine", tool) == [
            "cuts the ideal list where the list ends"
        ]


def test_five_found_late_are_worse_than_one_found_first() -> None:
    late = {"q": [*"vwxyz", *"abcde"]}

    at_end = sum(1 / log2(rank + 1) for rank in range(6, 11))
    best = sum(1 / log2(rank + 1) for rank in range(1, 6))
    for tool in ("elasticsearch", "rankine"):
        assert value(tool, "nDCG@10", FIVE, late) == pytest.approx(at_end / best)
    assert at_end / best == pytest.approx(0.54, abs=5e-3)


def test_an_id_that_was_made_up_does_not_become_relevant() -> None:
    # mlflow/mlflow#25965: the second a was renamed into the relevant id, at rank 2, and
    # the number was 1 / log2(3) = 0.63093.
    qrels = {"q": {"a_bc574ae_2": 1}}

    found = rk.reconcile(qrels, rows("a", "a", "z"), "nDCG@3")

    assert {row.value for row in found.rows} <= {0, None}
    assert value("mlflow", "nDCG@3", {"q": {"b": 1}}, rows("a", "b")) == AT_2
    assert pytest.approx(0.63093, abs=5e-6) == AT_2


def test_an_ideal_list_as_long_as_the_list() -> None:
    # run-llama/llama_index#17070: the only relevant node is first of three.
    qrels, run = {"q": {"a": 1}}, rows("a", "x", "y")

    old = 1 / (1 + AT_2 + 1 / 2)
    assert value("llama_index-0.12.2", "nDCG", qrels, run) == pytest.approx(old)
    assert value("llama_index", "nDCG", qrels, run) == 1
    assert said("nDCG", qrels, run, "llama_index", "llama_index-0.12.2") == [
        "assumes an ideal list of k relevant items"
    ]


def test_an_ideal_list_that_is_not_cut() -> None:
    # One of five relevant nodes was asked for, and found.
    best = sum(1 / log2(rank + 1) for rank in range(1, 6))

    for tool in ("llama_index", "haystack"):
        assert value(tool, "nDCG@1", FIVE, rows("a")) == pytest.approx(1 / best)


def test_queries_that_llama_index_refuses() -> None:
    # It has no number for these; here nothing found is 0, and nothing to find left out.
    qrels = {"q": {"a": 1}, "r": {"b": 1}, "s": {"c": 0}}

    assert value("llama_index", "RR", qrels, {"q": ["a"], "s": ["c"]}) == 1 / 2


def test_the_order_of_equal_scores() -> None:
    # embeddings-benchmark/mteb#5092: all scores equal, the relevant item given first.
    qrels = {"q": {"a": 1}}
    run = {"q": {"a": 0.5, "b": 0.5, "c": 0.5}}

    assert value("mteb-2.18", "RR@3", qrels, run) == 1
    assert value("mteb", "RR@3", qrels, run) == pytest.approx(1 / 3)
    assert value("beir", "RR@3", qrels, run) == 1
    assert value("sentence_transformers", "RR@3", qrels, run) == 1
    assert value("sentence_transformers", "RR@3", {"q": {"c": 1}}, run) == (
        pytest.approx(1 / 3)
    )
    assert said("RR@3", qrels, run, "mteb", "sentence_transformers") == [
        "puts the smaller id first among equal scores"
    ]


def test_what_is_rounded() -> None:
    qrels, run = {"q": {"c": 1}}, {"q": {"a": 3.0, "b": 2.0, "c": 1.0}}

    assert value("beir", "RR@3", qrels, run) == 0.33333
    assert value("mteb", "RR@3", qrels, run) == pytest.approx(1 / 3, abs=1e-12)
    assert value("mteb", "P@3", qrels, run) == 0.33333


def test_precision_of_sets_and_of_lists() -> None:
    qrels, run = {"q": {"a": 1, "b": 1}}, rows("a", "a", "x")

    for tool in ("llama_index", "ragas"):  # a and x
        assert value(tool, "P", qrels, run) == 1 / 2
    assert value("mlflow", "P@3", qrels, run) == 2 / 3
    for tool in ("llama_index", "ragas", "mlflow", "haystack"):
        assert value(tool, "R", qrels, run) == 1 / 2


def test_ragas_leaves_out_what_has_no_value() -> None:
    qrels = {"q": {"a": 1}, "r": {"b": 1}, "s": {"c": 0}}
    run: dict[str, list[str]] = {"q": ["a", "x"], "r": [], "s": ["c"]}

    assert value("ragas", "P", qrels, run) == (1 / 2 + 0) / 2  # not r
    assert value("ragas", "R", qrels, run) == (1 + 0) / 2  # not s
    assert value("ragas", "AP", qrels, run) == (1 + 0 + 0) / 3


GRADED = {"q": {"a": 3, "b": 2, "c": 1, "d": 0}}
LIST = {"q": ["c", "x", "a"]}


@pytest.mark.parametrize(
    ("metric", "expected"),
    [
        ("P@5", 2 / 3),  # not 2 / 5
        ("R@5", 2 / 3),
        ("RR@5", 1),
        ("DCG@5", 1 + 7 / log2(4)),
        ("nDCG@5", (1 + 7 / log2(4)) / (7 + 3 / log2(3) + 1 / log2(4))),
        ("nDCG@2", 1 / (7 + 3 / log2(3))),
        # (2^rating - 1) / 2^3: the reader stops at c with 1/8, then at a with 7/8.
        ("ERR(max_grade=3)@5", 1 / 8 + (1 - 1 / 8) * (7 / 8) / 3),
    ],
)
def test_elasticsearch_by_hand(metric: str, expected: float) -> None:
    assert value("elasticsearch", metric, GRADED, LIST) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("metric", "expected"),
    [
        ("P@5", 2 / 3),
        ("R@5", 2 / 3),
        ("RR@5", 1),
        ("AP@5", (1 + 2 / 3) / 3),
        ("DCG@5", 1 + 7 / log2(4)),
        ("nDCG@5", (1 + 7 / log2(4)) / (7 + 3 / log2(3) + 1 / log2(4))),
        ("nDCG@2", 1 / (7 + 3 / log2(3))),
    ],
)
def test_opensearch_by_hand(metric: str, expected: float) -> None:
    assert value("opensearch", metric, GRADED, LIST) == pytest.approx(expected)


def test_opensearch_counts_any_rating_above_zero_and_repeated_documents() -> None:
    qrels = {"q": {"a": 0.5}}

    assert value("opensearch", "P@1", qrels, rows("a")) == 1
    assert value("elasticsearch", "P@1", {"q": {"a": 0, "b": 1}}, rows("a")) == 0
    twice = value("opensearch", "nDCG@2", qrels, rows("a", "a"))
    assert twice == pytest.approx(1 + AT_2)


def test_vespa_takes_hits_as_they_come() -> None:
    qrels, run = {"q": {"a": 0.5, "b": 1}}, {"q": {"a": 0.1, "b": 0.9}}

    ideal = 1 + 0.5 * AT_2
    assert value("vespa", "nDCG@2", qrels, run) == pytest.approx((0.5 + AT_2) / ideal)
    assert value("vespa", "AP@1", qrels, run) == 1  # 1 / min(1, 2)
