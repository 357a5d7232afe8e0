"""What all kinds of metrics promise alike: names, parameters and documentation."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args, get_origin, get_type_hints

import numpy as np

from rankine._join import Ties
from rankine.errors import ParameterError

if TYPE_CHECKING:
    from rankine._metrics.metric import Metric

DOCS = Path(__file__).parent.parent / "docs"
SECTIONS = ("Formula", "Args", "Returns", "References", "Examples")
ONLY_TYPED = (
    "Floats", "Judged", "Recommended", "Matched", "Exposure", "Loss",
    "CalibrationError",
)  # fmt: skip
"""Types that modules import for type checkers alone."""
NUMBERS: tuple[Any, ...] = (2, 3, 0.5, 0.25, 7, 1)
"""Tried one after the other, for parameters that are not a choice of words."""


def manhattan(x: Any, y: Any) -> float:
    """Return a distance of two vectors of features, given as a function."""
    return float(np.abs(np.asarray(x) - np.asarray(y)).sum())


# Parameters: values to try, from the types in the signature


def words(hint: Any) -> list[Any]:
    """Return the words that a type allows, and a function if it allows one."""
    if get_origin(hint) is Literal:
        return list(get_args(hint))
    if get_origin(hint) is not None and "Callable" in str(get_origin(hint)):
        return [manhattan]
    return [word for part in get_args(hint) for word in words(part)]


def hints(function: Callable[..., Any]) -> dict[str, Any]:
    """Return the types of a function's parameters, those for type checkers as well."""
    own = inspect.unwrap(function)
    known = vars(sys.modules[own.__module__])
    only_typed = dict.fromkeys(ONLY_TYPED, Any)
    typed = {"Mapping": Mapping, "Callable": Callable, "Ties": Ties}
    return get_type_hints(own, {**only_typed, **typed, **known})


def accepts(metric: Metric, **params: Any) -> bool:
    try:
        metric(**params)
    except ParameterError:
        return False
    return True


def values_for(metric: Metric, parameter: str) -> list[Any]:
    """Return values to try: all words of a choice, or one number that is taken."""
    hint = hints(metric.fact.kernel)[parameter]
    choices = words(hint)
    if choices:
        return choices
    if hint is bool:
        return [True, False]
    usual, more = metric.get(parameter), with_others(metric, parameter)
    other = (value for value in NUMBERS if value != usual)
    plain = [value for value in other if accepts(metric, **more, **{parameter: value})]
    return plain[:1]


def with_others(metric: Metric, parameter: str) -> dict[str, Any]:
    """Return the choices without which a parameter is declared to have no effect."""
    if parameter not in metric.fact.matters:
        return {}
    other, values = metric.fact.matters[parameter]
    usual = metric.get(other)
    if usual in values if values else usual is not None:
        return {}
    return {other: values[0] if values else values_for(metric, other)[0]}


def every_choice(metric: Metric) -> list[tuple[Metric, Metric]]:
    """Return the metric with every value of every parameter, beside the usual one."""
    made = []
    for parameter in metric.fact.parameters:
        more = with_others(metric, parameter)
        base = metric(**more) if more else metric
        for value in values_for(base, parameter):
            usual = base.get(parameter)
            if value != usual and accepts(base, **{parameter: value}):
                made.append((base(**{parameter: value}), base))
    return made


# Names


def check_names(metric: Metric, read: Callable[[str], Metric]) -> None:
    """Names parse and print back, in any case, and so does every choice."""
    choices = [own for own, _ in every_choice(metric)]
    if metric.fact.at is not None:
        cut = values_for(metric, metric.fact.at)[0]
        choices += [own @ cut for own in (metric, *choices)]
    for own in (metric, *choices):
        if any(callable(value) for _, value in own.params):
            continue  # a function has a name, and is not found by it
        again = read(str(own))
        assert again == own, str(own)
        assert hash(again) == hash(own)
        assert str(again) == str(own)
    for alias in metric.fact.aliases:
        for text in (alias, alias.upper(), alias.lower()):
            assert read(text) == metric, text


# Documentation


def sections(function: Callable[..., Any]) -> dict[str, str]:
    """Return the parts of a docstring by their heads."""
    text = inspect.getdoc(inspect.unwrap(function)) or ""
    parts = re.split(rf"^({'|'.join(SECTIONS)}|Raises):\n", text, flags=re.MULTILINE)
    return {"": parts[0], **dict(zip(parts[1::2], parts[2::2], strict=True))}


def argument(function: Callable[..., Any], parameter: str) -> str:
    """Return what a docstring says of a parameter, in one line."""
    entries = re.split(r"^ {4}(\w+): ", sections(function)["Args"], flags=re.MULTILINE)
    known = dict(zip(entries[1::2], entries[2::2], strict=True))
    return " ".join(known[parameter].split())


def check_docstring(
    function: Callable[..., Any], parameters: Mapping[str, Any], *optional: str
) -> None:
    """A docstring has all sections, every parameter, and an example."""
    found = sections(function)
    wanted = [section for section in SECTIONS if section not in optional]
    assert [section for section in wanted if section not in found] == []
    assert ">>> " in found["Examples"]
    for parameter in parameters:
        assert argument(function, parameter)


def pages() -> str:
    """Return all pages of the documentation."""
    return "\n".join(path.read_text() for path in sorted(DOCS.rglob("*.md")))


# Data


def frozen(table: Any) -> list[np.ndarray[Any, Any]]:
    """Make all arrays of a table read-only, so that a kernel that writes fails.

    What a table has worked out and kept is among them.
    """
    arrays = []
    seen: set[int] = set()
    left = [table]
    while left:
        part = left.pop()
        if id(part) in seen:
            continue
        seen.add(id(part))
        if isinstance(part, np.ndarray):
            part.flags.writeable = False
            arrays.append(part)
        elif isinstance(part, Mapping):
            left += part.values()
        elif hasattr(part, "__dataclass_fields__"):
            left += [getattr(part, name) for name in part.__dataclass_fields__]
            left += vars(part).values() if hasattr(part, "__dict__") else ()
    return arrays
