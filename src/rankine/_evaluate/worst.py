"""worst: the queries on which a metric is worst, and the items they missed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, overload

import numpy as np

from rankine._base.checks import check_count
from rankine._base.notebook import as_table
from rankine._base.text import QUERY, plural
from rankine._evaluate.summary import least_relevant
from rankine._evaluate.trail import Stored, trail_of
from rankine._metrics.lists.kind import ListMetric
from rankine._tables.joined import Aligned
from rankine.errors import ParameterError

if TYPE_CHECKING:
    from rankine._base.arrays import Floats, Ints
    from rankine._evaluate.result import Evaluation
    from rankine._evaluate.trail import Trail
    from rankine._metrics.metric import Metric

T = TypeVar("T")
TOP = 10
"""How many first items are shown without keep=."""


class TopItem(NamedTuple):
    """An item at the top of a list.

    Attributes:
        rank: its rank.
        item: its id.
        grade: its grade; None if it is unjudged.
    """

    rank: int
    item: Any
    grade: float | None

    def _repr_html_(self) -> str:
        return as_table(self)


class MissedItem(NamedTuple):
    """A relevant item that is missing from the top of a list.

    Attributes:
        item: its id.
        grade: its grade.
        rank: its rank in the list; None if it was not found there.
    """

    item: Any
    grade: float
    rank: int | None

    def _repr_html_(self) -> str:
        return as_table(self)


@dataclass(frozen=True, slots=True)
class WorstQuery:
    """A query, its value, the first items of its list, and the items it missed.

    Attributes:
        query: its id.
        value: the value of the metric.
        top: the first items of the list, best first: rank, item, and grade, which is
            None for an unjudged one. Unjudged items are here only if `evaluate` kept
            them, as with ``keep=10``.
        missed: the relevant items that are not above the cutoff of the metric or, if it
            has none, not among the first. The best grades come first: item, grade, and
            rank, which is None if the item was not found.
        looked: the rank down to which judged items were searched for; None for the
            whole list, so that an item without a rank was not retrieved.
    """

    query: Any
    value: float
    top: tuple[TopItem, ...]
    missed: tuple[MissedItem, ...]
    looked: int | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON."""
        return {
            "query": plain(self.query),
            "value": self.value,
            "top": [
                entry._asdict() | {"item": plain(entry.item)} for entry in self.top
            ],
            "missed": [
                entry._asdict() | {"item": plain(entry.item)} for entry in self.missed
            ],
            "looked": self.looked,
        }

    def _repr_html_(self) -> str:
        return as_table(self)


class ByQuery(Sequence[T]):
    """A sequence of the records of some queries, which are in `queries`."""

    __slots__ = ()
    queries: tuple[T, ...]

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[T, ...]: ...
    def __getitem__(self, index: Any) -> Any:
        """Return the record of one query, 0 for the first, or a slice of them."""
        return self.queries[index]

    def __len__(self) -> int:
        """Return how many queries there are."""
        return len(self.queries)


@dataclass(frozen=True, slots=True, eq=False)
class Worst(ByQuery[WorstQuery]):
    """The queries on which a metric is worst, the very worst first.

    It is a sequence of `WorstQuery`; its text shows them all.

    Attributes:
        metric: the metric.
        name: the name of the run.
        queries: the queries.
        n_queries: the number of queries from which they are the worst.
        keep: how many first items of each list were kept, 0 if none were.
        unit: what a query is called: query, or user.

    >>> import rankine as rk
    >>> qrels = {"q1": {"a": 1, "b": 1}, "q2": {"c": 2, "d": 1}}
    >>> run = {"q1": ["a", "b"], "q2": ["x", "d", "y"]}
    >>> first = rk.evaluate(qrels, run, "nDCG@2", keep=2).worst("nDCG@2", n=1)[0]
    >>> first.query, first.top[0], first.missed[0]
    ('q2', TopItem(rank=1, item='x', grade=None), MissedItem(item='c', grade=2.0, rank=None))
    """  # noqa: E501 - what Python prints

    metric: str
    name: str
    queries: tuple[WorstQuery, ...]
    n_queries: int
    keep: int
    unit: str = QUERY

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, ready for JSON."""
        return {
            "metric": self.metric,
            "keep": self.keep or None,
            "queries": [query.to_dict() for query in self.queries],
        }

    def __str__(self) -> str:
        """Return the queries as text."""
        from rankine._report.text import worst_text  # noqa: PLC0415

        return worst_text(self)

    def _repr_html_(self) -> str:
        from rankine._report.text import worst_html  # noqa: PLC0415

        return worst_html(self)


def plain(value: Any) -> Any:
    """Turn a NumPy number into a Python number."""
    return value.item() if isinstance(value, np.generic) else value


def check_worst(metric: Metric, unit: str = QUERY) -> None:
    """Refuse metrics that have no worst queries, or no known items."""
    if metric.fact.summary == "run":
        msg = (
            f"{metric} is one number for all {plural(unit)}, so no {unit} is the worst"
        )
    elif isinstance(metric, ListMetric):
        msg = (
            f"{metric} looks at whole lists, not at judged items that could be missed; "
            "its values are in per_query"
        )
    elif metric.higher_is_better is None:
        msg = (
            f"{metric} has no direction: neither larger nor smaller is better, so no "
            f"{unit} is the worst"
        )
    else:
        return
    raise ParameterError(msg)


def worst_of(evaluation: Evaluation, label: str, n: int) -> Worst:
    """Return the queries on which a metric is worst; see `Evaluation.worst`."""
    check_count("n", n, least=1)
    bound, table = table_of(evaluation, label)
    check_worst(bound, evaluation.unit)
    values = evaluation.summaries[label].values
    rows = chosen(bound, values, n)
    trail = _trail(evaluation, table, rows)
    ids = [table.ids[int(row)] for row in rows]
    queries = worst_queries(bound, ids, values[rows], trail)
    n_known = int(np.count_nonzero(~np.isnan(values)))
    name, unit = evaluation.name, evaluation.unit
    return Worst(label, name, queries, n_known, trail.keep, unit)


def table_of(evaluation: Evaluation, label: str) -> tuple[Metric, Any]:
    """Return a metric as computed, and the table it was computed from."""
    plan, tables = evaluation.plan, evaluation.tables
    number = plan.labels.index(label)
    for group, table in zip(plan.groups, tables, strict=True):
        if any(member == number for member, _, _ in group.members):
            return plan.bound[number], table
    raise KeyError(label)


def first_items(
    evaluation: Evaluation, label: str, queries: Sequence[Any]
) -> list[tuple[TopItem, ...]]:
    """Return the first items of the lists of some queries, as far as they are known."""
    records = records_of(evaluation, label, queries)
    return [() if record is None else record.top for record in records]


def records_of(
    evaluation: Evaluation, label: str, queries: Sequence[Any]
) -> list[WorstQuery | None]:
    """Return the items of some queries, without values; None where none are known."""
    bound, table = table_of(evaluation, label)
    known = isinstance(table, Aligned) or getattr(table, "trail", None) is not None
    if not known:
        return [None] * len(queries)
    rows = {str(query): row for row, query in enumerate(table.ids)}
    places = [rows.get(str(query)) for query in queries]
    listed = np.array([row for row in places if row is not None], dtype=np.int64)
    values = np.zeros(len(listed))
    records = iter(
        worst_queries(
            bound, [table.ids[int(row)] for row in listed], values,
            _trail(evaluation, table, listed),
        )
    )  # fmt: skip
    return [None if row is None else next(records) for row in places]


def n_kept(evaluation: Evaluation, label: str) -> int:
    """Return how many first items of each list were kept, 0 if none were."""
    _, table = table_of(evaluation, label)
    held = getattr(table, "trail", None) if isinstance(table, Stored) else table
    return int(getattr(held, "keep", 0))


def _trail(evaluation: Evaluation, table: Any, queries: Ints) -> Trail:
    """Return what is kept of the items of some queries."""
    if isinstance(table, Stored) and table.trail is not None:
        return table.trail.of(queries)
    if isinstance(table, Aligned):
        return trail_of(table, queries)
    kept = evaluation.without_items
    msg = f"{type(evaluation).__name__} {kept}; its values are in per_query"
    raise ParameterError(msg)


def chosen(metric: Metric, values: Floats, n: int) -> Ints:
    """Return the queries with the n worst values; equal ones in their order.

    Queries without a value are left out.
    """
    known = np.flatnonzero(~np.isnan(values))
    worse = values[known] if metric.higher_is_better else -values[known]
    return known[np.argsort(worse, kind="stable")[:n]]


def worst_queries(
    metric: Metric, ids: Sequence[Any], values: Floats, trail: Trail
) -> tuple[WorstQuery, ...]:
    """Return the records of some queries, given their ids, values and items."""
    records = []
    shown = trail.keep or TOP
    limit = metric.depth or shown
    least = least_relevant(metric)
    bounds = trail.starts.tolist()
    for number, (query, value) in enumerate(zip(ids, values.tolist(), strict=True)):
        part = slice(bounds[number], bounds[number + 1])
        items, grades = trail.items[part], trail.grades[part].tolist()
        ranks = trail.ranks[part].tolist()
        judged = list(zip(items, grades, ranks, strict=True))
        if trail.tops is None:
            first = ((rank, item, grade) for item, grade, rank in judged if rank)
            inside = (TopItem(*row) for row in first if row[0] <= shown)
            top = sorted(inside, key=attrgetter("rank"))
        else:
            top = _graded(trail.tops[number], dict(zip(items, grades, strict=True)))
        missed = [
            MissedItem(item, grade, rank or None)
            for item, grade, rank in judged
            if grade >= least and not 0 < rank <= limit
        ]
        missed.sort(key=lambda item: (-item.grade, item.rank or np.inf))
        looked = int(trail.looked[number]) or None
        records.append(WorstQuery(query, value, tuple(top), tuple(missed), looked))
    return tuple(records)


def _graded(top: list[tuple[int, Any]], grades: dict[Any, float]) -> list[TopItem]:
    """Add grades to the first items of a list; ids may be text on one side only."""
    texts = {str(item): grade for item, grade in grades.items()}
    return [
        TopItem(rank, item, grades.get(item, texts.get(str(item))))
        for rank, item in top
    ]
