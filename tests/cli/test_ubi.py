"""rankine online, ab and plan on logs of User Behavior Insights."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from tests.online.test_ubi import EVENTS, QUERIES

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Command


def test_queries_of_ubi_are_impressions(rankine: Command, tmp_path: Path) -> None:
    for name, rows in (("e", EVENTS), ("q", QUERIES)):
        text = "".join(json.dumps(row) + "\n" for row in rows)
        (tmp_path / f"{name}.ndjson").write_text(text)
    words = [str(tmp_path / "e.ndjson"), "--queries", str(tmp_path / "q.ndjson")]

    done = rankine("online", *words, "-m", "ctr", "--json")
    assert done.code == 0, done.err
    printed = json.loads(done.out)
    assert [row["value"] for row in printed["table"]] == [1 / 3, 1]
    assert any("taken as impressions" in note for note in printed["notes"])
    done = rankine("ab", *words, "--control", "A", "-m", "ctr")
    assert done.code == 0, done.err
    assert "taken as impressions" in done.out
    done = rankine("plan", *words, "--effect", "5%", "-m", "ctr")
    assert (done.code, done.out.count("\n")) == (0, 1)
    assert "taken as impressions" in done.err
    for more, why in (
        (["--sql", "select 1"], "--queries cannot be combined"),
        (["--users", "user_id"], "--queries is for events, not for --users"),
    ):
        done = rankine("ab", *words, "--control", "A", *more)
        assert done.code == 2
        assert why in done.err
