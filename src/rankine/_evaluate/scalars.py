"""Numbers by names that loggers such as MLflow, TensorBoard and W&B accept."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rankine._base.checks import check_flag
from rankine._metrics.names import parse
from rankine._metrics.safe_names import safe_name
from rankine.errors import ParameterError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rankine._stats.intervals import Interval

_PREFIX = re.compile(r"([A-Za-z0-9_][A-Za-z0-9_.-]*/)*([A-Za-z0-9_][A-Za-z0-9_.-]*)?")
_UNSAFE = re.compile(r"[^A-Za-z0-9_.-]+")


def scalars_of(
    numbers: Iterable[tuple[str, float, Interval | None]], prefix: str, *, safe: bool
) -> dict[str, float]:
    """Return numbers by their names, each with its bounds if it has an interval.

    Args:
        numbers: names, numbers, and their intervals, None where none is wanted.
        prefix: what stands before each name.
        safe: whether the names are to be accepted by loggers.
    """
    check_prefix(prefix, safe=safe)
    scalars: dict[str, float] = {}
    for name, value, interval in numbers:
        scalars[prefix + name] = float(value)
        if interval is not None:
            scalars[f"{prefix}{name}_low"] = interval.low
            scalars[f"{prefix}{name}_high"] = interval.high
    return scalars


def check_prefix(prefix: object, *, safe: bool) -> None:
    """Refuse a prefix that is no text, or that a logger would refuse or change."""
    check_flag("safe", safe)
    if not isinstance(prefix, str):
        msg = f"prefix must be text, such as 'val/', got {prefix!r}"
        raise ParameterError(msg)
    if safe and not _PREFIX.fullmatch(prefix):
        msg = (
            f"prefix {prefix!r} is not accepted by all loggers; use letters, digits "
            "and _ . - with single slashes between them, as in 'val/', or safe=False"
        )
        raise ParameterError(msg)


def safe_label(label: str) -> str:
    """Return the name of a metric as loggers accept it; of no metric, as near as it is.

    >>> safe_label("MAP@10"), safe_label("my metric")
    ('ap_at_10', 'my_metric')
    """
    try:
        return safe_name(parse(label))
    except UsageError:
        return _cleaned(label)


def _cleaned(name: str) -> str:
    return _UNSAFE.sub("_", name).strip("_.-") or "_"


def safe_names_of(names: Iterable[str]) -> dict[str, str]:
    """Return names of systems as parts of the names that loggers accept.

    >>> safe_names_of(["bm25", "bm25 (k1=0.9)"])
    {'bm25': 'bm25', 'bm25 (k1=0.9)': 'bm25_k1_0.9'}
    """
    safe: dict[str, str] = {}
    for name in names:
        text = _cleaned(name)
        for other, taken in safe.items():
            if taken.casefold() == text.casefold():  # files of MLflow may be the same
                msg = (
                    f"{other!r} and {name!r} are both {text!r} in the names that "
                    "loggers accept; rename one of them, or pass safe=False"
                )
                raise ParameterError(msg)
        safe[name] = text
    return safe
