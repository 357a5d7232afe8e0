"""A run without rows: refused by every function, in every form."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

import rankine as rk
from rankine.errors import NoRowsError
from tests.evaluate.rising import QRELS

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

SCHEMA = {"query": pl.String, "item": pl.String, "score": pl.Float64}
EMPTY = pl.DataFrame(schema=SCHEMA)
NOTHING: dict[str, Any] = {
    "mapping": {},
    "polars": EMPTY,
    "pandas": EMPTY.to_pandas(),
    "arrow": EMPTY.to_arrow(),
    "lazy": EMPTY.lazy(),
    "lists in a frame": pl.DataFrame(
        schema={"query": pl.String, "items": pl.List(pl.String)}
    ),
    "sparse": sparse.csr_matrix((0, 3)),
    "ranked": rk.from_ranked(np.zeros((0, 3), dtype=int)),
}


@pytest.mark.parametrize("form", NOTHING)
def test_a_run_without_rows_is_refused_in_every_form(form: str) -> None:
    run = NOTHING[form]
    calls: dict[str, Callable[[], Any]] = {
        "evaluate": lambda: rk.evaluate(QRELS, run, "RR"),
        "lenient": lambda: rk.evaluate(QRELS, run, "RR", lenient=True),
        "lists": lambda: rk.evaluate(None, run, "ILD", items={"a": [1.0]}),
        "check": lambda: rk.check(QRELS, run),
        "reconcile": lambda: rk.reconcile(QRELS, run, "RR"),
        "similarity": lambda: rk.similarity(run, {"q": ["a"]}, "RBO"),
    }
    for call in calls.values():
        with pytest.raises(NoRowsError, match=r"^run: contains no rows$"):
            call()


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("run.txt", "\n"),
        ("run.csv", "query,item,score\n"),
        ("run.json", "{}"),
        ("run.json", "[]"),
        ("run.parquet", None),
        ("run.arrow", None),
    ],
)
def test_a_file_without_rows_is_refused_alike(
    name: str, content: str | None, tmp_path: Path
) -> None:
    path = tmp_path / name
    if content is not None:
        path.write_text(content)
    elif name.endswith("parquet"):
        EMPTY.write_parquet(path)
    else:
        EMPTY.write_ipc(path)

    with pytest.raises(NoRowsError) as caught:
        rk.evaluate(QRELS, path, "RR")

    assert str(caught.value) == f"{path}: contains no rows"


@pytest.mark.parametrize(
    "run",
    [
        {"q": [], "r": {}},
        pl.DataFrame({"query": ["q"], "items": [[]]}, {"query": str, "items": list}),
        rk.from_ranked([[-1, -1]], queries=["q"], pad=-1),
        rk.from_scores([[-np.inf]], queries=["q"], items=["a"]),
    ],
    ids=["mapping", "frame", "ranked", "matrix"],
)
def test_lists_that_are_empty_are_a_run(run: Any) -> None:
    if isinstance(run, pl.DataFrame):
        run = run.with_columns(pl.col("items").cast(pl.List(pl.String)))

    assert rk.evaluate(QRELS, run, "RR")["RR"] == 0
    assert rk.evaluate(QRELS, run, "RR", lenient=True)["RR"] == 0


def test_a_run_whose_rows_are_all_dropped_is_refused() -> None:
    run = pd.DataFrame({"query": ["q"], "item": [None], "score": [1.0]})

    with pytest.raises(NoRowsError, match="no rows are left, as none has an id"):
        rk.evaluate(QRELS, run, "RR", lenient=True)


def test_a_batch_may_have_no_rows_but_not_all_of_them() -> None:
    some, none = rk.Accumulator("RR"), rk.Accumulator("RR")
    some.update({"q": {"a": 1}}, {"q": ["a"]})
    for accumulator in (some, none):
        accumulator.update({"r": {"a": 1}}, {})
    none.update({"s": {"a": 1}}, EMPTY)

    assert some.result()["RR"] == (1 + 0) / 2
    with pytest.raises(NoRowsError, match=r"^run: contains no rows$"):
        none.result()
