"""Reading metrics from text: our own spelling, trec_eval's, ranx's, and plain words."""

from __future__ import annotations

import ast
import re
import warnings
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeVar

import rankine._metrics.ranking  # noqa: F401 - fills the registry
from rankine._metrics.lists.kind import LISTED, ListMetric
from rankine._metrics.metric import REGISTRY, Metric
from rankine._metrics.safe_names import APART, in_ascii, name_and_cut, value_of
from rankine._metrics.trec_names import FAMILIES, NICKNAMES, Family
from rankine.errors import (
    MetricSyntaxError,
    UnknownMetricError,
    UsageError,
    nearest,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

M = TypeVar("M", bound=Metric)
_LONGEST = 500
_SHAPE = re.compile(
    r"(?P<name>[^()@\s]+)\s*(\((?P<inside>.*)\))?\s*(@(?P<cut>[^@()]+))?"
)
_CUTOFFS = re.compile(
    r"(?P<head>.+)@(?P<cuts>[^@()'\"]*?,[^@()'\"]*?)(?P<tail>-l\d+(\.\d+)?)?"
)
_NO_AT = re.compile(r"(?P<head>.*[^\d_-])[_-]?(?P<cut>[1-9][0-9]{0,8})")
_RANX_LEVEL = re.compile(r"(?P<metric>.+)-l(?P<rel>\d+(\.\d+)?)")
_TREC_CUT = re.compile(r"(?P<family>.+?)[_.](?P<cut>\d+(\.\d+)?)")
_RANX_RBP = re.compile(r"rbp\.(?P<digits>\d+)", re.IGNORECASE)
_OTHER_NAMES: dict[str, tuple[str, dict[str, Any]]] = {
    "ndcg_burges": ("nDCG", {"gain": "exponential"}),
    "dcg_burges": ("DCG", {"gain": "exponential"}),
    "r-precision": ("Rprec", {}),
    "gauc": ("AUC", {"scope": "weighted"}),
    "grouped_auc": ("AUC", {"scope": "weighted"}),
    "ncrr": ("nDCG", {"gain": "binary", "discount": "reciprocal"}),
    "rankbiasedentropy": ("TopicEntropy", {"p": 0.85}),
    "rank_biased_entropy": ("TopicEntropy", {"p": 0.85}),
}


def metrics() -> dict[str, Metric]:
    """Return every metric by its name; `.fact` holds all that is known about it.

    >>> metrics()["nDCG"].fact.parameters["gain"]
    'linear'
    """
    every = {name: Metric(name) for name in REGISTRY}
    return every | {name: ListMetric(name) for name in LISTED}


@lru_cache(maxsize=4096)
def parse(text: str) -> Metric:
    """Read one metric.

    Our own spelling is ``P(rel=2)@5``. The spellings of trec_eval (``ndcg_cut.10``,
    ``ndcg_cut_10``, ``map``) and ranx (``ndcg@10-l2``, ``hit_rate@5``), and plain words
    (``MAP``, ``HitRate@10``), are read too, in any case where that is unambiguous. So
    are the names that `Evaluation.scalars` gives to loggers, such as ``ndcg_at_10``.

    Args:
        text: the metric.

    Returns:
        The metric, whose own text is the canonical spelling.

    >>> parse("ndcg_cut_10")
    nDCG@10
    >>> parse("precision@5-l2")
    P(rel=2)@5
    >>> parse("rbp_at_10__p_0_95")
    RBP(p=0.95)@10
    """
    metrics = parse_all(text)
    if len(metrics) != 1:
        raise MetricSyntaxError(several(text, metrics))
    return metrics[0]


def canonical_name(label: str) -> str:
    """Return the canonical name of a metric; a label that is no name stays.

    >>> canonical_name("MRR"), canonical_name("value")
    ('RR', 'value')
    """
    try:
        return str(parse(label))
    except UsageError:
        return label


def several(text: str, metrics: Sequence[Metric], taker: str = "evaluate") -> str:
    """Say that a text stands for several metrics, where one is expected."""
    names = ", ".join(str(metric) for metric in metrics[:3])
    more = ", ..." if len(metrics) > 3 else ""  # noqa: PLR2004 - as many as are shown
    return (
        f"{text!r} stands for {len(metrics)} metrics ({names}{more}), but only one is "
        f"expected here; name one, or give all of them to {taker}"
    )


@lru_cache(maxsize=4096)
def parse_all(text: str, version: int = 10) -> tuple[Metric, ...]:
    """Read one or several metrics: ``P@5,10``, ``P.5,10`` and nicknames are several.

    Nicknames stand for the measures that a version of trec_eval has.

    >>> parse_all("P@5,10")
    (P@5, P@10)
    >>> parse_all("set")[:3]
    (NumQ, NumRet, NumRel)
    """
    stripped = _text(text).strip()
    if not stripped or len(stripped) > _LONGEST:
        msg = f"cannot read metric {text[:80]!r}; write it like nDCG@10 or P(rel=2)@5"
        raise MetricSyntaxError(msg)
    if stripped in NICKNAMES:
        return tuple(
            metric
            for family in NICKNAMES[stripped]
            if FAMILIES[family].since <= version
            for _, metric in FAMILIES[family].expand("")
        )
    listed = each_cutoff(stripped)
    if listed:
        metrics = (metric for entry in listed for metric in parse_all(entry))
        return tuple(dict.fromkeys(metrics))
    ranx = _ranx(stripped)
    if ranx is not None:
        return (ranx,)
    metric_of_ours = _canonical(stripped)
    if metric_of_ours is not None:
        return (metric_of_ours,)
    several = _trec(stripped)
    if several:
        return several
    shape = _SHAPE.fullmatch(stripped)
    if shape is None:
        msg = f"cannot read metric {text!r}; write it like nDCG@10 or P(rel=2)@5"
        raise MetricSyntaxError(msg)
    name = shape["name"]
    hint = "" if shape["cut"] or shape["inside"] else without_at(name, parse)
    msg = f"unknown metric {name!r}{hint or nearest(name, _known())}"
    raise UnknownMetricError(msg)


def each_cutoff(text: str) -> list[str]:
    """Return a metric with several cutoffs as one text for each; none otherwise.

    >>> each_cutoff("nDCG@1,5"), each_cutoff("P@5,10-l2"), each_cutoff("P@5")
    (['nDCG@1', 'nDCG@5'], ['P@5-l2', 'P@10-l2'], [])
    """
    shape = _CUTOFFS.fullmatch(text)
    if shape is None:
        return []
    cutoffs = [cut.strip() for cut in shape["cuts"].split(",")]
    for cut in cutoffs:
        if not _is_number(cut):
            msg = (
                f"cannot read the cutoff {cut!r} of {text!r}; write cutoffs like "
                "nDCG@1,5,10, and every other metric separately"
            )
            raise MetricSyntaxError(msg)
    return [f"{shape['head']}@{cut}{shape['tail'] or ''}" for cut in cutoffs]


def without_at(name: str, read: Callable[[str], object]) -> str:
    """Suggest a name with the missing @, as the tail of an error message.

    >>> without_at("nDCG10", parse), without_at("nDCG", parse)
    ("; did you mean 'nDCG@10'?", '')
    """
    shape = _NO_AT.fullmatch(name)
    if shape is None:
        return ""
    text = f"{shape['head']}@{shape['cut']}"
    try:
        read(text)
    except UsageError:
        return ""
    return f"; did you mean {text!r}?"


def _text(value: object) -> str:
    if isinstance(value, str):
        return value
    msg = f"a metric name must be text, got {value!r}"
    raise MetricSyntaxError(msg)


def _known() -> list[str]:
    facts = (*REGISTRY.values(), *LISTED.values())
    aliases = [alias for fact in facts for alias in fact.aliases]
    return [*REGISTRY, *LISTED, *aliases, *FAMILIES, *_OTHER_NAMES]


@lru_cache(maxsize=8)
def _by_name(kind: type[Metric]) -> tuple[dict[str, str], dict[str, str | None]]:
    """Return names as written, and case-folded names, None where these coincide."""
    exact: dict[str, str] = {}
    folded: dict[str, str | None] = {}
    for name, fact in kind.facts.items():
        for alias in (name, *fact.aliases):
            exact.setdefault(alias, name)
            key = alias.casefold()
            folded[key] = name if folded.get(key, name) == name else None
    return exact, folded


def read_anew() -> None:
    """Forget the names read so far, since the metrics have changed."""
    for cached in (parse, parse_all, _by_name):
        cached.cache_clear()


def _lookup(name: str, kind: type[Metric]) -> str | None:
    exact, folded = _by_name(kind)  # type: ignore[arg-type]
    return exact.get(name) or folded.get(name.casefold())


def _canonical(text: str) -> Metric | None:
    return canonical(text, Metric) or canonical(text, ListMetric)


def canonical(text: str, kind: type[M]) -> M | None:
    """Read ``NAME(key=value, ...)@CUT``; None if no metric of a kind has that name."""
    shape = _SHAPE.fullmatch(text)
    name = _lookup(shape["name"], kind) if shape else None
    if shape is None or name is None:
        return _safe(text, kind)
    metric: M = kind(name)
    given = _arguments(shape["inside"], text) if shape["inside"] else {}
    if not shape["cut"]:
        return metric(**given) if given else metric  # type: ignore[return-value]
    cutoff = metric.fact.at
    if cutoff is None:
        return metric @ _number(shape["cut"], text)  # which says that there is none
    if cutoff in given:
        msg = f"{text!r} gives {cutoff} twice, in the brackets and after the @"
        raise MetricSyntaxError(msg)
    given[cutoff] = _number(shape["cut"], text)
    return metric(**given)  # type: ignore[return-value]


def _safe(text: str, kind: type[M]) -> M | None:
    """Read ``name_at_CUT__key_value``, as `safe_name` writes it; None if it is not."""
    head, *parts = text.split(APART)
    word, cut = name_and_cut(head)
    name = _lookup(word, kind)
    if name is None:
        return None
    metric: M = kind(name)
    given: dict[str, Any] = {}
    if cut is not None:
        if metric.fact.at is None:
            return metric @ cut  # which says that there is none
        given[metric.fact.at] = cut
    for part in parts:
        keys = [
            key
            for key in metric.fact.parameters
            if part.startswith(f"{in_ascii(key)}_")
        ]
        if not keys:
            return None
        key = max(keys, key=len)
        given[key] = value_of(part.removeprefix(f"{in_ascii(key)}_"))
    return metric(**given) if given else metric  # type: ignore[return-value]


def _is_number(cut: str) -> bool:
    try:
        float(cut)
    except ValueError:
        return False
    return True


def _number(cut: str, text: str) -> float:
    try:
        return int(cut)
    except ValueError:
        try:
            return float(cut)
        except ValueError:
            msg = f"cannot read the cutoff {cut!r} of {text!r}; write it like nDCG@10"
            raise MetricSyntaxError(msg) from None


def _arguments(inside: str, text: str) -> dict[str, Any]:
    """Read ``key=value`` pairs; values are literals or bare words, nothing runs."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of Python, on odd literals
            call = ast.parse(f"_({inside})", mode="eval").body
        if not isinstance(call, ast.Call) or call.args:
            raise SyntaxError  # noqa: TRY301 - one message for all that is odd
        if not isinstance(call.func, ast.Name):
            raise SyntaxError  # noqa: TRY301, TRY004
        arguments: dict[str, Any] = {}
        for keyword in call.keywords:
            if keyword.arg is None or keyword.arg in arguments:
                raise SyntaxError  # noqa: TRY301
            value = keyword.value
            word = isinstance(value, ast.Name)
            arguments[keyword.arg] = value.id if word else ast.literal_eval(value)  # type: ignore[attr-defined]
    except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError):
        msg = (
            f"cannot read metric {text!r}; write it like nDCG@10 or "
            "P(rel=2)@5, with plain values"
        )
        raise MetricSyntaxError(msg) from None
    return arguments


def _trec(text: str) -> tuple[Metric, ...]:
    """Read trec_eval's ``family.params`` and ``family_cutoff``."""
    if text in FAMILIES:
        return tuple(metric for _, metric in FAMILIES[text].expand(""))
    family, _, params = text.partition(".")
    if family in FAMILIES and params:
        return tuple(metric for _, metric in FAMILIES[family].expand(params))
    shape = _TREC_CUT.fullmatch(text)
    if shape and shape["family"] in FAMILIES:
        known: Family = FAMILIES[shape["family"]]
        if known.cutoffs:
            return tuple(metric for _, metric in known.expand(shape["cut"]))
    return ()


def _ranx(text: str) -> Metric | None:
    level = _RANX_LEVEL.fullmatch(text)
    if level:
        metric = _canonical(level["metric"]) or _ranx(level["metric"])
        return None if metric is None else metric(rel=_number(level["rel"], text))
    shape = _RANX_RBP.fullmatch(text)
    if shape:
        return Metric("RBP")(p=float(f"0.{shape['digits']}"))
    name, _, cut = text.partition("@")
    if name.casefold() not in _OTHER_NAMES:
        return None
    canonical, params = _OTHER_NAMES[name.casefold()]
    kind = ListMetric if canonical in LISTED else Metric
    metric = kind(canonical)(**params)
    return metric @ _number(cut, text) if cut else metric
