"""Evaluation: the values of metrics for every query, and their means."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import polars as pl

from rankine._base.checks import check_flag
from rankine._base.forks import need_threads
from rankine._base.records import cached_property
from rankine._base.text import plural
from rankine._evaluate.findings import Findings
from rankine._evaluate.intervals import draw_intervals
from rankine._evaluate.means import Means
from rankine._evaluate.notes import sentences
from rankine._evaluate.report_methods import DrawnEvaluation
from rankine._evaluate.scalars import scalars_of
from rankine._evaluate.warnings import NO_DOUBTS, Doubts
from rankine._io.values import UNREADABLE
from rankine._metrics.names import parse
from rankine._metrics.safe_names import safe_name
from rankine._stats.intervals import Interval, check_interval
from rankine._stats.paired import DRAWS
from rankine.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from os import PathLike

    from rankine._conventions.convention import Convention
    from rankine._evaluate.curve import RecallAtPrecision
    from rankine._evaluate.plan import Group, Plan
    from rankine._evaluate.summary import Summary
    from rankine._evaluate.worst import Worst
    from rankine._join.weights import Weights
    from rankine._metrics.metric import Metric


class Evaluation(DrawnEvaluation):
    """The values of metrics for every query, and their means.

    ``ev["nDCG@10"]`` is a mean, `mean` has all means, `per_query` the values behind
    them, `interval` returns an interval, `notes` says what was dropped or undefined.

    >>> import rankine as rk
    >>> ev = rk.evaluate({"q": {"a": 1}}, {"q": ["b", "a"]}, ["RR", "P@1"])
    >>> ev["RR"], ev.mean
    (0.5, {'RR': 0.5, 'P@1': 0.0})
    """

    without_items = "has no items, which were not saved"
    """Why a loaded evaluation may have no items to show."""

    def __init__(
        self,
        plan: Plan,
        summaries: tuple[Summary, ...],
        tables: tuple[Any, ...],
        name: str,
        unsorted: int = 0,
        doubts: Doubts = NO_DOUBTS,
    ) -> None:
        self.plan = plan
        self.tables = tables
        self.summaries = dict(zip(plan.labels, summaries, strict=True))
        self.name = name
        self.weights: Weights | None = None
        self._unsorted = unsorted
        self._doubts = doubts
        self.drawn: dict[tuple[Any, ...], dict[str, Interval]] = {}
        self.curves: dict[tuple[Any, ...], pl.DataFrame] = {}

    @property
    def metrics(self) -> tuple[Metric, ...]:
        """The metrics, in the order given."""
        return self.plan.asked

    @property
    def bound(self) -> tuple[Metric, ...]:
        """The metrics, with parameters filled in from the convention."""
        return self.plan.bound

    @property
    def convention(self) -> Convention:
        """The convention that the numbers follow."""
        return self.plan.rule

    @property
    def preset(self) -> str | None:
        """The name of the convention, if it was given by name."""
        return self.plan.preset

    @cached_property
    def warnings(self) -> tuple[str, ...]:
        """Reasons to doubt the numbers: the data first, then the tool.

        Data may not be what they seem, for example if scores rise along every list. And
        the tool that a convention is named after may give another number: for a metric
        that it lacks, and for tied items whose order it leaves open.
        """
        return sentences(self.findings.warnings)

    @cached_property
    def findings(self) -> Findings:
        """Facts about the data, computed when first needed."""
        doubts, unsorted = self._doubts, self._unsorted
        return Findings.of(self.plan, self.tables, doubts, unsorted, self.weights)

    @cached_property
    def unit(self) -> str:
        """What results call a query: ``query``; or ``user``, where the data say so.

        They do by the name of the column, or as there are training data.
        """
        return self.findings.unit

    @property
    def spread(self) -> str:
        """Where the interval below a number comes from."""
        return f"by bootstrap over {plural(self.unit)}"

    @cached_property
    def mean(self) -> dict[str, float]:
        """The number of each metric, by its name as given, in the order given.

        It is a dict that also finds a metric under another spelling of its name.
        """
        numbers = {label: summary.value for label, summary in self.summaries.items()}
        return Means(numbers, self._parse, self.plan.by_name)

    def __getitem__(self, metric: str | Metric) -> float:
        """Return the number of a metric, under any spelling of its name."""
        return self.summaries[self._label(metric)].value

    def _label(self, metric: str | Metric) -> str:
        text = str(metric)
        if text not in self.summaries:
            text = str(self._parse(text))
            text = self.plan.by_name.get(text, text)
        if text not in self.summaries:
            msg = (
                f"{metric} was not evaluated; the metrics are "
                f"{', '.join(self.summaries)}"
            )
            raise KeyError(msg)
        return text

    @staticmethod
    def _parse(text: str) -> Metric:
        return parse(text)

    @cached_property
    def queries(self) -> list[Any]:
        """The ids of the queries of any metric, in the order of the judgements.

        Under some conventions, metrics have different queries. Those without judgements
        follow, in the order of the run.
        """
        tables = (table for _, table in self._in_order)
        ids = {str(query): query for table in tables for query in table.ids}
        return [*ids.values()]

    @property
    def n_queries(self) -> int:
        """How many queries were evaluated."""
        return len(self.queries)

    @property
    def _in_order(self) -> list[tuple[Group, Any]]:
        """The groups of metrics and their tables, those with all judged queries first.

        The queries of the others are some of these, in the same order, or follow them.
        """

        def place(pair: tuple[Group, Any]) -> tuple[bool, bool, int]:
            group, table = pair
            return group.lists, not group.judged_only, -len(table.ids)

        return sorted(zip(self.plan.groups, self.tables, strict=True), key=place)

    @cached_property
    def per_query(self) -> pl.DataFrame:
        """The values behind the means: query, then a column per metric.

        The queries are those of `queries`, in the same order. The value is null if the
        query was left out of the mean.
        """
        frames = []
        for group, table in self._in_order:
            columns = [_id_column(table.ids)]
            for number, _, _ in group.members:
                label = self.plan.labels[number]
                values = self.summaries[label].values
                columns.append(pl.Series(label, values, nan_to_null=True))
            frames.append(pl.DataFrame(columns))
        types = {frame["query"].dtype for frame in frames}
        kinds = {frame["query"].dtype for frame in frames if frame.height}
        if len(frames) > 1:
            need_threads()
        if len(kinds) > 1:
            text = pl.col("query").cast(pl.String)
            frames = [frame.with_columns(text) for frame in frames]
        elif len(types) > 1:  # a column without rows may have any type
            same = pl.col("query").cast(next(iter(kinds or types)))
            frames = [frame.with_columns(same) for frame in frames]
        joined = frames[0]
        for frame in frames[1:]:
            joined = joined.join(
                frame,
                on="query",
                how="full",
                coalesce=True,
                maintain_order="left_right",
            )
        # Not select, for which polars would start threads.
        return pl.DataFrame([joined[name] for name in ("query", *self.plan.labels)])

    def interval(
        self,
        metric: str | Metric,
        confidence: float = 0.95,
        method: str = "bootstrap",
        *,
        n_resamples: int = 2000,
        seed: int = 0,
    ) -> Interval:
        """Return a confidence interval of a metric over queries.

        Args:
            metric: one of the metrics that were evaluated.
            confidence: the confidence level.
            method: ``bootstrap``, percentiles over resampled queries; or ``t``.
            n_resamples: the number of resamples.
            seed: the seed of the random numbers; the same seed gives the same interval.

        Returns:
            Low and high; nan with fewer than two queries.
        """
        label = self._label(metric)
        check_interval(confidence, method, n_resamples, seed)
        options = (confidence, method, n_resamples, seed)
        if options not in self.drawn:
            draw_intervals([self], *options)
        return self.drawn[options][label]

    def scalars(
        self, prefix: str = "", *, safe: bool = True, intervals: bool = False
    ) -> dict[str, float]:
        """Return the numbers of all metrics by names that loggers accept.

        A safe name has only letters, digits and underscores, and `parse` reads it back:
        ``nDCG@10`` is ``ndcg_at_10``, ``RBP(p=0.95)@10`` is ``rbp_at_10__p_0_95``. A
        number that is undefined is nan.

        Args:
            prefix: what stands before each name, such as ``val/``.
            safe: whether to change names so that MLflow, TensorBoard and W&B accept
                them; if not, they are those of `mean`.
            intervals: whether the bounds of the 95 % intervals are there, too, as
                ``ndcg_at_10_low`` and ``ndcg_at_10_high``.

        Returns:
            The numbers, for ``mlflow.log_metrics``, ``wandb.log`` or, one by one,
            ``SummaryWriter.add_scalar``.

        Raises:
            ParameterError: the prefix is not safe.

        >>> import rankine as rk
        >>> ev = rk.evaluate({"q": {"a": 1}}, {"q": ["b", "a"]}, ["RR@10", "P@1"])
        >>> ev.scalars("val/")
        {'val/rr_at_10': 0.5, 'val/p_at_1': 0.0}
        """
        check_flag("intervals", intervals)
        names = map(safe_name, self.metrics) if safe else self.plan.labels
        numbers = (
            (name, self[label], self.interval(label) if intervals else None)
            for name, label in zip(names, self.plan.labels, strict=True)
        )
        return scalars_of(numbers, prefix, safe=safe)

    def better_than(
        self,
        other: Evaluation,
        metric: str | Metric,
        *,
        confidence: float | None = None,
        test: str | None = None,
        draws: int = DRAWS,
        seed: int = 0,
    ) -> bool:
        """Say whether this evaluation is better than another of the same queries.

        Without `confidence` and `test`, the better mean wins, by however little, in the
        direction of the metric. A number is better than one that is undefined; an
        undefined one is never better. With `confidence` or `test`, it is better only if
        the paired test says so, as in `compare`.

        A query without a value in one of the two, which a convention may leave out,
        counts in neither mean.

        Args:
            other: the evaluation to compare with, of the same queries, by the same
                convention.
            metric: a metric that both have, and that has a direction.
            confidence: how sure the test must be, two-sided; 0.95 if only `test` is
                given.
            test: the test, as in `compare`; ``randomization`` if only `confidence` is
                given.
            draws: how many random flips or resamples the test draws.
            seed: the seed of the draws.

        Raises:
            ParameterError: the metric has no direction, or the two evaluations compute
                it differently.
            DataError: the two have different queries.

        >>> import rankine as rk
        >>> qrels = {"q1": {"a": 1}, "q2": {"b": 1}}
        >>> before = rk.evaluate(qrels, {"q1": ["x", "a"], "q2": ["b"]}, "RR")
        >>> after = rk.evaluate(qrels, {"q1": ["a", "x"], "q2": ["b"]}, "RR")
        >>> after.better_than(before, "RR"), before.better_than(after, "RR")
        (True, False)
        >>> after.better_than(before, "RR", confidence=0.95)
        False
        """
        from rankine._evaluate.compare.better_than import is_better  # noqa: PLC0415

        given: object = other
        if not isinstance(given, Evaluation):
            msg = f"better_than takes an evaluation, got {type(other).__name__}"
            raise ParameterError(msg)
        return is_better(self, other, metric, confidence, test, draws, seed)

    def curve(self, metric: str | Metric, ks: Iterable[int]) -> pl.DataFrame:
        """Return a metric at many cutoffs, with intervals, on the data evaluated.

        It needs the ranks of judged items down to the largest cutoff: evaluate a metric
        that looks as deep, such as ``AP`` or ``P@100``.

        Args:
            metric: any metric of judged items with a cutoff, such as ``P`` or
                ``nDCG(gain='exponential')``; it need not have been evaluated.
            ks: the cutoffs.

        Returns:
            A frame with a row per cutoff: k, value, low, high.

        Raises:
            ParameterError: the metric has no cutoff, reads more than judged items, or
                needs deeper ranks than were kept.

        >>> import rankine as rk
        >>> qrels = {"q1": {"a": 1, "b": 1}, "q2": {"c": 1}}
        >>> run = {"q1": ["a", "x", "b"], "q2": ["x", "c", "y"]}
        >>> ev = rk.evaluate(qrels, run, "AP")
        >>> ev.curve("P", ks=[1, 2]).select("k", "value").rows()
        [(1, 0.5), (2, 0.5)]
        """
        from rankine._evaluate.curve import curve  # noqa: PLC0415

        return curve(self, metric, ks)

    def recall_at_precision(
        self,
        min_precision: float,
        max_k: int | None = None,
        *,
        precision: str | Metric = "P",
        recall: str | Metric = "R",
    ) -> RecallAtPrecision:
        """Return the largest mean recall at a cutoff with sufficient mean precision.

        Of cutoffs with the same recall, the last is taken. If no cutoff up to `max_k`
        has enough precision and a recall above 0, the recall is 0, at `max_k`.

        Args:
            min_precision: the smallest sufficient precision, 0 to 1.
            max_k: the last cutoff to consider; the length of the longest list if not
                given.
            precision: the metric that must reach the minimum, such as
                ``P(divisor='list')``, which does not punish short lists.
            recall: the metric that should be as large as possible.

        Returns:
            The recall, the precision and the cutoff.

        Raises:
            ParameterError: as `curve`.

        >>> import rankine as rk
        >>> qrels = {"q1": {"a": 1, "b": 1}, "q2": {"c": 1}}
        >>> run = {"q1": ["a", "x", "b"], "q2": ["c", "y", "z"]}
        >>> rk.evaluate(qrels, run, "AP").recall_at_precision(0.5)
        RecallAtPrecision(recall=1.0, precision=0.5, k=3)
        """
        from rankine._evaluate.curve import recall_at_precision  # noqa: PLC0415

        return recall_at_precision(self, min_precision, max_k, precision, recall)

    def worst(self, metric: str | Metric, n: int = 10) -> Worst:
        """Return the queries on which a metric is worst, and the items they missed.

        Each has its value, the first items of its list with their grades, and the
        relevant items that are not above the cutoff, with their ranks. Unjudged items
        are known only if they were kept, for example with ``evaluate(..., keep=10)``.
        The ranks of judged items are known anyway, except in a matrix of scores or a
        frame of more than a million rows: there, judged items are searched for only as
        far down as metrics look.

        Args:
            metric: one of the metrics that were evaluated.
            n: how many queries.

        Returns:
            The queries, the worst first; queries without a value are left out.

        Raises:
            ParameterError: the metric does not look at judged items, or has no
                direction.

        >>> import rankine as rk
        >>> qrels = {"q1": {"a": 1}, "q2": {"b": 2, "c": 1}}
        >>> run = {"q1": ["a", "x"], "q2": ["x", "c", "y"]}
        >>> ev = rk.evaluate(qrels, run, "RR", keep=10)
        >>> print(ev.worst("RR", n=1))
        run: the worst of 2 queries by RR
        <BLANKLINE>
        q2  RR 0.5000
            first   1. x (unjudged), 2. c (1), 3. y (unjudged)
            missed  b (2) not retrieved
        """
        from rankine._evaluate.worst import worst_of  # noqa: PLC0415

        return worst_of(self, self._label(metric), n)

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """What was dropped, undefined or tied, in sentences; empty if nothing."""
        return sentences(self.findings.notes(self.plan, self.summaries))

    @property
    def table(self) -> Any:
        """The joined table, for a look behind the numbers."""
        return self.tables[0]

    def to_dict(self) -> dict[str, Any]:
        """Return everything except the values per query, ready for JSON."""
        from rankine._report.export import to_dict  # noqa: PLC0415

        return to_dict(self)

    def to_json(self, *, indent: int | None = 2, items: bool = True) -> str:
        """Return everything as JSON, which `load` reads back.

        It begins with the result of `to_dict`; the values per query follow under
        ``saved``. Undefined values are null. Ids that are neither text nor numbers
        become text.

        Args:
            indent: the indentation of lines; None puts everything on one line.
            items: whether to include the items that `worst` shows.
        """
        from rankine._results.saved import to_json  # noqa: PLC0415

        return to_json(self, indent, items=items)

    def save(self, path: str | PathLike[str], *, items: bool = True) -> None:
        """Write `to_json` to a file, which `load` reads back.

        Args:
            path: the path of the file, which is replaced if it exists.
            items: whether to include the items that `worst` shows.
        """
        from rankine._results.saved import save  # noqa: PLC0415

        save(self.to_json(items=items), path)

    @classmethod
    def restored(
        cls,
        plan: Plan,
        summaries: tuple[Summary, ...],
        tables: tuple[Any, ...],
        name: str,
        *,
        notes: tuple[str, ...],
        warnings: tuple[str, ...],
        unit: str,
    ) -> Self:
        """Restore an evaluation from what was saved, with its notes as they were."""
        evaluation = cls(plan, summaries, tables, name)
        evaluation.notes, evaluation.warnings = notes, warnings
        evaluation.unit = unit
        return evaluation

    def to_markdown(self) -> str:
        """Return the means as a Markdown table."""
        from rankine._report.export import to_markdown  # noqa: PLC0415

        return to_markdown(self)

    def to_latex(
        self,
        *,
        digits: int = 4,
        sort: str | None = None,
        intervals: bool = True,
        caption: str | None = None,
        label: str | None = None,
    ) -> str:
        r"""Return the means as a LaTeX table in booktabs style, a row per metric.

        Args:
            digits: the number of decimals.
            sort: the order of metrics: by ``name``, or by ``value``, the largest first;
                as given if not set.
            intervals: whether there is a column of 95 % intervals.
            caption: the caption, which may contain LaTeX commands; with it, the table
                is a float.
            label: the key that ``\ref`` uses for the table.

        Raises:
            ParameterError: an argument is not valid, or there is a label without a
                caption.
        """
        from rankine._report.export import to_latex  # noqa: PLC0415

        return to_latex(self, digits, sort, caption, label, intervals=intervals)

    def to_frame(self, library: str = "polars") -> Any:
        """Return the values per query as a frame: ``polars``, ``pandas``, ``arrow``."""
        from rankine._report.export import to_frame  # noqa: PLC0415

        return to_frame(self.per_query, library)

    def __str__(self) -> str:
        """Return the means with their intervals, and the notes, as text."""
        from rankine._report.text import to_text  # noqa: PLC0415

        return to_text(self)

    def __repr__(self) -> str:
        """Return the numbers in one line."""
        inside = ", ".join(f"{key}={value:.4f}" for key, value in self.mean.items())
        return f"{type(self).__name__}({inside})"

    def _repr_html_(self) -> str:
        from rankine._report.export import to_html  # noqa: PLC0415

        return to_html(self)


def _id_column(ids: Sequence[Any] | pl.Series) -> pl.Series:
    """Return a column of query ids; ids that cannot form a column become text."""
    try:
        return pl.Series("query", ids)
    except UNREADABLE:
        return pl.Series("query", [str(query) for query in ids])
