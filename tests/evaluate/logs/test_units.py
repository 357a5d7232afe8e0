"""Whose rounds are matched: users with users, sessions with sessions, and told."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

import rankine as rk
from rankine._io.columns import ALIASES_OF_TABLES, UNITS
from rankine.errors import DataError

CLICKS = {"item_id": ["a", "b", "a", "c"], "click": [1, 0, 0, 1]}
USERS, SESSIONS, OTHERS = [1, 2, 3, 4], [2, 1, 4, 3], [11, 12, 13, 14]
LISTS = {"item_id": ["a", "b", "b", "a"]}


def log(**ids: Any) -> pl.DataFrame:
    return pl.DataFrame({**ids, **CLICKS})


def lists(**ids: Any) -> pl.DataFrame:
    return pl.DataFrame({**ids, **LISTS})


# By users, rounds 1 and 2 match, with the clicks 1 and 0; by sessions (2, 1, 4, 3)
# the lists are b, a, a, b: round 3 matches alone, without a click.
BY_USER, BY_SESSION = (1 + 0) / 2, 0 / 1


def test_a_user_is_never_matched_with_a_session() -> None:
    with pytest.raises(DataError) as found:
        rk.ctr(log(session_id=SESSIONS), lists(user_id=USERS))

    assert str(found.value) == (
        "logged has session_id and recommended has user_id, and these are different "
        "kinds of ids; use the same kind in both, or say which columns to use, "
        "columns={'logged.user': ..., 'recommended.user': ...} or "
        "--col logged.user=NAME --col recommended.user=NAME"
    )


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ("user_id", "session_id"), ("query_id", "user_id"), ("uid", "topic_id"),
        ("Session_ID", "userid"), ("qid", "session_id"),
    ],
)  # fmt: skip
def test_no_two_kinds_of_ids_are_matched(ours: str, theirs: str) -> None:
    with pytest.raises(DataError, match=f"logged has {ours} and recommended.*{theirs}"):
        rk.ctr(log(**{ours: USERS}), lists(**{theirs: USERS}))


@pytest.mark.parametrize(
    ("ours", "theirs"), [("user_id", "userID"), ("uid", "user"), ("query_id", "qid")]
)
def test_names_of_one_kind_are_matched(ours: str, theirs: str) -> None:
    found = rk.ctr(log(**{ours: USERS}), lists(**{theirs: USERS}))

    assert found.value == BY_USER
    assert found.notes[:2] == (
        f"logged: user = {ours}, item = item_id, reward = click",
        f"recommended: user = {theirs}, item = item_id".replace("user = user, ", ""),
    )


def test_a_session_is_the_unit_where_both_have_it() -> None:
    found = rk.ctr(log(session_id=SESSIONS), lists(session_id=USERS))

    assert found.value == BY_SESSION
    assert found.notes == (
        "logged: user = session_id, item = item_id, reward = click",
        "recommended: user = session_id, item = item_id",
    )


def test_what_both_have_is_the_unit() -> None:
    both = log(user_id=OTHERS, session_id=SESSIONS)
    by_session = rk.ctr(both, lists(session_id=USERS))
    by_user = rk.ctr(
        log(user_id=USERS, session_id=OTHERS), lists(user_id=USERS, session_id=OTHERS)
    )

    assert by_session.value == BY_SESSION
    assert by_session.notes[0].startswith("logged: user = session_id")
    assert by_user.value == BY_USER


def test_sessions_without_recommendations_are_called_so() -> None:
    found = rk.ctr(log(session_id=[1, 2, 3, 9]), lists(session_id=[1, 2, 3, 8]))

    assert found.notes[2:] == (
        "1 logged round of sessions without recommendations: left out",
        "1 session with recommendations not in the log: not counted",
    )


def test_columns_that_were_told_are_taken() -> None:
    told = {"logged.user": "visitor", "recommended.user": "user_id"}
    found = rk.ctr(
        log(session_id=SESSIONS, visitor=USERS), lists(user_id=USERS), columns=told
    )
    one_side = rk.ctr(
        log(session_id=SESSIONS), lists(user_id=OTHERS, session_id=USERS),
        columns={"logged.user": "session_id"},
    )  # fmt: skip

    assert found.value == BY_USER
    assert found.notes == (
        "logged: item = item_id, reward = click",
        "recommended: item = item_id",
    )
    assert one_side.value == BY_SESSION


def test_only_columns_that_were_used_are_listed(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    log(user_id=USERS).with_columns(pscore=pl.lit(0.5)).write_csv(path)
    same_for_all = pl.DataFrame({"item": ["a"]})

    # What is recommended to all is matched by items alone.
    found = rk.ctr(path, same_for_all, "ips")

    assert found.notes == (
        f"{path}: item = item_id, reward = click, propensity = pscore",
        (
            "recommended has no column with a known name for users, so everyone is "
            "recommended the same items"
        ),
    )


def test_every_name_of_a_user_is_of_a_known_kind() -> None:
    names = {name for names in UNITS.values() for name in names}

    assert set(ALIASES_OF_TABLES["user"]) == names


def test_batches_say_the_same() -> None:
    logged, shown = log(user_id=USERS), lists(user_id=USERS)
    total = rk.Accumulator(rk.ctr)
    for at in range(4):
        total.update(logged[at : at + 1], shown[at : at + 1])

    once = rk.ctr(logged, shown)
    assert total.result().notes == once.notes
    assert once.notes[0] == "logged: user = user_id, item = item_id, reward = click"


def test_batches_of_users_and_of_sessions_are_not_mixed() -> None:
    total = rk.Accumulator(rk.ctr).update(log(user_id=USERS), lists(user_id=USERS))

    with pytest.raises(DataError, match="different columns: user and session"):
        total.update(log(session_id=OTHERS), lists(session_id=OTHERS))


def test_lists_without_users_say_that_they_are_for_all() -> None:
    logged = pl.DataFrame({"user_id": [1, 2], "item_id": ["a", "b"], "click": [1, 0]})
    shown = pl.DataFrame({"visitor": [1, 2], "item_id": ["b", "a"]})

    notes = rk.ctr(logged, shown).notes

    assert notes[-1] == (
        "recommended has no column with a known name for users, so everyone is "
        "recommended the same items"
    )


def test_a_session_is_known_in_another_spelling() -> None:
    logged = pl.DataFrame({"sessionId": [1, 2], "item_id": ["a", "b"], "click": [1, 0]})
    shown = pl.DataFrame({"session_id": [1, 2], "item_id": ["a", "a"]})

    found = rk.ctr(logged, shown)

    assert (found.value, found.matched) == (1.0, 1)
