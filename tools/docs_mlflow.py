"""A stand-in for MLflow, which is not installed where pages are made and tests run.

It keeps in memory what its functions are given. Where MLflow is installed, a test in
`tests/report/test_tracking.py` runs the recipe with MLflow itself, and compares.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass
class Run:
    """A run: its numbers by name and step, and its files by path."""

    info: SimpleNamespace
    steps: list[tuple[dict[str, float], int | None]] = field(default_factory=list)
    files: dict[str, str] = field(default_factory=dict)

    @property
    def data(self) -> SimpleNamespace:
        """The last number of each name."""
        last = {name: value for step, _ in self.steps for name, value in step.items()}
        return SimpleNamespace(metrics=last)


class StandIn:
    """The functions of MLflow that rankine and its pages call."""

    def __init__(self) -> None:
        """Begin without a run."""
        self.runs: list[Run] = []
        self.is_active = False

    def set_experiment(self, name: str) -> None:
        """Say which experiment runs belong to."""

    def active_run(self) -> Run | None:
        """Return the run that was started and has not ended."""
        return self.runs[-1] if self.is_active else None

    def last_active_run(self) -> Run:
        """Return the run that was started last."""
        return self.runs[-1]

    @contextmanager
    def start_run(self, *, run_name: str | None = None) -> Iterator[Run]:
        """Start a run, and end it."""
        info = SimpleNamespace(run_id=f"run-{len(self.runs)}", run_name=run_name)
        self.runs.append(Run(info))
        self.is_active = True
        yield self.runs[-1]
        self.is_active = False

    def log_param(self, key: str, value: Any) -> None:
        """Say how the run was made."""

    def log_metrics(self, metrics: dict[str, float], step: int | None = None) -> None:
        """Log numbers to the active run."""
        self.runs[-1].steps.append((metrics, step))

    def log_artifact(self, path: str, artifact_path: str | None = None) -> None:
        """Log a file to the active run."""
        place = Path(artifact_path or "", Path(path).name).as_posix()
        self.runs[-1].files[place] = Path(path).read_text(encoding="utf-8")
