"""Several runs, by their names: as given, or named after their files."""

from __future__ import annotations

import glob
from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from rankine._base.checks import check_count
from rankine._base.forks import need_threads
from rankine._base.paths import told_apart
from rankine._io import source_of
from rankine._io.rows import held
from rankine._join.by_position import all_paired
from rankine._join.ids import Index, one_type
from rankine._join.lists import lists_of
from rankine._tables.segments import cut_lists
from rankine.errors import DataError, ParameterError

if TYPE_CHECKING:
    from rankine._conventions.convention import Convention
    from rankine._io.sources import Source


def runs_of(runs: Any) -> dict[str, Any]:
    """Return runs by their names: as given, or named after their files."""
    if isinstance(runs, (str, PathLike)):
        paths = sorted(glob.glob(str(runs), recursive=True))  # noqa: PTH207 - a pattern
        if not paths:
            msg = f"no file matches {str(runs)!r}"
            raise DataError(msg)
        runs = paths
    if isinstance(runs, (list, tuple)) and all(
        isinstance(run, (str, PathLike)) for run in runs
    ):
        names = told_apart([Path(run) for run in runs])
        if len(set(names)) < len(names):
            msg = f"two runs have the same name: {', '.join(names)}"
            raise ParameterError(msg)
        runs = dict(zip(names, runs, strict=True))
    if not isinstance(runs, Mapping):
        msg = (
            "runs must be a mapping from name to run, a list of paths or a pattern, "
            f"got {type(runs).__name__}"
        )
        raise ParameterError(msg)
    named = {str(name): run for name, run in runs.items()}
    if len(named) < len(runs):
        msg = f"two runs have the same name as text: {', '.join(map(str, runs))}"
        raise ParameterError(msg)
    return named


def named_runs(runs: Any) -> dict[str, Any]:
    """Return runs by their names; those in a list, in any form, need none.

    >>> [*named_runs([{"q": ["a"]}, {"q": ["b"]}])]
    ['run 1', 'run 2']
    """
    if not isinstance(runs, (str, PathLike, list, tuple, Mapping)):
        msg = (
            "runs must be {name: run}, a list of runs, or a pattern of files, got "
            f"{type(runs).__name__}; for a single run, pass [run]"
        )
        raise ParameterError(msg)
    if isinstance(runs, (list, tuple)) and not all(
        isinstance(run, (str, PathLike)) for run in runs
    ):
        runs = {f"run {number}": run for number, run in enumerate(runs, 1)}
    return runs_of(runs)


def sources_of(runs: Any) -> dict[str, Source]:
    """Read several runs, which need no names; see `named_runs`."""
    named = named_runs(runs)
    if not named:
        msg = "runs is empty; give at least one run"
        raise ParameterError(msg)
    read = {name: source_of(run, name=name) for name, run in named.items()}
    return {name: held(run) if run.once else run for name, run in read.items()}


def first_pairs(
    source: Source, depth: int | None, rule: Convention | None = None
) -> pl.DataFrame:
    """Return the query and the item of the first rows of each list.

    Args:
        source: the run.
        depth: how many rows of each list; None for all.
        rule: the convention whose order they are in; rankine's own if not given.
    """
    lists = lists_of(source, rule, depth and max(depth, 1))
    starts, rows = lists.starts, np.arange(lists.starts[-1])
    if depth is not None:
        starts, rows = cut_lists(starts, None, depth)
    query = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    columns = lists.queries[query].alias("query"), lists.items_of(rows).alias("item")
    return pl.DataFrame(columns)


def check_depth(depth: int | None) -> None:
    """Refuse what is neither a number of items nor None, for all of them."""
    if depth is not None:
        check_count("depth", depth, least=0)


def pool(runs: Any, depth: int | None) -> pl.DataFrame:
    """Return the items to be judged: those that any run has among its first.

    Args:
        runs: {name: run}, a list of runs in any form, or paths or a pattern of files.
        depth: how many items of each list; None for all.

    Returns:
        The columns query and item, each pair once. Queries come in the order in which
        the runs have them, and items in that of their ids, so that those who judge
        them do not see where they were ranked.

    References:
        Sparck Jones and van Rijsbergen (1975), Report on the need for and provision of
        an "ideal" information retrieval test collection.

    >>> import rankine as rk
    >>> old, new = {"q": ["b", "a", "x"]}, {"q": ["c", "b", "y"]}
    >>> rk.pool([old, new], depth=2)["item"].to_list()
    ['a', 'b', 'c']
    """
    check_depth(depth)
    need_threads()
    sources = sources_of(runs)
    names = list(sources)
    both = zip(names, all_paired(names, list(sources.values())), strict=True)
    pairs = {name: first_pairs(source, depth) for name, source in both}
    columns = {}
    for part in ("query", "item"):
        ids, _ = one_type({name: frame[part] for name, frame in pairs.items()}, part)
        columns[part] = pl.concat(ids.values())
    every = pl.DataFrame(columns).unique()
    place = Index.of_all(columns["query"]).find(every["query"])
    return every.with_columns(place=place).sort("place", "item").drop("place")
