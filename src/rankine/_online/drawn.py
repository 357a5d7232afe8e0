"""What a result of the online part draws: a report in one file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rankine._io.values import kind_of
from rankine.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from os import PathLike

    from rankine._online.positions import ClickMetrics


class Drawn:
    """The report of a summary or a test."""

    def report(
        self,
        path: str | PathLike[str],
        *,
        title: str | None = None,
        clicks: ClickMetrics | None = None,
        command: str | None = None,
        files: Iterable[str | PathLike[str]] = (),
    ) -> None:
        """Write a report: one HTML file that needs nothing else, and no network.

        It has the numbers with their intervals, charts, and what was left out. Charts
        need the extra ``report``; without it there are tables, and a sentence that says
        so.

        Args:
            path: of the file, which is replaced if there is one.
            title: what stands at the top.
            clicks: what `click_metrics` returned of the same log, to show the click
                rate of each position too.
            command: how to make the result again, to be shown at the end.
            files: of which the hashes are shown at the end.
        """
        from rankine._online.positions import ClickMetrics  # noqa: PLC0415 - slow
        from rankine._report.of_online import page_of  # noqa: PLC0415

        given: object = clicks
        if given is not None and not isinstance(given, ClickMetrics):
            msg = (
                "clicks must be what rk.online.click_metrics returned, got "
                f"{kind_of(given)}"
            )
            raise ParameterError(msg)
        page_of(self, title, command, tuple(files), clicks).write(path)
