"""Who comes first among items with equal scores, for the few that are judged."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from rankine.table.segments import expand, position, runs

if TYPE_CHECKING:
    from collections.abc import Callable

    from rankine.arrays import Floats, Ints


FEW = 0.2
"""The share of lists whose ties are looked at again, where another rule asks."""


def before(
    ids: Callable[[Ints], pl.Series],
    scores: Floats,
    starts: Ints,
    row: Ints,
    group: Ints,
    tie: str,
) -> Ints:
    """Count, for each row, the items of its list and score that the rule puts before.

    Args:
        ids: gives the ids of some rows.
        scores: of all rows, those of a list together.
        starts: where each list begins.
        row: the rows that are asked for.
        group: the number of the list of each.
        tie: the rule.
    """
    # Look at the lists that have such a row, and there at equal scores.
    lists = np.unique(group)
    rows, owner = expand(starts[lists], np.diff(starts)[lists])
    block = pl.DataFrame(
        {"list": lists[owner], "score": scores[rows] + 0.0, "row": rows}
    )
    wanted = pl.DataFrame({"list": group, "score": scores[row] + 0.0}).unique()
    block = block.join(wanted, on=["list", "score"], how="semi")
    members = block["row"].to_numpy()
    if tie in {"input", "input_rev"}:
        block = block.sort(
            ["list", "score", "row"], descending=[False, False, tie == "input_rev"]
        )
    else:
        # Ids are compared as text, so that 10 and "10" are ranked alike.
        text = ids(members).cast(pl.String)
        block = block.with_columns(text.alias("id")).sort(
            ["list", "score", "id"], descending=[False, False, tie != "id_asc"]
        )
    _, segment = runs(block["list"].to_numpy(), block["score"].to_numpy())
    place = position(segment)
    ordered = block["row"].to_numpy()
    by_row = np.argsort(ordered)
    found: Ints = place[by_row[np.searchsorted(ordered[by_row], row)]]
    return found
