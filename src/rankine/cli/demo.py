"""rankine demo."""

from __future__ import annotations

from pathlib import Path

import click

from rankine.cli.output import FILE, report_option, write_report

_METRICS = ("nDCG@10", "AP", "RR@10", "P@5", "R@20")
_KEEP = 10
"""How many first items of each list a report shows."""


@click.command()
@click.option("--online", is_flag=True, help="Show metrics of a made-up log instead.")
@click.option(
    "--save", type=FILE, metavar="FILE",
    help="With --online, write the log to a CSV file.",
)  # fmt: skip
@report_option
def command(
    online: bool,  # noqa: FBT001 - a flag
    save: Path | None,
    report: Path | None,
    title: str | None,
) -> None:
    """Evaluate three made-up systems on sample data that come with rankine.

    With --online, summarise a made-up log of events, next to the rates it was drawn
    from.
    """
    if online and report is not None:
        msg = "--report and --online cannot be combined"
        raise click.UsageError(msg)
    if online:
        _online(save)
        return
    if save is not None:
        msg = "--save needs --online"
        raise click.UsageError(msg)
    from rankine._evaluate.compare.compare import compare_evaluations  # noqa: PLC0415
    from rankine._evaluate.evaluate import prepare  # noqa: PLC0415 - --help stays fast
    from rankine._evaluate.options import Options  # noqa: PLC0415
    from rankine._report.text import Terminal, table_of  # noqa: PLC0415
    from rankine._stats.pairwise import Settings  # noqa: PLC0415
    from rankine.data import QRELS, RUNS  # noqa: PLC0415

    job = prepare(_METRICS, Options(keep=_KEEP))
    truth = job.truth(QRELS)
    results = [job.evaluate(truth, job.source(path), path.stem) for path in RUNS]
    console = Terminal()
    console.print("Three systems answer 50 cooking questions, judged 0 to 3.")
    console.print(table_of(results))
    console.print("\nIs hybrid better than vector?")
    better = compare_evaluations(
        {result.name: result for result in results[1:]}, Settings(), "vector"
    )
    for sentence in better.sentences[:3]:
        console.print(f"  {sentence}", soft_wrap=True)
    metrics = " ".join(f"-m {metric}" for metric in _METRICS)
    runs = " ".join(path.name for path in RUNS)
    console.print(
        "\nThe same on your own files:\n"
        f"  rankine evaluate {QRELS.name} {runs} {metrics}\n"
        f"These files are in {QRELS.parent}",
        soft_wrap=True,
    )
    if report is not None:
        every = {result.name: result for result in results}
        compared = compare_evaluations(every, Settings())
        write_report(compared, report, (QRELS, *RUNS), title=title)


def _online(save: Path | None) -> None:
    from rankine._base.paths import write_whole  # noqa: PLC0415 - --help stays fast
    from rankine._online.generate import generate  # noqa: PLC0415
    from rankine._online.summary import summarize  # noqa: PLC0415
    from rankine._report.online import to_text  # noqa: PLC0415
    from rankine.cli.output import width  # noqa: PLC0415

    world = generate()
    if save is not None:
        write_whole(save, world.events.write_csv())
    click.echo("4,000 made-up visitors saw variant A or B of a shop.\n")
    click.echo(to_text(summarize(world.events), width()))
    click.echo("\nThe rates that the log was drawn from:")
    for metric, *values in world.truth.pivot(
        on="variant", index="metric", values="value"
    ).iter_rows():
        each = ", ".join(f"{value:.4f}" for value in values)
        click.echo(f"  {metric}: {each}")
    file = save or "events.csv"
    said = "" if save else "rankine demo --online --save events.csv\n  "
    click.echo(f"\nThe same from a file:\n  {said}rankine online {file}")
