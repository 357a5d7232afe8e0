"""What is asked of tests: options that do not exist, and sums that are at hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

import rankine as rk
from rankine.errors import DataError, ParameterError

NUMBER: Any = 5
USERS = pl.DataFrame({"u": range(8), "arm": list("AB") * 4, "y": range(8)})
WORLD = rk.online.generate(
    300, variants={"A": {}, "B": {"ctr": 0.2}}, before=True
).events
TABLE: dict[str, Any] = {"unit": "u", "variant": "arm", "control": "A"}


@pytest.mark.parametrize(
    ("call", "why"),
    [
        (
            lambda: rk.online.ab_test(WORLD, control="A", foo=1),
            "ab_test has no option 'foo'",
        ),
        (
            lambda: rk.online.ab_test(WORLD, control="A", sesion_gap=1),
            "did you mean 'session_gap'",
        ),
        (
            lambda: rk.online.ab_test(USERS, metrics={"y": "y"}, **TABLE, covariate={}),
            "did you mean 'covariates'",
        ),
        (
            lambda: rk.online.calibrate(USERS, {"y": "y"}, unit="u", window=7),
            "window is for events, but this is a table of users",
        ),
        (
            lambda: rk.online.calibrate(USERS, {"y": "y"}, unit="u", cuped=True),
            "cuped is for events; for users, give covariates=",
        ),
        (
            lambda: rk.online.calibrate(WORLD, ["ctr"], covariates={"ctr": "y"}),
            "covariates are columns of a table of users; for events, give cuped=True",
        ),
        (
            lambda: rk.online.users_needed(
                USERS, effect=1, metrics={"y": "y"}, unit="u", cap=7
            ),
            "cap is for events, but this is a table of users",
        ),
        (
            lambda: rk.online.users_needed(
                rk.online.ab_test(USERS, metrics={"y": "y"}, **TABLE),
                effect=1,
                share=0.2,
            ),
            "share, confidence and rules are those of the test",
        ),
        (
            lambda: rk.online.users_needed(
                rk.online.ab_test(USERS, metrics={"y": "y"}, **TABLE),
                effect=1,
                memory_limit="1GB",
            ),
            "memory_limit, share, confidence and rules are those of the test",
        ),
        (
            lambda: rk.online.calibrate(
                USERS, {"y": "y"}, unit="u", memory_limit="1GB"
            ),
            "memory_limit is for events, but this is a table of users",
        ),
        (
            lambda: rk.online.ab_test(
                rk.online.Accumulator().update(WORLD), control="A", memory_limit=1
            ),
            "give memory_limit to the accumulator, when it is made",
        ),
        (
            lambda: rk.online.users_needed(WORLD, effect=1, memory_limit="lots"),
            "memory_limit must be a number of bytes, or text such as '2GB', got 'lots'",
        ),
        (
            lambda: rk.online.calibrate(WORLD, windw=1),
            "calibrate has no option 'windw'; did",
        ),
        (
            lambda: rk.online.users_needed(WORLD, effect=1, foo=1),
            "users_needed has no option",
        ),
        (
            lambda: rk.online.ab_test(WORLD, control="A", metrics=NUMBER),
            r"got 5",
        ),
        (lambda: rk.online.ab_test(WORLD, control="A", metrics=[NUMBER]), r"got \[5\]"),
        (lambda: rk.online.calibrate(WORLD, NUMBER), "metrics must be names"),
        (
            lambda: rk.online.users_needed(WORLD, effect=1, metrics=NUMBER),
            "metrics must be names",
        ),
        (
            lambda: rk.online.ab_test(USERS, **TABLE),
            "for a table of users, give metrics={name",
        ),
        (
            lambda: rk.online.ab_test(WORLD, control="A", unit="user"),
            "did you mean 'users'",
        ),
    ],
)
def test_what_cannot_be_asked(call: Any, why: str) -> None:
    with pytest.raises(ParameterError, match=why):
        call()


@pytest.mark.parametrize("seed", [-1, "u1", 0.5, None, [1, -1], ["u", 1], True])
def test_seeds_of_a_draw(seed: Any) -> None:
    with pytest.raises(ParameterError, match="seed must be an integer of at least 0"):
        rk.online.interleave("ab", "ba", seed=seed)


@pytest.mark.parametrize("ranking", [None, 5, [], ["a", "a"], [["a"], ["b"]]])
def test_rankings_of_a_draw(ranking: Any) -> None:
    with pytest.raises(ParameterError, match=r"^a must be a list of different items"):
        rk.online.interleave(ranking, ["a"])
    with pytest.raises(ParameterError, match=r"^b must be a list of different items"):
        rk.online.interleave(["a"], ranking)


def parts() -> list[pl.DataFrame]:
    half = WORLD.height // 2
    return [WORLD[:half], WORLD[half:]]


@pytest.mark.parametrize("cuped", [False, True])
def test_a_test_of_an_accumulator(*, cuped: bool) -> None:
    whole = rk.online.Accumulator()
    for part in parts():
        whole.update(part)

    plain = rk.online.ab_test(WORLD, control="A", cuped=cuped)
    test = rk.online.ab_test(whole, control="A", cuped=cuped)

    assert test.details.equals(plain.details)
    assert test.excluded == plain.excluded
    assert test.notes == plain.notes


@pytest.mark.parametrize("memory_limit", [1, "2GB"])
def test_the_memory_changes_no_number(memory_limit: int | str) -> None:
    asked: dict[str, Any] = {"metrics": ["ctr"]}
    limit: dict[str, Any] = {"memory_limit": memory_limit}

    plain, test = (
        rk.online.ab_test(WORLD, control="A", daily=True, **asked, **more)
        for more in ({}, limit)
    )
    assert test.details.equals(plain.details)
    assert plain.by_day is not None
    assert test.by_day is not None
    assert test.by_day.equals(plain.by_day)
    assert test.to_dict() == plain.to_dict()
    tables = [
        rk.online.calibrate(WORLD, n=20, **asked, **more).table for more in ({}, limit)
    ]
    assert tables[0].equals(tables[1])
    needed = [
        rk.online.users_needed(WORLD, effect="5%", **asked, **more)
        for more in ({}, limit)
    ]
    assert needed[0] == needed[1]


def test_an_accumulator_keeps_its_metrics_and_rules() -> None:
    whole = rk.online.Accumulator(["ctr"], window=3).update(WORLD)

    plain = rk.online.ab_test(WORLD, control="A", metrics=["ctr"], window=3)

    assert rk.online.ab_test(whole, control="A").details.equals(plain.details)


@pytest.mark.slow
def test_an_accumulator_is_calibrated() -> None:
    whole = rk.online.Accumulator(["ctr"], by=None).update(WORLD)

    table = rk.online.calibrate(whole, n=20).table
    assert table.equals(rk.online.calibrate(WORLD, ["ctr"], n=20).table)
    (needed,) = rk.online.users_needed(whole, effect="5%")
    (of_log,) = rk.online.users_needed(WORLD, effect="5%", metrics=["ctr"])
    assert needed == of_log._replace(days=None, per_day=None)  # it has no times


@pytest.mark.parametrize(
    ("kept", "asked", "why"),
    [
        ({}, {"window": 3}, "give window to the accumulator"),
        ({}, {"unit": "sessions"}, "give unit to the accumulator"),
        ({"by": None}, {}, "made with by=None"),
        ({"daily": True}, {}, "keeps days separate"),
        ({}, {"segment": "country"}, "made with segment=None, not 'country'"),
    ],
)
def test_an_accumulator_that_does_not_fit(kept: Any, asked: Any, why: str) -> None:
    whole = rk.online.Accumulator(["ctr"], **kept).update(WORLD)

    with pytest.raises(ParameterError, match=why):
        rk.online.ab_test(whole, control="A", **asked)


def test_users_who_return_are_a_limit() -> None:
    limit = "always-valid intervals are approximate if users return"

    def said(**options: Any) -> bool:
        test = rk.online.ab_test(WORLD, control="A", metrics=["ctr"], **options)
        return any(note.startswith(limit) for note in test.notes)

    assert said()
    assert not said(window=3)
    of_users = rk.online.ab_test(USERS, metrics={"y": "y"}, **TABLE)
    assert not any(note.startswith(limit) for note in of_users.notes)


def test_an_impression_is_of_one_user() -> None:
    log = pl.DataFrame(
        {
            "impression_id": [1, 1, 2, 2],
            "user_id": ["u", "v", "w", "w"],
            "team": list("abab"),
            "click": [0, 1, 1, 0],
        }
    )

    with pytest.raises(DataError, match="impression 1 has users 'u' and 'v'"):
        rk.online.interleaving_test(log)


def test_a_preference_is_within_its_range() -> None:
    n = 20
    log = pl.DataFrame(
        {
            "impression_id": range(n),
            "user_id": range(n),
            "team": ["a"] + ["b"] * (n - 1),
            "click": [1] * n,
        }
    )

    low, high = rk.online.interleaving_test(log).interval

    assert 0.5 < low < 0.9
    assert high == 1


def heavy(sizes: dict[str, int], **options: Any) -> bool:
    rng = np.random.default_rng(0)
    arm = [name for name, n in sizes.items() for _ in range(n)]
    y = rng.normal(5, 1, len(arm))
    y[0] = 1000
    users = pl.DataFrame({"u": range(len(arm)), "arm": arm, "y": y})
    given = {**TABLE, "metrics": {"y": "y"}, **options}
    ratio = {name: float(n) for name, n in sizes.items()}
    warnings = rk.online.ab_test(users, ratio=ratio, **given).warnings
    return any("one user makes up" in said for said in warnings)


def test_heavy_tails_of_uneven_arms_that_are_tested() -> None:
    assert heavy({"A": 3000, "B": 1000})
    assert not heavy({"A": 3000, "B": 2500})
    assert not heavy({"A": 30, "B": 10})
    # B and C are uneven, and are compared with A alone.
    assert not heavy({"B": 1700, "A": 2000, "C": 2700})
    # The user is in C, which is as large as A.
    assert not heavy({"C": 3000, "A": 3000, "B": 1000})


@pytest.mark.parametrize("name", ["u", "user_id"])
def test_what_a_table_of_users_needs_is_said(name: str) -> None:
    with pytest.raises(DataError, match="one row per user, give ab_test metrics="):
        rk.online.ab_test(USERS.rename({"u": name}), control="A")
