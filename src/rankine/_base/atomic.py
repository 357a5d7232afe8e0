"""Files that are whole or absent: written under another name, then renamed."""

from __future__ import annotations

import os
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING

from rankine.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Iterator

_LEAD, _TAIL = ".rankine-", ".tmp"


@contextmanager
def written(path: Path) -> Iterator[IO[bytes]]:
    """Open a file to be written; where that fails, the one that was there stays.

    Raises:
        DataError: it cannot be written, such as on a full disk.
    """
    new = path.with_name(f"{_LEAD}{os.getpid()}-{path.name}{_TAIL}")
    try:
        try:
            with new.open("xb") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            new.replace(path)
        finally:
            with suppress(OSError):
                new.unlink(missing_ok=True)
    except OSError as error:
        msg = f"{path}: cannot be written ({error.strerror or error})"
        raise DataError(msg) from None


def clean_up(folder: Path) -> None:
    """Remove what processes that were killed have left half written."""
    for path in folder.glob(f"{_LEAD}*{_TAIL}"):
        path.unlink(missing_ok=True)
