"""evaluate: judgements, a run and metrics in; one number per query and metric out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rankine._evaluate.job import prepare
from rankine._evaluate.options import Options

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from rankine._conventions.convention import Convention
    from rankine._evaluate.result import Evaluation
    from rankine._metrics.metric import Metric

DEFAULT = ("nDCG@10", "AP", "RR@10")


def evaluate(
    qrels: Any,
    run: Any,
    metrics: str | Metric | Iterable[str | Metric] = DEFAULT,
    *,
    convention: str | Convention = "rankine",
    ties: str | None = None,
    rel: float | None = None,
    catalog: Any = None,
    items: Any = None,
    train: Any = None,
    columns: Mapping[str, Any] | None = None,
    grades: Mapping[Any, float] | None = None,
    depth: int | None = None,
    name: str | None = None,
    order: str | None = None,
    lower_is_better: bool = False,
    lenient: bool = False,
    keep: int | None = None,
) -> Evaluation:
    """Evaluate a run against judgements.

    Args:
        qrels: the judgements: a path, {query: {item: grade}}, {query: {items}}, a
            frame, a sparse matrix, `from_scores`, or what `read_qrels` returns; None if
            no metric needs them.
        run: the retrieved items: a path, {query: {item: score}}, {query: [items in
            order]}, a frame, a sparse matrix, `from_scores`, `from_ranked`, or what
            `read_run` returns.
        metrics: names or metrics.
        convention: whose choices the numbers follow.
        ties: ``average``, ``best`` or ``worst`` order of tied items, instead of the
            convention's order.
        rel: the smallest relevant grade, instead of the convention's. Graded metrics
            such as nDCG keep their grades, as a note says.
        catalog: number of items in the catalogue, or the items, for the metrics that
            need it.
        items: what is known of items, for the metrics that need it: {item: numbers},
            {item: topics}, a frame or a file with a column of items, a matrix whose row
            i is item i, or a function that returns the distance between two items.
        train: the interactions that users had before, in any form of judgements.
        columns: which column is what, as {"query": "userID", "item": ..., "grade": ...,
            "score": ...}; recognised by their names if not given. "features" selects
            columns of items=, if not all are to be used.
        grades: what each grade in words is worth, as {"Viewed": 0, "Clicked": 1}.
        depth: use only the first items of each list, as trec_eval's ``-M`` does.
        name: what to call the run.
        order: what the ranking follows, instead of what the convention says:
            ``score``, ``rank`` (a rank column, even if there are scores),
            ``rank_value`` (the same, but its numbers are the ranks) or ``given``.
        lower_is_better: scores are distances, the smallest first.
        lenient: drop rows without an id and repeated items, rank scores that are nan
            last, and count them in the notes, instead of refusing them.
        keep: how many first items of each list to keep, so that `Evaluation.worst`
            shows those that are not judged too, and the ranks of all that are.

    Returns:
        The values of all queries, their means, intervals and notes.

    Raises:
        UsageError: a metric or an option is not valid.
        DataError: the data cannot be used.

    >>> import rankine as rk
    >>> qrels = {"q1": {"a": 1, "b": 1}, "q2": {"c": 2}}
    >>> run = {"q1": {"a": 0.9, "x": 0.8, "b": 0.7}, "q2": {"x": 0.5, "c": 0.4}}
    >>> rk.evaluate(qrels, run, ["AP", "RR"]).mean
    {'AP': 0.6666666666666666, 'RR': 0.75}
    """
    options = Options(
        convention=convention,
        ties=ties,
        rel=rel,
        catalog=catalog,
        items=items,
        train=train,
        columns=columns,
        grades=grades,
        depth=depth,
        name=name,
        order=order,
        lower_is_better=lower_is_better,
        lenient=lenient,
        keep=keep,
    )
    job = prepare(metrics, options)
    job.check(judged=qrels is not None)
    truth = job.truth(qrels)
    _ = job.known  # before the run, which may be large
    return job.evaluate(truth, job.source(run))
