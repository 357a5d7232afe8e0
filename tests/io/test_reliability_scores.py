"""Bad input, items 41 to 53 of the catalogue: scores, ranks, ties, duplicates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from scipy import sparse

import rankine as rk
from rankine.errors import DataError, DuplicateItemError
from tests.refusals import RR, RUN, command, files, refusal, refused, told

if TYPE_CHECKING:
    from pathlib import Path

ONE = "q 0 a 1\n"
"""Judgements of one query, where a is relevant."""


def by_rank(items: str, ranks: str) -> str:
    """Write a table of items with their ranks."""
    rows = zip(items.split(), ranks.split(), strict=True)
    return "query,item,rank\n" + "".join(f"q,{item},{rank}\n" for item, rank in rows)


def scored(text: str) -> str:
    """Write TREC text from 'item:rank:score ...'."""
    lines = (entry.split(":") for entry in text.split())
    return "".join(f"q Q0 {item} {rank} {score} t\n" for item, rank, score in lines)


# --- scores


@pytest.mark.parametrize("form", ["trec", "csv"])
def test_41_a_score_that_is_nan_is_refused(form: str, tmp_path: Path) -> None:
    content = {
        "trec": scored("b:1:2 a:2:nan"),
        "csv": "query,item,score\nq,b,2\nq,a,NaN\n",
    }
    qrels, run = files(tmp_path, ONE, content[form])
    line = {"trec": 2, "csv": 3}[form]

    text = refusal(DataError, qrels, run)
    lenient = rk.evaluate(qrels, run, "RR", lenient=True)

    assert text.startswith(
        f"{run}:{line}: the score of item 'a' for query 'q' is not a number"
    )
    assert lenient["RR"] == 1 / 2
    assert f"{run}: 1 score not a number: ranked last" in lenient.notes


def test_42_infinite_scores_are_ordered_and_counted(tmp_path: Path) -> None:
    qrels, run = files(tmp_path, ONE, scored("x:1:inf b:2:1e300 a:3:-Infinity"))

    assert rk.evaluate(qrels, run, "RR")["RR"] == 1 / 3
    assert rk.check(qrels, run).run["scores_infinite"] == 2


def test_42_minus_infinity_masks_an_item_of_a_matrix() -> None:
    grades = rk.from_scores([[1, 1, 0]])
    scores = rk.from_scores([[float("-inf"), 1, 2]])

    assert rk.evaluate(grades, scores, ["R", "NumRet"]).mean == {
        "R": 1 / 2,
        "NumRet": 2,
    }


@pytest.mark.parametrize("items", ["a b c", "c b a", "b c a"])
def test_43_equal_scores_give_one_value_in_any_order(
    items: str, tmp_path: Path
) -> None:
    text = " ".join(f"{item}:1:7" for item in items.split())
    qrels, run = files(tmp_path, ONE, scored(text))

    found = rk.check(qrels, run)

    assert rk.evaluate(qrels, run, "RR")["RR"] == 1 / 3  # c, b, a: by id, descending
    assert found.run["tied_rows"] == 1
    assert "all scores of each list are equal" in [one.what for one in found.findings]


def test_44_ties_across_the_cutoff_follow_the_rule_and_are_told(tmp_path: Path) -> None:
    qrels, run = files(tmp_path, ONE, scored("c:1:2 a:2:1 b:3:1"))

    found = rk.evaluate(qrels, run, "P@2")

    assert found["P@2"] == 0  # b before a, and only then the cut
    assert rk.evaluate(qrels, run, "P@2", ties="average")["P@2"] == 1 / 4
    assert (
        "1 query with judged items tied across rank 2: the tie rule decides"
        in found.notes
    )
    assert rk.check(qrels, run, k=2).run["queries_tied_across_k"] == 1


def test_45_scores_have_64_bits_and_32_in_trec_eval_9(tmp_path: Path) -> None:
    qrels, run = files(tmp_path, ONE, scored("a:1:1.000000001 b:2:1"))

    assert rk.evaluate(qrels, run, "RR")["RR"] == 1
    assert rk.evaluate(qrels, run, "RR", convention="trec_eval-9")["RR"] == 1 / 2


def test_46_zeros_are_equal_and_the_smallest_numbers_are_kept(tmp_path: Path) -> None:
    qrels, run = files(tmp_path, ONE, scored("a:1:0.0 b:2:-0.0"))
    assert rk.evaluate(qrels, run, "RR", ties="worst")["RR"] == 1 / 2

    qrels, run = files(tmp_path, ONE, scored("a:1:5e-324 b:2:0"))

    assert rk.evaluate(qrels, run, "RR", ties="worst")["RR"] == 1


# --- ranks


def test_47_the_score_decides_unless_the_rank_is_to_be_trusted(tmp_path: Path) -> None:
    qrels, run = files(tmp_path, ONE, scored("a:1:1 b:2:2 c:3:0"))

    found = rk.check(qrels, run)
    code, out, _ = command(
        "evaluate", qrels, run, "-m", "RR", "--order", "rank", "--csv"
    )

    assert rk.evaluate(qrels, run, "RR")["RR"] == 1 / 2
    assert rk.evaluate(qrels, run, "RR", order="rank")["RR"] == 1
    assert code == 0
    assert out.splitlines()[1].startswith("a.run,all,RR,1.0,")
    assert "ranks and scores give another order in 1 list" in [
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
    assert "1 query with judged items in ties" in found.notes


def test_48_a_rank_that_is_no_number_is_refused_where_it_is_used(
    tmp_path: Path,
) -> None:
    qrels, run = files(tmp_path, ONE, scored("a:first:1 b:second:2"))

    text = told(3, qrels, run, "--order", "rank")

    assert text == f"{run}:1: the rank is 'first', not a number"
    assert rk.evaluate(qrels, run, "RR")["RR"] == 1 / 2


def test_49_a_run_need_not_be_sorted(tmp_path: Path) -> None:
    qrels, run = files(tmp_path, ONE, scored("a:1:1 b:2:3 c:3:2"))

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


def test_50_lists_without_scores_are_no_distances() -> None:
    text = refused(DataError, {"q": {"a": 1}}, {"q": ["a"]}, lower_is_better=True)

    assert text == "the list of query 'q' has no scores that could be distances"


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


def test_50_ranks_are_no_distances(tmp_path: Path) -> None:
    qrels, run = files(tmp_path, ONE, by_rank("a b c", "3 2 1"))

    assert rk.evaluate(qrels, run, "RR").warnings == ()


# --- duplicates


@pytest.mark.parametrize("score", ["0.9", "0.1"], ids=["equal", "other"])
def test_51_52_an_item_twice_is_refused(score: str, tmp_path: Path) -> None:
    qrels, run = files(tmp_path, run=RUN + f"q1 Q0 a 9 {score} t\n")

    text = refusal(DuplicateItemError, qrels, run)
    lenient = rk.evaluate(qrels, run, "RR", lenient=True)

    assert text == (
        f"item 'a' appears twice for query 'q1' in {run} (line 1 and line 6)"
        "; lenient=True or --lenient keeps the best of each"
    )
    assert lenient["RR"] == RR
    assert (
        f"{run}: 1 row repeating an item: dropped, the best score is kept"
        in lenient.notes
    )


@pytest.mark.parametrize(
    "content",
    ['{"q1": {"a": 1, "a": 2}}', '{"q1": ["a", "b", "a"]}',
     '{"query_id": "q1", "retrieved": ["a", "b", "a"]}\n'],
    ids=["object", "list", "lines"],
)  # fmt: skip
def test_51_an_item_twice_in_json_is_refused(content: str, tmp_path: Path) -> None:
    qrels, run = files(tmp_path, run=content)

    text = refusal(DuplicateItemError, qrels, run)

    assert str(run) in text
    assert "'a'" in text


def test_52_check_tells_duplicates_with_different_scores(tmp_path: Path) -> None:
    qrels, run = files(tmp_path, run=RUN + "q1 Q0 a 9 0.1 t\n")

    found = rk.check(qrels, run)

    assert found.run["duplicates"] == 1
    assert found.findings[0].level == "error"
    assert found.findings[0].what.endswith("(query q1, item a), with different numbers")


def test_52_check_counts_a_repeated_item_once(tmp_path: Path) -> None:
    qrels, run = files(tmp_path, run=RUN + "q1 Q0 a 9 0.1 t\n")

    assert rk.check(qrels, run).both["relevant_found"] == 1


def test_53_long_lists_are_not_cut_and_duplicates_are_found_in_all(
    tmp_path: Path,
) -> None:
    long = scored(" ".join(f"d{n}:{n}:{3000 - n}" for n in range(3000)))
    qrels, run = files(tmp_path, "q 0 d2499 1\n", long)
    assert rk.evaluate(qrels, run, "RR")["RR"] == 1 / 2500
    assert rk.evaluate(qrels, run, "RR", depth=1000)["RR"] == 0

    qrels, run = files(tmp_path, "q 0 d1 1\n", long + scored("d2999:1:0"))

    assert told(3, qrels, run, "-M", "1000") == (
        f"item 'd2999' appears twice for query 'q' in {run} (line 3000 and line 3001)"
        "; lenient=True or --lenient keeps the best of each"
    )
    assert refusal(DuplicateItemError, qrels, run, "P@5").startswith("item 'd2999'")
