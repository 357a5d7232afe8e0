"""Queries without ids: lists that are paired by position, and numbers of rows."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, TypeGuard

from rankine._base.text import QUERY, count, plural
from rankine._io.rows import as_rows
from rankine._io.sources import Rows
from rankine.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rankine._io.sources import Held, S, Source

_BY_POSITION = "lists without ids are paired by position"


def paired(first: S, second: Source, words: tuple[str, str]) -> tuple[S | Held, Source]:
    """Give lists without ids the ids of what they are paired with by position.

    Refuses two sides of which one has no ids and that differ in length. The rows of a
    matrix keep their numbers beside ids; see `met_by_number`.

    Args:
        first: judgements or a run.
        second: another one.
        words: what to call them in messages.
    """
    ours, theirs = first.n_places, second.n_places
    if ours is not None and second.in_parts and second.memory is None:
        second = as_rows(second, "run")
    if ours is not None and theirs is not None:
        if ours != theirs:
            msg = (
                f"{words[0]} has lists for {count(ours, 'query')} and {words[1]} for "
                f"{count(theirs, 'query')}; {_BY_POSITION}"
            )
            raise DataError(msg)
        return first, second
    if is_listed(first):
        return _named(first, second, words), second
    if is_listed(second):
        return first, _named(second, first, (words[1], words[0]))
    return first, second


def all_paired(names: Sequence[str], runs: Sequence[Source]) -> list[Source]:
    """Pair several runs with each other, if some of them are lists without ids."""
    with_ids = [n for n, run in enumerate(runs) if run.n_places is None]
    base = 0
    if any(map(is_listed, runs)) and with_ids:
        base, *others = with_ids
        for n in others:
            both = names[base], names[n]
            refuse_other_queries(runs[base], runs[n], both, "the lists")
    return [
        paired(runs[base], run, (names[base], name))[1]
        for name, run in zip(names, runs, strict=True)
    ]


def is_listed(source: Source) -> TypeGuard[Held]:
    """Say whether these are lists without ids, and not the rows of a matrix."""
    return source.n_places is not None and not source.is_matrix


def refuse_other_queries(
    first: Source, second: Source, names: tuple[str, str], lists: str
) -> None:
    """Refuse two runs with ids that pair the same lists with different queries.

    Args:
        first: a run.
        second: another one.
        names: what to call them.
        lists: what to call the lists without ids that both are paired with.
    """
    ids = [
        None if run.n_places is not None else [*map(str, run.query_ids())]
        for run in (first, second)
    ]
    if ids[0] != ids[1]:
        msg = (
            f"{names[0]} and {names[1]} do not have the same queries in the same "
            f"order, so {lists} without ids cannot be paired with both; give {lists} "
            "ids, as in {query: ...}"
        )
        raise DataError(msg)


def met_by_number(
    first: Source, second: Source, words: tuple[str, str], *, alike: bool = True
) -> tuple[str, ...]:
    """Warn of row numbers of a matrix that may not be the ids of the other side.

    That is so unless the ids are exactly the numbers of all rows. A sparse matrix has
    no other ids than its numbers, and often rows that nobody asks for: there, it is so
    if an id is not the number of a row.

    Args:
        first: one side.
        second: the other one.
        words: what to call them.
        alike: whether both have the same queries; if not, as with training data, one
            may have more of them.

    >>> from rankine import from_ranked
    >>> from rankine._io.sources import Lists
    >>> run = from_ranked([["a"], ["b"]])
    >>> met_by_number(Lists({0: {"a"}, 1: {"b"}}, "qrels"), run, ("qrels", "run"))
    ()
    >>> len(met_by_number(Lists({1: {"a"}, 2: {}}, "qrels"), run, ("qrels", "run")))
    1
    """
    if first.is_matrix:
        first, second, words = second, first, (words[1], words[0])
    n = second.n_places
    if n is None or not second.is_matrix or first.n_places is not None:
        return ()
    if first.once:
        return ()
    ids = set(map(str, first.query_ids()))
    found = sum(str(row) in ids for row in range(n))
    sparse = isinstance(second, Rows) and not second.ranked
    if found == len(ids) and (found == n or sparse):
        return ()
    if not alike and found in (n, len(ids)):
        return ()
    todo = "if these are not the ids, use a frame with a column of queries"
    if not sparse:
        todo = (
            "give the ids, as in from_scores(x, queries=ids) or from_ranked(x, "
            f"queries=ids); queries=range({n}) if row numbers are right"
        )
    unit = first.unit or QUERY
    share = f"{found:,} of {count(len(ids), f'{unit} id')} in {words[0]}"
    said = (
        f"{words[1]} has no {unit} ids, so its row numbers 0 to {n - 1} are taken as "
        f"ids, which match {share}; {todo}"
    )
    return (said,)


def _named(lists: Held, other: Source, words: tuple[str, str]) -> Held:
    """Return lists with the ids that the other side has at the same positions."""
    n, unit = lists.n_places, other.unit or QUERY
    ids = other.query_ids()
    if len(ids) != n:
        msg = (
            f"{words[0]} has {count(n or 0, 'list')} without ids and {words[1]} has "
            f"{count(len(ids), unit)}; {_BY_POSITION}, so both need as many; or "
            f"give {words[0]} ids, as in {{query: ...}}"
        )
        raise DataError(msg)
    notes = lists.notes
    if [*map(str, ids)] != [*map(str, range(len(ids)))]:
        said = (
            f"{words[0]} has no {unit} ids: its lists are paired with the "
            f"{plural(unit)} of {words[1]} by position"
        )
        notes = (*notes, said)
    return replace(lists.with_queries(ids), n_places=None, notes=notes)
