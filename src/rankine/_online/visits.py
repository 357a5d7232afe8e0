"""The sessions in sorted events: whose they are, and when they begin and end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np

from rankine._online.tallies import Sorted

if TYPE_CHECKING:
    from rankine._base.arrays import AnyArray, Bools, Ints


@dataclass(frozen=True, eq=False)
class Visits:
    """Sessions, in the order of their events.

    Attributes:
        events: all their events.
        user: the number of each session's user.
        begin: the time of its first event.
        end: the time of its last event.
        size: how many events it has.
    """

    events: Sorted
    user: AnyArray
    begin: AnyArray
    end: AnyArray
    size: Ints

    @classmethod
    def of(cls, events: Sorted) -> Self:
        """Return the sessions of events that have been split into sessions."""
        starts, time = events.visits, events.column("time")
        nexts = np.append(starts[1:], len(time))
        user = events.column("user")[starts]
        return cls(events, user, time[starts], time[nexts - 1], nexts - starts)

    def rows(self, chosen: Bools) -> Bools:
        """Say which events belong to the chosen sessions."""
        return np.repeat(chosen, self.size)

    def only(self, chosen: Bools) -> Visits:
        """Return the chosen sessions."""
        size = self.size[chosen]
        starts = np.cumsum(size) - size
        events = Sorted(self.events.rows.filter(self.rows(chosen)), starts)
        return Visits(
            events, self.user[chosen], self.begin[chosen], self.end[chosen], size
        )
