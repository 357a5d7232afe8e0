"""Groups of users: the rules of a test are for variants alone."""

from __future__ import annotations

import pytest

import rankine as rk
from tests.online.logs import log

# u1 is in A, then in B; u2 has an event before A.
EVENTS = log(
    """
    u1 A 1 impression
    u1 B 2 click
    u2 - 3 impression
    u2 A 4 impression
    """
)


@pytest.mark.parametrize("name", ["group", "team", "arm", "bucket"])
def test_the_name_of_a_column_does_not_change_what_is_counted(name: str) -> None:
    found = rk.online.summarize(EVENTS.rename({"variant": name}), ["ctr"], by=name)

    # All users and events: one click, three impressions.
    assert found.table.select(name, "value", "n", "users").rows() == [
        ("A", 1 / 3, 3, 2)
    ]
    assert dict(found.excluded) == {}
    # The note has the user's own name, and the column is nobody's variant.
    assert f"1 user in more than one {name}, counted in their first" in found.notes
    assert "variant" not in " ".join(found.notes)


def test_a_column_that_is_recognised_as_variants_is_named() -> None:
    found = rk.online.summarize(EVENTS.rename({"variant": "bucket"}), ["ctr"])

    assert "events: variant = bucket" in found.notes


def test_a_segment_is_named_as_its_column_is() -> None:
    found = rk.online.summarize(
        EVENTS.rename({"variant": "land"}), ["ctr"], by=None, segment="land"
    )

    assert "1 user in more than one land, counted in their first" in found.notes


@pytest.mark.parametrize(
    ("name", "options"),
    [("group", {}), ("team", {"columns": {"variant": "team"}}), ("variant", {})],
)
def test_variants_keep_the_rules_of_a_test(
    name: str, options: dict[str, object]
) -> None:
    found = rk.online.summarize(EVENTS.rename({"variant": name}), ["ctr"], **options)  # type: ignore[arg-type]

    # u1 is left out, and so is what u2 saw before.
    assert found.table.select("value", "n", "users").rows() == [(0, 1, 1)]
    assert found.excluded["users in more than one variant"] == 1
