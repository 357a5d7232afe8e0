"""Doubts: data that may not be what they were taken for, and so numbers that mislead.

What was seen of data is kept as a few numbers, so that those of batches add up to what
all of the data show at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rankine.io.sources import Rows, Stream

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rankine.io.sources import Source
    from rankine.table.truth import Truth

_RISES = 5
"""Steps upwards after which scores look like distances."""


@dataclass(frozen=True)
class Doubts:
    """What was seen of judgements and a run.

    Attributes:
        read: what was doubtful while reading them.
        rises: how often a score is above the one before it in its list.
        falls: whether one is below.
    """

    read: tuple[str, ...] = ()
    rises: int = 0
    falls: bool = False

    def __add__(self, other: Doubts) -> Doubts:
        """Return what was seen of both parts of the data."""
        return Doubts(
            tuple(dict.fromkeys((*self.read, *other.read))),
            self.rises + other.rises,
            self.falls or other.falls,
        )

    def warnings(self) -> tuple[str, ...]:
        """Say what makes the numbers doubtful, the worst first."""
        return (*self._rising(), *self.read)

    def _rising(self) -> Iterable[str]:
        if self.rises >= _RISES and not self.falls:
            yield (
                "scores rise along every list, as distances do; if small is good, say "
                "lower_is_better=True or --lower-is-better"
            )


def doubts_of(truth: Truth | None, source: Source) -> Doubts:
    """Return what is doubtful of data before they are joined."""
    judgements = None if truth is None else truth.source
    return Doubts((*_read(judgements), *_read(source)))


def with_steps(doubts: Doubts, tables: Iterable[Any]) -> Doubts:
    """Add how scores rise and fall in the lists, from the tables made of them."""
    steps = [table.steps() for table in tables]
    rises, falls = max(steps, default=(0, False))
    return doubts + Doubts(rises=rises, falls=falls)


def _read(source: Any) -> tuple[str, ...]:
    return source.warnings if isinstance(source, (Rows, Stream)) else ()
