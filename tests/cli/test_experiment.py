"""rankine experiment: what it prints, and how it ends."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING

import pytest

import rankine as rk
from rankine.data import QRELS, RUNS

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Command

TEXT = """\
qrels: qrels.txt
runs: {keyword: keyword.run, hybrid: hybrid.run}
metrics: {nDCG@: [5, 10], AP: }
"""


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for path in (QRELS, *RUNS):
        shutil.copy(path, tmp_path)
    (tmp_path / "experiment.yaml").write_text(TEXT)
    monkeypatch.chdir(tmp_path)


def test_means_are_printed_and_written(rankine: Command, tmp_path: Path) -> None:
    printed = rankine("experiment", "experiment.yaml")

    assert (printed.code, printed.err) == (0, "")
    assert "nDCG@10" in printed.out
    assert printed.out.endswith(
        "6 cells, 6 of them computed now; the results are in results\n"
    )
    ev = rk.evaluate("qrels.txt", "hybrid.run", "AP")
    assert f"{ev['AP']:.4f}" in (tmp_path / "results" / "table.md").read_text()
    again = rankine("experiment", "experiment.yaml")
    assert again.out.replace(", 0 of", ", 6 of") == printed.out


def test_a_comparison_is_printed(rankine: Command, tmp_path: Path) -> None:
    text = TEXT + "compare: {baseline: keyword, test: t}\nconvention: [rankine, ranx]\n"
    (tmp_path / "experiment.yaml").write_text(text)

    printed = rankine("experiment", "experiment.yaml", "--output", "else/where")

    assert printed.code == 0
    assert printed.out.startswith("rankine\n")
    assert printed.out.count("keyword to hybrid   better") == 6
    assert (tmp_path / "else" / "where" / "table-ranx.md").exists()


def test_a_dry_run_computes_nothing(rankine: Command, tmp_path: Path) -> None:
    printed = rankine("experiment", "experiment.yaml", "--dry-run")

    assert printed.out == (
        "6 cells (2 runs x 1 convention x 3 metrics), 6 to be computed\n"
        "qrels: qrels.txt\n"
        "keyword: 3 of 3 cells; keyword.run\n"
        "  rankine: nDCG@5, nDCG@10, AP\n"
        "hybrid: 3 of 3 cells; hybrid.run\n"
        "  rankine: nDCG@5, nDCG@10, AP\n"
        "results: results\n"
    )
    assert not (tmp_path / "results").exists()
    rankine("experiment", "experiment.yaml")
    (tmp_path / "experiment.yaml").write_text(TEXT.replace("10]", "10, 20]"))
    printed = rankine("experiment", "experiment.yaml", "--dry-run", "--json")
    record = json.loads(printed.out)
    assert [cell["done"] for cell in record["cells"]] == [True, True, False, True] * 2


def test_problems_are_a_line_each(rankine: Command, tmp_path: Path) -> None:
    (tmp_path / "experiment.yaml").write_text(TEXT + "rell: 1\ndepth: 0\n")

    printed = rankine("experiment", "experiment.yaml")

    assert (printed.code, printed.out) == (2, "")
    assert printed.err == (
        "rankine: experiment.yaml:4:1: unknown key 'rell'; did you mean 'rel'?\n"
        "rankine: experiment.yaml:5:8: expected a number greater than or equal to 1, "
        "got 0\n"
    )


def test_the_schema_is_json(rankine: Command) -> None:
    schema = json.loads(rankine("experiment", "--schema").out)

    assert schema["title"] == "rankine experiment"
    assert "runs" in schema["properties"]


@pytest.mark.slow
def test_a_first_file_runs_and_is_not_overwritten(
    rankine: Command, tmp_path: Path
) -> None:
    (tmp_path / "experiment.yaml").unlink()
    files = ["qrels.txt", *(path.name for path in RUNS)]

    printed = rankine("experiment", "--init", *files)
    assert (printed.code, printed.err) == (0, "")
    assert "wrote experiment.yaml" in printed.out
    again = rankine("experiment", "--init", *files)
    assert again.code == 2
    assert "experiment.yaml exists; rename it first" in again.err
    assert rankine("experiment", "experiment.yaml").code == 0
    found = rk.load(tmp_path / "results")
    assert found.systems == ("keyword", "vector", "hybrid")
    notes = found.evaluations["keyword"].notes
    assert any("in the top 5, 18.4 % in the top 10" in note for note in notes)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "expected one FILE, got 0"),
        (("a.yaml", "b.yaml"), "expected one FILE, got 2"),
        (("--init", "qrels.txt"), "--init takes the judgements and at least one run"),
        (("experiment.yaml", "--jobs", "0"), "0 is too small; give at least 1"),
    ],
)
def test_words_that_are_refused(
    words: tuple[str, ...], said: str, rankine: Command
) -> None:
    printed = rankine("experiment", *words)

    assert printed.code == 2
    assert said in printed.err
    assert printed.err.count("\n") == 1
