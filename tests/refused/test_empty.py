"""Empty things: runs, judgements, lists, files and calls without anything in them."""

from __future__ import annotations

import gzip
from math import isnan
from typing import TYPE_CHECKING, Any

import pandas as pd
import polars as pl
import pytest

import rankine as rk
from rankine import errors
from rankine.errors import DataError, FormatError, NoRowsError, UsageError
from tests.io.packed import QRELS, written
from tests.refused.refusals import BOM, TRUTH, command, files, refusal, refused, told
from tests.refused.rows import JUDGED, Write, in_form

if TYPE_CHECKING:
    from pathlib import Path

# --- runs and judgements


@pytest.mark.parametrize("form", ["dict", "polars", "pandas", "arrow", "csv"])
def test_69_empty_run_is_refused(form: str, write: Write) -> None:
    run = in_form(form, "run", [], write)
    qrels = in_form("dict", "qrels", JUDGED, write)

    text = refused(NoRowsError, qrels, run)

    assert text.endswith(": contains no rows")


EMPTY: dict[str, list[Any]] = {"query": [], "item": [], "score": []}


@pytest.mark.parametrize("run", [{}, pl.DataFrame(EMPTY), pd.DataFrame(EMPTY)])
def test_69_an_empty_run_is_refused(run: Any) -> None:
    assert refused(NoRowsError, TRUTH, run) == "run: contains no rows"


@pytest.mark.parametrize("form", ["dict", "polars", "pandas", "arrow", "csv"])
def test_69_empty_judgements_are_refused(form: str, write: Write) -> None:
    qrels = in_form(form, "qrels", [], write)

    kind = NoRowsError if form == "csv" else errors.DataError
    text = refused(kind, qrels, {"q": ["a"]})

    assert "no judgements" in text


def test_69_none_is_no_run() -> None:
    text = refused(errors.FormatError, {"q": {"a"}}, None)

    assert text.startswith("cannot read run from ")
    assert "a path, a mapping by query, a pandas" in text


def test_69_none_is_no_judgements() -> None:
    text = refused(errors.ParameterError, None, {"q": ["a"]})

    assert text.endswith(" needs judgements, but there are none")


# --- files


@pytest.mark.parametrize("role", ["qrels", "run"])
@pytest.mark.parametrize(
    "content",
    ["", "\n", "# nothing here\n", "# nothing\n\n  \n# here", "\ufeff"],
    ids=["empty", "newline", "comment", "comments", "bom"],
)
def test_a_file_without_rows_is_refused(role: str, content: str, write: Write) -> None:
    path = write("some.txt", content)
    pair = (path, {"q": ["a"]}) if role == "qrels" else ({"q": {"a"}}, path)

    text = refused(NoRowsError, *pair)

    assert str(path) in text
    assert "empty" in text or "no rows" in text or "no judgements" in text


@pytest.mark.parametrize("content", ["", BOM, "# a\n#b\n", "\n\n  \n", "# a"])
@pytest.mark.parametrize("role", ["qrels", "run"])
def test_04_a_file_without_rows_is_refused(
    role: str, content: str, tmp_path: Path
) -> None:
    qrels, run = files(tmp_path, **{role: content})

    text = refusal(NoRowsError, qrels, run)

    empty = content in {"", BOM}
    name = qrels if role == "qrels" else run
    assert text == f"{name}: {'the file is empty' if empty else 'contains no rows'}"


@pytest.mark.parametrize("content", ["{}", "[]", "query,item,score\n"])
def test_69_a_file_without_rows_is_refused(content: str, tmp_path: Path) -> None:
    qrels, run = files(tmp_path, run=content)

    assert refusal(NoRowsError, qrels, run) == f"{run}: contains no rows"


def test_empty_files_are_refused(tmp_path: Path) -> None:
    for data in (b"", gzip.compress(b"")):
        with pytest.raises(DataError, match="is empty"):
            rk.evaluate(QRELS, written(tmp_path, data), "RR")


@pytest.mark.parametrize("name", ["some.csv", "some.tsv"])
def test_a_run_with_a_header_only_is_refused(name: str, write: Write) -> None:
    mark = "," if name.endswith("csv") else "\t"
    path = write(name, mark.join(["query", "item", "score"]) + "\n")

    text = refused(NoRowsError, {"q": {"a"}}, path)

    assert str(path) in text
    assert "no rows" in text


# --- lists


@pytest.mark.parametrize("nothing", [[], {}, ()], ids=repr)
def test_69_query_with_an_empty_list_counts_zero(nothing: Any) -> None:
    ev = rk.evaluate({"q": {"a"}, "r": {"a"}}, {"q": nothing, "r": ["a"]}, ["RR"])

    assert ev["RR"] == (0 + 1) / 2
    assert not any("missing" in note for note in ev.notes)


def test_69_all_lists_empty_is_told() -> None:
    ev = rk.evaluate({"q": {"a"}, "r": {"a"}}, {"q": [], "r": {}}, ["RR"])

    assert ev["RR"] == 0
    assert ev.notes


@pytest.mark.parametrize("run", [{"q1": [], "q2": []}, {"q1": {}, "q2": {}}])
def test_69_empty_lists_count_zero_and_are_told(run: Any) -> None:
    found = rk.evaluate(TRUTH, run, "RR")

    assert found["RR"] == 0
    assert "all lists of the run are empty" in found.notes


def test_69_empty_lists_of_json_lines_count_zero(tmp_path: Path) -> None:
    lines = '{"query": "q1", "retrieved": []}\n{"query": "q2", "retrieved": ["c"]}\n'
    qrels, run = files(tmp_path, run=lines)

    found = rk.evaluate(qrels, run, "RR")

    assert found.per_query["RR"].to_list() == [0, 1]
    assert f"{run}: 1 empty list in 'retrieved'" in found.notes


@pytest.mark.parametrize("query", ["q", "extra"])
def test_69_none_is_no_list(query: str) -> None:
    run: dict[str, Any] = {"q": ["a"], "extra": ["a"]} | {query: None}

    text = refused(errors.DataError, {"q": {"a"}, "r": {"a"}}, run)

    assert repr(query) in text
    assert "None" in text


@pytest.mark.parametrize(
    "content",
    ['{"query": "q1", "retrieved": null}\n{"query": "q2", "retrieved": ["c"]}\n',
     '{"q1": null, "q2": ["c"]}'],
    ids=["lines", "object"],
)  # fmt: skip
def test_69_null_is_no_list_in_a_file_either(content: str, tmp_path: Path) -> None:
    qrels, run = files(tmp_path, run=content)

    with pytest.raises(DataError, match=r"is missing|'q1' is of type NoneType"):
        rk.evaluate(qrels, run, "RR")


def test_69_no_judgement_at_all_is_told_in_words() -> None:
    notes = rk.evaluate({"q1": set()}, {"q1": ["a"]}, "RR").notes

    assert not any("inf" in note for note in notes)


# --- one query, no metric, no run


def test_70_one_query_has_no_interval(tmp_path: Path) -> None:
    qrels, run = files(tmp_path, "q 0 a 1\n", "q Q0 a 1 1 t\n")

    found = rk.evaluate(qrels, run, "AP")
    code, out, _ = command("evaluate", qrels, run, "-m", "AP", "--csv")

    assert found["AP"] == 1
    assert all(map(isnan, found.interval("AP")))
    assert all(map(isnan, found.interval("AP", method="t")))
    assert code == 0
    assert out.splitlines()[1] == "a.run,all,AP,1.0,,"


def test_70_one_query_has_a_reason_for_no_interval() -> None:
    found = rk.evaluate({"q": {"a": 1}}, {"q": ["a"]}, "AP")

    assert "is its 95 % interval" not in str(found)


def test_70_one_item_and_one_query_work_in_all_forms() -> None:
    assert rk.evaluate({1: {2}}, {1: [2]}, "AP").per_query.rows() == [(1, 1)]
    assert rk.evaluate(rk.from_scores([[1]]), rk.from_scores([[5]]), "AP")["AP"] == 1
    assert refused(FormatError, {1: {2}}, None).startswith(
        "cannot read run from None; "
    )


def test_71_no_metrics_is_refused() -> None:
    text = refused(errors.UsageError, {"q": {"a"}}, {"q": ["a"]}, [])

    assert "nDCG@10" in text


def test_71_no_metric_is_bad_usage(tmp_path: Path) -> None:
    qrels, run = files(tmp_path)

    text = refused(UsageError, qrels, run, [])

    assert text == "no metrics were asked for; name at least one, such as nDCG@10"
    assert told(2, qrels, run, "-m", "").startswith("cannot read metric ''")


def test_71_no_run_is_bad_usage(tmp_path: Path) -> None:
    qrels, _ = files(tmp_path)

    assert told(2, qrels).startswith("missing argument 'RUN [RUN ...]'")
