"""The same data through every accepted form gives the same numbers."""

from __future__ import annotations

import math
import random
import re
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy import sparse

import rankine as rk
from rankine.errors import DataError, DuplicateItemError, FormatError

Lists: TypeAlias = dict[str, dict[str, float]]

METRICS = ["nDCG@2", "nDCG", "AP", "RR", "P@2", "R@3", "Bpref", "NumRet"]
QRELS: Lists = {
    "q1": {"a": 2, "b": 0, "c": 1},
    "q2": {"a": 1},
    "q3": {"d": 0, "e": 3, "f": 1},
}
RUN: Lists = {
    "q1": {"x": 0.9, "a": 0.8, "b": 0.75, "c": -0.1},
    "q2": {"b": 3.5, "y": 2.25, "a": 1.125},
    "q3": {"e": 1e-3, "x": 1e-4, "f": 1e-5},
}


def rows_of(data: Lists) -> list[tuple[str, str, float]]:
    return [
        (query, item, value)
        for query, entry in data.items()
        for item, value in entry.items()
    ]


def columns_of(data: Lists, value: str) -> dict[str, list[Any]]:
    rows = rows_of(data)
    return {
        "query": [row[0] for row in rows],
        "item": [row[1] for row in rows],
        value: [row[2] for row in rows],
    }


def trec(path: Path, data: Lists, role: str) -> Path:
    if role == "qrels":
        lines = [f"{query} 0 {item} {value}" for query, item, value in rows_of(data)]
    else:
        lines = [f"{q} Q0 {item} 1 {value!r} tag" for q, item, value in rows_of(data)]
    path.write_text("\n".join(lines) + "\n")
    return path


def separated(path: Path, data: Lists, role: str, mark: str = ",") -> Path:
    frame = pl.DataFrame(columns_of(data, "grade" if role == "qrels" else "score"))
    frame.write_csv(path, separator=mark)
    return path


def parquet(path: Path, data: Lists, role: str) -> Path:
    columns = columns_of(data, "grade" if role == "qrels" else "score")
    pq.write_table(pa.table(columns), path)
    return path


class Capsule:
    """A frame of a library that we do not know, but that speaks Arrow."""

    def __init__(self, table: pa.Table) -> None:
        self._table = table

    def __arrow_c_stream__(self, requested_schema: object = None) -> Any:
        return self._table.__arrow_c_stream__(requested_schema)


def _columns(data: Lists, role: str) -> dict[str, list[Any]]:
    return columns_of(data, "grade" if role == "qrels" else "score")


Form: TypeAlias = Callable[[Path, Lists, str], Any]
FORMS: dict[str, Form] = {
    "dict": lambda _, data, __: data,
    "trec": trec,
    "csv": separated,
    "tsv": lambda path, data, role: separated(path, data, role, "\t"),
    "parquet": parquet,
    "path-text": lambda path, data, role: str(trec(path, data, role)),
    "read": lambda path, data, role: getattr(rk, f"read_{role}")(
        trec(path, data, role)
    ),
    "polars": lambda _, data, role: pl.DataFrame(_columns(data, role)),
    "lazy": lambda _, data, role: pl.LazyFrame(_columns(data, role)),
    "pandas": lambda _, data, role: pd.DataFrame(_columns(data, role)),
    "pandas-object": lambda _, data, role: pd.DataFrame(
        _columns(data, role), dtype=object
    ),
    "pandas-category": lambda _, data, role: pd.DataFrame(_columns(data, role)).astype(
        {"query": "category", "item": "category"}
    ),
    "pandas-index": lambda _, data, role: pd.DataFrame(
        _columns(data, role), index=range(50, 50 + len(rows_of(data)))
    ),
    "arrow": lambda _, data, role: pa.table(_columns(data, role)),
    "arrow-batch": lambda _, data, role: pa.record_batch(_columns(data, role)),
    "arrow-chunks": lambda _, data, role: pa.concat_tables(
        [pa.table(_columns({query: entry}, role)) for query, entry in data.items()]
    ),
    "capsule": lambda _, data, role: Capsule(pa.table(_columns(data, role))),
    "categorical": lambda _, data, role: pl.DataFrame(_columns(data, role)).cast(
        {"query": pl.Categorical, "item": pl.Categorical}
    ),
}


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


# --- matrices

GRADES = np.array([[2, 0, 1, 0], [0, 1, 0, 0], [0, 0, 3, 1]], dtype=float)
SCORES = np.array([[0.1, 0.9, 0.8, 0.2], [0.4, 0.3, 0.2, 0.1], [0.3, 0.1, 0.2, 0.9]])
BY_HAND = ((1 / 2 + 2 / 4) / 2 + 1 / 2 + (1 / 1 + 2 / 3) / 2) / 3


def lists_of(matrix: Any) -> dict[int, dict[int, float]]:
    return {
        row: {column: float(value) for column, value in enumerate(values)}
        for row, values in enumerate(matrix)
    }


MATRICES: dict[str, Callable[[Any], Any]] = {
    "dict": lists_of,
    "scores": rk.from_scores,
    "list": lambda matrix: rk.from_scores(matrix.tolist()),
    "float32": lambda matrix: rk.from_scores(matrix.astype(np.float32)),
    "fortran": lambda matrix: rk.from_scores(np.asfortranarray(matrix)),
    "csr": sparse.csr_matrix,
    "coo": sparse.coo_matrix,
    "csc": sparse.csc_matrix,
    "csr-array": sparse.csr_array,
    "coo-array": sparse.coo_array,
}


@pytest.mark.parametrize("run_form", MATRICES)
@pytest.mark.parametrize("qrels_form", MATRICES)
def test_matrices_give_the_same_numbers(qrels_form: str, run_form: str) -> None:
    qrels, run = MATRICES[qrels_form](GRADES), MATRICES[run_form](SCORES)
    metrics = ["AP", "nDCG@2", "P@3", "RR", "NumRet"]

    ev = rk.evaluate(qrels, run, metrics)

    expected = rk.evaluate(lists_of(GRADES), lists_of(SCORES), metrics)
    assert ev.mean == expected.mean
    assert ev.per_query.equals(expected.per_query)
    assert ev["AP"] == pytest.approx(BY_HAND)


def test_ties_in_a_matrix_fall_as_in_a_dict() -> None:
    grades = np.eye(12)[[3, 10, 2]]
    scores = np.ones((3, 12))

    dense = rk.evaluate(rk.from_scores(grades), rk.from_scores(scores), ["RR", "P@5"])
    mixed = rk.evaluate(lists_of(grades), rk.from_scores(scores), ["RR", "P@5"])
    plain = rk.evaluate(lists_of(grades), lists_of(scores), ["RR", "P@5"])

    # Ids are compared as text, descending: 9 8 7 6 5 4 3 2 11 10 1 0.
    assert plain.per_query["RR"].to_list() == pytest.approx([1 / 7, 1 / 10, 1 / 8])
    assert dense.per_query.equals(plain.per_query)
    assert mixed.per_query.equals(plain.per_query)


def test_stored_zeros_of_a_sparse_matrix_count() -> None:
    entry = (np.array([0.0, 0.0]), np.array([0, 1]), np.array([0, 2]))
    run = sparse.csr_matrix(entry, shape=(1, 5))

    ev = rk.evaluate({0: {1: 1}}, run, ["RR", "NumRet"])

    assert ev.mean == {"RR": 1, "NumRet": 2}


def test_ids_of_a_matrix_can_be_given() -> None:
    run = rk.from_scores(SCORES, queries=["q1", "q2", "q3"], items=["a", "b", "c", "d"])
    qrels = {"q2": {"b": 1}, "q3": {"c": 3, "d": 1}, "q1": {"a": 2, "c": 1}}

    ev = rk.evaluate(qrels, run, ["AP"])

    assert ev.per_query["query"].to_list() == ["q2", "q3", "q1"]
    assert ev["AP"] == pytest.approx(BY_HAND)


def test_minus_infinity_is_not_retrieved_and_nan_not_judged() -> None:
    grades = rk.from_scores([[1.0, math.nan, 0.0]])
    scores = rk.from_scores([[0.5, 0.9, -math.inf]])

    ev = rk.evaluate(grades, scores, ["RR", "NumRet", "Unjudged@2", "NumRel"])

    assert ev.mean == {"RR": 1 / 2, "NumRet": 2, "Unjudged@2": 1 / 2, "NumRel": 1}


@pytest.mark.parametrize(
    ("matrix", "pad", "truth"),
    [
        (np.array([[7, 8, 9], [8, 9, -1]]), -1, {0: {8}, 1: {8}}),
        ([[7, 8, 9], [8, 9, -1]], -1, {0: {8}, 1: {8}}),
        (np.array([[7, 8], [8, 0]], dtype=np.uint32), 0, {0: {8}, 1: {8}}),
        ([["g", "h", "i"], ["h", "i", "-"]], "-", {0: {"h"}, 1: {"h"}}),
        ([["g", "h", "i"], ["h", "i", ""]], "", {0: {"h"}, 1: {"h"}}),
        (np.array([[7, 8, 9], [8, 9, np.nan]]), np.nan, {0: {8}, 1: {8}}),
    ],
    ids=["array", "lists", "unsigned", "text", "empty-text", "nan"],
)
def test_ranked_items_with_pad(matrix: Any, pad: Any, truth: Any) -> None:
    run = rk.from_ranked(matrix, pad=pad)

    ev = rk.evaluate(truth, run, ["RR", "NumRet"])

    width = np.asarray(matrix).shape[1]
    assert ev.mean == {"RR": (1 / 2 + 1) / 2, "NumRet": 2 * width - 1}


def test_ranked_items_with_ids_of_queries() -> None:
    run = rk.from_ranked([["a", "b"], ["b", "a"]], queries=["u1", "u2"])

    ev = rk.evaluate({"u1": {"b"}, "u2": {"b"}}, run, ["RR"])

    assert ev.per_query.rows() == [("u1", 1 / 2), ("u2", 1)]


# --- columns

ALIASES = [
    ("query_id", "doc_id", "relevance", "score"),
    ("qid", "docno", "label", "score"),
    ("q_id", "d_id", "rel", "sim"),
    ("user_id", "item_id", "rating", "score"),
    ("userId", "movieId", "rating", "prediction"),
    ("USER_ID", "ITEM_ID", "Weight", "Score"),
    ("uid", "iid", "r_ui", "est"),
    ("user", "item", "click", "pred"),
    ("session_id", "object_id", "target", "output"),
    ("query-id", "corpus-id", "score", "score"),
    ("topic", "document", "grade", "predicted_rating"),
]


@pytest.mark.parametrize("names", ALIASES, ids=" ".join)
@pytest.mark.parametrize("form", ["polars", "pandas", "csv", "tsv", "parquet"])
def test_columns_are_recognised_by_name(
    names: tuple[str, str, str, str], form: str, tmp_path: Path
) -> None:
    query, item, grade, score = names
    both: list[Any] = []
    for role, data, value in (("qrels", QRELS, grade), ("run", RUN, score)):
        frame = pl.DataFrame(columns_of(data, "v")).select(
            pl.lit("more").alias("comment"),
            pl.col("v").alias(value),
            pl.col("item").alias(item),
            pl.col("query").alias(query),
        )
        path = tmp_path / role
        if form == "polars":
            both.append(frame)
        elif form == "pandas":
            both.append(frame.to_pandas())
        elif form == "parquet":
            frame.write_parquet(path)
            both.append(path)
        else:
            frame.write_csv(path, separator="," if form == "csv" else "\t")
            both.append(path)

    ev = rk.evaluate(both[0], both[1], METRICS)

    assert ev.mean == rk.evaluate(QRELS, RUN, METRICS).mean


@pytest.mark.parametrize("form", ["polars", "pandas", "csv", "parquet"])
def test_columns_can_be_named(form: str, tmp_path: Path) -> None:
    names = {"query": "wer", "item": "was", "grade": "note", "score": "wert"}
    frame = pl.DataFrame(
        {
            "wer": ["q", "q", "q"],
            "was": ["a", "b", "c"],
            "note": [1, 0, 1],
            "wert": [0.1, 0.9, 0.5],
            "query": ["z", "z", "z"],
            "score": [3.0, 2.0, 1.0],
        }
    )
    data: Any = frame
    if form == "pandas":
        data = frame.to_pandas()
    elif form == "csv":
        data = tmp_path / "data.csv"
        frame.write_csv(data)
    elif form == "parquet":
        data = tmp_path / "data.parquet"
        frame.write_parquet(data)

    ev = rk.evaluate(data, data, ["AP"], columns=names)

    assert ev["AP"] == (1 / 2 + 2 / 3) / 2
    assert ev.per_query["query"].to_list() == ["q"]


def test_columns_can_be_named_in_files_one_by_one(tmp_path: Path) -> None:
    path = tmp_path / "some.csv"
    path.write_text("wer;was;wert\n".replace(";", ",") + "q,b,2\nq,a,1\n")
    run = rk.read_run(path, columns={"query": "wer", "item": "was", "score": "wert"})

    assert rk.evaluate({"q": {"a"}}, run, ["RR"])["RR"] == 1 / 2


def test_columns_named_by_numbers_in_pandas() -> None:
    run = pd.DataFrame([["q", "b", 2.0], ["q", "a", 1.0]])

    names: Any = {"query": 0, "item": 1, "score": 2}

    assert rk.evaluate({"q": {"a"}}, run, ["RR"], columns=names)["RR"] == 1 / 2


@pytest.mark.parametrize("form", ["polars", "pandas", "csv"])
def test_rank_is_used_only_without_score(form: str, tmp_path: Path) -> None:
    frame = pl.DataFrame(
        {
            "query": ["q", "q", "q"],
            "item": ["a", "b", "c"],
            "rank": [1, 3, 2],
            "score": [0.1, 0.9, 0.5],
        }
    )

    def data(table: pl.DataFrame) -> Any:
        if form == "polars":
            return table
        if form == "pandas":
            return table.to_pandas()
        table.write_csv(tmp_path / "run.csv")
        return tmp_path / "run.csv"

    by_score = rk.evaluate({"q": {"c", "a"}}, data(frame), ["AP"])
    by_rank = rk.evaluate({"q": {"c", "a"}}, data(frame.drop("score")), ["AP"])

    assert by_score["AP"] == (1 / 2 + 2 / 3) / 2
    assert by_rank["AP"] == 1
    assert any("'rank'" in note for note in by_rank.notes)


def test_ranks_may_start_anywhere_and_have_gaps() -> None:
    run = pl.DataFrame({"query": "q", "item": ["a", "b", "c"], "rank": [40, 0, 7]})

    assert rk.evaluate({"q": {"c"}}, run, ["RR"])["RR"] == 1 / 2


def test_rows_are_the_order_without_score_and_rank() -> None:
    run = pl.DataFrame({"query": ["q", "r", "q", "r"], "item": ["b", "a", "a", "b"]})

    ev = rk.evaluate({"q": {"a"}, "r": {"a"}}, run, ["RR"])

    assert ev.per_query["RR"].to_list() == [1 / 2, 1]
    assert any("order of rows" in note for note in ev.notes)


def test_judgements_without_grades_are_relevant() -> None:
    qrels = pl.DataFrame({"user": ["q", "q"], "item": ["a", "b"]})

    ev = rk.evaluate(qrels, {"q": ["x", "a"]}, ["R"])

    assert ev["R"] == 1 / 2
    assert any("no grades" in note for note in ev.notes)


# --- ids


@pytest.mark.parametrize(
    "dtype", [pl.Int8, pl.Int16, pl.Int32, pl.Int64, pl.UInt8, pl.UInt32, pl.UInt64]
)
def test_int_ids_stay_int(dtype: Any) -> None:
    schema = {"query": dtype, "item": dtype}
    qrels = pl.DataFrame({"query": [7, 8], "item": [1, 2]}, schema=schema)
    run = pl.DataFrame({"query": [8, 7], "item": [2, 1]}, schema=schema)

    ev = rk.evaluate(qrels, run, ["RR"])

    assert ev["RR"] == 1
    assert ev.per_query["query"].to_list() == [7, 8]
    assert ev.per_query["query"].dtype.is_integer()


def test_int_ids_of_a_dict_stay_int() -> None:
    ev = rk.evaluate({7: {1}, 8: {2}}, {8: [2], 7: [1]}, ["RR"])

    assert ev.queries == [7, 8]
    assert ev.per_query["query"].to_list() == [7, 8]


def test_int_ids_of_a_dict_stay_int_beside_a_file(tmp_path: Path) -> None:
    path = tmp_path / "some.run"
    path.write_text("7 Q0 1 1 0.5 t\n8 Q0 2 1 0.5 t\n")

    ev = rk.evaluate({7: {1}, 8: {2}}, path, ["RR"])

    assert ev["RR"] == 1
    assert ev.queries == [7, 8]


def test_numpy_ints_are_ints() -> None:
    ev = rk.evaluate({np.int64(7): {np.int32(1): 1}}, {7: [np.int64(1)]}, ["RR"])

    assert ev["RR"] == 1


def test_large_ids_are_exact() -> None:
    near = [2**63 + 1, 2**63 + 2]
    frame = pl.DataFrame(
        {"query": "q", "item": near}, schema_overrides={"item": pl.UInt64}
    )

    ev = rk.evaluate({"q": {near[1]}}, frame, ["RR"])

    assert ev["RR"] == 1 / 2


@pytest.mark.parametrize("form", ["trec", "csv", "tsv"])
def test_ids_of_files_are_text(form: str, tmp_path: Path) -> None:
    qrels = FORMS[form](
        tmp_path / "qrels", {"01": {"007": 1.0}, "1": {"7": 1.0}}, "qrels"
    )
    run = FORMS[form](tmp_path / "run", {"01": {"7": 2.0, "007": 1.0}}, "run")

    ev = rk.evaluate(qrels, run, ["RR"])

    assert ev.per_query.rows() == [("01", 1 / 2), ("1", 0)]


def test_ids_are_never_altered(tmp_path: Path) -> None:
    odd = [
        "a#b",
        "A#B",
        "é",
        "e\u0301",
        "x,y",
        "\u200bz",
        "NA",
        "null",
        "nan",
        "1e3",
        "'q",
    ]
    path = tmp_path / "some.run"
    lines = ["q Q0 start 1 99 t"]
    lines += [f"q Q0 {item} 1 {90 - at} t" for at, item in enumerate(odd)]
    path.write_text("\n".join(lines), encoding="utf-8")

    found = [
        rk.evaluate({"q": {item}}, path, ["RR"])["RR"] for item in odd
    ]  # fmt: skip

    assert found == [1 / (at + 2) for at in range(len(odd))]


# --- long runs in parts


def made_run(
    n_queries: int = 40, n_items: int = 25, seed: int = 7
) -> tuple[Lists, Lists]:
    """Make judgements and a run with ties, of queries with ids of all lengths."""
    rng = random.Random(seed)  # noqa: S311 - no secret
    qrels: Lists = {}
    run: Lists = {}
    for number in range(n_queries):
        query = f"q{number}" * (1 + number % 3)
        items = [f"d{place}" for place in range(n_items)]
        rng.shuffle(items)
        run[query] = {item: rng.randint(0, 9) / 4 for item in items}
        judged = [*rng.sample(items, 6), "missing"]
        qrels[query] = {item: rng.randint(-1, 3) for item in judged}
    return qrels, run


def written(path: Path, run: Lists, order: str, ending: str = "\n") -> Path:
    lines = [f"{q} Q0 {item} 1 {value} t" for q, item, value in rows_of(run)]
    if order == "sorted":
        rows = sorted(rows_of(run), key=lambda row: (list(run).index(row[0]), -row[2]))
        lines = [f"{q} Q0 {item} 1 {value} t" for q, item, value in rows]
    if order == "interleaved":
        random.Random(3).shuffle(lines)  # noqa: S311 - no secret
    path.write_bytes((ending.join(lines) + ending).encode())
    return path


@pytest.mark.parametrize("part", [64, 300, 1000, 1 << 24])
@pytest.mark.parametrize("order", ["given", "sorted", "interleaved"])
@pytest.mark.parametrize(
    "ending", ["\n", "\r\n", "\n\n# note\n"], ids=["lf", "crlf", "notes"]
)
def test_a_run_in_parts_equals_the_dict(
    part: int, order: str, ending: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rankine._io.readahead._PART", part)
    qrels, run = made_run()
    path = written(tmp_path / "some.run", run, order, ending)
    metrics = ["nDCG@5", "AP", "RR", "P@10", "Bpref", "AUC", "NumRet", "Unjudged@10"]

    ev = rk.evaluate(qrels, path, metrics)

    expected = rk.evaluate(qrels, run, metrics)
    assert ev.mean == expected.mean
    assert ev.per_query.equals(expected.per_query)
    assert ev.notes == expected.notes


ODD_LINES = {
    "none": "",
    "comment": "# a note, on what\n",
    "empty": "\n",
    "quoted": '"q9","it""em",0.5\n',
    "over lines": '"q9","it\nem",0.5\n',
}


@pytest.mark.parametrize("part", [64, 300, 1000, 1 << 24])
@pytest.mark.parametrize("order", ["given", "sorted", "interleaved"])
@pytest.mark.parametrize("ending", ["\n", "\r\n"], ids=["lf", "crlf"])
@pytest.mark.parametrize("odd", ODD_LINES)
def test_a_csv_in_parts_equals_the_dict(
    part: int,
    order: str,
    ending: str,
    odd: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("rankine._io.readahead._PART", part)
    monkeypatch.setattr("rankine._io.bytes._SOME", 64)
    qrels, run = made_run()
    lines = written(tmp_path / "some.run", run, order).read_text().splitlines()
    fields = [line.split() for line in lines]
    rows = [f"{query},{item},{score}\n" for query, _, item, _, score, _ in fields]
    rows.insert(len(rows) // 2, ODD_LINES[odd])
    if "it" in ODD_LINES[odd]:
        item = "it\nem" if odd == "over lines" else 'it"em'
        run = {**run, "q9": {**run.get("q9", {}), item.replace("\n", ending): 0.5}}
    path = tmp_path / "run.csv"
    text = "query_id,item_id,score\n" + "".join(rows)
    path.write_bytes(text.replace("\n", ending).encode())

    ev = rk.evaluate(qrels, path, METRICS)

    assert ev.mean == rk.evaluate(qrels, run, METRICS).mean


def test_a_bad_row_of_a_csv_in_a_later_part_names_its_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rankine._io.readahead._PART", 100)
    monkeypatch.setattr("rankine._io.bytes._SOME", 64)
    rows = [f"q{at},d,0.5" for at in range(200)]
    rows[150] = "q150,d,many"
    path = tmp_path / "run.csv"
    path.write_text("query_id,item_id,score\n" + "\n".join(rows))

    with pytest.raises(DataError) as caught:
        rk.evaluate({"q1": {"d"}}, path, ["AP"])

    assert str(caught.value) == f"{path}:152: score is 'many', not a number"


@pytest.mark.parametrize("part", [64, 300, 1 << 24])
@pytest.mark.parametrize("ties", ["average", "best", "worst"])
def test_ties_in_parts_equal_those_of_the_dict(
    part: int, ties: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rankine._io.readahead._PART", part)
    qrels, run = made_run()
    path = written(tmp_path / "some.run", run, "interleaved")

    ev = rk.evaluate(qrels, path, ["nDCG@5", "AP", "RR"], ties=ties)

    assert ev.mean == rk.evaluate(qrels, run, ["nDCG@5", "AP", "RR"], ties=ties).mean


@pytest.mark.parametrize("form", ["polars", "pandas", "csv", "parquet"])
def test_an_interleaved_frame_equals_the_dict(form: str, tmp_path: Path) -> None:
    qrels, run = made_run()
    frame = pl.DataFrame(columns_of(run, "score")).sample(
        fraction=1, shuffle=True, seed=5
    )
    data: Any = frame
    if form == "pandas":
        data = frame.to_pandas()
    elif form != "polars":
        data = tmp_path / f"run.{form}"
        frame.write_csv(data) if form == "csv" else frame.write_parquet(data)

    ev = rk.evaluate(qrels, data, METRICS)

    assert ev.mean == rk.evaluate(qrels, run, METRICS).mean


@pytest.mark.parametrize("part", [64, 300, 1 << 24])
def test_judgements_in_parts_equal_the_dict(
    part: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rankine._io.readahead._PART", part)
    qrels, run = made_run()
    lines = [f"{q} 0 {item} {grade}" for q, item, grade in rows_of(qrels)]
    path = tmp_path / "qrels.txt"
    path.write_text("# first\n" + "\n\n".join(lines))

    ev = rk.evaluate(path, run, METRICS)

    assert ev.mean == rk.evaluate(qrels, run, METRICS).mean


@pytest.mark.parametrize("part", [40, 64, 300, 1000, 1 << 24])
@pytest.mark.parametrize("where", ["same", "next", "far", "scattered"])
@pytest.mark.parametrize("ending", ["\n", "\n\n"], ids=["plain", "blank-lines"])
def test_duplicates_across_parts_name_their_lines(
    part: int, where: str, ending: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rankine._io.readahead._PART", part)
    rows = [(f"q{number}", f"d{place}") for number in range(8) for place in range(20)]
    first = rows.index(("q3", "d4"))
    again = {"same": 1, "next": 3, "far": 15, "scattered": 70}[where] + first
    rows.insert(again, ("q3", "d4"))
    lines = [f"{q} Q0 {item} 1 {-at} t" for at, (q, item) in enumerate(rows)]
    path = tmp_path / "some.run"
    path.write_text(ending.join(lines) + "\n")

    with pytest.raises(DuplicateItemError) as caught:
        rk.evaluate({"q3": {"d4"}}, path, ["AP"])

    text, step = str(caught.value), len(ending)
    assert "'d4'" in text
    assert "'q3'" in text
    assert str(path) in text
    wanted = rf"\b{first * step + 1} and (line )?{again * step + 1}\b"
    assert re.search(wanted, text)


@pytest.mark.parametrize("bad", ["q1 Q0 d 1 2.0 t", "q1 Q0 d"])
def test_no_thread_reads_on_after_an_error(
    bad: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rankine._io.readahead._PART", 64)
    lines = ["q1 Q0 d 1 3.0 t", bad, *(f"q{at} Q0 d 1 0.5 t" for at in range(2, 99))]
    path = tmp_path / "some.run"
    path.write_text("\n".join(lines))

    with pytest.raises(DataError) as caught:
        rk.evaluate({"q1": {"d"}}, path, ["AP"])

    deadline = time.monotonic() + 10
    while _reading() and time.monotonic() < deadline:
        time.sleep(0.01)
    # The error is still held, with the frames that it came through.
    assert caught.value
    assert not _reading()


def _reading() -> list[str]:
    names = [thread.name for thread in threading.enumerate()]
    return [name for name in names if name.startswith("rankine-")]


@pytest.mark.parametrize("part", [64, 300])
def test_a_bad_line_in_a_later_part_names_its_line(
    part: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rankine._io.readahead._PART", part)
    lines = [f"q{at} Q0 d 1 0.5 t" for at in range(200)]
    lines[150] = "q150 Q0 d 1 0.5"
    path = tmp_path / "some.run"
    path.write_text("\n".join(lines))

    with pytest.raises(FormatError) as caught:
        rk.evaluate({"q1": {"d"}}, path, ["AP"])

    assert str(caught.value).startswith(f"{path}:151: expected 6 columns, got 5")


def test_a_line_longer_than_a_part_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rankine._io.readahead._PART", 16)
    long = "d" * 500
    path = tmp_path / "some.run"
    path.write_text(f"q Q0 x 1 2 t\nq Q0 {long} 1 1 t\nq Q0 y 1 0 t\n")

    assert rk.evaluate({"q": {long}}, path, ["RR"])["RR"] == 1 / 2


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
