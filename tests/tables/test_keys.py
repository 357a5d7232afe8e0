"""Equal keys are found wherever they are, and others are not taken for equal."""

from __future__ import annotations

import numpy as np
import pytest

from rankine._tables.keys import KeyTable, may_repeat, some_equal


@pytest.fixture(params=[2, 600_000], ids=["threads", "thread"], autouse=True)
def many(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have keys written by two threads, and by one."""
    monkeypatch.setattr("rankine._base.blocks._MANY", request.param)


@pytest.mark.parametrize("n", [2, 3, 100, 5000, 200_000])
def test_distinct_keys_are_not_equal(n: int) -> None:
    keys = np.random.default_rng(n).permutation(4 * n)[:n].astype(np.uint64)

    assert not some_equal(keys * np.uint64(0x9E3779B97F4A7C15))


@pytest.mark.parametrize("n", [2, 3, 100, 5000, 200_000])
def test_two_equal_keys_are_found_wherever_they_are(n: int) -> None:
    rng = np.random.default_rng(n)
    for _ in range(20):
        keys = rng.integers(0, 2**63, n).astype(np.uint64)
        first, second = rng.choice(n, 2, replace=False)
        keys[first] = keys[second]

        assert some_equal(keys)


@pytest.mark.parametrize(
    "lengths", [[4, 4, 4], [4, 4, 3], [2, 9, 1]], ids=["equal", "padded", "mixed"]
)
def test_equal_keys_in_a_list_are_found(lengths: list[int]) -> None:
    starts = np.concatenate(([0], np.cumsum(lengths)))
    keys = np.arange(sum(lengths), dtype=np.uint64) + np.uint64(5)
    twice = keys.copy()
    twice[9] = twice[10]

    assert not may_repeat(keys, starts)
    assert may_repeat(twice, starts)


def test_a_table_finds_its_keys_and_no_others() -> None:
    rng = np.random.default_rng(4)
    for n in (0, 1, 7, 300, 20_000):
        keys = rng.permutation(3 * n + 2)[:n].astype(np.uint64)
        asked = np.arange(3 * n + 2, dtype=np.uint64)

        table = KeyTable(keys)
        row, place = table.find(asked)

        assert row.tolist() == sorted(keys.tolist())
        assert keys[place].tolist() == row.tolist()
        everyone = np.full(len(asked), -1)
        everyone[row] = place
        assert table.places(asked).tolist() == everyone.tolist()


def test_a_key_is_where_it_is_proposed_or_among_the_others() -> None:
    """So whoever compares what stands at a proposed place finds every key."""
    rng = np.random.default_rng(5)
    for n in (1, 7, 300, 20_000):
        keys = rng.integers(0, 2**63, n).astype(np.uint64)
        strangers = rng.integers(0, 2**63, n).astype(np.uint64) | np.uint64(1 << 63)

        # Shifted, all have the same bits above their places.
        for shift in (0, 24):
            table = KeyTable(keys << np.uint64(shift), spare=1)
            place = table.proposed(table.keys)
            lost = np.flatnonzero(table.keys[place] != table.keys)
            again = table.others(table.keys[lost])

            assert place.min() >= 0
            assert table.keys[again].tolist() == table.keys[lost].tolist()
            assert n < 20_000 or (len(lost) > 0) == (shift > 0)
            proposed = table.proposed(strangers << np.uint64(shift))
            assert proposed.min() >= -1
            assert proposed.max() < n
            assert (table.others(strangers << np.uint64(shift)) == -1).all()


def test_keys_that_no_table_has_are_mostly_proposed_nowhere() -> None:
    """The bits that stand above a place tell them from the key in their slot."""
    rng = np.random.default_rng(6)
    keys, strangers = rng.integers(0, 2**63, (2, 20_000)).astype(np.uint64)

    proposed = KeyTable(keys, spare=1).proposed(strangers)

    assert np.count_nonzero(proposed >= 0) < 20


def test_keys_that_share_their_slots_in_every_round_are_told_apart() -> None:
    """Their upper bits agree, whichever multiplier brings others to the top."""
    pair = np.array([1487301414629536567, 14645241253587398924], dtype=np.uint64)

    table = KeyTable(pair, spare=3)

    assert table.unique
    assert table.places(pair).tolist() == [0, 1]
