"""Ranks that contradict the scores, and scores that are distances."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest
from scipy import sparse

import rankine as rk
from rankine.errors import DataError
from tests.refused.refusals import (
    ONE,
    ONE_QUERY,
    command,
    files,
    refused,
    scored,
    some_file,
    told,
)

if TYPE_CHECKING:
    from pathlib import Path


# --- ranks


def by_rank(items: str, ranks: str) -> str:
    """Write a table of items with their ranks."""
    rows = zip(items.split(), ranks.split(), strict=True)
    return "query,item,rank\n" + "".join(f"q,{item},{rank}\n" for item, rank in rows)


def test_47_the_score_decides_unless_the_rank_is_to_be_trusted(tmp_path: Path) -> None:
    qrels, run = files(tmp_path, ONE, scored("a:1:1 b:2:2 c:3:0"))

    found = rk.check(qrels, run)
    code, out, _ = command(
        "evaluate", qrels, run, "-m", "RR", "--order", "rank", "--csv"
    )

    ev = rk.evaluate(qrels, run, "RR")
    assert ev["RR"] == 1 / 2
    (warned,) = ev.warnings
    assert warned == (
        "ranks and scores give different orders in 1 list of 1 (100 %); the score "
        "decides; to trust the rank, give order='rank' or --order rank"
    )
    by_rank = rk.evaluate(qrels, run, "RR", order="rank")
    assert (by_rank["RR"], by_rank.warnings) == (1, ())
    assert code == 0
    assert out.splitlines()[1].startswith("a.run,all,RR,1.0,")
    assert "ranks and scores give different orders in 1 list" in [
        finding.what for finding in found.findings
    ]


@pytest.mark.parametrize(
    "ranks", ["0 1 2", "1 5 9", "-3 -2 -1", "0.5 1.5 2.5"],
    ids=["from-0", "gaps", "negative", "float"],
)  # fmt: skip
def test_48_only_the_order_of_ranks_matters(ranks: str, tmp_path: Path) -> None:
    qrels, run = files(tmp_path, ONE, by_rank("b a c", ranks))

    found = rk.evaluate(qrels, run, "RR")

    assert found["RR"] == 1 / 2
    assert f"{run} has no scores; the column 'rank' gives the order" in found.notes


def test_48_equal_ranks_are_ties(tmp_path: Path) -> None:
    qrels, run = files(tmp_path, ONE, by_rank("b a c", "1 1 2"))

    found = rk.evaluate(qrels, run, "RR", ties="average")

    assert found["RR"] == (1 + 1 / 2) / 2
    assert "1 query with tied judged items" in found.notes


def test_48_a_rank_that_is_no_number_is_refused_where_it_is_used(
    tmp_path: Path,
) -> None:
    qrels, run = files(tmp_path, ONE, scored("a:first:1 b:second:2"))

    text = told(3, qrels, run, "--order", "rank")

    assert text == f"{run}:1: the rank is 'first', not a number"
    assert rk.evaluate(qrels, run, "RR")["RR"] == 1 / 2


def test_49_a_run_need_not_be_sorted(tmp_path: Path) -> None:
    qrels, run = files(tmp_path, ONE, scored("a:3:1 b:1:3 c:2:2"))

    code, _, err = command("evaluate", qrels, run)
    found = rk.evaluate(qrels, run, "RR")

    assert (code, err) == (0, "")
    assert found["RR"] == 1 / 3
    assert found.notes == found.warnings == ()  # nothing of the order


# --- distances

DISTANCES = "scores rise along every list, as distances do"


def test_50_scores_that_rise_with_rank_look_like_distances(tmp_path: Path) -> None:
    qrels, run = files(
        tmp_path, ONE, scored("a:1:.1 b:2:.2 c:3:.3 d:4:.4 e:5:.5 f:6:.6")
    )

    found = rk.evaluate(qrels, run, "RR")
    code, out, _ = command(
        "evaluate", qrels, run, "-m", "RR", "--lower-is-better", "--csv"
    )

    assert found["RR"] == 1 / 6
    assert found.warnings[0].startswith(DISTANCES)
    assert "--lower-is-better" in found.warnings[0]
    assert code == 0
    assert out.splitlines()[1].startswith("a.run,all,RR,1.0,")


RISING = {item: place / 10 for place, item in enumerate("abcdef", 1)}


@pytest.mark.parametrize("falls", [False, True], ids=["rise", "fall"])
@pytest.mark.parametrize("bits", [32, 64])
def test_scores_rise_along_lists_whether_or_not_they_are_judged(
    *, falls: bool, bits: Any, tmp_path: Path
) -> None:
    # One list alone rises often enough, and is judged if another one falls.
    both: dict[str, dict[str, float]] = {"q": {"a": 1}, "z": RISING}
    both = {"z": {"a": 2, "b": 1}, "q": RISING} if falls else both
    rows = [(q, i, x) for q, entry in both.items() for i, x in entry.items()]
    frame = pl.DataFrame(rows, ["query", "item", "score"], orient="row")
    path = some_file(tmp_path, "".join(f"{q} Q0 {i} 1 {x} t\n" for q, i, x in rows))
    rule = rk.Convention(score_bits=bits)
    total = rk.Accumulator("RR", convention=rule)
    total.update(ONE_QUERY, both)

    found = [
        rk.evaluate(ONE_QUERY, both, "RR", convention=rule),
        rk.evaluate(ONE_QUERY, both, "RR", convention=rule, lenient=True),
        rk.evaluate(ONE_QUERY, frame, "RR", convention=rule),
        rk.evaluate(ONE_QUERY, path, "RR", convention=rule),
        rk.evaluate(ONE_QUERY, path, "RR", convention=rule, engine="stream"),
    ]
    for ev in (*found, total.result()):
        assert len([x for x in ev.warnings if x.startswith(DISTANCES)]) == (not falls)


def test_a_list_rises_once_whatever_is_done_with_its_repeats() -> None:
    rows = [("q", "a", 0.1), ("q", "b", 0.2), ("q", "a", 0.3), ("q", "c", 0.4)]
    frame = pl.DataFrame(rows, ["query", "item", "score"], orient="row")
    rule = rk.Convention(duplicates="last", overrides={"AP": {"duplicates": "count"}})

    # 3 times in the whole list, and twice in what is left.
    for metrics in ("AP", "RR", ["AP", "RR"]):
        assert rk.evaluate(ONE_QUERY, frame, metrics, convention=rule).warnings == ()


def test_50_ranks_are_no_distances(tmp_path: Path) -> None:
    qrels, run = files(tmp_path, ONE, by_rank("a b c", "3 2 1"))

    assert rk.evaluate(qrels, run, "RR").warnings == ()


def test_50_lists_without_scores_are_no_distances() -> None:
    text = refused(DataError, {"q": {"a": 1}}, {"q": ["a"]}, lower_is_better=True)

    assert text == "the list of query 'q' has no scores that could be distances"


def test_distances_that_were_read_before_are_turned_round(tmp_path: Path) -> None:
    run = rk.read_run(some_file(tmp_path, "q Q0 b 1 0.2 t\nq Q0 a 2 0.1 t\n"))

    assert rk.evaluate(ONE_QUERY, run, "RR", lower_is_better=True)["RR"] == 1
    with pytest.raises(DataError, match="no scores that could be distances"):
        rk.evaluate(ONE_QUERY, {"q": ["a"]}, "RR", lower_is_better=True)


@pytest.mark.parametrize("form", ["dense", "sparse", "read"])
def test_50_distances_of_every_form_are_turned(form: str, tmp_path: Path) -> None:
    _, path = files(tmp_path, run="0 Q0 0 1 .1 t\n0 Q0 1 2 .3 t\n")
    made: dict[str, Any] = {
        "dense": rk.from_scores([[0.1, 0.3]]),
        "sparse": sparse.csr_matrix([[0.1, 0.3]]),
        "read": rk.read_run(path),
    }
    qrels: Any = rk.from_scores([[1, 0]]) if form == "dense" else {0: {0: 1}}

    assert rk.evaluate(qrels, made[form], "RR", lower_is_better=True)["RR"] == 1


@pytest.mark.parametrize(
    "run",
    [
        {"q": {"a": 0.1, "b": 0.2}},
        pl.DataFrame({"query": ["q"] * 2, "item": ["b", "a"], "score": [0.2, 0.1]}),
        rk.from_scores([[0.1, 0.2, -np.inf]], queries=["q"], items=["a", "b", "c"]),
    ],
    ids=["dict", "frame", "matrix"],
)
def test_distances_are_turned_round_in_every_form(run: Any) -> None:
    ev = rk.evaluate(ONE_QUERY, run, ["RR", "NumRet"], lower_is_better=True)

    assert ev.mean == {"RR": 1, "NumRet": 2}
