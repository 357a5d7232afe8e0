"""The interface of pytrec_eval-terrier: mappings in, a dict of values per query out."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rankine._base.checks import check_count
from rankine._conventions.presets import convention
from rankine._evaluate.plan import plan_of
from rankine._io import source_of
from rankine._join.judgements import truth_of
from rankine._join.matching import match
from rankine._metrics.trec_names import (
    FAMILIES,
    GROUPED,
    GROUPED_NICKNAMES,
    NICKNAMES,
)
from rankine._report.trec import lines_of, metrics_of
from rankine._stats.intervals import FLOOR
from rankine._tables.joined import apply
from rankine.errors import (
    DataError,
    DuplicateItemError,
    FormatError,
    ParameterError,
    UnknownMetricError,
    nearest,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from rankine._base.arrays import Floats
    from rankine._evaluate.plan import Plan
    from rankine._metrics.metric import Metric
    from rankine._report.trec import MeasureLine
    from rankine._tables.order import Order

_VERSION = 9
"""The version of trec_eval inside pytrec_eval."""
_ASKED = re.compile(r"(.+?)[._](\d+(?:\.\d+)?(?:,\d+(?:\.\d+)?)*)")

supported_measures = {"runid", "relstring"} | {
    name for name, family in FAMILIES.items() if family.since <= _VERSION
}
supported_nicknames = {
    **{name: {"runid", *own} & supported_measures for name, own in NICKNAMES.items()},
    **{name: {"runid", *own} for name, own in GROUPED_NICKNAMES.items()},
}
supported_nicknames["all_trec"].add("relstring")


class RelevanceEvaluator:
    """Evaluates runs against judgements, with the numbers of pytrec_eval.

    It takes what pytrec_eval takes, and also ids that are ints, other mappings than
    dicts, and numbers of NumPy.

    Args:
        query_relevance: {query: {item: grade}}, with whole grades; they are copied, and
            queries without any are left out.
        measures: names of measures, with parameters or without (``ndcg_cut_10``,
            ``P.5,10``), and nicknames.
        relevance_level: the smallest relevant grade.
        judged_docs_only_flag: leave unjudged items out of the lists.

    Raises:
        UsageError: no measure has that name, or it has other parameters.
        DataError: the judgements cannot be used.

    >>> from rankine.compat import pytrec_eval
    >>> evaluator = pytrec_eval.RelevanceEvaluator({"q": {"a": 1}}, {"map", "P_5"})
    >>> evaluator.evaluate({"q": {"b": 2.0, "a": 1.0}})
    {'q': {'map': 0.5, 'P_5': 0.2}}
    """

    def __init__(
        self,
        query_relevance: Mapping[Any, Mapping[Any, int]],
        measures: Iterable[str],
        relevance_level: int = 1,
        judged_docs_only_flag: bool | int = False,  # noqa: FBT001, FBT002 - theirs
    ) -> None:
        check_count("relevance_level", relevance_level, least=1)
        self._asked = _asked(
            tuple(_combined(measures)), relevance_level, bool(judged_docs_only_flag)
        )
        judged = {query: dict(own) for query, own in query_relevance.items() if own}
        self._truth = truth_of(judged, part=True)
        if not self._truth.pool.is_whole():
            msg = "the grades have fractions; pytrec_eval takes whole grades only"
            raise DataError(msg)

    def evaluate(
        self, scores: Mapping[Any, Mapping[Any, float]]
    ) -> dict[Any, dict[str, float]]:
        """Return the value of each measure, for each query of the run that is judged.

        Values are those of trec_eval 9, which compares scores as float32. Of `gm_map`
        and `gm_bpref`, they are the logarithms that `compute_aggregated_measure`
        averages; of ``runid`` and ``relstring``, 0.

        Args:
            scores: {query: {item: score}}.

        Returns:
            {query: {name: value}}, in the order of the run.

        Raises:
            DataError: the run cannot be used.
        """
        if not scores or self._truth.source.is_empty:
            return {}
        plan, orders, metrics = self._asked
        joined = match(self._truth, source_of(scores, part=True), orders)
        ids: Any = ()
        found: dict[Metric | None, Floats] = {}
        for group, order in zip(plan.judged, plan.orders, strict=True):
            aligned = apply(joined[order], group.rule, partial=True)
            ids = aligned.ids
            for number, metric, _ in group.members:
                values = metric.values(aligned.table)
                if metric.summary == "geometric":
                    values = np.log(np.fmax(values, FLOOR))
                found[plan.asked[number]] = values
        found[None] = np.zeros(len(ids))
        columns = [found[metric] for metric in metrics.values()]
        rows = np.array(columns).reshape(len(columns), len(ids))
        rows[np.isnan(rows)] = 0
        of_query = dict(zip(map(str, ids), rows.T.tolist(), strict=True))
        return {
            query: dict(zip(metrics, of_query[str(query)], strict=True))
            for query in scores
            if str(query) in of_query
        }


class _Asked(NamedTuple):
    """What is computed, by names.

    Attributes:
        plan: the metrics, under the convention.
        orders: the orders of items that they need, as `match` takes them.
        metrics: the metric behind each name, None for words.
    """

    plan: Plan
    orders: dict[Order, bool]
    metrics: dict[str, Metric | None]


@lru_cache(maxsize=64)
def _asked(measures: tuple[str, ...], level: int, judged_only: bool) -> _Asked:  # noqa: FBT001 - one of a key
    """Plan what is computed; programs ask for the same again and again."""
    rule = convention("pytrec_eval")
    if judged_only:
        rule = rule.replace(unjudged="removed")
    lines = lines_of(measures, _VERSION)
    plan = plan_of(tuple(metrics_of(lines)), rule, None, level, None)
    orders: dict[Order, bool] = {}
    for group, order in zip(plan.judged, plan.orders, strict=True):
        orders[order] = orders.get(order, False) or group.keep_scores
    return _Asked(plan, orders, {_key_of(line): line.metric for line in lines})


def _key_of(line: MeasureLine) -> str:
    """Return the name of a value: with its cutoff, but with no other parameter."""
    if line.family is not None and not line.family.cutoffs:
        return line.family.name
    return "relstring" if line.length else line.name


def _combined(measures: Iterable[str]) -> list[str]:
    """Return measures as trec_eval takes them: each once, with all its parameters.

    Those of a measure that is asked for several times are put together, in the order of
    their text; its defaults count only if there are no others.
    """
    if isinstance(measures, str):
        msg = f"measures are a set of names, got {measures!r}; write {{{measures!r}}}"
        raise ParameterError(msg)
    asked: dict[str, set[str]] = defaultdict(set)
    for measure in measures:
        for name in supported_nicknames.get(measure, (measure,)):
            there = _ASKED.fullmatch(name)
            if name not in supported_measures and there is not None:
                name, params = there.groups()  # noqa: PLW2901
                asked[name].update(params.split(","))
            if name not in supported_measures:
                raise _unknown(measure, name)
            asked[name].update()
    return [
        f"{name}.{','.join(sorted(own))}" if own else name
        for name, own in asked.items()
    ]


def _unknown(measure: str, name: str) -> UnknownMetricError:
    if name in GROUPED:
        msg = f"{name} needs {GROUPED[name].judged}; here, an item has one grade"
        return UnknownMetricError(msg)
    known = {*supported_measures, *supported_nicknames}
    return UnknownMetricError(f"unsupported measure {measure}{nearest(measure, known)}")


def parse_run(f_run: Iterable[str]) -> dict[str, dict[str, float]]:
    """Read the lines of a run in TREC format.

    >>> from rankine.compat.pytrec_eval import parse_run
    >>> parse_run(["q1 Q0 d1 1 2.5 mine"])["q1"]
    {'d1': 2.5}
    """
    return _parsed(f_run, 6, 4, float)


def parse_qrel(f_qrel: Iterable[str]) -> dict[str, dict[str, int]]:
    """Read the lines of judgements in TREC format.

    >>> from rankine.compat.pytrec_eval import parse_qrel
    >>> parse_qrel(["q1 0 d1 1"])["q1"]
    {'d1': 1}
    """
    return _parsed(f_qrel, 4, 3, int)


def _parsed(
    lines: Iterable[str], n_fields: int, place: int, kind: Callable[[str], Any]
) -> dict[str, dict[str, Any]]:
    """Return the values at one place of each line, by query and item."""
    found: dict[str, dict[str, Any]] = defaultdict(dict)
    for number, line in enumerate(lines, 1):
        fields = line.split()
        if len(fields) != n_fields:
            msg = f"line {number}: expected {n_fields} fields, got {len(fields)}"
            raise FormatError(msg)
        query, _, item = fields[:3]
        if item in found[query]:
            msg = f"line {number}: item {item!r} appears twice for query {query!r}"
            raise DuplicateItemError(msg)
        try:
            found[query][item] = kind(fields[place])
        except ValueError:
            what = "a whole number" if kind is int else "a number"
            msg = f"line {number}: {fields[place]!r} is not {what}"
            raise FormatError(msg) from None
    return found


def compute_aggregated_measure(measure: str, values: Sequence[float]) -> float:
    """Return what values of queries amount to: counts are added, others averaged.

    Values of ``gm_map`` and ``gm_bpref`` are logarithms, and the result is a geometric
    mean.

    >>> from rankine.compat.pytrec_eval import compute_aggregated_measure
    >>> compute_aggregated_measure("num_rel", [2.0, 1.0])
    3.0
    >>> compute_aggregated_measure("map", [0.5, 1.0])
    0.75
    """
    if measure.startswith("num_"):
        return float(np.sum(values))
    if len(values) == 0:
        return math.nan
    if measure.startswith("gm_"):
        return float(np.exp(np.sum(values) / len(values)))
    return float(np.mean(values))
