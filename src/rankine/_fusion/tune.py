"""tune_fusion: parameters found on some queries, and tested on others."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from rankine._base.checks import check_count
from rankine._base.text import count
from rankine._evaluate.compare.compare import check_metric, compare_evaluations
from rankine._evaluate.evaluate import prepare
from rankine._evaluate.options import Options
from rankine._fusion.fuse import fused
from rankine._fusion.grids import recipes_of
from rankine._fusion.join import join
from rankine._fusion.trials import Trials
from rankine._fusion.tuned import TunedFusion
from rankine._io.rows import held
from rankine._io.values import series_of
from rankine._join.ids import text_order
from rankine._runs.several import named_runs
from rankine._stats.pairwise import Settings
from rankine.errors import DataError, ParameterError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from rankine._base.arrays import Floats, Ints
    from rankine._conventions.convention import Convention
    from rankine._evaluate.evaluate import Job
    from rankine._fusion.recipe import Recipe
    from rankine._io.sources import Source
    from rankine._metrics.metric import Metric


def tune_fusion(
    runs: Any,
    qrels: Any,
    metric: str | Metric,
    method: str = "wsum",
    *,
    norm: str | None = "min-max",
    depth: int | None = None,
    grid: Mapping[str, Any] | None = None,
    folds: int = 5,
    seed: int = 0,
    confidence: float = 0.95,
    convention: str | Convention = "rankine",
    rel: float | None = None,
    columns: Mapping[str, Any] | None = None,
    grades: Mapping[Any, float] | None = None,
    lower_is_better: bool = False,
    lenient: bool = False,
) -> TunedFusion:
    """Find the parameters of a fusion on judged queries, and test them on others.

    The judged queries are divided into folds. The queries of each fold are fused with
    the parameters that are best on all other folds, so that no query has a say in how
    it is fused itself; what these lists are worth is the result. The parameters to use
    from then on are those that are best on all queries.

    Args:
        runs: the runs, as in `fuse`.
        qrels: the judgements, as in `evaluate`.
        metric: what is to be improved: a metric with a value for each query.
        method: a method with parameters: ``wsum``, ``wmnz``, ``mixed``, ``rrf``,
            ``combgmnz``, ``logn_isr`` or ``rbc``.
        norm: the normalisation, as in `fuse`.
        depth: use only the first items of each list, as in `fuse`; single runs are cut,
            too.
        grid: parameter -> the values to try, as {"k": [1, 10, 60]}, or {"weights":
            [{name: number}, ...]}. If not given: weights from 0 to 1 that add up to 1,
            in steps of a tenth for up to five runs; k of rrf from 10 to 100; gamma,
            sigma and phi from 0.01 to 0.99.
        folds: how many parts the queries are divided into.
        seed: the seed by which queries are assigned to folds; their order does not
            matter.
        confidence: the level of the interval of the gain.
        convention: whose choices the numbers follow.
        rel: the smallest relevant grade, instead of the convention's.
        columns: which column is what, as in `evaluate`.
        grades: what each grade in words is worth.
        lower_is_better: scores of all runs are distances, the smallest first.
        lenient: drop what is repeated or has no id, instead of refusing it.

    Returns:
        The parameters, what the fused lists are worth on queries that were left out,
        and by how much they are better than the best single run.

    Raises:
        UsageError: a name or an option is not valid.
        DataError: the data cannot be used.

    >>> import rankine as rk
    >>> qrels = {f"q{n}": {"a": 1} for n in range(10)}
    >>> runs = {
    ...     "good": {f"q{n}": {"a": 3, "b": 2, "c": 1} for n in range(10)},
    ...     "bad": {f"q{n}": {"b": 3, "c": 2, "a": 1} for n in range(10)},
    ... }
    >>> tuned = rk.tune_fusion(runs, qrels, "RR")
    >>> tuned.parameters["weights"]
    {'good': 0.7, 'bad': 0.3}
    >>> tuned.held_out["RR"], tuned.best
    (1.0, 'good')
    """
    named = named_runs(runs)
    recipes = recipes_of([*named], method, norm, grid, depth)
    settings = Settings(confidence=confidence, seed=seed)
    options = Options(
        convention=convention,
        rel=rel,
        columns=columns,
        grades=grades,
        depth=depth,
        lower_is_better=lower_is_better,
        lenient=lenient,
    )
    return tune_runs(named, qrels, metric, recipes, folds, settings, options)


def tune_runs(
    named: Mapping[str, Any],
    qrels: Any,
    metric: str | Metric,
    recipes: Sequence[Recipe],
    folds: int,
    settings: Settings,
    options: Options,
    tell: Callable[[Source], object] | None = None,
) -> TunedFusion:
    """Find the best of some recipes.

    Args:
        named: the runs, by their names.
        qrels: the judgements.
        metric: what is to be improved.
        recipes: those that are tried; of equally good ones, the first is taken.
        folds: how many parts the queries are divided into.
        settings: how the best run and the fused one are compared; the seed also assigns
            queries to folds.
        options: how data are read and evaluated.
        tell: is told of judgements and runs when they are read.
    """
    check_count("folds", folds, least=2)
    settings.check()
    job = prepare(metric, options)
    job.tell = tell
    sign = _direction(job)
    truth = job.truth(qrels, *named.values())
    if truth is None:
        msg = "tune_fusion needs judgements, but qrels is None"
        raise ParameterError(msg)
    sources = {name: held(job.source(run)) for name, run in named.items()}
    joined = join(sources, options.depth)
    votes, notes = recipes[0].votes(joined)
    trials = Trials(job, truth, joined)
    single = {name: job.evaluate(truth, run, name) for name, run in sources.items()}
    of_runs = np.array([trials.of(evaluation) for evaluation in single.values()])
    values = np.array(
        [trials.values(recipe.scores(joined, votes)) for recipe in recipes]
    )
    fold = _folds(trials.ids, values, folds, settings.seed)
    final = _best(sign * values)
    picked = [_best(sign * values[:, fold != number]) for number in range(folds)]
    scores = recipes[final].scores(joined, votes)
    mixed = scores.copy()
    for number, which in enumerate(picked):
        of_fold = trials.of_queries(fold == number)
        mixed[of_fold] = recipes[which].scores(joined, votes)[of_fold]
    name = "fused" if "fused" not in named else f"fused by {recipes[0].method.name}"
    lists = joined.run(mixed, options.depth, name, notes)
    held_out = job.evaluate(truth, lists, name)
    best = [*named][_best(sign * of_runs)]
    of_best = trials.of(single[best])
    training = [
        sign * (_mean(values[which, fold != number]) - _mean(of_best[fold != number]))
        for number, which in enumerate(picked)
    ]
    compared = {best: single[best], name: held_out}
    tried = _table([recipe.plain(joined.names) for recipe in recipes])
    return TunedFusion(
        metric=job.plan.labels[0],
        parameters=recipes[final].arguments(joined.names),
        run=fused(joined, recipes[final], scores, notes),
        held_out=held_out,
        runs=single,
        best=best,
        comparison=compare_evaluations(compared, settings, best),
        gain=sign * (_mean(trials.of(held_out)) - _mean(of_best)),
        training_gain=float(np.mean(training)),
        folds=_table_of_folds(values, fold, picked, tried),
        trials=tried.with_columns(mean=pl.Series(_means(values))),
    )


def _direction(job: Job) -> int:
    """Return 1 if large values are good, -1 if small ones are."""
    if len(job.plan.bound) != 1:
        msg = f"tune_fusion needs one metric, got {len(job.plan.bound)}"
        raise ParameterError(msg)
    (asked,), (bound,) = job.plan.labels, job.plan.bound
    check_metric(asked, bound)
    if job.plan.needs - {"judgements"}:
        msg = f"{asked} needs more than judgements, which tune_fusion does not take"
        raise ParameterError(msg)
    if bound.higher_is_better is None:
        msg = f"{asked} is neither better when large nor when small, so it has no best"
        raise ParameterError(msg)
    return 1 if bound.higher_is_better else -1


def _folds(ids: Sequence[Any], values: Floats, n_folds: int, seed: int) -> Ints:
    """Return the fold of each query; -1 for queries without a value.

    Ids are sorted first, so that the order of queries does not matter.
    """
    valued = np.flatnonzero(~np.isnan(values).all(axis=0))
    if len(valued) < n_folds:
        have = f"only {count(len(valued), 'judged query')} with a value"
        msg = f"{n_folds} folds need as many queries, but there is {have}"
        raise DataError(msg)
    by_id = valued[
        np.argsort(text_order(series_of("query", list(ids), "qrels"))[valued])
    ]
    fold = np.full(len(ids), -1)
    drawn = np.random.default_rng(seed).permutation(len(by_id))
    fold[by_id[drawn]] = np.arange(len(by_id)) % n_folds
    return fold


def _best(values: Floats) -> int:
    """Return the first row with the largest mean."""
    return int(np.argmax(_means(values)))


def _means(values: Floats) -> Floats:
    return np.array([_mean(row) for row in values])


def _mean(values: Floats) -> float:
    """Return the mean of the values that there are, whatever their order."""
    there = values[~np.isnan(values)]
    return math.fsum(there) / len(there) if len(there) else -math.inf


def _table(parameters: Sequence[Mapping[str, Any]]) -> pl.DataFrame:
    """Return sets of parameters as a frame, a column for each of them."""
    return pl.DataFrame(
        [
            pl.Series(key, [one[key] for one in parameters], strict=False)
            for key in parameters[0]
        ]
    )


def _table_of_folds(
    values: Floats, fold: Ints, picked: Sequence[int], tried: pl.DataFrame
) -> pl.DataFrame:
    """Return what was chosen without each fold, and what it is worth on it."""
    pairs = list(enumerate(picked))
    return tried[picked].select(
        pl.Series("fold", [number + 1 for number, _ in pairs]),
        pl.Series("queries", [int(np.sum(fold == number)) for number, _ in pairs]),
        pl.all(),
        pl.Series("training", [_mean(values[p, fold != n]) for n, p in pairs]),
        pl.Series("held_out", [_mean(values[p, fold == n]) for n, p in pairs]),
    )
