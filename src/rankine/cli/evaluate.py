"""rankine evaluate QRELS RUN [RUN ...]."""

from __future__ import annotations

import csv
import io
import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from rankine.evaluation import Evaluation

_DEFAULT = ("nDCG@10", "AP", "RR@10")


def _pairs(
    _: click.Context, parameter: click.Parameter, values: tuple[str, ...]
) -> dict[str, str]:
    found = {}
    for text in values:
        # The last sign, as a metric may have some: P(rel=2)@5=0.4.
        key, sign, value = text.rpartition("=")
        if not sign or not key or not value:
            msg = f"expected NAME=VALUE, got {text!r}"
            raise click.BadParameter(msg, param=parameter)
        found[key] = value
    return found


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("qrels", type=click.Path(path_type=Path))
@click.argument(
    "runs",
    type=click.Path(path_type=Path),
    nargs=-1,
    required=True,
    metavar="RUN [RUN ...]",
)
@click.option(
    "-m", "--metric", "metrics", multiple=True, metavar="METRIC",
    help="A metric: nDCG@10, 'P(rel=2)@5', ndcg_cut.10, all_trec, ...; repeatable.",
)  # fmt: skip
@click.option("-q", "--per-query", is_flag=True, help="Show every query.")
@click.option(
    "-c", "--convention", default="rankine", show_default=True, metavar="NAME",
    help="Whose choices the numbers follow: rankine, trec_eval, trec_eval-9.",
)  # fmt: skip
@click.option(
    "-l", "--rel", type=float, metavar="GRADE", help="The smallest relevant grade."
)
@click.option(
    "--ties", type=click.Choice(["average", "best", "worst"]),
    help="Value over all orders of tied items, or its bounds.",
)  # fmt: skip
@click.option(
    "-M", "--depth", type=click.IntRange(min=1), metavar="N",
    help="Look at the first N items of each list only.",
)  # fmt: skip
@click.option(
    "--catalog", type=click.IntRange(min=1), metavar="N",
    help="Number of items in the catalogue, for metrics that need it.",
)  # fmt: skip
@click.option(
    "--col", "columns", multiple=True, callback=_pairs, metavar="PART=COLUMN",
    help="Which column is the query, item, grade, score or rank; repeatable.",
)  # fmt: skip
@click.option("--format", "format_", metavar="NAME", help="trec, csv, tsv or parquet.")
@click.option(
    "--grades", metavar="WORD=N,...",
    help="What each grade in words is worth: --grades Viewed=0,Clicked=1.",
)  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.option("--csv", "as_csv", is_flag=True, help="Print CSV.")
@click.option(
    "--style", type=click.Choice(["trec_eval"]), help="Print as trec_eval does."
)
@click.option(
    "--fail-under", "floors", multiple=True, callback=_pairs, metavar="METRIC=VALUE",
    help="Exit with 1 if a metric is below this; repeatable.",
)  # fmt: skip
def command(
    qrels: Path,
    runs: tuple[Path, ...],
    metrics: tuple[str, ...],
    per_query: bool,  # noqa: FBT001 - a flag
    convention: str,
    rel: float | None,
    ties: str | None,
    depth: int | None,
    catalog: int | None,
    columns: dict[str, str],
    format_: str | None,
    grades: str | None,
    as_json: bool,  # noqa: FBT001
    as_csv: bool,  # noqa: FBT001
    style: str | None,
    floors: dict[str, str],
) -> int:
    """Evaluate one or more RUN files against the judgements in QRELS.

    Files are TREC text, or CSV, TSV or Parquet with named columns.

    \b
    rankine evaluate qrels.txt bm25.run dense.run -m nDCG@10 -m AP
    rankine evaluate qrels.txt bm25.run -m all_trec -q --style trec_eval
    """  # noqa: D301 - the mark is for click, which keeps the lines below it
    from rankine import evaluation as ev  # noqa: PLC0415 - --help stays fast
    from rankine import io as readers  # noqa: PLC0415

    if sum((as_json, as_csv, style is not None)) > 1:
        msg = "--json, --csv and --style exclude each other"
        raise click.UsageError(msg)
    limits = _limits(floors)
    version = 9 if convention.endswith("-9") else 10
    lines = []
    asked: list[Any] = [*(metrics or (() if style else _DEFAULT)), *limits]
    if style == "trec_eval":
        from rankine.io.sources import Stream  # noqa: PLC0415
        from rankine.io.trec import run_tag  # noqa: PLC0415
        from rankine.report.trec import (  # noqa: PLC0415
            lines_of,
            metrics_of,
            trec_text,
        )

        lines = lines_of(metrics or ("official",), version)
        asked = [*metrics_of(lines), *limits]
    plan = ev.plan_of(tuple(asked), convention, ties, rel, catalog)
    truth = ev.truth_of(qrels, columns=columns, grades=_grades(grades), format=format_)
    results = []
    for path in runs:
        source = readers.read(
            path,
            "run",
            columns=columns,
            format=format_,
            by_rank=plan.rule.order == "rank",
        )
        found = ev.evaluate_source(plan, truth, source, path.name, depth=depth)
        results.append(found)
        if style == "trec_eval":
            run_id = run_tag(path) if isinstance(source, Stream) else path.stem
            text = "\n".join(
                trec_text(
                    found, lines, per_query=per_query, run_id=run_id, version=version
                )
            )
            click.echo(text, nl=bool(text))
    if as_json:
        click.echo(_json(results, per_query=per_query))
    elif as_csv:
        click.echo(_csv(results, per_query=per_query), nl=False)
    elif style is None:
        _print_table(results, per_query=per_query)
    return _below(results, limits)


def _limits(floors: dict[str, str]) -> dict[str, float]:
    from rankine.names import parse  # noqa: PLC0415 - --help stays fast

    found = {}
    for name, text in floors.items():
        try:
            floor = float(text)
        except ValueError:
            floor = math.nan
        if math.isnan(floor):
            msg = f"--fail-under {name}={text}: {text!r} is not a number"
            raise click.UsageError(msg)
        parse(name)  # one metric, known before any data is read
        found[name] = floor
    return found


def _grades(text: str | None) -> dict[str, float] | None:
    if text is None:
        return None
    try:
        return {
            word: float(worth)
            for word, worth in (part.rsplit("=", 1) for part in text.split(","))
        }
    except ValueError:
        msg = f"--grades takes WORD=N,WORD=N, got {text!r}"
        raise click.UsageError(msg) from None


def _json(results: list[Evaluation], *, per_query: bool) -> str:
    made = []
    for found in results:
        entry = found.to_dict()
        if per_query:
            entry["per_query"] = found.per_query.to_dicts()
        made.append(entry)
    return json.dumps(made, indent=2, ensure_ascii=False, allow_nan=False, default=str)


def _csv(results: list[Evaluation], *, per_query: bool) -> str:
    """Return a row per run and metric, or per run, query and metric."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["run", "query", "metric", "value", "low", "high"])
    for found in results:
        if per_query:
            for row in found.per_query.iter_rows(named=True):
                for label in found.mean:
                    value = row[label]
                    text = "" if value is None else repr(value)
                    writer.writerow([found.name, row["query"], label, text, "", ""])
        for label, entry in found.to_dict()["metrics"].items():
            numbers = [entry["value"], entry["low"], entry["high"]]
            cells = ["" if number is None else repr(number) for number in numbers]
            writer.writerow([found.name, "all", label, *cells])
    return out.getvalue()


def _print_table(results: list[Evaluation], *, per_query: bool) -> None:
    from rankine.cli.console import Terminal  # noqa: PLC0415
    from rankine.report.text import queries_of, table_of  # noqa: PLC0415

    console = Terminal(soft_wrap=per_query)
    if per_query:
        for found in results:
            console.print(queries_of(found))
    console.print(table_of(results))


def _below(results: list[Evaluation], limits: dict[str, float]) -> int:
    """Say which thresholds are not met; undefined values do not meet them."""
    from rankine.report.cells import shown  # noqa: PLC0415

    code = 0
    for found in results:
        for name, floor in limits.items():
            value = found[name]
            if math.isnan(value) or value < floor:
                told = (
                    "undefined"
                    if math.isnan(value)
                    else f"{value:.4f}, below {floor:g}"
                )
                click.echo(
                    f"rankine: {name} of {shown(found.name)} is {told}", err=True
                )
                code = 1
    return code
