"""rankine evaluate QRELS RUN [RUN ...]."""

from __future__ import annotations

import csv
import io
import math
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rankine._base.roles import OTHERS, ROLES
from rankine.cli.on_spark import (
    SPARK,
    as_typed,
    chosen_engine,
    engines,
    evaluate_on_spark,
)
from rankine.cli.options import (
    Whole,
    evaluating,
    pairs,
    reading,
    refuse_stdin_twice,
    said,
    say_how,
)
from rankine.cli.output import (
    TextPaths,
    json_option,
    notes_option,
    print_json,
    print_tables,
    record_of,
    report_option,
    say,
    texts_of,
    texts_option,
    values_of,
    write_report,
)
from rankine.cli.progress import progress
from rankine.cli.runs import judged_and_runs, no_qrels_option

if TYPE_CHECKING:
    from rankine._evaluate.compare.comparison import Comparison
    from rankine._evaluate.evaluate import Job
    from rankine._evaluate.plan import Plan
    from rankine._evaluate.result import Evaluation
    from rankine._io.sources import Source
    from rankine._join.judgements import Truth
    from rankine._report.trec import MeasureLine
    from rankine.cli.runs import RunFile

_KEEP = 10
"""How many first items of each list are shown with the worst queries."""


@click.command()
@click.argument("qrels", type=click.Path(readable=False))
@click.argument(
    "runs", type=click.Path(readable=False), nargs=-1, metavar="RUN [RUN ...]"
)
@no_qrels_option
@click.option(
    "-m", "--metric", "metrics", multiple=True, metavar="METRIC",
    help="A metric: nDCG@10, nDCG@1,5,10, 'P(rel=2)@5', ndcg_cut.10, all_trec, ...; "
    "repeatable.",
)  # fmt: skip
@click.option("-q", "--per-query", is_flag=True, help="Show every query.")
@click.option(
    "--worst", type=Whole(1), metavar="N",
    help="Show the N worst queries of the first metric: the first items of their "
    "lists, and the relevant items that they missed.",
)  # fmt: skip
@evaluating
@engines
@reading
@notes_option
@report_option
@texts_option
@json_option
@click.option("--csv", "as_csv", is_flag=True, help="Print CSV.")
@click.option(
    "--style",
    type=click.Choice(["trec_eval"]),
    help=("Print in the format of trec_eval."),
)
@click.option(
    "--fail-under", "floors", multiple=True, callback=pairs, metavar="METRIC=VALUE",
    help="Exit with 1 if a metric is below this; repeatable.",
)  # fmt: skip
def command(
    qrels: str,
    runs: tuple[str, ...],
    no_qrels: bool,  # noqa: FBT001
    metrics: tuple[str, ...],
    per_query: bool,  # noqa: FBT001 - a flag
    worst: int | None,
    convention: str,
    verbose: bool,  # noqa: FBT001
    notes: bool,  # noqa: FBT001
    report: Path | None,
    title: str | None,
    texts: TextPaths,
    as_json: bool,  # noqa: FBT001
    as_csv: bool,  # noqa: FBT001
    style: str | None,
    floors: dict[str, str],
    where: str | None,
    engine: str | None,
    master: str | None,
    sequence: str | None,
    partitions: int | None,
    **given: Any,
) -> int:
    """Evaluate one or more RUN files against the judgements in QRELS.

    Files are TREC text, CSV, TSV, Parquet, Arrow, JSON, NDJSON, or what MS MARCO, BEIR,
    MovieLens and RecBole have, compressed or not, recognised by their content; a folder
    or a pattern names the parts of one table, and - is standard input. NAME=RUN gives a
    run a name for the output; without it, a run is named after its file, with as much
    of the folder as makes the names differ.

    \b
    rankine evaluate qrels.txt bm25.run dense.run -m nDCG@10 -m AP
    rankine evaluate qrels.txt bm25=exp1/run.txt dense=exp2/run.txt -m nDCG@1,5,10
    rankine evaluate qrels.txt bm25.run -m all_trec -q --style trec_eval
    rankine evaluate --no-qrels lists.csv -m Novelty@10 --train train.csv
    rankine evaluate --engine spark --master spark://host:7077 s3a://a/qrels s3a://a/run
    """  # noqa: D301 - the mark is for click, which keeps the lines below it
    from rankine._conventions.presets import chosen  # noqa: PLC0415 - --help stays fast
    from rankine._evaluate.evaluate import DEFAULT, prepare  # noqa: PLC0415

    engine = chosen_engine(where, engine)
    paths = tuple(map(Path, runs))
    judged, named = judged_and_runs(Path(qrels), paths, no_qrels=no_qrels)
    others = [given[role] for role in OTHERS]
    refuse_stdin_twice(judged, *others, *texts.paths, *(run.path for run in named))
    words = texts_of(texts, report)
    if sum((as_json, as_csv, style is not None)) > 1:
        msg = "--json, --csv and --style cannot be combined"
        raise click.UsageError(msg)
    limits = _limits(floors)
    version, lines = 10, []
    asked: list[Any] = [*(metrics or (() if style else DEFAULT)), *limits]
    if style == "trec_eval":
        from rankine._conventions.tools import trec_version  # noqa: PLC0415
        from rankine._report.trec import lines_of, metrics_of  # noqa: PLC0415

        version = trec_version(convention)
        lines = lines_of(metrics or ("official",), version)
        asked = [*metrics_of(lines), *limits]
    options = said(
        roles=ROLES,
        convention=chosen(convention),
        keep=None if worst is None and report is None else _KEEP,
        more_words=style == "trec_eval",
        engine=None if engine == SPARK else engine,
        **given,
    )
    job = prepare(asked, options)
    job.check(judged=judged is not None)
    _check_worst(job.plan, worst, "--csv" if as_csv else style and "--style")
    if engine == SPARK:
        typed = (qrels, *runs) if no_qrels else runs
        results = evaluate_on_spark(
            job,
            None if no_qrels else qrels,
            [
                (run, as_typed(text, run))
                for run, text in zip(named, typed, strict=True)
            ],
            master=master,
            sequence=sequence,
            partitions=partitions,
            per_query=per_query,
            verbose=verbose,
        )
    else:
        truth = job.truth(judged, *(run.path for run in named))
        with progress() as job.progress:
            sources = [job.source(run.path) for run in named]
            if verbose:
                say_how([*([] if truth is None else [truth.source]), *sources])
            results = [*map(partial(_evaluated, job, truth), named, sources)]
        if style == "trec_eval":
            _print_trec(named, sources, results, lines, version, per_query=per_query)
    with suppress(BrokenPipeError):  # a reader who has gone, but waits for the code
        if as_json:
            print_json(
                [
                    record_of(evaluation, per_query=per_query, worst=worst)
                    for evaluation in results
                ]
            )
        elif as_csv:
            click.echo(_csv(results, per_query=per_query), nl=False)
        elif style is None:
            print_tables(results, per_query=per_query, worst=worst, notes=notes)
    if report is not None:
        read = (judged, *(run.path for run in named), *others, *texts.paths)
        write_report(_reported(results), report, read, title=title, **words)
    return _below(results, limits)


def _print_trec(
    runs: list[RunFile],
    sources: list[Source],
    results: list[Evaluation],
    lines: list[MeasureLine],
    version: int,
    *,
    per_query: bool,
) -> None:
    """Print the numbers as trec_eval does, run by run."""
    from rankine._report.trec import table_of, trec_text  # noqa: PLC0415 - --help stays fast

    for run, source, evaluation in zip(runs, sources, results, strict=True):
        tag = getattr(source, "tag", None)
        run_id = tag() if tag is not None else run.path.stem
        text = "\n".join(
            trec_text(
                table_of(evaluation, lines),
                lines,
                run_id=run_id,
                version=version,
                per_query=per_query,
            )
        )
        with suppress(BrokenPipeError):
            click.echo(text, nl=bool(text))


def _reported(results: list[Evaluation]) -> Evaluation | Comparison:
    """Return what a report is of: the run, or the comparison of several."""
    if len(results) == 1:
        return results[0]
    from rankine._evaluate.compare.compare import compare_evaluations  # noqa: PLC0415
    from rankine._stats.pairwise import Settings  # noqa: PLC0415 - --help stays fast

    return compare_evaluations({run.name: run for run in results}, Settings())


def _evaluated(
    job: Job, truth: Truth | None, run: RunFile, source: Source
) -> Evaluation:
    """Evaluate a run, and leave nothing of it on disk."""
    evaluation = job.evaluate(truth, source, run.name)
    getattr(source, "memo", {}).clear()
    return evaluation


def _limits(floors: dict[str, str]) -> dict[str, float]:
    from rankine._metrics.names import parse  # noqa: PLC0415 - --help stays fast

    limits = {}
    for name, text in floors.items():
        try:
            floor = float(text)
        except ValueError:
            floor = math.nan
        if math.isnan(floor):
            msg = f"--fail-under {name}={text}: {text!r} is not a number"
            raise click.UsageError(msg)
        parse(name)  # one metric, known before any data is read
        limits[name] = floor
    return limits


def _csv(results: list[Evaluation], *, per_query: bool) -> str:
    """Return a row per run and metric, or per run, query and metric."""
    from rankine._report.tables import csv_name, shown  # noqa: PLC0415

    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["run", "query", "metric", "value", "low", "high"])
    for evaluation in results:
        name = csv_name(evaluation.name)
        if per_query:
            for row in values_of(evaluation).iter_rows(named=True):
                for label in evaluation.mean:
                    value = row[label]
                    text = "" if value is None else repr(value)
                    writer.writerow([name, shown(row["query"]), label, text, "", ""])
        for label, entry in evaluation.to_dict()["metrics"].items():
            numbers = [entry["value"], entry["low"], entry["high"]]
            cells = ["" if number is None else repr(number) for number in numbers]
            writer.writerow([name, "all", label, *cells])
    return out.getvalue()


def _check_worst(plan: Plan, n: int | None, output: str | None) -> None:
    """Refuse --worst if the output has no place for queries, or there are none."""
    if n is None:
        return
    if output:
        msg = f"--worst cannot be combined with {output}"
        raise click.UsageError(msg)
    from rankine._evaluate.worst import check_worst  # noqa: PLC0415 - --help stays fast

    check_worst(plan.bound[0])


def _below(results: list[Evaluation], limits: dict[str, float]) -> int:
    """Say which thresholds are not met; undefined values do not meet them."""
    from rankine._report.tables import number  # noqa: PLC0415

    code = 0
    for result in results:
        for name, floor in limits.items():
            value = result[name]
            if not value >= floor:
                below = "" if math.isnan(value) else f", below {floor:g}"
                say(f"{name} of {result.name} is {number(value)}{below}")
                code = 1
    return code
