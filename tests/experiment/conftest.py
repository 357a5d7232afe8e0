"""A folder with sample data, and experiments in it."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from rankine.data import QRELS, RUNS

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A folder with qrels.txt and runs/, as a user would have it."""
    (tmp_path / "runs").mkdir()
    shutil.copy(QRELS, tmp_path / "qrels.txt")
    for path in RUNS:
        shutil.copy(path, tmp_path / "runs" / path.name)
    return tmp_path


@pytest.fixture
def written(home: Path) -> Callable[[str], Path]:
    """Write an experiment; judgements and runs are given, unless it gives some."""

    def write(text: str, name: str = "experiment.yaml") -> Path:
        head = "" if "qrels:" in text else "qrels: qrels.txt\n"
        head += "" if "runs:" in text else "runs: runs/*.run\n"
        path = home / name
        path.write_text(head + text)
        return path

    return write


def files(folder: Path) -> dict[str, bytes]:
    """Return all files below a folder."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
