"""An experiment gives the values of evaluate, whatever the order, jobs or resuming."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import pytest

import rankine as rk
from rankine._experiment.store import Store
from rankine.data import FILMS
from rankine.errors import DataError, FormatError, ParameterError
from tests.experiment.conftest import files

if TYPE_CHECKING:
    from collections.abc import Callable

METRICS = (
    "metrics: {nDCG@: [1, 5, 10], RBP: {p: [0.5, 0.8]}, AP: , NumRet: , gm_AP: }\n"
)
LABELS = ["nDCG@1", "nDCG@5", "nDCG@10", "RBP(p=0.5)", "RBP(p=0.8)", "AP", "NumRet",
          "gm_AP"]  # fmt: skip


def same(result: rk.ExperimentResult, home: Path) -> None:
    """Every value is that of evaluate, to the bit."""
    values = pl.read_parquet(result.folder / "values.parquet")
    assert values.columns == ["system", "convention", "query", "metric", "value"]
    for convention in result.conventions:
        for run in result.runs:
            ev = rk.evaluate(
                home / "qrels.txt", home / "runs" / run, result.metrics,
                convention=convention, name=run,
            )  # fmt: skip
            loaded = result.evaluation(run, convention)
            assert loaded.mean == ev.mean
            assert loaded.notes == ev.notes
            assert loaded.per_query.equals(ev.per_query)
            assert [loaded.interval(name) for name in ("AP", "nDCG@5")] == [
                ev.interval(name) for name in ("AP", "nDCG@5")
            ]
            for name in result.metrics:
                own = values.filter(
                    (pl.col("system") == run)
                    & (pl.col("convention") == convention)
                    & (pl.col("metric") == name)
                )
                both = ev.per_query.select("query", value=pl.col(name))
                assert own.select("query", "value").equals(
                    both.with_columns(pl.col("value").fill_nan(None))
                )


@pytest.mark.slow
@pytest.mark.parametrize("jobs", [1, 2])
def test_values_are_those_of_evaluate(
    jobs: int, written: Callable[..., Path], home: Path
) -> None:
    path = written(METRICS + "convention: [rankine, ranx]\n")

    result = rk.run_experiment(path, jobs=jobs)

    assert list(result.metrics) == LABELS
    assert result.runs == ("hybrid.run", "keyword.run", "vector.run")
    assert result.n_computed == 3 * 2 * 8
    same(result, home)


@pytest.mark.slow
def test_all_ways_to_the_results_give_the_same_bytes(
    written: Callable[..., Path], home: Path
) -> None:
    path = written(METRICS + "compare: {baseline: vector.run, draws: 1000}\n")
    rk.run_experiment(path)
    whole = files(home / "results")

    rk.run_experiment(path, jobs=2, output=home / "two")
    assert files(home / "two") == whole
    rk.run_experiment(path)
    assert files(home / "results") == whole
    for name in ("results.json", min(whole), "values.parquet"):
        (home / "results" / name).unlink()
    again = rk.run_experiment(path)
    assert files(home / "results") == whole
    assert again.n_computed == 8
    rk.run_experiment(path, resume=False)
    assert files(home / "results") == whole


@pytest.mark.slow
def test_only_what_is_missing_is_computed(
    written: Callable[..., Path], home: Path
) -> None:
    assert rk.run_experiment(written("metrics: {P@: [1, 5]}")).n_computed == 6

    more = rk.run_experiment(written("metrics: {P@: [1, 5, 10], AP: }"))
    assert more.n_computed == 6
    fresh = rk.run_experiment(
        written("metrics: {P@: [1, 5, 10], AP: }"), output=home / "fresh"
    )
    assert more.table.equals(fresh.table)

    # The order does not matter; another run, and another name, are other cells.
    (home / "runs" / "new.run").write_bytes((home / "runs" / "hybrid.run").read_bytes())
    added = rk.run_experiment(written("metrics: {P@: [10, 1]}"))
    assert added.n_computed == 2
    assert added.metrics == ("P@10", "P@1")
    named = rk.run_experiment(written("metrics: {precision@: [10], P@: [1]}"))
    assert named.n_computed == 4
    assert named.metrics == ("precision@10", "P@1")
    assert added.evaluation("new.run").mean == added.evaluation("hybrid.run").mean


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "n"),
    [
        ("qrels", 6),
        ("run", 2),
        ("rel: 2\n", 6),
        ("depth: 3\n", 6),
        ("convention: ranx\n", 6),
        ("compare: {test: t}\n", 0),
        ("# a comment\n", 0),
    ],
)
def test_cells_depend_on_contents_and_options(
    change: str, n: int, written: Callable[..., Path], home: Path
) -> None:
    metrics = "metrics: [AP, P@5]\n"
    rk.run_experiment(written(metrics))
    if change == "qrels":
        (home / "qrels.txt").write_text((home / "qrels.txt").read_text() + "q1 0 z 1\n")
    elif change == "run":
        path = home / "runs" / "hybrid.run"
        path.write_text(path.read_text() + "q1 Q0 zz 99 -5 x\n")
    else:
        metrics += change

    assert rk.run_experiment(written(metrics)).n_computed == n


@pytest.mark.slow
def test_a_changed_file_of_values_is_noticed(
    written: Callable[..., Path], home: Path
) -> None:
    path = written("metrics: AP")
    rk.run_experiment(path)
    whole = files(home / "results")
    cells = sorted((home / "results" / "cells").iterdir())
    cells[0].write_bytes(cells[0].read_bytes().replace(b"q", b"p"))
    cells[3].write_bytes(cells[3].read_bytes()[:-20])

    result = rk.run_experiment(path)

    assert result.n_computed == 2
    assert "2 files of values were damaged and removed" in result.notes[0]
    assert rk.run_experiment(path).notes == ()
    assert files(home / "results") == whole


def test_load_gives_the_comparison_back(
    written: Callable[..., Path], home: Path
) -> None:
    (home / "types.csv").write_text(
        "query,type\n" + "".join(f"q{n:02},{'ab'[n % 2]}\n" for n in range(1, 60))
    )
    path = written(
        "metrics: [nDCG@10, AP, NumRet]\n"
        "compare: {baseline: vector.run, test: t, margin: {AP: 0.01}, by: types.csv}\n"
    )
    result = rk.run_experiment(path)
    made = rk.compare(
        home / "qrels.txt",
        {run: home / "runs" / run for run in result.runs},
        ["nDCG@10", "AP"],
        baseline="vector.run", test="t", margin={"AP": 0.01}, by=home / "types.csv",
    )  # fmt: skip

    loaded = rk.load(home / "results")

    assert isinstance(loaded, rk.Comparison)
    assert loaded.pairwise.equals(made.pairwise)
    assert loaded.table.equals(made.table)
    assert loaded.segments.equals(made.segments)
    assert str(loaded.moved("AP", "vector.run", "hybrid.run")) == str(
        made.moved("AP", "vector.run", "hybrid.run")
    )
    assert "1. " in str(loaded.moved("AP", "vector.run", "hybrid.run", n=1))
    assert result.comparison().pairwise.equals(made.pairwise)
    # The means of what is not compared stand beside the others.
    *table, empty, below = (home / "results" / "table.md").read_text().splitlines()
    expected = made.to_markdown().splitlines()
    assert [empty, below] == expected[-2:]
    assert below.startswith("Letters mark the systems that a system beats; Test: ")
    rows = [line.rsplit(" | ", 1) for line in table[2:]]
    assert [f"{row} |" for row, _ in rows] == expected[2:-2]
    shown = [f"{result.evaluation(run)['NumRet']:,.0f} |" for run in result.runs]
    assert [last for _, last in rows] == shown
    assert result.notes[-1].startswith("NumRet: not compared")


def test_load_chooses_a_convention_and_a_single_run(
    written: Callable[..., Path], home: Path
) -> None:
    rk.run_experiment(written("metrics: AP\nconvention: [rankine, ranx]"))
    with pytest.raises(ParameterError, match=r"several conventions; say which one"):
        rk.load(home / "results")
    with pytest.raises(ParameterError, match="no results under 'jurity'"):
        rk.load(home / "results", convention="jurity")
    assert isinstance(rk.load(home / "results", convention="ranx"), rk.Comparison)

    one = written("runs: {best: runs/hybrid.run}\nmetrics: AP\noutput: one")
    ev = rk.run_experiment(one).evaluation("best")
    loaded = rk.load(home / "one")
    assert loaded.mean == ev.mean
    assert str(loaded) == str(rk.evaluate(
        home / "qrels.txt", home / "runs" / "hybrid.run", "AP", name="best"
    ))  # fmt: skip
    with pytest.raises(ParameterError, match="convention= or --convention selects one"):
        rk.load(ev.to_json(), convention="rankine")


def test_results_say_how_to_get_them_again(
    written: Callable[..., Path], home: Path
) -> None:
    path = written("metrics: AP\ncompare: {seed: 7, draws: 100}")
    rk.run_experiment(path)

    record = json.loads((home / "results" / "results.json").read_text())

    assert record["experiment"]["texts"]["experiment.yaml"] == path.read_text()
    assert record["comparing"]["seed"] == 7
    assert record["runs"]["hybrid.run"]["path"] == "runs/hybrid.run"
    content = (home / "qrels.txt").read_bytes()
    assert record["files"]["qrels"]["sha256"] == sha256(content).hexdigest()
    assert record["conventions"]["rankine"]["choices"]["ap_den"] == "R"
    assert record["versions"]["polars"] == pl.__version__
    assert str(home) not in json.dumps(record)
    row = record["cells"][0]
    ev = rk.evaluate(home / "qrels.txt", home / "runs" / "hybrid.run", "AP")
    assert (row["mean"], row["low"], row["high"]) == (ev["AP"], *ev.interval("AP"))


def test_metrics_of_lists_and_all_kinds_of_data(
    written: Callable[..., Path],
) -> None:
    text = "\n".join(
        [
            f"qrels: {FILMS}/test.csv",
            f"runs: {{a: {FILMS}/popular.csv, b: {FILMS}/personal.csv}}",
            f"train: {FILMS}/train.csv",
            f"items: {FILMS}/films.csv",
            "metrics: [nDCG@5, Coverage@5, Novelty@5, ILD@5]",
            "rel: 4",
        ]
    )
    result = rk.run_experiment(written(text))
    for run, file in (("a", "popular"), ("b", "personal")):
        ev = rk.evaluate(
            FILMS / "test.csv", FILMS / f"{file}.csv",
            ["nDCG@5", "Coverage@5", "Novelty@5", "ILD@5"], rel=4,
            train=FILMS / "train.csv", items=FILMS / "films.csv",
        )  # fmt: skip
        assert result.evaluation(run).mean == ev.mean

    # Coverage is one number of all users, and compared by leaving them out.
    made = rk.compare(
        FILMS / "test.csv",
        {"a": FILMS / "popular.csv", "b": FILMS / "personal.csv"},
        ["nDCG@5", "Coverage@5", "Novelty@5", "ILD@5"], rel=4,
        train=FILMS / "train.csv", items=FILMS / "films.csv",
    )  # fmt: skip
    loaded = rk.load(result.folder)
    assert loaded.pairwise.equals(made.pairwise)
    assert loaded.to_json() == made.to_json()


@pytest.mark.slow
def test_judgements_are_read_once_for_all_runs_and_conventions(
    written: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    from rankine._evaluate import evaluate  # noqa: PLC0415

    seen: list[str] = []
    for role in ("truth_of", "source_of"):
        real = getattr(evaluate, role)

        def spy(data: object, *more: object, real: object = real, **rest: object):  # type: ignore[no-untyped-def] # noqa: ANN202
            seen.append(Path(str(data)).name)
            return real(data, *more, **rest)  # type: ignore[operator]

        monkeypatch.setattr(evaluate, role, spy)

    rk.run_experiment(written("metrics: AP\nconvention: [rankine, ranx, jurity]"))

    assert sorted(seen) == ["hybrid.run", "keyword.run", "qrels.txt", "vector.run"]


def test_folders_that_hold_something_else_are_left_alone(
    written: Callable[..., Path], home: Path
) -> None:
    with pytest.raises(DataError, match=r"are not from an experiment \(\w+.run\)"):
        rk.run_experiment(written("metrics: AP"), output=home / "runs")
    with pytest.raises(DataError, match=r"is a file, not a folder"):
        rk.run_experiment(written("metrics: AP"), output=home / "qrels.txt")
    with pytest.raises(FormatError, match=r"has no results.json"):
        rk.load(home / "runs")


def test_an_unfinished_or_damaged_folder_is_not_loaded(
    written: Callable[..., Path], home: Path
) -> None:
    rk.run_experiment(written("metrics: AP"))
    folder = home / "results"
    whole = (folder / "results.json").read_text()
    for text, said in (
        ("", "cannot be read"),
        ("{}", "is not the result of an experiment"),
        (whole.replace('"format_version": 1', '"format_version": 9'), "a newer"),
        (whole.replace('"cells"', '"cels"'), "is damaged; run the experiment again"),
    ):
        (folder / "results.json").write_text(text)
        with pytest.raises(FormatError, match=said):
            rk.load(folder)
    (folder / "results.json").unlink()
    with pytest.raises(FormatError, match="has not finished; run it again"):
        rk.load(folder)
    (folder / "results.json").write_text(whole)
    next((folder / "cells").glob("*.parquet")).unlink()
    with pytest.raises(FormatError, match=r"in cells/ is missing or damaged"):
        rk.load(folder)
    assert len(Store.open(folder).damaged) == 1
