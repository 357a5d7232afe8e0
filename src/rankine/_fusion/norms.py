"""Normalisations: what makes the scores of different runs comparable.

Each is a function of all votes that gives every row of the ballots a new score. They
look at one list at a time, except Borda's, which counts the items of all runs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from rankine._fusion.names import spelled
from rankine._tables.segments import sums_of

if TYPE_CHECKING:
    from rankine._base.arrays import Floats
    from rankine._fusion.ballots import Ballots, Votes

Kernel: TypeAlias = "Callable[[Votes], Floats]"


@dataclass(frozen=True)
class Norm:
    """A normalisation.

    Attributes:
        name: its name.
        kernel: gives every row of the ballots a score.
        aliases: other names.
        rest: gives every list the score of items that only other runs have; None if
            these get none.
        of_scores: whether it reads scores, and not only ranks.
        by_spread: whether it divides by how far scores are apart, and gives 0 where all
            of a list are equal.
        needs: what a list must have, in words; to one that does not, the kernel gives
            nan.
    """

    name: str
    kernel: Kernel
    aliases: tuple[str, ...] = ()
    rest: Kernel | None = None
    of_scores: bool = True
    by_spread: bool = False
    needs: str = ""


def min_max(votes: Votes) -> Floats:
    """The smallest score of each list becomes 0, its largest becomes 1.

    Formula:
        (s - min) / (max - min)

    All items of a list with equal scores get 0, also the only item of a list.

    Examples:
        (4 - 2) / (6 - 2) = 0.5.

        >>> import rankine as rk
        >>> runs = {"a": {"q": {"x": 6, "y": 4, "z": 2}}, "b": {"q": {"x": 1}}}
        >>> rk.fuse(runs, "combsum", norm="min-max").to_dict()
        {'q': {'x': 1.0, 'y': 0.5, 'z': 0.0}}
    """
    ballots = votes.ballots
    above = ballots.score - ballots.each(ballots.last)
    return _ratio(above, ballots.first - ballots.last, ballots)


def maximum(votes: Votes) -> Floats:
    """The largest score of each list becomes 1, and 0 stays 0.

    Formula:
        s / max

    A list whose largest score is not above 0 is refused, unless all its scores are 0.

    Examples:
        4 / 8 = 0.5.

        >>> import rankine as rk
        >>> runs = {"a": {"q": {"x": 8, "y": 4}}, "b": {"q": {"x": 2}}}
        >>> rk.fuse(runs, "combsum", norm="max").to_dict()
        {'q': {'x': 2.0, 'y': 0.5}}
    """
    ballots = votes.ballots
    most = np.where((ballots.first > 0) | (ballots.last == 0), ballots.first, np.nan)
    return _ratio(ballots.score, most, ballots)


def total(votes: Votes) -> Floats:
    """The smallest score of each list becomes 0, and all of them add up to 1.

    Formula:
        (s - min) / sum of (s - min) over the list

    All items of a list with equal scores get 0, also the only item of a list.

    Examples:
        5, 2 and 1 are 4, 1 and 0 above the smallest; 4 / (4 + 1 + 0) = 0.8.

        >>> import rankine as rk
        >>> runs = {"a": {"q": {"x": 5, "y": 2, "z": 1}}, "b": {"q": {"z": 1}}}
        >>> rk.fuse(runs, "combsum", norm="sum").to_dict()
        {'q': {'x': 0.8, 'y': 0.2, 'z': 0.0}}
    """
    ballots, above = votes.ballots, min_max(votes)
    return _ratio(above, sums_of(above, ballots.starts), ballots)


def z_score(votes: Votes) -> Floats:
    """The scores of each list get the mean 0 and the standard deviation 1.

    Formula:
        (s - mean) / deviation, with the root of the mean squared distance from the mean

    All items of a list with equal scores get 0, also the only item of a list. Methods
    that add up scores count an item that a run does not have as 0, which is the mean
    of that run.

    Examples:
        The mean of 3 and 1 is 2, and their deviation is 1.

        >>> import rankine as rk
        >>> runs = {"a": {"q": {"x": 3, "y": 1}}, "b": {"q": {"x": 7}}}
        >>> rk.fuse(runs, "combsum", norm="z-score").to_dict()
        {'q': {'x': 1.0, 'y': -1.0}}
    """
    ballots = votes.ballots
    starts, n = ballots.starts, np.maximum(ballots.length, 1)
    # It is the same for scores that were moved and scaled; squares of these stay near
    # 1, and equal scores give exactly 0.
    scaled = min_max(votes)
    centred = scaled - ballots.each(sums_of(scaled, starts) / n)
    deviation = np.sqrt(sums_of(centred * centred, starts) / n)
    return _ratio(centred, deviation, ballots)


def rank(votes: Votes) -> Floats:
    """The first of n items gets 1, each further one 1/n less; scores do not matter.

    Formula:
        1 - (r - 1) / n

    Examples:
        The second of two: 1 - 1/2.

        >>> import rankine as rk
        >>> runs = {"a": {"q": ["x", "y"]}, "b": {"q": ["x"]}}
        >>> rk.fuse(runs, "combsum", norm="rank").to_dict()
        {'q': {'x': 2.0, 'y': 0.5}}
    """
    ballots = votes.ballots
    return 1 - (ballots.rank - 1) / ballots.each(ballots.length)


def borda(votes: Votes) -> Floats:
    """Like ``rank``, but by the number c of items that any run has for the query.

    The items that a run of n items does not have share what its list leaves: the mean
    of what the ranks from n + 1 to c would get. So every run has all items, and
    methods that count runs count all of them.

    Formula:
        1 - (r - 1) / c, and 1/2 - (n - 1) / (2c) for items that the run does not have

    Examples:
        Of three items, ``a`` has two: 1, 1 - 1/3, and 1/2 - 1/6 for the third. ``b``
        has one: 1, and 1/2 for the others.

        >>> import rankine as rk
        >>> runs = {"a": {"q": ["x", "y"]}, "b": {"q": ["z"]}}
        >>> rk.fuse(runs, "combsum", norm="borda").to_dict()
        {'q': {'x': 1.5, 'z': 1.3333, 'y': 1.1667}}
    """
    ballots = votes.ballots
    n_candidates = votes.n_candidates[ballots.query]
    return 1 - (ballots.rank - 1) / ballots.each(n_candidates)


def _borda_of_rest(votes: Votes) -> Floats:
    ballots = votes.ballots
    n_candidates = np.maximum(votes.n_candidates[ballots.query], 1)
    share: Floats = (ballots.length - 1) / (2 * n_candidates)
    return 0.5 - share


def _ratio(up: Floats, down: Floats, ballots: Ballots) -> Floats:
    """Divide each row by the number of its list; where that is 0, all rows are 0."""
    ratio: Floats = up / ballots.each(np.where(down == 0, 1, down))
    return ratio


NORMS = {
    norm.name: norm
    for norm in (
        Norm("min-max", min_max, by_spread=True),
        Norm("max", maximum, needs="a score above 0"),
        Norm("sum", total, by_spread=True),
        Norm("z-score", z_score, ("zmuv",), by_spread=True),
        Norm("rank", rank, of_scores=False),
        Norm("borda", borda, rest=_borda_of_rest, of_scores=False),
    )
}


def norm_of(name: object) -> Norm | None:
    """Return the normalisation of a name; None if scores stay as they are."""
    if name is None:
        return None
    return NORMS[
        spelled("norm", name, {key: norm.aliases for key, norm in NORMS.items()})
    ]
