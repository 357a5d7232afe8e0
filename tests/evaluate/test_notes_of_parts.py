"""Notes on a run in parts say what those on the whole run say."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import rankine as rk
from tests.evaluate.streams import small

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

QRELS = {"q1": {"a": 1}, "q2": {"c": 1}}
MESSY = pl.DataFrame(
    {
        "query": ["q1", "q1", "q1", "q2"],
        "item": ["a", None, "a", "c"],
        "score": [0.9, 0.8, 0.7, math.nan],
    }
)
LISTS = pl.DataFrame(
    {
        "query": ["q1", "e1", "e2", "q2", "e3"],
        "item": [["a"], [], [], ["x", "c"], []],
    },
    schema={"query": pl.String, "item": pl.List(pl.String)},
)
NONE = LISTS.filter(pl.col("item").list.len() == 0)
METRICS = [["nDCG@10"], ["Coverage@10"], ["nDCG@10", "Coverage@10"]]


def cut(frame: pl.DataFrame, size: int) -> Iterator[pl.DataFrame]:
    return (frame[begin : begin + size] for begin in range(0, frame.height, size))


def notes(run: Any, metrics: list[str], **options: Any) -> list[str]:
    """Return the notes with a count on rows of the run, without the name of a file."""
    ev = rk.evaluate(QRELS, run, metrics, catalog=9, **options)
    said = (note.replace(str(run), "run").partition(" (")[0] for note in ev.notes)
    return [note for note in said if re.match(r"run: \d+ (row|score|empty)", note)]


def written(frame: pl.DataFrame, folder: Path, size: int) -> dict[str, Any]:
    """Return a frame in forms that are read in parts."""
    frame.write_parquet(folder / "run.parquet", row_group_size=size)
    parts = folder / "parts"
    parts.mkdir()
    for number, part in enumerate(cut(frame, size)):
        part.write_parquet(parts / f"{number}.parquet")
    return {"file": folder / "run.parquet", "folder": parts, "batches": None}


@pytest.mark.slow
@pytest.mark.parametrize("metrics", METRICS, ids=str)
@pytest.mark.parametrize("size", [1, 2, 3])
def test_what_was_dropped_is_noted_whatever_is_asked(
    metrics: list[str], size: int, tmp_path: Path
) -> None:
    whole = notes(MESSY, metrics, lenient=True)
    assert whole == [
        "run: 1 row without an id: dropped",
        "run: 1 score not a number: ranked last",
        "run: 1 row repeating an item: dropped, the best score is kept",
    ]
    for run in written(MESSY, tmp_path, size).values():
        for limit in ({}, {"memory_limit": "16GB"}):
            with small():
                given = cut(MESSY, size) if run is None else run
                assert (
                    notes(given, metrics, lenient=True, engine="stream", **limit)
                    == whole
                )


def test_compare_notes_what_was_dropped() -> None:
    both = {"A": cut(MESSY, 2), "B": {"q1": {"a": 1.0}, "q2": {"c": 1.0}}}

    said = rk.compare(QRELS, both, "nDCG@3", lenient=True).notes

    assert "A: run: 1 score not a number: ranked last" in said


@pytest.mark.slow
@pytest.mark.parametrize("metrics", METRICS, ids=str)
@pytest.mark.parametrize("size", [1, 2, 3])
@pytest.mark.parametrize("engine", ["memory", "stream"])
def test_empty_lists_of_all_parts_are_counted(
    metrics: list[str], size: int, engine: str, tmp_path: Path
) -> None:
    whole = notes(LISTS, metrics)
    assert whole == ["run: 3 empty lists in 'item'"]
    for form, run in written(LISTS, tmp_path, size).items():
        with small():
            given = cut(LISTS, size) if run is None else run
            said = notes(given, metrics, engine=engine)
        assert said == whole, form


@pytest.mark.parametrize("engine", ["auto", "memory", "stream"])
@pytest.mark.parametrize("metrics", METRICS, ids=str)
def test_a_run_of_empty_lists_may_come_in_batches(
    engine: str, metrics: list[str]
) -> None:
    batches = cut(NONE.with_columns(query=pl.Series(["q1", "e1", "e2"])), 2)

    ev = rk.evaluate(QRELS, batches, metrics, catalog=9, engine=engine, keep=2)

    assert ev.mean == dict.fromkeys(metrics, 0)
    assert "run: 3 empty lists in 'item'" in ev.notes


def test_notes_on_batches_are_in_the_order_of_those_on_a_frame() -> None:
    for frame in (LISTS, LISTS[1:]):
        for metrics in METRICS:
            whole = rk.evaluate(QRELS, frame, metrics, catalog=9).notes
            for engine in ("memory", "stream"):
                batches = cut(frame, 2)
                ev = rk.evaluate(QRELS, batches, metrics, catalog=9, engine=engine)
                assert ev.notes == whole
