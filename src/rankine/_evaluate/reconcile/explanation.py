"""Why two conventions give two numbers: groups of tools, steps between two."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rankine._base.notebook import as_table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rankine._metrics.metric import Metric


@dataclass(frozen=True, slots=True)
class Row:
    """One tool's number.

    Attributes:
        convention: the name of the convention.
        value: the number; None if the tool gives none.
        why: why there is no number.
        warnings: reasons why the tool itself may give another number.
    """

    convention: str
    value: float | None
    why: str = ""
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class EqualRows:
    """Tools that give the same number, and the choices that make it differ.

    Attributes:
        value: the number.
        conventions: their names.
        because: what each tool does differently from the default, in words, if it
            changes the number on these data.
    """

    value: float
    conventions: tuple[str, ...]
    because: Mapping[str, tuple[str, ...]]

    @property
    def reasons(self) -> dict[tuple[str, ...], list[str]]:
        """The inverse of `because`: reasons -> the tools that share them."""
        reasons: dict[tuple[str, ...], list[str]] = {}
        for name, words in self.because.items():
            if words:
                reasons.setdefault(words, []).append(name)
        return reasons


@dataclass(frozen=True, slots=True)
class Step:
    """One choice that is switched, and its effect.

    Attributes:
        field: the field of the convention, or the parameter of the metric.
        before: its value in the first convention.
        after: its value in the second.
        words: the choice of the second, in words.
        value_before: the number before the switch.
        value_after: the number after it; None if there is none.
        query: the query that moves most.
        query_before: its value before; None if it is left out.
        query_after: its value after.
    """

    field: str
    before: Any
    after: Any
    words: str
    value_before: float | None
    value_after: float | None
    query: Any = None
    query_before: float | None = None
    query_after: float | None = None

    @property
    def change(self) -> float:
        """The change of the number; nan if there is none before or after."""
        if self.value_before is None or self.value_after is None:
            return math.nan
        return self.value_after - self.value_before


@dataclass(frozen=True)
class Explanation:
    """The steps from one convention's number to another's, one choice at a time.

    Attributes:
        metric: the metric.
        first: the name of the first convention.
        second: the name of the other.
        value_first: the number of the first; None if it gives none.
        value_second: the number of the second.
        steps: the choices that change the number, in the order they are switched.
        unmoved: the choices that differ without an effect here.
        label: the name that the metric was asked for by.
    """

    metric: Metric
    first: str
    second: str
    value_first: float | None
    value_second: float | None
    steps: tuple[Step, ...]
    unmoved: tuple[str, ...]
    label: str

    def __str__(self) -> str:
        """Return the steps as lines of text."""
        from rankine._report.reconcile import explanation_text  # noqa: PLC0415

        return explanation_text(self)

    __repr__ = __str__

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain data."""
        from rankine._report.reconcile import explanation_dict  # noqa: PLC0415

        return explanation_dict(self)

    def _repr_html_(self) -> str:
        return as_table(self)
