"""A few rows are looked up as a mapping, and give what many rows give."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import rankine as rk
from rankine._base.limits import limited
from rankine._io.mappings import few_as_lists
from rankine._io.sources import Rows
from rankine.errors import RankineError

METRICS = ["nDCG@3", "AP", "RR", "P@2", "bpref"]
TEXTS = st.sampled_from(["a", "b", "c", "d", "10", "9"])
INTS = st.integers(0, 6)
NUMBERS = st.sampled_from([0.0, 1.0, 2.0, 0.1, 0.1 + 1e-9, -1.0])
NONE = st.just(float("nan"))


def frames(
    queries: st.SearchStrategy[Any],
    ids: st.SearchStrategy[Any],
    value: str,
    of: st.SearchStrategy[Any],
) -> Any:
    """Draw rows in any order, most of them without repeats."""
    rows = st.lists(st.tuples(queries, ids, of), min_size=1, max_size=14)
    once = rows.map(lambda drawn: list({row[:2]: row for row in drawn}.values()))
    return st.one_of(once, once, once, once, once, rows).map(
        lambda drawn: pl.DataFrame(
            drawn, schema=["query", "item", value], orient="row", strict=False
        )
    )


def told(qrels: Any, run: Any, **options: Any) -> Any:
    """Return all that a user sees of an evaluation, or of its refusal."""
    try:
        ev = rk.evaluate(qrels, run, METRICS, **options)
    except RankineError as error:
        return type(error), str(error)
    return (
        repr(ev.mean),
        ev.per_query.to_dicts().__repr__(),
        ev.per_query.schema,
        ev.notes,
        ev.warnings,
        repr(ev.worst("AP", n=3)),
        str(ev),
        ev.to_json(),
    )


@pytest.mark.parametrize("ids", [TEXTS, INTS], ids=["texts", "ints"])
@settings(max_examples=150)
@given(data=st.data())
def test_few_rows_give_what_many_rows_give(ids: Any, data: st.DataObject) -> None:
    qrels = data.draw(frames(ids, ids, "grade", st.integers(-1, 3)))
    judged = st.sampled_from(qrels["query"].unique(maintain_order=True).to_list())
    queries = data.draw(st.sampled_from([judged, judged, judged, ids]))
    of = data.draw(st.sampled_from([NUMBERS] * 9 + [NUMBERS | NONE]))
    run = data.draw(frames(queries, ids, "score", of))
    options = {
        "convention": data.draw(st.sampled_from(sorted(rk.conventions()))),
        "ties": data.draw(st.sampled_from([None, None, "average"])),
        "keep": data.draw(st.sampled_from([None, 2])),
        "lenient": data.draw(st.booleans()),
    }

    few = outcome(2048, qrels, run, options)
    many = outcome(0, qrels, run, options)

    assert few == many


@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_short_files_give_what_long_files_give(
    tmp_path: Path, data: st.DataObject
) -> None:
    qrels, run = tmp_path / "some.qrels", tmp_path / "some.run"
    judged = data.draw(frames(TEXTS, TEXTS, "grade", st.integers(-1, 3)))
    scores = data.draw(st.sampled_from([NUMBERS] * 9 + [NUMBERS | NONE]))
    listed = data.draw(frames(TEXTS, TEXTS, "score", scores))
    qrels.write_text("".join("{} 0 {} {}\n".format(*row) for row in judged.rows()))
    run.write_text("".join("{} Q0 {} 1 {} x\n".format(*row) for row in listed.rows()))
    options = {
        "convention": data.draw(st.sampled_from(sorted(rk.conventions()))),
        "keep": data.draw(st.sampled_from([None, 2])),
    }

    few = outcome(2048, qrels, run, options)
    many = outcome(0, qrels, run, options)

    if isinstance(few[0], type):
        # Such scores are counted in the rows that are looked at together.
        few, many = (
            (*error[:1], re.sub(r"\(\d+ such scores? in all\)", "", error[1]))
            for error in (few, many)
        )
    assert few == many


def outcome(few_rows: int, qrels: Any, run: Any, options: dict[str, Any]) -> Any:
    with limited(few_rows=few_rows):
        return told(qrels, run, **options)


def test_ids_of_two_types_are_compared_as_those_of_many_rows() -> None:
    qrels = pl.DataFrame({"query": ["1", "1"], "item": ["7", "8"], "grade": [1, 2]})
    run = pl.DataFrame({"query": [1, 1], "item": [8, 7], "score": [2.0, 1.0]})

    few = outcome(2048, qrels, run, {})

    assert few == outcome(0, qrels, run, {})
    assert any("compared as text" in note for note in few[3])


def rows(columns: dict[str, Any], **facts: Any) -> Rows:
    return Rows(pl.DataFrame(columns), "run", **facts)


PLAIN = {"query": ["q", "r", "q"], "item": ["a", "a", "b"], "value": [1.0, 2.0, 3.0]}


def test_rows_become_lists_in_their_order() -> None:
    with limited(few_rows=3):
        lists = few_as_lists(rows(PLAIN))

    assert lists == {"q": {"a": 1.0, "b": 3.0}, "r": {"a": 2.0}}
    assert list(lists["q"]) == ["a", "b"]


@pytest.mark.parametrize(
    ("columns", "facts"),
    [
        (PLAIN | {"item": ["a", "a", "a"]}, {}),
        (PLAIN | {"item": ["a", None, "b"]}, {}),
        (PLAIN | {"value": [1.0, float("inf"), 3.0]}, {}),
        (PLAIN | {"subtopic": ["x", "y", "z"]}, {}),
        (PLAIN, {"ranked": True}),
        (PLAIN, {"placed": True}),
        (PLAIN, {"shape": (2, 2)}),
    ],
    ids=["repeat", "no id", "infinite", "subtopic", "ranked", "placed", "matrix"],
)
def test_other_rows_stay_rows(columns: dict[str, Any], facts: dict[str, Any]) -> None:
    with limited(few_rows=3):
        assert few_as_lists(rows(columns, **facts)) is None


def test_more_rows_stay_rows() -> None:
    with limited(few_rows=2):
        assert few_as_lists(rows(PLAIN)) is None


def test_lists_that_are_not_judged_count_where_scores_rise() -> None:
    """Whether small scores seem to be best is told of all lists."""
    qrels = pl.DataFrame({"query": ["q"], "item": ["a"], "grade": [1]})
    items = [f"i{place}" for place in range(30)]
    run = pl.DataFrame(
        {
            "query": ["q", *["r"] * 30],
            "item": ["a", *items],
            "score": [1.0, *map(float, range(30))],
        }
    )

    few = outcome(2048, qrels, run, {})

    assert few == outcome(0, qrels, run, {})
    assert few[4]
