"""Bytes of a file, of standard input or of what another program writes.

Compressed files are recognised by their content, not by their name, and never unpacked
beyond a bound. Nothing of a file that ends too early is used.
"""

from __future__ import annotations

import codecs
import difflib
import io
import os
import re
import stat
import sys
import warnings
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing, suppress
from threading import Lock
from typing import TYPE_CHECKING, Any, BinaryIO, TypeVar

from rankine._base.limits import limits
from rankine._io.unpack import archive_of, damage, packing_of, unpacked
from rankine.errors import FormatError, ParameterError

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator
    from pathlib import Path

    from rankine._io.sources import Reading
    from rankine._io.unpack import Readable

Parsed = TypeVar("Parsed")
STDIN = "-"
_HEAD = 1 << 10
_BLOCK = 1 << 20
_BUFFER = 1 << 12
"""Bytes that are read at once to find the end of a line."""
_PARTS = 64
"""The number of parts of a file that would fill the memory that may be used."""
_PARSERS = 2
"""Parts that are parsed at once: while one is used, the next is there or coming."""
_BOM = codecs.BOM_UTF8
_quiet = Lock()
"""Held while warnings are turned off, which affects all threads."""
_UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
UNPACKED_BY_POLARS = (
    b"\x1f\x8b", b"\x78\x01", b"\x78\x9c", b"\x78\xda", b"\x28\xb5\x2f\xfd",
)  # fmt: skip
"""Beginnings of text that polars would unpack behind our back, beyond all bounds."""


def _has_row(blocks: list[bytes]) -> bool:
    """Say whether there are two whole lines that are not comments."""
    head = blocks[0] if len(blocks) == 1 else b"".join(blocks)
    if b"\0" in head[:4]:
        return True
    lines = head.split(b"\n")[:-1]
    return sum(bool(line.strip()) and line[:1] != b"#" for line in lines) > 1


class Opened:
    """Bytes that can be read from their start as often as needed.

    Attributes:
        name: what to call them in messages.
        packing: how they are packed, None if they are not.
        head: the first of them, unpacked.
        cut: whether there are more than these.
        path: the file that holds them as they are, None if they are packed, have
            another encoding, or are not in a file.
    """

    def __init__(self, place: Path, how: Reading) -> None:
        self.name = "standard input" if str(place) == STDIN else str(place)
        self.how = how
        self._held: bytes | None = None
        self._place = place
        self._stat: os.stat_result | None = None
        self._encoding = _other_encoding(how.encoding)
        try:
            raw, first = self._start()
        except OSError as error:
            raise cannot(place, error) from None
        except FormatError:
            raise
        except ValueError as error:
            msg = f"{str(place)!r} is not a valid path ({error})"
            raise FormatError(msg) from None
        self.packing = packing_of(first)
        with raw:
            self._refuse_archive(first)
            self.head = self._first(raw)
            if how.encoding is None and self.head.startswith(_UTF16):
                self._encoding = "utf-16"
                self.head = self._first(raw)
        if self.packing:
            self._refuse_archive(self.head)
            again = packing_of(self.head)
            if again:
                msg = f"{self.name}: is compressed twice ({self.packing}, {again})"
                raise FormatError(msg)
        held_back = self.packing or self._encoding or self._held is not None
        self.path = None if held_back else place

    def _start(self) -> tuple[BinaryIO, bytes]:
        """Read what can be read only once; return the file and its first bytes."""
        place = self._place
        if str(place) == STDIN:
            self._held = self._all_of(sys.stdin.buffer)
            if not self._held:
                msg = "standard input: is empty; it can be read only once"
                raise FormatError(msg)
        else:
            self._stat = place.stat()
            if stat.S_ISDIR(self._stat.st_mode):
                msg = f"{place}: is a folder"
                raise FormatError(msg)
            if not stat.S_ISREG(self._stat.st_mode):
                with place.open("rb") as pipe:
                    self._held = self._all_of(pipe)
        raw = self._raw()
        try:
            return raw, raw.read(_HEAD)
        except OSError:
            raw.close()
            raise

    def _first(self, raw: BinaryIO) -> bytes:
        raw.seek(0)
        with closing(self._blocks(raw, limits().head_bytes)) as blocks:
            first = [next(blocks, b"")]
            total = len(first[0])
            # Not a line in it, or nothing but comments: read on until there is one.
            for block in blocks:
                if total >= limits().line_bytes or _has_row(first):
                    self.cut = True
                    break
                first.append(block)
                total += len(block)
        return b"".join(first)

    cut = False

    @property
    def size(self) -> int:
        """The number of bytes, as they are packed."""
        if self._held is not None:
            return len(self._held)
        return self._stat.st_size if self._stat is not None else 0

    @property
    def n_lines(self) -> int | None:
        """About how many lines there are, judging by the first ones; None if packed."""
        if self.path is None or not self.head:
            return None
        return int(self.size * self.head.count(b"\n") / len(self.head))

    def part_bytes(self, n_lines: int) -> int:
        """Return about how many bytes so many lines have; no more than a part has."""
        of_line = len(self.head) / max(1, self.head.count(b"\n"))
        return max(1, min(limits().part_bytes, int(n_lines * of_line)))

    def read(self) -> bytes:
        """Return all bytes, unpacked."""
        if self.path is not None and self._stat is not None:
            if self._stat.st_size > self.how.max_bytes:
                raise self.too_much()
            with self._raw() as raw:
                data = raw.read()
            self._refuse_change()
            return data.removeprefix(_BOM)
        with closing(self.blocks(_BLOCK)) as blocks:
            return b"".join(blocks)

    def blocks(self, size: int) -> Generator[bytes, None, None]:
        """Yield the bytes in blocks of about a size, unpacked, in UTF-8."""
        with self._raw() as raw:
            yield from self._blocks(raw, size)

    def _blocks(self, raw: BinaryIO, size: int) -> Generator[bytes, None, None]:
        total = 0
        decode = None
        if self._encoding:
            decode = codecs.getincrementaldecoder(self._encoding)()
        first = True
        stream = unpacked(raw, self.packing, self.name)
        while True:
            block = self._next(stream, size)
            total += len(block)
            if total > self.how.max_bytes:
                raise self.too_much()
            ended = not block
            if decode is not None:
                block = self._decoded(decode, block, total)
            if first and block:
                block, first = block.removeprefix(_BOM), False
            if block:
                yield block
            if ended:
                break
        self._refuse_change()

    def lines(self, size: int) -> Generator[bytes, None, None]:
        """Yield the bytes in blocks of whole lines of about a size."""
        if self.path is not None:
            yield from self._lines_of_file(size)
            return
        parts: list[bytes] = []
        total = unended = 0
        for block in self.blocks(min(size, _BLOCK)):
            end = block.rfind(b"\n") + 1
            total += len(block)
            unended = len(block) - end if end else unended + len(block)
            if unended > limits().line_bytes:
                raise self._long_line()
            if not end or total < size:
                parts.append(block)
                continue
            yield b"".join((*parts, memoryview(block)[:end]))
            parts = [block[end:]]
            total = unended
        if total:
            yield b"".join(parts)

    def first_lines(self, size: int, skip: int) -> tuple[bytes, bool]:
        """Return about so many bytes of whole lines, and whether there are more.

        Args:
            size: how many bytes.
            skip: bytes at the start that are left out, such as a header.
        """
        with closing(self.lines(size)) as blocks:
            first = next(blocks, b"")
            return first[skip:], next(blocks, b"") != b""

    def _lines_of_file(self, size: int) -> Generator[bytes, None, None]:
        longest = limits().line_bytes
        with self._raw(buffering=_BUFFER) as file:
            last = file.seek(0, os.SEEK_END)
            if last > self.how.max_bytes:
                raise self.too_much()
            file.seek(0)
            begin = 3 if file.read(3) == _BOM else 0
            while begin < last:
                file.seek(begin + size)
                more = len(file.readline(longest + 1))
                if more > longest:
                    raise self._long_line()
                file.seek(begin)
                part = file.read(size + more)
                if not part:
                    break
                begin += len(part)
                yield part
                # Let go before the next part is read, so that its memory serves again.
                del part
        self._refuse_change()

    def parsed(
        self, skip: int, parse: Callable[[bytes], Parsed]
    ) -> Generator[tuple[bytes, Parsed], None, None]:
        """Yield parts of whole lines, each with what threads have parsed it into.

        Always close it: a generator left to the garbage collector would end its threads
        at any time, such as while another thread is being started.

        Args:
            skip: bytes at the start that are left out, such as a header.
            parse: what is done with a part.
        """
        size = limits().part_bytes
        if self.how.memory is not None:  # of which there may be little
            size = max(1, min(size, self.how.memory // _PARTS))
        parts = after(self.lines(size), skip)
        reader = ThreadPoolExecutor(1, thread_name_prefix="rankine-read")
        parsers = ThreadPoolExecutor(_PARSERS, thread_name_prefix="rankine-parse")

        def both(part: bytes) -> tuple[bytes, Parsed]:
            return part, parse(part)

        def load() -> Future[tuple[bytes, Parsed]] | None:
            part = next(parts, None)
            return None if part is None else parsers.submit(both, part)

        try:
            coming = deque(reader.submit(load) for _ in range(_PARSERS))
            while (loaded := coming.popleft().result()) is not None:
                coming.append(reader.submit(load))
                yield loaded.result()
                del loaded
        finally:
            reader.shutdown(wait=False, cancel_futures=True)
            parsers.shutdown(wait=False, cancel_futures=True)

    def _raw(self, buffering: int = 0) -> BinaryIO:
        if self._held is not None:
            return io.BytesIO(self._held)
        try:
            return self._place.open("rb", buffering)
        except OSError as error:
            raise cannot(self._place, error) from None

    def _next(self, stream: Readable, size: int) -> bytes:
        try:
            return stream.read(size)
        except Exception as error:
            word = damage(error, self.packing)
            if word is not None:
                msg = f"{self.name}: the compressed data ({self.packing}) {word}"
                raise FormatError(msg) from None
            if isinstance(error, OSError):
                raise cannot(self._place, error) from None
            raise

    def _decoded(
        self, decode: codecs.IncrementalDecoder, block: bytes, n: int
    ) -> bytes:
        try:
            with _quiet, warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of Python, on odd escapes
                return decode.decode(block, final=not block).encode()
        except UnicodeError as error:
            byte = n - len(block) + getattr(error, "start", 0)
            msg = f"{self.name}: is not {self._encoding} text, near byte {byte}"
            raise FormatError(msg) from None

    def _refuse_archive(self, head: bytes) -> None:
        word = archive_of(head)
        if word:
            msg = (
                f"{self.name}: is a {word} archive, which cannot be read; unpack it, "
                "or compress it with gzip, bzip2, xz, zstandard or zip"
            )
            raise FormatError(msg)

    def _refuse_change(self) -> None:
        """Refuse a file that was written to while it was read."""
        if self._stat is None or self._held is not None:
            return
        try:
            now = self._place.stat()
        except OSError as error:
            raise cannot(self._place, error) from None
        if (now.st_size, now.st_mtime_ns) != (
            self._stat.st_size,
            self._stat.st_mtime_ns,
        ):
            raise self.changed()

    def changed(self) -> FormatError:
        """Say that a file is no longer what it was when reading began."""
        return FormatError(f"{self.name}: changed while it was being read")

    def _all_of(self, stream: Any) -> bytes:
        blocks, total = [], 0
        while block := stream.read(_BLOCK):
            blocks.append(block)
            total += len(block)
            if total > self.how.max_bytes:
                raise self.too_much()
        return b"".join(blocks)

    def too_much(self) -> FormatError:
        """Say that it holds more than may be read."""
        msg = (
            f"{self.name}: has more than {self.how.max_bytes:,} bytes when unpacked; "
            "allow more with max_bytes= or --max-bytes"
        )
        return FormatError(msg)

    def _long_line(self) -> FormatError:
        msg = f"{self.name}: has a line longer than {limits().line_bytes:,} bytes"
        return FormatError(msg)


def after(parts: Iterator[bytes], skip: int) -> Iterator[bytes]:
    """Leave out some bytes at the start."""
    for part in parts:
        if skip:
            part, skip = part[skip:], max(0, skip - len(part))  # noqa: PLW2901
        if part:
            yield part
        del part


def decoded(text: bytes, where: str, of: str = "") -> str:
    """Return UTF-8 text; refuse other bytes, and say where they are."""
    try:
        return text.decode()
    except UnicodeDecodeError as error:
        raise not_utf8(error, where, of) from None


def not_utf8(error: UnicodeDecodeError, where: str, of: str = "") -> FormatError:
    """Say which byte is not UTF-8, and where."""
    msg = (
        f"{where}: not UTF-8 text at byte {error.start}{of}; name its encoding with "
        "encoding= or --encoding, such as latin-1"
    )
    return FormatError(msg)


def _other_encoding(encoding: str | None) -> str | None:
    """Return an encoding if it is not UTF-8; refuse one that is not a text encoding."""
    if encoding is None:
        return None
    try:
        codecs.getincrementaldecoder(encoding)
        with suppress(UnicodeDecodeError):  # an encoding of text, if not of this one
            b"a".decode(encoding)
    except (LookupError, ValueError):
        msg = f"unknown encoding {encoding!r}; use for example utf-8, latin-1 or cp1252"
        raise ParameterError(msg) from None
    is_utf8 = codecs.lookup(encoding).name in {"utf-8", "utf-8-sig"}
    return None if is_utf8 else encoding


def cannot(path: Path, error: OSError) -> FormatError:
    """Say why a path cannot be read."""
    if isinstance(error, FileNotFoundError):
        if re.match(r"[a-zA-Z][a-zA-Z0-9+.-]+:/", str(path)):
            msg = f"{path}: is a URL; only files on disk can be read"
            return FormatError(msg)
        siblings: list[str] = []
        with suppress(OSError):
            siblings = [other.name for other in path.parent.iterdir()]
        near = difflib.get_close_matches(path.name, siblings, n=1)
        hint = f"; did you mean {str(path.with_name(near[0]))!r}?" if near else ""
        return FormatError(f"{path}: no such file{hint}")
    if isinstance(error, IsADirectoryError):
        return FormatError(f"{path}: is a folder")
    return FormatError(f"{path}: cannot be read ({error.strerror or error})")
