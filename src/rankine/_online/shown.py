"""Logs of lists that were shown: one row per item and impression, with its clicks.

Also logs of events, in which impressions and clicks are rows of their own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import polars as pl

from rankine._base.text import count
from rankine._io import open_table
from rankine._io.columns import check_parts, known_columns, told_column
from rankine._io.tables import origin_of, together
from rankine._io.values import ids, numbers
from rankine._online.events import labels
from rankine._online.rules import COLUMNS as OF_EVENTS
from rankine._online.rules import Rules
from rankine._online.sources import rows_of
from rankine._online.words import as_words, known_words
from rankine.errors import ColumnNotFoundError, DataError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rankine._io.tables import Table

COLUMNS = {
    "user": ("user_id", "user", "visitor_id", "client_id"),
    "variant": OF_EVENTS["variant"],
    "impression": ("impression_id", "impression", "request_id", "search_id"),
    "query": ("query_id", "query", "user_query", "qid"),
    "item": ("item_id", "item", "doc_id", "object_id", "docid"),
    "position": ("position", "rank", "ordinal"),
    "click": ("click", "clicks", "clicked", "reward"),
    "event": ("event", "event_name", "event_type", "action_name"),
    "team": ("team", "ranker", "source"),
    "rank_a": ("rank_a",),
    "rank_b": ("rank_b",),
}
"""What a column can be, and the names by which it is recognised."""
_NUMBERS = ("position", "click", "rank_a", "rank_b")


def read_shown(
    log: Any,
    needs: Mapping[str, str],
    columns: Mapping[str, Any] | None,
    optional: Sequence[str] = (),
    notes: list[str] | None = None,
) -> tuple[pl.DataFrame, str]:
    """Read the columns that are needed, each under the name of its part.

    Args:
        log: a path, a frame, or what `read_table` returns.
        needs: the parts that are required, and what for.
        columns: which column is what, if its name is not recognised.
        optional: parts that are read if they are there.
        notes: receives notes on a log of events, in which impressions and clicks are
            rows of their own, and on a column that cannot hold variants.

    Returns:
        The rows, and what to call the log.
    """
    given = columns or {}
    check_parts(given, COLUMNS)
    table = open_table(rows_of(log), "log")
    column_of = _resolved(table, needs, given, optional)
    numeric = [name for part, name in column_of.items() if part in _NUMBERS]
    event_id = None
    if "event" in column_of:
        event_id = next(iter(known_columns(table.names, "id", OF_EVENTS)), None)
    wanted = [*column_of.values(), *([event_id] if event_id else [])]
    loaded = table.load(list(dict.fromkeys(wanted)), numeric)
    frame = together([rows for rows, _ in loaded], [origin for _, origin in loaded])
    origin: Any = origin_of(table.name, loaded)
    if "event" in column_of:
        frame, strays, repeats = _with_clicks(frame, column_of, event_id)
        origin = _Picked(origin, frame["row"])
        if repeats and notes is not None:
            notes.append(f"{count(repeats, 'event')} with a repeated id left out")
        if strays and notes is not None:
            notes.append(f"{count(strays, 'click')} without an impression left out")
    if frame.height == 0:
        msg = f"{table.name} has no rows"
        raise DataError(msg)
    typed = _typed(frame, column_of, origin, needs, given, notes)
    return _in_one_arm(typed, notes), table.name


def _typed(
    frame: pl.DataFrame,
    column_of: Mapping[str, str],
    origin: Any,
    needs: Mapping[str, str],
    given: Mapping[str, Any],
    notes: list[str] | None,
) -> pl.DataFrame:
    """Return the columns under the names of their parts, each of its type."""
    series = []
    for part, name in column_of.items():
        column = frame[name]
        if part == "variant":
            # Users who are in no variant, such as before a test, have none.
            try:
                column = labels(column, part, origin)
            except DataError as error:
                if given.get(part) is not None:
                    raise
                # Only its name suggests that it holds variants; it does not.
                if notes is not None:
                    notes.append(f"no variants: {error}")
                continue
        elif part not in _NUMBERS:
            column = ids(column, part, origin, hint="")[0]
        else:
            column = numbers(column, name, origin, lenient=part not in needs)
            _check(part, column, name, origin)
        series.append(column.alias(part))
    return pl.DataFrame(series)


def _in_one_arm(frame: pl.DataFrame, notes: list[str] | None) -> pl.DataFrame:
    """Leave out users in several variants, as the click rate of a summary does."""
    if not {"user", "variant"} <= {*frame.columns}:
        return frame
    several = pl.col("variant").drop_nulls().n_unique() > 1
    users = frame.group_by("user").agg(several.alias("several"))
    moved = users.filter("several")["user"]
    if not len(moved):
        return frame
    if len(moved) == users.height:
        msg = "every user is in more than one variant, so none is left"
        raise DataError(msg)
    if notes is not None:
        notes.append(f"{count(len(moved), 'user')} in more than one variant left out")
    return frame.filter(~pl.col("user").is_in(moved.implode()))


def _resolved(
    table: Table,
    needs: Mapping[str, str],
    given: Mapping[str, Any],
    optional: Sequence[str],
) -> dict[str, str]:
    """Say which column is what."""
    column_of: dict[str, str] = {}
    parts = [*needs, *optional]
    if "click" in needs and _of_events(table.names, given):
        parts = [part for part in parts if part != "click"] + ["event", "item"]
    for part in dict.fromkeys(parts):
        name = told_column(table.names, given.get(part), table.name)
        known = known_columns(table.names, part, COLUMNS)
        if name is None and known:
            name = known[0]
        if name is not None:
            column_of[part] = name
        elif part in needs:
            msg = (
                f"{table.name} has no column for the {part}, which {needs[part]}; it "
                f"has {', '.join(table.names)}, and names such as "
                f"{', '.join(COLUMNS[part][:3])} are recognised; say which one to use "
                f"with columns={{{part!r}: ...}}"
            )
            raise ColumnNotFoundError(msg)
    return column_of


@dataclass(frozen=True, eq=False)
class _Picked:
    """Says where rows are that were picked from others.

    `where` is asked for each row; it does not follow from the place of the first one.
    """

    origin: Any
    rows: pl.Series
    line: ClassVar[int] = 0
    lines: ClassVar[None] = None
    role: ClassVar[None] = None

    @property
    def name(self) -> str:
        """What to call the log."""
        return str(self.origin.name)

    def where(self, row: int) -> str:
        """Say where a row is."""
        return str(self.origin.where(int(self.rows[row])))


def _of_events(names: Sequence[str], given: Mapping[str, Any]) -> bool:
    """Say whether clicks are rows of their own, and not a column."""
    if "click" in given or known_columns(names, "click", COLUMNS):
        return False
    return "event" in given or bool(known_columns(names, "event", COLUMNS))


def _with_clicks(
    frame: pl.DataFrame, column_of: dict[str, str], event_id: str | None
) -> tuple[pl.DataFrame, int, int]:
    """Return impressions with their clicks, and how many clicks and repeats are not.

    Of events with one id, the first counts. A click belongs to the first impression
    that has the same values in the columns that all clicks have.
    """
    known = known_words(Rules())
    frame, n = frame.with_row_index("row"), frame.height
    if event_id is not None:
        own = pl.col(event_id)
        frame = frame.filter(own.is_null() | own.is_first_distinct())
    repeats = n - frame.height
    kind = as_words(frame[column_of["event"]]).replace_strict(
        [*known], [*known.values()], default=None
    )
    shown, clicks = (frame.filter(kind == name) for name in ("impression", "click"))
    keys = [
        name
        for part, name in column_of.items()
        if part not in {"event", "variant"} and not clicks[name].null_count()
    ]
    counts = clicks.group_by(keys).agg(pl.len().cast(pl.Int64).alias("click"))
    strays = clicks.join(shown, on=keys, how="anti").height
    first = pl.int_range(pl.len()).over(keys) == 0
    shown = shown.join(counts, on=keys, how="left", maintain_order="left")
    clicked = pl.when(first).then("click").fill_null(0).alias("click")
    del column_of["event"]
    column_of["click"] = "click"
    return shown.with_columns(clicked), strays, repeats


def _check(part: str, column: pl.Series, name: str, origin: Any) -> None:
    """Refuse clicks that cannot be counted, and ranks that are not ranks."""
    least = 0 if part == "click" else 1
    wrong = (column < least) | (column != column.floor()) | column.is_infinite()
    odd = wrong & column.is_not_nan()
    if odd.any():
        row = int(odd.arg_true()[0])
        what = "a number of clicks" if part == "click" else "a rank from 1"
        msg = f"{origin.where(row)}: {name} is {column[row]:g}, not {what}"
        raise DataError(msg)
