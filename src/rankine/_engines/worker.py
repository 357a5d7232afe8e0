"""What runs where the data are: rows of whole queries in, values or a state out.

An executor needs NumPy, pyarrow and this package, but not polars. Rows come in batches,
sorted by query. The queries of many batches are evaluated together, with the same
kernels as in memory; a query that continues in the next batch waits for it.
"""

from __future__ import annotations

import pickle
from collections import Counter
from sys import maxsize
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

import rankine
from rankine._base.limits import limited
from rankine._engines.queries import Queries
from rankine._engines.state import State, Sums
from rankine._engines.work import ROLES, Work
from rankine.errors import RankineError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


def states(work: Work, batches: Iterable[Any]) -> Iterator[Any]:
    """Return the state of all queries of a partition, as one row."""
    total = State([Sums() for _ in work.plan.asked])
    try:
        for state, _ in _evaluated(work, batches):
            total.add(state)
    except RankineError as error:
        # As data: an exception would be tried again, and come as a stack of calls.
        total.problems.append(error)
    yield pa.RecordBatch.from_pydict({"state": [pickle.dumps(total)]})


def values(work: Work, batches: Iterable[Any]) -> Iterator[Any]:
    """Return the values of all queries of a partition."""
    for _, frame in _evaluated(work, batches):
        yield from frame.to_batches()


def _evaluated(work: Work, batches: Iterable[Any]) -> Iterator[tuple[State, Any]]:
    if work.version != rankine.__version__:
        msg = (
            f"the executors have rankine {rankine.__version__}, and the driver has "
            f"{work.version}; install the same version, or call "
            "rankine.spark.ship(spark) before anything is evaluated"
        )
        raise UsageError(msg)
    # Ties are found by sorting, as the other way needs polars.
    with limited(few_tied=maxsize):
        for counts, rows in _whole_queries(batches, work.n_rows):
            yield Queries(work, counts, rows).evaluated()


def _whole_queries(
    batches: Iterable[Any], n_rows: int
) -> Iterator[tuple[Counter[tuple[str, str]], Any]]:
    """Put batches together until they hold enough rows, and cut them between queries.

    Rows without an id of a query are counted and left out.
    """
    held: list[Any] = []
    n_held, enough = 0, n_rows
    counts: Counter[tuple[str, str]] = Counter()
    for batch in batches:
        missing = batch.column("query").null_count
        if missing:
            gone = batch.filter(pc.is_null(batch.column("query")))
            for number, role in enumerate(ROLES):
                n = pc.sum(pc.equal(gone.column("kind"), number)).as_py()
                counts[role, "query"] += n or 0
            batch = batch.filter(pc.is_valid(batch.column("query")))  # noqa: PLW2901
        held.append(batch)
        n_held += batch.num_rows
        if n_held < enough:
            continue
        rows = pa.Table.from_batches(held).combine_chunks()
        query = rows.column("query")
        last = pc.index(query, query[-1]).as_py()
        held, n_held = rows.slice(last).to_batches(), len(rows) - last
        if last:
            yield counts, rows.slice(0, last)
            counts = Counter()
        # A query that is larger than this is not looked through at every batch.
        enough = max(n_rows, 2 * n_held)
    if held:
        yield counts, pa.Table.from_batches(held).combine_chunks()
