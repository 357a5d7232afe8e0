"""Lists whose scores fall: whether they do, and ranks without a sort."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rankine._tables.segments import above_and_tied

if TYPE_CHECKING:
    from rankine._base.arrays import Floats, Ints


def sortedness(scores: Floats | None, starts: Ints) -> tuple[bool, bool]:
    """Say whether scores fall within every segment, and whether all are distinct.

    The second holds only together with the first. Without scores the order is the rank.
    """
    if scores is None:
        return True, True
    inside = np.ones(max(len(scores) - 1, 0), dtype=np.bool_)
    inside[starts[1:-1] - 1] = False
    rising = (scores[1:] > scores[:-1]) & inside
    if rising.any():
        return False, False
    return True, not ((scores[1:] == scores[:-1]) & inside).any()


def in_falling(
    scores: Floats, starts: Ints, row: Ints, group: Ints
) -> tuple[Ints, Ints]:
    """Count the scores above some rows and those equal to them, in falling lists.

    Only where a neighbour is equal is there anything to search; one in another list
    costs a search, and changes nothing.
    """
    own = scores[row]
    above, tied = row - starts[group], np.ones(len(row), dtype=np.int64)
    equal = scores[np.maximum(row - 1, 0)] == own
    equal |= scores[np.minimum(row + 1, len(scores) - 1)] == own
    at = np.flatnonzero(equal)
    above[at], tied[at] = above_and_tied(scores, starts, group[at], own[at])
    return above, tied


def longest_tie(scores: Floats | None, starts: Ints) -> int:
    """Count the equal scores that stand next to each other in a list, at most."""
    if scores is None:
        return 1
    equal = scores[1:] == scores[:-1]
    equal[starts[1:-1] - 1] = False
    at = np.flatnonzero(equal)
    return 1 + int(np.bincount(np.cumsum(np.diff(at, prepend=-1) > 1)).max(initial=0))
