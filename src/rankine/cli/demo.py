"""rankine demo."""

from __future__ import annotations

import click

_METRICS = ("nDCG@10", "AP", "RR@10", "P@5", "R@20")


@click.command()
def command() -> None:
    """Evaluate three made-up systems on sample data that come with rankine."""
    from rankine._evaluate.compare import compare_evaluations  # noqa: PLC0415
    from rankine._evaluate.evaluate import prepare  # noqa: PLC0415 - --help stays fast
    from rankine._evaluate.options import Options  # noqa: PLC0415
    from rankine._report.text import Terminal, table_of  # noqa: PLC0415
    from rankine._stats.pairwise import Settings  # noqa: PLC0415
    from rankine.data import QRELS, RUNS  # noqa: PLC0415

    job = prepare(_METRICS, Options())
    truth = job.truth(QRELS)
    results = [job.evaluate(truth, job.source(path), path.stem) for path in RUNS]
    console = Terminal()
    console.print("Three systems answer 50 questions to a cookbook, judged 0 to 3.")
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
