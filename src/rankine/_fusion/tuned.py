"""TunedFusion: parameters of a fusion, and what it is worth on other queries."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rankine._base.notebook import as_table
from rankine._base.text import count, plural

if TYPE_CHECKING:
    import polars as pl

    from rankine._evaluate.compare.comparison import Comparison
    from rankine._evaluate.result import Evaluation
    from rankine._runs.views import Run

_KEPT = 0.5
"""The share of the gain on training queries, less of which on others is doubted."""
_PLACES = 4


@dataclass(frozen=True, eq=False)
class TunedFusion:
    """Parameters of a fusion that were tuned, and what it is worth on other queries.

    ``rk.fuse(runs, **tuned.parameters)`` fuses other lists of the same systems.

    Attributes:
        metric: the metric that was to be improved.
        parameters: method, norm, depth, and the parameters that are best on all
            queries.
        run: all queries, fused with these parameters.
        held_out: the fused lists of queries that their parameters were not tuned on.
        runs: the single runs on the same queries.
        best: the name of the best of these.
        comparison: the best single run and the fused lists, query by query.
        gain: by how much the mean of the fused lists is better than that of the best
            single run, on queries that were left out.
        training_gain: the same on the queries that the parameters were tuned on, as a
            mean over the folds.
        folds: a row per fold: how many queries it has, the parameters that are best on
            the others, the mean on these others, and the mean on its own queries.
        trials: a row per set of parameters that was tried, with its mean on all
            queries.
    """

    metric: str
    parameters: dict[str, Any]
    run: Run
    held_out: Evaluation
    runs: dict[str, Evaluation]
    best: str
    comparison: Comparison
    gain: float
    training_gain: float
    folds: pl.DataFrame
    trials: pl.DataFrame

    @property
    def warnings(self) -> tuple[str, ...]:
        """What makes the parameters doubtful."""
        if not self.training_gain > 0 or self.gain >= _KEPT * self.training_gain:
            return ()
        trained, left = (
            f"{gain:+.{_PLACES}f}" for gain in (self.training_gain, self.gain)
        )
        units = plural(self.comparison.unit)
        warning = (
            f"the gain over {self.best} is {trained} on the {units} that parameters "
            f"were tuned on, but {left} on {units} that were left out: expect the "
            "latter"
        )
        return (warning,)

    @property
    def notes(self) -> tuple[str, ...]:
        """What was inferred, changed or left out while the runs were fused."""
        return tuple(self.held_out.tables[0].notes)

    @property
    def sentences(self) -> list[str]:
        """The parameters, and how they were found, in words."""
        chosen = (
            f"{name} {in_words(value)}"
            for name, value in self.parameters.items()
            if name != "depth" or value is not None
        )
        n_queries, unit = int(self.folds["queries"].sum()), self.comparison.unit
        how = (
            f"the best of {count(self.trials.height, 'setting')} for {self.metric} on "
            f"{count(n_queries, unit)}; below, each {unit} is fused with the setting "
            f"that is best on the other {self.folds.height - 1} folds"
        )
        return [", ".join(chosen), how]

    def __str__(self) -> str:
        """Return parameters, the comparison with the best single run, and warnings."""
        doubts = (f"! {warning}" for warning in self.warnings)
        return "\n".join([*self.sentences, str(self.comparison), *doubts])

    def _repr_html_(self) -> str:
        return as_table(self)


def in_words(value: Any) -> str:
    """Return the value of a parameter as a reader would say it.

    >>> in_words({"bm25": 0.3, "dense": 0.7}), in_words(None)
    ('bm25=0.3 dense=0.7', 'none')
    """
    if isinstance(value, Mapping):
        return " ".join(f"{run}={number:.4g}" for run, number in value.items())
    return "none" if value is None else str(value)
