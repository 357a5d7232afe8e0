"""run_experiment and load: from a YAML file to a folder of results, and back."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankine._base.checks import check_count
from rankine._base.text import count
from rankine._evaluate.compare.segments import read_segments
from rankine._experiment.inputs import Inputs
from rankine._experiment.read import MAX_CELLS, Planned, read_experiment
from rankine._experiment.results import (
    FORMAT,
    IS_TABLE,
    RESULTS,
    VALUES,
    ExperimentResult,
    evaluations_of,
    file_of,
    load_experiment,
    write_results,
)
from rankine._experiment.run import cells_of, compute
from rankine._experiment.store import CELLS, IS_UNIT, LOCK, Store, locked
from rankine._results.loaded import load as load_file
from rankine.errors import DataError, ParameterError

if TYPE_CHECKING:
    from collections.abc import Callable

    from rankine._experiment.run import Cell


def run_experiment(
    path: str | os.PathLike[str],
    *,
    output: str | os.PathLike[str] | None = None,
    resume: bool = True,
    jobs: int = 1,
    max_cells: int = MAX_CELLS,
) -> ExperimentResult:
    """Run an experiment that a YAML file describes.

    The whole file is checked before any data are read. Values are kept in the output
    folder, each under a hash of everything that it depends on. Only missing values are
    computed, as after an interruption, or for a new run or metric.

    Args:
        path: the path of the YAML file.
        output: the folder of the results, instead of the one that the file names.
        resume: whether to keep the values in the folder; if not, all are computed
            again.
        jobs: how many processes to use.
        max_cells: the largest number of runs x conventions x metrics.

    Returns:
        The results, which are also written into the folder: ``values.parquet`` with
        every value per query, ``results.json``, and tables in Markdown and LaTeX.

    Raises:
        ExperimentError: the file is not valid; it names all problems.
        DataError: data cannot be used, or the folder cannot be written.

    >>> import shutil, tempfile
    >>> from pathlib import Path
    >>> import rankine as rk
    >>> from rankine.data import QRELS
    >>> folder = Path(tempfile.mkdtemp())
    >>> lines = [f"qrels: {QRELS}", f"runs: {QRELS.parent}/*.run", "metrics: P@5,10"]
    >>> text = chr(10).join(lines)
    >>> _ = (folder / "experiment.yaml").write_text(text)
    >>> result = rk.run_experiment(folder / "experiment.yaml")
    >>> result.metrics, len(result.runs), result.n_computed
    (('P@5', 'P@10'), 3, 6)
    >>> rk.run_experiment(folder / "experiment.yaml").n_computed
    0
    >>> shutil.rmtree(folder)
    """
    _check_types({"path": path, "output": output, "resume": resume})
    check_count("max_cells", max_cells, least=1)
    folder = None if output is None else Path(output)
    planned = read_experiment(Path(path), output=folder, max_cells=max_cells)
    return run_planned(planned, resume=resume, jobs=jobs)


def _check_types(given: dict[str, Any]) -> None:
    for name, value in given.items():
        flag = name == "resume"
        if not isinstance(value, bool if flag else (str, os.PathLike, type(None))):
            kind = "True or False" if flag else "a path"
            msg = f"{name} must be {kind}, got {value!r}"
            raise ParameterError(msg)


def run_planned(
    planned: Planned,
    *,
    resume: bool = True,
    jobs: int = 1,
    report: Callable[[str, int, int], None] = lambda *_: None,
) -> ExperimentResult:
    """Run an experiment that has been read and checked; see `run_experiment`."""
    check_count("jobs", jobs, least=1)
    folder = planned.output
    _check_folder(folder, planned.path.name)
    with locked(folder):
        store = Store.open(folder) if resume else Store(folder, [], [])
        store.remove_damaged()
        inputs = Inputs(planned)
        try:
            cells, n_computed = compute(planned, inputs, store, jobs, report)
            result = _result(planned, cells, n_computed, store.damaged)
            write_results(planned, inputs, cells, result)
        finally:
            inputs.close()
    return result


def planned_cells(planned: Planned) -> list[Cell]:
    """Return all cells of an experiment, and whether each has been computed."""
    store = Store.open(planned.output)
    inputs = Inputs(planned)
    try:
        return [cell for group in cells_of(planned, inputs, store) for cell in group]
    finally:
        inputs.close()


def _result(
    planned: Planned, cells: list[Cell], n_computed: int, damaged: list[str]
) -> ExperimentResult:
    wanted: dict[str, dict[str, list[str]]] = {name: {} for name in planned.conventions}
    for cell in cells:
        wanted[cell.convention].setdefault(cell.run, []).append(cell.hash)
    segments = None
    how = planned.said.compare
    if how is not None and how.by is not None:
        pairs = read_segments(planned.near(how.by))
        segments = {str(query): str(name) for query, name in pairs.items()}
    notes: tuple[str, ...] = ()
    if damaged:
        were = "was" if len(damaged) == 1 else "were"
        files = count(len(damaged), "file")
        notes = (f"{files} of values {were} damaged and removed ({damaged[0]})",)
    result = ExperimentResult(
        planned.output,
        evaluations_of(Store.open(planned.output), wanted),
        planned.settings,
        None if how is None else how.baseline,
        planned.margins,
        segments,
        planned.compares,
        n_computed,
        notes,
    )
    if result.uncompared:
        names = ", ".join(result.uncompared)
        more = f"{names}: not compared; only means over queries are"
        result.notes = (*notes, more)
    return result


def _check_folder(folder: Path, name: str) -> None:
    """Refuse a folder that holds something else, or the results of another file."""
    try:
        if folder.exists() and not folder.is_dir():
            msg = f"{folder}: is a file, not a folder for results"
            raise DataError(msg)
        inside = {path.name for path in folder.iterdir()} if folder.exists() else set()
        strange = {file for file in inside if not _is_ours(file)}
        cells = folder / CELLS
        if cells.is_symlink():
            strange.add(CELLS)
        elif cells.exists():
            units = {path.name for path in cells.iterdir()}
            strange |= {file for file in units if not IS_UNIT.fullmatch(file)}
    except OSError as error:
        msg = f"{folder}: cannot be read ({error.strerror or error})"
        raise DataError(msg) from None
    strange = {file for file in strange if not file.endswith(".tmp")}
    if inside and CELLS not in inside:
        strange |= inside
    if strange:
        msg = (
            f"{folder}: holds files that are not from an experiment ({min(strange)}); "
            "give another folder"
        )
        raise DataError(msg)
    if RESULTS in inside and (other := file_of(folder)) != name:
        msg = (
            f"{folder}: holds the results of {other}, not of {name}; give another "
            "folder, or remove it"
        )
        raise DataError(msg)


_REPORT = Path(RESULTS).with_suffix(".html").name
"""What `rankine report` makes of the results, if it is given no other name."""
_BEGINNING = 1000
"""Letters in which the results of an experiment say what they are."""


def _is_ours(name: str) -> bool:
    """Whether an experiment writes files of this name."""
    known = {CELLS, RESULTS, _REPORT, VALUES, LOCK}
    return name in known or IS_TABLE.fullmatch(name) is not None


def load(source: str | os.PathLike[str], *, convention: str | None = None) -> Any:
    """Load results that were saved: of one call, or of an experiment.

    Args:
        source: the path of a file that holds what ``to_json`` returned or ``save``
            wrote; or that text itself; or the folder of an experiment, or the
            ``results.json`` in it.
        convention: which convention, for an experiment with several.

    Returns:
        The evaluation, the comparison, the summary of events or the A/B test, with the
        same numbers, notes and texts. For an experiment, the comparison of its runs, or
        the evaluation if there is only one run.

    Raises:
        FormatError: the file cannot be read, is damaged, or is something else.

    >>> import rankine as rk
    >>> ev = rk.evaluate({"q": {"a": 1}}, {"q": ["b", "a"]}, ["RR", "P@1"])
    >>> rk.load(ev.to_json()).mean
    {'RR': 0.5, 'P@1': 0.0}
    """
    folder = _folder_of(source)
    if folder is not None:
        result = load_experiment(folder)
        if len(result.runs) > 1:
            return result.comparison(convention)
        return result.evaluation(result.runs[0], convention)
    if convention is not None:
        msg = (
            "convention= or --convention selects one of an experiment, but this is a "
            "single file"
        )
        raise ParameterError(msg)
    return load_file(source)


def _folder_of(source: Any) -> Path | None:
    """Return the folder of an experiment, None if this is something else."""
    try:
        path = Path(source)
        if path.is_dir():
            return path
        if path.name == RESULTS and _is_of_experiment(path):
            return path.parent
    except (TypeError, OSError, ValueError):  # such as the text of a saved file
        pass
    return None


def _is_of_experiment(path: Path) -> bool:
    """Say whether a file begins as the results of an experiment do."""
    with path.open(encoding="utf-8", errors="replace") as file:
        return f'"format": "{FORMAT}"' in file.read(_BEGINNING)
