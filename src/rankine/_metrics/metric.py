"""Metric and its registry: names and parameters, no arithmetic.

A metric is a plain function from the joined table to one number per query; its
keyword-only signature is the schema for Python, the command line and YAML. `register`
gives the function a name and declares facts that the rest reads.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, TypeAlias

import numpy as np

from rankine._base.records import cached_property, freeze
from rankine._conventions.convention import FIELDS
from rankine._conventions.spellings import canonical
from rankine._tables.judged import Judged
from rankine.errors import ParameterError, UnknownMetricError, nearest

if TYPE_CHECKING:
    from rankine._base.arrays import Floats
    from rankine._metrics.origin import Origin

Kernel: TypeAlias = "Callable[..., Floats]"
Parts: TypeAlias = "Callable[..., tuple[Floats, Floats]]"
Summary = Literal["mean", "sum", "geometric", "ratio", "run"]
When: TypeAlias = tuple[str, tuple[Any, ...]]
"""A parameter, and the values of it that are meant; none means all but None."""


@dataclass(frozen=True)
class Across:
    """A choice that makes the value of a query depend on the data of all queries.

    Attributes:
        parameter: the parameter that decides it.
        values: the values of the parameter for which it does.
        reads: what is done with all data, in words.
        instead: a value for which the query's own data are enough; None if there is
            none.
        given: the argument that provides what is needed beforehand, if there is one.
    """

    parameter: str
    values: tuple[Any, ...]
    reads: str
    instead: Any = None
    given: str | None = None

    @property
    def is_one_number(self) -> bool:
        """Whether there is only a single number for all queries together."""
        return self.instead is None and self.given is None


HIGHEST_GRADE = Across(
    "max_grade", (None,), "takes the highest grade of all judgements", instead=4
)
"""Without a scale, it is that of the highest grade of all judgements."""


@dataclass(frozen=True, eq=False)
class Fact:
    """What is declared about a metric, once, for all code that needs to know.

    Attributes:
        name: the canonical name.
        kernel: the function from a table to one number per query.
        aliases: other names, read without regard to case.
        at: the parameter that ``@`` sets, if any.
        bounds: the smallest and the largest value.
        endless: parameter -> its values for which the metric has no largest value.
        higher_is_better: the direction, None if there is none.
        summary: how the values of the queries become one number: their mean, their sum,
            their geometric mean, or pooled numerators over pooled denominators; or
            ``run`` if the kernel gives one number for all of them.
        parts: numerator and denominator per query, for metrics that can be pooled.
        pairs: computes the number itself from what all lists show, if it is a mean over
            pairs of queries and the kernel gives each query's part in it.
        without: computes the number without each query in turn, in one pass, if the
            metric is a single number for all queries; it takes every parameter, and
            refuses those for which that is impossible.
        each: computes the share of each query in a number for all queries, for values
            per query; None if queries have no share in it.
        times: how often each query counts if queries are drawn at random; None if all
            count once.
        empty: how a query without relevant items enters the summary: as the convention
            says; as the convention says, but only where the metric has no value
            (``gaps``); not at all where there is no value (``skip``); or with its own
            value, which does not need relevant items (``keep``).
        undefined: what it means where the kernel gives nan for a query that has
            relevant items: that never happens; the query has nothing to gain, and is
            worth what the ``convention`` says of one without relevant items; or the
            metric has no value, and the query is left out and counted in the notes
            (``skip``). A nan that is not declared is left out, too.
        lacks: what the queries on which the convention decides do not have, in words.
        needs: what must be known besides judged items and their ranks: "scores" of all
            retrieved items, the size of the "catalog"; for lists, "judgements",
            "reference", "users", "vectors", "topics", "subtopics", or "train", which
            gives how often items were had; who had what takes "train_rows" as well.
            Each is needed always (True), or when a parameter has certain values.
        binary: whether grades are read only through a threshold.
        ordered: whether the order of tied items can matter.
        by_set: whether it does not matter at which rank above the cutoff an item is.
        symmetric: whether it does not matter which of two runs comes first.
        directed: parameter -> its values for which it matters nevertheless.
        across: the choices that make the value of a query depend on other queries.
        matters: parameter -> when it has an effect, by the value of another parameter.
        contested: why some say that its means should not be compared.
        counts: what a number of all lists is made of: how often each item is shown, or
            how many lists there are of each length.
        follows: parameter -> the field of a convention that decides it where it is not
            given.
        rule: field of a convention -> its value for this metric, unless the convention
            overrides the metric itself.
        origin: the function from which a user made the metric, if one did.
    """

    name: str
    kernel: Kernel
    aliases: tuple[str, ...] = ()
    at: str | None = None
    bounds: tuple[float, float] = (0, 1)
    endless: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    higher_is_better: bool | None = True
    summary: Summary = "mean"
    parts: Parts | None = None
    pairs: Callable[..., float] | None = None
    without: Kernel | None = None
    each: Kernel | None = None
    times: Callable[..., Floats | None] | None = None
    empty: Literal["convention", "gaps", "skip", "keep"] = "convention"
    undefined: Literal["never", "convention", "skip"] = "never"
    lacks: str = "a relevant item"
    needs: Mapping[str, When | Literal[True]] = field(default_factory=dict)
    binary: bool = True
    ordered: bool = True
    by_set: bool = False
    symmetric: bool = True
    directed: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    across: tuple[Across, ...] = ()
    matters: Mapping[str, When] = field(default_factory=dict)
    contested: str = ""
    counts: Literal["items", "lists"] = "items"
    follows: Mapping[str, str] = field(default_factory=dict)
    rule: Mapping[str, Any] = field(default_factory=dict)
    origin: Origin | None = None

    @property
    def of_all(self) -> bool:
        """Whether the number is made of the tallies of all lists together."""
        return self.summary == "run" or self.pairs is not None

    @property
    def meaning(self) -> str:
        """What it measures, in a line; empty if its kernel does not say so."""
        return (inspect.getdoc(self.kernel) or "").partition("\n")[0]

    @cached_property
    def apart(self) -> frozenset[str]:
        """The parameters that share the name of a field but do not follow it."""
        alike = self.parameters.keys() & set(FIELDS)
        return frozenset(key for key in alike if self.follows.get(key) != key)

    def is_field(self, key: str) -> bool:
        """Say whether a choice for the metric is a field of a convention."""
        return key in FIELDS and key not in self.apart

    def idle(self, given: Mapping[str, Any]) -> Iterator[str]:
        """Go through the parameters that are given and have no effect."""
        for key, (other, values) in self.matters.items():
            if key not in given or given[key] == self.parameters[key]:
                continue
            if not _is_meant(given.get(other, self.parameters[other]), values):
                yield key

    @cached_property
    def parameters(self) -> dict[str, Any]:
        """The parameters with their defaults, in the order of the signature."""
        return {
            parameter.name: parameter.default
            for parameter in inspect.signature(self.kernel).parameters.values()
            if parameter.kind is inspect.Parameter.KEYWORD_ONLY
        }


def _is_meant(value: Any, values: tuple[Any, ...]) -> bool:
    """Say whether a value is one of those meant; none means all but None."""
    return value in values if values else value is not None


REGISTRY: dict[str, Fact] = {}


@dataclass(frozen=True, repr=False)
class Metric:
    """A metric with some of its parameters bound.

    ``nDCG @ 10`` binds the cutoff, ``nDCG(gain="exponential")`` any parameter; the text
    of a metric is the expression that makes it. Metrics are equal when name and
    parameters are, and are checked when they are made. A user's own metric keeps its
    function when another one is defined under its name.

    >>> from rankine._metrics.ranking import nDCG
    >>> nDCG(gain="exponential") @ 10
    nDCG(gain='exponential')@10
    """

    facts: ClassVar[dict[str, Fact]] = REGISTRY
    blank: ClassVar[Callable[[], Any]] = Judged.empty

    name: str
    params: tuple[tuple[str, Any], ...] = ()
    fact: Fact = field(default=None, repr=False)  # type: ignore[assignment]
    _bound: Mapping[str, Any] = field(
        init=False, repr=False, compare=False, default_factory=dict
    )
    _chosen: Mapping[str, Any] = field(
        init=False, repr=False, compare=False, default_factory=dict
    )
    _label: str = field(init=False, repr=False, compare=False, default="")

    def __post_init__(self) -> None:
        """Check the parameters by running the kernel on an empty table."""
        given: object = self.fact
        if given is None:
            if self.name not in self.facts:
                msg = f"unknown metric {self.name!r}{nearest(self.name, self.facts)}"
                raise UnknownMetricError(msg)
            object.__setattr__(self, "fact", self.facts[self.name])
        known = self.fact.parameters
        bound = {key: canonical(key, value) for key, value in self.params}
        for key in bound:
            if key not in known:
                takes = ", ".join(known) if known else "none"
                msg = (
                    f"{self.name} has no parameter {key!r}; it takes {takes}"
                    f"{nearest(key, known)}"
                )
                raise ParameterError(msg)
        self.fact.kernel(type(self).blank(), **bound)
        for key in self.fact.idle(bound):
            other, values = self.fact.matters[key]
            needed = " or ".join(f"{other}={value!r}" for value in values)
            when = (
                f"with {other}" if values == (None,) else f"without {needed or other}"
            )
            given = f"{self.name} has {key}={_shown(bound[key])}"
            msg = f"{given}, which has no effect {when}"
            raise ParameterError(msg)
        ordered = tuple((key, freeze(bound[key])) for key in known if key in bound)
        object.__setattr__(self, "params", ordered)
        object.__setattr__(self, "_bound", dict(ordered))
        object.__setattr__(self, "_chosen", {**known, **self._bound})

    def __copy__(self) -> Self:
        """Return itself, as nothing of it can change."""
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """Return itself, with the function that it has."""
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle by the name, and by what identifies a user's own function."""
        given, origin = (self.name, self.params), self.fact.origin
        if origin is None:
            return type(self), given
        return found_again, (type(self), *given, origin.module, origin.mark)

    @property
    def label(self) -> str:
        """The name that a user gave, without what a convention filled in."""
        return self._label or str(self)

    def called(self, label: str) -> Self:
        """Label it with the name under which it was asked for."""
        object.__setattr__(self, "_label", label)
        return self

    def get(self, parameter: str) -> Any:
        """Return the value of a parameter: the bound one, or the default."""
        return self._chosen.get(parameter)

    def binds(self, parameter: str) -> bool:
        """Say whether the parameter was given."""
        return parameter in self._bound

    def takes(self, parameter: str) -> bool:
        """Say whether the metric has such a parameter."""
        return parameter in self.fact.parameters

    @property
    def depth(self) -> int | None:
        """The rank below which nothing matters, None if every rank matters."""
        k = self.get("k")
        return None if k is None else int(k)

    @property
    def needs(self) -> frozenset[str]:
        """What must be known besides judged items and their ranks, by the parameters.

        >>> Metric("AUC").needs, Metric("AUC")(universe="catalogue").needs
        (frozenset(), frozenset({'catalog'}))
        """
        return frozenset(
            need
            for need, when in self.fact.needs.items()
            if when is True or _is_meant(self.get(when[0]), when[1])
        )

    @property
    def bounds(self) -> tuple[float, float]:
        """The smallest and the largest value, given the parameters."""
        endless = self.fact.endless.items()
        low, high = self.fact.bounds
        without_end = any(self.get(key) in values for key, values in endless)
        return (low, math.inf) if without_end else (low, high)

    @property
    def is_symmetric(self) -> bool:
        """Whether it does not matter which of two runs comes first."""
        directed = self.fact.directed.items()
        return self.fact.symmetric and not any(
            self.get(parameter) in values for parameter, values in directed
        )

    @property
    def across(self) -> Across | None:
        """The choice that makes the value of a query depend on others, if any."""
        for choice in self.fact.across:
            if self.get(choice.parameter) in choice.values:
                return choice
        return None

    @property
    def summary(self) -> Summary:
        """How the values of the queries become one number."""
        return "mean" if self.get("aggregate") == "mean" else self.fact.summary

    @property
    def higher_is_better(self) -> bool | None:
        """The direction, None where there is none."""
        direction = self.fact.higher_is_better
        turned = self.get("complement") is True and direction is not None
        return not direction if turned else direction

    @property
    def empty(self) -> str:
        """What a query without relevant items is worth, as in `Fact.empty`.

        For a metric of pairs that counts queries without a pair, the convention decides
        on queries without a relevant item.
        """
        no_pairs = self.takes("single") and self.get("single") == "undefined"
        return "skip" if no_pairs else self.fact.empty

    def values(self, table: Any) -> Floats:
        """Compute one number per query of the table; nan where undefined."""
        return self.fact.kernel(table, **self._bound)

    def without(self, table: Any) -> Floats:
        """Compute the number of all queries without each of them in turn."""
        if self.fact.without is None:
            msg = f"{self} is not a single number for all queries"
            raise ParameterError(msg)
        return self.fact.without(table, **self._chosen)

    def __call__(self, /, **params: Any) -> Self:
        """Bind parameters."""
        bound, cutoff = {**self._bound, **params}, self.fact.at
        if cutoff in bound and bound[cutoff] is self.fact.parameters[cutoff] is None:
            del bound[cutoff]  # None is the default, which means no cutoff
        return type(self)(self.name, (*bound.items(),), self.fact)

    def __matmul__(self, value: Any) -> Self:
        """Bind the parameter that ``@`` stands for, the cutoff for most metrics."""
        cutoff = self.fact.at
        if cutoff is None:
            msg = f"{self.name} has no cutoff; write it without @{value}"
            raise ParameterError(msg)
        return self(**{cutoff: value})  # type: ignore[return-value]

    def __str__(self) -> str:
        """Return the expression that makes this metric, like ``P(rel=2)@5``."""
        cutoff = self.fact.at
        cut = self._bound.get(cutoff) if cutoff else None
        inside = ",".join(
            f"{key}={_shown(value)}"
            for key, value in self.params
            if key != cutoff or cut is None
        )
        text = f"{self.name}({inside})" if inside else self.name
        return text if cut is None else f"{text}@{plain_value(cut)}"

    __repr__ = __str__


def found_again(
    kind: type[Metric],
    name: str,
    params: tuple[tuple[str, Any], ...],
    module: str,
    mark: str,
) -> Metric:
    """Return a pickled metric of the user's own, as it is defined here.

    If it is not defined yet, its module is imported. A metric that is now defined
    differently is refused.
    """
    if name not in kind.facts:
        with suppress(ImportError, ValueError):
            import_module(module)
    metric = kind(name, params)
    origin = metric.fact.origin
    if origin is None or origin.mark != mark:
        msg = (
            f"{name} was defined differently when it was pickled; restore that "
            "definition, or give one of the two another name"
        )
        raise ParameterError(msg)
    return metric


def _shown(value: Any) -> str:
    """Return a parameter as text; a function has its name."""
    if callable(value):
        return str(getattr(value, "__name__", type(value).__name__))
    return repr(plain_value(value))


def plain_value(value: Any) -> Any:
    """Turn NumPy scalars into Python's, so that the text can be read back."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, Mapping):
        return {plain_value(key): plain_value(item) for key, item in value.items()}
    return value


def register(
    name: str, kernel: Kernel, kind: type[Metric] = Metric, **facts: Any
) -> Metric:
    """Give a kernel its name and return it as a metric.

    `at` defaults to ``k`` where the kernel has that parameter. A `kind` of metrics has
    its own names and reads its own kind of table.
    """
    parameters = inspect.signature(kernel).parameters
    facts.setdefault("at", "k" if "k" in parameters else None)
    facts.setdefault("binary", "rel" in parameters and "gain" not in parameters)
    kind.facts[name] = Fact(name, kernel, **facts)
    return kind(name)
