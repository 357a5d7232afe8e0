"""rankine report RESULTS."""

from __future__ import annotations

from pathlib import Path

import click

from rankine.cli.output import (
    FILE,
    TextPaths,
    say,
    texts_of,
    texts_option,
    title_option,
    write_report,
)


@click.command()
@click.argument("results", type=FILE)
@click.option(
    "-o", "--output", type=FILE, metavar="FILE",
    help="The file to write; beside RESULTS, ending in .html, if not given.",
)  # fmt: skip
@title_option
@texts_option
@click.option(
    "--convention", metavar="NAME",
    help="Which convention, for an experiment with several.",
)  # fmt: skip
@click.option("--open", "opens", is_flag=True, help="Open the report in a browser.")
def command(
    results: Path,
    output: Path | None,
    title: str | None,
    texts: TextPaths,
    convention: str | None,
    opens: bool,  # noqa: FBT001 - a flag
) -> None:
    """Write a report on saved RESULTS.

    RESULTS is a comparison, an evaluation, a summary of events or an A/B test as JSON;
    or the folder of an experiment, or the results.json in it.

    The report is one HTML file that needs nothing else: verdicts in words, tables,
    charts, and the queries that moved most.

    \b
    rankine report results.json --open
    rankine report results.json --output report.html --texts queries.tsv
    rankine report folder-of-an-experiment --convention trec_eval
    """  # noqa: D301 - the mark is for click, which keeps the lines below it
    from rankine._experiment.experiment import load  # noqa: PLC0415 - --help stays fast
    from rankine._experiment.results import RESULTS  # noqa: PLC0415
    from rankine._online.results import Saved  # noqa: PLC0415

    if results.is_dir():
        results /= RESULTS
    path = output or results.with_suffix(".html")
    if path == results:
        msg = f"{results} would be overwritten; name another file with --output"
        raise click.UsageError(msg)
    loaded = load(results, convention=convention)
    if isinstance(loaded, Saved):
        texts.check_unused("is for lists of items, not for events and tests")
        write_report(loaded, path, [results], title=title)
    else:
        words = texts_of(texts, path)
        write_report(loaded, path, [results, *texts.paths], title=title, **words)
    if opens:
        # An address, as a browser may take a plain name for a host.
        failed = click.launch(path.resolve().as_uri())
        if failed:
            say(f"no browser could be started; open {path} in one")
