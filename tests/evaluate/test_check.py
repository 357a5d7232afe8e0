"""check: every count by hand, every finding provoked and its absence seen."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

import rankine as rk
from rankine.cli import cli
from rankine.errors import ParameterError

if TYPE_CHECKING:
    from pathlib import Path

QRELS = {"q1": {"a": 2, "b": 1, "c": 0}, "q2": {"a": 0, "d": 0}}
RUN = {
    "q1": {"a": 3.0, "x": 2.0, "b": 2.0, "y": 1.0},
    "q2": {"d": 1.0, "z": 0.5},
}


def whats(found: rk.Check) -> str:
    return "\n".join(f"{one.level} {one.what}" for one in found.findings)


def test_counts_of_judgements() -> None:
    found = rk.check(QRELS, RUN).qrels

    assert (found["rows"], found["queries"]) == (5, 2)
    assert found["grades"] == {"0": 3, "1": 1, "2": 1}
    assert found["relevant_per_query"] == {"min": 0, "median": 1.0, "max": 2}
    assert found["queries_without_relevant"] == 1
    assert (found["duplicates"], found["missing_ids"]) == (0, 0)


def test_counts_of_a_run() -> None:
    found = rk.check(QRELS, RUN, k=2).run

    assert (found["rows"], found["queries"]) == (6, 2)
    assert found["list_length"] == {"min": 2, "median": 3.0, "max": 4}
    assert found["tied_rows"] == 2 / 6
    assert found["queries_tied_across_k"] == 1  # x and b stand at ranks 2 and 3
    assert rk.check(QRELS, RUN, k=3).run["queries_tied_across_k"] == 0


def test_what_they_share() -> None:
    found = rk.check(QRELS, {**RUN, "q9": {"a": 1.0}}, k=2).both

    assert found["queries_in_both"] == 2
    assert (found["queries_only_judged"], found["queries_only_in_run"]) == (0, 1)
    assert found["relevant_found"] == 2 / 2
    # Of a, x (before b by its larger id), d and z, two are judged.
    assert found["unjudged_at_k"] == 2 / 4
    assert found["unjudged"] == 3 / 6


CLEAN = {"q1": {"a": 1, "b": 0, "c": 1}}
CLEAN_RUN = {"q1": {"a": 3.0, "b": 2.0, "c": 1.0}}


def test_clean_data_has_no_findings() -> None:
    found = rk.check(CLEAN, CLEAN_RUN)

    assert found.findings == ()
    assert "no problems found" in str(found)


def frame(rows: list[tuple[Any, ...]], *names: str) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=list(names), orient="row")


@pytest.mark.parametrize(
    ("qrels", "run", "wanted"),
    [
        (
            frame([("q1", "a", 1), ("q1", "a", 1)], "query", "item", "grade"),
            CLEAN_RUN,
            "qrels repeating an item that is judged already (query q1, item a)",
        ),
        (
            CLEAN,
            frame([("q1", "a", 1.0), ("q1", "a", 2.0)], "query", "item", "score"),
            "item that is listed already (query q1, item a), with different numbers",
        ),
        (
            CLEAN,
            frame([("q1", "a", 1.0), ("q1", None, 2.0)], "query", "item", "score"),
            "error 1 row of run without an id",
        ),
        (
            CLEAN,
            {"q1": {"a": float("nan"), "b": 1.0}},
            "error 1 score of run not a number",
        ),
        (
            CLEAN,
            {"x9": {"a": 1.0}},
            "error 0 of 1 judged queries are in the run: the judgements have q1",
        ),
        (
            {f"q{n}": {"a": 1} for n in range(3)},
            {"q0": ["a"]},
            "1 of 3 judged queries are in the run: the judgements have q0, q1, q2, the",
        ),
        (
            {f"q{n}": {"a": 1} for n in range(3)},
            {"q0": ["a"], "q1": ["a"]},
            "warning 1 judged query missing from the run (q2)",
        ),
        (CLEAN, {**CLEAN_RUN, "z": ["a"]}, "note 1 query of the run without"),
        (
            CLEAN,
            {"q1": ["x", "y"]},
            "warning no judged item is in the run: the judgements have a, b, c",
        ),
        (
            CLEAN,
            {"q1": ["x", "y", "a"]},
            "warning 67 % of the items in the top 10 are unjudged",
        ),
        (
            CLEAN,
            {"q1": {"a": 1.0, "b": 1.0}},
            "warning all scores of each list are equal",
        ),
        (
            CLEAN,
            {"q1": {"a": 0.1, "b": 0.2, "c": 0.3}},
            "warning scores rise along every list",
        ),
        (
            CLEAN,
            frame(
                [("q1", "a", 1.0, 1), ("q1", "b", 2.0, 2), ("q1", "c", 1.5, 3)],
                *("query", "item", "score", "rank"),
            ),
            "warning ranks and scores give different orders in 1 list",
        ),
        ({"q1": {"a": 1, "b": -1}}, CLEAN_RUN, "note 1 negative grade"),
        ({"q1": {"a": 0.5}}, CLEAN_RUN, "note grades have fractions"),
        (QRELS, RUN, "note 1 judged query without a relevant item"),
        ({"q1": {"A": 1}}, CLEAN_RUN, "1 item id of the judgements and of the run"),
        ({"q1": {"A": 1}}, CLEAN_RUN, "differ only in case ('A' and 'a')"),
        ({"01": {"a": 1}}, {"1": ["a"]}, "1 query id of the judgements"),
        ({"01": {"a": 1}}, {"1": ["a"]}, "differ only in leading zeros"),
        ({"q1": {"a b": 1}}, {"q1": ["ab"]}, "differ only in spaces"),
        ({"q1": {"e\u0301": 1}}, {"q1": ["\u00e9"]}, "only in the encoding of accents"),
        ({1: {2: 1}}, {"1": {"2": 1.0}}, "note query ids are Int64 in qrels and Str"),
    ],
)
def test_findings(qrels: Any, run: Any, wanted: str) -> None:
    assert wanted in whats(rk.check(qrels, run))


def test_every_finding_says_what_to_do() -> None:
    found = rk.check({"q1": {"A": -1, "b": 0.5}}, {"q1": {"a": 1.0, "b": 2.0}})

    assert len(found.findings) >= 3
    assert all(finding.todo for finding in found.findings)
    assert all(f"-> {finding.todo}" in str(found) for finding in found.findings)


def test_ranks_of_trec_text_are_compared_with_scores(tmp_path: Path) -> None:
    run = tmp_path / "some.run"
    run.write_text("q1 Q0 a 1 1.0 t\nq1 Q0 b 2 2.0 t\nq1 Q0 c 3 0.5 t\n")

    assert "ranks and scores" in whats(rk.check(CLEAN, run))
    run.write_text("q1 Q0 a 1 3.0 t\nq1 Q0 b 2 2.0 t\nq1 Q0 c x 0.5 t\n")
    assert "ranks and scores" not in whats(rk.check(CLEAN, run))


def test_the_command_prints_what_the_function_finds(tmp_path: Path) -> None:
    qrels, run = tmp_path / "some.qrels", tmp_path / "some.run"
    qrels.write_text("q1 0 a 1\nq1 0 b 0\n")
    run.write_text("q1 Q0 a 1 1.0 t\nq1 Q0 a 2 0.5 t\n")
    expected = rk.check(qrels, run)

    text = CliRunner().invoke(cli, ["check", str(qrels), str(run)]).output
    data = CliRunner().invoke(cli, ["check", str(qrels), str(run), "--json"]).output

    assert text.split() == str(expected).split()
    assert json.loads(data) == {"rankine": rk.__version__, **expected.to_dict()}
    assert "repeating an item" in text


def test_bad_parameters_are_refused() -> None:
    with pytest.raises(ParameterError, match="k must be a positive integer"):
        rk.check(CLEAN, CLEAN_RUN, k=0)


def in_forms(form: str) -> tuple[Any, Any]:
    """Return judgements of q and r, and lists of q and s; r and s have no row."""
    qrels: Any = {"q": {"a": 1}, "r": {}}
    run: Any = {"q": ["a", "b"], "s": []}
    if form == "frames":
        qrels = pl.DataFrame({"query": ["q", "r"], "item": [["a"], []]})
        run = pl.DataFrame({"query": ["q", "s"], "item": [["a", "b"], []]})
    elif form == "ranked":
        run = rk.from_ranked([["a", "b"], ["", ""]], queries=["q", "s"], pad="")
    elif form == "grades":
        grades = np.array([[1, math.nan], [math.nan, math.nan]])
        qrels = rk.from_scores(grades, queries=["q", "r"], items=["a", "b"])
    elif form == "scores":
        scores = np.array([[2, 1], [-math.inf, -math.inf]])
        run = rk.from_scores(scores, queries=["q", "s"], items=["a", "b"])
    return qrels, run


@pytest.mark.parametrize("form", ["dicts", "frames", "ranked", "grades", "scores"])
def test_queries_without_rows_count(form: str) -> None:
    qrels, run = in_forms(form)

    found = rk.check(qrels, run)

    assert (found.qrels["queries"], found.qrels["queries_without_relevant"]) == (2, 1)
    assert found.qrels["relevant_per_query"] == {"min": 0, "median": 0.5, "max": 1}
    assert (found.run["rows"], found.run["queries"]) == (2, 2)
    assert found.run["list_length"] == {"min": 0, "median": 1.0, "max": 2}
    assert found.both["queries_in_both"] == 1  # q; r is only judged, s only listed
    said = whats(found)
    assert "1 judged query missing from the run (r)" in said
    assert "1 query of the run without judgements (s)" in said
    assert "1 empty list in the run (s)" in said
    assert "1 judged query without a relevant item" in said

    ev = rk.evaluate(qrels, run, "RR")
    assert ev.queries == ["q", "r"]
    assert any("1 judged query missing from the run (r)" in note for note in ev.notes)
    assert any("1 query of the run without" in note for note in ev.notes)
