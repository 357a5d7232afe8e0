"""Interleaved lists and what clicks on them say: by hand, by law, by simulation."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import rankine as rk
from rankine.errors import ColumnNotFoundError, DataError, ParameterError

rankings = st.permutations(list("abcdef")).flatmap(
    lambda own: st.integers(1, 6).map(lambda n: own[:n])
)


@given(rankings, rankings, st.sampled_from(["team_draft", "probabilistic"]))
def test_a_list_has_each_item_once_and_from_its_team(
    a: list[str], b: list[str], method: Any
) -> None:
    drawn = rk.online.interleave(a, b, method, seed=3)
    by_team = {"a": a, "b": b}

    assert len({*drawn.items}) == len(drawn.items) == max(len(a), len(b))
    for item, team in zip(drawn.items, drawn.teams, strict=True):
        assert item in by_team[team]


@given(rankings, rankings, st.integers(0, 99))
def test_team_draft_takes_the_best_that_is_left(
    a: list[str], b: list[str], seed: int
) -> None:
    drawn = rk.online.interleave(a, b, seed=seed)
    by_team = {"a": a, "b": b}
    for place, (item, team) in enumerate(zip(drawn.items, drawn.teams, strict=True)):
        left = [own for own in by_team[team] if own not in drawn.items[:place]]
        assert item == left[0]
    shortest = 2 * (min(len(a), len(b)) // 2)
    for place in range(0, shortest // 2, 2):
        assert {*drawn.teams[place : place + 2]} == {"a", "b"}


def test_lists_of_a_team_draft_come_out_equally_often() -> None:
    # With [x, y] and [y, z]: a first gives x, y; b first gives y, x.
    found = Counter(
        rk.online.interleave(["x", "y"], ["y", "z"], seed=seed).items
        for seed in range(2000)
    )

    assert {*found} == {("x", "y"), ("y", "x")}
    assert found["x", "y"] == pytest.approx(1000, abs=100)


def test_items_of_a_probabilistic_list_fall_with_the_cube_of_the_rank() -> None:
    found = Counter(
        rk.online.interleave(["x", "y"], ["x", "y"], "probabilistic", k=1, seed=n).items
        for n in range(4000)
    )
    # 1 against 1/8.
    assert found["x",] / 4000 == pytest.approx(8 / 9, abs=0.02)


def test_a_seed_gives_one_list() -> None:
    one, two = (rk.online.interleave("abc", "cba", seed=[7, 3]) for _ in range(2))

    assert one == two


def test_the_log_of_a_list_is_read() -> None:
    drawn = rk.online.interleave(["x", "y"], ["y", "z"], seed=1)
    log = pl.concat([drawn.log(impression=n, user=n, clicked=["y"]) for n in range(5)])
    found = rk.online.interleaving_test(log)

    assert log.columns == [
        "impression_id", "user_id", "position", "item_id", "team", "click",
    ]  # fmt: skip
    assert found.preference == 1
    assert found.p_sign == pytest.approx(2 / 2**5)
    with pytest.raises(DataError, match="'w' was clicked on, but is not among"):
        drawn.log(1, 1, ["w"])


def rows_of(text: str) -> pl.DataFrame:
    """Read `user impression teams-that-were-clicked-on` lines."""
    rows = []
    for line in text.strip().splitlines():
        user, impression, *teams = line.split()
        rows += [(user, impression, team, teams.count(team)) for team in "ab"]
    return pl.DataFrame(
        rows, ["user_id", "impression_id", "team", "click"], orient="row"
    )


LOG = """
u 1 b b b a
u 2 b
u 3 a b
v 4 a
w 5 b
w 6
x 7 b
"""


def test_preference_by_hand() -> None:
    found = rk.online.interleaving_test(rows_of(LOG))
    # Credit: u +1, +1, 0; v -1; w +1, 0; x +1: 3 of 5. Influences (y - 0.6 x) / 1.25.
    influences = np.array([2 - 1.2, -1 - 0.6, 1 - 0.6, 1 - 0.6]) / 1.25
    error = math.sqrt((influences**2).sum() / 3 / 4)
    far = stats.t.ppf(0.975, 3)

    assert found.preference == pytest.approx(3 / 5)
    assert found.interval == pytest.approx((0.6 - far * error, 1))
    assert 0.6 + far * error > 1
    assert found.p == pytest.approx(2 * stats.t.sf(0.6 / error, 3))
    assert (found.users_a, found.users_b, found.users) == (1, 3, 4)
    assert found.p_sign == pytest.approx(stats.binomtest(3, 4).pvalue)
    assert (found.impressions, found.shown) == (5, 7)
    assert math.isnan(found.p_always)
    assert "needs 1,000 users" in found.notes[-1]
    assert "preference for b over a: +0.6000" in str(found)
    assert found.to_dict()["p_always"] is None


def test_the_order_of_teams_turns_the_sign() -> None:
    one = rk.online.interleaving_test(rows_of(LOG))
    two = rk.online.interleaving_test(rows_of(LOG), teams=("b", "a"))

    assert two.preference == -one.preference
    assert two.p == pytest.approx(one.p)
    assert (two.a, two.b) == ("b", "a")


def test_without_clicks_nothing_is_preferred() -> None:
    found = rk.online.interleaving_test(rows_of("u 1\nv 2"))

    assert math.isnan(found.preference)
    assert "no impression prefers one of the rankings" in found.notes


def test_balanced_logs_are_read_with_a_warning() -> None:
    # Lists a: x y, b: y z; shown x y z; a click on y, which b has first: top 1 of both.
    log = pl.DataFrame(
        {
            "user_id": [1] * 3 + [2] * 3,
            "impression_id": [1] * 3 + [2] * 3,
            "position": [1, 2, 3] * 2,
            "rank_a": [1, 2, None] * 2,
            "rank_b": [None, 1, 2] * 2,
            "click": [0, 1, 0, 1, 0, 1],
        }
    )
    found = rk.online.interleaving_test(log, method="balanced")
    # The second: lowest click z, second of b; of x and z, each has one in its top 2.
    assert found.preference == 1
    assert (found.impressions, found.shown) == (1, 2)
    assert "biased" in found.notes[0]


def simulated(
    rng: np.random.Generator, users: int, better: float
) -> tuple[Any, Any, Any]:
    impressions = 1 + rng.poisson(2, users)
    owner = np.repeat(np.arange(users), impressions)
    taste = np.clip(better + 0.2 * rng.normal(size=users), 0, 1)[owner]
    team = np.where(rng.random(len(owner)) < taste, "b", "a")
    return owner, np.arange(len(owner)), team


def log_of(rng: np.random.Generator, users: int, better: float) -> pl.DataFrame:
    user, impression, team = simulated(rng, users, better)
    shown = pl.DataFrame({"user_id": user, "impression_id": impression, "won": team})
    return shown.join(pl.DataFrame({"team": ["a", "b"]}), how="cross").with_columns(
        click=(pl.col("won") == pl.col("team")).cast(pl.Int64)
    )


@pytest.mark.slow
def test_users_who_repeat_do_not_make_false_alarms() -> None:
    rng = np.random.default_rng(0)
    found = [rk.online.interleaving_test(log_of(rng, 200, 0.5)) for _ in range(400)]
    # 5 % with a standard error of 1.1 %.
    assert np.mean([own.p <= 0.05 for own in found]) == pytest.approx(0.05, abs=0.035)
    assert np.mean([own.p_sign <= 0.05 for own in found]) <= 0.085


def test_a_better_ranking_is_found() -> None:
    rng = np.random.default_rng(1)
    found = [rk.online.interleaving_test(log_of(rng, 300, 0.6)) for _ in range(50)]

    assert np.mean([own.p <= 0.05 for own in found]) > 0.9


def test_with_users_enough_it_holds_at_every_look() -> None:
    found = rk.online.interleaving_test(log_of(np.random.default_rng(2), 2000, 0.6))
    low, high = found.always

    assert low < found.interval.low < found.preference < found.interval.high < high
    assert found.p < found.p_always < 0.05


@pytest.mark.parametrize(
    ("a", "b", "options", "message"),
    [
        ("", "ab", {}, "a must be a list of different items"),
        ("ab", "aa", {}, "b must be a list of different items"),
        ("ab", "ba", {"method": "balanced"}, "method must be one of team_draft"),
        ("ab", "ba", {"k": 0}, "k must be a positive integer"),
    ],
)
def test_what_cannot_be_interleaved(
    a: str, b: str, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(ParameterError, match=message):
        rk.online.interleave(a, b, **options)


def test_logs_that_cannot_be_read() -> None:
    log = rows_of(LOG)
    with pytest.raises(ColumnNotFoundError, match="no column for the team"):
        rk.online.interleaving_test(log.drop("team"))
    with pytest.raises(DataError, match="has 1 team"):
        rk.online.interleaving_test(log.filter(pl.col("team") == "a"))
    with pytest.raises(DataError, match="click is -1, not a number of clicks"):
        rk.online.interleaving_test(log.with_columns(click=-1))
    with pytest.raises(DataError, match="balanced interleaving needs a column rank_a"):
        rk.online.interleaving_test(log.with_columns(position=1), method="balanced")
