"""calibrate: how often a test errs on your own users, by A/A tests."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from rankine._base.checks import check_count, check_number
from rankine._base.notebook import as_table
from rankine._base.text import count, percent
from rankine._online.effects import effect_of
from rankine._online.inputs import check_options, cohort_of, opened
from rankine._online.metrics import check_metrics
from rankine._online.moments import SIDES, Moments
from rankine._online.quantiles import Quantile, QuantileEffect
from rankine._online.results import plain_rows
from rankine._online.spreads import share_of
from rankine.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rankine._base.arrays import AnyArray, Floats
    from rankine._online.measures import Measure

_BLOCK = 1 << 23
"""Draws that are held at once."""
_UPPER = np.triu_indices(SIDES)
_SURE = 0.95
"""The confidence of the interval of a share of false alarms."""


_TOO_MANY = (
    "too many; if a few users make up most of it, winsorize= (--winsorize) caps what "
    "each counts in a test, and max_events= (--max-events) leaves out bots"
)


@dataclass(frozen=True, eq=False)
class Calibration:
    """How often the test of each metric found a difference where there is none.

    Attributes:
        table: one row per metric: the share of false alarms, the bounds of its
            interval, and how many A/A tests had a p-value.
        alpha: the share that is expected.
        users: how many users were split.
        notes: what was assumed and what is odd.
        tied: for each quantile that has fewer false alarms because users are tied at
            it, their share of all users.
    """

    table: pl.DataFrame
    alpha: float
    users: int
    notes: tuple[str, ...] = ()
    tied: Mapping[str, float] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON; undefined ones are None."""
        return {
            "alpha": self.alpha,
            "users": self.users,
            "metrics": plain_rows(self.table),
            "notes": list(self.notes),
            "tied": dict(self.tied),
        }

    def __str__(self) -> str:
        """Return a sentence per metric, and the notes."""
        lines = [self._line(row) for row in self.table.iter_rows(named=True)]
        return "\n".join([*lines, *(f"- {note}" for note in self.notes)])

    def _line(self, row: Mapping[str, Any]) -> str:
        if row["n"] == 0:
            return (
                f"{row['metric']}: no A/A test has a p-value, as the metric does not "
                "vary between users"
            )
        return (
            f"{row['metric']}: {percent(row['false_alarms'], 1)} false alarms in "
            f"{row['n']:,} A/A tests ({percent(row['low'], 1)} to "
            f"{percent(row['high'], 1)}), expected {percent(self.alpha, 1)}: "
            f"{self._word(row)}"
        )

    def _word(self, row: Mapping[str, Any]) -> str:
        if row["metric"] in self.tied:  # a coarse quantile rarely moves: no fault
            tied = percent(self.tied[row["metric"]], 1)
            return f"OK, fewer because {tied} of users are tied at the quantile"
        if row["low"] > self.alpha:
            return _TOO_MANY
        return "too few" if row["high"] < self.alpha else "OK"

    def _repr_html_(self) -> str:
        return as_table(self)


def calibrate(
    data: Any,
    metrics: Mapping[str, Any] | Sequence[str] | None = None,
    n: int = 1000,
    *,
    unit: str | None = None,
    covariates: Mapping[str, Any] | None = None,
    cuped: bool = False,
    winsorize: float | None = None,
    confidence: float = 0.95,
    seed: int = 0,
    memory_limit: int | str | None = None,
    **rules: Any,
) -> Calibration:
    """Split your own users at random again and again, and count the false alarms.

    Each split assigns every user to one of two halves by tossing a coin, so that there
    is no difference to find; a correct test finds one in 1 - confidence of the splits.

    Args:
        data: a table of users or a log of events, as in `ab_test`; variants are
            ignored.
        metrics: as in `ab_test`.
        n: the number of A/A tests.
        unit: for a table of your own, the column of their ids.
        covariates: for a table of your own, the values before the test, as in
            `ab_test`.
        cuped: for events, whether to use those before a user's first exposure.
        winsorize: as in `ab_test`: what users count is cut to this quantile over all of
            them.
        confidence: the level of the tests.
        seed: the seed of the coins, and of what is drawn for quantiles; the same seed
            and data give the same splits.
        memory_limit: for events, as in `ab_test`.
        rules: how events are read, as in `summarize`.

    Returns:
        The share of p-values up to 1 - confidence for each metric, with Wilson's
        interval at 95 %.

    Raises:
        ParameterError: an option is not valid.
        DataError: there are fewer than four users.

    >>> import numpy as np
    >>> import polars as pl
    >>> import rankine as rk
    >>> spent = np.random.default_rng(0).gamma(1, 10, 500)
    >>> users = pl.DataFrame({"id": range(500), "spent": spent})
    >>> calibration = rk.online.calibrate(users, {"spent": "spent"}, unit="id")
    >>> row = calibration.table.row(0, named=True)
    >>> row["low"] < 0.05 < row["high"]
    True
    """
    check_options(calibrate, rules)
    metrics = check_metrics(metrics, in_test=True)
    check_count("n", n, least=1)
    check_count("seed", seed, least=0)
    check_number("confidence", confidence, above=0, below=1)
    if winsorize is not None:
        check_number("winsorize", winsorize, above=0.5, below=1)
    cohort = cohort_of(
        opened(data, metrics, unit, rules), metrics, by="variant" if cuped else None,
        covariates=covariates, cuped=cuped, memory_limit=memory_limit,
    )  # fmt: skip
    if winsorize is not None:
        cohort = cohort.winsorized(winsorize)
    users = cohort.frame.height
    if users < 4:  # noqa: PLR2004 - two halves of two
        msg = f"{count(users, 'user')} cannot be split into two arms; 4 are needed"
        raise DataError(msg)
    rows, alpha = [], 1 - confidence
    tied: dict[str, float] = {}
    rng = np.random.default_rng(seed)
    for measure in cohort.measures:
        several = p_values if measure.quantile is None else _of_quantile
        p = np.concatenate([*several(measure, cohort.columns(), n, seed)])
        known = p[~np.isnan(p)]
        n_found = int(np.count_nonzero(known <= alpha))
        share, (low, high) = share_of(n_found, len(known), _SURE)
        rows.append((measure.name, share, low, high, len(known)))
        if measure.quantile is not None and high < alpha:
            values = measure.statistics(cohort.columns())
            held = Quantile.of(values, measure.quantile, rng)
            if round(held.tied * held.n) > 1:  # the user at the quantile is not alone
                tied[measure.name] = held.tied
    names = ["metric", "false_alarms", "low", "high", "n"]
    table = pl.DataFrame(rows, names, orient="row")
    return Calibration(table, alpha, users, tuple(cohort.notes), tied)


def p_values(
    measure: Measure, users: Mapping[str, Floats], n: int, seed: int
) -> Iterator[Floats]:
    """Yield the p-values of A/A tests, several at a time.

    Sums over the users of one half are products of a matrix of coins with the columns
    and their products, and those of the other half are what is left of the whole.
    """
    columns, height = measure.values(users)
    whole = np.ones((height, SIDES))
    for place, column in enumerate(columns):
        if column is not None:
            whole[:, place] = column
    middle = whole.mean(axis=0)
    apart = whole - middle
    products = apart[:, _UPPER[0]] * apart[:, _UPPER[1]]
    parts = np.column_stack([np.ones(height), whole[:, 0] != 0, apart, products])
    total = parts.sum(axis=0)
    cuped, imputes = measure.before is not None, measure.imputes
    for coins in _splits(height, n, np.random.default_rng(seed)):
        half = coins.astype(np.float64) @ parts
        arms = [_moments(sums, middle) for sums in (half, total - half)]
        yield effect_of(*arms, cuped=cuped, imputes=imputes).p()


def _of_quantile(
    measure: Measure, users: Mapping[str, Floats], n: int, seed: int
) -> Iterator[Floats]:
    """Yield the p-values of A/A tests of a quantile, one at a time."""
    (values, *_), height = measure.values(users)
    rng = np.random.default_rng(seed)
    (draws,) = rng.spawn(1)
    column, share = np.asarray(values), measure.quantile or 0.0
    for coins in _splits(height, n, rng):
        for half in coins.astype(np.bool_):
            arms = column[half], column[~half]
            yield QuantileEffect.of(*arms, share, draws).p()[None]


def _splits(height: int, n: int, rng: np.random.Generator) -> Iterator[AnyArray]:
    """Toss a coin for each user in each of n splits; yield several splits at a time."""
    width = -(-height // 8)
    size = max(1, _BLOCK // height)
    for begin in range(0, n, size):
        several = min(size, n - begin)
        bits = rng.integers(0, 256, (several, width), np.uint8)
        yield np.unpackbits(bits, axis=1, count=height)


def _moments(sums: Floats, middle: Floats) -> Moments:
    n, active = sums[:, 0], sums[:, 1]
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = sums[:, 2 : 2 + SIDES] / n[:, None]
    scatter = np.empty((len(n), SIDES, SIDES))
    scatter[:, _UPPER[0], _UPPER[1]] = sums[:, 2 + SIDES :]
    scatter[:, _UPPER[1], _UPPER[0]] = sums[:, 2 + SIDES :]
    scatter -= n[:, None, None] * mean[:, :, None] * mean[:, None, :]
    return Moments(n, mean + middle, scatter, active)
