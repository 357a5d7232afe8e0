"""Grids: the parameters of a method that tuning tries, the most usual first."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from itertools import combinations, pairwise, product
from math import comb
from typing import TYPE_CHECKING, Any

from rankine._base.checks import check_k
from rankine._fusion.methods import METHODS, WEIGHTS, method_of
from rankine._fusion.norms import norm_of
from rankine._fusion.recipe import Recipe, check_runs, weights_of
from rankine.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankine._fusion.methods import Method

MOST = 1001
"""Weightings that are tried: those of five runs in steps of a tenth."""
_STEPS = 10


def recipes_of(
    names: Sequence[str],
    method: object,
    norm: object,
    grid: Mapping[str, Any] | None,
    depth: int | None,
) -> list[Recipe]:
    """Return the recipes to try, those first that are nearest to the usual ones.

    Args:
        names: the names of the runs.
        method: the name of the method.
        norm: the name of the normalisation; None for none.
        grid: parameter -> the values to try, as the user said.
        depth: how many items of each list are fused.
    """
    check_runs(names)
    check_k(depth, "depth")
    chosen, normalised = method_of(method), norm_of(norm)
    return [
        Recipe(chosen, normalised, depth, parameters)
        for parameters in grid_of(chosen, names, grid)
    ]


def grid_of(
    method: Method, names: Sequence[str], given: Mapping[str, Any] | None
) -> list[dict[str, Any]]:
    """Return the parameters to try, those first that are nearest to the usual ones.

    Of several that are equally good, the first one wins.

    Args:
        method: the method.
        names: the names of the runs.
        given: parameter -> the values to try, as the user said; for the others, those
            of the method, and for weights that it needs, steps from 0 to 1 that add up
            to 1.
    """
    values: object = given
    if values is not None and not isinstance(values, Mapping):
        msg = f"grid must be {{parameter: values to try}}, got {given!r}"
        raise ParameterError(msg)
    tries: dict[str, Iterable[Any]] = {
        key: sorted(values, key=partial(_distance, method.parameters[key]))
        for key, values in method.tries.items()
    }
    if WEIGHTS in method.required:
        tries[WEIGHTS] = weightings(len(names))
    for key, values in (given or {}).items():
        if isinstance(values, (str, bytes, Mapping)) or not hasattr(values, "__iter__"):
            msg = f"grid must give {key} a list of values to try, got {values!r}"
            raise ParameterError(msg)
        tries[key] = list(values)
        if not tries[key]:
            msg = f"grid gives no values to try for {key}"
            raise ParameterError(msg)
    if not tries:
        tunable = [
            name
            for name, other in METHODS.items()
            if other.tries or WEIGHTS in other.required
        ]
        msg = (
            f"{method.name} has no parameters to tune; methods that have some are "
            f"{', '.join(tunable)}"
        )
        raise ParameterError(msg)
    if WEIGHTS in tries:
        tries[WEIGHTS] = [weights_of(weights, names) for weights in tries[WEIGHTS]]
    made = [
        dict(zip(tries, values, strict=True)) for values in product(*tries.values())
    ]
    for parameters in made:
        method.check(parameters, len(names))
    return made


def _distance(default: Any, value: float) -> float:
    """Return how far a value is from the default, if there is one."""
    return abs(value - default) if isinstance(default, (int, float)) else 0


def weightings(n_runs: int) -> list[tuple[float, ...]]:
    """Return weights of runs that add up to 1, in equal steps; the most even first.

    The steps are a tenth for up to five runs, and larger for more of them.

    >>> weightings(2)[:3]
    [(0.5, 0.5), (0.4, 0.6), (0.6, 0.4)]
    >>> [len(weightings(n)) for n in (2, 3, 5, 6, 10)]
    [11, 66, 1001, 792, 715]
    """
    steps = next(
        (n for n in range(_STEPS, 1, -1) if comb(n + n_runs - 1, n) <= MOST), 1
    )
    parts = []
    for cuts in combinations(range(steps + n_runs - 1), n_runs - 1):
        edges = (-1, *cuts, steps + n_runs - 1)
        parts.append(tuple(b - a - 1 for a, b in pairwise(edges)))
    parts.sort(key=lambda part: (sum(n * n for n in part), part))
    return [tuple(n / steps for n in part) for part in parts]
