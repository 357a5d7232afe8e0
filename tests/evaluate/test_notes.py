"""Notes: what was left out, inferred or undefined is told, and nothing else."""

from __future__ import annotations

import math
from typing import Any

import polars as pl
import pytest

import rankine as rk


def test_nothing_to_say_says_nothing() -> None:
    ev = rk.evaluate({"q": {"a": 1, "b": 0}}, {"q": {"a": 2.0, "b": 1.0}}, ["AP"])

    assert ev.notes == ()


@pytest.mark.parametrize(
    ("qrels", "run", "note"),
    [
        (
            {"q": {"a": 1}, "r": {"a": 0}},
            {"q": ["a"], "r": ["a"]},
            "1 query without a relevant item: counted as 0",
        ),
        (
            {"q": {"a": 1}, "r": {"a": 1}},
            {"q": ["a"]},
            "1 judged query missing from the run (r): counted as 0",
        ),
        (
            {f"q{number}": {"a": 1} for number in range(6)},
            {"q0": ["a"]},
            "5 judged queries missing from the run (q1, q2, q3, ...): counted as 0",
        ),
        (
            {"q": {"a": 1}},
            {"q": ["a"], "r": ["a"], "s": ["a"]},
            "2 queries of the run without judgements (r, s): not evaluated",
        ),
        (
            {"q": {"a": 1, "x": 0}},
            {"q": ["a", "b", "c", "d"]},
            "50.0 % of the items in the top 2 are unjudged: counted as not relevant",
        ),
        (
            {"q": {"a": 1, "b": 0, "c": 0}},
            {"q": {"a": 2.0, "b": 1.0, "c": 1.0}},
            "1 query with judged items tied across rank 2: the tie rule decides",
        ),
        (
            {"q": {"a": 1, "b": -1}},
            {"q": ["a", "b"]},
            "1 negative grade: treated as unjudged, with gain 0",
        ),
    ],
    ids=["empty", "missing", "many-missing", "extra", "unjudged", "tied", "negative"],
)
def test_notes(qrels: Any, run: Any, note: str) -> None:
    assert note in rk.evaluate(qrels, run, ["P@2"]).notes


@pytest.mark.parametrize(
    ("ties", "said"),
    [
        ("average", "averaged over their orders"),
        ("best", "in their best order"),
        ("worst", "in their worst order"),
    ],
)
def test_what_becomes_of_ties(ties: str, said: str) -> None:
    qrels, run = {"q": {"a": 1, "b": 0}}, {"q": {"a": 1.0, "b": 1.0}}

    ev = rk.evaluate(qrels, run, ["P@1", "nDCG@1"], ties=ties)

    note = "1 query with judged items tied across rank 1: "
    assert ev.notes == (note + said,)
    mixed = rk.evaluate(qrels, run, ["P(ties='average')@1", "nDCG@1"])
    assert mixed.notes == (f"{note}the tie rule decides",)


@pytest.mark.parametrize("scope", ["pooled", "weighted"])
def test_no_query_counts_as_a_number_for_all(scope: str) -> None:
    qrels = {"q": {"a": 1, "b": 0}, "r": {"a": 0, "b": 0}}
    run = {"q": {"a": 2.0, "b": 1.0}, "r": {"a": 4.0, "b": 3.0}}

    ev = rk.evaluate(qrels, run, f"AUC(scope={scope!r})")

    fate = "no value of its own in a number for the whole run"
    assert ev.notes == (f"1 query without a relevant item: {fate}",)


def test_condensed_lists_say_what_they_lack() -> None:
    qrels = {"q": {"a": 1, "b": 0}, "r": {"a": 1}}
    run = {"q": ["x", "a", "b", "y"], "r": ["x", "a"], "s": ["a"]}
    condensed = rk.Convention(unjudged="removed")
    of_one = rk.Convention(overrides={"P": {"unjudged": "removed"}})

    for convention, whose in ((condensed, ""), (of_one, " (P@1)")):
        ev = rk.evaluate(qrels, run, ["RR", "P@1"], convention=convention)
        # x and y of the first list, x of the second, of 4 + 2 items.
        removed = f"3 unjudged items removed from the lists, 50.0 % of all{whose}"
        assert removed in ev.notes
    both = rk.evaluate(qrels, run, ["RR"], convention=condensed.replace(queries="both"))
    assert "3 unjudged items removed from the lists, 50.0 % of all" in both.notes


def test_condensed_batches_add_up() -> None:
    qrels = {f"q{number}": {"a": 1} for number in range(5)}
    run = {query: ["x", "a"] for query in qrels}
    convention = rk.Convention(unjudged="removed")
    batches = rk.Accumulator("RR", convention=convention)
    for query, judged in qrels.items():
        batches.update({query: judged}, {query: run[query]})

    whole = rk.evaluate(qrels, run, "RR", convention=convention)

    assert batches.result().notes == whole.notes
    assert "5 unjudged items removed from the lists, 50.0 % of all" in whole.notes


def test_a_tie_that_stays_within_the_cutoff_is_no_tie_across_it() -> None:
    ev = rk.evaluate({"q": {"a": 1, "b": 0}}, {"q": {"a": 1.0, "b": 1.0}}, ["P@2"])

    assert ev.notes == ("1 query with tied judged items",)


def test_unjudged_without_a_cutoff_are_counted_in_the_whole_list() -> None:
    ev = rk.evaluate({"q": {"a": 1, "x": 0}}, {"q": ["a", "b", "c"]}, ["AP"])

    assert ev.notes == (
        "66.7 % of the retrieved items are unjudged: counted as not relevant",
    )


def test_queries_without_relevant_items_are_told_apart_by_threshold() -> None:
    qrels = {"q": {"a": 2}, "r": {"a": 1}}

    ev = rk.evaluate(qrels, {"q": ["a"], "r": ["a"]}, ["AP", "AP(rel=2)", "AP(rel=3)"])

    assert ev.notes == (
        ev.notes[0],
        "no grade is at least 3, the largest is 2: nothing is relevant",
        "1 query without a relevant item: counted as 0 (AP(rel=2))",
        "2 queries without a relevant item: counted as 0 (AP(rel=3))",
    )
    assert ev.notes[0].startswith("every judged item counts as relevant: the grades")


def test_undefined_values_are_told() -> None:
    ev = rk.evaluate({"q": {"a": 1}}, {"q": ["a"]}, ["AUC"])

    assert math.isnan(ev["AUC"])
    assert "AUC is undefined for 1 query: left out" in ev.notes


def test_a_query_without_relevant_items_is_not_undefined_as_well() -> None:
    # Nothing is relevant in q, and the judgements of r put nothing in order.
    qrels = {"q": {"a": 0}, "r": {"a": 1, "b": 1}, "s": {"a": 1, "b": 2}}

    ev = rk.evaluate(qrels, dict.fromkeys(qrels, ("a", "b")), "NDPM")

    assert ev.notes[:2] == (
        "1 query without a relevant item: left out",
        "NDPM is undefined for 1 query: left out",
    )


def test_negative_grades_that_count_are_not_told_as_unjudged() -> None:
    rule = rk.Convention(negative="keep")

    ev = rk.evaluate(
        {"q": {"a": 1, "b": -1}}, {"q": ["b", "a"]}, "DCG", convention=rule
    )

    assert ev["DCG"] == pytest.approx(-1 + 1 / math.log2(3))
    assert not any("gain 0" in note for note in ev.notes)


def test_judged_items_below_the_floor_are_not_told_as_unjudged() -> None:
    rule = rk.Convention(score_floor=0.5)

    ev = rk.evaluate(
        {"q": {"a": 1, "b": 1}}, {"q": {"a": 1.0, "b": 0.5}}, "R", convention=rule
    )

    assert ev["R"] == 1 / 2
    assert not any("unjudged" in note for note in ev.notes)


def test_what_was_inferred_of_the_columns_is_told_of_both() -> None:
    qrels = pl.DataFrame({"uid": ["q"], "iid": ["a"]})
    run = pl.DataFrame({"user": ["q"], "doc": ["a"], "sim": [1.0]})

    notes = " ".join(rk.evaluate(qrels, run, "AP").notes)

    assert "qrels has no grades; every row counts as relevant, with grade 1" in notes
    assert "run: query = user, item = doc, score = sim" in notes


# Two lists of three: in the second, b (judged) and y (not) tie for rank 2.
JUDGED = {"q": {"a": 1, "b": 0, "c": 0}, "r": {"a": 1, "b": 0}}
OF_THREE = {
    "q": {"a": 3.0, "b": 2.0, "c": 1.0},
    "r": {"a": 3.0, "b": 2.0, "y": 2.0},
}
FATE = "missing ranks count as not relevant"


def test_a_small_cutoff_hides_nothing_of_a_large_one() -> None:
    assert rk.evaluate(JUDGED, OF_THREE, ["P@1", "P@100"]).notes == (
        "16.7 % of the items in the top 100 are unjudged: counted as not relevant",
        f"2 lists with fewer than 100 items: {FATE}",
        "1 query with tied judged items",
    )


def test_cutoffs_share_a_note() -> None:
    metrics = ["P@1", "P@2", "nDCG@3", "R@100", "P@10"]

    unjudged, short, tied = rk.evaluate(JUDGED, OF_THREE, metrics).notes

    assert unjudged == (
        "25.0 % of the items in the top 2 and 16.7 % in the top 3, 10 or 100 are "
        "unjudged: counted as not relevant"
    )
    assert short == f"2 lists with fewer than 10 or 100 items: {FATE}"
    assert tied == (
        "1 query with judged items tied across rank 2: the tie rule decides"
    )


def test_lists_are_counted_at_each_cutoff() -> None:
    qrels = {"q": {"a": 1, "b": 1}, "r": {"c": 1, "d": 1}, "s": {"e": 1}}
    run = {
        "q": {"a": 1.0, "b": 1.0},
        "r": {"x": 2.0, "c": 1.0, "d": 1.0},
        "s": {"e": 1.0},
    }

    short, tied = rk.evaluate(qrels, run, ["R@1", "R@2", "R@3"]).notes

    assert short == (
        f"1 list with fewer than 2 items and 2 lists with fewer than 3: {FATE}"
    )
    assert tied == (
        "1 query with judged items tied across rank 1 or 2: the tie rule decides"
    )


_MIXED = (
    {"a": {"x": 1, "y": -1}, "b": {"y": 1}, "c": {"z": 1}},
    {"a": {"u": 0.3, "x": 0.2, "y": -0.1}},
)
_MISSING = "2 judged queries missing from the run (b, c): "
_UNJUDGED = "50.0 % of the items in the top 2 are unjudged: counted as not relevant"
_NEGATIVE = "1 negative grade: "
_FLOORED = "1 judged item with a score at or below the floor: counted as not relevant"


@pytest.mark.parametrize(
    ("convention", "metrics", "notes"),
    [
        (
            "jurity",
            ["P@2", "nDCG@2"],
            [f"{_MISSING}left out for P@2", f"{_MISSING}counted as 0 for nDCG@2"],
        ),
        (
            "recommenders",
            ["AP", "nDCG"],
            [f"{_MISSING}left out for AP", f"{_MISSING}counted as 0 for nDCG"],
        ),
        (
            "lenskit",
            ["nDCG", "AP"],
            [
                f"{_MISSING}left out",
                f"{_NEGATIVE}counted as losses (nDCG)",
                f"{_NEGATIVE}treated as unjudged, with gain 0 (AP)",
            ],
        ),
        (
            "torchmetrics",
            ["P@2", "nDCG@2"],
            [
                f"{_FLOORED} (P@2)",
                f"{_UNJUDGED} (nDCG@2)",  # u, of u and x
                f"{_NEGATIVE}counted as losses (nDCG@2)",
            ],
        ),
    ],
)
def test_metrics_that_differ_are_named_whatever_their_order(
    convention: str, metrics: list[str], notes: list[str]
) -> None:
    qrels, run = _MIXED
    whole, turned = (
        rk.evaluate(qrels, run, some, convention=convention)
        for some in (metrics, metrics[::-1])
    )

    assert set(notes) <= set(whole.notes)
    assert set(whole.notes) == set(turned.notes)
    assert whole.warnings == turned.warnings


@pytest.mark.parametrize("convention", ["jurity", "lenskit", "torchmetrics"])
def test_batches_name_the_metrics_that_differ(convention: str) -> None:
    qrels, run = _MIXED
    batches = rk.Accumulator(["P@2", "nDCG@2"], convention=convention)
    for query, judged in qrels.items():
        batches.update({query: judged}, {query: run.get(query, {})})
    listed = {query: run.get(query, {}) for query in qrels}

    whole = rk.evaluate(qrels, listed, ["P@2", "nDCG@2"], convention=convention)

    assert set(batches.result().notes) == set(whole.notes)


def test_the_cutoffs_in_a_note_are_those_of_its_metrics() -> None:
    # Of x, a, y, b, condensed lists keep a and b.
    qrels, run = {"q": {"a": 1, "b": 0}}, {"q": ["x", "a", "y", "b"]}
    condensed = rk.Convention(overrides={"P": {"unjudged": "removed"}})

    notes = rk.evaluate(qrels, run, ["P@3", "nDCG@2"], convention=condensed).notes

    assert notes == (
        "2 unjudged items removed from the lists, 50.0 % of all (P@3)",
        "1 list with fewer than 3 items: missing ranks count as not relevant (P@3)",
        f"{_UNJUDGED} (nDCG@2)",
    )
