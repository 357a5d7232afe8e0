"""Running an experiment: every run is read once, for all that is missing of it."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from multiprocessing.connection import wait
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankine import __version__
from rankine._experiment.store import CELLS, Store, digest, hash_of, save_unit
from rankine._io.files import parts_of
from rankine._io.mappings import as_rows
from rankine._io.sources import Reading, Source, Stream

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rankine._evaluate.evaluate import Job
    from rankine._experiment.read import Planned
    from rankine._join.judgements import Truth

_FILES = ("qrels", "train", "items", "reference", "weights")


@dataclass(frozen=True)
class Cell:
    """One metric of one run under one convention.

    Attributes:
        run: the name of the run.
        convention: the name of the convention.
        metric: the metric, as text.
        hash: of all that its value depends on.
        done: whether it has been computed.
    """

    run: str
    convention: str
    metric: str
    hash: str
    done: bool


@dataclass
class Inputs:
    """The hashes of the files of an experiment, each read once."""

    planned: Planned

    def __post_init__(self) -> None:
        """Begin to read; the file of a run is hashed while others are evaluated."""
        said = self.planned.said
        self._pool = ThreadPoolExecutor(1)
        roles = {role: getattr(said, role) for role in _FILES}
        paths = {role: path for role, path in roles.items() if path is not None}
        runs = self.planned.runs
        self._of = {
            key: self._pool.submit(self._hash, path)
            for key, path in [
                *paths.items(),
                *((("run", n), p) for n, p in runs.items()),
            ]
        }

    def _hash(self, path: str) -> str:
        place = Path(self.planned.near(path))
        return hash_of(parts_of(place) or [place])

    def __getitem__(self, key: Any) -> str | None:
        """Return the hash of a file, None if it is not given."""
        return self._of[key].result() if key in self._of else None

    def of_run(self, name: str) -> dict[str, Any]:
        """Return the hashes of all files that a run's values depend on."""
        files = {role: self[role] for role in _FILES}
        return files | {"run": self["run", name]}

    def close(self) -> None:
        """Stop reading."""
        self._pool.shutdown(wait=True, cancel_futures=True)


def hashes(planned: Planned, inputs: Inputs, run: str, convention: str) -> list[str]:
    """Return the hash of each metric's cell."""
    job = planned.job(convention, planned.metrics)
    said = planned.said.model_dump(
        exclude={"qrels", "runs", "metrics", "convention", "compare", "output", *_FILES}
    )
    shared = {
        "version": __version__,
        "run": run,
        "inputs": inputs.of_run(run),
        "options": said,
        "convention": job.plan.rule.to_dict(),
        "preset": job.plan.preset,
    }
    return [
        digest(shared | {"metric": str(asked), "bound": repr(bound)})
        for asked, bound in zip(job.plan.asked, job.plan.bound, strict=True)
    ]


def cells_of(planned: Planned, inputs: Inputs, store: Store) -> Iterator[list[Cell]]:
    """Return the cells of every run and convention, one run after another."""
    for run in planned.runs:
        for convention in planned.conventions:
            found = hashes(planned, inputs, run, convention)
            missing = set(store.missing(found))
            yield [
                Cell(run, convention, str(metric), own, number not in missing)
                for number, (metric, own) in enumerate(
                    zip(planned.metrics, found, strict=True)
                )
            ]


@dataclass
class Reader:
    """Reads judgements once for all runs, and a run once for all conventions."""

    planned: Planned

    def __post_init__(self) -> None:
        self._truths: list[tuple[Reading, Truth | None]] = []
        self._jobs: dict[tuple[str, tuple[int, ...]], Job] = {}

    def job(self, convention: str, numbers: tuple[int, ...]) -> Job:
        """Return what is to be computed: some of the metrics."""
        key = convention, numbers
        if key not in self._jobs:
            metrics = tuple(self.planned.metrics[number] for number in numbers)
            self._jobs[key] = self.planned.job(convention, metrics)
        return self._jobs[key]

    def _truth(self, job: Job) -> Truth | None:
        for reading, truth in self._truths:
            if reading == job.of_qrels:
                return truth
        qrels = self.planned.said.qrels
        truth = job.truth(None if qrels is None else self.planned.near(qrels))
        self._truths.append((job.of_qrels, truth))
        return truth

    def compute(
        self, folder: Path, run: str, missing: dict[str, list[tuple[int, str]]]
    ) -> list[str]:
        """Compute the cells of one run: numbers and hashes, by convention."""
        sources: list[tuple[Reading, Source]] = []
        names = []
        for convention, cells in missing.items():
            job = self.job(convention, tuple(number for number, _ in cells))
            truth = self._truth(job)
            _ = job.known, job.weights
            source = next((own for how, own in sources if how == job.of_run), None)
            if source is None:
                source = job.source(self.planned.near(self.planned.runs[run]))
                if isinstance(source, Stream) and len(missing) > 1:
                    source = as_rows(source, "run")
                sources.append((job.of_run, source))
            evaluation = job.evaluate(truth, source, run)
            unit = save_unit(folder, evaluation, [cell for _, cell in cells])
            names.append(unit.path.name)
        return names


_worker: list[Reader] = []


def _begin(planned: Planned) -> None:
    """Make a process ready to compute; it ends when the first one does."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()

    def watch() -> None:
        if parent is not None:
            wait([parent.sentinel])
            os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
    _worker.append(Reader(planned))


def _work(folder: Path, run: str, missing: Any) -> list[str]:
    return _worker[0].compute(folder, run, missing)


def compute(
    planned: Planned,
    inputs: Inputs,
    store: Store,
    jobs: int,
    report: Callable[[str, int, int], None],
) -> tuple[list[Cell], int]:
    """Compute what is missing; return all cells, and how many were computed.

    Args:
        planned: the experiment.
        inputs: the hashes of its files.
        store: what there is.
        jobs: how many processes compute.
        report: is told the name of a run that was done, how many cells are done, and
            how many there are.
    """
    cells: list[Cell] = []
    done = computed = 0
    folder = store.folder / CELLS
    todo: list[tuple[str, dict[str, list[tuple[int, str]]], int]] = []
    by_run: dict[str, list[list[Cell]]] = {}
    reader = Reader(planned)
    n_conventions = len(planned.conventions)
    for group in cells_of(planned, inputs, store):
        cells += group
        own = by_run.setdefault(group[0].run, [])
        own.append(group)
        if len(own) < n_conventions:
            continue
        run = group[0].run
        missing = {
            part[0].convention: [
                (number, cell.hash) for number, cell in enumerate(part) if not cell.done
            ]
            for part in own
        }
        missing = {name: part for name, part in missing.items() if part}
        wanted = sum(map(len, missing.values()))
        done += sum(map(len, own)) - wanted
        computed += wanted
        if not missing:
            report(run, done, planned.n_cells)
        elif jobs > 1:
            todo.append((run, missing, wanted))
        else:
            reader.compute(folder, run, missing)
            done += wanted
            report(run, done, planned.n_cells)
    if todo:
        _in_processes(planned, folder, todo, jobs, report, done)
    return cells, computed


def _in_processes(
    planned: Planned,
    folder: Path,
    todo: list[tuple[str, dict[str, list[tuple[int, str]]], int]],
    jobs: int,
    report: Callable[[str, int, int], None],
    done: int,
) -> None:
    # A process that was forked while polars has threads would wait for ever.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(
        min(jobs, len(todo)), context, initializer=_begin, initargs=(planned,)
    ) as pool:
        futures = {
            pool.submit(_work, folder, run, missing): (run, wanted)
            for run, missing, wanted in todo
        }
        try:
            for future in as_completed(futures):
                future.result()
                run, wanted = futures[future]
                done += wanted
                report(run, done, planned.n_cells)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            for process in multiprocessing.active_children():
                process.terminate()
            raise
