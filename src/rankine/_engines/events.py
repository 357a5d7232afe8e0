"""Logs of events on Spark: what users did is added up there, user by user."""

from __future__ import annotations

import pickle
from contextlib import suppress
from dataclasses import replace
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Any

from rankine._base.checks import check_count
from rankine._engines.frames import blank_of, check_frame, functions, quoted
from rankine._engines.jobs import collected
from rankine._engines.work import answering, rows_of
from rankine._io.columns import known_columns, told_column
from rankine._online.log import EventLog
from rankine._online.rules import COLUMNS
from rankine._online.summary import Accumulator
from rankine._online.sums import UserCounts
from rankine.errors import ColumnNotFoundError, NoRowsError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from rankine._online.summary import Summary

_NAME = "events"


def accumulate(
    events: Any,
    metrics: Sequence[str] | None = None,
    *,
    by: str | None = "variant",
    segment: str | None = None,
    daily: bool = False,
    weekly: bool = False,
    hourly: bool = False,
    confidence: float = 0.95,
    partitions: int | None = None,
    **rules: Any,
) -> Accumulator:
    """Read a log of events that is a Spark DataFrame.

    Events are brought together by user, in one shuffle, and counted on executors. The
    driver collects a row of counts per user (and day), not the events.

    Args:
        events: the log, classic or Connect.
        metrics: as in `rankine.online.summarize`, like the next six.
        by: the column that divides users: the arms of a test if it is "variant" or
            the column that ``columns=`` names as such, else only groups.
        segment: a second such column.
        daily: whether each day has its row.
        weekly: whether each week has its row.
        hourly: whether each hour has its row.
        confidence: of the intervals.
        partitions: how many parts the users are split into; Spark chooses if not given.
            The events of a part must fit into the memory of an executor.
        rules: as in `rankine.online.summarize`.

    Returns:
        An accumulator, whose ``result()`` is the summary, and which
        `rankine.online.ab_test` and `rankine.online.users` take in place of a log. It
        takes no more events.

    Raises:
        UsageError: an option is not valid.
        DataError: the events cannot be used.
    """
    options = {
        "by": by,
        "segment": segment,
        "daily": daily,
        "weekly": weekly,
        "hourly": hourly,
        "confidence": confidence,
        **rules,
    }
    total = Accumulator(metrics, **options)
    if partitions is not None:
        check_count("partitions", partitions, least=1)
    check_frame(events, _NAME, "rankine.online.summarize")
    _check_columns(events, metrics, options)
    rows = _by_user(events, _user(events, options), partitions)
    sent = pickle.dumps((total.rules, by, segment, total.every))
    parts = [*collected(rows, __name__, "counted", sent)]
    if not parts:
        msg = f"{_NAME} has no events"
        raise NoRowsError(msg)
    facts = reduce(add, [known for known, *_ in parts])
    counts = [
        timed if facts.fine and timed is not None else plain
        for _, plain, timed in parts
        if plain is not None
    ]
    return total.with_counts(UserCounts.together(counts, facts))


def summarize(
    events: Any, metrics: Sequence[str] | None = None, **options: Any
) -> Summary:
    """Return the metrics of a log of events that is a Spark DataFrame.

    The numbers are those of `rankine.online.summarize`.

    Args:
        events: the log.
        metrics: as in `rankine.online.summarize`.
        options: as in `accumulate`.

    Returns:
        The same as `rankine.online.summarize`.
    """
    return accumulate(events, metrics, **options).result()


def _check_columns(events: Any, metrics: Any, options: dict[str, Any]) -> None:
    """Refuse a log that lacks columns, before a job."""
    with suppress(NoRowsError):  # as columns have no rows
        Accumulator(metrics, **options).update(blank_of(events))


def _user(events: Any, options: dict[str, Any]) -> str:
    """Return the column of users."""
    types = dict(events.dtypes)
    given = dict(options.get("columns") or {})
    for part in ("user", "session"):
        column = next(iter(known_columns([*types], part, COLUMNS)), None)
        if part in given:
            column = told_column([*types], given[part], _NAME)
        if column is not None:
            return column
    msg = f"{_NAME} has no column of users"
    raise ColumnNotFoundError(msg)


def _by_user(events: Any, column: str, n_partitions: int | None) -> Any:
    """Bring the events of a user together; spread those that have no user."""
    sql = functions()
    user = sql.col(quoted(column)).cast("string")
    plain = [quoted(name) for name, kind in events.dtypes if "map<" not in kind]
    keys: list[Any] = [user, sql.when(user.isNull(), sql.xxhash64(*plain))]
    if n_partitions is not None:
        keys.insert(0, n_partitions)
    return events.repartition(*keys)


@answering
def counted(sent: bytes, batches: Iterable[Any]) -> Iterator[Any]:
    """Count what the users of a part did, if it has any.

    Yields what is known of all its events; what users did, None if no event can be
    used; and what that would be if events of other parts had times of day, which tell
    duplicates and times on a page, None if that makes no difference.
    """
    frame = rows_of(batches)
    if frame is None:
        return
    rules, by, segment, every = pickle.loads(sent)  # noqa: S301 - made by our own code
    log = EventLog(rules, by, segment)
    log.update(frame)
    plain = timed = None
    if log.n_events:
        plain = replace(UserCounts.of_log(log, every=every, part=True), log=None)
        if "time" in plain.facts.has and not plain.facts.fine:
            timed = UserCounts.of_log(log, every=every, part=True, fine=True)
            timed = replace(timed, log=None)
    yield log.facts, plain, timed
