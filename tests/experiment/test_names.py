"""An experiment shows metrics under the names that its file has, as `evaluate` does."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import polars as pl
import pytest

import rankine as rk
from rankine._report.of_comparison import page_of
from tests.experiment.test_results import same

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

METRICS = """\
metrics:
  - MRR
  - Hit@: [5, 10]
  - ndcg@5,10
  - map_cut_10
  - precision: {cutoff: [3]}
  - P: {rel: [2], cutoff: [3]}
  - NumRelRet
"""
ASKED = ("MRR", "Hit@5", "Hit@10", "ndcg@5", "ndcg@10", "map_cut_10")
NAMES = (*ASKED, "P@3", "P(rel=2)@3", "NumRelRet")
OWN = ("RR", "Success@5", "Success@10", "nDCG@5", "nDCG@10", "AP@10", *NAMES[-3:])
COMPARE = "compare: {baseline: keyword.run, margin: {RR: 0.02, 'Hit@5': 0.03}}\n"


@pytest.mark.slow
def test_names_are_those_of_the_file(written: Callable[..., Path], home: Path) -> None:
    conventions = "convention: [rankine, jurity]\nrel: 2\n"
    path = written(METRICS + conventions + COMPARE)

    result = rk.run_experiment(path)

    assert result.metrics == NAMES
    assert result.table["metric"].unique(maintain_order=True).to_list() == [*NAMES]
    values = pl.read_parquet(home / "results" / "values.parquet")
    assert values["metric"].unique(maintain_order=True).to_list() == [*NAMES]
    for convention, by_run in result.evaluations.items():
        for run, loaded in by_run.items():
            ev = rk.evaluate(
                home / "qrels.txt", home / "runs" / run, NAMES, name=run, rel=2,
                convention=convention,
            )  # fmt: skip
            names = ev.notes, ev.warnings, str(ev)
            for kept, said in zip((loaded.notes, loaded.warnings), names, strict=False):
                assert [text.replace("runs/", "") for text in kept] == [
                    text.replace(f"{home}/runs/", "").replace(f"{home}/", "")
                    for text in said
                ]
            assert loaded.to_dict()["metrics"] == ev.to_dict()["metrics"]
    assert "Jurity: Success does not exist in this tool; Hit@5 is computed with" in str(
        result
    )


@pytest.mark.slow
def test_so_are_those_in_files_and_reports(
    written: Callable[..., Path], home: Path
) -> None:
    rk.run_experiment(written(METRICS + COMPARE))

    folder = home / "results"
    record = json.loads((folder / "results.json").read_text())
    assert record["metrics"] == [*NAMES]
    assert record["names"] == dict(zip(NAMES, OWN, strict=True))
    assert {cell["metric"] for cell in record["cells"]} == {*NAMES}
    assert record["comparing"]["margins"] == {"MRR": 0.02, "Hit@5": 0.03}
    head = (folder / "table.md").read_text().splitlines()[0]
    assert head == f"| run | {' | '.join(NAMES)} |".replace("_", r"\_")
    assert "& Hit@10 & ndcg@5 &" in (folder / "table.tex").read_text()
    cmp = rk.load(folder)
    assert cmp.metrics == NAMES[:-1]
    assert page_of(cmp).text().count("Success@5") == 1  # how to reproduce it


@pytest.mark.slow
def test_cells_of_two_times_keep_theirs(
    written: Callable[..., Path], home: Path
) -> None:
    rk.run_experiment(written("metrics: [MRR, ndcg@5]\nrel: 2\n"))
    result = rk.run_experiment(written("metrics: [Hit@5, MRR, ndcg@5, RBP]\nrel: 2\n"))

    assert result.n_computed == 6
    assert result.metrics == ("Hit@5", "MRR", "ndcg@5", "RBP")
    same(rk.run_experiment(written("metrics: [AP, 'ndcg@5']\n")), home)
