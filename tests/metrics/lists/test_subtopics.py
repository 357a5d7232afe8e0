"""Judgements of subtopics: TREC text, tables, and what other metrics make of them."""

from __future__ import annotations

from math import log2
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
from click.testing import CliRunner

import rankine as rk
from rankine.cli import cli
from rankine.errors import (
    DataError,
    DuplicateItemError,
    ParameterError,
    RankineError,
)

if TYPE_CHECKING:
    from pathlib import Path

METRICS = ["alpha_nDCG@2", "ERR_IA@2", "SubtopicRecall@2"]
ROWS = [
    ("q", "war", "a", 1),
    ("q", "love", "a", 0),
    ("q", "war", "b", 1),
    ("q", "love", "c", 1),
    ("q", "food", "c", 1),
    ("p", "war", "a", 1),
]
RUN: Any = {"q": ["a", "b"], "p": ["x"]}
FRAME = pl.DataFrame(
    ROWS, ["query_id", "subtopic", "doc_id", "relevance"], orient="row"
)


def check(ev: rk.Evaluation) -> None:
    """Compare with values by hand."""
    # q wants war, love and food. a and b are about war, c about the two others, so
    # that the ideal list is c for two topics, then a or b.
    gain, ideal = 1 + 0.5 / log2(3), 2 + 1 / log2(3)
    served = (1 / 2 + 1 / 2 * 1 / 2 / 2) / 3
    rows = {row["query"]: row for row in ev.per_query.iter_rows(named=True)}
    assert rows["q"]["alpha_nDCG@2"] == pytest.approx(gain / ideal)
    assert rows["q"]["ERR_IA@2"] == pytest.approx(served)
    assert rows["q"]["SubtopicRecall@2"] == pytest.approx(1 / 3)
    assert [rows["p"][metric] for metric in METRICS] == [0, 0, 0]


@pytest.fixture(params=["trec", "csv", "parquet", "polars", "pandas", "padded"])
def qrels(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    kind = request.param
    path = tmp_path / f"qrels.{kind}"
    if kind in {"trec", "padded"}:
        gap = " " if kind == "trec" else "  \t"
        lines = [gap.join(map(str, row)) for row in ROWS]
        path.write_text("\n".join(lines) + "\n")
        return path
    if kind == "csv":
        FRAME.write_csv(path)
        return path
    if kind == "parquet":
        FRAME.write_parquet(path)
        return path
    return FRAME if kind == "polars" else FRAME.to_pandas()


def test_by_hand(qrels: Any) -> None:
    check(rk.evaluate(qrels, RUN, METRICS))


def test_in_batches() -> None:
    total = rk.Accumulator(METRICS)
    for query in ("p", "q"):
        total.update(FRAME.filter(pl.col("query_id") == query), {query: RUN[query]})
    check(total.result())
    with pytest.raises(ParameterError, match="divides by all subtopics"):
        rk.Accumulator("SubtopicRecall@2", convention="ranksys")
    with pytest.raises(ParameterError, match="divides by all subtopics"):
        rk.Accumulator("SubtopicRecall(of=all)", items={"a": [1.0]})
    rk.Accumulator("SubtopicRecall(of=all)", items={"a": "war"})


def test_all_subtopics_are_those_of_all_judgements() -> None:
    metric = "SubtopicRecall(of=all)"
    found = rk.evaluate(FRAME, {"p": ["a"]}, metric, convention="pytrec_eval")
    assert list(found.mean.values()) == [pytest.approx(1 / 3)]


def test_rows_without_a_subtopic_are_dropped_if_lenient() -> None:
    frame = FRAME.with_columns(
        subtopic=pl.Series(["war", "love", None, "love", "food", "war"])
    )
    with pytest.raises(DataError, match="missing"):
        rk.evaluate(frame, RUN, METRICS)
    ev = rk.evaluate(frame, {"q": ["b"], "p": ["a"]}, "SubtopicRecall", lenient=True)
    assert ev.per_query["SubtopicRecall"].to_list() == [0, 1]
    assert any("1 row without an id: dropped" in note for note in ev.notes)


def test_the_order_of_topics_does_not_matter() -> None:
    kinds = {
        "i2": ["t1", "t0", "t4", "t5"],
        "i4": ["t4", "t2", "t1", "t5"],
        "i5": ["t3", "t4", "t2", "t1"],
        "i6": ["t0", "t5", "t3", "t2"],
    }
    other = kinds | {"i5": ["t3", "t4", "t1", "t2"], "i6": ["t0", "t2", "t5", "t3"]}
    metric = "alpha_nDCG(alpha=0.3)@3"
    found = [
        rk.evaluate({"q": set(kinds)}, {"q": ["i6", "i5", "i2"]}, metric, items=one)
        for one in (kinds, other)
    ]
    assert found[0].mean == found[1].mean


def test_large_grades() -> None:
    metric = "ERR_IA(max_grade=54)"
    ev = rk.evaluate(
        {"q": {"a": 54, "b": 54}, "p": {"a": 1}},
        {"q": ["a", "b"], "p": ["a"]},
        metric,
        items={"a": "x", "b": "x"},
    )
    assert ev.per_query[metric].to_list() == [1, pytest.approx(0.5**54)]
    for told in ("ERR_IA(max_grade=None)", "ERR_IA(max_grade=5000)"):
        with pytest.raises(RankineError, match=r"too large|at most 60"):
            rk.evaluate({"q": {"a": 5000}}, {"q": ["a"]}, told, items={"a": "x"})


def test_features_of_items_and_subtopics_of_judgements() -> None:
    ev = rk.evaluate(FRAME, RUN, [*METRICS, "ILD@2"], items={"a": [1, 0], "b": [0, 1]})
    check(ev)
    assert ev.per_query.filter(pl.col("query") == "q")["ILD@2"].to_list() == [1]


def test_a_column_of_another_name() -> None:
    frame = FRAME.rename({"subtopic": "facet"})
    check(rk.evaluate(frame, RUN, METRICS, columns={"subtopic": "facet"}))
    with pytest.raises(DataError, match="a column named subtopic"):
        rk.evaluate(frame.unique(["query_id", "doc_id"]), RUN, METRICS)
    only = FRAME.filter(pl.col("subtopic") == "war")
    assert rk.evaluate(only, RUN, "SubtopicRecall@2")["SubtopicRecall@2"] == 0.5


def test_other_metrics_take_the_largest_grade_of_an_item() -> None:
    graded = FRAME.with_columns(pl.Series("relevance", [1, 0, 3, 2, 1, 1]))
    ev = rk.evaluate(graded, RUN, ["alpha_nDCG@2", "nDCG@2", "R@2"])
    plain = rk.evaluate(
        {"q": {"a": 1, "b": 3, "c": 2}, "p": {"a": 1}}, RUN, ["nDCG@2", "R@2"]
    )
    assert ev["nDCG@2"] == plain["nDCG@2"]
    assert ev["R@2"] == plain["R@2"]


def test_grades_of_subtopics_count_each_by_itself() -> None:
    # b satisfies three quarters of those who want war, after a half by a.
    graded = FRAME.with_columns(pl.Series("relevance", [1, 0, 2, 1, 1, 1]))
    ev = rk.evaluate(graded, {"q": ["a", "b"]}, "ERR_IA(max_grade=2)@2")
    found = ev.per_query.filter(pl.col("query") == "q")["ERR_IA(max_grade=2)@2"][0]
    assert found == pytest.approx((1 / 4 + 3 / 4 * 3 / 4 / 2) / 3)


def test_topics_of_items_come_first() -> None:
    kinds = {"a": "x", "b": "y", "c": "z"}
    frame = FRAME.unique(["query_id", "doc_id"], maintain_order=True)
    found = rk.evaluate(frame, RUN, "SubtopicRecall@2", items=kinds)
    assert found.per_query["SubtopicRecall@2"].to_list() == [pytest.approx(2 / 3), 0]


def test_a_subtopic_judged_twice_is_refused_or_dropped() -> None:
    twice = pl.concat([FRAME, FRAME.head(1)])
    with pytest.raises(DuplicateItemError, match="for subtopic 'war' of query 'q'"):
        rk.evaluate(twice, RUN, METRICS)
    check(rk.evaluate(twice, RUN, METRICS, lenient=True))


def test_what_is_missing_is_named() -> None:
    with pytest.raises(DataError, match="alpha_nDCG@2 needs topics; give items="):
        rk.evaluate({"q": {"a": 1}}, RUN, "alpha_nDCG@2")
    with pytest.raises(ParameterError, match="needs judgements"):
        rk.evaluate(None, RUN, "alpha_nDCG@2", items={"a": "x"})
    with pytest.raises(ParameterError, match="needs topics or groups"):
        rk.evaluate(FRAME, RUN, "SubtopicRecall(judged=False)@2")
    with pytest.raises(ParameterError, match="needs topics or groups"):
        rk.evaluate(FRAME, RUN, "ERR_IA(wants=profile)@2", train={"q": ["a"]})


def test_on_the_command_line(tmp_path: Path) -> None:
    qrels, run = tmp_path / "qrels.txt", tmp_path / "run.txt"
    qrels.write_text("".join(" ".join(map(str, row)) + "\n" for row in ROWS))
    run.write_text("q Q0 a 1 2 me\nq Q0 b 2 1 me\np Q0 x 1 1 me\n")
    done = CliRunner().invoke(
        cli, ["evaluate", str(qrels), str(run), "-m", "SubtopicRecall@2"]
    )
    assert done.exit_code == 0, done.output
    assert "0.1667" in done.stdout


# Numbers of ndeval (pyndeval 0.0.8) for judgements with equally good items.
NDEVAL = [
    ("1", "1", "d3", 1), ("1", "2", "d1", 1), ("1", "1", "d2", 1), ("1", "3", "d2", 1),
    ("1", "2", "d4", 1), ("1", "3", "d5", 1), ("1", "1", "d5", 0),
]  # fmt: skip


def test_ndeval_agrees() -> None:
    frame = pl.DataFrame(NDEVAL, ["qid", "subtopic", "docno", "rel"], orient="row")
    run = {"1": ["d1", "d9", "d5", "d3"]}
    ev = rk.evaluate(frame, run, ["alpha_nDCG@5", "ERR_IA@5", "SubtopicRecall@5"])
    most = sum(0.5**rank / rank for rank in range(1, 6))
    assert ev["alpha_nDCG@5"] == pytest.approx(0.5868862885297759, abs=1e-12)
    assert ev["ERR_IA@5"] / most == pytest.approx(0.3832576903681291, abs=1e-12)
    assert ev["SubtopicRecall@5"] == 1


def test_equally_good_items_are_taken_as_ndeval_takes_them() -> None:
    # d1, d2 and d3 have two topics each. After d3, with 0 and 1, d1 and d2 have one
    # that is new; after d1 or d2 the other of them has two.
    rows = [
        ("1", "0", "d1", 1), ("1", "2", "d1", 1), ("1", "1", "d2", 1),
        ("1", "3", "d2", 1), ("1", "0", "d3", 1), ("1", "1", "d3", 1),
    ]  # fmt: skip
    for name, wanted in (("d{}", 0.5410677700845858), ("d-{}", 0.5316519652587917)):
        # The second number is ndeval's where the ids are in the opposite order.
        ids = {"d1": "1", "d2": "2", "d3": "3", "d0": "0"}
        if name == "d-{}":
            ids = {item: str(9 - int(number)) for item, number in ids.items()}
        own = [(*row[:2], name.format(ids[row[2]]), row[3]) for row in rows]
        frame = pl.DataFrame(own, ["qid", "subtopic", "docno", "rel"], orient="row")
        run = {"1": [name.format(ids[item]) for item in ("d2", "d0")]}
        for shuffled in (frame, frame.reverse()):
            found = rk.evaluate(shuffled, run, "alpha_nDCG@5")
            assert found["alpha_nDCG@5"] == pytest.approx(wanted, abs=1e-12)
