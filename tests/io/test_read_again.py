"""What was read before is evaluated as its file would be."""

from __future__ import annotations

import io
import pickle
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import rankine as rk
from rankine._base.limits import limited
from rankine.errors import DataError, FormatError, RankineError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

ROWS = [("q", "a", 3, 0.9), ("q", "b", 1, 0.2), ("q", "c", 2, 0.3), ("r", "a", 1, 0.5)]
JUDGED = [("q", 1, "b", 1), ("q", 2, "b", 2), ("q", 2, "c", 1), ("r", 1, "x", 1)]


def trec(path: Path) -> None:
    lines = [f"{q} Q0 {i} {rank} {score} t" for q, i, rank, score in ROWS]
    path.write_text("\n".join(lines))


def table(path: Path) -> None:
    frame = pl.DataFrame(ROWS, ["query", "item", "rank", "score"], orient="row")
    frame.write_parquet(path) if path.suffix == ".parquet" else frame.write_csv(path)


def lists(path: Path) -> None:
    path.write_text('{"q": {"a": 0.9, "b": 0.2, "c": 0.3}, "r": {"a": 0.5}}')


def messy(path: Path) -> None:
    path.write_text("query,item,score\nq,b,nan\nq,b,0.5\n,c,1\nq,a,0.7\n")


def control(path: Path) -> None:
    path.write_text("q Q0 b 1 0.9 t\nq Q0 b\x01 2 0.8 t\nr Q0 a 1 0.9 t")


def folder(path: Path) -> None:
    path.mkdir()
    trec(path / "part-0")
    (path / "part-1").write_text("s Q0 b 1 0.9 t\n")


FORMS: dict[str, Callable[[Path], None]] = {
    "run.trec": trec,
    "run.csv": table,
    "run.parquet": table,
    "run.json": lists,
    "messy.csv": messy,
    "odd.trec": control,
    "folder": folder,
}
OPTIONS: list[dict[str, Any]] = [
    {},
    {"convention": "rectools"},
    {"order": "rank"},
    {"order": "rank_value"},
    {"order": "score"},
    {"lower_is_better": True},
    {"lenient": True},
    {"columns": {"score": "rank"}},
    {"columns": {"run.score": "no such"}},
    {"engine": "stream"},
    {"engine": "stream", "order": "rank"},
    {"engine": "stream", "lower_is_better": True},
]


def outcome(qrels: Any, run: Any, **how: Any) -> Any:
    """Return what comes out, be it a refusal."""
    try:
        made = run() if callable(run) else run
        found = rk.evaluate(qrels, made, ["RR", "AP"], **how)
    except RankineError as error:
        return type(error), str(error)
    return found.mean, found.per_query.rows(), found.notes, found.warnings


@pytest.mark.slow
@pytest.mark.parametrize("how", OPTIONS, ids=str)
@pytest.mark.parametrize("name", FORMS)
def test_a_run_that_was_read_is_what_its_file_is(
    name: str, how: dict[str, Any], tmp_path: Path
) -> None:
    path = tmp_path / name
    FORMS[name](path)
    qrels = {"q": {"b": 1}, "r": {"a": 1}}

    for size in (1 << 20, 20):
        with limited(part_bytes=size):
            wanted = outcome(qrels, path, **how)
            read = outcome(qrels, lambda: rk.read_run(path), **how)

        assert read == wanted


def test_ranks_decide_where_they_are_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "run"
    trec(path)
    run = rk.read_run(path)

    assert rk.evaluate({"q": {"b": 1}}, run, "RR")["RR"] == 1 / 3
    assert rk.evaluate({"q": {"b": 1}}, run, "RR", order="rank")["RR"] == 1
    ev = rk.evaluate({"q": {"b": 1}}, run, "RR", lower_is_better=True)
    assert ev["RR"] == 1
    assert ev.warnings == ()


@pytest.mark.parametrize("how", [{}, {"lenient": True}, {"grades": {"1": 0, "2": 1}}])
@pytest.mark.parametrize("metric", ["RR", "alpha_nDCG@2", "subtopic_recall@1"])
@pytest.mark.parametrize("form", ["trec", "csv"])
def test_judgements_that_were_read_are_what_their_file_is(
    form: str, metric: str, how: dict[str, Any], tmp_path: Path
) -> None:
    path = tmp_path / "qrels"
    rows = [" ".join(map(str, row)) for row in JUDGED]
    if form == "csv":
        head = "query,subtopic,item,grade"
        rows = [head, *(row.replace(" ", ",") for row in rows)]
    path.write_text("\n".join(rows))
    run = {"q": {"b": 0.2, "c": 0.3}, "r": {"x": 1.0}}

    def found(qrels: Any) -> Any:
        try:
            ev = rk.evaluate(qrels, run, metric, **how)
        except RankineError as error:
            return str(error)
        return ev.mean, ev.notes, ev.warnings

    assert found(rk.read_qrels(path)) == found(path)


def test_grades_in_words_that_were_told_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "qrels.csv"
    path.write_text("query,item,grade\nq,a,good\nq,b,bad\n")
    qrels = rk.read_qrels(path, grades={"good": 1, "bad": 0})

    for how in ({}, {"lenient": True}, {"grades": {"good": 0, "bad": 1}}):
        assert rk.evaluate(qrels, {"q": ["b", "a"]}, "RR", **how)["RR"] == 1 / 2


def test_columns_that_were_told_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "run.csv"
    path.write_text("who,what,how_well,rank\nq,a,0.1,1\nq,b,0.2,2\n")
    told = {"query": "who", "item": "what", "score": "how_well"}
    run = rk.read_run(path, columns=told)
    qrels = pl.DataFrame({"u": ["q"], "i": ["a"]})
    columns = {"query": "u", "item": "i"}

    assert rk.evaluate(qrels, run, "RR", columns=columns)["RR"] == 1 / 2
    assert rk.evaluate(qrels, run, "RR", columns=columns, order="rank")["RR"] == 1


def test_rows_that_only_a_lenient_reader_takes_are_refused_to_others(
    tmp_path: Path,
) -> None:
    path = tmp_path / "messy.csv"
    messy(path)
    run = rk.read_run(path)

    assert rk.evaluate({"q": {"b": 1}}, run, "RR", lenient=True)["RR"] == 1 / 2
    with pytest.raises(DataError, match="1 query id is missing; lenient=True"):
        rk.evaluate({"q": {"b": 1}}, run, "RR")
    path.write_text("query,item,score\nq,b,high\n")
    with pytest.raises(DataError, match="'high', not a number"):
        rk.read_run(path)


def test_a_file_that_has_changed_is_not_read_again(tmp_path: Path) -> None:
    path = tmp_path / "run.csv"
    table(path)
    run = rk.read_run(path)
    before = rk.evaluate({"q": {"b": 1}}, run, "RR").mean
    path.write_text("query,item,rank,score\nq,b,1,1\n")

    assert rk.evaluate({"q": {"b": 1}}, run, "RR").mean == before
    with pytest.raises(FormatError, match="has changed since it was read"):
        rk.evaluate({"q": {"b": 1}}, run, "RR", order="rank")


def test_standard_input_is_read_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "run.csv"
    table(path)
    text = io.TextIOWrapper(io.BytesIO(path.read_bytes()))
    monkeypatch.setattr("sys.stdin", text)
    run = rk.read_run("-")

    assert rk.evaluate({"q": {"b": 1}}, run, "RR")["RR"] == 1 / 3
    with pytest.raises(DataError, match="standard input can be read only once"):
        rk.evaluate({"q": {"b": 1}}, run, "RR", order="rank")
    assert len(rk.reconcile({"q": {"b": 1}}, run, "RR").rows) > 1


def test_conventions_are_reconciled_as_for_the_file(tmp_path: Path) -> None:
    path = tmp_path / "run"
    trec(path)
    qrels = {"q": {"b": 1}}

    found = rk.reconcile(qrels, rk.read_run(path), "RR").rows

    assert found == rk.reconcile(qrels, path, "RR").rows


def test_what_was_read_can_be_sent_elsewhere(tmp_path: Path) -> None:
    path = tmp_path / "run.csv"
    table(path)
    run = pickle.loads(pickle.dumps(rk.read_run(path)))  # noqa: S301 - it is ours

    assert rk.evaluate({"q": {"b": 1}}, run, "RR", order="rank")["RR"] == 1
