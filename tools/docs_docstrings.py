"""Prepare docstrings for mkdocstrings: examples, formulas, and names of defaults."""

from __future__ import annotations

import re
import textwrap
from typing import Any

from griffe import Extension

_BARE = re.compile(r"^>>> .*?(?=\n\n|\Z)", re.MULTILINE | re.DOTALL)
_FORMULA = re.compile(r"\$\$.+?\$\$", re.DOTALL)


# The type checker runs where griffe is not installed.
class Docstrings(Extension):  # type: ignore[misc]
    """Give bare examples a section, keep formulas, show what a private name holds."""

    def on_object(self, *, obj: Any, **_: Any) -> None:
        """Put ``>>>`` lines outside of a section under ``Examples``.

        Markdown would take backslashes of formulas as its own.
        """
        if obj.docstring is None:
            return
        text = obj.docstring.value
        if "\nExamples:" not in text:
            text = _BARE.sub(_section, text)
        obj.docstring.value = _FORMULA.sub(
            lambda formula: formula[0].replace("\\", "\\\\"), text
        )

    def on_function(self, *, func: Any, **_: Any) -> None:
        """Replace a default such as ``_DEFAULT`` by its value."""
        for parameter in func.parameters:
            default = str(parameter.default)
            held = func.module.members.get(default)
            if default.startswith("_") and hasattr(held, "value"):
                parameter.default = str(held.value)


def _section(match: re.Match[str]) -> str:
    return "Examples:\n" + textwrap.indent(match[0], "    ")
