"""Interleaving: one list drawn from two rankings, and which of them users prefer."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from numbers import Integral
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import polars as pl

from rankine._base.checks import check_choice, check_count, check_k, check_number
from rankine._base.notebook import as_table
from rankine._base.text import count, p_text
from rankine._evaluate.summary import finite
from rankine._online.click_logs import read_click_log
from rankine._online.effects import LEAST_ACTIVE, LEAST_USERS
from rankine._online.spreads import NONE, clustered, spread
from rankine._stats.intervals import Interval
from rankine._stats.sequences import always_p, half_width, rho_squared
from rankine.errors import DataError, ParameterError

if TYPE_CHECKING:
    from collections.abc import Mapping

_STEEPNESS = 3
"""How much probabilistic interleaving prefers the first items of a ranking."""
TEAMS = ("a", "b")


@dataclass(frozen=True)
class Interleaved:
    """A list to be shown, and which ranking each of its items counts for.

    Attributes:
        items: the items, from rank 1.
        teams: ``a`` or ``b`` for each of them.
        method: how it was drawn.
    """

    items: tuple[Any, ...]
    teams: tuple[str, ...]
    method: str

    def log(
        self, impression: Any, user: Any, clicked: Sequence[Any] = ()
    ) -> pl.DataFrame:
        """Return the rows to be logged, which `interleaving_test` reads.

        Args:
            impression: the id of this impression.
            user: the id of the user.
            clicked: the items that were clicked on.
        """
        for item in clicked:
            if item not in self.items:
                msg = f"{item!r} was clicked on, but is not among the items shown"
                raise DataError(msg)
        n = len(self.items)
        return pl.DataFrame(
            {
                "impression_id": [impression] * n,
                "user_id": [user] * n,
                "position": range(1, n + 1),
                "item_id": self.items,
                "team": self.teams,
                "click": [int(item in clicked) for item in self.items],
            }
        )

    def _repr_html_(self) -> str:
        return as_table(self)


def interleave(
    a: Sequence[Any],
    b: Sequence[Any],
    method: Literal["team_draft", "probabilistic"] = "team_draft",
    *,
    k: int | None = None,
    seed: int | Sequence[int] = 0,
) -> Interleaved:
    """Draw one list from two rankings.

    ``team_draft``: in each round, a coin decides which ranking picks first; each takes
    its best item that is not yet in the list. ``probabilistic``: at each rank, a coin
    decides which ranking picks; it draws an item with a probability that falls with the
    cube of its rank, so that every order is possible.

    Args:
        a: the items of one ranking, the best first.
        b: those of the other.
        method: how to draw.
        k: how many items to show; if not given, as many as the longer ranking has.
        seed: the seed of the draw: a number, or several, such as those of a user and a
            request.

    Returns:
        The items and their teams; `log` returns the rows to keep.

    References:
        F. Radlinski, M. Kurup, T. Joachims: How does clickthrough data reflect
        retrieval quality? CIKM 2008. K. Hofmann, S. Whiteson, M. de Rijke: A
        probabilistic method for inferring preferences from clicks. CIKM 2011.

    >>> import rankine as rk
    >>> drawn = rk.online.interleave(["x", "y"], ["y", "z"], seed=1)
    >>> drawn.items, drawn.teams
    (('x', 'y'), ('a', 'b'))
    """
    check_choice("method", method, ("team_draft", "probabilistic"))
    check_k(k)
    rankings = [
        _ranking(name, items) for name, items in zip(TEAMS, (a, b), strict=True)
    ]
    _check_seed(seed)
    length = min(k or max(map(len, rankings)), len({*rankings[0], *rankings[1]}))
    rng = np.random.default_rng(seed)
    items: list[Any] = []
    teams: list[str] = []
    turn = 0
    while len(items) < length:
        second = method == "team_draft" and len(items) % 2
        turn = 1 - turn if second else int(rng.integers(2))
        free = _left(rankings[turn], items)
        if not free:
            turn = 1 - turn
            free = _left(rankings[turn], items)
        place = 0
        if method == "probabilistic":
            weights = np.array([float(rank) ** -_STEEPNESS for rank, _ in free])
            place = int(rng.choice(len(free), p=weights / weights.sum()))
        items.append(free[place][1])
        teams.append(TEAMS[turn])
    return Interleaved(tuple(items), tuple(teams), method)


def _left(ranking: list[Any], items: list[Any]) -> list[tuple[int, Any]]:
    """Return what is not yet shown of a ranking, with its ranks."""
    return [(rank, item) for rank, item in enumerate(ranking, 1) if item not in items]


def _ranking(name: str, given: Any) -> list[Any]:
    """Return the items of a ranking, which must all be different."""
    try:
        items = list(given)
        if items and len({*items}) == len(items):
            return items
    except TypeError:  # not a list, or of items that cannot be told apart
        pass
    msg = f"{name} must be a list of different items, got {given!r}"
    raise ParameterError(msg)


def _check_seed(seed: Any) -> None:
    several = isinstance(seed, (Sequence, np.ndarray)) and not isinstance(seed, str)
    for part in seed if several else (seed,):
        whole = isinstance(part, Integral) and not isinstance(part, (bool, np.bool_))
        if not whole or part < 0:
            msg = (
                "seed must be an integer of at least 0, or several such as those of a "
                f"user and a request, got {seed!r}"
            )
            raise ParameterError(msg)


_NEEDS = {
    "user": "says whose preference it is",
    "impression": "says which items were shown together",
    "click": "says what users preferred",
}


@dataclass(frozen=True)
class Preference:
    """Which of two interleaved rankings users prefer.

    Attributes:
        a, b: the names of the rankings.
        preference: from -1, all for a, to 1, all for b; nan if there is none.
        interval: its interval, clustered by user.
        p: the p-value of no preference, by Student's t over users.
        p_sign: the p-value that as many users prefer a as b, by the sign test.
        always: the always-valid interval, which holds at every look.
        p_always: the always-valid p-value.
        users_a, users_b: how many users prefer each.
        users: how many users there are.
        impressions: how many impressions prefer one of them, of `shown`.
        shown: how many impressions there are.
        expected_n: the number of users at which `always` is tightest.
        confidence: of the intervals.
        notes: what was assumed, and what is unknown.
    """

    a: str
    b: str
    preference: float
    interval: Interval
    p: float
    p_sign: float
    always: Interval
    p_always: float
    users_a: int
    users_b: int
    users: int
    impressions: int
    shown: int
    expected_n: int
    confidence: float
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, ready for JSON; undefined ones are None."""
        record = asdict(self)
        for name in ("interval", "always"):
            record[name] = [finite(bound) for bound in getattr(self, name)]
        return {
            name: finite(value) if isinstance(value, float) else value
            for name, value in {**record, "notes": list(self.notes)}.items()
        }

    def __str__(self) -> str:
        """Return the preference, its tests and the notes as text."""
        low, high = self.interval
        bounds = "" if math.isnan(low) else f" ({low:+.4f} to {high:+.4f})"
        lines = [
            (
                f"preference for {self.b} over {self.a}: {_signed(self.preference)}"
                f"{bounds}, p {p_text(self.p)}"
            ),
            (
                f"{_prefer(self.users_b, self.users, 'user')} {self.b}, "
                f"{self.users_a:,} {_verb(self.users_a)} {self.a}: sign test p "
                f"{p_text(self.p_sign)}"
            ),
            (
                f"{self.impressions:,} of {count(self.shown, 'impression')} with a "
                "preference"
            ),
        ]
        if not math.isnan(self.p_always):
            low, high = self.always
            lines.append(
                f"always-valid: {low:+.4f} to {high:+.4f}, p {p_text(self.p_always)}"
            )
        return "\n".join([*lines, *(f"- {note}" for note in self.notes)])

    def _repr_html_(self) -> str:
        return as_table(self)


def _signed(value: float) -> str:
    return "undefined" if math.isnan(value) else f"{value:+.4f}"


def _verb(n: int) -> str:
    return "prefers" if n == 1 else "prefer"


def _prefer(n: int, total: int, noun: str) -> str:
    return f"{n:,} of {count(total, noun)} {_verb(n)}"


def interleaving_test(
    log: Any,
    *,
    method: Literal["team_draft", "probabilistic", "balanced"] = "team_draft",
    columns: Mapping[str, Any] | None = None,
    teams: tuple[str, str] | None = None,
    confidence: float = 0.95,
    expected_n: int = 10_000,
) -> Preference:
    r"""Say which of two interleaved rankings users prefer.

    Formula:
        $$\frac{\sum c}{\#\{c \ne 0\}}, \quad
        c = \operatorname{sign}(\text{clicks on } b - \text{clicks on } a)$$

    over impressions; a ratio of sums per user, whose variance is that of the users'
    influences.

    Args:
        log: one row per item and impression, with impression_id, user_id, team and
            click (0, 1, or a number of clicks); with ``balanced``, rank_a and rank_b
            instead of team.
        method: how lists were drawn. ``balanced`` is only for reading old logs, as it
            prefers one of two rankings even if clicks are random.
        columns: which column is what, if its name is not recognised.
        teams: the names of the rankings, (a, b); in the order of their names if not
            given.
        confidence: of the intervals.
        expected_n: users at which the interval that holds at every look is tightest;
            fix it before the first look.

    Returns:
        The preference with its interval and p-value clustered by user, the sign test
        of users, and a confidence sequence, nan with fewer than 1,000 users, or 100 who
        prefer one ranking.

    Raises:
        DataError: a column is missing, or the log does not have two teams.

    References:
        F. Radlinski, M. Kurup, T. Joachims: How does clickthrough data reflect
        retrieval quality? CIKM 2008. For balanced interleaving: T. Joachims: Evaluating
        retrieval performance using clickthrough data. 2003.

    Three impressions of three users prefer b, one prefers a: (3 - 1) / 4.

    >>> import polars as pl
    >>> import rankine as rk
    >>> log = pl.DataFrame(
    ...     {
    ...         "impression_id": [1, 1, 2, 2, 3, 3, 4, 4],
    ...         "user_id": [1, 1, 2, 2, 3, 3, 4, 4],
    ...         "team": ["a", "b"] * 4,
    ...         "click": [0, 1, 0, 1, 0, 1, 1, 0],
    ...     }
    ... )
    >>> rk.online.interleaving_test(log).preference
    0.5
    """
    check_choice("method", method, ("team_draft", "probabilistic", "balanced"))
    check_number("confidence", confidence, above=0, below=1)
    check_count("expected_n", expected_n, least=1)
    if method == "balanced":
        names = teams or TEAMS
        needs = dict.fromkeys(("rank_a", "rank_b"), "says where a ranking had an item")
        ranked = {**_NEEDS, "position": "says what was seen"}
        frame, _, notes = read_click_log(log, ranked, columns, tuple(needs))
        for column in needs:
            if column not in frame.columns:
                msg = (
                    f"balanced interleaving needs a column {column}, which "
                    f"{needs[column]}"
                )
                raise DataError(msg)
        credit = _balanced(frame)
        notes.append(
            "balanced interleaving is biased: with one click at random it can prefer "
            "one of two rankings 75 : 25; use team draft for new tests"
        )
    else:
        frame, name, notes = read_click_log(
            log, {**_NEEDS, "team": "says which ranking an item counts for"}, columns
        )
        names = _teams(frame["team"], teams, name)
        on_b = pl.when(pl.col("team").cast(pl.String) == names[1]).then(1).otherwise(-1)
        credit = frame.group_by("user", "impression").agg(
            (on_b * pl.col("click")).sum().sign().alias("credit")
        )
    _refuse_shared(credit)
    users = credit.group_by("user").agg(
        pl.col("credit").sum().cast(pl.Float64).alias("y"),
        (pl.col("credit") != 0).sum().cast(pl.Float64).alias("x"),
    )
    return _preference(users, credit.height, names, notes, 1 - confidence, expected_n)


def _refuse_shared(credit: pl.DataFrame) -> None:
    """Refuse an impression that belongs to several users."""
    shared = credit.filter(pl.col("impression").is_duplicated())
    if shared.height:
        first = shared.sort("impression", "user").head(2)
        users = " and ".join(map(repr, first["user"]))
        msg = (
            f"impression {first['impression'][0]!r} has users {users}; an impression "
            "belongs to one user, so give each its own id"
        )
        raise DataError(msg)


def _teams(
    team: pl.Series, teams: tuple[str, str] | None, name: str
) -> tuple[str, str]:
    labels = sorted(map(str, team.unique()))
    if teams is not None:
        wrong = [label for label in labels if label not in map(str, teams)]
        if len(teams) != len(TEAMS) or wrong:
            msg = f"teams are {teams!r}, but {name} has {', '.join(labels)}"
            raise DataError(msg)
        return str(teams[0]), str(teams[1])
    if len(labels) != len(TEAMS):
        msg = (
            f"{name} has {count(len(labels), 'team')} ({', '.join(labels[:5])}); "
            "interleaving compares two"
        )
        raise DataError(msg)
    return labels[0], labels[1]


def _balanced(frame: pl.DataFrame) -> pl.DataFrame:
    """Return which ranking is preferred, by the clicks on the first items of each.

    The first items go as far as the lowest click, in the ranking that has it higher.
    """
    clicked = frame.filter(pl.col("click") > 0).with_columns(
        pl.min_horizontal(
            pl.col("rank_a", "rank_b").fill_nan(math.inf).fill_null(math.inf)
        ).alias("higher")
    )
    seen = ["user", "impression"]
    clicked = clicked.with_columns(
        pl.col("higher").sort_by("position").last().over(seen).alias("deep")
    )
    both = clicked.group_by(seen).agg(
        (
            (pl.col("rank_b") <= pl.col("deep")).sum().cast(pl.Int64)
            - (pl.col("rank_a") <= pl.col("deep")).sum().cast(pl.Int64)
        )
        .sign()
        .alias("credit")
    )
    every = frame.select(seen).unique()
    return every.join(both, on=seen, how="left").with_columns(
        pl.col("credit").fill_null(0)
    )


def _preference(
    users: pl.DataFrame,
    shown: int,
    names: tuple[str, str],
    notes: list[str],
    alpha: float,
    expected_n: int,
) -> Preference:
    from scipy.special import bdtr, stdtr  # noqa: PLC0415 - slow to import

    y, x = users["y"].to_numpy(), users["x"].to_numpy()
    n = len(y)
    value, interval = clustered(y, x, 1 - alpha, (-1.0, 1.0))
    error, p = math.nan if math.isnan(value) else spread(y, x, value), math.nan
    if math.isnan(value):
        notes.append("no impression prefers one of the rankings")
    elif not error > 0:
        notes.append("no interval, since all users agree, or there is only one")
    else:
        p = float(2 * stdtr(n - 1, -abs(value) / error))
    for_a, for_b = int((y < 0).sum()), int((y > 0).sum())
    decided = for_a + for_b
    sign = (
        min(1.0, 2 * float(bdtr(min(for_a, for_b), decided, 0.5))) if decided else 1.0
    )
    always, p_always = NONE, math.nan
    if n >= LEAST_USERS and decided >= LEAST_ACTIVE and error > 0:
        rho2, size = rho_squared(expected_n, alpha), np.array(float(n))
        half = float(half_width(np.array(error * math.sqrt(n)), size, rho2, alpha))
        always = Interval(max(value - half, -1.0), min(value + half, 1.0))
        p_always = float(always_p(np.array(value / error), size, rho2))
    else:
        notes.append(
            f"no confidence sequence; it needs {LEAST_USERS:,} users, and "
            f"{LEAST_ACTIVE} who prefer one ranking"
        )
    return Preference(
        names[0], names[1], value, interval, p, sign, always, p_always, for_a, for_b, n,
        int(x.sum()), shown, expected_n, 1 - alpha, tuple(notes),
    )  # fmt: skip
