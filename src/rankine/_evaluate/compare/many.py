"""compare_many: systems on several collections, and by the means over them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from rankine._base.records import cached_property
from rankine._base.text import common_unit, count
from rankine._evaluate.compare.compare import (
    KEEP,
    check_baseline,
    check_metric,
    check_systems,
    compare,
    margins_of,
)
from rankine._evaluate.compare.comparison import Comparison
from rankine._evaluate.compare.system_values import SystemValues
from rankine._evaluate.evaluate import DEFAULT, prepare
from rankine._evaluate.many import MACRO, MacroEvaluation, each_collection
from rankine._evaluate.notes import said_once
from rankine._evaluate.options import options_of
from rankine._runs.several import runs_of
from rankine._stats.paired import DRAWS
from rankine._stats.pairwise import Settings
from rankine.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rankine._conventions.convention import Convention
    from rankine._metrics.metric import Metric


@dataclass(frozen=True, eq=False, repr=False)
class MacroComparison:
    """Systems on several collections: in each of them, and by the means over them.

    `table` and `pairwise` have the rows of all collections, and last those of the
    means, whose collection is called ``macro``.

    Attributes:
        collections: the comparison in each collection, by its name.
        macro: the comparison of the means over the collections, which count the same.

    >>> import rankine as rk
    >>> qrels = {f"q{n}": {"a": 1} for n in range(6)}
    >>> low = {f"q{n}": ["x", "a"] for n in range(6)}
    >>> high = {f"q{n}": ["a", "x"] for n in range(6)}
    >>> data = {
    ...     "news": (qrels, {"low": low, "high": high}),
    ...     "code": (qrels, {"low": low, "high": low}),
    ... }
    >>> many = rk.compare_many(data, "RR")
    >>> many.pairwise.select("collection", "difference", "p").rows()
    [('news', 0.5, 0.03125), ('code', 0.0, 1.0), ('macro', 0.25, 0.03125)]
    """

    collections: dict[str, Comparison]
    macro: Comparison

    @property
    def systems(self) -> tuple[str, ...]:
        """The names of the systems."""
        return self.macro.systems

    @property
    def metrics(self) -> tuple[str, ...]:
        """The names of the metrics."""
        return self.macro.metrics

    @property
    def _all(self) -> dict[str, Comparison]:
        return {**self.collections, MACRO: self.macro}

    @cached_property
    def table(self) -> pl.DataFrame:
        """A row per collection, system and metric, as in `Comparison.table`."""
        return _stacked({name: each.table for name, each in self._all.items()})

    @cached_property
    def pairwise(self) -> pl.DataFrame:
        """A row per collection, metric and pair, as `Comparison.pairwise` has them.

        P-values are corrected within each collection, and within the means.
        """
        return _stacked({name: each.pairwise for name, each in self._all.items()})

    @property
    def sentences(self) -> list[str]:
        """What was found of the means for each metric and pair, in words."""
        return self.macro.sentences

    @property
    def notes(self) -> tuple[str, ...]:
        """How the means were made, and the notes of the collections."""
        return self.macro.notes

    @cached_property
    def warnings(self) -> tuple[str, ...]:
        """What makes the tests doubtful: of the means, and in each collection."""
        by_collection = {name: each.warnings for name, each in self._all.items()}
        return tuple(said_once(by_collection))

    def to_dict(self) -> dict[str, Any]:
        """Return all comparisons without the values per query, ready for JSON."""
        return {
            "collections": {
                name: each.to_dict() for name, each in self.collections.items()
            },
            MACRO: self.macro.to_dict(),
        }

    def to_markdown(self) -> str:
        """Return the means as a Markdown table: a row per system."""
        from rankine._report.macro import comparison_markdown  # noqa: PLC0415

        return comparison_markdown(self)

    def to_latex(
        self, *, digits: int = 4, caption: str | None = None, label: str | None = None
    ) -> str:
        r"""Return the means as a LaTeX table in booktabs style: a row per system.

        Args:
            digits: how many decimals numbers have.
            caption: the caption, which may have commands of LaTeX; with it, the table
                is a float.
            label: what ``\ref`` refers to the table by.

        Raises:
            ParameterError: an argument is not valid, or there is a label without a
                caption.
        """
        from rankine._report.macro import comparison_latex  # noqa: PLC0415

        return comparison_latex(self, digits, caption, label)

    def __str__(self) -> str:
        """Return the means in all collections, and the pairs of the means, as text."""
        from rankine._report.macro import comparison_text  # noqa: PLC0415

        return comparison_text(self)

    def __repr__(self) -> str:
        """Return what was compared, in one line."""
        what = f"{', '.join(self.systems)}: {', '.join(self.metrics)}"
        return f"{type(self).__name__}({what}; {', '.join(self.collections)})"

    def _repr_html_(self) -> str:
        from rankine._report.macro import comparison_html  # noqa: PLC0415

        return comparison_html(self)


def compare_many(
    collections: Mapping[str, tuple[Any, Any]],
    metrics: str | Metric | Iterable[str | Metric] = DEFAULT,
    *,
    baseline: str | None = None,
    test: str = "randomization",
    correction: str = "holm",
    family: str = "metric",
    confidence: float = 0.95,
    margin: float | Mapping[str, float] | None = None,
    draws: int = DRAWS,
    seed: int = 0,
    intervals: str = "pair",
    keep: int | None = KEEP,
    convention: str | Convention = "rankine",
    **options: Any,
) -> MacroComparison:
    """Compare systems on several collections: in each, and by the means over them.

    A system's mean over the collections counts each of them the same, however many
    queries it has. Differences of these means are tested on the differences of all
    queries, each by the share that it has in the means: ``randomization`` flips their
    signs; ``t`` divides by the standard error that the collections' own ones add up to,
    with Satterthwaite's degrees of freedom. The verdict is about other queries of the
    same collections, not about other collections.

    Args:
        collections: name -> (judgements, runs), with the same systems in all of them;
            each in any form that `compare` takes.
        metrics: names or metrics, each with a value per query.
        baseline: as in `compare`.
        test: ``randomization`` or ``t``.
        correction: as in `compare`; p-values are corrected within each collection, and
            within the means.
        family: as in `compare`.
        confidence: as in `compare`.
        margin: as in `compare`.
        draws: as in `compare`.
        seed: as in `compare`.
        intervals: as in `compare`.
        keep: as in `compare`.
        convention: whose choices the numbers follow.
        options: the other options of `evaluate`, the same for all collections.

    Returns:
        The comparison in each collection, and that of the means.

    Raises:
        UsageError: a metric or an option is not valid, or makes no sense with another;
            or a collection lacks a system.
        DataError: the data of a collection cannot be used.

    References:
        W. G. Cochran: Sampling techniques, 3rd edition, 1977, chapter 5.
    """
    settings = Settings(test, correction, family, confidence, draws, seed, intervals)
    said: dict[str, Any] = {"convention": convention, "keep": keep, **options}
    job = prepare(metrics, options_of("compare_many", said))
    weighted = job.options.weights is not None
    settings.check(weighted=weighted, stratified=True)
    for asked, bound in zip(job.plan.labels, job.plan.bound, strict=True):
        if bound.fact.without is not None:
            msg = (
                f"{asked} is a single number for all users, which has no mean over "
                "collections to test; compare it in each collection with rk.compare"
            )
            raise ParameterError(msg)
        check_metric(asked, bound)
    margins = margins_of(margin, job.plan.labels)
    runs_by_name = each_collection(
        collections, "runs", lambda _, __, runs: runs_of(runs)
    )
    systems = _same_systems(runs_by_name)
    check_systems(systems, baseline)
    check_baseline(baseline, systems)

    def compared(name: str, qrels: Any, _: Any) -> Comparison:
        return compare(
            qrels,
            {system: runs_by_name[name][system] for system in systems},
            metrics,
            baseline=baseline,
            test=test,
            correction=correction,
            family=family,
            confidence=confidence,
            margin=margin,
            draws=draws,
            seed=seed,
            intervals=intervals,
            **said,
        )

    found = each_collection(collections, "runs", compared)
    return MacroComparison(found, _macro(found, settings, baseline, margins))


def _same_systems(runs: Mapping[str, Mapping[str, Any]]) -> tuple[str, ...]:
    """Return the systems of the first collection, which all must have."""
    (first, systems), *others = runs.items()
    for name, known in others:
        apart = sorted(systems.keys() ^ known.keys())
        if apart:
            lacks, has = (name, first) if apart[0] in systems else (first, name)
            msg = (
                f"collection {lacks!r} has no run of {apart[0]!r}, but {has!r} has; a "
                "mean over collections needs every system in all of them"
            )
            raise ParameterError(msg)
    return tuple(systems)


def _macro(
    found: Mapping[str, Comparison],
    settings: Settings,
    baseline: str | None,
    margins: Mapping[str, float],
) -> Comparison:
    """Return the comparison of the means over collections."""
    # In the order of their names, so that flips do not depend on the order given.
    ordered = {name: found[name] for name in sorted(found)}
    parts = [each._compared for each in ordered.values()]  # noqa: SLF001 - our own
    first = parts[0]
    weights = None
    if first.weights is not None:
        weights = np.concatenate([part.weights for part in parts])
    means, lows, highs = np.full((3, len(first.metrics), len(first.systems)), np.nan)
    for system, name in enumerate(first.systems):
        of_system = MacroEvaluation(
            {key: each.evaluations[name] for key, each in ordered.items()}
        )
        for metric, label in enumerate(first.metrics):
            means[metric, system] = of_system[label]
            bounds = of_system.interval(label, settings.confidence)
            lows[metric, system], highs[metric, system] = bounds
    sizes = [len(part.queries) for part in parts]
    named = [
        (f"{name}/{query}", name)
        for (name, part) in zip(ordered, parts, strict=True)
        for query in part.queries
    ]
    compared = SystemValues(
        first.systems,
        first.metrics,
        [query for query, _ in named],
        np.concatenate([part.values for part in parts], axis=2),
        means, lows, highs, first.directions, weights,
        strata=np.repeat(np.arange(len(parts)), sizes),
        unit=common_unit(part.unit for part in parts),
    )  # fmt: skip
    by = dict(named)
    if len(by) < len(named):
        msg = (
            "two collections have a query of the same name, if theirs is put before "
            f"it with a slash ({', '.join(ordered)}); give one of them another name"
        )
        raise ParameterError(msg)
    n = count(len(found), "collection")
    how = f"{MACRO}: the mean over {n}, each with the same weight"
    notes = said_once({name: each.notes for name, each in found.items()})
    return Comparison(
        compared,
        settings,
        baseline=baseline,
        margins=margins,
        notes=(how, *notes),
        by=by,
    )


def _stacked(frames: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    """Put frames below each other, with a column of their names before."""
    named = (
        [pl.Series("collection", [name] * frame.height, pl.String), *frame]
        for name, frame in frames.items()
    )
    return pl.concat([pl.DataFrame(columns) for columns in named])
