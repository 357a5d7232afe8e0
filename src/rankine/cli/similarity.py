"""rankine similarity RUN RUN [RUN ...]."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from rankine.cli.options import reading, refuse_stdin_twice, said, say_how
from rankine.cli.output import (
    FILE,
    json_option,
    print_json,
    print_tables,
    print_texts,
    record_of,
)
from rankine.cli.runs import run_files


@click.command()
@click.argument("runs", nargs=-1, required=True, type=FILE)
@click.option(
    "-m", "--measure", "measures", multiple=True, metavar="MEASURE",
    help=(
        "RBO(p=0.9), AO@10, Overlap@10, Jaccard@10, tau, rho, r, LIP@10, NDPM or FCP; "
        "RBO(p=0.9), AO@10 and Jaccard@10 if not given."
    ),
)  # fmt: skip
@click.option(
    "-q", "--per-query", is_flag=True, help=("Show every query; only for two runs.")
)
@click.option(
    "--lenient", is_flag=True,
    help=(
        "Drop rows without an id and repeated items, rank nan scores last, and "
        "report how many."
    ),
)  # fmt: skip
@json_option
@reading
def command(
    runs: tuple[Path, ...],
    measures: tuple[str, ...],
    per_query: bool,  # noqa: FBT001 - a flag
    as_json: bool,  # noqa: FBT001
    verbose: bool,  # noqa: FBT001
    **given: Any,
) -> None:
    """Compare runs with each other: two query by query, more as a matrix.

    The first of two runs is the reference of the measures that have one. NAME=RUN gives
    a run a name for the output.

    \b
    rankine similarity bm25.run dense.run -m "RBO(p=0.9)" -m AO@10
    rankine similarity *.run -m "tau(on=intersection)"
    """  # noqa: D301 - the mark is for click, which keeps the lines below it
    from rankine._evaluate.similarity import compare, matrix_of, plan_of  # noqa: PLC0415
    from rankine._evaluate.warnings import Doubts, units_of  # noqa: PLC0415
    from rankine._io import source_of  # noqa: PLC0415 - --help stays fast
    from rankine._join.by_position import all_paired  # noqa: PLC0415
    from rankine._join.lists import lists_of  # noqa: PLC0415

    if len(runs) < 2:  # noqa: PLR2004 - nothing to compare
        msg = "at least two runs are needed, got one"
        raise click.UsageError(msg)
    named = run_files(runs)
    refuse_stdin_twice(*(run.path for run in named))
    plan = plan_of(measures)
    if per_query and len(runs) > 2:  # noqa: PLR2004
        msg = "--per-query needs exactly two runs"
        raise click.UsageError(msg)
    options = said(**given).reading("run")
    sources = [source_of(run.path, options) for run in named]
    names = [
        run.name or source.name for run, source in zip(named, sources, strict=True)
    ]
    if verbose:
        say_how(sources)
    doubts = Doubts(units=units_of(sources))
    lists = [lists_of(source, keyed=True) for source in all_paired(names, sources)]
    if len(runs) > 2:  # noqa: PLR2004
        by_name = dict(zip(names, lists, strict=True))
        matrices = [
            matrix_of(by_name, measure, doubts)  # type: ignore[arg-type]
            for measure in plan.asked
        ]
        print_texts(matrices, as_json=as_json)
        return
    result = compare(plan, lists[0], lists[1], f"{names[0]} and {names[1]}", doubts)
    if as_json:
        print_json(record_of(result, per_query=per_query))
    else:
        print_tables([result], per_query=per_query)
