"""Predicted probabilities and ratings against what happened.

All take two columns of the same length, arrays, lists or columns of a frame, and return
a number that also carries the number of rows it is computed from.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar

from rankine._base.checks import check_choice, check_count, check_number
from rankine._metrics import losses as rows
from rankine._metrics.metric import Across
from rankine._stats.exact import root, to_float
from rankine.errors import DataError, ParameterError

if TYPE_CHECKING:
    from collections.abc import Callable

    import polars as pl

    from rankine._metrics.losses import Sums

_EPS = 1e-15
_BINS = 100_000


class Loss(float):
    """A number, and the number of rows it is computed from.

    Attributes:
        n: the number of rows.
        clipped: how many probabilities of what happened were below eps, and were raised
            to it.
    """

    n: int
    clipped: int

    def __new__(cls, value: float, n: int, clipped: int = 0) -> Self:
        """Make a float with two numbers more."""
        made = super().__new__(cls, value)
        made.n = n
        made.clipped = clipped
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        """Return what it is made of, to copy it."""
        return type(self), (float(self), self.n, self.clipped)


def cross_entropy(y: Any, p: Any, *, eps: float = _EPS) -> Loss:
    """Cross entropy of predicted probabilities, or log loss.

    Formula:
        binary: -1/n sum [ y ln p + (1 - y) ln(1 - p) ], p the probability of y = 1
        several classes: -1/n sum ln p of the true class

    Args:
        y: what happened: 0 and 1, or False and True; or the number of a class.
        p: the probability of 1; or a matrix with a row per case and a column per class.
        eps: the smallest probability of what happened; smaller ones are raised to it,
            and counted.

    Returns:
        From 0, smaller is better; `clipped` says how many probabilities were raised to
        eps, for each of which the number depends on eps alone.

    References:
        I. J. Good: Rational decisions. Journal of the Royal Statistical Society B 1952.

    Examples:
        >>> round(cross_entropy([1, 0], [0.8, 0.4]), 4)
        0.367
        >>> round(-(math.log(0.8) + math.log(1 - 0.4)) / 2, 4)
        0.367
    """
    return _CROSS_ENTROPY.at_once(y, p, {"eps": eps})


def normalized_entropy(
    y: Any, p: Any, *, baseline: float | None = None, eps: float = _EPS
) -> Loss:
    """Normalised entropy: cross entropy over that of always predicting the mean rate.

    Formula:
        NE = CE(model) / CE(baseline)

    Args:
        y: what happened, 0 and 1.
        p: the probability of 1.
        baseline: the rate that is always predicted instead; the mean of y if not given.
        eps: as in `cross_entropy`.

    Returns:
        From 0, smaller is better; 1 is as good as the baseline; nan if the baseline is
        never wrong, for example if all y are equal.

    References:
        X. He et al.: Practical lessons from predicting clicks on ads at Facebook.
        ADKDD 2014.

    Examples:
        >>> round(normalized_entropy([1, 0], [0.8, 0.4]), 4)
        0.5295
    """
    return _NORMALIZED.at_once(y, p, {"baseline": baseline, "eps": eps})


def normalized_cross_entropy(
    y: Any, p: Any, *, baseline: float | None = None, eps: float = _EPS
) -> Loss:
    """Normalised cross entropy: the share of the baseline's loss that a model saves.

    Formula:
        NCE = 1 - CE(model) / CE(baseline), the relative information gain

    Args:
        y: what happened, 0 and 1.
        p: the probability of 1.
        baseline: the rate that is always predicted instead; the mean of y if not given.
        eps: as in `cross_entropy`.

    Returns:
        At most 1, larger is better; 0 is as good as the baseline, and below 0 worse;
        nan where `normalized_entropy` is.

    Examples:
        >>> round(normalized_cross_entropy([1, 0], [0.8, 0.4]), 4)
        0.4706
        >>> normalized_cross_entropy([1, 0], [0.2, 0.9]) < 0
        True
    """
    return _GAINED.at_once(y, p, {"baseline": baseline, "eps": eps})


def brier(y: Any, p: Any) -> Loss:
    """Brier score: the mean squared distance of probabilities from what happened.

    Formula:
        binary: 1/n sum (p - y)^2
        several classes: 1/n sum over rows and classes of (p - [is the true class])^2

    Args:
        y: what happened: 0 and 1; or the number of a class.
        p: the probability of 1; or a matrix with a row per case and a column per class.

    Returns:
        0, the best, to 1; 0 to 2 for several classes (twice the binary score when there
        are two).

    References:
        G. W. Brier: Verification of forecasts expressed in terms of probability.
        Monthly Weather Review 1950.

    Examples:
        >>> round(brier([1, 0], [0.8, 0.4]), 4), round((0.2**2 + 0.4**2) / 2, 4)
        (0.1, 0.1)
    """
    return _BRIER.at_once(y, p, {})


class CalibrationError(float):
    """Expected calibration error, with the bins that it is made of.

    Attributes:
        n: the number of rows.
        bins: a frame with a row per bin that has rows: its bounds, how many rows are in
            it, their mean probability, and the share of them in which it happened.
        largest: the largest gap of a bin.
    """

    n: int
    bins: pl.DataFrame
    largest: float

    def __new__(cls, value: float, n: int, bins: pl.DataFrame, largest: float) -> Self:
        """Make a float with a frame."""
        made = super().__new__(cls, value)
        made.n, made.bins, made.largest = n, bins, largest
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        """Return what it is made of, to copy it."""
        return type(self), (float(self), self.n, self.bins, self.largest)


def expected_calibration_error(
    y: Any, p: Any, *, bins: int = 10, by: str = "width"
) -> CalibrationError:
    """Expected calibration error: how far probabilities are from rates, bin by bin.

    Formula:
        ECE = sum_b n_b / n |mean p in b - rate of y in b|

    Args:
        y: what happened, 0 and 1.
        p: the probability of 1.
        bins: how many there are.
        by: bins of equal ``width``, or with equally many rows (``count``).

    Returns:
        0, the best, to 1; it depends on the bins, which come with it.

    References:
        M. P. Naeini, G. F. Cooper, M. Hauskrecht: Obtaining well calibrated
        probabilities using Bayesian binning. AAAI 2015.

    Examples:
        >>> found = expected_calibration_error(
        ...     [1, 0, 1, 1], [0.9, 0.1, 0.8, 0.3], bins=2
        ... )
        >>> round(found, 4), found.bins["n"].to_list()
        (0.225, [2, 2])
    """
    return _CALIBRATION.at_once(y, p, {"bins": bins, "by": by})


def rmse(y: Any, predicted: Any) -> Loss:
    """Root mean squared error of predicted ratings.

    Formula:
        sqrt(1/n sum (predicted - y)^2)

    Args:
        y: the ratings.
        predicted: what was predicted for them.

    Returns:
        From 0, smaller is better.

    Examples:
        >>> rmse([3, 5], [4, 4])
        1.0
    """
    return _RMSE.at_once(y, predicted, {})


def mae(y: Any, predicted: Any) -> Loss:
    """Mean absolute error of predicted ratings.

    Formula:
        1/n sum |predicted - y|

    Args:
        y: the ratings.
        predicted: what was predicted for them.

    Returns:
        From 0, smaller is better.

    Examples:
        >>> mae([3, 5], [4, 3])
        1.5
    """
    return _MAE.at_once(y, predicted, {})


L = TypeVar("L", bound=float)


@dataclass(frozen=True)
class Kind(Generic[L]):
    """What is declared about a loss, and how it is made.

    Attributes:
        name: of its function.
        check: refuses options that are not right.
        gather: turns rows and options into sums.
        finish: turns sums and options into the loss.
        bounds: the smallest and the largest value, of a single column of predictions.
        higher_is_better: the direction.
        undefined: where it is nan, in words; empty if it never is.
        across: the choices that need all rows at once.
    """

    name: str
    check: Callable[..., None]
    gather: Callable[..., Sums]
    finish: Callable[..., L]
    bounds: tuple[float, float] = (0, math.inf)
    higher_is_better: bool = False
    undefined: str = ""
    across: tuple[Across, ...] = ()

    def at_once(self, y: Any, p: Any, options: dict[str, Any]) -> L:
        """Return the loss of what happened and what was predicted."""
        self.check(**options)
        return self.made(self.gather(y, p, **options), options)

    def made(self, sums: Sums, options: dict[str, Any]) -> L:
        """Return the loss of rows, of which there must be one."""
        if sums.n == 0:
            msg = "there are no rows"
            raise DataError(msg)
        return self.finish(sums, **options)


LOSSES: dict[str, Kind[Any]] = {}
"""The losses by the names of their functions."""


def _check_eps(*, eps: float = _EPS, baseline: float | None = None) -> None:
    check_number("eps", eps, above=0, below=0.5)
    if baseline is not None:
        check_number("baseline", baseline, above=0, below=1)


def _check_bins(*, bins: int = 10, by: str = "width") -> None:
    check_count("bins", bins, least=1)
    if bins > _BINS:
        msg = f"bins must be at most {_BINS:,}, got {bins}"
        raise ParameterError(msg)
    check_choice("by", by, ("width", "count"))


def _check_nothing() -> None:
    """There is nothing to choose."""


def _mean(sums: Sums, **_: object) -> Loss:
    return Loss(to_float(sums.total / sums.n), sums.n, sums.clipped)


def _normalized(
    sums: Sums, *, baseline: float | None = None, eps: float = _EPS
) -> Loss:
    found, mean = _mean(sums, eps=eps), sums.hits / sums.n
    rate = mean if baseline is None else float(baseline)
    if rate in {0.0, 1.0}:
        return Loss(math.nan, found.n, found.clipped)
    base = -(mean * math.log(rate) + (1 - mean) * math.log1p(-rate))
    return Loss(found / base if base else math.nan, found.n, found.clipped)


def _gained(sums: Sums, **options: Any) -> Loss:
    found = _normalized(sums, **options)
    return Loss(1 - found, found.n, found.clipped)


def _calibration(sums: Sums, **_: object) -> CalibrationError:
    import polars as pl  # noqa: PLC0415 - polars is imported when it is used

    edges, last = sums.edges, len(sums.edges) - 1
    bins = sorted(sums.bins.items())
    n = [own.n for _, own in bins]
    mean = [to_float(own.total / own.n) for _, own in bins]
    rate = [own.hits / own.n for _, own in bins]
    gap = [abs(one - other) for one, other in zip(mean, rate, strict=True)]
    frame = pl.DataFrame(
        {
            "low": [edges[number] for number, _ in bins],
            "high": [edges[min(number + 1, last)] for number, _ in bins],
            "n": n,
            "predicted": mean,
            "observed": rate,
        }
    )
    shares = (own / sums.n * far for own, far in zip(n, gap, strict=True))
    return CalibrationError(math.fsum(shares), sums.n, frame, max(gap))


def _register(
    name: str, check: Any, gather: Any, finish: Callable[..., L], **facts: Any
) -> Kind[L]:
    """Say how a loss is made, under the name of its function."""
    LOSSES[name] = kind = Kind(name, check, gather, finish, **facts)
    return kind


_CROSS_ENTROPY = _register("cross_entropy", _check_eps, rows.entropies, _mean)
_NORMALIZED = _register(
    "normalized_entropy",
    _check_eps,
    rows.entropies_and_hits,
    _normalized,
    undefined="a baseline that is never wrong",
)
_GAINED = _register(
    "normalized_cross_entropy",
    _check_eps,
    rows.entropies_and_hits,
    _gained,
    bounds=(-math.inf, 1),
    higher_is_better=True,
    undefined="a baseline that is never wrong",
)
_BRIER = _register(
    "brier", _check_nothing, rows.squares_of_chances, _mean, bounds=(0, 1)
)
_CALIBRATION = _register(
    "expected_calibration_error",
    _check_bins,
    rows.binned,
    _calibration,
    bounds=(0, 1),
    across=(Across("by", ("count",), "makes bins of all rows", instead="width"),),
)
_RMSE = _register(
    "rmse",
    _check_nothing,
    rows.squares_of_gaps,
    lambda sums: Loss(root(sums.total / sums.n), sums.n),
)
_MAE = _register("mae", _check_nothing, rows.gaps, _mean)
