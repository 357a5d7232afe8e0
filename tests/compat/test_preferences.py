"""Preference measures, by hand and against counts of pair after pair."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rankine._compat.preferences import preferences

ITEMS = "abcdef"
LEVELS = st.dictionaries(
    st.sampled_from(ITEMS), st.integers(0, 3).map(float), min_size=1
)
GROUPS = st.dictionaries(st.sampled_from("AB"), LEVELS, min_size=1)
RANKINGS = st.permutations(ITEMS).flatmap(
    lambda items: st.integers(0, len(items)).map(lambda n: items[:n])
)


Groups = Mapping[str, dict[str, float]]


def values(groups: Groups, ranking: Sequence[str]) -> dict[str, float]:
    return preferences({name: {"0": own} for name, own in groups.items()}, ranking, "q")


@given(GROUPS, RANKINGS)
def test_counts_and_shares_are_those_of_pairs(
    groups: dict[str, dict[str, float]], ranking: list[str]
) -> None:
    found = preferences(
        {name: {"0": own} for name, own in groups.items()}, ranking, "q"
    )
    place = {item: number for number, item in enumerate(ranking)}
    for end, least in (("", 0), ("_imp", 1), ("_ret", 2)):
        shares, up, down = [], 0, 0
        for own in groups.values():
            pairs = [
                place.get(better, math.inf) < place.get(worse, math.inf)
                for better, worse in permutations(own, 2)
                if own[better] > own[worse]
                and (better in place) + (worse in place) >= least
            ]
            up, down = up + sum(pairs), down + len(pairs)
            shares.append(sum(pairs) / len(pairs) if pairs else 0)
        assert found[f"prefs_simp{end}"] == pytest.approx(up / down if down else 0)
        assert found[f"prefs_avgjg{end}"] == pytest.approx(sum(shares) / len(groups))
        if len(groups) == 1:
            assert found[f"prefs_pair{end}"] == pytest.approx(found[f"prefs_simp{end}"])


def test_pairs_count_once_whatever_groups_say() -> None:
    found = values(
        {"A": {"a": 2, "b": 1}, "B": {"a": 1, "b": 2}, "C": {"a": 2, "b": 1, "c": 0}},
        "acb",
    )

    # a and b: two of three groups; a before c; b before c is not fulfilled.
    assert found["prefs_pair"] == pytest.approx((2 / 3 + 1 + 0) / 3)
    assert found["prefs_simp"] == pytest.approx(3 / 5)


def test_as_many_items_of_level_0_as_others_are_added() -> None:
    found = values({"A": {"a": 2, "b": 1, "c": 0}}, "ba")

    # b before a is wrong, a and b before c are right; one more such item is fulfilled
    # for both of the two others.
    assert found["prefs_avgjg_Rnonrel"] == pytest.approx((2 + 2) / (3 + 2))


def test_items_of_level_0_at_the_end_are_left_out() -> None:
    groups: Groups = {"A": {"a": 1, "b": 0, "c": 0}}
    found = values(groups, "bac")

    # Kept is b: a should be before it. All three are compared with it, as by trec_eval,
    # whose pair of b with itself and of c with b count as not fulfilled.
    assert found["prefs_avgjg_Rnonrel"] == 0 / 3
    assert (
        values({"A": {"a": 1, "b": 0, "c": 0}}, "abc")["prefs_avgjg_Rnonrel"] == 1 / 3
    )


def test_of_a_group_in_parts_others_are_left_out() -> None:
    groups = {"A": {"0": {"a": 1.0, "b": 0.0, "c": 0.0}, "1": {"a": 1.0, "b": 0.0}}}

    # Kept is the first of b and c, to which only a is preferred.
    assert preferences(groups, "abc", "q")["prefs_avgjg_Rnonrel"] == 1 / 1
    assert preferences(groups, "bac", "q")["prefs_avgjg_Rnonrel"] == 0 / 1


def test_what_follows_from_two_parts_is_preferred_too() -> None:
    groups = {"A": {"0": {"a": 2.0, "b": 1.0}, "1": {"b": 2.0, "c": 1.0}}}

    found = preferences(groups, "abc", "q")

    assert found["prefs_num_prefs_poss"] == 3  # a to b, b to c, and so a to c
    assert found["prefs_simp"] == 1
    assert preferences(groups, "cba", "q")["prefs_simp"] == 0


def test_without_preferences_nothing_is_fulfilled() -> None:
    assert set(values({"A": {"a": 0}}, "a").values()) == {0}
