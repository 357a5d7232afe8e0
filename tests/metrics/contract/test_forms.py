"""Order and form of the input: they change no number of any metric."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

import rankine as rk
from tests.metrics.contract.data import (
    N_QUERIES,
    NAMES,
    SEEDS,
    Grades,
    assert_same,
    column,
    data,
    evaluate,
    every_metric,
    reference,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from rankine._evaluate.result import Evaluation

pytestmark = pytest.mark.slow

LETTERS = str.maketrans("0123456789", "ABKLéüλ日本😀")


def texts(grades: Grades, new: Callable[[Any], Any] = str) -> Grades:
    return {
        str(query): {new(item): value for item, value in entry.items()}
        for query, entry in grades.items()
    }


def frame_of(side: Grades, value: str) -> pl.DataFrame:
    rows = [(q, item, x) for q, entry in side.items() for item, x in entry.items()]
    return pl.DataFrame(rows, schema=["query", "item", value], orient="row")


@every_metric
def test_the_order_of_queries_does_not_matter(name: str) -> None:
    rng = np.random.default_rng(101)
    for seed in SEEDS:
        qrels, run = data(seed)
        mixed = [
            {query: side[query] for query in rng.permutation(list(side)).tolist()}
            for side in (qrels, run)
        ]

        assert_same(evaluate(mixed[0], mixed[1], [name]), reference(seed), name)


@every_metric
def test_the_order_of_rows_does_not_matter(name: str) -> None:
    rng = np.random.default_rng(103)
    for seed in SEEDS:
        qrels, run = data(seed)
        inside = [
            {
                query: {item: entry[item] for item in rng.permutation(list(entry))}
                for query, entry in side.items()
            }
            for side in (qrels, run)
        ]
        frames = [frame_of(side, "score") for side in (qrels, run)]
        across = [frame[rng.permutation(frame.height).tolist()] for frame in frames]

        assert_same(evaluate(inside[0], inside[1], [name]), reference(seed), name)
        assert_same(evaluate(across[0], across[1], [name]), reference(seed), name)


@every_metric
def test_the_names_of_items_and_queries_do_not_matter(name: str) -> None:
    rng = np.random.default_rng(107)
    new = dict(enumerate(rng.permutation(120).tolist()))
    for seed in SEEDS:
        renamed = [
            texts(side, lambda item: f"doc-{new[item]}")
            for side in data(seed, ties=False)
        ]

        assert_same(
            evaluate(renamed[0], renamed[1], [name]), reference(seed, ties=False), name
        )


@every_metric
def test_names_in_the_same_order_break_ties_alike(name: str) -> None:
    for seed in SEEDS:
        # Each digit becomes a letter: the order as text stays what it was.
        renamed = [
            texts(side, lambda item: str(item).translate(LETTERS))
            for side in data(seed)
        ]

        assert_same(evaluate(renamed[0], renamed[1], [name]), reference(seed), name)


def test_letters_keep_the_order_of_digits() -> None:
    made = [digit.translate(LETTERS).encode() for digit in "0123456789"]

    assert made == sorted(made)


@every_metric
def test_only_the_order_of_scores_matters(name: str) -> None:
    transforms: list[Callable[[float], float]] = [
        lambda score: 3 * score - 100,
        lambda score: score**3,
        math.exp,
        lambda score: -1 / (1 + score),
    ]
    for seed in SEEDS:
        qrels, run = data(seed)
        for transform in transforms:
            again = {
                query: {item: transform(score) for item, score in entry.items()}
                for query, entry in run.items()
            }

            assert_same(evaluate(qrels, again, [name]), reference(seed), name)


def sparse_of(side: Grades) -> Any:
    frame = frame_of(side, "value")
    cells = (frame["query"].to_numpy(), frame["item"].to_numpy())
    return sparse.csr_array((frame["value"].to_numpy(), cells), shape=(N_QUERIES, 120))


def dense_of(run: Grades) -> Any:
    matrix = np.full((len(run), 120), -np.inf)
    for row, entry in enumerate(run.values()):
        matrix[row, list(entry)] = list(entry.values())
    return rk.from_scores(matrix, queries=list(run))


def trec_of(side: Grades, path: Path, line: str) -> Path:
    path.write_text(
        "".join(
            line.format(query=query, item=item, value=value)
            for query, entry in side.items()
            for item, value in entry.items()
        )
    )
    return path


def written(seed: int, folder: Path) -> dict[str, tuple[Any, Any]]:
    """Return the same data in every form that is read."""
    qrels, run = data(seed)
    whole = {q: {d: int(x) for d, x in entry.items()} for q, entry in qrels.items()}
    q, r = frame_of(qrels, "grade"), frame_of(run, "score")
    q.write_csv(folder / "qrels.csv")
    r.write_csv(folder / "run.csv")
    q.write_csv(folder / "qrels.tsv", separator="\t")
    r.write_csv(folder / "run.tsv", separator="\t")
    q.write_parquet(folder / "qrels.parquet")
    r.write_parquet(folder / "run.parquet")
    trec_qrels = trec_of(whole, folder / "q.txt", "{query} 0 {item} {value}\n")
    trec_run = trec_of(run, folder / "r.txt", "{query} Q0 {item} 1 {value!r} tag\n")
    return {
        "dict of ints": (qrels, run),
        "dict of text": (texts(qrels), texts(run)),
        "polars": (q, r),
        "polars lazy": (q.lazy(), r.lazy()),
        "pandas": (
            pd.DataFrame(q.to_dict(as_series=False)),
            pd.DataFrame(r.to_dict(as_series=False)),
        ),
        "pandas text": (
            pd.DataFrame(q.cast({"item": str}).to_dict(as_series=False)),
            pd.DataFrame(r.cast({"item": str}).to_dict(as_series=False)),
        ),
        "pyarrow": (
            pa.table(q.to_dict(as_series=False)),
            pa.table(r.to_dict(as_series=False)),
        ),
        "scipy CSR": (sparse_of(qrels), sparse_of(run)),
        "dense scores": (qrels, dense_of(run)),
        "frame and dict": (q, run),
        "dict and frame": (qrels, r),
        "TREC": (trec_qrels, trec_run),
        "TREC and dict": (trec_qrels, texts(run)),
        "CSV": (folder / "qrels.csv", folder / "run.csv"),
        "TSV": (str(folder / "qrels.tsv"), str(folder / "run.tsv")),
        "Parquet": (folder / "qrels.parquet", folder / "run.parquet"),
    }


@pytest.fixture(scope="module")
def forms(
    tmp_path_factory: pytest.TempPathFactory,
) -> list[tuple[str, Evaluation, Evaluation]]:
    made = []
    for seed in SEEDS[:2]:
        folder = tmp_path_factory.mktemp(f"forms{seed}")
        for form, (qrels, run) in written(seed, folder).items():
            made.append((form, evaluate(qrels, run, NAMES), reference(seed)))
    return made


@every_metric
def test_the_form_of_the_input_does_not_matter(
    name: str, forms: list[tuple[str, Evaluation, Evaluation]]
) -> None:
    for form, result, wanted in forms:
        assert column(result, name) == column(wanted, name), form
        assert result[name] == wanted[name], form


@every_metric
def test_an_ordered_list_is_a_run_with_falling_scores(name: str) -> None:
    for seed in SEEDS:
        qrels, run = data(seed, ties=False)
        lists = {
            query: sorted(entry, key=lambda item: -entry[item])
            for query, entry in run.items()
        }

        assert_same(evaluate(qrels, lists, [name]), reference(seed, ties=False), name)


@pytest.mark.parametrize("form", ["dict of ints", "polars", "pandas", "scipy CSR"])
def test_int_ids_stay_ints(form: str, tmp_path: Path) -> None:
    result = evaluate(*written(0, tmp_path)[form], ["AP"])

    assert result.per_query["query"].dtype == pl.Int64
    assert {type(query) for query in result.queries} == {int}


@pytest.mark.parametrize("form", ["dict of text", "TREC", "CSV", "TSV"])
def test_text_ids_stay_text(form: str, tmp_path: Path) -> None:
    result = evaluate(*written(0, tmp_path)[form], ["AP"])

    assert result.per_query["query"].dtype == pl.String
    assert {type(query) for query in result.queries} == {str}
