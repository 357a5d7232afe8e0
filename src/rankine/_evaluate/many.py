"""evaluate_many: several collections, and the means over them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from rankine._base.checks import check_flag
from rankine._base.records import cached_property
from rankine._base.text import common_unit, count
from rankine._evaluate.evaluate import DEFAULT, evaluate
from rankine._evaluate.notes import said_once
from rankine._evaluate.options import options_of
from rankine._evaluate.scalars import safe_label, safe_names_of, scalars_of
from rankine._evaluate.summary import finite
from rankine._stats.intervals import Interval, check_interval, macro_interval
from rankine.errors import DataError, ParameterError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import TypeVar

    from rankine._conventions.convention import Convention
    from rankine._evaluate.result import Evaluation
    from rankine._metrics.metric import Metric

    T = TypeVar("T")

MACRO = "macro"
"""What the means over collections are called in tables."""


@dataclass(frozen=True, eq=False, repr=False)
class MacroEvaluation:
    """A system on several collections, and the means over them.

    ``ev["nDCG@10"]`` is the mean of the collections' numbers, each of which counts the
    same, however many queries it has; `interval` says how certain it is. `table` has
    all numbers, and `collections` the evaluation of each collection.

    Attributes:
        collections: the evaluations, by the names of the collections.

    >>> import rankine as rk
    >>> small = {"q1": {"a": 1}}, {"q1": ["a"]}
    >>> large = {"q1": {"b": 1}, "q2": {"c": 1}}, {"q1": ["x", "b"], "q2": ["c", "y"]}
    >>> ev = rk.evaluate_many({"small": small, "large": large}, "RR")
    >>> ev["RR"], ev.collections["large"]["RR"]
    (0.875, 0.75)
    """

    collections: dict[str, Evaluation]

    @property
    def metrics(self) -> tuple[str, ...]:
        """The names of the metrics, as they were asked for."""
        return next(iter(self.collections.values())).plan.labels

    @property
    def unit(self) -> str:
        """What results call a query: ``query``; or ``user``, if all data say so."""
        return common_unit(each.unit for each in self.collections.values())

    @cached_property
    def mean(self) -> dict[str, float]:
        """The mean of the collections' numbers, by the name of the metric.

        It is nan if a collection has no number.
        """
        n = len(self.collections)
        return {
            label: math.fsum(each[label] for each in self.collections.values()) / n
            for label in self.metrics
        }

    def __getitem__(self, metric: str | Metric) -> float:
        """Return the mean of a metric, under any spelling of its name."""
        return self.mean[self._label(metric)]

    @property
    def _all(self) -> dict[str, Evaluation | MacroEvaluation]:
        return {**self.collections, MACRO: self}

    def _label(self, metric: str | Metric) -> str:
        first = next(iter(self.collections.values()))
        return first._label(metric)  # noqa: SLF001 - of the same package

    def interval(
        self,
        metric: str | Metric,
        confidence: float = 0.95,
        method: str = "bootstrap",
        *,
        n_resamples: int = 2000,
        seed: int = 0,
    ) -> Interval:
        """Return a confidence interval of the mean of a metric over the collections.

        It is about other queries of the same collections, not about other collections.
        The collections have different queries, so the variances of their numbers add
        up: that of the mean of C numbers is their sum over C^2.

        Args:
            metric: one of the metrics that were evaluated.
            confidence: how often such an interval holds the true value.
            method: ``bootstrap``, queries are drawn in each collection by itself, and
                the percentiles are those of the mean; or ``t``, from the collections'
                standard errors, with Satterthwaite's degrees of freedom, which is the
                better one if collections have fewer than about twenty queries.
            n_resamples: how many times queries are drawn.
            seed: the seed of the random numbers.

        Returns:
            Low and high; nan if a collection has fewer than two queries.

        References:
            W. G. Cochran: Sampling techniques, 3rd edition, 1977, chapter 5.
        """
        label = self._label(metric)
        check_interval(confidence, method, n_resamples, seed)
        # In the order of their names, so that the order given does not matter.
        evaluations = [self.collections[name] for name in sorted(self.collections)]
        how: dict[str, Any] = {"n_resamples": n_resamples, "seed": seed}
        if len(evaluations) == 1:
            return evaluations[0].interval(label, confidence, method, **how)
        return macro_interval(
            [each.summaries[label].sample for each in evaluations],
            confidence=confidence,
            method=method,
            **how,
        )

    @cached_property
    def table(self) -> pl.DataFrame:
        """A row per collection and metric; the last ones have the means over them.

        The columns are collection, which is ``macro`` for the means, metric, mean, low
        and high of the 95 % interval, and n, the number of queries.
        """
        rows: list[dict[str, Any]] = []
        for name, each in self._all.items():
            for label in self.metrics:
                low, high = each.interval(label)
                rows.append(
                    {
                        "collection": name,
                        "metric": label,
                        "mean": each[label],
                        "low": low,
                        "high": high,
                        "n": self._n(label, name),
                    }
                )
        return pl.DataFrame(rows)

    def _n(self, label: str, name: str) -> int:
        """Return how many queries of a collection, or of all, have a value."""
        names = self.collections if name == MACRO else [name]
        return sum(self.collections[each].summaries[label].n for each in names)

    def scalars(
        self, prefix: str = "", *, safe: bool = True, intervals: bool = False
    ) -> dict[str, float]:
        """Return the numbers by names that loggers accept, such as ``dl19/ndcg_at_10``.

        The means are ``macro/ndcg_at_10``; see `Evaluation.scalars`.
        """
        check_flag("intervals", intervals)
        names = safe_names_of(self.collections) if safe else {}
        numbers = (
            (
                f"{names.get(name, name)}/{safe_label(label) if safe else label}",
                each[label],
                each.interval(label) if intervals else None,
            )
            for name, each in self._all.items()
            for label in self.metrics
        )
        return scalars_of(numbers, prefix, safe=safe)

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """How the means were made, and the notes of the collections."""
        n = count(len(self.collections), "collection")
        how = f"{MACRO}: the mean over {n}, each with the same weight"
        notes = {name: each.notes for name, each in self.collections.items()}
        return (how, *said_once(notes))

    @cached_property
    def warnings(self) -> tuple[str, ...]:
        """Reasons to doubt the numbers of the collections."""
        warnings = {name: each.warnings for name, each in self.collections.items()}
        return (*said_once(warnings),)

    def to_dict(self) -> dict[str, Any]:
        """Return all numbers with their intervals and notes, ready for JSON."""
        return {
            "collections": {
                name: each.to_dict() for name, each in self.collections.items()
            },
            MACRO: {
                label: dict(
                    zip(
                        ("value", "low", "high"),
                        map(finite, (self[label], *self.interval(label))),
                        strict=True,
                    )
                )
                for label in self.metrics
            },
            "notes": list(self.notes),
            "warnings": list(self.warnings),
        }

    def to_markdown(self) -> str:
        """Return a Markdown table, a row per collection, then the means over them."""
        from rankine._report.macro import evaluation_markdown  # noqa: PLC0415

        return evaluation_markdown(self)

    def __str__(self) -> str:
        """Return the numbers with their intervals, and the notes, as text."""
        from rankine._report.macro import evaluation_text  # noqa: PLC0415

        return evaluation_text(self)

    def __repr__(self) -> str:
        """Return the means in one line."""
        inside = ", ".join(f"{key}={value:.4f}" for key, value in self.mean.items())
        return f"{type(self).__name__}({inside})"

    def _repr_html_(self) -> str:
        from rankine._report.macro import evaluation_html  # noqa: PLC0415

        return evaluation_html(self)


def evaluate_many(
    collections: Mapping[str, tuple[Any, Any]],
    metrics: str | Metric | Iterable[str | Metric] = DEFAULT,
    *,
    convention: str | Convention = "rankine",
    **options: Any,
) -> MacroEvaluation:
    """Evaluate a system on several collections, and average them.

    Each collection counts the same in the means, however many queries it has.

    Args:
        collections: name -> (judgements, run), each in any form that `evaluate` takes.
        metrics: names or metrics.
        convention: whose choices the numbers follow.
        options: the other options of `evaluate`, the same for all collections.

    Returns:
        The evaluation of each collection, and the means over them.

    Raises:
        UsageError: a metric or an option is not valid.
        DataError: the data of a collection cannot be used.

    >>> import rankine as rk
    >>> first = {"q1": {"a": 1}, "q2": {"b": 1}}, {"q1": ["a"], "q2": ["x", "b"]}
    >>> second = {"q1": {"c": 1}, "q2": {"d": 1}}, {"q1": ["c"], "q2": ["d"]}
    >>> ev = rk.evaluate_many({"first": first, "second": second}, "RR")
    >>> ev.table.select("collection", "mean").rows()
    [('first', 0.75), ('second', 1.0), ('macro', 0.875)]
    """
    said: dict[str, Any] = {"convention": convention, **options}
    options_of("evaluate_many", said)

    def evaluated(name: str, qrels: Any, run: Any) -> Evaluation:
        return evaluate(qrels, run, metrics, name=name, **said)

    return MacroEvaluation(each_collection(collections, "run", evaluated))


def each_collection(
    collections: Any, what: str, of: Callable[[str, Any, Any], T]
) -> dict[str, T]:
    """Return what a function makes of each collection, by its name.

    Args:
        collections: name -> (judgements, run or runs).
        what: what stands beside the judgements, ``run`` or ``runs``.
        of: takes the name, the judgements, and what stands beside them.
    """
    form = f"{{name: (qrels, {what})}}"
    if not isinstance(collections, Mapping):
        msg = f"collections must be {form}, got {type(collections).__name__}"
        raise ParameterError(msg)
    if not collections:
        msg = f"there is no collection; give at least one, as {form}"
        raise ParameterError(msg)
    named = {str(name): pair for name, pair in collections.items()}
    if len(named) < len(collections):
        names = ", ".join(map(str, collections))
        msg = f"two collections have the same name as text: {names}"
        raise ParameterError(msg)
    if MACRO in named:
        msg = f"{MACRO!r} is the name of the mean; give the collection another one"
        raise ParameterError(msg)
    for name, pair in named.items():
        if not isinstance(pair, (tuple, list)) or len(pair) != 2:  # noqa: PLR2004 - both
            msg = f"collection {name!r} must be (qrels, {what}), got {_form(pair)}"
            raise ParameterError(msg)
    made = {}
    for name, (qrels, other) in named.items():
        try:
            made[name] = of(name, qrels, other)
        except DataError as error:
            msg = f"{name}: {error}"
            raise type(error)(msg) from None
    return made


def _form(value: Any) -> str:
    kind = type(value).__name__
    return f"a {kind} of {len(value)}" if isinstance(value, (tuple, list)) else kind
