"""One table in every format that has names of columns, packed in every way."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import zipfile
from typing import TYPE_CHECKING

import zstandard

if TYPE_CHECKING:
    from collections.abc import Callable

    import polars as pl


def _separated(mark: str) -> Callable[[pl.DataFrame], bytes]:
    return lambda frame: frame.write_csv(separator=mark).encode()


def _into(method: str) -> Callable[[pl.DataFrame], bytes]:
    def write(frame: pl.DataFrame) -> bytes:
        out = io.BytesIO()
        getattr(frame, method)(out)
        return out.getvalue()

    return write


FORMATS: dict[str, tuple[str, Callable[[pl.DataFrame], bytes]]] = {
    "comma": ("csv", _separated(",")),
    "semicolon": ("csv", _separated(";")),
    "tab": ("csv", _separated("\t")),
    "bar": ("csv", _separated("|")),
    "tsv": ("tsv", _separated("\t")),
    "txt": ("txt", _separated(",")),
    "parquet": ("parquet", _into("write_parquet")),
    "arrow": ("arrow", _into("write_ipc")),
    "stream": ("arrows", _into("write_ipc_stream")),
    "ndjson": ("ndjson", _into("write_ndjson")),
    "json": ("json", _into("write_json")),
}
"""By name: how files of a format are called, and what writes it."""


def zipped(data: bytes) -> bytes:
    """Put bytes into a zip archive as its only file."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("table", data)
    return out.getvalue()


PACKINGS: dict[str, Callable[[bytes], bytes]] = {
    "": lambda data: data,
    "gz": gzip.compress,
    "bz2": bz2.compress,
    "xz": lzma.compress,
    "zst": zstandard.compress,
    "zip": zipped,
}
