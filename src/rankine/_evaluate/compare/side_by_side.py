"""Evaluating several runs against the same judgements, two files at a time."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from rankine._base.forks import has_threads
from rankine._join.by_position import is_listed, refuse_other_queries

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankine._evaluate.evaluate import Job
    from rankine._evaluate.result import Evaluation
    from rankine._io.sources import Source
    from rankine._join.judgements import Truth

_AHEAD = 2
"""Files that are read at the same time: on two cores, ten of 7 million rows took 4.5 s
instead of 5.2 s, since each of them sometimes waits for its own parser."""


def evaluate_each(
    job: Job, truth: Truth | None, runs: Mapping[str, Any]
) -> dict[str, Evaluation]:
    """Evaluate runs, by their names, in their order.

    Runs that are read in parts are evaluated in threads, unless their memory is
    limited. An error in an earlier run is raised before one in a later run.
    """
    apart = has_threads() and all(
        metric.fact.origin is None for metric in job.plan.asked
    )
    evaluations: dict[str, Evaluation | Future[Evaluation]] = {}
    _ = job.side_data, job.weights  # they are read once, and not by threads
    listed = truth is not None and is_listed(truth.source)
    first: tuple[str, Source] | None = None
    pool = ThreadPoolExecutor(_AHEAD, thread_name_prefix="rankine-run")
    try:
        for name, run in runs.items():
            waiting = [
                future for future in evaluations.values() if isinstance(future, Future)
            ]
            for future in waiting[: 1 - _AHEAD]:
                future.result()
            try:
                source = job.source(run)
                if listed:
                    first = first or (name, source)
                    refuse_other_queries(first[1], source, (first[0], name), "qrels")
                parted = source.in_parts and source.memory is None
                if apart and truth is not None and parted:
                    _ = truth.judgements
                    evaluations[name] = pool.submit(job.evaluate, truth, source, name)
                else:
                    evaluations[name] = job.evaluate(truth, source, name)
            except Exception:
                for future in waiting:
                    future.result()
                raise
        return {
            name: result.result() if isinstance(result, Future) else result
            for name, result in evaluations.items()
        }
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
