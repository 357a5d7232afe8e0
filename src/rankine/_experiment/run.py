"""Running an experiment: every run is read once, for all that is missing of it."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from multiprocessing.connection import wait
from typing import TYPE_CHECKING

from rankine import __version__
from rankine._experiment.inputs import FILES, Hashed, Inputs
from rankine._experiment.store import CELLS, Store, digest, save_unit
from rankine._io.rows import held
from rankine.errors import DataError, ParameterError, RankineError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from rankine._evaluate.evaluate import Job
    from rankine._experiment.read import Planned
    from rankine._io.sources import Reading, Source
    from rankine._join.judgements import Truth
    from rankine._metrics.metric import Metric

Missing = dict[str, list[tuple[int, str]]]
"""By convention, the numbers and hashes of the cells to be computed."""


@dataclass(frozen=True)
class Cell:
    """One metric of one run under one convention.

    Attributes:
        run: the name of the run.
        convention: the name of the convention.
        metric: the metric, by the name asked for.
        hash: a hash of all that its value depends on.
        done: whether it has been computed.
    """

    run: str
    convention: str
    metric: str
    hash: str
    done: bool


def hashes(planned: Planned, inputs: Inputs, run: str, convention: str) -> list[str]:
    """Return the hash of each metric's cell."""
    job = planned.job(convention, planned.metrics)
    said = planned.said.model_dump(
        exclude={"qrels", "runs", "metrics", "convention", "compare", "output", *FILES}
    )
    shared = {
        "version": __version__,
        "run": run,
        "inputs": {role: file.total for role, file in inputs.of_run(run).items()},
        "options": said,
        "convention": job.plan.rule.to_dict(),
        "preset": job.plan.preset,
    }
    return [
        # Also of the name, which is in notes.
        digest(shared | {"metric": name, "bound": repr(bound), "own": _own(bound)})
        for name, bound in zip(job.plan.labels, job.plan.bound, strict=True)
    ]


def _own(metric: Metric) -> str | None:
    """Return what tells the function of a user's own metric from others."""
    origin = metric.fact.origin
    return None if origin is None else origin.mark


def cells_of(planned: Planned, inputs: Inputs, store: Store) -> Iterator[list[Cell]]:
    """Return the cells of every run and convention, one run after another."""
    for run in planned.runs:
        for convention in planned.conventions:
            digests = hashes(planned, inputs, run, convention)
            missing = set(store.missing(digests))
            yield [
                Cell(run, convention, name, cell_hash, number not in missing)
                for number, (name, cell_hash) in enumerate(
                    zip(planned.metrics, digests, strict=True)
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
            every = list(self.planned.metrics)
            names = [every[number] for number in numbers]
            self._jobs[key] = self.planned.job(convention, names)
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
        self, folder: Path, run: str, missing: Missing, files: Mapping[str, Hashed]
    ) -> None:
        """Compute the cells of one run, from files that are as they were hashed."""
        sources: list[tuple[Reading, Source]] = []
        for convention, cells in missing.items():
            try:
                self._compute(folder, run, convention, cells, files, sources)
            except RankineError as error:
                raise _named(error, run, convention, files) from None

    def _compute(
        self,
        folder: Path,
        run: str,
        convention: str,
        cells: list[tuple[int, str]],
        files: Mapping[str, Hashed],
        sources: list[tuple[Reading, Source]],
    ) -> None:
        job = self.job(convention, tuple(number for number, _ in cells))
        truth = self._truth(job)
        _ = job.side_data, job.weights
        source = next((read for how, read in sources if how == job.of_run), None)
        if source is None:
            source = job.source(self.planned.near(self.planned.runs[run]))
            if source.memory is None and len(self.planned.conventions) > 1:
                source = held(source)
            sources.append((job.of_run, source))
        evaluation = job.evaluate(truth, source, run)
        for file in files.values():
            file.check()
        said = self.planned.said
        paths = {role: getattr(said, role) for role in FILES if role in files}
        paths["run"] = self.planned.runs[run]
        # As the file of the experiment has them, wherever it was started.
        shorter = [(files[role].path, path) for role, path in paths.items()]
        save_unit(folder, evaluation, [cell for _, cell in cells], shorter)


def _named(
    error: RankineError, run: str, convention: str, files: Mapping[str, Hashed]
) -> RankineError:
    """Say which run and convention an error is of, unless it names a file."""
    if any(file.path in str(error) for file in files.values()):
        return error
    return type(error)(f"{run}, {convention}: {error}")


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


def _work(
    folder: Path, run: str, missing: Missing, files: Mapping[str, Hashed]
) -> None:
    _worker[0].compute(folder, run, missing, files)


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
    todo: list[tuple[str, Missing, int]] = []
    by_run: dict[str, list[list[Cell]]] = {}
    reader = Reader(planned)
    n_conventions = len(planned.conventions)
    for group in cells_of(planned, inputs, store):
        cells += group
        groups = by_run.setdefault(group[0].run, [])
        groups.append(group)
        if len(groups) < n_conventions:
            continue
        run = group[0].run
        missing = {
            part[0].convention: [
                (number, cell.hash) for number, cell in enumerate(part) if not cell.done
            ]
            for part in groups
        }
        missing = {name: part for name, part in missing.items() if part}
        wanted = sum(map(len, missing.values()))
        done += sum(map(len, groups)) - wanted
        computed += wanted
        if not missing:
            report(run, done, planned.n_cells)
        elif jobs > 1:
            todo.append((run, missing, wanted))
        else:
            reader.compute(folder, run, missing, inputs.of_run(run))
            done += wanted
            report(run, done, planned.n_cells)
    if todo:
        _in_processes(planned, inputs, folder, todo, jobs, report, done)
    return cells, computed


def _in_processes(
    planned: Planned,
    inputs: Inputs,
    folder: Path,
    todo: list[tuple[str, Missing, int]],
    jobs: int,
    report: Callable[[str, int, int], None],
    done: int,
) -> None:
    for metric in planned.metrics.values():
        if metric.fact.origin is not None:
            lacking = f"{metric} is your own metric, which other processes do not have"
            msg = f"{lacking}; use jobs=1"
            raise ParameterError(msg)
    others = set(multiprocessing.active_children())
    # A process that was forked while polars has threads would wait for ever.
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(
        min(jobs, len(todo)), context, initializer=_begin, initargs=(planned,)
    ) as pool:
        futures = {
            pool.submit(_work, folder, run, missing, inputs.of_run(run)): (run, wanted)
            for run, missing, wanted in todo
        }
        try:
            for future in as_completed(futures):
                future.result()
                run, wanted = futures[future]
                done += wanted
                report(run, done, planned.n_cells)
        except BaseException as error:
            pool.shutdown(wait=False, cancel_futures=True)
            for process in set(multiprocessing.active_children()) - others:
                process.terminate()
            if isinstance(error, BrokenProcessPool):
                msg = (
                    "a worker process ended too early, perhaps for lack of memory; in "
                    "a script, call run_experiment below if __name__ == '__main__'"
                )
                raise DataError(msg) from None
            raise
