"""Ids that come in parts keep their numbers."""

from __future__ import annotations

import polars as pl

from rankine._join.ids import Numbering


def test_ids_that_come_in_many_parts_are_numbered_and_kept_in_one_piece() -> None:
    """From texts of several pieces, polars gathers ten times as slowly."""
    numbering = Numbering()

    for begin in range(0, 1000, 100):
        part = pl.Series([f"q{number}" for number in range(begin, begin + 150)])
        assert numbering.of(part).tolist() == list(range(begin, begin + 150))

    assert numbering.ids.to_list() == [f"q{number}" for number in range(1050)]
    assert numbering.ids.n_chunks() == 1
    assert all(index.known.n_chunks() == 1 for index in numbering._indexes)  # noqa: SLF001


def test_ids_keep_their_numbers_when_one_index_is_made_of_all() -> None:
    numbering = Numbering()
    first = [f"q{number}" for number in range(700)]
    for part in (first[:400], first[:500], first[:600], first):
        numbering.of(pl.Series(part))
    n_indexes = [len(numbering._indexes)]  # noqa: SLF001

    few = [f"q{number}" for number in range(0, 700, 10)]
    assert numbering.of(pl.Series(few)).tolist() == list(range(0, 700, 10))
    n_indexes.append(len(numbering._indexes))  # noqa: SLF001
    known = first[::-1]
    for _ in range(2):
        assert numbering.of(pl.Series(known)).tolist() == list(range(700))[::-1]
        n_indexes.append(len(numbering._indexes))  # noqa: SLF001
    assert numbering.of(pl.Series(["new", "q7"])).tolist() == [700, 7]

    # A few ids that are all known are not worth it, many are.
    assert n_indexes == [n_indexes[0], n_indexes[0], 1, 1]
    assert n_indexes[0] > 1
    assert numbering.ids.to_list() == [*first, "new"]
