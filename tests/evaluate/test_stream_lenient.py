"""lenient=True in parts: what is dropped and counted is that of a run read at once."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import rankine as rk
from rankine.errors import RankineError
from tests.evaluate.streams import FORMS, QRELS, small, written

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

METRICS = ("nDCG@3", "AP", "RR", "NumRet", "Coverage@2", "Entropy", "ILD@3", "AUC")
TOPICS = {f"d{number}": "ab"[number % 2] for number in range(9)}
Messy = tuple[str | None, str | None, float]
rows_of_runs = st.lists(
    st.tuples(
        st.sampled_from(["q0", "q1", "q2", "other", "more", None]),
        st.sampled_from(["d0", "d1", "d3", "d8", None]),
        st.sampled_from([0.0, 1.0, 2.0, math.nan]),
    ),
    max_size=30,
)


def outcome(evaluate: Callable[[], rk.Evaluation]) -> Any:
    """Return all that an evaluation says, or the error it ends with."""
    try:
        ev = evaluate()
    except RankineError as error:
        return type(error), str(error)
    return str(ev.mean), ev.per_query.to_dict(as_series=False), ev.notes, ev.warnings


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("run")


@given(
    rows=rows_of_runs,
    grouped=st.booleans(),
    form=st.sampled_from(FORMS),
    sizes=st.fixed_dictionaries(
        {
            "buckets": st.sampled_from([1, 7]),
            "held": st.sampled_from([1, 1 << 20]),
            "part": st.sampled_from([1, 60, 1 << 20]),
        }
    ),
    options=st.fixed_dictionaries(
        {
            "convention": st.sampled_from(sorted(rk.conventions())),
            "order": st.sampled_from([None, None, "rank", "rank_value", "given"]),
            "keep": st.sampled_from([None, 2]),
        }
    ),
)
# Nothing is left; and a list of which only another part has a row with an id.
@example(rows=[("q0", None, 1.0)], form="csv", grouped=True, sizes={}, options={})
@example(
    rows=[("q0", None, 1.0), *[("q1", "d0", 1.0)] * 9, ("q0", "d1", 1.0)],
    form="parquet", grouped=False, sizes={}, options={},
)  # fmt: skip
def test_the_outcome_is_that_of_memory(
    folder: Path,
    rows: list[Messy],
    grouped: bool,  # noqa: FBT001 - a parameter of the test
    form: str,
    sizes: dict[str, int],
    options: dict[str, Any],
) -> None:
    if form in {"trec", "gz"}:  # in which no id can be missing
        rows = [row for row in rows if None not in row]
    if grouped:
        rows.sort(key=lambda row: row[0] or "")

    def evaluate(engine: str) -> Any:
        run = written(rows, form, folder)
        return outcome(
            lambda: rk.evaluate(
                QRELS, run, METRICS, lenient=True, engine=engine, items=TOPICS,
                catalog=9, **options,
            )
        )  # fmt: skip

    whole = evaluate("memory")
    with small(**sizes):
        assert evaluate("stream") == whole


@pytest.mark.parametrize("limit", [{}, {"memory_limit": "16GB"}])
def test_what_is_dropped_is_counted_over_all_parts(
    limit: dict[str, Any], tmp_path: Path
) -> None:
    frame = pl.DataFrame(
        {
            "query": ["p", "q", None, "p", "q", "p", "q"],
            "item": ["x", "a", "a", "a", None, "a", "y"],
            "score": [3.0, math.nan, 9.0, 2.0, 9.0, 4.0, 1.0],
        }
    )
    run = tmp_path / "run.csv"
    frame.write_csv(run)

    with small():
        ev = rk.evaluate(
            {"p": {"a": 1}, "q": {"a": 1}}, run, ["RR", "NumRet"], lenient=True,
            engine="stream", **limit,
        )  # fmt: skip

    # p: a (4.0), x; q: y, a (nan).
    assert ev.mean == {"RR": (1 + 1 / 2) / 2, "NumRet": 2 + 2}
    assert [note.removeprefix(f"{run}: ") for note in ev.notes[-3:]] == [
        "2 rows without an id: dropped",
        "1 score not a number: ranked last",
        "1 row repeating an item: dropped, the best score is kept",
    ]
