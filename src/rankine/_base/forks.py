"""Forks: a child has no threads of its parent, and polars would wait for its own.

polars starts its threads when they are first needed. A process that is forked later
believes that they exist, and hands them work that nobody ever does.
"""

from __future__ import annotations

import os
import re
from contextlib import suppress
from pathlib import Path

from rankine.errors import UsageError

_TASKS = Path("/proc/self/task")
_state = {"used": False, "started": False, "lost": False}


def need_threads() -> None:
    """Refuse to go on where polars would wait forever for its threads.

    To be called before polars is given work that it may share among threads.

    Raises:
        UsageError: the process was forked after polars had started its threads.
    """
    if _state["lost"]:
        msg = (
            "this process was forked after polars had started its threads, and a fork "
            "does not copy threads; start processes with "
            'multiprocessing.get_context("spawn") or "forkserver", or fork before '
            "anything is read"
        )
        raise UsageError(msg)
    _state["used"] = True


def has_threads() -> bool:
    """Say whether polars may be given work that it shares among threads."""
    return not _state["lost"]


def _before() -> None:
    """See whether polars has threads, while they can be seen."""
    _state["started"] = _are_running()


def _in_child() -> None:
    _state["lost"] = _state["lost"] or _state["started"]
    _state["used"] = False


def _are_running() -> bool:
    """Say whether polars has started its threads, for us or for other code."""
    if not _TASKS.is_dir():  # a system that does not tell the names of threads
        return _state["used"]
    numbered = re.escape(os.environ.get("POLARS_THREAD_NAME", "polars")) + r"-\d+\n"
    for task in _TASKS.iterdir():
        with suppress(OSError):  # a thread that has just ended
            if re.fullmatch(numbered, (task / "comm").read_text(errors="replace")):
                return True
    return False


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before, after_in_child=_in_child)
