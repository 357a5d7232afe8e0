"""The metrics of a test: columns of users, and what is computed of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from rankine._base.text import percent
from rankine._online.moments import Moments
from rankine.errors import DataError, ParameterError, nearest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankine._base.arrays import Bools, Floats


@dataclass(frozen=True)
class Measure:
    """A metric of users: a mean, a ratio of two sums, or a quantile.

    Attributes:
        name: what it is called.
        y: the column of numerators.
        x: the column of denominators; None for a mean, where it is 1 for all.
        before: the same two columns from before the test; None without CUPED.
        quantile: the share of users below it, if it is a quantile of y.
        cap: the largest y of a user; larger ones are cut to it.
        cap_x: the same for x.
        higher: whether higher is better; None if neither is.
        assumed: whether higher is taken for better without anybody's word.
        over: what is wrong where y is above x, if it is a share; otherwise empty.
        says: how it is defined, in words.
    """

    name: str
    y: str
    x: str | None = None
    before: tuple[str, str | None] | None = None
    quantile: float | None = None
    cap: float | None = None
    cap_x: float | None = None
    higher: bool | None = True
    over: str = ""
    says: str = ""
    assumed: bool = False

    @property
    def columns(self) -> list[str]:
        """The columns that it needs."""
        return [name for name in (self.y, self.x, *(self.before or ())) if name]

    @property
    def imputes(self) -> bool:
        """Whether users without a value before the test get the mean: in a mean."""
        return self.before is not None and self.before[1] is None

    def sides(self, users: Mapping[str, Floats]) -> tuple[Floats, Floats | None]:
        """Return its numerators and denominators, cut to its caps."""
        y = users[self.y]
        x = None if self.x is None else users[self.x]
        if self.cap is not None:
            y = np.minimum(y, self.cap)
        if x is not None and self.cap_x is not None:
            x = np.minimum(x, self.cap_x)
        return y, x

    def winsorized(self, users: Mapping[str, Floats], share: float) -> Measure:
        """Cap both sides at a quantile over all users who have a value."""
        if self.quantile is not None:
            msg = f"winsorize cannot be given for {self.name}, which is a quantile"
            raise ParameterError(msg)
        (y, x, *_), n = self.values(users)
        caps = [
            None
            if side is None or not n
            else float(np.quantile(side, share, method="inverted_cdf"))
            for side in (y, x)
        ]
        for side, cap in zip((y, x), caps, strict=True):
            if side is not None and cap == 0 < side.max():
                more = percent(np.count_nonzero(side > 0) / n, 2)
                msg = (
                    f"winsorizing at {share:g} would cap {self.name} at 0, as only "
                    f"{more} of users have more; give a share nearer to 1, or leave "
                    "the metric out"
                )
                raise DataError(msg)
        return replace(self, cap=caps[0], cap_x=caps[1])

    def values(self, users: Mapping[str, Floats]) -> tuple[list[Floats | None], int]:
        """Return its four columns for the users who have a value, and how many do."""
        y, x = self.sides(users)
        both = self.before or (None, None)
        before = [None if name is None else users[name] for name in both]
        known_before = _known(*before)
        if known_before is not None:
            ones = np.ones(len(y)) if self.imputes else before[1]
            before = [
                np.where(known_before, column, 0)  # type: ignore[arg-type]
                for column in (before[0], ones)
            ]
        columns, known = [y, x, *before], _known(y, x)
        if known is None:
            return columns, len(y)
        columns = [None if column is None else column[known] for column in columns]
        return columns, int(np.count_nonzero(known))

    def statistics(self, users: Mapping[str, Floats]) -> Any:
        """Return what effects follow from: moments, or the values for a quantile."""
        columns, n = self.values(users)
        return Moments.of(columns, n) if self.quantile is None else columns[0]


def _known(*columns: Floats | None) -> Bools | None:
    """Say which users have a number in all columns; None if all of them do."""
    gaps = [
        column for column in columns if column is not None and np.isnan(column.sum())
    ]
    return ~np.isnan(sum(gaps)) if gaps else None


def check_names(option: str, given: Any, names: Sequence[str]) -> None:
    """Refuse a mapping by metric that names an unknown one."""
    if not isinstance(given, Mapping):
        msg = f"{option} must be a mapping by metric, got {given!r}"
        raise ParameterError(msg)
    for name in given:
        if name not in names:
            msg = (
                f"{option} names a metric {name!r}; the metrics are "
                f"{', '.join(names)}{nearest(str(name), names)}"
            )
            raise ParameterError(msg)
