"""Packed contents and formats of bytes, damaged: refused, or read as they were."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fuzz.child import Child
from tests.fuzz.edits import PACKED, PIECES, Edit, edited
from tests.fuzz.effort import cases
from tests.fuzz.judge import generated, read, written
from tests.fuzz.known import is_open

if TYPE_CHECKING:
    from collections.abc import Iterator

TRUTH = {"q0": {"d1": 1, "d4": 2}, "q2": {"d7": 1}}
ROWS = [(f"q{at % 3}", f"d{at}", at * 0.37 % 1) for at in range(24)]
TEXT = "".join(f"{q} Q0 {d} 1 {s!r} t\n" for q, d, s in ROWS).encode()
FRAME = pl.DataFrame(ROWS, schema=["query", "item", "score"], orient="row")

bytes_edits = st.lists(
    st.tuples(
        st.sampled_from(["set", "flip", "flip", "delete", "insert", "cut"]),
        st.integers(0, 4095),
        st.one_of(st.binary(min_size=1, max_size=4), st.sampled_from(PIECES)),
    ),
    min_size=1,
    max_size=3,
)


@pytest.mark.parametrize("packing", PACKED)
@cases(40)
@given(changes=bytes_edits)
def test_damaged_packing_is_refused_or_harmless(
    packing: str, changes: list[Edit]
) -> None:
    generated()
    whole = PACKED[packing](TEXT)
    content = edited(whole, changes)

    found = read(content, "run", TRUTH)

    # Checksums guard the text: what is read is what was packed.
    if found.error is None and not found.known:
        assert found.agrees(read(whole, "run", TRUTH))


@pytest.mark.parametrize("packing", ["gzip", "bzip2", "xz", "zstandard"])
@cases(20)
@given(at=st.integers(0, len(TEXT)), changes=st.lists(bytes_edits, max_size=1))
def test_damaged_streams_lose_no_rows(
    packing: str, at: int, changes: list[list[Edit]]
) -> None:
    generated()
    cut = TEXT.rfind(b"\n", 0, at) + 1
    second = PACKED[packing](TEXT[cut:])
    for change in changes:
        second = edited(second, change)
    if not second.strip(b"\0"):
        return  # nobody can tell that there was one

    found = read(PACKED[packing](TEXT[:cut]) + second, "run", TRUTH)

    if found.error is None and not found.known:
        assert found.agrees(read(TEXT, "run", TRUTH))


def _made(write: Any) -> bytes:
    out = io.BytesIO()
    write(out)
    return out.getvalue()


def _ipc(out: io.BytesIO) -> None:
    table = FRAME.to_arrow()
    with pa.ipc.new_file(out, table.schema) as writer:
        writer.write_table(table)


BINARY = {
    "parquet": _made(FRAME.write_parquet),
    "parquet, plain": _made(
        lambda out: FRAME.write_parquet(out, compression="uncompressed")
    ),
    "parquet, pyarrow": _made(lambda out: pq.write_table(FRAME.to_arrow(), out)),
    "arrow file": _made(FRAME.write_ipc),
    "arrow file, pyarrow": _made(_ipc),
    "arrow stream": _made(FRAME.write_ipc_stream),
}


@pytest.fixture(scope="module")
def child() -> Iterator[Child]:
    with Child() as started:
        yield started


@pytest.mark.parametrize("name", BINARY)
@cases(25)
@given(changes=bytes_edits)
def test_damaged_tables_are_refused_or_read(
    name: str, changes: list[Edit], child: Child
) -> None:
    generated()
    path = written(edited(BINARY[name], changes), "table")

    told = child.evaluate(path)

    assert told.ended or is_open("B0"), path.read_bytes()
    assert told.sentence, told.text
    assert "panicked" not in told.stderr or is_open("B0")
