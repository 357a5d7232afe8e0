"""Methods of fusion: one number per item, made of what the runs say about it.

A method is a plain function of the votes of all runs; its keyword-only signature is the
schema for Python, the command line and tuning. `METHODS` gives the function a name.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from rankine._base.checks import check_number
from rankine._base.records import cached_property
from rankine._fusion.ballots import Votes
from rankine._fusion.names import spelled
from rankine._tables.segments import starts_of
from rankine.errors import ParameterError, nearest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rankine._base.arrays import Floats, Ints

Kernel: TypeAlias = "Callable[..., Floats]"
WEIGHTS = "weights"
"""The parameter with a number for each run."""
_PAIRS = 1 << 18
"""Pairs of items that are compared at once, and stay in the cache."""
_HUNDREDTHS = tuple(n / 100 for n in range(1, 100))


@dataclass(frozen=True)
class Method:
    """A method of fusion.

    Attributes:
        name: its name.
        kernel: the function from votes to one number per candidate.
        aliases: other names, those of ranx among them.
        of_scores: whether it reads scores, and not ranks.
        tries: parameter -> the values that tuning tries.
    """

    name: str
    kernel: Kernel
    aliases: tuple[str, ...] = ()
    of_scores: bool = True
    tries: Mapping[str, Sequence[float]] = field(default_factory=dict)

    @cached_property
    def parameters(self) -> dict[str, Any]:
        """The parameters with their defaults; without one, it must be given."""
        return {
            parameter.name: parameter.default
            for parameter in inspect.signature(self.kernel).parameters.values()
            if parameter.kind is inspect.Parameter.KEYWORD_ONLY
        }

    @property
    def required(self) -> list[str]:
        """The parameters that must be given."""
        empty = inspect.Parameter.empty
        return [name for name, value in self.parameters.items() if value is empty]

    @property
    def meaning(self) -> str:
        """What it does, in a line."""
        return (inspect.getdoc(self.kernel) or "").partition("\n")[0]

    def check(self, given: Mapping[str, Any], n_runs: int) -> None:
        """Refuse parameters that it does not have, lacks, or that cannot be."""
        known = self.parameters
        for key in given:
            if key not in known:
                takes = f"it takes {', '.join(known)}" if known else "it takes none"
                hint = nearest(key, known)
                msg = f"{self.name} has no parameter {key!r}; {takes}{hint}"
                raise ParameterError(msg)
        for key in self.required:
            if given.get(key) is None:
                option = "--weight NAME=..." if key == WEIGHTS else f"--{key}"
                msg = f"{self.name} needs {key}; give {key}= or {option}"
                raise ParameterError(msg)
        self.kernel(Votes.empty(n_runs), **given)


def method_of(name: object) -> Method:
    """Return the method of a name."""
    known = {key: method.aliases for key, method in METHODS.items()}
    return METHODS[spelled("method", name, known)]


def rrf(votes: Votes, *, k: float = 60, weights: Floats | None = None) -> Floats:
    """Reciprocal rank fusion: each run adds 1 / (k + rank).

    Formula:
        sum of w / (k + r) over the runs that have the item, with w = 1 if there are no
        weights

    Args:
        votes: the votes.
        k: how much alike the first ranks count; at least 0.
        weights: how much each run counts.

    References:
        G. V. Cormack, C. L. A. Clarke, S. Büttcher: Reciprocal rank fusion outperforms
        Condorcet and individual rank learning methods. SIGIR 2009.
        https://doi.org/10.1145/1571941.1572114

    Examples:
        ``y`` has ranks 2 and 1: 1/62 + 1/61 = 0.0325.

        >>> import rankine as rk
        >>> runs = {"a": {"q": ["x", "y"]}, "b": {"q": ["y", "z"]}}
        >>> rk.fuse(runs, "rrf").to_dict()
        {'q': {'y': 0.0325, 'x': 0.0164, 'z': 0.0161}}
        >>> rk.fuse(runs, "rrf", k=0, weights={"a": 3, "b": 1}).to_dict()
        {'q': {'x': 3.0, 'y': 2.5, 'z': 0.5}}
    """
    check_number("k", k, least=0)
    return votes.sum(_weighed(votes, 1 / (k + votes.rank), weights))


def comb_sum(votes: Votes) -> Floats:
    """CombSUM: the sum of the scores.

    Formula:
        sum of s over the runs that have the item

    References:
        E. A. Fox, J. A. Shaw: Combination of multiple searches. TREC-2, 1993.

    Examples:
        >>> import rankine as rk
        >>> runs = {"a": {"q": {"x": 3, "y": 1}}, "b": {"q": {"y": 4}}}
        >>> rk.fuse(runs, "combsum", norm=None).to_dict()
        {'q': {'y': 5.0, 'x': 3.0}}
    """
    return votes.sum(votes.score)


def comb_mnz(votes: Votes) -> Floats:
    """CombMNZ: the sum of the scores, times the number of runs that have the item.

    A run has an item also if its score is 0, as that of the last item is with
    ``min-max``.

    Formula:
        n * sum of s over the n runs that have the item

    References:
        E. A. Fox, J. A. Shaw: Combination of multiple searches. TREC-2, 1993.

    Examples:
        2 * (1 + 4) = 10.

        >>> import rankine as rk
        >>> runs = {"a": {"q": {"x": 3, "y": 1}}, "b": {"q": {"y": 4}}}
        >>> rk.fuse(runs, "combmnz", norm=None).to_dict()
        {'q': {'y': 10.0, 'x': 3.0}}
    """
    return votes.sum(votes.score) * votes.count


def comb_gmnz(votes: Votes, *, gamma: float) -> Floats:
    """CombGMNZ: between CombSUM (gamma = 0) and CombMNZ (gamma = 1), or beyond.

    Formula:
        n^gamma * sum of s over the n runs that have the item

    Args:
        votes: the votes.
        gamma: how much the number of runs counts; at least 0.

    References:
        J. H. Lee: Analyses of multiple evidence combination. SIGIR 1997.
        https://doi.org/10.1145/258525.258587

    Examples:
        2^2 * (1 + 4) = 20.

        >>> import rankine as rk
        >>> runs = {"a": {"q": {"x": 3, "y": 1}}, "b": {"q": {"y": 4}}}
        >>> rk.fuse(runs, "combgmnz", norm=None, gamma=2).to_dict()
        {'q': {'y': 20.0, 'x': 3.0}}
    """
    check_number("gamma", gamma, least=0)
    return votes.sum(votes.score) * votes.count**gamma


def comb_anz(votes: Votes) -> Floats:
    """CombANZ: the mean of the scores, over the runs that have the item.

    Formula:
        (1/n) * sum of s over the n runs that have the item

    References:
        E. A. Fox, J. A. Shaw: Combination of multiple searches. TREC-2, 1993.

    Examples:
        (1 + 4) / 2 = 2.5; only ``a`` has ``x``.

        >>> import rankine as rk
        >>> runs = {"a": {"q": {"x": 3, "y": 1}}, "b": {"q": {"y": 4}}}
        >>> rk.fuse(runs, "combanz", norm=None).to_dict()
        {'q': {'x': 3.0, 'y': 2.5}}
    """
    return votes.sum(votes.score) / votes.count


def comb_med(votes: Votes) -> Floats:
    """CombMED: the median of the scores, over the runs that have the item.

    Formula:
        the middle score, or the mean of the middle two

    References:
        E. A. Fox, J. A. Shaw: Combination of multiple searches. TREC-2, 1993.

    Examples:
        The middle one of 1, 4 and 9.

        >>> import rankine as rk
        >>> runs = {"a": {"q": {"y": 1}}, "b": {"q": {"y": 4}}, "c": {"q": {"y": 9}}}
        >>> rk.fuse(runs, "combmed", norm=None).to_dict()
        {'q': {'y': 4.0}}
    """
    return votes.median(votes.score)


def comb_min(votes: Votes) -> Floats:
    """CombMIN: the smallest score, over the runs that have the item.

    Formula:
        min of s over the runs that have the item

    References:
        E. A. Fox, J. A. Shaw: Combination of multiple searches. TREC-2, 1993.

    Examples:
        ``y`` has 1 and 4; only ``a`` has ``x``.

        >>> import rankine as rk
        >>> runs = {"a": {"q": {"x": 3, "y": 1}}, "b": {"q": {"y": 4}}}
        >>> rk.fuse(runs, "combmin", norm=None).to_dict()
        {'q': {'x': 3.0, 'y': 1.0}}
    """
    return votes.least(votes.score)


def comb_max(votes: Votes) -> Floats:
    """CombMAX: the largest score, over the runs that have the item.

    Formula:
        max of s over the runs that have the item

    References:
        E. A. Fox, J. A. Shaw: Combination of multiple searches. TREC-2, 1993.

    Examples:
        ``y`` has 1 and 4.

        >>> import rankine as rk
        >>> runs = {"a": {"q": {"x": 3, "y": 1}}, "b": {"q": {"y": 4}}}
        >>> rk.fuse(runs, "combmax", norm=None).to_dict()
        {'q': {'y': 4.0, 'x': 3.0}}
    """
    return votes.largest(votes.score)


def wsum(votes: Votes, *, weights: Floats) -> Floats:
    """Weighted sum of the scores.

    Formula:
        sum of w * s over the runs that have the item

    Args:
        votes: the votes.
        weights: how much each run counts.

    Examples:
        0.9 * 1 + 0.1 * 4 = 1.3.

        >>> import rankine as rk
        >>> runs = {"a": {"q": {"x": 3, "y": 1}}, "b": {"q": {"y": 4}}}
        >>> rk.fuse(runs, "wsum", norm=None, weights={"a": 0.9, "b": 0.1}).to_dict()
        {'q': {'x': 2.7, 'y': 1.3}}
    """
    return votes.sum(_weighed(votes, votes.score, weights))


def wmnz(votes: Votes, *, weights: Floats) -> Floats:
    """Weighted MNZ: the sum of the scores, times the sum of the weights.

    Formula:
        (sum of w) * (sum of s) over the runs that have the item

    Args:
        votes: the votes.
        weights: how much each run counts.

    References:
        S. Wu, F. Crestani: Data fusion with estimated weights. CIKM 2002.
        https://doi.org/10.1145/584792.584908

    Examples:
        (0.9 + 0.1) * (1 + 4) = 5, and 0.9 * 3 = 2.7.

        >>> import rankine as rk
        >>> runs = {"a": {"q": {"x": 3, "y": 1}}, "b": {"q": {"y": 4}}}
        >>> rk.fuse(runs, "wmnz", norm=None, weights={"a": 0.9, "b": 0.1}).to_dict()
        {'q': {'y': 5.0, 'x': 2.7}}
    """
    return votes.sum(votes.score) * votes.sum(weights[votes.run])


def mixed(votes: Votes, *, weights: Floats) -> Floats:
    """Weighted sum of the scores, times the root of the number of runs.

    Formula:
        sqrt(n) * sum of w * s over the n runs that have the item

    Args:
        votes: the votes.
        weights: how much each run counts.

    References:
        S. Wu, F. Crestani: Data fusion with estimated weights. CIKM 2002.
        https://doi.org/10.1145/584792.584908

    Examples:
        sqrt(2) * (0.9 * 1 + 0.1 * 4) = 1.8385.

        >>> import rankine as rk
        >>> runs = {"a": {"q": {"x": 3, "y": 1}}, "b": {"q": {"y": 4}}}
        >>> rk.fuse(runs, "mixed", norm=None, weights={"a": 0.9, "b": 0.1}).to_dict()
        {'q': {'x': 2.7, 'y': 1.8385}}
    """
    return votes.sum(_weighed(votes, votes.score, weights)) * np.sqrt(votes.count)


def borda(votes: Votes) -> Floats:
    """Borda count: of c items, the first of a run gets c points, the next c - 1.

    The c items are those that any run has for the query. Those that a run of n items
    does not have share its remaining points: (c - n + 1) / 2 for each. A run without
    the query gives no points.

    Formula:
        sum over the runs of c - r + 1, or of (c - n + 1) / 2 where the run does not
        have the item

    References:
        J. A. Aslam, M. H. Montague: Models for metasearch. SIGIR 2001.
        https://doi.org/10.1145/383952.384007

    Examples:
        Of three items, ``a`` has two and gives 3, 2 and 1; ``b`` has one, gives it 3,
        and each of the others (2 + 1) / 2.

        >>> import rankine as rk
        >>> runs = {"a": {"q": ["x", "y"]}, "b": {"q": ["z"]}}
        >>> rk.fuse(runs, "borda").to_dict()
        {'q': {'x': 4.5, 'z': 4.0, 'y': 3.5}}
    """
    ballots = votes.ballots
    n_candidates = votes.n_candidates[ballots.query].astype(np.float64)
    points = ballots.each(n_candidates) - ballots.rank + 1
    every = votes.scored(points, rest=(n_candidates - ballots.length + 1) / 2)
    return every.sum(every.score)


def condorcet(votes: Votes) -> Floats:
    """Condorcet: how many items of the query an item beats, in pairs.

    An item beats another if more runs rank it above the other than below. A run ranks
    the items that it does not have below all others, and says nothing about two of
    them. A pair without a winner is half a win for both. An item that beats all others
    comes first; and if each of some items beats each of the rest, they come before the
    rest, also where majorities go in circles.

    Formula:
        number of items beaten + 1/2 * number of pairs without a winner

    The time grows with the square of the number of items; ``depth`` limits it.

    References:
        M. H. Montague, J. A. Aslam: Condorcet fusion for improved retrieval. CIKM 2002.
        https://doi.org/10.1145/584792.584881
        A. H. Copeland: A "reasonable" social welfare function. Seminar on applications
        of mathematics to the social sciences, University of Michigan, 1951.

    Examples:
        Two of three runs have ``x`` above ``y``, two have it above ``z``, and two have
        ``y`` above ``z``.

        >>> import rankine as rk
        >>> lists = ["x", "y", "z"], ["y", "z", "x"], ["x", "z", "y"]
        >>> rk.fuse([{"q": items} for items in lists], "condorcet").to_dict()
        {'q': {'x': 2.0, 'y': 1.0, 'z': 0.0}}
    """
    ranks = np.full((len(votes.query), votes.ballots.n_runs), np.inf, dtype=np.float32)
    ranks[votes.candidate, votes.run] = votes.rank
    lead = np.zeros(len(votes.query))
    for rows, others in _rivals(votes.n_candidates):
        margin = np.zeros((*rows.shape, others.shape[1]), dtype=np.int32)
        for own in ranks.T:
            x, y = own[rows][:, :, None], own[others][:, None, :]
            margin += x < y
            margin -= x > y
        lead[rows] = np.sign(margin).sum(axis=2)
    half_wins: Floats = votes.n_candidates[votes.query] - 1 + lead
    return half_wins / 2


def _rivals(n_candidates: Ints) -> Iterator[tuple[Ints, Ints]]:
    """Yield candidates of some queries, and for each query all that it has.

    Queries with equally many candidates are taken together, as many as fit the cache;
    of a query with very many, a few of them at a time.
    """
    begin = starts_of(n_candidates)[:-1]
    for n in np.unique(n_candidates[n_candidates > 0]).tolist():
        queries = begin[n_candidates == n]
        step, width = max(1, _PAIRS // (n * n)), max(1, _PAIRS // n)
        for first in range(0, len(queries), step):
            every = queries[first : first + step, None] + np.arange(n)
            for left in range(0, n, width):
                yield every[:, left : left + width], every


def isr(votes: Votes) -> Floats:
    """Inverse square rank: each run adds 1 / rank^2; times the number of runs.

    Formula:
        n * sum of 1 / r^2 over the n runs that have the item

    References:
        A. Mourão, F. Martins, J. Magalhães: Multimodal medical information retrieval
        with unsupervised rank fusion. Computerized Medical Imaging and Graphics 39,
        2015. https://doi.org/10.1016/j.compmedimag.2014.05.006

    Examples:
        ``y`` has ranks 2 and 1: 2 * (1/4 + 1) = 2.5.

        >>> import rankine as rk
        >>> runs = {"a": {"q": ["x", "y"]}, "b": {"q": ["y", "z"]}}
        >>> rk.fuse(runs, "isr").to_dict()
        {'q': {'y': 2.5, 'x': 1.0, 'z': 0.25}}
    """
    return _inverse_squares(votes) * votes.count


def log_isr(votes: Votes) -> Floats:
    """Inverse square rank, times the logarithm of the number of runs.

    Items that only one run has are all worth 0.

    Formula:
        ln(n) * sum of 1 / r^2 over the n runs that have the item

    References:
        A. Mourão, F. Martins, J. Magalhães: Multimodal medical information retrieval
        with unsupervised rank fusion. Computerized Medical Imaging and Graphics 39,
        2015. https://doi.org/10.1016/j.compmedimag.2014.05.006

    Examples:
        ln(2) * (1/4 + 1) = 0.8664; items of one run are tied.

        >>> import rankine as rk
        >>> runs = {"a": {"q": ["x", "y"]}, "b": {"q": ["y", "z"]}}
        >>> rk.fuse(runs, "log_isr").to_dict()
        {'q': {'y': 0.8664, 'z': 0.0, 'x': 0.0}}
    """
    return _inverse_squares(votes) * np.log(votes.count)


def logn_isr(votes: Votes, *, sigma: float = 0.01) -> Floats:
    """Inverse square rank, times a logarithm that leaves items of one run apart.

    Formula:
        ln(n + sigma) * sum of 1 / r^2 over the n runs that have the item

    Args:
        votes: the votes.
        sigma: how much an item counts that only one run has; 0 to 1.

    References:
        A. Mourão, F. Martins, J. Magalhães: Multimodal medical information retrieval
        with unsupervised rank fusion. Computerized Medical Imaging and Graphics 39,
        2015. https://doi.org/10.1016/j.compmedimag.2014.05.006

    Examples:
        ln(2 + 1) * (1/4 + 1) = 1.3733; ln(1 + 1) * 1 and ln(1 + 1) / 4 for the others.

        >>> import rankine as rk
        >>> runs = {"a": {"q": ["x", "y"]}, "b": {"q": ["y", "z"]}}
        >>> rk.fuse(runs, "logn_isr", sigma=1).to_dict()
        {'q': {'y': 1.3733, 'x': 0.6931, 'z': 0.1733}}
    """
    check_number("sigma", sigma, least=0, most=1)
    return _inverse_squares(votes) * np.log(votes.count + sigma)


def rbc(votes: Votes, *, phi: float) -> Floats:
    """Rank-biased centroids: each run adds the weight that RBP gives to the rank.

    Formula:
        sum of (1 - phi) * phi^(r - 1) over the runs that have the item

    Args:
        votes: the votes.
        phi: how deep the runs are read; above 0 and below 1.

    References:
        P. Bailey, A. Moffat, F. Scholer, P. Thomas: Retrieval consistency in the
        presence of query variations. SIGIR 2017.
        https://doi.org/10.1145/3077136.3080839

    Examples:
        ``y`` has ranks 2 and 1: 0.5 * 0.5 + 0.5 = 0.75.

        >>> import rankine as rk
        >>> runs = {"a": {"q": ["x", "y"]}, "b": {"q": ["y", "z"]}}
        >>> rk.fuse(runs, "rbc", phi=0.5).to_dict()
        {'q': {'y': 0.75, 'x': 0.5, 'z': 0.25}}
    """
    check_number("phi", phi, above=0, below=1)
    return votes.sum((1 - phi) * np.power(float(phi), votes.rank - 1))


def _inverse_squares(votes: Votes) -> Floats:
    return votes.sum(1 / votes.rank.astype(np.float64) ** 2)


def _weighed(votes: Votes, values: Floats, weights: Floats | None) -> Floats:
    """Give each vote the weight of its run."""
    return values if weights is None else values * weights[votes.run]


METHODS = {
    method.name: method
    for method in (
        Method("rrf", rrf, of_scores=False, tries={"k": range(10, 101, 10)}),
        Method("combsum", comb_sum, ("sum",)),
        Method("combmnz", comb_mnz, ("mnz",)),
        Method("combmed", comb_med, ("med",)),
        Method("combanz", comb_anz, ("anz",)),
        Method("combmin", comb_min, ("min",)),
        Method("combmax", comb_max, ("max",)),
        Method("combgmnz", comb_gmnz, ("gmnz",), tries={"gamma": _HUNDREDTHS}),
        Method("wsum", wsum),
        Method("wmnz", wmnz),
        Method("mixed", mixed),
        Method("borda", borda, ("bordafuse",), of_scores=False),
        Method("condorcet", condorcet, of_scores=False),
        Method("isr", isr, of_scores=False),
        Method("log_isr", log_isr, of_scores=False),
        Method("logn_isr", logn_isr, of_scores=False, tries={"sigma": _HUNDREDTHS}),
        Method("rbc", rbc, of_scores=False, tries={"phi": _HUNDREDTHS}),
    )
}
