"""What is done in blocks and by two threads is what would be done at once."""

from __future__ import annotations

import itertools

import numpy as np
import polars as pl
import pytest

import rankine as rk
from rankine._join.row_chunks import list_starts
from rankine._tables.groups import Groups, Interactions, Train
from rankine._tables.lists import Recommended
from rankine._tables.segments import starts_of
from rankine.errors import DataError

N = 1 << 16
"""Rows of a block."""


@pytest.mark.parametrize("at", [1, N - 1, N, N + 1, 2 * N, 700_000])
def test_a_list_may_begin_anywhere(at: int) -> None:
    query = np.zeros(700_001, dtype=np.int64)
    query[at:] = 1
    assert list_starts(pl.Series(query)).tolist() == [0, at, 700_001]


def _table(seed: int, n_items: int, most: int) -> Recommended:
    rng = np.random.default_rng(seed)
    length = rng.integers(0, most, 9000)
    length[[0, 5, -1]] = 0
    starts = starts_of(length)
    item = rng.integers(0, n_items, starts[-1])
    n = rng.integers(0, 4, len(length))
    owner = np.repeat(np.arange(len(length)), n)
    # Each user has judged different items, one at a time around a circle.
    place = np.concatenate([np.arange(one) for one in n])
    member = (rng.integers(0, n_items, len(length))[owner] + place) % n_items
    grade = rng.integers(0, 3, len(owner)).astype(float)
    judged = Groups(starts_of(n), member, grade)
    return Recommended(starts, item, length, n_items, judged=judged, repeats=True)


@pytest.mark.parametrize(("n_items", "most"), [(50, 9), (3000, 200), (5, 3)])
@pytest.mark.parametrize("k", [None, 1, 4])
def test_items_are_counted_added_and_found_list_by_list(
    n_items: int, most: int, k: int | None
) -> None:
    table = _table(n_items, n_items, most)
    worth = np.random.default_rng(1).random(n_items)
    lists = [
        table.item[begin:end][:k].tolist()
        for begin, end in itertools.pairwise(table.starts.tolist())
    ]
    top = table.top(k)
    total = [sum(worth[item] for item in one) for one in lists]
    assert np.allclose(top.totals(worth), total, rtol=1e-12)
    assert table.shown(None).sum() == len(set(table.item.tolist()))
    assert np.flatnonzero(table.shown(k)).tolist() == sorted(set().union(*lists))

    judged = table.judged
    assert judged is not None
    grades = {
        (user, item): grade
        for user, item, grade in zip(
            judged.owner.tolist(),
            judged.member.tolist(),
            judged.value.tolist(),
            strict=True,
        )
    }
    found = table.hits(k)
    wanted = [
        (user, item, grades[user, item])
        for user, one in enumerate(lists)
        for item in one
        if (user, item) in grades
    ]
    assert wanted
    items = top.item[found.row].tolist()
    got = list(zip(found.user.tolist(), items, found.grade.tolist(), strict=True))
    assert got == wanted
    assert np.count_nonzero(~np.isnan(table.grades(k))) == len(wanted)


def test_what_is_shown_is_known_from_counts_alone() -> None:
    table = _table(0, 50, 9)
    expected = table.shown(3).tolist()
    other = _table(0, 50, 9)
    other.tally(3)
    assert other.shown(3).tolist() == expected


def test_what_only_the_last_lists_show_is_shown() -> None:
    item = np.concatenate((np.zeros(700_000, dtype=np.int64), [3]))
    starts = np.array([0, 700_000, 700_001])
    table = Recommended(starts, item, np.diff(starts), 5, repeats=True)
    assert table.shown(None).tolist() == [True, False, False, True, False]


def test_empty_lists_do_not_hide_a_score_out_of_order() -> None:
    lists: dict[str, dict[str, float]] = {
        "first": {},
        "u": {"a": 2.0, "b": 1.0},
        "none": {},
        "v": {"c": 5.0, "d": 6.0},
        "last": {},
    }
    found = rk.evaluate(None, lists, "Popularity@1", train={"w": ["d"]})
    assert found.per_query["Popularity@1"].to_list()[3] == 1


@pytest.mark.parametrize("lists", [[1, 1, 1], [1, 2], [2, 1], [3], [1]])
def test_a_score_that_is_no_number_is_seen_in_short_lists(lists: list[int]) -> None:
    n = sum(lists)
    for row in range(n):
        score = np.arange(n, 0.0, -1)
        score[row] = np.nan
        run = pl.DataFrame(
            {
                "user_id": np.repeat(np.arange(len(lists)), lists),
                "item_id": np.arange(n),
                "score": pl.Series(score, nan_to_null=False),
            }
        )
        with pytest.raises(DataError, match="is not a number"):
            rk.evaluate(None, run, "Gini", catalog=9)


def test_pairs_of_users_and_items_are_counted_once() -> None:
    rng = np.random.default_rng(3)
    user, item = rng.integers(0, 40, 5000), rng.integers(0, 33, 5000)
    had = Interactions(lambda: (user, item), 40, 33)
    pairs = sorted(set(zip(user.tolist(), item.tolist(), strict=True)))
    assert list(zip(had.user.tolist(), had.item.tolist(), strict=True)) == pairs
    assert had.users.tolist() == [
        len({u for u, own in pairs if own == one}) for one in range(33)
    ]


def test_what_users_did_is_found_by_the_numbers_of_a_table() -> None:
    # User 0 had items 0 and 1, the first twice; user 1 had item 1.
    user, item = np.array([0, 1, 0, 0]), np.array([1, 1, 0, 0])
    had = Interactions(lambda: (user, item), 2, 2)
    # In the table, these are items 1 and 4 of 6; lists are of a stranger and user 0.
    train = Train(had, np.array([1, 4]), 6, np.array([-1, 0]))

    assert train.records.tolist() == [0, 2, 0, 0, 2, 0]
    assert train.users.tolist() == [0, 1, 0, 0, 2, 0]
    assert (train.n_records, train.n_users) == (4, 2)
    assert train.profile.starts.tolist() == [0, 0, 2]
    assert train.profile.member.tolist() == [1, 4]
    assert train.part(1, 2).profile.starts.tolist() == [0, 2]


def _run(n_users: int, n_shown: int) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "user_id": np.repeat(np.arange(n_users), n_shown),
            "item_id": np.tile(np.arange(n_shown), n_users),
            "score": np.tile(np.arange(n_shown, 0.0, -1), n_users),
        }
    )


@pytest.mark.parametrize("row", [0, 1, N - 1, N, 399_999, 400_000, 699_999])
def test_one_score_out_of_order_or_missing_is_seen_anywhere(row: int) -> None:
    run = _run(7, 100_000)
    metric = "Coverage@1"
    first = rk.evaluate(None, run, metric, catalog=100_000)[metric]
    assert first == 1 / 100_000
    score = run["score"].to_numpy().copy()
    score[row] = 1e9
    # The item of this row is the first of its list now, unless it was.
    there = 1 if row % 100_000 == 0 else 2
    moved = run.with_columns(score=score)
    found = rk.evaluate(None, moved, metric, catalog=100_000)[metric]
    assert found == there / 100_000
    score[row] = np.nan
    with pytest.raises(DataError, match="is not a number"):
        rk.evaluate(
            None, run.with_columns(score=pl.Series(score)), metric, catalog=10**5
        )
