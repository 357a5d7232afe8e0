"""From a convention to the parameters of a metric: data, no names of tools."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from rankine.errors import ParameterError

if TYPE_CHECKING:
    from rankine._conventions.convention import Convention
    from rankine._metrics.metric import Metric

_BY_THRESHOLD = frozenset({"binary", "exponential_rel"})
_SPREAD = frozenset({"average", "best", "worst"})


def rule_for(metric: Metric, rule: Convention) -> Convention:
    """Return a convention as it holds for one metric: its overrides applied."""
    if not rule.overrides:
        return rule
    own = rule.own(metric.name, cut=metric.depth is not None)
    return rule.replace(**{key: own[key] for key in own if metric.fact.is_field(key)})


@lru_cache(maxsize=4096)
def bind(metric: Metric, rule: Convention) -> Metric:
    """Fill the parameters that were not given with what the convention says."""
    own = rule_for(metric, rule)
    filled: dict[str, Any] = {
        parameter: getattr(own, field)
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
        if not graded or needs or not own.gain_below_threshold:
            filled["rel"] = own.threshold
    if own.tie in _SPREAD and "ties" not in filled:
        if metric.takes("ties"):
            filled["ties"] = own.tie
        elif metric.fact.ordered:
            msg = f"{metric.name} cannot be computed with tie={own.tie!r}"
            raise ParameterError(msg)
    for key in filled:
        if not metric.takes(key):
            takes = ", ".join(metric.fact.parameters)
            msg = (
                f"the convention's overrides give {metric.name} a {key!r}; it takes "
                f"{takes}, or a field of a convention"
            )
            raise ParameterError(msg)
    new = {
        key: value
        for key, value in filled.items()
        if not metric.binds(key) and value != metric.fact.parameters[key]
    }
    # What the convention chooses may be for another choice than the one that was given.
    for key in [*metric.fact.idle({**dict(metric.params), **new})]:
        new.pop(key, None)
    return metric(**new) if new else metric
