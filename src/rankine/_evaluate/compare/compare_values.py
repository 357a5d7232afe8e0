"""compare_values: systems compared by values that were computed elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from rankine._base.checks import check_flag
from rankine._evaluate.compare.compare import check_systems, margins_of, unpaired
from rankine._evaluate.compare.comparison import Comparison
from rankine._evaluate.compare.system_values import SystemValues
from rankine._evaluate.summary import mean_of
from rankine._io.frames import is_frame, open_frame
from rankine._stats.functions import LARGEST
from rankine._stats.intervals import Sample
from rankine._stats.intervals import intervals as intervals_of
from rankine._stats.paired import DRAWS
from rankine._stats.pairwise import Settings
from rankine.errors import DataError, ParameterError

if TYPE_CHECKING:
    from rankine._base.arrays import Floats


def compare_values(
    frame: Any,
    *,
    baseline: str | None = None,
    test: str = "randomization",
    correction: str = "holm",
    confidence: float = 0.95,
    margin: float | None = None,
    higher_is_better: bool = True,
    draws: int = DRAWS,
    seed: int = 0,
    intervals: str = "pair",
) -> Comparison:
    """Compare systems by values that were computed elsewhere.

    Args:
        frame: a frame with a column ``query`` and a column of values per system; a
            missing value leaves the query out of that system's pairs.
        baseline: as in `compare`.
        test: as in `compare`.
        correction: as in `compare`.
        confidence: as in `compare`.
        margin: the difference that does not matter.
        higher_is_better: whether larger values are better.
        draws: as in `compare`.
        seed: as in `compare`.
        intervals: as in `compare`.

    Returns:
        The comparison, of one metric that is called ``value``.

    >>> import polars as pl
    >>> import rankine as rk
    >>> frame = pl.DataFrame(
    ...     {"query": [1, 2, 3], "x": [0.1, 0.2, 0.3], "y": [0.2, 0.3, 0.5]}
    ... )
    >>> rk.compare_values(frame, test="sign").pairwise.select("a", "b", "p").row(0)
    ('x', 'y', 0.25)
    """
    settings = Settings(test, correction, "metric", confidence, draws, seed, intervals)
    settings.check()
    check_flag("higher_is_better", higher_is_better)
    if not is_frame(frame):
        msg = (
            "compare_values takes a frame with a column 'query' and a column per "
            f"system, got {type(frame).__name__}"
        )
        raise ParameterError(msg)
    part = open_frame(frame, "the frame")
    if "query" not in part.names:
        msg = f"the frame has no column 'query'; it has {', '.join(part.names)}"
        raise DataError(msg)
    table, _ = part.load(part.names, ())
    queries = table["query"].to_list()
    for row, query in enumerate(queries, 1):
        if query is None or query != query:  # noqa: PLR0124 - nan
            msg = f"row {row} of the frame has no query; give each row one"
            raise DataError(msg)
    if len({str(query) for query in queries}) < len(queries):
        msg = "a query appears twice in the frame; give each query one row"
        raise DataError(msg)
    names = tuple(name for name in table.columns if name != "query")
    check_systems(names, baseline)
    order = sorted(range(len(queries)), key=lambda row: str(queries[row]))
    columns = [_numbers_of(table, name)[order] for name in names]
    values = np.stack(columns)[None, :, :]
    means = np.array([[mean_of(column, None, None) for column in columns]])
    pairs = zip(columns, means[0].tolist(), strict=True)
    samples = [Sample(column, number=mean) for column, mean in pairs]
    bounds = intervals_of(samples, confidence=confidence, seed=seed)
    lows, highs = np.array(bounds).T[:, None, :]
    compared = SystemValues(
        names, ("value",), [queries[row] for row in order], values, means, lows, highs,
        (higher_is_better,),
    )  # fmt: skip
    margins = margins_of(margin, ("value",))
    notes = tuple(unpaired(compared))
    return Comparison(
        compared, settings, baseline=baseline, margins=margins, notes=notes
    )


def _numbers_of(table: pl.DataFrame, name: str) -> Floats:
    """Return a column of values as floats, nan where there is none."""
    column = table[name]
    if not column.dtype.is_numeric():
        msg = f"column {name} holds {column.dtype}; expected the values of a system"
        raise DataError(msg)
    numbers: Floats = column.cast(pl.Float64).fill_null(np.nan).to_numpy().copy()
    odd = np.flatnonzero(np.abs(numbers) > LARGEST)
    if len(odd):
        query = table["query"][int(odd[0])]
        odd_value = f"column {name} has {numbers[odd[0]]} for query {query!r}"
        msg = f"{odd_value}; expected a finite number of at most {LARGEST:g} in size"
        raise DataError(msg)
    return numbers
