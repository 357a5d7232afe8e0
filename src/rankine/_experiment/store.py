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
import re
import socket
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np
import polars as pl

from rankine import __version__
from rankine._base.paths import cannot_write, remove_halves, write_whole
from rankine._join.lists import First
from rankine._results.curves import keep_curve
from rankine._results.loaded import restored
from rankine._results.saved import FORMAT as MAKER
from rankine._results.saved import document_of
from rankine._tables.segments import starts_of
from rankine.errors import DataError, FormatError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rankine._evaluate.result import Evaluation

CELLS = "cells"
LOCK = ".lock"
_SHOWN = 3
IS_UNIT = re.compile(r"[0-9a-f]{32}\.(json|parquet)")
"""The names of the files of a unit."""
_COLUMNS = ("values", "weights", "without")
_PARTS = "parts"
_TOPS = "tops"
_ABOUT = "about"
"""The metrics that each note and warning is about, none if it is about all."""


def digest(value: Any) -> str:
    """Return a hash of a value, which is the same everywhere."""
    text = json.dumps(value, sort_keys=True, ensure_ascii=True, default=str)
    return sha256(text.encode()).hexdigest()


@dataclass(frozen=True)
class Unit:
    """Cells of one run and convention that were computed together.

    Attributes:
        path: the path of the JSON file.
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
            if not IS_UNIT.fullmatch(path.name):
                continue
            unit = _unit(path)
            if unit is None:
                store.damaged.append(path.name)
            else:
                store.units.append(unit)
        return store

    def remove_damaged(self) -> None:
        """Remove files that cannot be used, so that they are not found again."""
        for name in self.damaged:
            (self.folder / CELLS / name).unlink(missing_ok=True)

    def missing(self, cells: Sequence[str]) -> list[int]:
        """Return the numbers of the cells that no unit has."""
        there = {cell for unit in self.units for cell in unit.cells}
        return [number for number, cell in enumerate(cells) if cell not in there]

    def evaluation(self, cells: Sequence[str]) -> Evaluation:
        """Return the evaluation that has these cells, in their order."""
        exact = [unit for unit in self.units if set(unit.cells) == set(cells)]
        used = exact[:1] or [
            unit for unit in self.units if not set(cells).isdisjoint(unit.cells)
        ]
        try:
            return restored(_joined(used, cells), str(self.folder))
        except (LookupError, TypeError, AttributeError, pl.exceptions.PolarsError):
            names = ", ".join(unit.path.name for unit in used)
            msg = f"{self.folder / CELLS}: {names} cannot be read; remove it"
            raise FormatError(msg) from None


def save_unit(
    folder: Path,
    evaluation: Evaluation,
    cells: Sequence[str],
    shorter: Sequence[tuple[str, str]] = (),
) -> Unit:
    """Write what was computed of a run.

    Args:
        folder: where its files go.
        evaluation: what was computed.
        cells: the hash of each metric's cell.
        shorter: paths as they were read, and as notes are to have them.
    """
    keep_curve(evaluation)
    document = document_of(evaluation, arrays=True)
    findings = evaluation.findings
    notes = findings.notes(evaluation.plan, evaluation.summaries)
    document["labels"] = list(evaluation.summaries)
    document[_ABOUT] = {
        key: [note.metrics for note in every]
        for key, every in (("notes", notes), ("warnings", findings.warnings))
    }
    for key in ("notes", "warnings"):
        for long, short in shorter:
            document[key] = [note.replace(long, short) for note in document[key]]
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
    for number, group in enumerate(document["saved"]["groups"]):
        items = group["items"]
        if items is not None and isinstance(items["tops"], First):
            columns |= _columns_of(items["tops"], number)
            items["tops"] = True
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


def _columns_of(tops: First, number: int) -> dict[str, pl.Series]:
    """Return the first items of lists, and their ranks if these have gaps, by list."""
    lengths = np.diff(tops.starts)
    owner = np.repeat(np.arange(len(lengths)), lengths)
    parts = {"items": pl.Series(tops.items)}
    if tops.ranks is not None:
        parts["ranks"] = pl.Series(tops.ranks)
    lists = (
        pl.DataFrame({"list": owner, **parts})
        .group_by("list", maintain_order=True)
        .agg(pl.all())
    )
    place = np.cumsum(lengths > 0) - 1
    rows = pl.Series(np.where(lengths > 0, place, len(lists)))
    rows = rows.set(rows == len(lists), None)
    return {f"{_TOPS} {number} {name}": lists[name].gather(rows) for name in parts}


def _tops_of(frame: pl.DataFrame, number: int, length: int) -> First:
    """Return the first items of lists, as they were saved."""

    def column(name: str) -> pl.Series:
        return frame[f"{_TOPS} {number} {name}"].head(length)

    items = column("items")
    ranks = f"{_TOPS} {number} ranks" in frame.columns
    return First(
        range(length),
        starts_of(items.list.len().fill_null(0).to_numpy().astype(np.int64)),
        items.drop_nulls().explode(),
        column("ranks").drop_nulls().explode().to_numpy() if ranks else None,
    )


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
    place = {cell: number for number, cell in enumerate(cells)}
    metrics: list[Any] = [None] * len(cells)
    groups: list[Any] = []
    used: list[tuple[Unit, dict[int, int]]] = []
    for unit in units:
        new = {
            number: place.pop(cell)
            for cell, number in unit.cells.items()
            if cell in place
        }
        if new:
            used.append((unit, new))
    curves: list[Any] = []
    for unit, new in used:
        curves += unit.document["saved"].get("curves", [])
        frame = pl.read_parquet(io.BytesIO(unit.values.read_bytes()))
        saved = unit.document["saved"]
        for place_of_group, group in enumerate(saved["groups"]):
            members = [number for number in group["metrics"] if number in new]
            if members:
                items = group["items"]
                if items is not None and items[_TOPS] is True:
                    tops = _tops_of(frame, place_of_group, len(group["ids"]))
                    items = items | {_TOPS: tops}
                members_now = [new[number] for number in members]
                groups.append(group | {"metrics": members_now, "items": items})
            for number in members:
                arrays = _arrays(frame, number, len(group["ids"]))
                metrics[new[number]] = saved["metrics"][number] | arrays
    return units[0].document | {
        "notes": _notes("notes", used),
        "warnings": _notes("warnings", used),
        "saved": {"metrics": metrics, "groups": groups, "curves": curves},
    }


def _notes(key: str, used: Sequence[tuple[Unit, dict[int, int]]]) -> list[str]:
    """Return the notes of the metrics that are used of each unit.

    What only some units say is said of their metrics, which were computed apart.
    """
    notes: dict[str, None] = {}
    for unit, new in sorted(used, key=lambda entry: min(entry[1].values())):
        labels = unit.document["labels"]
        wanted = [label for number, label in enumerate(labels) if number in new]
        about = unit.document[_ABOUT][key]
        for note, metrics in zip(unit.document[key], about, strict=True):
            if metrics and set(metrics).isdisjoint(wanted):
                continue
            everyone = all(note in other.document[key] for other, _ in used)
            few = ", ".join(wanted[:_SHOWN]) + (", ..." if len(wanted) > _SHOWN else "")
            notes[note if everyone or metrics else f"{few}: {note}"] = None
    return list(notes)


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
    path = folder / LOCK
    try:
        (folder / CELLS).mkdir(parents=True, exist_ok=True)
        file = _held(path)
    except OSError as error:
        raise cannot_write(folder, error) from None
    with file:
        try:
            for place in (folder, folder / CELLS):
                remove_halves(place)
            yield
        finally:
            if os.name != "nt":  # where an open file cannot be removed
                path.unlink(missing_ok=True)


def _held(path: Path) -> IO[str]:
    """Open a file and lock it; refuse if somebody else has."""
    # A link would let this write to what it leads to.
    flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
    while True:
        file = os.fdopen(os.open(path, flags, 0o666), "r+", encoding="utf-8")
        try:
            _lock(file)
        except OSError:
            with file, suppress(OSError):
                owner = file.read(200).strip() or "another process"
                msg = (
                    f"{path.parent}: another experiment is writing here (process "
                    f"{owner}); wait for it, or give another --output"
                )
                raise DataError(msg) from None
        # Whoever held it before has removed it: then lock the new one.
        with suppress(FileNotFoundError):
            if os.path.samestat(path.stat(), os.fstat(file.fileno())):
                file.truncate(0)
                file.write(f"{os.getpid()} on {socket.gethostname()}\n")
                file.flush()
                return file
        file.close()


def _lock(file: IO[str]) -> None:
    try:
        import fcntl  # noqa: PLC0415 - not on Windows
    except ImportError:
        import msvcrt  # noqa: PLC0415

        lock = getattr(msvcrt, "locking")  # noqa: B009 - typed on Windows only
        lock(file.fileno(), getattr(msvcrt, "LK_NBLCK"), 1)  # noqa: B009
    else:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
