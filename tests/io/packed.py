"""A long run, and the ways in which it can be packed."""

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
    from pathlib import Path

TEXT = "".join(f"q{n} Q0 d{n} 1 0.5 t\n" for n in range(2000))
QRELS = {f"q{n}": {f"d{n}": 1} for n in range(2000)}
PACK: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "bzip2": bz2.compress,
    "xz": lzma.compress,
    "zstandard": zstandard.compress,
}


def written(folder: Path, data: bytes, name: str = "some.run") -> Path:
    path = folder / name
    path.write_bytes(data)
    return path


def zipped(*members: tuple[str, str]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in members:
            archive.writestr(name, text)
    return out.getvalue()
