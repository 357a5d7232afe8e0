"""The results of an experiment: its files, and the object that holds them."""

from __future__ import annotations

import json
import platform
import re
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from rankine import __version__
from rankine._base.paths import write_whole
from rankine._base.records import cached_property
from rankine._evaluate.compare.compare import compare_evaluations
from rankine._evaluate.intervals import draw_intervals
from rankine._evaluate.summary import finite
from rankine._evaluate.worst import table_of as joined_of
from rankine._experiment.inputs import FILES
from rankine._experiment.read import is_comparable
from rankine._experiment.store import Store, digest, parquet_of
from rankine._metrics.names import canonical_name
from rankine._report.comparison import latex_cells, markdown_cells
from rankine._report.export import cells as numbers_of
from rankine._report.export import (
    latex_table,
    latex_text,
    markdown_table,
    markdown_text,
    whose,
)
from rankine._report.pairs import letters_mark
from rankine._report.records import frame_html
from rankine._report.tables import html_list, shown
from rankine._report.text import text_of
from rankine._results.saved import FORMAT as MAKER
from rankine._stats.pairwise import Settings
from rankine.errors import FormatError, ParameterError, RankineError, nearest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankine._evaluate.compare.comparison import Comparison
    from rankine._evaluate.result import Evaluation
    from rankine._experiment.inputs import Inputs
    from rankine._experiment.read import Planned
    from rankine._experiment.run import Cell

FORMAT = "rankine experiment"
VERSION = 1
RESULTS = "results.json"
VALUES = "values.parquet"
IS_TABLE = re.compile(r"table(-[A-Za-z0-9._-]+)?\.(md|tex)")
"""The names of tables."""


@dataclass
class ExperimentResult:
    """The results of an experiment.

    Attributes:
        folder: where its files are.
        evaluations: the evaluation of each run, by convention and name of the run.
        settings: how runs are compared.
        baseline: the run that all others are compared with, if there is one.
        margins: the margins of equivalence, by metric.
        segments: the segment of each query, if they have some.
        compares: whether the experiment asked for a comparison.
        n_computed: how many cells were computed this time.
        notes: sentences on files that were removed and metrics that were not compared.
    """

    folder: Path
    evaluations: dict[str, dict[str, Evaluation]]
    settings: Settings
    baseline: str | None = None
    margins: dict[str, float] = field(default_factory=dict)
    segments: dict[str, str] | None = None
    compares: bool = False
    n_computed: int = 0
    notes: tuple[str, ...] = ()

    @property
    def conventions(self) -> tuple[str, ...]:
        """The names of the conventions."""
        return tuple(self.evaluations)

    @property
    def runs(self) -> tuple[str, ...]:
        """The names of the runs."""
        return tuple(next(iter(self.evaluations.values())))

    @property
    def metrics(self) -> tuple[str, ...]:
        """The names of the metrics, as they were asked for."""
        return tuple(self._first.summaries)

    @property
    def uncompared(self) -> tuple[str, ...]:
        """The metrics by which runs are not compared, as they have no value per query.

        Only if the experiment asks for a comparison.
        """
        if not self.compares:
            return ()
        compared = next(iter(self.comparisons.values())).metrics
        return tuple(name for name in self.metrics if name not in compared)

    @property
    def _first(self) -> Evaluation:
        return next(iter(next(iter(self.evaluations.values())).values()))

    @cached_property
    def table(self) -> pl.DataFrame:
        """A row per convention, run and metric: mean, low, high and n."""
        draw_intervals(
            [
                evaluation
                for evaluations in self.evaluations.values()
                for evaluation in evaluations.values()
            ]
        )
        rows = [
            (convention, run, cell.metric, cell.value, cell.low, cell.high, cell.n)
            for convention, evaluations in self.evaluations.items()
            for run, evaluation in evaluations.items()
            for cell in numbers_of(evaluation)
        ]
        names = ("convention", "run", "metric", "mean", "low", "high", "n")
        return pl.DataFrame(rows, schema=names, orient="row")

    @property
    def values(self) -> pl.DataFrame:
        """The value of every query: system, convention, query, metric and value."""
        return values_of(self.evaluations)

    @cached_property
    def comparisons(self) -> dict[str, Comparison]:
        """The comparison of the runs under each convention, if there are several.

        Metrics that have no value per query are not in it.
        """
        if len(self.runs) < 2:  # noqa: PLR2004 - nothing to compare
            return {}
        return {
            convention: self._compared(evaluations)
            for convention, evaluations in self.evaluations.items()
        }

    def comparison(self, convention: str | None = None) -> Comparison:
        """Return the comparison under a convention; name one if there are several."""
        if not self.comparisons:
            msg = f"{self.folder}: has only one run, and nothing to compare it with"
            raise ParameterError(msg)
        return self.comparisons[self._named(convention)]

    def evaluation(self, run: str, convention: str | None = None) -> Evaluation:
        """Return the evaluation of a run under a convention."""
        evaluations = self.evaluations[self._named(convention)]
        if run not in evaluations:
            msg = (
                f"no run is called {run!r}; the runs are {', '.join(self.runs)}"
                f"{nearest(run, self.runs)}"
            )
            raise ParameterError(msg)
        return evaluations[run]

    def _named(self, convention: str | None) -> str:
        if convention is None and len(self.conventions) == 1:
            return self.conventions[0]
        if convention not in self.evaluations:
            known = ", ".join(self.conventions)
            what = "several conventions; say which one with convention= or --convention"
            if convention is not None:
                what = f"no results under {convention!r}"
            msg = f"{self.folder}: has {what} ({known})"
            raise ParameterError(msg)
        return convention

    def _compared(self, evaluations: dict[str, Evaluation]) -> Comparison:
        first = next(iter(evaluations.values()))
        asked = [
            name
            for name, bound in zip(first.summaries, first.bound, strict=True)
            if is_comparable(bound, self.settings, self.segments)
        ]
        if not asked:
            msg = f"{self.folder}: no metric has a value per query to compare"
            raise ParameterError(msg)
        margins = {name: self.margins[name] for name in asked if name in self.margins}
        return compare_evaluations(
            evaluations, self.settings, self.baseline, margins, self.segments, asked
        )

    def __str__(self) -> str:
        """Return the means of all runs, a table per convention."""
        parts = []
        for convention, evaluations in self.evaluations.items():
            head = f"{convention}\n" if len(self.conventions) > 1 else ""
            parts.append(head + text_of(list(evaluations.values())))
        return "\n\n".join(parts)

    def _repr_html_(self) -> str:
        return frame_html(self.table) + html_list(self.notes)

    def __repr__(self) -> str:
        """Return what was computed, in one line."""
        return (
            f"{type(self).__name__}({len(self.runs)} runs, {len(self.metrics)} "
            f"metrics, {', '.join(self.conventions)})"
        )


def values_of(evaluations: dict[str, dict[str, Evaluation]]) -> pl.DataFrame:
    """Return every value: system, convention, query, metric and value."""
    frames = []
    for convention, by_run in evaluations.items():
        for run, evaluation in by_run.items():
            for label, summary in evaluation.summaries.items():
                ids = pl.Series("query", joined_of(evaluation, label)[1].ids)
                frames.append(
                    pl.DataFrame({"query": ids, "value": summary.values}).select(
                        pl.lit(run).alias("system"),
                        pl.lit(convention).alias("convention"),
                        "query",
                        pl.lit(label).alias("metric"),
                        pl.col("value").fill_nan(None),
                    )
                )
    if len({frame["query"].dtype for frame in frames}) > 1:
        frames = [frame.cast({"query": pl.String}) for frame in frames]
    return pl.concat(frames)


def write_results(
    planned: Planned, inputs: Inputs, cells: Sequence[Cell], result: ExperimentResult
) -> None:
    """Write the files of the results; the one that marks them as complete comes last.

    All of them are made before the first is written, so that the folder stays as it was
    if something cannot be made.
    """
    contents: dict[str, bytes] = {VALUES: parquet_of(result.values)}
    for convention in result.conventions:
        several = len(result.conventions) > 1
        name = f"table-{slug(convention)}" if several else "table"
        markdown, latex = _tables(result, convention)
        contents[f"{name}.md"] = f"{markdown}\n".encode()
        contents[f"{name}.tex"] = f"{latex}\n".encode()
    record = _record(planned, inputs, cells, result)
    text = json.dumps(record, indent=2, ensure_ascii=True, allow_nan=False)
    contents[RESULTS] = f"{text}\n".encode()
    for name, content in contents.items():
        write_whole(result.folder / name, content, follow=False)
    for path in result.folder.glob("table*"):
        if path.name not in contents and IS_TABLE.fullmatch(path.name):
            path.unlink(missing_ok=True)  # of a convention that is gone


def slug(name: str) -> str:
    """Return a name as a part of a file name, the same for no two names.

    >>> slug("trec_eval"), slug("../ours.yaml")
    ('trec_eval', '.._ours.yaml-a9850375')
    """
    plain = re.sub(r"[^A-Za-z0-9._-]", "_", name)[:80]
    return plain if plain == name else f"{plain}-{digest(name)[:8]}"


def _tables(result: ExperimentResult, convention: str) -> tuple[str, str]:
    """Return the means as Markdown and LaTeX, a row per run; compared, if asked for."""
    evaluations = list(result.evaluations[convention].values())
    tables = []
    for escaped, table, compared in (
        (markdown_text, markdown_table, markdown_cells),
        (latex_text, latex_table, latex_cells),
    ):
        names = [escaped(shown(evaluation.name)) for evaluation in evaluations]
        columns = {
            label: [
                numbers_of(evaluation, intervals=False)[number].number()
                for evaluation in evaluations
            ]
            for number, label in enumerate(result.metrics)
        }
        marks = []
        if result.compares:
            comparison = result.comparisons[convention]
            marks = letters_mark(comparison)
            names, *marked = map(list, zip(*compared(comparison), strict=True))
            columns |= dict(zip(comparison.metrics, marked, strict=True))
        rows = list(zip(names, *columns.values(), strict=True))
        tables.append(table(result.metrics, rows, [*marks, *whose(evaluations)]))
    return tables[0], tables[1]


def _record(
    planned: Planned, inputs: Inputs, cells: Sequence[Cell], result: ExperimentResult
) -> dict[str, Any]:
    """Return all that is needed to understand the numbers, and to get them again."""
    said = planned.said
    files = {
        role: {"path": getattr(said, role), **file.to_dict()}
        for role in FILES
        if (file := inputs[role]) is not None
    }
    runs = {
        run: {"path": path, **inputs.of_run(run)["run"].to_dict()}
        for run, path in planned.runs.items()
    }
    numbers = {
        (row["convention"], row["run"], row["metric"]): row
        for row in result.table.iter_rows(named=True)
    }
    named: dict[str, Any] = {}
    for convention, evaluations in result.evaluations.items():
        first = next(iter(evaluations.values()))
        comparison = result.comparisons[convention] if result.compares else None
        named[convention] = {
            "choices": first.convention.to_dict(),
            "notes": {
                run: list(evaluation.notes) for run, evaluation in evaluations.items()
            },
            "warnings": {
                run: list(evaluation.warnings)
                for run, evaluation in evaluations.items()
            },
            "comparison": None if comparison is None else comparison.to_dict(),
        }
    settings = result.settings
    return {
        MAKER: __version__,
        "format": FORMAT,
        "format_version": VERSION,
        "versions": {
            "python": platform.python_version(),
            **{name: version(name) for name in ("numpy", "polars", "scipy")},
        },
        "experiment": {"file": planned.path.name, "texts": planned.text},
        "files": files,
        "runs": runs,
        "metrics": list(result.metrics),
        "names": {name: canonical_name(name) for name in result.metrics},
        "comparing": {
            "asked": result.compares,
            "baseline": result.baseline,
            "margins": result.margins,
            "test": settings.test,
            "correction": settings.correction,
            "family": settings.family,
            "confidence": settings.confidence,
            "draws": settings.draws,
            "seed": settings.seed,
            "intervals": settings.intervals,
            "segments": result.segments,
        },
        "conventions": named,
        "cells": [
            {
                "run": cell.run,
                "convention": cell.convention,
                "metric": cell.metric,
                **{
                    key: finite(numbers[cell.convention, cell.run, cell.metric][key])
                    for key in ("mean", "low", "high", "n")
                },
                "hash": cell.hash,
            }
            for cell in cells
        ],
    }


def load_experiment(folder: Path) -> ExperimentResult:
    """Return the results that a folder holds."""
    record = _read(folder)
    try:
        return _loaded(folder, record)
    except (LookupError, TypeError, AttributeError, ValueError) as error:
        if isinstance(error, RankineError):
            raise
        msg = f"{folder / RESULTS}: is damaged; run the experiment again"
        raise FormatError(msg) from None


def file_of(folder: Path) -> str:
    """Return the name of the YAML file that the results of a folder are of."""
    try:
        return str(_read(folder)["experiment"]["file"])
    except (LookupError, TypeError):
        msg = f"{folder / RESULTS}: is damaged; remove it"
        raise FormatError(msg) from None


def _read(folder: Path) -> dict[str, Any]:
    """Return what results.json says, which must be of an experiment."""
    path = folder / RESULTS
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        what = "has no results.json"
        if (folder / "cells").is_dir():
            what = "belongs to an experiment that has not finished; run it again"
        msg = f"{folder}: {what}"
        raise FormatError(msg) from None
    except (OSError, ValueError, RecursionError) as error:
        reason = getattr(error, "strerror", None) or "it is damaged"
        msg = f"{path}: cannot be read ({reason})"
        raise FormatError(msg) from None
    if not isinstance(record, dict) or record.get("format") != FORMAT:
        msg = f"{path}: is not the result of an experiment"
        raise FormatError(msg)
    newest = record.get("format_version")
    if not isinstance(newest, int) or newest > VERSION:
        msg = f"{path}: a newer rankine wrote this; update rankine"
        raise FormatError(msg)
    return record


def _loaded(folder: Path, record: dict[str, Any]) -> ExperimentResult:
    wanted: dict[str, dict[str, list[str]]] = {}
    if not record["cells"]:
        raise LookupError
    for cell in record["cells"]:
        hashes = wanted.setdefault(cell["convention"], {}).setdefault(cell["run"], [])
        hashes.append(cell["hash"])
    how = record["comparing"]
    names = ("test", "correction", "family", "confidence", "draws", "seed")
    return ExperimentResult(
        folder,
        evaluations_of(Store.open(folder), wanted),
        Settings(
            **{name: how[name] for name in names},
            intervals=how.get("intervals", "pair"),
        ),
        how["baseline"],
        how["margins"],
        how["segments"],
        how["asked"],
    )


def evaluations_of(
    store: Store, wanted: dict[str, dict[str, list[str]]]
) -> dict[str, dict[str, Evaluation]]:
    """Return evaluations by convention and run, given the hashes of their cells."""
    for runs in wanted.values():
        for run, cells in runs.items():
            if store.missing(cells):
                what = "is missing or damaged; run the experiment again"
                msg = f"{store.folder}: a file of {run} in cells/ {what}"
                raise FormatError(msg)
    return {
        convention: {run: store.evaluation(cells) for run, cells in runs.items()}
        for convention, runs in wanted.items()
    }
