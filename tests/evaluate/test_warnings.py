"""Warnings on the data: scores that rise, and frames that are swapped."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import rankine as rk
from rankine.errors import DataError
from tests.evaluate.rising import LISTS, QRELS, rows

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


# --- scores that rise

RISING = (
    "scores rise along every list, as distances do; if smaller is better, give "
    "lower_is_better=True or --lower-is-better"
)


def trec(lists: Mapping[str, Mapping[str, float]], path: Path) -> Path:
    lines = [
        f"{query} Q0 {item} {rank} {score} tag\n"
        for query, own in lists.items()
        for rank, (item, score) in enumerate(own.items(), 1)
    ]
    path.write_text("".join(lines))
    return path


@pytest.mark.parametrize("form", ["mapping", "frame", "csv", "trec"])
def test_rising_scores_are_the_first_warning_in_every_form(
    form: str, tmp_path: Path
) -> None:
    rows(LISTS).write_csv(tmp_path / "run.csv")
    run: Any = {
        "mapping": LISTS,
        "frame": rows(LISTS),
        "csv": tmp_path / "run.csv",
        "trec": trec(LISTS, tmp_path / "run.txt"),
    }[form]

    ev = rk.evaluate(QRELS, run, ["RR", "nDCG@2"], convention="ranx")
    turned = rk.evaluate(QRELS, run, "RR", lower_is_better=True)

    assert ev.warnings[0] == RISING
    assert not any("rise" in note for note in ev.notes)
    assert turned["RR"] == 1
    assert turned.warnings == ()


def test_rising_scores_are_told_where_only_lists_are_read() -> None:
    items = {item: [float(place)] for place, item in enumerate("abcd")}

    assert rk.evaluate(None, LISTS, "ILD", items=items).warnings == (RISING,)
    assert rk.evaluate(None, rows(LISTS), "ILD", items=items).warnings == (RISING,)


@pytest.mark.parametrize(
    "lists",
    [
        LISTS | {"r": {"a": 1, "b": 2, "c": 1.5}},
        {"q": LISTS["q"]},
        LISTS | {"r": {"a": 1, "b": 1, "c": 1}},
    ],
    ids=["one falls", "three steps", "ties are no steps"],
)
def test_few_or_other_steps_are_no_distances(lists: Any) -> None:
    for run in (lists, rows(lists)):
        assert rk.evaluate(QRELS, run, "RR").warnings == ()


def test_the_order_given_has_no_distances() -> None:
    assert rk.evaluate(QRELS, rows(LISTS), "RR", order="given").warnings == ()
    assert rk.evaluate(QRELS, {"q": list("abcdef")}, "RR").warnings == ()


@pytest.mark.parametrize("as_frame", [False, True])
def test_rising_scores_of_batches_are_those_of_one_call(as_frame: bool) -> None:  # noqa: FBT001
    made: Any = rows if as_frame else dict
    parts: list[tuple[Any, Any]] = [
        ({query: QRELS[query]}, made({query: LISTS[query]})) for query in ("q", "r")
    ]
    alone = ({"s": {"a": 1}}, made({"s": {"a": 9.0}}))  # neither rises nor falls
    falling = ({"t": {"a": 1}}, made({"t": {"a": 9.0, "b": 8.0}}))

    rising = rk.Accumulator("RR")
    for batch in (alone, *parts):
        rising.update(*batch)
    mixed = rk.Accumulator("RR")
    for batch in (*parts, falling):
        mixed.update(*batch)

    assert rising.result().warnings == (RISING,)
    assert mixed.result().warnings == ()


def test_warnings_come_before_notes_in_text_and_html() -> None:
    ev = rk.evaluate(QRELS | {"s": {"a": 1}}, LISTS, "RR@2")

    for text in (str(ev), ev._repr_html_()):
        assert 0 < text.index("scores rise along") < text.index("missing from the run")


# --- swapped frames

GRADED = {"q": {"a": 5, "b": 4}, "r": {"a": 3}}
SCORED = {"q": {"a": 3, "b": 2}, "r": {"a": 2}}


@pytest.mark.parametrize("form", ["polars", "pandas", "csv", "ndjson"])
def test_swapped_frames_warn(form: str, tmp_path: Path) -> None:
    run, ratings = rows(SCORED), rows(GRADED, "rating")
    given: tuple[Any, Any] = run, ratings
    if form == "pandas":
        given = run.to_pandas(), ratings.to_pandas()
    elif form == "csv":
        given = tmp_path / "a.csv", tmp_path / "b.csv"
        run.write_csv(given[0])
        ratings.write_csv(given[1])
    elif form == "ndjson":
        given = tmp_path / "a.jsonl", tmp_path / "b.jsonl"
        run.write_ndjson(given[0])
        ratings.write_ndjson(given[1])

    right = rk.evaluate(given[1], given[0], "nDCG")
    swapped = rk.evaluate(*given, "nDCG")
    first, second = swapped.warnings

    assert right.warnings == ()
    assert (
        "the column 'score' is used as the grade, but usually it is runs that"
    ) in first
    assert "columns={'grade': 'score'} or --col grade=score" in first
    assert (
        "the column 'rating' is used as the score, but usually it is judgements"
    ) in second
    assert "are judgements and run swapped?" in first


def test_a_long_file_of_ratings_for_a_run_warns(tmp_path: Path) -> None:
    path = tmp_path / "run.csv"
    lines = [f"q{at // 9},d{at % 9},{9 - at % 9}\n" for at in range(90_000)]
    path.write_text("query,item,rating\n" + "".join(lines))

    (text,) = rk.evaluate({"q1": {"d1": 1}}, path, "RR").warnings

    assert text.startswith(f"{path}: the column 'rating' is used as the score")


def test_who_names_the_column_is_not_warned() -> None:
    told = {"score": "rating", "grade": "score"}

    ev = rk.evaluate(rows(SCORED), rows(GRADED, "rating"), "nDCG", columns=told)

    assert ev.warnings == ()


def test_grades_of_beir_are_called_scores() -> None:
    names = {"query": "query-id", "item": "corpus-id"}

    assert rk.evaluate(rows(SCORED).rename(names), LISTS, "nDCG@1").notes
    assert not any(
        "swapped" in text
        for text in rk.evaluate(rows(SCORED).rename(names), LISTS, "nDCG").warnings
    )


def test_fractions_in_what_looks_like_a_run_say_that_too() -> None:
    with pytest.raises(DataError, match=r"such as 0\.5.*run swapped\?"):
        rk.evaluate(rows({"q": {"a": 0.5}}), rows(GRADED, "rating"), "P@1")


def test_lenient_reading_and_batches_keep_the_warning() -> None:
    lenient = rk.evaluate(rows(SCORED), rows(SCORED), "nDCG", lenient=True)
    batches = rk.Accumulator("nDCG")
    batches.update(rows({"q": SCORED["q"]}), rows({"q": SCORED["q"]}))
    batches.update(rows({"r": SCORED["r"]}), rows({"r": SCORED["r"]}))

    assert len(lenient.warnings) == 1
    assert lenient.warnings == batches.result().warnings
    assert lenient.warnings == rk.evaluate(rows(SCORED), rows(SCORED), "AP").warnings
