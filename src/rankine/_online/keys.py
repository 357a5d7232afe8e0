"""Keys of what was summed up and forgotten, by which it is known if it comes again."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from rankine._base.arrays import Bools

    Keys64 = NDArray[np.uint64]


class Keys:
    """Numbers of 64 bits, in sorted runs, each less than half as long as the last.

    Runs of like length are merged, so that there are few of them, and each number is
    moved only a few times.

    >>> keys = Keys()
    >>> keys.add(np.array([3, 1], np.uint64))
    >>> keys.has(np.array([1, 2, 3], np.uint64)).tolist()
    [True, False, True]
    """

    def __init__(self) -> None:
        self._runs: list[Keys64] = []

    def __bool__(self) -> bool:
        """Say whether there are any."""
        return bool(self._runs)

    def copy(self) -> Keys:
        """Return the same, which others may add to."""
        other = Keys()
        other._runs = [*self._runs]
        return other

    @property
    def nbytes(self) -> int:
        """How much memory they take."""
        return sum(run.nbytes for run in self._runs)

    def add(self, keys: Keys64) -> None:
        """Add numbers, some of which may be there."""
        if not len(keys):
            return
        run = np.sort(keys)
        while self._runs and len(self._runs[-1]) <= 2 * len(run):
            # Two sorted runs in a row are merged by a stable sort, not sorted anew.
            run = np.sort(np.concatenate([self._runs.pop(), run]), kind="stable")
        self._runs.append(run)

    def has(self, keys: Keys64) -> Bools:
        """Say which numbers are there."""
        known = np.zeros(len(keys), bool)
        order = np.argsort(keys)  # neighbours are found at neighbouring places
        wanted = keys[order]
        for run in self._runs:
            places = np.minimum(np.searchsorted(run, wanted), len(run) - 1)
            known |= run[places] == wanted
        are_known = np.empty_like(known)
        are_known[order] = known
        return are_known
