"""From a YAML file to an experiment: all of it checked, and no data read."""

from __future__ import annotations

import glob
import os
import re
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankine._base.checks import check_choice
from rankine._base.paths import told_apart
from rankine._base.strict_yaml import Document, read_yaml
from rankine._base.text import count
from rankine._conventions.presets import chosen
from rankine._conventions.presets import convention as named
from rankine._evaluate.compare.compare import check_baseline, check_metric, margins_of
from rankine._evaluate.compare.whole_runs import check_whole
from rankine._evaluate.evaluate import prepare
from rankine._evaluate.options import Options
from rankine._experiment.grid import metrics_of
from rankine._experiment.problems import Problems
from rankine._experiment.schema import DEFAULT, checked
from rankine._io.columns import ALIASES, check_parts
from rankine._io.formats import names_for
from rankine._io.sources import Reading
from rankine._stats.pairwise import Settings
from rankine.errors import (
    FormatError,
    ParameterError,
    RankineError,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sized

    from rankine._conventions.convention import Convention
    from rankine._evaluate.evaluate import Job
    from rankine._experiment.grid import Placed
    from rankine._experiment.schema import Comparing, Experiment
    from rankine._metrics.metric import Metric

MAX_CELLS = 10_000
_FILES = ("qrels", "train", "items", "reference", "weights")
_ROLES = ("run", *_FILES)
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")
_YAML = (".yaml", ".yml")


@dataclass(frozen=True)
class Planned:
    """An experiment that was read and checked.

    Attributes:
        path: the path of the file.
        text: what stands in it, and in the files of metrics and conventions it names.
        said: the file as a record.
        runs: the paths of the runs, by their names.
        metrics: what is computed of every run, by the names asked for.
        conventions: by their names, as they are chosen.
        settings: how runs are compared.
        margins: the margins of equivalence, by metric.
        output: the folder of the results.
    """

    path: Path
    text: dict[str, str]
    said: Experiment
    runs: dict[str, str]
    metrics: dict[str, Metric]
    conventions: dict[str, str | Convention]
    settings: Settings
    margins: dict[str, float]
    output: Path

    @property
    def compares(self) -> bool:
        """Whether runs are to be compared."""
        return self.said.compare is not None and len(self.runs) > 1

    @property
    def n_cells(self) -> int:
        """How many numbers there will be."""
        return len(self.runs) * len(self.conventions) * len(self.metrics)

    @property
    def size(self) -> str:
        """How many there are of what, in words."""
        return _size(self.runs, self.conventions, self.metrics)

    @property
    def files(self) -> tuple[str, ...]:
        """The files of data that it names, as paths from here, each once."""
        others = (getattr(self.said, role) for role in _FILES)
        named = [path for path in (*others, *self.runs.values()) if path is not None]
        return tuple(dict.fromkeys(map(self.near, named)))

    def near(self, path: str) -> str:
        """Return a path of the file as one from here."""
        return near(self.path.parent, path)

    def options(self, convention: str) -> Options:
        """Return the options of an evaluation under one of the conventions."""
        return _options(self.said, self.path.parent, self.conventions[convention])

    def job(self, convention: str, names: Iterable[str]) -> Job:
        """Return what is to be computed of a run: the metrics of some names."""
        names = tuple(names)
        metrics = tuple(self.metrics[name] for name in names)
        job = prepare(metrics, self.options(convention))
        job.plan = job.plan.under(names)
        return job


def _size(runs: Sized, conventions: Sized, metrics: Sized) -> str:
    named = ((runs, "run"), (conventions, "convention"), (metrics, "metric"))
    return " x ".join(count(len(parts), name) for parts, name in named)


def near(folder: Path, path: str) -> str:
    """Return a path that is relative to a folder as one from here."""
    home = path == "~" or path.startswith("~/")
    return str(folder / (Path(path).expanduser() if home else path))


def read_experiment(
    path: Path, *, output: Path | None = None, max_cells: int = MAX_CELLS
) -> Planned:
    """Read an experiment and check all that can be checked without its data.

    Raises:
        ExperimentError: with all problems, each with its place.
        FormatError: the file cannot be read, or is not YAML.
    """
    place = Path(path)
    document = _document(place, str(place))
    problems = Problems()
    said = checked(document, problems)
    texts = {place.name: document}
    metrics = _metrics(document, place.parent, problems, texts)
    conventions = _conventions(document, place.parent, problems, texts)
    runs = _runs(document, place.parent, problems)
    _files(document, place.parent, problems)
    folder = _output(document, place.parent, problems) if output is None else output
    asked = {placed.name: placed.metric for placed in metrics}
    settings, margins = Settings(), dict[str, float]()
    if said is not None and said.compare is not None:
        settings, margins = _comparing(
            document, said, said.compare, runs, tuple(asked), problems
        )
    if said is not None and metrics:
        _fitting(document, place.parent, said, metrics, conventions, settings, problems)
    cells = len(runs) * len(conventions) * len(asked)
    if cells > max_cells:
        what = (
            f"{_size(runs, conventions, asked)} are {cells:,} cells; at most "
            f"{max_cells:,} are computed (--max-cells)"
        )
        problems.add(document, (), what)
    if said is None or problems.places:
        raise problems.error(str(place))
    read = {name: part.text for name, part in texts.items()}
    return Planned(
        place, read, said, runs, asked, conventions, settings, margins, Path(folder)
    )


def _document(path: Path, name: str) -> Document:
    try:
        with path.open("rb") as file:
            content = file.read((1 << 20) + 1)
    except OSError as error:
        msg = f"{name}: cannot be read ({error.strerror or error})"
        raise FormatError(msg) from None
    except ValueError as error:  # such as a null byte in the path
        msg = f"{name}: cannot be read ({error})"
        raise FormatError(msg) from None
    return read_yaml(content, name)


def _part(document: Document, key: str) -> Any:
    return document.data.get(key) if isinstance(document.data, dict) else None


def _metrics(
    document: Document, folder: Path, problems: Problems, texts: dict[str, Document]
) -> list[Placed]:
    """Return the metrics, of this file or of the one that it names."""
    data = _part(document, "metrics")
    if data is None or problems.touch(document, ("metrics",)):
        return []
    if not isinstance(data, str) or not data.endswith(_YAML):
        return metrics_of(document, ("metrics",), problems)
    other: Document | None = None
    with problems.of(document, ("metrics",)):
        other = _document(Path(near(folder, data)), near(folder, data))
    if other is None:
        return []
    texts[data] = other
    held = other.data.get("metrics") if isinstance(other.data, dict) else None
    inside = isinstance(held, (dict, list))
    for key in other.data if inside else ():
        if key != "metrics":
            what = f"only metrics are read from this file, not {key!r}"
            problems.add(other, (key,), what, key=True)
    return metrics_of(other, ("metrics",) if inside else (), problems)


def _conventions(
    document: Document, folder: Path, problems: Problems, texts: dict[str, Document]
) -> dict[str, str | Convention]:
    data = _part(document, "convention")
    if data is None:
        return {DEFAULT: DEFAULT}
    if problems.touch(document, ("convention",)):
        return {}
    conventions: dict[str, str | Convention] = {}
    for number, name in enumerate(data if isinstance(data, list) else [data]):
        path = ("convention", number) if isinstance(data, list) else ("convention",)
        with problems.of(document, path):
            if name in conventions:
                msg = f"{name} is given twice"
                raise ParameterError(msg)
            if name.endswith(_YAML):
                where = near(folder, name)
                texts[name] = _document(Path(where), where)
                conventions[name] = chosen(where)
            else:
                named(name)
                conventions[name] = name
    if not conventions and not problems.touch(document, ("convention",)):
        problems.add(document, ("convention",), "no convention is given")
    return conventions


def _runs(document: Document, folder: Path, problems: Problems) -> dict[str, str]:
    """Return the paths of the runs by their names; patterns stand for many."""
    data = _part(document, "runs")
    if data is None or problems.touch(document, ("runs",)):
        return {}
    runs: dict[str, str] = {}
    if isinstance(data, dict):
        for name, pattern in data.items():
            runs[name] = pattern
            _there(document, ("runs", name), folder, pattern, problems)
        if not runs:
            problems.add(document, ("runs",), "no runs are given")
        return runs
    paths: list[str] = []
    seen: set[Path] = set()
    for number, pattern in enumerate(data if isinstance(data, list) else [data]):
        path = ("runs", number) if isinstance(data, list) else ("runs",)
        files = _there(document, path, folder, pattern, problems)
        for file in files:
            real = Path(near(folder, file)).resolve()
            if real in seen:
                problems.add(document, path, f"{file} is given twice")
            else:
                seen.add(real)
                paths.append(file)
    if not paths and not problems.touch(document, ("runs",)):
        problems.add(document, ("runs",), "no runs are given")
    names = told_apart([Path(file) for file in paths])
    return dict(zip(names, paths, strict=True))


def _there(
    document: Document, path: Any, folder: Path, pattern: str, problems: Problems
) -> list[str]:
    """Return the files that a path or a pattern stands for, relative to the folder."""
    if _ADDRESS.match(pattern):
        what = f"{pattern!r} is a URL; only files on this machine can be read"
        problems.add(document, path, what)
        return []
    where = Path(near(folder, pattern))
    try:
        names = [pattern]
        if not where.exists():
            # A pattern: the folder of the file is not one, whatever signs it contains.
            local = pattern if where == folder / pattern else str(where)
            names = sorted(glob.glob(local, root_dir=folder, recursive=True))  # noqa: PTH207 - the folder is no pattern
            names = [name for name in names if not name.endswith(os.sep)]
        odd = [name for name in names if not _is_plain(Path(near(folder, name)))]
    except (OSError, ValueError) as error:  # such as a name that is too long
        reason = getattr(error, "strerror", None) or error
        problems.add(document, path, f"{pattern!r} cannot be read ({reason})")
        return []
    if odd:
        what = f"{odd[0]!r} is neither a file nor a folder, and cannot be read twice"
        problems.add(document, path, what)
    if not names:
        what = "no file matches" if glob.has_magic(pattern) else "there is no file"
        problems.add(document, path, f"{what} {pattern!r} (looked for {where})")
    return names


def _is_plain(path: Path) -> bool:
    """Whether a path is a file or a folder, and not a pipe or a device."""
    return path.is_file() or path.is_dir()


def _files(document: Document, folder: Path, problems: Problems) -> None:
    """Look whether the other files are there."""
    compare = _part(document, "compare")
    paths: list[tuple[tuple[str, ...], Any]] = [
        ((role,), _part(document, role)) for role in _FILES
    ]
    if isinstance(compare, dict):
        paths.append((("compare", "by"), compare.get("by")))
    for path, name in paths:
        if isinstance(name, str) and not problems.touch(document, path):
            _there(document, path, folder, name, problems)


def _output(document: Document, folder: Path, problems: Problems) -> Path:
    name = _part(document, "output") or "results"
    if problems.touch(document, ("output",)):
        return folder
    path = Path(name)
    outside = path.is_absolute() or ".." in path.parts or name.startswith("~")
    if not outside and "\0" not in name:
        # Links may lead out of it.
        with suppress(OSError, RuntimeError):
            below = (folder / path).resolve().is_relative_to(folder.resolve())
            outside = not below
    if outside or "\0" in name or path == Path():
        what = (
            f"{name!r} is not a folder below that of the file; for any other folder, "
            "give output= or --output"
        )
        problems.add(document, ("output",), what)
    return folder / path


def _options(said: Experiment, folder: Path, convention: str | Convention) -> Options:
    formats = said.formats or {}
    files: dict[str, Reading] = {
        role: Reading(format=name) for role, name in formats.items()
    }
    given: dict[str, Any] = {
        role: None if getattr(said, role) is None else near(folder, getattr(said, role))
        for role in _FILES[1:]
    }
    return Options(
        convention=convention,
        ties=said.ties,
        rel=said.rel,
        catalog=said.catalog,
        columns=said.columns,
        grades=said.grades,
        depth=said.depth,
        order=said.order,
        lower_is_better=said.lower_is_better,
        lenient=said.lenient,
        keep=said.keep,
        files=files,
        **given,
    )


def _fitting(
    document: Document, folder: Path, said: Experiment, metrics: list[Placed],
    conventions: dict[str, str | Convention], settings: Settings, problems: Problems,
) -> None:  # fmt: skip
    """See that every metric can be computed under every convention."""
    for role, name in (said.formats or {}).items():
        with problems.of(document, ("formats", role)):
            check_choice(f"the format of {role}", name, names_for(role))
    for part, column in (said.columns or {}).items():
        with problems.of(document, ("columns", part)):
            _check_column(part, column)
    for convention in conventions.values():
        try:
            options = _options(said, folder, convention)
            options.check()
        except RankineError as error:
            problems.add(document, (), str(error))
            return
        by = None if said.compare is None else said.compare.by
        compared = []
        for metric, _, home, path in metrics:
            with problems.of(home, path):
                job = prepare(metric, options)
                job.check(judged=said.qrels is not None)
                compared.append(is_comparable(job.plan.bound[0], settings, by))
        if said.compare is not None and compared and not any(compared):
            what = "no metric has a value per query to compare runs by"
            problems.add(document, ("compare",), what, key=True)
            return


def _check_column(part: str, column: Any) -> None:
    """Refuse what columns= would, before data are read."""
    role, _, name = part.rpartition(".")
    if role:
        check_choice(f"the part before the dot in {part!r}", role, _ROLES)
    if name == "features" and not role:
        return
    check_parts({name: column}, (*ALIASES, "weight"))


def is_comparable(bound: Metric, settings: Settings, by: object) -> bool:
    """Whether runs can be compared by a metric: not all have values per query."""
    try:
        if bound.fact.without is None:
            check_metric(str(bound), bound)
        else:
            check_whole(str(bound), bound, settings, segmented=by is not None)
    except ParameterError:
        return False
    return True


def _comparing(
    document: Document, said: Experiment, asked: Comparing, runs: dict[str, str],
    metrics: tuple[str, ...], problems: Problems,
) -> tuple[Settings, dict[str, float]]:  # fmt: skip
    settings = Settings(
        asked.test, asked.correction, asked.family, asked.confidence, asked.draws,
        asked.seed, asked.intervals,
    )  # fmt: skip
    margins: dict[str, float] = {}
    with problems.of(document, ("compare",), key=True):
        settings.check(weighted=said.weights is not None)
    if runs:
        with problems.of(document, ("compare", "baseline")):
            check_baseline(asked.baseline, tuple(runs))
    if metrics:
        with problems.of(document, ("compare", "margin")):
            margins = margins_of(asked.margin, metrics)
    if len(runs) == 1:
        what = "there is only one run, and nothing to compare it with"
        problems.add(document, ("compare",), what, key=True)
    return settings, margins
