"""rankine experiment FILE.yaml."""

from __future__ import annotations

import json
import os
import signal
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rankine.cli.options import Whole
from rankine.cli.output import (
    FILE,
    TextPaths,
    print_json,
    report_option,
    say,
    texts_of,
    texts_option,
    write_report,
)
from rankine.cli.progress import progress

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankine._experiment.results import ExperimentResult
    from rankine._experiment.run import Cell

_FIRST = "experiment.yaml"
_STOPPED = 128 + signal.SIGTERM


@click.command()
@click.argument("files", type=FILE, nargs=-1, metavar="FILE")
@click.option(
    "--output", type=FILE, metavar="DIR",
    help="The folder of the results, instead of the one that the file names.",
)  # fmt: skip
@click.option(
    "--dry-run", is_flag=True,
    help="Show what would be computed and read, without computing anything.",
)  # fmt: skip
@click.option(
    "--resume/--no-resume", default=True, show_default=True,
    help="Reuse values in the folder if the data are the same, or compute all again.",
)  # fmt: skip
@click.option(
    "--jobs", type=Whole(1, 1024), default=1, show_default=True,
    metavar="N", help="How many processes to use.",
)  # fmt: skip
@click.option(
    "--max-cells", type=Whole(1, 1 << 40), default=10_000,
    show_default=True, metavar="N",
    help="The largest number of runs x conventions x metrics.",
)  # fmt: skip
@click.option("--schema", is_flag=True, help="Print the JSON Schema of the file.")
@click.option(
    "--init", is_flag=True,
    help=f"Write a first {_FIRST} for your judgements and runs: "
    "rankine experiment --init QRELS RUN ...",
)  # fmt: skip
@report_option
@texts_option
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(
    files: tuple[Path, ...],
    output: Path | None,
    max_cells: int,
    jobs: int,
    dry_run: bool,  # noqa: FBT001 - flags
    resume: bool,  # noqa: FBT001
    schema: bool,  # noqa: FBT001
    init: bool,  # noqa: FBT001
    report: Path | None,
    title: str | None,
    texts: TextPaths,
    as_json: bool,  # noqa: FBT001
) -> None:
    """Run the experiment that FILE describes: metrics over many runs.

    Values already in the output folder are not computed again: you can interrupt an
    experiment, and add runs and metrics.

    \b
    rankine experiment --init qrels.txt runs/*.txt
    rankine experiment experiment.yaml --dry-run
    rankine experiment experiment.yaml --jobs 4
    """  # noqa: D301 - the mark is for click, which keeps the lines below it
    if schema:
        from rankine._experiment.schema import json_schema  # noqa: PLC0415

        click.echo(json.dumps(json_schema(), indent=2, ensure_ascii=False))
        return
    if init:
        _init(files)
        return
    if len(files) != 1:
        msg = f"expected one FILE, got {len(files)}"
        raise click.UsageError(msg)
    from rankine._experiment.experiment import (  # noqa: PLC0415 - --help stays fast
        planned_cells,
        run_planned,
    )
    from rankine._experiment.read import read_experiment  # noqa: PLC0415
    from rankine.errors import ExperimentError  # noqa: PLC0415

    try:
        planned = read_experiment(files[0], output=output, max_cells=max_cells)
    except ExperimentError as error:
        for problem in error.problems:
            say(problem)
        raise click.exceptions.Exit(error.exit_code) from None
    if dry_run:
        _show_cells(planned_cells(planned), planned, as_json=as_json)
        return
    if report is not None and len(planned.conventions) > 1:
        names = ", ".join(planned.conventions)
        msg = f"--report shows one convention, and the experiment has {names}"
        raise click.UsageError(msg)
    words = texts_of(texts, report)
    with _stopping(), progress() as tell:
        result = run_planned(planned, resume=resume, jobs=jobs, report=tell)
    for note in result.notes:
        say(note)
    _print(result, as_json=as_json)
    if report is not None:
        run, *others = result.runs
        whole = result.comparison() if others else result.evaluation(run)
        read = (*files, *planned.files, *texts.paths)
        write_report(whole, report, read, title=title, **words)


def _init(files: tuple[Path, ...]) -> None:
    from rankine._base.paths import write_whole  # noqa: PLC0415 - --help stays fast
    from rankine._experiment.first import first_yaml  # noqa: PLC0415

    if len(files) < 2:  # noqa: PLR2004 - judgements and a run
        msg = "--init takes the judgements and at least one run: QRELS RUN ..."
        raise click.UsageError(msg)
    for name in files:
        if not name.exists():
            msg = f"there is no file {str(name)!r}"
            raise click.UsageError(msg)
    path = Path(_FIRST)
    runs = tuple(dict.fromkeys(files[1:]))
    try:
        text = first_yaml(files[0], runs).encode()
    except UnicodeEncodeError as error:
        msg = f"the name of a file is not UTF-8 ({error.reason}); rename it"
        raise click.UsageError(msg) from None
    if os.path.lexists(path):
        msg = f"{path} exists; rename it first"
        raise click.UsageError(msg)
    write_whole(path, text)
    click.echo(f"wrote {path}; change it as you like, then: rankine experiment {path}")


def _show_cells(cells: list[Cell], planned: Any, *, as_json: bool) -> None:
    if as_json:
        print_json(
            {
                "output": str(planned.output),
                "cells": [
                    {
                        "run": cell.run,
                        "convention": cell.convention,
                        "metric": cell.metric,
                        "done": cell.done,
                    }
                    for cell in cells
                ],
            }
        )
        return
    from rankine._base.text import count  # noqa: PLC0415
    from rankine._report.tables import shown  # noqa: PLC0415

    missing = sum(not cell.done for cell in cells)
    click.echo(
        f"{count(len(cells), 'cell')} ({planned.size}), {missing:,} to be computed"
    )
    said = planned.said
    roles = ("qrels", "train", "items", "reference", "weights")
    for role in roles:
        if getattr(said, role) is not None:
            click.echo(f"{role}: {shown(planned.near(getattr(said, role)))}")
    for run, path in planned.runs.items():
        of_run = [cell for cell in cells if cell.run == run]
        todo = [cell for cell in of_run if not cell.done]
        reads = shown(planned.near(path)) if todo else "nothing to read"
        click.echo(f"{shown(run)}: {len(todo)} of {len(of_run)} cells; {reads}")
        for convention in planned.conventions:
            names = [cell.metric for cell in todo if cell.convention == convention]
            if names:
                click.echo(f"  {convention}: {', '.join(names)}")
    click.echo(f"results: {shown(planned.output)}")


@contextmanager
def _stopping() -> Iterator[None]:
    """Leave in good order when the process is told to stop."""

    def stop(*_: Any) -> None:
        raise click.exceptions.Exit(_STOPPED)

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _print(result: ExperimentResult, *, as_json: bool) -> None:
    if as_json:
        from rankine._experiment.results import RESULTS  # noqa: PLC0415

        click.echo((result.folder / RESULTS).read_text(encoding="utf-8"), nl=False)
        return
    from rankine._report.comparison import to_text  # noqa: PLC0415
    from rankine._report.tables import shown  # noqa: PLC0415
    from rankine._report.text import Terminal, table_of  # noqa: PLC0415
    from rankine.cli.output import width  # noqa: PLC0415

    see = "all are in results.json"
    for convention, evaluations in result.evaluations.items():
        if len(result.conventions) > 1:
            click.echo(convention)
        if result.compares:
            click.echo(to_text(result.comparisons[convention], width(), see))
        else:
            Terminal().print(table_of(list(evaluations.values()), see))
        click.echo()
    n = len(result.conventions) * len(result.runs) * len(result.metrics)
    click.echo(
        f"{n:,} cells, {result.n_computed:,} of them computed now; the results are in "
        f"{shown(result.folder)}"
    )
