"""Prepare docstrings for mkdocstrings: bare examples, and defaults that have a name."""

from __future__ import annotations

import re
import textwrap
from typing import Any

from griffe import Extension

_BARE = re.compile(r"^>>> .*?(?=\n\n|\Z)", re.MULTILINE | re.DOTALL)


# The type checker runs where griffe is not installed.
class Docstrings(Extension):  # type: ignore[misc]
    """Give examples that stand alone a section, and show what a private name holds."""

    def on_object(self, *, obj: Any, **_: Any) -> None:
        """Put ``>>>`` lines outside of a section under ``Examples``."""
        if obj.docstring is not None and "\nExamples:" not in obj.docstring.value:
            obj.docstring.value = _BARE.sub(_section, obj.docstring.value)

    def on_function(self, *, func: Any, **_: Any) -> None:
        """Replace a default such as ``_DEFAULT`` by its value."""
        for parameter in func.parameters:
            default = str(parameter.default)
            held = func.module.members.get(default)
            if default.startswith("_") and hasattr(held, "value"):
                parameter.default = str(held.value)


def _section(match: re.Match[str]) -> str:
    return "Examples:\n" + textwrap.indent(match[0], "    ")
