"""A number of a whole run is a function of tallies, which add up."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rankine as rk
from rankine._metrics.lists.kind import LISTED, ListMetric
from rankine._tables.lists import Recommended
from rankine._tables.tallies import Lengths, Tallies, Tally, sum_of_counts

rk.metrics()
OF_ALL = [name for name, fact in LISTED.items() if fact.of_all]


def lists_of(*lists: list[int], n_items: int = 6, **more: Any) -> Recommended:
    length = np.array([len(own) for own in lists])
    starts = np.concatenate([[0], np.cumsum(length)])
    item = np.array([one for own in lists for one in own], dtype=np.int64)
    return Recommended(starts, item, length, n_items, **more)


def test_numbers_of_a_whole_run() -> None:
    assert sorted(OF_ALL) == [
        "Coverage", "Entropy", "Gini", "GiniSimpson", "InterListDiversity",
        "UserCoverage",
    ]  # fmt: skip


def value(metric: ListMetric, shown: Any) -> float:
    pairs = metric.fact.pairs
    if pairs is not None:
        return pairs(shown, **dict(metric.params))
    return float(metric.values(shown)[0])


@pytest.mark.parametrize("name", OF_ALL)
@pytest.mark.parametrize("k", [None, 2])
def test_tallies_that_were_added_up_give_the_number_of_all_lists(
    name: str, k: int | None
) -> None:
    lists = [[0, 1, 2], [1, 3], [4], [], [0, 1]]
    offered = np.array([True, True, True, True, False, True])
    covered = np.array([True, False, True, True, True])
    known: dict[str, Any] = {"catalog": 5, "offered": offered, "awaited": 7}
    whole = lists_of(*lists, covered=covered, **known)
    parts = [
        lists_of(*lists[rows], covered=covered[rows])
        for rows in (slice(0, 2), slice(2, 5))
    ]
    tallies = [part.tally(k) for part in parts]
    by_length: dict[int, Any] = {}
    for tally in tallies:
        for length, counts in tally.by_length.items():
            by_length[length] = by_length.get(length, 0) + counts
    merged = Tallies(
        5,
        {(k, False): Tally(by_length, sum_of_counts(*(own.lists for own in tallies)))},
        {k: parts[0].lengths(k) + parts[1].lengths(k)},
        **known,
    )
    metric = ListMetric(name) if k is None else ListMetric(name) @ k

    assert value(metric, merged) == value(metric, whole)


def test_lengths_of_lists_by_hand() -> None:
    table = lists_of(
        [0, 1, 2], [1, 3], [4], [], covered=np.array([True, False, True, True])
    )

    assert table.lengths(None).every.tolist() == [1, 1, 1, 1]
    assert table.lengths(None).awaited.tolist() == [1, 1, 0, 1]
    assert table.lengths(2).every.tolist() == [1, 1, 2]
    assert table.lengths(2).at_least(2, awaited=True) == 1
    assert table.lengths(2).at_least(2, awaited=False) == 2
    assert table.lengths(2).at_least(9, awaited=False) == 0


def test_lengths_add_up() -> None:
    one = Lengths(np.array([1, 2]), np.array([0, 2]))
    other = Lengths(np.array([0, 1, 4]), np.array([0, 0, 3]))

    both = one + other

    assert both.every.tolist() == [1, 3, 4]
    assert both.awaited.tolist() == [0, 2, 3]
    assert one.every.tolist() == [1, 2]


def test_tallies_of_nothing() -> None:
    nothing = Tallies(0)

    assert nothing.tally(3).n_lists == 0
    assert nothing.shown(None).tolist() == []
    assert nothing.lengths(None).at_least(1, awaited=True) == 0
