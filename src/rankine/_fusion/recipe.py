"""How runs are fused: what the user chose, checked before anything is read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rankine._base.checks import check_k, check_number
from rankine._base.text import count
from rankine._fusion.methods import WEIGHTS, Method, method_of
from rankine._fusion.norms import Norm, norm_of
from rankine.errors import DataError, ParameterError, nearest

if TYPE_CHECKING:
    from rankine._base.arrays import Floats
    from rankine._fusion.ballots import Ballots, Votes
    from rankine._fusion.join import Joined

_LEAST = 2
_NO_ORDER = (str, bytes, AbstractSet)
"""What can be gone through, but is no list of numbers."""
INSTEAD = "a method that reads ranks, such as rrf"


@dataclass(frozen=True)
class Recipe:
    """A method with its parameters, a normalisation and a depth.

    Attributes:
        method: the method.
        norm: the normalisation; None if scores stay as they are.
        depth: how many items of each list are fused, and left of the fused one.
        parameters: those of the method, with weights as an array by run.
    """

    method: Method
    norm: Norm | None
    depth: int | None
    parameters: Mapping[str, Any]

    def votes(self, joined: Joined) -> tuple[Votes, list[str]]:
        """Return the votes with the scores that the method reads, and notes."""
        votes, norm = joined.votes, self.norm
        if not self.method.of_scores:
            return votes, []
        if norm is None or norm.of_scores:
            self._refuse_unscored(joined)
            _refuse_infinite(joined)
        if norm is None:
            return votes, []
        with np.errstate(over="ignore", invalid="ignore"):  # which is refused
            score = norm.kernel(votes)
        self._refuse_undefined(joined, score)
        rest = None if norm.rest is None else norm.rest(votes)
        notes = _flat_notes(joined.votes.ballots, norm) if norm.by_spread else []
        return votes.scored(score, rest), notes

    def scores(self, joined: Joined, votes: Votes) -> Floats:
        """Return the fused score of each candidate, by votes as it reads them."""
        with np.errstate(over="ignore", invalid="ignore"):  # which is refused
            scores = self.method.kernel(votes, **self.parameters)
        odd = np.flatnonzero(~np.isfinite(scores))
        if len(odd):
            query = joined.queries[int(votes.query[odd[0]])]
            msg = (
                f"{self.method.name} gives a number that is too large for query "
                f"{query!r}; give smaller scores or parameters, or {INSTEAD}"
            )
            raise DataError(msg)
        return scores

    def plain(self, names: Sequence[str]) -> dict[str, Any]:
        """Return the parameters as users write them, with weights by run."""
        return {
            key: dict(zip(names, value.tolist(), strict=True))
            if key == WEIGHTS
            else value
            for key, value in self.parameters.items()
        }

    def arguments(self, names: Sequence[str]) -> dict[str, Any]:
        """Return all that `fuse` is to be given."""
        norm = None if self.norm is None else self.norm.name
        chosen = {"method": self.method.name, "norm": norm, "depth": self.depth}
        return chosen | self.plain(names)

    def _refuse_unscored(self, joined: Joined) -> None:
        if joined.unscored:
            have = "has" if len(joined.unscored) == 1 else "have"
            msg = (
                f"{', '.join(joined.unscored)} {have} no scores, which "
                f"{self.method.name} reads; give norm='rank' or --norm rank, or "
                f"{INSTEAD}"
            )
            raise DataError(msg)

    def _refuse_undefined(self, joined: Joined, score: Floats) -> None:
        """Refuse a list that the normalisation has no numbers for."""
        odd = np.flatnonzero(~np.isfinite(score))
        if len(odd) and self.norm is not None:
            run, query = _list_of(joined, int(odd[0]))
            needs = self.norm.needs
            if not needs or np.isinf(score[odd[0]]):
                needs = "scores that are not too large to be subtracted"
            msg = (
                f"norm={self.norm.name!r} needs {needs}, which {run} lacks for query "
                f"{query!r}; give another norm= or --norm, such as min-max, or "
                f"{INSTEAD}"
            )
            raise DataError(msg)


def recipe_of(
    names: Sequence[str],
    method: object,
    norm: object,
    weights: Any,
    depth: int | None,
    parameters: Mapping[str, Any],
) -> Recipe:
    """Check what was chosen; see `fuse`.

    Args:
        names: the names of the runs.
        method: the name of a method.
        norm: the name of a normalisation; None for none.
        weights: how much each run counts: a mapping by name, or numbers in order.
        depth: how many items of each list are fused.
        parameters: those of the method.
    """
    check_runs(names)
    check_k(depth, "depth")
    chosen = method_of(method)
    given = dict(parameters)
    if weights is not None:
        given[WEIGHTS] = weights_of(weights, names)
    chosen.check(given, len(names))
    return Recipe(chosen, norm_of(norm), depth, given)


def check_runs(names: Sequence[str]) -> None:
    """Refuse fewer than two runs."""
    if len(names) < _LEAST:
        what = f"only {names[0]}" if names else "none"
        msg = f"fusion needs at least two runs, got {what}"
        raise ParameterError(msg)


def weights_of(weights: Any, names: Sequence[str]) -> Floats:
    """Return the weight of each run, in their order.

    >>> weights_of({"b": 1, "a": 3}, ["a", "b"])
    array([3., 1.])
    """
    if isinstance(weights, Mapping):
        for name in weights:
            if name not in names:
                msg = (
                    f"weights has {name!r}, which is not a run; the runs are "
                    f"{', '.join(names)}{nearest(str(name), names)}"
                )
                raise ParameterError(msg)
        lacking = [name for name in names if name not in weights]
        if lacking:
            msg = f"weights lacks {', '.join(lacking)}; give each run a weight"
            raise ParameterError(msg)
        weights = [weights[name] for name in names]
    elif isinstance(weights, _NO_ORDER) or not hasattr(weights, "__iter__"):
        msg = f"weights must be {{run: number}} or a list of numbers, got {weights!r}"
        raise ParameterError(msg)
    weights = list(weights)
    if len(weights) != len(names):
        msg = f"weights has {count(len(weights), 'number')} for {len(names)} runs"
        raise ParameterError(msg)
    for name, weight in zip(names, weights, strict=True):
        check_number(f"the weight of {name}", weight, least=0)
    if not any(weights):
        msg = "weights are all 0; give at least one run a weight above 0"
        raise ParameterError(msg)
    return np.array(weights, dtype=np.float64)


def _list_of(joined: Joined, row: int) -> tuple[str, object]:
    """Return the name of the run and the id of the query of a row of the ballots."""
    query, run = divmod(int(joined.votes.ballots.number[row]), len(joined.names))
    return joined.names[run], joined.queries[query]


def _refuse_infinite(joined: Joined) -> None:
    """Refuse scores that cannot be added up."""
    score = joined.votes.ballots.score
    odd = np.flatnonzero(~np.isfinite(score))
    if len(odd):
        run, query = _list_of(joined, int(odd[0]))
        msg = (
            f"{run} has the score {score[odd[0]]} for query {query!r}; fusion of "
            f"scores needs finite numbers; correct it, or give {INSTEAD}"
        )
        raise DataError(msg)


def _flat_notes(ballots: Ballots, norm: Norm) -> list[str]:
    """Say how many lists have nothing but equal scores."""
    flat = (ballots.length > 0) & (ballots.first == ballots.last)
    n = int(np.count_nonzero(flat))
    if not n:
        return []
    said = f"{norm.name} gives 0 to all items"
    return [f"{count(n, 'list')} whose scores are all equal: {said}"]
