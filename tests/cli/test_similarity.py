"""rankine similarity: two runs as a table, more as a matrix, errors as a sentence."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

import rankine as rk
from rankine.cli import main

if TYPE_CHECKING:
    from pathlib import Path

A = {"q1": ["a", "b", "c"], "q2": ["d", "e"]}
B = {"q1": ["b", "a", "c"], "q2": ["d", "f"]}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, run in (("a.run", A), ("b.run", B), ("c.run", A)):
        lines = [
            f"{query} Q0 {item} {at + 1} {10 - at} tag"
            for query, items in run.items()
            for at, item in enumerate(items)
        ]
        (tmp_path / name).write_text("\n".join(lines) + "\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[object, str, str]:
    capsys.readouterr()
    with pytest.raises(SystemExit) as caught:
        main(["similarity", *arguments])
    out, err = capsys.readouterr()
    return caught.value.code, out, err


@pytest.mark.usefixtures("folder")
def test_two_runs(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "a.run", "b.run", "-m", "AO@2", "-m", "RBO(p=0.8)")

    ev = rk.similarity(A, B, ["AO@2", "RBO(p=0.8)"])
    assert code == 0
    assert "a.run and b.run" in out
    for value in ev.mean.values():
        assert f"{value:.4f}" in out


@pytest.mark.usefixtures("folder")
def test_json_and_queries(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "a.run", "b.run", "-m", "AO@2", "--json", "-q")

    found = json.loads(out)
    assert code == 0
    assert found["metrics"]["AO@2"]["value"] == rk.similarity(A, B, "AO@2")["AO@2"]
    assert [row["query"] for row in found["per_query"]] == ["q1", "q2"]
    assert "q2" in run(capsys, "a.run", "b.run", "-m", "AO@2", "-q")[1]


@pytest.mark.usefixtures("folder")
def test_more_runs_are_a_matrix(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "a.run", "b.run", "c.run", "-m", "AO@2", "-m", "Jaccard")

    assert code == 0
    assert "AO@2" in out
    assert "Jaccard" in out
    assert out.splitlines()[2].split() == ["a.run", "b.run", "c.run"]
    value = rk.similarity(A, B, "AO@2")["AO@2"]
    assert out.splitlines()[3].split() == ["a.run", "1.0000", f"{value:.4f}", "1.0000"]
    found = json.loads(run(capsys, "a.run", "b.run", "c.run", "--json")[1])
    assert [one["measure"] for one in found] == ["RBO(p=0.9)", "AO@10", "Jaccard@10"]


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("a.run",), 2, "at least two runs are needed, got one"),
        (("a.run", "a.run"), 2, "two runs are called 'a.run'"),
        (("a.run", "b.run", "-m", "RBO(p=2)"), 2, "p must be a number above 0"),
        (("a.run", "b.run", "-m", "nDCG@10"), 2, "nDCG@10 compares a run with"),
        (("a.run", "b.run", "c.run", "-q"), 2, "--per-query needs exactly two runs"),
        (("a.run", "nope.run"), 3, "nope.run: no such file"),
        (("a.run", "b.run", "-m", "tau"), 3, "write tau(on='intersection')"),
    ],
)
def test_errors_are_one_sentence(
    capsys: pytest.CaptureFixture[str],
    arguments: tuple[str, ...],
    code: int,
    message: str,
) -> None:
    found, out, err = run(capsys, *arguments)

    assert (found, out) == (code, "")
    assert message in err
    assert len(err.splitlines()) == 1


def test_a_measure_is_explained(capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("RBO", "tau", "LIP", "Jaccard"):
        with pytest.raises(SystemExit) as caught:
            main(["metrics", name])
        out, _ = capsys.readouterr()
        assert caught.value.code == 0
        assert out.startswith(name)
        assert "Formula" in out
