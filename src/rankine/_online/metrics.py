"""The online metrics: each is one sum over users divided by another."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import polars as pl

from rankine._base.checks import check_number
from rankine._online.rules import PASSIVE
from rankine._online.times import DAY, SECOND, days_text
from rankine._online.users import (
    AMOUNTS,
    COLUMNS_OF_USERS,
    NEEDS,
    RETURNS,
    in_money,
)
from rankine.errors import DataError, ParameterError, UnknownMetricError, nearest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankine._online.rules import Rules

_SETTLED = "was settled when the table of users was made"
_PAGES = {"dwell", "timed_page_views", "untimed_page_views"}
OF_METRICS = {
    "session_gap": {
        "sessions", "converting_sessions", "pageless_sessions", "bounces",
        "engaged_sessions", "converting_clicks", *_PAGES,
    },
    "engaged": {"engaged_sessions", "actions"},
    "unit": set[str](),
    "cap": {"dwell"},
    "last_page": _PAGES,
}  # fmt: skip
"""The rules that matter for some metrics alone: those that read one of these counts."""


@dataclass(frozen=True, eq=False)
class OnlineMetric:
    """What is known about a metric of a log that is read by some rules.

    Attributes:
        parts: numerator and denominator, from what a user did.
        says: how it is defined, in words.
        unit: what the denominator counts.
        needs: kinds of events, and parts of them, without which it is left out.
        bounds: the smallest and the largest value.
        higher_is_better: None if neither is.
        assumed: whether higher is taken for better without anybody's word.
        rules: the rules that define it, besides those of the columns that it reads.
        over: what is wrong where the numerator is above the denominator.
        usual: whether it is computed unless others are asked for.
        quantile: the share of users below it, if it is a quantile of the numerator.
        lacks: says instead what a log lacks of its `needs`, if that is not its part.
        after_days: how many days a user must be observed to have a value; None if all
            have one.
        settled: what is said instead of events that were counted before, by rules that
            are not known.
    """

    parts: tuple[pl.Expr, pl.Expr]
    says: str
    unit: str
    needs: tuple[str, ...]
    bounds: tuple[float, float]
    higher_is_better: bool | None
    rules: tuple[str, ...] = ()
    over: str = ""
    usual: bool = True
    quantile: float | None = None
    lacks: Mapping[str, str] = field(default_factory=dict)
    after_days: int | None = None
    settled: str = ""
    assumed: bool = False

    @property
    def counts_users(self) -> bool:
        """Whether the denominator counts users."""
        return self.unit == "users" or self.after_days is not None

    @property
    def has_before(self) -> bool:
        """Whether it is known from before the first exposure, too."""
        return self.quantile is None and self.after_days is None

    @property
    def is_share(self) -> bool:
        """Whether it is a share, from 0 to 1."""
        return self.bounds[1] == 1

    @property
    def columns(self) -> set[str]:
        """The counts that it is computed from."""
        return {name for part in self.parts for name in part.meta.root_names()}

    def beyond(self, above: float, below: float) -> str:
        """Say why a rate is above 1."""
        return f"{self.over}: {above:,.0f} and {below:,.0f}, a rate above 1"

    def sides(self, name: str, mark: str = "") -> list[pl.Expr]:
        """Return both sums of a metric, under their names.

        The numerator of users who have no value yet is nan.
        """
        y, x = self.parts
        if self.after_days is not None:
            y = pl.when(x).then(y.cast(pl.Float64)).otherwise(float("nan"))
        return [
            part.cast(pl.Float64).alias(f"{name}.{side}{mark}")
            for side, part in (("y", y), ("x", x))
        ]


def metrics_by(rules: Rules) -> dict[str, OnlineMetric]:
    """Return what is known about each of our metrics, by its name."""
    passive, inf = ", ".join(PASSIVE), float("inf")
    minutes = f"{rules.gap / SECOND / 60:g} minutes"
    session = f"a session has its own id, or ends after {minutes} of silence"
    engaging, acts = f"with any event except {passive}", f"all but {passive}"
    if rules.engaged_after is not None:
        engaging = f"that last {rules.engaged_after / SECOND:g} seconds or more"
    elif rules.engaged is not None:
        acts = ", ".join(sorted(rules.engaged))  # type: ignore[arg-type]
        engaging = f"with an event of {acts}"
    cap = f", at most {rules.longest / SECOND:g} each" if rules.longest else ""
    last = {
        "exclude": "is excluded",
        "heartbeat": "ends with its last heartbeat, if there is one",
    }[rules.last_page]
    converting, converts, needed = {
        "users": (
            (pl.col("conversions") > 0, pl.col("events") > 0),
            "users with a conversion / users",
            ("conversion",),
        ),
        "sessions": (
            (pl.col("converting_sessions"), pl.col("sessions")),
            "sessions with a conversion / sessions",
            ("conversion", "time or session"),
        ),
        "clicks": (
            (pl.col("converting_clicks"), pl.col("clicks")),
            "clicks with a conversion in the session before the next click / clicks",
            ("conversion", "click", "time"),
        ),
    }[rules.unit]
    bounced = "sessions with a single page view and no further action / sessions"
    return {
        "ctr": OnlineMetric(
            (pl.col("clicks"), pl.col("impressions")),
            "clicks / impressions",
            "impressions",
            ("impression",),
            (0, 1),
            higher_is_better=True,
            over="there are more clicks than impressions",
        ),
        "conversion_rate": OnlineMetric(
            converting,
            converts,
            rules.unit,
            needed,
            (0, 1),
            higher_is_better=True,
            rules=("unit",),
        ),
        "bounce_rate": OnlineMetric(
            (pl.col("bounces"), pl.col("sessions")),
            f"{bounced}; {passive} do not count as actions; {session}",
            "sessions",
            ("pageview", "time or session"),
            (0, 1),
            higher_is_better=False,
            settled=(
                f"{bounced}; {passive} do not count as actions; what ends a session "
                f"{_SETTLED}"
            ),
        ),
        "engagement_rate": OnlineMetric(
            (pl.col("engaged_sessions"), pl.col("sessions")),
            f"sessions {engaging} / sessions; {session}",
            "sessions",
            ("time or session",) if rules.engaged_after is None else ("time",),
            (0, 1),
            higher_is_better=True,
            settled=(
                "engaged sessions / sessions; what engages, and what ends a session, "
                f"{_SETTLED}"
            ),
        ),
        "engagement_per_impression": OnlineMetric(
            (pl.col("actions"), pl.col("impressions")),
            f"events / impressions, counting {acts}",
            "impressions",
            ("impression",),
            (0, inf),
            higher_is_better=True,
            usual=False,
            settled=f"actions / impressions; which events are actions {_SETTLED}",
        ),
        "time_on_page": OnlineMetric(
            (pl.col("dwell") / SECOND, pl.col("timed_page_views")),
            f"mean seconds to the next page view of the session{cap}; the last page of "
            f"a session {last}; {session}",
            "page views",
            ("pageview", "time"),
            (0, inf),
            higher_is_better=None,
            settled=(
                "mean seconds to the next page view of the session; what caps them, "
                f"and what ends a session and its last page, {_SETTLED}"
            ),
        ),
        "roi": OnlineMetric(
            (_amount("revenue", minus="cost"), _amount("cost")),
            "(revenue - cost) / cost; revenue is the value of conversions minus that "
            "of refunds, whatever the sign of a refund",
            "users",
            ("value", "cost"),
            (-inf, inf),
            higher_is_better=True,
        ),
        **{f"retention_{day}": _retention(day, rules) for day in RETURNS},
    }


def _amount(money: str, minus: str | None = None) -> pl.Expr:
    """Return money as it was written, or the difference of two amounts.

    Up to version 1, polars cannot subtract such columns in an expression.
    """

    def amount(columns: Sequence[pl.Series]) -> pl.Series:
        return in_money(columns[0] if minus is None else columns[0] - columns[1])

    names = [money] if minus is None else [money, minus]
    return pl.map_batches(names, amount, return_dtype=pl.Float64)


def _retention(day: int, rules: Rules) -> OnlineMetric:
    """Return the share of users who come back on a day after their first exposure."""
    is_seen = pl.col("observed") >= (day + 1) * DAY
    nothing = f"nothing says who came back after {days_text(day * DAY)}"
    made = (
        f"the table of users must be made with a window of {day + 1} days or more, or "
        "without one, and be grouped by variant if it has first exposures"
    )
    if rules.within is not None and rules.within < (day + 1) * DAY:
        given = f"{rules.within / DAY:g}"
        made = f"window= or --window must be {day + 1} days or more, but is {given}"
    return OnlineMetric(
        ((pl.col(RETURNS[day]) > 0) & is_seen, is_seen),
        f"users with an event from {24 * day} to {24 * (day + 1)} hours after their "
        "first exposure (without variants, their first event) / users who are observed "
        f"for {24 * (day + 1)} hours",
        f"users who are observed for {day + 1} days",
        ("time", RETURNS[day]),
        (0, 1),
        higher_is_better=True,
        usual=False,
        lacks={
            "time": f"{nothing}: there are no times",
            RETURNS[day]: f"{nothing}: {made}",
        },
        after_days=day + 1,
    )


_LOWER = {"cost", "bounces", "pageless_sessions", "untimed_page_views"}
"""Columns of which a test takes less for better, unless told otherwise."""


def _column(name: str, metric: str) -> pl.Expr:
    """Return a column of the table of users, from what was counted."""
    for day, column in RETURNS.items():
        if name == column:
            msg = (
                f"{metric} reads {name!r}, which is not known of users who are not "
                f"observed for {day + 1} days; retention_{day} leaves these out"
            )
            raise ParameterError(msg)
    if name.removesuffix("_before") in COLUMNS_OF_USERS and name.endswith("_before"):
        msg = (
            f"{metric} reads {name!r}, which is from before the first exposure and so "
            "cannot be a metric; cuped=True or --cuped uses it to reduce the variance"
        )
        raise ParameterError(msg)
    if name not in COLUMNS_OF_USERS:
        hint = nearest(name, COLUMNS_OF_USERS)
        if name == "value":
            hint = "; the values of a user's events add up to revenue"
        msg = (
            f"{metric} reads {name!r}, which is no column of the table of users; there "
            f"are {', '.join(COLUMNS_OF_USERS)}{hint}"
        )
        raise ParameterError(msg)
    if name in AMOUNTS:
        return _amount(name)
    return pl.col("dwell") / SECOND if name == "seconds_on_page" else pl.col(name)


def own(name: str, given: Any) -> OnlineMetric:
    """Return a metric of the user's: a column, a pair of columns, or a quantile.

    Args:
        name: what it is called.
        given: a column of the table of users, whose mean per user it is; two, for the
            ratio of their sums; or a column and a share, for a quantile over users.

    >>> own("aov", ("revenue", "orders")).says
    'revenue / orders'
    """
    y, x, quantile = parts_of(name, given)
    columns = [y] if x is None else [y, x]
    sides = [_column(column, name) for column in columns]
    counts = not {*columns} & {*AMOUNTS}  # money may be below 0: refunds and credits
    return OnlineMetric(
        (sides[0], pl.col("events") > 0 if x is None else sides[1]),
        in_words(y, x, quantile),
        x or "users",
        tuple(dict.fromkeys(NEEDS[each] for each in columns if each in NEEDS)),
        (0 if counts else float("-inf"), float("inf")),
        higher_is_better=y not in _LOWER,
        quantile=quantile,
        assumed=y not in {*_LOWER, *AMOUNTS},
    )


def in_words(y: str, x: str | None, quantile: float | None) -> str:
    """Say how a metric of the user's is defined, from what `parts_of` reads."""
    if quantile is not None:
        return f"the {quantile:g} quantile of {y} over users"
    return f"mean {y} of a user" if x is None else f"{y} / {x}"


def parts_of(name: str, given: Any) -> tuple[str, str | None, float | None]:
    """Read what a metric is computed from: its columns, and the share of a quantile."""
    match given:
        case str():
            return given, None, None
        case (str() as y, str() as x):
            return y, x, None
        case (str() as y, share):
            check_number(f"the quantile of {name}", share, above=0, below=1)
            return y, None, float(share)
    msg = (
        f"{name} must be a column for a mean, two for a ratio, or a column and a share "
        f"for a quantile, got {given!r}"
    )
    raise ParameterError(msg)


def check_metrics(asked: Any, *, in_test: bool = False) -> Any:
    """Accept None, a name, several names, or a mapping from names to columns.

    Quantiles are for tests alone: a summary would need an interval of each.

    Returns:
        The same, but several names as a list.
    """
    if isinstance(asked, Mapping):
        for name, given in asked.items():
            if parts_of(name, given)[2] is not None and not in_test:
                msg = (
                    f"{name} is a quantile over users, which only tests compare: "
                    "ab_test, calibrate and users_needed, or rankine ab"
                )
                raise ParameterError(msg)
        return asked
    if asked is None or isinstance(asked, str):
        return asked
    if isinstance(asked, Iterable) and not isinstance(asked, bytes):
        names = [*asked]
        if all(isinstance(name, str) for name in names):
            return names
    msg = (
        "metrics must be names such as ['ctr', 'roi'], or {name: column}, got "
        f"{asked!r}"
    )
    raise ParameterError(msg)


def refuse_idle(asked: Any, rules: Rules) -> None:
    """Refuse a rule that matters for none of the metrics that were asked for."""
    given = [name for name in OF_METRICS if name in rules.given]
    if asked is None or not given:
        return
    metrics = _wanted(asked, rules)
    for rule in given:
        counts = OF_METRICS[rule]
        if rule == "engaged" and rules.engaged_after is not None:
            counts = counts - {"actions"}  # however long a session lasts
        it_is_for = [
            name
            for name, metric in (metrics_by(rules) | metrics).items()
            if rule in metric.rules or not counts.isdisjoint(metric.columns)
        ]
        if metrics and not {*metrics} & {*it_is_for}:
            msg = (
                f"{rule} has no effect on {', '.join(metrics)}; it is for metrics such "
                f"as {', '.join(it_is_for)}"
            )
            raise ParameterError(msg)


def _wanted(asked: Any, rules: Rules) -> dict[str, OnlineMetric]:
    """Return the metrics that were asked for, by name."""
    ours = metrics_by(rules)
    if asked is None:
        return {name: metric for name, metric in ours.items() if metric.usual}
    if isinstance(asked, Mapping):
        return {
            str(name): ours[given]
            if isinstance(given, str) and given in ours
            else own(str(name), given)
            for name, given in asked.items()
        }
    wanted = {}
    for name in [asked] if isinstance(asked, str) else asked:
        if name not in ours:
            hint = nearest(str(name), ours)
            column = str(name).removesuffix("_per_user")
            if column in COLUMNS_OF_USERS:
                hint = (
                    f"; for the mean of {column} in the table of users, give "
                    f"metrics={{'{column}_per_user': {column!r}}} or "
                    f"-m {column}_per_user={column}"
                )
            msg = f"unknown online metric {name!r}; there are {', '.join(ours)}{hint}"
            raise UnknownMetricError(msg)
        wanted[name] = ours[name]
    return wanted


def chosen(
    asked: Any, has: frozenset[str], kinds: frozenset[str], rules: Rules
) -> tuple[dict[str, OnlineMetric], dict[str, str]]:
    """Return the metrics that were asked for, or all that the log has columns for.

    Returns:
        The metrics by name, and why others are left out.
    """
    check_metrics(asked, in_test=True)
    metrics, left_out = _wanted(asked, rules), {}
    there = has | kinds
    for name, metric in [*metrics.items()]:
        missing = [need for need in metric.needs if not there & {*need.split(" or ")}]
        if missing:
            lacks = f"the log has no {' and no '.join(missing)}"
            left_out[name] = metric.lacks.get(missing[0], lacks)
            del metrics[name]
            if asked is not None:
                msg = f"{name} cannot be computed: {left_out[name]}"
                raise DataError(msg)
    if not metrics:
        each = "; ".join(f"{name}: {why}" for name, why in left_out.items())
        msg = f"no metric can be computed: {each}" if each else "metrics is empty"
        raise DataError(msg)
    return metrics, left_out
