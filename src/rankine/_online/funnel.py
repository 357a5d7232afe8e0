"""funnel: how many users take some steps in order, and where they are lost."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
import polars as pl

from rankine._base.checks import check_number
from rankine._base.text import count
from rankine._online.log import LABELS
from rankine._online.metrics import OF_METRICS
from rankine._online.results import Tabled
from rankine._online.rules import KINDS, RuleOptions, Rules, check_titles
from rankine._online.spreads import NONE, share_of
from rankine._online.summary import ONE_GROUP
from rankine._online.table import counts_of
from rankine._online.times import DAY, SECOND, span
from rankine._online.words import as_word
from rankine.errors import ParameterError, nearest

if TYPE_CHECKING:
    from datetime import timedelta

    from rankine._online.sums import Selection, UserCounts

BEYOND_GROUPS: dict[str, Any] = {
    "step": pl.String,
    "users": pl.Int64,
    **dict.fromkeys(
        ("rate", "low", "high", "of_first", "of_first_low", "of_first_high"), pl.Float64
    ),
}
"""The columns of a table after those of the groups, with their types."""
_FEWEST, _MOST = 2, 32
"""How many steps there may be; an event has a bit for each."""
_WORDS = 10
"""How many words of a log a message names."""


@dataclass(frozen=True, eq=False, repr=False)
class Funnel(Tabled):
    """How many users take each step, by group and segment.

    Attributes:
        table: one row per group and step: the columns of the groups, step, users (who
            reached it), rate (their share of those who reached the step before), low,
            high, of_first (their share of those who reached the first step),
            of_first_low and of_first_high.
        definitions: column -> what it is.
        excluded: events and users that were left out, by reason.
        notes: what was assumed, and what is undefined.
        events: how many events were read.
        confidence: of the intervals.
        groups: the columns of the groups.
    """

    def __repr__(self) -> str:
        """Return its size in one line."""
        return f"Funnel({self.table.height} rows)"


def funnel(
    log: Any,
    steps: Sequence[str],
    *,
    by: str | None = "variant",
    segment: str | None = None,
    within: float | timedelta | None = None,
    confidence: float = 0.95,
    memory_limit: int | str | None = None,
    **rules: Unpack[RuleOptions],
) -> Funnel:
    """Return how many users take some steps in order, by group.

    A user reaches a step with events of all steps up to it, in this order and each
    later than the one before; other events may come between them. Any event of the
    first step may begin: who gives up, and does all of it a week later, has done it.

    Formula:
        rate = users who reached the step / users who reached the step before

    Args:
        log: a log of events with times, as `summarize` takes it; a table of users does
            not have the order of events.
        steps: at least two events in their order, each a word of the log or a kind
            such as "impression" or "conversion"; an event may be named again.
        by: the column that divides users into groups, as in `summarize`: if it names
            the variants of a test, only what follows the first exposure counts.
        segment: a second column; a user belongs to the first segment that is seen.
        within: the days, or the timedelta, from the first step to the last, which is
            included; no limit if not given.
        confidence: of the intervals.
        memory_limit: as in `summarize`.
        **rules: ``columns=``, ``kinds=``, ``exposure=``, ``window=``, ``incomplete=``,
            ``duplicates=`` and ``max_events=``, as in `summarize`.

    Returns:
        A `Funnel`: ``.table``, ``.excluded``, ``.notes``. The rate of the first step is
        of all users of the group. Shares are from 0 to 1, nan if nobody reached the
        step that they are of; their intervals are Wilson's. Events at the same time are
        in the order impression, page view, click, action, refund and conversion; of one
        kind, the earlier step comes first.

    Examples:
        Of three users, two view and one of them buys; the third buys without a view.

        >>> import polars as pl
        >>> import rankine as rk
        >>> log = pl.DataFrame(
        ...     {
        ...         "user_id": ["u", "u", "v", "w", "w"],
        ...         "timestamp": [1, 2, 1, 1, 2],
        ...         "event": ["view", "purchase", "view", "purchase", "login"],
        ...     }
        ... )
        >>> found = rk.online.funnel(log, ["view", "purchase"])
        >>> found.table.select("step", "users", "rate").rows()
        [('view', 2, 0.6666666666666666), ('purchase', 1, 0.5)]
    """
    given = Rules.of(rules)
    wanted = _checked(steps, given)
    limit = None if within is None else span("within", within, DAY, "days")
    check_number("confidence", confidence, above=0, below=1)
    check_titles(by, segment, titles=[*BEYOND_GROUPS])
    counts = counts_of(log, given, by, segment, steps=wanted, memory=memory_limit)
    notes = _in_log(wanted, counts)
    # Who names a word as a step knows it, so that no note need say what it is taken as.
    facts = replace(counts.facts, words=counts.facts.words - {*wanted})
    selection = replace(counts, facts=facts).selected_users()
    reached = [_reached(events, len(wanted), limit) for events in counts.steps()]
    table = _table(steps, pl.concat(reached), counts, selection, confidence)
    notes = [*selection.notes, *notes]
    if by is not None and "variant" not in facts.has:
        notes.append(ONE_GROUP)
    if table["rate"].is_nan().any():
        notes.append("a rate is undefined where nobody reached the step before")
    return Funnel(
        table, _definitions(limit), selection.excluded, tuple(notes), facts.n_read,
        confidence, tuple(table.columns[: -len(BEYOND_GROUPS)]),
    )  # fmt: skip


def _checked(steps: Any, rules: Rules) -> list[str]:
    """Return steps as words; refuse what a funnel cannot have."""
    is_list = isinstance(steps, Sequence) and not isinstance(steps, str)
    if not is_list or not _FEWEST <= len(steps) <= _MOST:
        msg = (
            f"steps must be a list of {_FEWEST} to {_MOST} events in their order, such "
            f"as ['impression', 'click', 'conversion'], got {steps!r}"
        )
        raise ParameterError(msg)
    for name in OF_METRICS:
        if name in rules.given:
            msg = f"{name} has no effect on a funnel; leave it out"
            raise ParameterError(msg)
    return [as_word(step) for step in steps]


def _in_log(steps: Sequence[str], counts: UserCounts) -> list[str]:
    """Refuse steps that the log cannot have; note those that it does not have."""
    facts = counts.facts
    if "time" not in facts.has:
        msg = (
            "a funnel needs times, and the log has none; name their column with "
            "columns={'time': ...} or --col time=NAME"
        )
        raise ParameterError(msg)
    for step in steps:
        if step not in facts.words and step not in KINDS:
            some = sorted(facts.words)
            more = len(some) - _WORDS
            rest = f" and {more:,} more" if more > 0 else ""
            msg = (
                f"steps names {step!r}, but the log has no such event; it has "
                f"{', '.join(some[:_WORDS])}{rest}"
                f"{nearest(step, [*facts.words, *KINDS])}"
            )
            raise ParameterError(msg)
    there = facts.words | facts.kinds
    absent = sorted({*steps} - there)
    return [f"the log has no event of the step {step!r}" for step in absent]


def _reached(events: pl.DataFrame, n_steps: int, within: int | None) -> pl.DataFrame:
    """Return how many steps each user takes.

    Of all chains of steps that lead to an event, the one that began last has the most
    time left. So it is enough to know, for each event and step, where this one began.

    Args:
        events: user, time and steps (a bit each), by user and in order.
        n_steps: how many steps there are.
        within: the microseconds that a chain may last.
    """
    number = events["user"].rle_id().to_numpy()
    time, steps = events["time"].to_numpy(), events["steps"].to_numpy()
    firsts = np.unique(number, return_index=True)[1]
    of_user = firsts[number]
    began = np.where(steps & 1, np.arange(len(steps)), -1)
    reached = steps & 1
    for step in range(1, n_steps):
        # One event cannot be two steps, so that only chains before it can go on.
        last = np.maximum.accumulate(np.append(-1, began))[:-1]
        goes_on = (steps >> step & 1 == 1) & (last >= of_user)
        if within is not None:
            goes_on &= time - time[last] <= within
        began = np.where(goes_on, last, -1)
        reached = np.where(goes_on, step + 1, reached)
    users = events["user"].gather(firsts).to_frame()
    return users.with_columns(reached=pl.Series(np.maximum.reduceat(reached, firsts)))


def _table(
    steps: Sequence[str],
    reached: pl.DataFrame,
    counts: UserCounts,
    selection: Selection,
    confidence: float,
) -> pl.DataFrame:
    """Return a row for each group and step.

    Args:
        steps: the steps, as they were given.
        reached: how many steps users take, of those who take any.
        counts: all users.
        selection: which of them count, and their groups.
        confidence: of the intervals.
    """
    users = counts.seen.select("user").join(
        reached, on="user", how="left", maintain_order="left"
    )
    users = users.with_columns(
        pl.col("reached").fill_null(0),
        *(pl.Series(label, codes) for label, codes in selection.groups.items()),
    )
    columns = {
        label: column or label
        for label, column in zip(LABELS, (counts.by, counts.segment), strict=True)
        if label in counts.facts.has
    }
    rows = []
    # The numbers of groups are in the order of their names.
    for codes, group in sorted(
        users.filter(pl.Series(selection.users)).group_by(LABELS)
    ):
        code_of = dict(zip(LABELS, codes, strict=True))
        head = [counts.texts[label][code_of[label]] for label in columns]
        n_of = [int((group["reached"] >= n).sum()) for n in range(len(steps) + 1)]
        rows += [(*head, *row) for row in _rows(steps, n_of, confidence)]
    types = dict.fromkeys(columns.values(), pl.String) | BEYOND_GROUPS
    return pl.DataFrame(rows, types, orient="row")


def _rows(
    steps: Sequence[str], n_of: Sequence[int], confidence: float
) -> list[tuple[Any, ...]]:
    """Return a row for each step.

    Args:
        steps: the steps.
        n_of: how many users there are, and how many of them reached each step.
        confidence: of the intervals.
    """
    rows = []
    for number, step in enumerate(steps, 1):
        n, before = n_of[number], n_of[number - 1]
        rate, bounds = share_of(n, before, confidence)
        # That everyone who reached the first step did so is certain.
        of_first, of_bounds = (1.0 if n else math.nan), NONE
        if number > 1:
            of_first, of_bounds = share_of(n, n_of[1], confidence)
        rows.append((step, n, rate, *bounds, of_first, *of_bounds))
    return rows


def _definitions(within: int | None) -> dict[str, str]:
    """Say what the columns are."""
    limit = "" if within is None else f", within {_length(within)} of the first of them"
    reached = "users who reached the step"
    return {
        "users": f"those with the events of all steps up to this one, in order{limit}",
        "rate": f"{reached} / {reached} before (all users, for the first step)",
        "of_first": f"{reached} / users who reached the first step",
    }


def _length(length: int) -> str:
    """Return a length of time in words.

    >>> _length(7 * DAY), _length(90 * 60 * SECOND), _length(SECOND // 2)
    ('7 days', '90 minutes', '0.5 seconds')
    """
    for word, unit in (("day", DAY), ("hour", 3600 * SECOND), ("minute", 60 * SECOND)):
        if length % unit == 0:
            return count(length // unit, word)
    return f"{length / SECOND:g} seconds"
