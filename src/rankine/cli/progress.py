"""A bar that shows the progress of a command on a terminal."""

from __future__ import annotations

import sys
from contextlib import ExitStack, contextmanager
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rich.progress import Progress


@contextmanager
def progress() -> Iterator[Callable[[str, int, int | None], None]]:
    """Show the progress on a terminal, from the first report on."""
    with ExitStack() as shown_until:

        @cache
        def bar() -> Progress:
            started = shown_until.enter_context(_bar())
            started.add_task("")
            return started

        def report(name: str, done: int, total: int | None) -> None:
            from rankine._report.tables import shown  # noqa: PLC0415

            started = bar()
            (task,) = started.task_ids
            started.update(task, description=shown(name), completed=done, total=total)

        yield report if sys.stderr.isatty() else lambda *_: None


def _bar() -> Progress:
    from rich.console import Console  # noqa: PLC0415 - --help stays fast
    from rich.progress import (  # noqa: PLC0415
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}", markup=False), BarColumn(),
        MofNCompleteColumn(), TimeRemainingColumn(),
    )  # fmt: skip
    return Progress(*columns, console=Console(stderr=True), transient=True)
