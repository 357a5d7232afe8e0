"""Click-through rates of batches are those of all rounds at once, bit for bit."""

from __future__ import annotations

import pickle
import subprocess
import sys
from typing import Any

import numpy as np
import polars as pl
import pytest

import rankine as rk
from rankine._metrics.estimators import ESTIMATORS
from rankine.errors import DataError, ParameterError

EVERY = list(ESTIMATORS)


class World:
    """A log, and what another policy would show to its users."""

    def __init__(self, seed: int, kind: str) -> None:
        rng = np.random.default_rng(seed)
        n, self.n_users, n_items = 400, 25, 7
        user = rng.integers(0, self.n_users, n)
        self.log = pl.DataFrame(
            {
                "user_id": user,
                "item_id": rng.integers(0, n_items, n),
                "click": rng.integers(0, 2, n),
                "propensity": rng.uniform(0.05, 0.9, n),
            }
        )
        if kind == "slots":
            self.log = self.log.with_columns(position=pl.Series(rng.integers(0, 3, n)))
        rows = []
        # Some users are never recommended anything, some never come.
        for one in range(3, self.n_users + 2):
            for place in range(3) if kind == "slots" else [0]:
                items = rng.permutation(n_items + 1)[: rng.integers(1, 4)]
                chances = rng.dirichlet(np.ones(len(items)))
                rows += [
                    (one, int(item), float(rng.random()), float(chance), place)
                    for item, chance in zip(items, chances, strict=True)
                ]
        names = ["user_id", "item_id", "predicted", "probability", "position"]
        self.offered = pl.DataFrame(rows, schema=names, orient="row")
        if kind != "slots":
            self.offered = self.offered.drop("position")
        if kind != "draws":
            self.offered = self.offered.drop("probability")
        if kind == "text":
            text = pl.col("user_id", "item_id").cast(pl.String) + "x"
            self.log, self.offered = (
                one.with_columns(text) for one in (self.log, self.offered)
            )
        if kind == "all":
            self.log = self.log.drop("user_id")
            same = self.offered["user_id"] == 5
            self.offered = self.offered.filter(same).drop("user_id")

    def cut(self, rng: np.random.Generator, *, by_user: bool) -> list[Any]:
        """Cut the log into batches, each with what is recommended to its users."""
        part = rng.integers(0, 4, self.log.height)
        if by_user:
            whose = rng.integers(0, 4, self.n_users + 2)
            mine = pl.Series(whose)[self.log["user_id"]]
            theirs = pl.Series(whose)[self.offered["user_id"]]
            return [
                (self.log.filter(mine == one), self.offered.filter(theirs == one))
                for one in range(4)
            ]
        return [
            (self.log.filter(pl.Series(part == one)), self.offered) for one in range(4)
        ]


def same(found: rk.Estimates, wanted: rk.Estimates) -> None:
    assert list(found) == list(wanted)
    for name, one in wanted.items():
        assert found[name].to_dict() == one.to_dict()


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["lists", "text", "slots", "draws", "all"])
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("options", [{}, {"clip": 5}, {"method": "bootstrap"}])
def test_rounds_may_be_cut_anywhere(
    kind: str, seed: int, options: dict[str, Any]
) -> None:
    world = World(seed, kind)
    rng = np.random.default_rng(seed)
    wanted = rk.ctr(world.log, world.offered, EVERY, **options)
    total = rk.Accumulator(rk.ctr, estimator=EVERY, **options)
    for batch in world.cut(rng, by_user=False):
        total.update(*batch)
    same(total.result(), wanted)
    moved = world.log.sample(fraction=1, shuffle=True, seed=seed)
    same(rk.ctr(moved, world.offered, EVERY, **options), wanted)


@pytest.mark.parametrize("options", [{}, {"convention": "jurity", "k": 2}])
@pytest.mark.parametrize("seed", range(6))
def test_users_may_be_cut_too(seed: int, options: dict[str, Any]) -> None:
    world = World(seed, "lists")
    batches = world.cut(np.random.default_rng(seed), by_user=True)
    wanted = rk.ctr(world.log, world.offered, EVERY, **options)
    made = []
    for log, offered in batches:
        own = rk.Accumulator("ctr", estimator=EVERY, **options)
        made.append(pickle.loads(pickle.dumps(own.update(log, offered))))  # noqa: S301
    first, *others = made
    for one in reversed(others):
        first.merge(one)
    same(first.result(), wanted)
    assert repr(first).startswith("Accumulator(")
    assert repr(first).endswith("rounds in 4 batches)")


def test_items_of_all_batches_make_the_propensity() -> None:
    world = World(1, "lists")
    log = world.log.drop("propensity")
    wanted = rk.ctr(log, world.offered, "ips", missing_propensity="items")
    total = rk.Accumulator("ctr", estimator="ips", missing_propensity="items")
    for part in (log.head(3), log.slice(3, 50), log.slice(53)):
        total.update((part, world.offered))
    assert total.result() == wanted


def test_a_batch_may_come_in_parts() -> None:
    world = World(1, "lists")
    wanted = rk.ctr(world.log, world.offered, "snips")
    total = rk.Accumulator("ctr", estimator="snips")
    total.update(iter(world.log.iter_slices(7)), world.offered)

    assert total.result() == wanted


def test_what_was_recommended_may_not_change() -> None:
    world = World(2, "lists")
    total = rk.Accumulator("ctr").update(world.log.head(50), world.offered)
    with pytest.raises(
        DataError, match=(r"recommendations for user 3 differ from those in an")
    ):
        total.update(
            world.log.tail(50), world.offered.with_columns(pl.col("item_id") + 1)
        )
    assert "in 1 batch)" in repr(total)


def test_a_list_is_in_one_batch_where_pairs_count() -> None:
    world = World(2, "lists")
    total = rk.Accumulator("ctr", n="recommended")
    total.update(world.log.head(50), world.offered)
    with pytest.raises(DataError, match="in an earlier batch; with n='recommended'"):
        total.update(world.log.tail(50), world.offered)


def test_batches_must_be_of_one_kind() -> None:
    world, slots = World(2, "lists"), World(2, "slots")
    total = rk.Accumulator("ctr").update(world.log, world.offered)
    with pytest.raises(DataError, match=r"different columns: user and user, position"):
        total.update(slots.log, slots.offered)
    with pytest.raises(DataError, match="some batches have propensities"):
        total.update(world.log.drop("propensity"), world.offered)
    with pytest.raises(
        ParameterError,
        match="cannot merge: the accumulators differ in metrics or options",
    ):
        total.merge(rk.Accumulator("ctr", estimator="ips"))
    with pytest.raises(ParameterError, match="differ in metrics or options"):
        total.merge(rk.Accumulator("RR"))  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="two tables"):
        total.update(world.log)
    with pytest.raises(DataError, match="there are no rounds"):
        rk.Accumulator("ctr").result()
    with pytest.raises(ParameterError, match=r"no option 'estimater'.*estimator"):
        rk.Accumulator("ctr", estimater="ips")
    with pytest.raises(ParameterError, match="estimator"):
        rk.Accumulator("ctr", estimator="ipps")


def test_ids_of_another_type_are_compared_by_their_text() -> None:
    world = World(3, "lists")
    text = pl.col("user_id", "item_id").cast(pl.String)
    log, offered = (one.with_columns(text) for one in (world.log, world.offered))
    mine = pl.col("user_id") < 12
    total = rk.Accumulator("ctr", estimator=EVERY)
    total.update(world.log.filter(mine), world.offered.filter(mine))
    other = pl.col("user_id").cast(int) >= 12
    total.update(log.filter(other), offered.filter(other))

    found = total.result()

    wanted = rk.ctr(world.log, world.offered, EVERY)
    for name, estimate in wanted.items():
        values, notes = found[name].to_dict(), found[name].notes
        assert values | {"notes": []} == estimate.to_dict() | {"notes": []}
        assert [note for note in notes if "compared as text" not in note] == [
            *estimate.notes
        ]


@pytest.mark.slow
def test_prints_are_the_same_in_another_process() -> None:
    program = (
        "import polars as pl;"
        "print(pl.DataFrame({'a': ['x', 'y'], 'b': [1, 2], 'c': [0.5, 0.25]})"
        ".select(pl.struct('a', 'b', 'c').hash()).to_series().to_list())"
    )
    found = {
        subprocess.run(
            [sys.executable, "-c", program], capture_output=True, check=True, text=True
        ).stdout
        for _ in range(2)
    }
    assert len(found) == 1
