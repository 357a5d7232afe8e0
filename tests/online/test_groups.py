"""Groups of users: the rules of a test are for variants alone."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner

import rankine as rk
from rankine.cli import cli
from tests.online.logs import log

if TYPE_CHECKING:
    from pathlib import Path

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


def in_all_ways(name: str, folder: Path, **options: Any) -> list[Any]:
    """Return what each function says by a column, without the name of the column."""
    frame = EVENTS.rename({"variant": name})
    path = folder / f"{name}.csv"
    frame.write_csv(path)
    total = rk.online.Accumulator(["ctr"], by=name, **options)
    for part in (frame[2:], frame[:2]):
        total.update(part)
    users = rk.online.users(frame, by=name, **options)
    only_named = {key: options[key] for key in ("columns",) if key in options}
    named = ["--col", f"variant={name}"] if options else []
    command = ["online", str(path), "--by", name, "-m", "ctr", "--json", *named]
    printed = CliRunner().invoke(cli, command, catch_exceptions=False).stdout
    return [
        rk.online.summarize(frame, ["ctr"], by=name, **options).to_dict(),
        total.result().to_dict(),
        rk.online.summarize(users, ["ctr"], by=name, **only_named).to_dict(),
        rk.online.users(total).to_dict(as_series=False),
        users.to_dict(as_series=False),
        {**json.loads(printed), "saved": None},
    ]


@pytest.mark.parametrize("is_arm", [False, True])
def test_a_parameter_says_whether_a_column_is_the_variants_of_a_test(
    tmp_path: Path,
    *,
    is_arm: bool,
) -> None:
    # "group" is recognised as the column of variants, and "team" is not.
    found = []
    for name in ("group", "team"):
        options = {"columns": {"variant": name}} if is_arm else {}
        said = in_all_ways(name, tmp_path, **options)
        texts = [json.dumps(each, default=str) for each in said]
        found.append([json.loads(re.sub(rf"\b{name}\b", "X", text)) for text in texts])
    group, team = found

    assert group == team
    for each in group[:3]:
        (row,) = each["table"]
        # As arms, u1 is left out as in both, and what u2 saw before A.
        assert (row["n"], row["users"]) == ((1, 1) if is_arm else (3, 2))


def test_calibrate_and_users_needed_read_no_variants() -> None:
    events = rk.online.generate(40, seed=1).events
    options: dict[str, Any] = {"metrics": ["ctr"]}
    found = [
        (
            rk.online.calibrate(frame, n=5, **options).table.rows(),
            rk.online.users_needed(frame, effect="5%", **options),
        )
        for frame in (events, events.rename({"variant": "team"}))
    ]

    assert found[0] == found[1]


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
