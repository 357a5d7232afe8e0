"""What results of online metrics have in common: how they are shown and saved."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Any

from rankine._evaluate.summary import finite
from rankine._io.values import kind_of
from rankine.errors import ParameterError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from os import PathLike

    import polars as pl

    from rankine._online.positions import ClickMetrics


def plain_rows(table: pl.DataFrame) -> list[dict[str, Any]]:
    """Return the rows of a table, ready for JSON; undefined values are None."""
    return [
        {name: _plain(cell) for name, cell in row.items()}
        for row in table.iter_rows(named=True)
    ]


def _plain(cell: Any) -> Any:
    if isinstance(cell, date):
        return cell.isoformat()
    return finite(cell) if isinstance(cell, float) else cell


@dataclass(frozen=True, eq=False, repr=False)
class Tabled:
    """A summary or a funnel; see `Summary` and `Funnel`."""

    table: pl.DataFrame
    definitions: Mapping[str, str]
    excluded: Mapping[str, int]
    notes: tuple[str, ...]
    events: int
    confidence: float
    groups: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return everything, ready for JSON; undefined values are None."""
        return {
            "events": self.events,
            "confidence": self.confidence,
            "groups": list(self.groups),
            "table": plain_rows(self.table),
            "definitions": dict(self.definitions),
            "excluded": dict(self.excluded),
            "notes": list(self.notes),
        }

    def __str__(self) -> str:
        """Return the table, the definitions and the notes as text."""
        from rankine._report.online import to_text  # noqa: PLC0415

        return to_text(self)  # type: ignore[arg-type]

    def _repr_html_(self) -> str:
        from rankine._report.online import to_html  # noqa: PLC0415

        return to_html(self)  # type: ignore[arg-type]

    def to_markdown(self) -> str:
        """Return a Markdown table."""
        from rankine._report.online import to_markdown  # noqa: PLC0415

        return to_markdown(self)  # type: ignore[arg-type]


class Saved:
    """A summary or a test, which can be saved, and write a report."""

    def to_json(self, *, indent: int | None = 2) -> str:
        """Return all of it as JSON, which `load` reads back; undefined is null.

        It begins with what ``to_dict`` returns; what only `load` needs follows under
        ``saved``.

        Args:
            indent: by how much lines are indented; None puts everything on one line.
        """
        from rankine._results.online import to_json  # noqa: PLC0415

        return to_json(self, indent)  # type: ignore[arg-type]

    def save(self, path: str | PathLike[str]) -> None:
        """Write `to_json` to a file, which `load` reads back.

        Args:
            path: the path of the file, which is replaced if it exists.
        """
        from rankine._results.saved import save  # noqa: PLC0415

        save(self.to_json(), path)

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

        The report shows the numbers with their intervals, charts, and what was left
        out. Charts need the extra ``report``; without it, there are only tables, as the
        report then says.

        Args:
            path: where to write it; an existing file is replaced.
            title: its heading.
            clicks: the result of `click_metrics` for the same log, to show the click
                rate of each position as well.
            command: how to reproduce the result, shown at the end.
            files: those whose hashes are shown at the end.
        """
        from rankine._online.positions import ClickMetrics  # noqa: PLC0415 - slow
        from rankine._report.of_online import page_of  # noqa: PLC0415

        given: object = clicks
        if given is not None and not isinstance(given, ClickMetrics):
            msg = (
                "clicks must be the result of rk.online.click_metrics, got "
                f"{kind_of(given)}"
            )
            raise ParameterError(msg)
        page_of(self, title, command, tuple(files), clicks).write(path)
