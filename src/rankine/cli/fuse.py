"""rankine fuse RUN RUN [RUN ...] -o FILE."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rankine.cli.options import (
    Whole,
    pairs,
    reading,
    refuse_stdin_twice,
    said,
    teller,
)
from rankine.cli.output import FILE, fitted, say
from rankine.cli.runs import run_files

if TYPE_CHECKING:
    from rankine._runs.views import Run

_PARAMETERS = ("k", "gamma", "sigma", "phi")
_OF_TUNING = ("metric", "folds", "seed")


def _numbers(
    context: click.Context, parameter: click.Parameter, values: tuple[str, ...]
) -> dict[str, float] | None:
    """Read NAME=NUMBER, several times."""
    by_name = {}
    for name, text in pairs(context, parameter, values).items():
        try:
            by_name[name] = float(text)
        except ValueError:
            msg = f"expected NAME=NUMBER, got {name}={text}"
            raise click.BadParameter(msg, param=parameter) from None
    return by_name or None


@click.command()
@click.argument("runs", nargs=-1, required=True, type=FILE, metavar="RUN RUN [RUN ...]")
@click.option(
    "-o", "--output", type=FILE, metavar="FILE",
    help="Where to write the fused run, in the format that the ending stands for, such "
    "as .run, .csv or .parquet. Without it, TREC text is printed.",
)  # fmt: skip
@click.option(
    "--method", metavar="NAME",
    help="By ranks: rrf (the default), isr, log_isr, logn_isr, rbc, borda, condorcet; "
    "by scores: combsum, combmnz, combgmnz, combanz, combmed, combmin, combmax, wsum, "
    "wmnz, mixed. With --tune, wsum is the default.",
)  # fmt: skip
@click.option(
    "--norm", default="min-max", show_default=True, metavar="NAME",
    help="How scores are made comparable: min-max, max, sum, z-score, rank, borda or "
    "none.",
)  # fmt: skip
@click.option(
    "--weight", "weights", multiple=True, callback=_numbers, metavar="NAME=NUMBER",
    help="How much a run counts, for wsum, wmnz, mixed and rrf; once for each run.",
)  # fmt: skip
@click.option("-k", type=float, metavar="NUMBER", help="k of rrf; 60 if not given.")
@click.option("--gamma", type=float, metavar="NUMBER", help="gamma of combgmnz.")
@click.option(
    "--sigma",
    type=float,
    metavar="NUMBER",
    help="sigma of logn_isr; 0.01 if not given.",
)
@click.option("--phi", type=float, metavar="NUMBER", help="phi of rbc.")
@click.option(
    "-M", "--depth", type=Whole(1), metavar="N",
    help="Use only the first N items of each list, and keep as many of each fused one.",
)  # fmt: skip
@click.option(
    "--tune", "qrels", type=FILE, metavar="QRELS",
    help="Find the parameters that are best on these judgements, and say what they are "
    "worth on queries that were left out.",
)  # fmt: skip
@click.option(
    "-m", "--metric", metavar="METRIC",
    help="With --tune, what is to be improved; nDCG@10 if not given.",
)  # fmt: skip
@click.option(
    "--folds", type=Whole(2), metavar="N",
    help="With --tune, into how many parts the queries are divided; 5 if not given.",
)  # fmt: skip
@click.option(
    "--seed", type=Whole(0), metavar="N",
    help="With --tune, the seed that assigns queries to parts; 0 if not given.",
)  # fmt: skip
@click.option(
    "--lenient", is_flag=True,
    help="Drop rows without an id and repeated items, rank nan scores last, and report "
    "how many.",
)  # fmt: skip
@reading
def command(
    runs: tuple[Path, ...],
    output: Path | None,
    method: str | None,
    norm: str | None,
    weights: dict[str, float] | None,
    depth: int | None,
    qrels: Path | None,
    verbose: bool,  # noqa: FBT001 - a flag
    **given: Any,
) -> None:
    """Fuse runs: write one run whose items have the scores that all of them give.

    NAME=RUN gives a run a name, for --weight.

    \b
    rankine fuse bm25.run dense.run -o fused.run
    rankine fuse bm25.run dense.run --method combmnz --norm z-score -o fused.run
    rankine fuse a=bm25.run b=dense.run --method wsum --weight a=0.3 --weight b=0.7
    rankine fuse bm25.run dense.run --tune qrels.txt -m nDCG@10 -o fused.run
    """  # noqa: D301 - the mark is for click, which keeps the lines below it
    from rankine._fusion.fuse import fuse_runs  # noqa: PLC0415 - --help stays fast
    from rankine._fusion.grids import recipes_of  # noqa: PLC0415
    from rankine._fusion.recipe import recipe_of  # noqa: PLC0415
    from rankine._fusion.tune import tune_runs  # noqa: PLC0415
    from rankine._stats.pairwise import Settings  # noqa: PLC0415

    named = {run.name or "-": run.path for run in run_files(runs)}
    refuse_stdin_twice(*named.values(), qrels)
    tell = teller(verbose=verbose)
    own = {key: value for key in _PARAMETERS if (value := given.pop(key)) is not None}
    tuning = {key: value for key in _OF_TUNING if (value := given.pop(key)) is not None}
    norm = None if norm == "none" else norm
    if qrels is None:
        if tuning:
            msg = f"--{next(iter(tuning))} is for --tune, which finds parameters"
            raise click.UsageError(msg)
        recipe = recipe_of([*named], method or "rrf", norm, weights, depth, own)
        run = fuse_runs(named, recipe, said(roles=("run",), **given), tell)
        for note in run.notes:
            say(note)
        _write(run, output)
        return
    if own or weights:
        msg = "--tune finds parameters; leave out --weight, -k, --gamma, --sigma, --phi"
        raise click.UsageError(msg)
    tuned = tune_runs(
        named,
        qrels,
        tuning.get("metric", "nDCG@10"),
        recipes_of([*named], method or "wsum", norm, None, depth),
        tuning.get("folds", 5),
        Settings(seed=tuning.get("seed", 0)),
        said(depth=depth, **given),
        tell,
    )
    click.echo(fitted(str(tuned)))
    if output is not None:
        _write(tuned.run, output)


def _write(run: Run, path: Path | None) -> None:
    """Write a run to a file, or print it."""
    if path is None or str(path) == "-":
        run.save("-", format="trec")
        return
    run.save(path)
    say(f"wrote {path}")
