"""Who comes first among items with equal scores, for the few that are judged."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import polars as pl

from rankine.table.segments import expand, position, runs

if TYPE_CHECKING:
    from rankine.arrays import AnyArray, Floats, Ints


class Items(NamedTuple):
    """Item ids, and the order that brings the rows of each list together."""

    series: pl.Series
    order: AnyArray | None

    def gather(self, rows: Ints) -> pl.Series:
        """Return the ids of some rows."""
        return self.series.gather(rows if self.order is None else self.order[rows])


def before(
    items: Items,
    scores: Floats,
    starts: Ints,
    row: Ints,
    group: Ints,
    tied: Ints,
    tie: str,
) -> Ints:
    """Count, for each judged row, the tied items that the tie rule puts before it."""
    ahead = np.zeros(len(row), dtype=np.int64)
    open_ = np.flatnonzero(tied > 1)
    # Look at the lists that have a judged row in a tie, and there at equal scores.
    lists = np.unique(group[open_])
    rows, owner = expand(starts[lists], np.diff(starts)[lists])
    block = pl.DataFrame(
        {"list": lists[owner], "score": scores[rows] + 0.0, "row": rows}
    )
    wanted = pl.DataFrame(
        {"list": group[open_], "score": scores[row[open_]] + 0.0}
    ).unique()
    block = block.join(wanted, on=["list", "score"], how="semi")
    members = block["row"].to_numpy()
    if tie in {"input", "input_rev"}:
        block = block.sort(
            ["list", "score", "row"], descending=[False, False, tie == "input_rev"]
        )
    else:
        # Ids are compared as text, so that 10 and "10" are ranked alike.
        text = items.gather(members).cast(pl.String)
        block = block.with_columns(text.alias("id")).sort(
            ["list", "score", "id"], descending=[False, False, tie != "id_asc"]
        )
    _, segment = runs(block["list"].to_numpy(), block["score"].to_numpy())
    place = position(segment)
    ordered = block["row"].to_numpy()
    by_row = np.argsort(ordered)
    at = by_row[np.searchsorted(ordered[by_row], row[open_])]
    ahead[open_] = place[at]
    return ahead
