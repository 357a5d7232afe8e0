"""From a convention to the parameters of a metric: data, no names of tools."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from rankine._conventions.convention import is_field
from rankine.errors import ParameterError

if TYPE_CHECKING:
    from rankine._conventions.convention import Convention
    from rankine._metrics.metric import Metric

# metric -> its parameter -> the field of the convention that decides it
_FIELD: dict[str, dict[str, str]] = {
    "P": {"divisor": "p_den"},
    "R": {"divisor": "r_den"},
    "F": {"divisor": "p_den"},
    "AP": {"divisor": "ap_den", "terms": "ap_terms"},
    "CG": {"gain": "gain"},
    "NCG": {"gain": "gain"},
    "DCG": {"gain": "gain", "discount": "discount"},
    "nDCG": {"gain": "gain", "discount": "discount", "ideal": "ideal"},
}
# the words of a convention -> those of a parameter, where they differ
_WORD: dict[Any, str] = {
    "exp2": "exponential",
    "exp2_thr": "exponential_rel",
    "log2(r+1)": "log2",
    "log2(max(r,b))": "jk",
    "judged_all": "judged",
    "given_order@k": "given@k",
}
_BY_THRESHOLD = frozenset({"binary", "exponential_rel"})
_SPREAD = frozenset({"average", "best", "worst"})


@lru_cache(maxsize=4096)
def bind(metric: Metric, rule: Convention) -> Metric:
    """Fill the parameters that were not given with what the convention says."""
    cut = metric.depth is not None
    own = rule.for_metric(metric.name, cut=cut)
    filled: dict[str, Any] = {}
    for parameter, field in _FIELD.get(metric.name, {}).items():
        value = getattr(own, field)
        filled[parameter] = _WORD.get(value, value) if isinstance(value, str) else value
    filled |= {
        key: value
        for key, value in rule.own(metric.name, cut=cut).items()
        if not is_field(key, metric.name)
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
