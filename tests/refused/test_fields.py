"""Lines with too few or too many fields, headers, and arguments that are swapped."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

import rankine as rk
from rankine import errors
from rankine.errors import DataError, FormatError
from tests.refused.refusals import (
    ONE_QUERY,
    QRELS,
    RR,
    RUN,
    files,
    refusal,
    refused,
    some_file,
    told,
)
from tests.refused.rows import JUDGED, SCORED, Write, in_form

if TYPE_CHECKING:
    from pathlib import Path

# --- TREC text


@pytest.mark.parametrize("role", ["qrels", "run"])
@pytest.mark.parametrize("line", [1, 2, 4])
@pytest.mark.parametrize("change", [-1, 1], ids=["too-few", "too-many"])
def test_wrong_field_count_names_the_line(
    role: str, line: int, change: int, write: Write
) -> None:
    good = "q Q0 {} 1 0.5 t" if role == "run" else "q 0 {} 1"
    lines = [good.format(item) for item in "abcde"]
    lines[line - 1] = "q 0 z" if change < 0 else good.format("z") + " more"
    if change < 0 and role == "run":
        lines[line - 1] = "q Q0 z 1 0.5"
    path = write("some.txt", "\n".join(lines) + "\n")
    pair = (path, {"q": ["a"]}) if role == "qrels" else ({"q": {"a"}}, path)

    text = refused(errors.FormatError, *pair)

    n = 6 if role == "run" else 4
    assert text.startswith(f"{path}:{line}: expected {n} columns, got {n + change}")
    assert lines[line - 1] in text


def test_11_too_few_fields_show_the_line(tmp_path: Path) -> None:
    qrels, run = files(tmp_path, run=RUN + "q1 Q0 z 4 0.1\n")

    assert refusal(FormatError, qrels, run) == (
        f"{run}:6: expected 6 columns, got 5; a tag that is missing or has spaces is "
        "read with format 'trec-loose' ('q1 Q0 z 4 0.1')"
    )


def test_a_long_bad_line_is_cut(write: Write) -> None:
    path = write("some.run", "q Q0 a 1 2 t\nq " + "x" * 100_000 + "\n")

    text = refused(errors.FormatError, {"q": {"a"}}, path)

    assert len(text) < 500 + len(str(path))


def test_11_a_long_line_is_cut(tmp_path: Path) -> None:
    qrels, run = files(tmp_path, QRELS + "q1 " + "z" * 500 + "\n")
    shown = ("q1 " + "z" * 500)[:120]

    text = refusal(FormatError, qrels, run)

    assert text.startswith(f"{qrels}:4: expected 4 columns, got 2; ")
    assert text.endswith(f"({shown!r})")


def test_11_a_short_line_after_good_ones_is_not_taken_for_judgements(
    tmp_path: Path,
) -> None:
    qrels, run = files(tmp_path, run=RUN + "q1 Q0 z 4\n")

    assert "swapped" not in refusal(FormatError, qrels, run)


def test_12_too_many_fields_are_refused_unless_the_tag_may_have_spaces(
    tmp_path: Path,
) -> None:
    qrels, run = files(tmp_path, run=RUN.replace(" t\n", " my tag\n"))

    text = refusal(FormatError, qrels, run)
    loose = rk.read_run(run, format="trec-loose")

    assert text == (
        f"{run}:1: expected 6 columns, got 7; a tag that is missing or has spaces is "
        "read with format 'trec-loose' ('q1 Q0 a 1 0.9 my tag')"
    )
    assert rk.evaluate(qrels, loose, "RR")["RR"] == RR


@pytest.mark.parametrize("item", ["std::vector::at", "a::b::5", "a::1::2::c"])
def test_ids_may_have_colons_in_them(item: str, tmp_path: Path) -> None:
    qrels, run = files(
        tmp_path, f"q 0 {item} 1\nq 0 b 0\n", f"q Q0 {item} 1 0.5 t\nq Q0 b 2 0.9 t\n"
    )
    table = some_file(tmp_path, f"q,{item},0.5\nq,b,0.9\n")

    assert rk.evaluate(qrels, run, "RR")["RR"] == 1 / 2
    assert rk.evaluate(qrels, table, "RR")["RR"] == 1 / 2


def test_only_the_tag_may_be_odd_in_loose_trec_text(tmp_path: Path) -> None:
    loose = some_file(tmp_path, "q Q0 a 1 0.9 a tag\nq Q0 b 2 0.5\n")
    found = rk.evaluate(ONE_QUERY, rk.read_run(loose, format="trec-loose"), "NumRet")
    odd = some_file(tmp_path, "q Q0 a b 1 0.9 t\n")

    assert found["NumRet"] == 2
    with pytest.raises(FormatError, match="expected 6 columns, got 7"):
        rk.evaluate(ONE_QUERY, rk.read_run(odd, format="trec-loose"), "RR")


def test_a_missing_tag_and_a_long_one_do_not_make_up_for_each_other(
    write: Write,
) -> None:
    path = write("some.run", "q Q0 y 1 9 t\nq Q0 b 2 1 t more\nq Q0 a 1 2\n")

    text = refused(errors.FormatError, {"q": {"a", "b"}}, path)

    assert text.startswith(f"{path}:2: expected 6 columns, got 7")


def test_12_an_id_with_spaces_is_refused_however_loose(tmp_path: Path) -> None:
    qrels, run = files(tmp_path, run=RUN.replace(" a ", " a b "))

    text = told(3, qrels, run, "--format", "run=trec-loose")

    assert text.startswith(f"{run}:1: ")


# --- headers of TREC text


@pytest.mark.parametrize(
    ("role", "header"),
    [
        ("run", "qid Q0 docno rank score tag"),
        ("qrels", "query_id iter doc_id relevance"),
        ("qrels", "TOPIC ITER DOCNO REL"),
    ],
)
def test_13_a_header_with_a_known_name_is_left_out_and_told(
    role: str, header: str, tmp_path: Path
) -> None:
    given = {"run": RUN, "qrels": QRELS}
    qrels, run = files(tmp_path, **{role: f"{header}\n{given[role]}"})
    name = qrels if role == "qrels" else run

    found = rk.evaluate(qrels, run, "RR")

    assert found["RR"] == RR
    assert f"{name}: the first line is taken as a header: {header}" in found.notes


def test_13_a_header_of_trec_text_is_told(write: Write) -> None:
    path = write("some.run", "query q0 item rank score tag\nq Q0 a 1 0.5 t\n")

    ev = rk.evaluate({"q": {"a"}}, path, "RR")

    assert ev["RR"] == 1
    assert any("query q0 item rank score tag" in note for note in ev.notes)


def test_13_a_header_without_a_known_name_is_no_header(tmp_path: Path) -> None:
    qrels, run = files(tmp_path, run="a b c d e f\n" + RUN)

    text = refusal(DataError, qrels, run)

    assert text == f"{run}:1: the score is 'e', not a number"


def test_13_the_header_of_beir_is_told(tmp_path: Path) -> None:
    qrels, run = files(tmp_path, "query-id\tcorpus-id\tscore\nq1\ta\t1\nq2\tc\t1\n")

    found = rk.evaluate(qrels, run, "RR")

    assert found["RR"] == RR
    assert f"{qrels}: query = query-id, item = corpus-id, grade = score" in found.notes


# --- rows of tables


@pytest.mark.parametrize("row", ["q,b", "q,b,1,2"], ids=["too-few", "too-many"])
def test_ragged_csv_names_the_line(row: str, write: Write) -> None:
    path = write("some.csv", f"query,item,score\nq,a,1\n{row}\n")

    with pytest.raises(errors.DataError) as caught:
        rk.evaluate({"q": {"a"}}, path, "AP")

    assert str(caught.value).startswith(f"{path}:3: ")


@pytest.mark.parametrize(("row", "n"), [("q1,b", 2), ("q1,b,2,9", 4)])
def test_20_a_ragged_row_names_its_line(row: str, n: int, tmp_path: Path) -> None:
    qrels, run = files(tmp_path, run=f"query,item,score\nq1,a,3\n{row}\nq2,c,1\n")

    text = refusal(FormatError, qrels, run)

    assert text == f"{run}:3: expected 3 columns, got {n}"


@pytest.mark.parametrize(
    "row",
    [
        pytest.param('q1,"b",2,9', id="ragged"),
        pytest.param('q1,"b,2', id="unclosed"),
        pytest.param(
            'q1,12" vinyl,2',
            id="inches",
            marks=pytest.mark.skipif(
                pl.__version__ < "2", reason="read as it is by polars 1"
            ),
        ),
    ],
)
def test_20_a_bad_row_with_quotes_names_its_line(row: str, tmp_path: Path) -> None:
    qrels, run = files(tmp_path, run=f"query,item,score\nq1,a,3\n{row}\nq2,c,1\n")

    text = refusal(FormatError, qrels, run)

    assert text.startswith(f"{run}:3: ")
    assert "schema" not in text.casefold()


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ('query,item,score\nq,"a\nb",1\nq,c\n', ":4: expected 3 columns, got 2"),
        ('query,item,score\nq,"a,1\nq,c,1\n', "cannot be read as CSV"),
    ],
)
def test_ragged_lines_among_quotes_are_told(
    text: str, wanted: str, tmp_path: Path
) -> None:
    with pytest.raises(FormatError, match=wanted):
        rk.evaluate(ONE_QUERY, some_file(tmp_path, text), "RR")


def test_20_a_table_with_lines_in_quotes_counts_lines(tmp_path: Path) -> None:
    table = 'query,item,title,score\nq1,"a","one\ntwo",3\nq1,b,"x",2\nq2,c,"y",?\n'
    qrels, run = files(tmp_path, run=table)

    text = refusal(DataError, qrels, run)

    assert text.startswith(f"{run}:5: score is '?', not a number")


# --- swapped arguments


def test_swapped_arguments_are_told(write: Write) -> None:
    qrels = in_form("trec", "qrels", JUDGED, write)
    run = in_form("trec", "run", SCORED, write)

    text = refused(errors.FormatError, run, qrels)

    assert text.startswith(f"{run}:1: expected 4 columns, got 6")
    assert "swapped" in text


def test_22_swapped_arguments_are_told(tmp_path: Path) -> None:
    qrels, run = files(tmp_path)

    assert refusal(FormatError, run, qrels) == (
        f"{run}:1: expected 4 columns, got 6; this looks like a run: are the arguments "
        "swapped? ('q1 Q0 a 1 0.9 t')"
    )
    assert refusal(FormatError, qrels, qrels) == (
        f"{qrels}:1: expected 6 columns, got 4; these look like judgements: are the "
        "arguments swapped? ('q1 0 a 1')"
    )


def test_judgements_as_a_run_are_told(write: Write) -> None:
    qrels = in_form("trec", "qrels", JUDGED, write)

    text = refused(errors.FormatError, {"q1": {"a"}}, qrels)

    assert text.startswith(f"{qrels}:1: expected 6 columns, got 4")
    assert "swapped" in text


def test_a_run_that_was_read_is_no_judgements(write: Write) -> None:
    run = rk.read_run(in_form("trec", "run", SCORED, write))

    text = refused(errors.DataError, run, run)

    assert "run" in text
    assert "judgements" in text


def test_22_swapped_tables_are_told(tmp_path: Path) -> None:
    qrels, run = files(
        tmp_path,
        "query,item,rank,score\nq1,a,1,2\nq1,b,2,1\n",
        "query,item,relevance\nq1,a,1\nq1,b,0\n",
    )

    assert "swapped" in refusal(FormatError, qrels, run)


@pytest.mark.parametrize("form", ["csv", "frame"])
def test_swapped_tables_are_told(form: str, tmp_path: Path) -> None:
    run = pl.DataFrame({"query": ["q"], "item": ["a"], "score": [1.0], "rank": [1]})
    qrels = pl.DataFrame({"query": ["q"], "item": ["a"], "relevance": [1]})
    pair: list[Any] = [run, qrels]
    if form == "csv":
        pair = [tmp_path / "run.csv", tmp_path / "qrels.csv"]
        run.write_csv(pair[0])
        qrels.write_csv(pair[1])

    with pytest.raises(FormatError, match=r"looks like a run.*swapped"):
        rk.evaluate(pair[0], {"q": ["a"]}, "RR")
    with pytest.raises(FormatError, match=r"looks like judgements.*swapped"):
        rk.evaluate(ONE_QUERY, pair[1], "RR")
    assert rk.evaluate(pair[1], pair[0], "RR")["RR"] == 1
