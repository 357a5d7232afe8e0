"""An evaluation as JSON, Markdown, LaTeX, HTML, and frames of other libraries."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rankine._base.checks import check_choice, check_count
from rankine._base.forks import need_threads
from rankine._base.text import common_unit, plural
from rankine._conventions.presets import BASE, called
from rankine._evaluate.notes import few
from rankine._evaluate.summary import finite
from rankine._metrics.names import canonical_name
from rankine._report.tables import between, html_table, number, shown
from rankine.errors import MissingExtraError, ParameterError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    import polars as pl

    from rankine._evaluate.result import Evaluation


@dataclass(frozen=True, slots=True)
class MetricCell:
    """One number with its interval.

    Attributes:
        metric: the metric.
        value: the number; nan if undefined.
        low, high: the bounds of the interval; nan if there is none.
        n: the number of queries.
        count: whether the number is a count, which has no decimals and no interval.
        higher_is_better: the direction of the metric, None if it has none.
    """

    metric: str
    value: float
    low: float
    high: float
    n: int
    count: bool
    higher_is_better: bool | None

    def number(self, digits: int = 4) -> str:
        """Return the number as text, with some decimals unless it is a count."""
        if self.count and not math.isnan(self.value):
            return f"{self.value:,.0f}"
        return number(self.value, digits)

    def bounds(self, digits: int = 4) -> str:
        """Return the interval as text, empty if there is none."""
        return "" if self.count else between(self.low, self.high, digits)


def cells(evaluation: Evaluation, *, intervals: bool = True) -> list[MetricCell]:
    """Return a cell per metric, with its interval if that is wanted."""
    cells = []
    for metric, (label, summary) in zip(
        evaluation.bound, evaluation.summaries.items(), strict=True
    ):
        count = metric.summary == "sum"
        low = high = math.nan
        if intervals and not count:
            low, high = evaluation.interval(label)
        direction = metric.higher_is_better
        cells.append(
            MetricCell(label, summary.value, low, high, summary.n, count, direction)
        )
    return cells


def convention_of(evaluation: Evaluation) -> str:
    """Say whose choices the numbers follow; empty for rankine's own."""
    name = called(evaluation.convention, evaluation.preset)
    return "" if name == BASE else f"Convention: {shown(name)}"


def names_of(labels: Iterable[str]) -> list[tuple[str, str]]:
    """Return the labels that are not canonical names, each with its canonical name."""
    named = ((label, canonical_name(label)) for label in labels)
    return [(label, name) for label, name in named if label != name]


def queries_by_metric(evaluations: Collection[Evaluation]) -> str:
    """Return the number of queries behind each metric; empty if it is always the same.

    The number may differ between runs, too.
    """
    counts = [
        {label: summary.n for label, summary in evaluation.summaries.items()}
        for evaluation in evaluations
    ]
    if all(len({*of_run.values()}) < 2 for of_run in counts):  # noqa: PLR2004 - the same
        return ""
    labels: dict[tuple[int, int], list[str]] = {}
    for label in counts[0]:
        sizes = [of_run[label] for of_run in counts]
        labels.setdefault((min(sizes), max(sizes)), []).append(label)
    words = common_unit(evaluation.unit for evaluation in evaluations)
    said: list[str] = []
    for (least, most), those in labels.items():
        n = f"{most:,}" if least == most else f"{least:,} to {most:,}"
        noun = words if least == most == 1 else plural(words)
        unit = "" if said else f" {noun}"
        said.append(f"{n}{unit} ({few(those)})")
    return ", ".join(said)


def whose(evaluations: Iterable[Evaluation]) -> list[str]:
    """Return the numbers of queries, if metrics differ in them, and the convention.

    The convention is the same for all runs. Values that were computed elsewhere have no
    evaluations, so neither is known for them.
    """
    several = [*evaluations]
    named = map(convention_of, several[:1])
    return [*filter(None, (queries_by_metric(several), *named))]


def to_dict(evaluation: Evaluation) -> dict[str, Any]:
    """Return numbers, intervals, convention and notes as plain values."""
    return {
        "run": evaluation.name,
        "unit": evaluation.unit,
        "queries": evaluation.n_queries,
        "metrics": {
            cell.metric: {
                "metric": str(metric),
                "value": finite(cell.value),
                "low": finite(cell.low),
                "high": finite(cell.high),
                "n": cell.n,
                "queries": cell.n + evaluation.summaries[cell.metric].n_undefined,
                "without_relevant": evaluation.summaries[cell.metric].n_empty,
                "undefined": evaluation.summaries[cell.metric].n_undefined,
            }
            for metric, cell in zip(evaluation.metrics, cells(evaluation), strict=True)
        },
        "convention": evaluation.convention.to_dict(),
        "preset": evaluation.preset,
        "notes": list(evaluation.notes),
        "warnings": list(evaluation.warnings),
    }


def to_markdown(evaluation: Evaluation) -> str:
    """Return a Markdown table."""
    units = plural(evaluation.unit)
    lines = [f"| metric | value | 95 % interval | {units} |", "|---|---:|---|---:|"]
    lines += [
        f"| {cell.metric} | {cell.number()} | {cell.bounds()} | {cell.n} |"
        for cell in cells(evaluation)
    ]
    return "\n".join([*lines, *_below(convention_of(evaluation))])


def _below(text: str) -> list[str]:
    """Return a line below a Markdown table, or nothing if the text is empty."""
    return ["", markdown_text(text)] if text else []


def _last_rows(texts: Iterable[str], columns: int) -> list[str]:
    """Return a row of LaTeX over all columns for each text."""
    return [
        rf"\multicolumn{{{columns}}}{{l}}{{{latex_text(text)}}} \\" for text in texts
    ]


_LATEX = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#",
    "_": r"\_", "{": r"\{", "}": r"\}", "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
}  # fmt: skip


def latex_text(text: str) -> str:
    r"""Escape what LaTeX would take as a command.

    >>> latex_text("run_1 & 50%")
    'run\\_1 \\& 50\\%'
    """
    return "".join(_LATEX.get(mark, mark) for mark in text)


def markdown_text(text: str) -> str:
    """Escape what Markdown would take as markup."""
    for mark in "\\|<>*_`[]":
        text = text.replace(mark, f"\\{mark}")
    return text


def markdown_table(
    labels: Iterable[str], rows: Iterable[Sequence[str]], below: Iterable[str] = ()
) -> str:
    """Return a row per run and a column per metric; cells are escaped already."""
    names = ["run", *map(markdown_text, labels)]
    lines = [f"| {' | '.join(names)} |", "|---|" + "---:|" * (len(names) - 1)]
    lines += [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join([*lines, *_below("; ".join(below))])


def latex_table(
    labels: Iterable[str],
    rows: Iterable[Sequence[str]],
    below: Iterable[str] = (),
    caption: str | None = None,
    label: str | None = None,
) -> str:
    """Return a row per run and a column per metric; cells are escaped already."""
    return _latex(["run", *map(latex_text, labels)], rows, below, caption, label)


def _latex(
    head: Sequence[str],
    rows: Iterable[Sequence[str]],
    below: Iterable[str],
    caption: str | None,
    label: str | None,
) -> str:
    """Return a table for the booktabs package; its cells are escaped already.

    Args:
        head: the titles of the columns, escaped too.
        rows: the cells.
        below: texts below the table, a row for each; they are escaped here.
        caption: the caption of a float around the table; it may contain commands.
        label: the key for references to the table.
    """
    if label is not None and caption is None:
        msg = "label= needs caption=: without a caption, a table has no number"
        raise ParameterError(msg)
    table = [
        rf"\begin{{tabular}}{{l{'r' * (len(head) - 1)}}}",
        r"\toprule",
        rf"{' & '.join(head)} \\",
        r"\midrule",
        *(" & ".join(row) + r" \\" for row in rows),
        r"\bottomrule",
        *_last_rows(below, len(head)),
        r"\end{tabular}",
    ]
    if caption is not None:
        named = [] if label is None else [rf"\label{{{label}}}"]
        above = [r"\begin{table}", r"\centering", rf"\caption{{{caption}}}", *named]
        table = [*above, *table, r"\end{table}"]
    return "\n".join(table)


def to_latex(
    evaluation: Evaluation,
    digits: int,
    sort: str | None,
    caption: str | None,
    label: str | None,
    *,
    intervals: bool,
) -> str:
    """Return a table for the booktabs package; see `Evaluation.to_latex`."""
    check_count("digits", digits, least=0)
    shown_cells = cells(evaluation, intervals=intervals)
    if sort is not None:
        check_choice("sort", sort, ("name", "value"))
        shown_cells.sort(key=_name_of if sort == "name" else _order_of)
    head = [latex_text(shown(evaluation.name)), "value", r"95\,\% interval"]
    rows = [
        [latex_text(cell.metric), cell.number(digits), cell.bounds(digits)]
        for cell in shown_cells
    ]
    n_columns = 3 if intervals else 2
    return _latex(
        head[:n_columns],
        [row[:n_columns] for row in rows],
        whose([evaluation]),
        caption,
        label,
    )


def _name_of(cell: MetricCell) -> str:
    return cell.metric


def _order_of(cell: MetricCell) -> float:
    """Return the sort key: the largest number comes first, an undefined one last."""
    return math.inf if math.isnan(cell.value) else -cell.value


def to_html(evaluation: Evaluation) -> str:
    """Return a table for notebooks, with warnings and notes below."""
    return html_table(
        (evaluation.name, "value", "95 % interval"),
        [(cell.metric, cell.number(), cell.bounds()) for cell in cells(evaluation)],
        "lrl",
        below=(
            *whose([evaluation]),
            *evaluation.warnings,
            *evaluation.notes,
        ),
    )


def to_frame(frame: pl.DataFrame, library: str) -> Any:
    """Return a frame of another library."""
    if library == "polars":
        return frame
    library = "arrow" if library == "pyarrow" else library
    if library not in {"pandas", "arrow"}:
        msg = f"library must be one of polars, pandas, arrow, got {library!r}"
        raise ParameterError(msg)
    need_threads()  # polars uses some for both
    try:
        return frame.to_pandas() if library == "pandas" else frame.to_arrow()
    except ImportError:
        msg = (
            f"to_frame({library!r}) needs {library}; pip install "
            f"'rankine-eval[{library}]'"
        )
        raise MissingExtraError(msg) from None
