"""The folder of an experiment: what was computed, in files that are whole or absent.

A cell is one metric of one run under one convention. It is known by a hash of all it
depends on: the contents of the files, the definition of the metric, the convention, the
options and the version of rankine. The cells of a run that were computed together are a
unit: a Parquet file of values and a JSON file of all else, which is written last.
"""

from __future__ import annotations

import io
import json
import os
import socket
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np
import polars as pl

from rankine import __version__
from rankine._base.paths import remove_halves, write_whole
from rankine._report.loaded import restored
from rankine._report.saved import FORMAT as MAKER
from rankine._report.saved import document_of
from rankine.errors import DataError, FormatError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rankine._evaluate.result import Evaluation

CELLS = "cells"
_LOCK = ".lock"
_COLUMNS = ("values", "weights", "without")
_PARTS = "parts"


def digest(value: Any) -> str:
    """Return a hash of a value, which is the same everywhere."""
    text = json.dumps(value, sort_keys=True, ensure_ascii=True, default=str)
    return sha256(text.encode()).hexdigest()


@dataclass(frozen=True)
class Unit:
    """Cells of one run and convention that were computed together.

    Attributes:
        path: of the JSON file.
        cells: the number of each metric, by the hash of its cell.
        document: what `restored` reads, without the values.
        values: the Parquet file of values.
    """

    path: Path
    cells: dict[str, int]
    document: dict[str, Any]

    @property
    def values(self) -> Path:
        """The file of values."""
        return self.path.with_suffix(".parquet")


@dataclass
class Store:
    """The units in a folder, by the hashes of their cells."""

    folder: Path
    units: list[Unit]
    damaged: list[str]

    @staticmethod
    def open(folder: Path) -> Store:
        """Read what a folder holds; a damaged file is passed over, and named."""
        store = Store(folder, [], [])
        for path in sorted((folder / CELLS).glob("*.json")):
            unit = _unit(path)
            if unit is None:
                store.damaged.append(path.name)
            else:
                store.units.append(unit)
        return store

    def missing(self, cells: Sequence[str]) -> list[int]:
        """Return the numbers of the cells that no unit has."""
        there = {cell for unit in self.units for cell in unit.cells}
        return [number for number, cell in enumerate(cells) if cell not in there]

    def save(self, evaluation: Evaluation, cells: Sequence[str]) -> Unit:
        """Write a unit, the file of values first."""
        folder = self.folder / CELLS
        unit = save_unit(folder, evaluation, cells)
        self.units.append(unit)
        return unit

    def evaluation(self, cells: Sequence[str]) -> Evaluation:
        """Return the evaluation that has these cells, in their order."""
        exact = [unit for unit in self.units if set(unit.cells) == set(cells)]
        used = exact[:1] or [
            unit for unit in self.units if not set(cells).isdisjoint(unit.cells)
        ]
        return restored(_joined(used, cells), str(self.folder))


def save_unit(folder: Path, evaluation: Evaluation, cells: Sequence[str]) -> Unit:
    """Write what was computed of a run."""
    document = document_of(evaluation, arrays=True)
    columns: dict[str, pl.Series] = {}
    for number, metric in enumerate(document["saved"]["metrics"]):
        for key in _COLUMNS:
            if metric[key] is not None:
                columns[f"{number} {key}"] = pl.Series(metric[key], dtype=pl.Float64)
                metric[key] = True
        if metric[_PARTS] is not None:
            for side, part in enumerate(metric[_PARTS]):
                columns[f"{number} {_PARTS} {side}"] = pl.Series(part)
            metric[_PARTS] = True
    height = max(len(column) for column in columns.values())
    frame = pl.DataFrame(
        [
            column.extend_constant(None, height - len(column)).rename(name)
            for name, column in columns.items()
        ]
    )
    path = folder / f"{digest(sorted(cells))[:32]}.json"
    unit = Unit(path, {cell: number for number, cell in enumerate(cells)}, document)
    content = parquet_of(frame)
    write_whole(unit.values, content, follow=False)
    checksum = sha256(content).hexdigest()
    text = json.dumps(
        {MAKER: __version__, "cells": unit.cells, "values": checksum, **document},
        ensure_ascii=True,
        allow_nan=False,
    )
    record = {"checksum": sha256(text.encode()).hexdigest()}
    write_whole(path, f"{json.dumps(record)}\n{text}\n", follow=False)
    return unit


def parquet_of(frame: pl.DataFrame) -> bytes:
    """Return a frame as Parquet, to be written as any other file."""
    file = io.BytesIO()
    frame.write_parquet(file)
    return file.getvalue()


def _unit(path: Path) -> Unit | None:
    """Read a unit; None if it is not whole, or was changed."""
    try:
        head, _, text = path.read_bytes().partition(b"\n")
        body = text.removesuffix(b"\n")
        if json.loads(head)["checksum"] != sha256(body).hexdigest():
            return None
        document = json.loads(body)
        unit = Unit(path, document.pop("cells"), document)
        if document.pop("values") != sha256(unit.values.read_bytes()).hexdigest():
            return None
    except (OSError, ValueError, LookupError, TypeError):
        return None
    return unit


def _joined(units: Sequence[Unit], cells: Sequence[str]) -> dict[str, Any]:
    """Return one document with the metrics of several units, in the order of cells."""
    first = units[0].document
    metrics: list[Any] = [None] * len(cells)
    groups: list[Any] = []
    place = {cell: number for number, cell in enumerate(cells)}
    notes: dict[str, dict[str, None]] = {"notes": {}, "warnings": {}}
    for unit in units:
        frame = pl.read_parquet(unit.values)
        new = {
            number: place.pop(cell)
            for cell, number in unit.cells.items()
            if cell in place
        }
        for key in notes:
            notes[key] |= dict.fromkeys(unit.document[key])
        for group in unit.document["saved"]["groups"]:
            members = [new[number] for number in group["metrics"] if number in new]
            if members:
                groups.append(group | {"metrics": members})
            length = len(group["ids"])
            for number in group["metrics"]:
                if number in new:
                    metric = unit.document["saved"]["metrics"][number]
                    metrics[new[number]] = metric | _arrays(frame, number, length)
    return first | {
        "notes": list(notes["notes"]),
        "warnings": list(notes["warnings"]),
        "saved": {"metrics": metrics, "groups": groups},
    }


def _arrays(frame: pl.DataFrame, number: int, length: int) -> dict[str, Any]:
    """Return the columns of one metric."""

    def column(name: str) -> Any:
        return np.array(frame[name].head(length).to_numpy(), dtype=np.float64)

    arrays: dict[str, Any] = {
        key: column(f"{number} {key}")
        for key in _COLUMNS
        if f"{number} {key}" in frame.columns
    }
    if f"{number} {_PARTS} 0" in frame.columns:
        arrays[_PARTS] = [column(f"{number} {_PARTS} {side}") for side in (0, 1)]
    return arrays


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Keep a folder to oneself; the lock ends with the process, however that ends."""
    try:
        (folder / CELLS).mkdir(parents=True, exist_ok=True)
        path = folder / _LOCK
        with _held(path) as file:
            file.truncate(0)
            file.write(f"{os.getpid()} on {socket.gethostname()}\n")
            file.flush()
            try:
                for place in (folder, folder / CELLS):
                    remove_halves(place)
                yield
            finally:
                path.unlink(missing_ok=True)
    except OSError as error:
        msg = f"{folder}: cannot be written ({error.strerror or error})"
        raise DataError(msg) from None


@contextmanager
def _held(path: Path) -> Iterator[IO[str]]:
    """Open a file and lock it; refuse if somebody else has."""
    while True:
        with path.open("a+", encoding="utf-8") as file:
            try:
                _lock(file)
            except OSError:
                file.seek(0)
                owner = file.read(200).strip() or "another process"
                msg = (
                    f"{path.parent}: another experiment is writing here (process "
                    f"{owner}); wait for it, or give another --output"
                )
                raise DataError(msg) from None
            # Whoever held it before has removed it: then lock the new one.
            with suppress(FileNotFoundError):
                if os.path.samestat(path.stat(), os.fstat(file.fileno())):
                    yield file
                    return


def _lock(file: IO[str]) -> None:
    try:
        import fcntl  # noqa: PLC0415 - not on Windows
    except ImportError:
        import msvcrt  # noqa: PLC0415

        lock = getattr(msvcrt, "locking")  # noqa: B009 - typed on Windows only
        lock(file.fileno(), getattr(msvcrt, "LK_NBLCK"), 1)  # noqa: B009
    else:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def hash_of(paths: Sequence[Path]) -> str:
    """Return the hash of the contents of files, in the order of their names."""
    total = sha256()
    for path in paths:
        try:
            with path.open("rb") as file:
                own = sha256()
                while block := file.read(1 << 20):
                    own.update(block)
        except OSError as error:
            msg = f"{path}: cannot be read ({error.strerror or error})"
            raise FormatError(msg) from None
        total.update(own.digest())
    return total.hexdigest()
