"""Many systems on the same queries: every pair, with its test and its verdict."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from rankine._base.checks import check_choice, check_count, check_number
from rankine._stats import paired, simultaneous
from rankine._stats.corrections import CORRECTIONS
from rankine._stats.flips import stepped_down_p
from rankine._stats.jackknife import jackknife
from rankine._stats.paired import DRAWS, Differences
from rankine._stats.tukey import TwoWay
from rankine.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from rankine._base.arrays import Bools, Floats, Ints
    from rankine._stats.jackknife import Jackknife, Whole

TUKEY = ("tukey_hsd", "randomized_tukey_hsd")
TESTS = ("randomization", "t", "wilcoxon", "sign", "bootstrap", *TUKEY)
FAMILIES = ("metric", "all")
INTERVALS = ("pair", "simultaneous")
_WITHOUT_WEIGHTS = ("wilcoxon", "sign", *TUKEY)
_WITH_STRATA = ("randomization", "t")
_FEW_MOVED = 10
"""Differences, below which nothing is called equivalent."""


@dataclass(frozen=True)
class Settings:
    """How systems are compared.

    Attributes:
        test: the name of the test.
        correction: for the number of hypotheses in a family.
        family: ``metric``, the pairs of each metric; or ``all``.
        confidence: the confidence level of intervals; verdicts are given at 1 -
            confidence.
        draws: how many random flips, resamples or permutations.
        seed: the seed of the draws.
        intervals: ``pair``, each interval is of its pair alone; or ``simultaneous``,
            there are also intervals that hold for all pairs of a family at once.
    """

    test: str = "randomization"
    correction: str = "holm"
    family: str = "metric"
    confidence: float = 0.95
    draws: int = DRAWS
    seed: int = 0
    intervals: str = "pair"

    def check(self, *, weighted: bool = False, stratified: bool = False) -> None:
        """Refuse settings that are not valid, or make no sense together."""
        check_choice("test", self.test, TESTS)
        check_choice("correction", self.correction, (*CORRECTIONS, "maxt", "none"))
        check_choice("family", self.family, FAMILIES)
        check_number("confidence", self.confidence, above=0, below=1)
        check_count("draws", self.draws, least=1)
        check_count("seed", self.seed, least=0)
        check_choice("intervals", self.intervals, INTERVALS)
        if self.correction == "maxt" and self.test != "randomization":
            msg = (
                "correction='maxt' flips signs, so it needs test='randomization', not "
                f"{self.test!r}"
            )
            raise ParameterError(msg)
        if self.test in TUKEY and self.correction in {"bonferroni", "bh"}:
            msg = (
                f"test={self.test!r} already corrects for all pairs, and cannot be "
                f"combined with correction={self.correction!r}"
            )
            raise ParameterError(msg)
        if (
            self.is_simultaneous
            and self.test not in TUKEY
            and self.correction not in simultaneous.CORRECTIONS
        ):
            msg = (
                "intervals='simultaneous' needs a correction that limits the risk of "
                f"any error, one of {', '.join(simultaneous.CORRECTIONS)}; got "
                f"correction={self.correction!r}"
            )
            raise ParameterError(msg)
        if weighted and self.test in _WITHOUT_WEIGHTS:
            others = ", ".join(test for test in TESTS if test not in _WITHOUT_WEIGHTS)
            msg = f"test={self.test!r} takes no weights; tests that do are {others}"
            raise ParameterError(msg)
        if stratified and self.test not in _WITH_STRATA:
            msg = (
                f"test={self.test!r} does not test the mean of several collections; "
                f"tests that do are {', '.join(_WITH_STRATA)}"
            )
            raise ParameterError(msg)

    @property
    def alpha(self) -> float:
        """The level at which verdicts are given."""
        return round(1 - self.confidence, 12)  # 0.1 for 0.9, not a bit less

    @property
    def is_simultaneous(self) -> bool:
        """Whether there are intervals for all pairs at once."""
        return self.intervals == "simultaneous"

    @property
    def corrects(self) -> bool:
        """Whether p-values are corrected after the test, and not by the test itself."""
        return self.correction != "none" and self.test not in TUKEY


@dataclass(frozen=True, eq=False)
class Pairwise:
    """All pairs of systems under all metrics, an entry per pair and metric.

    Attributes:
        metric, a, b: the numbers of the metric and of the two systems.
        n: how many queries both have.
        difference: the mean of b minus that of a, on these.
        low, high: the bounds of its interval.
        low_all, high_all: those of the interval that holds for all pairs of the family
            at once; nan if that was not asked for.
        p: the p-value.
        p_corrected: the same, corrected for the family.
        effect: the difference over the deviation of differences.
        superiority: how likely b is better on a query, ties counting half.
        wins, ties, losses: how many queries are better, the same and worse with b.
        n_moved: how many are not the same.
        n_tested: how many hypotheses of the family have a p-value.
        p_equivalent: the corrected p-value against a difference of the margin or more;
            nan without a margin.
        low_equivalent, high_equivalent: the bounds of the 1 - 2 alpha interval of the
            pair alone, which is inside the margin where its own p-value is at most
            alpha.
        n_equivalent: how many hypotheses of the family were tested against a margin.
        error: the standard error of the difference.
        deviation: the standard deviation of differences.
        verdicts: better, worse, equivalent, better or worse and equivalent, or cannot
            tell; different for a metric without a direction.
    """

    metric: Ints
    a: Ints
    b: Ints
    n: Ints
    difference: Floats
    low: Floats
    high: Floats
    low_all: Floats
    high_all: Floats
    p: Floats
    p_corrected: Floats
    effect: Floats
    superiority: Floats
    wins: Ints
    ties: Ints
    losses: Ints
    n_moved: Ints
    n_tested: Ints
    p_equivalent: Floats
    low_equivalent: Floats
    high_equivalent: Floats
    n_equivalent: Ints
    error: Floats
    deviation: Floats
    verdicts: tuple[str, ...] = ()


def compare_values(
    values: Floats,
    settings: Settings,
    *,
    baseline: int | None = None,
    weights: Floats | None = None,
    directions: tuple[bool | None, ...] = (),
    margins: Floats | None = None,
    wholes: Mapping[int, Whole] | None = None,
    strata: Ints | None = None,
) -> Pairwise:
    """Compare systems on the queries that both of a pair have.

    Args:
        values: by metric, system and query; nan where there is none.
        settings: how.
        baseline: the number of the system to compare all others with; every pair is
            compared if there is none. Tukey's tests always compare every pair.
        weights: how much each query counts.
        directions: per metric, whether higher is better; None for a metric without a
            direction, where a difference is only called different.
        margins: per metric, the difference that does not matter; nan for none.
        wholes: the metrics that are a single number for all users, by their numbers.
            The jackknife's z-test replaces the test for them.
        strata: the number of the stratum of each query, if a mean is that of the means
            of strata; see `Differences`.
    """
    n_metrics, n_systems, _ = values.shape
    if settings.test in TUKEY:
        # Of the queries on which all systems have a value, for every number of a pair.
        missing = np.isnan(values).any(axis=1, keepdims=True)
        values = np.where(missing, np.nan, values)
    pairs = list(combinations(range(n_systems), 2))
    if baseline is not None and settings.test not in TUKEY:
        others = [number for number in range(n_systems) if number != baseline]
        pairs = [(baseline, other) for other in others]
    metric = np.repeat(np.arange(n_metrics), len(pairs))
    a, b = np.array(pairs * n_metrics, dtype=np.int64).reshape(-1, 2).T
    differences = Differences(values[metric, b] - values[metric, a], weights, strata)
    low, high = differences.interval(settings.confidence)
    effect = differences.effect
    if settings.test == "bootstrap":
        p, bounds = paired.bootstrap_p(
            differences, settings.draws, settings.seed, settings.confidence
        )
        low, high = np.array(bounds).reshape(-1, 2).T
    elif settings.test in TUKEY:
        p, low, high, effect = _tukey(values, metric, a, b, settings)
    else:
        p = _SIMPLE[settings.test](differences, settings)
    of_all = jackknife(wholes or {}, metric, a, b)
    p = np.where(of_all.whole, of_all.p(), p)
    families = metric if settings.family == "metric" else np.zeros_like(metric)
    n_tested = _sizes(families, ~np.isnan(p))
    corrected = _corrected(p, families, differences, settings)
    equivalence = _equivalence(differences, of_all, metric, families, margins)
    at_margin = 1 - 2 * settings.alpha if settings.alpha < 1 / 2 else math.nan
    ways = directions or (True,) * n_metrics
    falls = np.array([ways[number] is False for number in metric], dtype=bool)
    superiority = differences.superiority
    none = np.full(len(metric), np.nan)
    compared = Pairwise(
        metric, a, b, differences.n, differences.mean, low, high, none, none, p,
        corrected, effect, np.where(falls, 1 - superiority, superiority),
        np.where(falls, differences.losses, differences.wins),
        differences.n - differences.n_moved,
        np.where(falls, differences.wins, differences.losses), differences.n_moved,
        n_tested, equivalence[0], *differences.interval(at_margin), equivalence[1],
        differences.error, differences.deviation,
    )  # fmt: skip
    whole = of_all.whole
    if whole.any():
        low, high = of_all.interval(settings.confidence)
        low_equivalent, high_equivalent = of_all.interval(at_margin)
        compared = replace(
            compared,
            n=np.where(whole, of_all.n, compared.n),
            n_moved=np.where(whole, of_all.n_moved, compared.n_moved),
            difference=np.where(whole, of_all.difference, compared.difference),
            low=np.where(whole, low, compared.low),
            high=np.where(whole, high, compared.high),
            low_equivalent=np.where(whole, low_equivalent, compared.low_equivalent),
            high_equivalent=np.where(whole, high_equivalent, compared.high_equivalent),
            error=np.where(whole, of_all.error, compared.error),
        )
    if settings.is_simultaneous:
        low, high = compared.low, compared.high  # Tukey's hold for all pairs already
        if settings.test not in TUKEY:
            low, high = simultaneous.simultaneous_intervals(
                differences, of_all, families, n_tested, settings
            )
        compared = replace(compared, low_all=low, high_all=high)
    return _with_verdicts(compared, [ways[number] for number in metric], settings.alpha)


_SIMPLE: dict[str, Callable[[Differences, Settings], Floats]] = {
    "randomization": lambda d, how: paired.randomization_p(d, how.draws, how.seed),
    "t": lambda d, _: paired.t_p(d),
    "wilcoxon": lambda d, _: paired.wilcoxon_p(d),
    "sign": lambda d, _: paired.sign_p(d),
}


def _tukey(
    values: Floats, metric: Ints, a: Ints, b: Ints, settings: Settings
) -> tuple[Floats, Floats, Floats, Floats]:
    """Return p-values, simultaneous intervals and effects of all pairs.

    Of the queries on which all systems have a value.
    """
    p, low, high, effect = np.full((4, len(metric)), np.nan)
    for number, systems in enumerate(values):
        complete = systems[:, ~np.isnan(systems).any(axis=0)]
        model = TwoWay(complete)
        if model.df < 1:
            continue
        rows = metric == number
        drawn = settings.test == "randomized_tukey_hsd"
        matrix = model.permuted_p(settings.draws, settings.seed) if drawn else model.p()
        mean = model.differences[a[rows], b[rows]]
        reach = model.reach(settings.confidence)
        p[rows], low[rows], high[rows] = (
            matrix[a[rows], b[rows]],
            mean - reach,
            mean + reach,
        )
        with np.errstate(divide="ignore", invalid="ignore"):
            size = mean / np.sqrt(model.residual)
        effect[rows] = np.where(mean == 0, 0.0, size)
    return p, low, high, effect


def _corrected(
    p: Floats, families: Ints, differences: Differences, settings: Settings
) -> Floats:
    """Correct the p-values of each family for their number."""
    if not settings.corrects:
        return p
    if settings.correction == "maxt":
        corrected = stepped_down_p(
            differences.flippable,
            differences.n,
            settings.draws,
            settings.seed,
            families,
        )
    else:
        corrected = np.empty(len(p))
        for family in np.unique(families):
            rows = families == family
            corrected[rows] = CORRECTIONS[settings.correction](p[rows])
    return np.where(np.isnan(p), np.nan, corrected)


def _equivalence(
    differences: Differences,
    of_all: Jackknife,
    metric: Ints,
    families: Ints,
    margins: Floats | None,
) -> tuple[Floats, Ints]:
    """Return the p-values of two one-sided tests, by Holm's correction of a family.

    Also return how many were corrected together.
    """
    if margins is None:
        return np.full(len(metric), np.nan), np.zeros_like(metric)
    margin = margins[metric]
    above, _ = paired.one_sided_p(differences, -margin)
    _, below = paired.one_sided_p(differences, margin)
    larger = np.maximum(above, below)
    p = np.where(of_all.whole, of_all.equivalent_p(margin), larger)
    n_moved = np.where(of_all.whole, of_all.n_moved, differences.n_moved)
    enough = n_moved >= _FEW_MOVED
    corrected = np.full(len(metric), np.nan)
    for family in np.unique(families):
        rows = (families == family) & ~np.isnan(p)
        corrected[rows] = CORRECTIONS["holm"](p[rows])
    return np.where(enough, corrected, np.nan), _sizes(families, ~np.isnan(p))


def _sizes(families: Ints, counted: Bools) -> Ints:
    """Return how many hypotheses of its family count, for each of them."""
    _, places = np.unique(families, return_inverse=True)
    sizes: Ints = np.bincount(places, weights=counted).astype(np.int64)[places]
    return sizes


def _with_verdicts(
    compared: Pairwise, directions: list[bool | None], alpha: float
) -> Pairwise:
    """Add the verdict on each pair."""
    verdicts = []
    for number, higher_is_better in enumerate(directions):
        parts = []
        if compared.p_corrected[number] <= alpha and compared.difference[number] != 0:
            up = bool(compared.difference[number] > 0)
            word = "better" if up == higher_is_better else "worse"
            parts.append("different" if higher_is_better is None else word)
        if compared.p_equivalent[number] <= alpha:
            parts.append("equivalent")
        verdicts.append(", ".join(parts) or "cannot tell")
    return replace(compared, verdicts=tuple(verdicts))
