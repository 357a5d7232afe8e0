"""Ranks and scores of a run that disagree: in how many lists, and in which words."""

from __future__ import annotations

from typing import NamedTuple

from rankine._base.text import count, percent


class Contradiction(NamedTuple):
    """How many lists have another order by their ranks than by their scores.

    Attributes:
        n: these lists.
        n_lists: the lists that were looked at.
        cut: whether these are only the first ones.
    """

    n: int = 0
    n_lists: int = 0
    cut: bool = False

    def plus(self, other: Contradiction) -> Contradiction:
        """Return the same of both parts of a run."""
        return Contradiction(
            self.n + other.n, self.n_lists + other.n_lists, self.cut or other.cut
        )

    @property
    def told(self) -> str:
        """What was found, in words; empty if nothing was.

        >>> Contradiction(1, 4).told
        'ranks and scores give different orders in 1 list'
        """
        if not self.n:
            return ""
        return f"ranks and scores give different orders in {count(self.n, 'list')}"

    @property
    def share(self) -> str:
        """Of how many lists, in words.

        >>> Contradiction(1, 4).share, Contradiction(40, 40, cut=True).share
        ('of 4 (25 %)', 'of the first 40 (100 %)')
        """
        those = f"the first {self.n_lists:,}" if self.cut else f"{self.n_lists:,}"
        return f"of {those} ({percent(self.n / self.n_lists)})"


NO_CONTRADICTION = Contradiction()
TRUST = "the score decides; to trust the rank, give order='rank' or --order rank"
"""What to do about it."""
