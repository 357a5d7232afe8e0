"""Joined tables: which retrieved items are judged, at which rank, and whole lists.

- chunks: a run as chunks of whole queries, as columns (row_chunks), a mapping or a
  matrix; each is looked through once by all finders, and what they find adds up. spill:
  rows that wait on disk.
- judged_items: finders of judged items, in every order asked for, and their tables;
  judged_mappings looks them up in dicts, judged_rows among rows, dense in matrices;
  matching: which of these fits. judgements: the side of the truth.
- finders: those of lists, first items and different items; lists: one run in order;
  side_data and known_items: what is known of items and users, numbered once; context:
  both joined.
- ids: ids of several sources, of one type or two; by_position: lists without ids;
  ranks: rank columns that cannot be; weights: of queries.
- pairs: two runs; rounds and policy: a log and what is recommended.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rankine._tables.judged import Judged, Ties

if TYPE_CHECKING:
    from rankine._conventions.convention import Convention

__all__ = ["Judged", "Ties", "judged"]


def judged(qrels: Any, run: Any, convention: str | Convention = "rankine") -> Judged:
    """Join judgements and a run into the table that metrics read.

    >>> table = judged({"q": {"a": 1, "b": 0}}, {"q": ["x", "a", "b"]})
    >>> table.rank, table.grade
    (array([2, 3]), array([1., 0.]))
    """
    # Nothing is read until a table is made.
    from rankine._conventions import presets  # noqa: PLC0415
    from rankine._io import read  # noqa: PLC0415
    from rankine._join.judgements import truth_of  # noqa: PLC0415
    from rankine._join.matching import match  # noqa: PLC0415
    from rankine._tables.joined import apply  # noqa: PLC0415
    from rankine._tables.order import Order  # noqa: PLC0415

    rule = presets.convention(convention)
    order = Order.of(rule)
    matched = match(truth_of(qrels), read(run, "run"), {order: True})
    return apply(matched[order], rule).table
