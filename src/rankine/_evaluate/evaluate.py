"""evaluate: judgements, a run and metrics in; one number per query and metric out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING, Any

from rankine._base.checks import check_choice, check_k
from rankine._conventions.convention import BY_RANK
from rankine._conventions.presets import convention as named
from rankine._evaluate.engine import evaluate_source
from rankine._evaluate.inputs import source_of, train_of, truth_of
from rankine._evaluate.plan import Plan, check_needs, check_options, plan_of
from rankine._io.frames import is_frame
from rankine._io.items import read_features
from rankine._io.mappings import as_rows
from rankine._io.options import PLAIN, Reading
from rankine._io.sources import Stream
from rankine._join.known import Known, catalog_of
from rankine._metrics.lists.kind import ListMetric
from rankine._metrics.metric import Metric
from rankine.errors import MetricSyntaxError, ParameterError

if TYPE_CHECKING:
    from rankine._conventions.convention import Convention
    from rankine._evaluate.result import Evaluation
    from rankine._io.sources import Source
    from rankine._join.truth import Truth

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
    keep: int | None = None,
) -> Evaluation:
    """Evaluate a run against judgements.

    Args:
        qrels: the judgements: a path, {query: {item: grade}}, {query: {items}}, a
            frame, a sparse matrix, `from_scores`, or what `read_qrels` returns; None if
            no metric needs them.
        run: the retrieved items: a path, {query: {item: score}}, {query: [items in
            order]}, a frame, a sparse matrix, `from_scores`, `from_ranked`, or what
            `read_run` returns.
        metrics: names or metrics.
        convention: whose choices the numbers follow.
        ties: ``average``, ``best`` or ``worst`` order of tied items, instead of the
            convention's order.
        rel: the smallest relevant grade, instead of the convention's. Graded metrics
            such as nDCG keep their grades, as a note says.
        catalog: number of items in the catalogue, or the items, for the metrics that
            need it.
        items: what is known of items, for the metrics that need it: {item: numbers},
            {item: topics}, a frame or a file with a column of items, a matrix whose row
            i is item i, or a function that returns the distance between two items.
        train: the interactions that users had before, in any form of judgements.
        columns: which column is what, as {"query": "userID", "item": ..., "grade": ...,
            "score": ...}; recognised by their names if not given. "features" selects
            columns of items=, if not all are to be used.
        grades: what each grade in words is worth, as {"Viewed": 0, "Clicked": 1}.
        depth: use only the first items of each list, as trec_eval's ``-M`` does.
        name: what to call the run.
        order: what the ranking follows, instead of what the convention says:
            ``score``, ``rank`` (a rank column, even if there are scores),
            ``rank_value`` (the same, but its numbers are the ranks) or ``given``.
        lower_is_better: scores are distances, the smallest first.
        lenient: drop rows without an id and repeated items, rank scores that are nan
            last, and count them in the notes, instead of refusing them.
        keep: how many first items of each list to keep, so that `Evaluation.worst`
            shows those that are not judged too, and the ranks of all that are.

    Returns:
        The values of all queries, their means, intervals and notes.

    Raises:
        UsageError: a metric or an option is not valid.
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
        keep=keep,
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
        keep: how many first items of each list to keep.
        partial: whether what is evaluated is a part of the data.
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
    keep: int | None = None
    partial: bool = False

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

    def read(
        self, qrels: Any, run: Any, *, part: bool = False
    ) -> tuple[Truth | None, Source]:
        """Read judgements, if there are any, all that is known, and a run or a part."""
        given = self.given if qrels is None else self.given | {"qrels"}
        check_needs(self.plan, given)
        truth = None if qrels is None else truth_of(qrels, self.of_qrels, part=part)
        _ = self.known  # before the run, which may be large
        source = source_of(run, self.of_run, self.order, part=part)
        if part and isinstance(source, Stream):
            source = as_rows(source, "run")  # to see also who has come in it
        return truth, source

    def evaluate(self, truth: Truth | None, source: Source) -> Evaluation:
        """Evaluate a run against judgements, if there are any."""
        name = self.name or source.name
        return evaluate_source(
            self.plan,
            truth,
            source,
            name,
            depth=self.depth,
            known=self.known,
            keep=self.keep,
            partial=self.partial,
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
    keep: int | None = None,
) -> Job:
    """Check everything that can be checked without data; arguments as in `evaluate`."""
    asked = _listed(metrics)
    check_k(depth, "depth")
    check_k(keep, "keep")
    _check_words(name, lenient=lenient, lower_is_better=lower_is_better)
    if not isinstance(convention, str):
        convention = named(convention)
    known, size = _NOTHING, None
    if catalog is not None:
        known = Known(catalog=catalog_of(catalog))
        size = _size(known.catalog)
    check_options(rel, size, ties)
    if order is not None:
        check_choice("order", order, ("score", "rank", "rank_value", "given"))
        convention = named(convention).replace(order=order)
    plan = plan_of(asked, convention, ties, rel, size)
    by_rank = plan.rule.order in BY_RANK
    of_qrels = of_run = PLAIN
    subtopics = any(
        isinstance(bound, ListMetric) and "subtopics" in bound.needs
        for bound in plan.bound
    )
    every = columns
    if isinstance(columns, Mapping) and "features" in columns:
        every = {**columns, "features": _features(columns["features"], items)}
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
        plan,
        given,
        known,
        train,
        items,
        every,
        of_qrels,
        of_run,
        order,
        depth,
        name,
        keep,
    )


_NOTHING = Known()


def _features(told: Any, items: Any) -> tuple[str, ...]:
    """Check which columns of items= are features: a name, names, or a,b."""
    names = told.split(",") if isinstance(told, str) else told
    plain = isinstance(names, (list, tuple)) and all(
        isinstance(name, str) for name in names
    )
    if not plain or not names:
        msg = f"columns gives 'features' {told!r}; expected one name or several"
        raise ParameterError(msg)
    if not (is_frame(items) or isinstance(items, (str, PathLike))):
        msg = "columns gives 'features', which needs a frame or file in items="
        raise ParameterError(msg)
    return tuple(names)


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
