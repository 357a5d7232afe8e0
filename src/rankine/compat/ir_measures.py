"""A provider for ir_measures: its measures stay, and rankine computes them.

    import ir_measures
    from rankine.compat.ir_measures import measure, register

    register()
    ir_measures.calc_aggregate([ir_measures.nDCG @ 10], qrels, run)
    ir_measures.calc_aggregate([measure("nDCG@10", ties="average")], qrels, run)

Numbers are those of the convention ``ir_measures``.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import polars as pl

from rankine._base.forks import need_threads
from rankine._conventions.presets import convention
from rankine._conventions.tools import TOOLS
from rankine._evaluate.evaluate import evaluate
from rankine._metrics.names import parse
from rankine._runs.views import read_qrels, read_run
from rankine.errors import MissingExtraError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rankine._conventions.convention import Convention
    from rankine._metrics.metric import Metric
    from rankine._runs.views import Qrels

__all__ = ["measure", "register"]

_CONVENTION = "ir_measures"
_NAME = "rankine"
_OURS = {theirs: ours for ours, theirs in (TOOLS[_CONVENTION].calls or {}).items()}
_PARAMETERS = {
    "cutoff": "k", "max_rel": "max_grade", "min_rel": "min_grade", "gains": "gain",
}  # fmt: skip
_GAINS = {"log2": "linear", "exp-log2": "exponential"}
_COLUMNS = {"query": "query_id", "item": "doc_id"}


def register() -> None:
    """Put rankine first among the providers of ir_measures.

    Its functions and measures, and so `pyterrier.Experiment`, then use it for all
    measures that rankine has. Calling it again changes nothing.

    Raises:
        MissingExtraError: ir_measures is not installed.
    """
    ir_measures = _library()
    providers = ir_measures.DefaultPipeline.providers
    if all(provider.NAME != _NAME for provider in providers):
        providers.insert(0, ir_measures.providers.register(_provider_of(ir_measures)()))


def measure(metric: str | Metric, name: str | None = None, **options: Any) -> Any:
    """Return a metric of rankine as a measure of ir_measures.

    Args:
        metric: the metric, with a value for each query.
        name: what to call the measure; the metric and the options if not given.
        options: those of `rankine.evaluate`, such as ``ties="average"``; the convention
            is ``ir_measures`` unless another is given.

    Returns:
        The measure. It needs no `register`.

    Raises:
        MissingExtraError: ir_measures is not installed.
    """
    ir_measures = _library()
    bound = parse(metric) if isinstance(metric, str) else metric
    words = ",".join(f"{key}={value!r}" for key, value in options.items())
    how = {"convention": _CONVENTION} | options

    def values(qrels: Any, run: Any) -> Iterator[tuple[Any, float]]:
        truth = read_qrels(qrels, columns=_COLUMNS | {"grade": "relevance"})
        judged = set(qrels["query_id"])
        for query, _, value in _values(truth, judged, run, {None: bound}, **how):
            yield query, value

    called = name or (f"{bound}[{words}]" if words else str(bound))
    return ir_measures.define(values, called, support_cutoff=False)


def _library() -> Any:
    try:
        import ir_measures  # noqa: PLC0415 - an optional package
    except ImportError:
        msg = "ir_measures is not installed; pip install ir-measures"
        raise MissingExtraError(msg) from None
    return ir_measures


def metric_of(measure: Any, missing: object) -> Metric:
    """Return the metric that a measure of ir_measures is.

    Args:
        measure: the measure.
        missing: what a parameter without a value is.
    """
    given = {key: measure[key] for key in measure.SUPPORTED_PARAMS}
    given = {key: value for key, value in given.items() if value is not missing}
    given.pop("judged_only", None)
    name = measure.NAME
    if given.pop("relative", False):
        name = "SetRelP"
    if name == "NumRet" and "rel" in given:
        name = "NumRelRet"
    dcg = given.pop("dcg", None)
    if dcg is not None:
        given.setdefault("gains", _GAINS[dcg])
    bound = {_PARAMETERS.get(key, key): value for key, value in given.items()}
    return parse(_OURS[name])(**bound)


def _groups(
    measures: Iterable[Any], missing: object
) -> dict[tuple[bool, bool], dict[Any, Metric]]:
    """Put measures together that need the same data.

    Those without unjudged documents are apart, and so are those of subtopics.
    """
    groups: dict[tuple[bool, bool], dict[Any, Metric]] = {}
    for own in measures:
        metric = metric_of(own, missing)
        key = bool(own.params.get("judged_only")), "subtopics" in metric.needs
        groups.setdefault(key, {})[own] = metric
    return groups


@cache
def _rule(*, removed: bool) -> Convention:
    """Return the convention, with unjudged documents or without."""
    rule = convention(_CONVENTION).replace(duplicates="last")  # as in a dict
    return rule.replace(unjudged="removed") if removed else rule


@cache
def _provider_of(ir_measures: Any) -> Any:
    """Return the class of the provider, which is one of ir_measures."""
    base: Any = ir_measures.providers.base
    missing = base.NOT_PROVIDED

    class RankineEvaluator(base.Evaluator):  # type: ignore[misc]
        """Computes measures on the same judgements, run by run."""

        def __init__(self, measures: Iterable[Any], qrels: Any) -> None:
            kept, again = ir_measures.util.QrelsConverter(qrels).tee(2)
            judged = kept.as_dict_of_dict()
            super().__init__(list(measures), set(judged))
            self.groups: list[tuple[Qrels, Any, dict[Any, Metric]]] = []
            for (removed, by_topic), group in _groups(self.measures, missing).items():
                if any(judged.values()):
                    rows = again.as_namedtuple_iter() if by_topic else None
                    truth = read_qrels(judged) if rows is None else _by_topic(rows)
                    self.groups.append((truth, _rule(removed=removed), group))

        def iter_calc(self, run: Any) -> Iterator[Any]:
            """Go through all values; judged queries without a list have the default.

            As in ir_measures, these do not count if there is nothing but accuracy.
            """
            alone = all(own.NAME == "Accuracy" for own in self.measures)
            return self._iter_calc(run) if alone else super().iter_calc(run)

        def _iter_calc(self, run: Any) -> Iterator[Any]:
            converted = ir_measures.util.RunConverter(run)
            kind, _ = converted.predict_type()
            framed = kind == "pd_dataframe"
            lists = run if framed else converted.as_dict_of_dict()
            for qrels, how, group in self.groups:
                for query, own, value in _values(
                    qrels, self.qrel_qids, lists, group, convention=how
                ):
                    yield ir_measures.Metric(query, own, value)

    class RankineProvider(base.Provider):  # type: ignore[misc]
        """Computes measures with rankine."""

        NAME = _NAME
        SUPPORTED_MEASURES = _supported(ir_measures)

        def supports(self, measure: Any) -> bool:
            """Say whether it has a measure; a user's own may have any name."""
            own = hasattr(measure, "runtime_impl")
            return not own and bool(super().supports(measure))

        def _evaluator(self, measures: Iterable[Any], qrels: Any) -> Any:
            return RankineEvaluator(measures, qrels)

    return RankineProvider


def _supported(ir_measures: Any) -> list[Any]:
    """Return the measures that rankine has, with all of their parameters."""
    specs = ir_measures.providers.base
    kinds = {type(ir_measures.measures.registry[name]) for name in _OURS}
    every = []
    for kind in sorted(kinds, key=lambda kind: str(kind.NAME)):
        spec = {
            key: specs.Any(required=info.required)
            for key, info in kind.SUPPORTED_PARAMS.items()
        }
        if kind.NAME == "RBP":  # of grades, ir_measures does not say what it is
            spec["rel"] = specs.Any(required=True)
        every.append(kind(**spec))
    return every


def _by_topic(rows: Iterable[Any]) -> Qrels:
    """Read judgements with their subtopics, which ir_measures calls iterations."""
    need_threads()
    names = ("query_id", "doc_id", "relevance", "iteration")
    listed = [tuple(getattr(row, name, "0") for name in names) for row in rows]
    columns = ["query", "item", "grade", "subtopic"]
    return read_qrels(pl.DataFrame(listed, columns, orient="row"))


def _values(
    qrels: Qrels, judged: set[Any], run: Any, asked: dict[Any, Metric], **options: Any
) -> Iterator[tuple[Any, Any, float]]:
    """Go through the query, the key and the value of each metric.

    Args:
        qrels: the judgements.
        judged: their queries; without one that the run has, there are no values.
        run: {query: {document: score}}, or a frame of pandas.
        asked: the metrics, by keys.
        options: those of `evaluate`.
    """
    if isinstance(run, dict):
        shared = not judged.isdisjoint(run) and any(run.values())
    else:
        shared = not judged.isdisjoint(run["query_id"])
        run = read_run(run, columns=_COLUMNS | {"score": "score"})
    if not shared:
        return
    found = evaluate(qrels, run, dict.fromkeys(map(str, asked.values())), **options)
    table = found.per_query
    queries = table["query"].to_list()
    for key, metric in asked.items():
        for query, value in zip(queries, table[str(metric)].to_list(), strict=True):
            if value is not None:
                yield query, key, value
