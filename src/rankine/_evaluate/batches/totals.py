"""Total: the sum of all batches, for any kind of data; and losses."""

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
    """The data so far, of one kind.

    Attributes:
        terms: the metrics and options, which must agree for a merge.
        part: the sum of all batches; None if there are none.
        n_batches: the number of batches.
    """

    terms: Any
    part: P | None = None
    n_batches: int = 0

    @abstractmethod
    def read(self, *batch: Any) -> P:
        """Return the part of a batch."""

    @abstractmethod
    def add(self, part: P) -> None:
        """Add the part of other batches, which stays as it is."""

    @abstractmethod
    def result(self) -> Any:
        """Return the result of all batches."""

    @property
    @abstractmethod
    def rows(self) -> str:
        """How many rows of its kind there are, in words."""

    @property
    def size(self) -> str:
        """The amount of data so far, in words."""
        return f"{self.rows} in {count(self.n_batches, 'batch')}"

    def update(self, *batch: Any) -> None:
        """Add a batch."""
        self.add(self.read(*batch))
        self.n_batches += 1

    def reset(self) -> None:
        """Forget all batches."""
        self.part, self.n_batches = self.nothing(), 0

    def nothing(self) -> P | None:
        """Return the part of no batches."""
        return None

    def merge(self, other: Self, *, repeats: str = "error") -> None:
        """Add the data of another one, whose rows have no ids."""
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
    """Sums over rows, for some losses of predictions."""

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
        """Add up outcomes and predictions."""
        check_pair(batch, "columns, outcomes and predictions")
        return {
            name: LOSSES[name].gather(*batch, **choices)
            for name, choices in self.terms.items()
        }

    def add(self, part: dict[str, LossSums]) -> None:
        """Add other sums."""
        self.part = {name: sums + part[name] for name, sums in self.part.items()}

    def result(self) -> Any:
        """Return the loss of all rows, or a dict of losses if a list was asked for."""
        losses = {
            name: LOSSES[name].made(self.part[name], choices)
            for name, choices in self.terms.items()
        }
        return losses if self._several else next(iter(losses.values()))

    @property
    def rows(self) -> str:
        """How many rows there are, in words."""
        return count(next(iter(self.part.values())).n, "row")


def _options(name: str, options: dict[str, Any]) -> dict[str, Any]:
    """Return the options of a loss, as given or by default."""
    function = getattr(predictions, name)
    return {
        parameter.name: options.get(parameter.name, parameter.default)
        for parameter in signature(function).parameters.values()
        if parameter.kind is parameter.KEYWORD_ONLY
    }
