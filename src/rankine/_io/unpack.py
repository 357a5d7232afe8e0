"""Compressed data: recognised by their first bytes, and unpacked in bounded blocks."""

from __future__ import annotations

import bz2
import lzma
import struct
import sys
import zipfile
import zlib
from typing import TYPE_CHECKING, Any, BinaryIO, Protocol

from rankine.errors import FormatError, MissingExtraError

if TYPE_CHECKING:
    from collections.abc import Callable

_PACKED = 1 << 16
"""Packed bytes that are read at once: what they become stays in the cache."""
_STEP = 1 << 12
"""Bytes that are unpacked at once where what they become cannot be bounded."""
_MAGIC = {
    b"\x1f\x8b": "gzip",
    b"BZh": "bzip2",
    b"\xfd7zXZ\x00": "xz",
    b"\x28\xb5\x2f\xfd": "zstandard",
    b"PK\x03\x04": "zip",
    b"PK\x05\x06": "zip",
}
_ARCHIVES = {b"7z\xbc\xaf\x27\x1c": "7-Zip", b"Rar!": "RAR", b"\x04\x22\x4d\x18": "lz4"}
_TAR_AT = 257
_UNPACKERS = {"zstandard", "compression", "isal", "igzip_lib"}
"""Packages whose errors mean that the data are damaged."""
_BROKEN = (EOFError, zlib.error, lzma.LZMAError, zipfile.BadZipFile)
_BAD_ZIP = (
    zipfile.BadZipFile, NotImplementedError, RuntimeError, OSError, EOFError,
    struct.error, ValueError, IndexError,
)  # fmt: skip


class Readable(Protocol):
    """Something from which bytes can be read."""

    def read(self, size: int, /) -> bytes:
        """Return the next bytes, as many at most."""
        ...


def packing_of(head: bytes) -> str | None:
    """Say how data are packed, by their first bytes; None if they are not.

    >>> packing_of(b"BZh9"), packing_of(b"q1 0 d1 1")
    ('bzip2', None)
    """
    return _by_magic(head, _MAGIC)


def archive_of(head: bytes) -> str | None:
    """Name the kind of archive that is not read, by its first bytes."""
    if head[_TAR_AT : _TAR_AT + 5] == b"ustar":
        return "tar"
    return _by_magic(head, _ARCHIVES)


def unpacked(raw: BinaryIO, packing: str | None, name: str) -> Readable:
    """Return a reader of the data that packed bytes hold."""
    if packing is None:
        return raw
    if packing == "gzip":
        return _Unpacked(raw, _gunzip())
    if packing == "bzip2":
        return _Unpacked(raw, bz2.BZ2Decompressor)
    if packing == "xz":
        return _Unpacked(raw, lzma.LZMADecompressor)
    if packing == "zstandard":
        return _zstandard(raw, name)
    return _only_member(raw, name)


def damage(error: Exception, packing: str | None) -> str | None:
    """Say what an error means for packed data; None if it is about something else."""
    if isinstance(error, _BROKEN):
        ended = isinstance(error, EOFError) or "end" in str(error).casefold()
        return "ends too early" if ended else f"is damaged ({error})"
    package = type(error).__module__.split(".")[0]
    if package in _UNPACKERS or (packing and isinstance(error, OSError)):
        return f"is damaged ({error})"
    return None


def _by_magic(head: bytes, words: dict[bytes, str]) -> str | None:
    return next((word for magic, word in words.items() if head.startswith(magic)), None)


class _Unpacked:
    """Reads packed data, of one or several members, in bounded blocks.

    Whatever follows a member is another one, or the data are damaged.
    """

    def __init__(
        self, raw: BinaryIO, start: Callable[[], Any], *, bounded: bool = True
    ) -> None:
        self.raw = raw
        self.start = start
        self.bounded = bounded
        self.unpack = start()
        self.rest = b""
        self.ready = b""

    def read(self, size: int) -> bytes:
        parts, total = [self.ready], len(self.ready)
        while total < size:
            if self.unpack.eof:
                self.rest = self._behind()
                if not self.rest:
                    break
                self.unpack = self.start()
            elif not self.rest and getattr(self.unpack, "needs_input", True):
                self.rest = self._raw()
                if not self.rest:
                    last = self._more(size)
                    if not last and not self.unpack.eof:
                        raise EOFError
                    parts.append(last)
                    total += len(last)
                    continue
            parts.append(self._more(size - total))
            total += len(parts[-1])
        last = parts.pop() if total > size else b""
        keep = len(last) - (total - size)
        self.ready = last[keep:] if last else b""
        return b"".join((*parts, last[:keep]))

    def _behind(self) -> bytes:
        """Return what follows a member, without the zeros that may pad it."""
        left: bytes = self.unpack.unused_data
        while not left.strip(b"\0"):
            left = self._raw()
            if not left:
                break
        return left.lstrip(b"\0")

    def _raw(self) -> bytes:
        return self.raw.read(_PACKED if self.bounded else _STEP)

    def _more(self, size: int) -> bytes:
        if not self.bounded:
            unpacked: bytes = self.unpack.decompress(self.rest)
            self.rest = b""
            return unpacked
        unpacked = self.unpack.decompress(self.rest, size)
        self.rest = getattr(self.unpack, "unconsumed_tail", b"")
        return unpacked


def _gunzip() -> Callable[[], Any]:
    """Return an unpacker of gzip, from a three times faster package if there is one."""
    try:
        from isal import isal_zlib  # noqa: PLC0415 - an optional package
    except ImportError:
        return lambda: zlib.decompressobj(wbits=31)
    return lambda: isal_zlib.decompressobj(wbits=31)


def _zstandard(raw: BinaryIO, name: str) -> Readable:
    if sys.version_info >= (3, 14):
        from compression.zstd import ZstdFile  # noqa: PLC0415

        return ZstdFile(raw)
    try:
        import zstandard  # noqa: PLC0415 - an optional package
    except ImportError:
        msg = (
            f"{name}: is compressed with zstandard, which needs a package: pip install "
            "'rankine-eval[zstd]'"
        )
        raise MissingExtraError(msg) from None
    start = zstandard.ZstdDecompressor().decompressobj
    return _Unpacked(raw, start, bounded=False)


def _only_member(raw: BinaryIO, name: str) -> Readable:
    try:
        archive = zipfile.ZipFile(raw)
        members = [member for member in archive.infolist() if _is_member(member)]
        if len(members) == 1:
            return archive.open(members[0])
    except _BAD_ZIP as error:
        msg = f"{name}: the zip archive cannot be read ({error})"
        raise FormatError(msg) from None
    names = ", ".join(repr(member.filename) for member in members[:3])
    more = ", ..." if len(members) > 3 else ""  # noqa: PLR2004 - as many as fit
    msg = (
        f"{name}: is a zip archive of {len(members)} files ({names}{more}); "
        "expected one"
    )
    raise FormatError(msg)


def _is_member(member: zipfile.ZipInfo) -> bool:
    """Say whether this is a file, and not metadata that a system adds."""
    name = member.filename.rpartition("/")[2]
    hidden = member.filename.startswith("__MACOSX/") or name.startswith(".")
    return not member.is_dir() and not hidden
