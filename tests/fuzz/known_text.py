"""Findings in text: lines, quotes, marks, encodings and numbers of files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import rankine as rk
from rankine.errors import NoRowsError
from tests.fuzz import judge
from tests.fuzz.findings import LISTS, LONG, TRUTH, allowed, case, shell, value

if TYPE_CHECKING:
    from collections.abc import Callable


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


@case("A4")
def comment_inside_quotes() -> None:
    text = b'query,item,grade,text\nq,a,1,"x\n# y"\nq,b,1,z\n'

    assert value(judge.written(text), LISTS, "NumRel") in {None, 2}


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


@case("B4")
def long_number_in_csv() -> None:
    path = judge.written(f"q,a,{LONG}\nq,b,1\n".encode())

    allowed(lambda: rk.evaluate(TRUTH, path, "RR"))


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


@case("B18")
def bytes_that_are_no_text_in_a_table_with_quotes() -> None:
    path = judge.written(b'query,item,grade,text\nq,a,1,"x\n\xff"\n')

    allowed(lambda: rk.evaluate(path, LISTS, "RR"))


@case("B23")
def rows_that_begin_as_packed_data_do() -> None:
    path = judge.written(b"query,item,grade\n\x1f\x8ba,1\n")

    allowed(lambda: rk.evaluate(path, LISTS, "RR"))


@case("D10")
def comment_with_a_quote() -> None:
    text = b'query,item,grade\nq,a,1\n# 5" long\n'

    assert value(judge.written(text), LISTS) == 1


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


@case("E8")
def marks_of_an_appended_file() -> None:
    run = judge.written(b"q Q0 b 1 2 t\n\xef\xbb\xbfq Q0 a 2 1 t\n")

    assert value(TRUTH, run) == 1 / 2


@case("E11")
def rows_that_make_up_for_each_other() -> None:
    run = judge.written(b"query,item,text\nq,b\nq,c,x\nq,a,y,z\n")

    assert value(TRUTH, run) is None
    # As in the first part of a larger file.
    rows = b"".join(b"q,b%d,0.5,t\n" % at for at in range(9999))
    scored = b"query,item,score,text\n" + rows
    assert value(TRUTH, judge.written(scored + b"q,a,2,t\n")) == 1
    assert value(TRUTH, judge.written(scored + b"q,b,1\nq,a,2,y,z\n")) is None


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


@case("B1")
def standard_input() -> None:
    qrels = judge.written(b"q 0 a 1\n")

    done = shell("evaluate", str(qrels), "-", given=b"q Q0 a 1 1 t\n")

    assert done.returncode == 0


@case("B1")
def a_device() -> None:
    allowed(lambda: rk.evaluate("/dev/null", LISTS, "RR"))


@case("D4")
def path_of_two_lines() -> None:
    allowed(lambda: rk.evaluate("no\nfile", LISTS, "RR"))


@case("C6")
def path_of_bytes() -> None:
    allowed(lambda: rk.evaluate(OfBytes(), LISTS, "RR"))


class OfBytes:
    def __fspath__(self) -> bytes:
        return b"abc"


@case("C11")
def encoding_that_is_empty() -> None:
    path = judge.written(b"q 0 a 1\n")
    for name in ("", "\ud800"):
        allowed(lambda name=name: rk.read_qrels(path, encoding=name))  # type: ignore[misc]


@case("C5")
def codecs_of_bytes() -> None:
    path = judge.written(b"q 0 a 1\n")
    odd: Any
    for odd in ("base64", "hex", "rot13", "zlib", "quopri", 5, b"utf-8"):
        allowed(lambda odd=odd: rk.read_qrels(path, encoding=odd))  # type: ignore[misc]


@case("C8")
def terminal_of_ascii() -> None:
    qrels = judge.written("é 0 ü 1\n".encode(), "some.qrels")
    run = judge.written("é Q0 ü 1 1 t\n".encode())

    done = shell("evaluate", str(qrels), str(run), "-q", PYTHONIOENCODING="ascii")

    assert done.returncode == 0
