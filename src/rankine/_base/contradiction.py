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

    def told(self) -> tuple[str, str] | None:
        """Say it, and what to do about it.

        >>> Contradiction(1, 4).told()[0]
        'ranks and scores give different orders in 1 list of 4 (25 %)'
        >>> Contradiction(40, 40, cut=True).told()[0]
        'ranks and scores give different orders in 40 lists of the first 40 (100 %)'
        """
        if not self.n:
            return None
        those = f"the first {self.n_lists:,}" if self.cut else f"{self.n_lists:,}"
        n, share = count(self.n, "list"), percent(self.n / self.n_lists)
        return (
            f"ranks and scores give different orders in {n} of {those} ({share})",
            "the score decides; to trust the rank, give order='rank' or --order rank",
        )


NO_CONTRADICTION = Contradiction()
