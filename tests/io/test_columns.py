"""Columns by their names, and ids as they were given."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import rankine as rk
from tests.io.forms import FORMS, METRICS, QRELS, RUN, columns_of

if TYPE_CHECKING:
    from pathlib import Path

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
    assert any("rows are ranked in order" in note for note in ev.notes)


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
