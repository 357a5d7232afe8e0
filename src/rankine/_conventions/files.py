"""Conventions in YAML files: fields and their values, checked one by one."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from rankine._conventions.convention import FIELDS, Convention
from rankine._conventions.presets import convention
from rankine.errors import FormatError, ParameterError, RankineError, nearest

if TYPE_CHECKING:
    import os

_BASE = "base"
_MOST = 1 << 20
"""Bytes that such a file may have."""


class _Strict(yaml.SafeLoader):
    """A loader that knows no programs, no aliases, and no key twice."""

    def compose_node(self, parent: Any, index: Any) -> Any:
        if self.check_event(yaml.AliasEvent):
            msg = "aliases are not supported"
            raise yaml.constructor.ConstructorError(None, None, msg)
        return super().compose_node(parent, index)

    def construct_mapping(self, node: Any, deep: bool = False) -> dict[Any, Any]:  # noqa: FBT001, FBT002 - its own signature
        keys = [self.construct_object(key, deep=True) for key, _ in node.value]
        for key in keys:
            if keys.count(key) > 1:
                msg = f"{key!r} appears twice"
                raise yaml.constructor.ConstructorError(
                    None, None, msg, node.start_mark
                )
        return super().construct_mapping(node, deep=deep)


def read_convention(path: str | os.PathLike[str]) -> Convention:
    """Read a convention from a YAML file."""
    place = Path(path)
    try:
        text = place.read_bytes()
    except OSError as error:
        msg = f"{place}: cannot be read ({error.strerror or error})"
        raise FormatError(msg) from None
    if len(text) > _MOST:
        msg = f"{place}: is too large for a convention"
        raise FormatError(msg)
    try:
        data = yaml.load(text, Loader=_Strict)  # noqa: S506 - it is a safe one
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        where = f"{place}:{mark.line + 1}" if mark else f"{place}"
        reason = getattr(error, "problem", None) or type(error).__name__
        msg = f"{where}: is not YAML ({reason})"
        raise FormatError(msg) from None
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
