"""Logs of lists that were shown: one row per item and impression, with its clicks.

Also logs of events, in which impressions and clicks are rows of their own.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import polars as pl

from rankine._base.text import count
from rankine._io import open_table
from rankine._io.columns import (
    NO_COLUMN,
    check_parts,
    known_columns,
    told_column,
)
from rankine._io.values import ids, numbers
from rankine._online.events import NO_ID, labels, same
from rankine._online.rules import COLUMNS as OF_EVENTS
from rankine._online.rules import Rules
from rankine._online.sources import rows_of
from rankine._online.times import DAY, times
from rankine._online.words import as_words, known_words
from rankine.errors import ColumnNotFoundError, DataError, FormatError

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
    "id": OF_EVENTS["id"],
    "time": OF_EVENTS["time"],
}
"""What a column can be, and the names by which it is recognised."""
_NUMBERS = ("position", "click", "rank_a", "rank_b")


def read_click_log(
    log: Any,
    needs: Mapping[str, str],
    columns: Mapping[str, Any] | None,
    optional: Sequence[str] = (),
    *,
    in_one_arm: bool = False,
) -> tuple[pl.DataFrame, str, list[str]]:
    """Read the columns that are needed, each under the name of its part.

    Args:
        log: a path, a frame, or what `read_table` returns.
        needs: the parts that are required, and what for.
        columns: which column is what, if its name is not recognised.
        optional: parts that are read if they are there.
        in_one_arm: whether to leave out users in several variants.

    Returns:
        The rows, what to call the log, and notes: on a log of events, in which
        impressions and clicks are rows of their own, and on a column that cannot hold
        variants.
    """
    given = columns or {}
    check_parts(given, COLUMNS)
    table = open_table(rows_of(log), "log")
    column_of = _resolved(table, needs, given, optional)
    numeric = [name for part, name in column_of.items() if part in _NUMBERS]
    of_events = "event" in column_of
    parts = ("id", "time", *(("user", "variant") if in_one_arm else ()))
    known = {part: _column(table, part, given) for part in parts}
    who = {part: name for part, name in known.items() if name is not None}
    wanted = [*column_of.values(), *who.values()]
    if of_events and "id" not in who:
        wanted += table.names  # rows are identical if all their columns are
    origin: Any
    frame, origin = table.read(list(dict.fromkeys(wanted)), numeric)
    notes: list[str] = []
    stays = pl.repeat(value=True, n=frame.height, eager=True)
    if of_events and ("id" in who or _has_times_of_day(frame, who, origin)):
        by_id = {part: who[part] for part in who if part == "id"}
        keys = same(frame, {}, {}, by_id, origin)
        stays = keys.is_first_distinct() | (keys == NO_ID)
        notes += _left_out(frame.height - int(stays.sum()), "duplicate event")
    if "user" in who:
        stays = _of_users(stays, frame, who, origin, notes, of_events=of_events)
    if of_events:
        frame = frame.select(list(dict.fromkeys(column_of.values())))
        frame = frame.with_row_index("row").filter(stays)
        frame, strays = _with_clicks(frame, column_of)
        origin = _Picked(origin, frame["row"])
        notes += _left_out(strays, "click", " without an impression")
    if frame.height == 0:
        msg = f"{table.name} has no rows"
        raise DataError(msg)
    typed = _typed(frame, column_of, origin, needs, given, notes)
    return typed if of_events else typed.filter(stays), table.name, notes


def _has_times_of_day(frame: pl.DataFrame, who: Mapping[str, str], origin: Any) -> bool:
    """Say whether rows have times that tell a duplicate from a second click."""
    if "time" not in who:
        return False
    try:
        moments, _ = times(frame[who["time"]], who["time"], origin)
    except (DataError, FormatError):
        return False
    return bool((moments % DAY != 0).any())


def _of_users(
    stays: pl.Series,
    frame: pl.DataFrame,
    who: Mapping[str, str],
    origin: Any,
    notes: list[str],
    *,
    of_events: bool,
) -> pl.Series:
    """Leave out rows that the click rate of a summary does, and note how many."""
    try:
        users, arms = labels(frame[who["user"]], "user", origin), None
        if "variant" in who:
            arms = labels(frame[who["variant"]], "variant", origin)
    except (DataError, FormatError):
        return stays  # if they are asked for, they are refused or noted later
    known = users.is_not_null()
    if of_events:
        notes += _left_out(int((stays & ~known).sum()), "event", " without a user")
        stays &= known
    if arms is None:
        return stays
    both = (
        pl.DataFrame({"user": users, "arm": arms}).filter(stays).drop_nulls().unique()
    )
    moved = both.filter(pl.col("user").is_duplicated())["user"].unique()
    notes += _left_out(len(moved), "user", " in more than one variant")
    stays &= ~users.is_in(moved.implode()).fill_null(value=False)
    if len(moved) and not stays.any():
        msg = "every user is in more than one variant, so none is left"
        raise DataError(msg)
    return stays


def _left_out(n: int, noun: str, rest: str = "") -> list[str]:
    """Note how many of something were left out, if any."""
    return [f"{count(n, noun)}{rest} left out"] if n else []


def _typed(
    frame: pl.DataFrame,
    column_of: Mapping[str, str],
    origin: Any,
    needs: Mapping[str, str],
    given: Mapping[str, Any],
    notes: list[str],
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
                notes.append(f"no variants: {error}")
                continue
        elif part not in _NUMBERS:
            column = ids(column, part, origin, hint="")[0]
        else:
            column = numbers(column, name, origin, lenient=part not in needs)
            _check(part, column, name, origin)
        series.append(column.alias(part))
    return pl.DataFrame(series)


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
        name = _column(table, part, given)
        if name is not None:
            column_of[part] = name
        elif part in needs:
            msg = (
                f"{table.name} has no column for the {part}, which {needs[part]}; it "
                f"has {', '.join(table.names)}, and names such as "
                f"{', '.join(COLUMNS[part][:3])} are recognised; say which one to use "
                f"with columns={{{part!r}: ...}} or --col {part}=NAME"
            )
            raise ColumnNotFoundError(msg)
    return column_of


def _column(table: Table, part: str, given: Mapping[str, Any]) -> str | None:
    """Return the column of a part: the one that was named, or one with a known name."""
    if given.get(part) == NO_COLUMN:
        return None
    name = told_column(table.names, given.get(part), table.name)
    return name or next(iter(known_columns(table.names, part, COLUMNS)), None)


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
    frame: pl.DataFrame, column_of: dict[str, str]
) -> tuple[pl.DataFrame, int]:
    """Return impressions with the number of their clicks, and clicks without any.

    A click belongs to the first impression that has the same values in the columns
    that all clicks have.
    """
    known = known_words(Rules())
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
    return shown.with_columns(clicked), strays


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
