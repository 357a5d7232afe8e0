"""What a result of the online part draws: a report in one file."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable
    from os import PathLike


class Drawn:
    """The report of a summary or a test."""

    def report(
        self,
        path: str | PathLike[str],
        *,
        title: str | None = None,
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
            command: how to make the result again, to be shown at the end.
            files: of which the hashes are shown at the end.
        """
        from rankine._report.of_online import page_of  # noqa: PLC0415

        page_of(self, title, command, tuple(files)).write(path)
