"""Conventions in YAML files: fields and their values, checked one by one."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rankine._base.strict_yaml import read_yaml
from rankine._conventions.convention import FIELDS, Convention
from rankine._conventions.presets import convention
from rankine.errors import FormatError, ParameterError, RankineError, nearest

if TYPE_CHECKING:
    import os

_BASE = "base"


def read_convention(path: str | os.PathLike[str]) -> Convention:
    """Read a convention from a YAML file."""
    place = Path(path)
    try:
        text = place.read_bytes()
    except OSError as error:
        msg = f"{place}: cannot be read ({error.strerror or error})"
        raise FormatError(msg) from None
    data = read_yaml(text, str(place)).data
    if not isinstance(data, Mapping):
        msg = f"{place}: expected a line per field, such as ap_den: min_k_R"
        raise FormatError(msg)
    try:
        return _made(dict(data))
    except RankineError as error:
        msg = f"{place}: {error}"
        raise type(error)(msg) from None


def _made(data: dict[Any, Any]) -> Convention:
    base = convention(data.pop(_BASE, "rankine"))
    for key in data:
        if key not in FIELDS:
            known = [_BASE, *FIELDS]
            msg = (
                f"a convention has no field {key!r}; it has {', '.join(known)}"
                f"{nearest(str(key), known)}"
            )
            raise ParameterError(msg)
    changed = Convention.from_dict(data)
    return base.replace(**{key: getattr(changed, key) for key in data})
