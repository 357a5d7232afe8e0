"""Bad input, items 1 to 23 of the catalogue: text files."""

from __future__ import annotations

from pathlib import Path

import pytest

import rankine as rk
from rankine.errors import DataError, FormatError, NoRowsError
from tests.refusals import QRELS, RR, RUN, command, files, refusal, told, written

BOM = "\ufeff"


# --- what cannot be opened


def test_01_a_missing_file_suggests_the_nearest(tmp_path: Path) -> None:
    qrels, run = files(tmp_path)
    missing = tmp_path / "qrel.txt"

    text = refusal(FormatError, missing, run)

    assert text == f"{missing}: no such file; did you mean {str(qrels)!r}?"


def test_01_a_missing_file_without_a_near_one_is_named(tmp_path: Path) -> None:
    qrels, _ = files(tmp_path)
    missing = tmp_path / "no" / "such.run"

    assert refusal(FormatError, qrels, missing) == f"{missing}: no such file"


def test_02_a_folder_without_files_is_told(tmp_path: Path) -> None:
    _, run = files(tmp_path)
    folder = tmp_path / "empty"
    folder.mkdir()

    text = refusal(FormatError, folder, run)

    assert text == f"{folder}: is a folder without files"


def test_02_a_pattern_that_matches_nothing_is_told(tmp_path: Path) -> None:
    qrels, _ = files(tmp_path)
    pattern = tmp_path / "*.none"

    text = refusal(FormatError, qrels, pattern)

    assert text == f"{pattern}: no file matches this pattern"


def test_03_a_file_without_permission_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # root may read everything, so that a mode of the file would not do.
    qrels, run = files(tmp_path)
    opened = Path.open

    def refuse(self: Path, *args: object, **more: object) -> object:
        if self == run:
            raise PermissionError(13, "Permission denied", str(self))
        return opened(self, *args, **more)  # type: ignore[call-overload]

    monkeypatch.setattr(Path, "open", refuse)

    text = refusal(FormatError, qrels, run)

    assert text == f"{run}: cannot be read (Permission denied)"


def test_03_a_folder_without_permission_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    qrels, _ = files(tmp_path)

    def refuse(self: Path) -> object:
        raise PermissionError(13, "Permission denied", str(self))

    monkeypatch.setattr(Path, "iterdir", refuse)

    text = refusal(FormatError, qrels, tmp_path)

    assert text == f"{tmp_path}: cannot be read (Permission denied)"


# --- what is in text


@pytest.mark.parametrize("content", ["", BOM, "# a\n#b\n", "\n\n  \n", "# a"])
@pytest.mark.parametrize("role", ["qrels", "run"])
def test_04_a_file_without_rows_is_refused(
    role: str, content: str, tmp_path: Path
) -> None:
    qrels, run = files(tmp_path, **{role: content})

    text = refusal(NoRowsError, qrels, run)

    empty = content in {"", BOM}
    name = qrels if role == "qrels" else run
    assert text == f"{name}: {'the file is empty' if empty else 'no rows in it'}"


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
def test_05_marks_of_the_byte_order_are_left_out(encoding: str, tmp_path: Path) -> None:
    mark = BOM if encoding[-2:] in {"le", "be"} else ""
    qrels, run = files(
        tmp_path, (mark + QRELS).encode(encoding), (mark + RUN).encode(encoding)
    )

    found = rk.evaluate(qrels, run, "RR")

    assert found.queries == ["q1", "q2"]
    assert found["RR"] == RR


def test_05_a_mark_before_a_header_is_left_out(tmp_path: Path) -> None:
    run = written(tmp_path, "run.csv", f"{BOM}query,item,score\nq1,a,1\n")

    assert rk.evaluate({"q1": {"a": 1}}, run, "RR")["RR"] == 1


@pytest.mark.parametrize("end", ["\r\n", "\r"])
def test_06_ends_of_lines_never_reach_ids_or_tags(end: str, tmp_path: Path) -> None:
    qrels, run = files(tmp_path, QRELS.replace("\n", end), RUN.replace("\n", end))
    table = written(tmp_path, "run.csv", f"query,item{end}q1,x{end}q1,a{end}")

    code, out, _ = command("evaluate", qrels, run, "--style", "trec_eval")

    assert code == 0
    assert out.startswith("runid                 \tall\tt\n")
    assert rk.evaluate(qrels, run, "RR")["RR"] == RR
    assert rk.evaluate({"q1": {"a": 1}}, table, "RR")["RR"] == 1 / 2


def test_07_the_last_line_may_have_no_end(tmp_path: Path) -> None:
    qrels, run = files(tmp_path, QRELS.rstrip(), RUN.rstrip())

    assert rk.evaluate(qrels, run, ["RR", "NumRet"]).mean == {"RR": RR, "NumRet": 5}


@pytest.mark.parametrize("blank", ["\t", "  ", " \t ", "\t\t"])
def test_08_any_white_space_separates_trec_text(blank: str, tmp_path: Path) -> None:
    qrels, run = files(tmp_path, QRELS.replace(" ", blank), RUN.replace(" ", blank))

    assert rk.evaluate(qrels, run, "RR")["RR"] == RR


def test_08_empty_fields_of_a_tsv_are_fields(tmp_path: Path) -> None:
    text = "query\tnote\titem\tscore\nq1\t\tx\t2\nq1\t\ta\t1\n"
    qrels, run = files(tmp_path, run=text)
    missing = written(tmp_path, "bad.tsv", "query\titem\tscore\nq1\t\t0.5\n")

    text = refusal(DataError, qrels, missing)

    assert rk.evaluate({"q1": {"a": 1}}, run, "RR")["RR"] == 1 / 2
    assert text.startswith(f"{missing}:2: 1 item id")


def test_09_blank_lines_in_the_middle_are_skipped(tmp_path: Path) -> None:
    qrels, run = files(
        tmp_path, QRELS.replace("\n", "\n\n"), RUN.replace("\n", "\n  \n\t\n")
    )
    bad = written(tmp_path, "bad.run", "\n\nq1 Q0 a 1 high t\n")

    text = refusal(DataError, qrels, bad)

    assert rk.evaluate(qrels, run, ["RR", "NumRet"]).mean == {"RR": RR, "NumRet": 5}
    assert text == f"{bad}:3: the score is 'high', not a number"


def test_10_comments_begin_in_the_first_column(tmp_path: Path) -> None:
    qrels, run = files(
        tmp_path,
        "# judged by hand\nq1 0 #a 1\n#q9 0 b 1\nq#2 0 b# 1\n",
        "#comment\nq1 Q0 #a 1 2 t\nq#2 Q0 b# 1 1 #t\n # 0 z 1 1 t\n",
    )

    found = rk.evaluate(qrels, run, "RR")

    assert found.per_query.rows() == [("q1", 1), ("q#2", 1)]
    assert "1 query of the run without judgements (#): not evaluated" in found.notes


def test_10_ids_that_begin_with_a_hash_are_kept_or_counted(tmp_path: Path) -> None:
    qrels, run = files(
        tmp_path,
        "query,item,grade\n#news,a,1\nq1,a,1\n",
        "query,item,score\nq1,a,1\n",
    )

    found = rk.evaluate(qrels, run, "RR")

    assert found["RR"] == 1 / 2 or any("#" in note for note in found.notes)


# --- fields


def test_11_too_few_fields_show_the_line(tmp_path: Path) -> None:
    qrels, run = files(tmp_path, run=RUN + "q1 Q0 z 4 0.1\n")

    assert refusal(FormatError, qrels, run) == (
        f"{run}:6: expected 6 columns, got 5; a tag that is missing or has spaces is "
        "read with format 'trec-loose' ('q1 Q0 z 4 0.1')"
    )


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


def test_12_an_id_with_spaces_is_refused_however_loose(tmp_path: Path) -> None:
    qrels, run = files(tmp_path, run=RUN.replace(" a ", " a b "))

    text = told(3, qrels, run, "--format", "run=trec-loose")

    assert text.startswith(f"{run}:1: ")


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


def test_13_a_header_without_a_known_name_is_no_header(tmp_path: Path) -> None:
    qrels, run = files(tmp_path, run="a b c d e f\n" + RUN)

    text = refusal(DataError, qrels, run)

    assert text == f"{run}:1: the score is 'e', not a number"


def test_13_the_header_of_beir_is_told(tmp_path: Path) -> None:
    qrels, run = files(tmp_path, "query-id\tcorpus-id\tscore\nq1\ta\t1\nq2\tc\t1\n")

    found = rk.evaluate(qrels, run, "RR")

    assert found["RR"] == RR
    assert f"{qrels}: query = query-id, item = corpus-id, grade = score" in found.notes
