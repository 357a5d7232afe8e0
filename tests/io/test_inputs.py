"""Every form gives the same numbers: files, frames, lists, and grades in words."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

import rankine as rk
from tests.io.forms import FORMS, METRICS, QRELS, RUN, separated

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("run_form", FORMS)
@pytest.mark.parametrize("qrels_form", FORMS)
def test_every_form_gives_the_same_numbers(
    qrels_form: str, run_form: str, tmp_path: Path
) -> None:
    qrels = FORMS[qrels_form](tmp_path / "qrels", QRELS, "qrels")
    run = FORMS[run_form](tmp_path / "run", RUN, "run")

    ev = rk.evaluate(qrels, run, METRICS)

    expected = rk.evaluate(QRELS, RUN, METRICS)
    assert ev.mean == expected.mean
    assert ev.per_query.equals(expected.per_query)


def test_the_numbers_are_those_by_hand() -> None:
    ev = rk.evaluate(QRELS, RUN, ["AP", "RR", "P@2", "nDCG@2"])

    second = 1 / math.log2(3)
    assert ev.per_query["AP"].to_list() == pytest.approx(
        [(1 / 2 + 2 / 4) / 2, 1 / 3, (1 / 1 + 2 / 3) / 2]
    )
    assert ev.per_query["RR"].to_list() == pytest.approx([1 / 2, 1 / 3, 1])
    assert ev.per_query["P@2"].to_list() == [1 / 2, 0, 1 / 2]
    assert ev.per_query["nDCG@2"].to_list() == pytest.approx(
        [2 * second / (2 + second), 0, 3 / (3 + second)]
    )


LISTS = {"q1": ["x", "a", "b", "c"], "q2": ["b", "y", "a"], "q3": ["e", "x", "f"]}
RELEVANT = {"q1": {"a", "c"}, "q2": {"a"}, "q3": {"e", "f"}}


@pytest.mark.parametrize(
    "kind", [list, tuple, np.array, lambda items: np.array(items, dtype=object)],
    ids=["list", "tuple", "array", "object-array"],
)  # fmt: skip
@pytest.mark.parametrize("truth", [set, frozenset, list, sorted])
def test_lists_of_items_and_sets_of_relevant_items(kind: Any, truth: Any) -> None:
    qrels = {query: truth(items) for query, items in RELEVANT.items()}
    run = {query: kind(items) for query, items in LISTS.items()}

    ev = rk.evaluate(qrels, run, ["AP", "RR", "nDCG"])

    scores = {
        query: {item: -float(place) for place, item in enumerate(items)}
        for query, items in LISTS.items()
    }
    grades = {query: dict.fromkeys(items, 1) for query, items in RELEVANT.items()}
    assert ev.mean == rk.evaluate(grades, scores, ["AP", "RR", "nDCG"]).mean
    assert ev["AP"] == pytest.approx(
        ((1 / 2 + 2 / 4) / 2 + 1 / 3 + (1 + 2 / 3) / 2) / 3
    )


@pytest.mark.parametrize("form", ["trec", "csv", "parquet", "polars", "pandas"])
def test_sets_of_relevant_items_with_other_runs(form: str, tmp_path: Path) -> None:
    run = FORMS[form](tmp_path / "run", RUN, "run")

    ev = rk.evaluate(RELEVANT, run, ["AP", "RR"])

    assert ev.mean == rk.evaluate(RELEVANT, LISTS, ["AP", "RR"]).mean


@pytest.mark.parametrize("form", ["trec", "csv", "parquet", "polars", "pandas"])
def test_lists_of_items_with_other_judgements(form: str, tmp_path: Path) -> None:
    qrels = FORMS[form](tmp_path / "qrels", QRELS, "qrels")

    ev = rk.evaluate(qrels, LISTS, METRICS)

    assert ev.mean == rk.evaluate(QRELS, RUN, METRICS).mean


# --- grades in words

WORDS = {"Viewed": 0, "Clicked": 1, "Ordered": 4}
IN_WORDS: dict[str, dict[str, str]] = {
    "u1": {"a": "Viewed", "b": "Ordered"},
    "u2": {"a": "Clicked", "c": "Viewed"},
}


@pytest.mark.parametrize(
    "form",
    ["dict", "polars", "categorical", "pandas", "arrow", "csv", "tsv", "parquet"],
)
def test_grades_in_words(form: str, tmp_path: Path) -> None:
    qrels = FORMS[form](tmp_path / "qrels", IN_WORDS, "qrels")  # type: ignore[arg-type]
    run = {"u1": ["a", "b"], "u2": ["c", "a"]}

    ev = rk.evaluate(qrels, run, ["nDCG", "DCG"], grades=WORDS)

    assert ev["DCG"] == pytest.approx((4 / math.log2(3) + 1 / math.log2(3)) / 2)
    assert ev["nDCG"] == pytest.approx(1 / math.log2(3))


def test_grades_in_words_leave_the_run_alone() -> None:
    events = pl.DataFrame(
        {"user": ["u", "u"], "item": ["a", "b"], "label": ["Viewed", "Ordered"],
         "score": [0.9, 0.8]}
    )  # fmt: skip

    ev = rk.evaluate(events, events, ["RR"], grades=WORDS)

    assert ev["RR"] == 1 / 2


def test_grades_in_words_of_a_file_read_alone(tmp_path: Path) -> None:
    path = separated(tmp_path / "q.csv", IN_WORDS, "qrels")  # type: ignore[arg-type]

    qrels = rk.read_qrels(path, grades=WORDS)

    assert rk.evaluate(qrels, {"u1": ["b"], "u2": ["a"]}, ["RR"])["RR"] == 1


def test_booleans_are_grades() -> None:
    qrels = pl.DataFrame({"query": "q", "item": ["a", "b"], "click": [False, True]})

    ev = rk.evaluate(qrels, {"q": ["a", "b"]}, ["RR"])

    assert ev["RR"] == 1 / 2
