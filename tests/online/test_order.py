"""Rows in order, and texts as numbers: every way gives the same."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal
from rankine._online.order import in_order, stable
from rankine._online.rows import Rows, joined

from rankine._base.blocks import ahead
from rankine._base.limits import limited
from rankine._online.sums import user_sums
from rankine._online.texts import coded
from rankine.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

MANY = 150_000


@pytest.mark.parametrize("most", [2, 1000, MANY, 20 * MANY, 1 << 40])
@pytest.mark.parametrize("n", [1, 1000, MANY])
def test_numbers_are_sorted_as_they_come(n: int, most: int) -> None:
    rng = np.random.default_rng(n + most)
    codes = rng.integers(0, most, n)

    assert stable(codes).tolist() == np.argsort(codes, kind="stable").tolist()


def test_sorted_parts_are_merged() -> None:
    codes = np.array([1, 4, 4, 9, 0, 4, 10])

    assert stable(codes).tolist() == [4, 0, 1, 2, 5, 3, 6]


def test_an_order_is_kept_among_equals() -> None:
    rng = np.random.default_rng(3)
    first, second = rng.integers(0, 50, MANY), rng.integers(0, 50, MANY)

    order = stable(first, stable(second))

    assert order.tolist() == np.lexsort((second, first)).tolist()


@pytest.mark.parametrize("n_users", [1, 3, 60])
@pytest.mark.parametrize("sizes", [(9, 40), (40, 9), (30, 30), (0, 5), (4, 4, 90)])
@pytest.mark.parametrize("with_sessions", [False, True])
def test_parts_are_put_in_the_order_of_a_plain_sort(
    sizes: tuple[int, ...], n_users: int, *, with_sessions: bool
) -> None:
    rng = np.random.default_rng(sum(sizes) + n_users)
    parts = []
    for size in sizes:
        names = ["user", *["session"] * with_sessions, "time", "fact", "same"]
        most = {"user": n_users, "session": 3, "time": 5, "fact": 2, "same": 3}
        drawn = {name: rng.integers(0, most[name], size) for name in names}
        drawn["user"].sort()
        parts.append(Rows(drawn))
    events = in_order(joined(parts))

    every = np.array([np.concatenate([part[n] for part in parts]) for n in names])
    assert np.array([events[n] for n in names]).T.tolist() == sorted(every.T.tolist())


@pytest.mark.parametrize("small_first", [False, True])
def test_few_rows_are_inserted_among_many(*, small_first: bool) -> None:
    few = Rows({"user": np.array([1, 3, 3]), "time": np.array([10, 11, 12])})
    many = Rows({"user": np.repeat(np.arange(1, 5), 4), "time": np.arange(16)})
    parts = [few, many] if small_first else [many, few]

    mine, theirs = [10], [0, 1, 2, 3]
    third = [11, 12], [8, 9, 10, 11]
    expected = [*mine, *theirs, 4, 5, 6, 7, *third[0], *third[1], 12, 13, 14, 15]
    if not small_first:
        expected = [*theirs, *mine, 4, 5, 6, 7, *third[1], *third[0], 12, 13, 14, 15]
    rows = joined(parts)
    assert rows["user"].tolist() == [1] * 5 + [2] * 4 + [3] * 6 + [4] * 4
    assert rows["time"].tolist() == expected


@pytest.mark.parametrize("n_texts", [1, 3, 40])
@pytest.mark.parametrize("rare", [[], ["seldom"], [None], ["seldom", None, "never"]])
@pytest.mark.parametrize("n", [3, 9000])
def test_texts_are_numbered(n: int, rare: list[str | None], n_texts: int) -> None:
    rows = [f"text {row % n_texts}" for row in range(n)] + rare
    texts, numbers = coded(pl.Series(rows, dtype=pl.String))

    named = [None, *texts.to_list()]
    assert [named[number] for number in numbers] == rows
    assert sorted(texts.to_list()) == sorted({row for row in rows if row is not None})


def test_texts_may_all_be_missing() -> None:
    texts, numbers = coded(pl.Series([None] * 5000, dtype=pl.String))

    assert texts.to_list() == []
    assert not numbers.any()


@pytest.mark.parametrize("rules", [{}, {"exposure": "click"}, {"window": 0.01}])
def test_halves_of_the_users_are_counted_apart(
    rules: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(5)
    n = 600
    kinds = np.array(["impression", "click", "pageview", "conversion"])
    log = pl.DataFrame(
        {
            "timestamp": 1_700_000_000 + np.sort(rng.integers(0, 200_000, n)),
            "user_id": rng.integers(0, 40, n),
            "event": kinds[rng.integers(0, 4, n)],
            "value": rng.integers(0, 5, n) / 3,
            "cost": rng.integers(0, 5, n) / 10,
        }
    )
    log = log.with_columns(variant=pl.col("user_id").mod(2).cast(pl.String))
    at_once = user_sums(log, daily=True, **rules)
    monkeypatch.setattr("rankine._base.blocks._MANY", 2)

    halves = user_sums(log, daily=True, **rules)

    assert_frame_equal(halves.frame, at_once.frame, check_exact=True)
    assert halves.notes == at_once.notes


def test_what_a_second_thread_raises_is_raised_here() -> None:
    def parts() -> Iterator[int]:
        yield 1
        yield 2
        msg = "the third is broken"
        raise DataError(msg)

    seen: list[int] = []
    with pytest.raises(DataError, match="the third is broken"):
        seen.extend(ahead(parts()))

    assert seen == [1, 2]


def test_notes_name_a_log_of_several_files_once(tmp_path: Path) -> None:
    log = pl.DataFrame(
        {
            "timestamp": pl.Series([0, 1]).cast(pl.Datetime("us")),
            "user_id": [1, 2],
            "event": ["impression", "click"],
        }
    )
    for day in "abc":
        log.write_parquet(f"{tmp_path}/{day}.parquet")
    with limited(batch_rows=2):
        notes = user_sums(str(tmp_path), by=None).notes

    assert [note for note in notes if "zone" in note] == [
        f"{tmp_path}: times without a zone are taken as UTC"
    ]
