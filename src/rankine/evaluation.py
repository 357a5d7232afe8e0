"""evaluate: judgements, a run and metrics in; one number per query and metric out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from rankine import io
from rankine.cautions import cautions_of, n_unsorted
from rankine.checks import check_choice, check_count, check_k, check_number
from rankine.conventions.bind import bind
from rankine.conventions.convention import WITH_CUTOFF
from rankine.conventions.presets import convention as named
from rankine.conventions.tools import TOOLS
from rankine.errors import (
    DataError,
    MetricSyntaxError,
    ParameterError,
    UsageError,
    nearest,
)
from rankine.io.lenient import cleaned
from rankine.io.mappings import NO_COLUMN, as_rows
from rankine.io.reading import PLAIN, Reading
from rankine.io.sources import Dense, Lists, Rows, Source, Stream
from rankine.metric import REGISTRY, Metric
from rankine.names import parse, parse_all
from rankine.notes import notes_of
from rankine.stats.intervals import Interval, interval
from rankine.stats.summary import Summary, summarize
from rankine.table.align import join, key_of, served
from rankine.table.policy import Aligned, apply, cut
from rankine.table.truth import Truth
from rankine.words import count

if TYPE_CHECKING:
    import polars as pl

    from rankine.conventions.convention import Convention

_DEFAULT = ("nDCG@10", "AP", "RR@10")
# Fields that decide the table; metrics for which they agree share one.
_OF_TABLE = (
    "order", "tie", "score_bits", "duplicates", "score_floor", "unjudged", "pool",
    "negative", "queries", "missing_run",
)  # fmt: skip


@dataclass(frozen=True)
class Group:
    """Metrics that are computed on the same table."""

    rule: Convention
    members: tuple[tuple[int, Metric, Convention], ...]
    depth: int | None
    keep_scores: bool


@dataclass(frozen=True)
class Plan:
    """What will be computed, checked before any data is read.

    Attributes:
        asked: the metrics as they were asked for.
        labels: their texts, under which they are found.
        bound: the metrics with what the convention says filled in.
        groups: the same, by the table they need.
        rule: the convention.
        untold: the metrics that nobody told which grades are relevant.
        catalog: the number of items in the catalogue, if it was told.
        preset: the name of the convention, if it was given by name.
    """

    asked: tuple[Metric, ...]
    labels: tuple[str, ...]
    bound: tuple[Metric, ...]
    groups: tuple[Group, ...]
    rule: Convention
    untold: tuple[Metric, ...]
    catalog: int | None = None
    preset: str | None = None


class Evaluation:
    """The values of metrics for every query, and what they come to.

    ``ev["nDCG@10"]`` is a mean, `mean` all of them, `per_query` the values they are
    means of, `interval` how sure they are, `notes` what was dropped or undefined.

    >>> import rankine as rk
    >>> ev = rk.evaluate({"q": {"a": 1}}, {"q": ["b", "a"]}, ["RR", "P@1"])
    >>> ev["RR"], ev.mean
    (0.5, {'RR': 0.5, 'P@1': 0.0})
    """

    def __init__(
        self,
        plan: Plan,
        summaries: tuple[Summary, ...],
        tables: tuple[Any, ...],
        name: str,
        unsorted: Callable[[], int] = int,
    ) -> None:
        self._plan = plan
        self._tables = tables
        self.summaries = dict(zip(plan.labels, summaries, strict=True))
        self.name = name
        self._unsorted = unsorted

    @property
    def metrics(self) -> tuple[Metric, ...]:
        """The metrics, in the order asked."""
        return self._plan.asked

    @property
    def convention(self) -> Convention:
        """The convention that the numbers follow."""
        return self._plan.rule

    @property
    def preset(self) -> str | None:
        """The name of the convention, if it was given by name."""
        return self._plan.preset

    @cached_property
    def warnings(self) -> tuple[str, ...]:
        """Where a number may not be the one that the tool itself would give.

        That is so for a metric that it does not have, and for tied items whose order
        it leaves open. Empty where the convention was not given by name.
        """
        if self._plan.preset is None:
            return ()
        asked = (
            (self._plan.asked[number], metric, self._tables[at].table)
            for at, group in enumerate(self._plan.groups)
            for number, metric, _ in group.members
        )
        return tuple(cautions_of(TOOLS[self._plan.preset], asked, self._unsorted()))

    @cached_property
    def mean(self) -> dict[str, float]:
        """The number of each metric, by its canonical name, in the order asked."""
        return {label: found.value for label, found in self.summaries.items()}

    def __getitem__(self, metric: str | Metric) -> float:
        """Return the number of a metric, under any spelling of its name."""
        return self.summaries[self._label(metric)].value

    def _label(self, metric: str | Metric) -> str:
        text = str(metric)
        if text not in self.summaries:
            text = str(self._parse(text))
        if text not in self.summaries:
            msg = f"{metric} was not evaluated; there are {', '.join(self.summaries)}"
            raise KeyError(msg)
        return text

    def _parse(self, text: str) -> Metric:
        return parse(text)

    @cached_property
    def queries(self) -> list[Any]:
        """The ids of the queries that were evaluated."""
        return list(self._tables[0].ids)

    @cached_property
    def per_query(self) -> pl.DataFrame:
        """The values as they entered the means: query, then a column per metric.

        A query that was left out of a mean has null there.
        """
        import polars as pl  # noqa: PLC0415 - not needed for the means

        frames: dict[int, pl.DataFrame] = {}
        for at, group in enumerate(self._plan.groups):
            ids = self._tables[at].ids
            columns = [_id_column(ids)]
            for number, _, _ in group.members:
                label = self._plan.labels[number]
                values = self.summaries[label].values
                columns.append(pl.Series(label, values, nan_to_null=True))
            frames[at] = pl.DataFrame(columns)
        joined = frames[0]
        for at in range(1, len(frames)):
            joined = joined.join(
                frames[at], on="query", how="full", coalesce=True, maintain_order="left"
            )
        return joined.select("query", *self._plan.labels)

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
            confidence: how often such an interval holds the true value.
            method: ``bootstrap``, percentiles over resampled queries; or ``t``.
            n_resamples: how many times queries are drawn.
            seed: of the random numbers; the same seed gives the same interval.

        Returns:
            Low and high; nan with fewer than two queries.
        """
        label = self._label(metric)
        found = self.summaries[label]
        how = self._plan.asked[self._plan.labels.index(label)].fact.summary
        return interval(
            found.values,
            confidence=confidence,
            method=method,
            how=how,
            parts=found.parts,
            n_resamples=n_resamples,
            seed=seed,
        )

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """What was dropped, undefined or tied, in sentences; empty if nothing was."""
        return notes_of(self._tables, self.summaries, self._plan.bound)

    @property
    def table(self) -> Aligned:
        """The joined table, for those who want to look below the numbers."""
        table: Aligned = self._tables[0]
        return table

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the values per query, ready for JSON."""
        from rankine.report.export import to_dict  # noqa: PLC0415

        return to_dict(self)

    def to_json(self, *, indent: int | None = 2) -> str:
        """Return `to_dict` as JSON; what is undefined is null."""
        from rankine.report.export import to_json  # noqa: PLC0415

        return to_json(self, indent)

    def to_markdown(self) -> str:
        """Return the means as a Markdown table."""
        from rankine.report.export import to_markdown  # noqa: PLC0415

        return to_markdown(self)

    def to_latex(self) -> str:
        """Return the means as a LaTeX table in booktabs style."""
        from rankine.report.export import to_latex  # noqa: PLC0415

        return to_latex(self)

    def to_frame(self, library: str = "polars") -> Any:
        """Return the values per query as a frame: ``polars``, ``pandas``, ``arrow``."""
        from rankine.report.export import to_frame  # noqa: PLC0415

        return to_frame(self.per_query, library)

    def __str__(self) -> str:
        """Return the means with their intervals, and the notes, as text."""
        from rankine.report.text import to_text  # noqa: PLC0415

        return to_text(self)

    def __repr__(self) -> str:
        """Return the numbers in one line."""
        inside = ", ".join(f"{key}={value:.4f}" for key, value in self.mean.items())
        return f"{type(self).__name__}({inside})"

    def _repr_html_(self) -> str:
        from rankine.report.export import to_html  # noqa: PLC0415

        return to_html(self)


def evaluate(
    qrels: Any,
    run: Any,
    metrics: str | Metric | Iterable[str | Metric] = _DEFAULT,
    *,
    convention: str | Convention = "rankine",
    ties: str | None = None,
    rel: float | None = None,
    catalog: int | None = None,
    columns: Mapping[str, Any] | None = None,
    grades: Mapping[Any, float] | None = None,
    depth: int | None = None,
    name: str | None = None,
    order: str | None = None,
    lower_is_better: bool = False,
    lenient: bool = False,
) -> Evaluation:
    """Evaluate a run against judgements.

    Args:
        qrels: the judgements: a path, {query: {item: grade}}, {query: {items}}, a
            frame, a sparse matrix, `from_scores`, or what `read_qrels` returns.
        run: the retrieved items: a path, {query: {item: score}}, {query: [items in
            order]}, a frame, a sparse matrix, `from_scores`, `from_ranked`, or what
            `read_run` returns.
        metrics: names or metrics.
        convention: whose choices the numbers follow.
        ties: ``average``, ``best`` or ``worst`` order of tied items, instead of the
            convention's order.
        rel: the smallest relevant grade, instead of the convention's.
        catalog: number of items in the catalogue, for the metrics that need it.
        columns: which column is what, as {"query": "userID", "item": ..., "grade": ...,
            "score": ...}; recognised by their names if not given.
        grades: what each grade in words is worth, as {"Viewed": 0, "Clicked": 1}.
        depth: look at the first items of each list only, as trec_eval's ``-M`` does.
        name: what to call the run.
        order: what the ranking follows, instead of what the convention says:
            ``score``, ``rank`` (a rank column, even if there are scores) or ``given``.
        lower_is_better: scores are distances, the smallest first.
        lenient: drop rows without an id and repeated items, rank scores that are nan
            last, and count them in the notes, instead of refusing them.

    Returns:
        The values of all queries, their means, intervals and notes.

    Raises:
        UsageError: a metric or an option is not right.
        DataError: the data cannot be used.

    >>> import rankine as rk
    >>> qrels = {"q1": {"a": 1, "b": 1}, "q2": {"c": 2}}
    >>> run = {"q1": {"a": 0.9, "x": 0.8, "b": 0.7}, "q2": {"x": 0.5, "c": 0.4}}
    >>> rk.evaluate(qrels, run, ["AP", "RR"]).mean
    {'AP': 0.6666666666666666, 'RR': 0.75}
    """
    asked = _listed(metrics)
    check_k(depth, "depth")
    _check_words(name, lenient=lenient, lower_is_better=lower_is_better)
    if not isinstance(convention, str):
        convention = named(convention)
    check_options(rel, catalog, ties)
    if order is not None:
        check_choice("order", order, ("score", "rank", "given"))
        convention = named(convention).replace(order=order)
    plan = plan_of(asked, convention, ties, rel, catalog)
    by_rank = plan.rule.order == "rank"
    of_qrels = of_run = PLAIN
    if columns is not None or grades is not None or lenient:
        of_qrels = Reading(columns=columns, grades=grades, lenient=lenient)
    if columns is not None or by_rank or lenient or lower_is_better:
        of_run = Reading(
            columns=columns,
            by_rank=by_rank,
            lenient=lenient,
            lower_is_better=lower_is_better,
        )
    truth = truth_of(qrels, of_qrels)
    source = source_of(run, of_run, order)
    return evaluate_source(plan, truth, source, name or source.name, depth=depth)


def _check_words(name: object, **flags: object) -> None:
    if name is not None and not isinstance(name, str):
        msg = f"name must be text, got {name!r}"
        raise ParameterError(msg)
    for flag, value in flags.items():
        if value is not True and value is not False:
            msg = f"{flag} must be True or False, got {value!r}"
            raise ParameterError(msg)


def check_options(rel: object, catalog: object, ties: object = None) -> None:
    """Check what is said of all metrics."""
    if ties is not None:
        check_choice("ties", ties, ("average", "best", "worst"))
    if rel is not None:
        check_number("rel", rel)
    if catalog is not None:
        check_count("catalog", catalog, least=1)


def _listed(metrics: Any) -> tuple[str | Metric, ...]:
    """Return the metrics as a tuple of names and metrics."""
    if isinstance(metrics, (str, Metric)):
        return (metrics,)
    try:
        listed = tuple(metrics) if isinstance(metrics, Iterable) else (metrics,)
    except TypeError:  # such as an array of no dimension
        listed = (metrics,)
    for entry in listed:
        if not isinstance(entry, (str, Metric)):
            msg = f"a metric is a name or a Metric, got {entry!r}"
            raise MetricSyntaxError(msg)
    return listed


def _id_column(ids: Sequence[Any] | pl.Series) -> pl.Series:
    """Return a column of query ids; what cannot be a column becomes text."""
    import polars as pl  # noqa: PLC0415 - not needed for the means

    try:
        return pl.Series("query", ids)
    except NO_COLUMN:
        return pl.Series("query", [str(one) for one in ids])


def truth_of(qrels: Any, how: Reading = PLAIN) -> Truth:
    """Read judgements, to be used for one run or for many."""
    source = io.read(qrels, "qrels", how)
    if how.lenient:
        source = cleaned(source, "qrels")
    if isinstance(source, Stream):
        msg = f"{source.name} was read as a run, and cannot be judgements"
        raise DataError(msg)
    return Truth(source)


def source_of(run: Any, how: Reading = PLAIN, order: str | None = None) -> Source:
    """Read a run; refuse one without the rank column if that was asked for."""
    source = io.read(run, "run", how)
    if order == "rank" and not _is_ranked(source):
        msg = f"{source.name} has no rank column, which order='rank' needs"
        raise DataError(msg)
    return cleaned(source, "run") if how.lenient else source


def evaluate_source(
    plan: Plan,
    truth: Truth,
    source: Source,
    name: str,
    *,
    depth: int | None = None,
    joins: dict[Any, Aligned] | None = None,
) -> Evaluation:
    """Evaluate a run that has been read, by a plan that has been checked.

    Args:
        plan: what is to be computed.
        truth: the judgements.
        source: the run.
        name: what to call the run.
        depth: the number of items of each list that are kept.
        joins: where joined tables are kept, for further plans on the same data.
    """
    _refuse_fractions(plan, truth)
    if plan.catalog is not None:
        _refuse_catalog(plan.catalog, source)
    found: list[Summary | None] = [None] * len(plan.asked)
    tables = []
    joined = _joins(plan, truth, source, joins)
    for group, one in zip(plan.groups, joined, strict=True):
        rule = _ranked(group.rule, source)
        aligned = apply(one, rule)
        if rule.order != group.rule.order:
            by = "scores give" if aligned.scored else "order gives"
            said = f"{source.name} has no rank column; its {by} the ranks"
            aligned = replace(aligned, notes=(*aligned.notes, said))
        if depth is not None:
            if any(metric.get("ties") for _, metric, _ in group.members):
                msg = "depth cannot be given together with ties: who is cut is not sure"
                raise ParameterError(msg)
            aligned = cut(aligned, depth)
        tables.append(aligned)
        for number, metric, own in group.members:
            found[number] = summarize(metric, aligned.table, own, aligned.ids)
    unsorted: Callable[[], int] = int
    if plan.preset and any(group.rule.order == "given" for group in plan.groups):
        n = max(aligned.unsorted for aligned in tables)
        unsorted = n_unsorted(source) if isinstance(source, Lists) else lambda: n
    return Evaluation(plan, tuple(found), tuple(tables), name, unsorted)  # type: ignore[arg-type]


def _joins(
    plan: Plan, truth: Truth, source: Source, joins: dict[Any, Aligned] | None
) -> list[Aligned]:
    """Join the data for each group of a plan, as seldom as can be."""
    rules = [_ranked(group.rule, source) for group in plan.groups]
    keys = [key_of(rule, plan.rule) for rule in rules]
    needs: dict[Any, bool] = {}
    for group, key in zip(plan.groups, keys, strict=True):
        needs[key] = needs.get(key, False) or group.keep_scores
    floors = {
        key
        for rule, key in zip(rules, keys, strict=True)
        if rule.score_floor is not None
    }
    # As deep as any of them needs, since one may serve for another.
    depths = [group.depth for group in plan.groups if group.depth is not None]
    whole = joins is not None or len(depths) < len(plan.groups)
    deepest = None if whole else max(depths)
    made = {} if joins is None else joins
    # By scores first, and by the less precise ones: these may serve for others.
    for key in sorted(needs, key=lambda one: (one[0] != "score", one[2])):
        scores = needs[key]
        if (key, scores) in made:
            continue
        rule = rules[keys.index(key)]
        order, tie, bits, duplicates = key
        shared = rule.replace(
            order=order, tie=tie, score_bits=bits, duplicates=duplicates
        )
        found = None
        # Another join has other scores, which must not matter then.
        if joins is None and key not in floors and not scores:
            found = next(filter(None, (
                served(aligned, have, key, truth, source, shared, deepest)
                for (have, _), aligned in made.items()
            )), None)  # fmt: skip
        made[key, scores] = found or join(
            truth, source, shared, depth=deepest, keep_scores=scores
        )
    return [made[key, needs[key]] for key in keys]


def _ranked(rule: Convention, source: Source) -> Convention:
    """Take the scores where there is no rank column."""
    if rule.order == "rank" and not _is_ranked(source):
        return rule.replace(order="score")
    return rule


@lru_cache(maxsize=256)
def plan_of(
    asked: tuple[str | Metric, ...],
    convention: str | Convention,
    ties: str | None,
    rel: float | None,
    catalog: int | None,
) -> Plan:
    """Check everything that can be checked without data."""
    rule = named(convention)
    told = rel is not None or rule.threshold != 1
    if ties is not None:
        rule = rule.replace(tie=ties)
    if rel is not None:
        check_number("rel", rel)
        rule = rule.replace(threshold=rel)
    metrics: dict[Metric, None] = {}
    for entry in asked:
        if isinstance(entry, Metric):
            metrics[entry] = None
        else:
            metrics.update(dict.fromkeys(parse_all(entry)))
    if not metrics:
        msg = "no metrics were asked for; name at least one, such as nDCG@10"
        raise UsageError(msg)
    _check_rule(rule, tuple(metrics))
    bound = tuple(bind(_with_catalog(metric, catalog), rule) for metric in metrics)
    groups: dict[tuple[Any, ...], list[tuple[int, Metric, Convention]]] = {}
    for number, metric in enumerate(bound):
        own = rule.for_metric(metric.name, cut=metric.depth is not None)
        key = tuple(getattr(own, field) for field in _OF_TABLE)
        groups.setdefault(key, []).append((number, metric, own))
    return Plan(
        tuple(metrics),
        tuple(str(metric) for metric in metrics),
        bound,
        tuple(_group(members) for members in groups.values()),
        rule,
        () if told else tuple(m for m in metrics if _needs_threshold(m, rule)),
        catalog,
        convention if isinstance(convention, str) else None,
    )


def _check_rule(rule: Convention, metrics: tuple[Metric, ...]) -> None:
    """Refuse what a convention asks for and nobody can do."""
    for name, own in rule.overrides.items():
        if name.removesuffix(WITH_CUTOFF) not in REGISTRY:
            msg = (
                f"the convention overrides {name!r}, which is no metric"
                f"{nearest(name, REGISTRY)}"
            )
            raise ParameterError(msg)
        orders = {own.get("order", rule.order), rule.order}
        if len(orders) > 1 and "rank" in orders:
            msg = f"{name} alone cannot be read by its rank column, or not by it"
            raise ParameterError(msg)
    for metric in metrics:
        for_it = rule.for_metric(metric.name, cut=metric.depth is not None)
        pooled = for_it.aggregate == "micro"
        if pooled and metric.fact.parts is None and metric.fact.summary == "mean":
            msg = f"{metric} cannot be pooled over queries, as aggregate='micro' asks"
            raise ParameterError(msg)


def _needs_threshold(metric: Metric, rule: Convention) -> bool:
    """Say whether a metric has a threshold that was not given."""
    by_threshold = metric.fact.binary or metric.get("gain") == "binary"
    own = rule.own(metric.name, cut=metric.depth is not None)
    told = metric.binds("rel") or not {"rel", "threshold"}.isdisjoint(own)
    return by_threshold and metric.takes("rel") and not told


def _group(members: list[tuple[int, Metric, Convention]]) -> Group:
    depths = [
        None if metric.get("ideal") == "retrieved" else metric.depth
        for _, metric, _ in members
    ]
    needs_scores = any(
        "scores" in metric.fact.needs or metric.get("min_score") is not None
        for _, metric, _ in members
    )
    deepest = None if None in depths else max(depth for depth in depths if depth)
    rule = members[0][2]
    # What is removed or pooled by the list itself depends on all of the list.
    if rule.unjudged == "removed" or rule.pool != "qrels":
        deepest = None
    return Group(rule, tuple(members), deepest, needs_scores)


def _with_catalog(metric: Metric, catalog: int | None) -> Metric:
    if not metric.takes("catalog") or metric.get("catalog") is not None:
        return metric
    if catalog is not None:
        return metric(catalog=catalog)
    optional = metric.name == "Utility" or (
        metric.name == "AUC" and metric.get("universe") != "catalogue"
    )
    if not optional:
        msg = (
            f"{metric} needs the size of the catalogue; give catalog=, or "
            f"write {metric(catalog=1000)}"
        )
        raise ParameterError(msg)
    return metric


def _is_ranked(source: Source) -> bool:
    return isinstance(source, (Rows, Stream)) and source.ranked


def _refuse_catalog(catalog: int, source: Source) -> None:
    """Refuse a catalogue that is smaller than what was retrieved from it."""
    if isinstance(source, Dense):
        seen = source.matrix.shape[1]
    else:
        seen = as_rows(source, "run", lenient=True).frame["item"].n_unique()
    if seen > catalog:
        msg = (
            f"the catalogue has {count(catalog, 'item')}, but {source.name} has "
            f"{count(seen, 'different one')}"
        )
        raise DataError(msg)


def _refuse_fractions(plan: Plan, truth: Truth) -> None:
    """Refuse grades like 0.5 for a metric that was not told what is relevant."""
    if not plan.untold:
        return
    grade = truth.pool.grade
    fraction = grade != np.floor(grade)
    if fraction.any():
        example = float(grade[np.flatnonzero(fraction)[0]])
        metric = plan.untold[0]
        msg = (
            f"grades have fractions, such as {example:g}, and {metric} must know which "
            f"are relevant; write {metric(rel=example)}, or give rel={example:g} for "
            "all metrics"
        )
        raise DataError(msg)
