"""A file without a name: nothing is left of it, however the process ends."""

from __future__ import annotations

import tempfile
import weakref
from typing import TYPE_CHECKING, Any

from rankine.errors import NoSpaceError

if TYPE_CHECKING:
    from io import FileIO


class NamelessFile:
    """Bytes on disk, for what does not fit into memory.

    Args:
        what: what it holds, for the message that it does not fit.
        hint: what else can be done than to make room.

    >>> file = NamelessFile("the rows")
    >>> file.append(memoryview(b"abc")), file.append(memoryview(b"de")), file.read(3, 2)
    (0, 3, b'de')
    """

    def __init__(self, what: str, hint: str = "") -> None:
        self._what, self._hint = what, hint
        self._file: FileIO | None = None
        self._end = 0

    def __bool__(self) -> bool:
        """Say whether it holds anything."""
        return self._end > 0

    def append(self, packed: memoryview) -> int:
        """Write bytes to its end, and return where they begin."""
        begin = self._end
        try:
            if self._file is None:
                self._file = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115
                weakref.finalize(self, self._file.close)
            self._file.seek(begin)
            self._end += len(packed)
            while packed:  # as a disk may take a part of them
                packed = packed[self._file.write(packed) :]
        except OSError as error:
            msg = (
                f"{self._what} do not fit into the temporary folder {_folder()}"
                f"({error.strerror}); set TMPDIR to a folder with more room{self._hint}"
            )
            raise NoSpaceError(msg) from None
        return begin

    def read(self, begin: int, length: int) -> bytes:
        """Read some of them."""
        if self._file is None:
            return b""
        self._file.seek(begin)
        return self._file.read(length)

    def close(self) -> None:
        """Free the space."""
        if self._file is not None:
            self._file.close()

    def __getstate__(self) -> dict[str, Any]:
        """Return what it holds too, so that a copy has a file of its own."""
        held = self.read(0, self._end)
        return {"_what": self._what, "_hint": self._hint, "held": held}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._what, self._hint = state["_what"], state["_hint"]
        self._file, self._end = None, 0
        if state["held"]:
            self.append(memoryview(state["held"]))


def _folder() -> str:
    """Return the folder of temporary files; nothing if none can be written to."""
    try:
        return f"{tempfile.gettempdir()} "
    except OSError:
        return ""
