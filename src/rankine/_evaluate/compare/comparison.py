"""Comparison: systems on the same queries, every pair with its test and verdict."""

from __future__ import annotations

import math
from string import ascii_lowercase
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from rankine._base.checks import check_count, check_flag, check_number
from rankine._base.records import cached_property
from rankine._evaluate.compare.doubtful_tests import warnings_of_tests
from rankine._evaluate.compare.moved_queries import Moved, moved_queries
from rankine._evaluate.compare.segments import gap_table, segment_table, segments_of
from rankine._evaluate.compare.whole_runs import whole_warnings
from rankine._evaluate.report_methods import DrawnComparison
from rankine._evaluate.scalars import safe_label, safe_names_of, scalars_of
from rankine._stats.intervals import Interval
from rankine._stats.pairwise import Pairwise, Settings, compare_values
from rankine._stats.risk import Risk, risk_of
from rankine.errors import ParameterError, nearest

if TYPE_CHECKING:
    from collections.abc import Mapping
    from os import PathLike

    from rankine._base.arrays import AnyArray
    from rankine._evaluate.compare.system_values import SystemValues
    from rankine._evaluate.result import Evaluation

_OF_QUERIES = {
    "effect": pl.Float64, "superiority": pl.Float64, "wins": pl.Int64,
    "ties": pl.Int64, "losses": pl.Int64,
}  # fmt: skip
"""The columns that only metrics with values per query have."""


class Comparison(DrawnComparison):
    """Systems on the same queries: their means, and the differences of every pair.

    `table` has a row per system and metric, `pairwise` one per metric and pair, `moved`
    the queries that differ most, `notes` what was left out.

    >>> import rankine as rk
    >>> qrels = {"q1": {"a": 1}, "q2": {"b": 1}, "q3": {"c": 1}}
    >>> old = {"q1": ["x", "a"], "q2": ["b"], "q3": ["x", "y", "c"]}
    >>> new = {"q1": ["a", "x"], "q2": ["b"], "q3": ["c", "x", "y"]}
    >>> cmp = rk.compare(qrels, {"old": old, "new": new}, "RR", baseline="old")
    >>> cmp.pairwise.select("a", "b", "wins", "ties", "losses", "verdict").row(0)
    ('old', 'new', 2, 1, 0, 'cannot tell')
    """

    def __init__(
        self,
        compared: SystemValues,
        settings: Settings,
        *,
        baseline: str | None = None,
        margins: Mapping[str, float] | None = None,
        evaluations: Mapping[str, Evaluation] | None = None,
        notes: tuple[str, ...] = (),
        by: Any = None,
    ) -> None:
        self._compared = compared
        self.settings = settings
        self.baseline = baseline
        self.margins = dict(margins or {})
        self.evaluations = dict(evaluations or {})
        self._notes = notes
        self._by = (
            None if by is None else segments_of(by, compared.queries, compared.unit)
        )

    @property
    def systems(self) -> tuple[str, ...]:
        """The names of the systems."""
        return self._compared.systems

    @property
    def metrics(self) -> tuple[str, ...]:
        """The names of the metrics."""
        return self._compared.metrics

    @property
    def queries(self) -> list[Any]:
        """The ids of the queries that at least one system has."""
        return self._compared.queries

    @property
    def unit(self) -> str:
        """What results call a query: ``query``; or ``user``, if all runs say so."""
        return self._compared.unit

    @cached_property
    def pairs(self) -> Pairwise:
        """Every pair, as columns of numbers."""
        compared = self._compared
        margins = [self.margins.get(metric, math.nan) for metric in compared.metrics]
        return compare_values(
            compared.values,
            self.settings,
            baseline=None if self.baseline is None else self._number(self.baseline),
            weights=compared.weights,
            directions=compared.directions,
            margins=np.array(margins) if self.margins else None,
            wholes=compared.wholes,
            strata=compared.strata,
        )

    @cached_property
    def pairwise(self) -> pl.DataFrame:
        """A row per metric and pair of systems, with d = b - a.

        The columns are metric, a, b, difference, low and high of its interval, p,
        p_corrected, effect (Cohen's dz, or by the residual variance of Tukey's model),
        superiority, wins, ties, losses, and the verdict on b. A metric that is a single
        number for a whole run has null from effect to losses. With simultaneous
        intervals, low_all and high_all follow high.
        """
        compared, pairs = self._compared, self.pairs
        whole = [number in compared.wholes for number in pairs.metric.tolist()]

        def of_queries(column: AnyArray) -> list[Any]:
            cells = zip(column.tolist(), whole, strict=True)
            return [None if skip else cell for cell, skip in cells]

        at_once = {}
        if self.settings.is_simultaneous:
            at_once = {"low_all": pairs.low_all, "high_all": pairs.high_all}
        return pl.DataFrame(
            {
                "metric": [compared.metrics[number] for number in pairs.metric],
                "a": [compared.systems[number] for number in pairs.a],
                "b": [compared.systems[number] for number in pairs.b],
                "difference": pairs.difference,
                "low": pairs.low,
                "high": pairs.high,
                **at_once,
                "p": pairs.p,
                "p_corrected": pairs.p_corrected,
                "effect": of_queries(pairs.effect),
                "superiority": of_queries(pairs.superiority),
                "wins": of_queries(pairs.wins),
                "ties": of_queries(pairs.ties),
                "losses": of_queries(pairs.losses),
                "verdict": list(pairs.verdicts),
            },
            schema_overrides=_OF_QUERIES,
        )

    @cached_property
    def letters(self) -> tuple[str, ...]:
        """A letter per system, which marks in the table who beats it."""
        return tuple(map(letter, range(len(self.systems))))

    @cached_property
    def _beaten(self) -> list[list[list[int]]]:
        """By metric and system, the numbers of the systems it beats."""
        pairs, n = self.pairs, len(self.systems)
        beaten: list[list[list[int]]] = [[[] for _ in range(n)] for _ in self.metrics]
        for number, verdict in enumerate(pairs.verdicts):
            metric, a, b = pairs.metric[number], pairs.a[number], pairs.b[number]
            if verdict.startswith("better"):
                beaten[metric][b].append(a)
            elif verdict.startswith("worse"):
                beaten[metric][a].append(b)
        return [[sorted(numbers) for numbers in systems] for systems in beaten]

    @cached_property
    def beaten(self) -> list[list[str]]:
        """By metric and system, the letters of the systems it beats.

        If there are systems beyond z, spaces separate the letters.
        """
        apart = "" if len(self.systems) <= len(ascii_lowercase) else " "
        return [
            [
                apart.join(self.letters[number] for number in numbers)
                for numbers in systems
            ]
            for systems in self._beaten
        ]

    @cached_property
    def best(self) -> list[set[int]]:
        """Per metric, the numbers of the systems with the best mean, if any is best."""
        best: list[set[int]] = []
        for means, direction in zip(
            self._compared.means, self._compared.directions, strict=True
        ):
            if direction is None or np.isnan(means).all():
                best.append(set())
                continue
            top = np.nanmax(means) if direction else np.nanmin(means)
            best.append(set(np.flatnonzero(means == top).tolist()))
        return best

    @cached_property
    def table(self) -> pl.DataFrame:
        """A row per system and metric.

        The columns are run, metric, mean, low and high of its interval, n, whether the
        mean is the best, and better_than: the systems that this one beats.
        """
        compared = self._compared
        n = compared.n
        return pl.DataFrame(
            [
                {
                    "run": name,
                    "metric": label,
                    "mean": compared.means[metric, system],
                    "low": compared.lows[metric, system],
                    "high": compared.highs[metric, system],
                    "n": int(n[metric, system]),
                    "best": system in self.best[metric],
                    "better_than": [
                        compared.systems[number]
                        for number in self._beaten[metric][system]
                    ],
                }
                for system, name in enumerate(compared.systems)
                for metric, label in enumerate(compared.metrics)
            ],
            schema_overrides={"better_than": pl.List(pl.String)},
        )

    def scalars(
        self, prefix: str = "", *, safe: bool = True, intervals: bool = False
    ) -> dict[str, float]:
        """Return the means by names that loggers accept, such as ``bm25/ndcg_at_10``.

        Args:
            prefix: as in `Evaluation.scalars`.
            safe: as there; the names of systems are changed, too.
            intervals: as there, at the level of the comparison.

        Raises:
            ParameterError: the prefix is not safe, or two systems would have one name.

        >>> import rankine as rk
        >>> runs = {"old": {"q": ["b", "a"]}, "new": {"q": ["a", "b"]}}
        >>> rk.compare({"q": {"a": 1}}, runs, "RR@10").scalars("test/")
        {'test/old/rr_at_10': 0.5, 'test/new/rr_at_10': 1.0}
        """
        check_flag("intervals", intervals)
        compared = self._compared
        systems = safe_names_of(self.systems) if safe else {}
        numbers = (
            (
                f"{systems.get(name, name)}/{safe_label(label) if safe else label}",
                compared.means[metric, system],
                Interval(
                    float(compared.lows[metric, system]),
                    float(compared.highs[metric, system]),
                )
                if intervals
                else None,
            )
            for system, name in enumerate(self.systems)
            for metric, label in enumerate(self.metrics)
        )
        return scalars_of(numbers, prefix, safe=safe)

    @cached_property
    def segments(self) -> pl.DataFrame:
        """A row per metric, segment and run: n, mean, low and high; needs ``by=``."""
        return segment_table(self._compared, self._segments, self.settings)

    @cached_property
    def gaps(self) -> pl.DataFrame:
        """How far each segment is from the other queries; needs ``by=``.

        The columns are metric, segment, a, b, gap and p. If a is null, the gap is that
        of the values of b; otherwise that of the differences b - a. The p-values are
        those of Welch's test, and not corrected.
        """
        return gap_table(self._compared, self.pairs, self._segments)

    @property
    def is_segmented(self) -> bool:
        """Whether the queries have segments."""
        return self._by is not None

    @property
    def _segments(self) -> list[str]:
        if self._by is None:
            msg = "segments need by=, which gives the segment of each query"
            raise ParameterError(msg)
        return self._by

    @property
    def sentences(self) -> list[str]:
        """A sentence on each metric and pair."""
        from rankine._report.comparison import sentences  # noqa: PLC0415

        return sentences(self)

    def moved(self, metric: str, a: str, b: str, n: int = 10) -> Moved:
        """Return the queries that differ most between two systems.

        Each has both values and, if runs were compared, the first items of both lists
        with their grades: ten of them, or as many as ``keep=`` says.

        Args:
            metric: one of the metrics.
            a: the name of one system.
            b: the name of the other.
            n: how many queries.

        Returns:
            The queries, the largest difference first, in either direction.
        """
        check_count("n", n, least=1)
        label = self._label(metric)
        self._refuse_whole(label)
        numbers = self._number(a), self._number(b)
        values = self._compared.values[self.metrics.index(label)][list(numbers)]
        return moved_queries(self, label, (a, b), values, n)

    def risk(
        self, metric: str, baseline: str | None = None, alpha: float = 1
    ) -> dict[str, Risk]:
        """Return how much each system risks hurting queries, by its name.

        Every query counts once, whatever its weight.

        Args:
            metric: one of the metrics.
            baseline: the name of the system to compare with; the one given to
                `compare`, if any.
            alpha: how much more a loss counts than a gain of the same size.

        References:
            L. Wang et al.: Robust ranking models via risk-sensitive optimization.
            SIGIR 2012. https://doi.org/10.1145/2348283.2348385
            B. T. Dinçer et al.: Hypothesis testing for the risk-sensitive evaluation of
            retrieval systems. SIGIR 2014. https://doi.org/10.1145/2600428.2609625
            B. T. Dinçer et al.: Risk-sensitive evaluation and learning to rank using
            multiple baselines. SIGIR 2016. https://doi.org/10.1145/2911451.2911511
        """
        check_number("alpha", alpha, least=0)
        baseline = baseline or self.baseline
        if baseline is None:
            msg = f"risk needs a baseline; the systems are {', '.join(self.systems)}"
            raise ParameterError(msg)
        first = self._number(baseline)
        metric_number = self._refuse_whole(self._label(metric))
        values = self._compared.values[metric_number]
        better = self._compared.directions[metric_number] is not False
        return {
            name: risk_of(values, first, number, alpha, higher_is_better=better)
            for number, name in enumerate(self.systems)
            if number != first
        }

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """Queries left out of pairs, and how to read the numbers."""
        return self._notes

    @cached_property
    def warnings(self) -> tuple[str, ...]:
        """Reasons to doubt the tests."""
        compared = self._compared
        said = whole_warnings(compared, self.pairs) if compared.wholes else []
        said += warnings_of_tests(compared, self.pairs, self.settings)
        for name, evaluation in self.evaluations.items():
            said += [f"{name}: {warning}" for warning in evaluation.warnings]
        return tuple(said)

    def _label(self, metric: str) -> str:
        if metric in self.metrics:
            return metric
        for evaluation in self.evaluations.values():
            try:
                return evaluation._label(metric)  # noqa: SLF001 - of the same package
            except KeyError:
                break
        msg = f"{metric} was not compared; the metrics are {', '.join(self.metrics)}"
        raise ParameterError(msg)

    def _refuse_whole(self, label: str) -> int:
        """Return the number of a metric; refuse one without values per query."""
        number = self.metrics.index(label)
        if number in self._compared.wholes:
            msg = (
                f"{label} is a single number for all users; no {self.unit} has a value"
            )
            raise ParameterError(msg)
        return number

    def _number(self, system: str) -> int:
        if system not in self.systems:
            msg = (
                f"no system is called {system!r}; the systems are "
                f"{', '.join(self.systems)}{nearest(system, self.systems)}"
            )
            raise ParameterError(msg)
        return self.systems.index(system)

    def to_dict(self) -> dict[str, Any]:
        """Return everything except the values per query, ready for JSON."""
        from rankine._report.comparison import to_dict  # noqa: PLC0415

        return to_dict(self)

    def to_json(self, *, indent: int | None = 2, items: bool = True) -> str:
        """Return everything as JSON, which `load` reads back.

        It begins with the result of `to_dict`; the ids and values of queries follow.
        Undefined values are null.

        Args:
            indent: the indentation of lines; None puts everything on one line.
            items: whether to include the items that `moved` shows.
        """
        from rankine._results.saved import comparison_to_json  # noqa: PLC0415

        return comparison_to_json(self, indent, items=items)

    def save(self, path: str | PathLike[str], *, items: bool = True) -> None:
        """Write `to_json` to a file, which `load` reads back.

        Args:
            path: the path of the file, which is replaced if it exists.
            items: whether to include the items that `moved` shows.
        """
        from rankine._results.saved import save  # noqa: PLC0415

        save(self.to_json(items=items), path)

    def to_markdown(self) -> str:
        """Return the means as a Markdown table, a row per system."""
        from rankine._report.comparison import to_markdown  # noqa: PLC0415

        return to_markdown(self)

    def to_latex(
        self,
        *,
        digits: int = 4,
        sort: str | None = None,
        intervals: bool = False,
        caption: str | None = None,
        label: str | None = None,
    ) -> str:
        r"""Return the means as a LaTeX table in booktabs style, a row per system.

        Args:
            digits: the number of decimals.
            sort: the metric that systems are sorted by, the best first; if not given,
                their order stays.
            intervals: whether to show the interval beside each mean.
            caption: the caption, which may contain LaTeX commands; with it, the table
                is a float.
            label: the key that ``\ref`` uses for the table.

        Raises:
            ParameterError: an argument is not valid, or there is a label without a
                caption.
        """
        from rankine._report.comparison import to_latex  # noqa: PLC0415

        return to_latex(self, digits, sort, caption, label, intervals=intervals)

    def to_frame(self, library: str = "polars") -> Any:
        """Return `pairwise` as a frame: ``polars``, ``pandas`` or ``arrow``."""
        from rankine._report.export import to_frame  # noqa: PLC0415

        return to_frame(self.pairwise, library)

    def __str__(self) -> str:
        """Return means, pairs, warnings and notes as text."""
        from rankine._report.comparison import to_text  # noqa: PLC0415

        return to_text(self)

    def __repr__(self) -> str:
        """Return the systems and metrics in one line."""
        of = ", ".join(self.metrics)
        return f"{type(self).__name__}({', '.join(self.systems)}: {of})"

    def _repr_html_(self) -> str:
        from rankine._report.comparison import to_html  # noqa: PLC0415

        return to_html(self)


def letter(number: int) -> str:
    """Return a to z, then aa, ab and so on.

    >>> [letter(number) for number in (0, 25, 26, 53)]
    ['a', 'z', 'aa', 'bb']
    """
    text = ""
    number += 1
    while number:
        number, rest = divmod(number - 1, len(ascii_lowercase))
        text = ascii_lowercase[rest] + text
    return text
