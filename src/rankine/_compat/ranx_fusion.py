"""fuse, normalize and optimize_fusion with the face of ranx."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from rankine._compat.ranx_lists import Qrels, Run
from rankine._compat.ranx_metrics import CONVENTION, check_queries
from rankine._compat.ranx_report import formatted, label_of
from rankine._conventions.presets import convention
from rankine._evaluate.evaluate import prepare
from rankine._evaluate.options import Options
from rankine._fusion.fuse import fuse as fuse_with
from rankine._fusion.fuse import fuse_runs
from rankine._fusion.grids import recipes_of
from rankine._fusion.join import join
from rankine._fusion.methods import method_of
from rankine._fusion.norms import norm_of
from rankine._fusion.recipe import Recipe
from rankine._fusion.trials import Trials
from rankine._join.judgements import truth_of
from rankine._report.text import plain_text, table_with
from rankine.errors import ParameterError, nearest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.table import Table

_TRAINED = ("bayesfuse", "mapfuse", "posfuse", "probfuse", "segfuse", "slidefuse")
_WEIGHTED = {
    "w_bordafuse": "method='wsum' with norm='borda' orders documents as it does",
    "w_condorcet": "condorcet has no weights, and wsum with norm='rank' has",
}
"""Weighted votes, and what to do instead."""
_NAMES = {"wsum": "weighted_sum"} | {
    method: f"comb_{method}"
    for method in ("anz", "gmnz", "max", "med", "min", "mnz", "sum")
}
"""What the fused run is called, where it is not the name of the method."""
_INVERTED = "min-max-inverted"
_WEIGHTS = {"wsum": "Weights", "wmnz": "Weights", "mixed": "Weights"}
_RANGES = {
    "rrf": ("k", 10, 100, 10),
    "rbc": ("phi", 0.01, 1.0, 0.01),
    "gmnz": ("gamma", 0.01, 1.0, 0.01),
    "logn_isr": ("sigma", 0.01, 1.0, 0.01),
}
"""Methods with a number to find: its name, the first, the last and the step."""
_TUNED = (*_WEIGHTS, *_RANGES)
_SIGMA = 0.01
"""That of logn_isr, if none is given."""
_WIDE = 100


def fuse(
    runs: Sequence[Run],
    norm: str | None = "min-max",
    method: str = "wsum",
    params: dict[str, Any] | None = None,
) -> Run:
    """Fuse runs of the same queries; `rankine.fuse` explains methods and norms.

    Args:
        runs: the runs, at least two.
        norm: the normalisation; None leaves scores as they are.
        method: the method, by the name that ranx gives it.
        params: its parameters, as `optimize_fusion` returns them.

    Returns:
        The fused run.

    >>> from rankine.compat.ranx import Run, fuse
    >>> bm25 = Run({"q": {"a": 12.5, "b": 11, "c": 3}})
    >>> dense = Run({"q": {"b": 0.9, "d": 0.8}})
    >>> fused = fuse([bm25, dense], method="mnz")
    >>> fused.name, fused["q"]["b"]  # 2 * (8 / 9.5 + 1)
    ('comb_mnz', 3.6842)
    """
    _check(method, runs)
    given = ({"sigma": _SIGMA} if method == "logn_isr" else {}) | (params or {})
    name = given.pop("name", _NAMES.get(method, method))
    turned, plain = _norm(norm)
    views = [run.view for run in runs]
    fused = fuse_with(views, method, norm=plain, lower_is_better=turned, **given)
    return Run._of(fused, name)  # noqa: SLF001 - of our own making


def normalize(run: Run, norm: str = "min-max") -> Run:
    """Normalise the scores of each list.

    >>> from rankine.compat.ranx import Run, normalize
    >>> normalize(Run({"q": {"a": 12, "b": 11, "c": 2}}))
    {'q': {'a': 1.0, 'b': 0.9, 'c': 0.0}}
    """
    turned, plain = _norm(norm)
    recipe = Recipe(method_of("sum"), norm_of(plain), None, {})
    how = Options(lower_is_better=turned)
    return Run._of(fuse_runs({"run": run.view}, recipe, how), run.name)  # noqa: SLF001


@dataclass(repr=False)
class OptimizationReport:
    """What a metric gives for each set of parameters.

    Attributes:
        method: the method.
        configs: the parameters that were tried.
        results: the mean of each of them.
        metric: the metric.
        rounding_digits: how many decimals are shown.
        show_percentages: whether numbers are shown as percentages, with two less.
    """

    method: str
    configs: list[str]
    results: list[float]
    metric: str
    rounding_digits: int = 3
    show_percentages: bool = False

    def to_table(self) -> Table:
        """Return a table of rich, a row for each set of parameters."""
        rows = [
            [
                config,
                formatted(score, self.rounding_digits, percent=self.show_percentages),
            ]
            for config, score in zip(self.configs, self.results, strict=True)
        ]
        parameter = _WEIGHTS.get(self.method) or str(_RANGES[self.method][0])
        return table_with([parameter, label_of(self.metric)], rows, "lr")

    def __repr__(self) -> str:
        """Return the table as text."""
        return plain_text(self.to_table(), _WIDE)


def optimize_fusion(
    qrels: Qrels,
    runs: Sequence[Run],
    norm: str | None = "min-max",
    method: str = "wsum",
    metric: str = "ndcg",
    return_optimization_report: bool = False,  # noqa: FBT001, FBT002 - as in ranx
    rounding_digits: int = 3,
    show_percentages: bool = False,  # noqa: FBT001, FBT002
    show_progress: bool = True,  # noqa: FBT001, FBT002, ARG001 - it takes no time
    **kwargs: float,
) -> Any:
    """Find the parameters that are best on these very queries.

    They look better here than on others; `rankine.tune_fusion` says by how much.

    Args:
        qrels: the judgements.
        runs: the runs, at least two.
        norm: the normalisation.
        method: a method with parameters: ``wsum``, ``wmnz``, ``mixed``, ``rrf``,
            ``rbc``, ``gmnz`` or ``logn_isr``.
        metric: what is to be as large as possible.
        return_optimization_report: whether to return a report, too.
        rounding_digits: how many decimals the report shows.
        show_percentages: whether it shows percentages.
        show_progress: without effect.
        kwargs: ``step`` of weights; or ``step``, ``min_k`` and ``max_k``, with the name
            of the parameter for k.

    Returns:
        The parameters for `fuse`; of equally good ones, those that were tried last. Or
        these and the report.

    >>> from rankine.compat.ranx import Qrels, Run, optimize_fusion
    >>> qrels = Qrels({"q": {"a": 1}})
    >>> good, bad = Run({"q": {"a": 2, "b": 1}}), Run({"q": {"b": 2, "a": 1}})
    >>> optimize_fusion(qrels, [good, bad], metric="mrr")
    {'weights': (1.0, 0.0)}
    """
    _check(method, runs)
    check_queries(qrels, runs[0], "optimize on the queries that both have")
    turned, plain = _norm(norm)
    key, tries = _tries(method, len(runs), kwargs)
    named = {f"run {number}": run.view for number, run in enumerate(runs, 1)}
    recipes = recipes_of([*named], method, plain, {key: tries}, None)
    # A fused list has equal scores in this order, which its input then is.
    rule = convention(CONVENTION).replace(tie="id_desc")
    options = Options(convention=rule, lower_is_better=turned)
    job = prepare(metric, options)
    truth = truth_of(qrels.view, job.of_qrels)
    joined = join({name: job.source(run) for name, run in named.items()}, None)
    votes, _ = recipes[0].votes(joined)
    trials = Trials(job, truth, joined)
    means = [
        float(np.mean(trials.values(recipe.scores(joined, votes))))
        for recipe in recipes
    ]
    best = max(range(len(means)), key=lambda number: (means[number], number))
    found = {key: tries[best]}
    if not return_optimization_report:
        return found
    report = OptimizationReport(
        method,
        [str(value) for value in tries],
        means,
        metric,
        rounding_digits,
        show_percentages,
    )
    return found, report


def _check(method: str, runs: Sequence[Run]) -> None:
    """Refuse what rankine does not have, and runs of different queries."""
    if method in _TRAINED:
        msg = (
            f"{method} learns probabilities from judgements, which rankine does not; "
            f"methods whose parameters are found are {', '.join(_TUNED)}"
        )
        raise ParameterError(msg)
    if method in _WEIGHTED:
        msg = f"rankine has no {method}; {_WEIGHTED[method]}"
        raise ParameterError(msg)
    for other in runs[1:]:
        check_queries(runs[0], other, "fuse runs that have the same queries")


def _norm(norm: str | None) -> tuple[bool, str | None]:
    """Return whether scores are distances, and the normalisation."""
    if norm is not None and norm.replace("_", "-") == _INVERTED:
        return True, "min-max"
    return False, norm


def _tries(method: str, n_runs: int, given: dict[str, float]) -> tuple[str, list[Any]]:
    """Return the name of the parameter of a method, and the values to try."""
    if method in _WEIGHTS:
        known = {"step": 0.1}
        _refuse_others(method, given, known)
        step = given.get("step", known["step"])
        values = _steps(0, 1, step)
        # Rounding leaves some weights out, whose sum is not quite 1, as in ranx.
        every = product(values, repeat=n_runs)
        return "weights", [weights for weights in every if sum(weights) == 1]
    if method not in _RANGES:
        methods = ", ".join(_TUNED)
        msg = f"{method} has no parameters to optimize; methods that have are {methods}"
        raise ParameterError(msg)
    key, first, last, step = _RANGES[method]
    known = {f"min_{key}": first, f"max_{key}": last, "step": step}
    _refuse_others(method, given, known)
    values = _steps(*(known | given).values())
    # With phi = 0 or 1, documents have equal scores.
    return key, [value for value in values if key != "phi" or 0 < value < 1]


def _refuse_others(method: str, given: dict[str, float], known: dict[str, Any]) -> None:
    for name in given:
        if name not in known:
            msg = (
                f"{method} takes {', '.join(known)}, got {name!r}{nearest(name, known)}"
            )
            raise ParameterError(msg)


def _steps(first: float, last: float, step: float) -> list[Any]:
    """Return numbers in steps, as ranx does: to as many decimals as the step has."""
    if isinstance(step, int) and isinstance(first, int):
        return list(range(first, int(last) + 1, step))
    decimals = str(step)[::-1].find(".")
    return [
        round(float(value), decimals) for value in np.arange(first, last + step, step)
    ]
