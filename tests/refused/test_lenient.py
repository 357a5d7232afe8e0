"""Lenient: what is refused by default is dropped or put last, and counted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import rankine as rk
from rankine.errors import DataError, RankineError

if TYPE_CHECKING:
    from pathlib import Path

NAN = float("nan")


def frame(rows: list[tuple[Any, ...]], value: str) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=["query", "item", value], orient="row")


def test_31_rows_without_an_id_are_dropped() -> None:
    rows = [("q", "a", 1.0), ("q", None, 3.0), (None, "b", 2.0), ("q", "", 2.5)]
    run = frame(rows, "score")

    with pytest.raises(DataError, match="missing"):
        rk.evaluate({"q": {"a": 1}}, run, "RR")
    ev = rk.evaluate({"q": {"a": 1}}, run, "RR", lenient=True)

    assert ev["RR"] == 1
    assert "run: 3 rows without an id: dropped" in ev.notes


@pytest.mark.parametrize("form", ["dict", "frame", "file"])
def test_41_scores_that_are_nan_come_last(form: str, tmp_path: Path) -> None:
    scores = {"x": 0.5, "a": NAN, "y": -9.0}
    run: Any = {"q": scores}
    if form == "frame":
        run = frame([("q", item, score) for item, score in scores.items()], "score")
    elif form == "file":
        run = tmp_path / "some.run"
        run.write_text("".join(f"q Q0 {i} 1 {s} t\n" for i, s in scores.items()))

    with pytest.raises(DataError, match="not a number"):
        rk.evaluate({"q": {"a": 1}}, run, "RR")
    ev = rk.evaluate({"q": {"a": 1}}, run, "RR", lenient=True)

    assert ev["RR"] == 1 / 3
    assert any("1 score not a number: ranked last" in note for note in ev.notes)


def test_51_the_best_of_repeated_items_is_kept() -> None:
    rows = [("q", "a", 1.0), ("q", "x", 2.0), ("q", "a", 3.0), ("r", "a", 1.0)]

    ev = rk.evaluate(
        {"q": {"a": 1}}, frame(rows, "score"), ["RR", "NumRet"], lenient=True
    )

    assert ev.mean == {"RR": 1, "NumRet": 2}
    assert "run: 1 row repeating an item: dropped, the best score is kept" in ev.notes


def test_51_the_first_of_repeated_items_is_kept_in_a_list() -> None:
    ev = rk.evaluate({"q": {"a": 1}}, {"q": ["x", "a", "a"]}, "RR", lenient=True)

    assert ev["RR"] == 1 / 2


def test_60_the_largest_of_repeated_grades_is_kept() -> None:
    qrels = frame([("q", "a", 0), ("q", "a", 2), ("q", "b", 1)], "grade")

    with pytest.raises(RankineError, match="judged twice"):
        rk.evaluate(qrels, {"q": ["a"]}, "DCG")
    ev = rk.evaluate(qrels, {"q": ["a"]}, "DCG", lenient=True)

    assert ev["DCG"] == 2
    assert any("the largest grade is kept" in note for note in ev.notes)


def test_15_control_characters_are_taken_as_they_are(tmp_path: Path) -> None:
    run = tmp_path / "some.run"
    run.write_text("q Q0 a\x07b 1 1.0 t\n")

    with pytest.raises(DataError, match=r":1: has the control character \\x07"):
        rk.evaluate({"q": {"a\x07b": 1}}, run, "RR")
    assert rk.evaluate({"q": {"a\x07b": 1}}, run, "RR", lenient=True)["RR"] == 1


def test_clean_data_are_not_touched() -> None:
    qrels, run = {"q": {"a": 1, "b": 0}}, {"q": {"b": 2.0, "a": 1.0}}

    plain, lenient = (
        rk.evaluate(qrels, run, ["RR", "nDCG"], lenient=value)
        for value in (False, True)
    )

    assert lenient.per_query.equals(plain.per_query)
    assert lenient.notes == plain.notes
