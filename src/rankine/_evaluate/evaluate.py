"""evaluate: one number per query and metric, from judgements, a run and metrics."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from os import PathLike
from typing import TYPE_CHECKING, Any

from rankine._base.checks import check_count
from rankine._base.contradiction import NO_CONTRADICTION
from rankine._base.records import cached_property
from rankine._conventions.convention import BY_RANK
from rankine._conventions.presets import convention as named
from rankine._evaluate.engine import evaluate_source
from rankine._evaluate.memory import at_once, limit_of, watched
from rankine._evaluate.options import Options
from rankine._evaluate.plan import check_needs, plan_of
from rankine._io import open_table, source_of
from rankine._io.frames import is_frame
from rankine._io.items import read_features
from rankine._io.itself import refuse_itself
from rankine._io.sources import PLAIN, Rows, Stream, noted
from rankine._join.judgements import truth_of
from rankine._join.side_data import (
    NOTHING,
    SideData,
    catalog_of,
    reference_of,
    train_of,
)
from rankine._join.weights import Weights, read_weights
from rankine._metrics.metric import Metric
from rankine.errors import MetricSyntaxError

if TYPE_CHECKING:
    from collections.abc import Callable

    import polars as pl

    from rankine._conventions.convention import Convention
    from rankine._evaluate.plan import Plan
    from rankine._evaluate.result import Evaluation
    from rankine._io.sources import Reading, Source
    from rankine._join.judgements import Truth

_PATHS = (str, PathLike)
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
    reference: Any = None,
    weights: Any = None,
    columns: Mapping[str, Any] | None = None,
    grades: Mapping[Any, float] | None = None,
    depth: int | None = None,
    name: str | None = None,
    order: str | None = None,
    lower_is_better: bool = False,
    lenient: bool = False,
    collapse: str | Mapping[Any, Any] | None = None,
    keep: int | None = None,
    engine: str = "auto",
    memory_limit: int | str | None = None,
) -> Evaluation:
    """Evaluate a run against judgements.

    Args:
        qrels: the judgements: a path, {query: {item: grade}}, {query: {items}}, a
            frame, a sparse matrix, `from_scores`, the result of `read_qrels`, or the
            judgements of another library; None if no metric needs them.
        run: the retrieved items: a path, {query: {item: score}}, {query: [items in
            order]}, a frame, a sparse matrix, `from_scores`, `from_ranked`, an
            iterator of frames or record batches, the result of `read_run`, or the
            results of another library, as in {query: documents}.
        metrics: names or metrics.
        convention: whose choices the numbers follow.
        ties: ``average``, ``best`` or ``worst`` order of tied items, instead of the
            convention's order.
        rel: the smallest relevant grade, instead of the convention's. Graded metrics
            such as nDCG still use all grades, as a note says.
        catalog: number of items in the catalogue, or the items, for the metrics that
            need it.
        items: what is known about items, for the metrics that need it: {item: numbers},
            {item: topics}, a frame or a file with a column of items, a matrix whose row
            i is item i, or a function that returns the distance between two items.
        train: the interactions that users had before, in any form that judgements may
            have.
        reference: the lists of another recommender, for the metrics that compare with
            them, in any form that a run may have.
        weights: how much each query counts in means and intervals, such as its traffic:
            {query: weight}, or a frame or file with a column of queries and one of
            weights. Every query needs one; 0 leaves it out.
        columns: which column is what, as {"query": "userID", "item": ..., "grade": ...,
            "score": ...}; recognised by their names if not given. "run.item" is for the
            run only, and likewise with "qrels.", "train.", "reference.", "items." and
            "weights."; "features" selects columns of items=, if not all are to be used.
        grades: what each grade in words is worth, as {"Viewed": 0, "Clicked": 1}.
        depth: use only the first items of each list, as trec_eval's ``-M`` does.
        name: what to call the run.
        order: what the ranking follows, instead of what the convention says:
            ``score``, ``rank`` (a rank column, even if there are scores),
            ``rank_value`` (the same, but its numbers are the ranks) or ``given``.
        lower_is_better: scores are distances, the smallest first.
        lenient: drop rows without an id and repeated items, rank scores that are nan
            last, and count them in the notes, instead of refusing them.
        collapse: the document of each chunk, if a run has chunks and judgements name
            documents: {chunk: document}; a separator, such as ``#`` if chunk 3 of d1
            is called d1#3; a pattern with one group, such as ``(.*)_p[0-9]+``; or the
            column of the run that has documents. A document stands where its best
            chunk does, and a note counts the others.
        keep: how many first items of each list to keep, so that `Evaluation.worst` also
            shows unjudged items, and the ranks of all judged ones.
        engine: how the run is read: ``memory``, at once; ``stream``, in parts, so that
            it may be larger than memory, with rows in any order; or ``auto``, in parts
            if it would not fit, as a note then says. Numbers are the same.
        memory_limit: the memory that the process may use while the run is read in
            parts, as ``"1GB"`` or a number of bytes; half of what is free if not given.

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
    options = Options(
        convention=convention,
        ties=ties,
        rel=rel,
        catalog=catalog,
        items=items,
        train=train,
        reference=reference,
        weights=weights,
        columns=columns,
        grades=grades,
        depth=depth,
        name=name,
        order=order,
        lower_is_better=lower_is_better,
        lenient=lenient,
        collapse=collapse,
        keep=keep,
        engine=engine,
        memory_limit=memory_limit,
    )
    job = prepare(metrics, options)
    job.check(judged=qrels is not None)
    truth = job.truth(qrels, run)
    _ = job.side_data, job.weights  # before the run, which may be large
    return job.evaluate(truth, job.source(run))


@dataclass(eq=False)
class Job:
    """A plan, with the data for it; see `prepare`.

    Attributes:
        plan: the metrics to compute, and how.
        options: the options given by the user.
        catalog: the number of items in the catalogue, or the items, if given.
        given: the names of the arguments that were given, as in `Options`.
        of_qrels, of_run: how to read judgements and runs.
        partial: whether data come in parts, so that one part may be empty or lack what
            the metrics need of all data.
        tell: called with judgements and runs when they are read.
        progress: called with the name of a run that is read in parts, how many rows
            were read, and about how many there are.
    """

    plan: Plan
    options: Options
    catalog: int | pl.Series | None
    given: frozenset[str]
    of_qrels: Reading
    of_run: Reading
    partial: bool = False
    tell: Callable[[Source], object] | None = None
    progress: Callable[[str, int, int | None], object] | None = None

    @cached_property
    def side_data(self) -> SideData:
        """The further data on items and users, read once."""
        options = self.options
        train, items, features = options.train, options.items, None
        if train is items is options.catalog is options.reference is None:
            return NOTHING
        if items is not None:
            how = options.reading("items")
            if how is not PLAIN and (is_frame(items) or isinstance(items, _PATHS)):
                items = open_table(items, "items", how)
            columns, lenient = options.of_items, options.lenient
            features = read_features(items, columns, lenient=lenient)
        rows = None if train is None else train_of(train, options.reading("train"))
        return SideData(
            rows,
            features,
            self.catalog,
            reference=self.reference,
            trained=rows is not None,
        )

    @cached_property
    def reference(self) -> Source | None:
        """The lists of another recommender, read once."""
        options = self.options
        if options.reference is None:
            return None
        how = options.reading("reference", by_rank=self.of_run.by_rank)
        return reference_of(options.reference, how, options.order)

    @cached_property
    def weights(self) -> Weights | None:
        """How much each query counts, read once."""
        data = self.options.weights
        if data is None:
            return None
        columns = self.options.columns
        shared = columns.get("query") if isinstance(columns, Mapping) else None
        return read_weights(data, self.options.reading("weights"), shared)

    def check(self, *, judged: bool = True) -> None:
        """Refuse metrics that lack what they need."""
        if judged and not self.plan.of_lists:
            return
        check_needs(self.plan, self.given | {"qrels"} if judged else self.given)

    def in_parts(self, plan: Plan) -> Job:
        """Return the same job for data that come in parts, by a plan for a part.

        Of all other data, it keeps only what the metrics need, already read.
        """
        read = replace(
            self.options,
            catalog=None,
            items=None,
            train=None,
            reference=None,
            weights=None,
        )
        job = replace(self, plan=plan, options=read, partial=True)
        job.side_data, job.weights = self.side_data.kept(plan.needs), self.weights
        return job

    def truth(self, qrels: Any, *runs: Any) -> Truth | None:
        """Read judgements, if there are any; refuse a run that is the same data."""
        if qrels is None:
            return None
        for run in runs:
            refuse_itself(qrels, run, self.of_qrels, self.of_run)
        truth = truth_of(qrels, self.of_qrels, part=self.partial)
        if self.tell is not None:
            self.tell(truth.source)
        return truth

    def source(self, run: Any) -> Source:
        """Read a run."""
        limit: int | None = None
        said: tuple[str, ...] = ()
        options, how = self.options, self.of_run
        if not self.partial:
            limit, said = limit_of(run, options.engine, options.memory_limit)
        if limit is not None:
            how = replace(how, memory=limit)
        source = source_of(run, how, options.order, part=self.partial)
        if options.order is not None and isinstance(source, (Rows, Stream)):
            source = replace(source, contradiction=NO_CONTRADICTION)  # as chosen
        if isinstance(source, Stream) and limit is not None:
            source = replace(noted(source, said), memory=limit, memo={})
            if self.progress is not None:
                source = watched(source, self.progress)
        elif isinstance(source, Rows) and limit is not None:
            source = noted(source, at_once(run, source.kind))
        if self.tell is not None:
            self.tell(source)
        return source

    def evaluate(
        self,
        truth: Truth | None,
        source: Source,
        name: str | None = None,
        cache: dict[Any, Any] | None = None,
    ) -> Evaluation:
        """Evaluate a run against judgements, if there are any.

        Joined tables are kept in `cache`, for further jobs on the same data.
        """
        options = self.options
        evaluation = evaluate_source(
            self.plan,
            truth,
            source,
            name or options.name or source.name,
            depth=options.depth,
            cache=cache,
            side_data=self.side_data,
            keep=options.keep,
            weights=self.weights,
            partial=self.partial,
        )
        evaluation.weights = self.weights  # they decide which users count as missing
        return evaluation


def prepare(metrics: Any, options: Options) -> Job:
    """Check everything that can be checked without data."""
    asked = _listed(metrics)
    options.check()
    convention, catalog = options.convention, None
    if not isinstance(convention, str):
        convention = named(convention)
    if options.catalog is not None:
        catalog = catalog_of(options.catalog)
    size = catalog if catalog is None or isinstance(catalog, int) else len(catalog)
    if size is not None:
        check_count("catalog", size, least=1)
    if options.order is not None:
        convention = named(convention).replace(order=options.order)
    plan = plan_of(asked, convention, options.ties, options.rel, size)
    if options.weights is not None:
        plan = replace(plan, weighted=True)
    of_run = options.reading("run", by_rank=plan.rule.order in BY_RANK)
    if of_run.collapse is not None and plan.rule.order == "given":
        # Scores do not decide where a document stands.
        of_run = replace(of_run, collapse=replace(of_run.collapse, first=True))
    return Job(
        plan,
        options,
        catalog,
        options.given,
        options.reading("qrels", subtopics=plan.subtopics),
        of_run,
    )


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
            msg = f"a metric must be a name or a Metric, got {entry!r}"
            raise MetricSyntaxError(msg)
    return listed
