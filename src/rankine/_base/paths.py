"""Names of files that tell them apart, and files that are written in one step."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from threading import get_ident
from typing import TYPE_CHECKING

from rankine.errors import DataError, NoSpaceError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from collections.abc import Set as AbstractSet

_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def told_apart(
    paths: Sequence[Path], given: AbstractSet[str] = frozenset()
) -> list[str]:
    """Return the last part of each path, and more of it where names would be the same.

    Names that are already in use are avoided.

    >>> told_apart([Path("a/run.txt"), Path("b/run.txt"), Path("b/other.txt")])
    ['a/run.txt', 'b/run.txt', 'other.txt']
    """
    lengths = [1] * len(paths)
    names = [_tail(path, 1) for path in paths]
    while True:
        twice = given | {name for name in names if names.count(name) > 1}
        grow = [
            number
            for number, name in enumerate(names)
            if name in twice and lengths[number] < len(paths[number].parts)
        ]
        if not grow:
            return names
        for number in grow:
            lengths[number] += 1
            names[number] = _tail(paths[number], lengths[number])


def write_whole(
    path: str | os.PathLike[str], content: str | bytes, *, follow: bool = True
) -> None:
    """Write a file in one step; if that fails, the file that was there stays.

    The content goes to a new file in the same folder, which then takes the place of the
    old one. A link stays a link, and a device or a pipe is written to directly; if
    links are not to be followed, they are replaced.
    """
    writer = f"{os.getpid()}.{get_ident()}"  # for this writer alone
    try:
        target = Path(path).resolve() if follow else Path(path)
        place = target.with_name(f".{target.name[:99]}.{writer}.tmp")
        if follow and target.exists() and not (target.is_file() or target.is_dir()):
            place = target
        try:
            with place.open("wb") as file:
                file.write(content.encode() if isinstance(content, str) else content)
                file.flush()
                if place is not target:
                    os.fsync(file.fileno())
            if place is not target:
                place.replace(target)
        finally:
            if place is not target:
                place.unlink(missing_ok=True)
    except OSError as error:
        raise cannot_write(path, error) from None


def cannot_write(path: str | os.PathLike[str], error: OSError) -> DataError:
    """Say why a file was not written."""
    msg = f"{path}: cannot be written ({error.strerror or error})"
    return NoSpaceError(msg) if is_full(error) else DataError(msg)


def is_full(error: OSError) -> bool:
    """Say whether a disk has no room, or gives this user no more of it."""
    return error.errno in _NO_ROOM


def remove_halves(folder: Path) -> None:
    """Remove half-written files that killed processes left in a folder."""
    for path in folder.glob(".*.tmp"):
        path.unlink(missing_ok=True)


def _tail(path: Path, length: int) -> str:
    """Return the last parts of a path; of `.`, which has none, itself.

    Bytes that are not text are shown by their codes.
    """
    tail = str(Path(*path.parts[-length:])) if path.parts else str(path)
    return tail.encode(errors="backslashreplace").decode()
