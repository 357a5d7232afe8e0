"""What is logged to MLflow: a stand-in records it, and MLflow itself if installed."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

import rankine as rk
from rankine._report import page
from rankine.errors import MissingExtraError, ParameterError
from tools.docs_examples import render
from tools.docs_mlflow import StandIn

RECIPE = Path(__file__).parent.parent.parent / "docs" / "recipes" / "mlflow.md"

QRELS = {"q1": {"a": 1}, "q2": {"b": 1}}
OLD = {"q1": ["x", "a"], "q2": ["b"]}
NEW = {"q1": ["a", "x"], "q2": ["b"]}


@pytest.fixture
def mlflow(monkeypatch: pytest.MonkeyPatch) -> StandIn:
    stand_in = StandIn()
    monkeypatch.setitem(sys.modules, "mlflow", stand_in)
    monkeypatch.setattr(page, "_converter", lambda: None)  # no charts, which take long
    return stand_in


def test_numbers_and_report_go_to_a_run_of_their_own(mlflow: StandIn) -> None:
    ev = rk.evaluate(QRELS, OLD, ["RR", "P@1"])

    assert ev.log_mlflow() == "run-0"

    assert mlflow.active_run() is None
    (run,) = mlflow.runs
    assert run.steps == [({"rr": 3 / 4, "p_at_1": 1 / 2}, None)]
    ((name, text),) = run.files.items()
    assert name == "report.html"
    assert text.startswith("<!doctype html>")
    assert "0.7500" in text


def test_an_active_run_is_used_and_stays_open(mlflow: StandIn) -> None:
    with mlflow.start_run() as run:
        for epoch, ranked in enumerate((OLD, NEW)):
            ev = rk.evaluate(QRELS, ranked, "RR")

            assert ev.log_mlflow("val/", step=epoch, report=False) == "run-0"

        assert mlflow.active_run() is run
    assert run.steps == [({"val/rr": 3 / 4}, 0), ({"val/rr": 1}, 1)]
    assert run.files == {}


@pytest.mark.parametrize(
    ("prefix", "place"),
    [
        ("val/", "val/report.html"),
        ("val_", "val_report.html"),
        ("a/b/c.", "a/b/c.report.html"),
    ],
)
def test_a_prefix_is_that_of_the_report_too(
    mlflow: StandIn, prefix: str, place: str
) -> None:
    rk.evaluate(QRELS, OLD, "RR").log_mlflow(prefix)

    assert list(mlflow.runs[0].files) == [place]


def test_a_comparison_is_logged_with_its_systems(mlflow: StandIn) -> None:
    cmp = rk.compare(QRELS, {"old": OLD, "new one": NEW}, "RR@10")

    cmp.log_mlflow("test/", intervals=True)

    ((metrics, _),) = mlflow.runs[0].steps
    assert metrics == cmp.scalars("test/", intervals=True)
    assert metrics["test/old/rr_at_10"] == 3 / 4
    assert metrics["test/new_one/rr_at_10"] == 1
    assert "new one" in mlflow.runs[0].files["test/report.html"]


def test_what_is_refused_is_refused_before_a_run_is_started(mlflow: StandIn) -> None:
    ev = rk.evaluate(QRELS, OLD, "RR")

    wrong: list[dict[str, Any]] = [
        {"prefix": "val@"}, {"report": "yes"}, {"intervals": 1}
    ]  # fmt: skip
    for options in wrong:
        with pytest.raises(ParameterError):
            ev.log_mlflow(**options)
    assert mlflow.runs == []


def test_a_missing_mlflow_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mlflow", None)

    with pytest.raises(MissingExtraError) as caught:
        rk.evaluate(QRELS, OLD, "RR").log_mlflow()

    assert str(caught.value) == (
        "log_mlflow needs mlflow; pip install 'rankine-eval[mlflow]'"
    )


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    mlflow = pytest.importorskip("mlflow", reason="MLflow is not installed")
    mlflow.set_tracking_uri((tmp_path / "runs").as_uri())
    return mlflow


@pytest.mark.slow
@pytest.mark.filterwarnings("default")  # those of MLflow
def test_mlflow_itself_accepts_every_name(installed: Any) -> None:
    names = [str(metric) for metric in rk.metrics().values() if not metric.needs]
    names += ["nDCG(gain='exponential')@10", "RBP(p=0.9)"]
    ev = rk.evaluate(QRELS, OLD, names)

    run = ev.log_mlflow("val/", step=3, intervals=True)

    assert installed.active_run() is None
    logged = installed.get_run(run).data.metrics
    assert set(logged) == set(ev.scalars("val/", intervals=True))
    assert logged["val/rr"] == 3 / 4
    gain = logged["val/ndcg_at_10__gain_exponential"]
    assert gain == ev["nDCG(gain='exponential')@10"]
    files = installed.MlflowClient().list_artifacts(run, "val")
    assert [file.path for file in files] == ["val/report.html"]
    cmp = rk.compare(QRELS, {"old": OLD, "new one": NEW}, "RR@10")
    with installed.start_run() as active:
        assert cmp.log_mlflow() == active.info.run_id
    assert installed.get_run(active.info.run_id).data.metrics == cmp.scalars()


@pytest.mark.slow
@pytest.mark.filterwarnings("default")
def test_the_recipe_prints_the_same_with_mlflow_itself(installed: Any) -> None:
    text = RECIPE.read_text()

    assert render(text, RECIPE.name, installed) == render(text, RECIPE.name)
