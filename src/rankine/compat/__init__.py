"""Other libraries' interfaces, for programs that were written for them.

    from rankine.compat import pytrec_eval    # instead of: import pytrec_eval

A program that imports the library itself runs unchanged after `install`, or by
``python -m rankine.compat pytrec_eval script.py``.
"""

from __future__ import annotations

import sys
from importlib import import_module

from rankine.errors import UsageError, nearest

INSTALLABLE = ("pytrec_eval",)
"""The libraries that another module of this package stands in for."""

__all__ = ["INSTALLABLE", "install"]


def install(name: str) -> None:
    """Make ``import NAME`` find our module of that name, in this process.

    Args:
        name: the library, such as ``pytrec_eval``.

    Raises:
        UsageError: there is no such module, or the library itself is loaded already.

    >>> from rankine import compat
    >>> compat.install("pytrec")
    Traceback (most recent call last):
    ...
    rankine.errors.UsageError: nothing stands in for 'pytrec'; there is pytrec_eval; did you mean 'pytrec_eval'?
    """  # noqa: E501 - the message stands on one line, as the user sees it
    if name not in INSTALLABLE:
        there = ", ".join(INSTALLABLE)
        hint = nearest(name, INSTALLABLE)
        msg = f"nothing stands in for {name!r}; there is {there}{hint}"
        raise UsageError(msg)
    ours = import_module(f"rankine.compat.{name}")
    if sys.modules.get(name, ours) is not ours:
        where = getattr(sys.modules[name], "__file__", None) or "elsewhere"
        msg = (
            f"{name} is already loaded from {where}; call install before anything "
            "imports it"
        )
        raise UsageError(msg)
    sys.modules[name] = ours
