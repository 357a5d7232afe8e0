"""rankine compare QRELS RUN RUN [RUN ...]."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rankine._base.roles import OTHERS, ROLES
from rankine.cli.options import (
    Whole,
    evaluating,
    pairs,
    reading,
    refuse_stdin_twice,
    said,
    teller,
)
from rankine.cli.output import (
    FILE,
    SEE_NOTES,
    TextPaths,
    echo_json,
    json_option,
    notes_option,
    report_option,
    texts_of,
    texts_option,
    width,
    write_report,
)
from rankine.cli.progress import progress
from rankine.cli.runs import judged_and_runs, no_qrels_option

if TYPE_CHECKING:
    from rankine._evaluate.compare.comparison import Comparison

_KEEP = 10
"""How many first items of each list are kept for the queries that moved."""
_DRAWS = 100_000


@click.command()
@click.argument("qrels", type=FILE)
@click.argument(
    "runs", type=FILE, nargs=-1, required=True,
    metavar="RUN RUN [RUN ...]",
)  # fmt: skip
@no_qrels_option
@click.option(
    "-m", "--metric", "metrics", multiple=True, metavar="METRIC",
    help="A metric: nDCG@10, AP, 'P(rel=2)@5', Coverage, ...; repeatable.",
)  # fmt: skip
@click.option(
    "--baseline", metavar="NAME",
    help="The run that all others are compared with; every pair if not given.",
)  # fmt: skip
@click.option(
    "--test", default="randomization", show_default=True, metavar="NAME",
    help="The test: randomization, t, wilcoxon, sign, bootstrap, tukey_hsd or "
    "randomized_tukey_hsd.",
)  # fmt: skip
@click.option(
    "--correction", default="holm", show_default=True, metavar="NAME",
    help="Correction for the number of pairs: holm, bonferroni, bh, maxt or none.",
)  # fmt: skip
@click.option(
    "--family", default="metric", show_default=True, metavar="NAME",
    help="What is corrected together: metric (the pairs of each metric) or all.",
)  # fmt: skip
@click.option(
    "--confidence", type=float, default=0.95, show_default=True, metavar="SHARE",
    help="Confidence level of intervals; verdicts are given at 1 minus this.",
)  # fmt: skip
@click.option(
    "--intervals", default="pair", show_default=True, metavar="NAME",
    help="Intervals of differences: pair (each holds for its pair alone) or "
    "simultaneous (also for all pairs at once).",
)  # fmt: skip
@click.option(
    "--margin", "margins", multiple=True, callback=pairs, metavar="METRIC=SIZE",
    help="The difference that does not matter, for equivalence; repeatable.",
)  # fmt: skip
@click.option(
    "--by", type=FILE, metavar="FILE",
    help="Also show every metric by segment: a table with a column of queries and "
    "one of segments.",
)  # fmt: skip
@click.option(
    "--moved", type=Whole(1), metavar="N",
    help="Show the N queries of each pair that moved most, by the first metric.",
)  # fmt: skip
@click.option(
    "--draws", type=Whole(1, 1 << 40), default=_DRAWS,
    show_default=True, metavar="N", help="How many random flips or resamples.",
)  # fmt: skip
@click.option(
    "--seed", type=Whole(0), default=0, show_default=True,
    metavar="N", help="The seed of the random draws.",
)  # fmt: skip
@evaluating
@reading
@notes_option
@report_option
@texts_option
@json_option
@click.option("--csv", "as_csv", is_flag=True, help="Print the pairs as CSV.")
@click.option("--latex", "as_latex", is_flag=True, help="Print the means as LaTeX.")
@click.option(
    "--markdown", "as_markdown", is_flag=True, help="Print the means as Markdown."
)
def command(
    qrels: Path,
    runs: tuple[Path, ...],
    no_qrels: bool,  # noqa: FBT001 - a flag
    metrics: tuple[str, ...],
    baseline: str | None,
    test: str,
    correction: str,
    family: str,
    confidence: float,
    intervals: str,
    margins: dict[str, str],
    by: Path | None,
    moved: int | None,
    draws: int,
    seed: int,
    convention: str,
    verbose: bool,  # noqa: FBT001
    notes: bool,  # noqa: FBT001
    report: Path | None,
    title: str | None,
    texts: TextPaths,
    as_json: bool,  # noqa: FBT001
    as_csv: bool,  # noqa: FBT001
    as_latex: bool,  # noqa: FBT001
    as_markdown: bool,  # noqa: FBT001
    **given: Any,
) -> None:
    """Compare two or more RUN files on the queries of QRELS.

    Shows the means of all runs with their intervals, and for every pair the difference,
    its interval, its p-value, and a verdict. NAME=RUN gives a run a name.

    \b
    rankine compare qrels.txt bm25.run dense.run hybrid.run -m nDCG@10 -m AP
    rankine compare qrels.txt old=a.run new=b.run --baseline old --margin nDCG@10=0.01
    rankine compare --no-qrels popular.csv personal.csv -m Coverage@10 --catalog 9999
    rankine compare qrels.txt old=a.run new=b.run --report report.html
    """  # noqa: D301 - the mark is for click, which keeps the lines below it
    from rankine._conventions.presets import chosen  # noqa: PLC0415 - --help stays fast
    from rankine._evaluate.compare.compare import compare_runs  # noqa: PLC0415
    from rankine._evaluate.evaluate import DEFAULT, prepare  # noqa: PLC0415
    from rankine._stats.pairwise import Settings  # noqa: PLC0415

    judged, named = judged_and_runs(qrels, runs, no_qrels=no_qrels)
    others = [given[role] for role in OTHERS]
    refuse_stdin_twice(judged, *others, *texts.paths, *(run.path for run in named))
    words = texts_of(texts, report)
    if sum((as_json, as_csv, as_latex, as_markdown)) > 1:
        msg = "--json, --csv, --latex and --markdown cannot be combined"
        raise click.UsageError(msg)
    options = said(
        roles=ROLES,
        convention=chosen(convention),
        keep=_KEEP,
        **given,
    )
    job = prepare(metrics or DEFAULT, options)
    if moved is not None and job.plan.bound[0].fact.without is not None:
        msg = (
            "--moved goes by the first metric, and no query has a value of "
            f"{job.plan.asked[0]}; name another metric first"
        )
        raise click.UsageError(msg)
    job.tell = teller(verbose=verbose)
    with progress() as job.progress:
        comparison = compare_runs(
            job,
            judged,
            {run.name or "standard input": run.path for run in named},
            Settings(test, correction, family, confidence, draws, seed, intervals),
            baseline,
            sizes(margins),
            by,
        )
    if as_json:
        echo_json(comparison.to_json())
    elif as_csv:
        click.echo(_csv(comparison), nl=False)
    elif as_latex:
        click.echo(comparison.to_latex())
    elif as_markdown:
        click.echo(comparison.to_markdown())
    else:
        _print(comparison, moved, None if notes else SEE_NOTES)
    read = (judged, *(run.path for run in named), *others, *texts.paths)
    write_report(comparison, report, read, title=title, **words)


def sizes(margins: dict[str, str]) -> dict[str, float] | None:
    """Read the numbers of --margin."""
    numbers = {}
    for name, text in margins.items():
        try:
            numbers[name] = float(text)
        except ValueError:
            msg = f"--margin {name}={text}: {text!r} is not a number"
            raise click.UsageError(msg) from None
    return numbers or None


def _csv(comparison: Comparison) -> str:
    """Return the pairs as CSV, with names that a spreadsheet reads as names."""
    import polars as pl  # noqa: PLC0415 - --help stays fast

    from rankine._report.tables import csv_name  # noqa: PLC0415

    pairs = comparison.pairwise
    names = [pl.Series(side, map(csv_name, pairs[side])) for side in ("a", "b")]
    return pairs.with_columns(names).write_csv()


def _print(comparison: Comparison, moved: int | None, see: str | None) -> None:
    from rankine._report.comparison import to_text  # noqa: PLC0415 - --help stays fast

    click.echo(to_text(comparison, width(), see))
    if moved is None:
        return
    metric = comparison.metrics[0]
    pairs_of = comparison.pairwise.filter(comparison.pairwise["metric"] == metric)
    for a, b in pairs_of.select("a", "b").iter_rows():
        click.echo(f"\n{comparison.moved(metric, a, b, moved)}")
