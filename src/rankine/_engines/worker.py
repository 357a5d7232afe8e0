"""What runs where the data are: rows of whole queries in, values or a state out.

Rows come in batches, sorted by query. Chunks of whole queries are evaluated as in
memory, by the same function.
"""

from __future__ import annotations

import pickle
from typing import TYPE_CHECKING, Any

import polars as pl
import pyarrow as pa

import rankine
from rankine._engines.chunks import check_rows, chunk_of, whole_queries
from rankine._engines.state import State
from rankine._engines.work import LISTED, SIDES, Work, answering, without_rows
from rankine._evaluate.arrivals import Arrivals
from rankine._evaluate.engine import evaluate_source
from rankine._evaluate.part import Part
from rankine._join.judgements import Truth
from rankine.errors import RankineError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rankine._engines.work import Counts
    from rankine._evaluate.result import Evaluation
    from rankine._io.sources import Rows


@answering
def states(sent: bytes, batches: Iterable[Any]) -> Iterator[Any]:
    """Return the state of all queries of a partition."""
    work, total = _work(sent), State()
    for dropped, rows in whole_queries(batches, work.n_rows):
        total += _state(work, dropped, rows)
    yield total


def _state(work: Work, dropped: Counts, rows: pl.DataFrame) -> State:
    """Return what some queries come to, or why they cannot be used."""
    judged, listed, state = chunk_of(work, dropped, rows)
    try:
        check_rows(work, rows)
        result = evaluate_chunk(work, judged, listed)
    except RankineError as error:
        # What is refused depends on all counts, so these are needed nevertheless.
        state.problems.append(without_rows(error))
        return state
    came = Arrivals.first_of(judged, listed, has_judgements=work.judged)
    state.part = Part.of(work.plan, result, came)
    return state


def values(sent: bytes, batches: Iterable[Any]) -> Iterator[Any]:
    """Return the values of all queries of a partition."""
    work = _work(sent)
    for dropped, rows in whole_queries(batches, work.n_rows):
        judged, listed, _ = chunk_of(work, dropped, rows)
        result = evaluate_chunk(work, judged, listed)
        # A mean over pairs of lists, of which one may be in another partition.
        apart = [
            pl.lit(None, pl.Float64).alias(label)
            for label, summary in result.summaries.items()
            if summary.metric.fact.pairs is not None
        ]
        frame = result.per_query.with_columns(*apart)
        table = frame.to_arrow(compat_level=pl.CompatLevel.oldest())
        kind = pa.int64() if rows["query"].dtype.is_integer() else pa.string()
        query = table.column("query").cast(kind)
        yield from table.set_column(0, "query", query).to_batches()


def _work(sent: bytes) -> Work:
    """Unpack what is to be done, if it was packed by the same version."""
    version, packed_work = pickle.loads(sent)  # noqa: S301 - made by our own code
    if version != rankine.__version__:
        msg = (
            f"the executors have rankine {rankine.__version__}, and the driver has "
            f"{version}; install the same version, or call rankine.spark.ship(spark) "
            "before anything is evaluated"
        )
        raise UsageError(msg)
    work: Work = pickle.loads(packed_work)  # noqa: S301
    return work


def evaluate_chunk(work: Work, judged: Rows, listed: Rows) -> Evaluation:
    """Evaluate some queries as in memory."""
    return evaluate_source(
        work.plan,
        Truth(judged) if work.judged else None,
        listed,
        SIDES[LISTED],
        depth=work.depth,
        side_data=work.side_data,
        partial=True,
    )
