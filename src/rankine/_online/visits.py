"""Sessions of sorted events: whose they are, and when they begin and end."""

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
        events: the events of all of them.
        user: the number of the user.
        begin: the time of the first event.
        end: the time of the last event.
        size: how many events there are.
    """

    events: Sorted
    user: AnyArray
    begin: AnyArray
    end: AnyArray
    size: Ints

    @classmethod
    def of(cls, events: Sorted) -> Self:
        """Take sessions from events that were cut."""
        starts, time = events.visits, events.column("time")
        nexts = np.append(starts[1:], len(time))
        user = events.column("user")[starts]
        return cls(events, user, time[starts], time[nexts - 1], nexts - starts)

    def rows(self, chosen: Bools) -> Bools:
        """Say which events are in some of the sessions."""
        return np.repeat(chosen, self.size)

    def only(self, chosen: Bools) -> Visits:
        """Return some of the sessions."""
        size = self.size[chosen]
        starts = np.cumsum(size) - size
        events = Sorted(self.events.rows.filter(self.rows(chosen)), starts)
        return Visits(
            events, self.user[chosen], self.begin[chosen], self.end[chosen], size
        )
