"""Small runs, in the forms that may be larger than memory."""

from __future__ import annotations

import gzip
import shutil
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import polars as pl
from hypothesis import strategies as st

from rankine._base.limits import limited

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

Row = tuple[Any, Any, float]
FORMS = ("trec", "csv", "parquet", "gz", "folder", "batches", "lazy")
QUERIES = ["q0", "q1", "q2", "q3", "other", "more"]
ITEMS = [f"d{number}" for number in range(9)]
QRELS = {
    "q0": {"d1": 1, "d3": 2, "d5": 0},
    "q1": {"d0": 1, "d8": 1, "none": 1},
    "q2": {"d2": 0},
    "q3": {"d4": 3},
    "absent": {"d4": 1},
}
NEAR = 1.0 + 1e-9
"""A score that is 1 in 32 bits, and above it in 64."""


@st.composite
def runs(draw: st.DrawFn, *, repeats: bool = True) -> list[Row]:
    """Return the rows of a run: sorted or not, tied or not, mixed or not."""
    rows: list[Row] = []
    for query in draw(st.permutations(QUERIES))[: draw(st.integers(1, 6))]:
        items = draw(st.permutations(ITEMS))[: draw(st.integers(1, 9))]
        if repeats and draw(st.integers(0, 5)) == 0:
            items = [*items, items[0]]
        scores = [draw(st.sampled_from([0.0, 1.0, NEAR, 2.0, 3.0])) for _ in items]
        if draw(st.booleans()):
            scores.sort(reverse=True)
        rows += zip([query] * len(items), items, scores, strict=True)
    return list(draw(st.permutations(rows))) if draw(st.booleans()) else rows


def framed(rows: list[Row]) -> pl.DataFrame:
    """Return rows as a frame, with a rank of each in its list by its place."""
    frame = pl.DataFrame(rows, schema=["query", "item", "score"], orient="row")
    return frame.with_columns(rank=pl.int_range(1, pl.len() + 1).over("query"))


def written(rows: list[Row], form: str, folder: Path) -> Any:
    """Write a run in one of several forms; return what `evaluate` takes."""
    frame = framed(rows)
    if form in {"trec", "gz"}:
        path = folder / "run.trec"
        lines = (
            f"{query} Q0 {item} {rank} {score!r} x\n"
            for query, item, score, rank in frame.iter_rows()
        )
        text = "".join(lines)
        if form == "gz":
            path.write_bytes(gzip.compress(text.encode(), mtime=0))
        else:
            path.write_text(text)
        return path
    if form == "csv":
        frame.write_csv(folder / "run.csv")
        return folder / "run.csv"
    if form == "parquet":
        frame.write_parquet(folder / "run.parquet", row_group_size=5)
        return folder / "run.parquet"
    if form == "folder":
        parts = folder / "parts"
        shutil.rmtree(parts, ignore_errors=True)
        parts.mkdir()
        for number, part in enumerate(frame.iter_slices(7)):
            part.write_parquet(parts / f"{number:03}.parquet")
        return parts
    if form == "batches":
        return (frame.slice(begin, 4) for begin in range(0, frame.height, 4))
    return frame.lazy()


@contextmanager
def small(*, buckets: int = 7, held: int = 1, part: int = 60) -> Iterator[None]:
    """Let little be held at once, so that small runs take the ways of large ones."""
    sizes = {"part_bytes": part, "head_bytes": 80, "held_bytes": held}
    with limited(scanned_rows=6, buckets=buckets, **sizes):
        yield
