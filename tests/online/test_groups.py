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
