"""The options for a log of events, and for how its metrics are defined."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, fields
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Literal, Self, TypedDict, get_args

from rankine._base.checks import check_choice, check_count, check_flag
from rankine._io.columns import check_parts, known_columns
from rankine._online.times import DAY, PERIODS, SECOND, check_zone, span
from rankine.errors import ParameterError, nearest

if TYPE_CHECKING:
    from rankine._online.times import Every

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
    "currency": ("currency", "currency_code", "currencycode"),
    "id": ("event_id", "eventid", "insert_id"),
}  # fmt: skip
"""The parts of an event, and the names by which they are recognised."""
KINDS = (
    "exposure", "impression", "pageview", "heartbeat", "automatic", "click", "action",
    "refund", "conversion",
)  # fmt: skip
"""The kinds of events; this order decides between events at the same time."""
CODES = {kind: code for code, kind in enumerate(KINDS)}
PASSIVE = KINDS[: KINDS.index("click")]
"""What happens without the user doing anything more."""
MONEY = 10**18
"""Money is kept in whole parts of this size, so that sums are exact in any order."""
Unit = Literal["users", "sessions", "clicks"]
UNITS = get_args(Unit)
LastPage = Literal["exclude", "heartbeat"]
Incomplete = Literal["leave out", "keep"]


@dataclass(frozen=True, kw_only=True)
class Rules:
    """What a user may say about a log, and about how its metrics are defined.

    Attributes:
        columns: which column is what, if its name is not recognised.
        kinds: the log's own word for an event -> one of `KINDS`.
        session_gap: minutes of silence that end a session, if it has no id.
        engaged: the events that make a session engaged, or the seconds it lasts; any
            event but `PASSIVE` ones if not given.
        unit: what converts: users, sessions or clicks.
        cap: the most seconds that a page view counts for.
        last_page: whether to exclude it from the time on page, or to close it by a
            heartbeat.
        exposure: the event that exposes a user; the first event with a variant if not
            given.
        window: days after the first exposure that count; all if not given.
        duplicates: whether identical rows are dropped or kept.
        max_events: users with more events that count are left out; none if not given.
        timezone: whose days, weeks and hours count; those of UTC if not given.
        incomplete: whether users are left out or kept whose window is not over by the
            end of the log.
        given: the names of the options that were given, be it with their usual values.
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
    max_events: int | None = None
    timezone: str | None = None
    incomplete: Incomplete = "leave out"
    given: frozenset[str] = field(
        default=frozenset(), init=False, repr=False, compare=False
    )

    @classmethod
    def names(cls) -> list[str]:
        """Return the names of all options."""
        return [each.name for each in fields(cls) if each.init]

    @classmethod
    def of(cls, options: Mapping[str, Any]) -> Self:
        """Read the options; refuse those that do not exist."""
        known = cls.names()
        for name in options:
            if name not in known:
                msg = (
                    f"there is no option {name!r}; there are {', '.join(known)}"
                    f"{nearest(name, known)}"
                )
                raise ParameterError(msg)
        rules = cls(**options)
        given = {name for name, value in options.items() if value not in (None, {})}
        object.__setattr__(rules, "given", frozenset(given))
        return rules

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
        check_choice("unit", self.unit, UNITS)
        check_choice("last_page", self.last_page, ("exclude", "heartbeat"))
        check_choice("duplicates", self.duplicates, ("drop", "keep"))
        if self.incomplete not in get_args(Incomplete):
            msg = f"incomplete must be 'leave out' or 'keep', got {self.incomplete!r}"
            raise ParameterError(msg)
        if self.timezone is not None:
            check_zone(self.timezone)
        engaged = self.engaged
        if isinstance(engaged, str) or (
            engaged is not None and not isinstance(engaged, (int, float, Collection))
        ):
            msg = (
                "engaged must be a list of events such as ['click', 'share'], or a "
                f"number of seconds, got {engaged!r}"
            )
            raise ParameterError(msg)
        if self.max_events is not None:
            check_count("max_events", self.max_events, least=1)
        _ = self.gap, self.engaged_after, self.longest, self.within

    @property
    def gap(self) -> int:
        """Microseconds of silence that end a session without an id."""
        return span("session_gap", self.session_gap, 60 * SECOND, "minutes")

    @property
    def engaged_after(self) -> int | None:
        """Microseconds that make a session engaged; None if events do."""
        if isinstance(self.engaged, (int, float)):
            return span("engaged", self.engaged, SECOND, "seconds")
        return None

    @property
    def longest(self) -> int | None:
        """The most microseconds that a page view counts for."""
        return None if self.cap is None else span("cap", self.cap, SECOND, "seconds")

    @property
    def within(self) -> int | None:
        """Microseconds after the first exposure that count."""
        return None if self.window is None else span("window", self.window, DAY, "days")

    def options(self) -> dict[str, Any]:
        """Return what differs from the defaults, but for columns, ready for JSON.

        Lengths of time are numbers in the unit of their option.

        >>> Rules(window=timedelta(days=7), engaged={"share", "click"}).options()
        {'engaged': ['click', 'share'], 'window': 7}
        """
        usual = vars(Rules())
        found = {
            name: value
            for name, value in vars(self).items()
            if name not in {"columns", "given"} and value != usual[name]
        }
        if "kinds" in found:
            found["kinds"] = {str(word): kind for word, kind in self.kinds.items()}
        if isinstance(self.engaged, Collection):
            found["engaged"] = sorted(map(str, self.engaged))
        lengths = {
            "session_gap": (self.gap, 60 * SECOND), "cap": (self.longest, SECOND),
            "window": (self.within, DAY), "engaged": (self.engaged_after, SECOND),
        }  # fmt: skip
        for name, (length, unit) in lengths.items():
            if name in found and length is not None:
                whole, rest = divmod(length, unit)
                found[name] = length / unit if rest else whole
        return found


class RuleOptions(TypedDict, total=False):
    """The same as keywords; see `summarize`."""

    columns: Mapping[str, Any] | None
    kinds: Mapping[str, str] | None
    session_gap: float | timedelta
    engaged: Collection[str] | float | None
    unit: Unit
    cap: float | timedelta | None
    last_page: LastPage
    exposure: str | None
    window: float | timedelta | None
    duplicates: Literal["drop", "keep"]
    max_events: int | None
    timezone: str | None
    incomplete: Incomplete


def check_titles(
    by: str | None,
    segment: str | None,
    every: Every | None = None,
    *,
    titles: Collection[str] = ("metric", "value", "low", "high", "n", "users"),
) -> None:
    """Refuse groups whose column would have the name of another column of the table."""
    taken = [*titles, every]
    for name, column in (("by", by), ("segment", segment)):
        if column is None:
            continue
        if name == "segment" and column == by:
            msg = f"segment must be another column than that of the groups, {column!r}"
            raise ParameterError(msg)
        if column in taken:
            msg = (
                f"{name} cannot be {column!r}, since the table has a column of that "
                "name; rename that column in your log"
            )
            raise ParameterError(msg)


def is_currency(column: str | None, rules: Rules) -> bool:
    """Say whether a column that divides users holds currencies."""
    if column is None:
        return False
    named = column == rules.columns.get("currency")
    return named or bool(known_columns([column], "currency", COLUMNS))


def check_groups(by: object, segment: object) -> None:
    """Check the columns by which metrics are shown."""
    for name, value in (("by", by), ("segment", segment)):
        if value is not None and not isinstance(value, str):
            msg = f"{name} must be the name of a column or None, got {value!r}"
            raise ParameterError(msg)


def every_of(*, daily: object, weekly: object, hourly: object) -> Every | None:
    """Return what is kept separate, of which there can be one.

    >>> every_of(daily=False, weekly=True, hourly=False)
    'week'
    """
    given = {"daily": daily, "weekly": weekly, "hourly": hourly}
    for name, value in given.items():
        check_flag(name, value)
    asked = [(n, name) for n, (name, value) in enumerate(given.items()) if value]
    if len(asked) > 1:
        msg = f"{asked[1][1]} cannot be given with {asked[0][1]}; give one of them"
        raise ParameterError(msg)
    return PERIODS[asked[0][0]] if asked else None


def refuse_late(options: Iterable[str]) -> None:
    """Refuse options that an accumulator has from when it was made."""
    for name in options:
        msg = f"give {name} to the accumulator, when it is made"
        raise ParameterError(msg)
