"""Findings: a case of each, which fails as expected until the finding is mended."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy import sparse

import rankine as rk
from rankine._metrics import names
from rankine.errors import DataError, FormatError, NoRowsError
from tests.fuzz import judge
from tests.fuzz.edits import zipped

CORPUS = Path(__file__).parent / "corpus"
TRUTH = {"q": {"a": 1}}
LISTS = {"q": ["a"]}
FRAME = pl.DataFrame({"query": ["q"], "item": ["a"]})
LONG = "9" * 400
CASES: list[tuple[str, Callable[[], object], bool]] = []
Case: TypeAlias = Callable[[], object]


def case(number: str, *, mended: bool = True) -> Callable[[Case], Case]:
    """Take a function as a case of a finding, by its number."""

    def kept(function: Case) -> Case:
        CASES.append((number, function, mended))
        return function

    return kept


def allowed(call: Callable[[], Any]) -> judge.Outcome:
    return judge.outcome(call, strict=True)


def value(qrels: Any, run: Any, metric: str = "RR", **options: Any) -> float | None:
    """Return a number, None if the data are refused."""
    found = allowed(lambda: rk.evaluate(qrels, run, metric, **options)[metric])
    return None if found.error else float(found.value)


def shell(
    *words: str, given: bytes = b"", **more: str
) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "rankine", *words],
        input=given,
        capture_output=True,
        timeout=60,
        check=False,
        env={**os.environ, **more},
    )


def ended_well(done: subprocess.CompletedProcess[bytes]) -> bool:
    quiet = b"Traceback" not in done.stderr and b"panicked" not in done.stderr
    return done.returncode in {0, 1, 2, 3} and quiet


@case("A1")
def tab_and_numeric_tag() -> None:
    run = judge.written(b"q Q0 x 1 0.9 7\nq\tQ0 a 1 9.5 7\n")

    assert value(TRUTH, run) in {None, 1}


@case("A1")
def tab_by_rank() -> None:
    run = judge.written(b"q Q0 x 2 0.9 t\nq\tQ0 a 1 0.5 t\n")

    assert value(TRUTH, run, order="rank") in {None, 1}


DISTANCES: dict[str, Callable[[], Any]] = {
    "json": lambda: judge.written(b'{"q":{"a":0.1,"x":0.9}}'),
    "read_run": lambda: rk.read_run(judge.written(b"q Q0 a 1 0.1 t\nq Q0 x 2 0.9 t\n")),
}


@case("A2")
def distances_in_files() -> None:
    for made in DISTANCES.values():
        assert value(TRUTH, made(), lower_is_better=True) in {None, 1}


@case("A2")
def distances_in_matrices() -> None:
    for run in (sparse.csr_array([[0.1, 0.9]]), rk.from_scores([[0.1, 0.9]])):
        assert value({0: {0: 1}}, run, lower_is_better=True) in {None, 1}


@case("A3")
def grades_of_a_json_object() -> None:
    path = judge.written(b'{"q":{"a":2}}')

    found = allowed(lambda: rk.read_qrels(path, grades={2: 5}))

    if found.error is None:
        assert value(found.value, LISTS, "DCG") in {None, 5}


@case("A3")
def grades_of_matrices() -> None:
    for qrels in (sparse.csr_array([[2.0]]), rk.from_scores([[2.0]])):
        assert value(qrels, {0: [0]}, "DCG", grades={2: 5}) in {None, 5}


@case("A4")
def comment_inside_quotes() -> None:
    text = b'query,item,grade,text\nq,a,1,"x\n# y"\nq,b,1,z\n'

    assert value(judge.written(text), LISTS, "NumRel") in {None, 2}


@case("A5")
def damaged_second_stream() -> None:
    for pack in (bz2.compress, lzma.compress):
        second = bytearray(pack(b"q Q0 a 2 2 t\n"))
        second[0] ^= 1
        run = judge.written(pack(b"q Q0 x 1 1 t\n") + bytes(second))

        assert value(TRUTH, run) in {None, 1}


@case("A6")
def lines_that_make_up_for_each_other() -> None:
    run = judge.written(b"q Q0 x 1 9 7\nq Q 0 b 3 0.1 7\nq Q0-a 2 8 7\n")

    assert value(TRUTH, run, "NumRet") is None


@case("A7")
def table_cut_inside_quotes() -> None:
    path = judge.written(b'query,item,grade\nq,a,"15')

    assert value(path, LISTS, "DCG") is None


@case("A8")
def short_row_of_which_the_rest_is_not_used() -> None:
    path = judge.written(b"query,item,text\nq,a,x\nq b,y\n")

    assert value(path, LISTS, "NumRel") is None


@case("A9")
def numbers_without_a_name_in_parquet() -> None:
    frame = pl.DataFrame({"query": ["q"], "item": [["a"]], "points": [[2]]})
    frame.write_parquet(judge.FOLDER / "points.parquet")

    assert value(frame, LISTS, "DCG") == value(
        judge.FOLDER / "points.parquet", LISTS, "DCG"
    )


@case("B0")
def damaged_parquet() -> None:
    path = CORPUS / "aborts.parquet"
    qrels = judge.written(b"q 0 a 1\n")

    assert ended_well(shell("evaluate", str(qrels), str(path)))


@case("B1")
def standard_input() -> None:
    qrels = judge.written(b"q 0 a 1\n")

    done = shell("evaluate", str(qrels), "-", given=b"q Q0 a 1 1 t\n")

    assert done.returncode == 0


@case("B1")
def a_device() -> None:
    allowed(lambda: rk.evaluate("/dev/null", LISTS, "RR"))


@case("B2")
def surrogate_in_a_mapping() -> None:
    allowed(lambda: rk.evaluate({"\ud800": {"a": 1}}, LISTS, "RR").per_query)


@case("B2")
def surrogate_in_json() -> None:
    for text in (
        rb'{"\ud800": ["a"]}',
        rb'{"q": ["\ud800"]}',
        rb'[{"query": "q", "item": "\ud800"}]',
    ):
        path = judge.written(text)
        allowed(lambda path=path: rk.evaluate(path, LISTS, "RR").per_query)  # type: ignore[misc]


@case("B2")
def surrogate_in_a_frame() -> None:
    frame = pd.DataFrame({"query": ["\ud800"], "item": ["a"]}, dtype=object)

    allowed(lambda: rk.evaluate(TRUTH, frame, "RR"))


@case("B2")
def surrogate_in_a_matrix() -> None:
    allowed(lambda: rk.from_ranked([["\ud800"]]))


@case("B3")
def deep_json() -> None:
    path = judge.written(b'{"a":' * 100_000)

    allowed(lambda: rk.evaluate(path, LISTS, "RR"))


@case("B4")
def long_number_in_csv() -> None:
    path = judge.written(f"q,a,{LONG}\nq,b,1\n".encode())

    allowed(lambda: rk.evaluate(TRUTH, path, "RR"))


@case("B5")
def grades_that_are_lists() -> None:
    frame = FRAME.with_columns(grade=pl.Series([[1]]))
    for qrels in ({"q": {"a": [1]}}, frame):
        allowed(lambda qrels=qrels: rk.evaluate(qrels, LISTS, "RR", grades={1: 1}))  # type: ignore[misc]


@case("B6")
def distance_that_is_missing() -> None:
    run = {"q": {"a": None}}

    allowed(lambda: rk.evaluate(TRUTH, run, "RR", lower_is_better=True))


@case("B7")
def lenient_with_odd_scores() -> None:
    for score in (pd.NA, np.array([1, 2])):
        run = {"q": {"a": score}}
        allowed(lambda run=run: rk.evaluate(TRUTH, run, "RR", lenient=True))  # type: ignore[misc]


@case("B8")
def number_for_a_list() -> None:
    for entry in (5, np.array(1), np.array([[1, 2]]), float("nan")):
        run = {"q": entry, "p": ["a"]}
        for qrels in (TRUTH, FRAME):
            for lenient in (False, True):
                allowed(
                    lambda qrels=qrels, run=run, lenient=lenient: rk.evaluate(  # type: ignore[misc]
                        qrels, run, "RR", lenient=lenient
                    )
                )


@case("B9")
def damaged_zip() -> None:
    path = judge.written((CORPUS / "seeks-before-its-start.zip").read_bytes())

    allowed(lambda: rk.evaluate(TRUTH, path, "RR"))


@case("B10")
def ints_beyond_64_bits() -> None:
    frame = pd.DataFrame({"query": ["q"], "item": ["a"], "score": [10**30]})

    allowed(lambda: rk.evaluate(TRUTH, frame, "RR"))


@case("B10")
def types_that_polars_has_not() -> None:
    for column in (
        pa.array([1], pa.decimal256(50)),
        pa.array([(1, 2, 3)], pa.month_day_nano_interval()),
    ):
        frame = pa.table({"query": column, "item": ["a"]})
        allowed(lambda frame=frame: rk.evaluate(TRUTH, frame, "RR"))  # type: ignore[misc]


@case("B10")
def lazy_frame_that_fails() -> None:
    allowed(lambda: rk.evaluate(TRUTH, pl.scan_csv("/nonexistent"), "RR"))


@case("B11")
def odd_sparse_matrices() -> None:
    odd = sparse.csr_array([[1.0]])
    odd.data = odd.data.astype(object)
    for run in (sparse.csr_array([[1 + 2j]]), sparse.dok_matrix((2, 2)), odd):
        allowed(lambda run=run: rk.evaluate({0: {0: 1}}, run, "RR"))  # type: ignore[misc]


ODD_MATRICES: dict[str, Callable[[], object]] = {
    "large": lambda: rk.from_scores([[10**400]]),
    "complex": lambda: rk.from_scores(np.array([[1 + 2j]])),
    "queries": lambda: rk.from_scores([[1]], queries=5),
    "queries of arrays": lambda: rk.from_ranked([[1], [2]], queries=[np.ones(2), ""]),
    "pad nan": lambda: rk.from_ranked(np.array([[None, "a"]]), pad=float("nan")),
    "pad array": lambda: rk.from_ranked([[1, 2]], pad=np.array([1, 2])),
    "pad large": lambda: rk.from_ranked([[1]], pad=10**30),
}


@case("B12")
def odd_matrices() -> None:
    for made in ODD_MATRICES.values():
        allowed(made)


@case("B12")
def text_for_scores() -> None:
    assert allowed(lambda: rk.from_scores([["1", "2"]])).error


@case("B13")
def dates_for_queries() -> None:
    day = np.datetime64("2020-01-01")

    allowed(lambda: rk.evaluate({day: {"a": 1}}, {day: ["a"]}, "RR").per_query)


@case("B14")
def row_of_two_columns() -> None:
    path = judge.written(b"q,a,1\nq,b\n")

    allowed(lambda: rk.evaluate(TRUTH, path, "RR"))


@case("B15")
def lone_quote_at_the_end() -> None:
    path = judge.written(b'query,item,score\nq,a,"')

    allowed(lambda: rk.evaluate(TRUTH, path, "RR"))


@case("B16")
def column_without_a_name() -> None:
    path = judge.written(b"q,a,\np,c,2\n")
    told = {"query": 1, "item": 3}

    allowed(lambda: rk.evaluate(path, LISTS, "RR", columns=told))


@case("B17")
def number_for_the_list_of_a_query_that_is_not_judged() -> None:
    for entry in (5, pl.Series(["a"])):
        run = {"zz": entry}
        allowed(lambda run=run: rk.evaluate(TRUTH, run, "RR"))  # type: ignore[misc]


@case("C9")
def lenient_that_is_neither() -> None:
    odd: Any = np.array([1, 2])

    allowed(lambda: rk.evaluate(TRUTH, LISTS, "RR", lenient=odd))
    allowed(lambda: rk.evaluate(TRUTH, LISTS, "RR", name=odd))


@case("B18")
def bytes_that_are_no_text_in_a_table_with_quotes() -> None:
    path = judge.written(b'query,item,grade,text\nq,a,1,"x\n\xff"\n')

    allowed(lambda: rk.evaluate(path, LISTS, "RR"))


@case("B19")
def grade_beyond_measure() -> None:
    allowed(lambda: rk.evaluate({"q": {"a": 1e300}}, LISTS, "G").mean)


@case("B20")
def query_that_is_missing_in_pandas() -> None:
    qrels = {0.5: {"a": 1}, pd.NA: {"a": 1}}

    allowed(lambda: rk.evaluate(qrels, LISTS, "RR"))


@case("B21")
def decimal_that_is_no_number() -> None:
    run = {"q": [Decimal("NaN")]}

    allowed(lambda: rk.evaluate(FRAME, run, "RR"))


@case("B22")
def zip_with_an_empty_name() -> None:
    content = zipped(b"q Q0 a 1 1 t\n").replace(b"inside.txt", b"\0nside.txt")

    allowed(lambda: rk.evaluate(TRUTH, judge.written(content), "RR"))


@case("C12")
def escapes_that_are_unknown() -> None:
    path = judge.written(rb"q 0 \d 1")

    allowed(lambda: rk.read_qrels(path, encoding="unicode_escape"))


@case("B23")
def rows_that_begin_as_packed_data_do() -> None:
    path = judge.written(b"query,item,grade\n\x1f\x8ba,1\n")

    allowed(lambda: rk.evaluate(path, LISTS, "RR"))


@case("C10")
def columns_of_lists() -> None:
    path = judge.written(b"query,item,grade\nq,a,1\n")

    allowed(lambda: rk.evaluate(path, LISTS, "RR", columns={"query": [1]}))


@case("C11")
def encoding_that_is_empty() -> None:
    path = judge.written(b"q 0 a 1\n")
    for name in ("", "\ud800"):
        allowed(lambda name=name: rk.read_qrels(path, encoding=name))  # type: ignore[misc]


@case("D10")
def comment_with_a_quote() -> None:
    text = b'query,item,grade\nq,a,1\n# 5" long\n'

    assert value(judge.written(text), LISTS) == 1


@case("D11")
def parameter_that_is_none() -> None:
    metric = names.parse("AP(k=None)")

    assert names.parse(str(metric)) == metric


@case("D12")
def last_line_without_a_tag() -> None:
    lines = [b"q Q0 a 1 1 ", b"q Q0 b 2 0.5 t"]
    found = [
        value(TRUTH, judge.written(b"\n".join(some))) for some in (lines, lines[::-1])
    ]

    assert found[0] == found[1]


@case("D9")
def control_character_that_is_refused_at_times() -> None:
    content = b"q 0 a\x7f 1\nq 0 b 1\n"
    found = [value(judge.written(text), LISTS) for text in (content, content + b"\n\n")]

    assert found[0] == found[1]


@case("C1")
def metrics_beyond_a_float() -> None:
    for text in ("P.1e999", "P.inf", f"ndcg@10-l{LONG}", f"P(rel={LONG})"):
        allowed(lambda text=text: names.parse_all(text))  # type: ignore[misc]


@case("C1")
def options_beyond_a_float() -> None:
    allowed(lambda: rk.evaluate(TRUTH, LISTS, "RR", rel=10**400))
    allowed(
        lambda: rk.evaluate(TRUTH, LISTS, "AUC(universe=catalogue)", catalog=10**400)
    )


@case("C1")
def depth_beyond_64_bits() -> None:
    qrels = judge.written(b"q 0 a 1\n", "some.qrels")
    run = judge.written(b"q Q0 a 1 1 t\n")

    assert ended_well(shell("evaluate", str(qrels), str(run), "-M", "9" * 30))


@case("C2")
def parameter_self() -> None:
    allowed(lambda: names.parse_all("P(self=1)"))


@case("C3")
def options_of_odd_types() -> None:
    text = judge.written(b"q,a,1\n")
    named = judge.written(b"query,item,grade\nq,a,1\n", "named")
    odd: Any
    for odd in ({5: "q"}, 5, [("query", "q")], "abc"):
        for path in (text, named):
            allowed(
                lambda path=path, odd=odd: rk.evaluate(path, LISTS, "RR", columns=odd)  # type: ignore[misc]
            )
    for odd in (5, ["csv"]):
        allowed(lambda odd=odd: rk.read_qrels(text, format=odd))  # type: ignore[misc]


@case("C4")
def digits_that_are_no_number() -> None:
    path = judge.written(b"q,0,a,1\n")
    for place in ("²", "9" * 5000):
        told = {"query": place, "item": 3}
        allowed(lambda told=told: rk.read_qrels(path, columns=told))  # type: ignore[misc]
        assert ended_well(shell("evaluate", str(path), "x", "--max-bytes", place))


@case("C5")
def codecs_of_bytes() -> None:
    path = judge.written(b"q 0 a 1\n")
    odd: Any
    for odd in ("base64", "hex", "rot13", "zlib", "quopri", 5, b"utf-8"):
        allowed(lambda odd=odd: rk.read_qrels(path, encoding=odd))  # type: ignore[misc]


class OfBytes:
    def __fspath__(self) -> bytes:
        return b"abc"


@case("C6")
def path_of_bytes() -> None:
    allowed(lambda: rk.evaluate(OfBytes(), LISTS, "RR"))


@case("C7")
def warnings_of_the_parser() -> None:
    for text in ("P(rel=1if)", "P(rel=0x1for x)", r"P(gain='\d')"):
        allowed(lambda text=text: names.parse_all(text))  # type: ignore[misc]


@case("C8")
def terminal_of_ascii() -> None:
    qrels = judge.written("é 0 ü 1\n".encode(), "some.qrels")
    run = judge.written("é Q0 ü 1 1 t\n".encode())

    done = shell("evaluate", str(qrels), str(run), "-q", PYTHONIOENCODING="ascii")

    assert done.returncode == 0


@case("B0")
def parquet_with_a_long_text_in_its_headers() -> None:
    frame = pl.DataFrame({"query": ["q"], "item": ["a" * 5000], "score": [1.0]})
    path = judge.FOLDER / "long.parquet"
    pq.write_table(frame.to_arrow(), path)

    assert value({"q": {"a" * 5000: 1}}, path) == 1


@case("B0")
def parquet_of_more_than_may_be_read() -> None:
    frame = pl.DataFrame({"query": ["q"] * 9999, "item": range(9999)})
    path = judge.FOLDER / "much.parquet"
    frame.with_columns(score=-pl.col("item")).write_parquet(path)

    with pytest.raises(FormatError, match="more than 10,000 bytes, unpacked"):
        rk.read_run(path, max_bytes=10_000)


@case("E1")
def items_twice_that_cannot_be_compared() -> None:
    for items in ([pd.NA, None, None, ""], [(1, 2), (1, 2), np.int64(1)]):
        allowed(lambda items=items: rk.evaluate({"q": items}, LISTS, "RR"))  # type: ignore[misc]


@case("E2")
def records_with_lists_of_several_types() -> None:
    text = b'{"query":"q","item":"a","x":[[1]]}\n{"query":"q","item":"b","x":["t"]}\n'

    assert value(TRUTH, judge.written(text)) == 1


@case("E3")
def queries_beyond_64_bits() -> None:
    ev = rk.evaluate({10**40: {"a"}}, {10**40: []}, "RR")

    assert ev.per_query["query"].to_list() == [str(10**40)]


@case("E4")
def columns_given_as_a_series() -> None:
    path = judge.written(b"query,item\nq,a\n")

    for told in (pl.Series(["a"]), pd.Series(["a"])):
        allowed(
            lambda told=told: rk.evaluate(path, LISTS, "RR", columns={"query": told})  # type: ignore[misc]
        )


@case("E5")
def metrics_in_an_array_without_dimensions() -> None:
    allowed(lambda: rk.evaluate(TRUTH, LISTS, np.array(1)))


@case("E6")
def grades_without_bound_in_a_matrix() -> None:
    grades = rk.from_scores([[np.inf, 1.0]])

    with pytest.raises(DataError, match="row 0, column 0 of the matrix is inf"):
        rk.evaluate(grades, rk.from_scores([[1.0, 2.0]]), "nDCG")


@case("E7")
def pads_that_cannot_be_compared() -> None:
    pair = np.array([[(1, 2)]], dtype="i4,i4")
    allowed(lambda: rk.from_ranked(pair, pad=0))
    allowed(lambda: rk.from_ranked([[0.5]], pad=10**400))


@case("E8")
def marks_of_an_appended_file() -> None:
    run = judge.written(b"q Q0 b 1 2 t\n\xef\xbb\xbfq Q0 a 2 1 t\n")

    assert value(TRUTH, run) == 1 / 2


@case("E1")
def a_list_with_a_missing_item() -> None:
    allowed(lambda: rk.evaluate(TRUTH, {"q": [pd.NA]}, "RR"))


@case("E3")
def queries_of_several_types() -> None:
    ev = rk.evaluate({10**40: {"a"}, 0.5: {"a"}}, {10**40: ["a"]}, "RR")

    assert ev.per_query["query"].to_list() == [str(10**40), "0.5"]


@case("E7")
def a_pad_beyond_small_floats() -> None:
    allowed(lambda: rk.from_ranked(np.array([[1, 2]], dtype="f2"), pad=2**63))


@case("E10")
def an_order_given_with_odd_scores() -> None:
    for odd in (Decimal("NaN"), None, "x"):
        run = {"q": {"b": 0, "a": odd}}
        allowed(lambda run=run: rk.evaluate(TRUTH, run, "RR", order="given"))  # type: ignore[misc]


@case("E7")
def a_pad_beside_huge_ints() -> None:
    allowed(lambda: rk.from_ranked([[10**400, 1]], pad=np.float32(0.5)))


@case("E11")
def rows_that_make_up_for_each_other() -> None:
    run = judge.written(b"query,item,text\nq,b\nq,c,x\nq,a,y,z\n")

    assert value(TRUTH, run) is None
    # As in the first part of a larger file.
    rows = b"".join(b"q,b%d,0.5,t\n" % at for at in range(9999))
    scored = b"query,item,score,text\n" + rows
    assert value(TRUTH, judge.written(scored + b"q,a,2,t\n")) == 1
    assert value(TRUTH, judge.written(scored + b"q,b,1\nq,a,2,y,z\n")) is None


@case("E9")
def zeros_behind_a_member() -> None:
    for pack in (bz2.compress, gzip.compress, lzma.compress):
        run = pack(b"q Q0 b 1 2 t\n") + b"\0" * 300 + pack(b"q Q0 a 2 1 t\n")

        assert value(TRUTH, judge.written(run + b"\0")) in {None, 1 / 2}


@case("E8")
def marks_alone() -> None:
    for content in (b"\n\xef\xbb\xbf\n", b"# x\n\n\xef\xbb\xbf\n"):
        with pytest.raises(NoRowsError):
            rk.read_qrels(judge.written(content))


@case("D1")
def whole_numbers_before_others() -> None:
    path = judge.written(
        b'[{"query":"q","item":"x","score":1},{"query":"q","item":"a","score":1.9}]'
    )

    assert value(TRUTH, path) == 1


@case("D4")
def path_of_two_lines() -> None:
    allowed(lambda: rk.evaluate("no\nfile", LISTS, "RR"))


@case("D5")
def sentence_of_numpy() -> None:
    allowed(lambda: rk.from_scores([[1, [2]]]))


def _marked() -> Iterator[Any]:
    for number, function, mended in CASES:
        marks = () if mended else pytest.mark.xfail(strict=True, reason=number)
        yield pytest.param(function, marks=marks, id=f"{number} {function.__name__}")


@pytest.mark.parametrize("holds", list(_marked()))
def test_findings(holds: Callable[[], object]) -> None:
    holds()


def test_a_zip_that_cannot_be_opened_is_refused() -> None:
    content = bytearray(zipped(b"q Q0 a 1 1 t\n", zipfile.ZIP_STORED))
    content[8] = 99

    assert value(TRUTH, judge.written(bytes(content))) in {None, 1}
