"""Text: read as a second reader reads it, in every form alike, or refused."""

from __future__ import annotations

import random
import re
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankine as rk
from tests.fuzz import plain
from tests.fuzz.edits import IDS, NUMBERS, PACKED, Edit, edited, edits
from tests.fuzz.effort import cases
from tests.fuzz.judge import (
    FOLDER,
    METRICS,
    Outcome,
    checked,
    evaluated,
    generated,
    numbers,
    outcome,
    read,
    written,
)
from tests.fuzz.known import is_open

if TYPE_CHECKING:
    from collections.abc import Callable

FORMATS = (
    "trec", "trec-loose", "msmarco", "csv", "tsv", "beir", "movielens", "recbole",
    "parquet", "arrow", "json", "ndjson",
)  # fmt: skip
TRUTH = {"q": {"a": 1, "b": 0, "d1": 2}, "p": {"c": 1, "é": 3}}
RUN = {"q": {"b": 0.9, "a": 0.5, "d1": 0.1}, "p": {"x": 2.0, "c": 1.5}}
OTHER: dict[str, Any] = {"qrels": RUN, "run": TRUTH}
QRELS_TEXT = b"q 0 a 1\nq 0 b 0\nq 0 d1 2\np 0 c 1\np 0 x -1\n"
RUN_TEXT = (
    b"q Q0 b 1 0.9 7\nq Q0 a 2 0.5 7\nq Q0 d1 3 0.1 7\np Q0 x 1 2 7\np Q0 c 2 1.5 7\n"
)
TREC = {"qrels": QRELS_TEXT, "run": RUN_TEXT}
CSV = {
    "qrels": b'query,item,grade\nq,a,1\nq,b,0\n"q",d1,2\np,c,1\np,x,-1\n',
    "run": b'query,item,score\nq,b,0.9\nq,"a",0.5\nq,d1,0.1\np,x,2\np,c,1.5\n',
}
VALID = {
    "trec qrels": QRELS_TEXT,
    "trec run": RUN_TEXT,
    "csv qrels": CSV["qrels"],
    "csv run": CSV["run"],
    "tsv": CSV["run"].replace(b",", b"\t"),
    "semicolons": CSV["qrels"].replace(b",", b";"),
    "bars": CSV["qrels"].replace(b",", b"|"),
    "csv, no header": b"q,a,1\nq,b,0\np,c,2\n",
    "csv, no header, run": b"q,a,1.5\nq,b,0.5\np,c,2.5\n",
    "two columns": b"1,2\n1,3\n2,7\n",
    "beir": b"query-id\tcorpus-id\tscore\nq\ta\t1\np\tc\t2\n",
    "ms marco": b"q\ta\t1\nq\tb\t2\np\tc\t1\n",
    "movielens": b"1::10::5::978300760\n1::20::3::978302109\n2::10::4::978301968\n",
    "u.data": b"1\t10\t5\t881250949\n1\t20\t3\t891717742\n2\t10\t4\t878887116\n",
    "recbole": b"user_id:token\titem_id:token\trating:float\nq\ta\t1\np\tc\t2\n",
    "json": b'{"q": {"a": 1, "b": 0}, "p": {"c": 2}}',
    "json lists": b'{"q": ["a", "b"], "p": ["c"]}',
    "json records": b'[{"query":"q","item":"a","score":1},{"query":"p","item":"c"}]',
    "ndjson": b'{"query":"q","item":"a","score":1}\n{"query":"p","item":"c"}\n',
    "ndjson lists": b'{"query_id":"q","retrieved":["a","b"],"relevant":["a"]}\n',
    "quoted": b'query,item,grade,text\nq,a,1,"x\ny, ""z"""\np,c,2,"# no"\n',
    "utf-16": RUN_TEXT.decode().encode("utf-16"),
    "latin-1": "é 0 ü 1\nq 0 a 2\n".encode("latin-1"),
    "packed": PACKED["gzip"](RUN_TEXT),
}

roles = st.sampled_from(["qrels", "run"])
token = st.sampled_from((*IDS, *NUMBERS))
blank = st.sampled_from([" ", " ", " ", "\t", "  ", "\x0b", "\u00a0", ""])
line_end = st.sampled_from(["\n", "\n", "\n", "\r\n", "\r", "\n\n", "\n# x\n", " \n"])


@st.composite
def trec_texts(draw: st.DrawFn, role: str) -> bytes:
    """TREC text of which single fields, blanks and line ends are odd."""
    made = []
    some, number = st.sampled_from(IDS), st.sampled_from(NUMBERS)
    for _ in range(draw(st.integers(1, 5))):
        query, item = draw(some), draw(some)
        if role == "qrels":
            fields = [query, "0", item, draw(number)]
        else:
            fields = [query, "Q0", item, draw(number), draw(number), draw(token)]
        made.append(draw(blank).join(fields) + draw(line_end))
    return "".join(made).encode(errors="surrogatepass")


@st.composite
def separated_texts(draw: st.DrawFn, role: str) -> bytes:
    """CSV with ids and numbers of all kinds, in quotes or not."""
    made = ["query,item," + ("grade" if role == "qrels" else "score") + "\n"]
    some, number = st.sampled_from(IDS), st.sampled_from(NUMBERS)
    quote = st.sampled_from(["", "", '"'])
    for _ in range(draw(st.integers(1, 5))):
        fields = [draw(some), draw(some), draw(number)]
        marks = [draw(quote) for _ in fields]
        made.append(
            ",".join(
                f"{mark}{field.replace(mark, 2 * mark) if mark else field}{mark}"
                for mark, field in zip(marks, fields, strict=True)
            )
            + draw(line_end)
        )
    return "".join(made).encode(errors="surrogatepass")


def agree(found: Outcome, table: Callable[[], plain.Table], role: str) -> None:
    """Check what was found against what the second reader has read."""
    try:
        own = table()
    except plain.UnsureError:
        return
    except plain.FieldsError:
        assert found.known or found.error or is_open("A6"), found.value
        return
    except plain.CutError:
        assert found.known or found.error or is_open("A7"), found.value
        return
    except plain.RefusedError:
        assert found.known or found.error, found.value
        return
    expected = evaluated(own, RUN) if role == "qrels" else evaluated(TRUTH, own)
    if expected.error:
        assert found.known or found.error
    else:
        assert found.known or found.error is None
        assert found.agrees(expected)


def agree_on_csv(found: Outcome, content: bytes, role: str) -> None:
    """Check a table; quotes in odd places may be refused or taken as they are."""
    try:
        plain.separated(content, role)
    except plain.BareError:
        if found.error is None:
            agree(found, lambda: plain.separated(content, role, bare=True), role)
        return
    except (plain.RefusedError, plain.UnsureError):
        pass
    agree(found, lambda: plain.separated(content, role), role)


def is_text(content: bytes) -> bool:
    """Say whether a content is neither packed nor a format of bytes."""
    return bool(content) and not content.startswith(
        (b"\x1f\x8b", b"PAR1", b"BZh", b"PK", b"ARROW1", b"\xff\xff\xff\xff")
    )


@pytest.mark.parametrize("role", ["qrels", "run"])
@cases(60)
@given(data=st.data())
def test_trec_text_is_read_as_a_second_reader_reads_it(
    role: str, data: st.DataObject
) -> None:
    content = edited(data.draw(trec_texts(role)), data.draw(edits))
    generated()

    found = read(content, role, OTHER[role], format="trec")

    if is_text(content):
        agree(found, lambda: plain.trec(content, role), role)


@pytest.mark.parametrize("role", ["qrels", "run"])
@cases(60)
@given(changes=edits)
def test_mutated_trec_text_is_read_as_a_second_reader_reads_it(
    role: str, changes: list[Edit]
) -> None:
    content = edited(TREC[role], changes)
    generated()

    found = read(content, role, OTHER[role], format="trec")

    if is_text(content):
        agree(found, lambda: plain.trec(content, role), role)


@cases(60)
@given(changes=edits)
def test_mutated_trec_text_is_read_by_rank(changes: list[Edit]) -> None:
    content = edited(RUN_TEXT, changes)
    generated()

    found = read(content, "run", TRUTH, options={"order": "rank"})

    if is_text(content) and found.error is None:  # it may be taken for another format
        agree(found, lambda: plain.trec(content, "run", by_rank=True), "run")


@pytest.mark.parametrize("role", ["qrels", "run"])
@cases(60)
@given(data=st.data())
def test_csv_is_read_as_a_second_reader_reads_it(
    role: str, data: st.DataObject
) -> None:
    content = edited(data.draw(separated_texts(role)), data.draw(edits))
    generated()

    found = read(content, role, OTHER[role], format="csv")

    if is_text(content):
        agree_on_csv(found, content, role)


@pytest.mark.parametrize("role", ["qrels", "run"])
@cases(60)
@given(changes=edits)
def test_mutated_csv_is_read_as_a_second_reader_reads_it(
    role: str, changes: list[Edit]
) -> None:
    content = edited(CSV[role], changes)
    generated()

    found = read(content, role, OTHER[role], format="csv")

    if is_text(content):
        agree_on_csv(found, content, role)


OPTIONS: list[dict[str, Any]] = [
    {}, {}, {}, {"lenient": True}, {"order": "rank"}, {"order": "given"},
    {"lower_is_better": True}, {"depth": 1}, {"ties": "average"}, {"rel": 2},
    {"columns": {"query": 1, "item": 2}}, {"columns": {"query": 1, "item": 3}},
    {"columns": {"query": "query", "item": "item", "grade": "grade"}},
    {"columns": {"item": "a"}}, {"grades": {"1": 1, "2": 2, 1: 1}},
]  # fmt: skip
HOW: list[dict[str, Any]] = [
    *({"format": name} for name in FORMATS),
    {"encoding": "latin-1"}, {"encoding": "utf-16"}, {"encoding": "utf-7"},
    {"encoding": "utf-16-le"}, {"encoding": "shift_jis"}, {"encoding": "idna"},
    {"encoding": "unicode_escape"}, {"encoding": "utf-8-sig"}, {"encoding": "cp037"},
    {"max_bytes": 20}, {"columns": {"query": 1, "item": 2}},
    {"columns": {"query": "1", "item": "3", "rank": 4}},
    {"columns": {"query": "query", "item": "q"}}, {"columns": {"query": 99}},
]  # fmt: skip


@cases(150)
@given(
    name=st.sampled_from(list(VALID)),
    changes=edits,
    role=roles,
    options=st.sampled_from(OPTIONS),
)
def test_no_content_crashes_a_path(
    name: str, changes: list[Edit], role: str, options: dict[str, Any]
) -> None:
    generated()

    read(edited(VALID[name], changes), role, OTHER[role], options=options)


@cases(150)
@given(
    name=st.sampled_from(list(VALID)),
    changes=edits,
    role=roles,
    how=st.sampled_from(HOW),
)
def test_no_content_crashes_a_reader(
    name: str, changes: list[Edit], role: str, how: dict[str, Any]
) -> None:
    generated()

    read(edited(VALID[name], changes), role, OTHER[role], **how)


@cases(100)
@given(name=st.sampled_from(list(VALID)), changes=edits, role=roles)
def test_no_content_crashes_a_check(name: str, changes: list[Edit], role: str) -> None:
    generated()
    path = written(edited(VALID[name], changes))

    if role == "qrels":
        checked(path, RUN)
    else:
        checked(TRUTH, path)


@cases(80)
@given(content=st.binary(max_size=200), role=roles, how=st.sampled_from([{}, *HOW]))
def test_no_bytes_crash_a_reader(
    content: bytes, role: str, how: dict[str, Any]
) -> None:
    generated()

    read(content, role, OTHER[role], **how)


@cases(80)
@given(
    content=st.lists(token | blank | line_end | st.sampled_from(",;|:"), max_size=40),
    role=roles,
    how=st.sampled_from([{}, *HOW]),
)
def test_no_tokens_crash_a_reader(
    content: list[str], role: str, how: dict[str, Any]
) -> None:
    generated()

    read("".join(content).encode(errors="replace"), role, OTHER[role], **how)


def _is_lines(content: bytes) -> bool:
    """Say whether a content is lines of text without quotes, which may be packed."""
    odd = content.startswith(
        (b"{", b"[", b"\x1f\x8b", b"PAR1", b"\xff", b"\xfe", b"BZ")
    )
    return not odd and b'"' not in content


def _is_ragged(content: bytes) -> bool:
    """Say whether lines have more or less marks than others."""
    lines = [line for line in content.split(b"\n") if line.strip() and line[:1] != b"#"]
    return any(len({line.count(mark) for line in lines}) > 1 for mark in b"\t,;|:")


@cases(50)
@given(name=st.sampled_from(list(VALID)), changes=edits, role=roles)
def test_comments_blank_lines_and_line_ends_change_nothing(
    name: str, changes: list[Edit], role: str
) -> None:
    content = edited(VALID[name], changes)
    generated()
    if not _is_lines(content) or b"\r" in content or not content.strip():
        return
    if is_open("A8") and _is_ragged(content):
        return
    if is_open("D9") and b"\x7f" in content:
        return
    whole = content if content.endswith(b"\n") else content + b"\n"
    first = read(whole, role, OTHER[role])

    for other in (
        whole + b"# a comment with 1 number\n",
        whole + b"\n",
        whole[:-1],
        b"\n" + whole,
        b"# x\n" + whole,
        whole.replace(b"\n", b"\r\n"),
        whole.replace(b"\n", b"\r"),
    ):
        found = read(other, role, OTHER[role])
        assert found.agrees(first), (other, found, first)


@cases(80)
@given(
    name=st.sampled_from(list(VALID)),
    changes=edits,
    role=roles,
    packing=st.sampled_from(list(PACKED)),
)
def test_packing_changes_nothing(
    name: str, changes: list[Edit], role: str, packing: str
) -> None:
    content = edited(VALID[name], changes)
    generated()
    if name == "packed" or content.startswith((b"\x1f\x8b", b"BZh", b"PK")):
        return
    first = read(content, role, OTHER[role])

    found = read(PACKED[packing](content), role, OTHER[role])

    assert found.agrees(first)


@cases(80)
@given(name=st.sampled_from(list(VALID)), changes=edits, role=roles)
def test_encoding_changes_nothing(name: str, changes: list[Edit], role: str) -> None:
    content = edited(VALID[name], changes)
    generated()
    try:
        text = content.decode()
    except UnicodeDecodeError:
        return
    if text.startswith(("\ufeff", "PAR1", "BZh", "PK")) or not text:
        return
    first = read(content, role, OTHER[role])

    for other in (b"\xef\xbb\xbf" + content, text.encode("utf-16")):
        assert read(other, role, OTHER[role]).agrees(first), other
    assert read(content, role, OTHER[role], encoding="utf-8").agrees(first)
    told = read(text.encode("utf-16-le"), role, OTHER[role], encoding="utf-16-le")
    assert told.agrees(first)


@cases(80)
@given(name=st.sampled_from(list(VALID)), changes=edits, role=roles, at=st.integers(0))
def test_parts_in_a_folder_change_nothing(
    name: str, changes: list[Edit], role: str, at: int
) -> None:
    content = edited(VALID[name], changes)
    generated()
    if not _is_lines(content) or b"\r" in content:
        return
    lines = content.splitlines(keepends=True)
    alone = FOLDER / "alone"
    alone.mkdir(exist_ok=True)
    (alone / "part").write_bytes(content)
    assert read(alone, role, OTHER[role]).agrees(read(content, role, OTHER[role]))

    parts = FOLDER / "parts"
    parts.mkdir(exist_ok=True)
    cut = at % (len(lines) + 1)
    (parts / "0").write_bytes(b"".join(lines[:cut]))
    (parts / "1").write_bytes(b"".join(lines[cut:]))
    found = read(parts, role, OTHER[role])
    if name.startswith("trec") and found.error is None:
        assert found.agrees(read(content, role, OTHER[role], format="trec"))


@cases(80)
@given(changes=edits, seed=st.integers(0, 99), kind=st.sampled_from(["trec", "csv"]))
def test_the_order_of_rows_changes_nothing(
    changes: list[Edit], seed: int, kind: str
) -> None:
    content = edited(TREC["run"] if kind == "trec" else CSV["run"], changes)
    generated()
    if b'"' in content or b"\r" in content:
        return
    lines = content.split(b"\n")
    head = [] if kind == "trec" else lines[:1]
    if head and not head[0].strip():
        return  # the header stands further below
    rest = lines[len(head) :]
    first = read(content, "run", TRUTH, format=kind)
    random.Random(seed).shuffle(rest)  # noqa: S311 - the order of lines

    found = read(b"\n".join(head + rest), "run", TRUTH, format=kind)

    if kind == "trec" and re.match(rb"[#\s]*[^0-9\n]*\n", content):
        return  # the first line may be a header
    if kind == "trec" and is_open("D12") and content[-1:].isspace():
        return
    # Of two things that are wrong, the first is told.
    assert found.agrees(first) or (found.error and first.error)


ENCODINGS = ("utf-8", "utf-16", "utf-32", "latin-1", "cp1252", "shift_jis", "utf-7")


@cases(60)
@given(
    word=st.text(
        st.characters(exclude_categories=["C", "Z"], exclude_characters="#\ufeff"),
        min_size=1,
        max_size=5,
    ),
    encoding=st.sampled_from(ENCODINGS),
    role=roles,
)
def test_ids_of_any_letters_are_kept(word: str, encoding: str, role: str) -> None:
    generated()
    query, item = f"q{word}", f"d{word}"
    line = f"{query} 0 {item} 1\n" if role == "qrels" else f"{query} Q0 {item} 1 1 t\n"
    try:
        content = line.encode(encoding)
    except UnicodeEncodeError:
        return
    if content.decode(encoding) != line:
        return
    path = written(content)
    told = "utf-16" if encoding == "utf-16" else encoding

    def call() -> Any:
        if role == "qrels":
            qrels = rk.read_qrels(path, encoding=told)
            return numbers(qrels, {query: {item: 1.0}})
        return numbers({query: {item: 1}}, rk.read_run(path, encoding=told))

    found = outcome(call)

    assert found.error is None
    assert found.value == [(query, *[1.0] * (len(METRICS) - 3), 0.5, 1, 1)] or (
        found.value[0][0] == query and found.value[0][1] == 1
    )
