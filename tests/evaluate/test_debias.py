"""Judgements in which popular items are thinned out."""

from __future__ import annotations

import math
import random
from collections import Counter
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import rankine as rk
from rankine.errors import DataError, DuplicateItemError, ParameterError

if TYPE_CHECKING:
    from pathlib import Path

# Of five items, one was had by eight users, and the others by 1, 2, 2 and 3.
HAD = {"a": range(8), "b": [0], "c": [1, 2], "d": [3, 4], "e": [5, 6, 7]}
ROWS = [(user, item) for item, users in HAD.items() for user in users]


def frame(rows: Any) -> pl.DataFrame:
    return pl.DataFrame(rows, ["user", "item"], orient="row")


def kept(left: rk.Debiased) -> set[tuple[Any, Any]]:
    return {*left.frame.select("query", "item").iter_rows()}


@pytest.mark.parametrize(
    ("coefficient", "border", "users"),
    [
        # Q1 = 2 and Q3 = 3: the third number of users in order is 2, the fourth 3.
        (0, 3, [3, 1, 2, 2, 3]),
        (1, 3 + 1, [4, 1, 2, 2, 3]),
        (1.5, int(3 + 1.5), [4, 1, 2, 2, 3]),
        (4.9, int(3 + 4.9), [7, 1, 2, 2, 3]),
        (5, 3 + 5, [8, 1, 2, 2, 3]),
        (1e308, 2**62, [8, 1, 2, 2, 3]),
    ],
)
def test_rows(coefficient: float, border: int, users: list[int]) -> None:
    left = rk.debias(frame(ROWS), coefficient=coefficient)

    wanted = dict(zip(HAD, users, strict=True))
    assert Counter(left.frame["item"]) == wanted
    assert left.border == border
    assert left.n_dropped == 16 - sum(users)
    assert left.n_items == (users[0] < 8)
    assert kept(left) <= {*ROWS}


def test_quartiles_lie_between_two_items() -> None:
    # Items with 1, 1, 2 and 4 users: Q1 = 1, Q3 = 2 + 1/4 * 2, and 2.5 + 0.5 * 1.5.
    had = {"a": range(4), "b": range(2), "c": [0], "d": [0]}
    rows = [(user, item) for item, users in had.items() for user in users]

    left = rk.debias(frame(rows), coefficient=0.5)

    assert left.border == int(2.5 + 0.5 * 1.5)
    assert Counter(left.frame["item"]) == {"a": 3, "b": 2, "c": 1, "d": 1}


def test_the_seed_decides_and_the_order_of_rows_does_not() -> None:
    shuffled = random.Random(1).sample(ROWS, len(ROWS))  # noqa: S311 - data

    drawn = [kept(rk.debias(frame(ROWS), seed=seed)) for seed in range(20)]

    assert len({frozenset(one) for one in drawn}) > 5
    for seed, one in enumerate(drawn):
        assert kept(rk.debias(frame(shuffled), seed=seed)) == one
    assert kept(rk.debias(frame(ROWS))) == drawn[0]


@pytest.mark.slow
def test_every_user_is_as_likely_to_be_kept() -> None:
    draws = 800
    users = Counter(
        user
        for seed in range(draws)
        for user, item in kept(rk.debias(frame(ROWS), seed=seed))
        if item == "a"
    )

    # Four of eight: 400 each, with a standard deviation of 14.
    assert len(users) == 8
    assert all(abs(n - draws / 2) < 5 * math.sqrt(draws / 4) for n in users.values())


def test_what_is_left_is_evaluated_and_told() -> None:
    run = {user: ["a"] for user in range(8)}
    left = rk.debias(frame(ROWS))

    ev = rk.evaluate(left, run, "P@1")

    assert ev["P@1"] == 4 / 8
    assert any("4 judgements of 1 item with more than 4 users" in n for n in ev.notes)


def test_a_user_of_whom_nothing_is_left_is_not_judged() -> None:
    rows = [(user, "a") for user in range(5)] + [(0, item) for item in "bcde"]

    left = rk.debias(frame(rows))
    ev = rk.evaluate(left, {user: ["a"] for user in range(5)}, "P@1")

    assert left.border == 1
    assert len(ev.queries) == len({user for user, _ in kept(left)}) < 5


def test_grades_of_0_are_no_interactions_and_stay() -> None:
    graded = {user: {"a": 1 + user % 2, "b": 0} for user in range(8)}
    graded[0] |= {"c": 1, "d": 1, "e": 1, "f": 1}

    left = rk.debias(graded)

    assert left.border == 1
    counts = Counter(left.frame["item"])
    assert counts == {"a": 1, "b": 8, "c": 1, "d": 1, "e": 1, "f": 1}
    values = {(query, item): value for query, item, value in left.frame.rows()}
    assert all(graded[query][item] == value for (query, item), value in values.items())


def test_nothing_to_drop() -> None:
    for qrels in ({"u": {"a": 0}}, {"u": {"a", "b"}}):
        left = rk.debias(qrels)
        assert (left.n_dropped, left.n_items, left.notes) == (0, 0, ())
        assert rk.evaluate(left, {"u": ["a"]}, "NumRet")["NumRet"] == 1


@pytest.mark.parametrize("kind", ["mapping", "pandas", "file", "columns", "words"])
def test_forms(kind: str, tmp_path: Path) -> None:
    table = frame(ROWS)
    more: dict[str, Any] = {}
    data: Any = {user: {item for one, item in ROWS if one == user} for user in range(8)}
    if kind == "pandas":
        data = table.to_pandas()
    elif kind == "file":
        data = tmp_path / "qrels.csv"
        table.write_csv(data)
    elif kind == "columns":
        data = table.rename({"user": "x", "item": "y"})
        more = {"columns": {"query": "x", "item": "y"}}
    elif kind == "words":
        data = table.with_columns(pl.lit("good").alias("grade"))
        more = {"grades": {"good": 2}}

    left = rk.debias(data, **more)

    assert (left.border, left.n_dropped, left.n_items) == (4, 4, 1)
    assert rk.evaluate(left, {0: ["b"]}, "NumRel(rel=0.5)")["NumRel(rel=0.5)"] == 12


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"coefficient": -1}, "coefficient must be a number at least 0, got -1"),
        ({"coefficient": "x"}, "coefficient must be"),
        ({"coefficient": math.nan}, "coefficient must be"),
        ({"seed": -1}, "seed must be an integer of at least 0, got -1"),
        ({"seed": None}, "seed must be"),
    ],
)
def test_bad_options(more: dict[str, Any], said: str) -> None:
    with pytest.raises(ParameterError, match=said):
        rk.debias({"u": {"a"}}, **more)


def test_bad_judgements() -> None:
    with pytest.raises(DataError, match="contains no judgements"):
        rk.debias({})
    with pytest.raises(DuplicateItemError, match="'a' is judged twice"):
        rk.debias(frame([(1, "a"), (1, "a")]))


pairs = st.sets(st.tuples(st.integers(0, 15), st.integers(0, 6)), min_size=1)


@given(pairs, st.sampled_from([0, 0.3, 1, 1.5]), st.integers(0, 3))
def test_every_item_keeps_what_the_border_allows(
    rows: set[tuple[int, int]], coefficient: float, seed: int
) -> None:
    left = rk.debias(frame([*rows]), coefficient=coefficient, seed=seed)

    users = Counter(item for _, item in rows)
    ordered = sorted(users.values())

    def quartile(share: float) -> float:
        place = share * (len(ordered) - 1)
        low = math.floor(place)
        return ordered[low] + (place - low) * (ordered[math.ceil(place)] - ordered[low])

    border = int(quartile(0.75) + coefficient * (quartile(0.75) - quartile(0.25)))
    assert left.border == border
    assert Counter(left.frame["item"]) == {
        item: min(n, border) for item, n in users.items()
    }
    assert kept(left) <= rows
    assert left.n_dropped == len(rows) - left.frame.height


def test_queries_without_judgements_stay() -> None:
    left = rk.debias({"q": {"a": 1}, "r": {}})

    ev = rk.evaluate(left, {"q": ["a"], "r": ["a"]}, "RR")

    assert ev["RR"] == (1 + 0) / 2
    assert left.query_ids() == ["q", "r"]


def test_queries_that_lose_all_judgements_do_not() -> None:
    users = {user: {"a", user} if user in "xyz" else {"a"} for user in "stuvxyz"}

    left = rk.debias({**users, "empty": set()}, coefficient=0)

    # x, y and z have one user each, and a has 7: Q3 = 1 + 1/4 * 6.
    assert left.border == int(2.5)
    assert len({*"stuv"} - {*left.query_ids()}) >= 2
    assert {*left.query_ids()} == {*left.frame["query"], "empty"}
    assert {"x", "y", "z", "empty"} <= {*left.query_ids()}
