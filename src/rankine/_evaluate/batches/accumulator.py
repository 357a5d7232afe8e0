"""Accumulator: a result from data in batches, or from several machines."""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar, overload

from rankine._base.checks import check_choice
from rankine._evaluate.batches.evaluations import Evaluations
from rankine._evaluate.batches.rates import Rates
from rankine._evaluate.batches.totals import Losses
from rankine._evaluate.evaluate import DEFAULT
from rankine._evaluate.logs.ctr import ctr
from rankine._evaluate.predictions import predictions
from rankine._evaluate.predictions.losses import LOSSES
from rankine.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from rankine._evaluate.batches.evaluations import Accumulated
    from rankine._evaluate.batches.totals import Total
    from rankine._evaluate.logs.estimate import Estimate, Estimates
    from rankine._evaluate.predictions.losses import CalibrationError, Loss
    from rankine._metrics.metric import Metric

LossName = Literal[
    "brier", "cross_entropy", "explained_variance", "mae", "normalized_cross_entropy",
    "normalized_entropy", "r_squared", "rmse",
]  # fmt: skip
BinsName = Literal["expected_calibration_error"]
L = TypeVar("L", bound=float)
R = TypeVar("R")


class Accumulator(Generic[R]):
    """Takes data batch by batch; the result is the same as if all had come at once.

    Sums are exact, so neither the order of the batches nor their sizes change a single
    bit of the result.

    - For metrics, a batch has some queries with all of their judgements and their whole
      lists; the result is an `Evaluation`. Values per query are kept, data are not.
    - For `ctr`, a batch has some logged rounds and the recommendations to their users;
      the result is an `Estimate`, or `Estimates` if estimators are given as a list.
    - For `cross_entropy` and the other functions of predictions, a batch has two
      columns; the result is a number like theirs, or a dict of them by name if the
      functions are given as a list.

    >>> import rankine as rk
    >>> total = rk.Accumulator(["RR", "Coverage"], catalog=4)
    >>> total.update({"q1": {"a"}}, {"q1": ["b", "a"]})
    Accumulator(1 query in 1 batch)
    >>> other = rk.Accumulator(["RR", "Coverage"], catalog=4)
    >>> total.merge(other.update({"q2": {"c"}}, {"q2": ["c"]}))
    Accumulator(2 queries in 2 batches)
    >>> total.result().mean
    {'RR': 0.75, 'Coverage': 0.75}
    >>> total = rk.Accumulator(rk.mae)
    >>> total.update([3, 5], [4, 3]).update([1], [1]).result()
    1.0
    >>> rk.Accumulator([rk.mae]).update([3, 5], [4, 3]).result()
    {'mae': 1.5}
    """

    @overload
    def __init__(
        self: Accumulator[Estimate],
        metrics: Callable[..., Estimate] | Literal["ctr"],
        *,
        estimator: str = ...,
        **options: Any,
    ) -> None: ...

    @overload
    def __init__(
        self: Accumulator[Estimates],
        metrics: Callable[..., Estimate] | Literal["ctr"],
        *,
        estimator: list[str] | tuple[str, ...],
        **options: Any,
    ) -> None: ...

    @overload
    def __init__(
        self: Accumulator[L], metrics: Callable[[Any, Any], L], **options: Any
    ) -> None: ...

    @overload
    def __init__(
        self: Accumulator[Loss], metrics: LossName, **options: Any
    ) -> None: ...

    @overload
    def __init__(
        self: Accumulator[CalibrationError], metrics: BinsName, **options: Any
    ) -> None: ...

    @overload
    def __init__(
        self: Accumulator[dict[str, L]],
        metrics: Sequence[Callable[[Any, Any], L]],
        **options: Any,
    ) -> None: ...

    @overload
    def __init__(
        self: Accumulator[dict[str, Loss | CalibrationError]],
        metrics: Sequence[LossName | BinsName],
        **options: Any,
    ) -> None: ...

    @overload
    def __init__(
        self: Accumulator[Accumulated],
        metrics: str | Metric | Iterable[str | Metric] = ...,
        **options: Any,
    ) -> None: ...

    def __init__(self, metrics: Any = DEFAULT, **options: Any) -> None:
        """Check the metrics and options, before there are data.

        Args:
            metrics: names or metrics; or `ctr`; or functions of predictions, such as
                `cross_entropy`, or their names.
            options: the options of `evaluate`, of `ctr`, or of the functions. Metrics
                have one more, ``renumber=True``: if queries are numbered from 0 in
                every batch, like the rows of matrices without ids, the numbers continue
                from batch to batch.

        >>> import rankine as rk
        >>> total = rk.Accumulator("RR", renumber=True)
        >>> for scores in ([[0.2, 0.8]], [[0.9, 0.1]]):
        ...     total = total.update([[1]], rk.from_scores(scores))
        >>> total.result().per_query.rows()
        [(0, 1.0), (1, 0.5)]
        """
        self._total = _total(metrics, options)

    def update(self, *batch: Any) -> Accumulator[R]:
        """Add a batch.

        Args:
            batch: judgements, which may be None, and a run, or a run alone; a log and
                recommendations; or outcomes and predictions. They may come as a tuple.

        Raises:
            DataError: the batch cannot be used, or has a query that was in an earlier
                batch.
        """
        if len(batch) == 1 and isinstance(batch[0], tuple):
            (batch,) = batch
        if not 1 <= len(batch) <= 2:  # noqa: PLR2004 - a pair
            msg = (
                "update() takes one or two arguments, such as qrels and run, got "
                f"{len(batch)}"
            )
            raise ParameterError(msg)
        self._total.update(*batch)
        return self

    def merge(
        self, other: Accumulator[R], *, repeats: Literal["error", "first"] = "error"
    ) -> Accumulator[R]:
        """Add the data of another accumulator of the same metrics; it is not changed.

        With `renumber`, the numbers of its queries continue those here, so that they
        follow the order in which accumulators are merged.

        Args:
            other: the other accumulator.
            repeats: how to treat a query that both have: ``error`` refuses it;
                ``first`` keeps the values here and drops the others, even if they
                differ, for samplers that repeat queries so that all processes have the
                same number. Notes still count such a query in both. Only metrics whose
                values depend on one query at a time allow it.

        >>> import rankine as rk
        >>> ours, theirs = rk.Accumulator("RR"), rk.Accumulator("RR")
        >>> ours = ours.update({"a": {1}}, {"a": [1]})
        >>> theirs = theirs.update({"a": {1}, "b": {1}}, {"a": [1], "b": [2, 1]})
        >>> ours.merge(theirs, repeats="first").result()["RR"]
        0.75
        """
        check_choice("repeats", repeats, ("error", "first"))
        if type(other) is not Accumulator:
            msg = f"merge() takes another Accumulator, got {other!r}"
            raise ParameterError(msg)
        if other is self:
            msg = "an Accumulator cannot be merged with itself"
            raise ParameterError(msg)
        self._total.merge(other._total, repeats=repeats)
        return self

    def reset(self) -> Accumulator[R]:
        """Forget all batches, for the next epoch; metrics and options stay.

        >>> import rankine as rk
        >>> total = rk.Accumulator("RR").update({"q": {"a"}}, {"q": ["b", "a"]})
        >>> total.reset().update({"q": {"a"}}, {"q": ["a", "b"]}).result()["RR"]
        1.0
        """
        self._total.reset()
        return self

    def result(self) -> R:
        """Return the result of all batches so far."""
        result: R = self._total.result()
        return result

    def __copy__(self) -> Accumulator[R]:
        """Return an independent copy."""
        return deepcopy(self)

    def __repr__(self) -> str:
        """Return how much data the accumulator has."""
        return f"Accumulator({self._total.size})"


def _total(metrics: Any, options: dict[str, Any]) -> Total[Any]:
    several = isinstance(metrics, (list, tuple))
    asked = list(metrics) if several else [metrics]
    names = [_function(entry) for entry in asked]
    if not any(names):
        return Evaluations(metrics, options)
    if set(names) == {"ctr"}:
        return Rates(options)
    if all(name in LOSSES for name in names):
        return Losses([name for name in names if name], options, several=several)
    words = ", ".join(
        name or str(entry) for name, entry in zip(names, asked, strict=True)
    )
    msg = f"{words} need different kinds of data; make an Accumulator for each kind"
    raise ParameterError(msg)


def _function(entry: Any) -> str | None:
    """Return the name of a function for logs or predictions."""
    known = {"ctr": ctr}
    known |= {name: getattr(predictions, name) for name in LOSSES}
    if isinstance(entry, str):
        return entry if entry in known else None
    return next((name for name, function in known.items() if function is entry), None)
