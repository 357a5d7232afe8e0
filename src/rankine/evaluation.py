"""evaluate: judgements, a run and metrics in; one number per query and metric out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from rankine import io
from rankine.cautions import n_unsorted
from rankine.checks import check_choice, check_k
from rankine.conventions.presets import convention as named
from rankine.errors import (
    DataError,
    MetricSyntaxError,
    ParameterError,
)
from rankine.io.features import read_features
from rankine.io.frames import from_frame, is_frame
from rankine.io.lenient import cleaned
from rankine.io.mappings import as_rows
from rankine.io.reading import PLAIN, Reading
from rankine.io.sources import Dense, Lists, Rows, Source, Stream
from rankine.metric import Metric
from rankine.plan import Group, Plan, check_needs, check_options, plan_of
from rankine.recommend.listed import ListMetric
from rankine.result import Evaluation
from rankine.stats.summary import Summary, summarize
from rankine.table.align import join, key_of, served
from rankine.table.known import Known, Listed, catalog_of, know
from rankine.table.lists import lists_of
from rankine.table.policy import Aligned, apply, cut
from rankine.table.truth import Truth
from rankine.words import count

if TYPE_CHECKING:
    from rankine.conventions.convention import Convention
    from rankine.table.recommended import Recommended

DEFAULT = ("nDCG@10", "AP", "RR@10")


def evaluate(
    qrels: Any,
    run: Any,
    metrics: str | Metric | Iterable[str | Metric] = DEFAULT,
    *,
    convention: str | Convention = "rankine",
    ties: str | None = None,
    rel: float | None = None,
    catalog: Any = None,
    items: Any = None,
    train: Any = None,
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
            frame, a sparse matrix, `from_scores`, or what `read_qrels` returns; None
            where no metric needs any.
        run: the retrieved items: a path, {query: {item: score}}, {query: [items in
            order]}, a frame, a sparse matrix, `from_scores`, `from_ranked`, or what
            `read_run` returns.
        metrics: names or metrics.
        convention: whose choices the numbers follow.
        ties: ``average``, ``best`` or ``worst`` order of tied items, instead of the
            convention's order.
        rel: the smallest relevant grade, instead of the convention's.
        catalog: number of items in the catalogue, or the items, for the metrics that
            need it.
        items: what is known of items, for the metrics that need it: {item: numbers},
            {item: topics}, a frame or a file with a column of items, a matrix whose row
            i is item i, or a function that is the distance of two items.
        train: the interactions that users had before, in any form of judgements.
        columns: which column is what, as {"query": "userID", "item": ..., "grade": ...,
            "score": ...}; recognised by their names if not given. "features" are the
            columns of items= that are meant, if not all.
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
    job = prepare(
        metrics,
        convention=convention,
        ties=ties,
        rel=rel,
        catalog=catalog,
        items=items,
        train=train,
        columns=columns,
        grades=grades,
        depth=depth,
        name=name,
        order=order,
        lower_is_better=lower_is_better,
        lenient=lenient,
    )
    return job.evaluate(*job.read(qrels, run))


@dataclass(eq=False)
class Job:
    """What is to be computed, how data are to be read, and what is known already.

    Attributes:
        plan: what is to be computed.
        given: the names of the arguments that were given.
        catalog: the catalogue, if it was given.
        train, items: what else is known, to be read when the metrics were checked.
        columns: which column is what.
        of_qrels, of_run: how judgements and runs are to be read.
        order: what the ranking follows, if that was said.
        depth: how many items of each list count.
        name: what to call the run.
    """

    plan: Plan
    given: frozenset[str]
    catalog: Known
    train: Any
    items: Any
    columns: Mapping[str, Any] | None
    of_qrels: Reading
    of_run: Reading
    order: str | None
    depth: int | None
    name: str | None

    @cached_property
    def known(self) -> Known:
        """What is known of items and users, read once."""
        train, items = self.train, self.items
        if train is None and items is None:
            return self.catalog
        features = None
        if items is not None:
            lenient = self.of_qrels.lenient
            features = read_features(items, self.columns, lenient=lenient)
        return replace(
            self.catalog,
            train=None if train is None else train_of(train, self.of_qrels),
            features=features,
        )

    def read(self, qrels: Any, run: Any) -> tuple[Truth | None, Source]:
        """Read judgements, if there are any, all that is known, and a run."""
        given = self.given if qrels is None else self.given | {"qrels"}
        check_needs(self.plan, given)
        truth = None if qrels is None else truth_of(qrels, self.of_qrels)
        _ = self.known
        return truth, source_of(run, self.of_run, self.order)

    def evaluate(self, truth: Truth | None, source: Source) -> Evaluation:
        """Evaluate a run against judgements, if there are any."""
        name = self.name or source.name
        return evaluate_source(
            self.plan, truth, source, name, depth=self.depth, known=self.known
        )


def prepare(
    metrics: Any = DEFAULT,
    *,
    convention: str | Convention = "rankine",
    ties: str | None = None,
    rel: float | None = None,
    catalog: Any = None,
    items: Any = None,
    train: Any = None,
    columns: Mapping[str, Any] | None = None,
    grades: Mapping[Any, float] | None = None,
    depth: int | None = None,
    name: str | None = None,
    order: str | None = None,
    lower_is_better: bool = False,
    lenient: bool = False,
) -> Job:
    """Check everything that can be checked without data; arguments as in `evaluate`."""
    asked = _listed(metrics)
    check_k(depth, "depth")
    _check_words(name, lenient=lenient, lower_is_better=lower_is_better)
    if not isinstance(convention, str):
        convention = named(convention)
    known, size = _NOTHING, None
    if catalog is not None:
        known = Known(catalog=catalog_of(catalog))
        size = _size(known.catalog)
    check_options(rel, size, ties)
    if order is not None:
        check_choice("order", order, ("score", "rank", "given"))
        convention = named(convention).replace(order=order)
    plan = plan_of(asked, convention, ties, rel, size)
    by_rank = plan.rule.order == "rank"
    of_qrels = of_run = PLAIN
    subtopics = items is None and any(
        isinstance(bound, ListMetric) and "subtopics" in bound.needs
        for bound in plan.bound
    )
    every = columns
    if isinstance(columns, Mapping) and "features" in columns:
        columns = {part: own for part, own in columns.items() if part != "features"}
        columns = columns or None
    if columns is not None or grades is not None or lenient or subtopics:
        of_qrels = Reading(
            columns=columns, grades=grades, lenient=lenient, subtopics=subtopics
        )
    if columns is not None or by_rank or lenient or lower_is_better:
        of_run = Reading(
            columns=columns,
            by_rank=by_rank,
            lenient=lenient,
            lower_is_better=lower_is_better,
        )

    # A function of two items says nothing of how many there are.
    of_items = "distance" if callable(items) else "items"
    others = {"train": train, of_items: items, "catalog": catalog}
    given = frozenset(key for key, one in others.items() if one is not None)
    return Job(
        plan, given, known, train, items, every, of_qrels, of_run, order, depth, name
    )


_NOTHING = Known()


def _size(catalog: Any) -> int:
    return catalog if isinstance(catalog, int) else len(catalog)


def _check_words(name: object, **flags: object) -> None:
    if name is not None and not isinstance(name, str):
        msg = f"name must be text, got {name!r}"
        raise ParameterError(msg)
    for flag, value in flags.items():
        if value is not True and value is not False:
            msg = f"{flag} must be True or False, got {value!r}"
            raise ParameterError(msg)


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


def truth_of(qrels: Any, how: Reading = PLAIN) -> Truth:
    """Read judgements, to be used for one run or for many."""
    source = io.read(qrels, "qrels", how)
    if how.lenient:
        source = cleaned(source, "qrels")
    if isinstance(source, Stream):
        msg = f"{source.name} was read as a run, and cannot be judgements"
        raise DataError(msg)
    return Truth(source)


def train_of(train: Any, how: Reading = PLAIN) -> Rows:
    """Read the interactions that users had before; each row is one, and may repeat."""
    how = replace(how, subtopics=False)
    if isinstance(train, Mapping) and type(train).__module__.split(".")[0] != "scipy":
        own = {
            user: sorted(had, key=str) if isinstance(had, AbstractSet) else had
            for user, had in train.items()
        }
        rows = as_rows(Lists(own, "train"), "run", lenient=how.lenient)
    elif is_frame(train):
        rows = from_frame(train, "qrels", how, name="train")
    else:
        source = io.read(train, "qrels", how)
        rows = as_rows(source, "qrels", lenient=how.lenient)
        if isinstance(source, Dense):
            rows = replace(rows, frame=rows.frame.filter(rows.frame["value"] != 0))
    frame = rows.frame
    if how.lenient:
        frame = frame.drop_nulls(["query", "item"])
    name = "train" if rows.name == "qrels" else rows.name
    if frame.height == 0:
        msg = f"{name}: no interactions in it"
        raise DataError(msg)
    return replace(rows, frame=frame, name=name)


def source_of(run: Any, how: Reading = PLAIN, order: str | None = None) -> Source:
    """Read a run; refuse one without the rank column if that was asked for."""
    source = io.read(run, "run", how)
    if order == "rank" and not _is_ranked(source):
        msg = f"{source.name} has no rank column, which order='rank' needs"
        raise DataError(msg)
    return cleaned(source, "run") if how.lenient else source


def evaluate_source(
    plan: Plan,
    truth: Truth | None,
    source: Source,
    name: str,
    *,
    depth: int | None = None,
    joins: dict[Any, Aligned] | None = None,
    known: Known | None = None,
) -> Evaluation:
    """Evaluate a run that has been read, by a plan that has been checked.

    Args:
        plan: what is to be computed.
        truth: the judgements.
        source: the run.
        name: what to call the run.
        depth: the number of items of each list that are kept.
        joins: where joined tables are kept, for further plans on the same data.
        known: what is known of items and users, for metrics of lists.
    """
    if truth is not None:
        _refuse_fractions(plan, truth)
    if plan.catalog is not None and plan.judged:
        _refuse_catalog(plan.catalog, source)
    found: list[Summary | None] = [None] * len(plan.asked)
    tables: list[Any] = []
    joined = iter(() if truth is None else _joins(plan, truth, source, joins))
    for group in plan.groups:
        if group.lists:
            listed = _listed_for(group, truth, source, known or Known(), depth)
            tables.append(listed)
            for number, metric, own in group.members:
                found[number] = summarize(metric, listed.table, own, listed.ids)  # type: ignore[arg-type]
            continue
        one = next(joined)
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
    unsorted = _unsorted(plan, source, tables)
    return Evaluation(plan, tuple(found), tuple(tables), name, unsorted)  # type: ignore[arg-type]


def _unsorted(plan: Plan, source: Source, tables: list[Any]) -> Callable[[], int]:
    """Return what counts the lists that are not in the order of their scores."""
    if not plan.preset or all(group.rule.order != "given" for group in plan.judged):
        return int
    n = max(one.unsorted for one in tables)
    return n_unsorted(source) if isinstance(source, Lists) else lambda: n


def _listed_for(
    group: Group,
    truth: Truth | None,
    source: Source,
    known: Known,
    depth: int | None,
) -> Listed:
    """Return the lists that a group of metrics reads, with all that is known."""
    rule = _ranked(group.rule, source)
    lists = lists_of(source, rule)
    depths = [one for one in (group.depth, depth) if one is not None]
    if truth is not None:
        subtopics = truth.subtopics if known.features is None else None
        known = replace(known, judgements=truth.judgements, subtopics=subtopics)
    needs = {
        need: metric
        for _, metric, _ in group.members
        if isinstance(metric, ListMetric)
        for need in metric.needs
    }
    listed = know(
        lists,
        _needed(known, set(needs)),
        min(depths, default=None),
        rule.duplicates,
        users=rule.queries if "judgements" in needs else None,
    )
    _refuse_items(listed.table, needs)
    strange = listed.strange if "catalog" in needs else ()
    of_items = {"vectors", "topics", "subtopics"}
    bare = listed.bare if not of_items.isdisjoint(needs) else ()
    return replace(listed, notes=(*listed.notes, *strange, *bare))


def _needed(known: Known, needs: set[str]) -> Known:
    """Leave out what no metric needs."""
    catalog = "catalog" in needs and known.catalog is None
    train, features = known.train, known.features
    if needs.isdisjoint({"train", "users"}) and not catalog:
        train = None
    of_items = {"vectors", "topics", "subtopics"}
    if needs.isdisjoint(of_items) and (not catalog or train is not None):
        features = None
    return replace(known, train=train, features=features)


def _refuse_items(table: Recommended, needs: Mapping[str, Metric]) -> None:
    """Refuse items= that does not have what metrics need of it."""
    if "topics" in needs and table.topics is None:
        msg = f"{needs['topics']} needs topics or groups, but items= has numbers only"
        raise DataError(msg)
    if "subtopics" in needs and table.topics is None and table.aspects is None:
        msg = (
            f"{needs['subtopics']} needs topics, and neither items= nor the judgements "
            "have any; judgements have them in a column named subtopic, or in the "
            "second of TREC text"
        )
        raise DataError(msg)


def _joins(
    plan: Plan, truth: Truth, source: Source, joins: dict[Any, Aligned] | None
) -> list[Aligned]:
    """Join the data for each group of a plan, as seldom as can be."""
    groups = plan.judged
    if not groups:
        return []
    rules = [_ranked(group.rule, source) for group in groups]
    keys = [key_of(rule, plan.rule) for rule in rules]
    needs: dict[Any, bool] = {}
    for group, key in zip(groups, keys, strict=True):
        needs[key] = needs.get(key, False) or group.keep_scores
    floors = {
        key
        for rule, key in zip(rules, keys, strict=True)
        if rule.score_floor is not None
    }
    # As deep as any of them needs, since one may serve for another.
    depths = [group.depth for group in groups if group.depth is not None]
    whole = joins is not None or len(depths) < len(groups)
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
