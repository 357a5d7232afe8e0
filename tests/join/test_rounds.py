"""Ids that are ints close together take another way, to the same numbers."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import numpy as np
import polars as pl
import pytest

import rankine as rk
from rankine._base.limits import limited
from rankine._join.policy import Policy
from rankine.errors import DataError

pytestmark = pytest.mark.slow

EVERY = ["matching", "ips", "snips", "dm", "dr", "sndr", "switch-dr", "dros"]


def tables(seed: int) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Make rounds and lists of unequal lengths, of users that are partly the same."""
    rng = np.random.default_rng(seed)
    n, n_items = int(rng.integers(1, 200)), int(rng.integers(2, 14))
    logged = pl.DataFrame(
        {
            "user_id": rng.integers(5, 30, n),
            "item_id": rng.integers(-3, n_items, n),
            "click": rng.integers(0, 2, n),
            "propensity": rng.uniform(0.05, 1, n),
        }
    )
    rows = [
        (user, item, rng.random())
        for user in rng.permutation(35)[: rng.integers(1, 35)].tolist()
        for item in rng.permutation(n_items)[: rng.integers(1, n_items + 1)].tolist()
    ]
    shown = ["user_id", "item_id", "predicted"]
    return logged, pl.DataFrame(rows, shown, orient="row")


def as_text(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.with_columns(pl.col("user_id", "item_id").cast(pl.String))


def same(found: Any, wanted: Any) -> None:
    for name in EVERY:
        ours, theirs = found[name], wanted[name]
        for field in ("value", "ess", "max_weight"):
            assert getattr(ours, field) == pytest.approx(
                getattr(theirs, field), rel=1e-12, nan_ok=True
            ), (name, field)
        assert ours.interval == pytest.approx(theirs.interval, rel=1e-9, nan_ok=True)
        assert (ours.n, ours.matched) == (theirs.n, theirs.matched)
        assert (ours.notes, ours.warnings) == (theirs.notes, theirs.warnings)


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize("n", ["logged", "recommended"])
@pytest.mark.parametrize("k", [None, 1, 3])
def test_ints_and_their_texts_give_the_same(seed: int, n: str, k: int | None) -> None:
    logged, offered = tables(seed)
    options: dict[str, Any] = {"n": n, "k": k}
    if n == "recommended":
        logged = logged.unique(["user_id", "item_id"], maintain_order=True)

    found = rk.ctr(logged, offered, EVERY, **options)
    wanted = rk.ctr(as_text(logged), as_text(offered), EVERY, **options)

    same(found, wanted)


@pytest.mark.parametrize("seed", range(10))
def test_positions_and_probabilities(seed: int) -> None:
    logged, offered = tables(seed)
    rng = np.random.default_rng(seed)
    logged = logged.with_columns(position=pl.Series(rng.integers(0, 2, logged.height)))
    offered = offered.with_columns(
        position=pl.lit(1),
        probability=1 / pl.len().over("user_id"),
    )

    found = rk.ctr(logged, offered, EVERY)

    same(found, rk.ctr(as_text(logged), as_text(offered), EVERY))


def test_ids_far_apart_take_the_other_way() -> None:
    logged, offered = tables(1)
    far = pl.col("user_id") * 10**12

    same(
        rk.ctr(logged.with_columns(far), offered.with_columns(far), EVERY),
        rk.ctr(logged, offered, EVERY),
    )


def test_a_pair_twice_is_refused_as_before() -> None:
    logged, offered = tables(3)

    with pytest.raises(DataError, match="twice"):
        rk.ctr(logged, pl.concat([offered, offered]), "ips")


def test_jurity_has_a_number_where_nothing_matches() -> None:
    logged = pl.DataFrame({"user_id": [1], "item_id": [1], "click": [1]})
    offered = pl.DataFrame(
        {"user_id": [1, 2], "item_id": [2, 2], "predicted": [0.2, 0.4]}
    )

    found = rk.ctr(logged, offered, ["matching", "ips", "dr"], convention="jurity")

    assert math.isnan(found["matching"].value)
    assert found["ips"].value == 0
    assert found["dr"].value == pytest.approx((0.2 + 0.4) / 2)
    own = rk.ctr(logged, offered, "ips", missing_propensity="items")
    assert math.isnan(own.value)


@pytest.mark.parametrize("n", ["logged", "recommended"])
def test_keys_propose_and_ids_decide(n: Any) -> None:
    """Ids of the same length have the same key here."""
    logged = pl.DataFrame(
        {
            "user_id": ["a", "b", "a", "bb", "cc", "ccc"],
            "item_id": ["x", "y", "z", "xx", "yy", "x"],
            "click": [1, 1, 1, 0, 1, 1],
            "propensity": [0.5, 0.25, 0.5, 0.25, 0.5, 0.5],
        }
    )
    offered = pl.DataFrame(
        {"user_id": ["a", "bb"], "item_id": ["x", "xx"], "predicted": [0.3, 0.4]}
    )
    wanted = rk.ctr(logged, offered, EVERY, n=n)

    def by_length(ids: pl.Series, seed: int) -> Any:
        return (ids.str.len_bytes() + seed).cast(pl.UInt64).to_numpy()

    with limited(keys=by_length, few_ids=0):
        assert rk.ctr(logged, offered, EVERY, n=n) == wanted
    assert wanted["ips"].matched == 2


@pytest.mark.parametrize("seed", range(15))
@pytest.mark.parametrize("text", [False, True], ids=["ints", "texts"])
@pytest.mark.parametrize("size", [1, 7, 1000])
@pytest.mark.parametrize("chunk", [3, 200])
@pytest.mark.parametrize("many", [2, 1000], ids=["threads", "thread"])
def test_a_log_is_gone_through_in_parts(
    seed: int,
    size: int,
    chunk: int,
    many: int,
    monkeypatch: pytest.MonkeyPatch,
    *,
    text: bool,
) -> None:
    """Rounds of a user, matches and unseen items, against a loop over all pairs."""
    monkeypatch.setattr("rankine._base.blocks._MANY", many)
    frames = tables(seed)
    logged, offered = map(as_text, frames) if text else frames
    logged = pl.concat(
        [logged[begin : begin + chunk] for begin in range(0, logged.height, chunk)],
        rechunk=False,
    )
    names = {"user_id": "user", "item_id": "item"}
    log, lists = logged.rename(names), offered.rename(names)
    policy = Policy(lists, ["user"])
    seen = np.zeros(len(policy.items.known) + 1, dtype=np.bool_)

    with limited(looked_up=size, few_ids=0):
        agreed = policy.look(log)
        policy.mark(log["item"], seen)

    shown = logged.select("user_id", "item_id").rows()
    pairs = offered.select("user_id", "item_id").rows()
    wanted = [
        (row, place)
        for row, pair in enumerate(shown)
        for place, other in enumerate(pairs)
        if pair == other
    ]
    matched = zip(agreed.row.tolist(), agreed.place.tolist(), strict=True)
    assert sorted(matched) == wanted
    times = Counter(user for user, _ in shown)
    of_list = dict(zip(policy.list_of.tolist(), pairs, strict=True))
    for number, (user, _) in of_list.items():
        assert agreed.rounds[number] == times[user]
    items = {item for _, item in shown}
    known = policy.items.known.to_list()
    assert seen[:-1].tolist() == [item in items for item in known]


def test_a_number_beyond_64_bits_with_a_sign_is_an_id_too() -> None:
    large = pl.Series([2**63 + 1, 2**63 + 3], dtype=pl.UInt64)
    logged = pl.DataFrame(
        {"user_id": large, "item_id": large, "click": [1, 0], "propensity": [0.5, 0.5]}
    )

    found = rk.ctr(logged, pl.DataFrame({"user_id": large, "item_id": large}), "ips")

    assert found.value == (1 / 0.5 + 0) / 2
