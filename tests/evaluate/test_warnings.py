"""Warnings on the data: scores that rise, frames that are swapped, all relevant."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
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
        "the column 'score' is used as the grade, but usually runs have such"
    ) in first
    assert "columns={'grade': 'score'} or --col grade=score" in first
    assert (
        "the column 'rating' is used as the score, but usually judgements have"
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


# --- grades that are all relevant

RATED: dict[str, dict[str, float]] = {
    "u": {"a": 1, "b": 3, "c": 5},
    "v": {"a": 4, "b": 2},
}
SHOWN = {"u": ["a", "b", "c"], "v": ["a", "b", "x"]}
ALL = (
    "every judged item counts as relevant: the grades are 1 to 5, and none is below 1; "
    "if not all of them are, give the smallest relevant grade, such as rel=4 or "
    "--rel 4"
)


def test_ratings_that_are_all_relevant_warn() -> None:
    ev = rk.evaluate(RATED, SHOWN, ["P@3", "nDCG"])
    told = rk.evaluate(RATED, SHOWN, "P@3", rel=4)

    assert ev["P@3"] == (3 / 3 + 2 / 3) / 2
    assert ev.warnings == (ALL,)
    assert told["P@3"] == (1 / 3 + 1 / 3) / 2
    assert told.warnings == ()


@pytest.mark.parametrize(
    ("metric", "options"),
    [
        ("nDCG@3", {}),
        ("P(rel=4)@3", {}),
        ("P@3", {"convention": rk.Convention(threshold=2)}),
        ("ERR", {}),
    ],
)
def test_who_gave_a_threshold_or_needs_none_is_not_warned(
    metric: str, options: dict[str, Any]
) -> None:
    ev = rk.evaluate(RATED, SHOWN, metric, **options)

    assert not any("every judged item" in text for text in (*ev.warnings, *ev.notes))


@pytest.mark.parametrize(
    ("grades", "column", "level"),
    [
        ({"a": 1, "b": 2}, "grade", "note"),
        ({"a": 1, "b": 3}, "grade", "note"),
        ({"a": 1, "b": 3}, "rating", "warning"),
        ({"a": 1, "b": 3}, "Stars", "warning"),
        ({"a": 1, "b": 4}, "grade", "warning"),
        ({"a": 1, "b": 1}, "rating", None),
        ({"a": 0, "b": 5}, "rating", None),
        ({"a": -1, "b": 5}, "rating", None),
    ],
)
def test_of_ratings_it_is_a_warning_and_of_grades_a_note(
    grades: dict[str, float], column: str, level: str | None
) -> None:
    columns = {"grade": column} if column == "Stars" else None
    qrels = rows({"q": grades}, column)
    ev = rk.evaluate(qrels, {"q": ["a", "b"]}, "R@1", columns=columns)
    check = rk.check(qrels, {"q": ["a", "b"]}, columns=columns)
    found = [one for one in check.findings if one.what.startswith("every judged item")]

    assert [one.level for one in found] == ([] if level is None else [level])
    assert any("every judged" in text for text in ev.warnings) == (level == "warning")
    assert any("every judged" in text for text in ev.notes) == (level == "note")
    assert all("rel=" in one.todo and "--rel" in one.todo for one in found)


def test_grades_of_batches_are_those_of_one_call() -> None:
    others: list[dict[str, dict[str, float]]] = [
        {}, {"v": {"a": 3, "b": 2}, "u": {"a": 1}}, {"v": {"a": 0}},
    ]  # fmt: skip
    for changed in others:
        qrels = RATED | changed
        whole = rk.evaluate(qrels, SHOWN, "P@3")
        batches = rk.Accumulator("P@3")
        for user, grades in qrels.items():
            batches.update({user: grades}, {user: SHOWN[user]})
        found = batches.result()

        assert found.warnings == whole.warnings
        for text in (*found.notes, *whole.notes):
            if "every judged" in text:
                assert text in whole.notes
                assert text in found.notes


# --- a threshold that changes only some metrics


def test_metrics_that_rel_does_not_change_are_named_with_what_would() -> None:
    asked = ["P@2", "nDCG@2", "AP", "ERR"]
    qrels: dict[str, dict[str, float]] = {"q": {"a": 5, "b": 3}}
    run = {"q": ["b", "a"]}

    ev = rk.evaluate(qrels, run, asked, rel=4)
    plain = rk.evaluate(qrels, run, asked)
    advised = rk.evaluate(qrels, run, "nDCG(rel=4)@2", rel=4)

    assert ev.notes[0] == (
        "rel=4 does not change nDCG@2, ERR: grades count as they are; write "
        "nDCG(rel=4)@2 to leave out grades below 4"
    )
    assert (ev["P@2"], plain["P@2"]) == (1 / 2, 2 / 2)
    assert ev["nDCG@2"] == plain["nDCG@2"]
    # Only the item of grade 5, at rank 2, gains: 5 / log2(3) over 5 / log2(2).
    assert advised["nDCG(rel=4)@2"] == pytest.approx((5 / np.log2(3)) / (5 / 1))
    assert not any("does not change" in note for note in advised.notes)


@pytest.mark.parametrize(
    ("metric", "named"),
    [
        ("ERR", True),
        ("DCG", True),
        ("CG@5", True),
        ("RBP(gain='linear')", True),
        ("RBP", False),
        ("nDCG(gain='binary')", False),
        ("nDCG(rel=2)", False),
        ("P@2", False),
        ("P(rel=2)@2", False),
        ("NumRet", False),
        ("Unjudged@2", False),
    ],
)
def test_the_parameters_of_a_metric_decide_whether_rel_changes_it(
    metric: str,
    named: bool,  # noqa: FBT001
) -> None:
    qrels = {"q": {"a": 3, "b": 1}}
    ev = rk.evaluate(qrels, {"q": ["b", "a"]}, metric, rel=3)
    silent = rk.evaluate(qrels, {"q": ["b", "a"]}, metric)

    assert any("rel=3 does not change" in note for note in ev.notes) == named
    assert not any("does not change" in note for note in silent.notes)
    assert (ev.mean == silent.mean) or not named


def test_a_metric_without_a_threshold_has_no_alternative() -> None:
    ev = rk.evaluate({"q": {"a": 3}}, {"q": ["a"]}, "ERR", rel=3)

    assert "rel=3 does not change ERR: grades count as they are" in ev.notes


def test_batches_say_once_what_rel_does_not_change() -> None:
    batches = rk.Accumulator(["nDCG", "P@1"], rel=3)
    batches.update({"q": {"a": 3}}, {"q": ["a"]})
    batches.update({"r": {"a": 3}}, {"r": ["a"]})
    whole = rk.evaluate(
        {"q": {"a": 3}, "r": {"a": 3}},
        {"q": ["a"], "r": ["a"]},
        ["nDCG", "P@1"],
        rel=3,
    )

    assert batches.result().notes == whole.notes
    assert len(whole.notes) == 1


# --- items that nobody judged

MANY: dict[str, list[str]] = {"q": ["a", "x", "y", "z"], "r": ["x", "y"]}


@pytest.mark.parametrize(
    ("qrels", "metric", "options", "told"),
    [
        ({"q": {"a"}, "r": {"b"}}, "P@2", {}, False),
        ({"q": {"a": 1, "b": 3}, "r": {"b": 2}}, "nDCG@2", {}, False),
        ({"q": {"a": 1, "b": 0}, "r": {"b": 1}}, "P@2", {}, True),
        ({"q": {"a": 1}, "r": {"b": 0}}, "nDCG@2", {}, True),
        ({"q": {"a": 5}, "r": {"b": 2}}, "P@2", {}, False),
        ({"q": {"a": 5}, "r": {"b": 2}}, "P@2", {"rel": 4}, True),
        ({"q": {"a": 5}, "r": {"b": 2}}, "nDCG@2", {"rel": 4}, False),
        ({"q": {"a": 1}, "r": {"b": -1}}, "P@2", {}, True),
    ],
    ids=[
        "clicks", "graded clicks", "one negative", "graded", "ratings", "low ratings",
        "rel that nDCG does not take", "in the pool",
    ],
)  # fmt: skip
def test_the_share_of_unjudged_items_needs_negatives(
    qrels: Any, metric: str, options: dict[str, Any], *, told: bool
) -> None:
    notes = rk.evaluate(qrels, MANY, metric, **options).notes

    # Of the four items in the first two ranks, only a is judged.
    share = f"{100 * (4 - 1) / 4:.1f} %"
    said = f"{share} of the items in the top 2 are unjudged: counted as not "
    assert any(note.startswith(said) for note in notes) == told


def test_check_tells_the_share_of_unjudged_items_only_with_negatives() -> None:
    clicks = rk.check({"q": {"a"}, "r": {"b"}}, MANY, k=2)
    graded = rk.check({"q": {"a": 1, "b": 0}, "r": {"b": 1}}, MANY, k=2)

    assert clicks.both["unjudged_at_k"] is clicks.both["unjudged"] is None
    assert graded.both["unjudged_at_k"] == (4 - 1) / 4
    assert graded.both["unjudged"] == (6 - 1) / 6
    assert "judged in the" not in str(clicks)
    assert "unjudged in the top 2" in str(graded)
    assert not any("unjudged" in one.what for one in clicks.findings)
    assert any("unjudged" in one.what for one in graded.findings)


@pytest.mark.parametrize(
    ("grades", "rel"),
    [([0.5, 5.0], "4"), ([0.5, 1.0], "0.5"), ([0.0, 2.5, 3.0], "2.5")],
    ids=["half-stars", "shares", "few-grades"],
)
def test_grades_with_fractions_are_told_a_threshold_that_fits(
    grades: list[float], rel: str
) -> None:
    # Half-stars from 0.5 to 5: three quarters of the way up, 3.875, and so 4.
    qrels = {"u": {f"d{place}": grade for place, grade in enumerate(grades)}}

    with pytest.raises(
        DataError, match=rf"write P\(rel={rel}(\.0)?\)@1, or give rel={rel} "
    ):
        rk.evaluate(qrels, {"u": ["d0"]}, "P@1")


# --- a run that was cut off

FIVE = {f"q{number}": {"a": 1} for number in range(5)}
CUT_OFF = "3 of 5 judged queries are missing from the run, more than half"


@pytest.mark.parametrize("convention", ["rankine", "trec_eval"])
def test_most_judged_queries_are_missing(convention: str) -> None:
    # One leaves them out, the other counts them as 0.
    run = {"q0": ["a"], "q1": ["a"], "p": ["a"]}

    warnings = rk.evaluate(FIVE, run, "RR", convention=convention).warnings

    assert sum(CUT_OFF in said for said in warnings) == 1
    more = rk.evaluate(FIVE, {**run, "q2": ["a"]}, "RR", convention=convention)
    assert not any("more than half" in said for said in more.warnings)


def test_missing_queries_of_batches_are_added_up() -> None:
    total = rk.Accumulator("RR")
    total.update({"q0": {"a"}, "q1": {"a"}, "q2": {"a"}}, {"q0": ["a"]})
    total.update({"q3": {"a"}, "q4": {"a"}}, {"q4": ["a"]})
    assert any(CUT_OFF in said for said in total.result().warnings)

    total.update({"q5": {"a"}}, {"q5": ["a"]})
    assert not any("more than half" in said for said in total.result().warnings)


def test_comparisons_and_gates_say_who_is_cut_off(tmp_path: Path) -> None:
    whole = {query: ["a"] for query in FIVE}
    cut_off = {"q0": ["a"], "q1": ["a"]}

    cmp = rk.compare(FIVE, {"good": whole, "bad": cut_off}, "RR")
    assert any(f"bad: {CUT_OFF}" in said for said in cmp.warnings)
    assert not any("good: " in said for said in cmp.warnings)
    path = tmp_path / "b.json"
    rk.gate(FIVE, whole, path, metrics="RR", margins={"RR": 0.1}, update=True)
    found = rk.gate(FIVE, cut_off, path, 0.1)
    assert any(CUT_OFF in said for said in found.warnings)
