"""Content that once crashed a reader, or was read wrongly in silence."""

from __future__ import annotations

import bz2
import lzma
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from click.testing import CliRunner

import rankine as rk
from rankine._metrics import names
from rankine.cli import cli
from rankine.errors import (
    ColumnNotFoundError,
    DataError,
    FormatError,
    ParameterError,
    RankineError,
)

if TYPE_CHECKING:
    from pathlib import Path

QRELS = {"q": {"a": 1}}
LINE = b"q Q0 a 1 1.0 t\n"


def written(folder: Path, content: str | bytes) -> Path:
    path = folder / "some.file"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@pytest.mark.parametrize("blank", ["\t", "\x0b", "\x0c"])
def test_another_blank_between_fields_is_a_blank(blank: str, tmp_path: Path) -> None:
    path = written(tmp_path, f"q Q0 x 1 0.9 7\nq{blank}Q0 a 1 9.5 7\n")

    assert rk.evaluate(QRELS, path, ["RR", "NumRet"]).mean == {"RR": 1, "NumRet": 2}


def test_a_comment_inside_quotes_is_none(tmp_path: Path) -> None:
    text = 'query,item,grade,text\nq,a,1,"x\n# y"\n# z\nq,b,1,z\n'

    assert rk.evaluate(written(tmp_path, text), {"q": ["a"]}, "NumRel")["NumRel"] == 2


@pytest.mark.parametrize("pack", [bz2.compress, lzma.compress], ids=["bzip2", "xz"])
def test_what_follows_packed_data_is_looked_at(pack: Any, tmp_path: Path) -> None:
    both = pack(LINE) + pack(b"q Q0 b 1 0.5 t\n")

    assert rk.evaluate(QRELS, written(tmp_path, both), "NumRet")["NumRet"] == 2
    with pytest.raises(FormatError, match="damaged"):
        rk.evaluate(QRELS, written(tmp_path, pack(LINE) + b"garbage"), "NumRet")


def test_columns_that_are_not_there_are_told(tmp_path: Path) -> None:
    path = written(tmp_path, "q,a,1.5\n")

    with pytest.raises(ColumnNotFoundError, match="has no header with user"):
        rk.evaluate(QRELS, path, columns={"query": "user"})


@pytest.mark.parametrize(
    ("kind", "qrels", "run", "options"),
    [
        (DataError, {"\ud800": {"a": 1}}, {"\ud800": ["a"]}, {}),
        (DataError, {"q": {"a": [1]}}, {"q": ["a"]}, {"grades": {1: 1}}),
        (DataError, QRELS, {"q": {"a": None}}, {"lower_is_better": True}),
        (DataError, QRELS, {"q": {"a": np.arange(2)}}, {"lenient": True}),
        (FormatError, pl.DataFrame({"query": ["q"], "item": ["a"]}), {"q": 5}, {}),
        (FormatError, QRELS, {"q": 5}, {"lenient": True}),
        (FormatError, QRELS, {"q": np.array(1)}, {}),
        (FormatError, QRELS, {"q": np.array([[1, 2]])}, {"lenient": True}),
        (DataError, {np.datetime64("2020-01-01"): {"a": 1}}, {"q": ["a"]}, {}),
        (ParameterError, QRELS, {"q": ["a"]}, {"rel": 10**400}),
        (ParameterError, QRELS, pl.DataFrame({"a": [1]}), {"columns": 5}),
        (ParameterError, QRELS, pl.DataFrame({"a": [1]}), {"columns": {5: "a"}}),
    ],
)
def test_odd_values_are_refused_in_one_line(
    kind: type[RankineError], qrels: Any, run: Any, options: dict[str, Any]
) -> None:
    with pytest.raises(RankineError) as caught:
        rk.evaluate(qrels, run, "RR", **options)

    assert type(caught.value) is kind
    assert "\n" not in str(caught.value)


def test_a_part_that_no_table_has_is_told_for_every_format(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match=r"columns has no part 'itme'.*'item'"):
        rk.evaluate(QRELS, written(tmp_path, LINE), "RR", columns={"itme": "x"})


def test_missing_scores_of_pandas_come_last() -> None:
    ev = rk.evaluate(QRELS, {"q": {"x": 1.0, "a": pd.NA}}, "RR", lenient=True)

    assert ev["RR"] == 1 / 2


@pytest.mark.parametrize(
    "text",
    ["P.1e999", "P.inf", "ndcg@10-l" + "9" * 400, "P(self=1)", "ndcg.1e999=3"],
    ids=lambda text: text[:12],
)
def test_numbers_beyond_all_bounds_are_refused(text: str) -> None:
    with pytest.raises(ParameterError):
        names.parse_all(text)


@pytest.mark.parametrize("encoding", ["base64", "hex", "rot13", "zlib", "quopri", 5])
def test_what_is_no_encoding_of_text_is_refused(encoding: Any, tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="encoding"):
        rk.read_run(written(tmp_path, LINE), encoding=encoding)


def test_a_message_is_one_line_whatever_the_name_of_the_file() -> None:
    with pytest.raises(FormatError, match=r"^a\\nb: no such file$"):
        rk.evaluate("a\nb", QRELS, "RR")


def test_devices_are_read(tmp_path: Path) -> None:
    del tmp_path
    with pytest.raises(DataError, match="is empty"):
        rk.evaluate("/dev/null", QRELS, "RR")


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
    ev = rk.evaluate(QRELS, run, ["RR", "NumRet"], lower_is_better=True)

    assert ev.mean == {"RR": 1, "NumRet": 2}


def test_distances_that_were_read_before_are_turned_round(tmp_path: Path) -> None:
    run = rk.read_run(written(tmp_path, "q Q0 b 1 0.2 t\nq Q0 a 2 0.1 t\n"))

    assert rk.evaluate(QRELS, run, "RR", lower_is_better=True)["RR"] == 1
    with pytest.raises(DataError, match="no scores that could be distances"):
        rk.evaluate(QRELS, {"q": ["a"]}, "RR", lower_is_better=True)


def test_json_has_one_type_for_numbers(tmp_path: Path) -> None:
    lines = [
        '{"qid": "q", "doc_id": "a", "score": 1}',
        '{"qid": "q", "doc_id": "b", "score": 2.5}',
    ]

    found = rk.evaluate(QRELS, written(tmp_path, "\n".join(lines)), "RR")

    assert found["RR"] == 1 / 2


def test_only_the_tag_may_be_odd_in_loose_trec_text(tmp_path: Path) -> None:
    loose = written(tmp_path, "q Q0 a 1 0.9 a tag\nq Q0 b 2 0.5\n")
    found = rk.evaluate(QRELS, rk.read_run(loose, format="trec-loose"), "NumRet")
    odd = written(tmp_path, "q Q0 a b 1 0.9 t\n")

    assert found["NumRet"] == 2
    with pytest.raises(FormatError, match="expected 6 columns, got 7"):
        rk.evaluate(QRELS, rk.read_run(odd, format="trec-loose"), "RR")


def test_one_score_for_a_list_is_refused() -> None:
    run = pl.DataFrame({"query": ["q"], "item": [["b", "a"]], "score": [0.1]})

    with pytest.raises(DataError, match="only one number for it"):
        rk.evaluate(QRELS, run, "RR")


@pytest.mark.parametrize("number", [2**63 + 1, 2**70])
def test_large_ids_stay_exact(number: int, tmp_path: Path) -> None:
    qrels = {"q": {str(number): 1, str(number - 1): 0}}
    text = f'{{"qid": "q", "doc_id": {number}, "score": 1}}\n'
    frame = pd.DataFrame({"query": ["q"], "item": [number], "score": [1.0]})

    assert rk.evaluate(qrels, written(tmp_path, text), "RR")["RR"] == 1
    assert rk.evaluate(qrels, frame, "RR")["RR"] == 1


def test_blanks_after_commas_are_left_out(tmp_path: Path) -> None:
    path = written(tmp_path, "query, item, score\nq, a, 2\nq, b, 1 \n")

    ev = rk.evaluate(QRELS, path, "RR")

    assert ev["RR"] == 1
    assert any("blanks around the fields" in note for note in ev.notes)


def test_numbers_in_a_column_without_a_known_name_are_not_left_out() -> None:
    likes = pl.DataFrame({"user": ["q"], "item": ["a"], "stars": [1], "year": [1999]})

    with pytest.raises(ColumnNotFoundError, match=r"numbers in 'stars'.*--col grade=-"):
        rk.evaluate(likes, {"q": ["a"]}, "RR")
    for columns, wanted in (({"grade": "stars"}, 1), ({"grade": None}, 1)):
        found = rk.evaluate(likes, {"q": ["a"]}, "RR", columns=columns)
        assert found["RR"] == wanted


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
        rk.evaluate(QRELS, pair[1], "RR")
    assert rk.evaluate(pair[1], pair[0], "RR")["RR"] == 1


def test_ids_of_a_table_may_begin_with_a_hash(tmp_path: Path) -> None:
    path = written(tmp_path, "# made by hand\nquery,item,grade\n#news,a,1\n# end\n")

    ev = rk.evaluate(path, {"#news": ["a"]}, ["RR", "NumQ"])

    assert ev.mean == {"RR": 1, "NumQ": 1}


def test_names_of_ids_come_before_names_of_texts() -> None:
    run = pl.DataFrame(
        {
            "qid": ["q"],
            "docid": [7],
            "docno": ["a"],
            "rank": [0],
            "score": [1.0],
            "query": ["what is it"],
        }
    )

    assert rk.evaluate(QRELS, run, "RR")["RR"] == 1


def test_empty_parts_of_a_folder_are_passed_over(tmp_path: Path) -> None:
    (tmp_path / "part-0.csv").write_text("query,item,score\n")
    (tmp_path / "part-1.csv").write_text("query,item,score\nq,a,1\n")
    (tmp_path / "part-2.csv").write_text("")

    assert rk.evaluate(QRELS, tmp_path, "RR")["RR"] == 1
    (tmp_path / "part-1.csv").write_text("")
    with pytest.raises(DataError, match="no rows in its files"):
        rk.evaluate(QRELS, tmp_path, "RR")


def test_the_columns_of_each_file_can_be_named_apart(tmp_path: Path) -> None:
    (tmp_path / "q.csv").write_text("query,item,grade\nq,a,1\n")
    (tmp_path / "r.csv").write_text("who,what,much\nq,b,1\nq,a,2\n")
    named = ["run.query=who", "run.item=what", "run.score=much"]
    options = [word for name in named for word in ("--col", name)]

    files = str(tmp_path / "q.csv"), str(tmp_path / "r.csv")

    done = CliRunner().invoke(cli, ["evaluate", *files, "-m", "RR", "--csv", *options])

    assert "r.csv,all,RR,1.0" in done.output


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
        rk.evaluate(QRELS, written(tmp_path, text), "RR")


def test_a_bad_number_in_a_dict_is_told_by_its_place(tmp_path: Path) -> None:
    path = written(tmp_path, '{"q": {"a": 1, "b": null}}')

    with pytest.raises(DataError, match="score of item 'b' for query 'q' is None"):
        rk.evaluate(QRELS, path, "RR")
    with pytest.raises(DataError, match="grade of item 'b' for query 'q' is None"):
        rk.evaluate(path, {"q": ["a"]}, "RR")
