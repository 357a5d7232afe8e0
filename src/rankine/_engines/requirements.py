"""What users ask of Spark: checked before a job starts, then changed for executors."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from rankine._conventions.tools import TOOLS
from rankine._engines.frames import TopRows, is_spark
from rankine._engines.work import JUDGED, LISTED, SIDES
from rankine._evaluate.engine import ranked
from rankine._metrics.lists.kind import ListMetric
from rankine._tables.order import Order
from rankine.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet

    from rankine._conventions.convention import Convention
    from rankine._engines.frames import Pair
    from rankine._evaluate.evaluate import Job
    from rankine._evaluate.options import Options
    from rankine._evaluate.plan import Plan
    from rankine._metrics.metric import Metric

IN_MEMORY = "use rankine.evaluate, which has all data at hand"
_BY_ROWS = {
    "order": {"given": "uses the order of rows"},
    "tie": {
        "input": "lets the order of rows decide ties",
        "input_rev": "lets the order of rows decide ties",
    },
    "duplicates": {"last": "uses the last row of a repeated item"},
    "ideal": {"given@k": "uses the judgements in the order of their rows"},
}
"""Choices of a convention for which rows need an order, which frames do not have."""


def check_metrics(job: Job, *, judged: bool) -> None:
    """Refuse metrics that cannot be computed bucket by bucket."""
    job.check(judged=judged)
    options = job.options
    for name in ("train", "items", "reference", "catalog"):
        if is_spark(getattr(options, name)):
            msg = (
                f"{name} is a Spark DataFrame, and every executor needs all of it; "
                f"give it in memory, as {name}.toPandas() does"
            )
            raise ParameterError(msg)
    for metric, bound in zip(job.plan.asked, job.plan.bound, strict=True):
        across = bound.across
        if metric.fact.origin is not None:
            msg = f"{metric} is a function of your own; {IN_MEMORY}"
            raise ParameterError(msg)
        if across is not None:
            todo = IN_MEMORY
            if across.instead is not None:
                todo = f"write {metric(**{across.parameter: across.instead})}"
            msg = (
                f"{metric} {across.reads}, but Spark computes each part of the data "
                f"alone; {todo}"
            )
            raise ParameterError(msg)
        if isinstance(bound, ListMetric):
            _check_lists(metric, bound, given=options.given)


def _check_lists(metric: Metric, bound: Metric, *, given: AbstractSet[str]) -> None:
    """Refuse metrics of lists that need more than rows of query, item and number."""
    if bound.get("sample") is not None:
        msg = f"{metric} draws from all lists, which stay on Spark; {IN_MEMORY}"
        raise ParameterError(msg)
    if "subtopics" in bound.needs and "items" not in given:
        msg = (
            f"{metric} needs the topics of items on Spark, where judgements of "
            f"subtopics are not read; give items=, or {IN_MEMORY}"
        )
        raise ParameterError(msg)


def top_of(plan: Plan, pair: Pair, options: Options) -> TopRows | None:
    """Return which rows are enough; None if it is all of them."""
    run = pair.run.schema
    orders = {Order.of(ranked(group.rule, run), plan.rule) for group in plan.groups}
    # A row that is dropped later must not take the place of another; and where rows
    # have an order, all of them are compared with it.
    drops = options.lenient or any(order.duplicates == "last" for order in orders)
    lists = any(group.lists for group in plan.groups)
    if drops or lists or pair.sequence is not None:
        return None
    depth = options.depth or _deepest(plan, pair, orders)
    return (
        None if depth is None else TopRows(depth, min(order.bits for order in orders))
    )


def _deepest(plan: Plan, pair: Pair, orders: AbstractSet[Order]) -> int | None:
    """Return the rank below which nothing is looked at; None if all rows are read."""
    if pair.texts:  # each of which may be refused
        return None
    for order in orders:
        if order.duplicates == "error":  # which a repeated item is at any rank
            return None
        if order.by == "rank_value":  # and a number may be any rank
            return None
    deepest = 0
    for group in plan.groups:
        if group.depth is None or group.keep_scores:
            return None
        if group.rule.score_floor is not None:  # what is under it is counted
            return None
        deepest = max(deepest, group.depth)
    # Some tools leave ties open in long lists alone.
    open_ties = TOOLS[plan.preset].open_ties if plan.preset else None
    return None if deepest < (open_ties or 0) else deepest


def plan_for_parts(plan: Plan) -> Plan:
    """Return a plan for a part of the data: nothing is refused, rounded or missed."""

    def table(rule: Convention) -> Convention:
        negative = "zero" if rule.negative == "error" else rule.negative
        return rule.replace(missing_run="zero", negative=negative)

    def mean(rule: Convention) -> Convention:
        empty = "skip" if rule.empty_truth == "error" else rule.empty_truth
        return rule.replace(nothing="nan", decimals=None, empty_truth=empty)

    # Nor are fractions and a catalogue that are of all data.
    return replace(plan.with_rules(table, mean), untold=(), catalog=None)


def places_of(plan: Plan, pair: Pair) -> tuple[tuple[int, str], ...]:
    """Return whose rows have places, and the column that has them.

    Those of judgements matter only where a metric looks at the order of their rows.
    """
    if pair.sequence is None:
        return ()
    sides = [LISTED]
    by_rows = (metric.get("ideal") in _BY_ROWS["ideal"] for metric in plan.bound)
    if pair.sequence in pair.qrels.types and any(by_rows):
        sides.append(JUDGED)
    return tuple((side, pair.sequence) for side in sides)


def check_order(plan: Plan, pair: Pair) -> None:
    """Refuse what depends on the order of rows, if nobody says what it is."""
    known = {LISTED: pair.sequence is not None}
    known[JUDGED] = pair.sequence in pair.qrels.types
    whose = plan.preset or "the convention"
    for group in plan.groups:
        for number, metric, rule in group.members:
            choices = {field: getattr(rule, field) for field in _BY_ROWS}
            choices["ideal"] = metric.get("ideal")
            if not pair.run.scored:
                choices["order"] = "given"
            for field, value in choices.items():
                side = JUDGED if field == "ideal" else LISTED
                why = _BY_ROWS[field].get(value)
                if why is None or known[side]:
                    continue
                if field == "order" and not pair.run.scored:
                    whose, why = (
                        "a run without scores and ranks",
                        _BY_ROWS[field][value],
                    )
                todo = (
                    f"name a column of {SIDES[side]} that numbers the rows with "
                    "sequence= or --sequence"
                )
                rank = pair.run.part.get("rank")
                if side == LISTED and rank is not None:
                    todo = (
                        f"if {rank!r} numbers the rows, give sequence={rank!r} or "
                        f"--sequence {rank}"
                    )
                msg = (
                    f"{whose} {why} for {plan.asked[number]}, and Spark keeps none; "
                    f"{todo}"
                )
                raise ParameterError(msg)
