"""ctr on Spark: rounds are matched there, and what they come to is estimated here."""

from __future__ import annotations

import pickle
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import polars as pl

from rankine._base.checks import check_count
from rankine._base.text import count
from rankine._engines.frames import (
    blank_of,
    check_frame,
    functions,
    quoted,
    type_of,
)
from rankine._engines.jobs import collected, run_table
from rankine._engines.work import MOST, answering, of_two_types, rows_of
from rankine._evaluate.logs.estimate import answer
from rankine._evaluate.logs.question import Question
from rankine._io.logs import no_rows_in
from rankine.errors import DataError, ParameterError, nearest

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from rankine._engines.work import Texts
    from rankine._evaluate.logs.estimate import Estimate, Estimates
    from rankine._join.rounds import Rounds, Tally

_TABLES = ("logged", "recommended")
_Columns: TypeAlias = tuple[str, str]
"""Where each of the two tables has ids."""
_OF_ROUND = ("reward", "chosen", "propensity", "predicted", "direct")
_REFUSED = {
    "engine": "rankine.spark.ctr always runs on Spark; leave out engine=",
    "memory_limit": "Spark's own settings say how much memory executors have; leave "
    "out memory_limit=",
}


def ctr(
    logged: Any,
    recommended: Any,
    estimator: str | list[str] | tuple[str, ...] = "matching",
    *,
    partitions: int | None = None,
    **options: Any,
) -> Estimate | Estimates:
    """Estimate the click-through rate of recommendations, both tables on Spark.

    The numbers are those of `rankine.ctr`, to the last bit. One shuffle brings the
    rounds and the recommendations of each user together; if everyone is recommended the
    same items, these are sent to the executors, and the log stays where it is. The
    driver collects the different items of the log and the rounds that match; rounds
    with the same numbers come once, with a count.

    Args:
        logged: the log, a DataFrame, classic or Connect; columns as in `rankine.ctr`.
        recommended: the recommendations, a DataFrame.
        estimator: one of the estimators of `rankine.ctr`, or several.
        partitions: how many parts the users are split into; Spark chooses if not given.
            The rows of a part must fit into the memory of an executor.
        options: those of `rankine.ctr`, except engine and memory_limit. With k, items
            need a predicted reward, as the rows of frames have no order.

    Returns:
        The same as `rankine.ctr`.

    Raises:
        UsageError: an option is not valid, or not possible on Spark.
        DataError: the data cannot be used.
    """
    known = [field.name for field in fields(Question)]
    for option in options:
        if option in _REFUSED or option not in known:
            why = f"ctr has no option {option!r}{nearest(option, known)}"
            raise ParameterError(_REFUSED.get(option, why))
    if partitions is not None:
        check_count("partitions", partitions, least=1)
    asked = Question(estimator, **options)
    for frame, name in zip((logged, recommended), _TABLES, strict=True):
        check_frame(frame, name, "rankine.ctr")
    blank = asked.tally(blank_of(logged), blank_of(recommended), part=True)
    _check_asked(asked, blank)
    frames = logged, recommended
    texts, notes = _of_two_types(frames, blank)
    for columns_of_ids, both in texts:
        frames = _as_texts(frames, columns_of_ids, both)
    columns = [[*by_part.values()] for by_part in blank.columns]
    offered = None
    if blank.context:
        rows = _by_context(*frames, blank, partitions)
    else:
        rows = _marked(frames[0], columns[0], 0)
        names = map(quoted, columns[1])
        offered = pl.from_arrow(run_table(frames[1].select(*names)))
    ties = _ties_of(asked, blank)
    sent = pickle.dumps((asked, columns, offered, ties, texts))
    parts = list(collected(rows, __name__, "matched", sent))
    for table, name in enumerate(_TABLES):
        if not any(part.n_rows[table] for part in parts):
            raise no_rows_in(name)
    return answer(_together(parts, notes), asked)


def _check_asked(asked: Question, blank: Tally) -> None:
    """Refuse what depends on the order of rows, or on all lists at once."""
    if asked.k is not None and "predicted" not in blank.columns[1]:
        msg = (
            "k takes the first rows of each list, and Spark keeps no order; give "
            "recommended a predicted column, or only the rows that count"
        )
        raise ParameterError(msg)
    if not blank.context and asked.n == "recommended":
        msg = (
            "n='recommended' counts pairs of a user and an item on Spark, and "
            "recommended has no column of users; use rankine.ctr"
        )
        raise ParameterError(msg)


def _of_two_types(
    frames: tuple[Any, Any], blank: Tally
) -> tuple[list[tuple[_Columns, Texts]], list[str]]:
    """Return the ids that are ints in one table and text in the other, and notes.

    Ids of other types are refused: they are not brought to one before the shuffle.
    """
    texts: list[tuple[_Columns, Texts]] = []
    notes: list[str] = []
    for part in (*blank.context, "item"):
        names = (blank.columns[0][part], blank.columns[1][part])
        kinds = [
            dict(frame.dtypes)[name] for frame, name in zip(frames, names, strict=True)
        ]
        families = [_family(kind) for kind in kinds]
        if families[0] == families[1]:
            continue
        word = blank.unit if part == "user" else part
        if not {*families} <= {pl.Int64, pl.String}:
            msg = (
                f"{word} ids are {kinds[0]} in logged ({names[0]!r}) and {kinds[1]} in "
                f"recommended ({names[1]!r}); on Spark, cast both to the same type"
            )
            raise DataError(msg)
        both, said = of_two_types(word, _TABLES, families.index(pl.String))
        texts.append((names, both))
        notes += said
    return texts, notes


def _as_texts(
    frames: tuple[Any, Any], names: _Columns, texts: Texts
) -> tuple[Any, Any]:
    """Turn the ids that are ints into texts, so that the shuffle brings them together.

    The column keeps its name.
    """
    both, ints = list(frames), 1 - texts.side
    column = functions().col(quoted(names[ints])).cast("string")
    both[ints] = both[ints].withColumn(names[ints], column)
    return both[0], both[1]


def _family(kind: str) -> Any:
    """Return the type that ids of a Spark type are compared in."""
    dtype = type_of(kind)
    return dtype if dtype in (pl.Int64, pl.String) else kind


def _ties_of(asked: Question, blank: Tally) -> tuple[list[str], str] | None:
    """Return the columns in which ties leave open what the first k items are."""
    if asked.k is None:
        return None
    names = blank.columns[1]
    return [names[part] for part in blank.context], names["predicted"]


def _marked(frame: Any, columns: list[str], table: int) -> Any:
    """Return the columns that are needed, under names of their own."""
    sql = functions()
    types = dict(frame.dtypes)
    taken = [
        sql.col(quoted(name)).cast("double")
        if types[name].startswith("decimal")
        else sql.col(quoted(name))
        for name in columns
    ]
    renamed = (column.alias(f"{table}_{place}") for place, column in enumerate(taken))
    return frame.select(*renamed, sql.lit(table).cast("tinyint").alias("table"))


def _by_context(
    logged: Any, recommended: Any, blank: Tally, n_partitions: int | None
) -> Any:
    """Bring the rounds of a user together with what is recommended there."""
    sql = functions()
    sides = []
    for table, (frame, by_part) in enumerate(
        zip((logged, recommended), blank.columns, strict=True)
    ):
        names = [*by_part.values()]
        keys = (
            sql.col(f"{table}_{names.index(by_part[part])}")
            .cast("string")
            .alias(f"key_{part}")
            for part in blank.context
        )
        sides.append(_marked(frame, names, table).select("*", *keys))
    rows = sides[0].unionByName(sides[1], allowMissingColumns=True)
    by: list[Any] = [f"key_{part}" for part in blank.context]
    if n_partitions is not None:
        by.insert(0, n_partitions)
    return rows.repartition(*by).drop(*(f"key_{part}" for part in blank.context))


@dataclass(frozen=True, eq=False)
class _Part:
    """What some rounds add up to.

    Attributes:
        n_rows: how many rows of the log, and of what is recommended, there were.
        matches: the different rounds that match, and how many there are of each.
        rest: all else about the rounds.
    """

    n_rows: tuple[int, int]
    matches: pl.DataFrame
    rest: Rounds


@answering
def matched(sent: bytes, batches: Iterable[Any]) -> Iterator[Any]:
    """Match the rounds of a part, if it has any, with what is recommended."""
    rows = rows_of(batches)
    if rows is None:
        return
    asked, columns, offered, ties, texts = pickle.loads(sent)  # noqa: S301 - ours
    log = _of_table(rows, columns[0], 0)
    recommended = _of_table(rows, columns[1], 1) if offered is None else offered
    for names, both in texts:
        both.check((log, recommended)[both.side][names[both.side]])
    if ties is not None:
        _refuse_ties(recommended, asked.k, *ties)
    yield _part(asked, log, recommended)


def _of_table(rows: pl.DataFrame, columns: list[str], table: int) -> pl.DataFrame:
    mine = rows.filter(pl.col("table") == table)
    return mine.select(
        pl.col(f"{table}_{place}").alias(name) for place, name in enumerate(columns)
    )


def _refuse_ties(
    recommended: pl.DataFrame, k: int, context: list[str], predicted: str
) -> None:
    """Refuse lists in which the items at ranks k and k + 1 are predicted the same."""
    best = pl.col(predicted).sort(descending=True)
    at_k, below = best.get(k - 1, null_on_oob=True), best.get(k, null_on_oob=True)
    tied = (at_k == below).alias("tied")
    lists = recommended.group_by(context) if context else None
    sides = recommended.select(tied) if lists is None else lists.agg(tied)
    open_lists = sides.filter(pl.col("tied"))
    if open_lists.height:
        row = open_lists.sort(context).row(0, named=True) if context else {}
        who = ", ".join(f"{name} {row[name]!r}" for name in context) or "the list"
        msg = (
            f"recommended: the items at ranks {k} and {k + 1} of {who} have the same "
            f"{predicted}, so it is not clear which one k={k} should take"
        )
        raise DataError(msg)


def _part(asked: Question, log: pl.DataFrame, recommended: pl.DataFrame) -> _Part:
    rounds = asked.tally(log, recommended, own=True, part=True).rounds
    every = pl.DataFrame({name: getattr(rounds, name) for name in _OF_ROUND})
    others = pl.DataFrame({"other": rounds.other, "count": rounds.count})
    others = _counted(others, ["other"])
    columns: dict[str, Any] = dict.fromkeys(_OF_ROUND, np.zeros(0))
    columns |= {name: others[name].to_numpy() for name in others.columns}
    # The shuffle brings all rounds of a context together.
    rest = replace(rounds, **columns, contexts=None)
    every = every.with_columns(count=pl.lit(1, pl.Int64))
    return _Part((log.height, recommended.height), _counted(every, [*_OF_ROUND]), rest)


def _counted(frame: pl.DataFrame, numbers: list[str]) -> pl.DataFrame:
    """Return what is the same once, with the sum of its counts."""
    return frame.group_by(numbers).agg(pl.col("count").sum())


def _together(parts: list[_Part], notes: list[str]) -> Rounds:
    """Return all rounds, in any order, with notes on their ids."""
    matches = _counted(pl.concat(part.matches for part in parts), [*_OF_ROUND])
    n_matched = int(matches["count"].sum())
    if n_matched > MOST:
        msg = (
            f"{n_matched:,} rounds match, too many to hold in memory; take a sample of "
            f"the users, so that at most {MOST:,} match"
        )
        raise DataError(msg)
    times = matches["count"].to_numpy()
    columns: dict[str, Any] = {
        name: np.repeat(matches[name].to_numpy(), times) for name in _OF_ROUND
    }
    rest = _sum([part.rest for part in parts])
    collected = f"{count(matches.height, 'different round')} collected from Spark"
    return replace(rest, **columns, said=(*rest.said, *notes, collected))


def _sum(parts: Sequence[Rounds]) -> Rounds:
    """Add up rounds by halves, as each addition takes as long as both are large."""
    if len(parts) == 1:
        return parts[0]
    half = len(parts) // 2
    return _sum(parts[:half]) + _sum(parts[half:])
