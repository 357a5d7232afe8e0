"""The plan: what to compute, checked before any data is read.

Here a convention becomes parameters of metrics: data, without names of tools.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from rankine._base.records import cached_property
from rankine._conventions.convention import BY_RANK, FIELDS, WITH_CUTOFF, Convention
from rankine._conventions.presets import convention as named
from rankine._conventions.tools import trec_version
from rankine._metrics.lists.kind import LISTED, WORDS, ListMetric
from rankine._metrics.metric import REGISTRY, Metric
from rankine._metrics.names import each_cutoff, parse_all
from rankine._tables.judged import SPREAD
from rankine._tables.order import Order
from rankine.errors import ParameterError, UsageError, nearest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from collections.abc import Set as AbstractSet

# Fields that decide the table; metrics that agree in them share one.
OF_LISTS = ("order", "tie", "score_bits", "duplicates")
_OF_TABLE = (
    "order", "tie", "score_bits", "duplicates", "score_floor", "unjudged", "pool",
    "negative", "queries", "missing_run",
)  # fmt: skip
_OF_JUDGED_LISTS = ("queries", "threshold")
_OF_MEANS = ("empty_list", "aggregate", "nothing", "decimals")
GIVEN_BY = {
    "judgements": ("qrels",),
    "train": ("train",),
    "train_rows": ("train",),
    "reference": ("reference",),
    "catalog": ("catalog", "train", "items"),
    "users": ("qrels", "train"),
    "vectors": ("items", "distance"),
    "topics": ("items",),
    "subtopics": ("items", "qrels"),
}
"""Data that a metric may need -> the arguments that provide them."""
_BY_THRESHOLD = frozenset({"binary", "exponential_rel"})
"""Gains that need the smallest relevant grade."""


class Member(NamedTuple):
    """A metric of a group.

    Attributes:
        number: its place among the metrics of the user.
        metric: the metric, with parameters filled in from the convention.
        rule: the convention with the overrides for it, which decides its mean.
    """

    number: int
    metric: Metric
    rule: Convention


@dataclass(frozen=True)
class Group:
    """Metrics that are computed on the same table.

    Attributes:
        rule: the convention that decides the table.
        members: the metrics.
        depth: the deepest rank that any of them reads; None if all ranks matter.
        keep_scores: whether one of them reads the scores of all items.
        lists: whether the table has lists, instead of judged items.
    """

    rule: Convention
    members: tuple[Member, ...]
    depth: int | None
    keep_scores: bool
    lists: bool = False

    @property
    def key(self) -> tuple[Any, ...]:
        """What decides the table."""
        return _key_of(self.members[0].metric, self.rule)

    @property
    def users(self) -> str | None:
        """Whose lists metrics of lists read; see `users_of`."""
        return users_of(self.members[0].metric.needs, self.rule)

    @property
    def judged_only(self) -> bool:
        """Whether all of its queries have judgements."""
        _, metric, rule = self.members[0]
        reads = not isinstance(metric, ListMetric) or "judgements" in metric.needs
        return reads and rule_for(metric, rule).queries != "run"


@dataclass(frozen=True)
class Plan:
    """What to compute, checked before any data is read.

    Attributes:
        asked: the metrics as given by the user.
        labels: their names as written by the user, which results show; plans that
            differ only in these are equal.
        bound: the metrics, with parameters filled in from the convention.
        groups: the same, by the table they need.
        rule: the convention.
        untold: the metrics without a given threshold for relevant grades.
        catalog: the number of items in the catalogue, if it was given.
        preset: the name of the convention, if it was given by name.
        rel: the smallest relevant grade, if it was given for all metrics.
        weighted: whether the user gave weights of queries.
    """

    asked: tuple[Metric, ...]
    labels: tuple[str, ...] = field(compare=False)
    bound: tuple[Metric, ...]
    groups: tuple[Group, ...]
    rule: Convention
    untold: tuple[Metric, ...]
    catalog: int | None = None
    preset: str | None = None
    rel: float | None = None
    weighted: bool = False

    @cached_property
    def by_name(self) -> dict[str, str]:
        """The label of each metric by its canonical name."""
        return dict(zip(map(str, self.asked), self.labels, strict=True))

    @cached_property
    def thresholds(self) -> tuple[float, ...]:
        """The smallest relevant grades of metrics without a given threshold."""
        pairs = zip(self.asked, self.bound, strict=True)
        grades = [bound.get("rel") for asked, bound in pairs if asked in self.untold]
        return tuple(sorted({1 if rel is None else rel for rel in grades}))

    @cached_property
    def needs(self) -> frozenset[str]:
        """The data that metrics of lists need besides the lists."""
        of_lists = (bound for bound in self.bound if isinstance(bound, ListMetric))
        return frozenset(need for bound in of_lists for need in bound.needs)

    @cached_property
    def counts_items(self) -> bool:
        """Whether a metric of judged items reads the size of the catalogue."""
        return self.catalog is not None and any(
            "catalog" in metric.needs
            for group in self.judged
            for _, metric, _ in group.members
        )

    @property
    def subtopics(self) -> bool:
        """Whether a metric reads the subtopics of judgements."""
        return "subtopics" in self.needs

    @cached_property
    def takes_order(self) -> bool:
        """Whether a metric takes the order in which the run is given."""
        return any(group.rule.order == "given" for group in self.groups)

    @cached_property
    def of_lists(self) -> bool:
        """Whether a metric reads lists, and may need more than judgements."""
        return len(self.judged) < len(self.groups)

    @cached_property
    def judged(self) -> tuple[Group, ...]:
        """The groups that read judged items."""
        return tuple(group for group in self.groups if not group.lists)

    @cached_property
    def orders(self) -> tuple[Order, ...]:
        """What decides the ranks for each of them, if the run has what it needs."""
        return tuple(Order.of(group.rule, self.rule) for group in self.judged)

    @cached_property
    def depth(self) -> int | None:
        """The deepest rank that any of them reads; None if one reads all."""
        depths = [group.depth for group in self.judged if group.depth is not None]
        return max(depths) if depths and len(depths) == len(self.judged) else None

    def under(self, names: Iterable[str]) -> Plan:
        """Return the plan with other names of metrics as their labels."""
        return replace(self, labels=tuple(names))

    def with_rules(
        self,
        table: Callable[[Convention], Convention] = lambda rule: rule,
        mean: Callable[[Convention], Convention] = lambda rule: rule,
    ) -> Plan:
        """Return the plan with other rules for its tables, and for its means."""
        groups = tuple(
            replace(
                group,
                rule=table(group.rule),
                members=tuple(
                    member._replace(rule=mean(member.rule)) for member in group.members
                ),
            )
            for group in self.groups
        )
        return replace(self, groups=groups)


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
    is_given = rel is not None or rule.threshold != 1
    if ties is not None:
        rule = rule.replace(tie=ties)
    if rel is not None:
        rule = rule.replace(threshold=rel)
    metrics: dict[Metric, str] = {}
    version = trec_version(convention)
    for entry in asked:
        for metric, name in with_names(entry, version):
            metrics.setdefault(metric, name)
    if not metrics:
        msg = "no metrics were asked for; name at least one, such as nDCG@10"
        raise UsageError(msg)
    _check_rule(rule)
    _check_metrics(rule, metrics)
    filled = (_with_catalog(bind(metric, rule), metric, catalog) for metric in metrics)
    bound = tuple(
        full if full is metric else full.called(name)
        for full, (metric, name) in zip(filled, metrics.items(), strict=True)
    )
    groups: dict[tuple[Any, ...], list[Member]] = {}
    for number, metric in enumerate(bound):
        member = Member(number, metric, rule_for(metric, rule))
        groups.setdefault(_key_of(metric, member.rule), []).append(member)
    return Plan(
        tuple(metrics),
        tuple(metrics.values()),
        bound,
        tuple(_group(members) for members in groups.values()),
        rule,
        () if is_given else tuple(m for m in metrics if _needs_threshold(m, rule)),
        catalog,
        convention if isinstance(convention, str) else None,
        rel,
    )


def with_names(entry: str | Metric, version: int = 10) -> list[tuple[Metric, str]]:
    """Return the metrics that an entry stands for, each with the user's name for it.

    A name that stands for several metrics is not the name of any of them.

    Args:
        entry: a metric, or the name of one or several.
        version: that of trec_eval, whose nicknames may stand for other metrics.

    >>> with_names("MRR"), with_names("Hit@1,5")
    ([(RR, 'MRR')], [(Success@1, 'Hit@1'), (Success@5, 'Hit@5')])
    """
    if isinstance(entry, Metric):
        return [(entry, str(entry))]
    found = []
    for text in each_cutoff(entry.strip()) or [entry.strip()]:
        metrics = parse_all(text, version)
        one = len(metrics) == 1
        found += [(metric, text if one else str(metric)) for metric in metrics]
    return found


def users_of(needs: AbstractSet[str], rule: Convention) -> str | None:
    """Return whose lists metrics read, by the data they need; None for all lists.

    Otherwise it is the choice of a convention, or ``awaited``: the users with
    judgements, if there are judgements, whether they have a list or not.
    """
    if "judgements" in needs:
        return rule.queries
    return "awaited" if "users" in needs else None


def check_needs(plan: Plan, given: AbstractSet[str]) -> None:
    """Refuse metrics that lack what they need, before any data is read."""
    for name, bound in zip(plan.labels, plan.bound, strict=True):
        if not isinstance(bound, ListMetric):
            if "qrels" not in given:
                msg = f"{name} needs judgements, but there are none"
                raise ParameterError(msg)
            continue
        for need in sorted(bound.needs):
            if given.isdisjoint(GIVEN_BY[need]):
                msg = f"{name} needs {WORDS[need]}"
                raise ParameterError(msg)


def fields_of(metric: Metric) -> tuple[str, ...]:
    """Return the fields of a convention on which a metric may depend."""
    fact = metric.fact
    if not isinstance(metric, ListMetric):
        return tuple(field for field in FIELDS if field != "overrides")
    more = _OF_JUDGED_LISTS if "judgements" in fact.needs else ()
    return (*OF_LISTS, *more, *_OF_MEANS, *fact.follows.values())


def rule_for(metric: Metric, rule: Convention) -> Convention:
    """Return a convention with its overrides for one metric applied."""
    if not rule.overrides and not metric.fact.rule:
        return rule
    choices = {
        **metric.fact.rule,
        **rule.own(metric.name, cut=metric.depth is not None),
    }
    return rule.replace(
        **{key: choices[key] for key in choices if metric.fact.is_field(key)}
    )


@lru_cache(maxsize=4096)
def bind(metric: Metric, rule: Convention) -> Metric:
    """Fill in the parameters that were not given from the convention."""
    of_metric = rule_for(metric, rule)
    filled: dict[str, Any] = {
        parameter: getattr(of_metric, field)
        for parameter, field in metric.fact.follows.items()
    }
    filled |= {
        key: value
        for key, value in rule.own(metric.name, cut=metric.depth is not None).items()
        if not metric.fact.is_field(key)
    }
    if metric.takes("rel") and "rel" not in filled:
        graded = metric.takes("gain") and metric.get("rel") is None
        gain = metric.get("gain") if metric.binds("gain") else filled.get("gain")
        needs = (gain or metric.get("gain")) in _BY_THRESHOLD
        if not graded or needs or not of_metric.gain_below_threshold:
            filled["rel"] = of_metric.threshold
    if of_metric.tie in SPREAD and "ties" not in filled:
        if metric.takes("ties"):
            filled["ties"] = of_metric.tie
        elif metric.fact.ordered:
            msg = f"{metric.name} cannot be computed with tie={of_metric.tie!r}"
            raise ParameterError(msg)
    for key in filled:
        if not metric.takes(key):
            takes = ", ".join(metric.fact.parameters)
            msg = (
                f"the convention overrides {key!r} of {metric.name}, which has no such "
                f"parameter; it takes {takes}, or a field of a convention"
            )
            raise ParameterError(msg)
    new = {
        key: value
        for key, value in filled.items()
        if not metric.binds(key) and value != metric.fact.parameters[key]
    }
    # A choice of the convention may not apply to the choice that was given.
    for key in [*metric.fact.idle({**dict(metric.params), **new})]:
        new.pop(key, None)
    return metric(**new) if new else metric


def _check_rule(rule: Convention) -> None:
    """Refuse an impossible convention."""
    for name, choices in rule.overrides.items():
        plain = name.removesuffix(WITH_CUTOFF)
        fact = REGISTRY.get(plain) or LISTED.get(plain)
        if fact is None:
            msg = (
                f"the convention overrides {name!r}, which is not a "
                f"metric{nearest(name, [*REGISTRY, *LISTED])}"
            )
            raise ParameterError(msg)
        Convention(**{key: choices[key] for key in choices if fact.is_field(key)})
        by_rank = choices.get("order", rule.order) in BY_RANK
        if by_rank != (rule.order in BY_RANK):
            msg = (
                "a convention must use the rank column for all metrics or for none, "
                f"but {name} differs"
            )
            raise ParameterError(msg)


def _check_metrics(rule: Convention, metrics: Iterable[Metric]) -> None:
    """Refuse metrics that cannot be computed, and two functions with the same name."""
    seen: set[str] = set()
    for metric in metrics:
        of_metric, text = rule_for(metric, rule), str(metric)
        pooled = of_metric.aggregate == "ratio_of_sums"
        msg = ""
        if pooled and metric.fact.parts is None and metric.fact.summary == "mean":
            msg = (
                f"{text} cannot be pooled over queries, which "
                "aggregate='ratio_of_sums' requires"
            )
        elif isinstance(metric, ListMetric) and of_metric.tie in SPREAD:
            msg = f"{text} cannot be computed with tie={of_metric.tie!r}"
        elif text in seen:
            msg = f"two metrics are called {text}; give their functions different names"
        if msg:
            raise ParameterError(msg)
        seen.add(text)


def _needs_threshold(metric: Metric, rule: Convention) -> bool:
    """Say whether a metric has a threshold that was not given."""
    by_threshold = metric.fact.binary or metric.get("gain") == "binary"
    by_threshold = by_threshold and metric.get("judged") is not False
    choices = rule.own(metric.name, cut=metric.depth is not None)
    is_given = metric.binds("rel") or not {"rel", "threshold"}.isdisjoint(choices)
    return by_threshold and metric.takes("rel") and not is_given


def _key_of(metric: Metric, rule: Convention) -> tuple[Any, ...]:
    """Return the key of a metric's table."""
    if isinstance(metric, ListMetric):
        fields = (getattr(rule, field) for field in OF_LISTS)
        return "lists", users_of(metric.needs, rule), *fields
    return tuple(getattr(rule, field) for field in _OF_TABLE)


def _group(members: list[Member]) -> Group:
    depths = [
        None if metric.get("ideal") == "retrieved" else metric.depth
        for _, metric, _ in members
    ]
    needs_scores = any(
        "scores" in metric.needs or metric.get("min_score") is not None
        for _, metric, _ in members
    )
    deepest = None if None in depths else max(depth for depth in depths if depth)
    rule = members[0].rule
    if isinstance(members[0].metric, ListMetric):
        return Group(rule, tuple(members), deepest, keep_scores=False, lists=True)
    # If a list decides what is removed or pooled, all of it matters.
    if rule.unjudged == "removed" or rule.pool != "qrels":
        deepest = None
    return Group(rule, tuple(members), deepest, needs_scores)


def _with_catalog(bound: Metric, asked: Metric, catalog: int | None) -> Metric:
    """Give a metric the size of the catalogue; refuse it if needed and unknown."""
    if not bound.takes("catalog") or bound.get("catalog") is not None:
        return bound
    if catalog is not None:
        return bound(catalog=catalog)
    if "catalog" in bound.needs:
        msg = (
            f"{asked} needs the size of the catalogue; give catalog=, or "
            f"write {asked(catalog=1000)}"
        )
        raise ParameterError(msg)
    return bound
