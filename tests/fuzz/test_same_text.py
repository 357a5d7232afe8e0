"""Text in another shape: packing, encoding, comments and order change nothing."""

from __future__ import annotations

import random
import re
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

import rankine as rk
from tests.fuzz.edits import PACKED, Edit, edited, edits
from tests.fuzz.effort import cases
from tests.fuzz.judge import FOLDER, METRICS, generated, numbers, outcome, read, written
from tests.fuzz.known import is_open
from tests.fuzz.texts import CSV, OTHER, TREC, TRUTH, VALID, roles


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
