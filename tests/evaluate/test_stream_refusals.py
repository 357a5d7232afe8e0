"""What is refused of a run in parts is what is refused of it in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankine as rk
from rankine.errors import DuplicateItemError, RankineError
from tests.evaluate.streams import FORMS, QRELS, small, written

if TYPE_CHECKING:
    from pathlib import Path

MIXED = [
    ("a", "x", 1.0),
    ("a", "x", 0.0),
    *((f"q{number}", "d", 1.0) for number in range(12)),
    ("a", "y", 9.0),
    ("a", "z", 8.0),
]
"""The first part of query a has an item twice, and both are below its best two."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("run")


def outcome(run: Any, metrics: list[str], **options: Any) -> Any:
    try:
        ev = rk.evaluate(QRELS, run, metrics, catalog=50, **options)
    except RankineError as error:
        return type(error)
    return str(ev.mean), ev.per_query.to_dict(as_series=False)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("limit", [{}, {"memory_limit": "16GB"}])
def test_half_a_list_is_not_refused(
    form: str, limit: dict[str, Any], folder: Path
) -> None:
    with small():
        run = written(MIXED, form, folder)
        ev = rk.evaluate(
            None, run, "Coverage@2", catalog=50, engine="stream", **limit
        )  # fmt: skip

    # y and z of query a, and d of the others.
    assert ev.mean == {"Coverage@2": 3 / 50}


@pytest.mark.parametrize("form", FORMS)
def test_a_repeat_in_a_list_that_is_whole_is_refused(form: str, folder: Path) -> None:
    rows = [("q0", "y", 2.0), ("q0", "y", 1.0), *MIXED[2:-2], ("b", "d1", 1.0)]
    with small():
        run = written(rows, form, folder)
        with pytest.raises(DuplicateItemError, match="'y' appears twice for query"):
            rk.evaluate(None, run, "Coverage@2", catalog=50, engine="stream")


@given(
    rows=st.lists(
        st.tuples(
            st.sampled_from(["q0", "q1", "q2", "other"]),
            st.sampled_from(["d0", "d1", "d3", "d8"]),
            st.sampled_from([0.0, 1.0, 2.0, 3.0]),
        ),
        min_size=1,
        max_size=30,
    ),
    form=st.sampled_from(["csv", "parquet", "folder", "batches"]),
    metrics=st.sampled_from([["Coverage@2"], ["nDCG@2"], ["RR", "Coverage@1"]]),
    held=st.sampled_from([1, 1 << 20]),
    part=st.sampled_from([1, 60, 1 << 20]),
)
def test_however_a_run_is_cut_the_same_is_refused(
    folder: Path,
    rows: list[tuple[str, str, float]],
    form: str,
    metrics: list[str],
    held: int,
    part: int,
) -> None:
    whole = outcome(written(rows, form, folder), metrics, engine="memory")
    with small(held=held, part=part):
        run = written(rows, form, folder)
        assert outcome(run, metrics, engine="stream") == whole


def test_the_order_of_a_large_run_is_seen_to_its_end(folder: Path) -> None:
    n = 300_000
    frame = pl.DataFrame(
        {
            "query": ["a", "a", *(f"q{row // 10}" for row in range(n)), "a", "a"],
            "item": ["x", "x", *(f"d{row % 10}" for row in range(n)), "y", "z"],
            "score": [1.0, 0.0, *(-float(row % 10) for row in range(n)), 9.0, 8.0],
        }
    )
    path = folder / "large.parquet"
    frame.write_parquet(path)

    ev = rk.evaluate(None, path, "Coverage@2", catalog=50, engine="stream")

    assert ev.mean == {"Coverage@2": 4 / 50}  # d0, d1, y, z


def test_what_is_below_the_cutoff_is_not_looked_at() -> None:
    # By id, d1 comes first: d0 is repeated at the ranks 2 and 3.
    run = {"q0": ["d0", "d0", "d1"], "q1": ["d0", "d1"], "q2": ["d1"]}
    rows = [(query, item, 0.0) for query, items in run.items() for item in items]
    frame = pl.DataFrame(rows, schema=["query", "item", "score"], orient="row")

    assert rk.evaluate(None, frame, "Coverage@2", catalog=50).mean["Coverage@2"] == (
        2 / 50
    )
    with pytest.raises(DuplicateItemError, match=r"\(row 0 and row 1\)"):
        rk.evaluate(None, frame, "Coverage@3", catalog=50)
