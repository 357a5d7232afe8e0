"""The online metrics: each is one sum over users divided by another."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from rankine._base.checks import check_number
from rankine._online.rules import PASSIVE, Rules
from rankine._online.times import DAY, SECOND
from rankine._online.users import (
    AMOUNTS,
    COLUMNS_OF_USERS,
    NEEDS,
    RETURNS,
    in_money,
)
from rankine.errors import DataError, ParameterError, UnknownMetricError, nearest

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


@dataclass(frozen=True)
class OnlineMetric:
    """What is known about a metric.

    Attributes:
        parts: numerator and denominator, from what a user did.
        says: how it is defined, in words.
        unit: what the denominator counts.
        needs: kinds of events, and parts of them, without which it is left out.
        bounds: the smallest and the largest value.
        higher_is_better: None if neither is.
        over: what is wrong where the numerator is above the denominator.
        usual: whether it is computed unless others are asked for.
        quantile: the share of users below it, if it is a quantile of the numerator.
        lacking: says instead what is missing, if that is not a part of the log.
        after_days: how many days a user must be observed to have a value; None if all
            have one.
        settled: what is said instead of events that were counted before, by rules that
            are not known.
    """

    parts: Callable[[Rules], tuple[pl.Expr, pl.Expr]]
    says: Callable[[Rules], str]
    unit: Callable[[Rules], str]
    needs: Callable[[Rules], tuple[str, ...]]
    bounds: tuple[float, float]
    higher_is_better: bool | None
    over: str = ""
    usual: bool = True
    quantile: float | None = None
    lacking: Callable[[Collection[str], Rules], str] | None = None
    after_days: int | None = None
    settled: str = ""

    def counts_users(self, rules: Rules) -> bool:
        """Say whether the denominator counts users."""
        return self.unit(rules) == "users" or self.after_days is not None

    @property
    def has_before(self) -> bool:
        """Whether it is known from before the first exposure, too."""
        return self.quantile is None and self.after_days is None

    @property
    def is_share(self) -> bool:
        """Whether it is a share, from 0 to 1."""
        return self.bounds[1] == 1

    def beyond(self, above: float, below: float) -> str:
        """Say why a rate is above 1."""
        return f"{self.over}: {above:,.0f} and {below:,.0f}, a rate above 1"

    def sides(self, name: str, rules: Rules, mark: str = "") -> list[pl.Expr]:
        """Return both sums of a metric, under their names.

        The numerator of users who have no value yet is nan.
        """
        y, x = self.parts(rules)
        if self.after_days is not None:
            y = pl.when(x).then(y.cast(pl.Float64)).otherwise(float("nan"))
        return [
            part.cast(pl.Float64).alias(f"{name}.{side}{mark}")
            for side, part in (("y", y), ("x", x))
        ]


_CONVERTING = {
    "users": (pl.col("conversions") > 0, pl.col("events") > 0),
    "sessions": (pl.col("converting_sessions"), pl.col("sessions")),
    "clicks": (pl.col("converting_clicks"), pl.col("clicks")),
}
_CONVERTS = {
    "users": "users with a conversion / users",
    "sessions": "sessions with a conversion / sessions",
    "clicks": "clicks with a conversion in the session before the next click / clicks",
}


_SETTLED = "was settled when the table of users was made"


def _engaged(rules: Rules) -> str:
    if rules.engaged_after is not None:
        return f"that last {rules.engaged_after / SECOND:g} seconds or more"
    if rules.engaged is None:
        return f"with any event but {', '.join(PASSIVE)}"
    return f"with an event of {', '.join(sorted(rules.engaged))}"  # type: ignore[arg-type]


def _counting(rules: Rules) -> str:
    if rules.engaged is None or rules.engaged_after is not None:
        return f"all but {', '.join(PASSIVE)}"
    return ", ".join(sorted(rules.engaged))  # type: ignore[arg-type]


def _session(rules: Rules) -> str:
    minutes = rules.gap / SECOND / 60
    return f"a session is given by its id, or ends with {minutes:g} minutes of silence"


def _amount(money: str, minus: str | None = None) -> pl.Expr:
    """Return money as it was written, or the difference of two amounts.

    Up to version 1, polars cannot subtract such columns in an expression.
    """

    def amount(columns: Sequence[pl.Series]) -> pl.Series:
        return in_money(columns[0] if minus is None else columns[0] - columns[1])

    names = [money] if minus is None else [money, minus]
    return pl.map_batches(names, amount, return_dtype=pl.Float64)


def _dwell(rules: Rules) -> str:
    last = "the last page of a session is excluded"
    if rules.last_page == "heartbeat":
        last = (
            "the last page of a session ends with its last heartbeat, if there is one"
        )
    cap = f", at most {rules.longest / SECOND:g} each" if rules.longest else ""
    return f"mean seconds to the next page view of the session{cap}; {last}"


def _retention(day: int) -> OnlineMetric:
    """Return the share of users who come back on a day after their first exposure."""
    days = "1 day" if day == 1 else f"{day} days"
    is_seen = pl.col("observed") >= (day + 1) * DAY
    return OnlineMetric(
        lambda _: ((pl.col(RETURNS[day]) > 0) & is_seen, is_seen),
        lambda _: (
            f"users with an event from {24 * day} to {24 * (day + 1)} hours after "
            "their first exposure (without variants, their first event) / users who "
            f"are observed for {24 * (day + 1)} hours"
        ),
        lambda _: f"users who are observed for {day + 1} days",
        lambda _: ("time", RETURNS[day]),
        (0, 1),
        higher_is_better=True,
        usual=False,
        lacking=lambda missing, rules: (
            f"nothing says who came back after {days}: "
            f"{_no_return(day, missing, rules)}"
        ),
        after_days=day + 1,
    )


def _no_return(day: int, missing: Collection[str], rules: Rules) -> str:
    """Say why it is not known who came back on a day."""
    if "time" in missing:
        return "there are no times"
    if rules.within is not None and rules.within < (day + 1) * DAY:
        given = f"{rules.within / DAY:g}"
        return f"window= or --window must be {day + 1} days or more, but is {given}"
    return (
        f"the table of users must be made with a window of {day + 1} days or more, or "
        "without one, and be grouped by variant if it has first exposures"
    )


METRICS: dict[str, OnlineMetric] = {
    "ctr": OnlineMetric(
        lambda _: (pl.col("clicks"), pl.col("impressions")),
        lambda _: "clicks / impressions",
        lambda _: "impressions",
        lambda _: ("impression",),
        (0, 1),
        higher_is_better=True,
        over="there are more clicks than impressions",
    ),
    "conversion_rate": OnlineMetric(
        lambda rules: _CONVERTING[rules.unit],
        lambda rules: _CONVERTS[rules.unit],
        lambda rules: rules.unit,
        lambda rules: {
            "users": ("conversion",),
            "sessions": ("conversion", "time or session"),
            "clicks": ("conversion", "click", "time"),
        }[rules.unit],
        (0, 1),
        higher_is_better=True,
    ),
    "bounce_rate": OnlineMetric(
        lambda _: (pl.col("bounces"), pl.col("sessions")),
        lambda rules: (
            "sessions with a single page view and no further action / sessions; "
            f"{', '.join(PASSIVE)} do not count as actions; {_session(rules)}"
        ),
        lambda _: "sessions",
        lambda _: ("pageview", "time or session"),
        (0, 1),
        higher_is_better=False,
        settled=(
            "sessions with a single page view and no further action / sessions; "
            f"{', '.join(PASSIVE)} are no actions; what ends a session {_SETTLED}"
        ),
    ),
    "engagement_rate": OnlineMetric(
        lambda _: (pl.col("engaged_sessions"), pl.col("sessions")),
        lambda rules: f"sessions {_engaged(rules)} / sessions; {_session(rules)}",
        lambda _: "sessions",
        lambda rules: (
            ("time",) if rules.engaged_after is not None else ("time or session",)
        ),
        (0, 1),
        higher_is_better=True,
        settled=(
            "engaged sessions / sessions; what engages, and what ends a session, "
            f"{_SETTLED}"
        ),
    ),
    "engagement_per_impression": OnlineMetric(
        lambda _: (pl.col("actions"), pl.col("impressions")),
        lambda rules: f"events / impressions, counting {_counting(rules)}",
        lambda _: "impressions",
        lambda _: ("impression",),
        (0, float("inf")),
        higher_is_better=True,
        usual=False,
        settled=f"actions / impressions; which events are actions {_SETTLED}",
    ),
    "time_on_page": OnlineMetric(
        lambda _: (pl.col("dwell") / SECOND, pl.col("timed_page_views")),
        lambda rules: f"{_dwell(rules)}; {_session(rules)}",
        lambda _: "page views",
        lambda _: ("pageview", "time"),
        (0, float("inf")),
        higher_is_better=None,
        settled=(
            "mean seconds to the next page view of the session; what caps them, and "
            f"what ends a session and its last page, {_SETTLED}"
        ),
    ),
    "roi": OnlineMetric(
        lambda _: (
            _amount("revenue", minus="cost"),
            _amount("cost"),
        ),
        lambda _: (
            "(revenue - cost) / cost; revenue is the value of conversions minus that "
            "of refunds, whatever the sign of a refund"
        ),
        lambda _: "users",
        lambda _: ("value", "cost"),
        (float("-inf"), float("inf")),
        higher_is_better=True,
    ),
    **{f"retention_{day}": _retention(day) for day in RETURNS},
}
"""Name -> what is known about the metric."""


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
        msg = (
            f"{metric} reads {name!r}, which is no column of the table of users; there "
            f"are {', '.join(COLUMNS_OF_USERS)}{nearest(name, COLUMNS_OF_USERS)}"
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

    >>> own("aov", ("revenue", "orders")).says(Rules())
    'revenue / orders'
    """
    y, x, quantile = parts_of(name, given)
    columns = [y] if x is None else [y, x]
    sides = [_column(column, name) for column in columns]
    below = sides[1] if x is not None else pl.col("events") > 0
    words = in_words(y, x, quantile)
    needs = tuple(dict.fromkeys(NEEDS[each] for each in columns if each in NEEDS))
    counts = not {*columns} & {*AMOUNTS}  # money may be below 0: refunds and credits
    return OnlineMetric(
        lambda _: (sides[0], below),
        lambda _: words,
        lambda _: x or "users",
        lambda _: needs,
        (0 if counts else float("-inf"), float("inf")),
        higher_is_better=y not in _LOWER,
        quantile=quantile,
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


def check_metrics(asked: object, *, in_test: bool = False) -> None:
    """Accept None, a name, several names, or a mapping from names to columns.

    Quantiles are for tests alone: a summary would need an interval of each.
    """
    if isinstance(asked, Mapping):
        for name, given in asked.items():
            if parts_of(name, given)[2] is not None and not in_test:
                msg = (
                    f"{name} is a quantile over users, which only tests compare: "
                    "ab_test, calibrate and users_needed, or rankine ab"
                )
                raise ParameterError(msg)
        return
    several = isinstance(asked, Iterable) and not isinstance(asked, bytes)
    if isinstance(asked, Collection):
        several &= all(isinstance(name, str) for name in asked)
    if not several and asked is not None:
        msg = (
            "metrics must be names such as ['ctr', 'roi'], or {name: column}, got "
            f"{asked!r}"
        )
        raise ParameterError(msg)


def _wanted(asked: Any) -> dict[str, OnlineMetric]:
    """Return the metrics that were asked for, by name."""
    if asked is None:
        return {name: metric for name, metric in METRICS.items() if metric.usual}
    if isinstance(asked, Mapping):
        return {str(name): _named(str(name), given) for name, given in asked.items()}
    wanted = {}
    for name in [asked] if isinstance(asked, str) else asked:
        if name not in METRICS:
            hint = nearest(str(name), METRICS)
            if name in COLUMNS_OF_USERS:
                hint = (
                    "; for the mean of this column of the table of users, give "
                    f"metrics={{'{name}_per_user': {name!r}}} or "
                    f"-m {name}_per_user={name}"
                )
            msg = (
                f"unknown online metric {name!r}; there are {', '.join(METRICS)}{hint}"
            )
            raise UnknownMetricError(msg)
        wanted[name] = METRICS[name]
    return wanted


def _named(name: str, given: Any) -> OnlineMetric:
    """Return a metric of the user's, or the one of ours that it is a name for."""
    if isinstance(given, str) and given in METRICS:
        return METRICS[given]
    return own(name, given)


def chosen(
    asked: Any, has: frozenset[str], kinds: frozenset[str], rules: Rules
) -> tuple[dict[str, OnlineMetric], dict[str, str]]:
    """Return the metrics that were asked for, or all that the log has columns for.

    Returns:
        The metrics by name, and why others are left out.
    """
    check_metrics(asked, in_test=True)
    wanted, left_out = _wanted(asked), {}
    there = has | kinds
    for name, metric in wanted.items():
        needs = metric.needs(rules)
        missing = [words for words in needs if not there & set(words.split(" or "))]
        if missing:
            left_out[name] = f"the log has no {' and no '.join(missing)}"
            if metric.lacking is not None:
                left_out[name] = metric.lacking(missing, rules)
            if asked is not None:
                msg = f"{name} cannot be computed: {left_out[name]}"
                raise DataError(msg)
    metrics = {name: wanted[name] for name in wanted if name not in left_out}
    if not metrics:
        each = "; ".join(f"{name}: {why}" for name, why in left_out.items())
        msg = f"no metric can be computed: {each}" if each else "metrics is empty"
        raise DataError(msg)
    return metrics, left_out
