"""fuse: several runs in, one run out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from rankine._evaluate.options import Options
from rankine._fusion.join import join
from rankine._fusion.recipe import recipe_of
from rankine._io import source_of
from rankine._runs.several import named_runs
from rankine._runs.views import Run

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rankine._base.arrays import Floats
    from rankine._fusion.join import Joined
    from rankine._fusion.recipe import Recipe
    from rankine._io.sources import Source


def fuse(
    runs: Any,
    method: str = "rrf",
    *,
    norm: str | None = "min-max",
    weights: Any = None,
    depth: int | None = None,
    columns: Mapping[str, Any] | None = None,
    lower_is_better: bool = False,
    lenient: bool = False,
    **parameters: Any,
) -> Run:
    """Fuse runs: one run whose items have the scores that all of them give.

    Items of the fused run are in the order of their scores; equal scores are in the
    order of all runs, by the id as text, descending.

    Args:
        runs: {name: run}, in any form that `evaluate` takes; a list of runs, which are
            named after their files or called "run 1", "run 2" and so on; or a pattern
            such as ``runs/*.txt``. At least two.
        method: by ranks: ``rrf``, ``isr``, ``log_isr``, ``logn_isr``, ``rbc``,
            ``borda``, ``condorcet``; by scores: ``combsum``, ``combmnz``, ``combgmnz``,
            ``combanz``, ``combmed``, ``combmin``, ``combmax``, ``wsum``, ``wmnz``,
            ``mixed``. The names in ranx are read, too.
        norm: how the scores of runs are made comparable, list by list: ``min-max``,
            ``max``, ``sum``, ``z-score``, ``rank`` or ``borda``; None leaves them as
            they are. Methods that read ranks do not need it, and do as if it were not
            there.
        weights: how much each run counts, for ``wsum``, ``wmnz``, ``mixed`` and
            ``rrf``: {name: number}, or numbers in the order of the runs.
        depth: use only the first items of each list, and keep as many of each fused
            list.
        columns: which column is what, as in `evaluate`.
        lower_is_better: scores of all runs are distances, the smallest first.
        lenient: drop rows without an id and repeated items, and rank scores that are
            nan last, instead of refusing them.
        parameters: those of the method: ``k`` of rrf, ``gamma`` of combgmnz, ``sigma``
            of logn_isr, ``phi`` of rbc.

    Returns:
        The fused run, with all queries that at least one run has.

    Raises:
        UsageError: a name or a parameter is not valid.
        DataError: the data cannot be used.

    >>> import rankine as rk
    >>> bm25 = {"q": {"a": 12.5, "b": 11, "c": 3}}
    >>> dense = {"q": {"b": 0.9, "d": 0.8}}
    >>> run = rk.fuse({"bm25": bm25, "dense": dense})
    >>> list(run["q"])
    ['b', 'a', 'd', 'c']
    >>> rk.fuse([bm25, dense], "combmnz")["q"]["b"]  # 2 * (8 / 9.5 + 1)
    3.6842
    """
    named = named_runs(runs)
    recipe = recipe_of([*named], method, norm, weights, depth, parameters)
    options = Options(columns=columns, lower_is_better=lower_is_better, lenient=lenient)
    return fuse_runs(named, recipe, options)


def fuse_runs(
    named: Mapping[str, Any],
    recipe: Recipe,
    options: Options,
    tell: Callable[[Source], object] | None = None,
) -> Run:
    """Read runs, and fuse them.

    Args:
        named: the runs, by their names.
        recipe: how they are fused.
        options: how they are read.
        tell: is told of each run when it is read.
    """
    options.check()
    how, sources = options.reading("run"), {}
    for name, run in named.items():
        sources[name] = source_of(run, how, name=name)
        if tell is not None:
            tell(sources[name])
    joined = join(sources, recipe.depth)
    votes, notes = recipe.votes(joined)
    return fused(joined, recipe, recipe.scores(joined, votes), notes)


def fused(joined: Joined, recipe: Recipe, scores: Floats, notes: Sequence[str]) -> Run:
    """Return the run of candidates with their scores; notes are what else is said."""
    return Run(joined.run(scores, recipe.depth, recipe.method.name, notes))
