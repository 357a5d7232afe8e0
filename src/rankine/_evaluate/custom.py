"""metric: metrics that users write themselves."""

from __future__ import annotations

import math
from functools import partial
from inspect import Parameter, Signature, signature
from itertools import count, islice
from numbers import Real
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from rankine._evaluate.plan import plan_of
from rankine._metrics import names
from rankine._metrics.lists.kind import LISTED, ListMetric
from rankine._metrics.metric import REGISTRY, Metric, register
from rankine._metrics.origin import Origin
from rankine.errors import DataError, ParameterError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    import polars as pl

    from rankine._base.arrays import Floats, Ints
    from rankine._tables.judged import Judged
    from rankine._tables.lists import Recommended

_TABLE = "table"
"""The first parameter of a kernel."""
_PAIR = 2
_NUMBERS = (Real, np.bool_, np.integer, np.floating)
_definitions = count(1)
CUSTOM: dict[str, int] = {}
"""The names of users' own metrics -> the number of the current definition."""


@overload
def metric(
    function: Callable[..., Any],
    *,
    name: str | None = ...,
    bounds: tuple[float, float] = ...,
    higher_is_better: bool | None = ...,
) -> Metric: ...


@overload
def metric(
    function: None = ...,
    *,
    name: str | None = ...,
    bounds: tuple[float, float] = ...,
    higher_is_better: bool | None = ...,
) -> Callable[[Callable[..., Any]], Metric]: ...


def metric(
    function: Callable[..., Any] | None = None,
    *,
    name: str | None = None,
    bounds: tuple[float, float] = (-math.inf, math.inf),
    higher_is_better: bool | None = True,
) -> Any:
    """Make a metric from a function, to be used like any other metric.

    The function takes the ranking of one query and its judgements, and returns a
    number, or nan if there is none: the query is then left out of the mean and counted
    in the notes, under every convention. If you mean 0, return 0. Its other parameters
    become those of the metric, and must have defaults; if one is called ``k``, ``@10``
    sets it, and the ranking ends there.

    For speed, write a kernel instead: a function whose first parameter is called
    ``table`` takes the joined table of all queries, and returns one number for each.

    Args:
        function: a function of (ranking, judged), where ranking is the list of items,
            best first, and judged is {item: grade}; or of the table.
        name: the name of the metric; that of the function if not given.
        bounds: the smallest and the largest value.
        higher_is_better: the direction, None if there is none.

    Returns:
        The metric. While this Python process runs, its name stands for it as well.
        Copies keep the function; pickles refer to the name, and are refused if it
        stands for another function when they are loaded.

    Raises:
        ParameterError: the function cannot be called in this way, or rankine has a
            metric of that name.

    >>> import rankine as rk
    >>> @rk.metric
    ... def FirstIsGood(ranking, judged):
    ...     return bool(ranking) and judged.get(ranking[0], 0) > 0
    >>> qrels = {"q": {"a": 1}, "r": {"b": 1}}
    >>> run = {"q": ["a", "x"], "r": ["x", "b"]}
    >>> rk.evaluate(qrels, run, ["RR", FirstIsGood]).mean
    {'RR': 0.75, 'FirstIsGood': 0.5}

    >>> @rk.metric(higher_is_better=False)
    ... def Misses(ranking, judged, *, k=None):
    ...     return sum(judged.get(item, 0) < 1 for item in ranking)
    >>> rk.evaluate(qrels, run, "Misses@1").mean
    {'Misses@1': 0.5}
    """
    if function is None:
        return lambda given: metric(
            given, name=name, bounds=bounds, higher_is_better=higher_is_better
        )
    given_function: object = function
    if not callable(given_function):
        msg = f"a metric must be made from a function, got {function!r}"
        raise ParameterError(msg)
    _check_facts(bounds, higher_is_better)
    chosen: str = name or str(getattr(function, "__name__", ""))
    _check_name(chosen)
    try:
        parameters = list(signature(function).parameters.values())
    except (TypeError, ValueError):
        msg = f"the parameters of {function!r} cannot be determined; wrap it in a def"
        raise ParameterError(msg) from None
    given = 1 if parameters and parameters[0].name == _TABLE else _PAIR
    _check_parameters(parameters, given, chosen)
    kind = Metric if given == 1 else ListMetric
    make = _of_table if given == 1 else _of_queries
    kernel: Any = make(function, chosen)
    keywords = [
        parameter.replace(kind=Parameter.KEYWORD_ONLY)
        for parameter in parameters[given:]
    ]
    first = Parameter(_TABLE, Parameter.POSITIONAL_OR_KEYWORD)
    kernel.__signature__ = Signature([first, *keywords])
    kernel.__doc__ = function.__doc__ or f"{chosen}: a metric of your own."
    kernel.__name__ = kernel.__qualname__ = chosen
    facts: dict[str, Any] = {"empty": "keep", "undefined": "skip", "binary": False}
    facts["origin"] = Origin(function)
    if given == _PAIR:
        facts["needs"] = {"judgements": True}
    registered = register(
        chosen, kernel, kind, bounds=bounds, higher_is_better=higher_is_better, **facts
    )
    CUSTOM[chosen] = next(_definitions)
    _look_again()
    return registered


def forget(name: str) -> None:
    """Forget a user's metric."""
    CUSTOM.pop(name, None)
    REGISTRY.pop(name, None)
    LISTED.pop(name, None)
    _look_again()


def _look_again() -> None:
    """Clear caches that depend on the known metrics."""
    names.read_anew()
    plan_of.cache_clear()


def versions(metrics: Iterable[Metric]) -> tuple[tuple[str, int], ...]:
    """Return the current definitions of users' own metrics."""
    named = (metric.name for metric in metrics)
    return tuple((name, CUSTOM[name]) for name in named if name in CUSTOM)


def _check_facts(bounds: Any, higher_is_better: Any) -> None:
    plain = isinstance(bounds, tuple) and len(bounds) == _PAIR
    plain = plain and all(isinstance(bound, _NUMBERS) for bound in bounds)
    if not plain or not bounds[0] < bounds[1]:
        msg = f"bounds must be the smallest and the largest value, got {bounds!r}"
        raise ParameterError(msg)
    if higher_is_better not in (True, False, None):
        msg = f"higher_is_better must be True, False or None, got {higher_is_better!r}"
        raise ParameterError(msg)


def _check_name(name: str) -> None:
    if not isinstance(name, str) or not name.isidentifier():
        msg = f"the name of a metric must be valid for a function, got {name!r}"
        raise ParameterError(msg)
    if name in CUSTOM:
        forget(name)
    try:
        known = names.parse_all(name)
    except UsageError:
        return
    msg = f"{name!r} is already read as {known[0]}; choose another name"
    raise ParameterError(msg)


def _check_parameters(parameters: list[Parameter], given: int, name: str) -> None:
    """Refuse a function that cannot be called with its arguments."""
    positional = {Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD}
    if len(parameters) < given or any(
        parameter.kind not in positional for parameter in parameters[:given]
    ):
        msg = f"{name} must take (ranking, judged), or (table) if it is a kernel"
        raise ParameterError(msg)
    for parameter in parameters[given:]:
        if parameter.name == _TABLE:
            msg = f"{name} has a parameter 'table' that is not the first one"
            raise ParameterError(msg)
        several = parameter.kind in {Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD}
        if several or parameter.default is Parameter.empty:
            msg = f"{name} has a parameter {parameter.name!r} without a default"
            raise ParameterError(msg)


def _of_table(function: Callable[..., Any], name: str) -> Callable[..., Floats]:
    def kernel(table: Judged, **parameters: Any) -> Floats:
        if table.n_queries == 0:
            return np.zeros(0)
        returned = function(table, **parameters)
        try:
            values = np.asarray(returned)
        except ValueError:  # of lists of several lengths
            values = np.zeros(0, dtype=object)
        if values.shape != (table.n_queries,) or values.dtype.kind not in "biuf":
            msg = (
                f"{name} must return {table.n_queries} numbers, one for each query, "
                f"but returned {values.dtype} of shape {values.shape}"
            )
            raise DataError(msg)
        return values.astype(np.float64)

    return kernel


def _of_queries(function: Callable[..., Any], name: str) -> Callable[..., Floats]:
    deepest = signature(function).parameters.get("k")
    default = None if deepest is None else deepest.default

    def kernel(table: Recommended, **parameters: Any) -> Floats:
        judged = table.judged
        if table.n_queries == 0 or judged is None:
            return np.full(table.n_queries, np.nan)
        top = table.top(parameters.get("k", default))
        shown, known = _named(table.item_ids, top.item, judged.member)
        call = partial(function, **parameters) if parameters else function
        grades = zip(known, judged.value.tolist(), strict=True)
        rows, n_judged = top.starts.tolist(), np.diff(judged.starts).tolist()
        values: list[float] = []
        for begin, end, n in zip(rows, rows[1:], n_judged, strict=False):
            value = call(shown[begin:end], dict(islice(grades, n)))
            if type(value) is not float:
                if not isinstance(value, _NUMBERS):
                    msg = (
                        f"{name} returned {value!r} for query "
                        f"{table.user_ids[len(values)]!r}; expected a number"
                    )
                    raise DataError(msg)
                value = float(value)
            values.append(value)
        return np.array(values, dtype=np.float64)

    return kernel


def _named(ids: pl.Series, *numbers: Ints) -> list[list[Any]]:
    """Return the ids of items by their numbers; if they are few, each is made once."""
    if len(ids) > sum(map(len, numbers)):
        return [ids.gather(some).to_list() for some in numbers]
    every = np.empty(len(ids), dtype=object)
    every[:] = ids.to_list()
    return [every[some].tolist() for some in numbers]
