"""Total: what all batches add up to, for any kind of data; and losses."""

from __future__ import annotations

from abc import ABC, abstractmethod
from inspect import signature
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar

from rankine._base.text import count
from rankine._evaluate.predictions import predictions
from rankine._evaluate.predictions.losses import LOSSES
from rankine._metrics.losses import LossSums
from rankine.errors import ParameterError, nearest

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

P = TypeVar("P")


class Total(ABC, Generic[P]):
    """What has come so far, of one kind of data.

    Attributes:
        terms: the metrics and options, which are the same in all that is merged.
        part: what is kept of all batches; None if none has come.
        n_batches: how many have come.
    """

    terms: Any
    part: P | None = None
    n_batches: int = 0

    @abstractmethod
    def read(self, *batch: Any) -> P:
        """Return what is kept of a batch."""

    @abstractmethod
    def add(self, part: P) -> None:
        """Add what is kept of other batches, which stays as it is."""

    @abstractmethod
    def result(self) -> Any:
        """Return the result of all batches."""

    @property
    @abstractmethod
    def rows(self) -> str:
        """How many rows of its kind there are, in words."""

    @property
    def size(self) -> str:
        """How much has come, in words."""
        return f"{self.rows} in {count(self.n_batches, 'batch')}"

    def update(self, *batch: Any) -> None:
        """Add a batch."""
        self.add(self.read(*batch))
        self.n_batches += 1

    def reset(self) -> None:
        """Forget all batches."""
        self.part, self.n_batches = self.nothing(), 0

    def nothing(self) -> P | None:
        """Return what is kept before a batch has come."""
        return None

    def merge(self, other: Self, *, repeats: str = "error") -> None:
        """Add what another one has; what repeats has no ids here."""
        if repeats != "error":
            msg = f"repeats={repeats!r} is for metrics, whose queries have ids"
            raise ParameterError(msg)
        if type(other) is not type(self) or other.terms != self.terms:
            msg = "cannot merge: the accumulators differ in metrics or options"
            raise ParameterError(msg)
        if other.part is not None:
            self.add(other.part)
        self.n_batches += other.n_batches


def check_options(who: str, options: dict[str, Any], known: Collection[str]) -> None:
    """Refuse an option that does not exist."""
    for name in options:
        if name not in known:
            msg = (
                f"{who} has no option {name!r}; its options are "
                f"{', '.join(sorted(known)) or 'none'}{nearest(name, known)}"
            )
            raise ParameterError(msg)


def check_pair(batch: tuple[Any, ...], words: str) -> None:
    """Refuse a batch that does not have two parts."""
    if len(batch) != 2:  # noqa: PLR2004 - a pair
        msg = f"a batch must be two {words}, got {len(batch)}"
        raise ParameterError(msg)


class Losses(Total[dict[str, LossSums]]):
    """What rows add up to, for some losses of predictions."""

    def __init__(
        self, names: Sequence[str], options: dict[str, Any], *, several: bool
    ) -> None:
        """Check the options, which are those of the functions."""
        self._several = several
        self.terms = {name: _options(name, options) for name in names}
        known = {option for choices in self.terms.values() for option in choices}
        check_options(", ".join(names), options, known)
        for name, choices in self.terms.items():
            LOSSES[name].check(**choices)
            for across in LOSSES[name].across:
                value = choices[across.parameter]
                if value in across.values:
                    msg = (
                        f"{name} with {across.parameter}={value!r} {across.reads}, "
                        "which one batch does not have; use "
                        f"{across.parameter}={across.instead!r}"
                    )
                    raise ParameterError(msg)
        self.part: dict[str, LossSums] = self.nothing()

    def nothing(self) -> dict[str, LossSums]:
        """Return sums of no rows."""
        return dict.fromkeys(self.terms, LossSums())

    def read(self, *batch: Any) -> dict[str, LossSums]:
        """Add up what happened and what was predicted."""
        check_pair(batch, "columns, what happened and what was predicted")
        return {
            name: LOSSES[name].gather(*batch, **choices)
            for name, choices in self.terms.items()
        }

    def add(self, part: dict[str, LossSums]) -> None:
        """Add other sums."""
        self.part = {name: sums + part[name] for name, sums in self.part.items()}

    def result(self) -> Any:
        """Return the losses of all rows, by name if they were asked for as a list."""
        losses = {
            name: LOSSES[name].made(self.part[name], choices)
            for name, choices in self.terms.items()
        }
        return losses if self._several else next(iter(losses.values()))

    @property
    def rows(self) -> str:
        """How many there are, in words."""
        return count(next(iter(self.part.values())).n, "row")


def _options(name: str, options: dict[str, Any]) -> dict[str, Any]:
    """Return the options that a loss takes, as given or as they are by default."""
    function = getattr(predictions, name)
    return {
        parameter.name: options.get(parameter.name, parameter.default)
        for parameter in signature(function).parameters.values()
        if parameter.kind is parameter.KEYWORD_ONLY
    }
