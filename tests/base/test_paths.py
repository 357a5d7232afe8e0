"""Files are written in one step, or not at all."""

from __future__ import annotations

import errno
import os
import threading
from pathlib import Path
from typing import Any, NoReturn

import pytest

import rankine as rk
from rankine._base.paths import write_whole
from rankine.errors import DataError

QRELS = {"q1": {"a": 1}, "q2": {"b": 1}}
RUN = {"q1": ["a"], "q2": ["x", "b"]}


def saved(path: Path) -> None:
    rk.evaluate(QRELS, RUN, "RR").save(path)


def updated(path: Path) -> None:
    rk.gate(QRELS, RUN, path, metrics="RR", update=True)


WRITERS = [lambda path: write_whole(path, "new"), saved, updated]
writers = pytest.mark.parametrize("write", WRITERS, ids=["text", "save", "gate"])


def failing(error: BaseException) -> Any:
    def fail(*_: object) -> NoReturn:
        raise error

    return fail


@writers
def test_a_file_is_replaced(write: Any, tmp_path: Path) -> None:
    path = tmp_path / "file"
    write(path)
    first = path.read_text()
    write(path)

    assert path.read_text() == first
    assert list(tmp_path.iterdir()) == [path]


def old_file(folder: Path) -> Path:
    """Write a file that can be replaced by each of the writers."""
    path = folder / "file"
    rk.gate(QRELS, {"q1": ["x", "a"], "q2": ["b"]}, path, metrics="RR", update=True)
    return path


@writers
@pytest.mark.parametrize(
    ("function", "error", "words"),
    [
        ("fsync", OSError(errno.ENOSPC, "No space left on device"), "No space left on"),
        ("replace", OSError(errno.EIO, "Input/output error"), "Input/output error"),
    ],
    ids=["full disk", "broken disk"],
)
def test_where_writing_fails_the_old_file_stays(
    write: Any,
    function: str,
    error: OSError,
    words: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    path = old_file(tmp_path)
    before = path.read_bytes()
    owner: Any = os if function == "fsync" else Path
    monkeypatch.setattr(owner, function, failing(error))

    with pytest.raises(
        DataError, match=rf"file: cannot be written \({words}"
    ) as caught:
        write(path)
    assert caught.value.exit_code == (5 if error.errno == errno.ENOSPC else 3)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


@writers
def test_an_interrupt_leaves_the_old_file(
    write: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = old_file(tmp_path)
    before = path.read_bytes()
    monkeypatch.setattr(os, "fsync", failing(KeyboardInterrupt()))

    with pytest.raises(KeyboardInterrupt):
        write(path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


@writers
def test_a_folder_that_cannot_be_written_to_is_told(
    write: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # As on a read-only disk; whoever runs the tests may be allowed to write anywhere.
    opened = Path.open

    def refuse(self: Path, mode: str = "r", *more: Any, **options: Any) -> Any:
        if "w" in mode:
            raise OSError(errno.EROFS, "Read-only file system")
        return opened(self, mode, *more, **options)

    monkeypatch.setattr(Path, "open", refuse)

    with pytest.raises(DataError, match=r"cannot be written \(Read-only file system"):
        write(tmp_path / "file")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("write", WRITERS[:2], ids=["text", "save"])
def test_a_folder_in_place_of_a_file_is_told(write: Any, tmp_path: Path) -> None:
    (tmp_path / "file").mkdir()

    with pytest.raises(DataError, match=r"file: cannot be written \(Is a directory\)"):
        write(tmp_path / "file")
    assert list(tmp_path.iterdir()) == [tmp_path / "file"]


def test_a_pipe_is_written_to(tmp_path: Path) -> None:
    path, got = tmp_path / "pipe", []
    os.mkfifo(path)
    reader = threading.Thread(target=lambda: got.append(path.read_text()))
    reader.start()
    write_whole(path, "text")
    reader.join(10)

    assert got == ["text"]
    assert path.is_fifo()


def test_a_long_name_has_room(tmp_path: Path) -> None:
    path = tmp_path / ("n" * 250)
    write_whole(path, "text")

    assert path.read_text() == "text"
