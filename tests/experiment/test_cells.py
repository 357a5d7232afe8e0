"""What the cells of an experiment know of: functions, files that change, notes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import rankine as rk
from rankine._experiment.inputs import Inputs
from rankine.errors import DataError, ParameterError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from rankine._experiment.read import Planned


def test_a_metric_of_ones_own_is_known_by_its_function(
    written: Callable[..., Path],
) -> None:
    path = written("metrics: [MineOfExperiments]")

    @rk.metric(name="MineOfExperiments")
    def first(ranking: list[str], judged: dict[str, float]) -> float:
        return float(bool(ranking) and bool(judged))

    assert rk.run_experiment(path).table["mean"].max() == 1
    with pytest.raises(ParameterError, match="other processes do not have; use jobs=1"):
        rk.run_experiment(path, jobs=2, resume=False)

    @rk.metric(name="MineOfExperiments")
    def second(ranking: list[str], judged: dict[str, float]) -> float:
        return 0.0 * len(ranking) * len(judged)

    again = rk.run_experiment(path)
    assert again.n_computed == 3
    assert again.table["mean"].max() == 0


def test_a_file_that_changes_on_the_way_is_noticed(
    written: Callable[..., Path], home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from rankine._evaluate.evaluate import Job  # noqa: PLC0415

    real = Job.evaluate
    last = home / "runs" / "vector.run"

    def slow(self: Job, *words: object, **more: object):  # type: ignore[no-untyped-def] # noqa: ANN202
        result = real(self, *words, **more)  # type: ignore[arg-type]
        if words[-1] == "hybrid.run":
            last.write_text(last.read_text() + "q1 Q0 late 99 -5 x\n")
        return result

    path = written("metrics: AP")
    with monkeypatch.context() as patched:
        patched.setattr(Job, "evaluate", slow)
        # Hashed before it changed: in time, as the first file is hashed by then.
        patched.setattr(Inputs, "__init__", hashed_at_once)
        with pytest.raises(
            DataError, match=r"vector.run: changed while the experiment"
        ):
            rk.run_experiment(path)
    result = rk.run_experiment(path)
    ev = rk.evaluate(home / "qrels.txt", last, "AP")
    assert result.evaluation("vector.run")["AP"] == ev["AP"]


def hashed_at_once(self: Inputs, planned: Planned) -> None:
    _INIT(self, planned)
    for run in planned.runs:
        self.of_run(run)


_INIT = Inputs.__init__


def test_notes_are_of_the_metrics_asked_for(written: Callable[..., Path]) -> None:
    ranx = "convention: ranx\n"
    rk.run_experiment(written(ranx + "metrics: [P@5, nDCG@10]"))

    fewer = rk.run_experiment(written(ranx + "metrics: [P@5]"))
    assert fewer.n_computed == 0
    warned = fewer.evaluation("keyword.run").warnings
    assert any("P@5" in warning for warning in warned)
    assert not any("nDCG" in warning for warning in warned)

    more = rk.run_experiment(written(ranx + "metrics: [Accuracy@5, P@5]\ncatalog: 999"))
    assert more.n_computed == 6


def test_notes_of_metrics_computed_apart_name_them(
    written: Callable[..., Path],
) -> None:
    rk.run_experiment(written("metrics: [P@5]"))
    rk.run_experiment(written("metrics: [P@5, AUC]"))

    notes = rk.run_experiment(written("metrics: [AUC, P@5]")).evaluation("hybrid.run")

    said = [note for note in notes.notes if "without a relevant item" in note]
    assert said == [
        "AUC: 1 query without a relevant item: left out",
        "P@5: 1 query without a relevant item: counted as 0",
    ]


def test_a_note_is_of_every_metric_that_it_is_about(
    written: Callable[..., Path],
) -> None:
    """Also of those that it does not name, as it names the first three."""
    rk.run_experiment(written("metrics: [AP, AUC, nDCG, RR, P@5, NumRet]"))

    found = rk.run_experiment(written("metrics: [P@5, NumRet, AUC]"))

    assert found.n_computed == 0
    said = [
        note
        for note in found.evaluation("hybrid.run").notes
        if "without a relevant item" in note
    ]
    assert said == [
        "1 query without a relevant item: counted as 0 (AP, nDCG, RR, ...)",
        "1 query without a relevant item: left out (AUC)",
    ]


def test_tables_of_conventions_that_are_gone_go_too(
    written: Callable[..., Path], home: Path
) -> None:
    rk.run_experiment(written("metrics: AP\nconvention: [rankine, ranx]"))
    rk.run_experiment(written("metrics: AP"))

    assert sorted(path.name for path in (home / "results").glob("table*")) == [
        "table.md", "table.tex",
    ]  # fmt: skip


def test_an_error_says_which_run_it_is_of(
    written: Callable[..., Path], home: Path
) -> None:
    (home / "runs" / "vector.run").write_text("zz Q0 a 1 1 x\n")

    with pytest.raises(DataError, match=r"vector.run, rankine: 0 of 50 judged queries"):
        rk.run_experiment(written("metrics: AP"))


@pytest.mark.slow
def test_other_processes_are_left_alone(
    written: Callable[..., Path], home: Path
) -> None:
    import multiprocessing  # noqa: PLC0415
    import time  # noqa: PLC0415

    (home / "runs" / "vector.run").write_text("q1 Q0 a\n")
    context = multiprocessing.get_context("spawn")
    child = context.Process(target=time.sleep, args=(60,))
    child.start()
    try:
        with pytest.raises(DataError):
            rk.run_experiment(written("metrics: AP"), jobs=2)
        assert child.is_alive()
    finally:
        child.terminate()
        child.join()
        child.close()
