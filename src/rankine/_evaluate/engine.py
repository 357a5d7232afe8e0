"""From a plan and data to one number per query and metric."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from rankine._base.limits import limits
from rankine._base.text import count
from rankine._conventions.convention import BY_RANK
from rankine._evaluate.plan import OF_LISTS
from rankine._evaluate.result import Evaluation
from rankine._evaluate.summary import Summary, summarize
from rankine._evaluate.warnings import (
    doubts_of,
    hardly_met,
    liked_from,
    looks_rated,
)
from rankine._io.sources import (
    Lists,
    Rows,
    Source,
    Stream,
)
from rankine._join.by_position import is_listed, met_by_number, paired
from rankine._join.chunks import find
from rankine._join.context import know
from rankine._join.finders import FirstFinder, ItemFinder, ListFinder
from rankine._join.judgements import Truth
from rankine._join.matching import finder_of, match
from rankine._join.side_data import NOTHING, SideData, TrainingData
from rankine._metrics.lists.kind import ListMetric
from rankine._tables.joined import Aligned, Listed, apply, cut
from rankine._tables.order import Order
from rankine._tables.segments import n_rising
from rankine.errors import DataError, ParameterError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rankine._conventions.convention import Convention
    from rankine._evaluate.plan import Group, Plan
    from rankine._evaluate.warnings import Doubts
    from rankine._join.chunks import Finder
    from rankine._join.finders import FoundFirst, FoundLists
    from rankine._join.weights import Weights
    from rankine._metrics.metric import Metric
    from rankine._tables.lists import Recommended


def evaluate_source(
    plan: Plan,
    truth: Truth | None,
    source: Source,
    name: str,
    *,
    depth: int | None = None,
    cache: dict[Any, Any] | None = None,
    side_data: SideData | None = None,
    keep: int | None = None,
    weights: Weights | None = None,
    partial: bool = False,
) -> Evaluation:
    """Evaluate a run that has been read, by a plan that has been checked.

    Args:
        plan: the plan.
        truth: the judgements.
        source: the run.
        name: what to call the run.
        depth: the number of items of each list that are kept.
        cache: joined tables, for further plans on the same data, so that nothing is
            read twice. Other plans may look deeper, so judged items are searched for at
            any rank.
        side_data: further data on items and users, for metrics of lists.
        keep: how many first items of each list to keep, to be shown later.
        weights: how much each query counts; None if all count the same.
        partial: whether these are only a part of the data, so that judgements and run
            need not share a query.
    """
    source, side_data = _beside(source, side_data or NOTHING, partial=partial)
    if truth is not None:
        truth, source = paired_with(truth, source)
        source, side_data = _beside(
            source, side_data, partial=partial
        )  # with its new ids
        _refuse_fractions(plan, truth)
    unit = doubts_of(truth, source, trained=side_data.trained).unit
    asked, unranked = plan, plan.rule.order in BY_RANK and not source.ranked
    if unranked:
        plan = plan.with_rules(lambda rule: ranked(rule, source))
    beside = _finders(plan, source, depth, cache, keep)
    items = ItemFinder() if plan.counts_items else None
    wanted = [*dict.fromkeys(finder for finder in (items, *beside) if finder)]
    joined, found = _joins(plan, truth, source, cache, keep, wanted, partial=partial)
    matched = iter(joined)
    if items is not None and plan.catalog is not None:
        _refuse_catalog(plan.catalog, source.name, found[items].n)
    by_number: dict[int, Summary] = {}
    tables: list[Any] = []
    for group, of_asked, finder in zip(plan.groups, asked.groups, beside, strict=True):
        table: Any
        of_group = found.get(finder)
        if group.lists:
            rule = of_asked.rule  # for the reference, which may have its own ranks
            table = _listed_for(
                group,
                rule,
                truth,
                side_data,
                of_group,
                depth,
                cache,
                unit,
                partial=partial,
            )
        else:
            table = next(matched)
            if depth is not None:  # before a convention takes items out of the lists
                refuse_spread(group)
                table = cut(table, depth)
            table = apply(table, group.rule, unit, partial=partial)
            if keep is not None:
                table = _with_first(table, keep, of_group)
        if unranked and not source.is_empty:
            said = no_ranks(source.name, scored=table.scored)
            table = replace(table, notes=(*table.notes, said))
        tables.append(table)
        counts = None if weights is None else weights.of(table.ids, unit)
        for number, metric, of_metric in group.members:
            by_number[number] = summarize(
                metric, table.table, of_metric, table.ids, counts
            )
    by_order = plan.preset and plan.takes_order
    unsorted = _n_unsorted(source, tables) if by_order else 0
    doubts = _doubts_of(truth, source, plan, tables, side_data, partial=partial)
    summaries = tuple(map(by_number.__getitem__, range(len(plan.asked))))
    return Evaluation(asked, summaries, tuple(tables), name, unsorted, doubts)


def _doubts_of(
    truth: Truth | None,
    source: Source,
    plan: Plan,
    tables: list[Any],
    side_data: SideData,
    *,
    partial: bool,
) -> Doubts:
    train = side_data.train
    doubts = doubts_of(truth, source, plan.thresholds, trained=side_data.trained)
    found = source.contradiction
    if found.n_lists and plan.rule.order == "score":
        doubts = replace(doubts, contradiction=found)
    reads_train = any("train" in metric.needs for metric in plan.bound)
    if train is not None and reads_train and not partial:
        n_places = train.n_places if isinstance(train, TrainingData) else None
        users = Rows(
            train.users.to_frame("query"),
            "train",
            n_places=n_places,
            is_matrix=n_places is not None,
        )
        said = met_by_number(users, source, ("train", "run"), alike=False)
        doubts = replace(doubts, read=(*said, *doubts.read))
    if truth is None:
        return doubts
    numbered = met_by_number(truth.source, source, ("qrels", "run"))
    judged = (table for table in tables if isinstance(table, Aligned))
    missing = next(map(_missing, judged), (0, 0))
    return replace(doubts, read=(*numbered, *doubts.read), missing=missing)


def _missing(aligned: Aligned) -> tuple[int, int]:
    """Count the judged queries that the run lacks, and all judged queries."""
    table, origin = aligned.table, aligned.origin
    n = len(aligned.ids) if origin is None else int(np.count_nonzero(origin >= 0))
    left_out = bool(table.in_run.all())
    return aligned.missing, n + aligned.missing * left_out


def paired_with(truth: Truth, source: Source) -> tuple[Truth, Source]:
    """Pair judgements and a run by position, if one of them is lists without ids."""
    judged, source = paired(truth.source, source, ("qrels", "run"))
    return truth if judged is truth.source else Truth(judged), source


def _beside(
    source: Source, side_data: SideData, *, partial: bool
) -> tuple[Source, SideData]:
    """Pair a run with the reference by position, if one is lists without ids.

    A part of a run may have any of the queries, so its lists have no positions.
    """
    reference = side_data.reference
    if reference is None:
        return source, side_data
    if not partial:
        source, reference = paired(source, reference, ("run", "reference"))
    elif is_listed(reference) and source.n_places is None:
        msg = (
            "reference has lists without ids, and the run has ids; give the lists of "
            "reference ids, as in {query: ...}"
        )
        raise DataError(msg)
    return source, side_data.beside(reference)


def no_ranks(name: str, *, scored: bool) -> str:
    """Return a note that a run lacks the rank column that the convention needs."""
    by = "scores give" if scored else "order gives"
    return f"{name} has no rank column; its {by} the ranks"


def refuse_spread(group: Group) -> None:
    """Refuse to cut lists if all orders of ties count."""
    if any(metric.get("ties") for _, metric, _ in group.members):
        msg = (
            "depth= and ties= cannot be combined: which tied items fall below the "
            "depth is undefined"
        )
        raise ParameterError(msg)


def _finders(
    plan: Plan,
    source: Source,
    depth: int | None,
    cache: dict[Any, Any] | None,
    keep: int | None,
) -> list[Finder | None]:
    """Return finders for what each group needs of the run besides judged items."""
    shared: dict[Any, Finder] = {}
    finders: list[Finder | None] = []
    for group in plan.groups:
        rule = group.rule
        finder: Finder | None = None
        key: tuple[Any, ...]
        if group.lists:
            deepest = _deepest(group, depth)
            if cache is None or _key_of_lists(group, deepest) not in cache:
                key = ListFinder, _order_of(rule), deepest
                finder = shared.setdefault(key, ListFinder(source, rule, deepest))
        elif keep is not None and rule.unjudged != "removed":
            # If unjudged items are removed, only judged ones can be among the first.
            rule = rule.replace(tie=Order.of(rule, plan.rule).tie)
            n_first = keep if depth is None else min(keep, depth)
            key = FirstFinder, _order_of(rule), rule.score_floor
            finder = shared.setdefault(key, FirstFinder(source, rule, n_first))
        finders.append(finder)
    return finders


def _order_of(rule: Convention) -> tuple[Any, ...]:
    return tuple(getattr(rule, field) for field in OF_LISTS)


def _deepest(group: Group, depth: int | None) -> int | None:
    """Return how many items of each list a group of metrics reads; None for all."""
    depths = [limit for limit in (group.depth, depth) if limit is not None]
    return min(depths, default=None)


def _needs_of(group: Group) -> dict[str, Metric]:
    """Return the further data that metrics of lists need, each with such a metric."""
    return {
        need: metric
        for _, metric, _ in group.members
        if isinstance(metric, ListMetric)
        for need in metric.needs
    }


def _key_of_lists(group: Group, deepest: int | None) -> tuple[Any, ...]:
    return (*group.key, deepest, *sorted(_needs_of(group)))


def _looks_deep(source: Source, *, partial: bool) -> bool:
    """Say whether judged items are searched for at any rank, whatever metrics need.

    This costs little compared with reading a few rows, or parts of a file. And in a
    part of the data, all judged items that are there must be counted, as these counts
    are added up.
    """
    if isinstance(source, Rows):
        return partial or source.frame.height <= limits().whole_rows
    return isinstance(source, Stream)


def _with_first(aligned: Aligned, keep: int, found: FoundFirst | None) -> Aligned:
    """Keep the first items of each list, in the order of their ranks."""
    if aligned.named is not None:
        aligned = replace(aligned, named=aligned.named.own())
    return replace(aligned, keep=keep, kept=None if found is None else found.first)


def _n_unsorted(source: Source, tables: list[Any]) -> int:
    """Count the lists that are not in the order of their scores."""
    if isinstance(source, Lists):
        return n_rising(source.numbers, source.starts)
    return max(int(table.unsorted) for table in tables)


def _listed_for(
    group: Group,
    rule: Convention,
    truth: Truth | None,
    side_data: SideData,
    found: FoundLists | None,
    depth: int | None,
    cache: dict[Any, Any] | None,
    unit: str,
    *,
    partial: bool,
) -> Listed:
    """Return the lists that a group of metrics reads, with the further data.

    The lists of the reference are ranked by the rule, if they have what it needs.
    """
    needs, deepest = _needs_of(group), _deepest(group, depth)
    key = _key_of_lists(group, deepest)
    if found is None:
        kept: Listed = (cache or {})[key]
        return kept
    side_data = side_data.needed(needs.keys())
    if side_data.reference is not None:
        side_data = side_data.ranked(ranked(rule, side_data.reference))
    listed = know(
        found.lists,
        side_data,
        truth,
        deepest,
        group.rule.duplicates,
        users=group.users,
        unit=unit,
        partial=partial,
    )
    if depth is not None:
        table = listed.table
        table = replace(table, length=np.minimum(table.length, depth))
        listed = replace(listed, table=table)
    _refuse_items(listed.table, needs)
    strange = listed.strange if "catalog" in needs else ()
    of_items = {"vectors", "topics", "subtopics"}
    bare = listed.bare if not of_items.isdisjoint(needs) else ()
    of_truth = truth.source.notes if truth and "judgements" in needs else ()
    noted = replace(
        listed,
        notes=(*of_truth, *listed.notes),
        strange=strange,
        bare=bare,
        scored=found.scored,
        catalogue=listed.catalogue if "catalog" in needs else (),
    )
    if cache is not None:
        cache[key] = noted
    return noted


def _refuse_items(table: Recommended, needs: Mapping[str, Metric]) -> None:
    """Refuse items= that lack what metrics need."""
    names = {need: metric.label for need, metric in needs.items()}
    nothing = table.vectors is None and table.topics is None and table.distance is None
    if nothing and not {"vectors", "topics"}.isdisjoint(needs):
        named = names.get("vectors") or names["topics"]
        msg = (
            f"{named} needs features, but items= has only texts that are nearly all "
            "different, or that name or describe items, as titles do; to use them "
            "nevertheless, give columns={'features': ...} or --col features=NAME"
        )
        raise DataError(msg)
    if "topics" in needs and table.topics is None:
        msg = f"{names['topics']} needs topics or groups, but items= has numbers only"
        raise DataError(msg)
    if "subtopics" in needs and table.topics is None and table.aspects is None:
        msg = (
            f"{names['subtopics']} needs topics; give items= or --items, or judgements "
            "that have them in a column named subtopic, or in the second field of TREC "
            "text"
        )
        raise DataError(msg)


def _joins(
    plan: Plan,
    truth: Truth | None,
    source: Source,
    cache: dict[Any, Any] | None,
    keep: int | None,
    beside: Sequence[Finder],
    *,
    partial: bool,
) -> tuple[list[Aligned], dict[Any, Any]]:
    """Join the data once for all groups of a plan, and return the table of each.

    The finders in `beside` go through the run at the same time; their findings are the
    second result.
    """
    by_order = {} if cache is None else cache
    missing: dict[Order, bool] = {}
    for group, order in zip(plan.judged, plan.orders, strict=True):
        there = by_order.get(order)
        if there is None or (group.keep_scores and there.table.scores is None):
            missing[order] = missing.get(order, False) or group.keep_scores
    if truth is None or not missing:
        more = find(source, beside) if beside else []
    else:
        # As deep as any of them needs, since all are matched at once.
        depth = plan.depth if keep is None and cache is None else None
        run, judged_items = finder_of(truth, source, missing, depth)
        if _looks_deep(run, partial=partial):
            judged_items.deepest = None
        found, *more = find(run, [judged_items, *beside])
        matched = judged_items.tables(found)
        if judged_items.deepest is not None and any(map(_misses, matched.values())):
            # The first ranks do not show whether judged items are in the run at all.
            matched = match(truth, source, missing)
        by_order |= matched
    every = [] if truth is None else [by_order[order] for order in plan.orders]
    return every, dict(zip(beside, more, strict=True))


def _misses(aligned: Aligned) -> bool:
    """Say whether so few judged items were found that their ids may differ."""
    return hardly_met(*aligned.in_common) is not None


def ranked(rule: Convention, source: Source) -> Convention:
    """Use the scores if there is no rank column."""
    if rule.order in BY_RANK and not source.ranked:
        return rule.replace(order="score")
    return rule


def _refuse_catalog(catalog: int, name: str, seen: int) -> None:
    """Refuse a catalogue that is smaller than the number of retrieved items."""
    if seen > catalog:
        msg = (
            f"the catalogue has {count(catalog, 'item')}, but {name} has "
            f"{count(seen, 'different one')}"
        )
        raise DataError(msg)


def _refuse_fractions(plan: Plan, truth: Truth) -> None:
    """Refuse grades like 0.5 for a metric without a given threshold."""
    if not plan.untold or (pool := truth.pool).is_whole():
        return
    grade = pool.grade
    example = float(grade[np.flatnonzero(grade != np.floor(grade))[0]])
    doubts = doubts_of(truth, truth.source).read
    raise with_fractions(plan.untold[0], example, pool.bounds, doubts)


def with_fractions(
    metric: Metric, example: float, grades: tuple[float, float], doubts: Sequence[str]
) -> DataError:
    """Return the error for a metric that needs to know which grades are relevant.

    Args:
        metric: the metric.
        example: a grade with a fraction.
        grades: the smallest and the largest grade.
        doubts: doubts from reading the judgements.
    """
    # The smallest rating does not mean that people like an item.
    liked = liked_from(*grades) if looks_rated(grades[1]) else example
    msg = (
        f"grades have fractions, such as {example:g}, and {metric} needs to know "
        f"which are relevant; write {metric(rel=liked)}, or give rel={liked:g} for "
        "all metrics"
    )
    return DataError("; ".join((msg, *doubts[:1])))
