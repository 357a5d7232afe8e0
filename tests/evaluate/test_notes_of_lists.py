"""Metrics of lists alone say of a run what metrics of judged items say of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import rankine as rk
from tests.evaluate.streams import small

if TYPE_CHECKING:
    from pathlib import Path

QRELS = {f"q{n}": {"a": 1} for n in range(5)}
RUN = {
    query: {"a": 1.0, "b": 2.0 if query == "q3" else 0.5, "c": 0.25} for query in QRELS
}
"""The list of q3 is not in the order of its scores."""
FRAME = pl.DataFrame(
    [(query, item, score) for query, e in RUN.items() for item, score in e.items()],
    schema=["query", "item", "score"],
    orient="row",
)
METRICS = [["P@3"], ["Coverage@3"], ["P@3", "Coverage@3"], ["Coverage@3", "P@3"]]


def forms(frame: pl.DataFrame, folder: Path) -> dict[str, Any]:
    path = folder / "run.parquet"
    frame.write_parquet(path)
    return {
        "frame": frame,
        "mixed": frame.sort("item", maintain_order=True),
        "file": path,
        "batches": (frame[begin : begin + 4] for begin in range(0, frame.height, 4)),
    }


@pytest.mark.parametrize("metrics", METRICS, ids=str)
@pytest.mark.parametrize("scored", [True, False])
def test_a_missing_rank_column_is_noted_once(
    metrics: list[str],
    scored: bool,  # noqa: FBT001 - a parameter of the test
    tmp_path: Path,
) -> None:
    by = "scores give" if scored else "order gives"
    frame = FRAME if scored else FRAME.drop("score")
    asked: Any = {"convention": "rectools", "catalog": 9, "engine": "stream"}
    runs = forms(frame, tmp_path)
    runs["dict"] = RUN if scored else {query: [*entry] for query, entry in RUN.items()}
    for form, run in runs.items():
        with small():
            ev = rk.evaluate(QRELS, run, metrics, **asked)
        said = [note for note in ev.notes if "no rank column" in note]
        name = run if form == "file" else "run"
        assert said == [f"{name} has no rank column; its {by} the ranks"], form


@pytest.mark.parametrize("metrics", METRICS, ids=str)
def test_lists_that_are_not_in_the_order_of_scores_are_warned_of(
    metrics: list[str], tmp_path: Path
) -> None:
    asked: Any = {"convention": "lenskit", "catalog": 9, "engine": "stream"}
    runs = forms(FRAME, tmp_path)
    runs["dict"] = RUN
    for form, run in runs.items():
        with small():
            ev = rk.evaluate(QRELS, run, metrics, **asked)
        said = [words for words in ev.warnings if "given order" in words]
        assert [words.partition("scores for ")[2] for words in said] == [
            "1 query; sort the run by score if you want that order"
        ], form


def test_batches_count_such_lists_together() -> None:
    batches = rk.Accumulator("Coverage@3", convention="lenskit", catalog=9)
    for query, entry in RUN.items():
        worse = {"a": 1.0, "b": 2.0} if query == "q1" else entry
        batches.update({query: QRELS[query]}, {query: worse})

    (said,) = (w for w in batches.result().warnings if "given order" in w)
    assert "for 2 queries" in said
