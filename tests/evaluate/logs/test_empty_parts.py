"""Parts of a log to whose users nothing is recommended, as on an executor of Spark."""

from __future__ import annotations

import polars as pl
import pytest

from rankine._evaluate.logs.question import Question

LOG = pl.DataFrame({"user_id": ["u", "v"], "item_id": ["a", "b"], "click": [1, 0]})
OFFERED = pl.DataFrame({"user_id": ["u", "v"], "item_id": ["a", "b"]})


@pytest.mark.parametrize(("n_logged", "n_offered"), [(2, 0), (0, 2), (0, 0)])
def test_nothing_matches(n_logged: int, n_offered: int) -> None:
    asked = Question("matching")
    tables = LOG.head(n_logged), OFFERED.head(n_offered)

    rounds = asked.tally(*tables, own=True, part=True).rounds

    assert rounds.reward.tolist() == []
    assert rounds.n == 0


def test_parts_add_up() -> None:
    asked = Question("matching")
    first = asked.tally(LOG[:1], OFFERED[:1], own=True, part=True).rounds
    second = asked.tally(LOG[1:], OFFERED[:0], own=True, part=True).rounds

    # Of two rounds, only the first is of a user with recommendations.
    assert (first + second).reward.tolist() == [1.0]
