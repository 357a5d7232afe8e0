"""Text in its odd shapes: ends of lines, blanks, comments, marks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import rankine as rk
from rankine._base.limits import limited
from rankine.errors import DataError
from tests.refused.refusals import (
    BOM,
    ONE_QUERY,
    QRELS,
    RR,
    RUN,
    command,
    files,
    refusal,
    some_file,
    written,
)

if TYPE_CHECKING:
    from pathlib import Path

    from tests.refused.rows import Write

# --- TREC text


def read_run(path: Path) -> float:
    return rk.evaluate({"q1": {"a": 1}, "q2": {"b": 1}}, path, "RR")["RR"]


EXPECTED = (1 / 2 + 1) / 2
LINES = ["q1 Q0 x 1 0.9 t", "q1 Q0 a 2 0.8 t", "q2 Q0 b 1 0.5 t"]


@pytest.mark.parametrize(
    "content",
    [
        "\n".join(LINES) + "\n",
        "\n".join(LINES),
        "\r\n".join(LINES) + "\r\n",
        "\r".join(LINES) + "\r",
        "\t".join("\n".join(LINES).split(" ")),
        "\n".join(LINES).replace(" ", "  \t "),
        "\n".join("  " + line + "  " for line in LINES),
        "\n\n" + "\n\n".join(LINES) + "\n\n\n",
        "# a comment\n" + "\n# another\n".join(LINES) + "\n#\n",
        "\n   \n" + "\n \t \n".join(LINES),
        "\ufeff" + "\n".join(LINES),
        "\ufeff# a comment\r\n" + "\r\n".join(LINES),
        "\n".join(LINES).replace("0.9", "9e-1").replace("0.8", "+.8"),
        "\n".join(LINES).replace("0.9", "inf").replace("0.5", "-Infinity"),
        "\n".join(LINES).replace(" x ", " x,#\"' "),
    ],
    ids=[
        "plain", "no-newline", "crlf", "cr", "tabs", "mixed", "indented", "blank-lines",
        "comments", "blank-with-spaces", "bom", "bom-comment-crlf", "exponents",
        "infinite", "odd-marks",
    ],
)  # fmt: skip
def test_trec_text_in_all_its_shapes_is_read(content: str, write: Write) -> None:
    path = write("some.run", content)

    assert read_run(path) == EXPECTED


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


@pytest.mark.parametrize("blank", ["\t", "\x0b", "\x0c"])
def test_another_blank_between_fields_is_a_blank(blank: str, tmp_path: Path) -> None:
    path = some_file(tmp_path, f"q Q0 x 1 0.9 7\nq{blank}Q0 a 1 9.5 7\n")

    assert rk.evaluate(ONE_QUERY, path, ["RR", "NumRet"]).mean == {"RR": 1, "NumRet": 2}


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
    fate = (
        "1 line starting with # but otherwise complete: left out as a comment, as in "
        "trec_eval 10"
    )
    assert f"{qrels}: {fate}" in found.notes
    assert not any(note.startswith(f"{run}:") for note in found.notes)


@pytest.mark.parametrize("engine", ["memory", "stream"])
def test_10_rows_after_a_hash_are_counted(engine: str, tmp_path: Path) -> None:
    lines = [f"#q{n} Q0 a {n} 1 t\n" for n in range(3)]
    judged = "".join(f"#q{n} 0 a 1\n# {n} a 1\n" for n in range(4)) + "q1 0 a 1\n"
    qrels, run = files(tmp_path, judged, "".join(lines) + "q1 Q0 a 1 1 t\n#e\n")

    with limited(part_bytes=20):
        found = rk.evaluate(qrels, run, "RR", engine=engine)

    fate = (
        "lines starting with # but otherwise complete: left out as a comment, as in "
        "trec_eval 10"
    )
    assert found.mean == {"RR": 1}
    assert f"{qrels}: {4 + 4} {fate}" in found.notes
    assert f"{run}: {3} {fate}" in found.notes


def test_10_ids_that_begin_with_a_hash_are_kept_or_counted(tmp_path: Path) -> None:
    qrels, run = files(
        tmp_path,
        "query,item,grade\n#news,a,1\nq1,a,1\n",
        "query,item,score\nq1,a,1\n",
    )

    found = rk.evaluate(qrels, run, "RR")

    assert found["RR"] == 1 / 2 or any("#" in note for note in found.notes)


# --- tables


@pytest.mark.parametrize("ending", ["\n", "\r\n"], ids=["lf", "crlf"])
@pytest.mark.parametrize("bom", ["", "\ufeff"], ids=["plain", "bom"])
@pytest.mark.parametrize("last", [True, False], ids=["newline", "no-newline"])
@pytest.mark.parametrize("separator", [",", "\t"], ids=["csv", "tsv"])
def test_separated_text_in_all_its_shapes_is_read(
    ending: str,
    bom: str,
    last: bool,  # noqa: FBT001 - a case
    separator: str,
    write: Write,
) -> None:
    lines = ["query,item,score", "q1,x,0.9", "q1,a,0.8", "q2,b,0.5"]
    text = bom + ending.join(lines) + ending * last
    path = write("some.table", text.replace(",", separator))

    assert read_run(path) == EXPECTED


def test_blank_lines_and_comments_in_csv_are_skipped(write: Write) -> None:
    text = "# made today\nquery,item,score\n\nq1,x,0.9\n# more\nq1,a,0.8\n\nq2,b,0.5\n"

    assert read_run(write("some.csv", text)) == EXPECTED


def test_08_empty_fields_of_a_tsv_are_fields(tmp_path: Path) -> None:
    text = "query\tnote\titem\tscore\nq1\t\tx\t2\nq1\t\ta\t1\n"
    qrels, run = files(tmp_path, run=text)
    missing = written(tmp_path, "bad.tsv", "query\titem\tscore\nq1\t\t0.5\n")

    text = refusal(DataError, qrels, missing)

    assert rk.evaluate({"q1": {"a": 1}}, run, "RR")["RR"] == 1 / 2
    assert text.startswith(f"{missing}:2: 1 item id")


@pytest.mark.parametrize("mark", [",", ";", "\t", "|"])
def test_20_the_separator_is_found(mark: str, tmp_path: Path) -> None:
    rows = "query,item,score\nq1,x,2\nq1,a,1\n".replace(",", mark)
    _, run = files(tmp_path, run=rows)

    assert rk.evaluate({"q1": {"a": 1}}, run, "RR")["RR"] == 1 / 2


def test_a_comment_inside_quotes_is_none(tmp_path: Path) -> None:
    text = 'query,item,grade,text\nq,a,1,"x\n# y"\n# z\nq,b,1,z\n'

    assert rk.evaluate(some_file(tmp_path, text), {"q": ["a"]}, "NumRel")["NumRel"] == 2


def test_ids_of_a_table_may_begin_with_a_hash(tmp_path: Path) -> None:
    path = some_file(tmp_path, "# made by hand\nquery,item,grade\n#news,a,1\n# end\n")

    ev = rk.evaluate(path, {"#news": ["a"]}, ["RR", "NumQ"])

    assert ev.mean == {"RR": 1, "NumQ": 1}


def test_blanks_after_commas_are_left_out(tmp_path: Path) -> None:
    path = some_file(tmp_path, "query, item, score\nq, a, 2\nq, b, 1 \n")

    ev = rk.evaluate(ONE_QUERY, path, "RR")

    assert ev["RR"] == 1
    assert any("spaces around the fields" in note for note in ev.notes)
