"""Losses of predictions: what each declares, and how sums become a loss."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar

from rankine._base.checks import check_choice, check_count, check_number
from rankine._base.notebook import as_table
from rankine._metrics import losses as rows
from rankine._metrics.metric import Across
from rankine._stats.exact import root, to_float
from rankine.errors import DataError, ParameterError

if TYPE_CHECKING:
    from collections.abc import Callable

    import polars as pl

    from rankine._metrics.losses import LossSums

EPS = 1e-15
"""The smallest probability of the true outcome, if eps is not given."""
_BINS = 100_000


class Loss(float):
    """A number, and the number of rows it is computed from.

    Attributes:
        n: the number of rows.
        clipped: how many probabilities of true outcomes were below eps, and were
            raised to it.
    """

    n: int
    clipped: int

    def __new__(cls, value: float, n: int, clipped: int = 0) -> Self:
        """Make a float that carries two more numbers."""
        loss = super().__new__(cls, value)
        loss.n = n
        loss.clipped = clipped
        return loss

    def __reduce__(self) -> tuple[Any, ...]:
        """Return what it is made of, to copy it."""
        return type(self), (float(self), self.n, self.clipped)

    def _repr_html_(self) -> str:
        return as_table(self)


class CalibrationError(float):
    """Expected calibration error, with its bins.

    Attributes:
        n: the number of rows.
        bins: a frame with a row per bin that is not empty: its bounds, its number of
            rows, their mean probability, and the share of rows with outcome 1.
        largest: the largest gap of a bin.
    """

    n: int
    bins: pl.DataFrame
    largest: float

    def __new__(cls, value: float, n: int, bins: pl.DataFrame, largest: float) -> Self:
        """Make a float that carries a frame."""
        error = super().__new__(cls, value)
        error.n, error.bins, error.largest = n, bins, largest
        return error

    def __reduce__(self) -> tuple[Any, ...]:
        """Return what it is made of, to copy it."""
        return type(self), (float(self), self.n, self.bins, self.largest)

    def _repr_html_(self) -> str:
        return as_table(self)


L = TypeVar("L", bound=float)


@dataclass(frozen=True)
class Kind(Generic[L]):
    """What a loss declares, and how it is computed.

    Attributes:
        name: the name of its function.
        check: refuses invalid options.
        gather: turns rows and options into sums.
        finish: turns sums and options into the loss.
        bounds: the smallest and the largest value, of a single column of predictions.
        higher_is_better: the direction.
        undefined: when it is nan, in words; empty if never.
        across: the choices that need all rows at once.
    """

    name: str
    check: Callable[..., None]
    gather: Callable[..., LossSums]
    finish: Callable[..., L]
    bounds: tuple[float, float] = (0, math.inf)
    higher_is_better: bool = False
    undefined: str = ""
    across: tuple[Across, ...] = ()

    def at_once(self, y: Any, p: Any, options: dict[str, Any]) -> L:
        """Return the loss of outcomes and predictions."""
        self.check(**options)
        return self.made(self.gather(y, p, **options), options)

    def made(self, sums: LossSums, options: dict[str, Any]) -> L:
        """Return the loss of all rows; refuse if there are none."""
        if sums.n == 0:
            msg = "there are no rows"
            raise DataError(msg)
        return self.finish(sums, **options)


LOSSES: dict[str, Kind[Any]] = {}
"""The losses by the names of their functions."""


def _check_eps(*, eps: float = EPS, baseline: float | None = None) -> None:
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
    """Accept no options."""


def _mean(sums: LossSums, **_: object) -> Loss:
    return Loss(to_float(sums.total / sums.n), sums.n, sums.clipped)


def _normalized(
    sums: LossSums, *, baseline: float | None = None, eps: float = EPS
) -> Loss:
    loss, mean = _mean(sums, eps=eps), sums.hits / sums.n
    rate = mean if baseline is None else float(baseline)
    if rate in {0.0, 1.0}:
        return Loss(math.nan, loss.n, loss.clipped)
    base = -(mean * math.log(rate) + (1 - mean) * math.log1p(-rate))
    return Loss(loss / base if base else math.nan, loss.n, loss.clipped)


def _gained(sums: LossSums, **options: Any) -> Loss:
    loss = _normalized(sums, **options)
    return Loss(1 - loss, loss.n, loss.clipped)


def _explained(sums: LossSums, *, centred: bool) -> Loss:
    """Return the share of the ratings' variance that the predictions explain."""

    def around_mean(which: int, *, centred: bool = True) -> Any:
        part = sums.bins[which]
        squares = part.bins[rows.SQUARES].total
        return squares - part.total * part.total / sums.n if centred else squares

    whole = around_mean(rows.RATINGS)
    if not whole > 0:
        return Loss(math.nan, sums.n)
    left = around_mean(rows.GAPS, centred=centred)
    return Loss(1 - to_float(left / whole), sums.n)


def _calibration(sums: LossSums, **_: object) -> CalibrationError:
    import polars as pl  # noqa: PLC0415 - polars is imported when it is used

    edges, last = sums.edges, len(sums.edges) - 1
    bins = sorted(sums.bins.items())
    n = [part.n for _, part in bins]
    mean = [to_float(part.total / part.n) for _, part in bins]
    rate = [part.hits / part.n for _, part in bins]
    gap = [abs(predicted - other) for predicted, other in zip(mean, rate, strict=True)]
    frame = pl.DataFrame(
        {
            "low": [edges[number] for number, _ in bins],
            "high": [edges[min(number + 1, last)] for number, _ in bins],
            "n": n,
            "predicted": mean,
            "observed": rate,
        }
    )
    shares = (size / sums.n * far for size, far in zip(n, gap, strict=True))
    return CalibrationError(math.fsum(shares), sums.n, frame, max(gap))


def _register(
    name: str, check: Any, gather: Any, finish: Callable[..., L], **facts: Any
) -> Kind[L]:
    """Register a loss under the name of its function."""
    LOSSES[name] = kind = Kind(name, check, gather, finish, **facts)
    return kind


CROSS_ENTROPY = _register("cross_entropy", _check_eps, rows.entropies, _mean)
NORMALIZED = _register(
    "normalized_entropy",
    _check_eps,
    rows.entropies_and_hits,
    _normalized,
    undefined="a baseline that is never wrong",
)
GAINED = _register(
    "normalized_cross_entropy",
    _check_eps,
    rows.entropies_and_hits,
    _gained,
    bounds=(-math.inf, 1),
    higher_is_better=True,
    undefined="a baseline that is never wrong",
)
BRIER = _register(
    "brier", _check_nothing, rows.squares_of_chances, _mean, bounds=(0, 1)
)
CALIBRATION = _register(
    "expected_calibration_error",
    _check_bins,
    rows.binned,
    _calibration,
    bounds=(0, 1),
    across=(Across("by", ("count",), "makes bins of all rows", instead="width"),),
)
RMSE = _register(
    "rmse",
    _check_nothing,
    rows.squares_of_gaps,
    lambda sums: Loss(root(sums.total / sums.n), sums.n),
)
MAE = _register("mae", _check_nothing, rows.gaps, _mean)
R_SQUARED = _register(
    "r_squared",
    _check_nothing,
    rows.gaps_and_ratings,
    lambda sums: _explained(sums, centred=False),
    bounds=(-math.inf, 1),
    higher_is_better=True,
    undefined="ratings that are all the same",
)
EXPLAINED = _register(
    "explained_variance",
    _check_nothing,
    rows.gaps_and_ratings,
    lambda sums: _explained(sums, centred=True),
    bounds=(-math.inf, 1),
    higher_is_better=True,
    undefined="ratings that are all the same",
)
