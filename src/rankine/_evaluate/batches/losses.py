"""Losses of predictions, batch by batch."""

from __future__ import annotations

from inspect import signature
from typing import TYPE_CHECKING, Any

from rankine._base.text import count
from rankine._evaluate import predictions as probability
from rankine._evaluate.batches.options import check_options
from rankine._metrics.losses import Sums
from rankine.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TypeAlias

    from rankine._evaluate.predictions import CalibrationError, Loss

    Result: TypeAlias = Loss | CalibrationError

_COLUMNS = 2
"""What happened, and what was predicted."""


class Losses:
    """What the rows that have come so far add up to, for some losses."""

    def __init__(
        self, names: Sequence[str], options: dict[str, Any], *, several: bool
    ) -> None:
        """Check the options, which are those of the functions."""
        self._several = several
        self._own = {name: _options(name, options) for name in names}
        known = {one for own in self._own.values() for one in own}
        check_options(", ".join(names), options, known)
        for name, own in self._own.items():
            probability.LOSSES[name].check(**own)
            for across in probability.LOSSES[name].across:
                value = own[across.parameter]
                if value in across.values:
                    msg = (
                        f"{name} with {across.parameter}={value!r} {across.reads}, "
                        "which a batch does not know; use "
                        f"{across.parameter}={across.instead!r}"
                    )
                    raise ParameterError(msg)
        self._sums = dict.fromkeys(self._own, Sums())
        self._n = 0

    def update(self, *batch: Any) -> None:
        """Add what happened and what was predicted."""
        if len(batch) != _COLUMNS:
            msg = "a batch has two columns: what happened, and what was predicted"
            raise ParameterError(msg)
        found = {
            name: probability.LOSSES[name].gather(*batch, **own)
            for name, own in self._own.items()
        }
        self._add(found, 1)

    def merge(self, other: Losses) -> None:
        """Add what others have; they stay as they are."""
        if other._own != self._own:
            msg = "cannot merge: the accumulators differ in metrics or options"
            raise ParameterError(msg)
        self._add(other._sums, other._n)

    def _add(self, found: dict[str, Sums], n: int) -> None:
        self._sums = {name: own + found[name] for name, own in self._sums.items()}
        self._n += n

    def result(self) -> Result | dict[str, Result]:
        """Return the losses of all rows so far."""
        made = {
            name: probability.LOSSES[name].made(self._sums[name], own)
            for name, own in self._own.items()
        }
        return made if self._several else next(iter(made.values()))

    @property
    def size(self) -> str:
        """How much has come, in words."""
        n = next(iter(self._sums.values())).n
        return f"{count(n, 'row')} in {count(self._n, 'batch')}"


def _options(name: str, options: dict[str, Any]) -> dict[str, Any]:
    """Return the options that a loss takes, as given or as they are by default."""
    function = getattr(probability, name)
    return {
        parameter.name: options.get(parameter.name, parameter.default)
        for parameter in signature(function).parameters.values()
        if parameter.kind is parameter.KEYWORD_ONLY
    }
