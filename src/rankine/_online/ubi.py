"""User Behavior Insights: queries, what they showed, and what users did next."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from rankine._base.notebook import as_table
from rankine._base.text import count
from rankine._io import open_table
from rankine._io.json import not_a_table
from rankine._online.rules import COLUMNS, Rules
from rankine._online.times import times
from rankine._online.words import as_words, known_words
from rankine.errors import ColumnNotFoundError, DataError

if TYPE_CHECKING:
    from collections.abc import Mapping

_HITS = "query_response_hit_ids"
_SHORT = {
    "object_id": "item_id",
    "ordinal": "position",
    "index": "position",
    "client_id": "user_id",
    "action_name": "event",
}
"""What parts of UBI are called in a log."""
_ATTRIBUTES = ("query_attributes", "event_attributes")
_PAIR = ["query_id", "item_id"]
_FILLED = {"user_query", *COLUMNS["variant"]}
"""What an event takes from its query if it has a column but no value for it."""
_KEPT_APART = {
    name for part, names in COLUMNS.items() if part != "variant" for name in names
}
"""What means something different for an event and for its query."""


@dataclass(frozen=True, eq=False, repr=False)
class UbiLog:
    """What `from_ubi` makes of queries and events.

    Attributes:
        events: impressions, searches without any, and events, for `summarize` and
            `ab_test`.
        notes: what was assumed, and what was left out.
    """

    events: pl.DataFrame
    notes: tuple[str, ...]
    _shown: pl.DataFrame
    _clicks: pl.DataFrame

    @property
    def shown(self) -> pl.DataFrame:
        """One row per item that was shown, for `judgments_from_clicks`."""
        if "item_id" not in self._clicks.columns:
            msg = (
                "the events have no object_id, which says what was clicked on; put it "
                "into event_attributes.object, or into a column of its own"
            )
            raise ColumnNotFoundError(msg)
        if "position" not in self._shown.columns:
            msg = (
                "the impressions among the events have no position, which says where "
                "an item was shown; put it into event_attributes.position.ordinal, or "
                "into a column of its own"
            )
            raise ColumnNotFoundError(msg)
        clicks = self._clicks.group_by(_PAIR).agg(pl.len().alias("click"))
        shown = self._shown.unique(_PAIR, keep="first", maintain_order=True)
        shown = shown.join(clicks, on=_PAIR, how="left", maintain_order="left")
        texts = [name for name in ("user_query", "query_id") if name in shown.columns]
        return shown.select(
            pl.col("query_id").alias("impression_id"),
            "user_id",
            pl.coalesce(texts).alias("query"),
            "item_id",
            "position",
            pl.col("click").fill_null(0),
        )

    def __repr__(self) -> str:
        """Return how much there is, in one line."""
        return f"UbiLog({count(self.events.height, 'event')})"

    def _repr_html_(self) -> str:
        return as_table(self)


def from_ubi(
    events: Any, queries: Any, *, kinds: Mapping[str, str] | None = None
) -> UbiLog:
    """Read logs of User Behavior Insights, in which queries say what was shown.

    Each hit of a query is an impression at its position in the response, with the
    client and the time of the query. If events have impressions of their own, these
    count instead. A query without impressions is an exposure: its user counts, with the
    variant of the query, but nothing was shown. Events take the variant and the text
    from their query.

    Args:
        events: ubi_events, as a file or a frame: action_name, timestamp, query_id,
            client_id, and event_attributes with the object_id.
        queries: ubi_queries: query_id, query_response_hit_ids, timestamp, client_id
            and user_query; what is in query_attributes, such as the variant of a test,
            becomes a column. Hit ids and attributes may be texts of JSON.
        kinds: the log's word for an action -> kind of event, as in `summarize`.

    Returns:
        A `UbiLog`: ``.events`` is for `summarize` and `ab_test`, ``.shown`` for
        `judgments_from_clicks` and `click_metrics`. A user is a client_id; an item that
        a response has twice is shown once, at its first position.

    Raises:
        DataError: a column is missing, or cannot be read.

    References:
        User Behavior Insights, version 1.3.0.

    Examples:
        Three hits and one click: 1 / 3.

        >>> import rankine as rk
        >>> queries = [
        ...     {
        ...         "query_id": "q1",
        ...         "client_id": "c1",
        ...         "user_query": "toner",
        ...         "timestamp": "2026-03-01T09:00:00Z",
        ...         "query_response_hit_ids": ["a", "b", "c"],
        ...     }
        ... ]
        >>> events = [
        ...     {
        ...         "action_name": "click",
        ...         "client_id": "c1",
        ...         "query_id": "q1",
        ...         "timestamp": "2026-03-01T09:00:07Z",
        ...         "event_attributes": {"object": {"object_id": "b"}},
        ...     }
        ... ]
        >>> import polars as pl
        >>> log = rk.online.from_ubi(pl.DataFrame(events), pl.DataFrame(queries))
        >>> round(rk.online.click_through_rate(log.events).value, 3)
        0.333
        >>> log.shown.select("query", "item_id", "position", "click").rows()
        [('toner', 'a', 1, 0), ('toner', 'b', 2, 1), ('toner', 'c', 3, 0)]
    """
    notes: list[str] = []
    asked = _read(queries, "queries", ("query_id", _HITS), notes)
    done = _read(events, "events", ("event", "query_id"), notes)
    asked, done = _with_users(_once(asked, notes), done)
    known = known_words(Rules(kinds=kinds or {}))
    kind = as_words(done["event"]).replace_strict(
        [*known], [*known.values()], default=None
    )
    done = _with_queries(asked, done)
    clicks, shown = done.filter(kind == "click"), done.filter(kind == "impression")
    if shown.height:
        notes.append("the events have impressions, which count instead of hits")
        unseen = asked.join(shown, on="query_id", how="anti", maintain_order="left")
        exposures = _exposures(unseen, "of which no event is an impression", notes)
        tables = [exposures, done] if exposures.height else [done]
    else:
        has_hits = pl.col(_HITS).list.len().fill_null(0) > 0
        exposures = _exposures(asked.filter(~has_hits), "without hits", notes)
        shown = _impressions(asked.filter(has_hits), notes)
        tables = [shown, exposures, done]
    done = pl.concat(tables, how="diagonal_relaxed")
    if "item_id" in clicks.columns:
        strays = clicks.join(shown, on=_PAIR, how="anti").height
        if strays:
            notes.append(
                f"{count(strays, 'click')} on an item its query did not return"
            )
    return UbiLog(done, tuple(notes), shown, clicks)


def _read(
    data: Any, role: str, needs: tuple[str, ...], notes: list[str]
) -> pl.DataFrame:
    """Read a table of UBI, with a column for each part, named as in a log."""
    table = open_table(data, role)
    if table.parts[0].entries is not None:
        raise not_a_table(table.name)
    frame, origin = table.read(table.names)
    frame = _flat(_decoded(frame, notes))
    spelled = {short: name for name, short in _SHORT.items() if name != "index"}
    for name in needs:
        if name not in frame.columns:
            msg = (
                f"{table.name} has no column {spelled.get(name, name)}, which "
                f"ubi_{role} of UBI have; it has {', '.join(table.names)}"
            )
            raise ColumnNotFoundError(msg)
    notes += table.notes
    if "timestamp" in frame.columns:
        moments, said = times(frame["timestamp"], "timestamp", origin)
        moment = moments.cast(pl.Datetime("us")).dt.replace_time_zone("UTC")
        frame = frame.with_columns(moment.alias("timestamp"))
        notes += said
    texts = [name for name in ("query_id", "item_id") if name in frame.columns]
    return frame.with_columns(pl.col(texts).cast(pl.String))


def _decoded(frame: pl.DataFrame, notes: list[str]) -> pl.DataFrame:
    """Read attributes that are JSON in texts, as those in a CSV file are."""
    for name in _ATTRIBUTES:
        if frame.schema.get(name) != pl.String:
            continue
        texts = frame[name].str.strip_chars().replace("", None)
        if texts.null_count() == texts.len():
            continue
        try:
            fields = texts.str.json_decode(infer_schema_length=None)
        except pl.exceptions.PolarsError:
            fields = texts
        if isinstance(fields.dtype, pl.Struct):
            frame = frame.with_columns(fields)
        else:
            notes.append(f"{name} cannot be read, since they are not JSON objects")
    return frame


def _flat(frame: pl.DataFrame) -> pl.DataFrame:
    """Give each nested field a column, named after its last part."""
    while structs := [
        name for name, dtype in frame.schema.items() if isinstance(dtype, pl.Struct)
    ]:
        fields = [
            pl.col(name).struct.field(part.name).alias(f"{name}.{part.name}")
            for name in structs
            for part in frame.schema[name].fields  # type: ignore[attr-defined]
        ]
        frame = frame.with_columns(fields).drop(structs)
    if "client_id" in frame.columns:
        frame = frame.drop("user_id", strict=False)
    taken = {name for name in frame.columns if "." not in name}
    names: dict[str, str] = {}
    for name in sorted(frame.columns, key=lambda name: name.count(".")):
        last = name.rpartition(".")[2]
        short = _SHORT.get(last, last)
        if short not in taken - {name} and short not in names.values():
            names[name] = short
    return frame.rename(names)


def _once(asked: pl.DataFrame, notes: list[str]) -> pl.DataFrame:
    """Take each response once, with its hits as a list of texts."""
    hits = asked[_HITS]
    if hits.dtype == pl.String:
        with suppress(pl.exceptions.PolarsError):
            hits = hits.replace("", "[]").str.json_decode(pl.List(pl.String))
    if not isinstance(hits.dtype, pl.List):
        msg = f'{_HITS} must be lists of ids, such as ["a", "b"], got {hits[0]!r}'
        raise DataError(msg)
    asked = asked.with_columns(hits.cast(pl.List(pl.String)))
    keys = [
        name
        for name in ("query_id", "query_response_id", "timestamp")
        if name in asked.columns
    ]
    once = asked.unique(keys, keep="first", maintain_order=True)
    if once.height < asked.height:
        again = asked.height - once.height
        verb = "was" if again == 1 else "were"
        notes.append(f"{count(again, 'query')} {verb} there twice: counted once")
    return once


def _with_users(
    asked: pl.DataFrame, done: pl.DataFrame
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Fill in, by query, the users and sessions that only the other table has."""
    for name in ("user_id", "session_id"):
        tables = [table for table in (asked, done) if name in table.columns]
        if tables:
            asked, done = (
                _filled(asked, tables[-1], [name]),
                _filled(done, tables[0], [name]),
            )
    for table, role in ((asked, "queries"), (done, "events")):
        if "user_id" not in table.columns:
            msg = f"ubi_{role} have no client_id, which says who the user is"
            raise ColumnNotFoundError(msg)
    return asked, done


def _with_queries(asked: pl.DataFrame, done: pl.DataFrame) -> pl.DataFrame:
    """Give events what only their query says, such as its text and the variant."""
    names = [
        name
        for name in asked.columns
        if name.lower() not in _KEPT_APART
        and not name.startswith("query_response")
        and (name in _FILLED or name not in done.columns)
    ]
    return _filled(done, asked, names) if names else done


def _filled(table: pl.DataFrame, other: pl.DataFrame, names: list[str]) -> pl.DataFrame:
    """Give rows what they lack, if a row of their query in another table has it."""
    known = (
        other.filter(pl.col("query_id").is_not_null())
        .group_by("query_id", maintain_order=True)
        .agg(pl.col(names).drop_nulls().first())
    )
    shared = [name for name in names if name in table.columns]
    joined = table.join(
        known, on="query_id", how="left", maintain_order="left", suffix=" of query"
    )
    return joined.with_columns(
        pl.coalesce(name, f"{name} of query").alias(name) for name in shared
    ).drop([f"{name} of query" for name in shared])


def _exposures(asked: pl.DataFrame, which: str, notes: list[str]) -> pl.DataFrame:
    """Return one row per query that showed nothing, so that its user counts."""
    if asked.height:
        counted = "counts as an exposure" if asked.height == 1 else "count as exposures"
        notes.append(
            f"{count(asked.height, 'query')} {which} {counted} without impressions"
        )
    return asked.drop(_HITS).with_columns(pl.lit("exposure").alias("event"))


def _impressions(asked: pl.DataFrame, notes: list[str]) -> pl.DataFrame:
    """Return one row per hit, with its position."""
    places = pl.int_ranges(1, pl.col(_HITS).list.len() + 1).alias("position")
    shown = asked.with_columns(places).explode(_HITS, "position")
    notes.append(
        f"{count(shown.height, 'hit')} of {count(asked.height, 'query')} taken as "
        "impressions; whether users saw all of them is not known"
    )
    impression = pl.lit("impression").alias("event")
    return shown.rename({_HITS: "item_id"}).with_columns(impression)
