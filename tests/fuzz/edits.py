"""Contents that were right once: edits of bytes, and the pieces that they use."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import zipfile
from typing import TYPE_CHECKING, TypeAlias

import zstandard
from hypothesis import strategies as st

if TYPE_CHECKING:
    from collections.abc import Callable

Edit: TypeAlias = tuple[str, int, bytes]

PIECES = [
    *(bytes([code]) for code in b' \t\n\r,;|:#"\\.-+eE019aqQx_\x00\x0b\x0c\x1a\x1c'),
    b"\x7f", b"\xff", b"\x80", b"\xc3", b"\xe9", "é".encode(), "\u00a0".encode(),
    "\u2028".encode(), b"\xef\xbb\xbf", b"\xff\xfe", b"\r\n", b"\n\n", b"::", b"  ",
    b'""', b"nan", b"inf", b"-inf", b"1e400", b"1e-400", b"0x1", b"1_0", b"null",
    b"True", b"\n#", b"# x\n", b"q Q0 a 1 2 t\n", b"q 0 a 1\n", b"query", b"item",
    b"score", b"{", b"}", b"[", b"]", b'{"q":{"a":1}}', b"\\ud800", b"\x1f\x8b",
    b"PAR1", b"9" * 400,
]  # fmt: skip
NUMBERS = (
    "0", "1", "2", "3", "-1", "0.5", "1.5", ".5", "1.", "1e3", "+2", "1E-2", "inf",
    "-inf", "nan", "1e400", "1e-400", "0.1000000000000000055", "9007199254740993", "x",
    "", "1_0", "0x1", "1e", "--1", "1,5", "٣", "True", "1d3", "infinity", "NaN",
)  # fmt: skip
IDS = (
    "q", "p", "a", "b", "c", "d1", "007", "7", "é", "e\u0301", "a,b", "a:b", "a::b",
    'a"b', "#a", "a#b", "a;b", "-", "_", "nan", "null", "1.0", "a\u00a0b", "\ufeffa",
    "query", "item", "a\x1cb", "a\x00b", "\u2028", "x" * 300,
)  # fmt: skip

edits = st.lists(
    st.tuples(
        st.sampled_from(["set", "flip", "delete", "insert", "cut", "again", "swap"]),
        st.integers(0, 4095),
        st.sampled_from(PIECES),
    ),
    max_size=4,
)


def edited(content: bytes, changes: list[Edit]) -> bytes:
    """Edit a content: places are taken modulo its length."""
    for word, place, piece in changes:
        if not content:
            return piece
        at = place % len(content)
        end = at + len(piece)
        if word == "set":
            content = content[:at] + piece + content[end:]
        elif word == "flip":
            flipped = content[at] ^ (1 << place % 8)
            content = content[:at] + bytes([flipped]) + content[at + 1 :]
        elif word == "delete":
            content = content[:at] + content[end:]
        elif word == "insert":
            content = content[:at] + piece + content[at:]
        elif word == "cut":
            content = content[:at]
        else:
            lines = content.split(b"\n")
            line = place % len(lines)
            if word == "again":
                lines.insert(line, lines[line])
            else:
                lines = lines[line:] + lines[:line]
            content = b"\n".join(lines)
    return content


def zipped(content: bytes, packing: int = zipfile.ZIP_DEFLATED) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", packing) as archive:
        archive.writestr(zipfile.ZipInfo("inside.txt"), content, packing)
    return out.getvalue()


def zstandardised(content: bytes) -> bytes:
    return zstandard.ZstdCompressor(write_checksum=True).compress(content)


PACKED: dict[str, Callable[[bytes], bytes]] = {
    "gzip": lambda content: gzip.compress(content, mtime=0),
    "bzip2": bz2.compress,
    "xz": lzma.compress,
    "zstandard": zstandardised,
    "zip": zipped,
    "zip, stored": lambda content: zipped(content, zipfile.ZIP_STORED),
    "zip, bzip2": lambda content: zipped(content, zipfile.ZIP_BZIP2),
    "zip, lzma": lambda content: zipped(content, zipfile.ZIP_LZMA),
}
