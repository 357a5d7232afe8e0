"""evaluate and plot with the face of ranx, by its convention."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from rankine._base.checks import check_choice
from rankine._base.forks import need_threads
from rankine._base.text import count
from rankine._compat.ranx_lists import Qrels, Run
from rankine._evaluate.evaluate import evaluate as evaluate_with
from rankine._report import specs
from rankine._report.charts import altair_of
from rankine._report.export import to_frame
from rankine.errors import DataError, ParameterError

if TYPE_CHECKING:
    from collections.abc import Sequence

CONVENTION = "ranx"
_SHOWN = 3
_RBP = re.compile(r"^rbp@(?=\d)")
_PIXELS = 72
"""What an inch is on the screen."""
_LEVELS = [level / 10 for level in range(11)]
"""The recalls of a curve of precision."""


def evaluate(
    qrels: Any,
    run: Any,
    metrics: Sequence[str] | str,
    return_mean: bool = True,  # noqa: FBT001, FBT002 - the face of ranx
    return_std: bool = False,  # noqa: FBT001, FBT002
    threads: int = 0,  # noqa: ARG001 - rankine uses as many as help
    save_results_in_run: bool = True,  # noqa: FBT001, FBT002
    make_comparable: bool = False,  # noqa: FBT001, FBT002
) -> Any:
    """Evaluate a run against judgements.

    Args:
        qrels: `Qrels`, or judgements in any form that rankine reads.
        run: `Run`, or a run in any form that rankine reads.
        metrics: names of ranx, such as ``ndcg@10-l2`` and ``rbp.95``; or of rankine.
        return_mean: whether to return means, or arrays of values by query.
        return_std: whether means come with standard deviations.
        threads: without effect.
        save_results_in_run: whether a `Run` gets `scores` and `mean_scores`.
        make_comparable: whether to evaluate all judged queries, those that the run
            lacks with an empty list, and no others. Otherwise, both must have the same.

    Returns:
        A number or an array for one metric; {metric: these} for several.

    >>> from rankine.compat.ranx import Qrels, Run, evaluate
    >>> qrels = Qrels({"q": {"a": 5, "b": 3}})
    >>> run = Run({"q": {"a": 0.9, "x": 0.8, "b": 0.7}})
    >>> evaluate(qrels, run, ["map", "mrr"])  # (1/1 + 2/3) / 2, 1/1
    {'map': 0.8333, 'mrr': 1.0}
    >>> evaluate(qrels, run, "precision@2", return_mean=False)
    array([0.5])
    """
    names = names_of(metrics)
    if not make_comparable:
        check_queries(
            qrels,
            run,
            "give make_comparable=True to evaluate all judged queries, and no others",
        )
    asked = {name: _RBP.sub("rbp.", name) for name in names}
    truth, lists = (
        data.view if isinstance(data, (Qrels, Run)) else data for data in (qrels, run)
    )
    found = evaluate_with(truth, lists, [*asked.values()], convention=CONVENTION)
    table = found.per_query
    if isinstance(qrels, Qrels):
        table = table.sort("query")
    values = {name: table[label].to_numpy() for name, label in asked.items()}
    means = {name: found[label] for name, label in asked.items()}
    spreads = {name: float(np.std(own)) for name, own in values.items()}
    if isinstance(run, Run) and save_results_in_run:
        run.mean_scores |= means
        if return_std and return_mean:
            run.std_scores |= spreads
        for name, own in values.items():
            pairs = zip(table["query"].to_list(), own.tolist(), strict=True)
            run.scores[name] |= dict(pairs)
    results: dict[str, Any] = values if not return_mean else dict(means)
    if return_mean and return_std:
        results = {n: {"mean": means[n], "std": spreads[n]} for n in names}
    return results if len(names) > 1 else results[names[0]]


def names_of(metrics: Sequence[str] | str) -> list[str]:
    """Return the names of metrics, each once."""
    names = [metrics] if isinstance(metrics, str) else [*dict.fromkeys(metrics)]
    if not names:
        msg = "metrics is empty; give at least one metric"
        raise ParameterError(msg)
    return names


def run_names(runs: Sequence[Run]) -> list[str]:
    """Return what runs are called: by their names, or by their places from 1."""
    return [
        f"run_{number}" if run.name is None else str(run.name)
        for number, run in enumerate(runs, 1)
    ]


def check_queries(first: Any, second: Any, instead: str) -> None:
    """Refuse judgements and a run, or two runs, that have different queries.

    Args:
        first: judgements or a run; what has no keys is not checked.
        second: a run.
        instead: what to do, in words.
    """
    if not all(hasattr(data, "keys") for data in (first, second)):
        return
    names = _name_of(first, 1), _name_of(second, 2)
    queries = set(first.keys()), set(second.keys())
    for a, b in ((0, 1), (1, 0)):
        missing = queries[a] - queries[b]
        if missing:
            few = ", ".join(map(repr, sorted(missing, key=str)[:_SHOWN]))
            more = ", ..." if len(missing) > _SHOWN else ""
            what = f"{count(len(missing), 'query')} of {names[a]} ({few}{more})"
            msg = f"{names[b]} lacks {what}; {instead}"
            raise DataError(msg)


def _name_of(data: Any, number: int) -> str:
    """Return what to call judgements, or a run at a place."""
    if isinstance(data, Run):
        return str(data.name or f"run {number}")
    return "qrels" if isinstance(data, Qrels) or number == 1 else "the run"


def plot(
    qrels: Qrels,
    runs: Run | Sequence[Run],
    graph: str = "iprec_at_recall",
    return_graph: bool = True,  # noqa: FBT001, FBT002 - the face of ranx
    figsize: tuple[float, float] | None = None,
    seaborn_kwargs: Any = None,  # noqa: ARG001 - the chart is one of Altair
) -> Any:
    """Draw the interpolated precision of runs at eleven recalls.

    Args:
        qrels: the judgements.
        runs: a run or several.
        graph: ``iprec_at_recall``, the only one.
        return_graph: whether to return a chart, or a frame of pandas with the columns
            Model, recall and precision.
        figsize: the width and the height of the chart, in inches.
        seaborn_kwargs: without effect.

    Returns:
        An Altair chart, which needs the extra ``report``; or the frame.
    """
    check_choice("graph", graph, ("iprec_at_recall",))
    listed = [runs] if isinstance(runs, Run) else [*runs]
    names = ["run"] if [*run_names(listed)] == ["run_1"] else run_names(listed)
    metrics = {f"IPrec@{level}": level for level in _LEVELS}
    rows = [
        {"Model": name, "recall": metrics[metric], "precision": value}
        for name, run in zip(names, listed, strict=True)
        for metric, value in evaluate(
            qrels, run, [*metrics], save_results_in_run=False
        ).items()
    ]
    if not return_graph:
        need_threads()
        return to_frame(pl.DataFrame(rows), "pandas")
    size = (
        {} if figsize is None else dict(zip(("width", "height"), figsize, strict=True))
    )
    return altair_of(
        specs.drawing(
            rows,
            mark={"type": "line", "point": True},
            encoding={
                "x": specs.quantity("recall", "recall"),
                "y": specs.quantity("precision", "precision"),
                "color": {"field": "Model", "type": "nominal", "sort": names},
                "tooltip": specs.tooltips("Model", "recall", "precision"),
            },
            **{side: _PIXELS * inches for side, inches in size.items()},
        )
    )
