"""keep=: the first items of a run that is read in parts are those of the whole run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

import rankine as rk
from rankine._base.limits import limited

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

QRELS = {f"q{number}": {"d1": 1, "d3": 2, "d5": 0} for number in range(4)}
NEAR = 1.0 + 1e-9
"""A score that is 1 in 32 bits, and above it in 64."""

Row = tuple[str, str, float]


@st.composite
def runs(draw: st.DrawFn) -> list[Row]:
    """Return the rows of a run: sorted or not, tied or not, mixed or not."""
    rows: list[Row] = []
    for query in draw(st.permutations(["q0", "q1", "q2", "other"])):
        items = draw(st.permutations([f"d{number}" for number in range(8)]))
        items = items[: draw(st.integers(1, 8))]
        scores = [draw(st.sampled_from([0.0, 1.0, NEAR, 2.0, 3.0])) for _ in items]
        if draw(st.booleans()):
            scores.sort(reverse=True)
        rows += zip([query] * len(items), items, scores, strict=True)
    return list(draw(st.permutations(rows))) if draw(st.booleans()) else rows


def write(rows: list[Row], path: Path) -> None:
    path.write_text(
        "".join(
            f"{query} Q0 {item} {rank} {score!r} x\n"
            for rank, (query, item, score) in enumerate(rows, 1)
        )
    )


def tops(ev: rk.Evaluation, metric: str) -> dict[Any, Any]:
    return {entry.query: entry.top for entry in ev.worst(metric, n=10)}


@given(
    rows=runs(),
    keep=st.integers(1, 5),
    part=st.sampled_from([40, 100, 1 << 24]),
    convention=st.sampled_from(sorted(rk.conventions())),
)
def test_parts_keep_what_a_frame_keeps(
    tmp_path_factory: pytest.TempPathFactory,
    rows: list[Row],
    keep: int,
    part: int,
    convention: str,
) -> None:
    path = tmp_path_factory.mktemp("run") / "run.trec"
    write(rows, path)
    names = ["query", "item", "score"]
    frame = pl.DataFrame(rows, schema=names, orient="row")
    frame = frame.with_columns(rank=pl.int_range(1, pl.len() + 1))

    whole = rk.evaluate(QRELS, frame, "P@3", convention=convention, keep=keep)
    with limited(part_bytes=part):
        parts = rk.evaluate(QRELS, path, "P@3", convention=convention, keep=keep)

    assert tops(parts, "P@3") == tops(whole, "P@3")
    assert parts.mean == whole.mean


def test_a_list_in_two_parts_keeps_its_best(tmp_path: Path) -> None:
    path = tmp_path / "run.trec"
    write([("q0", "d1", 3.0), ("q0", "d2", 2.0), ("q0", "d3", 1.0)], path)

    with limited(part_bytes=20):
        ev = rk.evaluate(QRELS, path, "P@3", keep=2)

    assert tops(ev, "P@3")["q0"] == ((1, "d1", 1), (2, "d2", None))


def test_a_list_is_not_cut_between_scores_that_are_equal_in_32_bits(
    tmp_path: Path,
) -> None:
    path = tmp_path / "run.trec"
    write([("q0", "d1", 3.0), ("q0", "d2", NEAR), ("q0", "d9", 1.0)], path)

    rule = rk.Convention(score_bits=32)
    narrow = rk.evaluate(QRELS, path, "P@3", convention=rule, keep=2)
    wide = rk.evaluate(QRELS, path, "P@3", keep=2)

    # Equal scores are ranked by id, from the last.
    assert [item for _, item, _ in tops(narrow, "P@3")["q0"]] == ["d1", "d9"]
    assert [item for _, item, _ in tops(wide, "P@3")["q0"]] == ["d1", "d2"]
