"""Users times topics that are too many for one table are looked at in parts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import rankine as rk
from rankine._base.limits import limited

METRICS = [
    "Calibration@4", "SubtopicRecall@3", "SubtopicRecall(judged=False)@3",
    "alpha_nDCG@5", "ERR_IA@4", "ERR_IA(wants=profile)@4", "AWRF@5", "EE@4",
    "EE(part=relevance)",
]  # fmt: skip


def world(seed: int) -> dict[str, Any]:
    rng = np.random.default_rng(seed)

    def some(most: int) -> list[str]:
        return [f"i{n}" for n in rng.permutation(20)[: rng.integers(0, most)]]

    users = [f"u{n}" for n in range(13)]
    lists = {user: some(8) for user in users}
    lists["u0"] = ["i1"]
    return {
        "qrels": {user: {"i1": 1} | dict.fromkeys(some(6), 2) for user in users},
        "run": lists,
        "train": {user: some(9) or ["i3"] for user in users[3:]},
        "items": {f"i{n}": [f"t{n % 3}", f"t{n % 5}"] for n in range(18)},
    }


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("cells", [1, 7, 10, 33])
def test_parts_give_what_the_whole_gives(seed: int, cells: int) -> None:
    own = world(seed)
    wanted = rk.evaluate(own["qrels"], own["run"], METRICS, **_known(own))
    with limited(topic_cells=cells):
        found = rk.evaluate(own["qrels"], own["run"], METRICS, **_known(own))

    assert found.per_query.equals(wanted.per_query)
    assert found.mean == wanted.mean


def _known(own: dict[str, Any]) -> dict[str, Any]:
    return {"train": own["train"], "items": own["items"]}
