"""Commands take several cutoffs of a metric at once."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.cli.conftest import Command


@pytest.mark.usefixtures("folder")
def test_commands_take_cutoff_lists(rankine: Command) -> None:
    done = rankine("evaluate", "qrels.txt", "a.run", "-m", "P@1,2", "--csv")
    assert [line.split(",")[2] for line in done.out.splitlines()[1:]] == ["P@1", "P@2"]

    done = rankine(
        "evaluate", "qrels.txt", "a.run", "-m", "P@1,2", "--style", "trec_eval"
    )
    assert [line.split()[0] for line in done.out.splitlines()] == ["P_1", "P_2"]

    done = rankine("reconcile", "qrels.txt", "a.run", "-m", "AP@1,2", "--json")
    assert [entry["metric"] for entry in json.loads(done.out)] == ["AP@1", "AP@2"]

    done = rankine("similarity", "a.run", "b.run", "-m", "AO@1,2", "--json")
    assert list(json.loads(done.out)["metrics"]) == ["AO@1", "AO@2"]


@pytest.mark.usefixtures("folder")
def test_a_threshold_is_of_one_metric(rankine: Command) -> None:
    done = rankine("evaluate", "qrels.txt", "a.run", "--fail-under", "P@1,2=0.5")

    assert done.code == 2
    assert "'P@1,2' stands for 2 metrics (P@1, P@2)" in done.err
