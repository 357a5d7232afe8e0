"""Numbers and a report in a run of MLflow."""

from __future__ import annotations

from contextlib import ExitStack
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from rankine._base.checks import check_flag
from rankine.errors import MissingExtraError

if TYPE_CHECKING:
    from rankine._evaluate.compare.comparison import Comparison
    from rankine._evaluate.result import Evaluation


def log_mlflow(
    result: Evaluation | Comparison,
    prefix: str,
    step: int | None,
    *,
    intervals: bool,
    report: bool,
) -> str:
    """Log a result to MLflow; see `Evaluation.log_mlflow`.

    Whatever can be refused is refused before anything is logged.
    """
    check_flag("report", report)
    scalars = result.scalars(prefix, intervals=intervals)
    mlflow = _mlflow()
    folder, _, before = prefix.rpartition("/")
    with ExitStack() as stack:
        path = None
        if report:
            place = stack.enter_context(TemporaryDirectory())
            path = Path(place) / f"{before}report.html"
            result.report(path)
        run = mlflow.active_run() or stack.enter_context(mlflow.start_run())
        mlflow.log_metrics(scalars, step=step)
        if path is not None:
            mlflow.log_artifact(str(path), artifact_path=folder or None)
        return str(run.info.run_id)


def _mlflow() -> Any:
    try:
        return import_module("mlflow")
    except ImportError:
        msg = "log_mlflow needs mlflow; pip install 'rankine-eval[mlflow]'"
        raise MissingExtraError(msg) from None
