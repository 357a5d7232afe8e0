"""Measures of similarity by name: kernels on two runs, and what is known about them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from rankine._base.checks import check_choice
from rankine._base.text import count
from rankine._metrics.metric import Fact, Metric, register
from rankine._metrics.names import (
    canonical,
    each_cutoff,
    parse_all,
    several,
    without_at,
)
from rankine._metrics.similarity import _correlation as correlation
from rankine._metrics.similarity._correlation import TIED, VARIANTS, Tied, Variant
from rankine._metrics.similarity._overlap import (
    average_overlap_kernel,
    jaccard_kernel,
    overlap_kernel,
    promoted_kernel,
)
from rankine._metrics.similarity._rbo import rbo_kernel
from rankine._tables.inversions import Pairs, inversions, pair_counts
from rankine._tables.paired import Matched, Side
from rankine._tables.segments import starts_of
from rankine.errors import (
    DataError,
    MetricSyntaxError,
    ParameterError,
    UnknownMetricError,
    UsageError,
    nearest,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from rankine._base.arrays import AnyArray, Bools, Floats, Ints

On = Literal["intersection", "union"] | None
ON = ("intersection", "union")
"""Ways to correlate rankings of different items."""
Aggregate = Literal["ratio_of_sums", "mean_of_ratios"]
MEASURES: dict[str, Fact] = {}


@dataclass(frozen=True, repr=False)
class Measure(Metric):
    """A measure of the similarity of two runs, with some of its parameters bound.

    >>> parse_measure("RBO(p=0.98)")
    RBO(p=0.98)
    """

    facts: ClassVar[dict[str, Fact]] = MEASURES
    blank: ClassVar[Callable[[], Any]] = Matched.empty


def parse_measures(text: object) -> tuple[Measure, ...]:
    """Read one measure of similarity or, with several cutoffs, several.

    >>> parse_measures("AO@5,10")
    (AO@5, AO@10)
    """
    listed = each_cutoff(text.strip()) if isinstance(text, str) else []
    return tuple(map(parse_measure, listed)) if listed else (_measure_of(text),)


def parse_measure(text: object) -> Measure:
    """Read a measure of similarity, such as ``RBO(p=0.9)``, ``AO@10`` or ``tau``."""
    measures = parse_measures(text)
    if len(measures) > 1:
        raise MetricSyntaxError(several(str(text), measures, "similarity"))
    return measures[0]


def _measure_of(text: object) -> Measure:
    if isinstance(text, Measure):
        return text
    if not isinstance(text, str):
        msg = f"a measure of similarity must be a name, got {text!r}"
        raise MetricSyntaxError(msg)
    try:
        measure = canonical(text.strip(), Measure)
    except MetricSyntaxError:
        measure = None
    if measure is not None:
        return measure
    name = text.strip().split("(")[0].split("@")[0].strip()
    aliases = [alias for fact in MEASURES.values() for alias in fact.aliases]
    if name in MEASURES or name in aliases or not name:
        msg = f"cannot read the measure {text!r}; write it like RBO(p=0.9) or AO@10"
        raise MetricSyntaxError(msg)
    if _is_metric(text):
        msg = (
            f"{text.strip()} compares a run with judgements, not with another run; use "
            "evaluate()"
        )
    else:
        plain = name == text.strip()
        hint = without_at(name, _measure_of) if plain else ""
        hint = hint or nearest(name, [*MEASURES, *aliases])
        hint = hint or f"; the measures are {', '.join(MEASURES)}"
        msg = f"unknown measure of similarity {name!r}{hint}"
    raise UnknownMetricError(msg)


def _is_metric(text: str) -> bool:
    try:
        return bool(parse_all(text))
    except UsageError:
        return False


def _refuse_different(m: Matched, name: str) -> None:
    other = (m.count < m.x.length) | (m.count < m.y.length)
    n = int(np.count_nonzero(other))
    if n:
        msg = (
            f"the two lists of {count(n, 'query')} do not have the same items; write "
            f"{name}(on='intersection'), or {name}(on='union'), which ranks missing "
            "items after the last one"
        )
        raise DataError(msg)


def _check_on(on: str | None, m: Matched, name: str) -> None:
    if on is not None:
        check_choice("on", on, ON)
    else:
        _refuse_different(m, name)


def _ranks(m: Matched, on: str | None) -> tuple[AnyArray, AnyArray, Ints]:
    """Return two numbers per item, the larger the better, and where queries begin."""
    x, y = -m.x_ranks[0], -m.y_ranks[0]
    if on != "union":
        return x, y, m.starts
    alone_x, x_of = _alone(m.x, m.x_row)
    alone_y, y_of = _alone(m.y, m.y_row)
    last_x, last_y = -(m.x.length + 1), -(m.y.length + 1)
    query = np.concatenate((m.query, x_of, y_of))
    order = np.argsort(query, kind="stable")
    x = np.concatenate((x, -_tops(m.x)[alone_x], last_x[y_of]))[order]
    y = np.concatenate((y, last_y[x_of], -_tops(m.y)[alone_y]))[order]
    return x, y, starts_of(np.bincount(query, minlength=m.n_queries))


def _alone(side: Side, rows: Ints) -> tuple[Ints, Ints]:
    """Return the rows of one side without a counterpart, and their queries."""
    alone: Bools = np.ones(int(side.starts[-1]), dtype=np.bool_)
    alone[rows] = False
    number = np.repeat(np.arange(len(side.length)), side.length)
    return np.flatnonzero(alone), number[alone]


def _tops(side: Side) -> Ints:
    if side.top is not None:
        return side.top
    return np.arange(side.starts[-1]) - np.repeat(side.starts[:-1], side.length) + 1


def _pairs(m: Matched, on: str | None) -> Pairs:
    """Count the pairs of each query; where nothing is tied, only those out of order."""
    if on == "union":
        return pair_counts(*_ranks(m, on))
    n = m.count
    zero = np.zeros(m.n_queries, dtype=np.int64)
    free = np.flatnonzero(~m.tied)
    untied = m if len(free) == m.n_queries else m.take(free)
    counts = Pairs(n * (n - 1) // 2, zero, zero.copy(), zero.copy(), zero.copy())
    counts.discordant[free] = inversions(untied.y_at, untied.starts)
    tied = np.flatnonzero(m.tied)
    if len(tied):
        for column, counted in zip(
            counts, pair_counts(*_ranks(m.take(tied), on)), strict=True
        ):
            column[tied] = counted
    return counts


def tau_kernel(m: Matched, *, variant: Variant = "b", on: On = None) -> Floats:
    """Kendall's tau of the items of two lists; see `kendall_tau`.

    Formula:
        b: (C - D) / sqrt((C + D + T_x) (C + D + T_y)), C and D the pairs in the same
        and in the opposite order, T those tied in only one list

    Args:
        m: the lists of two runs; the first is the reference of ``ap``.
        variant: ``a``, ``b``, ``c``, ``ap`` or ``weighted``.
        on: ``intersection``: the items of both lists; ``union``: all items, where those
            that a list lacks come after its last one. If it is not given, different
            items are an error.

    Returns:
        One value per query, -1 to 1; nan with fewer than two items, and if all are
        tied.

    References:
        M. G. Kendall: The treatment of ties in ranking problems. Biometrika 1945.

    Examples:
        >>> import rankine as rk
        >>> x, y = {"q": ["a", "b", "c"]}, {"q": ["b", "a", "c"]}
        >>> round(rk.similarity(x, y, "tau")["tau"], 4)
        0.3333
    """
    check_choice("variant", variant, VARIANTS)
    _check_on(on, m, "tau")
    if variant in {"ap", "weighted"}:
        return correlation.tau(*_ranks(m, on), variant)
    pairs = _pairs(m, on)
    levels = None
    if variant == "c":
        levels = correlation.fewest_levels(*_ranks(m, on))
    return correlation.tau_of(pairs, variant, levels)


def rho_kernel(m: Matched, *, on: On = None) -> Floats:
    """Spearman's rank correlation of the items of two lists.

    Formula:
        Pearson's r of the ranks, tied items at their mean rank

    Args:
        m: the lists of two runs.
        on: as in tau.

    Returns:
        One value per query, -1 to 1; nan with fewer than two items, and if all are
        tied.

    References:
        C. Spearman: The proof and measurement of association between two things.
        American Journal of Psychology 1904.

    Examples:
        >>> import rankine as rk
        >>> x, y = {"q": ["a", "b", "c"]}, {"q": ["b", "a", "c"]}
        >>> round(rk.similarity(x, y, "rho")["rho"], 4)
        0.5
    """
    _check_on(on, m, "rho")
    return correlation.spearman(*_ranks(m, on))


def pearson_kernel(m: Matched, *, on: On = None) -> Floats:
    """Pearson's correlation of the scores of two lists.

    Formula:
        sum (x - mean x) (y - mean y) / sqrt(sum (x - mean x)^2 sum (y - mean y)^2)

    Args:
        m: the lists of two runs, which must have scores.
        on: ``intersection``: only the items of both lists count.

    Returns:
        One value per query, -1 to 1; nan with fewer than two items, and where all
        scores are equal.

    Examples:
        >>> import rankine as rk
        >>> x, y = {"q": {"a": 3, "b": 2, "c": 1}}, {"q": {"a": 6, "b": 4, "c": 2}}
        >>> round(rk.similarity(x, y, "r")["r"], 12)
        1.0
    """
    _check_on(on, m, "r")
    if on == "union":
        msg = "r needs a score for every item; use r(on='intersection')"
        raise ParameterError(msg)
    if m.n_queries == 0:
        return np.zeros(0)
    if m.x.score is None or m.y.score is None:
        msg = "r needs the scores of both runs, but one has only an order; use rho"
        raise DataError(msg)
    x, y = m.x.score[m.x_row], m.y.score[m.y_row]
    if not (np.isfinite(x).all() and np.isfinite(y).all()):
        msg = "r needs finite scores, but some are infinite; use rho"
        raise DataError(msg)
    return correlation.pearson(x, y, m.starts)


def ndpm_kernel(m: Matched, *, on: On = None) -> Floats:
    """Share of the pairs of the first list that the second contradicts.

    Formula:
        NDPM = (2 C- + Cu) / (2 C), over the C pairs that the first list orders; C- of
        them are reversed in the second list, and Cu are tied in it

    Args:
        m: the lists of the reference, and of another run.
        on: as in tau.

    Returns:
        One value per query, 0 to 1; nan if the reference orders no pair.

    References:
        Y. Y. Yao: Measuring retrieval effectiveness based on user preference of
        documents. JASIS 1995.

    Examples:
        >>> import rankine as rk
        >>> x, y = {"q": ["a", "b", "c"]}, {"q": ["c", "b", "a"]}
        >>> rk.similarity(x, y, "NDPM")["NDPM"]
        1.0
    """
    _check_on(on, m, "NDPM")
    return correlation.over(*_pairs(m, on).distance())


def fcp_parts(
    m: Matched,
    *,
    tied: Tied = "discordant",
    on: On = None,
    aggregate: Aggregate = "ratio_of_sums",
) -> tuple[Floats, Floats]:
    """Return the concordant pairs and all that count, for one number overall."""
    check_choice("tied", tied, TIED)
    check_choice("aggregate", aggregate, ("ratio_of_sums", "mean_of_ratios"))
    _check_on(on, m, "FCP")
    right, wrong = _pairs(m, on).split(tied)
    return right, right + wrong


def fcp_kernel(
    m: Matched,
    *,
    tied: Tied = "discordant",
    on: On = None,
    aggregate: Aggregate = "ratio_of_sums",
) -> Floats:
    """Share of the pairs of the first list that the second has in the same order.

    Formula:
        FCP = concordant pairs / (concordant + discordant pairs)

    Args:
        m: the lists of the reference, and of another run.
        tied: a pair that the second ties is ``discordant``, counts ``half``, or is left
            out (``ignore``).
        on: as in tau.
        aggregate: ``ratio_of_sums``: the pairs of all queries together;
            ``mean_of_ratios``: the mean over queries.

    Returns:
        One value per query, 0 to 1; nan without pairs.

    References:
        Y. Koren, J. Sill: Collaborative filtering on ordinal user feedback. IJCAI 2013.

    Examples:
        >>> import rankine as rk
        >>> x, y = {"q": ["a", "b", "c"]}, {"q": ["b", "a", "c"]}
        >>> round(rk.similarity(x, y, "FCP")["FCP"], 4)
        0.6667
    """
    return correlation.over(*fcp_parts(m, tied=tied, on=on, aggregate=aggregate))


def _measure(
    name: str, kernel: Callable[..., Floats], *aliases: str, **facts: Any
) -> None:
    facts.setdefault("higher_is_better", None)
    facts.update(empty="keep", undefined="skip")
    register(name, kernel, Measure, aliases=aliases, **facts)


_measure("RBO", rbo_kernel, "rank_biased_overlap")
_measure("AO", average_overlap_kernel, "average_overlap")
_measure("Overlap", overlap_kernel, "agreement")
_measure("Jaccard", jaccard_kernel)
_measure(
    "LIP", promoted_kernel, "least_item_promoted", bounds=(0, np.inf), symmetric=False
)
_measure(
    "tau",
    tau_kernel,
    "kendall",
    "kendall_tau",
    bounds=(-1, 1),
    directed={"variant": ("ap",)},
)
_measure("rho", rho_kernel, "spearman", bounds=(-1, 1))
_measure("r", pearson_kernel, "pearson", bounds=(-1, 1), needs={"scores": True})
_measure("NDPM", ndpm_kernel, symmetric=False)
_measure("FCP", fcp_kernel, parts=fcp_parts, directed={"tied": ("discordant", "half")})
