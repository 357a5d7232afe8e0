"""rankine evaluate --engine spark: the options, and the evaluations."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rankine.cli.options import Whole
from rankine.cli.output import say, values_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankine._evaluate.evaluate import Job
    from rankine._evaluate.result import Evaluation
    from rankine.cli.runs import RunFile

_REFUSED = {
    "worst": "shows items, which stay on Spark",
    "report": "shows all queries, which stay on Spark",
    **dict.fromkeys(
        ("texts", "query_texts", "item_texts"),
        "is for reports, which show all queries",
    ),
    "style": "follows the order of the files, which Spark does not keep",
    "weights": "needs all queries at once, and they stay on Spark",
    "memory_limit": "is for --stream; Spark's own settings limit its memory",
    "collapse": "is not there on Spark; put the ids of documents in the run first",
    "max_bytes": "limits the files that rankine unpacks itself",
    "encoding": "is for the files that rankine reads itself; Spark reads UTF-8",
}
"""Options that Spark does not have, by their parameter -> why not."""
SPARK = "spark"
_ALONE = ("master", "sequence", "partitions")
"""Options that only Spark has."""

_OPTIONS = (
    click.option(
        "--engine", "where", type=click.Choice(["memory", "stream", SPARK]),
        help="How runs are read: at once, in parts (the same as --stream), or by "
        "Spark, on a cluster, from Parquet, CSV, TSV, NDJSON or TREC text.",
    ),
    click.option(
        "--master", metavar="URL",
        help="With --engine spark, where to run: spark://HOST:PORT, yarn, local[2], or "
        "sc://HOST:PORT for Spark Connect; if not given, what spark-submit would use.",
    ),
    click.option(
        "--sequence", metavar="COLUMN",
        help="With --engine spark, the column of a run whose numbers say in which "
        "order its rows were given, for conventions that depend on it.",
    ),
    click.option(
        "--partitions", type=Whole(1, 1 << 30), metavar="N",
        help="With --engine spark, the number of parts that queries are split into; if "
        "not given, Spark decides.",
    ),
)  # fmt: skip


def engines(function: Any) -> Any:
    """Give a command the options that say where runs are evaluated."""
    for option in reversed(_OPTIONS):
        function = option(function)
    return function


def chosen_engine(where: str | None, stream: str | None) -> str | None:
    """Return the engine; refuse options that are for another one."""
    context = click.get_current_context()
    if stream is not None and where not in {None, stream}:
        msg = f"--stream and --engine {where} cannot be combined"
        raise click.UsageError(msg)
    on_spark = where == SPARK
    for option in context.command.params:
        name = option.name or ""
        if context.params.get(name) in (None, (), False):
            continue
        if on_spark and name in _REFUSED:
            msg = f"{option.opts[-1]} {_REFUSED[name]}; leave out --engine spark"
            raise click.UsageError(msg)
        if not on_spark and name in _ALONE:
            msg = f"{option.opts[-1]} is for --engine spark"
            raise click.UsageError(msg)
    return stream or where


def evaluate_on_spark(
    job: Job,
    judged: str | None,
    runs: Sequence[tuple[RunFile, str]],
    *,
    master: str | None,
    sequence: str | None,
    partitions: int | None,
    per_query: bool,
    verbose: bool,
) -> list[Evaluation]:
    """Evaluate files that Spark reads; what was asked for is here in the end.

    Args:
        job: what to compute.
        judged: where the judgements are, if there are any.
        runs: the runs, and where each is.
        master: where Spark runs.
        sequence: the column that numbers the rows of a run.
        partitions: how many parts queries are split into.
        per_query: whether the values of all queries are collected.
        verbose: whether to say how files are read, and to show what Spark logs.
    """
    try:
        from rankine._engines.files import format_of, frame_of  # noqa: PLC0415
        from rankine._engines.requirements import check_metrics  # noqa: PLC0415 - an extra
        from rankine._engines.sessions import session  # noqa: PLC0415
        from rankine._engines.spark import evaluated  # noqa: PLC0415
        from rankine._engines.work import JUDGED, LISTED  # noqa: PLC0415
    except ModuleNotFoundError as error:
        if error.name != "pyarrow":
            raise
        from rankine.errors import MissingExtraError  # noqa: PLC0415

        msg = "Spark needs pyarrow; install rankine-eval[spark]"
        raise MissingExtraError(msg) from None
    check_metrics(job, judged=judged is not None)
    _ = job.side_data  # before Spark starts, which takes seconds
    files = [] if judged is None else [(judged, job.of_qrels)]
    files += [(path, job.of_run) for _, path in runs]
    for path, how in files:
        kind = format_of(path, how)
        if verbose:
            say(f"{path}: read by Spark as {kind}")
    results: list[Evaluation] = []
    with session(master, "rankine evaluate", loud=verbose) as spark:
        qrels = None
        if judged is not None:
            qrels = frame_of(spark, judged, JUDGED, job.of_qrels)
        frames = [frame_of(spark, path, LISTED, job.of_run) for _, path in runs]
        for (run, _), frame in zip(runs, frames, strict=True):
            evaluation = evaluated(
                job, qrels, frame, run.name, sequence=sequence, partitions=partitions
            )
            if per_query:
                values_of(evaluation)
            results.append(evaluation)
    return results


def as_typed(argument: str, run: RunFile) -> str:
    """Return where a run is, as it was typed: a path would not keep s3a://.

    >>> from pathlib import Path
    >>> from rankine.cli.runs import RunFile
    >>> as_typed("new=s3a://runs/new", RunFile(Path("s3a:/runs/new"), "new"))
    's3a://runs/new'
    """
    return argument if run.path == Path(argument) else argument.partition("=")[2]
