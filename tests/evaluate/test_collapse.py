"""Chunks of documents: the best chunk decides where its document stands."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rankine as rk
from rankine.cli import main
from rankine.errors import DataError, ParameterError

QRELS = {"q": {"d1": 1, "d2": 1}, "r": {"d3": 1}}
RUN = {
    "q": {"d1#1": 0.9, "d1#2": 0.8, "x#1": 0.7, "d2#5": 0.6},
    "r": {"x#1": 0.5, "d3#2": 0.4, "x#7": 0.3, "d3#1": 0.2},
}
# Of documents: d1 x d2, and x d3.
AP = ((1 + 2 / 3) / 2 + 1 / 2) / 2
N_MORE = 1 + 2
DOCUMENTS = {chunk: chunk.partition("#")[0] for own in RUN.values() for chunk in own}
SAID = f"{N_MORE} rows of a document that a better row of the list has: left out"


def frame(run: dict[str, dict[str, float]] = RUN) -> pl.DataFrame:
    rows = [(q, c, s) for q, own in run.items() for c, s in own.items()]
    table = pl.DataFrame(rows, ["query", "item", "score"], orient="row")
    return table.with_columns(doc=pl.col("item").str.split("#").list.first())


@pytest.mark.parametrize("how", ["#", r"(.*)#\d+", DOCUMENTS])
@pytest.mark.parametrize("form", ["dict", "lists", "frame", "file", "stream", "mixed"])
def test_documents_stand_where_their_best_chunk_does(
    form: str, how: Any, tmp_path: Path
) -> None:
    run: Any = RUN
    engine = "stream" if form in {"stream", "mixed"} else "auto"
    if form == "lists":
        run = {query: list(own) for query, own in RUN.items()}
    elif form != "dict":
        run = frame().drop("doc")
        if form == "mixed":  # rows of both queries in turn
            run = run[[0, 4, 1, 5, 2, 6, 3, 7]]
        if form != "frame":
            run.write_parquet(tmp_path / "run.parquet")
            run = tmp_path / "run.parquet"

    ev = rk.evaluate(QRELS, run, ["AP", "nDCG@2"], collapse=how, engine=engine)

    assert ev["AP"] == AP
    assert any(note.endswith(SAID) for note in ev.notes)


@pytest.mark.parametrize("engine", ["memory", "stream"])
def test_a_column_of_documents(engine: str, tmp_path: Path) -> None:
    frame().write_parquet(tmp_path / "run.parquet")

    ev = rk.evaluate(
        QRELS, tmp_path / "run.parquet", "AP", collapse="doc", engine=engine
    )

    assert ev["AP"] == AP
    assert rk.evaluate(QRELS, frame(), "AP", collapse="doc")["AP"] == AP


def test_a_document_without_an_id_is_none() -> None:
    ev = rk.evaluate({"q": {"d1": 1}}, {"q": ["#1", "d1#2", "#7"]}, "RR", collapse="#")

    assert ev["RR"] == 1 / 2
    assert ev.notes == ("run: 2 rows without an id before #: id kept",)


def test_without_it_chunks_are_not_documents() -> None:
    assert rk.evaluate(QRELS, RUN, "AP")["AP"] == 0


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(0, 4), st.integers(0, 3), st.integers(0, 6)),
        min_size=1, unique_by=lambda row: row[:2],
    ),
    st.sampled_from(["score", "given"]),
)  # fmt: skip
def test_it_is_what_the_run_of_documents_gives(
    rows: list[tuple[int, int, int]], order: str
) -> None:
    chunks = {f"d{doc}#{n}": float(score) for doc, n, score in rows}
    best: dict[str, float] = {}
    for chunk, score in chunks.items():
        document = chunk.partition("#")[0]
        kept = best.setdefault(document, score)
        if order == "score":
            best[document] = max(kept, score)
    qrels = {"q": {"d0": 2, "d1": 1, "d3": 1}}
    metrics = ["AP", "nDCG@2", "RR"]

    ev = rk.evaluate(qrels, {"q": chunks}, metrics, collapse="#", order=order)
    documents = rk.evaluate(qrels, {"q": best}, metrics, order=order)

    assert ev.mean == documents.mean


def test_the_first_of_lists_in_the_order_given() -> None:
    # The second chunk of d1 has the best score, but the order given decides.
    run = {"q": {"d1#1": 0.1, "x#1": 0.5, "d1#2": 0.9}}

    ev = rk.evaluate({"q": {"d1": 1}}, run, "RR", collapse="#", order="given")

    assert ev["RR"] == 1
    assert "an earlier row of the list has" in ev.notes[0]


def test_distances() -> None:
    run = {"q": {"d1#1": 0.9, "x#1": 0.5, "d1#2": 0.1}}

    ev = rk.evaluate({"q": {"d1": 1}}, run, "RR", collapse="#", lower_is_better=True)

    assert ev["RR"] == 1


def test_ids_without_a_document_stay_and_are_counted() -> None:
    run = {"q": {"d1#1": 0.9, "d2": 0.8, "a#b#2": 0.7}}
    qrels = {"q": {"d2": 1, "a#b": 1}}

    ev = rk.evaluate(qrels, run, "R@3", collapse="#")

    assert ev["R@3"] == 1  # the last separator counts
    assert ev.notes == ("run: 1 row without an id before #: id kept",)
    named = rk.evaluate(qrels, run, "R@3", collapse={"d1#1": "d1"})
    assert "2 rows that collapse does not name: id kept" in named.notes[0]


def test_ids_that_are_numbers() -> None:
    ev = rk.evaluate({1: {10: 1}}, {1: {101: 0.2, 7: 0.1}}, "RR", collapse={101: 10})

    assert ev["RR"] == 1


def test_compare_and_accumulator() -> None:
    cmp = rk.compare(QRELS, {"a": RUN, "b": RUN}, "AP", collapse="#")
    batches = rk.Accumulator("AP", collapse="#")
    for query, own in RUN.items():
        batches.update({query: QRELS[query]}, {query: own})

    assert {ev["AP"] for ev in cmp.evaluations.values()} == {AP}
    assert batches.result()["AP"] == pytest.approx(AP)
    assert any(note.endswith(SAID) for note in batches.result().notes)


def test_a_run_that_was_read_before() -> None:
    run = rk.read_run(RUN)

    assert rk.evaluate(QRELS, run, "AP", collapse="#")["AP"] == AP
    assert rk.evaluate(QRELS, run, "AP")["AP"] == 0


@pytest.mark.parametrize("lenient", [False, True])
def test_the_order_of_rows_does_not_matter(*, lenient: bool) -> None:
    rows = list(RUN["r"].items())
    for order in itertools.permutations(rows):
        ev = rk.evaluate(
            {"r": {"d3": 1}}, {"r": dict(order)}, "RR", collapse="#", lenient=lenient
        )
        assert ev["RR"] == 1 / 2


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ("(a)(b)", r"has no group or several.*as in \(\.\*\)#\\d\+"),
        (r"#\d+", "has no group or several"),
        ("(?=x)(y)", "cannot be used"),
        (3, "got 3"),
        ("", "got ''"),
        ({}, "empty mapping"),
    ],
)
def test_what_cannot_be(how: Any, said: str) -> None:
    with pytest.raises(ParameterError, match=said):
        rk.evaluate(QRELS, RUN, "AP", collapse=how)


def test_a_column_of_data_without_columns() -> None:
    with pytest.raises(DataError, match="column 'doc', and run has no columns"):
        rk.evaluate(QRELS, RUN, "AP", collapse="doc")
    with pytest.raises(DataError, match="'documnt'"):
        rk.evaluate(QRELS, frame(), "AP", collapse="documnt")


@pytest.mark.parametrize("how", ["#", "(.*)#[0-9]+", "FILE", "doc"])
def test_the_command(
    how: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = frame() if how == "doc" else frame().drop("doc")
    table.write_csv(tmp_path / "run.csv")
    qrels, run = tmp_path / "qrels.txt", tmp_path / "run.csv"
    qrels.write_text(
        "".join(f"{q} 0 {d} {g}\n" for q, own in QRELS.items() for d, g in own.items())
    )
    table = pl.DataFrame({"chunk": DOCUMENTS.keys(), "document": DOCUMENTS.values()})
    table.write_csv(tmp_path / "chunks.csv")
    how = str(tmp_path / "chunks.csv") if how == "FILE" else how

    with pytest.raises(SystemExit) as ended:
        main(["evaluate", str(qrels), str(run), "-m", "AP", "--collapse", how])

    said = capsys.readouterr()
    assert ended.value.code == 0
    assert f"{AP:.4f}" in said.out
    assert SAID in said.out + said.err


def test_a_file_of_chunks_that_cannot_be(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    frame().write_csv(tmp_path / "run.csv")
    (tmp_path / "qrels.txt").write_text("q 0 d1 1\n")
    (tmp_path / "twice.csv").write_text("chunk,doc\nd1#1,d1\nd1#1,d2\n")
    (tmp_path / "three.csv").write_text("a,b,c\n1,2,3\n")
    for name, words in (("twice", "two documents"), ("three", "columns a, b, c")):
        with pytest.raises(SystemExit) as ended:
            main([
                "evaluate", str(tmp_path / "qrels.txt"), str(tmp_path / "run.csv"),
                "--collapse", str(tmp_path / f"{name}.csv"),
            ])  # fmt: skip
        assert ended.value.code == 2
        assert words in capsys.readouterr().err
