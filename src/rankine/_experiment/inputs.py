"""The files of an experiment: hashes of their content, and whether it changed."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankine._experiment.store import digest
from rankine._io.files import parts_of
from rankine.errors import DataError, FormatError

if TYPE_CHECKING:
    from rankine._experiment.read import Planned

FILES = ("qrels", "train", "items", "reference", "weights")
"""The files besides runs, by their roles."""
_BLOCK = 1 << 20
Stamps = tuple[tuple[str, int, int, int], ...]


@dataclass(frozen=True)
class Hashed:
    """What a file, or those of a folder or a pattern, held when it was read.

    Attributes:
        path: as it is read.
        hashes: the SHA-256 of each file, by its name.
        stamps: name, size, time and number of each, as the system has them.
        is_file: whether it is a single file.
    """

    path: str
    hashes: dict[str, str]
    stamps: Stamps
    is_file: bool

    @property
    def total(self) -> str:
        """One hash for all files; of a single file, its own."""
        each = list(self.hashes.values())
        return each[0] if self.is_file else digest(each)

    def to_dict(self) -> dict[str, Any]:
        """Return hashes by which the files can be known again."""
        return {"sha256": self.total} if self.is_file else {"files": self.hashes}

    def check(self) -> None:
        """Refuse files that are not as they were when they were hashed."""
        if _stamps(_files(self.path)[0]) != self.stamps:
            msg = f"{self.path}: changed while the experiment ran; start it again"
            raise DataError(msg)


def hashed(path: str) -> Hashed:
    """Hash a file, or the files of a folder or a pattern."""
    files, is_file = _files(path)
    stamps = _stamps(files)
    return Hashed(
        path, {_within(file, path): _sha256(file) for file in files}, stamps, is_file
    )


def _within(file: Path, path: str) -> str:
    """Return the name of a file, with the folders between it and the one given."""
    folder = Path(path)
    return str(file.relative_to(folder)) if folder in file.parents else file.name


def _files(path: str) -> tuple[list[Path], bool]:
    parts = parts_of(Path(path))
    return ([Path(path)], True) if parts is None else (parts, False)


def _stamps(files: list[Path]) -> Stamps:
    stamps = []
    for file in files:
        try:
            stat = file.stat()
        except OSError as error:
            raise _unreadable(file, error) from None
        stamps.append((str(file), stat.st_size, stat.st_mtime_ns, stat.st_ino))
    return tuple(stamps)


def _sha256(path: Path) -> str:
    total = sha256()
    try:
        with path.open("rb") as file:
            while block := file.read(_BLOCK):
                total.update(block)
    except OSError as error:
        raise _unreadable(path, error) from None
    return total.hexdigest()


def _unreadable(path: Path, error: OSError) -> FormatError:
    return FormatError(f"{path}: cannot be read ({error.strerror or error})")


class Inputs:
    """The files of an experiment, each hashed once, while others are evaluated."""

    def __init__(self, planned: Planned) -> None:
        said = planned.said
        paths: dict[Any, str] = {
            role: getattr(said, role)
            for role in FILES
            if getattr(said, role) is not None
        }
        paths |= {("run", name): path for name, path in planned.runs.items()}
        self._pool = ThreadPoolExecutor(1)
        self._of = {
            key: self._pool.submit(hashed, planned.near(path))
            for key, path in paths.items()
        }

    def __getitem__(self, key: Any) -> Hashed | None:
        """Return a file by its role, or by ("run", name); None if it is not given."""
        return self._of[key].result() if key in self._of else None

    def of_run(self, name: str) -> dict[str, Hashed]:
        """Return all files that the values of a run depend on, by their roles."""
        files = {role: self[role] for role in FILES} | {"run": self["run", name]}
        return {role: file for role, file in files.items() if file is not None}

    def close(self) -> None:
        """Stop reading."""
        self._pool.shutdown(wait=True, cancel_futures=True)
