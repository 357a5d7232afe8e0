"""rankine fuse: a file of all runs, parameters found on judgements, sentences."""

from __future__ import annotations

import gzip
from typing import TYPE_CHECKING, Any

import pytest

import rankine as rk
from rankine.data import QRELS, RUNS

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Command

A = {"q1": {"a": 9.0, "b": 4.0, "c": 1.0}, "q2": {"d": 2.0, "e": 1.0}}
B = {"q1": {"b": 6.0, "x": 2.0}, "q2": {"d": 0.1}}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, run in (("a.run", A), ("b.run", B)):
        rk.read_run(run).save(tmp_path / name)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("words", "options"),
    [
        ([], {}),
        (["-k", "5"], {"k": 5}),
        (["--method", "CombMNZ", "--norm", "z-score"], {"norm": "z-score"}),
        (["--method", "sum", "--norm", "none"], {"norm": None}),
        (
            ["--method", "wsum", "--weight", "a.run=0.3", "--weight", "b.run=2"],
            {"weights": [0.3, 2]},
        ),
        (["--method", "rbc", "--phi", "0.8"], {"phi": 0.8}),
        (["--method", "gmnz", "--gamma", "0.5"], {"gamma": 0.5}),
        (["--method", "logn_isr", "--sigma", "1"], {"sigma": 1}),
        (["-M", "1"], {"depth": 1}),
        (["--lower-is-better"], {"lower_is_better": True}),
    ],
)
def test_the_file_is_the_run_that_fuse_gives(
    words: list[str], options: dict[str, Any], folder: Path, rankine: Command
) -> None:
    done = rankine("fuse", "a.run", "b.run", "-o", "fused.run", *words)

    method = words[words.index("--method") + 1] if "--method" in words else "rrf"
    expected = rk.fuse([A, B], method, **options)
    assert (done.code, done.out) == (0, "")
    notes = "".join(f"rankine: {note}\n" for note in expected.notes)
    assert done.err == f"{notes}rankine: wrote fused.run\n"
    assert rk.read_run(folder / "fused.run").to_dict() == expected.to_dict()


@pytest.mark.usefixtures("folder")
def test_without_a_file_trec_text_is_printed(rankine: Command) -> None:
    done = rankine("fuse", "a.run", "b.run", "-k", "0")

    assert done.out.splitlines() == [
        "q1 Q0 b 1 1.5 rrf",
        "q1 Q0 a 2 1.0 rrf",
        "q1 Q0 x 3 0.5 rrf",
        "q1 Q0 c 4 0.3333333333333333 rrf",
        "q2 Q0 d 1 2.0 rrf",
        "q2 Q0 e 2 0.5 rrf",
    ]
    assert rankine("fuse", "a.run", "b.run", "-k", "0", "-o", "-") == done


@pytest.mark.parametrize("name", ["fused.csv", "fused.tsv", "fused.parquet"])
def test_the_ending_of_the_file_says_what_it_holds(
    name: str, folder: Path, rankine: Command
) -> None:
    rankine("fuse", "a.run", "b.run", "-o", name)

    made = rk.read_run(folder / name).to_frame()
    assert made.equals(rk.fuse([A, B]).to_frame())
    assert made.columns == ["query", "item", "score"]


def test_text_may_be_packed(folder: Path, rankine: Command) -> None:
    rankine("fuse", "a.run", "b.run", "-o", "fused.run.gz")

    text = gzip.decompress((folder / "fused.run.gz").read_bytes()).decode()
    assert text == rankine("fuse", "a.run", "b.run").out


def test_notes_are_said(folder: Path, rankine: Command) -> None:
    rk.read_run({"q1": {"a": 1.0}}).save(folder / "c.run")

    done = rankine("fuse", "a.run", "short=c.run", "-o", "fused.run", "-v")

    said = "rankine: 1 query not in short ('q2'): fused from the other runs"
    assert said in done.err.splitlines()
    assert "a.run: read as" in done.err


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["a.run"], "fusion needs at least two runs, got only a.run"),
        (["a.run", "b.run", "--method", "rff"], "did you mean 'rrf'?"),
        (["a.run", "b.run", "--norm", "zscore"], "did you mean 'z-score'?"),
        (["a.run", "b.run", "--method", "rbc"], "rbc needs phi; give phi= or --phi"),
        (["a.run", "b.run", "--phi", "0.5"], "rrf has no parameter 'phi'"),
        (["a.run", "b.run", "--weight", "a=1"], "weights has 'a', which is not a run"),
        (
            ["a.run", "b.run", "--weight", "a.run=x"],
            "expected NAME=NUMBER, got",
        ),
        (["a.run", "b.run", "-m", "AP"], "--metric is for --tune, which finds"),
        (["a.run", "b.run", "--seed", "1"], "--seed is for --tune"),
        (
            ["a.run", "b.run", "--tune", "q", "-k", "3"],
            "--tune finds parameters",
        ),
        (["-", "a=-"], "standard input (-) is named more than once"),
        (["a.run", "b.run", "--tune", "q", "--method", "sum"], "no parameters to tune"),
    ],
)
def test_what_cannot_be_is_said_in_a_sentence(
    words: list[str], message: str, rankine: Command
) -> None:
    done = rankine("fuse", *words)

    assert done.code == 2
    assert message in done.err
    assert done.err.count("\n") == 1


@pytest.mark.usefixtures("folder")
def test_data_that_cannot_be_fused(folder: Path, rankine: Command) -> None:
    odd = rk.read_run({"q 1": {"a": 1.0}, "q2": {"b": 1.0}})
    odd.save(folder / "odd.csv")

    done = rankine("fuse", "odd.csv", "odd=odd.csv", "-o", "fused.run")

    assert done.code == 3
    assert done.err == (
        "rankine: rrf: the query 'q 1' cannot be written in TREC text; json and "
        "parquet can hold it\n"
    )
    assert rankine("fuse", "odd.csv", "odd=odd.csv", "-o", "fused.csv").code == 0


# Tuning


def test_parameters_are_found_on_judgements(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rankine: Command
) -> None:
    monkeypatch.chdir(tmp_path)
    runs = dict(zip(("first", "second"), RUNS[:2], strict=True))
    paths = [f"{name}={path}" for name, path in runs.items()]

    done = rankine("fuse", *paths, "--tune", str(QRELS), "-o", "fused.run")

    tuned = rk.tune_fusion(runs, QRELS, "nDCG@10")
    assert done.code == 0
    words = " ".join(done.out.split())
    assert words == " ".join(str(tuned).split())
    assert "wrote fused.run" in done.err
    expected = rk.fuse(runs, **tuned.parameters).to_dict()
    assert rk.read_run("fused.run").to_dict() == expected == tuned.run.to_dict()


def test_what_is_tuned_and_how(rankine: Command) -> None:
    paths = [*map(str, RUNS)]

    done = rankine(
        "fuse", *paths, "--tune", str(QRELS), "-m", "AP", "--folds", "3", "--seed", "4",
        "--method", "rbc", "--norm", "none", "-M", "20",
    )  # fmt: skip

    assert done.code == 0
    tuned = rk.tune_fusion(
        paths, QRELS, "AP", "rbc", norm=None, folds=3, seed=4, depth=20
    )
    assert " ".join(done.out.split()) == " ".join(str(tuned).split())
    assert "depth 20" in done.out
