"""Events of a log: columns by their role, kinds in known words, and what is left out.

Whatever is left out is counted, and whatever is assumed is told.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import polars as pl

from rankine._base.checks import check_choice, check_flag
from rankine._io import open_table
from rankine._io.columns import check_parts, choose, known_columns
from rankine._io.json import not_a_table
from rankine._io.sources import Reading
from rankine._io.tables import origin_of, together
from rankine._io.values import ids, kind_of, numbers
from rankine._online.times import SECOND, span, times
from rankine.errors import ColumnNotFoundError, DataError, ParameterError, nearest

if TYPE_CHECKING:
    from datetime import timedelta

    from rankine._io.sources import Rows
    from rankine._io.tables import Places, Table

COLUMNS: dict[str, tuple[str, ...]] = {
    "time": (
        "timestamp", "event_timestamp", "event_time", "time", "ts", "datetime",
        "occurred_at", "created_at", "date",
    ),
    "user": (
        "user_id", "userid", "uid", "user", "client_id", "visitor_id", "visitorid",
        "customer_id", "anonymous_id", "user_pseudo_id",
    ),
    "session": ("session_id", "sessionid", "session", "visit_id", "ga_session_id"),
    "variant": (
        "variant", "variant_id", "variation", "variation_id", "arm", "bucket",
        "experiment_group", "treatment_group", "group",
    ),
    "event": (
        "event", "event_name", "event_type", "action_name", "action", "kind", "type",
    ),
    "page": ("page", "page_id", "url", "page_url", "page_location", "path", "screen"),
    "item": ("item_id", "itemid", "item", "product_id", "doc_id", "object_id"),
    "position": ("position", "rank", "slot", "ordinal"),
    "query": ("query_id", "queryid", "qid", "search_id"),
    "value": ("value", "revenue", "amount", "order_value"),
    "cost": ("cost", "spend", "ad_cost"),
    "id": ("event_id", "eventid", "insert_id"),
}  # fmt: skip
"""The parts of an event, and by which names they are known."""
KINDS = (
    "exposure", "impression", "pageview", "heartbeat", "click", "action", "refund",
    "conversion",
)  # fmt: skip
"""The kinds of events; of events at the same time, the first of these comes first."""
CODES = {kind: code for code, kind in enumerate(KINDS)}
PASSIVE = KINDS[: KINDS.index("click")]
"""What happens without the user doing anything more."""
_WORDS = {
    "exposure": ("exposure", "exposed", "assignment", "experiment_viewed"),
    "impression": ("impression", "impressions", "shown", "view_item_list"),
    "pageview": ("pageview", "page_view", "screen_view", "page"),
    "heartbeat": ("heartbeat", "ping"),
    "click": ("click", "clicks", "clicked", "item_click", "select_item"),
    "refund": ("refund", "refunded", "return"),
    "conversion": ("conversion", "converted", "purchase", "order", "buy", "checkout"),
}
_KNOWN = {word: kind for kind, words in _WORDS.items() for word in words}
_MONEY = 1_000_000
"""Money is kept in whole millionths, so that sums are exact in any order."""
_MOST = 9_000_000_000
"""What one event may be worth; a user's sum stays within 64 bits."""
_DAY = 24 * 60 * 60 * SECOND
Unit = Literal["users", "sessions", "clicks"]
LastPage = Literal["exclude", "heartbeat"]


@dataclass(frozen=True, kw_only=True)
class Rules:
    """What a user may say of a log, and of how its metrics are defined.

    Attributes:
        columns: which column is what, where names are not known.
        kinds: own word of an event -> one of `KINDS`.
        session_gap: minutes of silence that end a session, where ids do not say.
        engaged: the events that make a session engaged, or the seconds it lasts; any
            event but `PASSIVE` ones if not given.
        unit: what converts: users, sessions or clicks.
        cap: the most seconds that a page view counts.
        last_page: exclude it from the time on page, or close it by a heartbeat.
        exposure: the event that exposes a user; the first event with a variant if not
            given.
        window: days after the first exposure that count; all if not given.
        duplicates: whether rows that are the same are dropped or kept.
    """

    columns: Mapping[str, Any] = field(default_factory=dict)
    kinds: Mapping[str, str] = field(default_factory=dict)
    session_gap: float | timedelta = 30
    engaged: Collection[str] | float | None = None
    unit: Unit = "users"
    cap: float | timedelta | None = None
    last_page: LastPage = "exclude"
    exposure: str | None = None
    window: float | timedelta | None = None
    duplicates: Literal["drop", "keep"] = "drop"

    def __post_init__(self) -> None:
        for name in ("columns", "kinds"):
            given = getattr(self, name)
            object.__setattr__(self, name, {} if given is None else given)
            if not isinstance(getattr(self, name), Mapping):
                msg = f"{name} must be a mapping, got {given!r}"
                raise ParameterError(msg)
        check_parts(self.columns, COLUMNS)
        for kind in self.kinds.values():
            check_choice("a kind of event", kind, KINDS)
        check_choice("unit", self.unit, ("users", "sessions", "clicks"))
        check_choice("last_page", self.last_page, ("exclude", "heartbeat"))
        check_choice("duplicates", self.duplicates, ("drop", "keep"))
        engaged = self.engaged
        if isinstance(engaged, str) or (
            engaged is not None and not isinstance(engaged, (int, float, Collection))
        ):
            msg = (
                "engaged must be a list of events such as ['click', 'share'], or a "
                f"number of seconds, got {engaged!r}"
            )
            raise ParameterError(msg)
        _ = self.gap, self.engaged_after, self.longest, self.within

    @property
    def gap(self) -> int:
        """Microseconds of silence that end a session without an id."""
        return span("session_gap", self.session_gap, 60 * SECOND, "minutes")

    @property
    def gap_of_ids(self) -> int:
        """Microseconds of silence that end even a session with an id."""
        return max(self.gap, _DAY)

    @property
    def engaged_after(self) -> int | None:
        """Microseconds that make a session engaged, None if events do."""
        if isinstance(self.engaged, (int, float)):
            return span("engaged", self.engaged, SECOND, "seconds")
        return None

    @property
    def longest(self) -> int | None:
        """The most microseconds that a page view counts."""
        return None if self.cap is None else span("cap", self.cap, SECOND, "seconds")

    @property
    def within(self) -> int | None:
        """Microseconds after the first exposure that count."""
        return (
            None if self.window is None else span("window", self.window, _DAY, "days")
        )


@dataclass(frozen=True, eq=False)
class Events:
    """Events that were read.

    Attributes:
        frame: a row per event: user, time in microseconds, session, variant, segment,
            code of the kind, whether it engages and exposes, value and cost in
            millionths, and a key that rows which are the same share.
        has: the parts that the log has.
        kinds: the kinds that it has.
        n_read: how many rows were read.
        late: how many came after a later one of the same user.
        excluded: rows that were left out while reading, by reason.
        notes: what was assumed.
    """

    frame: pl.DataFrame
    has: frozenset[str]
    kinds: frozenset[str]
    n_read: int
    late: int
    excluded: Mapping[str, int]
    notes: tuple[str, ...]


def read_events(data: Any, rules: Rules, by: str | None, segment: str | None) -> Events:
    """Read events from a file, a frame or whatever else a table is read from.

    Args:
        data: the log.
        rules: what is said of it.
        by: the column that tells groups of users apart: variant, or any other.
        segment: a second such column.
    """
    told = dict(rules.columns)
    table = open_table(data, "events", Reading(columns=told or None))
    if table.parts[0].entries is not None:
        raise not_a_table(table.name)
    found = _resolved(table, told, by, segment)
    numeric = [found[part] for part in ("time", "value", "cost") if part in found]
    wanted = list(dict.fromkeys(found.values()))
    if rules.duplicates == "drop" and "id" not in found:
        wanted = list(table.names)  # rows are the same if all of their columns are
    loaded = table.load(wanted, numeric)
    raw = together([frame for frame, _ in loaded], [origin for _, origin in loaded])
    if raw.height == 0:
        msg = f"{table.name} has no events"
        raise DataError(msg)
    origin = origin_of(table.name, loaded)
    notes = [*table.notes, *_taken(found, told, table.name)]
    frame, more = _typed(raw, found, origin, rules)
    return _kept(frame, frozenset(found), [*notes, *more])


def _resolved(
    table: Table, told: Mapping[str, Any], by: str | None, segment: str | None
) -> dict[str, str]:
    """Say which column is what; `by` may be a part or the name of a column."""
    names = table.names

    def by_name(part: str) -> str | None:
        return next(iter(known_columns(names, part, COLUMNS)), None)

    found = choose(names, [*COLUMNS], told, table.name, by_name)
    if "user" not in found and "session" in found:
        found["user"] = found["session"]
    for part in ("user", "event"):
        if part not in found:
            known = ", ".join(COLUMNS[part][:3])
            msg = (
                f"{table.name} has no column for the {part}; it has "
                f"{', '.join(names)}, and names such as {known} are recognised; say "
                f"which one to use with columns={{{part!r}: ...}} or --col {part}=NAME"
            )
            raise ColumnNotFoundError(msg)
    for role, name in (("variant", by), ("segment", segment)):
        if name is not None:
            found |= _group(table, found, role, name)
    if by is None:
        found.pop("variant", None)
    return found


def _group(
    table: Table, found: Mapping[str, str], role: str, name: str
) -> dict[str, str]:
    """Return the column of a group: by its name, or the one that has this part."""
    names = table.names
    if role == name:
        return {}  # found already; without variants, all users are one group
    if name in names or name in found:
        return {role: name if name in names else found[name]}
    msg = (
        f"{table.name} has no column {name!r}; it has {', '.join(names)}"
        f"{nearest(name, names)}"
    )
    raise ColumnNotFoundError(msg)


def _taken(
    found: Mapping[str, str], told: Mapping[str, Any], name: str
) -> tuple[str, ...]:
    notes = []
    taken = [
        f"{part} = {column}"
        for part, column in found.items()
        if part not in told and column not in COLUMNS.get(part, (column,))[:1]
    ]
    if taken:
        notes.append(f"{name}: {', '.join(taken)}")
    if found["user"] == found.get("session"):
        notes.append(f"{name} has no users: every session counts as one")
    return tuple(notes)


def _typed(
    raw: pl.DataFrame, found: Mapping[str, str], origin: Rows | Places, rules: Rules
) -> tuple[pl.DataFrame, list[str]]:
    """Return the columns that metrics are made of, under their own names and types."""
    notes: list[str] = []
    columns: dict[str, pl.Series] = {}
    for part in ("user", "session", "variant", "segment"):
        if part in found:
            columns[part] = _labels(raw[found[part]], part, origin)
    if "time" in found:
        moments, said = times(raw[found["time"]], found["time"], origin)
        columns["time"] = moments
        notes += said
    for part in ("value", "cost"):
        if part in found:
            columns[part] = _money(raw[found[part]], found[part], origin)
    columns |= _kinds(_text(raw[found["event"]]), rules)
    empty = {
        "session": pl.String, "variant": pl.String, "segment": pl.String,
        "time": pl.Int64, "value": pl.Int64, "cost": pl.Int64,
    }  # fmt: skip
    made = pl.DataFrame([columns[part].alias(part) for part in sorted(columns)])
    lacking = [
        pl.lit(None, dtype).alias(part)
        for part, dtype in empty.items()
        if part not in columns
    ]
    order = (
        "user", "time", "session", "variant", "segment", "kind", "engages", "exposes",
        "value", "cost", "same",
    )  # fmt: skip
    made = made.with_columns(_same(raw, made, found, rules).alias("same"), *lacking)
    return made.select(order), notes


def _labels(column: pl.Series, part: str, origin: Rows | Places) -> pl.Series:
    """Return ids, null where they are missing; names of groups are texts."""
    if part in {"variant", "segment"} and column.dtype in (pl.Boolean, pl.Date):
        column = column.cast(pl.String)
    label, _ = ids(column, part, origin, lenient=True)  # type: ignore[arg-type]
    return label if part in {"user", "session"} else label.cast(pl.String)


def _text(column: pl.Series) -> pl.Series:
    text = column.cast(pl.String).str.strip_chars().str.to_lowercase()
    return text.str.replace_all(r"[\s-]+", "_")


def _kinds(words: pl.Series, rules: Rules) -> dict[str, pl.Series]:
    """Return the code of each event, and whether it engages and exposes."""
    own = {_word(word): kind for word, kind in rules.kinds.items()}
    known = {**_KNOWN, **own}
    engaging: Collection[str] | None = None
    if rules.engaged is not None and not isinstance(rules.engaged, (int, float)):
        engaging = {_word(word) for word in rules.engaged}
    exposing = None if rules.exposure is None else _word(rules.exposure)
    distinct = words.drop_nulls().unique().to_list()
    facts = {"kind": {}, "engages": {}, "exposes": {}}  # type: dict[str, dict[str, Any]]
    for word in distinct:
        kind = known.get(word, "action")
        facts["kind"][word] = CODES[kind]
        active = kind not in PASSIVE
        facts["engages"][word] = (
            active if engaging is None else bool({word, kind} & {*engaging})
        )
        facts["exposes"][word] = exposing is None or exposing in {word, kind}
    types = {"kind": pl.UInt8, "engages": pl.Boolean, "exposes": pl.Boolean}
    return {
        name: words.replace_strict(facts[name], default=None, return_dtype=dtype)
        if distinct
        else pl.Series(name, [None] * len(words), dtype)
        for name, dtype in types.items()
    }


def _word(word: object) -> str:
    if not isinstance(word, str):
        msg = f"an event is a word, got {kind_of(word)}"
        raise ParameterError(msg)
    return str(_text(pl.Series([word]))[0])


def _money(column: pl.Series, title: str, origin: Rows | Places) -> pl.Series:
    """Return amounts in whole millionths, null where there is none."""
    if column.dtype == pl.String:
        column = column.set(column.str.strip_chars() == "", None)
    amount = numbers(column, title, origin, lenient=True).fill_nan(None)  # type: ignore[arg-type]
    odd = (amount.abs() > _MOST).fill_null(value=False)
    if odd.any():
        row = int(odd.arg_true()[0])
        msg = (
            f"{origin.where(row)}: {title} is {amount[row]:g}; an event may be worth "
            f"up to {_MOST:,}"
        )
        raise DataError(msg)
    return (amount * _MONEY).round().cast(pl.Int64)


def _same(
    raw: pl.DataFrame, made: pl.DataFrame, found: Mapping[str, str], rules: Rules
) -> pl.Series:
    """Return a key that rows which are the same have in common; null if kept apart.

    Neither the order of columns nor their types matter, which may change from part to
    part.
    """
    if rules.duplicates == "keep":
        return pl.Series("same", [None], pl.UInt64).new_from_index(0, raw.height)
    if "id" in found:
        own = raw.select(pl.col(found["id"]).cast(pl.String))
        return own.hash_rows().set(own.to_series().is_null(), None)
    known = {column for part, column in found.items() if part in made.columns}
    others = sorted(set(raw.columns) - known)
    plain = raw.select(
        (
            pl.col(name).struct.json_encode()
            if isinstance(raw.schema[name], pl.Struct)
            else pl.col(name).cast(pl.String)
        ).alias(f"raw {name}")
        for name in others
        if not isinstance(raw.schema[name], (pl.List, pl.Array))
    )
    return pl.concat([made, plain], how="horizontal").hash_rows()


def _kept(frame: pl.DataFrame, has: frozenset[str], notes: list[str]) -> Events:
    """Leave out events that cannot be used, and count them."""
    n_read = frame.height
    excluded = {}
    reasons = {"user": "a user", "kind": "a kind"}
    if "time" in has:
        reasons["time"] = "a time"
    for part, words in reasons.items():
        missing = frame[part].null_count()
        if missing:
            excluded[f"events without {words}"] = missing
            frame = frame.filter(pl.col(part).is_not_null())
    if frame.height == 0:
        msg = f"no event has all of {', '.join(sorted(reasons))}"
        raise DataError(msg)
    late = 0
    if "time" in has and not frame["time"].is_sorted():
        late = _late(frame)
    kinds = frozenset(KINDS[code] for code in frame["kind"].unique().to_list())
    return Events(frame, has, kinds, n_read, late, excluded, tuple(notes))


def _late(frame: pl.DataFrame) -> int:
    """Count the events that are earlier than the one before of the same user."""
    order = frame.select("user", "time").sort("user", maintain_order=True)
    again = pl.col("user") == pl.col("user").shift()
    return int(order.select((again & (pl.col("time").diff() < 0)).sum()).item())


def check_groups(by: object, segment: object, daily: object) -> None:
    """Check the columns by which metrics are shown."""
    for name, value in (("by", by), ("segment", segment)):
        if value is not None and not isinstance(value, str):
            msg = f"{name} must be the name of a column or None, got {value!r}"
            raise ParameterError(msg)
    check_flag("daily", daily)
