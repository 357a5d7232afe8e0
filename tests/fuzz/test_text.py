"""Text: read as a second reader reads it, or refused; no content crashes anything."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankine._io.formats import FORMATS
from tests.fuzz import plain
from tests.fuzz.edits import IDS, NUMBERS, Edit, edited, edits
from tests.fuzz.effort import cases
from tests.fuzz.judge import Outcome, checked, evaluated, generated, read, written
from tests.fuzz.known import is_open
from tests.fuzz.texts import (
    CSV,
    OTHER,
    RUN,
    RUN_TEXT,
    TREC,
    TRUTH,
    VALID,
    blank,
    line_end,
    roles,
    token,
)

if TYPE_CHECKING:
    from collections.abc import Callable


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
